//! A connection to a server, the queries, and their results.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use ::host::clock::Clock;
use model::Duration;
use profile::Wait;

use super::files::{self, Counted, Sums};
use super::host;
use super::snapshot::{Counts, Facts, Snapshot};
use crate::session::failure::Failure;
use crate::session::url::ServerUrl;
use crate::session::wire::Connection;
use crate::trial::waits::{self, Seen, waiting};
use engine::recorder::{RecordedSession, Samples, Taken};
use engine::row::{Number as _, Row, Unexpected, pairs};
use engine::{EngineError, WaitKind};

/// Number of session samples per sample of transactions that wait for rows: InnoDB refreshes their list ten times a second.
const SAMPLES_PER_LOCKS: u32 = 2;

/// Names of sessions that do not serve clients.
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

/// Errors for missing privileges: on a table, and global.
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

pub(super) struct RecorderSession {
    connection: Connection,
    number: u32,
    own_id: u32,
    server: Arc<Facts>,
    /// Directories of temporary files.
    temp: Vec<PathBuf>,
    /// Number of our own statements so far.
    own: f64,
    samples_taken: u32,
    waiting_for_rows: BTreeSet<u32>,
}

impl RecorderSession {
    /// Connects; `number` distinguishes connections.
    pub(super) fn open(server: &ServerUrl, number: u32) -> Result<RecorderSession, EngineError> {
        let connection = server.connect()?;
        let mut session = RecorderSession {
            own_id: connection.number,
            connection,
            number,
            server: Arc::default(),
            temp: Vec::new(),
            own: 0.0,
            samples_taken: 0,
            waiting_for_rows: BTreeSet::new(),
        };
        match session.prepare() {
            Ok(()) => Ok(session),
            Err(Failure::Refused { code, message }) if MAY_NOT.contains(&code) => {
                Err(EngineError::Missing(format!(
                    "the login may not see what other sessions do: {message}; run GRANT PROCESS ON *.* TO the login and GRANT SELECT \
                     ON performance_schema.* TO it on the server"
                )))
            }
            Err(error) => Err(EngineError::failed(
                format!("prepare to look at {server}"),
                error,
            )),
        }
    }

    fn prepare(&mut self) -> Result<(), Failure> {
        let version = self
            .connection
            .first("SELECT VERSION()")?
            .word(0)?
            .to_owned();
        let variables = pairs(&self.connection.query("SHOW GLOBAL VARIABLES")?)?;
        // Checks whether this login sees other sessions.
        waits::locked(&mut self.connection)?;
        self.own += 3.0;
        let mut facts = Facts {
            version,
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

    fn counts(&mut self) -> Result<Counts, Failure> {
        self.own += 1.0;
        let row = self.connection.first(COUNTS)?;
        let is = |column: usize| Ok::<bool, Unexpected>(row.count::<u32>(column)? == 1);
        let (is_counting, waits, files, times, transactions) =
            (is(0)?, is(1)?, is(2)?, is(3)?, is(4)?);
        Ok(Counts {
            sessions: is_counting,
            files: is_counting && files,
            times: is_counting && files && times,
            waits: is_counting && files && waits,
            transactions: is_counting && transactions,
        })
    }

    fn files(&mut self) -> Result<Counted, Failure> {
        let mut counted = Counted::default();
        let kinds = self.connection.query(&format!(
            "SELECT event_name, {} FROM performance_schema.file_summary_by_event_name",
            files::COLUMNS
        ))?;
        for row in kinds {
            counted.note_kind(row.word(0)?, sums(&row, 1)?);
        }
        let single = self.connection.query(&format!(
            "SELECT event_name, file_name, {} FROM performance_schema.file_summary_by_instance WHERE {}",
            files::COLUMNS,
            files::BY_NAME
        ))?;
        for row in single {
            counted.note_file(row.word(0)?, row.word(1)?, sums(&row, 2)?, &self.temp);
        }
        Ok(counted)
    }
}

impl RecordedSession for RecorderSession {
    type Snapshot = Snapshot;
    type Error = Failure;

    fn snapshot(&mut self, clock: &Clock) -> Result<Snapshot, Failure> {
        let counts = self.server.counts;
        let own = self.own;
        let status: Vec<(String, String)> = pairs(&self.connection.query("SHOW GLOBAL STATUS")?)?;
        let at = Duration::from_nanos(clock.now().as_nanos());
        let files = counts.files.then(|| self.files()).transpose()?;
        let transactions = match counts.transactions {
            true => self.connection.first(TRANSACTIONS)?.number(0)?,
            false => None,
        };
        let time = self
            .connection
            .first("SELECT UNIX_TIMESTAMP(NOW(6)) + 0e0")?;
        let server_time_s: f64 = time.count(0)?;
        let sessions = self.connection.query(match counts.sessions {
            true => SESSIONS,
            false => SESSIONS_WITHOUT_SCHEMA,
        })?;
        let session = |row: &Row| {
            let is_client = !NO_CLIENTS.contains(&row.text(1)?.unwrap_or("Daemon"));
            let since_s: f64 = server_time_s - row.number(2)?.unwrap_or(0.0);
            Ok::<_, Unexpected>(is_client.then_some((row.count::<u32>(0)?, since_s)))
        };
        let sessions: Vec<_> = sessions.iter().map(session).collect::<Result<_, _>>()?;
        let taken = Taken {
            at,
            server_time_s,
            connection: self.number,
            own,
            sessions: sessions.into_iter().flatten().collect(),
            host: None,
        };
        let snapshot = Snapshot {
            taken,
            status: status
                .into_iter()
                .filter_map(|(name, value)| Some((name.to_ascii_lowercase(), f64::of(&value)?)))
                .collect(),
            files,
            transactions,
            server: Arc::clone(&self.server),
        };
        self.own += 3.0 + f64::from(u8::from(counts.files)) * 2.0;
        self.own += f64::from(u8::from(counts.transactions));
        Ok(snapshot)
    }

    fn sample(&mut self, samples: &mut Samples) -> Result<(), Failure> {
        if self.samples_taken.is_multiple_of(SAMPLES_PER_LOCKS) {
            self.waiting_for_rows = waits::locked(&mut self.connection)?;
            self.own += 1.0;
        }
        self.samples_taken = self.samples_taken.wrapping_add(1);
        let rows = self.connection.query(match self.server.counts.sessions {
            true => waits::SESSIONS,
            false => LOOK_WITHOUT_SCHEMA,
        })?;
        self.own += 1.0;
        let mut active: BTreeMap<u32, Option<Wait>> = BTreeMap::new();
        for row in &rows {
            let seen = Seen::of(row)?;
            if seen.session == self.own_id || NO_CLIENTS.contains(&seen.command) {
                continue;
            }
            // Work on a table, which has separate wait events.
            let event = match seen.event.starts_with("wait/io/table/") {
                true => "",
                false => seen.event,
            };
            let locked = self.waiting_for_rows.contains(&seen.session);
            let kind = waiting(seen.command, seen.state, event, seen.operation, locked).kind;
            if let Some(wait) = wait(kind, event) {
                let known = active.entry(seen.session).or_default();
                *known = known.or(wait);
            }
        }
        samples.add(active.into_iter());
        Ok(())
    }
}

/// What a session waits for; `Some(None)` if it is running; `None` if it is idle.
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
fn sums(row: &Row, first: usize) -> Result<Sums, Unexpected> {
    let mut sums = Sums::default();
    for (place, sum) in (first..).zip(&mut sums.0) {
        *sum = row.number(place)?.unwrap_or_default();
    }
    Ok(sums)
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
