//! The emulator: modelled disks under real files for any program, through FUSE; and what such disks hold after a power cut.
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
//!
//! An emulation whose writes are recorded ([`Contents::Recorded`]) has a history. [`crash`] determines the states in which a
//! power cut leaves its disks, and [`Contents::Crashed`] mounts one of them. FUSE is Linux's, and so is this crate.

#![cfg(target_os = "linux")]

// The model in real time.
mod deadlines;
mod pace;

// From a specification to mounted volumes.
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

// In its own process.
pub mod control;
pub mod process;
mod remote;
mod unused;

// After a power cut.
pub mod crash;

pub use block::UNMOUNTABLE;
pub use digest::digest;
pub use emulation::Emulation;
pub use error::EmulationError;
pub use fault::Fault;
pub use front::{DataPath, Done, Errno};
pub use prepare::{check_image, device};
pub use remote::RemoteSite;
pub use setup::{
    Contents, CrashSpec, EmulationSpec, Filesystem, FlippedBit, Front, MountSpec, Others,
    RecordSpec, TransportChoice,
};
pub use unused::when_unused;
