//! `iostat -x -t -o JSON` (sysstat 12): a record an interval, devices apart, reads and writes apart.
//!
//! The first record is a mean since the machine started, and no interval.

use jiff::Timestamp;
use model::Duration;
use serde::Deserialize;

use super::devices;
use super::error::ImportError;
use super::number::Figures;
use super::stamp::{self, DateOrder, Stamp};
use super::steps::{Resolution, Step, between, later, steps};
use super::sysstat::{self, Host};
use super::{Options, Source};
use crate::definition::{Interval, Io, Lost};
use crate::draft::{Draft, Rates, Span, add, requests};

/// Units of throughput, which depend on iostat's options.
const UNITS: [(&str, f64); 4] = [
    ("kB/s", 1024.0),
    ("MB/s", 1_048_576.0),
    ("GB/s", 1_073_741_824.0),
    ("sec/s", 512.0),
];

#[derive(Deserialize)]
struct Record {
    timestamp: Option<String>,
    #[serde(rename = "avg-cpu")]
    processor: Option<Figures>,
    #[serde(default)]
    disk: Vec<Disk>,
}

#[derive(Deserialize)]
struct Disk {
    disk_device: String,
    #[serde(flatten)]
    figures: Figures,
}

/// Reads a file of iostat.
///
/// # Errors
/// When it is none, lacks what a profile needs, or it is open which device holds what.
pub(super) fn read(source: &Source, options: &Options) -> Result<Draft, ImportError> {
    let wrong = |message: String| ImportError::file(source.file, message);
    let (host, is_cut): (Host<Record>, bool) = sysstat::read(source.file, source.text)?;
    let mut draft = Draft::of("iostat");
    draft.machine.processors = host.processors;
    if is_cut {
        draft.assume("The file ends within a record, which is left out.");
    }
    check_extended(&host.statistics).map_err(wrong)?;
    let times = times(&host.statistics, options, &mut draft).map_err(wrong)?;
    let disks = host.statistics.iter().flat_map(|record| &record.disk);
    let skipped = host.statistics.first().map_or(0, |first| first.disk.len());
    let devices = disks.enumerate().map(|(number, disk)| {
        let is_idle = number < skipped || disk.is_idle();
        (disk.disk_device.as_str(), !is_idle)
    });
    let found = sysstat::devices(devices);
    let roles = devices::assign_roles(
        &options.devices,
        &found,
        |a, b| sysstat::base(a) == b,
        &mut draft,
    );
    let roles = roles.map_err(wrong)?;
    devices::assume_shared(&options.devices, None, &mut draft);
    if host.processors.is_some() {
        draft.assume("Processor time covers all processes of the machine.");
    }
    let roles = sysstat::by_name(&found, &roles);
    for (number, step) in steps(&times, Resolution::Seconds).into_iter().enumerate() {
        let record = &host.statistics[number + 1];
        match step {
            Step::Gap => draft.losses.push((times[number], Lost::Gap)),
            Step::Back => draft.losses.push((times[number], Lost::Clock)),
            Step::Interval(from, until) => {
                let length = between(from, until);
                let mut figures = Interval {
                    processor: processor(record, host.processors, length),
                    ..Interval::default()
                };
                for disk in &record.disk {
                    if let Some(role) = roles.get(disk.disk_device.as_str()) {
                        let counted = Io {
                            reads: requests(disk.rates('r'), length),
                            writes: requests(disk.rates('w'), length),
                            flushes: requests(disk.rates('f'), length),
                            session_writes: None,
                        };
                        let counted = counted.without_flushes_among_writes();
                        let io = figures.roles.entry(*role).or_default();
                        add(&mut io.reads, counted.reads);
                        add(&mut io.writes, counted.writes);
                        add(&mut io.flushes, counted.flushes);
                    }
                }
                draft.spans.push(Span {
                    from,
                    until,
                    figures,
                });
            }
        }
    }
    Ok(draft)
}

impl Disk {
    fn is_idle(&self) -> bool {
        let mut requests = ["r/s", "w/s"]
            .iter()
            .filter_map(|key| self.figures.get(key));
        requests.all(|rate| rate <= 0.0)
    }

    /// Reads (`r`), writes (`w`) or flushes (`f`).
    fn rates(&self, kind: char) -> Rates {
        let figure = |name: String| self.figures.counted(&name);
        let bytes = |(unit, factor): &(&str, f64)| Some(figure(format!("{kind}{unit}"))? * factor);
        Rates {
            per_second: figure(format!("{kind}/s")),
            bytes_per_second: UNITS.iter().find_map(bytes),
            mean_s: figure(format!("{kind}_await")).map(|ms| ms / 1e3),
        }
    }
}

fn check_extended(records: &[Record]) -> Result<(), String> {
    let mut disks = records.iter().flat_map(|record| &record.disk);
    match disks.next() {
        None => Err("it has no disk statistics; record with `iostat -x -t -o JSON 10`".to_owned()),
        Some(disk) if disk.figures.get("r/s").is_none() => Err(
            "it has no requests by kind (`r/s`, `w/s`); record with `iostat -x -t -o JSON 10`"
                .to_owned(),
        ),
        Some(_) => Ok(()),
    }
}

/// When each record was written.
fn times(
    records: &[Record],
    options: &Options,
    draft: &mut Draft,
) -> Result<Vec<Timestamp>, String> {
    if records.iter().all(|record| record.timestamp.is_none()) {
        let (Some(start), Some(interval)) = (options.start, options.interval) else {
            return Err(
                "its records have no time; record with -t, or give --start (time of the first record) and --interval"
                    .to_owned(),
            );
        };
        draft.assume("Records have no time; they are taken to be evenly apart.");
        let at = |number: usize| later(start, interval * number as u64);
        return Ok((0..records.len()).map(at).collect());
    }
    let text = |record: &Record| record.timestamp.clone().unwrap_or_default();
    let stamp = |(number, record)| {
        let text = text(record);
        Stamp::parse(&text).ok_or_else(|| {
            format!(
                "record {number} has no readable time (`{text}`); set S_TIME_FORMAT=ISO for iostat"
            )
        })
    };
    let stamps: Result<Vec<Stamp>, String> = (1..).zip(records).map(stamp).collect();
    let stamps = stamps?;
    // Without another hint it is the C locale's.
    let order = options.dates.or(stamp::order(&stamps));
    if options.utc_offset.is_none() && !stamps.iter().all(Stamp::has_offset) {
        draft.assume("Times have no offset and are taken as UTC.");
    }
    let instant = |(number, stamp): (usize, &Stamp)| {
        let order = order.unwrap_or(DateOrder::MonthFirst);
        let at = stamp.instant(order, options.utc_offset);
        at.ok_or_else(|| format!("record {number} has an invalid date; check --dates"))
    };
    (1..).zip(&stamps).map(instant).collect()
}

fn processor(record: &Record, processors: Option<u32>, length: Duration) -> Option<Duration> {
    let figures = record.processor.as_ref()?;
    let part = |name: &str| figures.counted(name);
    sysstat::busy(
        [part("idle")?, part("iowait")?, part("steal").unwrap_or(0.0)],
        processors?,
        length,
    )
}
