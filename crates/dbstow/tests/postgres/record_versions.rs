//! `dbstow record` on this machine's PostgreSQL and on the other versions (`scripts/other-servers`), against what
//! each of them counted itself.

#![cfg(all(unix, feature = "postgres"))]
#![allow(
    clippy::unwrap_used,
    reason = "a panic with its line is what a failing test should give"
)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use postgres::{self, Binaries};
use profile::{Interval, Io, Profile};
use reading::Role;
use tempfile::TempDir;
use testing::server::binaries;
use testing::theirs::{ENCODED, Theirs};
use testing::versions::{copied, programs_folder, versions};

/// Transactions of the load, and how many a second.
const TRANSACTIONS: f64 = 400.0;
const LOAD: [&str; 7] = ["-c", "2", "-t", "200", "-R", "100", "-n"];
/// Three seconds for the server's counters to arrive: before version 15 they take up to one.
const REST: [&str; 7] = ["-c", "1", "-t", "6", "-R", "2", "-n"];

/// A user who sees no file of the server: to that user it could as well be on another machine.
const STRANGER: u32 = 65534;

/// `dbstow record` until it is interrupted.
struct Recording {
    process: Child,
    out: PathBuf,
    _folder: TempDir,
}

impl Recording {
    fn start(server: &Theirs, program: &Path, user: Option<u32>) -> Recording {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("profile.toml");
        let mut command = Command::new(program);
        command
            .args(["record", "--every", "1s", "--for", "600s", "--server"])
            .arg(server.url(ENCODED))
            .arg("--out")
            .arg(&out)
            .env("HOME", folder.path())
            .stdout(Stdio::null())
            .stderr(fs::File::create(server.path("recording")).unwrap());
        if let Some(user) = user {
            chown(folder.path(), Some(user), Some(user)).unwrap();
            command.uid(user).gid(user);
        }
        Recording {
            process: command.spawn().unwrap(),
            out,
            _folder: folder,
        }
    }

    /// Ends it; returns its output.
    fn end(mut self, server: &Theirs) -> Profile {
        let process = Pid::from_raw(i32::try_from(self.process.id()).unwrap());
        kill(process, Signal::SIGINT).unwrap();
        let status = self.process.wait().unwrap();
        let said = fs::read_to_string(server.path("recording")).unwrap();
        assert!(status.success(), "{said}");
        profile::read("profile.toml", &fs::read_to_string(&self.out).unwrap()).unwrap()
    }
}

/// What the server counted since it was started.
struct Counted {
    operations: f64,
    log_bytes: f64,
    log_flushes: Option<f64>,
    reads: f64,
    writes: f64,
}

impl Counted {
    fn of(server: &Theirs, major: u32) -> Counted {
        let number = |sql: &str| -> f64 {
            let answer = server.sql(&format!("SELECT {sql}"));
            answer.parse().unwrap_or_else(|_| panic!("{sql}: {answer}"))
        };
        let io =
            |columns: &str, of: &str| number(&format!("sum({columns}) FROM pg_stat_io WHERE {of}"));
        let (reads, writes) = match major {
            16.. => (
                io("reads", "object <> 'wal'"),
                io(
                    "coalesce(writes, 0) + coalesce(extends, 0)",
                    "object <> 'wal'",
                ),
            ),
            _ => (
                number("sum(blks_read) FROM pg_stat_database"),
                number(
                    "buffers_checkpoint + buffers_clean + buffers_backend FROM pg_stat_bgwriter",
                ),
            ),
        };
        let log = "object = 'wal' AND context = 'normal'";
        Counted {
            operations: number("sum(xact_commit + xact_rollback) FROM pg_stat_database"),
            log_bytes: match major {
                18.. => io("write_bytes", log),
                // Its records, and a page more for each write.
                14.. => number("wal_bytes + 8192 * wal_write FROM pg_stat_wal"),
                _ => number("pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')"),
            },
            log_flushes: match major {
                18.. => Some(io("fsyncs", log)),
                14.. => Some(number("wal_sync FROM pg_stat_wal")),
                _ => None,
            },
            reads,
            writes,
        }
    }
}

fn sum(profile: &Profile, role: Role, figure: impl Fn(&Io) -> Option<f64>) -> Option<f64> {
    profile.total(|interval: &Interval| figure(interval.roles.get(&role)?))
}

/// Asserts that a figure is at least 9 in 10 of what the server counted while the load ran, and no more than it counted
/// from before the recording until after it.
fn is_between(name: &str, figure: Option<f64>, inner: f64, outer: f64) {
    let figure = figure.unwrap_or_else(|| panic!("{name} was not recorded"));
    assert!(
        figure > 0.0 && figure >= 0.9 * inner && figure <= outer,
        "{name}: {figure}, where the server counted {inner} within and {outer} in all"
    );
}

#[test]
#[ignore = "long: records each version; the newest is recorded always"]
fn each_version_of_postgresql_gives_the_figures_that_it_counted() {
    let Some(clients) = binaries() else { return };
    let Some(versions) = versions() else { return };
    assert_eq!(
        versions.iter().map(|each| each.major).collect::<Vec<_>>(),
        [13, 14, 16, 17, 18]
    );
    record(&clients, &clients, &programs_folder());
    for version in versions {
        let programs = programs_folder();
        record(&copied(&version, &programs), &clients, &programs);
    }
}

/// Records one version while two clients work, as a stranger and, as root, as one who sees its disks too.
fn record(version: &Binaries, clients: &Binaries, programs: &TempDir) {
    let major = version.major;
    let mut settings = vec!["shared_buffers=1MB", "track_io_timing=on"];
    if major >= 14 {
        settings.push("track_wal_io_timing=on");
    }
    let server = Theirs::with_clients(version, clients, &settings);
    server.pgbench(&["-i", "-q", "-s", "2"]);
    server.sql("CHECKPOINT");
    fs::set_permissions(server.path(""), fs::Permissions::from_mode(0o755)).unwrap();

    let before = Counted::of(&server, major);
    let is_root = postgres::owner().expect("a user").is_some();
    let process_file = server.path("data/postmaster.pid");
    let local =
        is_root.then(|| Recording::start(&server, Path::new(env!("CARGO_BIN_EXE_dbstow")), None));
    let stranger = if is_root {
        let program = programs.path().join("dbstow");
        fs::copy(env!("CARGO_BIN_EXE_dbstow"), &program).unwrap();
        Recording::start(&server, &program, Some(STRANGER))
    } else {
        fs::set_permissions(&process_file, fs::Permissions::from_mode(0o000)).unwrap();
        Recording::start(&server, Path::new(env!("CARGO_BIN_EXE_dbstow")), None)
    };
    let looking = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'dbstow' AND query LIKE 'EXECUTE look%'";
    let recordings = if is_root { "2" } else { "1" };
    let mut tries = 0;
    while server.sql(looking) != recordings {
        tries += 1;
        let said = fs::read_to_string(server.path("recording")).unwrap();
        assert!(tries < 1000, "PostgreSQL {major}: {said}");
    }
    let begun = Counted::of(&server, major);
    server.pgbench(&LOAD);
    let done = Counted::of(&server, major);
    server.pgbench(&REST);
    let profile = stranger.end(&server);
    let local = local.map(|recording| recording.end(&server));
    let after = Counted::of(&server, major);
    if !is_root {
        fs::set_permissions(&process_file, fs::Permissions::from_mode(0o600)).unwrap();
    }

    assert_eq!(profile.origin.version.as_ref(), Some(&version.version));
    assert!(
        profile.interruptions.is_empty(),
        "{:?}",
        profile.interruptions
    );
    assert!(profile.intervals.len() >= 4);
    let between = |name: &str, figure: Option<f64>, of: fn(&Counted) -> f64| {
        let name = format!("PostgreSQL {major}: {name}");
        is_between(
            &name,
            figure,
            of(&done) - of(&begun),
            of(&after) - of(&before),
        );
    };
    let operations = profile.total(|interval| interval.operations).unwrap();
    assert!(
        operations >= 0.95 * TRANSACTIONS && operations <= after.operations - before.operations,
        "PostgreSQL {major}: {operations} operations"
    );
    assert!(profile.total(|interval| interval.sessions).unwrap() >= 2.0);
    let log = |figure: fn(&Io) -> Option<f64>| sum(&profile, Role::Log, figure);
    let data = |figure: fn(&Io) -> Option<f64>| sum(&profile, Role::Data, figure);
    between("bytes of the log", log(|io| io.writes.bytes), |server| {
        server.log_bytes
    });
    between("reads", data(|io| io.reads.count), |server| server.reads);
    between("writes", data(|io| io.writes.count), |server| server.writes);
    let waited = |io: &Io| io.reads.waited.map(|time| time.as_secs_f64());
    assert!(
        data(waited) > Some(0.0),
        "PostgreSQL {major}: time of reads"
    );
    if after.log_flushes.is_some() {
        between("flushes", log(|io| io.flushes.count), |server| {
            server.log_flushes.unwrap()
        });
        let waited = |io: &Io| io.flushes.waited.map(|time| time.as_secs_f64());
        assert!(
            log(waited) > Some(0.0),
            "PostgreSQL {major}: time of flushes"
        );
    } else {
        assert_eq!(log(|io| io.flushes.count), None);
    }
    // Without files there is nothing of this machine.
    assert_eq!(
        profile.total(|interval| interval.processor.map(|time| time.as_secs_f64())),
        None
    );

    // Not where the filesystem of /tmp has no disk, as in some containers.
    if let Some(local) = local.filter(|local| local.machine.processors.is_some()) {
        assert!(
            local.total(|interval| interval.processor.map(|time| time.as_secs_f64())) > Some(0.0)
        );
        assert!(sum(&local, Role::Data, |io| io.writes.count).is_some());
        if after.log_flushes.is_some() {
            assert!(sum(&local, Role::Log, |io| io.writes.count) > Some(0.0));
        }
    }
}
