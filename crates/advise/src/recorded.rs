//! What was recorded on today's disks, for an experiment that replays the profile again.

use catalogue::Catalogue;
use experiment::spec::Disk;
use model::{LatencySpec, LimitSpec, Operation, Rate};
use replay::BackTest;
use toml_edit::{InlineTable, Item, Table, TableLike, Value, value};

use super::request::Today;
use super::search::TOLD_APART;

/// Share by which the replay of today's layout may differ from the recording without a word beside the answer: as much as times
/// count as equal by.
pub(crate) const REPLAY_OFF_MAX: f64 = TOLD_APART;

/// Today's time of an operation that layouts are compared with, as a share of the replayed one: the recorded time where the replay
/// takes longer by more than [`REPLAY_OFF_MAX`], so that no layout seems fast because today's was replayed too slowly; else 1.
pub(crate) fn recorded_share(backtest: &BackTest) -> f64 {
    let share = backtest.recorded_time();
    share
        .filter(|share| *share < 1.0 - REPLAY_OFF_MAX)
        .unwrap_or(1.0)
}

/// Today's layout, and the profile beside replays on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recorded<'a> {
    pub(crate) today: &'a Today<'a>,
    pub(crate) backtest: &'a BackTest,
}

impl Recorded<'_> {
    /// Adds to the volumes of an experiment what the back-test found of today's disks: latencies, also for new volumes of the same
    /// disks, and the burst credits at the start.
    pub(crate) fn add(&self, root: &mut Table, catalogue: &Catalogue) {
        let Recorded { today, backtest } = *self;
        let Some(volumes) = root.get_mut("volume").and_then(Item::as_table_like_mut) else {
            return;
        };
        for own in &backtest.own_latencies {
            let Some(disk) = backtest.volumes[own.volume].disks.first() else {
                continue;
            };
            let (key, spec) = match own.operation {
                Operation::Read => ("read_latency", disk.read_latency),
                Operation::Write => ("write_latency", disk.write_latency),
                Operation::Flush => ("flush_latency", disk.flush_latency),
            };
            let mut there = today.settings.volumes.iter();
            let product = there.find(|volume| volume.name == own.name);
            let product = product.and_then(|volume| match &volume.disk {
                Disk::Catalogue(name) => entry(catalogue, name),
                Disk::Local | Disk::Recorded | Disk::Unlimited => None,
            });
            for (name, volume) in volumes.iter_mut() {
                let Some(volume) = volume.as_table_like_mut() else {
                    continue;
                };
                let disk = volume.get("disk").and_then(Item::as_str);
                let disk = disk.and_then(|disk| entry(catalogue, disk));
                if name.get() == own.name || product.is_some() && disk == product {
                    overriding(volume).insert(key, value(latency(&spec)));
                }
            }
        }
        for (volume, placed) in backtest.volumes.iter().zip(&today.placed.volumes) {
            let limits = volume
                .disks
                .first()
                .into_iter()
                .flat_map(|disk| &disk.limits);
            let Some(share) = limits.filter_map(credits_left).reduce(f64::min) else {
                continue;
            };
            if let Some(volume) = volumes
                .get_mut(&placed.name)
                .and_then(Item::as_table_like_mut)
            {
                volume.insert("credits", value(share));
            }
        }
    }
}

/// The name of a disk in the catalogue, which may have been called by another.
fn entry<'a>(catalogue: &'a Catalogue, name: &str) -> Option<&'a str> {
    Some(catalogue.disk(name).ok()?.name.as_str())
}

/// The share of an IOPS limit's burst credits that is left at the start, where it is not all of them.
fn credits_left(limit: &LimitSpec) -> Option<f64> {
    let burst = limit
        .burst
        .filter(|_| matches!(limit.rate, Rate::Iops(_)))?;
    let is_full = burst.credits_initial == burst.credits;
    (!is_full).then(|| burst.credits_initial as f64 / burst.credits as f64)
}

fn overriding(volume: &mut dyn TableLike) -> &mut dyn TableLike {
    let item = volume
        .entry("override")
        .or_insert_with(|| Item::Table(Table::new()));
    item.as_table_like_mut()
        .expect("a checked experiment has a table here")
}

/// A latency, as an experiment writes it.
fn latency(spec: &LatencySpec) -> Value {
    let mut table = InlineTable::new();
    match spec {
        LatencySpec::Constant { value } => return value.to_string().into(),
        LatencySpec::Exponential { mean } => {
            table.insert("mean", mean.to_string().into());
        }
        LatencySpec::LogNormal { p50, p99 } => {
            table.insert("p50", p50.to_string().into());
            table.insert("p99", p99.to_string().into());
        }
    }
    table.into()
}
