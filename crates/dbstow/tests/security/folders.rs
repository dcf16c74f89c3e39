//! Every folder and file that dbstow fills, under names that another user has taken before: `nobody` is that user, and
//! root runs dbstow in a world-writable directory.
//!
//! Needs root; elsewhere the tests say that they are skipped.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Output;

use testing::other_user::{NOBODY, SMALL, is_root};
use testing::place::{Place, dbstow, said};

/// `tmp`, which is world-writable, with the commands' inputs next to it; and `precious`, a folder of root's.
struct Scene {
    place: Place,
}

impl Scene {
    fn new() -> Option<Scene> {
        if !is_root("only root can be attacked by another user") {
            return None;
        }
        let place = Place::new();
        for (name, mode) in [(".", 0o755), ("tmp", 0o1777), ("precious", 0o755)] {
            place.folder(name, mode);
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for (from, to) in [
            ("examples/shop.toml", "shop.toml"),
            ("examples/today.toml", "today.toml"),
            (
                "crates/engines/sqlserver/tests/captures/windows-2019-azure-vm.json",
                "capture.json",
            ),
            ("crates/import/tests/files/perfmon/relog.csv", "relog.csv"),
        ] {
            fs::copy(root.join(from), place.path(to)).expect("it is in the repository");
        }
        fs::write(place.path("small.toml"), SMALL).expect("the folder is ours");
        let scene = Scene { place };
        for arguments in [
            &["plan", "../small.toml", "--out", "../plan.json"][..],
            &["run", "../small.toml", "--out", "../results"],
        ] {
            let done = scene.dbstow(arguments);
            assert!(done.status.success(), "{}", said(&done));
        }
        Some(scene)
    }

    fn tmp(&self) -> PathBuf {
        self.place.path("tmp")
    }

    /// Root's dbstow in the world-writable directory.
    fn dbstow(&self, arguments: &[&str]) -> Output {
        let mut command = dbstow(arguments);
        command
            .current_dir(self.tmp())
            .output()
            .expect("it was built")
    }

    /// A shell there, of `user`; `$P` is the precious folder.
    fn shell(&self, user: u32, script: &str) {
        self.place.shell(user, ("P", "precious"), script);
    }

    fn is_untouched(&self, what: &str) {
        let precious = fs::read_dir(self.place.path("precious")).expect("it is there");
        let names: Vec<_> = precious.flatten().map(|entry| entry.file_name()).collect();
        assert!(names.is_empty(), "{what}: {names:?}");
    }
}

/// A command that fills a folder, and the name of that folder.
struct Fills {
    command: &'static [&'static str],
    folder: &'static str,
}

const FILLS: [Fills; 9] = [
    Fills {
        command: &["run", "../small.toml"],
        folder: "dbstow-results",
    },
    Fills {
        command: &["run", "../small.toml", "--out", "it"],
        folder: "it",
    },
    Fills {
        command: &["trial", "../plan.json", "--index", "0", "--out", "it"],
        folder: "it",
    },
    Fills {
        command: &ADVISE,
        folder: "shop-advice",
    },
    Fills {
        command: &[
            "layout",
            "--files",
            "2",
            "--size",
            "1GiB",
            "--volume",
            "a=/nvme0/tempdb",
            "--out",
            "it",
        ],
        folder: "it",
    },
    Fills {
        command: &["man", "--out", "it"],
        folder: "it",
    },
    Fills {
        command: &[
            "mount",
            "unlimited",
            "../disk",
            "--size",
            "512MiB",
            "--front",
            "file",
            "--backing",
            "it",
        ],
        folder: "it",
    },
    Fills {
        command: &[
            "drill",
            "sqlite-journal-modes",
            "--cuts",
            "1",
            "--record",
            "1s",
            "--out",
            "it",
        ],
        folder: "it",
    },
    Fills {
        command: &[
            "calibrate",
            "it",
            "--size",
            "64MiB",
            "--time",
            "9s",
            "--out",
            "../disk.toml",
        ],
        folder: "it",
    },
];

const ADVISE: [&str; 13] = [
    "advise",
    "../shop.toml",
    "--today",
    "../today.toml",
    "--cloud",
    "azure",
    "--machine",
    "bds_v5",
    "--capacity",
    "data=60GiB",
    "--capacity",
    "log=20GiB",
    "--budget=500",
];

#[test]
#[ignore = "long: runs each command that writes a folder into each form of trap"]
fn a_folder_that_another_user_put_there_is_refused_and_what_it_leads_to_is_left() {
    let Some(scene) = Scene::new() else { return };
    for fills in FILLS {
        let attacks = [
            (NOBODY, "ln -s $P IT"),
            (NOBODY, "ln -s $P/new IT"),
            (NOBODY, "mkdir -m 755 IT"),
            (NOBODY, "mkdir -m 777 IT"),
            (NOBODY, "mkfifo IT"),
            (NOBODY, "echo x > IT"),
            (0, "mkdir -m 777 IT"),
            (0, "mkdir -m 775 IT"),
            // Another user may have created a link of root's by this name.
            (0, "ln -s $P IT"),
        ];
        // A search takes a while.
        let count = if fills.command[0] == "advise" {
            3
        } else {
            attacks.len()
        };
        for (who, make) in attacks.into_iter().take(count) {
            let what = format!("{:?} after {make} by {who}", fills.command);
            scene.shell(who, &make.replace("IT", fills.folder));
            let before = fs::symlink_metadata(scene.tmp().join(fills.folder)).expect("it was made");

            let done = scene.dbstow(fills.command);

            let said = said(&done);
            assert_eq!(done.status.code(), Some(2), "{what}: {said}");
            assert!(said.contains(fills.folder), "{what}: {said}");
            assert!(fills.says(who, make, &said), "{what}: {said}");
            scene.is_untouched(&what);
            let after = fs::symlink_metadata(scene.tmp().join(fills.folder)).expect("it stays");
            let of = |found: &fs::Metadata| (found.ino(), found.uid(), found.mode());
            assert_eq!(of(&before), of(&after), "{what}");
            if after.is_dir() {
                let there = fs::read_dir(scene.tmp().join(fills.folder)).expect("it is there");
                assert_eq!(there.count(), 0, "{what}");
            }
            scene.shell(0, &format!("rm -rf {}", fills.folder));
        }
        let left: Vec<_> = fs::read_dir(scene.tmp())
            .expect("it is there")
            .flatten()
            .collect();
        assert!(left.is_empty(), "{:?}: {left:?}", fills.command);
    }
}

impl Fills {
    /// Whether the message names the owner of what exists, and the remedy.
    fn says(&self, who: u32, make: &str, said: &str) -> bool {
        let remedies = ["remove it", "choose another", "chmod go-w", "make it"];
        let has_remedy = remedies.iter().any(|remedy| said.contains(remedy));
        let is_named = who == 0 || said.contains(&format!("user {NOBODY}"));
        match self.command[0] {
            // Whatever exists there.
            "drill" => said.contains("exists already; remove it"),
            // Only a directory can be filled with pages.
            "man" if !make.starts_with("mkdir") => said.contains("make it") || is_named,
            _ => has_remedy && is_named,
        }
    }
}

#[test]
fn no_record_is_written_into_another_users_folder() {
    let Some(scene) = Scene::new() else { return };
    let run = ["run", "../small.toml", "--out", "it", "--fresh"];
    let first = scene.dbstow(&run);
    assert!(first.status.success(), "{}", said(&first));
    for theirs in ["chown 65534 it/records", "chmod 777 it/records"] {
        scene.shell(0, &format!("rm -rf it/records; mkdir it/records; {theirs}"));
        let refused = scene.dbstow(&run);
        let said = said(&refused);
        assert_eq!(refused.status.code(), Some(2), "{theirs}: {said}");
        assert!(said.contains("it/records"), "{theirs}: {said}");
        let left = fs::read_dir(scene.tmp().join("it/records")).expect("it is there");
        assert_eq!(left.count(), 0, "{theirs}");
    }
    scene.shell(0, "rm -rf it");
}

#[test]
fn every_user_must_not_be_able_to_exchange_a_folder_afterwards() {
    let Some(scene) = Scene::new() else { return };
    let open = scene.place.path("tmp/open");
    fs::create_dir(&open).expect("the folder is ours");
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).expect("it is ours");
    for out in ["open/it", "open/deep/it"] {
        let run = scene.dbstow(&["run", "../small.toml", "--out", out]);
        assert_eq!(run.status.code(), Some(2), "{}", said(&run));
        assert!(said(&run).contains("chmod +t"), "{}", said(&run));
    }
}

#[test]
fn an_own_folder_is_filled_also_behind_an_own_link_where_nobody_else_can_have_put_it() {
    let Some(scene) = Scene::new() else { return };
    fs::create_dir(scene.tmp().join("own")).expect("the name is free");
    for out in ["own", "deep/deeper/it"] {
        let run = scene.dbstow(&["run", "../small.toml", "--out", out]);
        assert!(run.status.success(), "{}", said(&run));
        assert!(scene.tmp().join(out).join("dbstow.json").exists());
    }
    symlink(scene.place.path("precious"), scene.place.path("link")).expect("the name is free");
    let run = scene.dbstow(&["run", "../small.toml", "--out", "../link"]);
    assert!(run.status.success(), "{}", said(&run));
    assert!(scene.place.path("precious/dbstow.json").exists());

    // Of nobody's, even there.
    let theirs = scene.place.path("theirs");
    symlink(scene.place.path("precious"), &theirs).expect("the name is free");
    std::os::unix::fs::lchown(&theirs, Some(NOBODY), Some(NOBODY)).expect("root may");
    let run = scene.dbstow(&["run", "../small.toml", "--fresh", "--out", "../theirs"]);
    assert_eq!(run.status.code(), Some(2), "{}", said(&run));
    assert!(
        said(&run).contains("symbolic link of user 65534"),
        "{}",
        said(&run)
    );
}

#[test]
fn nobody_else_writes_to_what_is_made_whatever_the_mask() {
    let Some(scene) = Scene::new() else { return };
    let program = env!("CARGO_BIN_EXE_dbstow");
    for (out, command) in [
        ("r", "run ../small.toml --out r"),
        ("deep", "run ../small.toml --out deep/er"),
        (
            "s",
            "layout --files 2 --size 1GiB --volume a=/nvme0/tempdb --out s",
        ),
        ("p.json", "plan ../small.toml --out p.json"),
    ] {
        scene.shell(0, &format!("umask 000; {program} {command}"));
        let mut look = vec![scene.tmp().join(out)];
        let mut seen = 0;
        while let Some(path) = look.pop() {
            let found = fs::symlink_metadata(&path).expect("it is there");
            assert_eq!(found.mode() & 0o022, 0, "{}", path.display());
            seen += 1;
            if found.is_dir() {
                let inside = fs::read_dir(&path).expect("it is there").flatten();
                look.extend(inside.map(|entry| entry.path()));
            }
        }
        assert!(seen > usize::from(out != "p.json"), "{command}");
    }
}

/// For a report, the findings are printed, and no page is left in a folder whose owner could replace it.
#[test]
fn a_report_puts_no_page_into_another_users_folder() {
    let Some(scene) = Scene::new() else { return };
    scene.shell(
        0,
        "cp -r ../results theirs; rm -f theirs/report.html; chown -R 65534:65534 theirs",
    );
    let report = scene.dbstow(&["report", "theirs"]);
    assert!(report.status.success(), "{}", said(&report));
    assert!(
        said(&report).contains("belongs to user 65534"),
        "{}",
        said(&report)
    );
    assert!(said(&report).contains("--html"), "{}", said(&report));
    assert!(!scene.tmp().join("theirs/report.html").exists());
    assert!(String::from_utf8_lossy(&report.stdout).contains("Records:"));
}

/// A file named by the user, in a world-writable directory: what another user puts under its name is replaced, or refused
/// where it is not a file or the file must be new.
#[test]
fn a_file_is_written_through_no_link_and_into_no_fifo_of_another_user() {
    let Some(scene) = Scene::new() else { return };
    let import = [
        "import",
        "../relog.csv",
        "--device",
        "data=D:",
        "--device",
        "log=D:",
        "--device",
        "temp=T:",
        "--out",
        "it",
    ];
    let calibrate = [
        "calibrate",
        "../precious",
        "--size",
        "64MiB",
        "--time",
        "9s",
    ];
    let writes: [(&[&str], &str); 8] = [
        (&["doctor", "../capture.json", "--out", "it"], "it"),
        (&["plan", "../small.toml", "--out", "it"], "it"),
        (
            &["submit", "../plan.json", "--to", "slurm", "--out", "it"],
            "it",
        ),
        (&["report", "../results", "--html", "it"], "it"),
        (&["profile", "../shop.toml", "--html", "it"], "it"),
        (
            &[
                "run",
                "../small.toml",
                "--fresh",
                "--out",
                "../results",
                "--metrics",
                "it",
            ],
            "it",
        ),
        (&import, "it"),
        // Under a name chosen by dbstow.
        (&calibrate, "my-disk.toml"),
    ];
    for (command, name) in writes {
        for make in [
            "ln -s $P/target IT",
            "ln -s $P/new IT",
            "mkfifo IT",
            "ln -s /dev/stdout IT",
        ] {
            let what = format!("{command:?} after {make}");
            let target = scene.place.path("precious/target");
            fs::write(&target, "root's\n").expect("the folder is ours");
            scene.shell(NOBODY, &make.replace("IT", name));

            let done = scene.dbstow(command);

            let said = said(&done);
            assert_eq!(
                fs::read_to_string(&target).expect("it stays"),
                "root's\n",
                "{what}"
            );
            fs::remove_file(&target).expect("it is there");
            scene.is_untouched(&what);
            let there = fs::symlink_metadata(scene.tmp().join(name)).expect("it is there");
            match there.is_file() {
                true => assert_eq!(
                    (there.uid(), done.status.code()),
                    (0, Some(0)),
                    "{what}: {said}"
                ),
                false => {
                    assert!(!done.status.success(), "{what}: {said}");
                    assert!(said.contains(name), "{what}: {said}");
                }
            }
            scene.shell(0, &format!("rm -f {name}"));
        }
    }
}
