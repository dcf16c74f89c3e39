//! Sessions that write to one database in virtual time.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use model::split::Spent;
use model::store::{FileSpec, Full, Role, Store, StoreSpec};
use model::{Bytes, DiskSpec, Duration, Instant, LatencySpec, MachineSpec, Storage, VolumeSpec};
use rusqlite::Connection;
use sqlite_vfs::virtual_time::{Body, CpuCosts, RunError, Session, Simulation};

/// How long a transaction works before it commits, and how long a write to the log takes.
const WORK: Duration = Duration::from_millis(10);
const LOG_WRITE: Duration = Duration::from_millis(1);

/// A simulation with a table of ten rows, each of which counts from 0, in a database that all share.
fn counters(memory: Bytes, temp_size: Option<Bytes>) -> Simulation {
    let disk = DiskSpec {
        read_latency: LatencySpec::Constant {
            value: Duration::from_micros(100),
        },
        write_latency: LatencySpec::Constant { value: LOG_WRITE },
        ..DiskSpec::unlimited()
    };
    let temp = FileSpec {
        volume: 0,
        size: temp_size,
    };
    let spec = StoreSpec {
        temp: vec![temp],
        ..StoreSpec::plain(memory)
    };
    let volume = VolumeSpec::of("d", disk);
    let storage = Storage::new(&MachineSpec::unlimited(), &[volume], 1);
    let no_cpu = CpuCosts {
        statement: Duration::ZERO,
        logical_read: Duration::ZERO,
        vm_step: Duration::ZERO,
    };
    let simulation = Simulation::new(Store::new(&spec, storage, 1), 1, no_cpu)
        .expect("a temporary file can be made");
    simulation.timeless(|session| {
        let created = open(session).execute_batch(
            "CREATE TABLE counter(id INTEGER PRIMARY KEY, n INTEGER NOT NULL);
             INSERT INTO counter SELECT value, 0 FROM generate_series(0, 9);
             CREATE TABLE pair(a, b, n, PRIMARY KEY (a, b)) WITHOUT ROWID;
             INSERT INTO pair SELECT value, 'b', 0 FROM generate_series(0, 9);",
        );
        created.expect("valid SQL");
    });
    simulation
}

fn open(session: &Session) -> Connection {
    let connection = session
        .open_shared("shared", Role::Data)
        .expect("a database");
    session
        .watch_keys(&connection)
        .expect("its rows can be watched");
    connection
}

/// A transaction of `statements`, each followed by work.
fn transaction(
    session: &Session,
    connection: &Connection,
    statements: &[String],
) -> Result<(), Full> {
    session.trace();
    session.log_per_row(500);
    connection
        .execute_batch("BEGIN")
        .expect("nobody else writes");
    for sql in statements {
        connection.execute_batch(sql).expect("nobody else writes");
        session.sleep(WORK);
    }
    connection.execute_batch("COMMIT").expect("it is open");
    session.commit(1)?;
    session.replay()
}

fn count(row: u32) -> String {
    format!("UPDATE counter SET n = n + 1 WHERE id = {row}")
}

/// Sessions that each run one transaction of the statements given for them: the end of all.
fn run(simulation: &Simulation, transactions: &[Vec<String>]) -> Duration {
    let bodies = transactions.iter().map(|statements| -> Body<'_> {
        Box::new(|session| {
            let connection = open(session);
            transaction(session, &connection, statements).expect("there is room");
        })
    });
    let end = simulation
        .run(bodies.collect())
        .expect("nobody waits for ever");
    end.since(Instant::ZERO)
}

fn total(simulation: &Simulation, table: &str) -> i64 {
    simulation.timeless(|session| {
        let sql = format!("SELECT sum(n) FROM {table}");
        let sum = open(session).query_row(&sql, [], |row| row.get(0));
        sum.expect("a number")
    })
}

#[test]
fn writers_of_different_rows_do_not_wait_for_each_other() {
    let simulation = counters(Bytes::mib(8), None);
    let transactions: Vec<_> = (0..10).map(|row| vec![count(row)]).collect();

    let end = run(&simulation, &transactions);

    // All work at the same time; the first one's write to the log is under way when the others come, who share the next.
    assert_eq!(end, WORK + LOG_WRITE + LOG_WRITE);
    assert_eq!(simulation.lock_waits(), 0);
    assert_eq!(total(&simulation, "counter"), 10);
}

#[test]
fn writers_of_one_row_follow_each_other_and_their_wait_is_a_lock() {
    let simulation = counters(Bytes::mib(8), None);
    let waited = RefCell::new(Vec::new());
    let write = |session: &Session| {
        let connection = open(session);
        transaction(session, &connection, &[count(3)]).expect("there is room");
        let lock = |(spent, time)| (spent == Spent::Lock).then_some(time);
        let locked = session.split().iter().find_map(lock);
        waited
            .borrow_mut()
            .push((session.id(), locked.unwrap_or_default()));
    };

    let end = simulation
        .run(vec![Box::new(write), Box::new(write), Box::new(write)])
        .expect("nobody waits for ever");

    // A row is held until the log has the change.
    let each = WORK + LOG_WRITE;
    assert_eq!(end.since(Instant::ZERO), each * 3);
    let expected = [(0, Duration::ZERO), (1, each), (2, each * 2)];
    assert_eq!(waited.take(), expected);
    assert_eq!(simulation.lock_waits(), 2);
    assert_eq!(total(&simulation, "counter"), 3);
}

#[test]
fn each_session_counts_what_it_read_itself() {
    let reads_of = |sessions: usize| {
        let simulation = counters(Bytes::mib(8), None);
        let read = |session: &Session| {
            let connection = open(session);
            session.attach_shared(&connection);
            // The first one reads the schema as well.
            session.trace();
            connection
                .execute_batch("SELECT 1 FROM counter")
                .expect("valid SQL");
            session.replay().expect("there is room");
            for _ in 0..10 {
                session.sleep(WORK);
                transaction(session, &connection, &[count(session.id())]).expect("there is room");
            }
            session.detach();
        };
        let bodies = (0..sessions).map(|_| -> Body<'_> { Box::new(read) });
        simulation
            .run(bodies.collect())
            .expect("nobody waits for ever");
        simulation.logical_reads()
    };
    let (one, five) = (reads_of(1), reads_of(5));
    assert!(one > 20, "{one}");
    assert_eq!(five, 5 * one);
}

#[test]
fn rows_without_a_number_are_told_apart_by_their_keys() {
    let of = |row: u32| {
        vec![format!(
            "UPDATE pair SET n = n + 1 WHERE a = {row} AND b = 'b'"
        )]
    };
    let upsert = "INSERT INTO pair VALUES (3, 'b', 1) ON CONFLICT DO UPDATE SET n = n + 1";

    let apart = counters(Bytes::mib(8), None);
    run(&apart, &[of(1), of(2), of(3)]);
    assert_eq!(apart.lock_waits(), 0);

    let same = counters(Bytes::mib(8), None);
    run(
        &same,
        &[
            of(3),
            vec![upsert.to_owned()],
            vec!["DELETE FROM pair WHERE a = 3".to_owned()],
        ],
    );
    assert_eq!(same.lock_waits(), 2);
    assert_eq!(total(&same, "pair"), 0);
}

#[test]
fn a_deadlock_is_broken_and_all_transactions_are_done() {
    let simulation = counters(Bytes::mib(8), None);

    let end = run(
        &simulation,
        &[vec![count(1), count(2)], vec![count(2), count(1)]],
    );

    // Both work once, then the first one waits for the second, which would close the cycle and begins again after it.
    assert_eq!(simulation.deadlocks(), 1);
    assert_eq!(end, WORK * 4 + LOG_WRITE * 2);
    assert_eq!(total(&simulation, "counter"), 4);
}

#[test]
fn transactions_that_stop_each_other_again_and_again_come_to_an_end() {
    let simulation = counters(Bytes::mib(8), None);
    let rows = |rows: [u32; 3]| rows.map(count).to_vec();

    run(&simulation, &[rows([1, 2, 3]), rows([3, 2, 1])]);

    assert!(simulation.deadlocks() > 0);
    assert_eq!(total(&simulation, "counter"), 6);
}

#[test]
fn a_deadlock_of_a_row_and_an_application_lock_is_broken_too() {
    let simulation = counters(Bytes::mib(8), None);
    let row_then_lock: Body<'_> = Box::new(|session| {
        let connection = open(session);
        session.trace();
        session.log_per_row(500);
        connection.execute_batch(&count(1)).expect("valid SQL");
        session.sleep(WORK);
        session.lock(7);
        session.unlock(7);
        session.commit(1).expect("it is traced");
        session.replay().expect("there is room");
    });
    let lock_then_row: Body<'_> = Box::new(|session| {
        let connection = open(session);
        session.lock(7);
        session.sleep(LOG_WRITE);
        transaction(session, &connection, &[count(1)]).expect("there is room");
        session.unlock(7);
    });

    let result = simulation.run(vec![row_then_lock, lock_then_row]);

    assert!(result.is_ok(), "{result:?}");
    assert_eq!(simulation.deadlocks(), 1);
    assert_eq!(total(&simulation, "counter"), 2);
}

#[test]
fn a_transaction_that_begins_again_still_has_its_temporary_pages() {
    // given: a temporary table of some 2 MB, dropped between two rows that another session takes the other way round
    let simulation = counters(Bytes::kib(512), None);
    let fill = "CREATE TEMP TABLE filled AS SELECT value, zeroblob(2000) AS filler \
                FROM generate_series(1, 1000); DROP TABLE filled";

    run(
        &simulation,
        &[
            vec![count(1), count(2)],
            vec![count(2), fill.to_owned(), count(1)],
        ],
    );

    assert_eq!(simulation.deadlocks(), 1);
    assert_eq!(total(&simulation, "counter"), 4);
}

#[test]
fn a_statement_without_room_fails_before_anything_is_committed() {
    let simulation = counters(Bytes::kib(512), Some(Bytes::mib(1)));
    let spill = "CREATE TEMP TABLE t AS SELECT zeroblob(2000) FROM generate_series(1, 5000)";
    let fails: Body<'_> = Box::new(|session| {
        let connection = open(session);
        session.trace();
        let sql = format!("BEGIN; {}; {spill}", count(1));
        let error = connection
            .execute_batch(&sql)
            .expect_err("5 MB are not 1 MB");
        let full = session.take_full().unwrap_or_else(|| panic!("{error}"));
        assert_eq!((full.role, full.capacity), (Role::Temp, Bytes::mib(1)));
        assert!(connection.is_autocommit(), "SQLite has rolled it back");
        session.roll_back();
    });
    let comes_after: Body<'_> = Box::new(|session| {
        session.sleep(WORK);
        let connection = open(session);
        transaction(session, &connection, &[count(1)]).expect("there is room");
    });

    let result = simulation.run(vec![fails, comes_after]);

    assert!(result.is_ok(), "it released its row: {result:?}");
    assert_eq!(total(&simulation, "counter"), 1);
}

#[test]
fn sessions_that_wait_for_a_row_end_when_all_is_cancelled() {
    let simulation = counters(Bytes::mib(8), None);
    let cancelled = Rc::new(Cell::new(false));
    let own = Rc::clone(&cancelled);
    simulation.stop_when(Rc::new(move || own.get()));
    let holder: Body<'_> = Box::new(|session| {
        session.lock(1);
        session.sleep(WORK * 5);
        cancelled.set(true);
    });
    let write = |session: &Session| {
        let connection = open(session);
        session.trace();
        connection
            .execute_batch(&count(1))
            .expect("nobody else writes");
        session.lock(1);
        session.replay().expect("there is room");
    };

    let result = simulation.run(vec![holder, Box::new(write), Box::new(write)]);

    // One waits for the lock that is never given back, and one for the row.
    assert_eq!(result, Err(RunError::Stalled { sessions: 2 }));
}

#[test]
fn same_transactions_give_the_same_run() {
    let shown = || {
        let simulation = counters(Bytes::kib(512), None);
        let rows = |first: u32| (0..4).map(|n| count((first * 3 + n) % 10)).collect();
        let transactions: Vec<Vec<String>> = (0..8).map(rows).collect();
        let end = run(&simulation, &transactions);
        let counters = simulation.with_store(|store| store.counters());
        (
            end,
            counters,
            simulation.lock_waits(),
            simulation.deadlocks(),
        )
    };
    let first = shown();
    assert!(first.2 > 0 && first.3 > 0, "{first:?}");
    assert_eq!(first, shown());
}
