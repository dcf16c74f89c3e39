//! `dbstow record` while clients work on the double.

use std::thread;

use predicates::str::contains;
use profile::{Interval, Lost, Profile, Wait};
use reading::Role;
use replay::Question;
use sqlserver::session::{Credentials, Driver, Encryption, Limits, Login, Secret, Server, Session};
use sqlserver::tsql::question;
use tds_double::Reply;
use tds_double::server::{self, Database, File, Io, SqlServer, Work};
use testing::sqlserver::{Bench, PASSWORD, UnderWay};

use crate::settle;

const UPDATE: &str = "UPDATE dbo.stock SET quantity = quantity - 1 WHERE item = 7;";
const SORT: &str = "SELECT item FROM dbo.stock ORDER BY quantity;";
const BLOCKED: &str = "UPDATE dbo.stock SET quantity = 0 WHERE item = 8;";

/// What it is recorded into.
const OUT: &str = "shop.toml";

/// A server with a database of its owner's.
fn shop() -> SqlServer {
    let mut server = SqlServer::windows(PASSWORD);
    server.add_login("watcher", PASSWORD, &["VIEW SERVER PERFORMANCE STATE"]);
    let files = [
        File::new(false, "sales", "C:\\Data\\sales.mdf", 1024),
        File::new(true, "sales_log", "C:\\Data\\sales.ldf", 1024),
    ];
    let database = Database {
        name: "sales".to_owned(),
        files: (1..).zip(files).collect(),
        ..Database::empty()
    };
    server.databases.insert(5, database);
    // Two reads of 4 ms, a write of 2 ms and a write of the log of 3 ms; 5 ms of processor.
    let update = Work {
        data: [("sales".to_owned(), io(2, 8, 1, 2))].into(),
        log: [("sales".to_owned(), io(0, 0, 1, 3))].into(),
        commits: [("sales".to_owned(), 1)].into(),
        session_reads: [10, 2, 1, 5],
        ..Work::default()
    };
    // In each of tempdb's two data files a write and a read of 1 ms, and one write of its log.
    let sort = Work {
        data: [("tempdb".to_owned(), io(1, 1, 1, 1))].into(),
        log: [("tempdb".to_owned(), io(0, 0, 1, 1))].into(),
        commits: [("tempdb".to_owned(), 1)].into(),
        ..Work::default()
    };
    server.works(
        |asked| asked.text == UPDATE,
        update,
        Reply::new().affected(1),
    );
    server.works(|asked| asked.text == SORT, sort, Reply::new().done());
    server.waits_for(
        |asked| asked.text == BLOCKED,
        "LCK_M_X",
        "KEY: 5:72057594043105280 (8194443284a0)",
    );
    server
}

/// Requests of 8 KiB.
fn io(reads: i64, read_stall_ms: i64, writes: i64, write_stall_ms: i64) -> Io {
    Io {
        reads,
        read_bytes: reads * 8192,
        read_stall_ms,
        writes,
        written_bytes: writes * 8192,
        write_stall_ms,
    }
}

/// Somebody who works on it.
fn client(bench: &Bench) -> Driver {
    let login = Login {
        credentials: Credentials::Password {
            user: "sa".to_owned(),
            password: Secret::new(PASSWORD),
        },
        encryption: Encryption::OffInsecure,
        trust_certificate: false,
    };
    let server = Server::parse(&bench.server()).expect("an address");
    Driver::connect(&server, &login, "shop", &Limits::default()).expect("let in")
}

fn execute(client: &mut Driver, texts: &[&str]) {
    for text in texts {
        let done = client.batch(text, None).expect("an answer");
        done.refused().expect("it is executed");
    }
}

fn arguments<'a>(server: &'a str, length: &'a str) -> [&'a str; 11] {
    [
        "record",
        "--server",
        server,
        "--encrypt",
        "off-insecure",
        "--every",
        "1s",
        "--for",
        length,
        "--out",
        OUT,
    ]
}

/// A recording that a test ends. It has its first snapshot, and has looked once at what sessions do.
fn begin<'a>(bench: &'a Bench, user: &str) -> UnderWay<'a> {
    let server = bench.server().replace("sa@", &format!("{user}@"));
    let mut recording = bench.begin(&arguments(&server, "600s"));
    recording.until(|bench| asked(bench, question::REQUESTS.text) > 0);
    recording
}

fn asked(bench: &Bench, text: &str) -> usize {
    let double = bench.double();
    let heard = double.heard();
    heard.iter().filter(|heard| *heard == text).count()
}

/// Waits until so many snapshots that begin now or later are complete: the next one has begun then.
fn snapshots(bench: &Bench, recording: &mut UnderWay<'_>, count: usize) {
    let before = asked(bench, question::PROCESS.text);
    let enough = before + count + 1;
    recording.until(|bench| asked(bench, question::PROCESS.text) >= enough);
}

/// Ends it, and returns its recording and output.
fn end(bench: &Bench, recording: UnderWay<'_>) -> (Profile, String) {
    let (status, said) = recording.stop();
    assert!(status.success(), "{said}");
    let text = std::fs::read_to_string(bench.path(OUT)).expect("it was written");
    for secret in ["sales", "watcher", "DOUBLE", "127.0.0.1", PASSWORD] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    (profile::read(OUT, &text).expect("a profile"), said)
}

fn causes(profile: &Profile) -> Vec<Lost> {
    let interruptions = profile.interruptions.iter();
    interruptions
        .map(|interruption| interruption.cause)
        .collect()
}

/// Fails unless the profile contains the requests of 20 updates and 10 sorts, and nothing else.
fn is_of_20_updates_and_10_sorts(profile: &Profile) {
    let total = |figure: &dyn Fn(&Interval) -> Option<f64>| {
        profile.total(figure).expect("it was recorded").round()
    };
    let of = |role: Role| {
        let io = |interval: &Interval| interval.roles[&role];
        let count = total(&|interval| io(interval).reads.count);
        let ms = total(&|interval| Some(io(interval).reads.waited?.as_secs_f64() * 1e3));
        let writes = total(&|interval| io(interval).writes.count);
        let bytes = total(&|interval| io(interval).writes.bytes);
        let write_ms = total(&|interval| Some(io(interval).writes.waited?.as_secs_f64() * 1e3));
        [count, ms, writes, bytes / 8192.0, write_ms]
    };
    assert_eq!(total(&|interval| interval.operations), 30.0);
    assert_eq!(total(&|interval| interval.commits), 20.0);
    assert_eq!(of(Role::Data), [40.0, 160.0, 20.0, 20.0, 40.0]);
    assert_eq!(of(Role::Log), [0.0, 0.0, 20.0, 20.0, 60.0]);
    // Two data files and the log.
    assert_eq!(of(Role::Temp), [20.0, 20.0, 30.0, 30.0, 30.0]);
    let processor_s = total(&|interval| Some(interval.processor?.as_secs_f64() * 1e3));
    assert_eq!(processor_s, 100.0);
}

#[test]
fn a_recording_holds_what_the_server_counted_while_clients_worked() {
    let bench = Bench::start(shop());
    let mut blocked = client(&bench);
    let canceller = blocked.canceller();
    let waiting = thread::spawn(move || blocked.batch(BLOCKED, None));
    bench.until(|bench| bench.double().model().under_way().count() == 1);
    let mut worker = client(&bench);
    execute(&mut worker, &[UPDATE; 3]); // before the recording

    let mut recording = begin(&bench, "sa");
    execute(&mut worker, &[UPDATE; 10]);
    snapshots(&bench, &mut recording, 1);
    execute(&mut worker, &[SORT; 10]);
    execute(&mut worker, &[UPDATE; 10]);
    snapshots(&bench, &mut recording, 1);
    let (profile, said) = end(&bench, recording);
    canceller.cancel();
    assert!(waiting.join().expect("no panic").is_err());

    is_of_20_updates_and_10_sorts(&profile);
    assert_eq!(causes(&profile), [], "{said}");
    assert_eq!(profile.origin.product.as_deref(), Some("SQL Server"));
    assert_eq!(profile.origin.version.as_deref(), Some("16.0.4085.2"));
    assert_eq!(profile.machine.processors, Some(4));
    assert_eq!(profile.machine.memory, Some(model::Bytes(16 << 30)));
    // One was blocked all the time; work that completes instantly is never seen running.
    let first = &profile.intervals[0];
    assert_eq!(
        (first.running, first.waiting[&Wait::Lock]),
        (Some(1.0), 1.0)
    );
    let sessions = profile.intervals.iter().map(|interval| interval.sessions);
    let most = sessions.flatten().fold(0.0, f64::max);
    assert!((1.0..=2.0).contains(&most), "{most}");
    let known = |question| {
        let answers = replay::answers(&profile);
        let answer = answers.iter().find(|answer| answer.question == question);
        answer.is_some_and(|answer| answer.is_known)
    };
    for question in [
        Question::Latency,
        Question::Log,
        Question::Temp,
        Question::ClosedLoop,
    ] {
        assert!(known(question), "{question}");
    }
    settle(&bench);
}

#[test]
fn a_login_that_sees_no_definitions_records_the_same() {
    let bench = Bench::start(shop());
    let mut worker = client(&bench);
    let mut recording = begin(&bench, "watcher");
    execute(&mut worker, &[UPDATE; 20]);
    execute(&mut worker, &[SORT; 10]);
    snapshots(&bench, &mut recording, 2);
    let (profile, _) = end(&bench, recording);
    is_of_20_updates_and_10_sorts(&profile);
    let told = profile.assumptions.join("\n");
    assert!(told.contains("file 2 counts as the log"), "{told}");
    settle(&bench);
}

#[test]
fn a_restart_ends_an_interval_and_the_recording_goes_on() {
    let bench = Bench::start(shop());
    let mut worker = client(&bench);
    let mut recording = begin(&bench, "sa");
    execute(&mut worker, &[UPDATE; 10]);
    snapshots(&bench, &mut recording, 1);
    server::restart(&mut bench.double()).expect("it starts");
    // The first one after it ends no interval.
    snapshots(&bench, &mut recording, 1);
    let mut worker = client(&bench);
    execute(&mut worker, &[UPDATE; 5]);
    snapshots(&bench, &mut recording, 1);
    let (profile, said) = end(&bench, recording);
    assert_eq!(causes(&profile), [Lost::Restart], "{said}");
    assert_eq!(profile.total(|interval| interval.commits), Some(15.0));
    assert!(said.contains("connected again"), "{said}");
    settle(&bench);
}

#[test]
fn a_lost_connection_is_a_gap() {
    let bench = Bench::start(shop());
    let mut worker = client(&bench);
    let mut recording = begin(&bench, "sa");
    execute(&mut worker, &[UPDATE; 10]);
    snapshots(&bench, &mut recording, 1);
    bench.double().go_down();
    bench.double().come_back().expect("the same port");
    snapshots(&bench, &mut recording, 2);
    let (profile, said) = end(&bench, recording);
    assert_eq!(causes(&profile), [Lost::Gap], "{said}");
    assert_eq!(profile.total(|interval| interval.commits), Some(10.0));
    settle(&bench);
}

#[test]
fn counters_that_begin_anew_cost_their_interval() {
    let bench = Bench::start(shop());
    let mut worker = client(&bench);
    execute(&mut worker, &[UPDATE; 3]);
    let mut recording = begin(&bench, "sa");
    execute(&mut worker, &[UPDATE; 10]);
    snapshots(&bench, &mut recording, 1);
    // As when the database is taken offline and brought back.
    let database = 5;
    for file in bench
        .double()
        .model()
        .databases
        .get_mut(&database)
        .expect("it is there")
        .files
        .values_mut()
    {
        file.io = Io::default();
    }
    snapshots(&bench, &mut recording, 1);
    execute(&mut worker, &[UPDATE; 5]);
    snapshots(&bench, &mut recording, 1);
    let (profile, said) = end(&bench, recording);
    assert_eq!(causes(&profile), [Lost::Reset], "{said}");
    let reads = |interval: &Interval| interval.roles[&Role::Data].reads.count;
    assert_eq!(profile.total(reads), Some(30.0)); // two of each of 10 and 5
    assert!(said.contains("statistics were reset"), "{said}");
    settle(&bench);
}

#[test]
fn a_login_without_permission_is_answered_with_the_grant() {
    for (version, grant) in [
        (
            "16.0.4085.2",
            "GRANT VIEW SERVER PERFORMANCE STATE TO [guest]",
        ),
        ("15.0.4000.1", "GRANT VIEW SERVER STATE TO [guest]"),
    ] {
        let mut server = shop().edition(version, 3);
        server.add_login("guest", PASSWORD, &[]);
        let bench = Bench::start(server);
        let url = bench.server().replace("sa@", "guest@");
        let refused = bench.dbstow(&arguments(&url, "2s")).assert().code(2);
        refused.stderr(contains(grant));
        assert!(!bench.path(OUT).exists());
        settle(&bench);
    }
}

#[test]
fn an_idle_server_is_refused_and_nothing_is_written() {
    let bench = Bench::start(shop());
    let _idle = client(&bench);
    let refused = bench.dbstow(&arguments(&bench.server(), "3s")).assert();
    refused.code(2).stderr(contains("the server was idle"));
    assert!(!bench.path(OUT).exists());
    settle(&bench);
}

#[test]
fn azure_sql_database_is_refused_with_what_can_be_recorded() {
    let bench = Bench::start(shop().edition("12.0.2000.8", 5));
    let refused = bench.dbstow(&arguments(&bench.server(), "2s")).assert();
    refused.code(2).stderr(contains("managed instance"));
    settle(&bench);
}

#[test]
fn what_is_no_server_or_is_not_there_says_so() {
    let bench = Bench::start(shop());
    let refused = |server: &str, code: i32, text: &'static str| {
        let mut command = bench.dbstow(&arguments(server, "2s"));
        let refused = command.assert().code(code).stderr(contains(text));
        let said = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
        assert!(!said.contains("hunter2"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    };
    let known = "give postgresql://USER@HOST:PORT/DATABASE, sqlserver://USER@HOST:PORT or mysql://USER@HOST:PORT/";
    for other in ["oracle://me:hunter2@db1/shop", "db1,1433", ""] {
        refused(other, 2, known);
    }
    refused("sqlserver://sa:hunter2@db1", 2, "SQLCMDPASSWORD");
    refused("postgresql://me@db1/shop", 2, "has no effect on PostgreSQL");
    bench.double().go_down();
    refused(&bench.server(), 1, "connect to SQL Server at");
    let url = bench.server();
    let mut command = bench.dbstow(&arguments(&url, "2s"));
    let command = command.env_remove("SQLCMDPASSWORD");
    command.assert().code(2).stderr(contains("SQLCMDPASSWORD"));
}
