//! Whether a run is over, as an engine's sessions see it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use host::clock::Clock;
use model::{Duration, Instant};

/// Longest that a session sleeps before it checks for an interruption.
const SLEEP_MAX: Duration = Duration::from_millis(20);

const INTERRUPTED: &str = "interrupted, because the run is over";

/// How often an engine's sessions were interrupted.
#[derive(Debug, Default)]
pub struct Interruptions(Arc<AtomicU64>);

impl Interruptions {
    /// Interrupts the existing sessions.
    pub fn interrupt(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    /// For a new session. Create it before the session's connection, so that no later interruption is missed.
    pub fn watch(&self) -> Watch {
        Watch {
            interruptions: Arc::clone(&self.0),
            seen: self.0.load(Ordering::SeqCst),
            clock: Clock::start(),
        }
    }
}

/// A session's view of interruptions.
#[derive(Clone, Debug)]
pub struct Watch {
    interruptions: Arc<AtomicU64>,
    /// Number of interruptions when it began.
    seen: u64,
    clock: Clock,
}

impl Watch {
    /// # Errors
    /// When the session was interrupted.
    pub fn check(&self) -> Result<(), String> {
        match self.interruptions.load(Ordering::Relaxed) == self.seen {
            true => Ok(()),
            false => Err(INTERRUPTED.to_owned()),
        }
    }

    /// Sleeps for `span`.
    ///
    /// # Errors
    /// When the session was interrupted meanwhile.
    pub fn sleep(&self, span: Duration) -> Result<(), String> {
        let end: Instant = self.clock.now() + span;
        loop {
            let left = end.since(self.clock.now());
            if left == Duration::ZERO {
                return Ok(());
            }
            self.check()?;
            Clock::sleep(left.min(SLEEP_MAX));
        }
    }

    /// Called when a connection is gone: a loop over it would otherwise spin.
    pub fn slow_down() {
        Clock::sleep(SLEEP_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interruption_ends_sessions_that_were_there_and_no_later_ones() {
        let interruptions = Interruptions::default();
        let before = interruptions.watch();
        assert_eq!(before.check(), Ok(()));

        interruptions.interrupt();

        assert_eq!(before.check(), Err(INTERRUPTED.to_owned()));
        // No sleep: the run is over.
        assert_eq!(
            before.sleep(Duration::from_secs(3_600)),
            Err(INTERRUPTED.to_owned())
        );
        assert_eq!(interruptions.watch().check(), Ok(()));
    }
}
