//! Tables of typed cells, and the numbers and sentences of a report as text.
//!
//! ```text
//! rows ──Column──> Table of Cells ──Table::text──> lines of a Width
//!                    └─ quantity: each number with the digits that mean something
//! ```
//!
//! What is shown is decided by those who make a table: reports of findings, and each product for its own captures.
//!
//! ```
//! use table::{Cell, Column, Table, Width};
//!
//! let files = [("tempdev", 8_i64 << 30), ("templog", 1 << 30)];
//! let columns = [
//!     Column::text("file", |(name, _): &(&str, i64)| *name),
//!     Column::figure("size", |(_, bytes)| Cell::Bytes(*bytes)),
//! ];
//! let text = Table::of(files, columns).text(Width::default());
//! assert!(text.contains(" tempdev   8 GiB"));
//! ```

#![warn(missing_docs)]

mod cell;
mod fit;
pub mod quantity;
mod table;
mod text;
mod width;

pub use cell::Cell;
pub use quantity::Quantity;
pub use table::{Column, Heading, Table};
pub use width::{Width, wrapped};
