//! What a profile is, whatever it came from.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use model::{Bytes, Duration};
use reading::Role;
use serde::{Deserialize, Serialize};

/// What one server did in a span of time.
///
/// A figure that is `None` was not recorded, which is not the same as 0. A figure that is there for one interval is
/// there for all; [`super::write`] refuses anything else.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Where the figures come from.
    pub origin: Origin,
    /// When the first interval begins.
    pub start: Timestamp,
    /// What the server ran on.
    pub machine: Machine,
    /// What held the files, as far as that is known.
    pub volumes: Vec<Volume>,
    /// What was counted, in order of time; at least one. They do not overlap, and there may be gaps between them.
    pub intervals: Vec<Interval>,
    /// Why there are gaps, in order of time.
    pub interruptions: Vec<Interruption>,
    /// What whoever made the profile took for granted; sentences.
    pub assumptions: Vec<String>,
}

/// Where figures come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// What counted: `dbstow record`, `iostat`, ..
    pub tool: String,
    /// The database product; `None` where only disks were watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub product: Option<String>,
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// What a server ran on; `None` is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Its name in the catalogue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Logical processors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<u32>,
    /// Memory of the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
}

/// A volume, and what was on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Volume {
    /// What files of the server were on it; not empty.
    pub roles: BTreeSet<Role>,
    /// The disk's name in the catalogue, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<String>,
    /// How large it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
}

/// What was counted from one instant to another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interval {
    /// When it begins, from the start of the profile.
    pub at: Duration,
    /// How long it is; above 0.
    pub length: Duration,
    /// Operations that ended: transactions, or batch requests.
    pub operations: Option<f64>,
    /// Transactions of them that were committed and had changed something.
    pub commits: Option<f64>,
    /// Processor time of the server, over all processors.
    pub processor: Option<Duration>,
    /// Sessions that had something to do in the interval.
    pub sessions: Option<f64>,
    /// Sessions under way, on average: those that ran an operation, waiting or not.
    pub running: Option<f64>,
    /// Of these, sessions that waited for something, on average.
    pub waiting: BTreeMap<Wait, f64>,
    /// Requests by what the files are for; a role that is absent was not recorded.
    pub roles: BTreeMap<Role, Io>,
}

/// What a session waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wait {
    /// A read of a data file.
    DataRead,
    /// A write of a data file.
    DataWrite,
    /// A write or flush of the log, its own or another session's.
    Log,
    /// Files of temporary space.
    Temp,
    /// A lock or latch.
    Lock,
    /// Anything else but the processor.
    Other,
}

/// Requests to the files of one role.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Io {
    /// Reads.
    pub reads: Requests,
    /// Writes.
    pub writes: Requests,
    /// Flushes: a count and their time; no bytes.
    pub flushes: Requests,
    /// Writes that a session made itself and waited for; the others are made in the background.
    pub session_writes: Option<f64>,
}

/// Requests of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Requests {
    /// How many ended.
    pub count: Option<f64>,
    /// Bytes that they moved.
    pub bytes: Option<f64>,
    /// Sum of their latencies.
    pub waited: Option<Duration>,
}

/// A place where counting broke off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interruption {
    /// When the last figures before it were taken, from the start of the profile.
    pub at: Duration,
    /// What broke it off.
    pub cause: Lost,
}

/// Why figures of some time are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lost {
    /// The server was restarted.
    Restart,
    /// Counters became smaller: they were reset.
    Reset,
    /// Nothing was recorded.
    Gap,
    /// The clock was set.
    Clock,
}

impl Profile {
    /// Time that the intervals cover; gaps do not count.
    pub fn covered(&self) -> Duration {
        self.intervals.iter().map(|interval| interval.length).sum()
    }

    /// The same, but only the `window` with the most requests, or the most operations where no requests were counted; all
    /// of a shorter profile.
    pub fn busiest(self, window: Duration) -> Profile {
        let intervals = super::series::busiest(&self.intervals, window).to_vec();
        Profile { intervals, ..self }
    }

    /// The sum of a figure over all intervals; `None` where an interval lacks it.
    pub fn total(&self, figure: impl Fn(&Interval) -> Option<f64>) -> Option<f64> {
        self.intervals.iter().map(figure).sum()
    }

    /// Roles whose requests were recorded.
    pub fn roles(&self) -> BTreeSet<Role> {
        let recorded = self
            .intervals
            .iter()
            .flat_map(|interval| interval.roles.keys());
        recorded.copied().collect()
    }

    /// Roles of its volumes whose requests were not counted separately: they are among those for data.
    pub fn merged_roles(&self) -> BTreeSet<Role> {
        let separate = self.roles();
        let on_volumes = self.volumes.iter().flat_map(|volume| &volume.roles);
        on_volumes
            .copied()
            .filter(|role| !separate.contains(role))
            .collect()
    }
}

impl Wait {
    /// Its name in profiles.
    pub fn name(self) -> &'static str {
        super::columns::wait_name(self)
    }
}

impl Io {
    /// The same, of counters of a Linux disk: they count a flush that carries no data as a write of 0 bytes, and its time
    /// as a write's.
    ///
    /// Source: 500 `pwrite` of 8 KiB with `fdatasync` each count 1,011 writes, 4 MB and 500 flushes (kernel 6.18, ext4,
    /// 2026-11-23). An approximation: a write that carries a flush along is taken off as well, and of flushes that were
    /// merged only one is.
    pub fn without_flushes_among_writes(self) -> Io {
        let less =
            |all: Option<f64>, flushes: Option<f64>| Some((all? - flushes.unwrap_or(0.0)).max(0.0));
        let waited = self.writes.waited;
        Io {
            writes: Requests {
                count: less(self.writes.count, self.flushes.count),
                waited: waited
                    .map(|all| all.saturating_sub(self.flushes.waited.unwrap_or_default())),
                ..self.writes
            },
            ..self
        }
    }
}

impl Requests {
    /// Mean latency; `None` where it was not recorded or there was no request.
    pub fn latency(&self) -> Option<Duration> {
        let (waited, count) = (self.waited?, self.count?);
        (count > 0.0).then(|| Duration::from_secs_f64(waited.as_secs_f64() / count))
    }
}
