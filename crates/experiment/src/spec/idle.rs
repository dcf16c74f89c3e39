//! Keys that an experiment gives and that change nothing of what it runs, for a report to whoever gave them.
//!
//! A key that cannot mean anything is refused where it is read. Those here mean something elsewhere: with another disk,
//! engine or mode, for which the same file may be written.

use std::collections::BTreeMap;

use model::HostCacheMode;

use super::arms::AskedArm;
use super::known::Known;
use super::mode::{Mode, Variant};
use super::settings::{Commit, Disk, Script, Settings, Volume};
use super::{Arm, Spec, wire};

/// A key that changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Idle {
    /// The key, dotted.
    pub key: String,
    /// Why; lower case, without a full stop.
    pub why: String,
}

impl Spec {
    /// Keys that are given and change nothing in any arm that has them, in their order.
    pub fn idle(&self, known: &dyn Known) -> Vec<Idle> {
        let mut found: BTreeMap<&str, Option<String>> = BTreeMap::new();
        for arm in &self.arms {
            let given = self.given.get(&arm.name).into_iter().flatten();
            let here = Here {
                arm,
                variant: &self.variant,
                known,
            };
            for key in given {
                let why = here.idle(key);
                let known = found.entry(key.as_str()).or_insert_with(|| why.clone());
                if why.is_none() {
                    *known = None;
                }
            }
        }
        let idle = found.into_iter().filter_map(|(key, why)| {
            let key = key.to_owned();
            Some(Idle { key, why: why? })
        });
        self.unused.iter().cloned().chain(idle).collect()
    }
}

/// Volumes and placements of the whole file that no arm uses.
pub(super) fn unused(asked: &wire::Experiment, asked_arms: &[AskedArm], arms: &[Arm]) -> Vec<Idle> {
    let is_placed = |name: &String| {
        let mut arms = arms.iter();
        arms.any(|arm| arm.settings.volume(name).is_some())
    };
    let is_used = |name: &String| asked_arms.iter().any(|arm| arm.placement == *name);
    let volumes = asked.volume.keys().filter(|name| !is_placed(name));
    let volumes = volumes.map(|name| Idle {
        key: format!("volume.{name}"),
        why: "no arm has files there".to_owned(),
    });
    let placements = asked.placement.keys().filter(|name| !is_used(name));
    let placements = placements.map(|name| Idle {
        key: format!("placement.{name}"),
        why: "no arm uses it".to_owned(),
    });
    volumes.chain(placements).collect()
}

/// The dotted keys of `text`, TOML, in the sections that make up an arm, but for what its placement does not use.
pub(super) fn given(text: &str, settings: &Settings) -> Vec<String> {
    let table: toml::Table = toml::from_str(text).unwrap_or_default();
    let mut keys = Vec::new();
    for section in super::arms::SETTABLE {
        if let Some(value) = table.get(section) {
            leaves(section, value, &mut keys);
        }
    }
    keys.retain(|key| match key.split('.').collect::<Vec<_>>()[..] {
        ["volume", volume, ..] => settings.volume(volume).is_some(),
        ["placement", placement, ..] => placement == settings.placement.name,
        _ => true,
    });
    keys
}

fn leaves(path: &str, value: &toml::Value, keys: &mut Vec<String>) {
    match value.as_table() {
        None => keys.push(path.to_owned()),
        Some(table) => {
            for (key, value) in table {
                leaves(&format!("{path}.{key}"), value, keys);
            }
        }
    }
}

/// An arm as it runs.
struct Here<'a> {
    arm: &'a Arm,
    variant: &'a Variant,
    known: &'a dyn Known,
}

impl Here<'_> {
    /// Why `key` changes nothing; `None` where it does.
    fn idle(&self, key: &str) -> Option<String> {
        match key.split('.').collect::<Vec<_>>()[..] {
            ["machine", key, ..] => self.of_machine(key),
            ["volume", name, key, ..] => self.of_volume(self.arm.settings.volume(name)?, key),
            ["placement", _, _, "file_size"] => self.of_file_size(),
            ["placement", _, role, "files"] if role != "data" && self.has_plain_files() => {
                Some("plain I/O goes to data files alone".to_owned())
            }
            ["workload", key, ..] => self.of_workload(key),
            ["engine", "versions", "retention"] if self.variant.mode != Mode::Simulate => {
                Some("a real engine keeps versions as long as somebody may read them".to_owned())
            }
            ["engine", key, ..] => self.of_engine(key),
            _ => None,
        }
    }

    fn of_machine(&self, key: &str) -> Option<String> {
        let machine = &self.arm.settings.machine;
        match key {
            // What a machine is, and what has to fit it.
            "type" | "cores" | "memory" => None,
            "credits" | "host_cache" if self.is_real() => Some(REAL.to_owned()),
            "credits" if !self.known.machine_bursts(machine) => {
                Some("no limit of the machine has burst credits".to_owned())
            }
            _ => None,
        }
    }

    fn of_volume(&self, volume: &Volume, key: &str) -> Option<String> {
        let machine = &self.arm.settings.machine;
        match key {
            "disk" => None,
            _ if self.is_real() => Some(REAL.to_owned()),
            "interleave" if volume.count == 1 => Some("one disk is not striped".to_owned()),
            "credits" if !self.known.disk_bursts(machine, volume) => {
                Some(format!("{} has no burst credits", volume.disk))
            }
            "iops" | "throughput" | "bursting" if volume.disk == Disk::Unlimited => {
                Some("an unlimited disk has no limits to provision".to_owned())
            }
            "iops" | "throughput" | "bursting" | "size" if volume.disk == Disk::Local => {
                Some("the local disk is as the machine has it".to_owned())
            }
            _ => None,
        }
    }

    fn of_file_size(&self) -> Option<String> {
        if self.has_plain_files() {
            return Some("plain I/O has files of workload.parameters.span".to_owned());
        }
        let is_replayed = self.is_profile() && self.variant.mode == Mode::Simulate;
        is_replayed.then(|| "a profile's requests go to files of any size".to_owned())
    }

    fn of_workload(&self, key: &str) -> Option<String> {
        let why = match key {
            "sessions" | "think" | "rate" if self.has_plain_files() => {
                "plain I/O keeps workload.parameters.depth requests in flight at each file"
            }
            "log_bytes_per_row" if self.is_plain_io() => "plain I/O changes no rows",
            "log_bytes_per_row" if self.variant.mode != Mode::Simulate => {
                "a real engine writes its own log"
            }
            _ => return None,
        };
        Some(why.to_owned())
    }

    fn of_engine(&self, key: &str) -> Option<String> {
        let engine = &self.arm.settings.engine;
        let Variant {
            mode, engine: name, ..
        } = self.variant;
        match key {
            // Which engine it is; and what has to be there.
            "name" => None,
            "memory" if !self.is_profile() => None,
            _ if self.is_profile() && !(key == "host_cache_start" && *mode != Mode::Simulate) => {
                Some(
                    "a profile counts what reached the disks of a server with its own settings"
                        .to_owned(),
                )
            }
            "host_cache_start" if !self.has_host_cache() => {
                Some("no volume has a host cache".to_owned())
            }
            _ if !self.is_set(key) => Some(match self.is_plain_io() {
                true => "plain I/O has no engine".to_owned(),
                false => format!("{name} in {mode} has its own"),
            }),
            "log_flush" if engine.commit == Commit::Relaxed => {
                Some("no commit waits for the log, engine.commit".to_owned())
            }
            _ => None,
        }
    }

    /// Whether the engine is given this key of `[engine]`.
    fn is_set(&self, key: &str) -> bool {
        let Variant { mode, engine, .. } = self.variant;
        let set = self.known.engine_keys(engine, *mode);
        set.is_none_or(|set| set.contains(&key))
    }

    fn is_real(&self) -> bool {
        self.variant.mode == Mode::Measure
    }

    fn is_profile(&self) -> bool {
        match self.arm.settings.workload.script {
            Script::Profile { .. } => true,
            Script::BuiltIn(_) | Script::Folder(_) => false,
        }
    }

    fn is_plain_io(&self) -> bool {
        self.variant.engine.as_str() == PLAIN_IO
    }

    /// Whether its requests go to files of a size of their own, and to no others.
    fn has_plain_files(&self) -> bool {
        self.is_plain_io() && !self.is_profile()
    }

    fn has_host_cache(&self) -> bool {
        let mut volumes = self.arm.settings.volumes.iter();
        volumes.any(|volume| volume.host_cache != HostCacheMode::None)
    }
}

/// Why nothing is modelled.
const REAL: &str = "in measure, machine and disks are real";

/// The engine without statements.
const PLAIN_IO: &str = "raw";
