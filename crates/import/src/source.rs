//! Files of other tools, and what the user adds to them.

use jiff::Timestamp;
use model::Duration;
use profile::Machine;

use super::date_order::{DateOrder, UtcOffset};
use super::devices::Device;
use super::format::Format;

/// A file of another tool.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Its name in errors.
    pub file: &'a str,
    /// Its content, from [`crate::decode`].
    pub text: &'a str,
}

/// Information from the user that the files lack.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The tool that wrote the files; `None`: detect it.
    pub format: Option<Format>,
    /// Which files were on which device.
    pub devices: Vec<Device>,
    /// When the first record was taken, for files without dates.
    pub start: Option<Timestamp>,
    /// Time between records, for files without dates; of traces, the length of an interval; of Microsoft's counters, the
    /// time between two samples.
    pub interval: Option<Duration>,
    /// Offset of local times, for files without one.
    pub utc_offset: Option<UtcOffset>,
    /// Order of day and month, if dates are ambiguous.
    pub dates: Option<DateOrder>,
    /// For Windows performance counters, the SQL Servers whose counters are used; empty: the only one.
    pub instances: Vec<String>,
    /// The server's machine or class, for files that do not name it.
    pub machine: Machine,
}
