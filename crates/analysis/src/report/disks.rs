//! What each disk did, and how much of its own limits that took, as text.

use crate::findings::{Disk, Latency, Volume};
use crate::quantity::{number, percent_bare};

/// A disk, or the busiest of many.
pub(super) struct DiskRow {
    pub(super) name: String,
    /// How many it stands for.
    pub(super) busiest_of: Option<usize>,
    /// Read / write.
    pub(super) iops: String,
    /// Read / write.
    pub(super) mb_per_s: String,
    /// Mean / p99.
    pub(super) read_ms: String,
    /// Mean / p99.
    pub(super) write_ms: String,
    pub(super) used: Used,
    /// Whether nothing was read or written.
    pub(super) idle: bool,
}

/// How busy a disk was.
pub(super) enum Used {
    /// Shares of its limits.
    Limits { iops: f64, throughput: f64 },
    /// Share of the time in which a real disk had a request.
    Time(f64),
}

impl Used {
    /// In percent, without the sign.
    pub(super) fn text(&self) -> String {
        match self {
            Used::Limits { iops, throughput } => {
                format!("{} / {}", percent_bare(*iops), percent_bare(*throughput))
            }
            Used::Time(busy) => percent_bare(*busy),
        }
    }
}

/// A row a disk; of a volume with more than `disks_max` the busiest stands for all.
pub(super) fn rows(volume: &Volume, disks_max: usize) -> Vec<DiskRow> {
    let all = volume.disks.len();
    if all <= disks_max {
        return volume.disks.iter().map(|disk| row(disk, None)).collect();
    }
    let busiest = volume
        .disks
        .iter()
        .max_by(|a, b| busy(a).total_cmp(&busy(b)));
    busiest
        .map(|disk| row(disk, Some(all)))
        .into_iter()
        .collect()
}

/// The roles on a volume: `data, 4 temp`.
pub(super) fn files(volume: &Volume) -> String {
    let roles = volume.files.iter().filter(|(_, files)| **files > 0);
    let named = roles.map(|(role, files)| match files {
        1 => role.to_string(),
        more => format!("{more} {role}"),
    });
    named.collect::<Vec<_>>().join(", ")
}

/// How near a disk is to any of its limits; by its requests where it has none.
fn busy(disk: &Disk) -> f64 {
    let used = disk.utilisation.iops.max(disk.utilisation.throughput);
    used + (disk.read_iops + disk.write_iops) * 1e-12
}

fn row(disk: &Disk, busiest_of: Option<usize>) -> DiskRow {
    let pair = |read: f64, write: f64| format!("{} / {}", number(read), number(write));
    DiskRow {
        name: disk.name.clone(),
        busiest_of,
        iops: pair(disk.read_iops, disk.write_iops),
        mb_per_s: pair(disk.read_mb_per_s, disk.write_mb_per_s),
        read_ms: latency(
            disk.read_latency_ms,
            disk.counted.and_then(|counted| counted.read_mean_ms),
        ),
        write_ms: latency(
            disk.write_latency_ms,
            disk.counted.and_then(|counted| counted.write_mean_ms),
        ),
        idle: disk.read_iops + disk.write_iops == 0.0,
        used: match disk.counted {
            Some(counted) => Used::Time(counted.busy),
            None => Used::Limits {
                iops: disk.utilisation.iops,
                throughput: disk.utilisation.throughput,
            },
        },
    }
}

/// Of a real disk the mean alone is known.
fn latency(latency: Option<Latency>, counted_ms: Option<f64>) -> String {
    match (latency, counted_ms) {
        (Some(latency), _) => format!("{} / {}", number(latency.mean), number(latency.p99)),
        (None, Some(mean)) => format!("{} / -", number(mean)),
        (None, None) => "-".into(),
    }
}
