//! How requests reach the emulator: what all ways have in common.

use std::io;
use std::path::Path;
use std::sync::Arc;

use ::fuser::{Config, Filesystem, InitFlags, KernelConfig, MountOption, SessionACL};

use crate::front::DataPath;
use crate::pace::{Answers, Pace};
use host::mounts::SOURCE;

/// Requests that the kernel passes on before it makes asynchronous callers wait: the default of 16 would
/// be a queue that no modelled disk has.
const BACKGROUND_MAX: u16 = 1024;

/// Longest read or write in one request.
pub(crate) const REQUEST_MAX: u32 = 1 << 20;

/// A way for requests.
pub(crate) trait Transport {
    /// Its name in pacing statistics and records.
    fn name(&self) -> &'static str;

    /// Where a program's request is answered.
    fn answers(&self) -> Answers;

    /// Mounts `filesystem` and runs it in its own threads; its clones are the same filesystem, and all of
    /// them are started and destroyed.
    ///
    /// # Errors
    /// When it cannot be mounted.
    fn mount<F: Filesystem + Clone>(
        &self,
        at: &MountPoint<'_>,
        filesystem: F,
        data: Arc<dyn DataPath>,
        pace: &Arc<Pace>,
    ) -> io::Result<Box<dyn MountedFilesystem>>;
}

/// A mounted filesystem with its threads; dropping it unmounts, even while programs use it.
pub(crate) trait MountedFilesystem: Send + Sync {
    /// Unmounts and waits for the threads to end.
    ///
    /// When a program still uses it, in which case it is unmounted all the same, or when it cannot
    /// be unmounted at all.
    /// unmounted at all.
    fn unmount(self: Box<Self>) -> io::Result<()>;
}

/// Where and how a filesystem is to be mounted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MountPoint<'a> {
    /// The directory.
    pub(crate) directory: &'a Path,
    /// Whether all users may use it, or its owner only; only root can allow all.
    pub(crate) all_users: bool,
}

impl MountPoint<'_> {
    /// How a session mounts it.
    pub(super) fn config(&self) -> Config {
        let mut config = Config::default();
        config.mount_options = vec![
            MountOption::FSName(SOURCE.to_owned()),
            MountOption::Subtype(SOURCE.to_owned()),
            MountOption::DefaultPermissions,
        ];
        config.acl = self.acl();
        config
    }

    /// The access control setting.
    pub(super) fn acl(&self) -> SessionACL {
        match self.all_users {
            true => SessionACL::All,
            false => SessionACL::Owner,
        }
    }
}

/// Options that every front requests from the kernel, in its [`Filesystem::init`].
pub(crate) fn negotiate(config: &mut KernelConfig) {
    // Each is bounded by what the kernel offers.
    let _ = config.set_max_background(BACKGROUND_MAX);
    let _ = config.set_congestion_threshold(BACKGROUND_MAX);
    let _ = config.set_max_write(REQUEST_MAX);
    for wanted in [
        // Native asynchronous I/O stays asynchronous.
        InitFlags::FUSE_ASYNC_DIO,
        InitFlags::FUSE_PARALLEL_DIROPS,
        InitFlags::FUSE_DIRECT_IO_ALLOW_MMAP,
    ] {
        let _ = config.add_capabilities(wanted);
    }
}
