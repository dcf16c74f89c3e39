//! How requests get from the kernel to a front, and replies back.
//!
//! A transport mounts a [`fuser::Filesystem`] and runs it. Reads, writes and flushes may take another
//! path: a transport that can carry them itself calls the front's [`DataPath`] and holds replies until
//! they are due; the others leave them to the filesystem, which passes them to [`Replies`].
//!
//! `/dev/fuse` is the default, although rings are faster: an emulator that was killed during write-back over io_uring left a
//! kernel (6.18.44) that only a restart could free (METHODOLOGY.md, "Emulate").

mod fuser;
mod replies;
mod uring;

use std::io;
use std::path::Path;
use std::sync::Arc;

use ::fuser::{Config, Filesystem, InitFlags, KernelConfig, MountOption, SessionACL};

use super::front::DataPath;
use super::pace::{Answers, Pace};
use super::setup::TransportChoice;
use host::mounts::SOURCE;

pub(crate) use replies::Replies;

/// Longest read or write in one request.
pub(crate) const REQUEST_MAX: u32 = 1 << 20;

/// Requests that the kernel passes on before it makes asynchronous callers wait: the default of 16 would
/// be a queue that no modelled disk has.
const BACKGROUND_MAX: u16 = 1024;

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
    fn config(&self) -> Config {
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
    fn acl(&self) -> SessionACL {
        match self.all_users {
            true => SessionACL::All,
            false => SessionACL::Owner,
        }
    }
}

/// The transport in use.
pub(crate) struct Chosen(Kind);

enum Kind {
    Fuser(fuser::Fuser),
    IoUring(uring::Uring),
}

impl Chosen {
    /// The requested transport.
    ///
    /// # Errors
    /// When this kernel does not support it.
    pub(crate) fn new(choice: TransportChoice) -> io::Result<Chosen> {
        Ok(Chosen(match choice {
            TransportChoice::Fuser => Kind::Fuser(fuser::Fuser),
            TransportChoice::IoUring => Kind::IoUring(uring::Uring::new()?),
        }))
    }
}

impl Transport for Chosen {
    fn name(&self) -> &'static str {
        match &self.0 {
            Kind::Fuser(fuser) => fuser.name(),
            Kind::IoUring(uring) => uring.name(),
        }
    }

    fn answers(&self) -> Answers {
        match &self.0 {
            Kind::Fuser(fuser) => fuser.answers(),
            Kind::IoUring(uring) => uring.answers(),
        }
    }

    fn mount<F: Filesystem + Clone>(
        &self,
        at: &MountPoint<'_>,
        filesystem: F,
        data: Arc<dyn DataPath>,
        pace: &Arc<Pace>,
    ) -> io::Result<Box<dyn MountedFilesystem>> {
        match &self.0 {
            Kind::Fuser(fuser) => fuser.mount(at, filesystem, data, pace),
            Kind::IoUring(uring) => uring.mount(at, filesystem, data, pace),
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
