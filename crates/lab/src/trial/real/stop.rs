//! Ends a trial early: every thread of it sleeps here, so none oversleeps the end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time;

use host::clock::Clock;
use model::Instant;
use parking_lot::{Condvar, Mutex};

/// Whether a trial, or a part of it, must end, and why.
pub(super) struct Stop {
    clock: Clock,
    set: AtomicBool,
    why: Mutex<Option<String>>,
    changed: Condvar,
}

impl Stop {
    pub(super) fn new(clock: Clock) -> Stop {
        Stop {
            clock,
            set: AtomicBool::new(false),
            why: Mutex::new(None),
            changed: Condvar::new(),
        }
    }

    /// Ends it; only the first reason counts; without one, the end was requested.
    pub(super) fn set(&self, why: Option<String>) {
        let mut first = self.why.lock();
        if !self.set.swap(true, Ordering::Relaxed) {
            *first = why;
        }
        drop(first);
        self.changed.notify_all();
    }

    pub(super) fn is_set(&self) -> bool {
        self.set.load(Ordering::Relaxed)
    }

    /// The failure, if there was one.
    pub(super) fn why(&self) -> Option<String> {
        self.why.lock().clone()
    }

    /// Sleeps until `instant`; returns false if it was ended before.
    pub(super) fn sleep_until(&self, instant: Instant) -> bool {
        let mut guard = self.why.lock();
        loop {
            if self.is_set() {
                return false;
            }
            let Some(span) = span_until(self.clock, instant) else {
                return true;
            };
            self.changed.wait_for(&mut guard, span);
        }
    }
}

/// Ends a part of a trial when it is dropped, so that no thread waits for one that panicked.
pub(super) struct StopOnDrop<'a>(pub(super) &'a Stop);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.set(None);
    }
}

/// How long until `instant`; `None` if it has passed.
pub(super) fn span_until(clock: Clock, instant: Instant) -> Option<time::Duration> {
    let left = instant.since(clock.now()).as_nanos();
    (left > 0).then(|| time::Duration::from_nanos(left))
}

#[cfg(test)]
mod tests {
    use model::Duration;

    use super::*;

    #[test]
    fn the_first_reason_counts() {
        let stop = Stop::new(Clock::start());
        assert!(!stop.is_set());
        stop.set(Some("the engine is gone".to_owned()));
        stop.set(Some("and so are the sessions".to_owned()));
        assert_eq!(stop.why().as_deref(), Some("the engine is gone"));
    }

    #[test]
    fn a_sleeper_wakes_when_it_is_ended() {
        let stop = &Stop::new(Clock::start());
        std::thread::scope(|scope| {
            let hours = stop.clock.now() + Duration::from_secs(36_000);
            let sleeper = scope.spawn(move || stop.sleep_until(hours));
            stop.set(None);
            assert!(!sleeper.join().expect("it does not panic"));
        });
        assert_eq!(stop.why(), None);
    }

    #[test]
    fn an_instant_that_has_come_is_not_waited_for() {
        let stop = Stop::new(Clock::start());
        assert!(stop.sleep_until(Instant::ZERO));
    }
}
