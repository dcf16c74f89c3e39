//! Rendering of advice: which machine, which disks, where the files go, at what price.
//!
//! ```text
//! Advice ──┬─> JSON
//!          └─Shown──> tables, sentences ──┬─> terminal
//!                                         └─> page
//! ```

pub mod document;
mod page;
mod shown;

pub use document::Advice;
#[cfg(test)]
pub(super) use page::SCRIPT;
pub use page::page;
pub use shown::Shown;
