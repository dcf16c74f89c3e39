//! `sadf -d` (sysstat 9 to 12): one line per device or processor, after a header line that begins with `#`.
//!
//! `# hostname;interval;timestamp;DEV;tps;rkB/s;..`, from `sadf.c` of <https://github.com/sysstat/sysstat>, read 2026-11-26.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::error::ImportError;
use super::number::{Decimal, Figures};
use super::sadf_record::{Disk, Io, Record, Time};
use super::source::Options;
use super::sysstat::Host;
use super::text::excerpt;

/// Columns that every line has: host, interval and time.
const COMMON: usize = 3;

/// The corresponding names in JSON.
const NAMES: [(&str, &str); 10] = [
    ("rkB/s", "rkB"),
    ("wkB/s", "wkB"),
    ("dkB/s", "dkB"),
    ("rd_sec/s", "rd_sec"),
    ("wr_sec/s", "wr_sec"),
    ("%util", "util-percent"),
    ("%user", "user"),
    ("%idle", "idle"),
    ("%iowait", "iowait"),
    ("%steal", "steal"),
];

/// Whether a text has this format, with any activity first.
pub(super) fn are_in(text: &str) -> bool {
    let first = text.trim_start().lines().next().unwrap_or_default();
    first.starts_with("# hostname;interval;timestamp") || first.contains(";LINUX-RESTART")
}

/// Reads it, and whether its last line was truncated and dropped.
///
/// # Errors
/// When it covers several hosts, or a line cannot be read.
pub(super) fn read(
    file: &str,
    text: &str,
    options: &Options,
) -> Result<(Host<Record>, bool), ImportError> {
    let mut host = Host {
        processors: None,
        statistics: Vec::new(),
        restarts: Vec::new(),
    };
    let mut lines = Lines::default();
    let count = text.lines().count();
    for (number, line) in (1..).zip(text.lines()) {
        let wrong = |message: String| ImportError::line(file, number, message);
        let cells: Vec<&str> = line.trim().split(';').collect();
        if line.trim().is_empty() {
        } else if let Some(names) = line.trim().strip_prefix('#') {
            lines.names = names.trim().split(';').map(str::to_owned).collect();
            if line.contains("[...]") {
                return Err(wrong(
                    "its lines have several devices (-h); export with `sadf -d FILE -- -d`"
                        .to_owned(),
                ));
            }
        } else if cells
            .get(COMMON)
            .is_some_and(|cell| cell.starts_with("LINUX-RESTART"))
        {
            lines.restart(&cells, &mut host);
        } else if cells.len() == lines.names.len() && cells.len() > COMMON {
            lines.check_zone(cells[2], options).map_err(wrong)?;
            lines.add(&cells, &mut host).map_err(wrong)?;
        } else if number == count && !text.ends_with('\n') {
            return Ok((host, true));
        } else {
            let message = format!(
                "`{}` does not fit the names of its columns; export it again",
                excerpt(line)
            );
            return Err(wrong(message));
        }
    }
    Ok((host, false))
}

#[derive(Default)]
struct Lines {
    /// Column names of the following lines.
    names: Vec<String>,
    name_of_host: Option<String>,
    /// Name of the zone of its times.
    zone: Option<String>,
    /// Index of the record for each time.
    places: BTreeMap<String, usize>,
}

impl Lines {
    /// Rejects the name of a zone whose offset is not given, and a second one, as in summer.
    fn check_zone(&mut self, time: &str, options: &Options) -> Result<(), String> {
        let zone = time.split_whitespace().nth(2).filter(|zone| *zone != "UTC");
        let Some(zone) = zone else {
            return Ok(());
        };
        const IN_UTC: &str = "export in UTC, without -t and -T";
        if options.utc_offset.is_none() {
            return Err(format!(
                "its times are in the zone `{}`, whose offset is not in the file; give --utc-offset, or {IN_UTC}",
                excerpt(zone)
            ));
        }
        match self.zone.get_or_insert_with(|| zone.to_owned()) {
            first if first == zone => Ok(()),
            first => Err(format!(
                "its times are in the zones `{}` and `{}`; {IN_UTC}",
                excerpt(first),
                excerpt(zone)
            )),
        }
    }

    fn add(&mut self, cells: &[&str], host: &mut Host<Record>) -> Result<(), String> {
        let (name, interval, time) = (cells[0], cells[1], cells[2]);
        if self.name_of_host.get_or_insert_with(|| name.to_owned()) != name {
            return Err("it has lines of several hosts; give a file of one host".to_owned());
        }
        let figures = self.figures(cells)?;
        let place = match self.places.get(time) {
            Some(place) => *place,
            None => {
                host.statistics.push(Record {
                    timestamp: Some(parse(time, interval)?),
                    ..Record::default()
                });
                self.places
                    .insert(time.to_owned(), host.statistics.len() - 1);
                host.statistics.len() - 1
            }
        };
        let record = &mut host.statistics[place];
        match self.names[COMMON].as_str() {
            "DEV" => record.disk.push(Disk {
                name: cells[COMMON].to_owned(),
                figures: Figures::of(figures.into_iter()),
            }),
            // Several processors are averaged.
            "CPU" if matches!(cells[COMMON], "-1" | "all") => {
                let mut load: BTreeMap<String, Value> = figures
                    .into_iter()
                    .map(|(name, value)| (name, json!(value)))
                    .collect();
                load.insert("cpu".to_owned(), json!("all"));
                record.processors.push(load);
            }
            "tps" if self.names.iter().any(|name| name == "rtps") => {
                let [reads, writes] = ["rtps", "wtps"].map(|wanted| {
                    let of = figures.iter().filter(|(name, _)| name == wanted);
                    Figures::of(of.cloned())
                });
                record.io = Some(Io { reads, writes });
            }
            _ => {}
        }
        Ok(())
    }

    /// Figures by their names in JSON.
    fn figures(&self, cells: &[&str]) -> Result<Vec<(String, f64)>, String> {
        let mut figures = Vec::new();
        let named = self.names.iter().zip(cells).skip(COMMON);
        // The name of a device or processor; all processors are -1.
        for (name, cell) in named.filter(|(name, _)| !matches!(name.as_str(), "CPU" | "DEV")) {
            // Cells are separated by semicolons: a comma is of the language that sadf ran in.
            let decimal = Decimal::of(std::iter::once(*cell)).unwrap_or(Decimal::Point);
            let value = decimal
                .counted(cell)
                .map_err(|message| format!("{name}: {message}"))?;
            match value {
                Some(value) => {
                    let known = NAMES.iter().find(|(here, _)| here == name);
                    let name = known.map_or(name.as_str(), |(_, there)| there);
                    figures.push((name.to_owned(), value));
                }
                None if cell.trim().is_empty() => {}
                None => {
                    return Err(format!(
                        "{name}: `{}` is not a number; correct it, or leave its row out",
                        excerpt(cell)
                    ));
                }
            }
        }
        Ok(figures)
    }

    /// `host;-1;2019-04-18 13:20:19 UTC;LINUX-RESTART (9 CPU)`
    fn restart(&self, cells: &[&str], host: &mut Host<Record>) {
        let count = cells[COMMON]
            .split_once('(')
            .and_then(|(_, rest)| rest.split_once(" CPU"));
        if let Some(count) = count.and_then(|(count, _)| count.trim().parse().ok()) {
            host.processors = Some(count);
        }
        if let Ok(time) = parse(cells[2], "0") {
            let boot = json!({ "date": time.date, "time": time.time, "utc": time.utc });
            host.restarts.push(json!({ "boot": boot }));
        }
    }
}

/// `2019-04-18 13:20:19 UTC`, a local time with or without the name of its zone, or seconds since 1970 (-U).
fn parse(text: &str, interval: &str) -> Result<Time, String> {
    let unreadable = || {
        format!(
            "`{}` is not a readable time; export it again",
            excerpt(text)
        )
    };
    let seconds = interval
        .parse()
        .map_err(|_| format!("`{}` is not an interval in seconds", excerpt(interval)))?;
    let parts: Vec<&str> = text.split_whitespace().collect();
    let (date, time, utc) = match parts.as_slice() {
        [epoch] => {
            let at = jiff::Timestamp::from_second(epoch.parse().map_err(|_| unreadable())?);
            let at = at.map_err(|_| unreadable())?.to_string();
            let (date, time) = at
                .trim_end_matches('Z')
                .split_once('T')
                .ok_or_else(unreadable)?;
            (date.to_owned(), time.to_owned(), 1)
        }
        [date, time] => ((*date).to_owned(), (*time).to_owned(), 0),
        [date, time, zone] => (
            (*date).to_owned(),
            (*time).to_owned(),
            u8::from(*zone == "UTC"),
        ),
        _ => return Err(unreadable()),
    };
    Ok(Time {
        date,
        time,
        utc: Some(utc),
        interval: Some(seconds),
    })
}
