//! Rendering of a profile: a server's demand on its disks.
//!
//! ```text
//! Profile ──report──> Report ──┬─> terminal
//!         │                     └─> page
//!         ├─series──> charts of the page
//!         └─document──> JSON
//! ```

mod document;
mod page;
mod series;
mod view;

pub use document::json;
pub use page::page;
pub(super) use page::{SCRIPTS, STYLES};
pub use view::{imported, part, report, short};
