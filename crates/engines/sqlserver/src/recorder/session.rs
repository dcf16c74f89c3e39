//! A connection to a server, the queries, and their results.

use std::collections::BTreeMap;

use crate::capture::{self, AskError, Identity, Product, TEMPDB};
use crate::session::{Driver, Missing, Row};
use crate::tsql::Name;
use crate::tsql::question::{self, Needs, Question};
use host::clock::Clock;
use model::{Bytes, Duration};
use profile::{Machine, Timestamp};
use reading::Role;

use super::difference::{Counter, FileCounters, Snapshot};
use super::request::under_way;
use crate::Access;
use crate::trial::OBSERVER;
use engine::EngineError;
use engine::recorder::{RecordedSession, Samples};

/// SQL Server 2012: the queries use columns that it introduced.
const MAJOR_MIN: u32 = 11;

/// Number of the first log file of a database, if the type of its files is not visible: `CREATE DATABASE` assigns it the second
/// number, and a database has one log file unless more were added.
///
/// Source: Microsoft, "sys.database_files" and "Database files and filegroups" (read 2026-11).
const LOG_FILE: i64 = 2;

/// Permissions each of which shows the state of the server, the first from 2022 on.
const STATE_PERMISSIONS: [&str; 2] = ["VIEW SERVER PERFORMANCE STATE", "VIEW SERVER STATE"];

pub(super) struct RecorderSession {
    driver: Driver,
    identity: Identity,
    number: u32,
    /// Number of our own batches so far.
    own: f64,
}

impl RecorderSession {
    /// Connects; `number` distinguishes connections.
    pub(super) fn open(access: &Access, number: u32) -> Result<RecorderSession, EngineError> {
        let mut driver = access.connect(OBSERVER)?;
        let asked = || format!("ask the SQL Server at {} what it is", access.server());
        let failed = |error: AskError| EngineError::failed(asked(), error);
        let (identity, greeting, _) = capture::identity(&mut driver).map_err(failed)?;
        check(&identity)?;
        let permissions = capture::read(&mut driver, &question::PERMISSIONS, |row| {
            Ok((row.word("permission")?, row.flag("allowed")? == Some(true)))
        });
        let permissions: BTreeMap<String, bool> =
            permissions.map_err(failed)?.into_iter().collect();
        let may = |name: &&str| permissions.get(*name) == Some(&true);
        if !STATE_PERMISSIONS.iter().any(may) {
            return Err(EngineError::Missing(not_permitted(
                &identity,
                &greeting.login,
            )));
        }
        Ok(RecorderSession {
            driver,
            identity,
            number,
            own: 0.0,
        })
    }

    pub(super) fn product(&self) -> &'static str {
        match self.identity.product() {
            Product::ManagedInstance => "Azure SQL Managed Instance",
            Product::Babelfish => "Babelfish",
            Product::Boxed | Product::AzureDatabase | Product::Other => "SQL Server",
        }
    }

    pub(super) fn version(&self) -> &str {
        let own = self.identity.babelfish.as_deref();
        own.unwrap_or(&self.identity.version)
    }

    /// Its edition, where it is one that is licensed; Babelfish has none.
    pub(super) fn edition(&self) -> Option<&str> {
        let own = self.identity.babelfish.is_none();
        own.then_some(self.identity.edition.as_str())
            .filter(|edition| !edition.is_empty())
    }

    /// Its machine, as far as reported.
    pub(super) fn machine(&mut self) -> Machine {
        let rows = self.read(&question::MACHINE, |row| {
            Ok((row.int("processors")?, row.int("memory_kb")?))
        });
        let first = rows.ok().and_then(|rows| rows.into_iter().next());
        let (processors, memory_kb) = first.unwrap_or_default();
        let positive = |number: Option<i64>| u64::try_from(number?).ok().filter(|n| *n > 0);
        Machine {
            name: None,
            processors: positive(processors).and_then(|count| u32::try_from(count).ok()),
            memory: positive(memory_kb).map(|kb| Bytes(kb.saturating_mul(1024))),
            cache: None,
            burst_balance: None,
        }
    }

    fn read<T>(
        &mut self,
        question: &Question,
        row: impl Fn(Row<'_>) -> Result<T, Missing>,
    ) -> Result<Vec<T>, AskError> {
        self.own += 1.0;
        capture::read(&mut self.driver, question, row)
    }
}

impl RecordedSession for RecorderSession {
    type Snapshot = Snapshot;
    type Error = AskError;

    fn snapshot(&mut self, clock: &Clock) -> Result<Snapshot, AskError> {
        let process = self.read(&question::PROCESS, |row| {
            let processor_ms = row.int("processor_ms")?;
            Ok((row.word("started")?, processor_ms, row.word("now_utc")?))
        })?;
        let (started, processor_ms, now) = process.into_iter().next().unwrap_or_default();
        let sessions = self.read(&question::LAST_REQUESTS, |row| {
            Ok((number(row)?, row.word("last_request")?))
        })?;
        // Our own batches in the counter, except the current one, which is in all snapshots or in none.
        let own = self.own;
        let counters = self.read(&question::BATCHES, |row| {
            let name = (row.word("counter")?, row.word("instance")?);
            let counter = Counter {
                value: row.count("value")?,
                kind: row.count("kind")?,
            };
            Ok((name, counter))
        })?;
        let files = self.read(&question::FILE_REQUESTS, file)?;
        Ok(Snapshot {
            at: Duration::from_nanos(clock.now().as_nanos()),
            server_time: timestamp(&now),
            started,
            connection: self.number,
            own,
            // A responding process has used some: 0 means that the system does not count it.
            processor_ms: processor_ms.filter(|ms| *ms > 0),
            counters: counters.into_iter().collect(),
            files: files.into_iter().collect(),
            sessions: sessions.into_iter().collect(),
        })
    }

    fn sample(&mut self, samples: &mut Samples) -> Result<(), AskError> {
        let rows = self.read(&question::REQUESTS, |row| {
            let (status, wait) = (row.word("status")?, row.word("wait_type")?);
            Ok(
                match under_way(&status, &wait, &row.word("wait_resource")?) {
                    Some(wait) => Some((number(row)?, wait)),
                    None => None,
                },
            )
        })?;
        samples.add(rows.into_iter().flatten());
        Ok(())
    }
}

/// Rejects servers without these views.
fn check(identity: &Identity) -> Result<(), EngineError> {
    let refused = |why: &str| Err(EngineError::Missing(why.to_owned()));
    match identity.product() {
        Product::AzureDatabase => refused(
            "Azure SQL Database does not show what each of its files is for; record an installed SQL Server or a \
             managed instance",
        ),
        Product::Other => refused(
            "this speaks T-SQL and is not a SQL Server; record an installed SQL Server or a managed instance",
        ),
        Product::Boxed if identity.major() < MAJOR_MIN => refused(
            "this SQL Server is older than 2012; collect Windows performance counters instead, and import them \
             (dbstow import)",
        ),
        Product::Boxed | Product::ManagedInstance | Product::Babelfish => Ok(()),
    }
}

fn not_permitted(identity: &Identity, login: &str) -> String {
    let grant = Needs::ServerState.grant(identity.major(), identity.product());
    let login = Name::new(login).map_or("[login]".to_owned(), |name| name.to_string());
    format!(
        "the login may not see what the server counts; run {} on the server",
        grant.unwrap_or_default().replace("[login]", &login)
    )
}

fn number(row: Row<'_>) -> Result<u32, Missing> {
    Ok(u32::try_from(row.count("session_id")?).unwrap_or_default())
}

/// A row of [`question::FILE_REQUESTS`].
fn file(row: Row<'_>) -> Result<((i64, i64), FileCounters), Missing> {
    let (database, file) = (row.count("database_id")?, row.count("file_id")?);
    let kind = row.text("kind")?;
    let role = match kind {
        _ if database == TEMPDB => Role::Temp,
        Some("LOG") => Role::Log,
        None if file == LOG_FILE => Role::Log,
        Some(_) | None => Role::Data,
    };
    let counters = FileCounters {
        role,
        is_guessed: kind.is_none() && database != TEMPDB,
        reads: row.count("reads")?,
        read_bytes: row.count("read_bytes")?,
        read_stall_ms: row.count("read_stall_ms")?,
        writes: row.count("writes")?,
        written_bytes: row.count("written_bytes")?,
        write_stall_ms: row.count("write_stall_ms")?,
    };
    Ok(((database, file), counters))
}

/// `2026-11-22T10:00:00.1234567`, without an offset, in UTC.
fn timestamp(text: &str) -> Timestamp {
    format!("{text}Z").parse().unwrap_or(Timestamp::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(version: &str, engine_edition: i64) -> Identity {
        Identity {
            version: version.to_owned(),
            engine_edition,
            ..Identity::default()
        }
    }

    #[test]
    fn a_missing_permission_is_reported_with_the_grant_of_the_version() {
        for (version, login, grant) in [
            (
                "15.0.4000.1",
                "shop",
                "run GRANT VIEW SERVER STATE TO [shop] on",
            ),
            (
                "16.0.4085.2",
                "DOM\\o]hara",
                "run GRANT VIEW SERVER PERFORMANCE STATE TO [DOM\\o]]hara] on",
            ),
        ] {
            let text = not_permitted(&identity(version, 3), login);
            assert!(text.contains(grant), "{text}");
        }
    }

    #[test]
    fn what_does_not_have_the_views_is_refused() {
        for (version, engine_edition, is_usable) in [
            ("16.0.4085.2", 3, true),
            ("12.0.2000.8", 8, true),
            ("12.0.2000.8", 5, false),
            ("10.50.6000.34", 3, false),
            ("12.0.2000.8", 6, false),
        ] {
            let checked = check(&identity(version, engine_edition));
            assert_eq!(checked.is_ok(), is_usable, "{version} {engine_edition}");
        }
    }

    #[test]
    fn times_of_the_server_are_read_with_or_without_a_fraction() {
        let expected: Timestamp = "2026-11-22T10:00:00Z".parse().expect("a time");
        assert_eq!(timestamp("2026-11-22T10:00:00"), expected);
        assert_eq!(timestamp("2026-11-22T10:00:00.0000000"), expected);
        assert_eq!(timestamp("yesterday"), Timestamp::UNIX_EPOCH);
    }
}
