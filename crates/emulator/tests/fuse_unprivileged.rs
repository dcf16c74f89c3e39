//! Whoever is not root can emulate volumes too, where everybody may open `/dev/fuse`. Needs root, to be
//! somebody else, FUSE and fusermount3.
#![cfg(target_os = "linux")]

mod rig;

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Output};

use emulator::Emulation;
use model::{DiskSpec, MachineSpec, VolumeSpec};
use rig::{Rig, is_mounted};

/// Says to this program that it is to do what somebody without privileges does.
const TASK: &str = "DBSTOW_TEST_UNPRIVILEGED";

const DEVICE: &str = "/dev/fuse";

/// The device's permissions, put back when dropped.
struct Device(Permissions);

impl Device {
    fn keep() -> Device {
        let metadata = fs::metadata(DEVICE).expect("FUSE");
        Device(metadata.permissions())
    }

    fn set(&self, mode: u32) {
        fs::set_permissions(DEVICE, Permissions::from_mode(mode)).expect("root");
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        self.set(self.0.mode() & 0o7777);
    }
}

/// Runs this program as the user 65534, who may not read where it was built.
fn as_nobody(task: &str) -> Output {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let program = directory.path().join("test");
    let own = std::env::current_exe().expect("this program");
    fs::copy(own, &program).expect("a copy of it");
    let open = |path: &Path| {
        fs::set_permissions(path, Permissions::from_mode(0o755)).expect("own files");
    };
    open(directory.path());
    open(&program);
    Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(program)
        .args(["--exact", "without_root", "--nocapture"])
        .env(TASK, task)
        .env("TMPDIR", "/tmp")
        .current_dir("/")
        .output()
        .expect("setpriv")
}

#[test]
fn without_root() {
    match std::env::var(TASK) {
        Ok(task) if task == "refused" => refused(),
        Ok(_) => served(),
        Err(_) => {
            let device = Device::keep();
            for (mode, task) in [(0o600, "refused"), (0o666, "served")] {
                device.set(mode);
                let output = as_nobody(task);
                let text = String::from_utf8_lossy(&output.stdout).into_owned()
                    + &String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{task}: {text}");
                assert!(text.contains("1 passed"), "{task}: {text}");
            }
        }
    }
}

/// As somebody who may not open the device.
fn refused() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let volumes = vec![VolumeSpec::of("d", DiskSpec::unlimited())];
    let spec = rig::spec(&directory, MachineSpec::unlimited(), volumes);
    let error = Emulation::start(&spec).err().expect("no permission");
    assert!(
        error.to_string().contains("chmod 0666 /dev/fuse"),
        "{error}"
    );
}

/// As somebody who may.
fn served() {
    let rig = Rig::unlimited();
    let mount = rig.spec.volumes[0].directory.clone();
    fs::create_dir(rig.path("d")).expect("a directory");
    fs::write(rig.path("d/a"), [5; 10_000]).expect("a file");
    fs::hard_link(rig.path("d/a"), rig.path("b")).expect("a link");
    fs::set_permissions(rig.path("b"), Permissions::from_mode(0o600)).expect("own file");
    assert_eq!(fs::read(rig.path("b")).expect("a file"), [5; 10_000]);
    assert_eq!(fs::metadata(rig.path("b")).expect("a file").uid(), 65_534);
    assert_eq!(rig.emulation.reading().disks[0].write_bytes, 10_000);
    assert!(is_mounted(&mount));
    rig.emulation.stop().expect("nobody uses it");
    assert!(!is_mounted(&mount));
}
