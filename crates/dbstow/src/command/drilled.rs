//! What an earlier drill found, for the reports of other commands (`--drill FOLDER`).

use std::path::Path;

use analysis::findings::Findings;
use analysis::report::advice::document::Advice;
use analysis::report::drill::document::{Drill, SCHEMA};

use super::Mistake;

/// Name of the document in the folder of a drill.
pub(super) const DOCUMENT: &str = "drill.json";

/// Reads the document in the folder of a drill. `asked` is what the user gave, for errors: `--drill wal-apart-drill`.
///
/// # Errors
/// When there is none, or it is of another version.
pub(super) fn read(folder: &Path, asked: &str) -> Result<Drill, Mistake> {
    let file = folder.join(DOCUMENT);
    let mistake = |why: String| Mistake(format!("{asked}: {}: {why}", file.display()));
    let text = files::input::named(&file)
        .map_err(|error| mistake(format!("{error}; give the folder of a drill")))?;
    let drill: Drill = serde_json::from_str(&text)
        .map_err(|error| mistake(format!("it is no document of a drill: {error}")))?;
    match drill.schema == SCHEMA {
        true => Ok(drill),
        false => Err(mistake(format!(
            "it is of another version ({}); drill again",
            drill.schema
        ))),
    }
}

/// Reads a drill that proves something.
///
/// # Errors
/// When there is none, or one of its controls was not noticed.
fn proven(folder: &Path) -> Result<Drill, Mistake> {
    let asked = format!("--drill {}", folder.display());
    let drill = read(folder, &asked)?;
    match drill.proves {
        true => Ok(drill),
        false => Err(Mistake(format!("{asked}: {} Drill again.", drill.answer))),
    }
}

/// Checks that a drill may stand in a report of the experiment.
///
/// # Errors
/// When there is none, it proves nothing, or it is of another experiment.
pub(super) fn check(folder: &Path, experiment: &str) -> Result<(), Mistake> {
    let drill = proven(folder)?;
    match drill.experiment == experiment {
        true => Ok(()),
        false => Err(Mistake(format!(
            "--drill {}: it is a drill of the experiment {}, not of {experiment}; run dbstow drill {experiment}",
            folder.display(),
            drill.experiment
        ))),
    }
}

/// Adds what a drill found to the arms of the same names.
///
/// # Errors
/// When it cannot be read, or has none of them.
pub(super) fn add_to_findings(folder: &Path, findings: &mut Findings) -> Result<(), Mistake> {
    check(folder, &findings.experiment)?;
    match proven(folder)?.add_to_findings(findings) {
        0 => Err(none(folder, "arms")),
        _ => Ok(()),
    }
}

/// Adds what a drill found to the layouts with the same files on the same disks.
///
/// # Errors
/// When it cannot be read, or has none of them.
pub(super) fn add_to_advice(folder: &Path, advice: &mut Advice) -> Result<(), Mistake> {
    match proven(folder)?.add_to_advice(advice) {
        0 => Err(none(folder, "layouts")),
        _ => Ok(()),
    }
}

fn none(folder: &Path, what: &str) -> Mistake {
    Mistake(format!(
        "--drill {}: none of its placements is one of the {what} here",
        folder.display()
    ))
}
