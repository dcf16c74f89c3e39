//! A connection that looks at a server, and what it answers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use model::Duration;
use mysql::prelude::Queryable;
use mysql::{Conn, Error};
use profile::Wait;
use volume::clock::Clock;

use super::files::{self, Counted, Sums};
use super::host;
use super::snapshot::{Counts, Facts, Snapshot};
use crate::engine::mariadb::url::ServerUrl;
use crate::engine::mariadb::waits::{self, waiting};
use crate::engine::watch::Looks;
use crate::engine::{EngineError, WaitKind};

/// Looks at the sessions for one at the transactions that wait for rows: InnoDB renews their list ten times a second.
const LOOKS_PER_LOCKS: u32 = 2;

/// What sessions are called that do nothing for clients.
const NO_CLIENTS: [&str; 8] = [
    "Binlog Dump",
    "Binlog Dump GTID",
    "Connect",
    "Daemon",
    "Group Replication Data",
    "Slave_IO",
    "Slave_SQL",
    "Slave_worker",
];

/// Errors of a login that may not do that: of a table, and of something global.
/// Source: <https://mariadb.com/docs/server/reference/error-codes/mariadb-error-code-reference>, read 2026-11-25.
const MAY_NOT: [u16; 3] = [1142, 1044, 1227];

const COUNTS: &str = "SELECT \
     (SELECT COUNT(*) = 2 FROM performance_schema.setup_consumers \
         WHERE name IN ('global_instrumentation', 'thread_instrumentation') AND enabled = 'YES'), \
     (SELECT COUNT(*) = 1 FROM performance_schema.setup_consumers WHERE name = 'events_waits_current' AND enabled = 'YES'), \
     (SELECT COUNT(*) = 1 FROM performance_schema.setup_instruments \
         WHERE name = 'wait/io/file/innodb/innodb_data_file' AND enabled = 'YES'), \
     (SELECT COUNT(*) = 1 FROM performance_schema.setup_instruments \
         WHERE name = 'wait/io/file/innodb/innodb_data_file' AND timed = 'YES'), \
     (SELECT COUNT(*) = 1 FROM performance_schema.setup_instruments WHERE name = 'transaction' AND enabled = 'YES')";

const TRANSACTIONS: &str = "SELECT SUM(count_star) + 0e0 FROM performance_schema.events_transactions_summary_global_by_event_name";

const SESSIONS: &str = "SELECT processlist_id, processlist_command, processlist_time \
     FROM performance_schema.threads WHERE processlist_id <> CONNECTION_ID()";

const SESSIONS_WITHOUT_SCHEMA: &str =
    "SELECT id, command, time FROM information_schema.processlist WHERE id <> CONNECTION_ID()";

const LOOK_WITHOUT_SCHEMA: &str = "SELECT id, command, state, NULL, NULL FROM information_schema.processlist \
     WHERE command <> 'Sleep' AND id <> CONNECTION_ID()";

pub(super) struct Session {
    connection: Conn,
    number: u32,
    own_id: u32,
    server: Arc<Facts>,
    /// Directories of temporary files.
    temp: Vec<PathBuf>,
    /// Statements of our own so far.
    own: f64,
    looks: u32,
    waiting_for_rows: BTreeSet<u32>,
}

impl Session {
    /// Connects; `number` tells one connection from another.
    pub(super) fn open(server: &ServerUrl, number: u32) -> Result<Session, EngineError> {
        let connection = server.connect()?;
        let mut session = Session {
            own_id: connection.connection_id(),
            connection,
            number,
            server: Arc::default(),
            temp: Vec::new(),
            own: 0.0,
            looks: 0,
            waiting_for_rows: BTreeSet::new(),
        };
        match session.prepare() {
            Ok(()) => Ok(session),
            Err(Error::MySqlError(said)) if MAY_NOT.contains(&said.code) => {
                Err(EngineError::Missing(format!(
                    "the login may not see what other sessions do: {}; run GRANT PROCESS ON *.* TO the login and GRANT SELECT \
                     ON performance_schema.* TO it on the server",
                    said.message
                )))
            }
            Err(error) => Err(EngineError::failed(
                "prepare to look at the server",
                crate::engine::mariadb::login::words(&error),
            )),
        }
    }

    fn prepare(&mut self) -> Result<(), Error> {
        let version: Option<String> = self.connection.query_first("SELECT VERSION()")?;
        let variables: Vec<(String, String)> = self.connection.query("SHOW GLOBAL VARIABLES")?;
        let variables: BTreeMap<String, String> = variables.into_iter().collect();
        // Whether this login sees other sessions.
        self.locked()?;
        self.own += 3.0;
        let mut facts = Facts {
            version: version.unwrap_or_default(),
            variables,
            counts: Counts::default(),
        };
        if facts.is_on("performance_schema") {
            facts.counts = self.counts()?;
        }
        self.temp = host::temporary(&facts);
        self.server = Arc::new(facts);
        Ok(())
    }

    fn counts(&mut self) -> Result<Counts, Error> {
        self.own += 1.0;
        let row: Option<(bool, bool, bool, bool, bool)> = self.connection.query_first(COUNTS)?;
        let (is_counting, waits, files, times, transactions) = row.unwrap_or_default();
        Ok(Counts {
            sessions: is_counting,
            files: is_counting && files,
            times: is_counting && files && times,
            waits: is_counting && files && waits,
            transactions: is_counting && transactions,
        })
    }

    /// All counters now.
    pub(super) fn snapshot(&mut self, clock: &Clock) -> Result<Snapshot, Error> {
        let counts = self.server.counts;
        let own = self.own;
        let status: Vec<(String, String)> = self.connection.query("SHOW GLOBAL STATUS")?;
        let at = Duration::from_nanos(clock.now().as_nanos());
        let files = counts.files.then(|| self.files()).transpose()?;
        let transactions = match counts.transactions {
            true => self.connection.query_first(TRANSACTIONS)?.flatten(),
            false => None,
        };
        let time: Option<f64> = self
            .connection
            .query_first("SELECT UNIX_TIMESTAMP(NOW(6)) + 0e0")?;
        let server_time_s = time.unwrap_or(0.0);
        let sessions: Vec<(u32, Option<String>, Option<i64>)> =
            self.connection.query(match counts.sessions {
                true => SESSIONS,
                false => SESSIONS_WITHOUT_SCHEMA,
            })?;
        let is_client = |command: &Option<String>| {
            let command = command.as_deref().unwrap_or("Daemon");
            !NO_CLIENTS.contains(&command)
        };
        let sessions = sessions
            .into_iter()
            .filter(|(_, command, _)| is_client(command))
            .map(|(id, _, time_s)| (id, server_time_s - time_s.unwrap_or(0) as f64));
        let snapshot = Snapshot {
            at,
            server_time_s,
            connection: self.number,
            own,
            status: status
                .into_iter()
                .filter_map(|(name, value)| Some((name.to_ascii_lowercase(), value.parse().ok()?)))
                .collect(),
            files,
            transactions,
            sessions: sessions.collect(),
            server: Arc::clone(&self.server),
            host: None,
        };
        self.own += 3.0 + f64::from(u8::from(counts.files)) * 2.0;
        self.own += f64::from(u8::from(counts.transactions));
        Ok(snapshot)
    }

    fn files(&mut self) -> Result<Counted, Error> {
        let mut counted = Counted::default();
        let kinds: Vec<mysql::Row> = self.connection.query(format!(
            "SELECT event_name, {} FROM performance_schema.file_summary_by_event_name",
            files::COLUMNS
        ))?;
        for row in kinds {
            let event: String = row.get(0).unwrap_or_default();
            counted.note_kind(&event, sums(&row, 1));
        }
        let single: Vec<mysql::Row> = self.connection.query(format!(
            "SELECT event_name, file_name, {} FROM performance_schema.file_summary_by_instance WHERE {}",
            files::COLUMNS,
            files::BY_NAME
        ))?;
        for row in single {
            let event: String = row.get(0).unwrap_or_default();
            let file: String = row.get(1).unwrap_or_default();
            counted.note_file(&event, &file, sums(&row, 2), &self.temp);
        }
        Ok(counted)
    }

    /// What sessions do now.
    pub(super) fn look(&mut self, looks: &mut Looks) -> Result<(), Error> {
        if self.looks.is_multiple_of(LOOKS_PER_LOCKS) {
            self.waiting_for_rows = self.locked()?;
            self.own += 1.0;
        }
        self.looks = self.looks.wrapping_add(1);
        let rows: Vec<waits::Row> = self.connection.query(match self.server.counts.sessions {
            true => waits::SESSIONS,
            false => LOOK_WITHOUT_SCHEMA,
        })?;
        self.own += 1.0;
        let mut active: BTreeMap<u32, Option<Wait>> = BTreeMap::new();
        for (id, command, state, event, operation) in rows {
            let text = Option::unwrap_or_default;
            let (command, state, operation) = (text(command), text(state), text(operation));
            if id == self.own_id || NO_CLIENTS.contains(&command.as_str()) {
                continue;
            }
            // Work on a table, which has waits of its own beside it.
            let event = text(event.filter(|event| !event.starts_with("wait/io/table/")));
            let locked = self.waiting_for_rows.contains(&id);
            let kind = waiting(&command, &state, &event, &operation, locked).kind;
            if let Some(seen) = wait(kind, &event) {
                let known = active.entry(id).or_default();
                *known = known.or(seen);
            }
        }
        looks.add(active.into_iter());
        Ok(())
    }

    /// Connections whose transactions wait for a row.
    fn locked(&mut self) -> Result<BTreeSet<u32>, Error> {
        let locked: Vec<u32> = self.connection.query(waits::LOCKED)?;
        Ok(locked.into_iter().collect())
    }
}

/// What a session waits for, `Some(None)` where it runs; `None` where it has nothing to do.
fn wait(kind: WaitKind, event: &str) -> Option<Option<Wait>> {
    let is_temp = ["innodb_temp_file", "/io_cache", "/hash_join"]
        .iter()
        .any(|name| event.ends_with(name));
    Some(match kind {
        WaitKind::Client => return None,
        WaitKind::Cpu => None,
        WaitKind::Read | WaitKind::Write if is_temp => Some(Wait::Temp),
        WaitKind::Read => Some(Wait::DataRead),
        WaitKind::Write => Some(Wait::DataWrite),
        WaitKind::Log => Some(Wait::Log),
        WaitKind::Lock => Some(Wait::Lock),
        WaitKind::Other => Some(Wait::Other),
    })
}

/// The sums of a row of [`files::COLUMNS`], from column `first` on.
fn sums(row: &mysql::Row, first: usize) -> Sums {
    let mut sums = Sums::default();
    for (place, sum) in (first..).zip(&mut sums.0) {
        *sum = row.get(place).unwrap_or_default();
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_for_temporary_files_are_told_from_those_for_data() {
        let data = "wait/io/file/innodb/innodb_data_file";
        for (kind, event, expected) in [
            (WaitKind::Client, "", None),
            (WaitKind::Cpu, "", Some(None)),
            (WaitKind::Read, data, Some(Some(Wait::DataRead))),
            (WaitKind::Write, data, Some(Some(Wait::DataWrite))),
            (
                WaitKind::Write,
                "wait/io/file/sql/io_cache",
                Some(Some(Wait::Temp)),
            ),
            (WaitKind::Lock, "", Some(Some(Wait::Lock))),
        ] {
            assert_eq!(wait(kind, event), expected, "{kind:?} {event}");
        }
    }
}
