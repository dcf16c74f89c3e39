//! Errors in a workload.

use std::io;
use std::path::PathBuf;

use super::script::ScriptError;
use super::value::Value;

/// An error in a workload, with its location if it has one.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// An unknown name of a built-in workload.
    #[error("no workload `{name}`{remedy}; a folder of your own is given by its path")]
    UnknownWorkload {
        /// The name.
        name: String,
        /// The nearest one, or all.
        remedy: String,
    },
    /// A file that cannot be read.
    #[error("{}: cannot be read: {source}{}", path.display(), remedy_of(source))]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A file that is not the TOML or JSON it should be.
    #[error("{file}:{line}: {message}")]
    Syntax {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u32,
        /// What is wrong, and what is expected.
        message: String,
    },
    /// A script that the folder does not hold.
    #[error("{file}:{line}: script `{script}` is not in the folder{remedy}")]
    MissingScript {
        /// The file that names it.
        file: String,
        /// The line, from 1.
        line: u32,
        /// The script.
        script: String,
        /// The nearest one, or all.
        remedy: String,
    },
    /// A workload that does nothing.
    #[error("{file}:{line}: {what}; a run needs at least one script with a statement or a wait")]
    Empty {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u32,
        /// What is empty.
        what: String,
    },
    /// A value outside of its range.
    #[error("{file}:{line}: {key} is {given}; {wanted}")]
    Value {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u32,
        /// The key.
        key: &'static str,
        /// The value.
        given: String,
        /// What is allowed.
        wanted: String,
    },
    /// A mistake in a script.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// A parameter that the workload does not have.
    #[error("workload `{workload}` has no parameter `{name}`{remedy}")]
    UnknownParameter {
        /// The workload.
        workload: String,
        /// The parameter.
        name: String,
        /// The nearest one, or all.
        remedy: String,
    },
    /// A text for a number, or the other way round.
    #[error(
        "parameter `{name}` of workload `{workload}` cannot be `{given}`; give the same kind of value as its default, `{default}`"
    )]
    ParameterKind {
        /// The workload.
        workload: String,
        /// The parameter.
        name: String,
        /// Its new value.
        given: Value,
        /// Its current value.
        default: Value,
    },
    /// A parameter outside of the range that the workload gives it.
    #[error(
        "workload.parameters.{name} is {given}, and workload `{workload}` has a range for it: {least} to {most}; give a number in it"
    )]
    Range {
        /// The workload.
        workload: String,
        /// The parameter.
        name: String,
        /// Its new value.
        given: Value,
        /// The minimum.
        least: i64,
        /// The maximum.
        most: i64,
    },
    /// A parameter that does not determine the length of a run.
    #[error(
        "workload `{workload}` runs for as long as its parameter `{name}` says, which is {given}; give a whole number of operations above 0, or a span such as \"10 s\""
    )]
    Length {
        /// The workload.
        workload: String,
        /// The parameter.
        name: String,
        /// Its value.
        given: String,
    },
}

/// The remedy, if the reason does not imply it.
fn remedy_of(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::InvalidInput => "",
        _ => "; check the path and its permissions",
    }
}

/// The line that byte `offset` of `text` is on, from 1.
pub(super) fn line_of(text: &str, offset: usize) -> u32 {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let lines = before.iter().filter(|byte| **byte == b'\n').count();
    u32::try_from(lines + 1).unwrap_or(u32::MAX)
}
