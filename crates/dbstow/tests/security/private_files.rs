//! Who can read the files of a run, and what its processes see in the environment: observed by `nobody` and root while it
//! runs.
//!
//! Needs root, FUSE, loop devices and the engines; elsewhere the tests say that they are skipped.
#![cfg(all(target_os = "linux", feature = "postgres", feature = "mariadb"))]

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::PathBuf;
use std::process::Command;

use testing::other_user::is_root;
use testing::place::{self, Place, dbstow, said, succeeds};
use testing::watch::{Nobody, Seen};

/// A password, under names known to programs and one that no list contains.
const CANARY: &str = "canary-5f0e";
const CANARIES: [&str; 5] = [
    "PGPASSWORD",
    "MYSQL_PWD",
    "SQLCMDPASSWORD",
    "AWS_SECRET_ACCESS_KEY",
    "OF_OUR_OWN",
];

const EXPERIMENT: &str = r#"name = "private"
question = "Who reads what?"
[machine]
cores = 2
memory = "4 GiB"
[volume.d]
disk = "azure.premium.p30"
[placement.one]
data = { volumes = "d" }
temp = { volumes = "d" }
log = { volumes = "d" }
[workload]
WORKLOAD
[engine]
memory = "1 MiB"
[protocol]
blocks = 1
metric = "METRIC"
"#;

/// A place that everybody can traverse, with a temporary directory and one for a volume.
struct Scene {
    place: Place,
}

impl Scene {
    fn new() -> Option<Scene> {
        if !is_root("only root can be looked at by another user") {
            return None;
        }
        let place = Place::new();
        for (name, mode) in [(".", 0o755), ("tmp", 0o1777), ("vd", 0o755)] {
            place.folder(name, mode);
        }
        Some(Scene { place })
    }

    /// Where files of a run are.
    fn folders(&self) -> Vec<PathBuf> {
        vec![self.place.path("tmp"), self.place.path("vd")]
    }

    /// dbstow, whatever the umask, with secrets in the environment.
    fn dbstow(&self, arguments: &[&str]) -> Command {
        let mut command = dbstow(arguments);
        command
            .current_dir(self.place.root())
            .env("TMPDIR", self.place.path("tmp"))
            .env("TZ", "Europe/Lisbon")
            .env("LANG", "C.UTF-8")
            .env("LC_TIME", "POSIX")
            .envs(CANARIES.map(|name| (name, CANARY)));
        command
    }

    /// What every process must see in it.
    fn wanted(&self) -> Vec<String> {
        let path = std::env::var("PATH").expect("tests have a PATH");
        vec![
            format!("PATH={path}"),
            format!("TMPDIR={}", self.place.text("tmp")),
            "TZ=Europe/Lisbon".to_owned(),
            "LANG=C.UTF-8".to_owned(),
            "LC_TIME=POSIX".to_owned(),
        ]
    }

    /// Runs an experiment of `engine`, and asserts that only its user can read any of it, and that none of its processes
    /// has a secret. `there` are suffixes of paths that must have existed, `processes` are programs.
    fn run(&self, engine: &str, more: &[&str], there: &[&str], processes: &[&str]) {
        let (workload, metric) = match engine {
            "raw" => (
                "name = \"raw\"\nduration = \"1 s\"\n[workload.parameters]\nspan = \"8 MiB\"",
                "iops",
            ),
            _ => (
                "name = \"write-only\"\nduration = \"2 s\"\n[workload.parameters]\nrows = 200",
                "operations_per_s",
            ),
        };
        let text = EXPERIMENT
            .replace("WORKLOAD", workload)
            .replace("METRIC", metric);
        fs::write(self.place.path("private.toml"), text).expect("the folder is ours");
        let run = [
            "run",
            "private.toml",
            "--fresh",
            "--out",
            "r",
            "--engine",
            engine,
        ];
        let what = format!("{engine} {more:?}");
        let (seen, output) = Seen::of(
            &mut self.dbstow(&[&run[..], more].concat()),
            &self.folders(),
        );
        assert!(output.status.success(), "{what}: {}", said(&output));
        self.is_private(&what, &seen, there, processes);
    }

    fn is_private(&self, what: &str, seen: &Seen, there: &[&str], processes: &[&str]) {
        for end in there {
            assert!(seen.has(end), "{what}: no {end} in {:#?}", seen.paths);
        }
        assert!(
            seen.opened.is_empty(),
            "{what}: another user opened {:#?}",
            seen.opened
        );
        for (name, environment) in &seen.environments {
            let secrets = environment
                .iter()
                .filter(|variable| variable.contains(CANARY));
            let secrets: Vec<&String> = secrets.collect();
            assert!(secrets.is_empty(), "{what}: {name} has {secrets:?}");
        }
        for name in processes {
            seen.saw(name, &self.wanted());
        }
    }
}

const MEASURE: [&str; 4] = ["--mode", "measure", "--volume", "d=vd"];

fn emulate(front: &'static str) -> [&'static str; 4] {
    ["--mode", "emulate", "--front", front]
}

#[test]
fn files_of_sqlite_are_for_its_user_alone() {
    let Some(scene) = Scene::new() else { return };
    let files = ["data-1", "temp-1", "log-1"];
    scene.run("sqlite", &["--mode", "emulate"], &files, &[]);
    scene.run("sqlite", &MEASURE, &files, &[]);
}

#[test]
fn files_of_plain_io_are_for_its_user_alone() {
    let Some(scene) = Scene::new() else { return };
    let file = "dbstow-raw-1.dat";
    scene.run("raw", &MEASURE, &[file], &["fio"]);
    let shown = ["d/files/dbstow-raw-1.dat", "volumes/d/dbstow-raw-1.dat"];
    scene.run("raw", &emulate("file"), &shown, &["fio", "dbstow"]);
    let image = ["d/files/image", "volumes/d/dbstow-raw-1.dat"];
    scene.run("raw", &emulate("block"), &image, &["fio", "dbstow"]);
}

#[test]
#[ignore = "long: runs trials of a server in each mode to look at its files"]
fn files_of_a_private_postgresql_are_for_its_user_alone() {
    let Some(scene) = Scene::new() else { return };
    let files = ["d/cluster/PG_VERSION", "pg_hba.conf", "socket"];
    scene.run("postgres", &MEASURE, &files, &["postgres"]);
    for front in ["file", "block"] {
        scene.run("postgres", &emulate(front), &files, &["postgres", "dbstow"]);
    }
}

#[test]
#[ignore = "long: runs trials of a server in each mode to look at its files"]
fn files_of_a_private_mariadb_are_for_its_user_alone() {
    let Some(scene) = Scene::new() else { return };
    let files = ["ibdata1", "socket"];
    scene.run("mariadb", &MEASURE, &files, &["mariadbd"]);
    for front in ["file", "block"] {
        scene.run("mariadb", &emulate(front), &files, &["mariadbd", "dbstow"]);
    }
}

/// A drill has its own folder, which stays.
#[test]
#[ignore = "long: runs two whole drills to look at their files"]
fn a_drill_is_for_its_user_alone() {
    let Some(scene) = Scene::new() else { return };
    let folders = [scene.folders(), vec![scene.place.path("drills")]].concat();
    fs::create_dir(scene.place.path("drills")).expect("the folder is ours");
    let drill = |name: &str, arm: &str, out: &str| {
        let drill = [
            "drill", name, "--arm", arm, "--out", out, "--cuts", "3", "--record", "2s",
        ];
        let (seen, output) = Seen::of(&mut scene.dbstow(&drill), &folders);
        // The findings of so short a drill are irrelevant here.
        let looked = format!(
            "{}{}",
            said(&output),
            String::from_utf8_lossy(&output.stdout)
        );
        assert!(looked.contains("Page: "), "{name}: {looked}");
        seen
    };
    let mode = std::fs::metadata(scene.place.path("drills"))
        .expect("it is there")
        .mode();
    assert_eq!(mode & 0o777, 0o755);

    let seen = drill("sqlite-journal-modes", "sqlite, wal, full", "drills/lite");
    let files = [
        "ledger.db",
        "ledger.db-wal",
        "files/image",
        "recording.json",
    ];
    scene.is_private("drill of SQLite", &seen, &files, &["dbstow"]);

    let seen = drill("snapshots-apart", "two-volumes", "drills/pg");
    let files = [
        "cluster/PG_VERSION",
        "pg_hba.conf",
        "files/image",
        "recording.json",
    ];
    scene.is_private(
        "drill of PostgreSQL",
        &seen,
        &files,
        &["dbstow", "postgres"],
    );
}

/// Its programs say who reads what is in it; what it keeps beside that, and what is left without a mount, is its user's.
#[test]
fn what_a_mount_keeps_is_for_its_user_alone_and_programs_say_who_reads_their_files() {
    let Some(scene) = Scene::new() else { return };
    for (front, kept) in [("file", "files/private"), ("block", "files/image")] {
        let directory = scene.place.path("disk");
        let text = scene.place.text("disk");
        let mount = [
            "mount",
            "unlimited",
            &text,
            "--size",
            "512MiB",
            "--front",
            front,
        ];
        let mounted = scene.dbstow(&mount).output().expect("it was built");
        assert!(mounted.status.success(), "{}", said(&mounted));
        for (name, mode) in [("private", 0o600), ("open", 0o644)] {
            fs::write(directory.join(name), "x").expect("it is mounted");
            let mode = fs::Permissions::from_mode(mode);
            fs::set_permissions(directory.join(name), mode).expect("it is ours");
        }

        let (mut seen, mut nobody) = (Seen::default(), Nobody::new());
        seen.look(&scene.folders(), &mut nobody);

        assert!(nobody.opens(&directory.join("open")), "{front}");
        assert!(!nobody.opens(&directory.join("private")), "{front}");
        let emulator = place::emulator_of(&text);
        let environment = fs::read(format!("/proc/{emulator}/environ")).expect("it runs");
        let environment = String::from_utf8_lossy(&environment).into_owned();
        succeeds(&["unmount", &text]);
        scene.is_private(front, &seen, &[kept, "dbstow-volume"], &[]);
        assert!(environment.contains("TZ=Europe/Lisbon"), "{environment}");
        assert!(!environment.contains(CANARY), "{environment}");
    }
}
