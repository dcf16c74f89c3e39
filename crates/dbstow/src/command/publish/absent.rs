//! What takes the place of `--metrics` and `--listen` in a build without them: no options, and nothing that is published.

use std::net::SocketAddr;

use anyhow::Result;

use crate::metrics::Sample;

/// No options.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct PublishArgs {}

/// The source of metrics, called once a second.
pub(super) type Source = Box<dyn Fn() -> Vec<Sample> + Send>;

/// Messages while metrics are published.
pub(super) type Note = Box<dyn Fn(&str) + Send>;

/// The targets of metrics: there are none.
pub(super) enum Outlet {}

/// Metrics that are published: there are none.
pub(super) enum Publishing {}

impl PublishArgs {
    /// `None`: nothing can be asked for.
    #[allow(clippy::unnecessary_wraps, reason = "as in a build with metrics")]
    pub(super) fn open(self) -> Result<Option<Outlet>> {
        Ok(None)
    }

    /// Where metrics are to be served: nowhere.
    #[cfg(all(target_os = "linux", feature = "emulator"))]
    pub(super) fn address(self) -> Option<SocketAddr> {
        None
    }

    /// The same as arguments for another process: none.
    #[cfg(all(target_os = "linux", feature = "emulator"))]
    #[allow(clippy::unnecessary_wraps, reason = "as in a build with metrics")]
    pub(super) fn arguments(self) -> Result<Vec<std::ffi::OsString>> {
        Ok(Vec::new())
    }
}

impl Outlet {
    pub(super) fn address(&self) -> Option<SocketAddr> {
        match *self {}
    }

    pub(super) fn start(self, _: Source, _: Note) -> Result<Publishing> {
        match self {}
    }
}

impl Drop for Publishing {
    fn drop(&mut self) {
        match *self {}
    }
}
