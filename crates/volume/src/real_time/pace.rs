//! Modelled volumes under real files: when a request is done, and how a thread waits until then.

use model::{Instant, Request};

/// Says when modelled volumes are done, and waits for it.
pub trait Pace: Send + Sync {
    /// Gives `request` to a volume now; when it is done.
    fn submit(&self, volume: usize, request: Request) -> Instant;

    /// Lets the thread wait until `due`, unless `stop` says so before; whether it was reached.
    fn wait(&self, due: Instant, stop: &dyn Fn() -> bool) -> bool;
}
