//! What a managed server of any product needs: a process that ends with dbstow, directories on the trial's volumes, a
//! place for its socket, the end of its log, and a memory limit.

mod directories;
mod log;
mod memory;
mod process;
mod product;
mod run_directory;
#[cfg(test)]
mod stand_in;

pub use directories::Owner;
pub use directories::least_owner;
pub use directories::{Directories, owner, owner_of_files};
pub use memory::check as check_memory;
pub use process::{ManagedServer, Purpose, cleared};
pub use product::Product;
pub use run_directory::{RunDirectory, own_name};
