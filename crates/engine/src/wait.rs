//! Waits for a server: for an answer to our own queries, which has a limit, or for a statement, which takes as long as
//! it takes.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use model::{Duration, Instant};

use crate::interruption::Watch;
use crate::patience::Patience;

/// How often a wait checks whether it must end.
pub const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Longest time for a query that cancels others: the caller wants to end.
const CANCEL_MAX: Duration = Duration::from_secs(5);

/// How much longer than a query the removal of a run's objects may take: files of many GiB are deleted.
const REMOVAL_FACTOR: u64 = 20;

impl Patience {
    /// For queries that cancel others: short, and not ended by the user.
    pub fn for_cancelling(&self) -> Patience {
        let limit = self
            .answer
            .map_or(CANCEL_MAX, |limit| limit.min(CANCEL_MAX));
        Patience::new(limit, Arc::default())
    }

    /// For cleanup: also after the user interrupted.
    pub fn for_removal(&self) -> Patience {
        Patience {
            answer: self
                .answer
                .map(|limit| Duration::from_nanos(limit.as_nanos().saturating_mul(REMOVAL_FACTOR))),
            stop: Arc::default(),
            watch: None,
        }
    }

    /// For a managed server, which ends with us.
    pub fn endless() -> Patience {
        Patience {
            answer: None,
            stop: Arc::default(),
            watch: None,
        }
    }

    /// For the statements of a session: they take as long as they take, but not much longer than its run. Those on a
    /// managed server end with it.
    pub fn of_session(&self, watch: Watch) -> Patience {
        Patience {
            answer: self.answer,
            stop: Arc::default(),
            watch: self.answer.map(|_| watch),
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
            || self
                .watch
                .as_ref()
                .is_some_and(|watch| watch.check().is_err())
    }
}

/// What a wait is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// One of our own queries, which has a limit, and ends when the user interrupts.
    Question,
    /// A statement that may legitimately take long. It is ended by cancelling it on the server, and only given up if
    /// that does not help.
    Statement,
}

/// One wait.
#[derive(Clone, Debug)]
pub struct Wait {
    patience: Patience,
    task: Task,
    until: Option<Instant>,
}

impl Wait {
    /// A wait for `task` that begins at `now`.
    pub fn new(patience: &Patience, task: Task, now: Instant) -> Wait {
        Wait {
            patience: patience.clone(),
            task,
            until: match task {
                Task::Question => patience.answer.map(|limit| now + limit),
                Task::Statement => None,
            },
        }
    }

    /// How long to wait before the next check; `None`: for ever.
    ///
    /// # Errors
    /// When it is over.
    pub fn step(&mut self, now: impl Fn() -> Instant) -> io::Result<Option<Duration>> {
        if self.patience.is_stopped() {
            match self.task {
                Task::Question => return Err(io::Error::other("interrupted")),
                // It was cancelled on the server, which gets the time limit of an answer for that.
                Task::Statement if self.until.is_none() => {
                    self.until = self.patience.answer.map(|limit| now() + limit);
                }
                Task::Statement => {}
            }
        }
        let Some(until) = self.until else {
            return Ok(self.patience.answer.map(|_| LOOK_EVERY));
        };
        let left = until.since(now());
        if left == Duration::ZERO {
            return Err(self.over());
        }
        Ok(Some(left.min(LOOK_EVERY)))
    }

    fn over(&self) -> io::Error {
        let limit = self.patience.answer.unwrap_or_default();
        let text = match self.task {
            Task::Question => format!(
                "no answer within {limit}; check what answers at that address, or allow more with --timeout"
            ),
            Task::Statement => format!(
                "the statement was cancelled, and did not come back within {limit} (--timeout); the connection was given up"
            ),
        };
        io::Error::new(io::ErrorKind::TimedOut, text)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::interruption::Interruptions;

    fn at(ms: u64) -> impl Fn() -> Instant {
        move || Instant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn an_answer_has_a_limit_however_often_something_comes() {
        let patience = Patience::new(Duration::from_secs(1), Arc::default());
        let mut wait = Wait::new(&patience, Task::Question, at(0)());
        for ms in [0, 500, 940] {
            assert_eq!(wait.step(at(ms)).expect("it is not over"), Some(LOOK_EVERY));
        }
        assert_eq!(
            wait.step(at(980)).expect("not yet"),
            Some(Duration::from_millis(20))
        );
        let error = wait.step(at(1000)).expect_err("it is over");
        assert!(error.to_string().contains("within 1 s"), "{error}");
    }

    #[test]
    fn the_user_ends_a_question_at_once_and_a_statement_after_its_cancellation() {
        let stop = Arc::<AtomicBool>::default();
        let patience = Patience::new(Duration::from_secs(60), Arc::clone(&stop));
        let mut question = Wait::new(&patience, Task::Question, at(0)());
        let mut statement = Wait::new(&patience, Task::Statement, at(0)());
        assert!(question.step(at(1)).is_ok() && statement.step(at(3_600_000)).is_ok());
        stop.store(true, Ordering::Relaxed);
        assert_eq!(
            question.step(at(2)).expect_err("at once").to_string(),
            "interrupted"
        );
        assert!(statement.step(at(3_600_000)).is_ok());
        assert!(statement.step(at(3_660_000)).is_err());
    }

    #[test]
    fn a_session_ends_some_time_after_its_run() {
        let interruptions = Interruptions::default();
        let patience = Patience::default().of_session(interruptions.watch());
        let mut wait = Wait::new(&patience, Task::Statement, at(0)());
        assert!(wait.step(at(3_600_000)).is_ok());
        interruptions.interrupt();
        assert!(wait.step(at(3_600_000)).is_ok());
        assert!(wait.step(at(3_630_000)).is_err());
    }
}
