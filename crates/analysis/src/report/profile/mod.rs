//! A profile, as it is shown: what a server asked of its disks.
//!
//! ```text
//! Profile ──Shown──> facts, tables, sentences ──┬─> terminal
//!         │                                     └─> page
//!         └─series──> charts of the page
//! ```

mod page;
mod series;
mod shown;

#[cfg(test)]
pub(super) use page::SCRIPT;
pub use page::page;
pub use shown::{Shown, intervals};
