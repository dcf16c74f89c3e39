//! A placement's files on its disks, as boxes.

use super::super::disks::{self, Used};
use crate::findings::{Arm, Volume};
use crate::quantity::percent;

/// Disks of a volume that are drawn one by one.
const DISKS_MAX: usize = 16;

/// An arm.
pub(super) struct Layout<'a> {
    pub(super) arm: &'a str,
    pub(super) volumes: Vec<VolumeBox<'a>>,
    /// The machine's own limits.
    pub(super) machine: Vec<Gauge>,
}

/// A volume: files above, disks below.
pub(super) struct VolumeBox<'a> {
    pub(super) name: &'a str,
    pub(super) disk: &'a str,
    /// Role and how many files.
    pub(super) files: Vec<(&'a str, u32)>,
    pub(super) disks: Vec<DiskBox>,
}

/// A disk.
pub(super) struct DiskBox {
    pub(super) name: String,
    pub(super) gauges: Vec<Gauge>,
    /// Rates and latencies, in words.
    pub(super) did: String,
}

/// A share of a limit.
pub(super) struct Gauge {
    pub(super) name: String,
    pub(super) percent: String,
    /// In percent, at most 100, for the drawing.
    pub(super) width: String,
    /// Whether it is as good as used up.
    pub(super) full: bool,
}

impl Layout<'_> {
    pub(super) fn of(arm: &Arm) -> Layout<'_> {
        let limits = arm.machine_limits.iter();
        Layout {
            arm: &arm.name,
            volumes: arm.volumes.iter().map(volume).collect(),
            machine: limits
                .map(|(name, share)| gauge(name.replace('.', " "), *share))
                .collect(),
        }
    }
}

fn volume(volume: &Volume) -> VolumeBox<'_> {
    let files = volume.files.iter().filter(|(_, count)| **count > 0);
    VolumeBox {
        name: &volume.name,
        disk: &volume.disk,
        files: files.map(|(role, count)| (role.name(), *count)).collect(),
        disks: disks::rows(volume, DISKS_MAX)
            .into_iter()
            .map(disk)
            .collect(),
    }
}

fn disk(row: disks::DiskRow) -> DiskBox {
    let name = match row.busiest_of {
        Some(all) => format!("{}, busiest of {all}", row.name),
        None => row.name,
    };
    let gauges = match row.used {
        // Whatever is used of a limit that a busy disk does not have is 0.
        Used::Limits { iops, throughput } if iops == 0.0 && throughput == 0.0 => Vec::new(),
        Used::Limits { iops, throughput } => {
            vec![gauge("IOPS".into(), iops), gauge("MB/s".into(), throughput)]
        }
        Used::Time(busy) => vec![gauge("time busy".into(), busy)],
    };
    let did = [
        format!("{} IOPS and {} MB/s read / written", row.iops, row.mb_per_s),
        latency("reads", &row.read_ms),
        latency("writes", &row.write_ms),
    ];
    let did = match (row.idle, gauges.is_empty()) {
        (true, _) => "idle".to_owned(),
        (false, true) => format!("no limit of its own; {}", did.concat()),
        (false, false) => did.concat(),
    };
    DiskBox { name, gauges, did }
}

/// Nothing where nothing was done.
fn latency(what: &str, mean_and_p99: &str) -> String {
    match mean_and_p99 {
        "-" => String::new(),
        ms => format!("; {what} took {ms} ms (mean / p99)"),
    }
}

/// A limit that is used up to this share holds requests back.
const FULL: f64 = 0.95;

fn gauge(name: String, share: f64) -> Gauge {
    Gauge {
        name,
        percent: percent(share),
        width: format!("{:.1}", (share * 100.0).clamp(0.0, 100.0)),
        full: share >= FULL,
    }
}
