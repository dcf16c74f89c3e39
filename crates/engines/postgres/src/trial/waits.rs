//! What sessions wait for, as reported by PostgreSQL.
//!
//! The query reads `pg_stat_get_activity` instead of the view `pg_stat_activity`, which looks up names of databases and roles
//! each time.

use crate::session::login::SESSION;
use crate::session::wire::Connection;
use engine::row::Unexpected;
use engine::{EngineError, WaitKind, WaitSampler, Waiting};

/// Samples this run's sessions on a separate connection.
pub(crate) struct Sampler {
    connection: Connection,
}

impl Sampler {
    /// A sampler of the sessions in the connection's database.
    pub(crate) fn new(mut connection: Connection) -> Result<Sampler, EngineError> {
        // Not the view `pg_stat_activity`, which would look up names of databases and roles each time.
        connection
            .query(&format!(
                "PREPARE sample AS SELECT state, wait_event_type, wait_event \
                 FROM pg_stat_get_activity(NULL) WHERE application_name = '{SESSION}' AND datid = \
                 (SELECT oid FROM pg_database WHERE datname = current_database())"
            ))
            .map_err(|error| EngineError::failed("prepare to look at the sessions", error))?;
        Ok(Sampler { connection })
    }
}

impl WaitSampler for Sampler {
    fn sample(&mut self) -> Result<Vec<Waiting>, EngineError> {
        let rows = self
            .connection
            .query("EXECUTE sample")
            .map_err(|error| EngineError::failed("sample the sessions", error))?;
        let sampled: Result<Vec<Waiting>, Unexpected> = rows
            .iter()
            .map(|row| {
                let text = |column: usize| row.text(column).map(Option::unwrap_or_default);
                Ok(waiting(text(0)?, text(1)?, text(2)?))
            })
            .collect();
        sampled.map_err(|error| EngineError::failed("sample the sessions", error))
    }
}

fn waiting(state: &str, class: &str, event: &str) -> Waiting {
    if state != "active" {
        // It may still show the previous wait: it has responded and is not scheduled again yet.
        return Waiting {
            kind: WaitKind::Client,
            event: "Client/ClientRead".to_owned(),
        };
    }
    let kind = match (class, event) {
        ("", _) => WaitKind::Cpu,
        // Another backend's write of the log, which this one's commit is part of.
        ("IO" | "LWLock", event) if event.starts_with("WAL") => WaitKind::Log,
        ("IO", event) => io(event),
        // A read that another backend has begun of the same page.
        // Before 14 it was a lock.
        ("IPC", "BufferIO" | "BufferIo") | ("LWLock", "BufferIO") => WaitKind::Read,
        // A read that another backend submitted to the kernel (18, io_uring), or a place in the workers' queue.
        ("LWLock", "AioUringCompletion" | "AioWorkerSubmissionQueue") => WaitKind::Read,
        ("Lock" | "LWLock" | "BufferPin" | "Buffer", _) => WaitKind::Lock,
        ("Client", _) => WaitKind::Client,
        (_, _) => WaitKind::Other,
    };
    let event = match class {
        "" => String::new(),
        _ => format!("{class}/{event}"),
    };
    Waiting { kind, event }
}

/// Source: <https://www.postgresql.org/docs/18/monitoring-stats.html>, table "Wait Events of Type IO",
/// read 2026-11-21.
fn io(event: &str) -> WaitKind {
    match event {
        // Asynchronous reads (18): only reads are asynchronous there.
        "AioIoCompletion" | "AioIoUringExecution" | "AioIoUringSubmit" => WaitKind::Read,
        _ if event.ends_with("Read") || event.ends_with("Prefetch") => WaitKind::Read,
        _ if event.starts_with("DataFile") || event.starts_with("BufFile") => WaitKind::Write,
        _ => WaitKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_fall_to_their_kinds() {
        for (state, class, event, kind) in [
            ("active", "", "", WaitKind::Cpu),
            ("active", "IO", "DataFileRead", WaitKind::Read),
            ("active", "IO", "BufFileRead", WaitKind::Read),
            ("active", "IPC", "BufferIO", WaitKind::Read),
            ("active", "LWLock", "BufferIO", WaitKind::Read),
            ("active", "IO", "AioIoCompletion", WaitKind::Read),
            ("active", "LWLock", "AioUringCompletion", WaitKind::Read),
            ("active", "IO", "DataFileExtend", WaitKind::Write),
            ("active", "IO", "BufFileWrite", WaitKind::Write),
            ("active", "IO", "WALSync", WaitKind::Log),
            ("active", "LWLock", "WALWrite", WaitKind::Log),
            ("active", "Lock", "advisory", WaitKind::Lock),
            ("active", "LWLock", "BufferContent", WaitKind::Lock),
            ("active", "Client", "ClientWrite", WaitKind::Client),
            ("active", "Timeout", "PgSleep", WaitKind::Other),
            ("idle in transaction", "", "", WaitKind::Client),
        ] {
            assert_eq!(waiting(state, class, event).kind, kind, "{class}/{event}");
        }
    }
}
