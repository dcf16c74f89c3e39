//! Why a drill has no result.

use std::io;
use std::path::PathBuf;

use engine::EngineError;
use engine::drilled::Verdict;
use files::FileError;

/// Why a drill has no result.
#[derive(Debug, thiserror::Error)]
pub enum DrillError {
    /// The server does not run, or refuses.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The volumes are unavailable.
    #[error("the volumes: {0}")]
    Volumes(io::Error),
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A file or folder does not belong to a recording.
    #[error("{}: {why}; it is not a recording of a drill by this version of dbstow, drill again", place.display())]
    NoRecording {
        /// The file or folder.
        place: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A recording of unknown origin requests something that is not permitted.
    #[error("{}: {why}", file.display())]
    Refused {
        /// The file.
        file: PathBuf,
        /// The request, the reason for the refusal, and the remedy.
        why: String,
    },
    /// The state does not belong to the recording.
    #[error("the state is none of this recording, {}: {why}; drill again", folder.display())]
    NoState {
        /// Where the recording is.
        folder: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The server fails even without a power cut.
    #[error(
        "placement \"{placement}\": without any cut the server is not intact ({verdict}); that is not a finding but an error of \
         the drill"
    )]
    Uncut {
        /// The placement.
        placement: String,
        /// Its verdict.
        verdict: Verdict,
    },
    /// A state had two different verdicts.
    #[error(
        "cut {number}: the server was {first}, and then, in the same state, {second}; that is not a finding but an error of the drill"
    )]
    Unstable {
        /// The state.
        number: usize,
        /// The first verdict.
        first: Verdict,
        /// The verdict of the second check.
        second: Verdict,
    },
    /// The disks differ from those of the drill.
    #[error(
        "{finding}: the disks' contents differ from the drill's (SHA-256 {digest}, expected {expected}): the folder was changed"
    )]
    Changed {
        /// The finding.
        finding: String,
        /// What the disks contain: see [`Recorded::digest`](crate::Recorded::digest).
        digest: String,
        /// What they contained in the drill.
        expected: String,
    },
    /// There are no modelled disks.
    #[error(
        "a drill has real file systems on modelled disks (block mode), which needs root and loop devices: run as root, and \
         load the kernel's module with `modprobe loop` where there are none"
    )]
    NoDisks,
    /// Not enough space for the recording.
    #[error(
        "{}: there is no space to record anything; free some, give more (--space), or name another folder by --out", .0.display()
    )]
    NoSpace(PathBuf),
    /// The user pressed Ctrl-C.
    #[error("interrupted")]
    Interrupted,
}

impl DrillError {
    pub(super) fn volumes(error: io::Error) -> DrillError {
        DrillError::Volumes(error)
    }
}
