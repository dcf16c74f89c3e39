//! A trial in progress, and its end: when its sessions have ended, or when it is cancelled.

use std::sync::atomic::AtomicU64;
use std::thread;

use host::clock::Clock;
use model::{Duration, Instant};

use super::event::Event;
use super::gate::Gate;
use super::session::Common;
use super::stop::{Stop, StopOnDrop};
use crate::trial::Subject;
use engine::Engine;

/// Polling interval for the end of a trial.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A trial in progress.
pub(super) struct RealTrial<'a> {
    pub(super) subject: &'a Subject<'a>,
    pub(super) common: Common,
    pub(super) report: &'a (dyn Fn(Event) + Sync),
    pub(super) cancelled: &'a (dyn Fn() -> bool + Sync),
}

impl<'a> RealTrial<'a> {
    pub(super) fn new(
        subject: &'a Subject<'a>,
        clock: Clock,
        report: &'a (dyn Fn(Event) + Sync),
        cancelled: &'a (dyn Fn() -> bool + Sync),
    ) -> RealTrial<'a> {
        let common = Common {
            clock,
            stop: Stop::new(clock),
            failures: AtomicU64::new(0),
        };
        RealTrial {
            subject,
            common,
            report,
            cancelled,
        }
    }

    /// Runs `work`, which the engine abandons if the trial is cancelled.
    pub(super) fn abandoned_if_cancelled<T>(
        &self,
        engine: &dyn Engine,
        work: impl FnOnce() -> T,
    ) -> T {
        let over = Stop::new(self.common.clock);
        thread::scope(|scope| {
            let ended = StopOnDrop(&over);
            let watch = || {
                while over.sleep_until(self.common.clock.now() + LOOK_EVERY) {
                    if (self.cancelled)() {
                        engine.abandon();
                    }
                }
            };
            scope.spawn(watch);
            let done = work();
            drop(ended);
            done
        })
    }

    /// Waits until all of the gate's sessions have ended, and ends them on cancellation. `look` is called
    /// repeatedly, and returns when it must be called next.
    pub(super) fn wait_until_done(
        &self,
        gate: &Gate,
        engine: &dyn Engine,
        mut look: impl FnMut(Instant) -> Option<Instant>,
    ) {
        loop {
            let now = self.common.clock.now();
            let next = look(now);
            self.check_cancelled(engine);
            let soon = now + LOOK_EVERY;
            if gate.all_ended(next.map_or(soon, |next| next.min(soon))) {
                return;
            }
        }
    }

    /// Interrupts current statements if the trial must end.
    pub(super) fn check_cancelled(&self, engine: &dyn Engine) {
        if (self.cancelled)() {
            self.common.stop.set(None);
        }
        if self.common.stop.is_set() {
            engine.interrupt();
        }
    }
}

/// The result of a thread, or its panic.
pub(super) fn joined<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    let result = thread.join();
    result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
