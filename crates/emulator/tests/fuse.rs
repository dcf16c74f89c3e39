//! A mounted volume in file mode behaves as a filesystem does. Needs root and FUSE.
#![cfg(target_os = "linux")]

mod rig;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::Path;

use emulator::{Emulation, EmulationError};
use model::{Bytes, DiskSpec, MachineSpec, VolumeSpec};
use rig::{Rig, is_mounted, run};
use rustix::fs::{FallocateFlags, OFlags, RenameFlags, Timespec, Timestamps};

fn flags(flags: OFlags) -> i32 {
    flags.bits().cast_signed()
}

fn kind<T>(result: io::Result<T>) -> io::ErrorKind {
    result.err().expect("an error").kind()
}

#[test]
fn what_is_written_is_read_back_and_counted_to_the_byte() {
    let rig = Rig::unlimited();
    let before = rig.emulation.reading();

    let mut file = File::create_new(rig.path("a")).unwrap();
    file.write_all(&[7; 10_000]).unwrap();
    file.sync_all().unwrap();
    let mut file = File::open(rig.path("a")).unwrap();
    let mut buffer = vec![0; 4_096];
    file.seek(SeekFrom::Start(9_000)).unwrap();
    // 1000 bytes are left, and beyond them is nothing that a disk would be asked for.
    assert_eq!(file.read(&mut buffer).unwrap(), 1_000);
    assert_eq!(file.read(&mut buffer).unwrap(), 0);

    assert!(buffer[..1_000].iter().all(|byte| *byte == 7));
    let disk = rig
        .emulation
        .reading()
        .since(&before)
        .unwrap()
        .disks
        .remove(0);
    assert_eq!((disk.writes, disk.write_bytes), (1, 10_000));
    assert_eq!((disk.reads, disk.read_bytes), (1, 1_000));
    assert_eq!(disk.flushes, 1);
    let latency = disk.latency.unwrap();
    assert_eq!(
        (
            latency.reads.len(),
            latency.writes.len(),
            latency.flushes.len()
        ),
        (1, 1, 1)
    );
    assert_eq!(disk.in_flight, 0);
}

#[test]
fn appending_truncating_and_holes_give_the_bytes_they_should() {
    let rig = Rig::unlimited();
    let path = rig.path("a");
    fs::write(&path, b"one").unwrap();
    let mut append = OpenOptions::new().append(true).open(&path).unwrap();
    append.write_all(b"two").unwrap();
    append.write_all(b"three").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"onetwothree");

    append.set_len(4).unwrap();
    append.set_len(6).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"onet\0\0");

    let file = File::options().write(true).open(&path).unwrap();
    file.write_all_at(b"x", 1 << 20).unwrap();
    let metadata = fs::metadata(&path).unwrap();
    assert_eq!(metadata.len(), (1 << 20) + 1);
    assert!(metadata.blocks() * 512 < 1 << 20, "the hole takes no space");
    let data = rustix::fs::seek(&file, rustix::fs::SeekFrom::Data(64 << 10)).unwrap();
    assert!(data > 64 << 10, "no data where the hole is: {data}");

    // Opening with O_TRUNC.
    fs::write(&path, b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
}

#[test]
fn a_deleted_file_lives_while_it_is_open_and_its_space_is_free_afterwards() {
    let rig = Rig::unlimited();
    let free = || rustix::fs::statvfs(rig.path("")).unwrap().f_bavail;
    let before = free();
    let mut file = File::create_new(rig.path("a")).unwrap();
    file.write_all(&[1; 1 << 20]).unwrap();
    // 1 MiB is 256 blocks of 4 KiB.
    assert!(free() <= before - 256);

    fs::remove_file(rig.path("a")).unwrap();
    assert_eq!(kind(File::open(rig.path("a"))), io::ErrorKind::NotFound);
    assert_eq!(file.metadata().unwrap().nlink(), 0);
    file.write_all(&[2; 4_096]).unwrap();
    file.set_len(8_192).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, 8_191).unwrap();
    assert_eq!(byte, [1]);

    drop(file);
    // The kernel lets go of the inode some time after the last close.
    for _ in 0..200 {
        if free() == before {
            return;
        }
        host::clock::Clock::sleep(model::Duration::from_millis(10));
    }
    panic!("{} blocks are still taken", before - free());
}

#[test]
fn names_can_be_renamed_exchanged_linked_and_removed() {
    let rig = Rig::unlimited();
    fs::write(rig.path("a"), b"a").unwrap();
    fs::write(rig.path("b"), b"b").unwrap();
    let open = File::open(rig.path("b")).unwrap();

    let root = File::open(rig.path("")).unwrap();
    let rename = |from, to, flags| rustix::fs::renameat_with(&root, from, &root, to, flags);
    assert_eq!(
        rename("a", "b", RenameFlags::NOREPLACE),
        Err(rustix::io::Errno::EXIST)
    );
    rename("a", "b", RenameFlags::EXCHANGE).unwrap();
    assert_eq!(fs::read(rig.path("a")).unwrap(), b"b");
    fs::rename(rig.path("a"), rig.path("b")).unwrap();
    assert_eq!(fs::read(rig.path("b")).unwrap(), b"b");
    assert_eq!(
        open.metadata().unwrap().ino(),
        fs::metadata(rig.path("b")).unwrap().ino()
    );

    fs::hard_link(rig.path("b"), rig.path("c")).unwrap();
    assert_eq!(fs::metadata(rig.path("b")).unwrap().nlink(), 2);
    fs::remove_file(rig.path("b")).unwrap();
    assert_eq!(fs::read(rig.path("c")).unwrap(), b"b");
    assert_eq!(fs::metadata(rig.path("c")).unwrap().nlink(), 1);

    symlink("c", rig.path("link")).unwrap();
    assert_eq!(fs::read_link(rig.path("link")).unwrap(), Path::new("c"));
    assert_eq!(fs::read(rig.path("link")).unwrap(), b"b");
    fs::hard_link(rig.path("link"), rig.path("link2")).unwrap();
    assert!(
        fs::symlink_metadata(rig.path("link2"))
            .unwrap()
            .is_symlink()
    );

    fs::create_dir_all(rig.path("d/e")).unwrap();
    fs::rename(rig.path("c"), rig.path("d/e/c")).unwrap();
    fs::rename(rig.path("d"), rig.path("f")).unwrap();
    assert_eq!(fs::read(rig.path("f/e/c")).unwrap(), b"b");
    assert!(fs::remove_dir(rig.path("f")).is_err(), "not empty");
    fs::remove_dir_all(rig.path("f")).unwrap();
    assert!(!rig.path("f").exists());
}

#[test]
fn a_directory_lists_all_of_many_names_with_their_own_numbers() {
    let rig = Rig::unlimited();
    let names: std::collections::BTreeSet<String> = (0..1_500)
        .map(|n| format!("file-with-a-long-name-{n}"))
        .collect();
    for name in &names {
        File::create_new(rig.path(name)).unwrap();
    }
    let mut listed = std::collections::BTreeSet::new();
    for entry in fs::read_dir(rig.path("")).unwrap() {
        let entry = entry.unwrap();
        use std::os::unix::fs::DirEntryExt;
        assert_eq!(entry.ino(), entry.metadata().unwrap().ino());
        assert!(entry.file_type().unwrap().is_file());
        listed.insert(entry.file_name().into_string().unwrap());
    }
    assert_eq!(listed, names);
    File::open(rig.path("")).unwrap().sync_all().unwrap();
    assert_eq!(
        rig.emulation.reading().disks[0].flushes,
        1,
        "of the directory"
    );
}

#[test]
fn owner_mode_and_times_can_be_set() {
    let rig = Rig::unlimited();
    let path = rig.path("a");
    fs::write(&path, b"x").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::chown(&path, Some(12), Some(34)).unwrap();
    let at = |tv_sec, tv_nsec| Timespec { tv_sec, tv_nsec };
    let times = Timestamps {
        last_access: at(1_000, 5),
        last_modification: at(-2, 0),
    };
    rustix::fs::futimens(File::open(&path).unwrap(), &times).unwrap();

    let metadata = fs::metadata(&path).unwrap();
    assert_eq!(metadata.mode() & 0o7777, 0o640);
    assert_eq!((metadata.uid(), metadata.gid()), (12, 34));
    assert_eq!((metadata.atime(), metadata.atime_nsec()), (1_000, 5));
    assert_eq!((metadata.mtime(), metadata.mtime_nsec()), (-2, 0));

    // A write is a new time, although the kernel believes what it was told for an hour.
    OpenOptions::new()
        .write(true)
        .open(&path)
        .unwrap()
        .write_all(b"y")
        .unwrap();
    assert!(fs::metadata(&path).unwrap().mtime() > 1_000_000);
}

#[test]
fn another_user_makes_files_of_its_own_and_is_kept_out_of_others() {
    let rig = Rig::unlimited();
    let path = |name: &str| rig.path(name).to_str().unwrap().to_owned();
    // The way to the volume has to be open to that user too.
    fs::set_permissions(rig.directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(rig.path("secret"), b"x").unwrap();
    fs::set_permissions(rig.path("secret"), fs::Permissions::from_mode(0o600)).unwrap();
    fs::create_dir(rig.path("open")).unwrap();
    fs::set_permissions(rig.path("open"), fs::Permissions::from_mode(0o777)).unwrap();
    let script = format!(
        "umask 027; cd {}; echo x > open/file; mkdir open/dir; ln -s x open/link; mkfifo open/fifo; \
         ! cat secret 2>/dev/null && ! touch not-allowed 2>/dev/null",
        path("")
    );
    let user = [
        "--reuid=65534",
        "--regid=65533",
        "--clear-groups",
        "sh",
        "-c",
        &script,
    ];
    run("setpriv", &user);

    for (name, mode) in [
        ("file", 0o640),
        ("dir", 0o750),
        ("link", 0o777),
        ("fifo", 0o640),
    ] {
        let metadata = fs::symlink_metadata(rig.path("open").join(name)).unwrap();
        assert_eq!((metadata.uid(), metadata.gid()), (65_534, 65_533), "{name}");
        assert_eq!(metadata.mode() & 0o777, mode, "{name}");
    }
}

#[test]
fn a_volumes_root_belongs_to_whom_it_is_given() {
    let volumes = vec![VolumeSpec::of("d", DiskSpec::unlimited())];
    let rig = Rig::with(MachineSpec::unlimited(), volumes, |spec| {
        spec.volumes[0].owner = Some((12, 34));
    });
    let root = fs::metadata(rig.path("")).unwrap();
    assert_eq!((root.uid(), root.gid()), (12, 34));
    assert!(root.is_dir());
}

#[test]
fn a_directory_that_sets_the_group_passes_it_on() {
    let rig = Rig::unlimited();
    fs::create_dir(rig.path("d")).unwrap();
    std::os::unix::fs::chown(rig.path("d"), None, Some(77)).unwrap();
    fs::set_permissions(rig.path("d"), fs::Permissions::from_mode(0o2775)).unwrap();
    fs::create_dir(rig.path("d/e")).unwrap();
    fs::write(rig.path("d/f"), b"").unwrap();

    assert_eq!(fs::metadata(rig.path("d/f")).unwrap().gid(), 77);
    let directory = fs::metadata(rig.path("d/e")).unwrap();
    assert_eq!((directory.gid(), directory.mode() & 0o2000), (77, 0o2000));
}

#[test]
fn no_program_of_a_volume_runs_as_its_owner() {
    use std::os::unix::fs::OpenOptionsExt as _;

    let rig = Rig::unlimited();
    let file = fs::File::options()
        .write(true)
        .create_new(true)
        .mode(0o6755)
        .open(rig.path("f"));
    file.unwrap();
    let mode = || fs::metadata(rig.path("f")).unwrap().mode() & 0o7777;
    assert_eq!(mode() & 0o6000, 0);
    fs::set_permissions(rig.path("f"), fs::Permissions::from_mode(0o6711)).unwrap();
    assert_eq!(mode(), 0o711);
}

#[test]
fn allocated_space_is_there_and_a_full_volume_says_so() {
    let small = |spec: &mut emulator::EmulationSpec| spec.volumes[0].size = Bytes::mib(8);
    let volumes = vec![VolumeSpec::of("d", DiskSpec::unlimited())];
    let rig = Rig::with(MachineSpec::unlimited(), volumes, small);
    let size = rustix::fs::statvfs(rig.path("")).unwrap();
    assert_eq!(size.f_blocks * size.f_frsize, 8 << 20);

    let file = File::create_new(rig.path("a")).unwrap();
    rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, 4 << 20).unwrap();
    assert_eq!(file.metadata().unwrap().len(), 4 << 20);
    rustix::fs::fallocate(&file, FallocateFlags::KEEP_SIZE, 4 << 20, 1 << 20).unwrap();
    assert_eq!(file.metadata().unwrap().len(), 4 << 20);
    let full = rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, 16 << 20);
    assert_eq!(full, Err(rustix::io::Errno::NOSPC));

    let other = File::create_new(rig.path("b")).unwrap();
    let result = other.write_all_at(&[1; 4 << 20], 0);
    assert_eq!(kind(result), io::ErrorKind::StorageFull);
    // What has its space can be written however full the volume is.
    file.write_all_at(&[1; 4 << 20], 0).unwrap();

    let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    rustix::fs::fallocate(&file, hole, 0, 4 << 20).unwrap();
    other.write_all_at(&[1; 4 << 20], 0).unwrap();
}

#[test]
fn a_volume_keeps_its_files_and_their_space_for_the_next_emulation() {
    let rig = Rig::unlimited();
    fs::create_dir(rig.path("d")).unwrap();
    fs::write(rig.path("d/a"), vec![1; 1 << 20]).unwrap();
    let free = rustix::fs::statvfs(rig.path("")).unwrap().f_bfree;
    rig.emulation.stop().unwrap();
    assert!(!rig.spec.volumes[0].directory.join("d").exists());

    let again = Emulation::start(&rig.spec).unwrap();
    assert_eq!(
        fs::read(rig.spec.volumes[0].directory.join("d/a"))
            .unwrap()
            .len(),
        1 << 20
    );
    let used = rustix::fs::statvfs(&rig.spec.volumes[0].directory)
        .unwrap()
        .f_bfree;
    assert_eq!(used, free);
    again.stop().unwrap();
}

#[test]
fn durable_writes_cost_a_flush_each() {
    let rig = Rig::unlimited();
    for (place, sync) in [OFlags::DSYNC, OFlags::SYNC].into_iter().enumerate() {
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .custom_flags(flags(sync))
            .open(rig.path("a"))
            .unwrap();
        file.write_all_at(&[1; 512], 0).unwrap();
        file.write_all_at(&[1; 512], 512).unwrap();
        assert_eq!(
            rig.emulation.reading().disks[0].flushes,
            2 * (place as u64 + 1)
        );
    }
}

#[test]
fn requests_past_the_page_cache_and_those_not_offered_are_answered() {
    let rig = Rig::unlimited();
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .custom_flags(flags(OFlags::DIRECT))
        .open(rig.path("a"))
        .unwrap();
    file.write_all_at(&[3; 8_192], 0).unwrap();
    let mut buffer = vec![0; 8_192];
    file.read_exact_at(&mut buffer, 0).unwrap();
    assert_eq!(buffer, vec![3; 8_192]);
    let got = rustix::fs::getxattr(rig.path("a"), "user.x", &mut [0_u8; 16][..]);
    assert_eq!(got, Err(rustix::io::Errno::OPNOTSUPP));
    let nameless = rustix::fs::open(rig.path(""), OFlags::TMPFILE | OFlags::RDWR, 0o600.into());
    assert_eq!(nameless.err(), Some(rustix::io::Errno::OPNOTSUPP));
    // Asked by way of what the kernel falls back to.
    let mut copy = File::create_new(rig.path("b")).unwrap();
    assert_eq!(io::copy(&mut &file, &mut copy).unwrap(), 8_192);
    assert_eq!(fs::read(rig.path("b")).unwrap(), vec![3; 8_192]);
    assert!(fs::metadata(rig.path("b")).unwrap().modified().is_ok());
}

#[test]
fn each_request_is_traced_with_its_file() {
    let trace = tempfile::NamedTempFile::new().unwrap();
    let volumes = vec![VolumeSpec::of("d", DiskSpec::unlimited())];
    let rig = Rig::with(MachineSpec::unlimited(), volumes, |spec| {
        spec.trace = Some(trace.path().to_owned());
    });
    fs::create_dir(rig.path("base")).unwrap();
    let file = File::create_new(rig.path("base/1")).unwrap();
    file.write_all_at(&[1; 100], 50).unwrap();
    fs::rename(rig.path("base/1"), rig.path("base/2")).unwrap();
    file.sync_data().unwrap();
    drop(file);
    rig.emulation.stop().unwrap();

    let text = fs::read_to_string(trace.path()).unwrap();
    let lines: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["path"], "base/1");
    assert_eq!(lines[0]["operation"], "write");
    assert_eq!(
        (&lines[0]["offset"], &lines[0]["length_bytes"]),
        (&50.into(), &100.into())
    );
    assert_eq!(lines[1]["path"], "base/2");
    assert_eq!(lines[1]["operation"], "flush");
    assert!(lines[1]["due_ns"].as_u64() >= lines[1]["submitted_ns"].as_u64());
}

#[test]
fn nothing_stays_mounted_after_a_drop_a_panic_or_an_open_file() {
    let rig = Rig::unlimited();
    let mount = rig.spec.volumes[0].directory.clone();
    assert!(is_mounted(&mount));
    let Rig {
        emulation,
        directory,
        ..
    } = rig;
    drop(emulation);
    assert!(!is_mounted(&mount), "dropped");
    drop(directory);

    let (tell, told) = std::sync::mpsc::channel();
    let panicked = std::thread::spawn(move || {
        let rig = Rig::unlimited();
        tell.send(rig.spec.volumes[0].directory.clone()).unwrap();
        panic!("on purpose");
    });
    let mount = told.recv().unwrap();
    assert!(panicked.join().is_err());
    assert!(!is_mounted(&mount), "panicked");

    let rig = Rig::unlimited();
    let mount = rig.spec.volumes[0].directory.clone();
    let open = File::create_new(rig.path("a")).unwrap();
    let error = rig.emulation.stop().unwrap_err().to_string();
    assert!(error.contains("still in use"), "{error}");
    assert!(!is_mounted(&mount), "stopped under a program");
    drop(open);
}

#[test]
fn directories_that_are_somebody_elses_are_refused_with_a_remedy() {
    let directory = tempfile::tempdir().unwrap();
    let volume = || VolumeSpec::of("d", DiskSpec::unlimited());
    let spec = rig::spec(&directory, MachineSpec::unlimited(), vec![volume()]);
    let error = |spec| Emulation::start(spec).err().unwrap();

    fs::write(spec.volumes[0].directory.join("file"), b"").unwrap();
    let text = error(&spec).to_string();
    assert!(
        text.contains("not empty; give an empty directory"),
        "{text}"
    );
    fs::remove_file(spec.volumes[0].directory.join("file")).unwrap();

    fs::create_dir(&spec.volumes[0].backing).unwrap();
    fs::write(spec.volumes[0].backing.join("precious"), b"x").unwrap();
    let foreign = error(&spec);
    assert!(
        matches!(foreign, EmulationError::Backing { .. }),
        "{foreign}"
    );
    assert_eq!(
        fs::read(spec.volumes[0].backing.join("precious")).unwrap(),
        b"x"
    );

    let mut missing = spec.clone();
    missing.volumes[0].directory = directory.path().join("nowhere");
    assert!(error(&missing).to_string().contains("make it"));

    fs::remove_dir_all(&spec.volumes[0].backing).unwrap();
    let first = Emulation::start(&spec).unwrap();
    let mut second = spec.clone();
    second.volumes[0].directory = tempfile::tempdir_in(directory.path()).unwrap().keep();
    let text = error(&second).to_string();
    assert!(text.contains("another emulator uses it"), "{text}");
    drop(first);
    drop(Emulation::start(&second).unwrap());

    let mut twice = spec.clone();
    twice.volumes.push(twice.volumes[0].clone());
    assert!(error(&twice).to_string().contains("rename one"));
}
