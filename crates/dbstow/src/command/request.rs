//! Requests of the command line: what arguments name is read, and errors name the option that was given.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use catalogue::Catalogue;

use super::UsageError;
use super::output::note;
use crate::engines::ENGINES;
use experiment::kind::{Kind, OtherKind};
use experiment::spec::{ExperimentText, Idle, Located, SpecError, builtin_names};
use files::input;
use lab::request::{
    RequestError, ResolvedRun, RunRequest, inputs, layout_of, recorded_layout, with_recorded_disks,
};

/// Resolves `request` for the engines of this build.
///
/// # Errors
/// When something cannot be read, is invalid, or is inconsistent.
pub(super) fn resolved(request: &RunRequest) -> Result<ResolvedRun> {
    let resolved = request.resolve(ENGINES);
    resolved.map_err(|error| in_options(request, error))
}

/// The error rewritten for the given option, where that is a shorthand for `--set`.
pub(super) fn in_options(request: &RunRequest, error: RequestError) -> anyhow::Error {
    let RequestError::Spec(SpecError::Override {
        key,
        value,
        message,
    }) = &error
    else {
        return error.into();
    };
    let is_set = (request.set.iter()).any(|(set, to)| set == key && to == value);
    let volume = key.strip_prefix("volume.");
    let disk = (request.disks.iter()).find(|(name, _)| volume == Some(name.as_str()));
    let option = match (key.as_str(), disk) {
        _ if is_set => return error.into(),
        ("workload.folder", _) => format!("--workload {value}"),
        ("workload.profile", _) => match not_a_profile(value) {
            Some(other) => return other.into(),
            // It names the file, for which not every command has an option.
            None if message.starts_with(value.as_str()) => {
                return UsageError(message.clone()).into();
            }
            None => format!("--profile {value}"),
        },
        ("protocol.blocks", _) => format!("--blocks {value}"),
        ("protocol.seed", _) => format!("--seed {value}"),
        (_, Some((volume, file))) => format!("--disk {volume}={}", file.display()),
        (_, None) => return error.into(),
    };
    UsageError(format!("{option}: {message}")).into()
}

/// What the file named by a user is, if it is not a profile but a file of another kind. A pipe was read already.
fn not_a_profile(file: &str) -> Option<OtherKind> {
    let text = input::regular(Path::new(file), input::BYTES_MAX).ok()?;
    Kind::Profile.check(file, &text).err()
}

/// The built-in experiment `name`, or the one in the file of this name.
///
/// # Errors
/// When there is none, or the file cannot be read.
pub(super) fn experiment_named(name: &str) -> Result<ExperimentText, RequestError> {
    match is_path(name) {
        true => Ok(reported(name, inputs::experiment(name)?)),
        false => Ok(ExperimentText::builtin(name)?),
    }
}

/// What `--today` names in place of a file: the disks as the profile shows them.
const RECORDED: &str = "recorded";

/// The layout in the file `today`, as `profile` shows it, or, without either, of the disks named in `profile`; `window` is the
/// part of it that is replayed, and `set` are keys that the user sets.
///
/// # Errors
/// When there is no such layout.
pub(super) fn layout_of_today(
    profile: &str,
    today: Option<&str>,
    window: Option<&str>,
    set: &[(String, String)],
) -> Result<ExperimentText> {
    // A text that is not a time is refused with its option.
    let window = window.and_then(|window| window.parse().ok());
    match today {
        Some(RECORDED) => {
            let recorded = recorded_layout(profile, window, set)?;
            for text in recorded.notes {
                note(&format!("dbstow: {text}"));
            }
            Ok(recorded.text)
        }
        Some(file) => {
            check_no_machine(file)?;
            let read = inputs::layout(file)?;
            let text = with_recorded_disks(read.text, profile, window)?;
            Ok(reported(file, Located { text, ..read }))
        }
        None => Ok(layout_of(profile)?),
    }
}

/// Refuses a machine's name in place of a file: it does not say which disks the server has.
fn check_no_machine(file: &str) -> Result<(), UsageError> {
    if Path::new(file).exists() {
        return Ok(());
    }
    let catalogue = Catalogue::builtin();
    let Ok(machine) = catalogue.machine(file) else {
        return Ok(());
    };
    let service = catalogue.service_of(&machine.name);
    let disk = |role: &str| {
        let storage = service.and_then(|service| service.storage_for(role).next());
        storage.map_or("DISK", |storage| storage.disk.as_str())
    };
    let (mut volumes, mut placement) = (String::new(), String::new());
    let mut known: Vec<(&str, &str)> = Vec::new();
    for role in ["data", "temp", "log"] {
        let disk = disk(role);
        let volume = known.iter().find(|(known, _)| *known == disk);
        let volume = volume.map_or(role, |(_, volume)| volume);
        if volume == role {
            known.push((disk, role));
            let size = if disk == "local" {
                ""
            } else {
                "size = \"100 GiB\"\n"
            };
            volumes += &format!("[volume.{role}]\ndisk = \"{disk}\"\n{size}");
        }
        placement += &format!("{role} = {{ volumes = \"{volume}\" }}\n");
    }
    Err(UsageError(format!(
        "--today {file}: the name of a machine does not say which disks it has; give a file that does, such as\n\n[machine]\ntype = \
         \"{}\"\n{volumes}[placement.today]\n{}",
        machine.name,
        placement.trim_end()
    )))
}

/// The text of `file`; prints what is to be noted of it.
fn reported(file: &str, read: Located) -> ExperimentText {
    for text in read.notes {
        note(&format!("dbstow: {text}"));
    }
    ExperimentText::of_file(file, read.text)
}

/// A built-in name is always that experiment, whatever the current folder contains.
pub(super) fn is_path(experiment: &str) -> bool {
    !builtin_names().contains(&experiment)
        && (experiment.contains(['/', '\\', '.']) || Path::new(experiment).exists())
}

/// Reports the keys that have no effect, grouped by reason.
pub(super) fn report_idle(idle: &[Idle]) {
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for Idle { key, why } in idle {
        by_reason.entry(why).or_default().push(key);
    }
    for (why, keys) in by_reason {
        note(&format!(
            "dbstow: without effect: {} ({why})",
            keys.join(", ")
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_built_in_name_is_not_taken_for_a_path() {
        assert!(!is_path("tempdb-spill"));
        assert!(!is_path("tempdb-spil"));
        assert!(is_path("mine.toml"));
        assert!(is_path("experiments/tempdb-spill.toml"));
    }
}
