//! Servers that lie to `lint`, `doctor`, `record` and `run --server`: each ends in time and in bounds, without a panic, and its
//! message names the server.

#![cfg(unix)]

#[path = "support/hostile_server.rs"]
mod hostile_server;

use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;

use hostile_server::{LIES, Lie, MySql, PostgreSql, Protocol, SqlServer, serve};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

/// The most memory that a program may have had, in KiB: an answer's 64 MiB twice while it is decoded, the 256 MiB by which
/// SQL Server's library may grow, and the program itself.
const RESIDENT_MAX_KIB: i64 = 700 << 10;

/// One that every engine takes with a server that is there.
const EXPERIMENT: &str = r#"
name = "files"
question = "One data volume, or two?"
[machine]
cores = 2
memory = "1 GiB"
[volume.a]
disk = "unlimited"
[volume.b]
disk = "unlimited"
[placement.one]
data = { volumes = "a" }
temp = { volumes = "a" }
log = { volumes = "a" }
[placement.two]
data = { volumes = ["a", "b"], files = 2 }
temp = { volumes = "a" }
log = { volumes = "a" }
[workload]
name = "trade"
sessions = 2
duration = "1 s"
[engine]
memory = "64 MiB"
sort_memory = "64 KiB"
start = "warm"
[protocol]
blocks = 2
baseline = "one"
metric = "operations_per_s"
"#;

/// How a program is to look at a server.
#[derive(Clone, Copy, Debug)]
enum Task {
    Record,
    Lint,
    Doctor,
    Run(&'static str),
}

fn command(task: Task, server: &str, timeout: &str, folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dbstow"));
    let words: &[&str] = match task {
        Task::Record => &[
            "record", "--for", "3s", "--every", "1s", "--out", "out.toml",
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
    fs::write(folder.join("files.toml"), EXPERIMENT).expect("a file");
    command
        .args(words)
        .args(["--server", server, "--timeout", timeout])
        .current_dir(folder)
        .env_remove("PGSSLMODE")
        .env_remove("PGSSLROOTCERT")
        .env("HOME", folder)
        .env("SQLCMDPASSWORD", "secret");
    if server.starts_with("sqlserver") {
        command.args(["--encrypt", "off-insecure"]);
    }
    command
}

/// Lies to a task in every way, at once.
fn lie(protocol: impl Protocol, tasks: &[Task], url: fn(u16) -> String) {
    thread::scope(|scope| {
        for task in tasks {
            for lie in LIES {
                scope.spawn(move || tried(protocol, *task, lie, url));
            }
        }
    });
    let used = getrusage(UsageWho::RUSAGE_CHILDREN).expect("the system counts");
    let most = used.max_rss();
    assert!(most < RESIDENT_MAX_KIB, "a program had {most} KiB");
}

fn tried(protocol: impl Protocol, task: Task, lie: Lie, url: fn(u16) -> String) {
    let port = serve(protocol, lie);
    let folder = TempDir::new().expect("a folder");
    // What ends by itself has time on a busy machine.
    let timeout = if lie.is_endless() { "500ms" } else { "60s" };
    let mut command = command(task, &url(port), timeout, folder.path());
    let output = command.output().expect("it starts");
    check(&output, &format!("{task:?} {lie:?}"), port);
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
    assert!(said.contains(&port.to_string()), "{what}: {said}");
}

fn postgresql(port: u16) -> String {
    format!("postgresql://ann@127.0.0.1:{port}/shop")
}

fn mysql(port: u16) -> String {
    format!("mysql://ann@127.0.0.1:{port}/")
}

fn sqlserver(port: u16) -> String {
    format!("sqlserver://ann@127.0.0.1:{port}")
}

#[cfg(feature = "postgres")]
#[test]
fn a_postgresql_that_lies_is_refused() {
    lie(
        PostgreSql,
        &[Task::Record, Task::Run("postgres")],
        postgresql,
    );
}

#[cfg(feature = "mariadb")]
#[test]
fn a_mysql_that_lies_is_refused() {
    let tasks = [Task::Record, Task::Lint, Task::Doctor, Task::Run("mariadb")];
    lie(MySql, &tasks, mysql);
}

#[cfg(feature = "sqlserver")]
#[test]
fn a_sql_server_that_lies_is_refused() {
    let tasks = [
        Task::Record,
        Task::Lint,
        Task::Doctor,
        Task::Run("sqlserver"),
    ];
    lie(SqlServer, &tasks, sqlserver);
}

/// What a message has to say, where the way to lie decides it.
#[cfg(feature = "postgres")]
#[test]
fn each_lie_is_told_by_its_name() {
    for (lie, said) in [
        (Lie::SilentAfterLogin, "no answer within 500 ms"),
        (Lie::Drips, "no answer within 500 ms"),
        (Lie::Half, "the server closed it"),
        (Lie::Huge, "a message of 2147483643 bytes, more than 64 MiB"),
        (Lie::EndlessRows, "takes more than 64 MiB"),
        (Lie::EndlessNotices, "takes more than 64 MiB"),
        (Lie::Nulls, "column 1 of the answer is NULL"),
        (Lie::TooFewColumns, "column 1 of the answer is missing"),
    ] {
        let port = serve(PostgreSql, lie);
        let folder = TempDir::new().expect("a folder");
        let timeout = if lie.is_endless() { "500ms" } else { "60s" };
        let mut command = command(Task::Record, &postgresql(port), timeout, folder.path());
        let output = command.output().expect("it starts");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(text.contains(said), "{lie:?}: {text}");
    }
}

/// Interrupts a program once the server has heard of it.
#[cfg(target_os = "linux")]
fn interrupted(protocol: impl Protocol, task: Task, lie: Lie, url: fn(u16) -> String) {
    let port = serve(protocol, lie);
    let folder = TempDir::new().expect("a folder");
    let mut command = command(task, &url(port), "1h", folder.path());
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

/// Waits until somebody has a connection to the port, by the system's own list, or the program has ended.
#[cfg(target_os = "linux")]
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

#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_ends_every_wait_at_once() {
    let silent = [
        Lie::SilentFromTheStart,
        Lie::SilentAtLogin,
        Lie::SilentAfterLogin,
    ];
    thread::scope(|scope| {
        for lie in silent {
            #[cfg(feature = "postgres")]
            for task in [Task::Record, Task::Run("postgres")] {
                scope.spawn(move || interrupted(PostgreSql, task, lie, postgresql));
            }
            #[cfg(feature = "mariadb")]
            for task in [Task::Record, Task::Lint, Task::Run("mariadb")] {
                scope.spawn(move || interrupted(MySql, task, lie, mysql));
            }
            #[cfg(feature = "sqlserver")]
            for task in [Task::Record, Task::Lint, Task::Run("sqlserver")] {
                scope.spawn(move || interrupted(SqlServer, task, lie, sqlserver));
            }
        }
    });
}
