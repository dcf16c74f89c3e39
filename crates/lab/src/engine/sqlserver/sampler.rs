//! A connection that looks at the server while sessions run.

use sqlserver::session::Driver;

use super::run::ServerRun;

/// Looks at the server again and again, on a connection of its own that ends with the sessions when they are
/// interrupted: at what they wait for (`waits`), and at the counters (`counters`).
pub(super) struct Sampler<'a> {
    pub(super) run: &'a ServerRun,
    pub(super) session: Driver,
}
