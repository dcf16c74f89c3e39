//! The settings of one arm, all of them decided: what a trial needs to know.

use std::collections::BTreeMap;
use std::fmt;

use model::store::PageSize;
use model::{Bytes, Duration, HostCacheMode, Iops, LatencySpec, Throughput};
use serde::{Deserialize, Serialize};

use super::mariadb::{FlushLog, Mariadb};
use super::placement::Placement;
use super::postgres::Postgres;

/// Everything a trial of one arm needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The machine.
    pub machine: Machine,
    /// The volumes that the placement uses, in the order of the experiment file.
    pub volumes: Vec<Volume>,
    /// Which files live on them.
    pub placement: Placement,
    /// What the sessions do.
    pub workload: Workload,
    /// What stands between SQL and the files.
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
    /// Name in the catalogue; `None`: a machine without limits of its own, which then has `cores`
    /// and `memory`.
    pub kind: Option<String>,
    /// Virtual processors, where they are not those of `kind`; at least 1.
    pub cores: Option<u32>,
    /// Main memory, where it is not that of `kind`.
    pub memory: Option<Bytes>,
    /// Share of its burst credits that are there at the start, 0 to 1; `None`: as the catalogue has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credits: Option<f64>,
    /// What its host caches, where it is not what the catalogue has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_cache: Option<HostCache>,
    /// Digest of the entry of `kind`, as [`Volume::entry`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
}

/// What a machine's host caches of its remote disks; above zero each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostCache {
    /// What it holds, for all disks together.
    pub size: Bytes,
    /// Requests per second through it, where that is not the catalogue's limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<Iops>,
    /// Bytes per second through it, where that is not the catalogue's limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput: Option<Throughput>,
}

/// A volume: like disks, striped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Volume {
    /// What the experiment calls it.
    pub name: String,
    /// What its disks are.
    pub disk: Disk,
    /// How many of them; at least 1.
    pub count: u32,
    /// Bytes on one disk before the next one's turn; of no account for one disk.
    pub interleave: Bytes,
    /// What the host cache does for them.
    pub host_cache: HostCacheMode,
    /// What was provisioned, for each disk.
    pub provision: Provision,
    /// Share of each disk's burst credits that are there at the start, 0 to 1; `None`: as the catalogue has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credits: Option<f64>,
    /// What replaces the catalogue's values.
    pub replaced: Override,
    /// Digest of the disk's entry, once [`super::Spec::check`] has looked it up, where it did not come
    /// with the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
}

impl Volume {
    /// Interleave when none is given: what Storage Spaces is advised for OLTP (`az-sqlvm`, 2023-10).
    pub const INTERLEAVE_DEFAULT: Bytes = Bytes::kib(64);
}

/// What a disk is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", from = "String")]
pub enum Disk {
    /// `local`: the disk inside the machine.
    Local,
    /// `unlimited`: without limits and latency, except for those of the volume's override.
    Unlimited,
    /// A product of the catalogue.
    Catalogue(String),
}

impl From<String> for Disk {
    fn from(name: String) -> Disk {
        match name.as_str() {
            "local" => Disk::Local,
            "unlimited" => Disk::Unlimited,
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
            Disk::Catalogue(name) => name,
        })
    }
}

/// What was ordered of a sized or provisioned disk; the catalogue checks it against the vendor's rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provision {
    /// Its size.
    pub size: Option<Bytes>,
    /// Its requests per second.
    pub iops: Option<Iops>,
    /// Its bytes per second.
    pub throughput: Option<Throughput>,
    /// Whether burst credits are in force; `None`: as the catalogue has it.
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
    /// Requests served at the same time; at least 1.
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
    /// Requests or bytes per second while credits last; at least 1.
    pub rate: u64,
    /// What a full bucket of credits holds, in requests or bytes; at least 1.
    pub credits: u64,
}

/// What the sessions do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// Which one.
    pub script: Script,
    /// Connections that issue operations in turn; at least 1. Of a profile the most of any period; 0 where the profile
    /// decides, until [`super::Spec::check`] has read it.
    pub sessions: u32,
    /// When it ends. A duration of 0 is that of a profile, until [`super::Spec::check`] has read it.
    pub amount: Amount,
    /// How long it goes on before anything is measured.
    pub warm_up: Duration,
    /// When operations are issued.
    pub arrival: Arrival,
    /// What its scripts are told: those of the experiment, and the workload's own defaults once
    /// [`super::Spec::check`] has added them.
    pub parameters: BTreeMap<String, Parameter>,
    /// Bytes of log for each changed row, instead of the workload's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_bytes_per_row: Option<u64>,
    /// Digest of its scripts, once [`super::Spec::check`] has read them.
    pub digest: Option<String>,
}

/// Where a workload's scripts are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Script {
    /// Built in, under this name.
    BuiltIn(String),
    /// A folder of the user's.
    Folder(String),
    /// A profile: what a server did, replayed.
    Profile {
        /// Its file.
        file: String,
        /// Length of the part that is replayed, the busiest one; all of a shorter profile.
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
    /// After so many operations of all sessions together, in equal parts; at least 1.
    Operations(u64),
    /// After so long, which is not zero.
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
        /// Of all sessions together; above zero. 0 is that of a profile, until [`super::Spec::check`] has read it.
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

/// What a database engine puts between SQL and its files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Engine {
    /// Size of the buffer pool.
    pub memory: Bytes,
    /// Size of a page.
    #[serde(default, skip_serializing_if = "is_default")]
    pub page_size: PageSize,
    /// What one physical read brings in.
    pub read_unit: ReadUnit,
    /// How far a scan reads ahead; zero: not at all.
    pub read_ahead: Bytes,
    /// Largest write of neighbouring pages.
    pub write_gather: Bytes,
    /// Page writes at the same time; at least 1.
    pub writes_in_flight: u32,
    /// Time between checkpoints; `None`: no checkpoint during a run.
    pub checkpoint: Option<Duration>,
    /// Most log since the oldest change that is not in its place; 0: any.
    #[serde(default, skip_serializing_if = "is_default")]
    pub log_capacity: Bytes,
    /// Pages whose copies are written together before they go to their places, at most; 0: pages are written once.
    #[serde(default, skip_serializing_if = "is_default")]
    pub doublewrite_pages: u32,
    /// Whether the first change of a page since the last checkpoint puts the whole page into the log.
    #[serde(default, skip_serializing_if = "is_default")]
    pub full_page_images: bool,
    /// Whether a commit waits for the log.
    pub commit: Commit,
    /// Largest write of the log.
    pub log_gather: Bytes,
    /// Log writes in flight from which on commits share the next one; at least 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub log_in_flight_max: u32,
    /// Whether a log write is durable only once its volume was flushed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub log_flush: bool,
    /// Pages that the operating system keeps besides the buffer pool.
    #[serde(default, skip_serializing_if = "is_default")]
    pub page_cache: Bytes,
    /// Memory of one sort or hash before it spills into temporary space.
    pub sort_memory: Bytes,
    /// The buffer pool at the start of the run.
    pub start: Temperature,
    /// The host cache at the start of the run.
    pub host_cache_start: Temperature,
    /// What work costs the processor.
    pub cpu: Cpu,
    /// Row versions kept in temporary space; `None`: no versions.
    pub versions: Option<Versions>,
    /// What only PostgreSQL has.
    #[serde(default, skip_serializing_if = "is_default")]
    pub postgres: Postgres,
    /// What only MariaDB has.
    #[serde(default, skip_serializing_if = "is_default")]
    pub mariadb: Mariadb,
}

impl Engine {
    /// What MariaDB does with the log at a commit. Where it was not asked for: all where a commit waits, and otherwise
    /// what keeps a commit when the server is killed.
    pub fn flush_log(&self) -> FlushLog {
        let by_commit = match self.commit {
            Commit::Durable => FlushLog::AtCommit,
            Commit::Relaxed => FlushLog::WrittenAtCommit,
        };
        self.mariadb.flush_log_at_trx_commit.unwrap_or(by_commit)
    }

    /// Size of MariaDB's log: [`Engine::log_capacity`], or MariaDB's default where that is without bound.
    pub fn log_file_size(&self) -> Bytes {
        match self.log_capacity {
            Bytes::ZERO => Mariadb::LOG_FILE_SIZE_DEFAULT,
            capacity => capacity,
        }
    }
}

/// Whether a value is the default, so that a digest is that of before there was such a key.
fn one() -> u32 {
    1
}

fn is_one(value: &u32) -> bool {
    *value == one()
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What one physical read brings in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadUnit {
    /// The page that was asked for.
    #[default]
    Page,
    /// The extent it lies in, 64 KiB, as SQL Server does while its buffer pool is being filled.
    Extent,
}

/// Whether a commit waits for the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Commit {
    /// It does.
    #[default]
    Durable,
    /// It does not; the log is written when a buffer is full, as in SQL Server's tempdb.
    Relaxed,
}

/// A cache at the start of a run.
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
    /// Of every statement.
    pub statement: Duration,
    /// Of every page asked of the buffer pool.
    pub logical_read: Duration,
    /// Of every step of SQLite's virtual machine.
    pub vm_step: Duration,
}

/// Row versions written to temporary space, as under SQL Server's read committed snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Versions {
    /// Written for every row changed.
    pub bytes_per_row: Bytes,
    /// How long a version is kept; one that dies before it was written out never reaches a disk.
    pub retention: Duration,
}
