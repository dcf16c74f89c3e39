//! The profile, independent of its origin.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use jiff::Timestamp;
use model::{Bytes, Duration};
use reading::Role;
use serde::{Deserialize, Serialize};

/// Activity of one server over a span of time.
///
/// A figure that is `None` was not recorded, which differs from 0. A figure is present for all intervals or for none;
/// [`super::write`] rejects anything else.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Where the figures come from.
    pub origin: Origin,
    /// When the first interval begins.
    pub start: Timestamp,
    /// What the server ran on.
    pub machine: Machine,
    /// The volumes with the files, where known.
    pub volumes: Vec<ServerVolume>,
    /// Intervals in order of time; at least one. They do not overlap, but may have gaps between them.
    pub intervals: Vec<Interval>,
    /// Intervals outside of the time to which [`Profile::busiest`] reduced it.
    pub left_out: Vec<Interval>,
    /// Why there are gaps, in order of time.
    pub interruptions: Vec<Interruption>,
    /// Assumptions made when the profile was created, as sentences.
    pub assumptions: Vec<String>,
}

/// Where figures come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// What counted: `dbstow record`, `iostat`, ..
    ///
    /// Required.
    pub tool: String,
    /// The database product.
    ///
    /// Absent: only disks were monitored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub product: Option<String>,
    /// Its version.
    ///
    /// Absent: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Its edition, as the server names it, where there are several.
    ///
    /// Absent: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edition: Option<String>,
}

/// The machine of a server; `None`: unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// The machine's name in the catalogue.
    ///
    /// Absent: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Logical processors.
    ///
    /// Absent: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<u32>,
    /// Main memory.
    ///
    /// Absent: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
    /// Memory in which the server keeps pages of its data.
    ///
    /// Absent: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<Bytes>,
    /// What is left of the burst credits of a managed server's volume, in percent: at the beginning, and at the least.
    ///
    /// Absent: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst_balance: Option<[u8; 2]>,
}

/// A volume and the roles of its files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerVolume {
    /// Roles of the server's files on a volume: `data`, `temp`, `log`, or where these are files of their own `binlog`, `undo`, `doublewrite`.
    ///
    /// Required.
    pub roles: BTreeSet<Role>,
    /// The disk's name in the catalogue.
    ///
    /// Absent: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<String>,
    /// Its size.
    ///
    /// Absent: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
}

/// Figures counted between two instants.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interval {
    /// When it begins, from the start of the profile.
    pub at: Duration,
    /// How long it is; above 0.
    pub length: Duration,
    /// Operations that ended: transactions, or batch requests.
    pub operations: Option<f64>,
    /// Of these, committed transactions that had changed data.
    pub commits: Option<f64>,
    /// Processor time of the server, over all processors.
    pub processor: Option<Duration>,
    /// Bytes of the pages of data that were asked of the server's cache, whether it had them or read them.
    pub logical_read_bytes: Option<f64>,
    /// Sessions that had something to do in the interval.
    pub sessions: Option<f64>,
    /// Mean number of running sessions: those executing an operation, waiting or not.
    pub running: Option<f64>,
    /// Of these, sessions that waited for something, on average.
    pub waiting: BTreeMap<Wait, f64>,
    /// Requests by role of the files; an absent role was not recorded.
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
    /// Anything else except the processor.
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
    /// Writes that a session issued and waited for; the others are background writes.
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

/// A point where recording was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interruption {
    /// When the last figures before it were taken, from the start of the profile.
    pub at: Duration,
    /// The cause.
    pub cause: Lost,
}

/// Why figures are missing for some time.
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

    /// Time that was recorded, with intervals that were left out.
    pub fn recorded(&self) -> Duration {
        self.whole().map(|interval| interval.length).sum()
    }

    /// All intervals that were recorded, in no order.
    pub(crate) fn whole(&self) -> impl Iterator<Item = &Interval> {
        self.intervals.iter().chain(&self.left_out)
    }

    /// Reduces the profile to the `window` with the most requests, or the most operations if no requests were counted; a shorter
    /// profile is kept whole.
    pub fn busiest(mut self, window: Duration) -> Profile {
        let Range { start, end } = busiest(&self.intervals, window);
        self.left_out.extend(self.intervals.drain(end..));
        self.left_out.extend(self.intervals.drain(..start));
        self
    }

    /// The sum of a figure over all intervals; `None` where an interval lacks it.
    pub fn total(&self, figure: impl Fn(&Interval) -> Option<f64>) -> Option<f64> {
        self.intervals.iter().map(figure).sum()
    }

    /// Bytes of data that were read for each byte that was asked of the server's cache: above 1 where more was read than that, as by
    /// backups. `None` where either was not recorded, or nothing was asked.
    pub fn miss_share(&self) -> Option<f64> {
        let read = |interval: &Interval| interval.roles.get(&Role::Data)?.reads.bytes;
        let asked = self.total(|interval| interval.logical_read_bytes)?;
        (asked > 0.0).then_some(self.total(read)? / asked)
    }

    /// Roles whose requests were recorded.
    pub fn roles(&self) -> BTreeSet<Role> {
        let recorded = self
            .intervals
            .iter()
            .flat_map(|interval| interval.roles.keys());
        recorded.copied().collect()
    }

    /// Roles of its volumes whose requests were not counted separately: they are included in those for data.
    pub fn merged_roles(&self) -> BTreeSet<Role> {
        let separate = self.roles();
        let on_volumes = self.volumes.iter().flat_map(|volume| &volume.roles);
        on_volumes
            .copied()
            .filter(|role| !separate.contains(role))
            .collect()
    }
}

/// Figures of `[intervals.waiting]`, with their names in the file.
pub(crate) const WAITING: [(&str, Wait); 6] = [
    ("data_read", Wait::DataRead),
    ("data_write", Wait::DataWrite),
    ("log", Wait::Log),
    ("temp", Wait::Temp),
    ("lock", Wait::Lock),
    ("other", Wait::Other),
];

impl Wait {
    /// Its name in profiles.
    pub fn name(self) -> &'static str {
        let found = WAITING.iter().find(|(_, wait)| *wait == self);
        found.expect("every wait has a name").0
    }
}

impl Io {
    /// Corrects counters of a Linux disk: they count a flush without data as a write of 0 bytes, and its time as a write's.
    ///
    /// Source: 500 `pwrite` of 8 KiB with `fdatasync` each count 1,011 writes, 4 MB and 500 flushes (kernel 6.18, ext4,
    /// 2026-11-23). An approximation: a write that carries a flush is subtracted as well, and of merged flushes only one is.
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
    /// Mean latency; `None` if it was not recorded or there were no requests.
    pub fn latency(&self) -> Option<Duration> {
        let (waited, count) = (self.waited?, self.count?);
        (count > 0.0).then(|| Duration::from_secs_f64(waited.as_secs_f64() / count))
    }
}

/// Requests in an interval, or operations if none were counted.
fn load(interval: &Interval) -> f64 {
    let requests = interval.roles.values().filter_map(|io| {
        let [reads, writes] = [io.reads.count, io.writes.count];
        reads.or(writes)?;
        Some(reads.unwrap_or(0.0) + writes.unwrap_or(0.0))
    });
    let requests = requests.reduce(|sum, one| sum + one);
    requests.or(interval.operations).unwrap_or(0.0)
}

/// The consecutive intervals within `window` with the highest load.
fn busiest(intervals: &[Interval], window: Duration) -> Range<usize> {
    let (mut first, mut sum) = (0, 0.0);
    let mut best = (0..0, -1.0);
    for (at, last) in intervals.iter().enumerate() {
        sum += load(last);
        while first < at && last.at + last.length > intervals[first].at + window {
            sum -= load(&intervals[first]);
            first += 1;
        }
        if sum > best.1 {
            best = (first..at + 1, sum);
        }
    }
    best.0
}
