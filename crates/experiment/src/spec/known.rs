//! Resolves an experiment's names through the catalogue and the workloads.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use model::{Bytes, Duration, Operation};

use super::arm::Arm;
use super::mode::{EngineName, Mode};
use super::placement::Role;
use super::settings::{Amount, Machine, Parameter, Script, Volume, Workload};

/// Resolves engines, disks, machines and workloads by name.
///
/// Errors are texts without location, lower case and with the remedy; the spec adds file and line.
pub trait Known {
    /// Checks that an engine of this name exists.
    ///
    /// # Errors
    /// No such engine, with the nearest name.
    fn engine(&self, name: &EngineName) -> Result<(), String>;

    /// Roles whose files the engine `name` has in `mode`. All, if the engine is unknown.
    fn roles(&self, name: &EngineName, mode: Mode) -> &'static [Role] {
        let _ = (name, mode);
        &Role::ALL
    }

    /// The first engine that has files of `role` in `mode`, in the order in which they are listed; `None`: unknown.
    fn engine_with(&self, role: Role, mode: Mode) -> Option<&str> {
        let _ = (role, mode);
        None
    }

    /// Checks the machine's type.
    ///
    /// # Errors
    /// No such type, with the nearest name.
    fn machine(&self, machine: &Machine) -> Result<(), String>;

    /// Checks a volume's disk, its provisioning and its host cache on this machine. Returns the capacity of one disk, if known.
    ///
    /// # Errors
    /// No such disk, with the nearest name, or the vendor's rule that is broken.
    fn disk(&self, machine: &Machine, volume: &Volume) -> Result<Option<Bytes>, String>;

    /// Keys of `[engine]` that apply to the engine `name` in `mode`. `None`: all, or the engine is unknown.
    fn engine_keys(&self, name: &EngineName, mode: Mode) -> Option<&'static [&'static str]> {
        let _ = (name, mode);
        None
    }

    /// Whether a limit of the machine that requests to `volumes` pass is known to have burst credits.
    fn machine_bursts(&self, machine: &Machine, volumes: &[Volume]) -> bool {
        let _ = (machine, volumes);
        true
    }

    /// Whether the price of the machine with its operating system is known.
    fn machine_is_priced(&self, machine: &Machine) -> bool {
        let _ = machine;
        true
    }

    /// Whether a limit of the volume's disks is known to have burst credits.
    fn disk_bursts(&self, machine: &Machine, volume: &Volume) -> bool {
        let _ = (machine, volume);
        true
    }

    /// What a parameter of a workload affects, on the engine `name`.
    fn decides(&self, script: &Script, parameter: &str, name: &EngineName) -> Decides {
        let _ = (script, parameter, name);
        Decides::Run
    }

    /// Whether the volume's disks reach their limits only on machines with enough processors.
    fn needs_cores(&self, volume: &Volume) -> bool {
        let _ = volume;
        false
    }

    /// Whether the volume's disks are empty after a stop of the machine.
    fn forgets(&self, machine: &Machine, volume: &Volume) -> bool {
        let _ = (machine, volume);
        false
    }

    /// Roles whose files the engine `name` creates in the size that a placement requests.
    fn sized(&self, name: &EngineName, mode: Mode) -> &'static [Role] {
        let _ = (name, mode);
        &Role::ALL
    }

    /// Roles whose files a run of `arms` places; the others stay where the server has them.
    fn placed(&self, name: &EngineName, mode: Mode, arms: &[Arm]) -> Vec<Role> {
        let _ = (name, mode, arms);
        Role::ALL.to_vec()
    }

    /// Whether the replay of the profile `script` has requests of this kind for files of `role`.
    fn records(&self, script: &Script, role: Role, operation: Operation) -> bool {
        let _ = (script, role, operation);
        true
    }

    /// Digest of the entry of the disk `name`, if it is the user's own: a different entry of that name makes a different plan.
    fn entry(&self, name: &str) -> Option<String> {
        let _ = name;
        None
    }

    /// Digest of the entry of the machine `kind`, likewise.
    fn machine_entry(&self, kind: &str) -> Option<String> {
        let _ = kind;
        None
    }

    /// Parameters and properties of a workload.
    ///
    /// # Errors
    /// No such workload, with the nearest name, or an error in its folder.
    fn workload(&self, script: &Script) -> Result<KnownWorkload, String>;

    /// When a run of `workload` ends according to the workload itself, with the given sessions and parameters; `None` if it does
    /// not specify this.
    ///
    /// # Errors
    /// When the parameter that determines it is not a number of operations, or not a span of time.
    fn end(&self, workload: &Workload) -> Result<Option<Amount>, String> {
        let _ = workload;
        Ok(None)
    }
}

/// What a parameter of a workload affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decides {
    /// What a run does.
    Run,
    /// Only when a run ends, if the experiment does not specify it.
    End,
    /// Nothing.
    Nothing,
}

/// Properties of a workload.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KnownWorkload {
    /// Its parameters with their defaults.
    pub parameters: BTreeMap<String, Parameter>,
    /// Their ranges, where the workload defines them.
    pub ranges: BTreeMap<String, RangeInclusive<i64>>,
    /// Digest of its scripts, so that a changed script makes a different plan.
    pub digest: String,
    /// Number of sessions that a settings file of SQLQueryStress requests.
    pub sessions: Option<u32>,
    /// Values from a profile that apply if the experiment does not set them.
    pub recorded: Option<Recorded>,
}

/// Values from a profile that apply if the experiment does not set them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recorded {
    /// Maximum number of sessions of a period.
    pub sessions: u32,
    /// Length of the replayed part.
    pub length: Duration,
    /// Operations per second.
    pub operations_per_s: f64,
}
