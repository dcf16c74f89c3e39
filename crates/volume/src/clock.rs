//! Real time as the model counts it.

use std::time;

use model::{Duration, Instant};

/// A monotonic clock that started at the model's time zero.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: time::Instant,
}

impl Clock {
    /// Starts at zero now.
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place where real time is read"
    )]
    pub fn start() -> Clock {
        Clock {
            start: time::Instant::now(),
        }
    }

    /// The present instant; never before one it gave earlier.
    pub fn now(&self) -> Instant {
        let ns = self.start.elapsed().as_nanos();
        Instant::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
    }

    /// The operating system's instant for one of the model.
    pub fn real(&self, instant: Instant) -> time::Instant {
        self.start + time::Duration::from_nanos(instant.as_nanos())
    }

    /// Lets the thread sleep for a `span` of the model.
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place where real time is waited for"
    )]
    pub fn sleep(span: Duration) {
        std::thread::sleep(time::Duration::from_nanos(span.as_nanos()));
    }
}
