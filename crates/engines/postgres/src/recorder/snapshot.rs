//! A snapshot of a server's counters and settings.

use std::collections::BTreeMap;

use engine::recorder::Taken;
use engine::row::Number as _;
use model::Bytes;

/// A server's state at an instant.
#[derive(Clone, Debug, Default)]
pub(super) struct Snapshot {
    /// When and by whom it was taken, sessions, and this machine.
    pub(super) taken: Taken,
    /// When the server was started, by its clock.
    pub(super) started_s: f64,
    /// `view.column`; for pg_stat_io `io.process|object|context|column`.
    pub(super) counters: BTreeMap<String, f64>,
    /// When statistics of a view were reset, in the server's format.
    pub(super) resets: BTreeMap<String, String>,
    pub(super) settings: BTreeMap<String, String>,
    /// Tablespaces and their directories; empty for those in the data directory.
    pub(super) tablespaces: BTreeMap<String, String>,
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
    /// Adds one row of the result.
    pub(super) fn note(&mut self, view: &str, key: &str, value: &str) {
        let number = f64::of(value);
        match (view, number) {
            ("server", Some(number)) if key == "time" => self.taken.server_time_s = number,
            ("server", Some(number)) if key == "started" => self.started_s = number,
            ("setting", _) => drop(self.settings.insert(key.to_owned(), value.to_owned())),
            ("tablespace", _) => drop(self.tablespaces.insert(key.to_owned(), value.to_owned())),
            ("session", Some(since)) => {
                if let Ok(process) = key.parse() {
                    self.taken.sessions.insert(process, since);
                }
            }
            _ if key.ends_with("stats_reset") => {
                self.resets
                    .insert(format!("{view}.{key}"), value.to_owned());
            }
            // Not a counter: the size of an operation.
            (_, Some(number)) => drop(self.counters.insert(format!("{view}.{key}"), number)),
            (_, None) => {}
        }
    }

    pub(super) fn is_on(&self, setting: &str) -> bool {
        self.settings
            .get(setting)
            .is_some_and(|value| value == "on")
    }

    /// Whether statistics were reset after `before` was taken.
    ///
    /// PostgreSQL up to 14 dates a database's statistics when the database is first used, which is not a reset.
    pub(super) fn is_reset_since(&self, before: &Snapshot) -> bool {
        let dates_first_use = self
            .number("server_version_num")
            .is_some_and(|version| version < 150_000.0);
        self.resets.iter().any(|(name, date)| {
            let earlier = before.resets.get(name);
            let is_first_use =
                earlier.is_none() && dates_first_use && name.starts_with("database.");
            earlier != Some(date) && !is_first_use
        })
    }

    /// A setting that is a number.
    fn number(&self, setting: &str) -> Option<f64> {
        f64::of(self.settings.get(setting)?)
    }

    /// Memory for pages of data.
    pub(super) fn buffers(&self) -> Option<Bytes> {
        let blocks = self.number("shared_buffers")?;
        Some(Bytes((blocks * self.block()) as u64))
    }

    pub(super) fn block(&self) -> f64 {
        self.number("block_size").unwrap_or(8192.0)
    }
}
