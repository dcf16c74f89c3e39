//! Resolves the names of an experiment: disks, machines, workloads and their parameters.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use model::Duration;

use super::arms::blamed;
use super::bounds::RATE_MAX;
use super::error::{Fault, remedy};
use super::known::{Known, KnownWorkload, Recorded};
use super::mode::{Mode, Variant};
use super::placement::{Placement, Role};
use super::rules::{self, check_fits};
use super::settings::{Amount, Arrival, Disk, Machine, Parameter, Script, Settings, Workload};
use super::{Spec, SpecError};

impl Spec {
    /// Resolves every name, and adds what a workload determines if the experiment does not: defaults of its parameters, and its
    /// digest.
    ///
    /// # Errors
    /// The first unknown name, or value that the vendor or the workload does not allow.
    pub fn check(mut self, known: &dyn Known) -> Result<Spec, SpecError> {
        match self.look_up(known) {
            Ok(()) => Ok(self),
            Err(fault) => Err(self.origin.error(fault, |origin| {
                match origin.with(&origin.overrides) {
                    Ok(mut spec) => spec.look_up(known).err(),
                    // Another fault; its details do not matter here.
                    Err(_) => Some(Fault::at(&[], "")),
                }
            })),
        }
    }

    fn look_up(&mut self, known: &dyn Known) -> Result<(), Fault> {
        let asked = self.origin.text.wire();
        if let Some(name) = &asked.engine.name {
            known
                .engine(name)
                .map_err(|message| Fault::at(&["engine", "name"], message))?;
        }
        let variant = &self.origin.variant;
        for arm in &mut self.arms {
            let checked = roles(&arm.settings.placement, variant, known)
                .and_then(|()| settings(&mut arm.settings, known));
            checked.map_err(|fault| {
                let set = asked.arm.get(&arm.name).map(|asked| &asked.set);
                let none = BTreeMap::new();
                blamed(&arm.name, set.unwrap_or(&none), fault)
            })?;
        }
        Ok(())
    }
}

impl Settings {
    /// Checks that an experiment could produce these settings; names are not resolved.
    ///
    /// # Errors
    /// The first rule of experiments that they break, with its key.
    pub fn check(&self, mode: Mode) -> Result<(), String> {
        rules::settings(self, mode).map_err(|fault| fault.message())
    }

    /// The settings with every name resolved, as by [`Spec::check`]: those of a plan are unchanged, unless a name now refers to
    /// something else.
    ///
    /// # Errors
    /// The first unknown name, or value that the vendor or the workload does not allow.
    pub fn looked_up(&self, variant: &Variant, known: &dyn Known) -> Result<Settings, String> {
        let mut found = self.clone();
        roles(&found.placement, variant, known)
            .and_then(|()| settings(&mut found, known))
            .map_err(|fault| fault.message())?;
        Ok(found)
    }
}

/// Rejects files of roles that the engine does not have: it would have them elsewhere, or not at all.
fn roles(placement: &Placement, variant: &Variant, known: &dyn Known) -> Result<(), Fault> {
    let Variant { mode, engine, .. } = variant;
    let had = known.roles(engine, *mode);
    let is_lacking = |role: &Role| !had.contains(role) && !placement.files(*role).is_empty();
    let Some(role) = Role::ALL.into_iter().find(is_lacking) else {
        return Ok(());
    };
    let remedy = match mode {
        Mode::Simulate => Some("leave --engine out".to_owned()),
        Mode::Emulate | Mode::Measure => {
            let other = known.engine_with(role, *mode);
            other.map(|other| format!("add --engine {other}"))
        }
    };
    let remedy = remedy.map_or_else(String::new, |remedy| format!("{remedy}, or "));
    let message = format!(
        "placement \"{}\" says where {role} lives, and {engine} in {mode} has {} alone; {remedy}remove {role}",
        placement.name,
        Role::joined(had, ", ")
    );
    Err(Fault::at(
        &["placement", &placement.name, role.name()],
        message,
    ))
}

fn settings(settings: &mut Settings, known: &dyn Known) -> Result<(), Fault> {
    machine(&settings.machine, known)?;
    let kind = settings.machine.kind.as_deref();
    settings.machine.entry = kind.and_then(|kind| known.machine_entry(kind));
    for volume in &mut settings.volumes {
        volume.entry = match &volume.disk {
            Disk::Catalogue(name) => known.entry(name),
            Disk::Local | Disk::Unlimited | Disk::Recorded => None,
        };
        let size = known
            .disk(&settings.machine, volume)
            .map_err(|message| Fault::at(&["volume", &volume.name], message))?;
        check_fits(&settings.placement, volume, size)?;
    }
    workload(&mut settings.workload, known)
}

fn machine(machine: &Machine, known: &dyn Known) -> Result<(), Fault> {
    known
        .machine(machine)
        .map_err(|message| Fault::at(&["machine", "type"], message))
}

fn workload(workload: &mut Workload, known: &dyn Known) -> Result<(), Fault> {
    let key = match workload.script {
        Script::BuiltIn(_) => "name",
        Script::Folder(_) => "folder",
        Script::Profile { .. } => "profile",
    };
    let KnownWorkload {
        parameters,
        ranges,
        digest,
        sessions,
        recorded,
    } = known
        .workload(&workload.script)
        .map_err(|message| Fault::at(&["workload", key], message))?;
    let given = std::mem::take(&mut workload.parameters);
    for (name, value) in &given {
        check_parameter(&workload.script, &parameters, name, value)
            .and_then(|()| check_range(&workload.script, &ranges, name, value))
            .map_err(|message| Fault::at(&["workload", "parameters", name], message))?;
    }
    workload.parameters = parameters;
    workload.parameters.extend(given);
    workload.digest = Some(digest);
    match recorded {
        Some(recorded) => as_recorded(workload, recorded)
            .map_err(|message| Fault::at(&["workload", key], message))?,
        None => as_written(workload, sessions, known)?,
    }
    rules::workload(workload)
}

/// Fills in what the workload determines.
fn as_written(
    workload: &mut Workload,
    sessions: Option<u32>,
    known: &dyn Known,
) -> Result<(), Fault> {
    if workload.sessions == 0 {
        workload.sessions = sessions.unwrap_or(1);
    }
    if workload.amount == Amount::Duration(Duration::ZERO) {
        let end = known.end(workload);
        let end = end.map_err(|message| Fault::at(&["workload"], message))?;
        workload.amount = end.ok_or_else(|| {
            Fault::at(
                &["workload"],
                "the workload has no end; give operations, or a duration such as \"10 s\"",
            )
        })?;
    }
    Ok(())
}

/// Fills in what the profile determines.
fn as_recorded(workload: &mut Workload, recorded: Recorded) -> Result<(), String> {
    if workload.sessions == 0 {
        workload.sessions = recorded.sessions;
    }
    if workload.amount == Amount::Duration(Duration::ZERO) {
        workload.amount = Amount::Duration(recorded.length);
    }
    if let Arrival::Open { rate_per_s } = &mut workload.arrival
        && *rate_per_s == 0.0
    {
        if recorded.operations_per_s >= RATE_MAX {
            return Err(format!(
                "the profile has {:e} operations per second, and at most {RATE_MAX:e} can be issued; correct it",
                recorded.operations_per_s
            ));
        }
        *rate_per_s = recorded.operations_per_s;
    }
    Ok(())
}

/// Rejects a number outside the workload's range.
fn check_range(
    script: &Script,
    ranges: &BTreeMap<String, RangeInclusive<i64>>,
    name: &str,
    value: &Parameter,
) -> Result<(), String> {
    let Some(range) = ranges.get(name) else {
        return Ok(());
    };
    let (least, most) = (*range.start(), *range.end());
    let is_in = match value {
        Parameter::Integer(value) => range.contains(value),
        Parameter::Number(value) => (least as f64..=most as f64).contains(value),
        Parameter::Text(_) => true,
    };
    match is_in {
        true => Ok(()),
        false => Err(format!(
            "workload.parameters.{name} is {value}, and workload \"{script}\" takes {least} to {most}; give a number in \
             that range"
        )),
    }
}

fn check_parameter(
    script: &Script,
    known: &BTreeMap<String, Parameter>,
    name: &str,
    value: &Parameter,
) -> Result<(), String> {
    let Some(default) = known.get(name) else {
        let hint = remedy(name, "it has", known.keys().map(String::as_str));
        return Err(format!(
            "workload \"{script}\" has no parameter \"{name}\"{hint}"
        ));
    };
    let of_a_kind = match default {
        Parameter::Integer(_) => matches!(value, Parameter::Integer(_)),
        Parameter::Number(_) => matches!(value, Parameter::Number(_) | Parameter::Integer(_)),
        Parameter::Text(_) => matches!(value, Parameter::Text(_)),
    };
    if of_a_kind {
        return Ok(());
    }
    Err(format!(
        "parameter \"{name}\" is {value}, which is not of the kind of its default, {default}"
    ))
}
