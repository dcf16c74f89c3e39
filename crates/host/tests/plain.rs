//! Real directories as volumes, on whatever disk the sources are.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use host::plain::{PlainSite, PlainVolume, free_space, machine, place};
use host::site::Site;

/// A directory beside the sources: `/tmp` is often in memory.
fn directory() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("the sources are on a disk with space")
}

fn volume(name: &str, directory: &Path) -> PlainVolume {
    PlainVolume {
        name: name.into(),
        directory: directory.to_owned(),
    }
}

fn site(volumes: &[(&str, &Path)]) -> PlainSite {
    let volumes = volumes.iter().map(|(name, path)| volume(name, path));
    PlainSite::new(volumes.collect()).expect("the directories exist")
}

fn environment(site: &PlainSite) -> BTreeMap<String, String> {
    site.environment().into_iter().collect()
}

/// Whether the device under `site` is known; says so when a test has nothing to look at without. With `DBSTOW_SKIP_NOTHING` it
/// panics instead.
fn counted(site: &PlainSite) -> bool {
    let known = !site.reading().expect("counters").disks.is_empty();
    if !known {
        let why = "the disk under the sources is not known here";
        assert!(std::env::var_os("DBSTOW_SKIP_NOTHING").is_none(), "{why}");
        eprintln!("skipped: {why}");
    }
    known
}

fn write(path: &Path, mebibytes: usize) {
    let mut file = File::create(path).expect("a new file");
    for _ in 0..mebibytes {
        file.write_all(&[0x5a; 1 << 20]).expect("space on the disk");
    }
    file.sync_all().expect("the disk takes it");
}

#[test]
fn what_is_written_to_a_directory_shows_at_its_disk() {
    let directory = directory();
    let site = site(&[("d", directory.path())]);
    if !counted(&site) {
        return;
    }

    let before = site.reading().unwrap();
    write(&directory.path().join("file"), 32);
    let grown = site.reading().unwrap().since(&before).unwrap();

    let disk = &grown.disks[0];
    assert_eq!((disk.name.as_str(), disk.volume), ("d.1", 0));
    assert!(disk.write_bytes >= 32 << 20, "{disk:?}");
    assert!(disk.writes > 0, "{disk:?}");
}

#[test]
fn two_directories_on_one_disk_count_once_and_say_so() {
    let directory = directory();
    let (one, two) = (directory.path().join("one"), directory.path().join("two"));
    fs::create_dir(&one).unwrap();
    fs::create_dir(&two).unwrap();
    let site = site(&[("d", &one), ("f", &two)]);
    if !counted(&site) {
        return;
    }

    assert_eq!(site.reading().unwrap().disks.len(), 1);
    let environment = environment(&site);
    assert_eq!(environment["volume d: shares a disk with"], "f");
    assert_eq!(environment["volume f: shares a disk with"], "d");
    assert_eq!(environment["volume f: counters"], "counted with volume d");
}

#[cfg(target_os = "linux")]
#[test]
fn own_bytes_are_distinguished_from_those_of_a_program_that_is_none_of_ours() {
    use std::process::Command;

    const MEBIBYTES: u64 = 128;
    let directory = directory();
    let site = site(&[("d", directory.path())]);
    if !counted(&site) {
        return;
    }
    let grown = |during: &dyn Fn()| {
        let before = site.counters().unwrap();
        during();
        let after = site.counters().unwrap();
        ["device_bytes.d", "other_bytes.d", "foreign_bytes.d"].map(|name| {
            // Of other users' programs only root is told.
            let (after, before) = (after.get(name)?, before.get(name)?);
            Some(after - before)
        })
    };

    let own = grown(&|| write(&directory.path().join("own"), MEBIBYTES as usize));
    let others = grown(&|| {
        // The shell ends before what it started, which then has no parent of ours any more.
        let script = format!(
            "(dd if=/dev/zero of=other bs=1M count={MEBIBYTES} conv=fsync 2>/dev/null; \
             mv other done) </dev/null >/dev/null 2>&1 &"
        );
        let started = Command::new("sh")
            .args(["-c", &script])
            .current_dir(directory.path())
            .status();
        assert!(started.unwrap().success());
        let done = directory.path().join("done");
        while !done.exists() {
            host::clock::Clock::sleep(model::Duration::from_millis(10));
        }
    });

    // Whatever else the machine writes comes on top of both, so only lower bounds hold; what the tests
    // beside this one have under way is much less than half.
    let written = (MEBIBYTES << 20) as f64;
    let [device, other, _] = own.map(|bytes| bytes.unwrap_or(f64::INFINITY));
    assert!(
        device >= written && device - other >= 0.5 * written,
        "{own:?}"
    );
    let [device, other, foreign] = others.map(|bytes| bytes.unwrap_or(f64::INFINITY));
    let least = other.min(foreign);
    assert!(device >= written && least >= 0.5 * written, "{others:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn going_cold_leaves_nothing_of_plain_files() {
    let directory = directory();
    fs::create_dir(directory.path().join("below")).unwrap();
    write(&directory.path().join("below/file"), 4);
    let site = site(&[("d", directory.path())]);

    assert_eq!(site.go_cold(false).unwrap(), [""; 0]);
    let left = site.go_cold(true).unwrap();
    assert!(left[0].contains("beyond this operating system"), "{left:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn files_in_memory_have_no_cold_and_no_disk() {
    let shm = Path::new("/dev/shm");
    let Ok(directory) = tempfile::tempdir_in(shm) else {
        eprintln!("SKIPPED: there is no /dev/shm here");
        return;
    };
    let site = site(&[("t", directory.path())]);

    let left = site.go_cold(false).unwrap();
    assert!(
        left[0].starts_with("volume t: its files are in memory"),
        "{left:?}"
    );
    assert!(site.reading().unwrap().disks.is_empty());
    assert!(environment(&site)["volume t: device"].starts_with("unknown: "));
    assert!(site.counters().unwrap().is_empty());
}

#[test]
fn the_environment_names_machine_filesystem_and_device() {
    let directory = directory();
    let environment = environment(&site(&[("d", directory.path())]));

    let expected = [
        "kernel",
        "cpu",
        "cpus",
        "memory",
        "other activity",
        "volume d: filesystem",
        "volume d: device",
        "volume d: allocation unit",
        "volume d: free",
    ];
    for name in expected {
        assert!(environment.contains_key(name), "{name} in {environment:#?}");
    }
    assert_ne!(environment["memory"], "unknown");
    assert!(machine().contains_key("kernel"));
    assert!(place(directory.path()).contains_key("filesystem"));
}

#[test]
fn a_directory_that_is_missing_is_named_with_its_volume() {
    let missing = directory().path().join("missing");

    let error = PlainSite::new(vec![volume("d", &missing)]).unwrap_err();

    let text = error.to_string();
    assert!(
        text.contains("volume d") && text.contains("missing"),
        "{text}"
    );
    assert!(free_space(&missing).is_err());
}

#[test]
fn a_file_is_no_directory() {
    let directory = directory();
    let file = directory.path().join("file");
    write(&file, 1);

    let error = PlainSite::new(vec![volume("d", &file)]).unwrap_err();

    assert_eq!(error.kind(), std::io::ErrorKind::NotADirectory);
    assert!(free_space(directory.path()).unwrap().0 > 0);
}
