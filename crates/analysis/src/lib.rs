//! What the records of trials say, and how it is told.
//!
//! ```text
//! records ──findings──> Findings ──report──> text, page, Markdown, JSON, CSV
//!              │
//!          statistics
//! ```
//!
//! Nothing here runs a trial or talks to a server: records are read on any machine, at any later time.
//! A profile, what a server asked of its disks, is shown by [`report::profile`].

pub mod statistics;

pub mod findings;
pub mod lint;
pub mod quantity;
pub mod report;
