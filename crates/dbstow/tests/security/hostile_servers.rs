//! Servers that lie to `lint`, `doctor`, `record` and `run --server`: each command ends within limits on time and memory,
//! without a panic, and its message names the server.

#![cfg(all(
    target_os = "linux",
    feature = "postgres",
    feature = "mariadb",
    feature = "sqlserver"
))]
#![allow(
    clippy::unwrap_used,
    reason = "a panic with its line is what a failing test should give"
)]

use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::thread;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use postgres::Binaries;
use tempfile::TempDir;
use testing::experiments::TWO_VOLUMES;
use testing::hostile_server::{LIES, Lie, MySql, PostgreSql, Protocol, SqlServer, serve};
use testing::mysqld::{self, Mysqld};
use testing::spoiled::{self, SPOILS, Spoil, Teller, between};
use testing::theirs::{ENCODED, Theirs};

/// Memory limit of a program, in KiB: an answer's 64 MiB twice while it is decoded, the 256 MiB by which SQL Server's
/// library may grow, and the program itself.
const RESIDENT_MAX_KIB: u64 = 700 << 10;

/// File for the peak resident memory of a program, in KiB.
const USED: &str = "used";

/// Limit of a program's output, in bytes: errors of many queries, each with 2 KiB of the server's text.
const SAID_MAX: usize = 64 << 10;

/// Maximum number of answers of a task that are falsified in one way: a recording samples ten times a second, and goes
/// on.
fn answers_max(how: Spoil) -> usize {
    match how {
        // As many include the second snapshot, from which a difference is computed.
        Spoil::Nulls | Spoil::Least | Spoil::Largest => 32,
        Spoil::NoNumbers | Spoil::InvalidText | Spoil::Half | Spoil::Twice | Spoil::NoRows => 21,
    }
}

/// Programs that are attacked in one way in parallel.
const LANES: usize = 6;

/// The task of the program under test.
#[derive(Clone, Copy, Debug)]
enum Task {
    Record,
    Lint,
    Doctor,
    Run(&'static str),
}

/// `server`: its address, and how to log in there.
fn command(task: Task, server: &[String], timeout: &str, folder: &Path) -> Command {
    let program = Command::new(env!("CARGO_BIN_EXE_dbstow"));
    with_arguments(program, task, server, timeout, folder)
}

/// The same under GNU time, which writes [`USED`]: the system counts the memory of a parent at the time of the fork with its
/// child, and this program may be large.
fn timed(task: Task, server: &[String], timeout: &str, folder: &Path) -> Command {
    let mut time = Command::new("time");
    time.args(["--quiet", "--format=%M", "--output", USED])
        .arg(env!("CARGO_BIN_EXE_dbstow"));
    with_arguments(time, task, server, timeout, folder)
}

fn with_arguments(
    mut command: Command,
    task: Task,
    server: &[String],
    timeout: &str,
    folder: &Path,
) -> Command {
    let words: &[&str] = match task {
        Task::Record => &[
            "record", "--for", "2s", "--every", "1s", "--out", "out.toml",
        ],
        Task::Lint => &["lint"],
        Task::Doctor => &["doctor"],
        Task::Run(engine) => &[
            "run",
            "files.toml",
            "--mode",
            "measure",
            "--engine",
            engine,
            "--volume",
            "a=a",
            "--volume",
            "b=b",
            "--out",
            "out",
        ],
    };
    for volume in ["a", "b"] {
        fs::create_dir_all(folder.join(volume)).expect("a folder");
    }
    fs::write(folder.join("files.toml"), TWO_VOLUMES).expect("a file");
    command
        .args(words)
        .args(["--timeout", timeout])
        .args(server)
        .current_dir(folder)
        .env_remove("PGSSLMODE")
        .env_remove("PGSSLROOTCERT")
        .env("HOME", folder)
        .env("SQLCMDPASSWORD", "secret");
    command
}

/// Attacks a task in every way, in parallel.
fn lie(protocol: impl Protocol, tasks: &[Task], url: Url) {
    thread::scope(|scope| {
        for task in tasks {
            for lie in LIES {
                scope.spawn(move || tried(protocol, *task, lie, url));
            }
        }
    });
}

fn tried(protocol: impl Protocol, task: Task, lie: Lie, url: Url) {
    let port = serve(protocol, lie);
    let folder = TempDir::new().expect("a folder");
    // A program that ends without interruption gets extra time on a busy machine.
    let timeout = if lie.is_endless() { "500ms" } else { "60s" };
    let mut command = timed(task, &url(port, lie), timeout, folder.path());
    let what = format!("{task:?} {lie:?}");
    let output = command.output().expect("it starts");
    check(&output, &what, port);
    let used = fs::read_to_string(folder.path().join(USED)).expect("a file");
    let resident_kib: u64 = used.trim().parse().expect("a number");
    assert!(
        resident_kib < RESIDENT_MAX_KIB,
        "{what}: {resident_kib} KiB"
    );
}

fn check(output: &Output, what: &str, port: u16) {
    let said = String::from_utf8_lossy(&output.stderr);
    let code = output.status.code();
    assert!(
        matches!(code, Some(1 | 2)),
        "{what}: {:?} {said}",
        output.status
    );
    assert!(!said.contains("panicked at"), "{what}: {said}");
    let length = said.len() + output.stdout.len();
    assert!(length < SAID_MAX, "{what}: {length} bytes of words");
    assert!(said.contains(&port.to_string()), "{what}: {said}");
}

/// How to reach a server that lies in this way.
type Url = fn(u16, Lie) -> Vec<String>;

fn at(url: String) -> Vec<String> {
    vec!["--server".to_owned(), url]
}

fn postgresql(port: u16, _: Lie) -> Vec<String> {
    at(format!("postgresql://ann@127.0.0.1:{port}/shop"))
}

fn mysql(port: u16, lie: Lie) -> Vec<String> {
    let mode = match lie {
        Lie::SilentInTls => "?ssl-mode=REQUIRED",
        _ => "",
    };
    at(format!("mysql://ann@127.0.0.1:{port}/{mode}"))
}

fn sqlserver(port: u16, lie: Lie) -> Vec<String> {
    let mut words = at(format!("sqlserver://ann@127.0.0.1:{port}"));
    if lie != Lie::SilentInTls {
        words.extend(["--encrypt".to_owned(), "off-insecure".to_owned()]);
    }
    words
}

#[test]
fn a_postgresql_that_lies_is_refused() {
    lie(
        PostgreSql,
        &[Task::Record, Task::Run("postgres")],
        postgresql,
    );
}

#[test]
fn a_mysql_that_lies_is_refused() {
    let tasks = [Task::Record, Task::Lint, Task::Doctor, Task::Run("mariadb")];
    lie(MySql, &tasks, mysql);
}

#[test]
#[ignore = "long: tells each lie to four commands; lies told later are tested always"]
fn a_sql_server_that_lies_is_refused() {
    let tasks = [
        Task::Record,
        Task::Lint,
        Task::Doctor,
        Task::Run("sqlserver"),
    ];
    lie(SqlServer, &tasks, sqlserver);
}

/// The expected message, where the kind of lie determines it.
#[test]
fn each_lie_is_told_by_its_name() {
    for (lie, said) in [
        (Lie::SilentInTls, "no answer within 500 ms"),
        (Lie::SilentAfterLogin, "no answer within 500 ms"),
        (Lie::Drips, "no answer within 500 ms"),
        (Lie::Half, "the server closed it"),
        (Lie::Huge, "a message of 2147483643 bytes, more than 64 MiB"),
        (Lie::EndlessRows, "takes more than 64 MiB"),
        (Lie::EndlessNotices, "takes more than 64 MiB"),
        (Lie::Nulls, "column 1 of the answer is NULL"),
        (Lie::TooFewColumns, "column 1 of the answer is missing"),
        (Lie::LongError, "xxx .. (9997952 more bytes are left out)"),
    ] {
        let port = serve(PostgreSql, lie);
        let folder = TempDir::new().expect("a folder");
        let timeout = if lie.is_endless() { "500ms" } else { "60s" };
        let mut command = command(Task::Record, &postgresql(port, lie), timeout, folder.path());
        let output = command.output().expect("it starts");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(text.contains(said), "{lie:?}: {text}");
    }
}

/// Falsifies each of a task's answers in turn, in every way. `serve` gives a server and how to reach it.
fn spoil<S>(tasks: &[Task], serve: &(impl Fn(&Arc<Teller>) -> (S, u16, Vec<String>) + Sync)) {
    let lanes = || {
        SPOILS
            .into_iter()
            .flat_map(|how| (0..LANES).map(move |lane| (how, lane)))
    };
    thread::scope(|scope| {
        for task in tasks {
            for (how, lane) in lanes() {
                scope.spawn(move || {
                    let mut numbers = (lane..answers_max(how)).step_by(LANES);
                    let is_left = numbers.all(|number| {
                        let teller = Teller::new(how, number);
                        let (_server, port, at) = serve(&teller);
                        spoiled_once(*task, &at, port, &format!("{how:?} in answer {number}"));
                        // A task queries something.
                        assert!(number > 0 || teller.has_lied(), "{task:?} {how:?}");
                        teller.has_lied()
                    });
                    assert!(!is_left || matches!(task, Task::Record), "{task:?} {how:?}");
                });
            }
        }
    });
}

fn spoiled_once(task: Task, at: &[String], port: u16, what: &str) {
    let folder = TempDir::new().expect("a folder");
    let mut command = command(task, at, "60s", folder.path());
    let output = command.output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    let what = || format!("{task:?}: {what}: {} {said}", output.status);
    assert!(!said.contains("panicked at"), "{}", what());
    match output.status.code() {
        // The lie changed nothing, or cost an interval; or too little is left for a profile.
        Some(0 | 2) => {}
        Some(1) => assert!(said.contains(&port.to_string()), "{}", what()),
        Some(_) | None => panic!("{}", what()),
    }
    if let Ok(text) = fs::read_to_string(folder.path().join("out.toml")) {
        profile::read("out.toml", &text).unwrap_or_else(|error| panic!("{error}: {}", what()));
    }
}

#[test]
fn a_postgresql_that_lies_later_is_refused_or_lost() {
    let Some(binaries) = testing::or_skip(Binaries::find(None)) else {
        return;
    };
    let server = Theirs::start(&binaries);
    let socket = server.path(&format!(".s.PGSQL.{}", server.port()));
    spoil(&[Task::Record], &|teller| {
        let port = between(socket.clone(), spoiled::postgresql, teller);
        let url = format!("postgresql://boss:{ENCODED}@127.0.0.1:{port}/postgres");
        ((), port, at(url))
    });
}

/// Transactions without end, a hundred a second.
const WORK: &str = "CREATE TABLE sbtest.work (id INT PRIMARY KEY, value DOUBLE)// \
    BEGIN NOT ATOMIC WHILE TRUE DO REPLACE INTO sbtest.work VALUES (1, RAND()); DO SLEEP(0.01); END WHILE; END//";

#[test]
fn a_mariadb_that_lies_later_is_refused_or_lost() {
    let Some(server) = Mysqld::start(&["--performance-schema=ON"]) else {
        return;
    };
    let socket = server.path("run/s.sock");
    // So that it is not idle.
    let mut work = Command::new("mariadb")
        .args(["--no-defaults", "--user=boss", "--delimiter=//"])
        .arg(format!("--socket={}", socket.display()))
        .args(["--execute", WORK])
        .env("MYSQL_PWD", mysqld::PASSWORD)
        .spawn()
        .expect("the client");
    let tasks = [Task::Record, Task::Lint];
    spoil(&tasks, &|teller| {
        let port = between(socket.clone(), spoiled::mariadb, teller);
        let password = mysqld::ENCODED;
        let url = format!("mysql://boss:{password}@127.0.0.1:{port}/");
        ((), port, at(url))
    });
    work.kill().expect("it is ours");
    work.wait().expect("it is ours");
}

#[test]
fn a_sql_server_that_lies_later_is_refused_or_lost() {
    let tasks = [Task::Record, Task::Lint];
    spoil(&tasks, &|teller| {
        let model = spoiled::sqlserver::Spoiled {
            server: tds_double::server::SqlServer::windows("secret"),
            teller: Arc::clone(teller),
        };
        let double = tds_double::Double::start(model, tds_double::Encryption::None);
        let double = double.expect("a free port");
        let port = double.address().port();
        let mut words = at(format!("sqlserver://sa@127.0.0.1:{port}"));
        words.extend(["--encrypt".to_owned(), "off-insecure".to_owned()]);
        (double, port, words)
    });
}

/// Interrupts a program once it has contacted the server.
fn interrupted(protocol: impl Protocol, task: Task, lie: Lie, url: Url) {
    let port = serve(protocol, lie);
    let folder = TempDir::new().expect("a folder");
    let mut command = command(task, &url(port, lie), "1h", folder.path());
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let is_connected = is_connected(&mut child, port);
    if is_connected {
        let number = i32::try_from(child.id()).expect("a number of a process");
        kill(Pid::from_raw(number), Signal::SIGINT).expect("it runs");
    }
    let mut said = String::new();
    let mut stderr = child.stderr.take().expect("it is piped");
    stderr.read_to_string(&mut said).expect("it is text");
    let status = child.wait().expect("it ends");
    assert!(is_connected, "{task:?} {lie:?}: {status:?} {said}");
    let is_ended = status.code().is_some_and(|code| code != 0)
        || status.signal() == Some(Signal::SIGINT as i32);
    assert!(is_ended, "{task:?} {lie:?}: {status:?} {said}");
    assert!(!said.contains("panicked at"), "{task:?} {lie:?}: {said}");
}

/// Waits until the port has a connection, by the system's own list, or the program has ended.
fn is_connected(child: &mut Child, port: u16) -> bool {
    let end = format!(":{port:04X} 01 ");
    loop {
        let list = fs::read_to_string("/proc/self/net/tcp").expect("Linux has it");
        if list.lines().any(|line| line.contains(&end)) {
            return true;
        }
        if child.try_wait().expect("it is ours").is_some() {
            return false;
        }
        thread::yield_now();
    }
}

#[test]
fn ctrl_c_ends_every_wait_at_once() {
    let silent = [
        Lie::SilentFromTheStart,
        Lie::SilentAtLogin,
        Lie::SilentInTls,
        Lie::SilentAfterLogin,
    ];
    thread::scope(|scope| {
        for lie in silent {
            for task in [Task::Record, Task::Run("postgres")] {
                scope.spawn(move || interrupted(PostgreSql, task, lie, postgresql));
            }
            for task in [Task::Record, Task::Lint, Task::Run("mariadb")] {
                scope.spawn(move || interrupted(MySql, task, lie, mysql));
            }
            for task in [Task::Record, Task::Lint, Task::Run("sqlserver")] {
                scope.spawn(move || interrupted(SqlServer, task, lie, sqlserver));
            }
        }
    });
}
