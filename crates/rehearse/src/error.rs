//! Why a rehearsal cannot be run.

use std::io;
use std::path::PathBuf;

use engine::EngineError;
use engine::logged::LogError;
use experiment::results::ResultsError;
use experiment::spec::SpecError;
use files::FileError;
use lab::request::RequestError;
use lab::run::PrepareError;
use lab::trial::real::VolumesError;
use model::Bytes;

/// Why a rehearsal cannot be run, with the remedy.
#[derive(Debug, thiserror::Error)]
pub enum RehearsalError {
    /// A layout has a mistake, or cannot be read.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// A layout has a mistake.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A disk or machine cannot be resolved.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// A layout has a name that another has.
    #[error(
        "--layout {file}: another layout is called \"{name}\" too; rename the file, or its placement"
    )]
    NameTwice {
        /// The file.
        file: String,
        /// The name.
        name: String,
    },
    /// The log has a mistake.
    #[error("{}: {source}", file.display())]
    Log {
        /// Its file.
        file: PathBuf,
        /// The mistake.
        source: LogError,
    },
    /// The log cannot be opened.
    #[error("{}: {source}", file.display())]
    LogFile {
        /// Its file.
        file: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The settings cannot be read.
    #[error("{}: {source}", file.display())]
    SettingsFile {
        /// Their file.
        file: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The log has no statement in a database of which there is a dump.
    #[error(
        "{}: none of its statements is in database {databases}, of which there is a dump; give the log of its server, or --database \
         where the log names no databases", file.display()
    )]
    NoDatabase {
        /// The log.
        file: PathBuf,
        /// The databases.
        databases: String,
    },
    /// The log has more sessions at a time than there are threads for.
    #[error(
        "the log has {sessions} sessions at a time, and at most {most} are played; replay a part of it with --window, --database or --user"
    )]
    Sessions {
        /// Its sessions.
        sessions: u32,
        /// The most.
        most: u32,
    },
    /// There is not enough space for the copies.
    #[error(
        "{}: {copies} take {needed}, with room for what is written, and {free} are free; make room, or name another folder by --out",
        folder.display()
    )]
    Space {
        /// Where.
        folder: PathBuf,
        /// Which copies.
        copies: String,
        /// What they take.
        needed: Bytes,
        /// What is there.
        free: Bytes,
    },
    /// This machine has no modelled disks with file systems.
    #[error(
        "a rehearsal needs modelled disks with file systems: run it as root, on Linux with FUSE and loop devices"
    )]
    NoDisks,
    /// The server or the backup cannot be used.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Volumes cannot be mounted.
    #[error("volumes for the copy of the backup")]
    Volumes(#[source] io::Error),
    /// Directories or the user's server cannot be used.
    #[error(transparent)]
    Server(#[from] VolumesError),
    /// The user's server is not as it was.
    #[error("the server was not fully restored; see the messages above")]
    NotPutBack,
    /// A file cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// A record cannot be kept.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// The outcome of a finished trial is gone, or damaged.
    #[error("{}: the outcome of a trial cannot be read; rerun the command to repeat that trial, or add --fresh to repeat all", .0.display())]
    Kept(PathBuf),
    /// A trial failed.
    #[error("{layout}: {why}")]
    Trial {
        /// Its layout.
        layout: String,
        /// Why.
        why: String,
    },
    /// The user pressed Ctrl-C.
    #[error("interrupted; the trials that were finished are kept: rerun the command to resume")]
    Interrupted,
}
