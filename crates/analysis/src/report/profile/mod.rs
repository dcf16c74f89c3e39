//! Rendering of a profile: a server's demand on its disks.
//!
//! ```text
//! Profile ──report──> Report ──┬─> terminal
//!         │                     └─> page
//!         └─series──> charts of the page
//! ```

mod page;
mod series;
mod view;

#[cfg(test)]
pub(super) use page::SCRIPT;
pub use page::page;
pub use view::{intervals, report, short};
