//! The activity of volumes, second by second or trial by trial.

use std::collections::VecDeque;

use experiment::record::{LimitRecord, Record, histogram};
use model::Duration;
use reading::Reading;
use reading::cause::{Limit, Owner};

/// Number of points kept: more than a terminal has columns.
const POINTS_MAX: usize = 300;

/// One volume over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VolumeHistory {
    /// Its name.
    pub name: String,
    /// Its last points, oldest first.
    pub points: VecDeque<Now>,
}

/// The activity of a volume in one second, or in one trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Now {
    /// Reads and writes per second.
    pub iops: f64,
    /// Megabytes (10⁶) per second.
    pub mb_per_s: f64,
    /// Mean latency of reads and writes; `None` where there was none.
    pub latency_ms: Option<f64>,
    /// The most used limit of its disks and of the machine, and its used share, from 0 to 1; `None` where nothing limits
    /// it.
    pub limit: Option<(String, f64)>,
}

/// Sums over the disks of a volume.
#[derive(Default)]
struct Sums {
    name: String,
    requests: u64,
    bytes: u64,
    time_ns: f64,
}

/// Adds what was `done` in a `span`: the difference between two readings.
pub fn add(histories: &mut Vec<VolumeHistory>, done: &Reading, span: Duration) {
    let mut volumes: Vec<Sums> = Vec::new();
    for disk in &done.disks {
        let sums = of(&mut volumes, &disk.name);
        sums.requests += disk.reads + disk.writes;
        sums.bytes += disk.read_bytes + disk.write_bytes;
        sums.time_ns += (disk.read_ns + disk.write_ns) as f64;
    }
    let limits = done.limits.iter();
    let limits: Vec<LimitRecord> = limits.map(|limit| LimitRecord::of(limit, span)).collect();
    push(histories, &volumes, &limits, span.as_secs_f64());
}

/// Adds what a trial recorded in its measured phases.
pub(super) fn add_record(histories: &mut Vec<VolumeHistory>, record: &Record) {
    let mut volumes: Vec<Sums> = Vec::new();
    for disk in record.volumes.iter().flat_map(|volume| &volume.disks) {
        let sums = of(&mut volumes, &disk.name);
        sums.requests += disk.reads + disk.writes;
        sums.bytes += disk.read_bytes + disk.write_bytes;
        let texts = [&disk.read_latency, &disk.write_latency];
        for histogram in texts
            .into_iter()
            .flatten()
            .filter_map(|text| histogram::decode(text).ok())
        {
            sums.time_ns += histogram.mean() * histogram.len() as f64;
        }
    }
    let elapsed = record.metrics.get("elapsed_s").copied().unwrap_or(0.0);
    push(histories, &volumes, &record.limits, elapsed);
}

/// The sums of the volume that contains the disk `<volume>.<number>`.
fn of<'a>(volumes: &'a mut Vec<Sums>, disk: &str) -> &'a mut Sums {
    let name = disk.rsplit_once('.').map_or(disk, |(volume, _)| volume);
    if let Some(place) = volumes.iter().position(|sums| sums.name == name) {
        return &mut volumes[place];
    }
    volumes.push(Sums {
        name: name.to_owned(),
        ..Sums::default()
    });
    volumes.last_mut().expect("it was just put there")
}

fn push(
    histories: &mut Vec<VolumeHistory>,
    volumes: &[Sums],
    limits: &[LimitRecord],
    seconds: f64,
) {
    let per_s = |count: f64| if seconds > 0.0 { count / seconds } else { 0.0 };
    for sums in volumes {
        let place = histories
            .iter()
            .position(|history| history.name == sums.name);
        let place = place.unwrap_or_else(|| {
            histories.push(VolumeHistory {
                name: sums.name.clone(),
                ..VolumeHistory::default()
            });
            histories.len() - 1
        });
        let mean_ms = || sums.time_ns / 1e6 / sums.requests as f64;
        let points = &mut histories[place].points;
        points.push_back(Now {
            iops: per_s(sums.requests as f64),
            mb_per_s: per_s(sums.bytes as f64 / 1e6),
            latency_ms: (sums.requests > 0).then(mean_ms),
            limit: most_used(&sums.name, limits),
        });
        if points.len() > POINTS_MAX {
            points.pop_front();
        }
    }
}

fn most_used(volume: &str, limits: &[LimitRecord]) -> Option<(String, f64)> {
    let own = limits.iter().filter(|limit| applies(&limit.name, volume));
    let most = own.max_by(|one, other| one.utilisation.total_cmp(&other.utilisation))?;
    Some((most.name.to_string(), most.utilisation))
}

/// Whether a limit belongs to one of a volume's disks, or is shared by all disks of the machine.
fn applies(limit: &Limit, volume: &str) -> bool {
    match &limit.owner {
        Owner::Machine(_) | Owner::Disks => true,
        Owner::Disk(disk) => disk.rsplit_once('.').is_some_and(|(of, _)| of == volume),
    }
}
