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

mod asked;
mod lock;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use files::{FileError, Folder, Readers};
use model::Duration;
use serde::{Deserialize, Serialize};

use crate::plan::{Plan, PlanError, Trial};
use crate::question::{Question, Warning};
use crate::record::check::check;
use crate::record::{self, Outcome, Record, strict};
use crate::spec::Mode;
use crate::spec::bounds::in_file_name;
use files::input;
use lock::{lock, lock_shared};

/// The name and version of `dbstow.json`.
const SCHEMA: &str = "dbstow.results/1";
const HEAD: &str = "dbstow.json";
/// Default location of results: each plan has its own folder in it.
pub const ALL: &str = "dbstow-results";
const RECORDS: &str = "records";
const LOCK: &str = "dbstow.lock";
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
    question: asked::Unchecked,
    plan: serde_json::Value,
}

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
        remove_remains(&place, Some(FORMER_PART))?;
        remove_remains(&records, None)?;
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

    /// The record of `trial` in `folder`, if it exists and belongs to `plan`: no other record is read.
    pub fn record_of(folder: &Path, plan: &Plan, trial: &Trial) -> Option<Record> {
        let name = file_name(trial.block, &trial.arm);
        let record = read_record(&folder.join(RECORDS).join(name), plan).ok()?;
        (record.arm == trial.arm && record.block == trial.block).then_some(record)
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
            _ => io_error(&head, source),
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

    /// When the newest record was written, as `2026-11-21 08:40:12 UTC`; `None` without any.
    pub fn finished(&self) -> Option<String> {
        let entries = self.folder.join(RECORDS).read_dir().ok()?.flatten();
        let written = entries.filter_map(|entry| entry.metadata().ok()?.modified().ok());
        let text = humantime::format_rfc3339_seconds(written.max()?).to_string();
        Some(text.replace('T', " ").replace('Z', " UTC"))
    }

    /// Trials without a record. In real time, failed trials are retried: what was missing may be available now. In virtual time
    /// they would fail again.
    pub fn outstanding(&self) -> Vec<Trial> {
        self.outstanding_of(&self.plan)
    }

    /// Outstanding trials of `plan`, which may have more blocks than the results' own plan; all trials if it is a different plan.
    pub fn outstanding_of(&self, plan: &Plan) -> Vec<Trial> {
        if plan.digest() != self.plan.digest() {
            return plan.trials().to_vec();
        }
        let (records, _) = self.records();
        let again = self.plan.variant.mode != Mode::Simulate;
        let counts = |record: &&Record| !again || record.outcome == Outcome::Finished;
        let done = records.iter().filter(counts);
        let done: BTreeSet<(u32, &str)> = done
            .map(|record| (record.block, record.arm.as_str()))
            .collect();
        plan.trials()
            .iter()
            .filter(|trial| !done.contains(&(trial.block, trial.arm.as_str())))
            .cloned()
            .collect()
    }

    /// Mean duration of a whole trial by arm, over those that finished.
    pub fn durations(&self) -> BTreeMap<String, Duration> {
        let mut sums: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for record in self.records().0 {
            let end = record.phases.iter().map(|phase| phase.end_ns).max();
            if let (Outcome::Finished, Some(end)) = (&record.outcome, end) {
                let (sum, count) = sums.entry(record.arm).or_default();
                (*sum, *count) = (sum.saturating_add(end), *count + 1);
            }
        }
        let mean = |(arm, (sum, count))| (arm, Duration::from_nanos(sum / count));
        sums.into_iter().map(mean).collect()
    }

    /// Writes a record atomically.
    ///
    /// # Errors
    /// When the disk is full, or the folder cannot be written.
    pub fn write(&self, record: &Record) -> Result<(), ResultsError> {
        let name = file_name(record.block, &record.arm);
        let text = serde_json::to_string(record).expect("a record's keys are texts");
        let opened;
        let records = match &self.writing {
            Some(writing) => &writing.records,
            None => {
                opened = own_records(&Folder::open(&self.folder)?)?;
                &opened
            }
        };
        Ok(records.write(name.as_ref(), text.as_bytes(), Readers::Umask)?)
    }

    /// All readable and plausible records of this plan, by name, and a warning for each file that is skipped.
    pub fn records(&self) -> (Vec<Record>, Vec<Warning>) {
        let folder = self.folder.join(RECORDS);
        let entries = folder
            .read_dir()
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path());
        let mut files: Vec<PathBuf> = entries
            .filter(|path| path.extension().is_some_and(|end| end == "json"))
            .collect();
        files.sort();
        let (mut records, mut warnings) = (Vec::new(), Vec::new());
        for file in files {
            match read_record(&file, &self.plan) {
                Ok(record) => records.push((file, record)),
                Err(why) => warnings.push(unreadable(&file, &why)),
            }
        }
        (one_each(records, &mut warnings), warnings)
    }
}

/// File name of a record.
fn file_name(block: u32, arm: &str) -> String {
    format!("{block:03}-{}.json", in_file_name(arm))
}

/// Keeps one record per trial: the one in the file with the trial's name, else the first; adds a warning for each other one.
fn one_each(records: Vec<(PathBuf, Record)>, warnings: &mut Vec<Warning>) -> Vec<Record> {
    let trial = |record: &Record| (record.block, record.arm.clone());
    let mut kept: BTreeMap<(u32, String), PathBuf> = BTreeMap::new();
    for (file, record) in &records {
        let named = file
            .file_name()
            .is_some_and(|name| *name == *file_name(record.block, &record.arm));
        if named || !kept.contains_key(&trial(record)) {
            kept.insert(trial(record), file.clone());
        }
    }
    let mut one_each = Vec::new();
    for (file, record) in records {
        let other = &kept[&trial(&record)];
        if *other == file {
            one_each.push(record);
        } else {
            let why = format!("{} is a record of the same trial", other.display());
            warnings.push(unreadable(&file, &why));
        }
    }
    one_each
}

/// The directory of records in `place`, created if missing: other users can neither remove nor replace it.
fn own_records(place: &Folder) -> Result<Folder, FileError> {
    let records = place.folder(RECORDS.as_ref())?;
    records.check_own()?;
    Ok(records)
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
        name.as_os_str() == OsStr::new(LOCK) || place.is_remains(name, Some(FORMER_PART))
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

/// Rejects `records` if it is not a directory; it may be missing before the first record.
fn check_records(folder: &Path) -> Result<(), ResultsError> {
    let path = folder.join(RECORDS);
    let what = match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(io_error(&path, error)),
        Ok(metadata) if metadata.is_symlink() => "a link",
        Ok(metadata) if metadata.is_file() => "a file",
        Ok(_) => "a FIFO, a socket or a device",
    };
    Err(ResultsError::Records {
        path: path.display().to_string(),
        what,
    })
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

fn unreadable(file: &Path, why: &str) -> Warning {
    Warning {
        id: "unreadable-record".to_owned(),
        text: format!(
            "{} was left out: {why}; run the experiment again into the same folder to replace it",
            file.display()
        ),
    }
}

fn read_record(file: &Path, plan: &Plan) -> Result<Record, String> {
    let text = input::regular(file, input::RECORD_BYTES_MAX).map_err(|error| error.to_string())?;
    let value = strict::parse(&text).map_err(|error| format!("it is damaged ({error})"))?;
    let schema = value["schema"].as_str().unwrap_or("none");
    if schema != record::SCHEMA {
        return Err(format!(
            "its format is \"{schema}\", and this program reads \"{}\"",
            record::SCHEMA
        ));
    }
    let record: Record =
        serde_json::from_value(value).map_err(|error| format!("it is damaged ({error})"))?;
    check(&record, plan)?;
    Ok(record)
}

/// Removes only files that [`Results::write`] wrote.
fn remove_records(records: &Folder) -> Result<(), ResultsError> {
    for name in records.names()? {
        if Path::new(&name)
            .extension()
            .is_some_and(|end| end == "json")
        {
            records.remove_file(&name)?;
        }
    }
    Ok(())
}

/// Removes partial files left by a killed run.
fn remove_remains(folder: &Folder, former: Option<&str>) -> Result<(), ResultsError> {
    for name in folder.names()? {
        if folder.is_remains(&name, former) {
            folder.remove_file(&name)?;
        }
    }
    Ok(())
}

fn io_error(path: &Path, source: io::Error) -> ResultsError {
    ResultsError::Io {
        path: path.display().to_string(),
        source,
    }
}

#[cfg(test)]
mod tests;
