//! What each disk did, and how much of its own limits that took.

use super::cell::Cell;
use super::table::{Column, Table};
use crate::findings::{Arm, Disk, Findings, Latency, Volume};

/// Disks of a volume that a table lists one by one.
const DISKS_MAX: usize = 4;

/// A disk, or the busiest of many.
pub(super) struct Shown<'a> {
    pub(super) disk: &'a Disk,
    /// How many it stands for.
    pub(super) busiest_of: Option<usize>,
}

struct Row<'a> {
    arm: &'a Arm,
    volume: &'a Volume,
    shown: Shown<'a>,
}

/// A row a disk.
pub(super) fn table(findings: &Findings) -> Table {
    let rows: Vec<Row> = findings.arms.iter().flat_map(rows).collect();
    let real = rows.iter().any(|row| row.shown.disk.counted.is_some());
    Table::of(rows, columns(real))
}

fn rows(arm: &Arm) -> impl Iterator<Item = Row<'_>> {
    arm.volumes.iter().flat_map(move |volume| {
        let shown = shown(volume, DISKS_MAX).into_iter();
        shown.map(move |shown| Row { arm, volume, shown })
    })
}

fn columns<'a>(real: bool) -> [Column<'a, Row<'a>>; 8] {
    let used = match real {
        true => "% of time\nbusy",
        false => "% used of\nIOPS/MB/s",
    };
    [
        Column::text("placement", |row: &Row| row.arm.name.clone()).once(),
        Column::text("disk", |row: &Row| {
            let busiest = row.shown.busiest_of.map(|all| format!("busiest of {all}"));
            let notes = busiest.into_iter().chain([row.volume.disk.clone()]);
            Cell::Name(row.shown.disk.name.clone(), notes.collect())
        }),
        Column::text("holds", |row: &Row| files(row.volume)),
        Column::figure("IOPS", |row: &Row| iops(row.shown.disk)).unit("read/write"),
        Column::figure("MB/s", |row: &Row| mb_per_s(row.shown.disk)).unit("read/write"),
        Column::figure("read ms", |row: &Row| read_ms(row.shown.disk)).unit("mean/p99"),
        Column::figure("write ms", |row: &Row| write_ms(row.shown.disk)).unit("mean/p99"),
        Column::figure(used, |row: &Row| match row.shown.disk.counted {
            Some(counted) => Cell::Percent(counted.busy),
            None => {
                let used = row.shown.disk.utilisation;
                Cell::pair(Cell::Percent(used.iops), Cell::Percent(used.throughput))
            }
        }),
    ]
}

/// All disks of a volume; of one with more than `disks_max` the busiest.
pub(super) fn shown(volume: &Volume, disks_max: usize) -> Vec<Shown<'_>> {
    let all = volume.disks.len();
    let disks = volume.disks.iter();
    let shown = |disk, busiest_of| Shown { disk, busiest_of };
    if all <= disks_max {
        return disks.map(|disk| shown(disk, None)).collect();
    }
    let busiest = disks.max_by(|a, b| busy(a).total_cmp(&busy(b)));
    let busiest = busiest.map(|disk| shown(disk, Some(all)));
    busiest.into_iter().collect()
}

/// How near a disk is to any of its limits; by its requests where it has none.
fn busy(disk: &Disk) -> f64 {
    let used = disk.utilisation.iops.max(disk.utilisation.throughput);
    used + (disk.read_iops + disk.write_iops) * 1e-12
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

/// Read and write.
pub(super) fn iops(disk: &Disk) -> Cell {
    Cell::pair(disk.read_iops, disk.write_iops)
}

/// Read and write.
pub(super) fn mb_per_s(disk: &Disk) -> Cell {
    Cell::pair(disk.read_mb_per_s, disk.write_mb_per_s)
}

/// Mean and p99.
pub(super) fn read_ms(disk: &Disk) -> Cell {
    let counted = disk.counted.and_then(|counted| counted.read_mean_ms);
    latency(disk.read_latency_ms, counted)
}

/// Mean and p99.
pub(super) fn write_ms(disk: &Disk) -> Cell {
    let counted = disk.counted.and_then(|counted| counted.write_mean_ms);
    latency(disk.write_latency_ms, counted)
}

/// Of a real disk the mean alone is known.
fn latency(latency: Option<Latency>, counted_ms: Option<f64>) -> Cell {
    match (latency, counted_ms) {
        (Some(latency), _) => Cell::pair(latency.mean, latency.p99),
        (None, Some(mean)) => Cell::pair(mean, Cell::Missing),
        (None, None) => Cell::Missing,
    }
}
