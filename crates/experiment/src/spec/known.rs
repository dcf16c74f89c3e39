//! What an experiment's names stand for, asked of those who know: catalogue and workloads.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use model::{Bytes, Duration};

use super::Arm;
use super::mode::{EngineName, Mode};
use super::placement::Role;
use super::settings::{Amount, Machine, Parameter, Script, Volume, Workload};

/// Knows engines, disks, machines and workloads by name.
///
/// Errors are texts without place, lower case and with the remedy; the spec adds file and line.
pub trait Known {
    /// Checks that there is an engine of this name.
    ///
    /// # Errors
    /// No such engine, with the near one.
    fn engine(&self, name: &EngineName) -> Result<(), String>;

    /// Roles whose files the engine `name` has in `mode`. All, where nothing is known of it.
    fn roles(&self, name: &EngineName, mode: Mode) -> &'static [Role] {
        let _ = (name, mode);
        &Role::ALL
    }

    /// Checks the machine's type.
    ///
    /// # Errors
    /// No such type, with the near one.
    fn machine(&self, machine: &Machine) -> Result<(), String>;

    /// Checks a volume's disk, what was provisioned of it, and its host cache, on this machine.
    /// Gives what one of its disks holds, where that is known.
    ///
    /// # Errors
    /// No such disk, with the near one, or the vendor's rule that is broken.
    fn disk(&self, machine: &Machine, volume: &Volume) -> Result<Option<Bytes>, String>;

    /// Keys of `[engine]` that the engine `name` is given in `mode`. `None`: all, or nothing is known of it.
    fn engine_keys(&self, name: &EngineName, mode: Mode) -> Option<&'static [&'static str]> {
        let _ = (name, mode);
        None
    }

    /// Whether a limit of the machine has burst credits, as far as is known.
    fn machine_bursts(&self, machine: &Machine) -> bool {
        let _ = machine;
        true
    }

    /// Whether a limit of the volume's disks has burst credits, as far as is known.
    fn disk_bursts(&self, machine: &Machine, volume: &Volume) -> bool {
        let _ = (machine, volume);
        true
    }

    /// What a parameter of a workload decides, on the engine `name`.
    fn decides(&self, script: &Script, parameter: &str, name: &EngineName) -> Decides {
        let _ = (script, parameter, name);
        Decides::Run
    }

    /// Whether the volume's disks have their limits on machines with so many processors alone.
    fn needs_cores(&self, volume: &Volume) -> bool {
        let _ = volume;
        false
    }

    /// Whether the volume's disks are empty after the machine was stopped.
    fn forgets(&self, machine: &Machine, volume: &Volume) -> bool {
        let _ = (machine, volume);
        false
    }

    /// Roles whose files the engine `name` makes in the size that a placement asks for.
    fn sized(&self, name: &EngineName, mode: Mode) -> &'static [Role] {
        let _ = (name, mode);
        &Role::ALL
    }

    /// Roles whose files a run of `arms` places; the others stay where a server has them.
    fn placed(&self, name: &EngineName, mode: Mode, arms: &[Arm]) -> Vec<Role> {
        let _ = (name, mode, arms);
        Role::ALL.to_vec()
    }

    /// Digest of the entry of the disk `name`, where it is the user's own: another entry of that name is
    /// another plan.
    fn entry(&self, name: &str) -> Option<String> {
        let _ = name;
        None
    }

    /// The same of the machine `kind`.
    fn machine_entry(&self, kind: &str) -> Option<String> {
        let _ = kind;
        None
    }

    /// What a workload can be told, and what it is.
    ///
    /// # Errors
    /// No such workload, with the near one, or what is wrong with its folder.
    fn workload(&self, script: &Script) -> Result<KnownWorkload, String>;

    /// When a run of `workload` ends by the workload's own word, with its sessions and parameters as they are there; `None`
    /// where it says nothing of it.
    ///
    /// # Errors
    /// When a parameter that says so is no number of operations, or no span of time.
    fn end(&self, workload: &Workload) -> Result<Option<Amount>, String> {
        let _ = workload;
        Ok(None)
    }
}

/// What a parameter of a workload decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decides {
    /// What a run does.
    Run,
    /// When a run ends of which the experiment does not say it, and nothing else.
    End,
    /// Nothing.
    Nothing,
}

/// What is known of a workload.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KnownWorkload {
    /// Its parameters with their defaults.
    pub parameters: BTreeMap<String, Parameter>,
    /// What they may be, where the workload says so.
    pub ranges: BTreeMap<String, RangeInclusive<i64>>,
    /// Digest of its scripts, so that a changed script is another plan.
    pub digest: String,
    /// How many sessions a settings file of SQLQueryStress asks for.
    pub sessions: Option<u32>,
    /// What a profile decides, where the experiment does not.
    pub recorded: Option<Recorded>,
}

/// What a profile decides, where the experiment does not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recorded {
    /// Most sessions of a period.
    pub sessions: u32,
    /// How long the part of it is that is replayed.
    pub length: Duration,
    /// Operations per second.
    pub operations_per_s: f64,
}
