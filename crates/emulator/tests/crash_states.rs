//! Volumes as a power cut would have left them, for real: needs root, loop devices, FUSE and e2fsprogs.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    reason = "a panic with its line is what a failing test should give"
)]

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use emulator::crash::{Action, Cache, Choice, History, Rules};
use emulator::{
    Contents, CrashSpec, Emulation, EmulationSpec, Fault, Filesystem, FlippedBit, Front, MountSpec,
    RecordSpec, TransportChoice, digest,
};
use model::{Bytes, DiskSpec, Instant, MachineSpec, VolumeSpec};
use tempfile::TempDir;

/// Bytes of a block of the file system.
const BLOCK: usize = 4096;

/// Volumes whose writes are recorded, and looked at as they were when power was cut.
struct Place {
    root: TempDir,
    volumes: &'static [&'static str],
}

impl Place {
    fn new(volumes: &'static [&'static str]) -> Place {
        let root = tempfile::tempdir().unwrap();
        Place { root, volumes }
    }

    fn recording(&self) -> PathBuf {
        self.root.path().join("recording")
    }

    fn start(&self, contents: Contents) -> Emulation {
        Emulation::start(&self.spec(contents)).unwrap()
    }

    fn spec(&self, contents: Contents) -> EmulationSpec {
        // Several states may be mounted at once.
        let state = tempfile::tempdir_in(&self.root).unwrap().keep();
        let mount = |name: &&str| {
            let directory = state.join(name);
            fs::create_dir(&directory).unwrap();
            MountSpec {
                volume: VolumeSpec::of(name, DiskSpec::unlimited()),
                front: Front::Block {
                    filesystem: Filesystem::Ext4,
                    read_ahead: None,
                },
                directory,
                backing: self.root.path().join(format!("{name}.backing")),
                size: Bytes::mib(300),
                owner: None,
                others: emulator::Others::List,
            }
        };
        EmulationSpec {
            machine: MachineSpec::unlimited(),
            volumes: self.volumes.iter().map(mount).collect(),
            seed: 1,
            transport: TransportChoice::Fuser,
            trace: None,
            contents,
        }
    }

    /// Records what is done to the volumes, from their start on.
    fn record(&self) -> Emulation {
        self.record_at_most(Bytes::gib(1))
    }

    fn record_at_most(&self, most: Bytes) -> Emulation {
        fs::create_dir(self.recording()).unwrap();
        self.start(Contents::Recorded(RecordSpec {
            directory: self.recording(),
            most,
        }))
    }

    fn history(&self) -> History {
        let history = fs::read(self.recording().join("history")).unwrap();
        History::read(&mut history.as_slice()).unwrap()
    }

    /// The volumes as they were when each lost power.
    fn cut(&self, at: &[Instant], choice: Choice) -> Emulation {
        self.start(self.crashed(at, choice, None))
    }

    fn crashed(&self, at: &[Instant], choice: Choice, flipped: Option<FlippedBit>) -> Contents {
        let rules = Rules::of_disk(Cache::Volatile, Bytes(512));
        Contents::Crashed(CrashSpec {
            recording: self.recording(),
            rules: vec![rules; self.volumes.len()],
            at: at.to_vec(),
            choice,
            flipped,
        })
    }
}

fn directory(emulation: &Emulation, place: usize) -> &Path {
    &emulation.volumes()[place].1
}

/// Writes a file, and waits until it is safe.
fn write_safely(path: &Path, bytes: &[u8]) {
    let mut file = File::create(path).unwrap();
    file.write_all(bytes).unwrap();
    file.sync_all().unwrap();
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name != "lost+found").collect();
    names.sort();
    names
}

#[test]
fn what_was_synced_is_in_every_state_and_what_came_later_in_none() {
    let place = Place::new(&["d"]);
    let recorded = place.record();
    let noise: Vec<u8> = (0..200_000_u32)
        .map(|at| ((at * 7919) >> 5) as u8)
        .collect();
    write_safely(&directory(&recorded, 0).join("first"), &noise);
    let cut = recorded.reading().at;
    write_safely(&directory(&recorded, 0).join("second"), b"later");
    recorded.stop().unwrap();

    for choice in [
        Choice::Nothing,
        Choice::Everything,
        Choice::Drawn(1),
        Choice::Drawn(2),
    ] {
        let state = place.cut(&[cut], choice.clone());
        assert_eq!(names(directory(&state, 0)), ["first"], "{choice:?}");
        assert!(
            fs::read(directory(&state, 0).join("first")).unwrap() == noise,
            "{choice:?}"
        );
        state.stop().unwrap();
    }
    let early = place.cut(&[Instant::ZERO], Choice::Everything);
    assert_eq!(names(directory(&early, 0)), [""; 0]);
    early.stop().unwrap();
}

#[test]
fn a_file_system_does_not_say_that_the_kernel_is_to_panic() {
    let place = Place::new(&["d"]);
    place.record().stop().unwrap();
    let image = place.root.path().join("d.backing/files/image");
    let mut tune = Command::new("tune2fs");
    let tuned = tune.args(["-e", "panic"]).arg(&image).output().unwrap();
    assert!(tuned.status.success(), "{tuned:?}");

    // Before all that was written: the superblock is part of it.
    let state = place.cut(&[Instant::ZERO], Choice::Everything);
    let table = fs::read_to_string("/proc/self/mounts").unwrap();
    let at = directory(&state, 0).display().to_string();
    let is_there = |line: &&str| line.split(' ').nth(1) == Some(at.as_str());
    let line = table.lines().find(is_there).unwrap();
    let mut options = line.split(' ').nth(3).unwrap().split(',');
    // The kernel shows it where the superblock has another word.
    assert!(options.any(|option| option == "errors=continue"), "{line}");
    state.stop().unwrap();
}

#[test]
fn what_was_not_synced_may_be_lost() {
    let place = Place::new(&["d"]);
    let recorded = place.record();
    let path = directory(&recorded, 0).join("file");
    write_safely(&path, &[b'o'; BLOCK]);
    // Past the page cache: it is on the disk when this returns, without a flush.
    let mut options = File::options();
    let mut file = options
        .write(true)
        .custom_flags(0o40_000)
        .open(&path)
        .unwrap(); // O_DIRECT
    let mut memory = vec![b'n'; 2 * BLOCK];
    let aligned = memory.as_mut_ptr().align_offset(BLOCK);
    file.write_all(&memory[aligned..aligned + BLOCK]).unwrap();
    let cut = recorded.reading().at;
    drop(file);
    recorded.stop().unwrap();

    let content = |choice: Choice| {
        let state = place.cut(&[cut], choice);
        let content = fs::read(directory(&state, 0).join("file")).unwrap();
        state.stop().unwrap();
        content
    };
    assert!(content(Choice::Nothing) == [b'o'; BLOCK]);
    assert!(content(Choice::Everything) == [b'n'; BLOCK]);
    // Some sectors of the block.
    let torn = content(Choice::Torn(0));
    assert!(torn.contains(&b'o') && torn.contains(&b'n'));
    assert!(
        torn.chunks(512)
            .all(|sector| sector.iter().all(|byte| *byte == sector[0]))
    );
}

#[test]
fn volumes_may_stop_one_after_the_other_and_nothing_that_is_done_to_a_state_lasts() {
    let place = Place::new(&["a", "b"]);
    let recorded = place.record();
    write_safely(&directory(&recorded, 0).join("one"), b"1");
    write_safely(&directory(&recorded, 1).join("one"), b"1");
    let early = recorded.reading().at;
    write_safely(&directory(&recorded, 0).join("two"), b"2");
    write_safely(&directory(&recorded, 1).join("two"), b"2");
    let late = recorded.reading().at;
    recorded.stop().unwrap();

    let state = place.cut(&[early, late], Choice::Nothing);
    let other = place.cut(&[early, late], Choice::Nothing);
    assert_eq!(names(directory(&state, 0)), ["one"]);
    assert_eq!(names(directory(&state, 1)), ["one", "two"]);
    write_safely(&directory(&state, 0).join("mine"), b"3");
    fs::remove_file(directory(&state, 1).join("two")).unwrap();
    assert_eq!(names(directory(&other, 1)), ["one", "two"]);
    state.stop().unwrap();
    other.stop().unwrap();
    let again = place.cut(&[early, late], Choice::Nothing);
    assert_eq!(names(directory(&again, 0)), ["one"]);
    assert_eq!(names(directory(&again, 1)), ["one", "two"]);
    again.stop().unwrap();
}

#[test]
fn a_recording_without_room_ends_and_what_came_before_is_whole() {
    let place = Place::new(&["d"]);
    let recorded = place.record_at_most(Bytes::mib(4));
    write_safely(&directory(&recorded, 0).join("first"), &[b'1'; BLOCK]);
    let mut file = File::create(directory(&recorded, 0).join("second")).unwrap();
    file.write_all(&vec![b'2'; 8 << 20]).unwrap();
    assert_eq!(file.sync_all().unwrap_err().raw_os_error(), Some(5)); // EIO
    drop(file);
    recorded.stop().unwrap();
    let history = place.history();
    let ended = history.ended.unwrap();
    assert!(history.events.iter().all(|event| event.arrived < ended));
    let state = place.cut(&[ended], Choice::Nothing);
    let first = fs::read(directory(&state, 0).join("first")).unwrap();
    assert!(first == [b'1'; BLOCK]);
    state.stop().unwrap();
}

#[test]
fn a_flipped_bit_is_one_bit_and_states_have_a_digest_of_what_they_hold() {
    let place = Place::new(&["d"]);
    let recorded = place.record();
    let text = [b'a'; BLOCK];
    write_safely(&directory(&recorded, 0).join("file"), &text);
    let cut = recorded.reading().at;
    recorded.stop().unwrap();
    let writes = fs::read(place.recording().join("writes")).unwrap();
    // The only block of it that was written.
    let history = place.history();
    let written = history.events.iter().find(|event| {
        let at = event.bytes_at as usize;
        event.action == Action::Write && writes[at..].starts_with(&text)
    });
    let byte = written.unwrap().range.start + 100;
    let flipped = FlippedBit {
        volume: 0,
        byte,
        bit: 1,
    };
    let state = |flipped| place.spec(place.crashed(&[cut], Choice::Everything, flipped));
    let damaged = state(Some(flipped));
    let [plain, again, other] =
        [state(None), state(None), damaged.clone()].map(|spec| digest(&spec).unwrap());
    assert_eq!(plain.len(), 64);
    assert_eq!(plain, again);
    assert_ne!(plain, other);
    let nothing = place.crashed(&[Instant::ZERO], Choice::Nothing, None);
    assert_ne!(plain, digest(&place.spec(nothing)).unwrap());

    let damaged = Emulation::start(&damaged).unwrap();
    let found = fs::read(directory(&damaged, 0).join("file")).unwrap();
    let differ: Vec<usize> = (0..BLOCK).filter(|at| found[*at] != text[*at]).collect();
    assert_eq!(differ, [100]);
    assert_eq!(found[100], b'a' ^ 2);
    damaged.stop().unwrap();
}

/// A failed flush is reported once, to whoever waits for it. A failed write is reported to the next one who waits, and is gone: the
/// kernel takes its pages for clean.
#[test]
fn a_request_fails_once_and_what_it_wrote_is_not_there_after_the_next_start() {
    let place = Place::new(&["d"]);
    place.record().stop().unwrap();
    let last = Instant::from_nanos(u64::MAX / 2);
    let mut state = place.cut(&[last], Choice::Everything);
    let path = directory(&state, 0).join("file");
    write_safely(&path, &[b'o'; BLOCK]);
    let mut file = File::options().write(true).open(&path).unwrap();
    file.write_all(&[b'n'; BLOCK]).unwrap();
    state.arm(0, Fault::Write { after: 0 }).unwrap();
    assert_eq!(file.sync_all().unwrap_err().raw_os_error(), Some(5)); // EIO
    assert_eq!(state.failed(), 1);
    file.sync_all().unwrap();
    assert!(fs::read(&path).unwrap() == [b'n'; BLOCK]);
    drop(file);
    state.mount_again().unwrap();
    let path = directory(&state, 0).join("file");
    assert!(fs::read(&path).unwrap() == [b'o'; BLOCK]);

    state.arm(0, Fault::Flush { after: 0 }).unwrap();
    let file = File::options().write(true).open(&path).unwrap();
    file.set_len(1).unwrap();
    assert_eq!(file.sync_all().unwrap_err().raw_os_error(), Some(5)); // EIO
    assert_eq!(state.failed(), 2);
    drop(file);
    state.mount_again().unwrap();
    state.stop().unwrap();
}

#[test]
fn a_recording_of_other_volumes_is_refused() {
    let place = Place::new(&["a", "b"]);
    place.record().stop().unwrap();
    let one = Place {
        root: place.root,
        volumes: &["a"],
    };
    let directory = one.root.path().join("state");
    fs::create_dir(&directory).unwrap();
    let spec = EmulationSpec {
        machine: MachineSpec::unlimited(),
        volumes: vec![MountSpec {
            volume: VolumeSpec::of("a", DiskSpec::unlimited()),
            front: Front::Block {
                filesystem: Filesystem::Ext4,
                read_ahead: None,
            },
            directory,
            backing: one.root.path().join("a.backing"),
            size: Bytes::mib(300),
            owner: None,
            others: emulator::Others::List,
        }],
        seed: 1,
        transport: TransportChoice::Fuser,
        trace: None,
        contents: Contents::Crashed(CrashSpec {
            recording: one.recording(),
            rules: vec![Rules::of_disk(Cache::Volatile, Bytes(512))],
            at: vec![Instant::ZERO],
            choice: Choice::Nothing,
            flipped: None,
        }),
    };
    let error = Emulation::start(&spec).err().unwrap().to_string();
    assert!(error.contains("it is of 2 volumes, not of 1"), "{error}");
}
