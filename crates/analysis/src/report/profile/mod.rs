//! Rendering of a profile: a server's demand on its disks.
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
