//! A connection that samples the server while sessions run.

use crate::session::Driver;

use crate::trial::run::ServerRun;

/// Samples the server periodically, on a separate connection that ends with the sessions when they are interrupted: their waits
/// (`waits`), and the counters (`counters`).
pub(crate) struct Sampler<'a> {
    pub(crate) run: &'a ServerRun,
    pub(crate) session: Driver,
}
