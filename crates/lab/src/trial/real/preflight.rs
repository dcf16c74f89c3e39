//! Checks this machine for what a run in real time needs, before anything is created: one message instead of a failed
//! trial of each arm.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};

use host::plain::free_space;
use model::Bytes;

use super::error::VolumesError;
use super::work_dir::WorkDirError;
use crate::trial::memory;
#[cfg(all(target_os = "linux", feature = "emulator"))]
use engine::FrontKind;
use engine::{EngineError, EngineProvider, Measured, Modelled, Options};
use experiment::plan::Plan;
use experiment::spec::{Arm, Mode};

/// Why this build mounts no modelled disks, and the remedy.
#[cfg(not(target_os = "linux"))]
pub(super) const MISSING: &str = "modelled disks under real files need Linux (FUSE)";

/// Why this build mounts no modelled disks, and the remedy.
#[cfg(all(target_os = "linux", not(feature = "emulator")))]
pub(super) const MISSING: &str = "this dbstow was built without the emulator (cargo feature `emulator`), which puts modelled disks \
                                  under real files; take --engine sqlite, or a build with it";

/// Minimum free space for a run, if the experiment does not specify the size of its files.
const SPACE_LEAST: Bytes = Bytes::gib(1);

/// The parent directories of a run's own directories.
pub(super) struct Parents {
    /// Absolute paths.
    pub(super) paths: Vec<PathBuf>,
    /// Which of them each volume is on; unlisted volumes are on the first.
    pub(super) on: BTreeMap<String, usize>,
}

/// Checks for the engine, the means to emulate, memory and space; simulate needs no check. Returns where directories
/// are to be created.
///
/// # Errors
/// What is missing, with the remedy.
pub(super) fn look(
    plan: &Plan,
    engine: &dyn EngineProvider,
    options: &Options,
) -> Result<Parents, VolumesError> {
    let mode = plan.variant.mode;
    engine.look(options, mode)?;
    if mode == Mode::Emulate {
        fuse(engine, options)?;
    }
    if options.server.is_none() {
        plan.arms.iter().try_for_each(check_memory)?;
    }
    let parents = parents(mode, engine.measured(&plan.arms), options)?;
    for (place, parent) in parents.paths.iter().enumerate() {
        let holds = |volume: &str| parents.on.get(volume).map_or(place == 0, |on| *on == place);
        check_space(parent, space(&plan.arms, holds))?;
    }
    Ok(parents)
}

/// The same for callers that only need the check.
///
/// # Errors
/// What is missing, with the remedy.
pub fn check(
    plan: &Plan,
    engine: &dyn EngineProvider,
    options: &Options,
) -> Result<(), VolumesError> {
    look(plan, engine, options).map(|_| ())
}

/// Whether modelled disks can be mounted.
#[cfg(all(target_os = "linux", feature = "emulator"))]
fn fuse(engine: &dyn EngineProvider, options: &Options) -> Result<(), EngineError> {
    if engine.modelled() == Modelled::Paced {
        return Ok(());
    }
    let missing = |error: emulator::EmulationError| EngineError::Missing(error.to_string());
    emulator::device().map_err(missing)?;
    match options.front {
        Some(FrontKind::Block) if !nix::unistd::geteuid().is_root() => Err(EngineError::Missing(
            "--front block needs root, for its loop device and the filesystem on it; run as root, or leave --front out"
                .to_owned(),
        )),
        Some(FrontKind::Block | FrontKind::File) | None => Ok(()),
    }
}

#[cfg(not(all(target_os = "linux", feature = "emulator")))]
fn fuse(engine: &dyn EngineProvider, _options: &Options) -> Result<(), EngineError> {
    match engine.modelled() {
        Modelled::Paced => Ok(()),
        Modelled::Mounted { .. } => Err(EngineError::Missing(MISSING.to_owned())),
    }
}

/// Refuses a buffer pool larger than this machine's memory.
fn check_memory(arm: &Arm) -> Result<(), EngineError> {
    let asked = arm.settings.engine.memory;
    match memory().filter(|there| asked > *there) {
        None => Ok(()),
        Some(there) => Err(EngineError::Missing(format!(
            "arm \"{}\" gives the engine {asked} of memory, and this machine has {there}; lower it (--set \
             engine.memory=..)",
            arm.name
        ))),
    }
}

fn parents(mode: Mode, measured: Measured, options: &Options) -> Result<Parents, VolumesError> {
    let temporary = env::temp_dir();
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut on = BTreeMap::new();
    match (mode, measured) {
        (Mode::Measure, Measured::Server(_)) => {}
        (Mode::Measure, Measured::Directories) => {
            for (volume, directory) in &options.volumes {
                let whole = whole(directory)?;
                let known = paths.iter().position(|path| *path == whole);
                let place = known.unwrap_or(paths.len());
                if known.is_none() {
                    paths.push(whole);
                }
                on.insert(volume.clone(), place);
            }
        }
        (Mode::Simulate | Mode::Emulate, _) => {
            paths.push(whole(options.backing.as_ref().unwrap_or(&temporary))?);
            paths.push(whole(&temporary)?);
            paths.dedup();
        }
    }
    Ok(Parents { paths, on })
}

/// Space that the files on the volumes selected by `holds` may need, for the arm that needs most.
fn space(arms: &[Arm], holds: impl Fn(&str) -> bool) -> Bytes {
    let of_arm = |arm: &Arm| {
        let volumes = arm.settings.volumes.iter();
        let volumes = volumes.filter(|volume| holds(&volume.name));
        volumes
            .map(|volume| arm.settings.placement.size_on(&volume.name).0)
            .sum()
    };
    Bytes(arms.iter().map(of_arm).max().unwrap_or(0)).max(SPACE_LEAST)
}

fn check_space(directory: &Path, needed: Bytes) -> Result<(), VolumesError> {
    if !directory.is_dir() {
        return Err(WorkDirError::NoDirectory(directory.to_owned()).into());
    }
    let free = free_space(directory).map_err(|source| VolumesError::Io {
        what: format!("the free space of {}", directory.display()),
        source,
    })?;
    if free >= needed {
        return Ok(());
    }
    Err(VolumesError::Full {
        directory: directory.to_owned(),
        free,
        needed,
    })
}

fn whole(directory: &Path) -> Result<PathBuf, VolumesError> {
    match directory.canonicalize() {
        Ok(whole) => Ok(whole),
        Err(source) if source.kind() == std::io::ErrorKind::NotFound => {
            Err(WorkDirError::NoDirectory(directory.to_owned()).into())
        }
        Err(source) => Err(VolumesError::Io {
            what: directory.display().to_string(),
            source,
        }),
    }
}
