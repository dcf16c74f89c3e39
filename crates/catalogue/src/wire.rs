//! The catalogue's file format: keys and values, not yet cross-checked.

use std::collections::BTreeMap;
use std::fmt;

use model::{Bytes, Duration, Throughput};
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer, de};
use toml::Spanned;

use super::after_stop::AfterStop;
use super::machine::PriceAssumed;
use super::source::Confidence;

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
    pub(super) title: String,
    pub(super) url: Option<String>,
    pub(super) date: String,
    pub(super) note: Option<String>,
    pub(super) prices: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClassWire {
    pub(super) title: String,
    pub(super) io_size_max: Option<Bytes>,
    pub(super) io_charge_min: Option<Bytes>,
    pub(super) transfer: Option<Throughput>,
    pub(super) in_flight_max: Option<u32>,
    pub(super) atomic_write: Option<Bytes>,
    #[serde(default)]
    pub(super) machine_limits: Vec<String>,
    #[serde(default)]
    pub(super) host_cache: bool,
    #[serde(default)]
    pub(super) hard_disk: bool,
    #[serde(default)]
    pub(super) after_stop: AfterStop,
    pub(super) read: LatencyWire,
    pub(super) write: LatencyWire,
    pub(super) flush: LatencyWire,
    #[serde(default)]
    pub(super) sources: Vec<String>,
    #[serde(default)]
    pub(super) assumed: Vec<String>,
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
    pub(super) assumed: Option<String>,
    #[serde(default)]
    pub(super) sources: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DiskWire {
    pub(super) class: String,
    pub(super) title: String,
    #[serde(default)]
    pub(super) aliases: Vec<String>,
    pub(super) size: SizeWire,
    pub(super) iops: Option<RuleWire>,
    pub(super) throughput: Option<RuleWire>,
    pub(super) burst: Option<BurstsWire>,
    pub(super) host_cache: Option<bool>,
    pub(super) machine_limits: Option<Vec<String>>,
    pub(super) after_stop: Option<AfterStop>,
    #[serde(default)]
    pub(super) machines: Vec<MachinesWire>,
    #[serde(default)]
    pub(super) missed: Vec<MissedWire>,
    pub(super) count_max: Option<u32>,
    pub(super) group: Option<String>,
    pub(super) superseded_by: Option<String>,
    pub(super) usd_per_month: Option<f64>,
    pub(super) price: Option<PriceWire>,
    pub(super) confidence: Confidence,
    pub(super) sources: Vec<String>,
    #[serde(default)]
    pub(super) assumed: Vec<String>,
    #[serde(default)]
    pub(super) notes: Vec<String>,
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
    #[serde(default)]
    pub(super) title: String,
    #[serde(default)]
    pub(super) aliases: Vec<String>,
    #[serde(default)]
    pub(super) family: String,
    #[serde(default)]
    pub(super) arm: bool,
    pub(super) cores: u32,
    pub(super) memory: Bytes,
    pub(super) disks_max: Option<u32>,
    pub(super) files_max: Option<u32>,
    #[serde(default)]
    pub(super) limits: BTreeMap<String, LimitsWire>,
    pub(super) host_cache: Option<HostCacheWire>,
    pub(super) local_disk: Option<LocalDiskWire>,
    pub(super) local_disks: Option<u32>,
    pub(super) local_disks_raw: Option<bool>,
    pub(super) price: Option<HourlyPriceWire>,
    pub(super) confidence: Confidence,
    pub(super) sources: Vec<String>,
    #[serde(default)]
    pub(super) assumed: Vec<String>,
    /// Only set by rows.
    #[serde(skip)]
    pub(super) price_assumed: PriceAssumed,
    /// Only set by rows.
    #[serde(skip)]
    pub(super) local_assumed: Vec<String>,
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
    #[serde(default)]
    pub(super) per_iops: Vec<StepWire>,
    #[serde(default)]
    pub(super) per_mib_per_s: Vec<StepWire>,
    #[serde(default)]
    pub(super) per_mb_per_s: Vec<StepWire>,
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
