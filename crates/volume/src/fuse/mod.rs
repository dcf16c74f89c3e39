//! Emulated volumes for any program: modelled disks under real files, through FUSE.
//!
//! ```text
//!  a database's requests
//!        │                  file mode: a directory tree, one request is one modelled request
//!        │                  block mode: loop device and a real filesystem on an image file
//!        ▼
//!   transport (fuser, or FUSE over io_uring) ─► data path of the front ─► the real file, at once
//!                                                      │
//!                                                      ▼
//!                                          paced storage: one model for all volumes ─► due instant
//!                                                      │
//!        reply, when it is due  ◄── deadline heap ◄────┘
//! ```

// The model in real time.
mod deadlines;
mod pace;

// From a specification to mounted volumes.
mod apart;
mod emulation;
mod environment;
mod error;
mod front;
mod mounted;
mod prepare;
mod setup;
mod trace;
mod transport;

// The fronts: what programs see.
mod block;
mod contents;
mod digest;
mod fault;
mod file;
mod image;
mod journal;
mod loop_device;

// In its own process.
pub mod control;
pub mod host;
mod orphaned_mounts;
pub mod orphans;
mod remote;

pub use block::UNMOUNTABLE;
pub use digest::digest;
pub use emulation::Emulation;
pub use error::EmulationError;
pub use fault::Fault;
pub use front::{DataPath, Done, Errno};
pub use host::IN_USE;
pub use loop_device::exist as loop_devices_exist;
pub use orphaned_mounts::unmount_within;
pub use prepare::{check_image, device};
pub use remote::RemoteSite;
pub use setup::{
    Contents, CrashSpec, EmulationSpec, Filesystem, FlippedBit, Front, MountSpec, Others,
    RecordSpec, TransportChoice,
};
