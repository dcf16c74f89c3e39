//! What was recorded on today's disks, for an experiment that replays the profile again.

use std::collections::BTreeMap;

use catalogue::Catalogue;
use experiment::plan::Plan;
use experiment::spec::{Disk, Volume};
use model::{LatencySpec, LimitSpec, Operation, Rate};
use replay::{BackTest, OwnLatency};
use toml_edit::{InlineTable, Item, Table, TableLike, Value, value};

use super::search::TOLD_APART;
use super::today::Today;

/// The key of a flush's latency in a volume's `override`.
const FLUSH: &str = "flush_latency";

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

/// Puts what a back-test found of today's disks, whose names are `disks`, in the place of the catalogue's latencies.
///
/// # Panics
/// With fewer names than volumes.
pub fn teach(backtest: &BackTest, disks: &[String], catalogue: &mut Catalogue) {
    for own in &backtest.own_latencies {
        if let Some(more) = own.beyond_disk() {
            let assumed = format!(
                "with {:.3} ms that commits of this server wait beyond the disk",
                more.as_millis_f64()
            );
            catalogue.lengthen_flushes(more, &assumed);
        }
    }
    for own in &backtest.own_latencies {
        let Some((_, spec)) = of_disk(own, backtest) else {
            continue;
        };
        let assumed = match own.implied {
            true => format!("as waits for the log on today's volume {} imply", own.name),
            false => format!("as recorded on today's volume {}", own.name),
        };
        catalogue.replace_latency(&disks[own.volume], own.operation, spec, assumed);
    }
}

/// The key of a latency that was recorded in a volume's `override`, and the latency of its disk with it.
fn of_disk(own: &OwnLatency, backtest: &BackTest) -> Option<(&'static str, LatencySpec)> {
    let disk = backtest.volumes[own.volume].disks.first()?;
    Some(match own.operation {
        Operation::Read => ("read_latency", disk.read_latency),
        Operation::Write => ("write_latency", disk.write_latency),
        Operation::Flush => (FLUSH, disk.flush_latency),
    })
}

/// Keys and values that give the volumes of an experiment what a back-test found of disks, and sentences on volumes that get none
/// because their disk differs between arms. `disks` are the names of today's, and `catalogue` is as [`teach`] left it.
///
/// # Panics
/// With fewer names than volumes.
pub fn keys_of_plan(
    plan: &Plan,
    backtest: &BackTest,
    disks: &[String],
    catalogue: &Catalogue,
) -> (Vec<(String, String)>, Vec<String>) {
    let mut named: BTreeMap<&str, Vec<&Volume>> = BTreeMap::new();
    for volume in plan.arms.iter().flat_map(|arm| &arm.settings.volumes) {
        let of_name = named.entry(volume.name.as_str()).or_default();
        if of_name.iter().all(|known| known.disk != volume.disk) {
            of_name.push(volume);
        }
    }
    let (mut keys, mut notes) = (Vec::new(), Vec::new());
    for (name, volumes) in named {
        match volumes.as_slice() {
            [volume] => keys.extend(keys_of_volume(volume, backtest, disks, catalogue)),
            _ if backtest.own_latencies.is_empty() => {}
            _ => notes.push(format!(
                "volume {name} has another disk in some arms: all keep the catalogue's latencies, not the recorded ones"
            )),
        }
    }
    (keys, notes)
}

/// Keys and values that give a volume of another experiment what a back-test found: latencies, where today's server has the same
/// disk, and what commits wait beyond any disk. What the experiment replaces itself stays. `disks` are the names of today's, and
/// `catalogue` is as [`teach`] left it.
///
/// # Panics
/// With fewer names than volumes.
fn keys_of_volume(
    volume: &Volume,
    backtest: &BackTest,
    disks: &[String],
    catalogue: &Catalogue,
) -> Vec<(String, String)> {
    let disk = product(catalogue, &volume.disk);
    let key = |own: &OwnLatency| {
        let is_own = match own.operation {
            Operation::Read => volume.replaced.read_latency.is_some(),
            Operation::Write => volume.replaced.write_latency.is_some(),
            Operation::Flush => volume.replaced.flush_latency.is_some(),
        };
        let recorded_on = entry(catalogue, &disks[own.volume]);
        let is_recorded = recorded_on.is_some() && disk == recorded_on;
        let (key, spec) = on_disk(own, backtest, is_recorded, disk, catalogue)?;
        let key = format!("volume.{}.override.{key}", volume.name);
        (!is_own).then(|| (key, latency(&spec).to_string()))
    };
    backtest.own_latencies.iter().filter_map(key).collect()
}

/// The key of a latency in the `override` of a volume on `disk`, and its value, where a back-test found it: of the disk itself, if it was
/// recorded on it, or of what commits wait beyond any.
fn on_disk(
    own: &OwnLatency,
    backtest: &BackTest,
    is_recorded: bool,
    disk: Option<&str>,
    catalogue: &Catalogue,
) -> Option<(&'static str, LatencySpec)> {
    if is_recorded {
        return of_disk(own, backtest);
    }
    own.beyond_disk()?;
    Some((FLUSH, catalogue.disk(disk?).ok()?.class.flush.spec))
}

/// The product of the catalogue that a disk is.
fn product<'a>(catalogue: &'a Catalogue, disk: &Disk) -> Option<&'a str> {
    match disk {
        Disk::Catalogue(name) => entry(catalogue, name),
        Disk::Local | Disk::Recorded | Disk::Unlimited => None,
    }
}

/// Today's layout, and the profile beside replays on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recorded<'a> {
    pub(crate) today: &'a Today<'a>,
    pub(crate) backtest: &'a BackTest,
}

impl Recorded<'_> {
    /// Adds to the volumes of an experiment what the back-test found of today's disks: latencies, also for new volumes of the same
    /// disks, what commits wait beyond any disk, as [`teach`] added it to `catalogue`, and the burst credits at the start.
    pub(crate) fn add(&self, root: &mut Table, catalogue: &Catalogue) {
        let Recorded { today, backtest } = *self;
        let Some(volumes) = root.get_mut("volume").and_then(Item::as_table_like_mut) else {
            return;
        };
        for own in &backtest.own_latencies {
            let mut there = today.settings.volumes.iter();
            let recorded_on = there.find(|volume| volume.name == own.name);
            let recorded_on = recorded_on.and_then(|volume| product(catalogue, &volume.disk));
            for (name, volume) in volumes.iter_mut() {
                let Some(volume) = volume.as_table_like_mut() else {
                    continue;
                };
                let disk = volume.get("disk").and_then(Item::as_str);
                let disk = disk.and_then(|disk| entry(catalogue, disk));
                let is_recorded =
                    name.get() == own.name || recorded_on.is_some() && disk == recorded_on;
                if let Some((key, spec)) = on_disk(own, backtest, is_recorded, disk, catalogue) {
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
