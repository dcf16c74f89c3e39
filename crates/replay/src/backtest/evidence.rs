//! The reasons for which a profile may not fit, and what tells one from another.

use std::collections::BTreeMap;

use reading::Role;

use super::figure::Measure;

/// What tells one reason from another.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Evidence {
    /// Mean time of requests in the simulated disks themselves, in milliseconds.
    pub(super) service: BTreeMap<(Role, Measure), f64>,
    /// Mean time of the log's writes in the replay, in milliseconds.
    pub(super) log_write_ms: Option<f64>,
    /// Whether a disk has burst credits.
    pub(super) bursts: bool,
    /// Whether processors held the server up.
    pub(super) is_busy: bool,
    /// Whether the disks are as the recording shows them, so that they cannot be the reason.
    pub(super) as_recorded: bool,
    /// What to record for commits to be counted, where they were not.
    pub(super) commits_lacking: Option<&'static str>,
}

/// The likeliest reason for which a profile does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Sessions waited for a processor.
    Processor,
    /// Sessions waited for locks.
    Locks,
    /// Burst credits were not as the layout says.
    Credits,
    /// Requests took longer than these disks would take.
    Slower,
    /// Requests completed sooner than these disks could serve them.
    Faster,
    /// Requests waited longer in the replay, although the disks themselves take as long as recorded.
    Queue,
    /// Latencies fit, but operations do not.
    Otherwise,
    /// Commits were not counted; with what to record for it.
    Commits(&'static str),
    /// The disks are as recorded: something that was assumed of the load is not as it was.
    Assumed,
}

impl Reason {
    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Processor => "processor",
            Reason::Locks => "locks",
            Reason::Credits => "credits",
            Reason::Slower => "slower-disk",
            Reason::Faster => "faster-disk",
            Reason::Queue => "queue",
            Reason::Otherwise => "not-recorded",
            Reason::Commits(_) => "commits-not-counted",
            Reason::Assumed => "assumed",
        }
    }

    /// The probable cause.
    pub fn text(self) -> &'static str {
        match self {
            Reason::Processor => {
                "sessions waited for a processor, of the server or of its host, which no other disk changes"
            }
            Reason::Locks => {
                "sessions waited for locks, and not as long as one lock that all of them take would explain"
            }
            Reason::Credits => {
                "the server waited longer than these disks take: their burst credits were spent, or fewer than the layout says"
            }
            Reason::Slower => {
                "the server waited longer than these disks take: the disk is slower than the catalogue says (`dbstow disks NAME` \
                 shows what it assumes), it is another one, or other machines share it"
            }
            Reason::Faster => {
                "the server was answered sooner than these disks answer: its disks are faster, or a cache answered in between"
            }
            Reason::Queue => {
                "the disks take as long as recorded, and requests queue longer for their limits than they did: the server's disks \
                 have higher limits, or requests were counted that no session waits for, such as read-ahead"
            }
            Reason::Commits(_) => "commits were not counted, and each log write was taken as one",
            Reason::Assumed => {
                "the disks are as recorded, so that it is not these: what was assumed of the load is not as it was, such as \
                 sessions, or which requests they wait for"
            }
            Reason::Otherwise => {
                "the disks' latencies fit, and the rate does not: something else held the server up that was not recorded, \
                 such as locks, or an hour of different loads counts as one"
            }
        }
    }

    /// What to do about it.
    pub fn remedy(self) -> &'static str {
        match self {
            Reason::Processor => "record a time in which processors are free",
            Reason::Commits(remedy) => remedy,
            Reason::Assumed => {
                "record the server itself, with sessions and what they wait for (`dbstow record`)"
            }
            Reason::Locks | Reason::Otherwise => {
                "record a time of one kind of load, with sessions (`dbstow record`)"
            }
            Reason::Credits => {
                "give the share of the credits that was left at the start (`credits` of the volume), or try --sustained"
            }
            Reason::Slower | Reason::Faster | Reason::Queue => {
                "check disk, size and provisioned rates, or measure a disk (`dbstow calibrate`) and name it in the layout \
                 (--catalogue FILE)"
            }
        }
    }
}
