//! The part of the filesystem that stays at `/dev/fuse`: what the kernel does not send to rings.

use std::io;
use std::sync::{Arc, OnceLock};

use ::fuser::{Filesystem, INodeNo, InitFlags, KernelConfig, Request};

use crate::transport::mount::negotiate;

/// Negotiates rings with the kernel, and passes on `forget` requests; everything else goes through the rings.
pub(super) struct Gate<F> {
    pub(super) filesystem: F,
    /// What the kernel offers.
    pub(super) offered: Arc<OnceLock<InitFlags>>,
}

impl<F: Filesystem> Filesystem for Gate<F> {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let asked = config.add_capabilities(InitFlags::FUSE_OVER_IO_URING);
        asked.map_err(|_| refused("the kernel does not offer it"))?;
        negotiate(config);
        let _ = self.offered.set(config.capabilities());
        Ok(())
    }

    fn forget(&self, request: &Request, node: INodeNo, lookups: u64) {
        self.filesystem.forget(request, node, lookups);
    }
}

/// The error that FUSE over io_uring is not available.
pub(super) fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, why.to_owned())
}
