//! What each disk did, and how much of its limits it used.

use std::borrow::Cow;

use crate::findings::{Arm, ArmVolume, Disk, Findings, Latency, Utilisation};
use table::quantity::percent;
use table::{Cell, Column, Table};

/// Number of a volume's disks that a table lists one by one.
const DISKS_MAX: usize = 4;

/// Disks that differ by no more than this share count as alike.
const ALIKE: f64 = 0.1;

/// A row of a table, or a box of a page.
pub(super) struct DiskRow<'a> {
    /// The disk, or the mean of like disks.
    pub(super) disk: Cow<'a, Disk>,
    stands_for: StandsFor,
}

/// What a displayed disk represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StandsFor {
    Itself,
    /// This many like disks.
    Each(usize),
    /// The busiest of this many.
    BusiestOf(usize),
}

impl DiskRow<'_> {
    /// `each of 10`; `None` for a disk that represents only itself.
    pub(super) fn note(&self) -> Option<String> {
        match self.stands_for {
            StandsFor::Itself => None,
            StandsFor::Each(all) => Some(format!("each of {all}")),
            StandsFor::BusiestOf(all) => Some(format!("busiest of {all}")),
        }
    }
}

struct Row<'a> {
    arm: &'a Arm,
    volume: &'a ArmVolume,
    shown: DiskRow<'a>,
}

/// One row per disk, and one for like disks of a volume.
pub(super) fn table(findings: &Findings) -> Table {
    let rows: Vec<Row> = findings.arms.iter().flat_map(rows).collect();
    let real = rows.iter().any(|row| row.shown.disk.counted.is_some());
    let merged = |row: &Row| matches!(row.shown.stands_for, StandsFor::Each(_));
    let note = match rows.iter().any(merged) {
        true => format!(
            "each of: mean of disks that differ by up to {}",
            percent(ALIKE)
        ),
        false => String::new(),
    };
    Table {
        note,
        ..Table::of(rows, columns(real))
    }
}

fn rows(arm: &Arm) -> impl Iterator<Item = Row<'_>> {
    arm.volumes.iter().flat_map(move |volume| {
        let shown = shown(volume, DISKS_MAX).into_iter();
        shown.map(move |shown| Row { arm, volume, shown })
    })
}

fn columns<'a>(real: bool) -> [Column<'a, Row<'a>>; 9] {
    let used = match real {
        true => "% of time\nbusy",
        false => "% used of\nIOPS/MB/s",
    };
    [
        Column::text("placement", |row: &Row| row.arm.name.clone())
            .pinned()
            .once(),
        Column::text("disk", |row: &Row| {
            let notes = row
                .shown
                .note()
                .into_iter()
                .chain([row.volume.disk.clone()]);
            Cell::Name(row.shown.disk.name.clone(), notes.collect())
        })
        .pinned(),
        Column::text("holds", |row: &Row| files(row.volume)),
        Column::figure("IOPS", |row: &Row| iops(&row.shown.disk)).unit("read/write"),
        Column::figure("MB/s", |row: &Row| mb_per_s(&row.shown.disk)).unit("read/write"),
        Column::figure("read ms", |row: &Row| read_ms(&row.shown.disk)).unit("mean/p99"),
        Column::figure("write ms", |row: &Row| write_ms(&row.shown.disk)).unit("mean/p99"),
        Column::figure("host cache", |row: &Row| {
            row.shown.disk.cache_hits.map(Cell::Percent)
        })
        .unit("% of reads")
        .optional(),
        Column::figure(used, |row: &Row| match row.shown.disk.counted {
            Some(counted) => Cell::Percent(counted.busy),
            None => match used_of_limits(&row.shown.disk) {
                [None, None] => Cell::Missing,
                used => {
                    let [iops, throughput] = used.map(|share| share.map(Cell::Used));
                    Cell::pair(iops, throughput)
                }
            },
        }),
    ]
}

/// The disks of a volume: like disks as one, others one by one, and if there are more than `disks_max`, the busiest.
pub(super) fn shown(volume: &ArmVolume, disks_max: usize) -> Vec<DiskRow<'_>> {
    let all = volume.disks.len();
    let shown = |disk, stands_for| DiskRow { disk, stands_for };
    if let Some(mean) = mean_of_like(volume) {
        return vec![shown(Cow::Owned(mean), StandsFor::Each(all))];
    }
    let disks = volume.disks.iter();
    if all <= disks_max {
        let itself = |disk| shown(Cow::Borrowed(disk), StandsFor::Itself);
        return disks.map(itself).collect();
    }
    let busiest = disks.max_by(|a, b| busy(a).total_cmp(&busy(b)));
    let busiest = busiest.map(|disk| shown(Cow::Borrowed(disk), StandsFor::BusiestOf(all)));
    busiest.into_iter().collect()
}

/// A figure of a disk, where present, and the difference below which disks count as alike.
type Figure = (fn(&mut Disk) -> Option<&mut f64>, f64);

/// All figures of a disk.
const FIGURES: [Figure; 16] = [
    (|disk| Some(&mut disk.read_iops), 1.0),
    (|disk| Some(&mut disk.write_iops), 1.0),
    (|disk| Some(&mut disk.read_mb_per_s), 0.1),
    (|disk| Some(&mut disk.write_mb_per_s), 0.1),
    (|disk| Some(&mut disk.read_latency_ms.as_mut()?.mean), 0.01),
    (|disk| Some(&mut disk.read_latency_ms.as_mut()?.p50), 0.01),
    (|disk| Some(&mut disk.read_latency_ms.as_mut()?.p99), 0.01),
    (|disk| Some(&mut disk.write_latency_ms.as_mut()?.mean), 0.01),
    (|disk| Some(&mut disk.write_latency_ms.as_mut()?.p50), 0.01),
    (|disk| Some(&mut disk.write_latency_ms.as_mut()?.p99), 0.01),
    (|disk| Some(&mut disk.utilisation.iops), 0.01),
    (|disk| Some(&mut disk.utilisation.throughput), 0.01),
    (|disk| disk.cache_hits.as_mut(), 0.01),
    (|disk| Some(&mut disk.counted.as_mut()?.busy), 0.01),
    (|disk| disk.counted.as_mut()?.read_mean_ms.as_mut(), 0.01),
    (|disk| disk.counted.as_mut()?.write_mean_ms.as_mut(), 0.01),
];

/// The mean of a volume's disks, where there are several and all are alike.
fn mean_of_like(volume: &ArmVolume) -> Option<Disk> {
    let mut disks = volume.disks.clone();
    let mut mean = disks.get(1).and(disks.first()).cloned()?;
    mean.name = format!("{}.1-{}", volume.name, disks.len());
    for (figure, nothing) in FIGURES {
        let values = disks.iter_mut().map(|disk| figure(disk).copied());
        let values: Vec<Option<f64>> = values.collect();
        let Some(place) = figure(&mut mean) else {
            if values.iter().any(Option::is_some) {
                return None;
            }
            continue;
        };
        let values: Vec<f64> = values.into_iter().collect::<Option<_>>()?;
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(0.0, f64::max);
        if most - least > (most * ALIKE).max(nothing) {
            return None;
        }
        *place = values.iter().sum::<f64>() / values.len() as f64;
    }
    Some(mean)
}

/// Used share of a disk's IOPS and throughput limits; `None` where it has none. A limit that a busy disk does not have
/// counts as 0 used.
pub(super) fn used_of_limits(disk: &Disk) -> [Option<f64>; 2] {
    let idle = disk.read_iops + disk.write_iops == 0.0;
    let Utilisation { iops, throughput } = disk.utilisation;
    [iops, throughput].map(|share| (idle || share > 0.0).then_some(share))
}

/// How close a disk is to any of its limits; by its requests where it has none.
fn busy(disk: &Disk) -> f64 {
    let used = disk.utilisation.iops.max(disk.utilisation.throughput);
    used + (disk.read_iops + disk.write_iops) * 1e-12
}

/// The roles on a volume: `data, 4 temp`.
pub(super) fn files(volume: &ArmVolume) -> String {
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

/// For a real disk only the mean is known.
fn latency(latency: Option<Latency>, counted_ms: Option<f64>) -> Cell {
    match (latency, counted_ms) {
        (Some(latency), _) => Cell::pair(latency.mean, latency.p99),
        (None, Some(mean)) => Cell::pair(mean, Cell::Missing),
        (None, None) => Cell::Missing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::make;
    use experiment::examples;

    /// A volume of ten disks that read `iops` each.
    fn pool(iops: [f64; 10]) -> ArmVolume {
        let findings = make(&examples::question(), &examples::records());
        let mut volume = findings.arms[0].volumes[0].clone();
        let one = volume.disks[0].clone();
        let disks = (1..).zip(iops).map(|(number, read_iops)| Disk {
            name: format!("temp.{number}"),
            read_iops,
            ..one.clone()
        });
        volume.disks = disks.collect();
        volume
    }

    #[test]
    fn like_disks_of_a_pool_are_one_row_with_their_mean() {
        // 420 to 466 is 9.9 % of 466; the mean of five of each is 443.
        let volume = pool([
            420.0, 466.0, 420.0, 466.0, 420.0, 466.0, 420.0, 466.0, 420.0, 466.0,
        ]);

        let shown = shown(&volume, DISKS_MAX);

        assert_eq!(shown.len(), 1);
        assert_eq!(shown[0].note().as_deref(), Some("each of 10"));
        assert_eq!(shown[0].disk.name, "temp.1-10");
        assert!((shown[0].disk.read_iops - 443.0).abs() < 1e-9);
    }

    #[test]
    fn of_a_pool_with_one_disk_that_is_unlike_the_busiest_is_shown() {
        // 400 to 466 is 14 % of 466.
        let mut iops = [466.0; 10];
        iops[3] = 400.0;
        let volume = pool(iops);

        let shown = shown(&volume, DISKS_MAX);

        assert_eq!(shown.len(), 1);
        assert_eq!(shown[0].note().as_deref(), Some("busiest of 10"));
    }

    #[test]
    fn a_limit_that_a_busy_disk_does_not_have_is_not_used() {
        let mut disk = pool([400.0; 10]).disks.remove(0);
        disk.utilisation = Utilisation {
            iops: 0.5,
            throughput: 0.0,
        };
        assert_eq!(used_of_limits(&disk), [Some(0.5), None]);
        (disk.read_iops, disk.write_iops, disk.utilisation.iops) = (0.0, 0.0, 0.0);
        assert_eq!(used_of_limits(&disk), [Some(0.0), Some(0.0)]);
    }

    #[test]
    fn disks_of_which_one_did_not_write_are_not_alike() {
        let mut volume = pool([400.0; 10]);
        volume.disks.truncate(2);
        volume.disks[1].write_latency_ms = None;

        let notes: Vec<_> = shown(&volume, DISKS_MAX)
            .iter()
            .map(DiskRow::note)
            .collect();

        assert_eq!(notes, [None, None]);
    }
}
