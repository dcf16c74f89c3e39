//! An emulator in a process of its own, as a site and as something that is killed: needs root, FUSE and
//! loop devices.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::process::Command;

use emulator::{
    Contents, EmulationSpec, Filesystem, Front, MountSpec, RemoteSite, TransportChoice,
};
use host::orphans;
use host::site::Site;
use model::{Bytes, DiskSpec, MachineSpec, VolumeSpec};
use testing::place::{Place, dbstow, emulator_of, is_alive, said, succeeds, wait_for, write};

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
            others: emulator::Others::List,
        }],
        seed: 1,
        transport: TransportChoice::Fuser,
        trace: None,
        contents: Contents::InPlace,
    }
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

    // While in use it stays; then it is removed.
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
    orphans::clear().expect("the state directory is there");
    assert_eq!(place.mounts(), [""; 0]);
}
