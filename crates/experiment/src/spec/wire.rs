//! The format of an experiment file: all keys, before validation.
//!
//! Amounts carry their unit as text (`"64 KiB"`, `"200 MB/s"`, `"0.6 ms"`). A key that is not listed here is rejected. Defaults
//! of absent keys are defined in [`super::resolve`].

mod engine;

use std::collections::BTreeMap;

use model::{Bytes, HostCacheMode, Throughput};
use serde::Deserialize;

use super::amount::{Latency, OneOrMany, Seed, Share, Span};
use super::arm::Published;
use super::settings::{Parameter, System};

pub(crate) use engine::{Engine, Versions};

/// The section for emulate and measure mode, of any engine.
pub(crate) const REAL_TIME: &str = "real-time";

/// The section for these modes and one engine, whose name it ends in.
pub(crate) const REAL_TIME_OF_ENGINE: &str = "real-time-sqlserver";

/// The section for `--quick`.
pub(crate) const QUICK: &str = "quick";

/// The whole file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Experiment {
    /// Its name, which is also the file's.
    ///
    /// Required.
    #[serde(default)]
    pub(crate) name: String,
    /// What it asks, in a sentence.
    ///
    /// Required.
    #[serde(default)]
    pub(crate) question: String,
    /// Where published figures come from: `title`, `date`, `note`.
    ///
    /// Absent: none.
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
    /// Further settings if that engine runs the workload, which takes more memory: dotted keys and values.
    #[serde(default, rename = "real-time-sqlserver")]
    pub(crate) real_time_of_engine: BTreeMap<String, toml::Value>,
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
    /// Placements of files, which have no effect: programs place their own.
    #[serde(default)]
    pub(crate) placement: BTreeMap<String, Placement>,
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
    /// A machine of the catalogue (`dbstow machines`), or a class of a managed service (`dbstow services NAME --classes`).
    ///
    /// Absent: then `cores` and `memory` are required, and the machine has no limits of its own.
    #[serde(rename = "type")]
    pub(crate) kind: Option<String>,
    /// Virtual processors.
    ///
    /// Absent: the type's.
    pub(crate) cores: Option<u32>,
    /// How fast each of them is, as a multiple of those that the profile was recorded on, or that `engine.cpu` is for: `1.3`, above
    /// 0. `dbstow advise` writes it for machines of other series.
    ///
    /// Absent: 1.
    pub(crate) processor_speed: Option<f64>,
    /// Main memory.
    ///
    /// Absent: the type's.
    pub(crate) memory: Option<Bytes>,
    /// Its operating system, `linux` or `windows`: its price with it is then part of every arm's. What is simulated does not depend on
    /// it.
    ///
    /// Absent: `linux`.
    pub(crate) system: Option<System>,
    /// Share of its burst credits available at the start: 0 (spent) to 1 (all), or `"50%"`.
    ///
    /// Absent: as the catalogue has it.
    pub(crate) credits: Option<Share>,
    /// `{ size, iops, throughput }`: what its host caches of remote disks, and how fast; the rates are also those of a local
    /// disk that shares the machine's limit `cached`. `iops` and `throughput` may be left out where the catalogue has that
    /// limit. Needed where the vendor says that hosts cache and not how much (all of Azure's v5 and later).
    ///
    /// Absent: the catalogue's; a volume that asks for a cache which is not there, or whose size is not known, is refused.
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
    /// A disk of the catalogue (`dbstow disks`); `local`: one inside the machine; `unlimited`: no limit, no latency; `recorded`:
    /// in a file for `--today`, as the profile beside it shows it: no limit and no latency but those of `override`, which is taken
    /// from the profile where it is absent.
    ///
    /// Required.
    pub(crate) disk: String,
    /// Disks striped; of `local`, at most as many as the machine has (`dbstow machines NAME`).
    ///
    /// Absent: 1.
    pub(crate) count: Option<u32>,
    /// Bytes on one disk before the next disk.
    ///
    /// Absent: 64 KiB.
    pub(crate) interleave: Option<Bytes>,
    /// `none`, `read-only`, `read-write`, where the vendor allows it for disk and machine. `read-write` makes no durable write
    /// faster: `check`, `run` and `advise` report it under a log.
    ///
    /// Absent: `none`.
    pub(crate) host_cache: Option<HostCacheMode>,
    /// Provisioned size.
    ///
    /// Absent: the only one, or the entry's default; none of `unlimited` and `recorded`.
    pub(crate) size: Option<Bytes>,
    /// Provisioned requests per second of each disk.
    ///
    /// Absent: the entry's default.
    pub(crate) iops: Option<u64>,
    /// Provisioned bytes per second of each disk.
    ///
    /// Absent: the entry's default.
    pub(crate) throughput: Option<Throughput>,
    /// Whether optional burst credits are enabled.
    ///
    /// Absent: false.
    pub(crate) bursting: Option<bool>,
    /// Share of each disk's burst credits available at the start: 0 (spent) to 1 (all), or `"50%"`.
    ///
    /// Absent: as the catalogue has it.
    pub(crate) credits: Option<Share>,
    /// Values that replace those of the catalogue's entry.
    #[serde(rename = "override")]
    pub(crate) replaced: Option<Override>,
}

/// Values that replace those of the catalogue's entry, unchecked against the vendor's rules.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Override {
    /// Limit on requests per second; without burst, unless there is one below.
    pub(crate) iops_limit: Option<u64>,
    /// Limit on bytes per second; without burst, unless there is one below.
    pub(crate) throughput_limit: Option<Throughput>,
    /// Requests per second while credits last; needs `iops_credits`.
    pub(crate) iops_burst: Option<u64>,
    /// How many requests a full bucket of credits holds; without `iops_burst`, they pass as fast as they come while these last.
    pub(crate) iops_credits: Option<u64>,
    /// Bytes per second while credits last; needs `throughput_credits`.
    pub(crate) throughput_burst: Option<Throughput>,
    /// How many bytes a full bucket of credits holds; without `throughput_burst`, they pass as fast as they come while these last.
    pub(crate) throughput_credits: Option<Bytes>,
    /// Requests served at the same time.
    pub(crate) in_flight_max: Option<u32>,
    /// Time to serve a read: `"0.6 ms"` always the same; `{ p50 = "0.6 ms", p99 = "2 ms" }` log-normal; `{ mean = "1 ms" }`
    /// exponential.
    pub(crate) read_latency: Option<Latency>,
    /// The same of a write.
    pub(crate) write_latency: Option<Latency>,
    /// The same of a flush.
    pub(crate) flush_latency: Option<Latency>,
    /// How fast the bytes of one request move; added to its latency.
    pub(crate) transfer: Option<Throughput>,
}

/// The location of the files of each role. The three roles that every engine has are required, so that none is left to chance.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Placement {
    /// Files of tables and indexes.
    ///
    /// Required.
    pub(crate) data: Option<Files>,
    /// Files of temporary space.
    ///
    /// Required.
    pub(crate) temp: Option<Files>,
    /// The file of the log.
    ///
    /// Required.
    pub(crate) log: Option<Files>,
    /// The binary log, to which a commit is written after the log.
    ///
    /// Absent: no binary log.
    pub(crate) binlog: Option<Files>,
    /// Undo tablespaces; simulate writes no undo records, and a record says so.
    ///
    /// Absent: with the data.
    pub(crate) undo: Option<Files>,
    /// The area to which pages are copied before they are written to their places.
    ///
    /// Absent: on the first data file's volume.
    pub(crate) doublewrite: Option<Files>,
}

/// Files of one role, distributed over the volumes in turn.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Files {
    /// A volume's name, or a list: files go to them in turn.
    ///
    /// Required.
    pub(crate) volumes: OneOrMany<String>,
    /// How many files; at least one a volume, and one for `log`.
    ///
    /// Absent: as many as volumes.
    pub(crate) files: Option<u32>,
    /// The size each is created with, or a list with one for each.
    ///
    /// Absent: they grow as needed.
    pub(crate) file_size: Option<OneOrMany<Bytes>>,
}

/// What the sessions do.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Workload {
    /// A built-in workload (`dbstow workloads`).
    ///
    /// Absent: one of the three is required.
    pub(crate) name: Option<String>,
    /// Your own [workload](#workload), relative to this file: a folder, an `.sql` file, or a settings file of SQLQueryStress
    /// (`.json`).
    pub(crate) folder: Option<String>,
    /// A [profile](docs/profile.md), relative to this file: what a server did, replayed: in simulate its operations, in emulate
    /// and measure its requests (`--engine raw`).
    pub(crate) profile: Option<String>,
    /// Of a profile: length of the part that is replayed, its busiest.
    ///
    /// Absent: 1 h, in real time 1 min, or all of a shorter one.
    pub(crate) window: Option<Span>,
    /// Of a profile: `closed`, each session's next operation follows its last, or `open`, operations arrive at the recorded
    /// rate.
    ///
    /// Absent: `closed`.
    pub(crate) demand: Option<Demand>,
    /// Connections that issue operations in turn; of a profile the most of any period, the others in proportion.
    ///
    /// Absent: 1; `NumThreads` of a settings file; of a profile as recorded.
    pub(crate) sessions: Option<u32>,
    /// Operations of all sessions together, in equal parts.
    ///
    /// Absent: the workload's own (`run.operations`, `run.duration`, `NumIterations`); an `.sql` file has none, so that one of
    /// the two is required; a profile runs as long as it was recorded.
    pub(crate) operations: Option<u64>,
    /// Or how long they run after the warm-up.
    pub(crate) duration: Option<Span>,
    /// How long they run before anything is measured.
    ///
    /// Absent: 0.
    pub(crate) warm_up: Option<Span>,
    /// Pause of a session before each operation (closed loop).
    ///
    /// Absent: 0.
    pub(crate) think: Option<Span>,
    /// Operations per second of all sessions together, at random instants (open loop); not with `think`; of a profile the mean.
    ///
    /// Absent: 0: closed loop.
    pub(crate) rate: Option<f64>,
    /// Bytes of log for each changed row, in simulate.
    ///
    /// Absent: the workload's.
    pub(crate) log_bytes_per_row: Option<u64>,
    /// Variables of the workload's scripts: finite numbers and texts by name, within the range that the [workload](#workload)
    /// gives them.
    ///
    /// Absent: the workload's own.
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

/// How trials are repeated and compared.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Protocol {
    /// How often every arm is run.
    ///
    /// Absent: 8, and 5 where nothing is drawn (`nominal`, real time).
    pub(crate) blocks: Option<u32>,
    /// Differences up to this share are ignored; `0.05` or `"5%"`.
    ///
    /// Absent: 0.05.
    pub(crate) margin: Option<Share>,
    /// A trial of which a greater share of operations failed does not count; `0.01` or `"1%"`.
    ///
    /// Absent: 0.01.
    pub(crate) errors_max: Option<Share>,
    /// The arm that others are compared with.
    ///
    /// Absent: the first.
    pub(crate) baseline: Option<String>,
    /// By which one (see [metrics](#metrics)).
    ///
    /// Absent: `elapsed_s`.
    pub(crate) metric: Option<String>,
    /// Whether uncertain values, such as the latency of a kind of disk, are the typical ones in every block; if not, each block
    /// draws them by how well they are known (simulate).
    ///
    /// Absent: false; true with `--quick`, and for a profile.
    pub(crate) nominal: Option<bool>,
    /// All randomness: a whole number of 64 bits, in quotes from 9223372036854775808 (2^63) on, where TOML's own end; `--seed`
    /// takes any.
    ///
    /// Absent: 1.
    pub(crate) seed: Option<Seed>,
}

/// A placement with settings.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arm {
    /// Its placement.
    ///
    /// Absent: the one of its name, or the only one.
    pub(crate) placement: Option<String>,
    /// The arm it is compared with.
    ///
    /// Absent: the experiment's `protocol.baseline`.
    pub(crate) baseline: Option<String>,
    /// What differs in it: dotted keys of `machine`, `volume`, `placement`, `workload` and `engine`.
    ///
    /// Absent: nothing.
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
