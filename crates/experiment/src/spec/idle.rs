//! Keys in an experiment that have no effect on what it runs, to be reported to the user.
//!
//! A key that can never have an effect is rejected by the parser. Those here have an effect elsewhere: with another disk, engine
//! or mode, for which the same file may be written.

use std::collections::{BTreeMap, BTreeSet};

use model::{HostCacheMode, Operation};

use super::given::Idle;
use super::known::{Decides, Known};
use super::mode::{Mode, PLAIN_IO, Variant};
use super::placement::Role;
use super::settings::{Commit, Disk, Machine, Script, Volume};
use super::{Arm, Spec, Volumes, requests};

impl Spec {
    /// Keys without effect in any arm that has them, in order.
    pub fn idle(&self, known: &dyn Known) -> Vec<Idle> {
        let Variant { mode, engine, .. } = &self.variant;
        let placed = known.placed(engine, *mode, &self.arms);
        let mut found: BTreeMap<String, Option<String>> = BTreeMap::new();
        for arm in &self.arms {
            let Some(of_arm) = self.given.get(&arm.name) else {
                continue;
            };
            let given: BTreeSet<&str> = of_arm.keys.iter().map(String::as_str).collect();
            let here = Here {
                arm,
                variant: &self.variant,
                known,
                placed: &placed,
                given: &given,
                is_alone: self.arms.len() == 1,
            };
            for key in &given {
                let why = here.idle(key);
                let known = found.entry(of_arm.named(key));
                let known = known.or_insert_with(|| why.clone());
                if why.is_none() {
                    *known = None;
                }
            }
        }
        let idle = found
            .into_iter()
            .filter_map(|(key, why)| Some(Idle { key, why: why? }));
        self.unused.iter().cloned().chain(idle).collect()
    }
}

impl Volumes {
    /// Keys without effect on standalone volumes, which programs of this machine use.
    pub fn idle(&self, known: &dyn Known) -> Vec<Idle> {
        let attached = Attached {
            machine: &self.machine,
            volumes: &self.volumes,
            known,
        };
        let why = |key: &String| match key.split('.').collect::<Vec<_>>()[..] {
            ["machine", "cores"] if attached.is_limited_by_cores() => None,
            ["machine", "cores" | "memory" | "processor_speed"] => Some(OF_THIS_MACHINE.to_owned()),
            ["machine", key, ..] => attached.idle_of_machine(key),
            ["volume", name, key, ..] => {
                let mut volumes = self.volumes.iter();
                let volume = volumes.find(|volume| volume.name == name)?;
                idle_of_volume(&self.machine, volume, key, known)
            }
            ["placement", ..] => Some("programs place their own files".to_owned()),
            _ => None,
        };
        let idle = self.given.iter().filter_map(|key| {
            let (key, why) = (key.clone(), why(key)?);
            Some(Idle { key, why })
        });
        idle.collect()
    }
}

/// A modelled machine and its volumes.
struct Attached<'a> {
    machine: &'a Machine,
    volumes: &'a [Volume],
    known: &'a dyn Known,
}

impl Attached<'_> {
    /// Why a key of the machine has no effect on its volumes.
    fn idle_of_machine(&self, key: &str) -> Option<String> {
        let bursts = || self.known.machine_bursts(self.machine, self.volumes);
        let why = match key {
            "credits" if !bursts() => "no limit of the machine for these volumes has burst credits",
            "system" if !self.known.machine_is_priced(self.machine) => {
                "the price of this machine is not known"
            }
            _ => return None,
        };
        Some(why.to_owned())
    }

    /// Whether a disk reaches its limits only on machines with enough processors.
    fn is_limited_by_cores(&self) -> bool {
        let mut volumes = self.volumes.iter();
        volumes.any(|volume| self.known.needs_cores(volume))
    }
}

/// Why a key of a modelled volume has no effect.
fn idle_of_volume(
    machine: &Machine,
    volume: &Volume,
    key: &str,
    known: &dyn Known,
) -> Option<String> {
    let why = match key {
        "interleave" if volume.count == 1 => "one disk is not striped",
        "credits" if !known.disk_bursts(machine, volume) => {
            return Some(format!("{} has no burst credits", volume.disk));
        }
        "iops" | "throughput" | "bursting" if volume.disk == Disk::Unlimited => {
            "an unlimited disk has no limits to provision"
        }
        "iops" | "throughput" | "bursting" if volume.disk == Disk::Recorded => {
            "a recorded disk has the limits of its override"
        }
        "iops" | "throughput" | "bursting" | "size" if volume.disk == Disk::Local => {
            "the local disk is as the machine has it"
        }
        _ => return None,
    };
    Some(why.to_owned())
}

/// An arm in the context of its run.
struct Here<'a> {
    arm: &'a Arm,
    variant: &'a Variant,
    known: &'a dyn Known,
    /// Roles whose files it places.
    placed: &'a [Role],
    /// The keys given for it.
    given: &'a BTreeSet<&'a str>,
    /// Whether it is the only arm.
    is_alone: bool,
}

impl Here<'_> {
    /// Why `key` has no effect; `None` if it has one.
    fn idle(&self, key: &str) -> Option<String> {
        match key.split('.').collect::<Vec<_>>()[..] {
            ["machine", key, ..] => self.of_machine(key),
            ["volume", name, ref keys @ ..] => match self.arm.settings.volume(name) {
                Some(volume) => self.of_volume(volume, keys),
                None => Some("this arm has no files there".to_owned()),
            },
            ["placement", name, ..] if name != self.arm.settings.placement.name => {
                Some("this arm has another placement".to_owned())
            }
            ["placement", _, role, key] => self.of_files(role, key),
            ["workload", "parameters", name] => self.of_parameter(name),
            ["workload", key, ..] => self.of_workload(key),
            ["engine", "versions", key] if self.is_in_real_time() && !self.is_profile() => {
                self.of_versions(key)
            }
            ["engine", key, ..] => self.of_engine(key),
            ["protocol", "margin" | "baseline"] if self.is_alone => {
                Some("one arm is compared with nothing".to_owned())
            }
            ["protocol", "nominal"] if self.is_in_real_time() => {
                Some("only simulate draws what is not known".to_owned())
            }
            _ => None,
        }
    }

    fn of_machine(&self, key: &str) -> Option<String> {
        let settings = &self.arm.settings;
        let attached = Attached {
            machine: &settings.machine,
            volumes: &settings.volumes,
            known: self.known,
        };
        let of_processors = matches!(key, "cores" | "processor_speed");
        match key {
            _ if self.is_real() => Some(REAL.to_owned()),
            "cores" if attached.is_limited_by_cores() => None,
            _ if of_processors && self.is_in_real_time() => Some(OF_THIS_MACHINE.to_owned()),
            _ if of_processors && self.has_plain_files() => {
                Some("plain I/O takes no processor time".to_owned())
            }
            // The engine's memory must fit into it.
            "memory" => None,
            _ => attached.idle_of_machine(key),
        }
    }

    fn of_volume(&self, volume: &Volume, keys: &[&str]) -> Option<String> {
        let settings = &self.arm.settings;
        match keys {
            // Data on it causes a warning in every mode.
            ["disk"] if self.is_real() && self.known.forgets(&settings.machine, volume) => None,
            _ if self.is_real() => Some(REAL.to_owned()),
            ["override", key, ..] => self.of_override(volume, key),
            [key, ..] => idle_of_volume(&settings.machine, volume, key, self.known),
            [] => None,
        }
    }

    /// Latencies of requests that no file on the volume has.
    fn of_override(&self, volume: &Volume, key: &str) -> Option<String> {
        let (operation, why) = match key {
            "read_latency" => (Operation::Read, "no file there is read"),
            "write_latency" => (Operation::Write, "no file there is written"),
            "flush_latency" => (Operation::Flush, "no file there is flushed"),
            _ => return None,
        };
        let Variant { engine, .. } = self.variant;
        let settings = &self.arm.settings;
        let is_idle = !self.is_in_real_time()
            && !requests::can_reach(settings, engine, self.known, &volume.name, operation);
        is_idle.then(|| why.to_owned())
    }

    /// Keys of the files of a role.
    fn of_files(&self, role: &str, key: &str) -> Option<String> {
        let role = Role::ALL.into_iter().find(|known| known.name() == role)?;
        let Variant { mode, engine, .. } = self.variant;
        if !self.placed.contains(&role) {
            return Some(format!(
                "{engine} in {mode} leaves {role} where the server has it"
            ));
        }
        let why = match key {
            "files" if role != Role::Data && self.has_plain_files() => {
                "plain I/O goes to data files alone"
            }
            "file_size" if self.has_plain_files() => {
                "plain I/O has files of workload.parameters.span"
            }
            // A mounted modelled disk has space for them.
            "file_size" if self.is_profile() && *mode != Mode::Emulate => {
                "a profile's requests go to files of any size"
            }
            "file_size" if !self.known.sized(engine, *mode).contains(&role) => {
                return Some(format!(
                    "{engine} in {mode} makes {role} files as they grow"
                ));
            }
            _ => return None,
        };
        Some(why.to_owned())
    }

    /// Keys of row versions of a real engine.
    fn of_versions(&self, key: &str) -> Option<String> {
        let Variant { mode, engine, .. } = self.variant;
        match key {
            _ if !self.is_set("versions") => self.of_engine("versions"),
            "retention" => Some(
                "a real engine keeps versions as long as a transaction may read them".to_owned(),
            ),
            "bytes_per_row" if !self.is_set("versions.bytes_per_row") => Some(format!(
                "{engine} in {mode} writes versions of its own size"
            )),
            _ => None,
        }
    }

    fn of_workload(&self, key: &str) -> Option<String> {
        let why = match key {
            "sessions" | "think" | "rate" if self.has_plain_files() => {
                "plain I/O keeps workload.parameters.depth requests in flight at each file"
            }
            "rate" | "demand" if self.is_profile() && self.is_in_real_time() => {
                "in real time, a profile's requests come at the recorded rates"
            }
            "log_bytes_per_row" if self.is_plain_io() => "plain I/O changes no rows",
            "log_bytes_per_row" if self.is_in_real_time() => "a real engine writes its own log",
            _ => return None,
        };
        Some(why.to_owned())
    }

    fn of_parameter(&self, name: &str) -> Option<String> {
        let (script, engine) = (&self.arm.settings.workload.script, &self.variant.engine);
        let parameters = &self.arm.settings.workload.parameters;
        if name == "sync"
            && self.has_plain_files()
            && !requests::is_plain(parameters, Operation::Write)
        {
            return Some("all requests are reads, workload.parameters.read_percent".to_owned());
        }
        match self.known.decides(script, name, engine) {
            Decides::Run => None,
            Decides::End => {
                let ends = ["workload.operations", "workload.duration"];
                let end = ends.into_iter().find(|end| self.given.contains(*end))?;
                Some(format!("{end} says when the run ends"))
            }
            Decides::Nothing => Some(format!("{script} on {engine} does not use it")),
        }
    }

    fn of_engine(&self, key: &str) -> Option<String> {
        let engine = &self.arm.settings.engine;
        let Variant {
            mode, engine: name, ..
        } = self.variant;
        match key {
            // It selects the engine.
            "name" => None,
            _ if self.is_profile() && !(key == "host_cache_start" && self.is_in_real_time()) => {
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

    /// Whether this key of `[engine]` is passed to the engine.
    fn is_set(&self, key: &str) -> bool {
        let Variant { mode, engine, .. } = self.variant;
        let set = self.known.engine_keys(engine, *mode);
        set.is_none_or(|set| set.contains(&key))
    }

    fn is_real(&self) -> bool {
        self.variant.mode == Mode::Measure
    }

    fn is_in_real_time(&self) -> bool {
        self.variant.mode != Mode::Simulate
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

    /// Whether its requests go only to files of a fixed size.
    fn has_plain_files(&self) -> bool {
        self.is_plain_io() && !self.is_profile()
    }

    fn has_host_cache(&self) -> bool {
        let mut volumes = self.arm.settings.volumes.iter();
        volumes.any(|volume| volume.host_cache != HostCacheMode::None)
    }
}

/// Reason if nothing is modelled.
const REAL: &str = "in measure, machine and disks are real";

/// Reason if only disks are modelled.
const OF_THIS_MACHINE: &str = "processors and memory are those of the machine that runs it";
