//! How long an external server may take, and what ends the wait.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use model::Duration;

use crate::interruption::Watch;

/// How long a server may take, and what ends the wait.
///
/// The limit is on a whole answer: a server that sends a byte every second is as late as one that sends none.
#[derive(Clone)]
pub struct Patience {
    /// Longest time for an answer to our own queries; `None`: no limit.
    pub(crate) answer: Option<Duration>,
    /// Set once the user interrupts.
    pub(crate) stop: Arc<AtomicBool>,
    /// For a session: whether its run is over.
    pub(crate) watch: Option<Watch>,
}

impl Patience {
    /// Default limit for an answer: a server under load takes seconds, and a user waits no longer than this for none
    /// (our choice; libpq waits without end, `sqlcmd` 8 s for a login).
    pub const DEFAULT: Duration = Duration::from_secs(30);

    /// At most `answer` for an answer to our own queries, and no longer than until `stop` is set.
    pub fn new(answer: Duration, stop: Arc<AtomicBool>) -> Patience {
        Patience {
            answer: Some(answer),
            stop,
            watch: None,
        }
    }

    /// Longest time for an answer to our own queries.
    pub fn answer(&self) -> Option<Duration> {
        self.answer
    }

    /// The flag that ends the wait.
    pub fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }
}

impl Default for Patience {
    fn default() -> Patience {
        Patience::new(Patience::DEFAULT, Arc::default())
    }
}

impl fmt::Debug for Patience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Patience")
            .field("answer", &self.answer)
            .finish_non_exhaustive()
    }
}
