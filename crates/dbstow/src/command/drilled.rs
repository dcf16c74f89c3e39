//! Findings of an earlier drill, for the reports of other commands (`--drill FOLDER`).

use std::path::Path;

use analysis::findings::Findings;
use analysis::report::advice::document::Advice;
use analysis::report::drill::document::Drill;
use files::{Folder, input};

use super::UsageError;
use super::output::note;

/// Name of the document in the folder of a drill.
pub(super) const DOCUMENT: &str = "drill.json";

/// Reads the document in the folder of a drill. `asked` is the user's option, for errors: `--drill wal-apart-drill`.
///
/// # Errors
/// When it does not exist, or has another version.
pub(super) fn read(folder: &Path, asked: &str) -> Result<Drill, UsageError> {
    let own = Folder::open(folder);
    let text = own.and_then(|own| input::inside(&own, DOCUMENT, input::BYTES_MAX));
    let text =
        text.map_err(|error| UsageError(format!("{asked}: {error}; give the folder of a drill")))?;
    Drill::parse(&text).map_err(|why| {
        let file = folder.join(DOCUMENT);
        UsageError(format!(
            "{asked}: {}: it is not a document of a drill: {why}; drill again",
            file.display()
        ))
    })
}

/// Reads a drill that is valid for advice: of a server, with all controls detected.
///
/// # Errors
/// When it does not exist, one of its controls was not detected, or it is of SQLite.
pub(super) fn of_server(folder: &Path) -> Result<Drill, UsageError> {
    let drill = proven(folder)?;
    match drill.asked.engine == "sqlite" {
        true => Err(UsageError(format!(
            "--drill {}: it is a drill of SQLite, and advice is for a server",
            folder.display()
        ))),
        false => Ok(drill),
    }
}

/// Reads a drill whose controls were all detected.
///
/// # Errors
/// When it does not exist, or one of its controls was not detected.
fn proven(folder: &Path) -> Result<Drill, UsageError> {
    let asked = format!("--drill {}", folder.display());
    let drill = read(folder, &asked)?;
    match drill.proves {
        true => Ok(drill),
        false => Err(UsageError(format!(
            "{asked}: {} Drill again.",
            drill.answer
        ))),
    }
}

/// Reads a drill that is valid for a report of the experiment.
///
/// # Errors
/// When it does not exist, a control was not detected, or it is of another experiment.
pub(super) fn of_experiment(folder: &Path, experiment: &str) -> Result<Drill, UsageError> {
    let drill = proven(folder)?;
    match drill.experiment == experiment {
        true => Ok(drill),
        false => Err(UsageError(format!(
            "--drill {}: it is a drill of the experiment {}, not of {experiment}; run dbstow drill {experiment}",
            folder.display(),
            drill.experiment
        ))),
    }
}

/// Adds a drill's findings to the arms with the same names and disks.
///
/// # Errors
/// When it cannot be read.
pub(super) fn add_to_findings(folder: &Path, findings: &mut Findings) -> Result<(), UsageError> {
    let drill = of_experiment(folder, &findings.experiment)?;
    if drill.add_to_findings(findings) == 0 {
        none(folder, "an arm");
    }
    Ok(())
}

/// Adds a drill's findings to the layouts with the same files on the same disks.
pub(super) fn add_to_advice(folder: &Path, drill: &Drill, advice: &mut Advice) {
    if drill.add_to_advice(advice) == 0 {
        none(folder, "a layout");
    }
}

/// The request itself is still answered.
fn none(folder: &Path, what: &str) {
    note(&format!(
        "dbstow: --drill {}: none of its placements is {what} here, on the same disks",
        folder.display()
    ));
}
