//! What is found, as text. One kind of report whatever it is on; an output format only renders.
//!
//! ```text
//! Findings, advice, .. ──report──> Report ──┬─> terminal: a screen, or all
//!      │         answer, facts, sections    ├─> markdown
//!      │         of typed cells             └─> page, with bars, boxes and charts of its own
//!      └─arms::columns──> csv
//! ```
//!
//! Records as a table, one row each (`rows`), are for other programs (`parquet`).

pub mod advice;
pub mod backtest;
pub mod catalogue;
pub mod csv;
pub mod drill;
pub mod json;
pub mod lint;
pub mod markdown;
pub mod page;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod profile;
pub mod rehearsal;
pub mod rows;
pub mod run;
pub mod side_by_side;
pub mod slower;
pub mod terminal;

#[cfg(test)]
mod any_number;
mod arms;
mod cell;
mod disks;
mod environment;
mod processes;
mod rank;
mod section;
mod sentence;
mod time;
mod words;

pub use section::{Body, Extent, Item, Kind, Place, Report, Section};
pub use sentence::verdict;
/// What [`terminal::render`] takes.
pub use table::Width;
