//! An experiment file as it is written: every key there is, before it is known to make sense.
//!
//! Amounts carry their unit as text (`"64 KiB"`, `"200 MB/s"`, `"0.6 ms"`). A key that is not listed
//! here is refused. What an absent key means is decided in [`super::resolve`].

use std::collections::BTreeMap;

use model::{Bytes, HostCacheMode, Throughput};
use serde::Deserialize;

use super::amount::{Latency, OneOrMany, Seed, Span};
use super::engine_defaults::Like;
use super::mariadb::{FlushLog, FlushMethod};
use super::mode::EngineName;
use super::postgres::IoMethod;
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
    /// Where files can live, by name.
    #[serde(default)]
    pub(crate) volume: BTreeMap<String, Volume>,
    /// Where they do live, by name.
    #[serde(default)]
    pub(crate) placement: BTreeMap<String, Placement>,
    /// What the sessions do.
    #[serde(default)]
    pub(crate) workload: Workload,
    /// What stands between SQL and the files.
    #[serde(default)]
    pub(crate) engine: Engine,
    /// How trials are repeated and compared.
    #[serde(default)]
    pub(crate) protocol: Protocol,
    /// What is compared; without any, every placement.
    #[serde(default)]
    pub(crate) arm: BTreeMap<String, Arm>,
    /// What was published, by arm and metric.
    #[serde(default)]
    pub(crate) published: BTreeMap<String, BTreeMap<String, Published>>,
    /// Parameters that were fitted to published figures.
    #[serde(default)]
    pub(crate) fitted: Vec<Fitted>,
    /// What is set in emulate and measure mode, where a trial takes its time: dotted keys and values.
    #[serde(default, rename = "real-time")]
    pub(crate) real_time: BTreeMap<String, toml::Value>,
    /// What is set after that where SQL Server runs the workload, which takes more memory: dotted keys and values.
    #[serde(default, rename = "real-time-sqlserver")]
    pub(crate) real_time_sqlserver: BTreeMap<String, toml::Value>,
    /// What `--quick` sets: dotted keys and values.
    #[serde(default)]
    pub(crate) quick: BTreeMap<String, toml::Value>,
}

/// A file of volumes by themselves, without an experiment: what `dbstow mount` takes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Volumes {
    /// The machine that they share; without it, none holds them back.
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
    /// Year, month or day of the publication, as far as it is known.
    pub(crate) date: Option<String>,
    /// What a reader of the figures has to know.
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
    /// Share of its burst credits that are there at the start.
    pub(crate) credits: Option<f64>,
    /// What its host caches of its disks, where the catalogue does not say.
    pub(crate) host_cache: Option<HostCache>,
}

/// What a machine's host caches of its remote disks.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HostCache {
    /// What it holds.
    pub(crate) size: Bytes,
    /// Requests per second through it.
    pub(crate) iops: Option<u64>,
    /// Bytes per second through it.
    pub(crate) throughput: Option<Throughput>,
}

/// A volume: one disk, or a stripe of like disks.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Volume {
    /// Name in the catalogue, `local` or `unlimited`.
    pub(crate) disk: String,
    /// Disks striped.
    pub(crate) count: Option<u32>,
    /// Bytes on one disk before the next one's turn.
    pub(crate) interleave: Option<Bytes>,
    /// What the host cache does for the disks.
    pub(crate) host_cache: Option<HostCacheMode>,
    /// Provisioned size of each disk.
    pub(crate) size: Option<Bytes>,
    /// Provisioned requests per second of each disk.
    pub(crate) iops: Option<u64>,
    /// Provisioned bytes per second of each disk.
    pub(crate) throughput: Option<Throughput>,
    /// Whether burst credits are in force.
    pub(crate) bursting: Option<bool>,
    /// Share of its burst credits that are there at the start.
    pub(crate) credits: Option<f64>,
    /// What the catalogue's entry is replaced by.
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
    /// Requests that a full bucket of credits holds.
    pub(crate) iops_credits: Option<u64>,
    /// Bytes per second while credits last.
    pub(crate) throughput_burst: Option<Throughput>,
    /// Bytes that a full bucket of credits holds.
    pub(crate) throughput_credits: Option<Bytes>,
    /// Requests served at the same time.
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

/// Where the files of each role live. The three that every engine has are asked for, so that none is left to chance.
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
    /// One that is built in.
    pub(crate) name: Option<String>,
    /// Or a folder of one's own, relative to the file.
    pub(crate) folder: Option<String>,
    /// Or a profile, relative to the file: what a server did, recorded or imported.
    pub(crate) profile: Option<String>,
    /// Of a profile: the length of the part of it that is replayed, its busiest one.
    pub(crate) window: Option<Span>,
    /// Of a profile: when its operations begin.
    pub(crate) demand: Option<Demand>,
    /// Connections that issue operations in turn.
    pub(crate) sessions: Option<u32>,
    /// Operations of all sessions together, in equal parts.
    pub(crate) operations: Option<u64>,
    /// Or how long they go on.
    pub(crate) duration: Option<Span>,
    /// How long they go on before anything is measured.
    pub(crate) warm_up: Option<Span>,
    /// Pause of a session between two operations (closed loop).
    pub(crate) think: Option<Span>,
    /// Operations per second of all sessions together (open loop).
    pub(crate) rate: Option<f64>,
    /// Bytes of log for each changed row, instead of the workload's own.
    pub(crate) log_bytes_per_row: Option<u64>,
    /// What the workload's scripts may be told.
    #[serde(default)]
    pub(crate) parameters: BTreeMap<String, Parameter>,
}

/// When the operations of a profile begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Demand {
    /// Each session begins one when its last one ended.
    #[default]
    Closed,
    /// At the recorded rate.
    Open,
}

/// What a database engine puts between SQL and its files.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Engine {
    /// Whose defaults it has where nothing else is said; without it, those of FORMAT.md.
    pub(crate) like: Option<Like>,
    /// The one that it is meant for, unless the user names another; SQLite where nothing is said.
    pub(crate) name: Option<EngineName>,
    /// Size of the buffer pool.
    pub(crate) memory: Option<Bytes>,
    /// Size of a page.
    pub(crate) page_size: Option<Bytes>,
    /// What one physical read brings in.
    pub(crate) read_unit: Option<ReadUnit>,
    /// How far a scan reads ahead.
    pub(crate) read_ahead: Option<Bytes>,
    /// Largest write of neighbouring pages.
    pub(crate) write_gather: Option<Bytes>,
    /// Page writes at the same time.
    pub(crate) writes_in_flight: Option<u32>,
    /// Time between checkpoints, or `"none"`.
    pub(crate) checkpoint: Option<String>,
    /// Most log since the oldest change that is not in its place; 0: any.
    pub(crate) log_capacity: Option<Bytes>,
    /// Pages whose copies are written together before they go to their places; 0: pages are written once.
    pub(crate) doublewrite_pages: Option<u32>,
    /// Whether the first change of a page since the last checkpoint puts the whole page into the log.
    pub(crate) full_page_images: Option<bool>,
    /// Whether a commit waits for the log.
    pub(crate) commit: Option<Commit>,
    /// Largest write of the log.
    pub(crate) log_gather: Option<Bytes>,
    /// Whether a log write is durable only once its volume was flushed.
    pub(crate) log_flush: Option<bool>,
    /// Pages that the operating system keeps besides the buffer pool.
    pub(crate) page_cache: Option<Bytes>,
    /// Memory of one sort or hash before it spills.
    pub(crate) sort_memory: Option<Bytes>,
    /// The buffer pool at the start of the run.
    pub(crate) start: Option<Temperature>,
    /// The host cache at the start of the run.
    pub(crate) host_cache_start: Option<Temperature>,
    /// What work costs the processor.
    #[serde(default)]
    pub(crate) cpu: Cpu,
    /// Row versions kept in temporary space.
    pub(crate) versions: Option<Versions>,
    /// What only PostgreSQL has.
    #[serde(default)]
    pub(crate) postgres: Postgres,
    /// MariaDB's names of what it has.
    #[serde(default)]
    pub(crate) mariadb: Mariadb,
}

/// Settings of MariaDB by its own names; what is absent is as [`super::Mariadb`] has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mariadb {
    /// What a commit does with the log.
    pub(crate) flush_log_at_trx_commit: Option<FlushLog>,
    /// Groups of commits after which the binary log is flushed; 0: never.
    pub(crate) sync_binlog: Option<u32>,
    /// Whether there is a binary log.
    pub(crate) binlog: Option<bool>,
    /// Whether pages are written twice.
    pub(crate) doublewrite: Option<bool>,
    /// How data files are written.
    pub(crate) flush_method: Option<FlushMethod>,
    /// Size of the log.
    pub(crate) log_file_size: Option<Bytes>,
    /// Writes of pages per second.
    pub(crate) io_capacity: Option<u32>,
}

/// Settings that PostgreSQL gets as they are; what is absent is left as the server has it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Postgres {
    /// Who executes asynchronous reads (18).
    pub(crate) io_method: Option<IoMethod>,
    /// Processes that execute them (18).
    pub(crate) io_workers: Option<u32>,
    /// Reads under way at the same time for one scan.
    pub(crate) effective_io_concurrency: Option<u32>,
    /// The same for maintenance such as `VACUUM`.
    pub(crate) maintenance_io_concurrency: Option<u32>,
    /// Largest read of neighbouring pages (17).
    pub(crate) io_combine_limit: Option<Bytes>,
}

/// Deterministic cost of work.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cpu {
    /// Of every statement.
    pub(crate) statement: Option<Span>,
    /// Of every page asked of the buffer pool.
    pub(crate) logical_read: Option<Span>,
    /// Of every step of SQLite's virtual machine.
    pub(crate) vm_step: Option<Span>,
}

/// Row versions written to temporary space.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Versions {
    /// Written for every row changed.
    pub(crate) bytes_per_row: Bytes,
    /// How long a version is kept.
    pub(crate) retention: Span,
}

/// How trials are repeated and compared.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Protocol {
    /// How often every arm is run.
    pub(crate) blocks: Option<u32>,
    /// Differences up to this share do not count.
    pub(crate) margin: Option<f64>,
    /// A trial of which a greater share of operations failed does not count.
    pub(crate) errors_max: Option<f64>,
    /// The arm that others are compared against.
    pub(crate) baseline: Option<String>,
    /// The metric they are compared by.
    pub(crate) metric: Option<String>,
    /// All randomness.
    pub(crate) seed: Option<Seed>,
}

/// A placement at a setting.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arm {
    /// Its placement; when absent the one of the arm's own name, or the only one.
    pub(crate) placement: Option<String>,
    /// The arm it is compared with, where that is not the experiment's baseline.
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
