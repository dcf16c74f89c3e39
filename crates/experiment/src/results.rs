//! The results folder: the question, and one record per trial, each written as soon as it is available.
//!
//! ```text
//! dbstow.json                    the question and the plan: marks the folder as ours
//! records/000-local-ssd.json     block and arm
//! dbstow.lock                    locked while a run writes here; shared by trials that run one by one
//! ```
//!
//! Trials that are run one by one, on many machines, share a folder ([`Results::join`]): the first one writes the head, which is
//! identical for all, and each atomically writes its own records under unique names. They require no order and no lock among
//! themselves; the lock excludes a run, which may remove records.
//!
//! A folder that is only read is untrusted. A folder that is written to belongs to this user, and links in it are not followed
//! when files are written or removed.

mod error;
mod lock;
mod records;
mod records_folder;
mod unchecked;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use files::{FileError, Folder, Readers, input};
use serde::{Deserialize, Serialize};

use crate::plan::Plan;
use crate::question::Question;
use crate::record::strict;
use error::{HEAD, SCHEMA};
use lock::{LOCK, lock, lock_shared};
use records_folder::{check_records, own_records, remove_records};

pub use error::ResultsError;

/// Default location of results: each plan has its own folder in it.
pub const ALL: &str = "dbstow-results";
/// Temporary name of the head while it is written, before temporary files had unique names.
const FORMER_PART: &str = "dbstow.part";

/// A folder of results.
#[derive(Debug)]
pub struct Results {
    folder: PathBuf,
    /// The question that the records answer.
    pub question: Question,
    /// The plan.
    pub plan: Plan,
    /// Where records are written; `None` for read-only results.
    writing: Option<Writing>,
}

/// Resources that a run holds while it writes records.
#[derive(Debug)]
struct Writing {
    records: Folder,
    /// The system releases it when this process ends for any reason; `None` if trials share a folder on a file system without
    /// locks.
    _lock: Option<File>,
}

/// `dbstow.json`.
#[derive(Serialize)]
struct Head<'a> {
    schema: &'static str,
    question: &'a Question,
    plan: serde_json::Value,
}

/// `dbstow.json` as read, untrusted.
#[derive(Deserialize)]
struct Found {
    question: unchecked::UncheckedQuestion,
    plan: serde_json::Value,
}

impl Results {
    /// Opens a folder for the records of `plan`: a new one, or one that already contains records of this plan.
    ///
    /// `fresh` removes what dbstow wrote there before, and nothing else.
    ///
    /// # Errors
    /// When the folder does not belong to dbstow or to this plan, or another run writes there, or it cannot be written.
    pub fn create(
        folder: &Path,
        question: Question,
        plan: Plan,
        fresh: bool,
    ) -> Result<Results, ResultsError> {
        let shown = folder.display().to_string();
        let (place, there) = claimed(folder)?;
        let lock = lock(&place)?;
        if there && !fresh {
            let found = Results::open(folder)?.plan.digest().to_owned();
            if found != plan.digest() {
                let wanted = plan.digest().to_owned();
                return Err(ResultsError::OtherPlan {
                    folder: shown,
                    found,
                    wanted,
                });
            }
        }
        let head = head(&question, &plan);
        place.write(HEAD.as_ref(), head.as_bytes(), Readers::Umask)?;
        let records = own_records(&place)?;
        remove_unfinished(&place, Some(FORMER_PART))?;
        remove_unfinished(&records, None)?;
        if fresh {
            remove_records(&records)?;
        }
        let writing = Writing {
            records,
            _lock: Some(lock),
        };
        Ok(Results {
            folder: folder.to_owned(),
            question,
            plan,
            writing: Some(writing),
        })
    }

    /// Opens a folder for records of `plan` that other processes, also on other machines, may write to concurrently, each for
    /// different trials of the plan.
    ///
    /// # Errors
    /// When the folder does not belong to dbstow or to this plan, or a run writes there, or it cannot be written.
    pub fn join(folder: &Path, question: Question, plan: Plan) -> Result<Results, ResultsError> {
        let (place, there) = claimed(folder)?;
        let lock = lock_shared(&place)?;
        if !there {
            let head = head(&question, &plan);
            match place.write_new(HEAD.as_ref(), head.as_bytes(), Readers::Umask) {
                // Another trial was first.
                Ok(()) | Err(FileError::Exists(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Results::check_head(folder, &plan)?;
        let writing = Writing {
            records: own_records(&place)?,
            _lock: lock,
        };
        Ok(Results {
            folder: folder.to_owned(),
            question,
            plan,
            writing: Some(writing),
        })
    }

    /// Rejects a folder whose head does not match `plan`.
    fn check_head(folder: &Path, plan: &Plan) -> Result<(), ResultsError> {
        let found = Results::open(folder)?.plan;
        let folder = folder.display().to_string();
        match (found.digest() == plan.digest(), found == *plan) {
            (true, true) => Ok(()),
            (true, false) => Err(ResultsError::OtherWords { folder }),
            (false, _) => Err(ResultsError::OtherPlan {
                folder,
                found: found.digest().to_owned(),
                wanted: plan.digest().to_owned(),
            }),
        }
    }

    /// Opens existing results.
    ///
    /// # Errors
    /// When they do not exist or cannot be read.
    pub fn open(folder: &Path) -> Result<Results, ResultsError> {
        let head = folder.join(HEAD);
        let file = head.display().to_string();
        let text = input::regular(&head, input::BYTES_MAX);
        let text = text.map_err(|source| match source.kind() {
            // The latter: a file was given.
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ResultsError::Missing {
                folder: folder.display().to_string(),
            },
            _ => ResultsError::io(&head, source),
        })?;
        let value: serde_json::Value =
            strict::parse(&text).map_err(|source| ResultsError::Head {
                file: file.clone(),
                source,
            })?;
        let found = value["schema"].as_str().unwrap_or("none").to_owned();
        if found != SCHEMA {
            return Err(ResultsError::Version { file, found });
        }
        let found: Found = serde_json::from_value(value).map_err(|source| ResultsError::Head {
            file: file.clone(),
            source,
        })?;
        let plan = Plan::from_json(&found.plan.to_string());
        let plan = plan.map_err(|source| ResultsError::Plan {
            file: file.clone(),
            source,
        })?;
        let question = found.question.check(&plan);
        let question = question.map_err(|what| ResultsError::Question { file, what })?;
        check_records(folder)?;
        Ok(Results {
            folder: folder.to_owned(),
            question,
            plan,
            writing: None,
        })
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

/// The folder, created if missing, and whether it has a head.
fn claimed(folder: &Path) -> Result<(Folder, bool), ResultsError> {
    let parent = folder.parent();
    if let Some(parent) = parent.filter(|parent| parent.file_name() == Some(OsStr::new(ALL))) {
        // A name chosen by dbstow, which is predictable for other users.
        Folder::to_fill(parent, Readers::Umask)?;
    }
    let place = Folder::to_fill(folder, Readers::Umask)?;
    let is_ours = |name: &OsString| {
        name.as_os_str() == OsStr::new(LOCK) || place.is_unfinished_file(name, Some(FORMER_PART))
    };
    let is_fit = place.holds(HEAD.as_ref()) || place.names()?.iter().all(is_ours);
    // A trial that shares the folder may have written its head since the first check.
    let there = place.holds(HEAD.as_ref());
    match is_fit || there {
        true => Ok((place, there)),
        false => Err(ResultsError::NotOurs {
            folder: folder.display().to_string(),
        }),
    }
}

/// The text of `dbstow.json`.
fn head(question: &Question, plan: &Plan) -> String {
    let head = Head {
        schema: SCHEMA,
        question,
        plan: serde_json::from_str(&plan.to_json()).expect("a plan is JSON"),
    };
    serde_json::to_string_pretty(&head).expect("its keys are texts")
}

/// Removes partial files left by a killed run.
fn remove_unfinished(folder: &Folder, former: Option<&str>) -> Result<(), ResultsError> {
    for name in folder.names()? {
        if folder.is_unfinished_file(&name, former) {
            folder.remove_file(&name)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
