//! What sessions wait for, from `performance_schema` and the list of sessions.
//!
//! A wait in progress is a row of `events_waits_current` without an end. Only file I/O and commit waits are instrumented.
//! InnoDB's row lock waits are not: they are in its list of transactions, which it refreshes at most ten times a second, and not
//! at all while it is read more often.
//! Source: `storage/innobase/trx/trx0i_s.cc` of MariaDB 10.11 (`CACHE_MIN_IDLE_TIME_NS`), read 2026-11-25.

use std::collections::BTreeSet;

use crate::session::failure::Failure;
use crate::session::wire::Connection;
use crate::trial::server::MariaDb;
use engine::row::{Row, Unexpected};
use engine::{EngineError, WaitKind, WaitSampler, Waiting};

/// Number of session samples per sample of waiting transactions: 20 ms each, and more than 100 ms between two.
const SAMPLES_PER_LOCKS: u32 = 8;

/// Wait events of group commit followers, and of the leader; the first is MariaDB's, the second MySQL's.
const GROUP_COMMIT: [&str; 3] = ["::COND_wakeup_ready", "::COND_done", "::LOCK_log"];

pub(crate) const SESSIONS: &str = "SELECT t.processlist_id, t.processlist_command, t.processlist_state, w.event_name, w.operation \
     FROM performance_schema.threads AS t LEFT JOIN performance_schema.events_waits_current AS w \
     ON w.thread_id = t.thread_id AND w.end_event_id IS NULL WHERE t.processlist_id IS NOT NULL";

const LOCKED: &str =
    "SELECT trx_mysql_thread_id FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'";

/// Samples the sessions of an engine, on a separate connection.
pub(crate) struct Sampler<'a> {
    engine: &'a MariaDb,
    connection: Connection,
    /// Sessions that waited for a row at the last sample.
    waiting_for_rows: BTreeSet<u32>,
    samples: u32,
}

impl<'a> Sampler<'a> {
    pub(crate) fn new(engine: &'a MariaDb, connection: Connection) -> Sampler<'a> {
        Sampler {
            engine,
            connection,
            waiting_for_rows: BTreeSet::new(),
            samples: 0,
        }
    }

    fn waiting(&mut self) -> Result<Vec<Waiting>, Failure> {
        if self.samples.is_multiple_of(SAMPLES_PER_LOCKS) {
            self.waiting_for_rows = locked(&mut self.connection)?;
        }
        self.samples = self.samples.wrapping_add(1);
        let rows = self.connection.query(SESSIONS)?;
        let seen: Vec<Seen> = rows.iter().map(Seen::of).collect::<Result<_, _>>()?;
        let ours = self.engine.sessions.lock();
        let ours = seen.iter().filter(|seen| ours.contains(&seen.session));
        Ok(ours
            .map(|seen| {
                let locked = self.waiting_for_rows.contains(&seen.session);
                waiting(seen.command, seen.state, seen.event, seen.operation, locked)
            })
            .collect())
    }
}

/// Connections whose transactions wait for a row.
pub(crate) fn locked(connection: &mut Connection) -> Result<BTreeSet<u32>, Failure> {
    let rows = connection.query(LOCKED)?;
    let numbers = rows.iter().map(|row| row.count(0));
    Ok(numbers.collect::<Result<_, _>>()?)
}

/// A row of [`SESSIONS`]; what is NULL is empty.
pub(crate) struct Seen<'a> {
    pub(crate) session: u32,
    pub(crate) command: &'a str,
    pub(crate) state: &'a str,
    pub(crate) event: &'a str,
    pub(crate) operation: &'a str,
}

impl Seen<'_> {
    pub(crate) fn of(row: &Row) -> Result<Seen<'_>, Unexpected> {
        let text = |column: usize| row.text(column).map(Option::unwrap_or_default);
        Ok(Seen {
            session: row.count(0)?,
            command: text(1)?,
            state: text(2)?,
            event: text(3)?,
            operation: text(4)?,
        })
    }
}

impl WaitSampler for Sampler<'_> {
    fn sample(&mut self) -> Result<Vec<Waiting>, EngineError> {
        self.waiting()
            .map_err(|error| EngineError::failed("sample the sessions", error))
    }
}

/// A session's activity, from its command and state, its wait in progress, and whether it recently waited for a row.
pub(crate) fn waiting(
    command: &str,
    state: &str,
    event: &str,
    operation: &str,
    locked: bool,
) -> Waiting {
    let named = |kind, event: &str| Waiting {
        kind,
        event: event.to_owned(),
    };
    if command == "Sleep" {
        return named(WaitKind::Client, "Sleep");
    }
    match event {
        // `idle`: its wait for the client may have ended just now.
        "" | "idle" => {}
        "wait/io/file/sql/binlog" => return named(WaitKind::Log, event),
        _ if event.ends_with("/innodb_log_file") => return named(WaitKind::Log, event),
        _ if event.starts_with("wait/io/file/") => {
            let kind = match operation {
                "read" => WaitKind::Read,
                _ => WaitKind::Write,
            };
            return named(kind, event);
        }
        // A place in the binary log's group commit queue, or its leader.
        _ if GROUP_COMMIT.iter().any(|name| event.ends_with(name)) => {
            return named(WaitKind::Log, event);
        }
        _ => return named(WaitKind::Other, event),
    }
    match state {
        // The redo log has no instrument; MySQL's name for it comes second.
        "Commit" | "waiting for handler commit" => named(WaitKind::Log, state),
        // MariaDB (10.6 and later) waits for what others flush when a statement has ended, before it replies (MDEV-24341): the list
        // of sessions still shows the statement's last state, performance_schema none.
        "Updating status" => named(WaitKind::Log, state),
        "" if matches!(command, "Query" | "Execute") => named(WaitKind::Log, "Updating status"),
        "User lock" => named(WaitKind::Lock, state),
        _ if state.starts_with("Waiting for ") => named(WaitKind::Lock, state),
        _ if locked => named(WaitKind::Lock, "LOCK WAIT"),
        _ => named(WaitKind::Cpu, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_fall_to_their_kinds() {
        let data = "wait/io/file/innodb/innodb_data_file";
        let binlog = "wait/io/file/sql/binlog";
        let group = "wait/synch/cond/sql/THD::COND_wakeup_ready";
        for (command, state, event, operation, locked, kind) in [
            ("Sleep", "", "idle", "idle", false, WaitKind::Client),
            ("Execute", "Sending data", "", "", false, WaitKind::Cpu),
            (
                "Execute",
                "Sending data",
                "idle",
                "idle",
                false,
                WaitKind::Cpu,
            ),
            (
                "Execute",
                "Sending data",
                data,
                "read",
                false,
                WaitKind::Read,
            ),
            ("Execute", "Updating", data, "sync", false, WaitKind::Write),
            ("Execute", "Commit", binlog, "sync", false, WaitKind::Log),
            ("Execute", "Commit", group, "wait", false, WaitKind::Log),
            ("Execute", "Commit", "", "", false, WaitKind::Log),
            ("Execute", "Updating status", "", "", false, WaitKind::Log),
            ("Execute", "", "", "", false, WaitKind::Log),
            ("Connect", "", "", "", false, WaitKind::Cpu),
            ("Execute", "Updating", "", "", true, WaitKind::Lock),
            // It waited for a row at the last sample, and reads now.
            ("Execute", "Updating", data, "read", true, WaitKind::Read),
            ("Execute", "User lock", "", "", false, WaitKind::Lock),
            (
                "Execute",
                "Waiting for table metadata lock",
                "",
                "",
                false,
                WaitKind::Lock,
            ),
            (
                "Execute",
                "Commit",
                "wait/synch/mutex/sql/LOCK_commit_ordered",
                "lock",
                false,
                WaitKind::Other,
            ),
        ] {
            let seen = waiting(command, state, event, operation, locked);
            assert_eq!(seen.kind, kind, "{command} {state} {event}");
        }
    }
}
