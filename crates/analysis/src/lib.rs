//! Turns records of trials into findings and reports.
//!
//! ```text
//! records ──findings──> Findings ──report──> text, page, Markdown, JSON, CSV
//!              │
//!          statistics
//!    └─────demand──> Profile: what a trial asked of its disks
//! ```
//!
//! Nothing here runs a trial or talks to a server: records are read on any machine, at any later time.
//! A profile, the recorded demand of a server on its disks, is rendered by [`report::profile`].

pub mod statistics;

pub mod demand;
pub mod findings;
pub mod lint;
pub mod report;
