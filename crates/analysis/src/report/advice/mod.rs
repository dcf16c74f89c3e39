//! Rendering of advice: which machine, which disks, where the files go, at what price.
//!
//! ```text
//! Advice ──┬─> JSON
//!          └─View──> tables, sentences ──┬─> terminal
//!                                         └─> page
//! ```

mod decision;
pub mod document;
mod money;
mod page;
mod terminal;
mod view;

pub use decision::{Decision, Kind, Level, Trust};
pub use document::Advice;
pub use money::Currency;
#[cfg(test)]
pub(super) use page::SCRIPT;
pub use page::page;
pub use terminal::text;
pub use view::View;
