//! A connection to a server, the queries, and their results.

use std::io;

use host::clock::Clock;
use model::Duration;
use profile::Wait;

use super::queries;
use super::snapshot::Snapshot;
use crate::ServerUrl;
use crate::session::failure::Failure;
use crate::session::login::{self, OBSERVER};
use crate::session::wire::Connection;
use engine::EngineError;
use engine::recorder::{RecordedSession, Samples, Taken};
use engine::row::{Row, Unexpected, first};

/// Views that not every version has.
const VIEWS: [&str; 3] = ["pg_stat_wal", "pg_stat_io", "pg_stat_checkpointer"];

pub(super) struct RecorderSession {
    connection: Connection,
    number: u32,
    snapshot: String,
    /// Whether the server can be asked to flush this session's counts immediately.
    flushes_counts: bool,
    /// Number of our own transactions so far.
    own: f64,
}

impl RecorderSession {
    /// Connects; `number` distinguishes connections.
    pub(super) fn open(server: &ServerUrl, number: u32) -> Result<RecorderSession, EngineError> {
        let mut connection = login::open(server.target(), OBSERVER)?;
        let answer = connection.query(queries::RIGHTS).and_then(|rows| {
            let row = first(&rows)?;
            Ok((row.flag(0)?, row.word(1)?.to_owned()))
        });
        let failed = |what: &str| format!("{what} of {server}");
        let (may_see, user) = answer
            .map_err(|error| EngineError::failed(failed("ask for the login's rights"), error))?;
        if !may_see {
            let user = user.replace('"', "\"\"");
            return Err(EngineError::Missing(format!(
                "{server}: the login may not see what other sessions wait for; run GRANT pg_monitor TO \"{user}\" on the server"
            )));
        }
        let mut session = RecorderSession {
            connection,
            number,
            snapshot: String::new(),
            flushes_counts: false,
            own: 0.0,
        };
        session.prepare().map_err(|error| {
            EngineError::failed(failed("prepare to look at the sessions"), error)
        })?;
        Ok(session)
    }

    fn prepare(&mut self) -> Result<(), Failure> {
        let mut views = Vec::new();
        for view in VIEWS {
            if self.is_true(&format!(
                "SELECT to_regclass('pg_catalog.{view}') IS NOT NULL"
            ))? {
                views.push(view);
            }
        }
        self.flushes_counts =
            self.is_true("SELECT to_regproc('pg_catalog.pg_stat_force_next_flush') IS NOT NULL")?;
        self.snapshot = queries::snapshot(&views);
        self.query(queries::PREPARE_LOOK)?;
        Ok(())
    }

    /// The version, without a packager's suffix.
    pub(super) fn version(&mut self) -> Option<String> {
        let rows = self.query("SHOW server_version").ok()?;
        let text = first(&rows).ok()?.word(0).ok()?;
        text.split_whitespace().next().map(str::to_owned)
    }

    fn query(&mut self, sql: &str) -> Result<Vec<Row>, Failure> {
        self.own += 1.0;
        self.connection.query(sql)
    }

    fn is_true(&mut self, sql: &str) -> Result<bool, Failure> {
        let rows = self.query(sql)?;
        Ok(first(&rows)?.flag(0)?)
    }
}

impl RecordedSession for RecorderSession {
    type Snapshot = Snapshot;
    type Error = Failure;

    fn snapshot(&mut self, clock: &Clock) -> Result<Snapshot, Failure> {
        if self.flushes_counts {
            self.query("SELECT pg_catalog.pg_stat_force_next_flush()")?;
        }
        let own = self.own;
        let sql = self.snapshot.clone();
        let rows = self.query(&sql)?;
        let taken = Taken {
            at: Duration::from_nanos(clock.now().as_nanos()),
            connection: self.number,
            own,
            ..Taken::default()
        };
        let mut snapshot = Snapshot {
            taken,
            ..Snapshot::default()
        };
        for row in rows {
            if let [Some(view), Some(key), Some(value)] = row.columns() {
                snapshot.note(view, key, value);
            }
        }
        match snapshot.taken.server_time_s > 0.0 && snapshot.started_s > 0.0 {
            true => Ok(snapshot),
            false => Err(Failure::Lost(io::Error::other(
                "its statistics do not say when they were read and when the server was started; check what answers at that \
                 address",
            ))),
        }
    }

    fn sample(&mut self, samples: &mut Samples) -> Result<(), Failure> {
        let rows = self.query("EXECUTE look")?;
        let seen: Result<Vec<_>, Unexpected> = rows
            .iter()
            .map(|row| {
                let text = |column: usize| row.text(column).map(Option::unwrap_or_default);
                Ok((row.count(0)?, wait(text(1)?, text(2)?)))
            })
            .collect();
        samples.add(seen?.into_iter());
        Ok(())
    }
}

/// What an active session waits for; `None` if it is running. Names are in capitals before version 17.
///
/// Source: <https://www.postgresql.org/docs/18/monitoring-stats.html>, "Wait Events", read 2026-11-21.
fn wait(class: &str, event: &str) -> Option<Wait> {
    let event = event.to_ascii_lowercase();
    let is_read = |event: &str| event.ends_with("read") || event.ends_with("prefetch");
    Some(match class {
        "" => return None,
        "IO" if event.starts_with("wal") => Wait::Log,
        "IO" if event.starts_with("buffile") => Wait::Temp,
        "IO" if event.starts_with("aio") || is_read(&event) => Wait::DataRead,
        "IO" if event.starts_with("datafile") || event.starts_with("slru") => Wait::DataWrite,
        // Another session's flush, which this one's commit is part of.
        "LWLock" if event == "walwrite" => Wait::Log,
        // A read that another session has begun of the same page.
        "IPC" if event == "bufferio" || event == "aioiocompletion" => Wait::DataRead,
        "Lock" | "LWLock" | "BufferPin" | "Buffer" => Wait::Lock,
        _ => Wait::Other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_all_versions_fall_to_their_waits() {
        for (class, event, expected) in [
            ("", "", None),
            ("IO", "WALSync", Some(Wait::Log)),
            ("IO", "WalSync", Some(Wait::Log)),
            ("LWLock", "WALWrite", Some(Wait::Log)),
            ("LWLock", "WALInsert", Some(Wait::Lock)),
            ("IO", "BufFileWrite", Some(Wait::Temp)),
            ("IO", "BuffileRead", Some(Wait::Temp)),
            ("IO", "DataFileRead", Some(Wait::DataRead)),
            ("IO", "DataFileExtend", Some(Wait::DataWrite)),
            ("IPC", "BufferIo", Some(Wait::DataRead)),
            ("Lock", "transactionid", Some(Wait::Lock)),
            ("Timeout", "PgSleep", Some(Wait::Other)),
        ] {
            assert_eq!(wait(class, event), expected, "{class}/{event}");
        }
    }
}
