//! A placement's files on its disks, as boxes.

use super::super::disks::{self, DiskRow};
use crate::findings::{Arm, ArmVolume};
use table::Cell;
use table::quantity::{percent, used};

/// Number of a volume's disks that are drawn one by one.
const DISKS_MAX: usize = 16;
/// A limit counts as limiting from this used share on.
const FULL: f64 = 0.95;

/// A disk.
pub(super) struct DiskBox {
    pub(super) name: String,
    pub(super) gauges: Vec<Gauge>,
    /// Rates and latencies as text.
    pub(super) did: String,
}

/// The used share of a limit.
pub(super) struct Gauge {
    pub(super) name: String,
    share: f64,
}

impl Gauge {
    fn new(name: impl Into<String>, share: f64) -> Gauge {
        let name = name.into();
        Gauge { name, share }
    }

    pub(super) fn percent(&self) -> String {
        used(self.share)
    }

    /// In percent, at most 100, for the drawing.
    pub(super) fn width(&self) -> f64 {
        (self.share * 100.0).clamp(0.0, 100.0)
    }

    /// Whether it is practically exhausted.
    pub(super) fn is_full(&self) -> bool {
        self.share >= FULL
    }
}

/// Whether any limit has a share to show.
pub(super) fn has_limits(arms: &[Arm]) -> bool {
    arms.iter().any(|arm| {
        let mut disks = arm.volumes.iter().flat_map(disks);
        !arm.machine_limits.is_empty() || disks.any(|disk| !disk.gauges.is_empty())
    })
}

/// The machine's own limits.
pub(super) fn machine(arm: &Arm) -> Vec<Gauge> {
    let limits = arm.machine_limits.iter();
    limits
        .map(|(name, share)| Gauge::new(name.replace('.', " "), *share))
        .collect()
}

/// The disks of a volume, below its files.
pub(super) fn disks(volume: &ArmVolume) -> Vec<DiskBox> {
    let shown = disks::shown(volume, DISKS_MAX).into_iter();
    shown.map(disk).collect()
}

fn disk(shown: DiskRow) -> DiskBox {
    let disk = &*shown.disk;
    let name = match shown.note() {
        Some(note) => format!("{}, {note}", disk.name),
        None => disk.name.clone(),
    };
    let [iops, throughput] = disks::used_of_limits(disk);
    let gauges = match disk.counted {
        Some(counted) => vec![Gauge::new("time busy", counted.busy)],
        None => [("IOPS", iops), ("MB/s", throughput)]
            .into_iter()
            .filter_map(|(name, share)| Some(Gauge::new(name, share?)))
            .collect(),
    };
    let cached = disk.cache_hits.map_or_else(String::new, |hits| {
        format!("; the host cache served {} of reads", percent(hits))
    });
    let did = format!(
        "{} IOPS and {} MB/s read / written{}{}{cached}",
        disks::iops(disk).line(),
        disks::mb_per_s(disk).line(),
        latency("reads", &disks::read_ms(disk)),
        latency("writes", &disks::write_ms(disk))
    );
    let idle = disk.read_iops + disk.write_iops == 0.0;
    let did = match (idle, gauges.is_empty()) {
        (true, _) => "idle".to_owned(),
        (false, true) => format!("no limit of its own; {did}"),
        (false, false) => did,
    };
    DiskBox { name, gauges, did }
}

/// Nothing where there were no requests.
fn latency(what: &str, mean_and_p99: &Cell) -> String {
    match mean_and_p99 {
        Cell::Missing => String::new(),
        ms => format!("; {what} took {} ms (mean / p99)", ms.line()),
    }
}
