//! Queries everything that a capture contains. A query that fails is noted, with the remedy; the others are executed anyway.

use std::collections::BTreeMap;

use rules::capture::{NegativeAmount, check_amounts};

use super::greeting::Greeting;
use super::{
    Cached, Capture, Database, FORMAT, File, FileInUse, FileIo, FileKind, Growth, Identity,
    Machine, MountedVolume, Product, Service, TempdbSpace, Unanswered, Wait,
};
use crate::session::{Batch, Failure, Missing, Row, Session};
use crate::tsql::question::{self, Needs, Question};

/// Timeout factor for the query of the buffer pool: that of a large server has many pages.
const OF_ALL_PAGES: u32 = 2;

const PAGE_BYTES: i64 = 8192;

/// Pages in bytes, saturating: a server may return anything.
fn in_bytes(pages: i64) -> i64 {
    pages.saturating_mul(PAGE_BYTES)
}

/// Why a query failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// The server refused, or could not be reached.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// The result does not match Microsoft's documentation.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// An impossible amount.
    #[error("the server answered that {0}")]
    Amount(#[from] NegativeAmount),
}

/// Runs one query.
///
/// # Errors
/// When the server refuses, or cannot be reached.
pub fn ask(session: &mut dyn Session, question: &Question) -> Result<Batch, Failure> {
    let factor = match *question == question::CACHED {
        true => OF_ALL_PAGES,
        false => 1,
    };
    let limit = session.answer_limit().saturating_mul(factor);
    session.batch(question.text, Some(limit))?.refused()
}

/// Reads the rows of a result.
///
/// # Errors
/// As [`ask`], or when a column is missing.
pub fn read<T>(
    session: &mut dyn Session,
    question: &Question,
    row: impl Fn(Row<'_>) -> Result<T, Missing>,
) -> Result<Vec<T>, AskError> {
    let answer = ask(session, question)?;
    let rows: Result<Vec<T>, Missing> = answer.rows().map(row).collect();
    Ok(rows?)
}

/// The identity of a server; the first query.
///
/// # Errors
/// As [`read`].
pub fn identity(session: &mut dyn Session) -> Result<(Identity, Greeting, String), AskError> {
    let rows = read(session, &question::IDENTITY, |row| {
        let identity = Identity {
            version: row.word("version")?,
            edition: row.word("edition")?,
            engine_edition: row.count("engine_edition")?,
            tempdb_metadata_in_memory: row.flag("tempdb_metadata_in_memory")?,
            clustered: row.flag("is_clustered")?,
            data_path: row.text("data_path")?.map(str::to_owned),
            log_path: row.text("log_path")?.map(str::to_owned),
            babelfish: row.text("babelfish")?.map(str::to_owned),
        };
        let greeting = Greeting {
            server: row.word("server_name")?,
            instance: row.word("instance")?,
            database: row.word("database_name")?,
            login: row.word("login_name")?,
        };
        Ok((identity, greeting, row.word("taken")?))
    })?;
    let first = rows.into_iter().next();
    // Without a version nothing else can be interpreted.
    let first = first.filter(|(identity, ..)| !identity.version.is_empty());
    first.ok_or_else(|| {
        Failure::OutOfStep("the server answered the question what it is with nothing".to_owned())
            .into()
    })
}

/// Files of all databases; tempdb's as of the next start.
///
/// # Errors
/// As [`read`].
pub fn files(session: &mut dyn Session) -> Result<Vec<File>, AskError> {
    read(session, &question::FILES, file)
}

/// I/O of each file since the service started.
///
/// # Errors
/// As [`read`].
pub fn file_statistics(session: &mut dyn Session) -> Result<Vec<FileIo>, AskError> {
    read(session, &question::FILE_IO, file_io)
}

/// Waits since the service started.
///
/// # Errors
/// As [`read`].
pub fn wait_statistics(session: &mut dyn Session) -> Result<Vec<Wait>, AskError> {
    read(session, &question::WAITS, wait)
}

/// Contents of the buffer pool, by database.
///
/// # Errors
/// As [`read`].
pub fn buffer_pool(session: &mut dyn Session) -> Result<Vec<Cached>, AskError> {
    read(session, &question::CACHED, cached)
}

/// The space in tempdb by use; `None` if the server does not report it.
///
/// # Errors
/// As [`read`].
pub fn tempdb_space(session: &mut dyn Session) -> Result<Option<TempdbSpace>, AskError> {
    let rows = read(session, &question::TEMPDB_SPACE, space_by_use)?;
    Ok(rows.into_iter().next())
}

/// Services on the machine.
///
/// # Errors
/// As [`read`].
pub fn services(session: &mut dyn Session) -> Result<Vec<Service>, AskError> {
    read(session, &question::SERVICES, service)
}

/// Whether data files are created without zeroing them; `None` if the services do not report it. Logs are always zeroed.
pub fn instant_file_initialization(services: &[Service]) -> Option<bool> {
    // The agent's service does not report it; the engine's does.
    let mut services = services.iter();
    services.find_map(|service| service.instant_file_initialization)
}

/// Runs all queries.
///
/// # Errors
/// When the server does not report its identity, the connection is lost, or an amount is negative.
pub fn capture(session: &mut dyn Session) -> Result<Capture, AskError> {
    let (identity, greeting, taken) = identity(session)?;
    let mut capture = Capture {
        format: FORMAT,
        dbstow: env!("CARGO_PKG_VERSION").to_owned(),
        taken,
        identity,
        asked: Some(greeting),
        ..Capture::default()
    };
    let mut asking = Asking {
        major: capture.identity.major(),
        product: capture.identity.product(),
        session,
        unanswered: Vec::new(),
    };
    asking.fill(&mut capture)?;
    capture.unanswered = asking.unanswered;
    check_amounts(&serde_json::to_value(&capture).expect("its keys are texts"))?;
    Ok(capture)
}

struct Asking<'a> {
    session: &'a mut dyn Session,
    major: u32,
    product: Product,
    unanswered: Vec<Unanswered>,
}

impl Asking<'_> {
    fn fill(&mut self, capture: &mut Capture) -> Result<(), AskError> {
        let permissions = self.rows(&question::PERMISSIONS, |row| {
            Ok((
                row.word("permission")?,
                row.flag("allowed")?.unwrap_or(false),
            ))
        })?;
        capture.permissions = permissions.into_iter().collect();
        capture.machine = self.machine()?;
        capture.services = self.rows(&question::SERVICES, service)?;
        let settings = self.rows(&question::SETTINGS, |row| {
            Ok((row.word("name")?, row.count("value")?))
        })?;
        capture.settings = settings.into_iter().collect::<BTreeMap<_, _>>();
        capture.trace_flags = self.trace_flags()?;
        capture.databases = self.rows(&question::DATABASES, |row| {
            Ok(Database {
                id: row.count("id")?,
                name: row.word("name")?,
                recovery: row.word("recovery")?,
                read_committed_snapshot: row.flag("read_committed_snapshot")?.unwrap_or(false),
                encrypted: row.flag("encrypted")?.unwrap_or(false),
            })
        })?;
        capture.files = self.rows(&question::FILES, file)?;
        capture.tempdb_in_use = self.rows(&question::TEMPDB_IN_USE, file_in_use)?;
        capture.volumes = self.volumes()?;
        capture.file_io = self.rows(&question::FILE_IO, file_io)?;
        capture.waits = self.rows(&question::WAITS, wait)?;
        capture.cached = self.rows(&question::CACHED, cached)?;
        capture.tempdb_space = self
            .rows(&question::TEMPDB_SPACE, space_by_use)?
            .into_iter()
            .next();
        Ok(())
    }

    fn machine(&mut self) -> Result<Machine, AskError> {
        let mut machine = Machine::default();
        let hosts = self.rows(&question::HOST, |row| {
            let system = format!("{} {}", row.word("distribution")?, row.word("release")?);
            Ok((row.word("platform")?, system.trim().to_owned()))
        })?;
        if let Some((platform, system)) = hosts.into_iter().next() {
            machine.platform = platform;
            machine.system = system;
        } else if self.product == Product::Boxed && self.major < 14 {
            // SQL Server came to Linux with 2017.
            machine.platform = "Windows".to_owned();
        }
        let machines = self.rows(&question::MACHINE, |row| {
            Ok(Machine {
                processors: counted(row, "processors")?,
                memory_bytes: counted(row, "memory_kb")?.map(|kb| kb.saturating_mul(1024)),
                memory_target_bytes: counted(row, "target_kb")?.map(|kb| kb.saturating_mul(1024)),
                started: row.word("started")?,
                virtual_machine: row.word("virtual_machine")?,
                ..Machine::default()
            })
        })?;
        Ok(match machines.into_iter().next() {
            Some(found) => Machine {
                platform: machine.platform,
                system: machine.system,
                ..found
            },
            None => machine,
        })
    }

    /// DBCC has fixed columns, in the server's order: flag, status, global, session.
    fn trace_flags(&mut self) -> Result<Vec<i64>, AskError> {
        let flags = self.rows(&question::TRACE_FLAGS, |row| {
            let global = row.flag("Global")?.unwrap_or(false);
            Ok(row.int("TraceFlag")?.filter(|_| global))
        })?;
        Ok(flags.into_iter().flatten().collect())
    }

    fn volumes(&mut self) -> Result<Vec<MountedVolume>, AskError> {
        let rows = self.rows(&question::VOLUMES, |row| {
            let file = (row.count("database_id")?, row.count("file_id")?);
            let volume = MountedVolume {
                mount_point: row.word("mount_point")?,
                label: row.word("label")?,
                file_system: row.word("file_system")?,
                total_bytes: row.count("total_bytes")?,
                available_bytes: row.count("available_bytes")?,
                files: Vec::new(),
            };
            Ok((file, volume))
        })?;
        let mut volumes: Vec<MountedVolume> = Vec::new();
        for (file, volume) in rows {
            let known = volumes
                .iter()
                .position(|known| known.mount_point == volume.mount_point);
            let place = known.unwrap_or_else(|| {
                volumes.push(volume);
                volumes.len() - 1
            });
            volumes[place].files.push(file);
        }
        Ok(volumes)
    }

    /// Rows of a result; empty if the query fails, which is noted.
    fn rows<T>(
        &mut self,
        question: &Question,
        row: impl Fn(Row<'_>) -> Result<T, Missing>,
    ) -> Result<Vec<T>, AskError> {
        if let Some(why) = self.unknown(question) {
            self.note(question, why, String::new());
            return Ok(Vec::new());
        }
        match read(self.session, question, row) {
            Ok(rows) => Ok(rows),
            Err(AskError::Failure(Failure::Refused(errors))) => {
                let denied = errors.iter().any(|error| DENIED.contains(&error.number));
                let remedy = if denied {
                    self.remedy(question.needs)
                } else {
                    String::new()
                };
                self.note(question, Failure::Refused(errors).to_string(), remedy);
                Ok(Vec::new())
            }
            Err(AskError::Failure(Failure::Timeout)) => {
                self.note(question, Failure::Timeout.to_string(), String::new());
                Ok(Vec::new())
            }
            Err(AskError::Missing(missing)) => {
                let remedy = "this is a defect of dbstow: report it with this capture".to_owned();
                self.note(question, missing.to_string(), remedy);
                Ok(Vec::new())
            }
            Err(error) => Err(error),
        }
    }

    /// Why a query does not apply here.
    fn unknown(&self, question: &Question) -> Option<String> {
        match self.product {
            Product::AzureDatabase if !question.azure_database => {
                Some("Azure SQL Database does not have it".to_owned())
            }
            Product::Boxed if self.major < question.since => Some(format!(
                "it came with version {} of SQL Server",
                question.since
            )),
            Product::Boxed
            | Product::AzureDatabase
            | Product::ManagedInstance
            | Product::Babelfish
            | Product::Other => None,
        }
    }

    fn remedy(&self, needs: Needs) -> String {
        let grant = needs.grant(self.major, self.product);
        grant.unwrap_or_default().to_owned()
    }

    fn note(&mut self, question: &Question, why: String, remedy: String) {
        self.unanswered.push(Unanswered {
            question: question.name.to_owned(),
            why,
            remedy,
        });
    }
}

/// Errors for missing permissions: 229 object, 262 database, 297 user, 300 server.
/// Source: Microsoft, "Database engine events and errors" (read 2026-11).
const DENIED: [u32; 5] = [229, 262, 297, 300, 371];

fn kind(row: Row<'_>) -> Result<FileKind, Missing> {
    Ok(match row.word("kind")?.as_str() {
        "LOG" => FileKind::Log,
        "FILESTREAM" => FileKind::Filestream,
        "FULLTEXT" => FileKind::FullText,
        _ => FileKind::Rows,
    })
}

fn file(row: Row<'_>) -> Result<File, Missing> {
    let growth = row.count("growth")?;
    Ok(File {
        database_id: row.count("database_id")?,
        id: row.count("id")?,
        kind: kind(row)?,
        name: row.word("name")?,
        path: row.word("path")?,
        size_bytes: in_bytes(row.count("size_pages")?),
        // -1: as large as the volume allows; 0: it does not grow at all.
        max_bytes: row
            .int("max_pages")?
            .filter(|pages| *pages > 0)
            .map(in_bytes),
        growth: match (growth, row.flag("percent_growth")?) {
            (0, _) => Growth::None,
            (growth, Some(true)) => Growth::Percent(growth),
            (growth, Some(false) | None) => Growth::Bytes(in_bytes(growth)),
        },
        state: row.word("state")?,
    })
}

fn service(row: Row<'_>) -> Result<Service, Missing> {
    let instant = row.text("instant_file_initialization")?;
    Ok(Service {
        name: row.word("name")?,
        account: row.word("account")?,
        instant_file_initialization: instant.map(|instant| instant == "Y"),
    })
}

fn file_in_use(row: Row<'_>) -> Result<FileInUse, Missing> {
    Ok(FileInUse {
        id: row.count("id")?,
        kind: kind(row)?,
        name: row.word("name")?,
        path: row.word("path")?,
        size_bytes: in_bytes(row.count("size_pages")?),
    })
}

/// A count that is positive on every server: 0 means not reported, as on Babelfish.
fn counted(row: Row<'_>, column: &'static str) -> Result<Option<i64>, Missing> {
    Ok(row.int(column)?.filter(|count| *count > 0))
}

/// A row of [`question::FILE_IO`].
fn file_io(row: Row<'_>) -> Result<FileIo, Missing> {
    Ok(FileIo {
        database_id: row.count("database_id")?,
        file_id: row.count("file_id")?,
        reads: row.count("reads")?,
        read_bytes: row.count("read_bytes")?,
        read_stall_ms: row.count("read_stall_ms")?,
        read_governed_ms: row.count("read_governed_ms")?,
        writes: row.count("writes")?,
        written_bytes: row.count("written_bytes")?,
        write_stall_ms: row.count("write_stall_ms")?,
        write_governed_ms: row.count("write_governed_ms")?,
        size_bytes: row.count("size_bytes")?,
    })
}

/// A row of [`question::WAITS`].
fn wait(row: Row<'_>) -> Result<Wait, Missing> {
    Ok(Wait {
        kind: row.word("kind")?,
        count: row.count("tasks")?,
        wait_ms: row.count("wait_ms")?,
        signal_ms: row.count("signal_ms")?,
    })
}

/// A row of [`question::CACHED`]; the server's own pages (resource database) have the number 32767.
fn cached(row: Row<'_>) -> Result<Cached, Missing> {
    Ok(Cached {
        database_id: row.count("database_id")?,
        bytes: in_bytes(row.count("pages")?),
        dirty_bytes: in_bytes(row.count("dirty_pages")?),
    })
}

/// A row of [`question::TEMPDB_SPACE`].
fn space_by_use(row: Row<'_>) -> Result<TempdbSpace, Missing> {
    let bytes = |column| row.count(column).map(in_bytes);
    Ok(TempdbSpace {
        total_bytes: bytes("total_pages")?,
        free_bytes: bytes("free_pages")?,
        user_bytes: bytes("user_pages")?,
        internal_bytes: bytes("internal_pages")?,
        version_bytes: bytes("version_pages")?,
    })
}
