//! A trial's private PostgreSQL on a shared machine: what other users can do to it, and what remains when dbstow is
//! killed.

#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use engine::Engine;
use experiment::spec::Temperature;
use postgres::{self, Binaries, Owner, Postgres};
use testing::other_user::is_root;
use testing::place::{Place, dbstow, said, wait_for};
use testing::server::{Folders, binaries, experiment, start};

/// A user who owns nothing.
const NOBODY: Owner = (65_534, 65_534);

/// PostgreSQL and root, which alone can act as other users; `None` is reported as a skip.
fn root_and_binaries() -> Option<Binaries> {
    is_root("only root can act as other users").then(binaries)?
}

/// Output of a command run as `user`.
fn as_user((user, group): Owner, program: impl AsRef<Path>, arguments: &[&str]) -> Output {
    Command::new(program.as_ref())
        .args(arguments)
        .current_dir("/")
        .env("LC_ALL", "C")
        .uid(user)
        .gid(group)
        .output()
        .expect("it can be run")
}

/// The folder of the server's socket.
fn socket_folder(engine: &Postgres) -> PathBuf {
    let url = engine.url();
    let (_, rest) = url.split_once("?host=").expect("it listens on a socket");
    PathBuf::from(rest.split('&').next().expect("a first part"))
}

/// Sockets in `folder` that are visible to every user.
fn sockets_in(folder: &Path) -> Vec<PathBuf> {
    let table = fs::read_to_string("/proc/net/unix").expect("the table of sockets");
    let paths = table
        .lines()
        .filter_map(|line| line.split_whitespace().nth(7));
    let mut paths: Vec<PathBuf> = paths.map(PathBuf::from).collect();
    paths.retain(|path| path.starts_with(folder));
    paths.sort();
    paths.dedup();
    paths
}

/// Inodes of listening TCP sockets.
fn tcp_listeners() -> Vec<String> {
    let table = |name: &str| fs::read_to_string(name).unwrap_or_default();
    let tables = [table("/proc/net/tcp"), table("/proc/net/tcp6")].concat();
    let listening = tables.lines().filter_map(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        (columns.get(3) == Some(&"0A")).then(|| columns[9].to_owned())
    });
    listening.collect()
}

/// Inodes of the sockets that a process has open.
fn sockets_of(process: u32) -> Vec<String> {
    let files = fs::read_dir(format!("/proc/{process}/fd")).expect("it runs");
    let links = files
        .flatten()
        .filter_map(|file| fs::read_link(file.path()).ok());
    let inode = |link: PathBuf| {
        let text = link.to_str()?.strip_prefix("socket:[")?;
        Some(text.strip_suffix(']')?.to_owned())
    };
    links.filter_map(inode).collect()
}

#[test]
fn no_other_user_can_connect_to_it() {
    let Some(binaries) = root_and_binaries() else {
        return;
    };
    let servers = postgres::owner().expect("a user").expect("root needs one");
    let (settings, workload) = experiment("read-only", "postgres", 2, 1);
    let site = Folders::new(2);
    let Some(engine) = start(&site, &settings, &workload) else {
        return;
    };
    let folder = socket_folder(&engine);
    let host = folder.to_str().expect("it is text");
    let connect = |user: Owner, role: &str| {
        let question = ["-XAt", "-h", host, "-U", role, "-c", "SELECT 1", "postgres"];
        as_user(user, binaries.program("psql"), &question)
    };

    let own = connect((0, 0), "dbstow");
    assert_eq!(own.stdout, b"1\n", "dbstow's own user: {}", said(&own));

    // Its address is neither secret nor useful.
    assert_eq!(sockets_in(&folder), [folder.join(".s.PGSQL.5432")]);
    for role in ["dbstow", "postgres", "nobody"] {
        let refused = said(&connect(NOBODY, role));
        assert!(refused.contains("Permission denied"), "{role}: {refused}");
        // The server's user can traverse it, but knows no name in it.
        let refused = said(&connect(servers, role));
        let why = ["Peer authentication failed", "no pg_hba.conf entry"];
        assert!(
            why.iter().any(|why| refused.contains(why)),
            "{role}: {refused}"
        );
    }
    assert!(!as_user(NOBODY, "/bin/ls", &[host]).status.success());

    let listening = tcp_listeners();
    let sockets = sockets_of(engine.postmaster().expect("it runs"));
    assert!(!sockets.is_empty(), "it listens somewhere");
    assert!(sockets.iter().all(|socket| !listening.contains(socket)));
}

#[test]
fn nothing_that_another_user_puts_in_its_way_is_followed() {
    if root_and_binaries().is_none() {
        return;
    }
    let servers = postgres::owner().expect("a user").expect("root needs one");
    let (settings, workload) = experiment("read-only", "postgres", 2, 1);
    let site = Folders::new(2);
    let Some(mut engine) = start(&site, &settings, &workload) else {
        return;
    };
    let (socket, target) = (socket_folder(&engine), site.parent().join("target"));
    let run = socket.parent().expect("the run's directory");
    let data = site.parent().join("v0/cluster");
    let link = |user: Owner, path: PathBuf| {
        let path = path.to_str().expect("it is text");
        let target = target.to_str().expect("it is text");
        as_user(user, "/bin/ln", &["-s", target, path])
            .status
            .success()
    };

    for user in [NOBODY, servers] {
        for name in ["log", "pg_hba.conf.new"] {
            assert!(!link(user, run.join(name)), "{user:?} can write {name}");
        }
        let hba = run.join("pg_hba.conf");
        let hba = hba.to_str().expect("it is text");
        assert!(!as_user(user, "/bin/rm", &["-f", hba]).status.success());
        let socket = socket.to_str().expect("it is text");
        let away = format!("{socket}.away");
        assert!(!as_user(user, "/bin/mv", &[socket, &away]).status.success());
    }
    // dbstow opens nothing where the server's user may write.
    assert!(link(servers, socket.join("log")));
    assert!(link(servers, data.join("log")));
    engine
        .start(Temperature::Cold, &mut || Ok(Vec::new()))
        .expect("it starts again");
    engine.stop().expect("nothing left");
    drop(engine);

    assert!(!target.exists(), "something was made behind a link");
    assert!(!run.exists());
    assert_eq!(site.content(), [""; 0]);
}

/// A long trial on one volume.
const EXPERIMENT: &str = r#"name = "killed"
question = "What is left of it?"
[machine]
cores = 2
memory = "4 GiB"
[volume.d]
disk = "unlimited"
[placement.one]
data = { volumes = "d" }
temp = { volumes = "d" }
log = { volumes = "d" }
[workload]
name = "write-only"
duration = "600 s"
[workload.parameters]
rows = 100
[engine]
memory = "2 MiB"
[protocol]
blocks = 1
metric = "operations_per_s"
"#;

/// A run in progress, in separate directories.
struct Run {
    place: Place,
    child: Child,
}

impl Run {
    /// `mode` is the rest of the command; PostgreSQL's programs are those in `bin`.
    fn start(place: Place, mode: &[&str]) -> Run {
        for name in ["tmp", "vd"] {
            fs::create_dir_all(place.path(name)).expect("the folder is ours");
        }
        // The server's user must be able to traverse it.
        fs::set_permissions(place.root(), fs::Permissions::from_mode(0o755)).expect("ours");
        fs::write(place.path("killed.toml"), EXPERIMENT).expect("the folder is ours");
        let child = dbstow(&["run", "killed.toml", "--out", "r", "--engine", "postgres"])
            .args(mode)
            .args(["--postgres-bin", "bin"])
            .current_dir(place.root())
            .env("TMPDIR", place.path("tmp"))
            .stdout(Stdio::null())
            .stderr(File::create(place.path("said")).expect("the folder is ours"))
            .spawn()
            .expect("it was built");
        Run { place, child }
    }

    /// Waits until the server's socket exists.
    fn wait_for_server(&mut self) {
        let tmp = self.place.path("tmp");
        let there = || {
            let entries = fs::read_dir(&tmp).expect("it is there").flatten();
            let sockets = entries.map(|entry| entry.path().join("socket/.s.PGSQL.5432"));
            sockets.into_iter().any(|socket| socket.exists())
        };
        wait_for("a server", there);
    }

    /// Kills it, and starts dbstow again, which first cleans up. Returns what remains.
    fn left_after_kill(mut self) -> Vec<String> {
        let pid = self.child.id();
        self.child.kill().expect("it runs");
        self.child.wait().expect("it was killed");

        let nothing = self.place.text("nothing");
        let next = dbstow(&["unmount", &nothing])
            .output()
            .expect("it was built");

        let mut left: Vec<String> = ["tmp", "vd"]
            .into_iter()
            .flat_map(|name| fs::read_dir(self.place.path(name)).expect("it is there"))
            .map(|entry| entry.expect("it is there").path().display().to_string())
            .collect();
        left.extend(self.place.mounts());
        left.extend(processes_beneath(self.place.root()));
        for folder in ["/run/dbstow", "/sys/fs/cgroup", "/sys/fs/cgroup/memory"] {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
            let own = [format!("{pid}-"), format!("dbstow-{pid}-")];
            left.extend(names.filter(|name| own.iter().any(|own| name.starts_with(own))));
        }
        if !left.is_empty() {
            left.push(format!("the next start said: {}", said(&next)));
        }
        left
    }
}

/// Processes that work beneath `folder`, even if it was removed.
fn processes_beneath(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir("/proc").expect("it is there").flatten();
    let works = |entry: &fs::DirEntry| {
        fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder))
    };
    let name = |entry: fs::DirEntry| {
        let mut name = String::new();
        let opened = File::open(entry.path().join("comm"));
        let _ = opened.and_then(|mut file| file.read_to_string(&mut name));
        format!("process {} {name}", entry.file_name().display())
    };
    entries.filter(works).map(name).collect()
}

#[test]
fn a_killed_run_leaves_no_server() {
    let Some(binaries) = root_and_binaries() else {
        return;
    };
    for mode in [
        &["--mode", "measure", "--volume", "d=vd"][..],
        &["--mode", "emulate", "--front", "block"],
    ] {
        let place = Place::new();
        symlink(&binaries.folder, place.path("bin")).expect("the name is free");
        let mut run = Run::start(place, mode);
        run.wait_for_server();
        assert_eq!(run.left_after_kill(), [""; 0], "{mode:?}");
    }
}

#[test]
fn a_killed_run_leaves_no_initdb_and_nothing_that_it_started() {
    let Some(binaries) = root_and_binaries() else {
        return;
    };
    let place = Place::new();
    let (bin, begun) = (place.path("bin"), place.path("begun"));
    fs::create_dir(&bin).expect("the folder is ours");
    fs::create_dir(&begun).expect("the folder is ours");
    fs::set_permissions(&begun, fs::Permissions::from_mode(0o777)).expect("ours");
    let programs = [
        (
            "postgres",
            format!("exec {} \"$@\"", binaries.program("postgres").display()),
        ),
        // When it is killed, it leaves a shell that keeps writing.
        (
            "initdb",
            format!(
                "sh -c 'while :; do touch here; sleep 0.05; done' & touch {}/initdb; wait",
                begun.display()
            ),
        ),
    ];
    for (name, text) in programs {
        let path = bin.join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("the folder is ours");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("ours");
    }
    let run = Run::start(place, &["--mode", "measure", "--volume", "d=vd"]);

    wait_for("initdb", || begun.join("initdb").exists());

    assert!(!processes_beneath(run.place.root()).is_empty());
    assert_eq!(run.left_after_kill(), [""; 0]);
}
