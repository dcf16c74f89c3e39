//! The fully resolved settings of one arm, as needed by a trial.

use std::collections::BTreeMap;
use std::fmt;

use model::store::PageSize;
use model::{Bytes, Durability, Duration, HostCacheMode, Iops, LatencySpec, Throughput};
use products::{Meaning, Own, Value};
use serde::{Deserialize, Serialize};

use super::bounds::LIMIT_MAX;
use super::placement::Placement;

/// Everything a trial of one arm needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The machine.
    pub machine: Machine,
    /// The volumes that the placement uses, in the order of the experiment file.
    pub volumes: Vec<Volume>,
    /// The placement of files on them.
    pub placement: Placement,
    /// What the sessions do.
    pub workload: Workload,
    /// The database engine between SQL and the files.
    pub engine: Engine,
}

impl Settings {
    /// The volume called `name`, if the placement uses it.
    pub fn volume(&self, name: &str) -> Option<&Volume> {
        self.volumes.iter().find(|volume| volume.name == name)
    }
}

/// The machine the database runs on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Name in the catalogue; `None`: a machine without limits, which then has `cores` and `memory`.
    pub kind: Option<String>,
    /// Virtual processors, if not those of `kind`; at least 1.
    pub cores: Option<u32>,
    /// How fast each is, as a multiple of those that work was measured on, above 0; `None`: as fast.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor_speed: Option<f64>,
    /// Main memory, if not that of `kind`.
    pub memory: Option<Bytes>,
    /// Its operating system, for its price; `None`: Linux.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<System>,
    /// Share of its burst credits available at the start, 0 to 1; `None`: as in the catalogue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credits: Option<f64>,
    /// Its host cache, if not that of the catalogue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_cache: Option<HostCache>,
    /// Digest of the entry of `kind`, as [`Volume::entry`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
}

/// A machine's operating system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum System {
    /// Linux.
    #[default]
    Linux,
    /// Windows.
    Windows,
}

/// A machine's host cache for its remote disks; all values are above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostCache {
    /// Its size, for all disks together.
    pub size: Bytes,
    /// Requests per second through it, if not the catalogue's limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<Iops>,
    /// Bytes per second through it, if not the catalogue's limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput: Option<Throughput>,
}

/// A volume: a stripe of identical disks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Volume {
    /// Its name in the experiment.
    pub name: String,
    /// Its disk type.
    pub disk: Disk,
    /// Number of disks; at least 1.
    pub count: u32,
    /// Bytes on one disk before the next one's turn; ignored for one disk.
    pub interleave: Bytes,
    /// Host cache mode.
    pub host_cache: HostCacheMode,
    /// Provisioned values of each disk.
    pub provision: Provision,
    /// Share of each disk's burst credits available at the start, 0 to 1; `None`: as in the catalogue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credits: Option<f64>,
    /// Values that replace those of the catalogue.
    pub replaced: Override,
    /// Digest of the disk's entry, if it is not built in, once [`super::Spec::check`] has resolved it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
}

impl Volume {
    /// Default interleave: the recommendation for OLTP on Storage Spaces (`az-sqlvm`, 2023-10).
    pub const INTERLEAVE_DEFAULT: Bytes = Bytes::kib(64);
}

/// Type of a disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", from = "String")]
pub enum Disk {
    /// `local`: the disk inside the machine.
    Local,
    /// `unlimited`: without limits and latency, except for those of the volume's override.
    Unlimited,
    /// `recorded`: as a recording shows it, without limits and latency except for those of the volume's override.
    Recorded,
    /// A product of the catalogue.
    Catalogue(String),
}

impl From<String> for Disk {
    fn from(name: String) -> Disk {
        match name.as_str() {
            "local" => Disk::Local,
            "unlimited" => Disk::Unlimited,
            "recorded" => Disk::Recorded,
            _ => Disk::Catalogue(name),
        }
    }
}

impl From<Disk> for String {
    fn from(disk: Disk) -> String {
        disk.to_string()
    }
}

impl fmt::Display for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Disk::Local => "local",
            Disk::Unlimited => "unlimited",
            Disk::Recorded => "recorded",
            Disk::Catalogue(name) => name,
        })
    }
}

/// Requested values of a sized or provisioned disk; the catalogue checks it against the vendor's rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provision {
    /// Its size.
    pub size: Option<Bytes>,
    /// Its requests per second.
    pub iops: Option<Iops>,
    /// Its bytes per second.
    pub throughput: Option<Throughput>,
    /// Whether burst credits apply; `None`: as in the catalogue.
    pub bursting: Option<bool>,
}

/// Values that replace those of the catalogue's entry; `None` leaves the entry's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Override {
    /// Limit on requests per second, without burst unless there is an `iops_burst`.
    pub iops_limit: Option<Iops>,
    /// Limit on bytes per second, without burst unless there is a `throughput_burst`.
    pub throughput_limit: Option<Throughput>,
    /// Burst of the limit on requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops_burst: Option<Burst>,
    /// Burst of the limit on bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput_burst: Option<Burst>,
    /// Requests served concurrently; at least 1.
    pub in_flight_max: Option<u32>,
    /// Time to serve a read.
    pub read_latency: Option<LatencySpec>,
    /// Time to serve a write.
    pub write_latency: Option<LatencySpec>,
    /// Time to serve a flush.
    pub flush_latency: Option<LatencySpec>,
    /// How fast the bytes of one request move, added to its latency.
    pub transfer: Option<Throughput>,
}

/// A burst that replaces the catalogue's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Burst {
    /// Requests or bytes per second while credits last; at least 1, and [`Burst::ANY_RATE`] at most.
    pub rate: u64,
    /// Capacity of the credit bucket, in requests or bytes; at least 1.
    pub credits: u64,
}

impl Burst {
    /// The highest rate: nothing limits while credits last.
    pub const ANY_RATE: u64 = LIMIT_MAX;
}

/// What the sessions do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// Which one.
    pub script: Script,
    /// Connections that issue operations in turn; at least 1. For a profile, the maximum of any period; 0 if the profile
    /// determines it, until [`super::Spec::check`] has read it.
    pub sessions: u32,
    /// When it ends. A duration of 0 stands for that of a profile, until [`super::Spec::check`] has read it.
    pub amount: Amount,
    /// Duration before measurement starts.
    pub warm_up: Duration,
    /// When operations are issued.
    pub arrival: Arrival,
    /// Parameters of its scripts: those of the experiment, and the workload's own defaults once [`super::Spec::check`] has added
    /// them.
    pub parameters: BTreeMap<String, Parameter>,
    /// Bytes of log for each changed row, instead of the workload's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_bytes_per_row: Option<u64>,
    /// Digest of its scripts, once [`super::Spec::check`] has read them.
    pub digest: Option<String>,
}

/// Location of a workload's scripts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Script {
    /// Built in, under this name.
    BuiltIn(String),
    /// A folder of the user.
    Folder(String),
    /// A profile: replayed activity of a server.
    Profile {
        /// Its file.
        file: String,
        /// Length of the replayed part, the busiest one; a shorter profile is replayed whole.
        window: Duration,
    },
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Script::BuiltIn(name) | Script::Folder(name) => f.write_str(name),
            Script::Profile { file, .. } => f.write_str(file),
        }
    }
}

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Amount {
    /// After this many operations of all sessions together, in equal parts; at least 1.
    Operations(u64),
    /// After this time, which is not zero.
    Duration(Duration),
}

/// When sessions issue operations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrival {
    /// Each session issues its next operation after this pause.
    Closed {
        /// The pause.
        think: Duration,
    },
    /// Operations arrive whether or not earlier ones are done.
    Open {
        /// Rate of all sessions together; above zero. 0 stands for that of a profile, until [`super::Spec::check`] has read it.
        rate_per_s: f64,
    },
}

/// The value of a workload's parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Parameter {
    /// A whole number.
    Integer(i64),
    /// A number with a fraction.
    Number(f64),
    /// A text.
    Text(String),
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Parameter::Integer(value) => write!(f, "{value}"),
            Parameter::Number(value) => write!(f, "{value}"),
            Parameter::Text(value) => f.write_str(value),
        }
    }
}

/// Model of a database engine between SQL and its files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Engine {
    /// Size of the buffer pool.
    pub memory: Bytes,
    /// Size of a page.
    #[serde(default, skip_serializing_if = "is_default")]
    pub page_size: PageSize,
    /// Unit of a physical read.
    pub read_unit: ReadUnit,
    /// How far a scan reads ahead; zero: not at all.
    pub read_ahead: Bytes,
    /// Largest write of neighbouring pages.
    pub write_gather: Bytes,
    /// Concurrent page writes; at least 1.
    pub writes_in_flight: u32,
    /// Time between checkpoints; `None`: no checkpoint during a run.
    pub checkpoint: Option<Duration>,
    /// Maximum log since the oldest unflushed change; 0: unlimited.
    #[serde(default, skip_serializing_if = "is_default")]
    pub log_capacity: Bytes,
    /// Maximum number of pages whose doublewrite copies are written together before the pages themselves; 0: no doublewrite.
    #[serde(default, skip_serializing_if = "is_default")]
    pub doublewrite_pages: u32,
    /// Whether the first change of a page after a checkpoint logs the whole page.
    #[serde(default, skip_serializing_if = "is_default")]
    pub full_page_images: bool,
    /// Whether a commit waits for the log.
    pub commit: Commit,
    /// Largest write of the log.
    pub log_gather: Bytes,
    /// Maximum number of log writes in flight, beyond which commits share the next one; at least 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub log_in_flight_max: u32,
    /// Whether a log write is durable only once its volume was flushed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub log_flush: bool,
    /// When a write of a data file is durable.
    #[serde(default, skip_serializing_if = "is_default")]
    pub data_durability: Durability,
    /// Size of the operating system's page cache besides the buffer pool.
    #[serde(default, skip_serializing_if = "is_default")]
    pub page_cache: Bytes,
    /// Memory of one sort or hash before it spills to temporary space.
    pub sort_memory: Bytes,
    /// The buffer pool at the start of the run.
    pub start: Temperature,
    /// The host cache at the start of the run.
    pub host_cache_start: Temperature,
    /// Processor cost of work.
    pub cpu: Cpu,
    /// Row versions kept in temporary space; `None`: no versions.
    pub versions: Option<Versions>,
    /// Settings by a product's own names.
    #[serde(flatten)]
    pub own: Own,
}

impl Engine {
    /// Whether a group of commits flushes the binary log.
    pub fn binlog_sync(&self) -> bool {
        let is_never = |meaning, value| meaning == Meaning::BinlogSync && value == Value::Number(0);
        let mut own = self.own.all();
        !own.any(|(_, setting, value)| is_never(setting.meaning, value))
    }
}

/// Whether a value is the default, so that digests stay the same as before the key was introduced.
fn one() -> u32 {
    1
}

fn is_one(value: &u32) -> bool {
    *value == one()
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Unit of a physical read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadUnit {
    /// The requested page.
    #[default]
    Page,
    /// The page's extent, 64 KiB, as some servers do while their buffer pool is being filled.
    Extent,
}

/// Whether a commit waits for the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Commit {
    /// It does.
    #[default]
    Durable,
    /// It does not; the log is written when a buffer is full, as for temporary space.
    Relaxed,
}

/// Initial state of a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Temperature {
    /// Empty.
    #[default]
    Cold,
    /// As the load left it.
    Warm,
}

/// Deterministic cost of work, charged to a virtual core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// Per statement.
    pub statement: Duration,
    /// Per page requested from the buffer pool.
    pub logical_read: Duration,
    /// Per step of SQLite's virtual machine.
    pub vm_step: Duration,
    /// Whether the experiment states any of these; otherwise they are assumed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_given: bool,
}

/// Row versions written to temporary space, as under read committed snapshot isolation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Versions {
    /// Bytes written per changed row.
    pub bytes_per_row: Bytes,
    /// How long a version is kept; one that expires before it is written never reaches a disk.
    pub retention: Duration,
}
