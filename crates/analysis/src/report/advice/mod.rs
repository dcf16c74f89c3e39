//! Rendering of advice: which machine, which disks, where the files go, at what price.
//!
//! ```text
//! Advice ──┬─> JSON
//!          ├─report──> Report ──┬─> terminal
//!          └─cards, chart ──────┴─> page
//! ```

mod cards;
mod decision;
pub mod document;
mod facts;
mod money;
mod page;
mod points;
mod shown;
#[cfg(test)]
mod tests;
mod view;

pub use cards::Card;
pub use decision::{Decision, Kind, Level, Trust};
pub use document::Advice;
pub use money::Currency;
pub use page::page;
pub(super) use page::{SCRIPTS, STYLES};
pub use view::report;
