//! Curves over time: one trial per arm, from the start of its measured part.

use std::cmp::Reverse;

use super::super::metrics::NS_PER_MS;
use super::chart::{Chart, Line, Span, short};
use experiment::record::{DiskRecord, Record, VolumeRecord};
use products::{CHECKPOINT_PAGES, TEMP_SPACE};

/// Points per line; a longer series keeps the minimum and the maximum of every stretch.
pub(crate) const POINTS_MAX: usize = 400;
/// Disks of a volume that get a line each; with more, the band between minimum and maximum is drawn.
const DISKS_MAX: usize = 4;
/// Intervals before the measured part of a series that ends earlier; more indicate a faulty record, and would be
/// drawn as that many gaps.
const LEAD_MAX: usize = 1 << 20;
/// Lines per arm in a chart of engine counters: the largest.
const LINES_MAX: usize = 4;

/// A trial whose series is drawn.
pub(super) struct DrawnTrial<'a> {
    arm: usize,
    record: &'a Record,
    interval_s: f64,
    /// Interval in which the measured part begins.
    start: usize,
    /// Whole intervals.
    length: usize,
}

pub(super) fn of_block<'a>(arms: &[&[&'a Record]], block: u32) -> Vec<DrawnTrial<'a>> {
    let of_arm = |(arm, trials): (usize, &&[&'a Record])| {
        let record = trials.iter().find(|record| record.block == block)?;
        DrawnTrial::of(arm, record)
    };
    arms.iter().enumerate().filter_map(of_arm).collect()
}

impl<'a> DrawnTrial<'a> {
    fn of(arm: usize, record: &'a Record) -> Option<DrawnTrial<'a>> {
        let interval = record.series.interval_ns;
        let measured = record.phases.iter().find(|phase| phase.measured)?;
        let end = record.phases.iter().map(|phase| phase.end_ns).max()?;
        if interval == 0 {
            return None;
        }
        let whole = |ns: u64| usize::try_from(ns / interval).unwrap_or(usize::MAX);
        let longest = record.series.values.values().map(Vec::len).max()?;
        // The first interval that is completely within the measured part.
        let start = usize::try_from(measured.start_ns.div_ceil(interval)).unwrap_or(usize::MAX);
        if start > longest.max(LEAD_MAX) {
            return None;
        }
        Some(DrawnTrial {
            arm,
            record,
            interval_s: interval as f64 / 1e9,
            start,
            // A truncated last interval would look like a drop.
            length: whole(end).max(1).min(longest),
        })
    }

    pub(super) fn spans(&self) -> impl Iterator<Item = Span> + '_ {
        let zero = self.start as f64 * self.interval_s;
        self.record.phases.iter().map(move |phase| Span {
            arm: self.arm,
            phase: phase.name.clone(),
            from: short(phase.start_ns as f64 / 1e9 - zero),
            until: short(phase.end_ns as f64 / 1e9 - zero),
            measured: phase.measured,
        })
    }

    /// The largest lines of an engine's counters, without values before the run begins.
    fn engine(&self, of: &OfEngine) -> Vec<RawLine> {
        let mut found: Vec<(&str, &Vec<u64>)> = Vec::new();
        for (name, values) in &self.record.series.values {
            let called = of.names.iter().find_map(|(begin, end)| {
                name.strip_prefix(begin)
                    .and_then(|rest| rest.strip_suffix(end))
            });
            found.extend(called.map(|called| (called, values)));
        }
        found.sort_by_key(|(_, values)| {
            Reverse(values.iter().copied().fold(0, u64::saturating_add))
        });
        found.truncate(LINES_MAX);
        let first = self
            .record
            .phases
            .iter()
            .find(|phase| phase.measured || phase.name == "warm-up");
        let begins = first.map_or(0, |phase| phase.start_ns / self.record.series.interval_ns);
        let line = |(called, values): (&str, &Vec<u64>)| {
            let at = |interval: usize| {
                let value = values.get(interval).filter(|_| interval as u64 >= begins)?;
                let per = if of.level { 1.0 } else { self.interval_s };
                Some(*value as f64 / of.divisor / per)
            };
            raw_line(self, called.to_owned(), &at)
        };
        found.into_iter().map(line).collect()
    }

    fn count(&self, name: &str, interval: usize) -> Option<f64> {
        let values = self.record.series.values.get(name)?;
        // A series ends with the last event.
        Some(values.get(interval).copied().unwrap_or(0) as f64)
    }
}

/// The drawn figures of a disk, from its counts in an interval of this length in seconds.
type OfDisk = fn(&DiskCounts, f64) -> Option<f64>;

struct DiskCounts {
    requests: f64,
    bytes: f64,
    /// Sum of latencies; `None` in records without it.
    ns: Option<f64>,
}

const OF_DISK: [(&str, &str, OfDisk); 4] = [
    ("IOPS of disks", "1/s", |disk, s| Some(disk.requests / s)),
    ("Throughput of disks", "MB/s", |disk, s| {
        Some(disk.bytes / 1e6 / s)
    }),
    ("Latency of disks, mean", "ms", |disk, _| {
        Some(disk.ns? / disk.requests / NS_PER_MS).filter(|ms| ms.is_finite())
    }),
    // Little's law: requests in flight are their rate times their latency.
    ("Requests at disks, mean", "requests", |disk, s| {
        Some(disk.ns? / 1e9 / s)
    }),
];

/// The charts of these trials.
pub(super) fn series(shown: &[DrawnTrial]) -> Vec<Chart> {
    let operations = shown.iter().map(|trial| {
        let rate = |interval| Some(trial.count("operations", interval)? / trial.interval_s);
        raw_line(trial, String::new(), &rate)
    });
    let mut charts = vec![chart("Operations", "1/s", operations.collect())];
    for (title, unit, of_disk) in OF_DISK {
        let lines = shown.iter().flat_map(|trial| {
            let volumes = trial.record.volumes.iter();
            volumes.flat_map(move |volume| of_volume(trial, volume, of_disk))
        });
        charts.push(chart(title, unit, lines.collect()));
    }
    for of_engine in &OF_ENGINE {
        let lines = shown.iter().flat_map(|trial| trial.engine(of_engine));
        charts.push(chart(of_engine.title, of_engine.unit, lines.collect()));
    }
    // Without requests there is nothing to draw.
    let seen = |line: &Line| line.values.iter().flatten().any(|value| *value != 0.0);
    charts.retain(|chart| chart.lines.iter().any(seen));
    charts
}

/// The drawn figures of an engine's own counters.
struct OfEngine {
    title: &'static str,
    unit: &'static str,
    /// Prefixes and suffixes of names in the series; the part between them names a line.
    names: &'static [(&'static str, &'static str)],
    /// The divisor for values.
    divisor: f64,
    /// Whether values are levels rather than counts per interval.
    level: bool,
}

const OF_ENGINE: [OfEngine; 3] = [
    // Seconds waited per second: the mean number of waiting sessions.
    OfEngine {
        title: "Waits, as the server counts them",
        unit: "sessions",
        names: &[("counter.waits.", "_ms")],
        divisor: 1e3,
        level: false,
    },
    OfEngine {
        title: "Space in temporary files, by use",
        unit: "MB",
        names: &TEMP_SPACE,
        divisor: 1e6,
        level: true,
    },
    OfEngine {
        title: "Pages written by checkpoints",
        unit: "1/s",
        names: &CHECKPOINT_PAGES,
        divisor: 1.0,
        level: false,
    },
];

/// One line per disk; for a pool, the edges of the band that contains its disks.
fn of_volume(trial: &DrawnTrial, volume: &VolumeRecord, of_disk: OfDisk) -> Vec<RawLine> {
    let at =
        |disk: &DiskRecord, interval| of_disk(&counts(trial, disk, interval)?, trial.interval_s);
    let disks = &volume.disks;
    if disks.len() <= DISKS_MAX {
        let lines = disks.iter();
        let line =
            |disk: &DiskRecord| raw_line(trial, disk.name.clone(), &|interval| at(disk, interval));
        return lines.map(line).collect();
    }
    let edge = |word: &str, of_two: fn(f64, f64) -> f64| {
        let name = format!("{}, {word} of {} disks", volume.name, disks.len());
        let values = |interval| disks.iter().filter_map(move |disk| at(disk, interval));
        raw_line(trial, name, &|interval| values(interval).reduce(of_two))
    };
    let least = RawLine {
        ends_band: true,
        ..edge("least", f64::min)
    };
    vec![edge("most", f64::max), least]
}

fn counts(trial: &DrawnTrial, disk: &DiskRecord, interval: usize) -> Option<DiskCounts> {
    let count = |what: &str| trial.count(&format!("{}.{what}", disk.name), interval);
    let both = |read, write| Some(count(read)? + count(write)?);
    Some(DiskCounts {
        requests: both("reads", "writes")?,
        bytes: both("read_bytes", "write_bytes")?,
        ns: both("read_ns", "write_ns"),
    })
}

/// A line before it is aligned to its chart's axis.
struct RawLine {
    arm: usize,
    name: String,
    ends_band: bool,
    interval_s: f64,
    /// Position of the first value, in intervals from the start of the measured part.
    first: i64,
    values: Vec<Option<f64>>,
}

fn raw_line(trial: &DrawnTrial, name: String, at: &dyn Fn(usize) -> Option<f64>) -> RawLine {
    RawLine {
        arm: trial.arm,
        name,
        ends_band: false,
        interval_s: trial.interval_s,
        first: -(trial.start as i64),
        values: (0..trial.length).map(at).collect(),
    }
}

impl RawLine {
    /// The same with intervals of `interval_s`, a multiple of its own, averaging the values. Intervals are counted from
    /// the start of the measured part: one that spans it is split.
    fn with_interval(self, interval_s: f64) -> RawLine {
        let times = (interval_s / self.interval_s).round().max(1.0) as i64;
        if times == 1 {
            return self;
        }
        let first = self.first.div_euclid(times);
        let last = self.first + self.values.len() as i64 - 1;
        let length = usize::try_from(last.div_euclid(times) - first + 1).unwrap_or(0);
        let mut sums = vec![(0.0, 0_u32); length];
        for (place, value) in (self.first..).zip(&self.values) {
            let interval = usize::try_from(place.div_euclid(times) - first).unwrap_or(0);
            if let Some(value) = value {
                sums[interval].0 += value;
                sums[interval].1 += 1;
            }
        }
        let mean = |(sum, count): (f64, u32)| (count > 0).then(|| sum / f64::from(count));
        RawLine {
            interval_s,
            first,
            values: sums.into_iter().map(mean).collect(),
            ..self
        }
    }
}

/// Aligns lines on one axis, with at most [`POINTS_MAX`] positions.
fn chart(title: &str, unit: &str, lines: Vec<RawLine>) -> Chart {
    let intervals = lines.iter().map(|line| line.interval_s);
    let longest = intervals.fold(0.0, f64::max);
    let lines: Vec<RawLine> = lines
        .into_iter()
        .filter(|line| line.values.iter().any(Option::is_some))
        .map(|line| line.with_interval(longest))
        .collect();
    let first = lines.iter().map(|line| line.first).min().unwrap_or(0);
    let ends = lines
        .iter()
        .map(|line| line.first + line.values.len() as i64);
    let length = usize::try_from(ends.max().unwrap_or(0) - first).unwrap_or(0);
    let interval_s = lines.first().map_or(1.0, |line| line.interval_s);
    // Two positions per stretch, for its minimum and its maximum.
    let stretch = if length <= POINTS_MAX {
        1
    } else {
        length.div_ceil(POINTS_MAX / 2)
    };
    let second = |place: usize| short((first + place as i64) as f64 * interval_s);
    let x = (0..length).step_by(stretch).flat_map(|place| {
        let places = if stretch == 1 { 1 } else { 2 };
        (0..places).map(move |half| place + half * stretch / 2)
    });
    let whole = |line: &RawLine| {
        let lead = usize::try_from(line.first - first).unwrap_or(0);
        let mut values = vec![None; lead];
        values.extend(&line.values);
        values.resize(length, None);
        values
    };
    Chart {
        title: title.to_owned(),
        unit: unit.to_owned(),
        x: x.map(second).collect(),
        lines: lines
            .iter()
            .map(|line| Line {
                arm: line.arm,
                name: line.name.clone(),
                ends_band: line.ends_band,
                values: thinned(&whole(line), stretch),
            })
            .collect(),
    }
}

/// The minimum and the maximum of every stretch, in the order in which they occurred.
fn thinned(values: &[Option<f64>], stretch: usize) -> Vec<Option<f64>> {
    if stretch == 1 {
        return values.iter().map(|value| value.map(short)).collect();
    }
    values.chunks(stretch).flat_map(extremes).collect()
}

/// The minimum and the maximum of one stretch, in the order in which they occurred, rounded for drawing.
pub(crate) fn extremes(stretch: &[Option<f64>]) -> [Option<f64>; 2] {
    let there = stretch.iter().enumerate();
    let there: Vec<(usize, f64)> = there
        .filter_map(|(place, value)| Some((place, (*value)?)))
        .collect();
    let least = there.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    let greatest = there.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    let (Some(least), Some(greatest)) = (least, greatest) else {
        return [None; 2];
    };
    let pair = if least.0 <= greatest.0 {
        [least, greatest]
    } else {
        [greatest, least]
    };
    pair.map(|(_, value)| Some(short(*value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_unequal_intervals_share_the_longest() {
        let line = |interval_s, first, values: &[f64]| RawLine {
            arm: 0,
            name: String::new(),
            ends_band: false,
            interval_s,
            first,
            values: values.iter().copied().map(Some).collect(),
        };
        let long = line(2.0, 0, &[10.0, 20.0]);
        let short = line(1.0, -1, &[1.0, 2.0, 4.0, 6.0]);

        let chart = chart("t", "1/s", vec![long, short]);

        assert_eq!(chart.x, [-2.0, 0.0, 2.0]);
        let values = |line: usize| chart.lines[line].values.clone();
        assert_eq!(values(0), [None, Some(10.0), Some(20.0)]);
        assert_eq!(values(1), [Some(1.0), Some(3.0), Some(6.0)]);
    }
}
