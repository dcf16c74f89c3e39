//! Why a request cannot be resolved.

use std::io;

use model::Bytes;
use thiserror::Error;

use catalogue::CatalogueError;
use engine::{OptionsError, UnknownEngine};
use experiment::kind::OtherKind;
use experiment::plan::counted;
use experiment::spec::{EngineName, Role, SpecError};
use profile::ProfileError;

/// A request that cannot be resolved, with the remedy. Options are those of `dbstow run`.
#[derive(Debug, Error)]
pub enum RequestError {
    /// The experiment, or a key that is set, has a mistake.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The program does not have the engine.
    #[error(transparent)]
    Engine(#[from] UnknownEngine),
    /// Options for real time do not go together, or not with the experiment.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// A catalogue file has a mistake.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    /// A file is of another kind than what it is given as.
    #[error(transparent)]
    OtherKind(#[from] OtherKind),
    /// A profile has a mistake.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// A profile cannot be read.
    #[error("{file}: {why}; give a profile, such as `dbstow import` writes")]
    ProfileFile {
        /// The file, as named by the user.
        file: String,
        /// The system's error.
        why: String,
    },
    /// The layout of a server cannot be read, or is empty.
    #[error(
        "--today {file}: {why}; give a file with the server's machine, volumes and one placement, or `--today recorded` for disks as the \
         profile shows them"
    )]
    LayoutFile {
        /// The file, as named by the user.
        file: String,
        /// The system's error, or that it is empty.
        why: String,
    },
    /// A profile does not name its server's disks, and no layout was given.
    #[error(
        "{file}: it does not name the machine and the disks of its server; give them with --today FILE (machine, volumes and \
         one placement), or take the disks as the profile shows them (--today recorded)"
    )]
    DisksUnknown {
        /// The profile, as named by the user.
        file: String,
    },
    /// A profile does not describe its server's disks.
    #[error(transparent)]
    Recorded(#[from] RecordedError),
    /// A catalogue file cannot be read.
    #[error("--catalogue {file}: {why}")]
    CatalogueFile {
        /// The file, as named by the user.
        file: String,
        /// What is wrong with it.
        why: CatalogueFileError,
    },
    /// The file with a volume's disk cannot be used.
    #[error("--disk {volume}={file}: {why}")]
    Disk {
        /// The volume.
        volume: String,
        /// The file, as named by the user.
        file: String,
        /// What is wrong with it.
        why: Box<DiskFileError>,
    },
    /// A volume is given two disks.
    #[error("--disk {0}=..: this volume has a disk already")]
    DiskTwice(String),
    /// A volume is given a modelled disk in measure.
    #[error(
        "--disk is about modelled disks, and measure has real ones; give their directories with --volume, or add --mode \
         emulate"
    )]
    DisksMeasured,
    /// Burst credits are to be spent in measure.
    #[error(
        "--sustained applies to modelled disks only, and measure has real ones; leave it out, or add --mode emulate"
    )]
    SustainedMeasured,
    /// An engine is to replay a profile in simulate.
    #[error(
        "--engine {0}: simulate replays a profile whatever the engine; leave it out, or add --mode emulate or --mode measure"
    )]
    EngineOfProfile(EngineName),
    /// An arm may need more memory than this machine has.
    #[error(
        "arm \"{arm}\": {sessions} sessions with {sort_memory} of sort memory each and {} may take {needed} of memory, and \
         this machine has {there}; use fewer or smaller ones, or give --allow-large to try",
        counted(*disks, "disk")
    )]
    Memory {
        /// The arm.
        arm: String,
        /// Its sessions.
        sessions: u32,
        /// The memory in which a session sorts.
        sort_memory: Bytes,
        /// Number of disks of all its volumes.
        disks: u64,
        /// What it may need.
        needed: Bytes,
        /// What this machine has.
        there: Bytes,
    },
    /// Paths cannot be made absolute.
    #[error("the current directory")]
    CurrentDirectory(#[source] io::Error),
}

/// Why a file cannot be used as a catalogue file; the text does not repeat the file's name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CatalogueFileError {
    /// It cannot be read, or is empty.
    #[error("{0}; give a file of disks and machines, such as `dbstow calibrate` writes")]
    Unreadable(String),
    /// It is another kind of file.
    #[error("{}", .0.why)]
    OtherKind(#[from] OtherKind),
}

/// Why the file with a volume's disk cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DiskFileError {
    /// It is not a catalogue file.
    #[error(transparent)]
    File(#[from] CatalogueFileError),
    /// It has a mistake.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    /// It has no disk, or several: this many.
    #[error("the file has {0} disks, and one is to take the volume's place; keep one in it")]
    NotOne(usize),
}

/// Why a profile does not describe its server's disks.
#[derive(Debug, Error)]
pub enum RecordedError {
    /// The machine is not known.
    #[error(
        "--today recorded: {file} does not say what its server's machine has ({}); give it with {}, or in [machine] of {file}",
        .missing.join(", "), .options.join(" ")
    )]
    Machine {
        /// The profile.
        file: String,
        /// Keys of the profile's machine.
        missing: Vec<&'static str>,
        /// The options that give them.
        options: Vec<&'static str>,
    },
    /// The time of requests that sessions wait for was not recorded.
    #[error(
        "volume \"{volume}\" is to be as recorded, and {file} does not have how long its {kind} took; record the server itself \
         (`dbstow record`), or name a disk in a file of today's layout (--today FILE)"
    )]
    NoLatency {
        /// The volume.
        volume: String,
        /// The profile.
        file: String,
        /// `reads`, `writes` or `flushes`.
        kind: &'static str,
    },
    /// The requests for a volume's files are among those of others.
    #[error(
        "volume \"{volume}\" is to be as recorded, and {file} did not count requests for {roles} separately; put these files on \
         the volume with the data, as the profile has them"
    )]
    NotCounted {
        /// The volume.
        volume: String,
        /// The profile.
        file: String,
        /// Roles of its files.
        roles: String,
    },
    /// Files of one role are on several volumes.
    #[error(
        "volume \"{volume}\" is to be as recorded, and files for {role} are on other volumes too, whose requests {file} does not \
         tell apart; make one volume of them"
    )]
    Several {
        /// The volume.
        volume: String,
        /// The profile.
        file: String,
        /// The role.
        role: Role,
    },
}
