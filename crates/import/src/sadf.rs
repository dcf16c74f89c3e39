//! `sadf -j` (sysstat 12): what sar recorded, exported with `-- -d -u -b`; or `sadf -d`, the same as lines.
//!
//! sar counts a device's requests together, with one mean latency. Reads and writes are split here by the machine's own counts if
//! one device does all I/O, and by bytes otherwise; the profile notes this.

use std::collections::BTreeMap;

use jiff::Timestamp;
use model::Duration;
use serde_json::Value;

use super::devices;
use super::error::ImportError;
use super::number::counted;
use super::sadf_lines;
use super::sadf_record::{Disk, Io, Record, Time};
use super::source::{Options, Source};
use super::stamp::Dates;
use super::sysstat::{self, Host};
use super::twice::{Load, Range, Twice};
use crate::rates::{Rates, requests};
use profile::{Draft, Interval, Lost, Span, add, between};

/// Reads a file of sadf.
///
/// # Errors
/// When it is not a sadf file, lacks required figures, or the roles of the devices are ambiguous.
pub(super) fn read(source: &Source, options: &Options) -> Result<Draft, ImportError> {
    let wrong = |message: String| ImportError::file(source.file, message);
    let (mut host, is_cut): (Host<Record>, bool) = match sadf_lines::are_in(source.text) {
        true => sadf_lines::read(source.file, source.text, options)?,
        false => sysstat::read(source.file, source.text)?,
    };
    let mut draft = Draft::of("sar");
    for (number, record) in (1..).zip(&mut host.statistics) {
        sysstat::drop_repeated(&mut record.disk, Disk::name, number, &mut draft).map_err(wrong)?;
    }
    let records = &host.statistics;
    if records.iter().all(|record| record.disk.is_empty()) {
        let message = "it has no disk statistics; export with `sadf -j FILE -- -d -u -b` or `sadf -d FILE -- -d`";
        return Err(wrong(message.to_owned()));
    }
    draft.machine.processors = host.processors;
    if is_cut {
        draft.assume("The file ends within a record, which is left out.");
    }
    let disks = records.iter().flat_map(|record| &record.disk);
    let found = sysstat::devices(disks.map(|disk| {
        let is_active = disk.figures.get("tps") > Some(0.0);
        (disk.name.as_str(), is_active)
    }));
    let roles = devices::assign_roles(
        &options.devices,
        &found,
        |a, b| sysstat::base(a) == b,
        &mut draft,
    );
    let roles = roles.map_err(|mistake| mistake.of(source.file))?;
    devices::assume_shared(&options.devices, None, &mut draft);
    let roles = sysstat::by_name(&found, &roles).map_err(wrong)?;
    check(records, roles.keys(), &mut draft).map_err(wrong)?;
    let is_alone = found.iter().filter(|device| device.is_active).count() == 1;
    draft.assume(
        "sar counts a device's requests together: reads and writes are told apart by the counts of the machine where \
         it has one busy device, by their bytes otherwise, and have the same mean latency.",
    );
    if records.iter().any(|record| !record.processors.is_empty()) {
        draft.assume("Processor time covers all processes of the machine.");
    }
    let texts: Vec<(usize, String)> = (1..)
        .zip(records)
        .filter_map(|(number, record)| Some((number, record.timestamp.as_ref()?.text())))
        .collect();
    let texts = texts.iter().map(|(number, text)| (*number, text.as_str()));
    let dates = Dates::of(texts, options, &mut draft)
        .map_err(|(number, message)| wrong(format!("record {number}: {message}")))?;
    for (number, record) in (1..).zip(records) {
        let Some((from, until)) = ends(record, &dates, &mut draft)
            .map_err(|message| wrong(format!("record {number}: {message}")))?
        else {
            continue;
        };
        let length = between(from, until);
        let mut figures = Interval {
            processor: processor(record, host.processors, length),
            ..Interval::default()
        };
        for disk in &record.disk {
            if let Some(role) = roles.get(disk.name.as_str()) {
                let share = match is_alone {
                    true => record.io.as_ref().and_then(Io::share_of_reads),
                    false => None,
                };
                let [reads, writes] = disk.rates(share);
                let io = figures.roles.entry(*role).or_default();
                add(&mut io.reads, requests(reads, length));
                add(&mut io.writes, requests(writes, length));
            }
        }
        draft.spans.push(Span {
            from,
            until,
            figures,
        });
    }
    for restart in &host.restarts {
        if let Some(at) = restarted(restart, &dates, &mut draft) {
            let before = draft.spans.iter().map(|span| span.until);
            if let Some(last) = before.filter(|until| *until <= at).max() {
                draft.losses.push((last, Lost::Restart));
            }
        }
    }
    Ok(draft)
}

impl Io {
    fn share_of_reads(&self) -> Option<f64> {
        let reads = self.reads.counted("rtps")?;
        let all = reads + self.writes.counted("wtps")?;
        (all > 0.0).then(|| reads / all)
    }
}

/// Rejects records whose bytes are not requests times their size; notes devices whose latencies, queue and utilisation
/// cannot all be right.
fn check<'a>(
    records: &[Record],
    devices: impl Iterator<Item = &'a &'a str>,
    draft: &mut Draft,
) -> Result<(), String> {
    for device in devices {
        let mut load = Load::default();
        for (number, record) in (1..).zip(records) {
            for disk in record.disk.iter().filter(|disk| disk.name == **device) {
                if disk.bytes_twice().is_some_and(|twice| !twice.is_times(1.0)) {
                    return Err(format!(
                        "record {number} contradicts itself: kilobytes of {device} are not `tps` x `areq-sz`; correct it, \
                         or leave the record out"
                    ));
                }
                let figure = |name: &str| disk.figures.counted(name).map(Range::hundredths);
                if let Some((rate, ms)) = figure("tps").zip(figure("await")) {
                    let queue = figure("aqu-sz").or(figure("avgqu-sz"));
                    let busy =
                        figure("util-percent").map(|percent| percent.times(Range::exact(0.01)));
                    load.add(rate.times(ms).times(Range::exact(1e-3)), queue, busy);
                }
            }
        }
        if let Some(note) = load.contradiction(device, "aqu-sz", "util-percent") {
            draft.assume(note);
        }
    }
    Ok(())
}

impl Disk {
    fn name(&self) -> &str {
        &self.name
    }

    /// Kilobytes per second of all requests: as rates, and from requests and their size.
    fn bytes_twice(&self) -> Option<Twice> {
        let figure = |name: &str| self.figures.counted(name).map(Range::hundredths);
        let none = Range::exact(0.0);
        let stated = figure("rkB")?
            .plus(figure("wkB")?)
            .plus(figure("dkB").unwrap_or(none));
        Some(Twice::of(stated, figure("tps")?.times(figure("areq-sz")?)))
    }

    /// Reads and writes; `share_of_reads` by requests, if known.
    fn rates(&self, share_of_reads: Option<f64>) -> [Rates; 2] {
        let figure = |name: &str| self.figures.counted(name);
        let bytes = |kilobytes: &str, sectors: &str| {
            let kilobytes = figure(kilobytes).map(|rate| rate * 1024.0);
            kilobytes.or_else(|| Some(figure(sectors)? * 512.0))
        };
        let bytes = [bytes("rkB", "rd_sec"), bytes("wkB", "wr_sec")];
        let by_bytes = || {
            let [read, written] = [bytes[0]?, bytes[1]?];
            let all = read + written;
            Some(if all > 0.0 { read / all } else { 0.0 })
        };
        let share = share_of_reads.or_else(by_bytes);
        let part = |share: f64, bytes| Rates {
            per_second: figure("tps").map(|rate| rate * share),
            bytes_per_second: bytes,
            mean_s: figure("await").map(|ms| ms / 1e3),
        };
        match share {
            Some(share) => [part(share, bytes[0]), part(1.0 - share, bytes[1])],
            None => [Rates::default(); 2],
        }
    }
}

/// When an interval began and ended; `None` for a record without a time.
fn ends(
    record: &Record,
    dates: &Dates,
    draft: &mut Draft,
) -> Result<Option<(Timestamp, Timestamp)>, String> {
    let Some(time) = &record.timestamp else {
        return Ok(None);
    };
    let Some(seconds) = time.interval.and_then(counted) else {
        return Err("it has no interval; export with a newer sysstat (12)".to_owned());
    };
    let until = dates.instant(&time.text(), draft)?;
    let length = Duration::from_secs_f64(seconds).as_nanos();
    let from = Timestamp::from_nanosecond(until.as_nanosecond() - i128::from(length));
    let from = from.map_err(|_| {
        format!("its interval is {seconds} s, so that it begins before there were dates; correct it, or leave it out")
    })?;
    Ok(Some((from, until)))
}

impl Time {
    /// Date, time and zone. sadf writes ISO dates, in JSON and in lines, whatever the locale.
    fn text(&self) -> String {
        let zone = if self.utc == Some(1) { " Z" } else { "" };
        format!("{} {}{zone}", self.date, self.time)
    }
}

fn restarted(restart: &Value, dates: &Dates, draft: &mut Draft) -> Option<Timestamp> {
    let boot = restart.get("boot").unwrap_or(restart);
    let text = |key: &str| boot.get(key).and_then(Value::as_str);
    let time = Time {
        date: text("date")?.to_owned(),
        time: text("time")?.to_owned(),
        utc: boot
            .get("utc")
            .and_then(Value::as_u64)
            .map(|utc| u8::from(utc == 1)),
        interval: None,
    };
    dates.instant(&time.text(), draft).ok()
}

fn processor(record: &Record, processors: Option<u32>, length: Duration) -> Option<Duration> {
    let is_all =
        |load: &&BTreeMap<String, Value>| load.get("cpu").and_then(Value::as_str) == Some("all");
    let load = record.processors.iter().find(is_all)?;
    let part = |name: &str| load.get(name).and_then(Value::as_f64).and_then(counted);
    sysstat::busy(
        [part("idle")?, part("iowait")?, part("steal").unwrap_or(0.0)],
        processors?,
        length,
    )
}
