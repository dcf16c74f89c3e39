//! What holds of SQLite in real time.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;

use model::Bytes;
use model::store::{Commit, ReadUnit, Role};
use rusqlite::Connection;
use sqlite_vfs::real_time::{Access, Activity, Database, DatabaseSpec, PlacedFile};
use tempfile::TempDir;

/// Rows of 2,000 bytes: four to a page.
const LOAD: &str = "
    CREATE TABLE t(id INTEGER PRIMARY KEY, body TEXT NOT NULL);
    INSERT INTO t SELECT value, printf('%-2000d', value) FROM generate_series(1, 4000);";

/// Three directories on one volume each: data in two files, temp in two, log.
struct Place {
    directory: TempDir,
}

impl Place {
    fn new() -> Place {
        let directory = TempDir::new().expect("a temporary folder");
        for name in ["data", "temp", "log"] {
            std::fs::create_dir(directory.path().join(name)).expect("a new name");
        }
        Place { directory }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn spec(&self) -> DatabaseSpec {
        let file = |volume: usize, name: &str| PlacedFile {
            volume,
            directory: self.path().join(name),
            size: None,
        };
        DatabaseSpec {
            data: vec![file(0, "data"); 2],
            temp: vec![file(1, "temp"); 2],
            log: file(2, "log"),
            memory: Bytes::mib(1),
            sort_memory: Bytes::kib(512),
            read_unit: ReadUnit::Page,
            write_gather: Bytes::kib(256),
            log_gather: Bytes::kib(60),
            writes_in_flight: 4,
            commit: Commit::Durable,
            access: Access::Direct,
        }
    }

    fn database(&self) -> Database {
        Database::create(self.spec(), None).expect("empty folders")
    }

    fn length(&self, file: &str) -> u64 {
        self.path()
            .join(file)
            .metadata()
            .expect("it is there")
            .len()
    }
}

fn check(connection: &Connection) {
    let count: i64 = connection
        .query_row("SELECT count(*) FROM t WHERE body + 0 = id", [], |row| {
            row.get(0)
        })
        .expect("it answers");
    assert_eq!(count, 4000);
    let checked: String = connection
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .expect("it answers");
    assert_eq!(checked, "ok");
}

#[test]
fn what_was_written_is_read_back_from_every_file() {
    let place = Place::new();
    let database = place.database();
    let mut session = database.open(0, "a", Role::Data).unwrap();
    session
        .work(|connection| connection.execute_batch(LOAD))
        .unwrap();
    session
        .work(|c| c.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())))
        .unwrap();
    database.sync().unwrap();
    database.empty_pool().unwrap();
    session.work(check);
    // 4,000 rows are 1,000 pages in 126 extents: 63 for each file.
    let lengths = [place.length("data/data-1"), place.length("data/data-2")];
    assert!(
        lengths.iter().all(|length| *length >= 60 * 65_536),
        "{lengths:?}"
    );
    assert!(place.length("log/log-1") > 0);
    let volumes = database.volumes();
    assert!(volumes[0].reads >= 1000, "{:?}", volumes[0].reads);
    assert!(volumes[0].read_bytes >= volumes[0].reads * 8192);
    assert!(volumes[2].flushes > 0);
    assert_eq!(volumes[0].latency.reads.len(), volumes[0].reads);
    assert!(database.physical_reads() >= 1000);
    assert!(database.logical_reads() > database.physical_reads() / 2);
}

#[test]
fn neighbouring_pages_are_written_together() {
    let place = Place::new();
    let database = Database::create(
        DatabaseSpec {
            memory: Bytes::mib(32),
            ..place.spec()
        },
        None,
    )
    .unwrap();
    let mut session = database.open(0, "a", Role::Data).unwrap();
    session
        .work(|connection| connection.execute_batch(LOAD))
        .unwrap();
    session
        .work(|c| c.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())))
        .unwrap();
    let data = &database.volumes()[0];
    assert!(data.write_bytes >= 8_000_000, "{}", data.write_bytes);
    let mean = data.write_bytes / data.writes;
    assert!(mean > 32_768, "writes of {mean} bytes on average");
}

#[test]
fn temporary_tables_and_sorts_go_to_the_temporary_files() {
    let place = Place::new();
    let database = place.database();
    let mut session = database.open(0, "a", Role::Data).unwrap();
    session
        .work(|connection| {
            connection.execute_batch(LOAD)?;
            connection.execute_batch(
                "CREATE TEMP TABLE copy AS SELECT * FROM t ORDER BY body DESC;
                 UPDATE copy SET body = body || 'x' WHERE id % 3 = 0;",
            )
        })
        .unwrap();
    let sum: i64 = session
        .work(|c| c.query_row("SELECT sum(length(body)) FROM copy", [], |row| row.get(0)))
        .unwrap();
    assert_eq!(sum, 4000 * 2000 + 1333);
    let temp = &database.volumes()[1];
    // The table alone is eight times the buffer pool.
    assert!(temp.write_bytes > 7_000_000, "{}", temp.write_bytes);
    assert!(temp.read_bytes > 0);
    assert!(place.length("temp/temp-1") > 0 && place.length("temp/temp-2") > 0);
}

#[test]
fn sessions_share_one_database_without_losing_an_update() {
    let place = Place::new();
    let database = place.database();
    let open = |number| database.open(number, "shared", Role::Data).unwrap();
    open(0)
        .work(|c| {
            c.execute_batch(
                "CREATE TABLE n(id INTEGER PRIMARY KEY, v); INSERT INTO n VALUES (1, 0), (2, 0)",
            )
        })
        .unwrap();
    thread::scope(|scope| {
        for number in 1..=4 {
            scope.spawn(move || {
                let mut session = open(number);
                for _ in 0..50 {
                    session
                        .work(|c| c.execute_batch("UPDATE n SET v = v + 1 WHERE id = 1"))
                        .unwrap();
                }
            });
        }
    });
    let mut session = open(9);
    let sum: i64 = session
        .work(|c| c.query_row("SELECT v FROM n WHERE id = 1", [], |row| row.get(0)))
        .unwrap();
    assert_eq!(sum, 200);
}

#[test]
fn each_session_has_its_own_database_under_its_own_name() {
    let place = Place::new();
    let database = place.database();
    thread::scope(|scope| {
        for number in 0..4 {
            let database = &database;
            scope.spawn(move || {
                let name = format!("own-{number}");
                let mut session = database.open(number, &name, Role::Data).unwrap();
                session.work(|c| c.execute_batch(LOAD)).unwrap();
                session
                    .work(|c| c.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())))
                    .unwrap();
                session.work(check);
            });
        }
    });
    database.empty_pool().unwrap();
    for number in 0..4 {
        let mut session = database
            .open(number, &format!("own-{number}"), Role::Data)
            .unwrap();
        session.work(check);
    }
}

#[test]
fn a_full_role_says_so() {
    let place = Place::new();
    let mut spec = place.spec();
    for file in &mut spec.data {
        file.size = Some(Bytes::mib(1));
    }
    let database = Database::create(spec, None).unwrap();
    let mut session = database.open(0, "a", Role::Data).unwrap();
    let result = session.work(|connection| {
        connection.execute_batch(LOAD)?;
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
    });
    assert!(result.is_err());
    let reason = session.take_reason().unwrap();
    assert!(
        reason.contains("data files are full: they hold 2 MiB"),
        "{reason}"
    );
    assert_eq!(place.length("data/data-1"), 1 << 20);
}

#[test]
fn files_that_are_there_are_not_touched() {
    let place = Place::new();
    std::fs::write(place.path().join("log/log-1"), "mine").unwrap();
    let error = Database::create(place.spec(), None)
        .map(|_| ())
        .unwrap_err();
    assert!(error.to_string().contains("log-1"), "{error}");
    assert_eq!(
        std::fs::read(place.path().join("log/log-1")).unwrap(),
        b"mine"
    );
}

#[test]
fn removing_leaves_nothing() {
    let place = Place::new();
    let database = place.database();
    drop(database.open(0, "a", Role::Data).unwrap());
    database.remove().unwrap();
    for name in ["data", "temp", "log"] {
        assert_eq!(place.path().join(name).read_dir().unwrap().count(), 0);
    }
}

#[test]
fn an_application_lock_lets_one_in_at_a_time() {
    let place = Place::new();
    let database = place.database();
    let inside = AtomicBool::new(false);
    thread::scope(|scope| {
        for number in 0..4 {
            let (database, inside) = (&database, &inside);
            scope.spawn(move || {
                let name = format!("own-{number}");
                let mut session = database.open(number, &name, Role::Data).unwrap();
                for _ in 0..100 {
                    session
                        .work(|c| c.execute_batch("SELECT app_lock(7)"))
                        .unwrap();
                    assert!(!inside.swap(true, SeqCst));
                    thread::yield_now();
                    assert!(inside.swap(false, SeqCst));
                    session
                        .work(|c| c.execute_batch("SELECT app_unlock(7)"))
                        .unwrap();
                }
            });
        }
    });
}

#[test]
fn a_circle_of_application_locks_is_an_error_of_the_last_in_it() {
    let place = Place::new();
    let database = place.database();
    let mut one = database.open(1, "one", Role::Data).unwrap();
    let mut other = database.open(2, "other", Role::Data).unwrap();
    let lock = |session: &mut sqlite_vfs::real_time::Session, key: i64| {
        session.work(|c| c.execute_batch(&format!("SELECT app_lock({key})")))
    };
    lock(&mut one, 1).unwrap();
    assert!(lock(&mut one, 1).is_err(), "it waits for itself");
    lock(&mut other, 2).unwrap();
    thread::scope(|scope| {
        let waiting = scope.spawn(move || lock(&mut one, 2));
        until(&database, 1, Activity::WaitingForLock);
        let error = lock(&mut other, 1).unwrap_err().to_string();
        assert!(error.contains("would wait for ever"), "{error}");
        other.release_locks();
        waiting.join().unwrap().unwrap();
    });
}

/// Waits until session `id` is seen at `activity`.
fn until(database: &Database, id: u32, activity: Activity) {
    while !database.activities().contains(&(id, activity)) {
        thread::yield_now();
    }
}

#[test]
fn an_interrupt_ends_every_wait_and_leaves_sessions_usable() {
    let place = Place::new();
    let database = place.database();
    let mut holder = database.open(0, "shared", Role::Data).unwrap();
    holder
        .work(|c| c.execute_batch("CREATE TABLE t(v); SELECT app_lock(1); BEGIN IMMEDIATE"))
        .unwrap();
    thread::scope(|scope| {
        let wait = |number, sql: &'static str| {
            let database = &database;
            scope.spawn(move || {
                let mut session = database.open(number, "shared", Role::Data).unwrap();
                let result = session.work(|c| c.execute_batch(sql));
                assert!(result.is_err(), "{sql}");
                session
            })
        };
        let waiting = [
            wait(1, "SELECT app_lock(1)"),
            wait(2, "INSERT INTO t VALUES (1)"),
            wait(
                3,
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
            ),
        ];
        until(&database, 1, Activity::WaitingForLock);
        until(&database, 2, Activity::WaitingForDatabase);
        until(&database, 3, Activity::Computing);
        // Computing begins a moment before SQLite can be interrupted.
        while waiting.iter().any(|waiting| !waiting.is_finished()) {
            database.interrupt();
            thread::yield_now();
        }
        for waiting in waiting {
            let mut session = waiting.join().unwrap();
            session.work(|c| c.execute_batch("SELECT 1")).unwrap();
        }
    });
    holder.work(|c| c.execute_batch("COMMIT")).unwrap();
    assert_eq!(database.activities(), [(0, Activity::Idle)]);
}
