//! Obstacles that another user of the machine can create for root: `nobody` plays that user.
//!
//! Needs root; elsewhere the tests say that they are skipped.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use testing::other_user::{NOBODY, SMALL, is_root};
use testing::place::{Place, dbstow, said, wait_for};

/// A temporary directory for all users, and a file of root's that must stay unchanged.
struct Scene {
    place: Place,
}

impl Scene {
    fn new() -> Option<Scene> {
        if !is_root("only root can be attacked by another user") {
            return None;
        }
        let scene = Scene {
            place: Place::new(),
        };
        scene.place.folder(".", 0o755);
        // As /tmp is.
        scene.place.folder("tmp", 0o1777);
        fs::write(scene.target(), "root's\n").expect("the folder is ours");
        fs::set_permissions(scene.target(), fs::Permissions::from_mode(0o644)).expect("it is ours");
        fs::write(scene.place.path("small.toml"), SMALL).expect("the folder is ours");
        Some(scene)
    }

    fn tmp(&self) -> PathBuf {
        self.place.path("tmp")
    }

    fn target(&self) -> PathBuf {
        self.place.path("target")
    }

    /// A shell of another user in the temporary directory; `$T` is the file that must stay unchanged.
    fn nobody(&self, script: &str) {
        self.place.shell(NOBODY, ("T", "target"), script);
    }

    /// Root runs the experiment on modelled disks, with their data in the temporary directory.
    fn run(&self) -> Output {
        let mut run = dbstow(&[
            "run",
            "small.toml",
            "--mode",
            "emulate",
            "--engine",
            "sqlite",
            "--out",
            "r",
            "--fresh",
        ]);
        let run = run.env("TMPDIR", self.tmp());
        let run = run.current_dir(self.place.root()).output();
        run.expect("it was built")
    }

    /// The directory that a run creates in the temporary one: its name follows from the plan.
    fn root(&self) -> PathBuf {
        let plan = dbstow(&[
            "plan",
            "small.toml",
            "--mode",
            "emulate",
            "--engine",
            "sqlite",
            "--json",
        ])
        .current_dir(self.place.root())
        .output()
        .expect("it was built");
        let plan: serde_json::Value = serde_json::from_slice(&plan.stdout).expect("JSON");
        let digest = plan["digest"].as_str().expect("a plan has one");
        self.tmp().join(format!("dbstow-{}", &digest[..8]))
    }

    fn is_untouched(&self) {
        let text = fs::read_to_string(self.target()).expect("it is there");
        assert_eq!(text, "root's\n");
        let owner = fs::metadata(self.target()).expect("it is there");
        assert_eq!((owner.uid(), owner.mode() & 0o7777), (0, 0o644));
    }
}

#[test]
fn a_directory_that_another_user_made_first_is_refused() {
    let Some(scene) = Scene::new() else { return };
    let root = scene.root();
    let name = root.file_name().expect("it has one").to_string_lossy();
    let makes = [
        // A marker that links to a file of root's.
        format!("mkdir -m 777 {name}; ln -s $T {name}/.dbstow-volumes"),
        // The directory itself is a link.
        format!("mkdir -m 777 elsewhere; ln -s $PWD/elsewhere {name}"),
        // A marker that is a hard link to a file of the other user's, or never ends.
        format!("mkdir -m 777 {name}; echo x > own; ln own {name}/.dbstow-volumes"),
        format!("mkdir -m 777 {name}; mkfifo {name}/.dbstow-volumes"),
        format!("mkdir -m 755 {name}"),
        format!("echo x > {name}"),
    ];
    for make in makes {
        scene.nobody(&make);
        let run = scene.run();
        let said = said(&run);
        assert_eq!(run.status.code(), Some(2), "{make}: {said}");
        let path = root.to_string_lossy();
        assert!(said.contains(&*path), "{make}: {said}");
        let why = ["belongs to user 65534", "is a symbolic link", "is a file"];
        assert!(why.iter().any(|why| said.contains(why)), "{make}: {said}");
        assert!(said.contains("remove it, or choose another path"), "{said}");
        scene.is_untouched();
        scene.nobody(&format!("rm -rf {name} elsewhere own"));
    }
    let run = scene.run();
    assert!(run.status.success(), "{}", said(&run));
    let left: Vec<_> = fs::read_dir(scene.tmp())
        .expect("it is there")
        .flatten()
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_temporary_directory_whose_entries_anybody_may_rename_is_refused() {
    let Some(scene) = Scene::new() else { return };
    fs::set_permissions(scene.tmp(), fs::Permissions::from_mode(0o777)).expect("it is ours");
    let run = scene.run();
    assert_eq!(run.status.code(), Some(2), "{}", said(&run));
    assert!(said(&run).contains("chmod +t"), "{}", said(&run));
}

/// Results in a folder of another user, with a trap for root in it.
fn hostile(scene: &Scene) -> PathBuf {
    let run = dbstow(&["run", "small.toml", "--out", "r"])
        .current_dir(scene.place.root())
        .output()
        .expect("it was built");
    assert!(run.status.success(), "{}", said(&run));
    let results = scene.tmp().join("r");
    let copied = Command::new("cp")
        .arg("-r")
        .arg(scene.place.path("r"))
        .arg(&results)
        .status();
    assert!(copied.expect("cp is there").success());
    let given = Command::new("chown")
        .args(["-R", "65534:65534"])
        .arg(&results)
        .status();
    assert!(given.expect("chown is there").success());
    results
}

#[test]
fn a_report_of_a_hostile_folder_follows_none_of_its_links() {
    let Some(scene) = Scene::new() else { return };
    let results = hostile(&scene);
    for links in [
        "rm -f report.html; ln -s $T report.part",
        "rm -f report.html; ln -s $T report.html",
        "rm -f report.html; mkfifo report.html",
    ] {
        scene.nobody(&format!("cd r; {links}"));
        let report = dbstow(&["report"]).arg(&results).output();
        let report = report.expect("it was built");
        assert!(report.status.success(), "{}", said(&report));
        scene.is_untouched();
        // The findings are printed; a page that its owner could replace is not written.
        assert!(said(&report).contains("belongs to user 65534"));
        let page = fs::symlink_metadata(results.join("report.html"));
        assert!(page.is_ok_and(|page| !page.is_file()) || links.contains("report.part"));
    }
}

#[test]
fn a_run_into_a_hostile_folder_is_refused() {
    let Some(scene) = Scene::new() else { return };
    hostile(&scene);
    fs::create_dir(scene.place.path("elsewhere")).expect("the folder is ours");
    let theirs = scene.place.path("elsewhere/other.json");
    fs::write(&theirs, "{}").expect("the folder is ours");
    let elsewhere = scene.place.text("elsewhere");
    let run = |out: &Path| {
        dbstow(&["run", "small.toml", "--fresh", "--out"])
            .arg(out)
            .current_dir(scene.place.root())
            .output()
            .expect("it was built")
    };
    let makes = [
        "ln -s $T dbstow.part",
        "rm -f dbstow.lock; ln -s $T dbstow.lock",
        "rm -f dbstow.lock; mkfifo dbstow.lock",
        "rm -f dbstow.lock; rm -rf records; ln -s ELSEWHERE records",
    ];
    for make in makes {
        let make = make.replace("ELSEWHERE", &elsewhere);
        scene.nobody(&format!("cd r; {make}"));
        let run = run(&scene.tmp().join("r"));
        let said = said(&run);
        assert_eq!(run.status.code(), Some(2), "{make}: {said}");
        let parts = ["belongs to user 65534", "remove it", "choose another path"];
        assert!(
            parts.iter().all(|part| said.contains(part)),
            "{make}: {said}"
        );
        scene.is_untouched();
        assert!(theirs.exists(), "{make}");
        assert_eq!(fs::read_dir(&elsewhere).expect("it is there").count(), 1);
    }
    // In a copy made by root, the links are still the other user's, and are not followed.
    for make in makes {
        let copy = scene.place.path("copy");
        let script = format!(
            "rm -rf $C; cp -r $R $C; cd $C; {}; chown -h 65534:65534 *",
            make.replace("ELSEWHERE", &elsewhere)
        );
        let made = Command::new("sh")
            .args(["-ec", &script])
            .env("T", scene.target())
            .env("R", scene.place.path("r"))
            .env("C", &copy)
            .output();
        let made = made.expect("there is a shell");
        assert!(made.status.success(), "{}", said(&made));
        run(&copy);
        scene.is_untouched();
        assert!(theirs.exists(), "{make}");
        assert_eq!(fs::read_dir(&elsewhere).expect("it is there").count(), 1);
    }
}

#[test]
fn a_page_touches_no_neighbour() {
    let Some(scene) = Scene::new() else { return };
    let results = hostile(&scene);
    let (notes, page) = (
        scene.place.path("notes.part"),
        scene.place.path("notes.html"),
    );
    fs::write(&notes, "mine").expect("the folder is ours");
    let report = dbstow(&["report"])
        .arg(&results)
        .arg("--html")
        .arg(&page)
        .output();
    let report = report.expect("it was built");
    assert!(report.status.success(), "{}", said(&report));
    assert_eq!(fs::read_to_string(&notes).expect("it is there"), "mine");
    // Targets that are not regular files are written to.
    let device = dbstow(&["report"])
        .arg(&results)
        .args(["--html", "/dev/stdout"])
        .output();
    let device = device.expect("it was built");
    assert!(device.status.success(), "{}", said(&device));
    let text = String::from_utf8_lossy(&device.stdout);
    assert!(
        text.contains("<html") && text.contains("Records:"),
        "{text:.200}"
    );
    assert!(Path::new("/dev/stdout").is_symlink());
}

#[test]
fn a_page_in_another_users_directory_follows_no_link_and_waits_for_no_fifo() {
    let Some(scene) = Scene::new() else { return };
    let results = hostile(&scene);
    scene.nobody("mkdir evil; ln -s /proc/self/root$T evil/proc; ln -s /proc/self/fd/1 evil/fd; mkfifo evil/fifo");
    for name in ["proc", "fd", "fifo"] {
        let page = scene.tmp().join("evil").join(name);
        let report = dbstow(&["report"])
            .arg(&results)
            .arg("--html")
            .arg(&page)
            .output();
        let said = said(&report.expect("it was built"));
        scene.is_untouched();
        let is_file = fs::symlink_metadata(&page).expect("it is there").is_file();
        match name {
            "fifo" => assert!(said.contains("FIFO or device of user 65534"), "{said}"),
            _ => assert!(is_file && !said.contains("<html"), "{name}: {said:.300}"),
        }
    }
}

/// Runs until the results folder has content, and kills the run: the remains are taken over.
#[test]
fn what_a_kill_leaves_of_a_head_does_not_block_the_folder() {
    let place = Place::new();
    fs::write(place.path("small.toml"), SMALL).expect("the folder is ours");
    let run = |more: &[&str]| {
        let mut run = dbstow(&["run", "small.toml", "--out", "r"]);
        run.args(more).current_dir(place.root());
        run.output().expect("it was built")
    };
    for more in [&[][..], &["--fresh"]] {
        for name in ["dbstow.part", ".dbstow-0123456789abcdef.part"] {
            let _ = fs::remove_dir_all(place.path("r"));
            fs::create_dir(place.path("r")).expect("the folder is ours");
            fs::write(place.path("r/dbstow.lock"), "1\n").expect("the folder is ours");
            fs::write(place.path("r").join(name), "{\"sch").expect("the folder is ours");
            let run = run(more);
            assert!(run.status.success(), "{name}: {}", said(&run));
            assert!(!place.path("r").join(name).exists(), "{name}");
        }
    }
    // Another user's file of a similar name stays.
    let _ = fs::remove_dir_all(place.path("r"));
    fs::create_dir(place.path("r")).expect("the folder is ours");
    fs::write(place.path("r/notes.part"), "mine").expect("the folder is ours");
    assert_eq!(run(&[]).status.code(), Some(2));
    assert!(place.path("r/notes.part").exists());
}

/// A file system that fills up while the head is written.
#[test]
fn a_full_disk_leaves_no_half_file_and_does_not_block_the_folder() {
    let Some(scene) = Scene::new() else { return };
    let small = scene.place.path("small");
    fs::create_dir(&small).expect("the folder is ours");
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=16k", "dbstow-test"])
        .arg(&small)
        .status();
    assert!(mounted.expect("mount is there").success());
    let run = || {
        dbstow(&["run", "small.toml", "--out", "small/r"])
            .current_dir(scene.place.root())
            .output()
            .expect("it was built")
    };
    let filler = Command::new("fallocate")
        .args(["-l", "12k"])
        .arg(small.join("filler"))
        .status();
    assert!(filler.expect("fallocate is there").success());
    let full = run();
    let left: Vec<_> = fs::read_dir(small.join("r"))
        .map(|entries| entries.flatten().map(|entry| entry.file_name()).collect())
        .unwrap_or_default();
    let umount = || {
        let done = Command::new("umount").arg("--lazy").arg(&small).status();
        done.expect("umount is there").success()
    };
    if full.status.success() || left.iter().any(|name| name != "dbstow.lock") {
        umount();
        panic!("{left:?}: {}", said(&full));
    }
    let grown = Command::new("mount")
        .args(["-o", "remount,size=16m"])
        .arg(&small)
        .status();
    assert!(grown.expect("mount is there").success());
    let again = run();
    wait_for("its end", umount);
    assert_eq!(full.status.code(), Some(1), "{}", said(&full));
    assert!(again.status.success(), "{}", said(&again));
}
