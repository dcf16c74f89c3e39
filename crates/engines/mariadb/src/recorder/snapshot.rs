//! A snapshot of a server, and its static properties.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::files::Counted;
use engine::recorder::Taken;
use model::Bytes;

/// A server's state at an instant.
#[derive(Clone, Debug, Default)]
pub(super) struct Snapshot {
    /// When and by whom it was taken, sessions, and this machine.
    pub(super) taken: Taken,
    /// Numeric status variables, by lower-case name.
    pub(super) status: BTreeMap<String, f64>,
    /// Requests to files; `None` if `performance_schema` does not count them.
    pub(super) files: Option<Counted>,
    /// Transactions, if `performance_schema` counts them.
    pub(super) transactions: Option<f64>,
    /// The connected server.
    pub(super) server: Arc<Facts>,
}

impl AsRef<Taken> for Snapshot {
    fn as_ref(&self) -> &Taken {
        &self.taken
    }
}

impl AsMut<Taken> for Snapshot {
    fn as_mut(&mut self) -> &mut Taken {
        &mut self.taken
    }
}

impl Snapshot {
    /// Start time of the server by its clock, to the second.
    pub(super) fn started_s(&self) -> f64 {
        self.taken.server_time_s - self.status.get("uptime").copied().unwrap_or(0.0)
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

    /// Size of the buffer pool.
    pub(super) fn buffer_pool(&self) -> Option<Bytes> {
        self.variable("innodb_buffer_pool_size")
            .parse()
            .ok()
            .map(Bytes)
    }

    /// Size of a page of InnoDB, in bytes.
    pub(super) fn page(&self) -> f64 {
        self.variable("innodb_page_size").parse().unwrap_or(16384.0)
    }
}
