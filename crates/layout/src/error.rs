//! What cannot be laid out as it was asked.

use sqlserver::tsql::tempdb::{PresentError, TempdbError};
use sqlserver::tsql::{NameError, PathError, SizeError};

/// A mistake in what was asked of a layout, with its remedy.
#[derive(Debug, thiserror::Error)]
pub enum LayoutError {
    /// A volume has no folder.
    #[error("volume \"{volume}\" has no folder; add --volume {volume}={example}")]
    NoFolder {
        /// The volume.
        volume: String,
        /// What a folder looks like there.
        example: &'static str,
    },
    /// A folder was given for a volume that holds nothing of what is asked.
    #[error("--volume {volume}=..: no file that is asked for lives there ({used})")]
    Unused {
        /// The volume.
        volume: String,
        /// Those that hold one.
        used: String,
    },
    /// A folder that cannot be one.
    #[error("--volume {volume}={folder}: {why}")]
    Folder {
        /// The volume.
        volume: String,
        /// What was given.
        folder: String,
        /// What is wrong with it, and the remedy.
        why: String,
    },
    /// Nobody said what the server runs on.
    #[error(
        "whether the server runs on Windows or Linux is not known; add --capture FILE, which `dbstow doctor` \
         writes, or --on"
    )]
    Where,
    /// The capture says otherwise.
    #[error(
        "--on {asked}: the capture is of a server on {is}; leave --on out, or take another capture"
    )]
    Elsewhere {
        /// What was asked.
        asked: String,
        /// What it is.
        is: String,
    },
    /// A capture that is of no use here.
    #[error("{0}")]
    Capture(String),
    /// What this kind of server does not do.
    #[error("{0}")]
    Impossible(String),
    /// Files of tempdb would go that are advised.
    #[error(
        "tempdb would have {then} data files instead of {now}; for {processors} logical processors {advised} are advised \
         (`dbstow lint`, tempdb-file-count): add --files {now} to keep their number, or --allow-fewer-files if that is \
         intended"
    )]
    FewerFiles {
        /// How many there are.
        now: usize,
        /// How many there would be.
        then: usize,
        /// Logical processors.
        processors: i64,
        /// How many files are advised.
        advised: usize,
    },
    /// Too little space.
    #[error(
        "{volume} has {free} free, and the new files need {needed}; ask for smaller files (--size, --log-size), \
         or another volume"
    )]
    Space {
        /// Where it is mounted.
        volume: String,
        /// What is free.
        free: String,
        /// What is needed.
        needed: String,
    },
    /// A database is missing in what was asked, or is there already.
    #[error("{0}")]
    Database(String),
    /// A captured file that cannot be one.
    #[error(transparent)]
    Present(#[from] PresentError),
    /// A move that cannot be.
    #[error(transparent)]
    Move(#[from] TempdbError),
    /// A name that cannot be.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A path that cannot be.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A size that cannot be.
    #[error(transparent)]
    Size(#[from] SizeError),
}
