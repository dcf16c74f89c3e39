//! A drill folder made by another user, as root replays it: nothing in it is run, mounted or followed before its images
//! are declared trusted, and then nothing but the images.
//!
//! Needs root and loop devices, one test PostgreSQL; elsewhere the tests say that they are skipped.
#![cfg(all(target_os = "linux", feature = "postgres"))]

use std::cell::{Cell, RefCell};
use std::fs;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use serde_json::{Value, json};
use testing::other_user::{can_run, is_root};
use testing::place::{Place, dbstow, said, wait_for};

const DOCUMENT: &str = "drill.json";
const RECORDING: &str = "placement-1/recording.json";
const HISTORY: &str = "placement-1/writes/history";
/// The bytes that were written.
const WRITES: &str = "placement-1/writes/writes";

/// Disks that lose acknowledged writes for a second, so that even on a busy machine some state has lost a commit.
const LIES: [&str; 4] = ["--cuts", "12", "--write-cache", "ignores-flushes"];

/// A small drill, and another user's changes to its folder.
struct Drilled {
    place: Place,
    /// Name of a finding.
    finding: String,
}

impl Drilled {
    /// Drills one placement, which must lose something.
    fn new(experiment: &str, arm: &str, more: &[&str]) -> Option<Drilled> {
        let has_loop = Path::new("/dev/loop-control").exists();
        if !is_root("a drill needs root") || !can_run(has_loop, "a drill needs loop devices") {
            return None;
        }
        let place = Place::new();
        // Mount point of crash states: a directory that the server's user can traverse.
        place.folder(".", 0o755);
        place.folder("tmp", 0o1777);
        let drill = [
            "drill", experiment, "--arm", arm, "--record", "3s", "--format", "json", "--out",
            "drill",
        ];
        let drill = dbstow(&[&drill[..], more].concat())
            .current_dir(place.root())
            .output()
            .expect("it was built");
        assert!(drill.status.success(), "{}", said(&drill));
        let document: Value = serde_json::from_slice(&drill.stdout).expect("JSON");
        let finding = &document["placements"][0]["findings"][0]["name"];
        let finding = finding.as_str().expect("something is lost").to_owned();
        Some(Drilled { place, finding })
    }

    fn file(&self, name: &str) -> PathBuf {
        self.place.path("drill").join(name)
    }

    fn command(&self, more: &[&str]) -> Command {
        let replay = ["drill", "any", "--out", "drill", "--replay", &self.finding];
        let mut command = dbstow(&[&replay[..], more].concat());
        command
            .current_dir(self.place.root())
            .env("TMPDIR", self.place.path("tmp"));
        command
    }

    /// Replays the finding, and trusts its images.
    fn replay(&self) -> Output {
        let output = self.command(&["--trust-images"]).output();
        output.expect("it was built")
    }

    /// Why a replay of a modified folder is refused; undoes the change. Nothing is left mounted, and nothing was created.
    fn refused(&self, change: impl FnOnce(&Drilled)) -> String {
        let aside = self.place.path("aside");
        copy(&self.place.path("drill"), &aside);
        change(self);
        let output = self.replay();
        let why = said(&output);
        assert!(!output.status.success(), "{why}");
        assert!(!why.contains("panicked"), "{why}");
        assert_eq!(self.place.mounts(), [""; 0], "{why}");
        let made = fs::read_dir(self.place.path("tmp")).expect("it is ours");
        assert_eq!(made.count(), 0, "{why}");
        fs::remove_dir_all(self.place.path("drill")).expect("it is ours");
        fs::rename(aside, self.place.path("drill")).expect("both are here");
        why
    }

    /// Edits a JSON file.
    fn edit(&self, name: &str, edit: impl FnOnce(&mut Value)) {
        let text = fs::read_to_string(self.file(name)).expect("it is there");
        let mut value = serde_json::from_str(&text).expect("it is JSON");
        edit(&mut value);
        fs::write(self.file(name), value.to_string()).expect("it is ours");
    }

    /// Makes the finding expect these contents of the disks, as an attacker would.
    fn expect_digest(&self, digest: &str) {
        self.edit(DOCUMENT, |document| {
            document["placements"][0]["findings"][0]["digest"] = json!(digest);
        });
    }

    /// Renames the only volume wherever it is named.
    fn rename_volume(&self, name: &str) {
        self.edit(RECORDING, |recording| {
            let placed = &mut recording["placed"];
            placed["volumes"][0]["name"] = json!(name);
            placed["settings"]["volumes"][0]["name"] = json!(name);
            let placement = &mut placed["settings"]["placement"];
            for role in ["data", "temp"] {
                placement[role][0]["volume"] = json!(name);
            }
            placement["log"]["volume"] = json!(name);
        });
        let history = fs::read(self.file(HISTORY)).expect("it is there");
        let end = history.iter().position(|byte| *byte == b'\n');
        let (head, rows) = history.split_at(end.expect("it has a first line"));
        let mut head: Value = serde_json::from_slice(head).expect("it is JSON");
        head["volumes"] = json!([name]);
        let text = head.to_string();
        fs::write(self.file(HISTORY), [text.as_bytes(), rows].concat()).expect("it is ours");
    }

    /// Replaces a file by a FIFO.
    fn fifo(&self, name: &str) {
        fs::remove_file(self.file(name)).expect("it is ours");
        let made = Command::new("mkfifo").arg(self.file(name)).status();
        assert!(made.expect("mkfifo runs").success());
    }
}

/// A copy of a folder, its images as sparse as they are.
fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp")
        .args(["--archive", "--sparse=always"])
        .args([from, to])
        .status();
    assert!(copied.expect("cp is everywhere").success());
}

const IMAGE: &str = "placement-1/disks/d/files/image";

/// The volume of the drill of SQLite.
fn image(drilled: &Drilled) -> String {
    let disks = drilled.file("placement-1/disks");
    let mut names = fs::read_dir(disks).expect("it is there").flatten();
    let name = names.next().expect("it has a volume").file_name();
    IMAGE.replace("/d/", &format!("/{}/", name.display()))
}

#[test]
#[ignore = "long: replays a drill once for each edit of its folder"]
fn a_folder_of_somebody_else_is_replayed_only_as_far_as_it_is_trusted() {
    let Some(drilled) = Drilled::new("sqlite-journal-modes", "sqlite, wal, normal", &LIES) else {
        return;
    };
    let image = image(&drilled);
    refusals_without_trust(&drilled);
    names_that_lead_elsewhere(&drilled);
    numbers_and_references(&drilled);
    files_of_other_kinds(&drilled, &image);
    every_edit_is_refused_or_replayed(&drilled);
    is_mounted_without_rights(&drilled);
}

fn refusals_without_trust(drilled: &Drilled) {
    let output = drilled.command(&[]).output().expect("it was built");
    assert_eq!(output.status.code(), Some(2));
    let why = said(&output);
    for part in [
        "any user may have made drill",
        "the kernel mounts",
        "--trust-images",
    ] {
        assert!(why.contains(part), "{why}");
    }
    let with = drilled.command(&["--trust-images", "--setting", "journal_mode=off"]);
    let why = said(&{ with }.output().expect("it was built"));
    assert!(why.contains("cannot be used with"), "{why}");
}

fn names_that_lead_elsewhere(drilled: &Drilled) {
    let outside = drilled.place.path("outside");
    let absolute = outside.display().to_string();
    for name in ["../../outside", &absolute, "..", "a/b", ""] {
        let why = drilled.refused(|drilled| drilled.rename_volume(name));
        assert!(
            why.contains("recording.json") && why.contains("is not a name"),
            "{name}: {why}"
        );
        assert!(!outside.exists(), "{name}");
    }
    for folder in ["../drill/placement-1", "/", "..", ""] {
        let why = drilled.refused(|drilled| {
            drilled.edit(DOCUMENT, |document| {
                document["placements"][0]["folder"] = json!(folder);
            });
        });
        assert!(why.contains("placements[0].folder"), "{why}");
    }
}

fn numbers_and_references(drilled: &Drilled) {
    let recording = |edit: &dyn Fn(&mut Value)| {
        drilled.refused(|drilled| drilled.edit(RECORDING, |value| edit(value)))
    };
    for (name, value) in [
        ("temp_store_directory", "/root"),
        ("shared_preload_libraries", "evil"),
        ("journal_mode", "/x"),
    ] {
        let why = recording(&|recording| recording["server"][0] = json!([name, value]));
        assert!(
            why.contains(&format!("sets \"{name}\" to \"{value}\"")) && why.contains("remove it"),
            "{why}"
        );
    }
    let why = recording(&|recording| {
        recording["placed"]["settings"]["placement"]["log"]["volume"] = json!("other");
    });
    assert!(why.contains("\"other\", which is not defined"), "{why}");
    let why = recording(&|recording| recording["ledger"]["sessions"] = json!([]));
    assert!(why.contains("ledger.sessions has 0 entries"), "{why}");
    let why = recording(&|recording| recording["until"] = json!(0));
    assert!(why.contains("until is before from"), "{why}");

    let finding = |edit: &dyn Fn(&mut Value)| {
        drilled.refused(|drilled| {
            drilled.edit(DOCUMENT, |document| {
                edit(&mut document["placements"][0]["findings"][0]["cut"]);
            });
        })
    };
    for choice in [
        json!({"all-but": 9_999_999}),
        json!({"torn": 9_999_999}),
        json!({"only-volume": 3}),
    ] {
        let why = finding(&|cut| cut["choice"] = choice.clone());
        assert!(why.contains("none of this recording"), "{why}");
    }
    let why = finding(&|cut| cut["at"] = json!([1, 2]));
    assert!(why.contains("it is of 2 volumes"), "{why}");
    let why = finding(&|cut| cut["flipped"] = json!({"volume": 0, "byte": 1, "bit": 9}));
    assert!(why.contains("a bit that no volume has"), "{why}");
    // What a report would subtract.
    let why = drilled.refused(|drilled| {
        drilled.edit(DOCUMENT, |document| {
            document["placements"][0]["events"][0]["intact"] = json!(u64::MAX);
        });
    });
    assert!(why.contains("events[0].states"), "{why}");
}

fn files_of_other_kinds(drilled: &Drilled, image: &str) {
    let mark = image.replace("/files/image", "/dbstow-volume");
    for name in [DOCUMENT, RECORDING, HISTORY, &mark, image] {
        let why = drilled.refused(|drilled| drilled.fifo(name));
        assert!(why.contains("is a FIFO, no regular file"), "{name}: {why}");
    }
    let theirs = drilled.place.path("theirs");
    for name in [DOCUMENT, RECORDING, HISTORY, image] {
        let why = drilled.refused(|drilled| {
            fs::rename(drilled.file(name), &theirs).expect("both are here");
            symlink(&theirs, drilled.file(name)).expect("it is free");
        });
        assert!(why.contains("is a symbolic link"), "{name}: {why}");
        fs::remove_file(&theirs).expect("it is there");
    }
    for name in ["placement-1", "placement-1/disks", "placement-1/writes"] {
        let why = drilled.refused(|drilled| {
            fs::rename(drilled.file(name), &theirs).expect("both are here");
            symlink(&theirs, drilled.file(name)).expect("it is free");
        });
        assert!(why.contains("is a symbolic link"), "{name}: {why}");
        fs::remove_dir_all(&theirs).expect("it is there");
    }
    let why = drilled.refused(|drilled| {
        let mode = fs::Permissions::from_mode(0o777);
        fs::set_permissions(drilled.file("placement-1"), mode).expect("it is ours");
    });
    assert!(why.contains("can be written by others"), "{why}");
    let why = drilled.refused(|drilled| {
        let image = fs::File::options().write(true).open(drilled.file(image));
        image
            .expect("it is ours")
            .set_len(1 << 20)
            .expect("it is ours");
    });
    assert!(why.contains("not of 4 GiB"), "{why}");
    // The superblock is at 1024, and its copies are not checked first.
    let why = drilled.refused(|drilled| overwrite(&drilled.file(image), 1024, &[0xff; 1024]));
    assert!(why.contains("e2fsck -n finds errors"), "{why}");
}

fn overwrite(path: &Path, at: u64, bytes: &[u8]) {
    let file = fs::File::options().write(true).open(path);
    let mut file = file.expect("it is ours");
    file.seek(SeekFrom::Start(at)).expect("it is a file");
    file.write_all(bytes).expect("there is room");
}

/// What the disks hold, where a replay is refused for that.
fn digest_found(why: &str) -> Option<String> {
    let rest = why.split("(SHA-256 ").nth(1)?;
    Some(rest.get(..64)?.to_owned())
}

/// A document, a recording, a history and writes with random edits: refused with a message, or replayed. Where only the
/// digest is in the way, the document gets the right one, so that the checks behind it are reached.
fn every_edit_is_refused_or_replayed(drilled: &Drilled) {
    let config = Config {
        cases: 40,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        max_shrink_iters: 0,
        ..Config::default()
    };
    let numbers = [
        "0",
        "-1",
        "1e308",
        "18446744073709551615",
        "null",
        "[]",
        "\"x\"",
    ];
    let edits = (
        prop::sample::select(vec![DOCUMENT, RECORDING, HISTORY, WRITES]),
        any::<prop::sample::Index>(),
        prop::sample::select(numbers.to_vec()),
    );
    let past_the_digest = Cell::new(0_u32);
    let outcome = TestRunner::new(config).run(&edits, |(name, place, new)| {
        let whole = fs::read(drilled.file(name)).expect("it is there");
        let document = fs::read(drilled.file(DOCUMENT)).expect("it is there");
        fs::write(drilled.file(name), edited(&whole, name, place, new)).expect("it is ours");
        let mut outputs = vec![drilled.replay()];
        if let Some(digest) = digest_found(&said(&outputs[0])) {
            drilled.expect_digest(&digest);
            outputs.push(drilled.replay());
        }
        fs::write(drilled.file(DOCUMENT), document).expect("it is ours");
        fs::write(drilled.file(name), whole).expect("it is ours");
        for output in &outputs {
            let why = said(output);
            prop_assert!(!why.contains("panicked"), "{name} {new}: {why}");
            prop_assert!(
                output.status.success() || !why.trim().is_empty(),
                "{name} {new}: it is refused without a word"
            );
            prop_assert!(output.status.code().is_some_and(|code| code <= 3), "{why}");
        }
        if outputs.len() == 2 && digest_found(&said(&outputs[1])).is_none() {
            past_the_digest.set(past_the_digest.get() + 1);
        }
        prop_assert_eq!(drilled.place.mounts(), [""; 0]);
        Ok(())
    });
    outcome.expect("no edit breaks it");
    assert!(past_the_digest.get() > 0, "all edits stop at the digest");
}

/// Mutates a number of a text, a byte of a history, or bytes throughout the writes, so that some are in any state.
fn edited(whole: &[u8], name: &str, place: prop::sample::Index, new: &str) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    let flipped = match name {
        HISTORY => 1,
        WRITES => 256,
        _ => 0,
    };
    for number in 0..flipped {
        bytes[(place.index(whole.len()) + number * whole.len() / flipped) % whole.len()] ^= 0xff;
    }
    if flipped > 0 {
        return bytes;
    }
    let is_start =
        |at: &usize| whole[*at].is_ascii_digit() && (*at == 0 || !whole[*at - 1].is_ascii_digit());
    let starts: Vec<usize> = (0..whole.len()).filter(is_start).collect();
    let start = *place.get(&starts);
    let length = whole[start..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit());
    let end = start + length.count();
    bytes.splice(start..end, new.bytes());
    bytes
}

/// While a state is checked, no program on it can be run, and no device on it can be opened.
fn is_mounted_without_rights(drilled: &Drilled) {
    // A state may be mounted for less than a sampling interval.
    let found = (0..20).find_map(|_| mounted_with(drilled));
    let options = found.expect("a state is mounted in one of twenty replays");
    for option in ["nosuid", "nodev", "noexec"] {
        assert!(options.split(',').any(|known| known == option), "{options}");
    }
}

/// Mount options of a state, as observed while a replay ran.
fn mounted_with(drilled: &Drilled) -> Option<String> {
    let mut command = drilled.command(&["--trust-images"]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let child = RefCell::new(command.spawn().expect("it was built"));
    let options = RefCell::new(None);
    wait_for("the end of a replay", || {
        let mounts = drilled.place.mounts();
        if let Some(line) = mounts.iter().find(|line| line.contains(" ext4 ")) {
            *options.borrow_mut() = line.split(' ').nth(3).map(str::to_owned);
        }
        let ended = child.borrow_mut().try_wait().expect("it is ours");
        ended.is_some()
    });
    assert!(child.into_inner().wait().expect("it ends").success());
    options.into_inner()
}

#[test]
#[ignore = "long: drills a real server, and replays what another user edited"]
fn a_server_of_somebody_else_is_started_with_no_setting_of_its_author() {
    let Some(drilled) = Drilled::new("snapshots-apart", "two-volumes", &["--cuts", "8"]) else {
        return;
    };
    let library = drilled.place.path("evil.so").display().to_string();
    for (name, value) in [
        ("shared_preload_libraries", library.as_str()),
        ("session_preload_libraries", "evil"),
        ("archive_command", "touch /tmp/x"),
        ("ssl_passphrase_command", "true"),
        ("dynamic_library_path", "/tmp"),
        ("listen_addresses", "*"),
        ("fsync", "/etc"),
    ] {
        let why = drilled.refused(|drilled| {
            drilled.edit(RECORDING, |recording| {
                recording["server"] = json!([[name, value]]);
            });
        });
        assert!(
            why.contains("recording.json") && why.contains(&format!("sets \"{name}\"")),
            "{why}"
        );
        assert!(why.contains("remove it there"), "{why}");
    }
    // In the image itself, where the finding's digest does not help: the attacker writes that, too.
    let image = drilled.file("placement-1/disks/first/files/image");
    let inside = drilled.place.path("inside");
    fs::create_dir(&inside).expect("the folder is ours");
    let run = |program: &str, arguments: &[&Path]| {
        let done = Command::new(program).args(arguments).output();
        let done = done.expect("it is everywhere");
        assert!(done.status.success(), "{program}: {}", said(&done));
    };
    run("mount", &["-o".as_ref(), "loop".as_ref(), &image, &inside]);
    for name in ["postgresql.conf", "postgresql.auto.conf"] {
        let file = inside.join("cluster").join(name);
        let evil = "shared_preload_libraries='/evil'\n#";
        // Within its blocks: what the recording has of the file system's tables comes over the image.
        let length = fs::metadata(&file).expect("initdb wrote it").len();
        assert!(evil.len() as u64 <= length, "{name}");
        overwrite(&file, 0, evil.as_bytes());
    }
    run("umount", &[&inside]);
    let output = drilled.replay();
    let why = said(&output);
    assert!(why.contains("the folder was changed"), "{why}");
    drilled.expect_digest(&digest_found(&why).expect("it says what the disks hold"));
    let output = drilled.replay();
    assert!(output.status.success(), "{}", said(&output));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("the same"), "{text}");
}
