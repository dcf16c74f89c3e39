//! Rendering of advice: which machine, which disks, where the files go, at what price.
//!
//! ```text
//! Advice ──┬─> JSON
//!          └─View──> tables, sentences ──┬─> terminal
//!                                         └─> page
//! ```

pub mod document;
mod page;
mod view;

pub use document::Advice;
#[cfg(test)]
pub(super) use page::SCRIPT;
pub use page::page;
pub use view::View;
