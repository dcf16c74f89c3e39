//! What each disk did, and how much of its own limits that took.

use super::table;
use crate::findings::{Arm, Disk, Findings, Latency, Volume};
use crate::quantity::{number, percent_bare};

/// Disks of a stripe that are listed one by one; of larger ones the busiest stands for all.
const DISKS_MAX: usize = 4;

/// A row a disk; empty when no arm has any.
pub(super) fn table(findings: &Findings) -> String {
    let rows: Vec<Vec<String>> = findings.arms.iter().flat_map(rows).collect();
    if rows.is_empty() {
        return String::new();
    }
    let all = findings.arms.iter().flat_map(|arm| &arm.volumes);
    let counted = all.flat_map(|volume| &volume.disks);
    let real = counted.into_iter().any(|disk| disk.counted.is_some());
    let header = [
        "placement",
        "disk",
        "holds",
        "IOPS\nread/write",
        "MB/s\nread/write",
        "read ms\nmean/p99",
        "write ms\nmean/p99",
        if real {
            "% of time\nbusy"
        } else {
            "% used of\nIOPS/MB/s"
        },
    ];
    table::table(header.map(String::from).to_vec(), rows, 3)
}

fn rows(arm: &Arm) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = arm.volumes.iter().flat_map(volume).collect();
    if let Some(first) = rows.first_mut() {
        first[0].clone_from(&arm.name);
    }
    rows
}

fn volume(volume: &Volume) -> Vec<Vec<String>> {
    let all = volume.disks.len();
    if all <= DISKS_MAX {
        return volume
            .disks
            .iter()
            .map(|disk| row(volume, disk, disk.name.clone()))
            .collect();
    }
    let busiest = volume
        .disks
        .iter()
        .max_by(|a, b| busy(a).total_cmp(&busy(b)));
    let name = |disk: &Disk| format!("{}\nbusiest of {all}", disk.name);
    busiest
        .map(|disk| row(volume, disk, name(disk)))
        .into_iter()
        .collect()
}

/// How near a disk is to any of its limits; by its requests where it has none.
fn busy(disk: &Disk) -> f64 {
    let used = disk.utilisation.iops.max(disk.utilisation.throughput);
    used + (disk.read_iops + disk.write_iops) * 1e-12
}

fn row(volume: &Volume, disk: &Disk, name: String) -> Vec<String> {
    let pair = |read: f64, write: f64| format!("{} / {}", number(read), number(write));
    let used = disk.utilisation;
    vec![
        String::new(),
        format!("{name}\n{}", volume.disk),
        files(volume),
        pair(disk.read_iops, disk.write_iops),
        pair(disk.read_mb_per_s, disk.write_mb_per_s),
        latency(
            disk.read_latency_ms,
            disk.counted.and_then(|counted| counted.read_mean_ms),
        ),
        latency(
            disk.write_latency_ms,
            disk.counted.and_then(|counted| counted.write_mean_ms),
        ),
        match disk.counted {
            Some(counted) => percent_bare(counted.busy),
            None => format!(
                "{} / {}",
                percent_bare(used.iops),
                percent_bare(used.throughput)
            ),
        },
    ]
}

/// The roles on a volume: `data, 4 temp`.
fn files(volume: &Volume) -> String {
    let roles = volume.files.iter().filter(|(_, files)| **files > 0);
    let named = roles.map(|(role, files)| match files {
        1 => role.clone(),
        more => format!("{more} {role}"),
    });
    named.collect::<Vec<_>>().join(", ")
}

/// Of a real disk the mean alone is known.
fn latency(latency: Option<Latency>, counted_ms: Option<f64>) -> String {
    match (latency, counted_ms) {
        (Some(latency), _) => format!("{} / {}", number(latency.mean), number(latency.p99)),
        (None, Some(mean)) => format!("{} / -", number(mean)),
        (None, None) => "-".into(),
    }
}
