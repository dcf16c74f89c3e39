//! What each disk did, and how much of its own limits that took.

use super::super::disks::{DiskRow, files, rows};
use super::table;
use crate::findings::{Arm, Findings, Volume};

/// Disks of a stripe that are listed one by one.
const DISKS_MAX: usize = 4;

/// A row a disk; empty when no arm has any.
pub(super) fn table(findings: &Findings) -> String {
    let rows: Vec<Vec<String>> = findings.arms.iter().flat_map(of_arm).collect();
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

fn of_arm(arm: &Arm) -> Vec<Vec<String>> {
    let disks = |volume| {
        rows(volume, DISKS_MAX)
            .into_iter()
            .map(move |disk| cells(volume, disk))
    };
    let mut rows: Vec<Vec<String>> = arm.volumes.iter().flat_map(disks).collect();
    if let Some(first) = rows.first_mut() {
        first[0].clone_from(&arm.name);
    }
    rows
}

fn cells(volume: &Volume, disk: DiskRow) -> Vec<String> {
    let name = match disk.busiest_of {
        Some(all) => format!("{}\nbusiest of {all}", disk.name),
        None => disk.name,
    };
    vec![
        String::new(),
        format!("{name}\n{}", volume.disk),
        files(volume),
        disk.iops,
        disk.mb_per_s,
        disk.read_ms,
        disk.write_ms,
        disk.used.text(),
    ]
}
