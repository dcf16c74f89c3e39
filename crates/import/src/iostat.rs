//! `iostat -x -t -o JSON` (sysstat 12): one record per interval, with separate devices, reads and writes.
//!
//! The first record is a mean since boot, not an interval.
//!
//! A record reports the bytes moved twice: as a rate, and as requests times their size. iostat of sysstat 12.1.2 to
//! 12.2.0 writes the rate in blocks of 512 B under keys that say kB or MB; text was never affected.
//! <https://github.com/sysstat/sysstat/commit/404eee1417dad8abe6ef49ea6e1469fe6cfdddbe> fixed it in 12.2.1 and 12.3.1;
//! all read 2026-11-26.

use jiff::Timestamp;
use model::Duration;
use serde::Deserialize;

use super::devices;
use super::error::ImportError;
use super::number::Figures;
use super::source::{Options, Source};
use super::stamp::Dates;
use super::steps::{Resolution, Step, steps};
use super::sysstat::{self, Host};
use super::twice::{Load, Range, Twice};
use crate::rates::{Rates, requests};
use profile::{Draft, Interval, Io, Lost, Span, add, between, later};

/// Units of throughput, which depend on iostat's options.
const UNITS: [(&str, f64); 4] = [
    ("kB/s", 1024.0),
    ("MB/s", 1_048_576.0),
    ("GB/s", 1_073_741_824.0),
    ("sec/s", BLOCK),
];

/// A block of sysstat, in bytes.
const BLOCK: f64 = 512.0;

/// Kinds of requests with bytes: reads, writes, discards.
const KINDS: [char; 3] = ['r', 'w', 'd'];

#[derive(Deserialize)]
struct Record {
    timestamp: Option<String>,
    #[serde(rename = "avg-cpu")]
    processor: Option<Figures>,
    #[serde(default)]
    disk: Vec<Disk>,
}

#[derive(Deserialize, PartialEq)]
struct Disk {
    disk_device: String,
    #[serde(flatten)]
    figures: Figures,
}

/// Reads a file of iostat.
///
/// # Errors
/// When it is not an iostat file, lacks required figures, or the roles of the devices are ambiguous.
pub(super) fn read(source: &Source, options: &Options) -> Result<Draft, ImportError> {
    let wrong = |message: String| ImportError::file(source.file, message);
    let (mut host, is_cut): (Host<Record>, bool) = sysstat::read(source.file, source.text)?;
    let mut draft = Draft::of("iostat");
    draft.machine.processors = host.processors;
    if is_cut {
        draft.assume("The file ends within a record, which is left out.");
    }
    for (number, record) in (1..).zip(&mut host.statistics) {
        sysstat::drop_repeated(&mut record.disk, Disk::name, number, &mut draft).map_err(wrong)?;
    }
    check_extended(&host.statistics).map_err(wrong)?;
    let printed = printed(&host.statistics, &mut draft).map_err(wrong)?;
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
    let roles = roles.map_err(|mistake| mistake.of(source.file))?;
    devices::assume_shared(&options.devices, None, &mut draft);
    let has_processors = host
        .statistics
        .iter()
        .any(|record| record.processor.is_some());
    if host.processors.is_some() && has_processors {
        draft.assume("Processor time covers all processes of the machine.");
    }
    let roles = sysstat::by_name(&found, &roles).map_err(wrong)?;
    check_loads(&host.statistics, roles.keys(), &mut draft);
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
                            reads: requests(disk.rates('r', printed), length),
                            writes: requests(disk.rates('w', printed), length),
                            flushes: requests(disk.rates('f', printed), length),
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
    fn name(&self) -> &str {
        &self.disk_device
    }

    fn is_idle(&self) -> bool {
        let mut requests = ["r/s", "w/s"]
            .iter()
            .filter_map(|key| self.figures.get(key));
        requests.all(|rate| rate <= 0.0)
    }

    /// Reads (`r`), writes (`w`) or flushes (`f`); `printed` is the ratio of the bytes in the file to the true ones.
    fn rates(&self, kind: char, printed: f64) -> Rates {
        let figure = |name: String| self.figures.counted(&name);
        Rates {
            per_second: figure(format!("{kind}/s")),
            bytes_per_second: self.bytes(kind).map(|(bytes, unit)| bytes * unit / printed),
            mean_s: figure(format!("{kind}_await")).map(|ms| ms / 1e3),
        }
    }

    /// Throughput of a kind as written, and the bytes of its unit.
    fn bytes(&self, kind: char) -> Option<(f64, f64)> {
        let in_unit = |(unit, bytes): &(&str, f64)| {
            Some((self.figures.counted(&format!("{kind}{unit}"))?, *bytes))
        };
        UNITS.iter().find_map(in_unit)
    }

    /// Bytes per second of a kind: as a rate, and from requests and their size.
    fn bytes_twice(&self, kind: char) -> Option<Twice> {
        let (bytes, unit) = self.bytes(kind)?;
        let figure = |name: String| self.figures.counted(&name).map(Range::hundredths);
        let (count, size) = (
            figure(format!("{kind}/s"))?,
            figure(format!("{kind}areq-sz"))?,
        );
        let derived = count.times(size).times(Range::exact(1024.0));
        Some(Twice::of(
            Range::hundredths(bytes).times(Range::exact(unit)),
            derived,
        ))
    }

    /// Requests in flight, from rates and latencies.
    fn in_flight(&self) -> Option<Range> {
        let mut all = None;
        for kind in KINDS.into_iter().chain(['f']) {
            let figure = |name: String| self.figures.counted(&name).map(Range::hundredths);
            if let Some((rate, ms)) =
                figure(format!("{kind}/s")).zip(figure(format!("{kind}_await")))
            {
                let more = rate.times(ms).times(Range::exact(1e-3));
                all = Some(all.map_or(more, |all: Range| all.plus(more)));
            }
        }
        all
    }
}

/// Ratio of the bytes in the file to the true ones: 1, or the factor of blocks labelled with another unit.
///
/// # Errors
/// When byte rates match neither, in a record or in the whole file.
fn printed(records: &[Record], draft: &mut Draft) -> Result<f64, String> {
    let disks = records.iter().flat_map(|record| &record.disk);
    let mut whole = Twice::default();
    for disk in disks.clone() {
        for twice in KINDS.into_iter().filter_map(|kind| disk.bytes_twice(kind)) {
            whole = whole.and(twice);
        }
    }
    let unit = disks.clone().find_map(|disk| Some(disk.bytes('r')?.1));
    let blocks = unit.unwrap_or(BLOCK) / BLOCK;
    // If one record is wrong, the others show the unit, and that one is reported below.
    let is_near = |factor: f64| (0.8..1.25).contains(&(whole.ratio() / factor));
    let factor = [1.0, blocks]
        .into_iter()
        .find(|factor| whole.is_times(*factor) || is_near(*factor));
    let Some(factor) = factor else {
        return Err(format!(
            "it contradicts itself: its bytes are {:.3} times requests times their size (`r/s` x `rareq-sz`); {AGAIN}",
            whole.ratio()
        ));
    };
    // The first record is not used.
    for (number, record) in (1..).zip(records).skip(1) {
        for disk in &record.disk {
            let of = |kind: &char| {
                disk.bytes_twice(*kind)
                    .is_some_and(|twice| !twice.is_times(factor))
            };
            if let Some(kind) = KINDS.iter().find(|kind| of(kind)) {
                return Err(format!(
                    "record {number} contradicts itself: bytes of {} are not `{kind}/s` x `{kind}areq-sz`; correct it, or \
                     leave the record out",
                    disk.disk_device
                ));
            }
        }
    }
    if factor > 1.0 {
        draft.assume(format!(
            "Bytes are in blocks of 512 B, whatever their unit says (iostat of sysstat 12.1.2 to 12.2.0), as requests times \
             their size show: they are divided by {factor}."
        ));
    }
    Ok(factor)
}

/// Remedy for a file that cannot be trusted at all.
const AGAIN: &str = "record again with sysstat 12.2.1 or later";

/// Notes devices whose latencies, queue and utilisation cannot all be right.
fn check_loads<'a>(
    records: &[Record],
    devices: impl Iterator<Item = &'a &'a str>,
    draft: &mut Draft,
) {
    for device in devices {
        let mut load = Load::default();
        let disks = records.iter().skip(1).flat_map(|record| &record.disk);
        for disk in disks.filter(|disk| disk.disk_device == **device) {
            let figure = |name: &str| disk.figures.counted(name).map(Range::hundredths);
            let busy = figure("util").map(|percent| percent.times(Range::exact(0.01)));
            if let Some(in_flight) = disk.in_flight() {
                load.add(in_flight, figure("aqu-sz"), busy);
            }
        }
        if let Some(note) = load.contradiction(device, "aqu-sz", "util") {
            draft.assume(note);
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
    let wrong = |(number, message): (usize, String)| {
        format!("record {number}: {message}, or record with S_TIME_FORMAT=ISO")
    };
    let texts = records.iter().map(|record| record.timestamp.as_deref());
    let texts = || (1..).zip(texts.clone());
    let there = texts().filter_map(|(number, text)| Some((number, text?)));
    let dates = Dates::of(there, options, draft).map_err(wrong)?;
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
    let given = [
        ("--start", options.start.is_some()),
        ("--interval", options.interval.is_some()),
    ];
    for (option, _) in given.iter().filter(|(_, is_given)| *is_given) {
        let note = format!("{option} has no effect: the records have times");
        draft.notes.push(note);
    }
    let instant = |(number, text): (usize, Option<&str>)| {
        let at = dates.instant(text.unwrap_or_default(), draft);
        at.map_err(|message| wrong((number, message)))
    };
    texts().map(instant).collect()
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
