//! Mounted volumes for a test.
#![allow(dead_code, reason = "each test program uses its part of it")]

use std::path::{Path, PathBuf};
use std::process::Command;

use emulator::{Contents, Emulation, EmulationSpec, Front, MountSpec, TransportChoice};
use model::{Bytes, DiskSpec, MachineSpec, VolumeSpec};
use tempfile::TempDir;

/// An emulation in a temporary directory; unmounted when dropped.
pub(crate) struct Rig {
    pub(crate) emulation: Emulation,
    pub(crate) spec: EmulationSpec,
    // After the emulation: a directory is removed once nothing is mounted in it.
    pub(crate) directory: TempDir,
}

impl Rig {
    /// One volume of an unlimited disk.
    pub(crate) fn unlimited() -> Rig {
        Rig::of(vec![VolumeSpec::of("d", DiskSpec::unlimited())])
    }

    /// These volumes on a machine without limits.
    pub(crate) fn of(volumes: Vec<VolumeSpec>) -> Rig {
        Rig::on(MachineSpec::unlimited(), volumes)
    }

    /// These volumes on a machine.
    pub(crate) fn on(machine: MachineSpec, volumes: Vec<VolumeSpec>) -> Rig {
        Rig::with(machine, volumes, |_| {})
    }

    /// As `change` wants it.
    pub(crate) fn with(
        machine: MachineSpec,
        volumes: Vec<VolumeSpec>,
        change: impl FnOnce(&mut EmulationSpec),
    ) -> Rig {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let mut spec = spec(&directory, machine, volumes);
        change(&mut spec);
        Rig {
            emulation: Emulation::start(&spec).expect("FUSE and root"),
            spec,
            directory,
        }
    }

    /// A path in the first volume.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.spec.volumes[0].directory.join(name)
    }
}

/// A specification whose directories are below `directory`.
pub(crate) fn spec(
    directory: &TempDir,
    machine: MachineSpec,
    volumes: Vec<VolumeSpec>,
) -> EmulationSpec {
    let mount = |volume: VolumeSpec| {
        let mount = directory.path().join(format!("mount-{}", volume.name));
        std::fs::create_dir(&mount).expect("a new directory");
        MountSpec {
            front: Front::File,
            directory: mount,
            backing: directory.path().join(format!("backing-{}", volume.name)),
            size: Bytes::gib(1),
            owner: None,
            others: emulator::Others::List,
            volume,
        }
    };
    EmulationSpec {
        machine,
        volumes: volumes.into_iter().map(mount).collect(),
        seed: 1,
        transport: transport(),
        trace: None,
        contents: Contents::InPlace,
    }
}

/// What a program said, which must have succeeded.
pub(crate) fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .unwrap_or_else(|error| panic!("{program} (see `make test`): {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {}{}",
        text(&output.stdout),
        text(&output.stderr)
    );
    text(&output.stdout)
}

/// Whether something is mounted at a path.
pub(crate) fn is_mounted(path: &Path) -> bool {
    let table = std::fs::read_to_string("/proc/self/mounts").expect("a table of mounts");
    let path = path.to_str().expect("a path of letters");
    table
        .lines()
        .any(|line| line.split(' ').nth(1) == Some(path))
}

/// How requests go: over rings in the test programs that are named for them, where this machine allows it.
///
/// # Panics
/// When nothing is to be skipped on a kernel that has FUSE over io_uring, and it is switched off.
pub(crate) fn transport() -> TransportChoice {
    if !env!("CARGO_CRATE_NAME").starts_with("fuse_uring") {
        return TransportChoice::Fuser;
    }
    if rings_are_allowed() {
        return TransportChoice::IoUring;
    }
    let strict = std::env::var_os("DBSTOW_SKIP_NOTHING").is_some();
    assert!(
        !strict || !Path::new(SWITCH).exists(),
        "{SWITCH} is off: scripts/with-uring turns it on"
    );
    // Past the test harness, which shows nothing of a test that passes.
    let skipped = "skipped over io_uring, tested by way of fuser: see scripts/with-uring\n";
    let _ = std::io::Write::write_all(&mut std::io::stderr(), skipped.as_bytes());
    TransportChoice::Fuser
}

/// The kernel's switch for FUSE over io_uring; kernels before 6.14 have none.
const SWITCH: &str = "/sys/module/fuse/parameters/enable_uring";

/// Whether FUSE over io_uring is switched on.
pub(crate) fn rings_are_allowed() -> bool {
    let switch = std::fs::read_to_string(SWITCH);
    switch.is_ok_and(|value| value.trim() == "Y")
}
