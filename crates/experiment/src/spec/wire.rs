//! The format of an experiment file: all keys, before validation.
//!
//! Amounts carry their unit as text (`"64 KiB"`, `"200 MB/s"`, `"0.6 ms"`). A key that is not listed here is rejected. Defaults
//! of absent keys are defined in [`super::resolve`].

use std::collections::BTreeMap;

use model::{Bytes, HostCacheMode, Throughput};
use products::{Like, Own};
use serde::Deserialize;

use super::amount::{Latency, OneOrMany, Seed, Share, Span};
use super::mode::EngineName;
use super::settings::{Commit, Parameter, ReadUnit, Temperature};
use crate::question::Published;

/// The whole file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Experiment {
    /// Its name, which is also the file's.
    #[serde(default)]
    pub(crate) name: String,
    /// What it asks, in a sentence.
    #[serde(default)]
    pub(crate) question: String,
    /// Where the published figures come from.
    pub(crate) source: Option<Source>,
    /// The machine the database runs on.
    #[serde(default)]
    pub(crate) machine: Machine,
    /// The volumes for files, by name.
    #[serde(default)]
    pub(crate) volume: BTreeMap<String, Volume>,
    /// The placements of files, by name.
    #[serde(default)]
    pub(crate) placement: BTreeMap<String, Placement>,
    /// What the sessions do.
    #[serde(default)]
    pub(crate) workload: Workload,
    /// The engine between SQL and the files.
    #[serde(default)]
    pub(crate) engine: Engine,
    /// How trials are repeated and compared.
    #[serde(default)]
    pub(crate) protocol: Protocol,
    /// The arms to compare; without any, every placement.
    #[serde(default)]
    pub(crate) arm: BTreeMap<String, Arm>,
    /// Published figures, by arm and metric.
    #[serde(default)]
    pub(crate) published: BTreeMap<String, BTreeMap<String, Published>>,
    /// Parameters that were fitted to published figures.
    #[serde(default)]
    pub(crate) fitted: Vec<Fitted>,
    /// Settings for emulate and measure mode, where a trial takes real time: dotted keys and values.
    #[serde(default, rename = "real-time")]
    pub(crate) real_time: BTreeMap<String, toml::Value>,
    /// Further settings if SQL Server runs the workload, which takes more memory: dotted keys and values.
    #[serde(default, rename = "real-time-sqlserver")]
    pub(crate) real_time_sqlserver: BTreeMap<String, toml::Value>,
    /// Settings for `--quick`: dotted keys and values.
    #[serde(default)]
    pub(crate) quick: BTreeMap<String, toml::Value>,
}

/// A file of standalone volumes, without an experiment: the input of `dbstow mount`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Volumes {
    /// The machine that they share; without it, they have no machine limits.
    pub(crate) machine: Option<Machine>,
    /// The volumes, by name.
    #[serde(default)]
    pub(crate) volume: BTreeMap<String, Volume>,
}

/// Where the published figures come from.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Source {
    /// Title of the publication.
    pub(crate) title: String,
    /// Year, month or day of the publication, as precise as known.
    pub(crate) date: Option<String>,
    /// Note for readers of the figures.
    pub(crate) note: Option<String>,
}

/// The machine: a type of the catalogue, or cores and memory, or a type with some of them changed.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Machine {
    /// Name in the catalogue.
    #[serde(rename = "type")]
    pub(crate) kind: Option<String>,
    /// Virtual processors.
    pub(crate) cores: Option<u32>,
    /// Main memory.
    pub(crate) memory: Option<Bytes>,
    /// Share of its burst credits available at the start.
    pub(crate) credits: Option<Share>,
    /// Its host cache, if not in the catalogue.
    pub(crate) host_cache: Option<HostCache>,
}

/// A machine's host cache for its remote disks.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HostCache {
    /// Its size.
    pub(crate) size: Bytes,
    /// Requests per second through it.
    pub(crate) iops: Option<u64>,
    /// Bytes per second through it.
    pub(crate) throughput: Option<Throughput>,
}

/// A volume: one disk, or a stripe of identical disks.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Volume {
    /// Name in the catalogue, `local` or `unlimited`.
    pub(crate) disk: String,
    /// Number of striped disks.
    pub(crate) count: Option<u32>,
    /// Bytes on one disk before the next one's turn.
    pub(crate) interleave: Option<Bytes>,
    /// Host cache mode of the disks.
    pub(crate) host_cache: Option<HostCacheMode>,
    /// Provisioned size of each disk.
    pub(crate) size: Option<Bytes>,
    /// Provisioned requests per second of each disk.
    pub(crate) iops: Option<u64>,
    /// Provisioned bytes per second of each disk.
    pub(crate) throughput: Option<Throughput>,
    /// Whether burst credits apply.
    pub(crate) bursting: Option<bool>,
    /// Share of its burst credits available at the start.
    pub(crate) credits: Option<Share>,
    /// Values that replace those of the catalogue's entry.
    #[serde(rename = "override")]
    pub(crate) replaced: Option<Override>,
}

/// Values that replace those of the catalogue's entry, unchecked against the vendor's rules.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Override {
    /// Limit on requests per second.
    pub(crate) iops_limit: Option<u64>,
    /// Limit on bytes per second.
    pub(crate) throughput_limit: Option<Throughput>,
    /// Requests per second while credits last.
    pub(crate) iops_burst: Option<u64>,
    /// Capacity of the credit bucket in requests.
    pub(crate) iops_credits: Option<u64>,
    /// Bytes per second while credits last.
    pub(crate) throughput_burst: Option<Throughput>,
    /// Capacity of the credit bucket in bytes.
    pub(crate) throughput_credits: Option<Bytes>,
    /// Requests served concurrently.
    pub(crate) in_flight_max: Option<u32>,
    /// Time to serve a read.
    pub(crate) read_latency: Option<Latency>,
    /// Time to serve a write.
    pub(crate) write_latency: Option<Latency>,
    /// Time to serve a flush.
    pub(crate) flush_latency: Option<Latency>,
    /// How fast the bytes of one request move, added to its latency.
    pub(crate) transfer: Option<Throughput>,
}

/// The location of the files of each role. The three roles that every engine has are required, so that none is left to chance.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Placement {
    /// Tables and indexes.
    pub(crate) data: Option<Files>,
    /// Temporary space.
    pub(crate) temp: Option<Files>,
    /// The log.
    pub(crate) log: Option<Files>,
    /// The binary log.
    pub(crate) binlog: Option<Files>,
    /// Undo records.
    pub(crate) undo: Option<Files>,
    /// The doublewrite area.
    pub(crate) doublewrite: Option<Files>,
}

/// Files of one role, distributed over the volumes in turn.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Files {
    /// Names of volumes: `"d"` or `["d", "e"]`.
    pub(crate) volumes: OneOrMany<String>,
    /// How many files; as many as volumes when absent.
    pub(crate) files: Option<u32>,
    /// Size each file is created with: one for all, or a list with one for each.
    pub(crate) file_size: Option<OneOrMany<Bytes>>,
}

/// What the sessions do.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Workload {
    /// A built-in workload.
    pub(crate) name: Option<String>,
    /// Or a user's folder, relative to the file.
    pub(crate) folder: Option<String>,
    /// Or a profile, relative to the file: recorded or imported activity of a server.
    pub(crate) profile: Option<String>,
    /// For a profile: the length of the replayed part, its busiest one.
    pub(crate) window: Option<Span>,
    /// For a profile: when its operations begin.
    pub(crate) demand: Option<Demand>,
    /// Connections that issue operations in turn.
    pub(crate) sessions: Option<u32>,
    /// Operations of all sessions together, in equal parts.
    pub(crate) operations: Option<u64>,
    /// Or the duration.
    pub(crate) duration: Option<Span>,
    /// Duration before measurement starts.
    pub(crate) warm_up: Option<Span>,
    /// Pause of a session between two operations (closed loop).
    pub(crate) think: Option<Span>,
    /// Operations per second of all sessions together (open loop).
    pub(crate) rate: Option<f64>,
    /// Bytes of log for each changed row, instead of the workload's own.
    pub(crate) log_bytes_per_row: Option<u64>,
    /// Parameters of the workload's scripts.
    #[serde(default)]
    pub(crate) parameters: BTreeMap<String, Parameter>,
}

/// When the operations of a profile begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Demand {
    /// Each session begins one when its previous one has ended.
    #[default]
    Closed,
    /// At the recorded rate.
    Open,
}

/// A database engine between SQL and its files.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Engine {
    /// The product whose defaults apply; without it, those of FORMAT.md.
    pub(crate) like: Option<&'static Like>,
    /// The intended engine, unless the user selects another; SQLite by default.
    pub(crate) name: Option<EngineName>,
    /// Size of the buffer pool.
    pub(crate) memory: Option<Bytes>,
    /// Size of a page.
    pub(crate) page_size: Option<Bytes>,
    /// Unit of a physical read.
    pub(crate) read_unit: Option<ReadUnit>,
    /// How far a scan reads ahead.
    pub(crate) read_ahead: Option<Bytes>,
    /// Largest write of neighbouring pages.
    pub(crate) write_gather: Option<Bytes>,
    /// Concurrent page writes.
    pub(crate) writes_in_flight: Option<u32>,
    /// Time between checkpoints, or `"none"`.
    pub(crate) checkpoint: Option<String>,
    /// Maximum log since the oldest unflushed change; 0: unlimited.
    pub(crate) log_capacity: Option<Bytes>,
    /// Pages whose doublewrite copies are written together before the pages themselves; 0: no doublewrite.
    pub(crate) doublewrite_pages: Option<u32>,
    /// Whether the first change of a page after a checkpoint logs the whole page.
    pub(crate) full_page_images: Option<bool>,
    /// Whether a commit waits for the log.
    pub(crate) commit: Option<Commit>,
    /// Largest write of the log.
    pub(crate) log_gather: Option<Bytes>,
    /// Whether a log write is durable only once its volume was flushed.
    pub(crate) log_flush: Option<bool>,
    /// Size of the operating system's page cache besides the buffer pool.
    pub(crate) page_cache: Option<Bytes>,
    /// Memory of one sort or hash before it spills.
    pub(crate) sort_memory: Option<Bytes>,
    /// The buffer pool at the start of the run.
    pub(crate) start: Option<Temperature>,
    /// The host cache at the start of the run.
    pub(crate) host_cache_start: Option<Temperature>,
    /// Processor cost of work.
    #[serde(default)]
    pub(crate) cpu: Cpu,
    /// Row versions kept in temporary space.
    pub(crate) versions: Option<Versions>,
    /// Settings by a product's own names, `[engine.PRODUCT]`: [`super::document`] reads them by the product's table.
    #[serde(skip)]
    pub(crate) own: Own,
}

/// Deterministic cost of work.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cpu {
    /// Per statement.
    pub(crate) statement: Option<Span>,
    /// Per page requested from the buffer pool.
    pub(crate) logical_read: Option<Span>,
    /// Per step of SQLite's virtual machine.
    pub(crate) vm_step: Option<Span>,
}

/// Row versions written to temporary space.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Versions {
    /// Bytes written per changed row.
    pub(crate) bytes_per_row: Bytes,
    /// How long a version is kept.
    pub(crate) retention: Span,
}

/// How trials are repeated and compared.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Protocol {
    /// How often each arm is run.
    pub(crate) blocks: Option<u32>,
    /// Differences up to this share are ignored.
    pub(crate) margin: Option<Share>,
    /// A trial with a greater share of failed operations does not count.
    pub(crate) errors_max: Option<Share>,
    /// The arm that others are compared against.
    pub(crate) baseline: Option<String>,
    /// The metric they are compared by.
    pub(crate) metric: Option<String>,
    /// Seed of all randomness.
    pub(crate) seed: Option<Seed>,
}

/// A placement with settings.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arm {
    /// Its placement; by default the one with the arm's name, or the only one.
    pub(crate) placement: Option<String>,
    /// The arm it is compared with, if not the experiment's baseline.
    pub(crate) baseline: Option<String>,
    /// What differs in this arm: dotted keys and values.
    #[serde(default)]
    pub(crate) set: BTreeMap<String, toml::Value>,
}

/// A parameter that was fitted to published figures.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fitted {
    /// Its dotted key in this file.
    pub(crate) parameter: String,
    /// Arms whose published figures were used.
    pub(crate) to: OneOrMany<String>,
    /// What was matched, and why this parameter.
    pub(crate) why: String,
}
