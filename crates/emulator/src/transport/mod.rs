//! How requests get from the kernel to a front, and replies back.
//!
//! A transport mounts a [`fuser::Filesystem`] and runs it. Reads, writes and flushes may take another
//! path: a transport that can carry them itself calls the front's [`DataPath`] and holds replies until
//! they are due; the others leave them to the filesystem, which passes them to [`Replies`].
//!
//! `/dev/fuse` is the default, although rings are faster: an emulator that was killed during write-back over io_uring left a
//! kernel (6.18.44) that only a restart could free (METHODOLOGY.md, "Emulate").

mod fuser;
mod mount;
mod replies;
mod uring;

use std::io;
use std::sync::Arc;

use ::fuser::Filesystem;

use super::front::DataPath;
use super::pace::{Answers, Pace};
use super::setup::TransportChoice;

pub(crate) use mount::{MountPoint, MountedFilesystem, REQUEST_MAX, Transport, negotiate};
pub(crate) use replies::Replies;

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
