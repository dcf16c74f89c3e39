//! A drilled placement, and its stored form: it comes from a folder of unknown origin, so that all of it is checked.

use std::collections::BTreeSet;

use experiment::spec::{Mode, Settings, check_name};
use model::{Bytes, MachineSpec, VolumeSpec};
use serde::{Deserialize, Serialize};

/// Most disks of a volume, and most files of a role, as in experiments.
const DISKS_MAX: usize = 1_024;

/// Largest unit that a disk writes atomically; vendors guarantee up to 16 KiB.
const ATOMIC_MAX: Bytes = Bytes::mib(1);

/// Most settings of a server.
pub(super) const SETTINGS_MAX: usize = 200;

/// A drilled placement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "UncheckedPlaced")]
pub struct Placed {
    /// Its name.
    pub name: String,
    /// Its settings.
    pub settings: Settings,
    /// The machine that its volumes share.
    pub machine: MachineSpec,
    /// Its volumes, in the order of the settings; only those that hold files.
    pub volumes: Vec<VolumeSpec>,
    /// The size that each volume's disks write atomically, as their vendor guarantees.
    pub atomic: Vec<Bytes>,
    /// Names of the volumes that are empty after a stop of the machine.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub forgets: BTreeSet<String>,
    /// Settings of its server, in the product's syntax.
    pub server: Vec<(String, String)>,
}

impl Placed {
    /// What every disk writes atomically: a sector. More only if the vendor guarantees it.
    pub const ATOMIC_DEFAULT: Bytes = Bytes(512);
}

/// A placement as parsed from a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UncheckedPlaced {
    name: String,
    settings: Settings,
    machine: MachineSpec,
    volumes: Vec<VolumeSpec>,
    atomic: Vec<Bytes>,
    #[serde(default)]
    forgets: BTreeSet<String>,
    server: Vec<(String, String)>,
}

impl TryFrom<UncheckedPlaced> for Placed {
    type Error = String;

    fn try_from(read: UncheckedPlaced) -> Result<Placed, String> {
        // For SQLite, the mode is part of it: "one, wal, full".
        for part in read.name.split(", ") {
            check_name(part).map_err(|why| format!("placed.name: {why}"))?;
        }
        let checked = read.settings.check(Mode::Emulate);
        checked.map_err(|why| format!("placed.settings: {why}"))?;
        between("placed.volumes", read.volumes.len(), 1, DISKS_MAX)?;
        at_most("placed.server", read.server.len(), SETTINGS_MAX)?;
        let used = read.settings.placement.volumes();
        let defined = read.settings.volumes.iter();
        let defined = defined.filter(|volume| used.contains(volume.name.as_str()));
        let defined: Vec<&str> = defined.map(|volume| volume.name.as_str()).collect();
        let names: Vec<&str> = read.volumes.iter().map(|volume| &*volume.name).collect();
        if names != defined {
            return Err(format!(
                "placed.volumes are {names:?}, and those of placed.settings that hold files are {defined:?}"
            ));
        }
        for (place, volume) in read.volumes.iter().enumerate() {
            let key = |key: &str| format!("placed.volumes[{place}].{key}");
            check_name(&volume.name).map_err(|why| format!("{}: {why}", key("name")))?;
            between(&key("disks"), volume.disks.len(), 1, DISKS_MAX)?;
            let least = Placed::ATOMIC_DEFAULT;
            if volume.disks.len() > 1 && volume.interleave < least {
                return Err(format!(
                    "{} is {}, and a disk has sectors of {least}; give at least that",
                    key("interleave"),
                    volume.interleave
                ));
            }
        }
        let mut forgets = read.forgets.iter();
        if let Some(strange) = forgets.find(|name| !names.contains(&name.as_str())) {
            return Err(format!(
                "placed.forgets has {strange:?}, and placed.volumes are {names:?}"
            ));
        }
        if read.atomic.len() != read.volumes.len() {
            return Err(format!(
                "placed.atomic has {} entries for {} volumes",
                read.atomic.len(),
                read.volumes.len()
            ));
        }
        let is_unit = |unit: &&Bytes| {
            unit.0.is_power_of_two() && (Placed::ATOMIC_DEFAULT..=ATOMIC_MAX).contains(unit)
        };
        if let Some(unit) = read.atomic.iter().find(|unit| !is_unit(unit)) {
            return Err(format!(
                "placed.atomic has {unit}; it is a power of two from {} to {ATOMIC_MAX}",
                Placed::ATOMIC_DEFAULT
            ));
        }
        Ok(Placed {
            name: read.name,
            settings: read.settings,
            machine: read.machine,
            volumes: read.volumes,
            atomic: read.atomic,
            forgets: read.forgets,
            server: read.server,
        })
    }
}

pub(super) fn between(key: &str, found: usize, least: usize, most: usize) -> Result<(), String> {
    match (least..=most).contains(&found) {
        true => Ok(()),
        false => Err(format!(
            "{key} has {found} entries; it has from {least} to {most}"
        )),
    }
}

pub(super) fn at_most(key: &str, found: usize, most: usize) -> Result<(), String> {
    match found <= most {
        true => Ok(()),
        false => Err(format!("{key}: {found} are too many; at most {most}")),
    }
}
