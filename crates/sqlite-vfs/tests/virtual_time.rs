//! What holds of every run of SQLite in virtual time.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use model::split::{Spent, TimeSplit};
use model::storage::DiskPlace;
use model::store::{Counters, FileSpec, Full, Role, Store, StoreSpec};
use model::{
    Bytes, Completion, DiskSpec, Duration, Instant, Iops, LatencySpec, MachineSpec, Observer,
    Request, Storage, Throughput, VolumeSpec,
};
use rusqlite::Connection;
use sqlite_vfs::virtual_time::{
    Body, CpuCosts, Parts, RunError, Session, Simulation, set_last_row,
};

/// Places of the volumes, one for each role.
const DATA: usize = 0;
const TEMP: usize = 1;

/// A table of 40 rows of 100 kB, which the pool of 512 KiB does not hold, read back in another order.
const WRITE_AND_READ: &str = "
    CREATE TABLE t(id INTEGER PRIMARY KEY, filler);
    INSERT INTO t SELECT value, zeroblob(100000) FROM generate_series(1, 40);
    SELECT sum(length(filler)) FROM t WHERE id % 7 = 3;";

/// Execution that takes no time, so that a test counts what it is about and nothing else.
const NO_CPU: CpuCosts = CpuCosts {
    statement: Duration::ZERO,
    logical_read: Duration::ZERO,
    vm_step: Duration::ZERO,
};

/// Requests seen at the disks of each volume.
#[derive(Clone, Default)]
struct Seen(Rc<RefCell<[u64; 3]>>);

impl Seen {
    fn by_volume(&self) -> [u64; 3] {
        *self.0.borrow()
    }
}

impl Observer for Seen {
    fn request(&mut self, _: Instant, place: DiskPlace, _: &Request, _: &Completion) {
        self.0.borrow_mut()[place.volume] += 1;
    }
}

/// A volume for each role, with latencies that differ from request to request; the smallest buffer pool.
fn simulation(cores: u32, costs: CpuCosts, seed: u64, temp_size: Option<Bytes>) -> Simulation {
    let disk = DiskSpec {
        read_latency: log_normal(Duration::from_millis(2)),
        write_latency: log_normal(Duration::from_millis(3)),
        ..DiskSpec::limited(Iops(500), Throughput::from_mb_per_s(60))
    };
    let volumes = ["data", "temp", "log"].map(|name| VolumeSpec::of(name, disk.clone()));
    let file = |volume, size| FileSpec { volume, size };
    let spec = StoreSpec {
        data: vec![file(DATA, None)],
        temp: vec![file(TEMP, temp_size)],
        log: file(2, None),
        ..StoreSpec::plain(Bytes::kib(512))
    };
    let storage = Storage::new(&MachineSpec::unlimited(), &volumes, seed);
    let store = Store::new(&spec, storage, seed);
    Simulation::new(store, cores, costs).expect("a temporary file can be made")
}

fn log_normal(median: Duration) -> LatencySpec {
    LatencySpec::LogNormal {
        p50: median,
        p99: median * 5,
    }
}

/// One session's way through a few statements, with a commit and a pause.
fn busy_session(session: &Session) -> rusqlite::Result<()> {
    let connection = session.open(&format!("own-{}", session.id()), Role::Data)?;
    session.attach(&connection);
    for sql in WRITE_AND_READ.split_inclusive(';') {
        session.statement();
        connection.execute_batch(sql)?;
    }
    session.log_per_row(100);
    session.commit(40).expect("no versions, so no room needed");
    session.sleep(Duration::from_millis(5));
    session.lock(1);
    session.sleep(Duration::from_millis(2));
    session.unlock(1);
    session.detach();
    Ok(())
}

/// All that a run shows.
#[derive(Debug, PartialEq)]
struct Shown {
    end: Instant,
    sessions: Vec<(Instant, TimeSplit)>,
    counters: Counters,
    logical_reads: u64,
    lock_waits: u64,
    cpu_busy: Duration,
}

fn three_busy_sessions(seed: u64) -> Shown {
    let simulation = simulation(2, CpuCosts::default(), seed, None);
    let sessions = RefCell::new(Vec::new());
    let body = || -> Body<'_> {
        Box::new(|session| {
            busy_session(session).expect("valid SQL");
            sessions.borrow_mut().push((session.now(), session.split()));
        })
    };
    let end = simulation
        .run(vec![body(), body(), body()])
        .expect("no session stalls");
    Shown {
        end,
        counters: simulation.with_store(|store| store.counters()),
        logical_reads: simulation.logical_reads(),
        lock_waits: simulation.lock_waits(),
        cpu_busy: simulation.cpu_busy(),
        sessions: sessions.take(),
    }
}

#[test]
fn same_seed_gives_the_same_run() {
    let first = three_busy_sessions(7);
    assert_eq!(first, three_busy_sessions(7));
    // And what is equal is not nothing.
    assert!(first.counters.physical_reads > 0 && first.counters.pages_written > 0);
}

#[test]
fn another_seed_draws_other_latencies() {
    assert_ne!(three_busy_sessions(7).end, three_busy_sessions(8).end);
}

#[test]
fn parts_of_a_split_sum_to_the_time_of_the_session() {
    // All sessions start at zero, so that a session's time is the instant of its end.
    for (end, split) in three_busy_sessions(7).sessions {
        assert_eq!(split.total(), end.since(Instant::ZERO), "{split:?}");
    }
}

#[test]
fn two_sessions_on_one_core_take_twice_as_long_as_on_two() {
    let costs = CpuCosts {
        statement: Duration::from_millis(1),
        ..NO_CPU
    };
    let end_on = |cores| {
        let simulation = simulation(cores, costs, 1, None);
        let hundred_statements = |session: &Session| {
            for _ in 0..100 {
                session.statement();
                session.settle();
            }
        };
        simulation
            .run(vec![
                Box::new(hundred_statements),
                Box::new(hundred_statements),
            ])
            .expect("no session stalls")
    };
    // 100 statements of 1 ms each; on one core 2 x 100 of them.
    assert_eq!(end_on(2), Instant::ZERO + Duration::from_millis(100));
    assert_eq!(end_on(1), Instant::ZERO + Duration::from_millis(200));
}

#[test]
fn app_lock_is_first_come_first_served_and_its_wait_is_a_lock() {
    // given: session 2 comes before session 1, and session 0 holds the lock by then
    let simulation = simulation(4, NO_CPU, 1, None);
    let waits = RefCell::new(Vec::new());
    let comes_after = |pause: u64| -> Body<'_> {
        let waits = &waits;
        Box::new(move |session| {
            let connection = session.open("locks", Role::Data).expect("a database");
            session.sleep(Duration::from_millis(pause));
            query(&connection, "SELECT app_lock(7)");
            let took = |(spent, time)| (spent == Spent::Lock).then_some(time);
            let waited = session.split().iter().find_map(took);
            waits.borrow_mut().push((session.id(), waited));
            session.sleep(Duration::from_millis(10));
            query(&connection, "SELECT app_unlock(7)");
        })
    };

    // when
    let end = simulation
        .run(vec![comes_after(0), comes_after(2), comes_after(1)])
        .expect("no session stalls");

    // then: session 2 waits from 1 ms to 10 ms, session 1 from 2 ms to 20 ms
    let millis = Duration::from_millis;
    let expected = vec![(0, None), (2, Some(millis(9))), (1, Some(millis(18)))];
    assert_eq!(waits.take(), expected);
    assert_eq!(end, Instant::ZERO + millis(30));
    assert_eq!(simulation.lock_waits(), 2);
}

#[test]
fn temp_tables_reach_the_volume_of_temp_space_only() {
    // 20,000 rows of 1 kB are 20 MB, through a pool of 512 KiB
    let seen = requests_of(|connection| {
        connection
            .execute_batch(
                "CREATE TEMP TABLE t AS SELECT value, zeroblob(1000) FROM generate_series(1, 20000)",
            )
            .expect("valid SQL");
    });
    assert!(seen[TEMP] > 0);
    assert_eq!(seen, [0, seen[TEMP], 0]);
}

#[test]
fn spills_of_sorters_reach_the_volume_of_temp_space_only() {
    let seen = requests_of(|connection| {
        let sql = "SELECT value, zeroblob(1000) FROM generate_series(1, 20000) ORDER BY value % 77";
        let mut statement = connection.prepare(sql).expect("valid SQL");
        let rows = statement.query_map([], |_| Ok(())).expect("no parameters");
        assert_eq!(rows.count(), 20_000);
    });
    assert!(seen[TEMP] > 0);
    assert_eq!(seen, [0, seen[TEMP], 0]);
}

#[test]
fn a_table_reaches_the_volume_of_data_only() {
    let seen = requests_of(|connection| {
        connection.execute_batch(WRITE_AND_READ).expect("valid SQL");
    });
    assert!(seen[DATA] > 0);
    assert_eq!(seen, [seen[DATA], 0, 0]);
}

/// Requests by volume when one session does `work`.
fn requests_of(work: impl Fn(&Connection)) -> [u64; 3] {
    let simulation = simulation(1, CpuCosts::default(), 1, None);
    let seen = Seen::default();
    simulation.with_store(|store| store.observe(Box::new(seen.clone())));
    simulation
        .run(vec![Box::new(|session| {
            work(&session.open("d", Role::Data).expect("a database"));
        })])
        .expect("no session stalls");
    seen.by_volume()
}

#[test]
fn a_long_statement_makes_log_while_it_runs_and_no_more_than_its_rows_do() {
    const ROWS: u64 = 20_000;
    const PER_ROW: u64 = 300;
    let simulation = simulation(1, CpuCosts::default(), 1, None);
    let log_bytes = || simulation.with_store(|store| store.counters().log_bytes);
    let before_commit = Cell::new(0);
    let body: Body<'_> = Box::new(|session| {
        let connection = session.open("own", Role::Data).expect("a database");
        session.attach(&connection);
        session.log_per_row(PER_ROW);
        let sql = format!(
            "CREATE TABLE t(x); INSERT INTO t SELECT zeroblob(1000) FROM generate_series(1, {ROWS})"
        );
        connection.execute_batch(&sql).expect("valid SQL");
        before_commit.set(log_bytes());
        session.commit(ROWS).expect("there is room");
        session.detach();
    });

    simulation.run(vec![body]).expect("no session stalls");

    let (before, all) = (before_commit.get(), ROWS * PER_ROW);
    assert!(before > all / 2, "{before} of {all} before the commit");
    // Each write is padded to sectors of 512 bytes.
    let padding = 512 * (all / (64 << 10) + 2);
    assert!(
        (all..all + padding).contains(&log_bytes()),
        "{}",
        log_bytes()
    );
}

#[test]
fn full_temp_file_is_an_error_that_names_its_capacity() {
    // given
    let capacity = Bytes::mib(1);
    let simulation = simulation(1, CpuCosts::default(), 1, Some(capacity));
    let outcome = Cell::new(None);

    // when: 4 MB go into 1 MiB
    simulation
        .run(vec![Box::new(|session| {
            let connection = session.open("d", Role::Data).expect("a database");
            let sql = "CREATE TEMP TABLE t AS SELECT zeroblob(1000) FROM generate_series(1, 4000)";
            let code = connection
                .execute_batch(sql)
                .err()
                .and_then(|error| error.sqlite_error_code());
            outcome.set(Some((code, session.take_full())));
        })])
        .expect("no session stalls");

    // then
    let full = Full {
        role: Role::Temp,
        capacity,
    };
    let expected = (Some(rusqlite::ErrorCode::DiskFull), Some(full));
    assert_eq!(outcome.take(), Some(expected));
}

#[test]
fn timeless_loading_takes_no_time_and_reaches_no_disk() {
    // given
    let simulation = simulation(1, CpuCosts::default(), 1, None);
    let seen = Seen::default();
    simulation.with_store(|store| store.observe(Box::new(seen.clone())));

    // when
    simulation.timeless(|session| {
        let connection = session.open("d", Role::Data).expect("a database");
        session.attach(&connection);
        connection.execute_batch(WRITE_AND_READ).expect("valid SQL");
        session.log_per_row(100);
        session.commit(40).expect("no versions, so no room needed");
        session.detach();
    });

    // then
    assert_eq!(simulation.now(), Instant::ZERO);
    assert_eq!(seen.by_volume(), [0, 0, 0]);
    assert_eq!(simulation.cpu_busy(), Duration::ZERO);
}

#[test]
fn cycle_of_app_locks_is_reported() {
    // given: each holds the lock that the other one wants
    let simulation = simulation(2, NO_CPU, 1, None);
    let take = |first: i64, second: i64| -> Body<'_> {
        Box::new(move |session| {
            session.lock(first);
            session.sleep(Duration::from_millis(1));
            session.lock(second);
        })
    };

    // when
    let result = simulation.run(vec![take(1, 2), take(2, 1)]);

    // then
    assert_eq!(result, Err(RunError::Stalled { sessions: 2 }));
}

fn query(connection: &Connection, sql: &str) -> i64 {
    connection
        .query_row(sql, [], |row| row.get(0))
        .expect("a query of one number")
}

/// Says that all is to end from its n-th look on, and counts the looks.
fn cancelled_after(looks: u64) -> (Rc<Cell<u64>>, Rc<dyn Fn() -> bool>) {
    let seen = Rc::new(Cell::new(0));
    let own = Rc::clone(&seen);
    let cancelled = move || {
        own.set(own.get() + 1);
        own.get() > looks
    };
    (seen, Rc::new(cancelled))
}

/// A statement that touches no file, and one that writes them.
const LONG: [&str; 2] = [
    "SELECT sum(value) FROM generate_series(1, 10000000)",
    "CREATE TABLE t(filler); INSERT INTO t SELECT zeroblob(1000) FROM generate_series(1, 1000000)",
];

#[test]
fn a_long_statement_ends_soon_after_its_simulation_is_cancelled() {
    for sql in LONG {
        let simulation = simulation(1, NO_CPU, 1, None);
        let (looks, cancelled) = cancelled_after(1_000);
        simulation.stop_when(cancelled);
        let failed = Cell::new(false);
        let body: Body<'_> = Box::new(|session| {
            let connection = session.open("own", Role::Data).expect("it can be opened");
            failed.set(connection.execute_batch(sql).is_err());
        });

        simulation.run(vec![body]).expect("no session stalls");

        assert!(failed.get(), "{sql}");
        // Once cancelled it does not look again, whatever it does.
        assert_eq!(looks.get(), 1_001, "{sql}");
    }
}

#[test]
fn a_load_out_of_time_ends_too() {
    for sql in LONG {
        let simulation = simulation(1, NO_CPU, 1, None);
        let (looks, cancelled) = cancelled_after(1_000);
        simulation.stop_when(cancelled);

        let result = simulation.timeless(|session| {
            let connection = session.open("own", Role::Data)?;
            connection.execute_batch(sql)
        });

        assert!(result.is_err(), "{sql}");
        assert_eq!(looks.get(), 1_001, "{sql}");
    }
}

#[test]
fn sessions_that_wait_for_a_lock_end_when_all_is_cancelled() {
    let simulation = simulation(1, NO_CPU, 1, None);
    let (_, cancelled) = cancelled_after(1_000);
    simulation.stop_when(cancelled);
    let holder: Body<'_> = Box::new(|session| {
        session.lock(1);
        let connection = session.open("own", Role::Data).expect("it can be opened");
        // It never gets to give the lock back.
        assert!(connection.execute_batch(LONG[0]).is_err());
    });
    let waiter: Body<'_> = Box::new(|session| session.lock(1));

    let result = simulation.run(vec![holder, waiter]);

    assert_eq!(result, Err(RunError::Stalled { sessions: 1 }));
}

#[test]
fn a_large_pool_takes_memory_for_the_pages_that_are_used() {
    // 32 TiB of pages would be 300 GB of frames.
    let spec = StoreSpec::plain(Bytes::gib(32 << 10));
    let volume = VolumeSpec::of("d", DiskSpec::unlimited());
    let storage = Storage::new(&MachineSpec::unlimited(), &[volume], 1);
    let simulation = Simulation::new(Store::new(&spec, storage, 1), 1, NO_CPU);
    let simulation = simulation.expect("a temporary file can be made");
    let body: Body<'_> = Box::new(|session| busy_session(session).expect("valid SQL"));

    simulation.run(vec![body]).expect("no session stalls");

    assert_eq!(
        simulation.with_store(|store| store.counters().physical_reads),
        0
    );
}

/// What happens in a database of its own: loading, then reading and writing it again.
const LOAD: &str = "
    CREATE TABLE t(id INTEGER PRIMARY KEY, key, filler);
    INSERT INTO t SELECT value, value * 7919 % 1000, zeroblob(5000) FROM generate_series(1, 400);
    CREATE INDEX by_key ON t(key);";
const USE: &str = "
    UPDATE t SET filler = zeroblob(4000) WHERE key % 5 = 1;
    DELETE FROM t WHERE id % 3 = 0;
    SELECT sum(length(filler)) FROM t WHERE key > 500;
    INSERT INTO t SELECT last_insert_rowid() + value, value, zeroblob(3000) FROM generate_series(1, 20);";

/// A run after `connections` were made ready in `simulation`, and what it leaves in each database.
fn used(simulation: &Simulation, connections: Vec<Connection>) -> (Shown, Vec<i64>) {
    for connection in &connections {
        connection.release_memory().expect("SQLite has a cache");
    }
    let sessions = RefCell::new(Vec::new());
    let body = |connection| -> Body<'_> {
        let sessions = &sessions;
        Box::new(move |session| {
            let connection: &Connection = connection;
            session.attach(connection);
            for sql in USE.split_inclusive(';') {
                session.statement();
                connection.execute_batch(sql).expect("valid SQL");
            }
            session.detach();
            sessions.borrow_mut().push((session.now(), session.split()));
        })
    };
    let before = simulation.logical_reads();
    let end = simulation
        .run(connections.iter().map(body).collect())
        .expect("no session stalls");
    let shown = Shown {
        end,
        sessions: sessions.take(),
        counters: simulation.with_store(|store| store.counters()),
        logical_reads: simulation.logical_reads() - before,
        lock_waits: simulation.lock_waits(),
        cpu_busy: simulation.cpu_busy(),
    };
    let sums = simulation.timeless(|_| {
        let sum = |connection: &Connection| {
            let sql = "SELECT sum(id * 31 + key + length(filler)) FROM t";
            connection
                .query_row(sql, [], |row| row.get(0))
                .expect("valid SQL")
        };
        connections.iter().map(sum).collect()
    });
    (shown, sums)
}

fn load(session: &Session, number: u32) -> Connection {
    let name = format!("own-{number}");
    let connection = session.open(&name, Role::Data).expect("it can be opened");
    connection.execute_batch(LOAD).expect("valid SQL");
    connection
}

#[test]
fn a_run_from_an_image_is_the_run_after_loading() {
    let loaded = {
        let simulation = simulation(2, CpuCosts::default(), 7, None);
        let load = |session: &Session| (0..3).map(|number| load(session, number)).collect();
        let connections = simulation.timeless(load);
        used(&simulation, connections)
    };

    // The store of the simulation that makes the image is another one.
    let image = simulation(1, NO_CPU, 8, Some(Bytes::mib(64))).into_image(|session| {
        let connection = load(session, 0);
        let row = connection.last_insert_rowid();
        Some((connection, row))
    });
    let image = image.expect("it is one database");
    let copies = simulation(2, CpuCosts::default(), 7, None);
    let connections = copies.timeless(|session| {
        let open = |number: u32| {
            let name = format!("own-{number}");
            session
                .place(&image, Parts::All, &name, Role::Data)
                .expect("there is room");
            let open = || {
                let connection = session.open(&name, Role::Data).expect("it can be opened");
                let sql = "SELECT count(*) FROM sqlite_schema";
                connection
                    .query_row(sql, [], |_| Ok(()))
                    .expect("valid SQL");
                connection
            };
            let connection = session.unobserved(open).expect("opening writes nothing");
            set_last_row(&connection, image.last_row());
            connection
        };
        (0..3).map(open).collect()
    });
    let placed = used(&copies, connections);

    assert!(loaded.0.counters.physical_reads > 0 && loaded.0.counters.pages_written > 0);
    assert_eq!(placed, loaded);
}

#[test]
fn two_databases_are_no_image() {
    let image = simulation(1, NO_CPU, 7, None).into_image(|session| {
        let connections = [load(session, 0), load(session, 1)];
        Some((connections, 0))
    });
    assert!(image.is_none());
}

#[test]
fn opening_that_writes_is_noticed() {
    let simulation = simulation(1, NO_CPU, 7, None);
    let opened = simulation.timeless(|session| session.unobserved(|| drop(load(session, 0))));
    assert_eq!(opened, None);
}

#[test]
fn an_image_needs_as_much_room_as_loading_it() {
    let in_temp = |session: &Session| {
        let connection = session.open("own", Role::Temp).expect("it can be opened");
        connection.execute_batch(LOAD).ok()?;
        Some((connection, 0))
    };
    let image = simulation(1, NO_CPU, 7, None).into_image(in_temp);
    let image = image.expect("temporary files may grow");

    // 400 rows of 5 kB are 2 MB.
    let small = || simulation(1, NO_CPU, 7, Some(Bytes::mib(1)));
    let placed = small().timeless(|session| session.place(&image, Parts::All, "own", Role::Temp));

    assert!(placed.is_err());
    assert!(small().into_image(in_temp).is_none());
}
