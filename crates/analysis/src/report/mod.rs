//! Findings as text. Sections and columns decide once what is shown; an output format only renders.
//!
//! ```text
//! Findings ──sections──> Vec<Section> ──┬─> terminal, markdown
//!               │ tables of typed cells └─> page, with bars, boxes and charts of its own
//!               └ arms::columns ──────────> csv
//! ```
//!
//! Records as a table, one row each (`rows`), are for other programs (`parquet`).

pub mod advice;
pub mod csv;
pub mod drill;
pub mod json;
pub mod lint;
pub mod markdown;
pub mod page;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod profile;
pub mod rows;
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
mod section;
mod sentence;
mod time;
mod words;

pub use sentence::verdict;
/// What [`terminal::render`] takes.
pub use table::Width;
