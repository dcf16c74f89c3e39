//! The catalogue's file format: keys and values, not yet cross-checked.

use std::collections::BTreeMap;
use std::fmt;

use model::{Bytes, Duration, Throughput};
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer, de};
use toml::Spanned;

use super::after_stop::AfterStop;
use super::hourly_price::PriceAssumed;
use super::source::{Confidence, Known};

/// A whole file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileWire {
    #[serde(default)]
    pub(super) source: BTreeMap<String, Spanned<SourceWire>>,
    #[serde(default)]
    pub(super) class: BTreeMap<String, Spanned<ClassWire>>,
    #[serde(default)]
    pub(super) disk: BTreeMap<String, Spanned<DiskWire>>,
    #[serde(default)]
    pub(super) machine: BTreeMap<String, Spanned<MachineWire>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SourceWire {
    /// Its title.
    pub(super) title: String,
    /// Where it is.
    pub(super) url: Option<String>,
    /// Of the document, or when it was read.
    pub(super) date: String,
    /// A remark.
    pub(super) note: Option<String>,
    /// Of list prices: whose, and of which region.
    pub(super) prices: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClassWire {
    /// What it is.
    pub(super) title: String,
    /// A request longer than this counts as several; absent: any size counts once.
    pub(super) io_size_max: Option<Bytes>,
    /// A shorter request is charged as many bytes.
    pub(super) io_charge_min: Option<Bytes>,
    /// How fast the bytes of one request move, added to its latency.
    pub(super) transfer: Option<Throughput>,
    /// Requests at the same time.
    pub(super) in_flight_max: Option<u32>,
    /// The largest unit, aligned to itself, that the vendor promises to write whole or not at all; a power of two; absent:
    /// nothing is promised. `dbstow drill --atomic disk` uses it.
    pub(super) atomic_write: Option<Bytes>,
    /// Names of machine limits; the first that the machine has applies.
    #[serde(default)]
    pub(super) machine_limits: Vec<String>,
    /// Whether a host cache is possible; false when absent.
    #[serde(default)]
    pub(super) host_cache: bool,
    /// Whether it has moving parts; `advise` then considers its disks only when they are named; false when absent.
    #[serde(default)]
    pub(super) hard_disk: bool,
    /// What a disk holds after its machine was stopped: `"kept"` (default), `"empty"`, or `"raw"`: no file system either.
    /// Warnings, `lint`, `advise`, `drill` and `layout` go by it.
    #[serde(default)]
    pub(super) after_stop: AfterStop,
    /// Latency of a read: `value`, or `p50` and `p99`, or `mean` (log-normal, with a p99 of twice the p50); with `sources`, or
    /// `assumed`. `between` is the factor between volumes of the kind, one standard deviation of a log-normal, 1 to 100; absent:
    /// by how the latency is `known`: `"documented"` exactly (1), by `"several"` sources (1.4), `"one"` (1.6) or `"assumed"`
    /// (1.9); absent: assumed with `assumed`, else by its number of sources.
    pub(super) read: LatencyWire,
    /// The same of a write.
    pub(super) write: LatencyWire,
    /// The same of a flush.
    pub(super) flush: LatencyWire,
    /// Where hosts cache on it, the same of what a write through a read-only cache takes beyond the disk; absent: no time.
    pub(super) through_cache: Option<LatencyWire>,
    /// Ids of `[source.ID]`.
    #[serde(default)]
    pub(super) sources: Vec<String>,
    /// Values without a publication, each with the reason for it.
    #[serde(default)]
    pub(super) assumed: Vec<String>,
    /// Remarks for the reader.
    #[serde(default)]
    pub(super) notes: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LatencyWire {
    pub(super) value: Option<Duration>,
    pub(super) mean: Option<Duration>,
    pub(super) p50: Option<Duration>,
    pub(super) p99: Option<Duration>,
    pub(super) known: Option<Known>,
    pub(super) between: Option<f64>,
    pub(super) assumed: Option<String>,
    #[serde(default)]
    pub(super) sources: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DiskWire {
    /// Its class.
    pub(super) class: String,
    /// What it is.
    pub(super) title: String,
    /// Other names.
    #[serde(default)]
    pub(super) aliases: Vec<String>,
    /// One size, or a choice: `{ least, most, default, step, sizes }`.
    pub(super) size: SizeWire,
    /// Limit on requests per second, as a [rule](#rules).
    pub(super) iops: Option<RuleWire>,
    /// Limit on bytes per second, as a [rule](#rules).
    pub(super) throughput: Option<RuleWire>,
    /// `{ optional, iops = { rate, lasts | credits }, throughput = .. }`: a higher rate, for a time from a full bucket, until
    /// credits are spent, or without end; `optional`: only where an experiment asks (`bursting`).
    pub(super) burst: Option<BurstsWire>,
    /// Where larger disks have other limits: list of `{ size, iops, throughput, burst }`, sizes ascending; from each size on, these
    /// replace all limits of smaller ones.
    #[serde(default)]
    pub(super) limits_from: Vec<LimitsFromWire>,
    /// Replaces the class's.
    pub(super) host_cache: Option<bool>,
    /// Replaces the class's.
    pub(super) machine_limits: Option<Vec<String>>,
    /// Replaces the class's.
    pub(super) after_stop: Option<AfterStop>,
    /// Where the limits are published for some machines alone: list of `{ families, types, cores, cores_each }`, series and
    /// names of machines, the least number of processors, and for how many processors they have one such disk (more are
    /// refused). With fewer, a volume is refused; on other machines a report says that the limits are assumed, and a local disk
    /// is refused where the catalogue knows the machine's own; absent: they hold on all.
    #[serde(default)]
    pub(super) machines: Vec<MachinesWire>,
    /// Where less than the limits was measured: list of `{ families, cores_below, measured }`, the last in words, which a
    /// report shows.
    #[serde(default)]
    pub(super) missed: Vec<MissedWire>,
    /// How many of it a machine has, or have their limits each: more are refused. Volumes that replace both limits (`override`)
    /// pass all of these.
    pub(super) count_max: Option<u32>,
    /// A name that entries share whose limits are each those of all such disks of a machine: volumes with two of them are
    /// refused.
    pub(super) group: Option<String>,
    /// Of a disk under old rules, the entry of those that it is sold by now; `advise` then considers it only when it is named.
    pub(super) superseded_by: Option<String>,
    /// List price in US dollars a month, in all; or `price`.
    pub(super) usd_per_month: Option<f64>,
    /// `{ per_gib, per_iops, per_mib_per_s, per_mb_per_s }` in US dollars a month; all but the first in steps `{ above, usd }`;
    /// `iops_free`, `{ per_gib, at_least }`: IOPS that come with the size; `billed_size`, written as `size`: the sizes that are
    /// billed; a disk is billed as the next larger one.
    pub(super) price: Option<PriceWire>,
    /// `{ usd_per_10000, hourly_max }`: what requests cost beside that, and how many of an hour are charged at most; absent:
    /// nothing, or where the second is, all of them.
    pub(super) requests: Option<PerRequestWire>,
    /// `documented`, `measured`, `second-hand`, `inferred`, `assumed`: how its limits are known.
    pub(super) confidence: Confidence,
    /// Ids of `[source.ID]`.
    pub(super) sources: Vec<String>,
    /// Values without a publication, each with the reason for it.
    #[serde(default)]
    pub(super) assumed: Vec<String>,
    /// Remarks for the reader.
    #[serde(default)]
    pub(super) notes: Vec<String>,
}

/// Limits of disks from a size on.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LimitsFromWire {
    pub(super) size: Bytes,
    pub(super) iops: Option<RuleWire>,
    pub(super) throughput: Option<RuleWire>,
    pub(super) burst: Option<BurstsWire>,
}

/// The price of requests.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PerRequestWire {
    pub(super) usd_per_10000: f64,
    pub(super) hourly_max: Option<u64>,
}

/// Machines that a disk's limits are published for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MachinesWire {
    #[serde(default)]
    pub(super) families: Vec<String>,
    #[serde(default)]
    pub(super) types: Vec<String>,
    #[serde(default)]
    pub(super) cores: u32,
    pub(super) cores_each: Option<u32>,
}

/// Machines on which less than a disk's limits was measured.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MissedWire {
    pub(super) families: Vec<String>,
    pub(super) cores_below: Option<u32>,
    pub(super) measured: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MachineWire {
    /// What it is.
    #[serde(default)]
    pub(super) title: String,
    /// Other names.
    #[serde(default)]
    pub(super) aliases: Vec<String>,
    /// The vendor's name of its series.
    #[serde(default)]
    pub(super) family: String,
    /// Whether its processors are Arm's.
    #[serde(default)]
    pub(super) arm: bool,
    /// Virtual processors.
    pub(super) cores: u32,
    /// Main memory.
    pub(super) memory: Bytes,
    /// How many disks can be attached.
    pub(super) disks_max: Option<u32>,
    /// How many files it can have.
    pub(super) files_max: Option<u32>,
    /// By name, `{ iops, throughput, burst }`: shared by all disks whose class names it: `cached`, `uncached`, `ebs` and others.
    #[serde(default)]
    pub(super) limits: BTreeMap<String, LimitsWire>,
    /// `{ class, size, limit }`: the class gives a hit's latency and `through_cache`, the limit is one of the machine's.
    pub(super) host_cache: Option<HostCacheWire>,
    /// `{ disk }`, or `{ class, size, iops, throughput }`; one of them.
    pub(super) local_disk: Option<LocalDiskWire>,
    /// How many local disks it has, 0 for none; absent: 1 with a `local_disk`, else not known.
    pub(super) local_disks: Option<u32>,
    /// Whether they come without a file system, at first and after every stop.
    pub(super) local_disks_raw: Option<bool>,
    /// `{ linux, windows }` in US dollars an hour, on demand: above 0, at most 10^9.
    pub(super) price: Option<HourlyPriceWire>,
    /// As of a disk.
    pub(super) confidence: Confidence,
    /// Ids of `[source.ID]`.
    pub(super) sources: Vec<String>,
    /// Values without a publication, each with the reason for it.
    #[serde(default)]
    pub(super) assumed: Vec<String>,
    /// Only set by rows.
    #[serde(skip)]
    pub(super) price_assumed: PriceAssumed,
    /// Only set by rows.
    #[serde(skip)]
    pub(super) local_assumed: Vec<String>,
    /// Remarks for the reader.
    #[serde(default)]
    pub(super) notes: Vec<String>,
}

/// Dollars an hour, on demand.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HourlyPriceWire {
    pub(super) linux: Option<f64>,
    pub(super) windows: Option<f64>,
}

/// A machine's limit of one name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LimitsWire {
    pub(super) iops: Option<RuleWire>,
    pub(super) throughput: Option<RuleWire>,
    pub(super) burst: Option<BurstsWire>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HostCacheWire {
    pub(super) class: String,
    pub(super) size: Bytes,
    pub(super) limit: String,
}

/// A disk inside a machine: an entry by its name, or a class with a size.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LocalDiskWire {
    pub(super) disk: Option<String>,
    pub(super) class: Option<String>,
    pub(super) size: Option<Bytes>,
    pub(super) iops: Option<RuleWire>,
    pub(super) throughput: Option<RuleWire>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BurstsWire {
    /// Only when the user requests it.
    #[serde(default)]
    pub(super) optional: bool,
    pub(super) iops: Option<BurstWire>,
    pub(super) throughput: Option<BurstWire>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BurstWire {
    pub(super) rate: RuleWire,
    pub(super) lasts: Option<Duration>,
    pub(super) credits: Option<RuleWire>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PriceWire {
    #[serde(default)]
    pub(super) per_gib: f64,
    pub(super) billed_size: Option<SizeWire>,
    pub(super) iops_free: Option<IopsFreeWire>,
    #[serde(default)]
    pub(super) per_iops: Vec<StepWire>,
    #[serde(default)]
    pub(super) per_mib_per_s: Vec<StepWire>,
    #[serde(default)]
    pub(super) per_mb_per_s: Vec<StepWire>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IopsFreeWire {
    pub(super) per_gib: u64,
    pub(super) at_least: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StepWire {
    #[serde(default)]
    pub(super) above: u64,
    pub(super) usd: f64,
}

/// A number, or a text with a unit.
#[derive(Clone, Debug)]
pub(super) enum AmountWire {
    Number(f64),
    Text(String),
}

/// An amount, or how to compute it.
pub(super) enum RuleWire {
    Amount(AmountWire),
    Table(Box<RuleTable>),
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleTable {
    pub(super) base: Option<AmountWire>,
    pub(super) per_gib: Option<AmountWire>,
    pub(super) per_iops: Option<AmountWire>,
    pub(super) at_least: Option<AmountWire>,
    pub(super) at_most: Option<AmountWire>,
    pub(super) tiers: Option<Vec<TierWire>>,
    pub(super) largest: Option<Vec<RuleWire>>,
    pub(super) asked: Option<AskedWire>,
    pub(super) read: Option<RuleWire>,
    pub(super) write: Option<RuleWire>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TierWire {
    pub(super) to: Bytes,
    pub(super) value: AmountWire,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AskedWire {
    pub(super) default: Option<RuleWire>,
    pub(super) least: RuleWire,
    pub(super) most: RuleWire,
}

/// One size, or a choice of sizes.
pub(super) enum SizeWire {
    Fixed(Bytes),
    Choice(SizeTable),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SizeTable {
    pub(super) least: Bytes,
    pub(super) most: Bytes,
    pub(super) default: Option<Bytes>,
    pub(super) step: Option<Bytes>,
    #[serde(default)]
    pub(super) sizes: Vec<Bytes>,
}

/// Reads a number or text as is, and a table as `T`.
///
/// Not an untagged enum: that would answer a mistyped key with "did not match any variant".
struct AmountOr<T>(std::marker::PhantomData<T>);

enum Either<T> {
    Amount(AmountWire),
    Table(T),
}

impl<'de, T: Deserialize<'de>> de::Visitor<'de> for AmountOr<T> {
    type Value = Either<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a text with a unit, or a table")
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Either<T>, E> {
        Ok(Either::Amount(AmountWire::Number(value as f64)))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Either<T>, E> {
        Ok(Either::Amount(AmountWire::Number(value as f64)))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Either<T>, E> {
        Ok(Either::Amount(AmountWire::Number(value)))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Either<T>, E> {
        Ok(Either::Amount(AmountWire::Text(value.to_owned())))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Either<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Either::Table)
    }
}

fn either<'de, T: Deserialize<'de>, D: Deserializer<'de>>(d: D) -> Result<Either<T>, D::Error> {
    d.deserialize_any(AmountOr(std::marker::PhantomData))
}

impl<'de> Deserialize<'de> for RuleWire {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<RuleWire, D::Error> {
        Ok(match either::<Box<RuleTable>, D>(d)? {
            Either::Amount(amount) => RuleWire::Amount(amount),
            Either::Table(table) => RuleWire::Table(table),
        })
    }
}

impl<'de> Deserialize<'de> for AmountWire {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<AmountWire, D::Error> {
        match either::<de::IgnoredAny, D>(d)? {
            Either::Amount(amount) => Ok(amount),
            Either::Table(_) => Err(de::Error::custom(
                "a table stands here; write a number or a text with a unit",
            )),
        }
    }
}

impl<'de> Deserialize<'de> for SizeWire {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<SizeWire, D::Error> {
        match either::<SizeTable, D>(d)? {
            Either::Amount(AmountWire::Text(text)) => {
                text.parse().map(SizeWire::Fixed).map_err(de::Error::custom)
            }
            Either::Amount(AmountWire::Number(n)) => Err(de::Error::custom(format!(
                "{n} has no unit; write a size such as \"512 GiB\""
            ))),
            Either::Table(table) => Ok(SizeWire::Choice(table)),
        }
    }
}
