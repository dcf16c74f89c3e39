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
//!                                          array: one model for all volumes ─► due instant
//!                                                      │
//!        reply, when it is due  ◄── deadline heap ◄────┘
//! ```

mod array;
mod deadlines;
mod emulation;
mod file;
mod front;
<<<<<<< HEAD
mod pace;
mod prepare;
=======
mod image;
pub mod leftovers;
mod loop_device;
>>>>>>> d2e4eb5 (Write down what an emulation makes outside of itself, and clear what a killed one left)
mod spec;
mod trace;
mod transport;

pub use emulation::{Emulation, EmulationError};
pub use front::{DataPath, Done, Errno};
pub use spec::{EmulationSpec, Filesystem, Front, MountSpec, TransportChoice};
