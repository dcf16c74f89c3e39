//! Real time in the model's units.

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

    /// The current instant; monotonic.
    pub fn now(&self) -> Instant {
        let ns = self.start.elapsed().as_nanos();
        Instant::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
    }

    /// How long the machine has been suspended since it was started while this clock stood still; zero where that is
    /// not known: on systems other than Linux, clocks go on or sleep is not counted.
    pub fn slept() -> Duration {
        #[cfg(target_os = "linux")]
        {
            use rustix::time::{ClockId, clock_gettime};
            let ns = |clock| {
                let time = clock_gettime(clock);
                let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
                Duration::from_secs(seconds)
                    + Duration::from_nanos(u64::try_from(time.tv_nsec).unwrap_or(0))
            };
            // A thread may lose its processor between the two readings: the smallest of several is right.
            let look = |_| {
                let running = ns(ClockId::Monotonic);
                ns(ClockId::Boottime).saturating_sub(running)
            };
            (0..3).map(look).min().unwrap_or(Duration::ZERO)
        }
        #[cfg(not(target_os = "linux"))]
        Duration::ZERO
    }

    /// The operating system's instant for one of the model's.
    pub fn real(&self, instant: Instant) -> time::Instant {
        self.start + time::Duration::from_nanos(instant.as_nanos())
    }

    /// Sleeps for a `span` of the model.
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place where real time is waited for"
    )]
    pub fn sleep(span: Duration) {
        std::thread::sleep(time::Duration::from_nanos(span.as_nanos()));
    }
}

/// Polls `condition` every few milliseconds for up to `patience`; returns whether it held.
pub fn wait_until(patience: Duration, mut condition: impl FnMut() -> bool) -> bool {
    const PAUSE: Duration = Duration::from_millis(10);
    let clock = Clock::start();
    loop {
        if condition() {
            return true;
        }
        if clock.now().as_nanos() > patience.as_nanos() {
            return false;
        }
        Clock::sleep(PAUSE);
    }
}
