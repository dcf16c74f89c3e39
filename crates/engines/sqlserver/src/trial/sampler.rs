//! A connection that looks at the server while sessions run.

use crate::session::Driver;

use crate::trial::run::ServerRun;

/// Samples at the server again and again, on a connection of its own that ends with the sessions when they are
/// interrupted: at what they wait for (`waits`), and at the counters (`counters`).
pub(crate) struct Sampler<'a> {
    pub(crate) run: &'a ServerRun,
    pub(crate) session: Driver,
}
