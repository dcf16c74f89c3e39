//! What an experiment may name, and what that determines.

use std::collections::BTreeMap;
use std::fmt::Write;

use model::{Bytes, Duration, HostCacheMode, LimitSpec, Operation};

use super::Inventory;
use crate::stage::Stage;
use crate::work::Recording;
use engine::Measured;
use experiment::spec::{
    self, Amount, Arm, Decides, EngineName, Known, KnownWorkload, Machine, Mode, Parameter,
    Recorded, Role, Script, System, Volume,
};
use workload::{Length, ParameterUse, Stress, Value};

impl Known for Inventory {
    fn engine(&self, name: &EngineName) -> Result<(), String> {
        // An engine that was left out may still be the target of a file; the caller looks it up.
        let is_left_out = self.engines.left_out(name.as_str()).is_some();
        match self.engines.find(name) {
            Err(error) if !is_left_out => Err(error.to_string()),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    fn roles(&self, name: &EngineName, mode: Mode) -> &'static [Role] {
        // An engine that was left out has those of its kind; the caller looks it up.
        let engine = self.engines.find(name);
        engine.map_or(&Role::ALL, |engine| engine.roles(mode))
    }

    fn engine_with(&self, role: Role, mode: Mode) -> Option<&str> {
        let mut built = self.engines.built.iter();
        let found = built.find(|engine| engine.roles(mode).contains(&role));
        found.map(|engine| engine.name())
    }

    fn machine(&self, machine: &Machine) -> Result<(), String> {
        match &machine.kind {
            Some(kind) => self
                .catalogue
                .machine(kind)
                .map(|_| ())
                .map_err(|error| error.to_string()),
            None => Ok(()),
        }
    }

    fn disk(&self, machine: &Machine, volume: &Volume) -> Result<Option<Bytes>, String> {
        let disk =
            Stage::disk_of(volume, machine, &self.catalogue).map_err(|error| error.to_string())?;
        Ok(Some(disk.size).filter(|size| size.0 < u64::MAX))
    }

    fn engine_keys(&self, name: &EngineName, mode: Mode) -> Option<&'static [&'static str]> {
        self.engines.find(name).ok()?.keys(mode)
    }

    fn machine_bursts(&self, asked: &Machine, volumes: &[Volume]) -> bool {
        let Ok(machine) = Stage::machine_of(asked, &self.catalogue) else {
            return false;
        };
        let mut volumes = volumes.iter();
        volumes.any(|volume| {
            let disk = Stage::disk_of(volume, asked, &self.catalogue);
            let names = disk.map_or(Vec::new(), |disk| disk.machine_limits);
            let direct = names.iter().find_map(|name| machine.limits.get(name));
            let cache = machine.host_cache.as_ref();
            let cache = cache.filter(|_| volume.host_cache != HostCacheMode::None);
            let cached = cache.and_then(|cache| machine.limits.get(&cache.limit));
            [direct, cached].into_iter().flatten().flatten().any(bursts)
        })
    }

    fn machine_is_priced(&self, asked: &Machine) -> bool {
        let kind = asked.kind.as_deref();
        let machine = kind.and_then(|kind| self.catalogue.machine(kind).ok());
        let price = machine.and_then(|machine| machine.price.as_ref());
        price.is_some_and(|price| match asked.system.unwrap_or_default() {
            System::Linux => price.linux_per_month().is_some(),
            System::Windows => price.windows_per_month().is_some(),
        })
    }

    fn disk_bursts(&self, machine: &Machine, volume: &Volume) -> bool {
        let disk = Stage::disk_of(volume, machine, &self.catalogue);
        disk.is_ok_and(|disk| disk.limits.iter().any(bursts))
    }

    fn decides(&self, script: &Script, parameter: &str, name: &EngineName) -> Decides {
        let by_itself = self.engines.find(name).ok();
        let by_itself = by_itself.and_then(|engine| engine.parameters());
        if let Some(parameters) = by_itself {
            return match parameters.contains(&parameter) {
                true => Decides::Run,
                false => Decides::Nothing,
            };
        }
        match self
            .read(script)
            .map(|workload| workload.decides(parameter))
        {
            Ok(ParameterUse::End) => Decides::End,
            Ok(ParameterUse::Nothing) => Decides::Nothing,
            Ok(ParameterUse::Scripts) | Err(_) => Decides::Run,
        }
    }

    fn needs_cores(&self, volume: &Volume) -> bool {
        let disk = self.catalogue.disk(&volume.disk.to_string());
        disk.is_ok_and(|disk| disk.on_machines.needs_cores())
    }

    fn forgets(&self, machine: &Machine, volume: &Volume) -> bool {
        let kind = machine.kind.as_deref();
        let after = self.catalogue.after_stop(&volume.disk.to_string(), kind);
        after.forgets()
    }

    fn sized(&self, name: &EngineName, mode: Mode) -> &'static [Role] {
        match (mode, self.engines.find(name)) {
            (Mode::Measure, Ok(engine)) => engine.sized(),
            // A modelled disk has room for the requested files, whichever engine creates them.
            (Mode::Simulate | Mode::Emulate, _) | (_, Err(_)) => &Role::ALL,
        }
    }

    fn placed(&self, name: &EngineName, mode: Mode, arms: &[Arm]) -> Vec<Role> {
        match (
            mode,
            self.engines.find(name).map(|engine| engine.measured(arms)),
        ) {
            (Mode::Emulate | Mode::Measure, Ok(Measured::Server(roles))) => roles,
            (Mode::Simulate, _) | (_, Ok(Measured::Directories) | Err(_)) => Role::ALL.to_vec(),
        }
    }

    fn records(&self, script: &Script, role: Role, operation: Operation) -> bool {
        let Script::Profile { file, window } = script else {
            return true;
        };
        let recording = self.recording(file, *window).ok();
        let demand = recording.and_then(|(recording, _)| recording.demand.ok());
        demand.is_none_or(|demand| {
            let mut periods = demand.periods().iter();
            periods.any(|period| period.demand.has(role, operation))
        })
    }

    fn entry(&self, name: &str) -> Option<String> {
        let disk = self.catalogue.disk(name).ok()?;
        self.own.disks.get(&disk.name).cloned()
    }

    fn machine_entry(&self, kind: &str) -> Option<String> {
        let machine = self.catalogue.machine(kind).ok()?;
        self.own.machines.get(&machine.name).cloned()
    }

    fn workload(&self, script: &Script) -> Result<KnownWorkload, String> {
        if let Script::Profile { file, window } = script {
            let (recording, digest) = self.recording(file, *window)?;
            return Ok(KnownWorkload {
                digest,
                recorded: Some(recorded(&recording)),
                ..KnownWorkload::default()
            });
        }
        let workload = self.read(script)?;
        let parameter = |(name, value): (&String, &Value)| {
            let parameter = match value {
                Value::Int(value) => Parameter::Integer(*value),
                Value::Double(value) => Parameter::Number(*value),
                Value::Text(text) => Parameter::Text(text.clone()),
                Value::Null => Parameter::Text(String::new()),
            };
            (name.clone(), parameter)
        };
        let parameters: BTreeMap<_, _> = workload.parameters().iter().map(parameter).collect();
        // The scripts as they were read: a changed script means another plan.
        let mut text = String::new();
        write!(text, "{:?} {:?}", workload.load, workload.run)
            .expect("writing to a string does not fail");
        let stress = workload.stress.clone().unwrap_or_default();
        if let Some(query) = &stress.parameter_query {
            write!(text, " {query:?}").expect("writing to a string does not fail");
        }
        if stress.pause > Duration::ZERO {
            write!(text, " {}", stress.pause).expect("writing to a string does not fail");
        }
        Ok(KnownWorkload {
            parameters,
            ranges: workload.ranges().clone(),
            digest: experiment::plan::digest_of(text.as_bytes()),
            sessions: stress.threads,
            recorded: None,
        })
    }

    fn end(&self, asked: &spec::Workload) -> Result<Option<Amount>, String> {
        if let Script::Profile { .. } = asked.script {
            return Ok(None);
        }
        let workload = self.workload(asked)?;
        if let Some(Stress {
            iterations: None, ..
        }) = workload.stress
        {
            // An `.sql` file does not specify how often it runs.
            return Ok(None);
        }
        let length = workload.length(asked.sessions);
        Ok(Some(match length.map_err(|error| error.to_string())? {
            Length::Operations(operations) => Amount::Operations(operations),
            Length::Duration(duration) => Amount::Duration(duration),
        }))
    }
}

fn bursts(limit: &LimitSpec) -> bool {
    limit.burst.is_some()
}

/// Requests in flight if the profile counts no sessions: as many as a SATA disk queues, and more than the sessions of
/// most servers.
const IN_FLIGHT: u32 = 32;

/// What a recording determines, unless the experiment does.
fn recorded(recording: &Recording) -> Recorded {
    match &recording.demand {
        Ok(demand) => Recorded {
            sessions: demand.sessions_max(),
            length: demand.length(),
            operations_per_s: demand.operations_per_s(),
        },
        // Its requests can be issued nevertheless.
        Err(_) => Recorded {
            sessions: IN_FLIGHT,
            length: recording.profile.covered(),
            operations_per_s: 0.0,
        },
    }
}
