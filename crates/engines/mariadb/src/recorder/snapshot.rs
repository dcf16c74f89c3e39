//! A snapshot of a server, and its static properties.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::Duration;

use super::files::Counted;
use super::host::HostCounters;

/// A server's state at an instant.
#[derive(Clone, Debug, Default)]
pub(super) struct Snapshot {
    /// Since the recording began, by our clock.
    pub(super) at: Duration,
    /// The server's clock.
    pub(super) server_time_s: f64,
    /// Number of our connection that took it.
    pub(super) connection: u32,
    /// Number of our own statements on it so far.
    pub(super) own: f64,
    /// Numeric status variables, by lower-case name.
    pub(super) status: BTreeMap<String, f64>,
    /// Requests to files; `None` if `performance_schema` does not count them.
    pub(super) files: Option<Counted>,
    /// Transactions, if `performance_schema` counts them.
    pub(super) transactions: Option<f64>,
    /// Sessions, and when their state last changed, by the server's clock.
    pub(super) sessions: BTreeMap<u32, f64>,
    /// The connected server.
    pub(super) server: Arc<Facts>,
    /// Counters of this machine, if the server is on it.
    pub(super) host: Option<HostCounters>,
}

impl Snapshot {
    /// Start time of the server by its clock, to the second.
    pub(super) fn started_s(&self) -> f64 {
        self.server_time_s - self.status.get("uptime").copied().unwrap_or(0.0)
    }
}

/// Properties that are constant while a server runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    /// `VERSION()`.
    pub(super) version: String,
    /// Global variables.
    pub(super) variables: BTreeMap<String, String>,
    /// What `performance_schema` counts.
    pub(super) counts: Counts,
}

/// What `performance_schema` counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Whether it is on.
    pub(super) sessions: bool,
    /// Requests to files.
    pub(super) files: bool,
    /// Their times.
    pub(super) times: bool,
    /// Current waits of sessions.
    pub(super) waits: bool,
    /// Transactions.
    pub(super) transactions: bool,
}

impl Facts {
    pub(super) fn is_mariadb(&self) -> bool {
        self.version.contains("MariaDB")
    }

    pub(super) fn product(&self) -> &'static str {
        match self.is_mariadb() {
            true => "MariaDB",
            false => "MySQL",
        }
    }

    /// The version, without a packager's suffix.
    pub(super) fn release(&self) -> &str {
        // Old clients rejected versions above 9, so some servers report this prefix.
        let version = self.version.trim_start_matches("5.5.5-");
        version.split('-').next().unwrap_or_default()
    }

    pub(super) fn variable(&self, name: &str) -> &str {
        self.variables.get(name).map_or("", String::as_str)
    }

    pub(super) fn is_on(&self, name: &str) -> bool {
        matches!(self.variable(name), "ON" | "1" | "YES")
    }

    /// Size of a page of InnoDB, in bytes.
    pub(super) fn page(&self) -> f64 {
        self.variable("innodb_page_size").parse().unwrap_or(16384.0)
    }
}
