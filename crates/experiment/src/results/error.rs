//! Why a results folder cannot be used.

use std::io;
use std::path::Path;

use files::FileError;

use crate::plan::PlanError;

/// The name and version of `dbstow.json`.
pub(super) const SCHEMA: &str = "dbstow.results/1";
pub(super) const HEAD: &str = "dbstow.json";

/// Errors of a results folder.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// It is not empty, but does not contain results of dbstow.
    #[error("{folder} is not empty and holds no results of dbstow; give another folder with --out")]
    NotOurs {
        /// The folder.
        folder: String,
    },
    /// It contains results of another plan.
    #[error(
        "{folder} holds results of another plan ({found}, this one is {wanted}); give another folder with --out, or --fresh to replace them"
    )]
    OtherPlan {
        /// The folder.
        folder: String,
        /// Digest found.
        found: String,
        /// Digest wanted.
        wanted: String,
    },
    /// It contains results of a plan that differs only in parts that do not affect trials.
    #[error(
        "{folder} holds results of the same experiment with another number of blocks, margin, metric or text; give \
         another folder with --out"
    )]
    OtherWords {
        /// The folder.
        folder: String,
    },
    /// A run, or trials that share the folder, are writing to it.
    #[error(
        "another run{by} or dbstow trial is writing to {folder}; wait until it ends, or give another folder with --out"
    )]
    InUse {
        /// The folder.
        folder: String,
        /// The process that holds the lock, if known.
        by: String,
    },
    /// It contains no results.
    #[error(
        "{folder} holds no results of dbstow (no {HEAD}); give a folder that `dbstow run` wrote"
    )]
    Missing {
        /// The folder.
        folder: String,
    },
    /// Its head cannot be read.
    #[error("{file}: {source}; the folder's records are untouched")]
    Head {
        /// The file.
        file: String,
        /// Why.
        source: serde_json::Error,
    },
    /// It was written by another version.
    #[error(
        "{file} has the format \"{found}\", and this program reads \"{SCHEMA}\"; use the version that wrote it"
    )]
    Version {
        /// The file.
        file: String,
        /// The format found.
        found: String,
    },
    /// Its plan cannot be read.
    #[error("{file}: {source}")]
    Plan {
        /// The file.
        file: String,
        /// Why.
        source: PlanError,
    },
    /// Its question does not match its plan.
    #[error("{file}: {what}; the file was changed: run the experiment again")]
    Question {
        /// The file.
        file: String,
        /// The key, the value, and the required value.
        what: String,
    },
    /// `records` is not a directory of its own.
    #[error(
        "{path} is {what}, not a directory, and is not read; put the directory that dbstow wrote in its place, or run the \
         experiment again"
    )]
    Records {
        /// Where it should be.
        path: String,
        /// What is there.
        what: &'static str,
    },
    /// A file in it cannot be written, or does not belong to dbstow.
    #[error(transparent)]
    File(#[from] FileError),
    /// A system call failed.
    #[error("{path}: {source}")]
    Io {
        /// Which file or folder.
        path: String,
        /// Why.
        source: io::Error,
    },
}

impl ResultsError {
    pub(super) fn io(path: &Path, source: io::Error) -> ResultsError {
        ResultsError::Io {
            path: path.display().to_string(),
            source,
        }
    }
}
