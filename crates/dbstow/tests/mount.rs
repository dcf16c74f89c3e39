//! `dbstow mount`, `stat` and `unmount` on real mounts: needs root, FUSE and loop devices.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use model::{Bytes, DiskSpec, Duration, MachineSpec, VolumeSpec};
use serde_json::Value;
use tempfile::TempDir;
use volume::clock::Clock;
use volume::fuse::{EmulationSpec, Filesystem, Front, MountSpec, RemoteSite, TransportChoice};
use volume::site::Site;

/// A folder to work in.
struct Place(TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().expect("a temporary folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().expect("it is text").to_owned()
    }

    /// Lines of the kernel's table of mounts that lie in this place.
    fn mounts(&self) -> Vec<String> {
        let table = fs::read_to_string("/proc/self/mounts").expect("the table of mounts");
        let here = self.0.path().to_str().expect("it is text");
        let lines = table.lines().filter(|line| line.contains(here));
        lines.map(str::to_owned).collect()
    }
}

/// Unmounts, even where a test failed before it did.
impl Drop for Place {
    fn drop(&mut self) {
        for line in self.mounts() {
            let directory = line.split(' ').nth(1).expect("a mount has a directory");
            let _ = dbstow(&["unmount", directory]).output();
        }
    }
}

fn dbstow(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dbstow"));
    command.args(arguments).stdin(Stdio::null());
    command
}

fn succeeds(arguments: &[&str]) -> String {
    let output = dbstow(arguments).output().expect("it was built");
    assert!(output.status.success(), "{arguments:?}: {}", said(&output));
    String::from_utf8(output.stdout).expect("it prints text")
}

/// Exit code and message of a command that fails.
fn fails(arguments: &[&str]) -> (i32, String) {
    failed(&mut dbstow(arguments))
}

fn failed(command: &mut Command) -> (i32, String) {
    let output = command.output().expect("it can be run");
    assert!(!output.status.success(), "{command:?} succeeded");
    (
        output.status.code().expect("it was not killed"),
        said(&output),
    )
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn emulator_of(directory: &str) -> i64 {
    let stat: Value = serde_json::from_str(&succeeds(&["stat", directory, "--format", "json"]))
        .expect("it prints JSON");
    stat["pid"].as_i64().expect("a process")
}

fn wait_for(what: &str, condition: impl Fn() -> bool) {
    let clock = Clock::start();
    while !condition() {
        assert!(clock.now().as_secs_f64() < 30.0, "{what} does not happen");
        Clock::sleep(Duration::from_millis(20));
    }
}

fn write(path: &Path, bytes: &[u8]) {
    let mut file = File::create(path).expect("the volume takes it");
    file.write_all(bytes).expect("the volume takes it");
    file.sync_all().expect("the volume takes it");
}

#[test]
fn a_mounted_disk_is_used_looked_at_and_taken_away() {
    let place = Place::new();
    let directory = place.text("disk");

    let said = succeeds(&["mount", "azure.premium.p30", &directory, "--size", "1GiB"]);
    assert!(said.contains("block mode, ext4"), "{said}");
    write(&place.path("disk/file"), &vec![7; 1 << 20]);

    let text = succeeds(&["stat", &directory]);
    assert!(
        text.contains("volume.1") && text.contains("disk.volume.1.iops"),
        "{text}"
    );
    let stat: Value =
        serde_json::from_str(&succeeds(&["stat", &directory, "--format", "json"])).expect("JSON");
    let written = stat["totals"]["disks"][0]["write_bytes"].as_u64();
    assert!(written >= Some(1 << 20), "{stat}");
    // The first look saw all of it, this one what came after.
    assert_eq!(stat["volumes"][0]["directory"], directory.as_str());
    assert!(stat["span_s"].as_f64() < Some(30.0), "{stat}");

    let said = succeeds(&["unmount", &directory]);
    assert_eq!(said, format!("unmounted {directory}\n"));
    assert_eq!(place.mounts(), [""; 0]);
    assert!(!place.path("disk").exists(), "it was made by the mount");
    let (code, said) = fails(&["unmount", &directory]);
    assert!(
        code == 1 && said.contains("nothing that this user emulates"),
        "{said}"
    );
}

#[test]
fn volumes_of_a_file_share_a_machine_and_end_together() {
    let place = Place::new();
    let spec = "[machine]\ntype = \"azure.DS14_v2\"\n[volume.d]\ndisk = \"local\"\n\
                [volume.f]\ndisk = \"azure.premium.p30\"\ncount = 2\n";
    fs::write(place.path("disks.toml"), spec).expect("the folder is ours");
    let (file, directory) = (place.text("disks.toml"), place.text("disks"));
    let backing = place.text("bytes");

    succeeds(&[
        "mount",
        &file,
        &directory,
        "--size",
        "512MiB",
        "--backing",
        &backing,
    ]);
    assert_eq!(place.mounts().len(), 2);
    write(&place.path("disks/f/kept"), b"kept");
    let stat: Value =
        serde_json::from_str(&succeeds(&["stat", &directory, "--format", "json"])).expect("JSON");
    let disks = stat["disks"].as_array().expect("a list").iter();
    let disks: Vec<_> = disks.map(|disk| disk["name"].as_str()).collect();
    assert_eq!(disks, [Some("d.1"), Some("f.1"), Some("f.2")]);
    let limits = stat["limits"].as_array().expect("a list").iter();
    let shared = |limit: &Value| {
        limit["name"]
            .as_str()
            .is_some_and(|name| name.starts_with("machine."))
    };
    assert!(limits.clone().any(shared), "{stat}");

    // One of them names all of them.
    succeeds(&["unmount", &place.text("disks/d")]);
    assert_eq!(place.mounts(), [""; 0]);

    // What was kept is there again.
    succeeds(&[
        "mount",
        &file,
        &directory,
        "--size",
        "512MiB",
        "--backing",
        &backing,
    ]);
    assert_eq!(
        fs::read(place.path("disks/f/kept")).expect("it was kept"),
        b"kept"
    );
    succeeds(&["unmount", &directory]);
}

#[test]
fn a_busy_volume_stays_and_says_who_uses_it() {
    let place = Place::new();
    let directory = place.text("disk");
    succeeds(&["mount", "unlimited", &directory, "--size", "512MiB"]);
    let mut user = Command::new("sleep")
        .arg("60")
        .current_dir(&directory)
        .spawn()
        .expect("sleep is everywhere");

    let (code, said) = fails(&["unmount", &directory]);

    let name = format!("sleep ({})", user.id());
    assert!(code == 1 && said.contains(&name), "{said}");
    write(&place.path("disk/still"), b"there");
    user.kill().expect("it runs");
    user.wait().expect("it ends");
    succeeds(&["unmount", &directory]);
}

#[test]
fn what_a_killed_emulator_left_is_cleared_by_the_next_start() {
    let place = Place::new();
    let (directory, other) = (place.text("disk"), place.text("other"));
    succeeds(&["mount", "unlimited", &directory, "--size", "512MiB"]);
    let pid = emulator_of(&directory).to_string();
    let status = Command::new("kill").args(["-9", &pid]).status();
    assert!(status.expect("kill is everywhere").success());
    wait_for("its end", || !is_alive(&pid));
    assert_eq!(place.mounts().len(), 1, "a dead emulator's mount stays");

    let output = dbstow(&["mount", "unlimited", &other, "--size", "512MiB"]).output();

    let said = said(&output.expect("it was built"));
    assert!(
        said.contains("was killed; ") && said.contains(&directory),
        "{said}"
    );
    assert_eq!(place.mounts().len(), 1);
    assert!(place.mounts()[0].contains(&other));
    assert!(!place.path("disk").exists());
    let state = fs::read_dir("/run/dbstow").expect("there is one").flatten();
    let of_it = |entry: &fs::DirEntry| {
        entry
            .file_name()
            .to_string_lossy()
            .starts_with(&format!("{pid}-"))
    };
    assert_eq!(state.filter(of_it).count(), 0);
    succeeds(&["unmount", &other]);
}

/// Whether process `pid` runs; one that nobody waited for has ended all the same.
fn is_alive(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| {
        let state = rest.trim_start().chars().next();
        state.is_some_and(|state| state != 'Z' && state != 'X')
    })
}

#[test]
fn signals_end_the_foreground_and_leave_nothing() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let place = Place::new();
        let directory = place.text("disk");
        let mut command = dbstow(&[
            "mount",
            "unlimited",
            &directory,
            "--size",
            "512MiB",
            "--foreground",
        ]);
        let mut child = command.stdout(Stdio::null()).spawn().expect("it was built");
        wait_for("the mount", || !place.mounts().is_empty());

        let pid = child.id().to_string();
        let status = Command::new("kill").args([signal, &pid]).status();

        assert!(status.expect("kill is everywhere").success());
        assert!(child.wait().expect("it ends").success(), "{signal}");
        assert_eq!(place.mounts(), [""; 0], "{signal}");
        assert!(!place.path("disk").exists(), "{signal}");
    }
}

fn order(place: &Place) -> EmulationSpec {
    fs::create_dir(place.path("disk")).expect("the folder is ours");
    EmulationSpec {
        machine: MachineSpec::unlimited(),
        volumes: vec![MountSpec {
            volume: VolumeSpec::of("d", DiskSpec::unlimited()),
            front: Front::Block {
                filesystem: Filesystem::Ext4,
                read_ahead: None,
            },
            directory: place.path("disk"),
            backing: place.path("bytes"),
            size: Bytes::mib(512),
            owner: None,
        }],
        seed: 1,
        transport: TransportChoice::Fuser,
        trace: None,
    }
}

#[test]
fn an_emulator_in_another_process_is_a_site() {
    const LENGTH: u64 = 4 << 20;
    let place = Place::new();
    let site = RemoteSite::start(dbstow(&["emulator", "--attached"]), &order(&place));
    let site = site.expect("it can be mounted");
    assert_eq!(site.directory(0), place.path("disk"));
    let file = place.path("disk/file");
    write(&file, &vec![3; LENGTH as usize]);
    let warm = site.reading().expect("it answers");
    assert!(warm.disks[0].write_bytes >= LENGTH, "{warm:?}");
    assert!(
        warm.pacing
            .is_some_and(|pacing| pacing.transport == "fuser")
    );

    let notes = site.go_cold(true).expect("it answers");
    assert_eq!(notes, [""; 0]);
    fs::read(&file).expect("it is there");
    let cold = site.reading().expect("it answers");
    assert!(
        cold.disks[0].read_bytes - warm.disks[0].read_bytes >= LENGTH,
        "{cold:?}"
    );
    let environment = site.environment();
    assert!(
        environment
            .iter()
            .any(|(name, value)| name == "volume.d" && value.contains("ext4"))
    );

    // In use it stays; then it goes.
    let held = File::open(&file).expect("it is there");
    let refused = site.stop().expect_err("it is in use").to_string();
    assert!(
        refused.contains(&format!("({})", std::process::id())),
        "{refused}"
    );
    drop(held);
    site.stop().expect("nobody uses it");
    assert_eq!(place.mounts(), [""; 0]);
    assert!(site.reading().is_err());
}

#[test]
fn a_site_that_is_dropped_or_killed_leaves_nothing_for_long() {
    let place = Place::new();
    let spec = order(&place);
    let start = || RemoteSite::start(dbstow(&["emulator", "--attached"]), &spec);
    let site = start().expect("it can be mounted");
    let held = File::create(place.path("disk/held")).expect("it takes it");
    drop(site);
    drop(held);
    assert_eq!(place.mounts(), [""; 0]);

    let site = start().expect("it can be mounted");
    let pid = site.description().pid.to_string();
    let status = Command::new("kill").args(["-9", &pid]).status();
    assert!(status.expect("kill is everywhere").success());
    wait_for("its end", || !is_alive(&pid));
    let gone = site.reading().expect_err("it is gone").to_string();
    assert!(gone.contains("does not answer"), "{gone}");
    drop(site);
    volume::fuse::leftovers::clear().expect("the state directory is there");
    assert_eq!(place.mounts(), [""; 0]);
}

#[test]
fn file_mode_traces_each_request_by_its_file() {
    let place = Place::new();
    let (directory, trace) = (place.text("disk"), place.text("requests.jsonl"));
    let owner = "--owner=65534:65534";
    let mount = [
        "mount",
        "unlimited",
        &directory,
        "--size=1GiB",
        "--front=file",
        owner,
    ];
    let said = succeeds(&[&mount[..], &["--trace", &trace]].concat());
    assert!(said.contains("file mode"), "{said}");
    let metadata = fs::metadata(place.path("disk")).expect("it is mounted");
    assert_eq!(std::os::unix::fs::MetadataExt::uid(&metadata), 65534);

    write(&place.path("disk/file"), &[1; 8192]);

    succeeds(&["unmount", &directory]);
    let trace = fs::read_to_string(trace).expect("it was written");
    let lines = trace
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let writes = lines.filter(|line| line["operation"] == "write" && line["path"] == "file");
    let bytes: u64 = writes
        .filter_map(|line| line["length_bytes"].as_u64())
        .sum();
    assert_eq!(bytes, 8192, "{trace}");
}

#[test]
fn mistakes_are_named_with_their_remedy() {
    let place = Place::new();
    let directory = place.text("disk");
    fs::create_dir(place.path("full")).expect("the folder is ours");
    fs::write(place.path("full/theirs"), "").expect("the folder is ours");
    fs::write(
        place.path("bad.toml"),
        "[volume.d]\ndisk = \"local\"\ncuont = 2\n",
    )
    .expect("ours");
    fs::write(place.path("local.toml"), "[volume.d]\ndisk = \"local\"\n").expect("ours");
    let (full, bad, local) = (
        place.text("full"),
        place.text("bad.toml"),
        place.text("local.toml"),
    );
    let backing = format!("--backing={full}");
    for (arguments, code, expected) in [
        (vec!["azure.premium.p31", &directory], 2, "azure.premium.p3"),
        (vec!["unlimited", &directory], 2, "--size 10GiB"),
        (vec!["nowhere.toml", &directory], 2, "[volume.NAME]"),
        (
            vec![&bad, &directory],
            2,
            "bad.toml:3: there is no key \"cuont\"; did you mean \"count\"?",
        ),
        (vec![&local, &directory], 2, "has none"),
        (
            vec!["unlimited", &directory, "--size=10MiB"],
            1,
            "at least 300 MiB",
        ),
        (
            vec![
                "unlimited",
                &directory,
                "--size=1GiB",
                "--owner=nobody-known",
            ],
            2,
            "there is no user",
        ),
        (
            vec!["unlimited", &full, "--size=1GiB"],
            1,
            "it is not empty",
        ),
        (
            vec!["unlimited", &directory, "--size=1GiB", &backing],
            1,
            "it is not empty",
        ),
    ] {
        let (found, said) = fails(&[vec!["mount"], arguments.clone()].concat());
        assert!(said.contains(expected), "{arguments:?}: {said}");
        assert_eq!(found, code, "{arguments:?}: {said}");
        assert_eq!(place.mounts(), [""; 0]);
        assert!(!place.path("disk").exists(), "{arguments:?}");
    }
    assert!(place.path("full/theirs").exists());
}

#[test]
fn a_directory_is_mounted_once() {
    let place = Place::new();
    let directory = place.text("disk");
    succeeds(&["mount", "unlimited", &directory, "--size", "512MiB"]);

    let (code, said) = fails(&["mount", "unlimited", &directory, "--size", "512MiB"]);

    assert!(
        code == 1 && said.contains("a volume is mounted there"),
        "{said}"
    );
    assert_eq!(place.mounts().len(), 1);
    succeeds(&["unmount", &directory]);
}

#[test]
fn what_is_not_ours_is_not_unmounted() {
    let place = Place::new();
    fs::create_dir(place.path("theirs")).expect("the folder is ours");
    let theirs = place.text("theirs");
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "none", &theirs])
        .status();
    assert!(mounted.expect("mount is everywhere").success());

    let (code, said) = fails(&["unmount", &theirs]);

    assert!(
        code == 1 && said.contains("nothing that this user emulates"),
        "{said}"
    );
    assert_eq!(place.mounts().len(), 1);
    let unmounted = Command::new("umount").arg(&theirs).status();
    assert!(unmounted.expect("umount is everywhere").success());
}

#[test]
fn without_dev_fuse_the_remedy_is_said() {
    let place = Place::new();
    // In a mount namespace of its own, /dev is empty but for what the program itself needs.
    let script = format!(
        "mount -t tmpfs none /dev && exec {} mount unlimited {} --size 1GiB --front file",
        env!("CARGO_BIN_EXE_dbstow"),
        place.text("disk")
    );
    let mut command = Command::new("unshare");
    command
        .args(["--mount", "sh", "-c", &script])
        .stdin(Stdio::null());

    let (code, said) = failed(&mut command);

    assert!(
        code == 1 && said.contains("no /dev/fuse") && said.contains("modprobe"),
        "{said}"
    );
}

#[test]
fn block_mode_without_root_says_so_and_names_file_mode() {
    let place = Place::new();
    // Readable for nobody: the place, and the program, which is not in one.
    let program = place.path("dbstow");
    fs::copy(env!("CARGO_BIN_EXE_dbstow"), &program).expect("the folder is ours");
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    fs::set_permissions(place.0.path(), open).expect("the folder is ours");
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&program)
        .args([
            "mount",
            "unlimited",
            &place.text("disk"),
            "--size=1GiB",
            "--front=block",
        ])
        .env_remove("XDG_RUNTIME_DIR")
        .env("TMPDIR", place.0.path())
        .stdin(Stdio::null());

    let (code, said) = failed(&mut command);

    assert!(
        code == 1 && said.contains("block mode needs root"),
        "{said}"
    );
    assert!(said.contains("file front"), "{said}");
    assert!(!place.path("disk").exists());
}
