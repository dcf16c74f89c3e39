//! What happens to one volume, and the outcome for a server.

use engine::drilled::Verdict;

/// What happens to one volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VolumeFault {
    /// It comes back empty, as local disks do after a machine is stopped.
    Lost,
    /// It is full while clients continue; then there is space again.
    Full,
    /// Clients write until a write fails; after two checkpoints the server and the machine are restarted.
    WriteFails {
        /// How many other writes come before it.
        after: u32,
    },
    /// The same with a flush.
    FlushFails {
        /// How many other flushes come before it.
        after: u32,
    },
}

impl VolumeFault {
    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            VolumeFault::Lost => "lost",
            VolumeFault::Full => "full",
            VolumeFault::WriteFails { .. } => "write-fails",
            VolumeFault::FlushFails { .. } => "flush-fails",
        }
    }

    /// How many other requests of its kind come before the one that fails.
    pub fn after(self) -> Option<u32> {
        match self {
            VolumeFault::WriteFails { after } | VolumeFault::FlushFails { after } => Some(after),
            VolumeFault::Lost | VolumeFault::Full => None,
        }
    }
}

/// The outcome for a server after a fault of one of its volumes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultOutcome {
    /// The fault.
    pub fault: VolumeFault,
    /// Name of the volume.
    pub volume: String,
    /// The final state of the server's data.
    pub verdict: Verdict,
    /// What clients noticed.
    pub noticed: Noticed,
    /// The server's message; empty if it has none.
    pub message: String,
}

/// What clients notice when a volume is lost or full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noticed {
    /// Nothing.
    Nothing,
    /// Nothing, since the volume did not get full.
    NotFull,
    /// Nothing, since no such request occurred.
    NotReached,
    /// Something is refused while the server keeps running.
    Refused,
    /// The server ends.
    Ended,
    /// The server does not start.
    NoStart,
}

impl Noticed {
    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Noticed::Nothing => "nothing",
            Noticed::NotFull => "not-full",
            Noticed::NotReached => "not-reached",
            Noticed::Refused => "refused",
            Noticed::Ended => "ended",
            Noticed::NoStart => "no-start",
        }
    }
}
