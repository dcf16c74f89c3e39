//! Progress of a simulated trial.

use std::cell::Cell;

use model::{Duration, Instant};

use super::super::sessions::Task;

/// How many times a trial reports the progress of its operations.
const STEPS: u64 = 500;

/// The state of a simulated trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Moment {
    /// Loading its data, which takes no virtual time.
    Loading,
    /// Running its sessions.
    Running {
        /// The share completed, from 0 to 1.
        done: f64,
        /// Virtual time since its start.
        now: Duration,
    },
}

/// Receives progress.
pub type Reporter<'a> = dyn Fn(Moment) + 'a;

/// Counts operations, and reports from time to time.
pub(super) struct Progress<'a> {
    report: &'a Reporter<'a>,
    operations: Option<u64>,
    until: Option<Instant>,
    ended: Cell<u64>,
    reported: Cell<u64>,
}

impl<'a> Progress<'a> {
    pub(super) fn of(task: &Task<'_>, report: &'a Reporter<'a>) -> Progress<'a> {
        Progress {
            operations: task.operations,
            ..Progress::to(task.window.until, report)
        }
    }

    /// For operations that continue until this instant.
    pub(super) fn until(end: Instant, report: &'a Reporter<'a>) -> Progress<'a> {
        Progress::to(Some(end), report)
    }

    fn to(until: Option<Instant>, report: &'a Reporter<'a>) -> Progress<'a> {
        Progress {
            report,
            operations: None,
            until,
            ended: Cell::new(0),
            reported: Cell::new(0),
        }
    }

    /// Records that an operation ended at `now`.
    pub(super) fn ended(&self, now: Instant) {
        let ended = self.ended.get() + 1;
        self.ended.set(ended);
        let at = now.since(Instant::ZERO);
        let done = match (self.operations, self.until) {
            (Some(operations), _) => ended as f64 / operations.max(1) as f64,
            (None, Some(until)) => at.as_secs_f64() / until.since(Instant::ZERO).as_secs_f64(),
            (None, None) => return,
        };
        let step = (done * STEPS as f64) as u64;
        if step > self.reported.replace(step.max(self.reported.get())) {
            let done = done.min(1.0);
            (self.report)(Moment::Running { done, now: at });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn a_trial_tells_how_much_of_its_operations_is_done_and_no_more_often_than_is_of_use() {
        let reported = RefCell::new(Vec::new());
        let report = |moment| reported.borrow_mut().push(moment);
        let progress = Progress {
            report: &report,
            operations: Some(1_000_000),
            until: None,
            ended: Cell::new(0),
            reported: Cell::new(0),
        };

        for number in 0..1_000_000_u64 {
            progress.ended(Instant::from_nanos(number));
        }

        let reported = reported.into_inner();
        assert_eq!(reported.len() as u64, STEPS);
        let last = reported.last().copied();
        assert!(
            matches!(last, Some(Moment::Running { done: 1.0, .. })),
            "{last:?}"
        );
    }
}
