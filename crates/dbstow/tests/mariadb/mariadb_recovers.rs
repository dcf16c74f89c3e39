//! MariaDB killed while it writes to modelled disks: its data is intact afterwards, and no committed transaction is lost.
//! Needs root, FUSE and loop devices.

#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use ::mariadb::owner;
use engine::Engine;
use host::clock::Clock;
use model::Duration;
use model::random::stream;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, geteuid};
use testing::mariadb::{query, start};
use testing::place::{Place, dbstow, succeeds, wait_for};
use testing::server::{Folders, RUN, SessionContext, experiment, load, run};
use workload::{Dialect, Names, Script, Variables};

#[test]
fn on_a_modelled_block_device() {
    a_killed_server_recovers("block");
}

#[test]
fn on_modelled_files() {
    a_killed_server_recovers("file");
}

/// A second server on the files of a killed one, which recovers them.
struct Recovered {
    process: Child,
    socket: PathBuf,
}

impl Recovered {
    /// `arguments` are the killed server's.
    fn start(arguments: &[String], place: &Place) -> Recovered {
        let (user, group) = owner().expect("a user").expect("root needs one");
        let run = place.path("recovered");
        fs::create_dir(&run).expect("the folder is ours");
        std::os::unix::fs::chown(&run, Some(user), Some(group)).expect("root may");
        let socket = run.join("socket");
        let process = Command::new(&arguments[0])
            .args(&arguments[1..])
            .arg(format!("--socket={}", socket.display()))
            .arg(format!("--pid-file={}", run.join("pid").display()))
            .current_dir(&run)
            .uid(user)
            .gid(group)
            .stderr(fs::File::create(place.path("log")).expect("the folder is ours"))
            .spawn()
            .expect("it ran before");
        let recovered = Recovered { process, socket };
        let log = place.path("log");
        wait_for("recovery", || {
            let said = fs::read_to_string(&log).expect("it was made");
            said.contains("ready for connections")
        });
        recovered
    }

    /// Shuts it down with everything written.
    fn shut_down(mut self) {
        let process = i32::try_from(self.process.id()).expect("a process number");
        kill(Pid::from_raw(process), Signal::SIGTERM).expect("it is ours");
        let ended = self.process.wait().expect("it is ours");
        assert!(ended.success(), "{ended}");
    }
}

/// Tablespaces under `folder`.
fn tablespaces(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            match entry.file_type().expect("its kind").is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|end| end == "ibd") => found.push(path),
                false => {}
            }
        }
    }
    found
}

fn a_killed_server_recovers(front: &str) {
    if !geteuid().is_root() {
        testing::skip("only root can mount, and run a server as another user");
        return;
    }
    let place = Place::new();
    fs::set_permissions(place.root(), PermissionsExt::from_mode(0o755)).expect("ours");
    let disk = place.text("disk");
    succeeds(&[
        "mount",
        "unlimited",
        &disk,
        "--front",
        front,
        "--size",
        "2GiB",
    ]);
    fs::set_permissions(&disk, PermissionsExt::from_mode(0o755)).expect("root may");
    let volumes = ["a", "b"].map(|name| place.path("disk").join(name));
    for volume in &volumes {
        fs::create_dir(volume).expect("it is mounted");
    }
    let site = Folders::of(tempfile::tempdir().expect("a folder"), volumes.to_vec());

    let (settings, workload) = experiment("order-entry", "mariadb", 2, 2);
    let Some(mut engine) = start(&site, &settings, &workload) else {
        return;
    };
    load(&engine, &workload, 2);
    let create = "CREATE DATABASE seen; CREATE TABLE seen.commits (id INTEGER PRIMARY KEY)";
    query(&engine.socket(), create);
    let process = engine.process().expect("it runs");
    let arguments = fs::read_to_string(format!("/proc/{process}/cmdline")).expect("it runs");
    let arguments: Vec<String> = arguments
        .split_terminator('\0')
        .map(str::to_owned)
        .collect();

    // Two sessions write until the server is killed; one of them counts what was committed.
    let committed = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let (engine, workload, committed) = (&engine, &workload, &committed);
        scope.spawn(move || {
            let mut seat = SessionContext(engine.connect(0).expect("a connection"));
            while run(&mut seat, workload, (0, 2), 5).is_empty() {}
        });
        scope.spawn(move || {
            let mut seat = SessionContext(engine.connect(1).expect("a connection"));
            let mut names = std::sync::Arc::new(Names::new());
            let text = "INSERT INTO seen.commits VALUES (:operation)";
            let script = Script::parse(
                "test.sql",
                text,
                Dialect::MARIADB,
                std::sync::Arc::get_mut(&mut names).expect("it is ours alone"),
            );
            let script = script.expect("it is right");
            let mut variables = Variables::new(names, 0, 1);
            seat.0.enter(2 * RUN);
            for operation in 1.. {
                variables.set_operation(operation);
                let done = script.execute(&mut variables, &mut stream(1, "test"), &mut seat);
                if done.is_err() {
                    break;
                }
                committed.store(operation, Ordering::Relaxed);
            }
        });
        wait_for("commits", || committed.load(Ordering::Relaxed) > 100);
        Clock::sleep(Duration::from_millis(300));
        let process = i32::try_from(process).expect("a process number");
        kill(Pid::from_raw(process), Signal::SIGKILL).expect("it is ours");
    });
    let committed = committed.into_inner();
    engine.keep();
    let _ = engine.stop();
    drop(engine);

    let recovered = Recovered::start(&arguments, &place);
    let seen = query(
        &recovered.socket,
        "SELECT COUNT(*), MAX(id) FROM seen.commits",
    );
    // One more may have been committed than the client has seen acknowledged.
    let all = |number: u64| [format!("{number}\t{number}")];
    assert!(
        seen == all(committed) || seen == all(committed + 1),
        "{committed} were committed: {seen:?}"
    );
    let tables = query(
        &recovered.socket,
        "SELECT CONCAT('`', table_schema, '`.`', table_name, '`') FROM information_schema.tables \
         WHERE engine = 'InnoDB' AND table_schema NOT IN ('mysql', 'sys')",
    );
    assert!(tables.len() > 8, "{tables:?}");
    for table in &tables {
        let answer = query(&recovered.socket, &format!("CHECK TABLE {table} EXTENDED"));
        let is_ok = answer.last().is_some_and(|line| line.ends_with("\tOK"));
        assert!(is_ok, "{answer:?}");
    }
    recovered.shut_down();
    let tablespaces = tablespaces(&place.path("disk"));
    assert!(tablespaces.len() >= tables.len(), "{tablespaces:?}");
    for tablespace in &tablespaces {
        let checked = Command::new("innochecksum")
            .arg(tablespace)
            .stdin(Stdio::null())
            .output()
            .expect("it comes with the server");
        let said = String::from_utf8_lossy(&checked.stderr);
        assert!(checked.status.success(), "{}: {said}", tablespace.display());
    }
    assert!(
        dbstow(&["unmount", &disk])
            .status()
            .expect("it was built")
            .success()
    );
}
