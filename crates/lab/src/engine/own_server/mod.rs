//! What a private server needs, whosever product it is: a process that ends with dbstow, directories on the trial's volumes,
//! a place for its socket, the end of its log, and a bound of its memory.

mod directories;
mod log;
mod memory;
mod process;
mod product;
mod run_directory;
#[cfg(test)]
mod stand_in;

pub use directories::Owner;
#[cfg(all(target_os = "linux", feature = "postgres"))]
pub(in crate::engine) use directories::least_owner;
pub(in crate::engine) use directories::{Directories, home, owner};
pub(in crate::engine) use memory::check as check_memory;
pub(in crate::engine) use process::{OwnServer, Task, cleared};
pub(in crate::engine) use product::Product;
pub(in crate::engine) use run_directory::{RunDirectory, own_name};
