//! Rules for settings from any source: a resolved experiment, or a plan from a file.
//!
//! Each rule is defined here, on resolved settings, and both [`super::resolve`] and [`crate::plan`] apply it. Errors that only
//! exist in the written form (two keys for the same setting, a burst without credits) are found by `resolve`.

mod disks;
mod engine;
mod files;
mod workload;

pub(crate) use disks::{check_disks, check_host_cache_is_used, machine, volume};
pub(crate) use engine::{MEMORY_MIN, engine};
pub(crate) use files::{check_fits, file_count, file_size, placement, undefined};
pub(crate) use workload::{arrival, parameters, sessions, workload};

use std::collections::BTreeSet;

use model::Bytes;

use super::Mode;
use super::error::Fault;
use super::own;
use super::placement::{Placement, Role};
use super::settings::{Engine, Script, Settings};

/// Checks an arm's settings alone: names are resolved by [`super::Known`].
pub(crate) fn settings(settings: &Settings, mode: Mode) -> Result<(), Fault> {
    machine(&settings.machine)?;
    check_disks(&settings.volumes)?;
    let mut names = BTreeSet::new();
    for checked in &settings.volumes {
        volume(checked)?;
        if !names.insert(checked.name.as_str()) {
            let message = format!("volume \"{}\" is defined twice; keep one", checked.name);
            return Err(Fault::at(&["volume", &checked.name], message));
        }
    }
    placement(&settings.placement, &names)?;
    let used = settings.placement.volumes();
    if let Some(idle) = names.difference(&used).next() {
        let message = format!("volume \"{idle}\" holds no file of the placement; remove it");
        return Err(Fault::at(&["volume", idle], message));
    }
    engine(&settings.engine)?;
    own::check_simulated(&settings.engine.own, mode)?;
    workload(&settings.workload)?;
    together(settings)
}

/// Checks that machine, volumes, placement, workload and engine fit together.
pub(crate) fn together(settings: &Settings) -> Result<(), Fault> {
    match settings.workload.script {
        Script::Profile { .. } => check_recorded(&settings.placement)?,
        Script::BuiltIn(_) | Script::Folder(_) => {}
    }
    check_disks(&settings.volumes)?;
    for volume in &settings.volumes {
        check_fits(&settings.placement, volume, volume.provision.size)?;
    }
    check_memory(settings)
}

/// Rejects files of roles that a profile does not have: they would get no requests.
fn check_recorded(placement: &Placement) -> Result<(), Fault> {
    let is_unknown =
        |role: &Role| !Role::COMMON.contains(role) && !placement.files(*role).is_empty();
    let Some(role) = Role::ALL.into_iter().find(is_unknown) else {
        return Ok(());
    };
    let message = format!(
        "placement \"{}\" says where {role} lives, and a profile has requests for data, temp and log alone; remove {role}",
        placement.name
    );
    Err(Fault::at(
        &["placement", &placement.name, role.name()],
        message,
    ))
}

/// Rejects caches that do not fit into the machine's memory.
fn check_memory(settings: &Settings) -> Result<(), Fault> {
    let Engine {
        memory, page_cache, ..
    } = settings.engine;
    let Some(there) = settings.machine.memory else {
        return Ok(());
    };
    if there < memory {
        let message = format!("a buffer pool of {memory} does not fit into a machine with {there}");
        return Err(Fault::at(&["engine", "memory"], message));
    }
    if there < Bytes(memory.0 + page_cache.0) {
        let message = format!(
            "a buffer pool of {memory} and a page cache of {page_cache} do not fit into a machine with {there}"
        );
        return Err(Fault::at(&["engine", "page_cache"], message));
    }
    Ok(())
}
