//! Recorded activity of a database server, as demand on storage.
//!
//! A [`Profile`] contains a server's counters, by interval and by role of the files: requests, bytes, time waited,
//! operations, sessions, processor time. It contains no statements, no names of databases, files, logins or hosts, and no row
//! values, so it can be shared.
//!
//! ```
//! let text = r#"
//! format = "dbstow.profile/1"
//! start = "2026-11-22T10:00:00Z"
//!
//! [origin]
//! tool = "dbstow record"
//!
//! [intervals]
//! at_s = [0.0, 10.0]
//! length_s = [10.0, 10.0]
//! operations = [8200.0, 8150.0]
//!
//! [intervals.data]
//! reads = [17876.0, 17770.0]
//! read_bytes = [146440192.0, 145571840.0]
//! "#;
//! let profile = profile::read("shop.toml", text).unwrap();
//! assert_eq!(profile.total(|interval| interval.operations), Some(16_350.0));
//! ```

mod check;
mod columns;
mod common;
mod definition;
mod draft;
mod observed;
mod summary;
mod wire;

pub use check::{INTERVALS_MAX, ProfileError};
pub use definition::{
    Interruption, Interval, Io, Lost, Machine, Origin, Profile, Requests, ServerVolume, Wait,
};
pub use draft::{Draft, INTERVALS_MIN, Span, add, between, later};
pub use jiff::Timestamp;
pub use observed::{Latency, Observed};
pub use summary::{MeanAndHighest, Rates, RequestRates, RoleSummary, Summary, summary};
pub use wire::{FORMAT, read, write};
