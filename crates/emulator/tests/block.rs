//! Block mode for real: needs root, loop devices, FUSE, e2fsprogs, xfsprogs and fio.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    reason = "a panic with its line is what a failing test should give"
)]

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use emulator::{Contents, Emulation, EmulationSpec, Filesystem, Front, MountSpec, TransportChoice};
use host::clock::Clock;
use host::orphans;
use model::{Bytes, DiskSpec, Duration, Iops, LatencySpec, MachineSpec, Throughput, VolumeSpec};
use tempfile::TempDir;

const EXT4: Front = Front::Block {
    filesystem: Filesystem::Ext4,
    read_ahead: None,
};
const XFS: Front = Front::Block {
    filesystem: Filesystem::Xfs,
    read_ahead: None,
};

/// A directory with one for the mount and one for the backing of every volume.
struct Place {
    root: TempDir,
}

impl Place {
    fn new() -> Place {
        let root = tempfile::tempdir().unwrap();
        Place { root }
    }

    fn directory(&self, volume: &str) -> PathBuf {
        self.root.path().join(volume)
    }

    fn spec(&self, volumes: &[(&str, DiskSpec)], front: Front) -> EmulationSpec {
        let mount = |(name, disk): &(&str, DiskSpec)| {
            fs::create_dir_all(self.directory(name)).unwrap();
            MountSpec {
                volume: VolumeSpec::of(name, disk.clone()),
                front,
                directory: self.directory(name),
                backing: self.root.path().join(format!("{name}.backing")),
                size: Bytes::mib(512),
                owner: None,
                others: emulator::Others::List,
            }
        };
        EmulationSpec {
            machine: MachineSpec::unlimited(),
            volumes: volumes.iter().map(mount).collect(),
            seed: 1,
            transport: TransportChoice::Fuser,
            trace: None,
            contents: Contents::InPlace,
        }
    }
}

/// Lines of the kernel's table of mounts that name `directory` or what lies in it.
fn mounts(directory: &Path) -> Vec<String> {
    let table = fs::read_to_string("/proc/self/mounts").unwrap();
    let within = |line: &&str| line.contains(directory.to_str().unwrap());
    table.lines().filter(within).map(str::to_owned).collect()
}

fn noise(length: usize) -> Vec<u8> {
    // Multiplicative congruence: not compressible, and the same every time.
    let mut state = 1_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as u8
    };
    (0..length).map(|_| next()).collect()
}

fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn holds_files_and_counts_what_reaches_the_disk(front: Front) {
    const LENGTH: usize = 8 << 20;
    let place = Place::new();
    let spec = place.spec(&[("d", DiskSpec::unlimited())], front);
    let mut emulation = Emulation::start(&spec).unwrap();
    let disk = || emulation.reading().disks[0].clone();
    assert_eq!((disk().reads, disk().read_bytes), (0, 0));
    let file = place.directory("d").join("file");
    let bytes = noise(LENGTH);

    write(&file, &bytes).unwrap();
    let written = disk();
    assert!(written.write_bytes >= LENGTH as u64, "{written:?}");
    assert!(written.flushes >= 1, "{written:?}");

    // In the page cache still: nothing reaches the disk.
    assert!(fs::read(&file).unwrap() == bytes);
    assert_eq!(disk().read_bytes, written.read_bytes);

    assert_eq!(emulation.drop_caches().unwrap(), [""; 0]);
    let cold = emulation.reading().disks[0].read_bytes;
    assert!(fs::read(&file).unwrap() == bytes);
    let read = emulation.reading().disks[0].read_bytes - cold;
    assert!(read >= LENGTH as u64, "{read}");

    emulation.stop().unwrap();
    assert_eq!(mounts(place.root.path()), [""; 0]);
}

#[test]
fn ext4_holds_files_and_counts_what_reaches_the_disk() {
    holds_files_and_counts_what_reaches_the_disk(EXT4);
}

#[test]
fn xfs_holds_files_and_counts_what_reaches_the_disk() {
    holds_files_and_counts_what_reaches_the_disk(XFS);
}

#[test]
fn a_volume_is_empty_at_first_belongs_to_its_owner_and_is_found_again() {
    let place = Place::new();
    let mut spec = place.spec(&[("d", DiskSpec::unlimited())], EXT4);
    spec.volumes[0].owner = Some((65534, 65534));
    let emulation = Emulation::start(&spec).unwrap();
    let directory = place.directory("d");
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
    assert_eq!(fs::metadata(&directory).unwrap().uid(), 65534);
    write(&directory.join("kept"), b"kept").unwrap();
    emulation.stop().unwrap();
    assert!(!directory.join("kept").exists());

    let again = Emulation::start(&spec).unwrap();

    assert_eq!(fs::read(directory.join("kept")).unwrap(), b"kept");
    again.stop().unwrap();
}

#[test]
fn requests_are_paced_and_latencies_kept() {
    // Depth 1 and 2 ms each: 100 reads take at least 0.2 s; a limit of 100 IOPS would be 1 s.
    let latency = LatencySpec::constant(Duration::from_millis(2));
    let slow = DiskSpec {
        read_latency: latency,
        ..DiskSpec::unlimited()
    };
    let limited = DiskSpec::limited(Iops(100), Throughput::from_mb_per_s(100));
    for (disk, least) in [(slow, 0.19), (limited, 0.95)] {
        let place = Place::new();
        let mut emulation = Emulation::start(&place.spec(&[("d", disk)], EXT4)).unwrap();
        let path = place.directory("d").join("file");
        write(&path, &noise(1 << 20)).unwrap();
        emulation.drop_caches().unwrap();
        let before = emulation.reading();
        let mut file = OpenOptions::new()
            .read(true)
            .custom_flags(0o40_000) // O_DIRECT
            .open(&path)
            .unwrap();
        let mut memory = vec![0; 8192];
        let aligned = memory.as_ptr().align_offset(4096);

        let clock = Clock::start();
        for _ in 0..100 {
            file.read_exact(&mut memory[aligned..aligned + 4096])
                .unwrap();
        }
        let took = clock.now().as_secs_f64();

        let read = emulation.reading().since(&before).unwrap();
        assert!(read.disks[0].reads >= 100, "{:?}", read.disks);
        assert!(took >= least && took < least * 20.0, "{took} s");
        drop(file);
        emulation.stop().unwrap();
    }
}

#[test]
fn a_full_backing_disk_is_an_io_error_and_is_named() {
    let place = Place::new();
    let spec = place.spec(&[("d", DiskSpec::unlimited())], EXT4);
    let backing = &spec.volumes[0].backing;
    fs::create_dir(backing).unwrap();
    run(
        "mount",
        &[
            "-t",
            "tmpfs",
            "-o",
            "size=64M,mode=700",
            "none",
            backing.to_str().unwrap(),
        ],
    );
    let emulation = Emulation::start(&spec).unwrap();
    assert_eq!(emulation.problems(), [""; 0]);

    let outcome = write(&place.directory("d").join("large"), &noise(100 << 20));

    let error = outcome.unwrap_err();
    // EIO, or, once the journal has seen it, a filesystem that is read-only.
    assert!(matches!(error.raw_os_error(), Some(5 | 30)), "{error}");
    let problems = emulation.problems();
    assert!(
        problems[0].contains("the backing disk is full"),
        "{problems:?}"
    );
    assert!(problems[0].contains("volume \"d\""), "{problems:?}");
    // The unmount may fail to write back, which is said; it leaves nothing.
    let _ = emulation.stop();
    run("umount", &[backing.to_str().unwrap()]);
    assert_eq!(mounts(place.root.path()), [""; 0]);
}

#[test]
fn what_is_trimmed_is_given_back() {
    let place = Place::new();
    let spec = place.spec(&[("d", DiskSpec::unlimited())], EXT4);
    let emulation = Emulation::start(&spec).unwrap();
    let (directory, image) = (
        place.directory("d"),
        spec.volumes[0].backing.join("files/image"),
    );
    let taken = || fs::metadata(&image).unwrap().blocks() * 512;
    write(&directory.join("file"), &noise(32 << 20)).unwrap();
    let full = taken();
    fs::remove_file(directory.join("file")).unwrap();
    run("sync", &["-f", directory.to_str().unwrap()]);

    run("fstrim", &[directory.to_str().unwrap()]);

    assert!(full - taken() >= 30 << 20, "{full} {}", taken());
    emulation.stop().unwrap();
}

#[test]
fn a_busy_volume_names_its_users_and_is_dropped_file_by_file() {
    let place = Place::new();
    let mut emulation =
        Emulation::start(&place.spec(&[("d", DiskSpec::unlimited())], EXT4)).unwrap();
    let path = place.directory("d").join("file");
    let bytes = noise(4 << 20);
    write(&path, &bytes).unwrap();
    let held = File::open(&path).unwrap();

    let users = emulation.users();
    let notes = emulation.drop_caches().unwrap();

    let own = format!("({})", std::process::id());
    assert!(
        users[0].1.iter().any(|user| user.ends_with(&own)),
        "{users:?}"
    );
    assert!(notes[0].contains(&own), "{notes:?}");
    let before = emulation.reading().disks[0].read_bytes;
    assert!(fs::read(&path).unwrap() == bytes);
    assert!(emulation.reading().disks[0].read_bytes - before >= 4 << 20);
    drop(held);
    assert!(emulation.users().is_empty());
    emulation.stop().unwrap();
}

#[test]
fn what_an_emulation_is_dropped_with_is_taken_down() {
    let place = Place::new();
    let names = [("d", DiskSpec::unlimited()), ("e", DiskSpec::unlimited())];
    let mut spec = place.spec(&names, EXT4);
    let emulation = Emulation::start(&spec).unwrap();
    let folder = emulation.folder().to_owned();
    assert_eq!(mounts(place.root.path()).len(), 2);
    assert_eq!(mounts(&folder).len(), 2);
    drop(emulation);
    assert_eq!(mounts(place.root.path()), [""; 0]);
    assert!(!folder.exists());

    // The second cannot be mounted: the first goes too.
    spec.volumes[1].directory = place.directory("missing");
    assert!(Emulation::start(&spec).is_err());
    assert_eq!(mounts(place.root.path()), [""; 0]);
}

#[test]
fn a_directory_that_has_a_volume_gets_no_second_one() {
    let place = Place::new();
    let spec = place.spec(&[("d", DiskSpec::unlimited())], EXT4);
    let emulation = Emulation::start(&spec).unwrap();
    let mut other = spec.clone();
    other.volumes[0].backing = place.root.path().join("other");

    let refused = Emulation::start(&other).map(|_| ()).unwrap_err();

    let (there, refused) = ("a volume is mounted there", refused.to_string());
    assert!(refused.contains(there), "{refused}");

    // Nor do two have one image.
    other.volumes[0] = spec.volumes[0].clone();
    other.volumes[0].directory = place.directory("elsewhere");
    fs::create_dir(place.directory("elsewhere")).unwrap();
    let refused = Emulation::start(&other)
        .map(|_| ())
        .unwrap_err()
        .to_string();
    assert!(refused.contains("another emulator uses it"), "{refused}");
    emulation.stop().unwrap();
}

#[test]
fn fio_finds_every_byte_it_wrote() {
    let place = Place::new();
    let emulation = Emulation::start(&place.spec(&[("d", DiskSpec::unlimited())], EXT4)).unwrap();
    let directory = format!("--directory={}", place.directory("d").display());

    for engine in ["psync", "libaio", "io_uring"] {
        let engine = format!("--ioengine={engine}");
        run(
            "fio",
            &[
                "--name=verify",
                &directory,
                &engine,
                "--direct=1",
                "--rw=randrw",
                "--bssplit=4k/40:8k/40:64k/20",
                "--size=32M",
                "--iodepth=16",
                "--verify=crc32c",
                "--verify_fatal=1",
                "--do_verify=1",
                "--minimal",
                "--verify_state_save=0",
            ],
        );
    }
    emulation.stop().unwrap();
}

#[test]
fn nothing_is_cleared_while_its_process_runs() {
    let place = Place::new();
    let emulation = Emulation::start(&place.spec(&[("d", DiskSpec::unlimited())], EXT4)).unwrap();

    orphans::clear().unwrap();

    assert_eq!(mounts(place.root.path()).len(), 1);
    emulation.stop().unwrap();
}

/// Runs a program that has to succeed.
fn run(program: &str, arguments: &[&str]) {
    let output = Command::new(program).args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{program} is needed: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {said}");
}
