//! SQLite in files under drill: each client has its own connection.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use host::orphans::Registration;
use host::site::Site;
use model::store::PAGE;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior, params};

use engine::drilled::{
    ACCOUNTS, ControlSpec, DrillProvider, Found, Kind, Origin, Product, Server, ServerSpec,
    Verdict, Writer, accounts,
};
use engine::tree;
use engine::{EngineError, ProductOptions, home};

/// SQLite, the library.
pub struct Sqlite;

/// A database file with its journal.
struct Database {
    path: PathBuf,
    sessions: u32,
    /// PRAGMAs of each connection.
    own: Vec<(String, String)>,
    origin: Origin,
}

struct Client {
    connection: Connection,
    session: u32,
}

/// Journal modes under drill, each with its sync mode. Of `delete` with `full`, SQLite's documentation says that a
/// power cut soon after a commit may lose it, as the directory is not synced after the journal was deleted; of `wal` with
/// `normal`, that commits may be lost; of `memory`, that the database is likely to be corrupt.
/// <https://www.sqlite.org/pragma.html#pragma_synchronous>, read 2026-11-24.
const MODES: &[&[(&str, &str)]] = &[
    &[("journal_mode", "delete"), ("synchronous", "extra")],
    &[("journal_mode", "delete"), ("synchronous", "full")],
    &[("journal_mode", "wal"), ("synchronous", "full")],
    &[("journal_mode", "wal"), ("synchronous", "normal")],
    &[("journal_mode", "memory"), ("synchronous", "full")],
];

/// How long a client waits for another one's lock.
const PATIENCE: Duration = Duration::from_secs(60);

/// Settings under which SQLite must not survive: <https://www.sqlite.org/pragma.html#pragma_synchronous>, read 2026-11-24.
const CONTROLS: [ControlSpec; 1] = [ControlSpec {
    setting: "synchronous",
    value: "off",
    kind: Kind::Power,
    page: PAGE,
    is_noticed: |verdict| matches!(verdict, Verdict::Lost { .. } | Verdict::Corrupt { .. }),
}];

/// SQLite's drill.
pub(crate) struct Drill;

impl DrillProvider for Drill {
    fn keys(&self) -> &'static [&'static str] {
        &["engine.name"]
    }

    fn modes(&self) -> &'static [&'static [(&'static str, &'static str)]] {
        MODES
    }

    fn executes(&self) -> &'static str {
        "SQLite opens the database on them as root"
    }

    fn product(
        &self,
        _: &ProductOptions,
        _: Origin,
        _: &Arc<Registration>,
    ) -> Result<Arc<dyn Product>, EngineError> {
        Ok(Arc::new(Sqlite))
    }
}

impl Database {
    fn of(spec: &ServerSpec<'_>, site: &dyn Site) -> Database {
        Database {
            path: home(site, spec.settings, &spec.settings.placement.data[0]).join("ledger.db"),
            sessions: spec.sessions,
            own: spec.own.to_vec(),
            origin: spec.origin,
        }
    }

    fn open(&self) -> Result<Connection, EngineError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let open = || {
            let connection = Connection::open_with_flags(&self.path, flags)?;
            connection.busy_timeout(PATIENCE)?;
            match self.origin {
                Origin::ThisRun => {}
                Origin::Folder => guard(&connection)?,
            }
            for (name, value) in &self.own {
                connection.pragma_update(None, name, value)?;
            }
            Ok(connection)
        };
        open().map_err(|error: rusqlite::Error| EngineError::failed("open the database", error))
    }

    fn look_into(&self, found: &mut Found) -> Result<(), EngineError> {
        let connection = self.open()?;
        let failed = |error| EngineError::failed("read the database", error);
        match self.origin {
            Origin::ThisRun => {}
            Origin::Folder => check_schema(&connection)?,
        }
        let mut ledger = connection
            .prepare(
                "SELECT session, max(number), count(*) FROM ledger NOT INDEXED GROUP BY session",
            )
            .map_err(failed)?;
        let rows = ledger.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
        for row in rows.map_err(failed)? {
            let (session, last, rows): (u32, i64, i64) = row.map_err(failed)?;
            if rows != last {
                let what = format!("session {session} has {rows} rows up to commit {last}");
                found.contradictions.push(what);
            }
            if let Some(place) = found.last.get_mut(session as usize) {
                *place = last as u64;
            }
        }
        let other: i64 = connection
            .query_row(OTHER_CONTENT, [], |row| row.get(0))
            .map_err(failed)?;
        if other > 0 {
            let what = format!("{other} rows of the ledger have other content");
            found.contradictions.push(what);
        }
        let wrong: i64 = connection
            .query_row(WRONG, [], |row| row.get(0))
            .map_err(failed)?;
        if wrong > 0 {
            found.contradictions.push(format!(
                "{wrong} of {ACCOUNTS} accounts are missing or have another balance than the ledger says"
            ));
        }
        let check: String = connection
            .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
            .map_err(failed)?;
        if check != "ok" {
            found.contradictions.push(check);
        }
        Ok(())
    }
}

/// The tables of a drill.
const LEDGER: &str = "CREATE TABLE ledger(session INTEGER, number INTEGER, content TEXT NOT NULL, source INTEGER NOT NULL, target \
    INTEGER NOT NULL, PRIMARY KEY (session, number))";
const ACCOUNTS_TABLE: &str =
    "CREATE TABLE accounts(id INTEGER PRIMARY KEY, balance INTEGER NOT NULL, filler TEXT NOT NULL)";

/// SQLite's recommendations for untrusted files: <https://www.sqlite.org/security.html>, read 2026-11-26.
fn guard(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "mmap_size", 0)
}

/// Rejects a schema other than a drill's: a view, a trigger or an expression in it would be executed by the reader.
fn check_schema(connection: &Connection) -> Result<(), EngineError> {
    let failed = |error| EngineError::failed("read the database", error);
    let asked = "SELECT name, coalesce(sql, '') FROM sqlite_schema ORDER BY name";
    let mut schema = connection.prepare(asked).map_err(failed)?;
    let rows = schema.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    let rows = rows.map_err(failed)?.collect::<Result<_, _>>();
    let rows: Vec<(String, String)> = rows.map_err(failed)?;
    let own = [
        ("accounts", ACCOUNTS_TABLE),
        ("ledger", LEDGER),
        ("sqlite_autoindex_ledger_1", ""),
    ];
    let own = own.map(|(name, sql)| (name.to_owned(), sql.to_owned()));
    match rows == own {
        true => Ok(()),
        false => Err(EngineError::failed(
            "read the database",
            "its tables are not those of a drill",
        )),
    }
}

/// Trailer of a journal that names a super-journal, which SQLite reads and deletes after a rollback. Journals of a drill, whose
/// transactions affect one file, have none.
/// <https://www.sqlite.org/fileformat.html#the_rollback_journal>, read 2026-11-26, and `readSuperJournal` of its `pager.c`.
const SUPER_JOURNAL: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// Rejects contents of untrusted volumes that a drill of SQLite never has.
fn check_files(volumes: &[&Path], database: &Path) -> Result<(), String> {
    for volume in volumes {
        tree::check(volume, &|_| false)?;
    }
    let journal = database.with_extension("db-journal");
    let end = match File::open(&journal) {
        Ok(mut file) => {
            let mut end = Vec::new();
            let back = SUPER_JOURNAL.len() as u64;
            let length = file.metadata().map(|metadata| metadata.len());
            let length =
                length.and_then(|length| file.seek(SeekFrom::Start(length.saturating_sub(back))));
            length
                .and_then(|_| file.take(back).read_to_end(&mut end))
                .map_err(|error| format!("{} cannot be read: {error}", journal.display()))?;
            end
        }
        // Most states have none.
        Err(_) => Vec::new(),
    };
    match end == SUPER_JOURNAL {
        true => Err(format!(
            "{} names another journal, which no drill's does",
            journal.display()
        )),
        false => Ok(()),
    }
}

/// PRAGMAs that an untrusted recording may set, each a number, a switch or a keyword: <https://www.sqlite.org/pragma.html>,
/// read 2026-11-26. `journal_mode = off` is not one of the modes of a drill, and a recording must not change what [`guard`] sets.
const ALLOWED: [&str; 13] = [
    "auto_vacuum",
    "cache_size",
    "cache_spill",
    "checkpoint_fullfsync",
    "fullfsync",
    "journal_mode",
    "journal_size_limit",
    "locking_mode",
    "page_size",
    "secure_delete",
    "synchronous",
    "temp_store",
    "wal_autocheckpoint",
];

/// Number of rows with unexpected content.
const OTHER_CONTENT: &str = "SELECT count(*) FROM ledger NOT INDEXED \
    WHERE content <> replace(hex(zeroblob(20)), '00', session || '/' || number || ' ')";

/// Number of accounts whose balance does not match the transfers of all commits.
const WRONG: &str = "WITH transfers AS (SELECT source AS id, -number AS amount FROM ledger UNION ALL SELECT target, number FROM \
    ledger), sums AS (SELECT id, sum(amount) AS amount FROM transfers GROUP BY id) \
    SELECT (SELECT count(*) FROM accounts LEFT JOIN sums USING (id) WHERE balance <> coalesce(amount, 0)) \
    + abs(50000 - (SELECT count(*) FROM accounts))";

impl Product for Sqlite {
    fn name(&self) -> &'static str {
        "SQLite"
    }

    fn owner(&self) -> Option<(u32, u32)> {
        None
    }

    fn make(&self, spec: &ServerSpec<'_>, site: &dyn Site) -> Result<(), EngineError> {
        let database = Database::of(spec, site);
        // SQLite creates its journals with the file mode of the database.
        files::new_private(&database.path)
            .map_err(|error| EngineError::failed("make the database", error))?;
        let connection = database.open()?;
        let load = format!(
            "BEGIN; {LEDGER}; {ACCOUNTS_TABLE}; \
             WITH RECURSIVE ids(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < {ACCOUNTS}) \
             INSERT INTO accounts SELECT id, 0, '{}' FROM ids; COMMIT;",
            "x".repeat(80)
        );
        connection
            .execute_batch(&load)
            .map_err(|error| EngineError::failed("load the database", error))
    }

    fn found(
        &self,
        spec: &ServerSpec<'_>,
        site: &dyn Site,
        _: &[(PathBuf, PathBuf)],
    ) -> Result<Result<Box<dyn Server>, String>, EngineError> {
        let database = Database::of(spec, site);
        match spec.origin {
            Origin::ThisRun => {}
            Origin::Folder => {
                let used = spec.settings.placement.volumes().len();
                let volumes: Vec<&Path> = (0..used).map(|place| site.directory(place)).collect();
                if let Err(why) = check_files(&volumes, &database.path) {
                    return Ok(Err(why));
                }
            }
        }
        Ok(match database.path.exists() {
            true => Ok(Box::new(database)),
            false => Err("its file is gone".to_owned()),
        })
    }

    fn may_set(&self, name: &str, value: &str) -> Result<(), String> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        match ALLOWED.contains(&name)
            && (1..=16).contains(&value.len())
            && value.chars().all(is_plain)
        {
            true => Ok(()),
            false => Err(format!(
                "a replay sets only {} to a number, a switch or a word",
                ALLOWED.join(", ")
            )),
        }
    }

    fn controls(&self) -> &'static [ControlSpec] {
        &CONTROLS
    }
}

impl Server for Database {
    fn version(&self) -> Result<String, EngineError> {
        Ok(rusqlite::version().to_owned())
    }

    fn start(&self) -> Result<Result<(), String>, EngineError> {
        Ok(self.open().map(|_| ()).map_err(|error| error.to_string()))
    }

    fn shut_down(&self) -> Result<(), EngineError> {
        Ok(())
    }

    fn end(&self) -> Result<(), String> {
        Ok(())
    }

    fn exit_reason(&self) -> Option<String> {
        None
    }

    fn writer(&self, session: u32) -> Result<Box<dyn Writer>, EngineError> {
        Ok(Box::new(Client {
            connection: self.open()?,
            session,
        }))
    }

    fn checkpoint(&self) -> Result<(), EngineError> {
        // No effect without a write-ahead log.
        self.open()?
            .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
            .map_err(|error| EngineError::failed("checkpoint", error))
    }

    fn spill(&self) -> Result<(), EngineError> {
        Ok(())
    }

    fn look(&self) -> Found {
        let mut found = Found {
            last: vec![0; self.sessions as usize],
            contradictions: Vec::new(),
        };
        if let Err(error) = self.look_into(&mut found) {
            found.contradictions.push(error.to_string());
        }
        found
    }
}

impl Writer for Client {
    fn commit(&mut self, number: u64) -> Result<(), EngineError> {
        let session = self.session;
        let (from, to) = accounts(session, number);
        let number = number as i64;
        let content = format!("{session}/{number} ").repeat(20);
        let mut write = || {
            let transaction = self
                .connection
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.execute(
                "INSERT INTO ledger VALUES (?1, ?2, ?3, ?4, ?5)",
                params![session, number, content, from, to],
            )?;
            let transfer = "UPDATE accounts SET balance = balance + ?1 WHERE id = ?2";
            transaction.execute(transfer, params![-number, from])?;
            transaction.execute(transfer, params![number, to])?;
            transaction.commit()
        };
        write().map_err(|error| EngineError::failed("write the ledger", error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_sets_no_pragma_that_names_a_place() {
        for (name, value) in [
            ("journal_mode", "wal"),
            ("synchronous", "normal"),
            ("cache_size", "-2000"),
        ] {
            assert_eq!(Sqlite.may_set(name, value), Ok(()), "{name}");
        }
        for (name, value) in [
            ("temp_store_directory", "x"),
            ("data_store_directory", "x"),
            ("writable_schema", "on"),
            ("trusted_schema", "on"),
            ("mmap_size", "1000000"),
            ("journal_mode", "a b"),
            ("journal_mode", ""),
            ("synchronous; ATTACH", "off"),
        ] {
            assert!(Sqlite.may_set(name, value).is_err(), "{name} {value}");
        }
    }

    #[test]
    fn a_journal_that_names_another_one_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let (database, journal) = (
            place.path().join("ledger.db"),
            place.path().join("ledger.db-journal"),
        );
        let look = || check_files(&[place.path()], &database);
        assert_eq!(look(), Ok(()));
        std::fs::write(&journal, [&SUPER_JOURNAL[..], &[0; 20]].concat()).unwrap();
        assert_eq!(look(), Ok(()));
        std::fs::write(&journal, [b"/etc/passwd", &SUPER_JOURNAL[..]].concat()).unwrap();
        assert!(look().unwrap_err().contains("names another journal"));
        std::fs::remove_file(&journal).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", &journal).unwrap();
        assert!(look().unwrap_err().contains("is a symbolic link"));
    }

    #[test]
    fn only_the_tables_of_a_drill_are_read() {
        let connection = Connection::open_in_memory().unwrap();
        let made = format!("{LEDGER}; {ACCOUNTS_TABLE};");
        connection.execute_batch(&made).unwrap();
        guard(&connection).unwrap();
        check_schema(&connection).unwrap();
        connection
            .execute_batch("CREATE TRIGGER t AFTER UPDATE ON accounts BEGIN SELECT 1; END")
            .unwrap();
        let error = check_schema(&connection).unwrap_err().to_string();
        assert!(error.contains("not those of a drill"), "{error}");
    }
}
