//! What is drawn over an axis: series, distributions and single trials; thinned, never smoothed.
//!
//! A page draws these values as they are and computes none.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use serde::Serialize;

use super::Findings;
use super::metrics::{NS_PER_MS, estimates, unit_of, value};
use super::question::{Question, twin_of};
use super::trials::Trials;
use crate::record::{DiskRecord, Record, VolumeRecord, histogram};

/// Points of a line; a longer series keeps the least and the greatest of every stretch.
const POINTS_MAX: usize = 400;
/// Disks of a volume with a line each; of more, the busiest stands for all.
const DISKS_MAX: usize = 4;
/// Points of a percentile curve between one nine and the next.
const POINTS_A_NINE: i32 = 10;
/// Digits that are kept of a value to be drawn.
const DIGITS: i32 = 4;

/// Everything that is drawn over an axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curves {
    /// The block, from 0, whose trials the series show; `None` without any trial.
    pub block: Option<u32>,
    /// Load, warm-up and the like of those trials, by arm.
    pub spans: Vec<Span>,
    /// Values over time: `x` in seconds from the beginning of the measured part.
    pub series: Vec<Chart>,
    /// Latencies over all trials: `x` is 1 / (1 - quantile), so that 10 is the 90th percentile.
    pub distributions: Vec<Chart>,
    /// Every trial by the deciding metric.
    pub trials: Dots,
}

/// A phase of an arm's trial.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Span {
    /// Place of the arm in the findings.
    pub arm: usize,
    /// Its name: `load`, `warm-up`, `run`, ..
    pub phase: String,
    /// When it began, in seconds from the beginning of the measured part.
    pub from: f64,
    /// When it ended.
    pub until: f64,
    /// Whether it counts in the metrics.
    pub measured: bool,
}

/// Lines over a common axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// Unit of the values.
    pub unit: String,
    /// The axis.
    pub x: Vec<f64>,
    /// The lines.
    pub lines: Vec<Line>,
}

/// A line; it has as many values as its chart has places on the axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// Place of the arm in the findings.
    pub arm: usize,
    /// What it is of that arm; empty for the arm as a whole.
    pub name: String,
    /// Values; `None` where there is none.
    pub values: Vec<Option<f64>>,
}

/// All trials.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Dots {
    /// By which metric.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// By arm, in the order of the findings, the baseline's twin last.
    pub arms: Vec<DotsOfArm>,
}

/// The trials of an arm.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DotsOfArm {
    /// Its name.
    pub name: String,
    /// One value a trial, in the order of blocks.
    pub values: Vec<f64>,
    /// Mean, lower and upper end of its 95 % interval; `None` without any trial.
    pub interval: Option<[f64; 3]>,
}

/// What `records` give to draw for `findings`, which were made of them and of `question`.
pub fn curves(question: &Question, records: &[Record], findings: &Findings) -> Curves {
    let trials = Trials::of(question, records);
    let arms: Vec<&[&Record]> = findings
        .arms
        .iter()
        .map(|arm| trials.finished(&arm.name))
        .collect();
    let block = fullest_block(question, &arms);
    let shown = block.map_or_else(Vec::new, |block| of_block(&arms, block));
    Curves {
        block,
        spans: shown.iter().flat_map(Shown::spans).collect(),
        series: series(&shown),
        distributions: distributions(&arms),
        trials: dots(question, &trials, findings),
    }
}

/// The first block that most arms finished.
fn fullest_block(question: &Question, arms: &[&[&Record]]) -> Option<u32> {
    let finished = |block: u32| {
        let has = |trials: &&&[&Record]| trials.iter().any(|record| record.block == block);
        arms.iter().filter(has).count()
    };
    let most = (0..question.blocks).map(finished).max()?;
    (0..question.blocks).find(|block| most > 0 && finished(*block) == most)
}

/// A trial whose series is drawn.
struct Shown<'a> {
    arm: usize,
    record: &'a Record,
    interval_s: f64,
    /// Interval in which the measured part begins.
    start: usize,
    /// Whole intervals.
    length: usize,
}

fn of_block<'a>(arms: &[&[&'a Record]], block: u32) -> Vec<Shown<'a>> {
    let of_arm = |(arm, trials): (usize, &&[&'a Record])| {
        let record = trials.iter().find(|record| record.block == block)?;
        Shown::of(arm, record)
    };
    arms.iter().enumerate().filter_map(of_arm).collect()
}

impl<'a> Shown<'a> {
    fn of(arm: usize, record: &'a Record) -> Option<Shown<'a>> {
        let interval = record.series.interval_ns;
        let measured = record.phases.iter().find(|phase| phase.measured)?;
        let end = record.phases.iter().map(|phase| phase.end_ns).max()?;
        if interval == 0 {
            return None;
        }
        let whole = |ns: u64| usize::try_from(ns / interval).unwrap_or(usize::MAX);
        let longest = record.series.values.values().map(Vec::len).max()?;
        Some(Shown {
            arm,
            record,
            interval_s: interval as f64 / 1e9,
            // The first interval that is measured as a whole.
            start: usize::try_from(measured.start_ns.div_ceil(interval)).unwrap_or(usize::MAX),
            // An interval that was cut off by the end would look like a drop.
            length: whole(end).max(1).min(longest),
        })
    }

    fn spans(&self) -> impl Iterator<Item = Span> + '_ {
        let zero = self.start as f64 * self.interval_s;
        self.record.phases.iter().map(move |phase| Span {
            arm: self.arm,
            phase: phase.name.clone(),
            from: short(phase.start_ns as f64 / 1e9 - zero),
            until: short(phase.end_ns as f64 / 1e9 - zero),
            measured: phase.measured,
        })
    }

    fn count(&self, name: &str, interval: usize) -> Option<f64> {
        let values = self.record.series.values.get(name)?;
        // A series ends with the last thing that happened.
        Some(values.get(interval).copied().unwrap_or(0) as f64)
    }
}

/// What is drawn of a disk, from its counts in an interval of this length in seconds.
type OfDisk = fn(&DiskCounts, f64) -> Option<f64>;

struct DiskCounts {
    requests: f64,
    bytes: f64,
    /// Sum of latencies; `None` in records that do not have it.
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
    // Little's law: requests under way are their rate times their latency.
    ("Requests at disks, mean", "requests", |disk, s| {
        Some(disk.ns? / 1e9 / s)
    }),
];

fn series(shown: &[Shown]) -> Vec<Chart> {
    let operations = shown.iter().map(|trial| {
        let rate = |interval| Some(trial.count("operations", interval)? / trial.interval_s);
        raw_line(trial, String::new(), &rate)
    });
    let mut charts = vec![chart("Operations", "1/s", operations.collect())];
    for (title, unit, of_disk) in OF_DISK {
        let lines = shown.iter().flat_map(|trial| {
            let volumes = trial.record.volumes.iter();
            let disks = volumes.flat_map(drawn_disks);
            disks.map(move |(disk, name)| {
                let at = |interval| of_disk(&counts(trial, disk, interval)?, trial.interval_s);
                raw_line(trial, name, &at)
            })
        });
        charts.push(chart(title, unit, lines.collect()));
    }
    charts.retain(|chart| !chart.lines.is_empty());
    charts
}

/// Disks with a line of their own, and what they are called.
fn drawn_disks(volume: &VolumeRecord) -> Vec<(&DiskRecord, String)> {
    let disks = &volume.disks;
    if disks.len() <= DISKS_MAX {
        return disks.iter().map(|disk| (disk, disk.name.clone())).collect();
    }
    let busiest = disks.iter().max_by_key(|disk| disk.reads + disk.writes);
    let name = |disk: &DiskRecord| format!("{}, busiest of {}", disk.name, disks.len());
    busiest.map(|disk| (disk, name(disk))).into_iter().collect()
}

fn counts(trial: &Shown, disk: &DiskRecord, interval: usize) -> Option<DiskCounts> {
    let count = |what: &str| trial.count(&format!("{}.{what}", disk.name), interval);
    let both = |read, write| Some(count(read)? + count(write)?);
    Some(DiskCounts {
        requests: both("reads", "writes")?,
        bytes: both("read_bytes", "write_bytes")?,
        ns: both("read_ns", "write_ns"),
    })
}

/// A line before it is put on its chart's axis.
struct RawLine {
    arm: usize,
    name: String,
    interval_s: f64,
    /// Place of the first value, in intervals from the beginning of the measured part.
    first: i64,
    values: Vec<Option<f64>>,
}

fn raw_line(trial: &Shown, name: String, at: &dyn Fn(usize) -> Option<f64>) -> RawLine {
    RawLine {
        arm: trial.arm,
        name,
        interval_s: trial.interval_s,
        first: -(trial.start as i64),
        values: (0..trial.length).map(at).collect(),
    }
}

/// Puts lines on one axis, with at most [`POINTS_MAX`] places.
fn chart(title: &str, unit: &str, lines: Vec<RawLine>) -> Chart {
    let lines: Vec<RawLine> = lines
        .into_iter()
        .filter(|line| line.values.iter().any(Option::is_some))
        .collect();
    let first = lines.iter().map(|line| line.first).min().unwrap_or(0);
    let ends = lines
        .iter()
        .map(|line| line.first + line.values.len() as i64);
    let length = usize::try_from(ends.max().unwrap_or(0) - first).unwrap_or(0);
    let interval_s = lines.first().map_or(1.0, |line| line.interval_s);
    // Two places a stretch, for its least and its greatest value.
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
                values: thinned(&whole(line), stretch),
            })
            .collect(),
    }
}

/// The least and the greatest value of every stretch, in the order in which they occurred.
fn thinned(values: &[Option<f64>], stretch: usize) -> Vec<Option<f64>> {
    if stretch == 1 {
        return values.iter().map(|value| value.map(short)).collect();
    }
    values.chunks(stretch).flat_map(extremes).collect()
}

fn extremes(stretch: &[Option<f64>]) -> [Option<f64>; 2] {
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

fn distributions(arms: &[&[&Record]]) -> Vec<Chart> {
    let mut operations = Vec::new();
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    for (arm, trials) in arms.iter().enumerate() {
        let texts = trials
            .iter()
            .filter_map(|record| record.operations.as_deref());
        operations.push((arm, String::new(), histogram::merge(texts).0));
        let volumes = trials.first().map_or(&[][..], |first| &first.volumes);
        for volume in volumes {
            let name = format!("{}: {}", roles(volume), volume.name);
            let disks = || {
                let all = trials.iter().flat_map(|record| &record.volumes);
                let same = all.filter(|other| other.name == volume.name);
                same.flat_map(|volume| &volume.disks)
            };
            let read = disks().filter_map(|disk| disk.read_latency.as_deref());
            reads.push((arm, name.clone(), histogram::merge(read).0));
            let written = disks().filter_map(|disk| disk.write_latency.as_deref());
            writes.push((arm, name, histogram::merge(written).0));
        }
    }
    let charts = [
        percentiles("Latency of operations", operations),
        percentiles("Latency of reads, by role", reads),
        percentiles("Latency of writes, by role", writes),
    ];
    charts.into_iter().flatten().collect()
}

/// `data, temp`
fn roles(volume: &VolumeRecord) -> String {
    let there = volume.files.iter().filter(|(_, files)| **files > 0);
    let names: Vec<&str> = there.map(|(role, _)| role.as_str()).collect();
    names.join(", ")
}

fn percentiles(title: &str, lines: Vec<(usize, String, Histogram<u64>)>) -> Option<Chart> {
    let lines: Vec<_> = lines
        .into_iter()
        .filter(|(_, _, latency)| !latency.is_empty())
        .collect();
    let most = lines.iter().map(|(_, _, latency)| latency.len()).max()?;
    let places = (0..)
        .map(|step| 10_f64.powf(f64::from(step) / f64::from(POINTS_A_NINE)))
        .take_while(|place| *place <= most as f64);
    let x: Vec<f64> = places.collect();
    let lines = lines.into_iter().map(|(arm, name, latency)| {
        let at = |place: &f64| {
            let quantile = 1.0 - 1.0 / place;
            let seen = *place <= latency.len() as f64;
            seen.then(|| short(latency.value_at_quantile(quantile) as f64 / NS_PER_MS))
        };
        let values = x.iter().map(at).collect();
        Line { arm, name, values }
    });
    Some(Chart {
        title: title.to_owned(),
        unit: "ms".to_owned(),
        lines: lines.collect(),
        x: x.iter().map(|place| short(*place)).collect(),
    })
}

fn dots(question: &Question, trials: &Trials, findings: &Findings) -> Dots {
    let twin = question.baseline.as_deref().filter(|_| question.aa);
    let names = findings.arms.iter().map(|arm| arm.name.clone());
    let arms = names.chain(twin.map(twin_of)).map(|name| {
        let finished = trials.finished(&name);
        let values = finished.iter();
        let values = values.filter_map(|record| value(record, &question.metric));
        let estimate: BTreeMap<_, _> = estimates(finished);
        let estimate = estimate.get(&question.metric);
        DotsOfArm {
            values: values.collect(),
            interval: estimate.map(|metric| [metric.mean, metric.low, metric.high]),
            name,
        }
    });
    Dots {
        metric: question.metric.clone(),
        unit: unit_of(&question.metric).to_owned(),
        arms: arms.collect(),
    }
}

/// `value` to as many digits as can be seen in a drawing.
fn short(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let decimals = DIGITS - 1 - value.abs().log10().floor() as i32;
    let factor = 10_f64.powi(decimals.abs());
    if decimals >= 0 {
        (value * factor).round() / factor
    } else {
        (value / factor).round() * factor
    }
}

#[cfg(test)]
mod tests {
    use super::super::examples::{question, records, trial};
    use super::super::make;
    use super::*;
    use crate::record::{Phase, Series};

    /// A trial with a load of 2 s and a run of `values`, a value a second.
    fn with_operations(arm: &str, block: u32, values: &[u64]) -> Record {
        let phase = |name: &str, from: u64, until: u64, measured| Phase {
            name: name.into(),
            start_ns: from * 1_000_000_000,
            end_ns: until * 1_000_000_000,
            measured,
        };
        let end = values.len() as u64;
        Record {
            phases: vec![phase("load", 0, 2, false), phase("run", 2, end, true)],
            series: Series {
                interval_ns: 1_000_000_000,
                values: [("operations".to_owned(), values.to_vec())].into(),
            },
            ..trial(arm, block, 100.0)
        }
    }

    fn drawn(records: &[Record]) -> Curves {
        let question = question();
        curves(&question, records, &make(&question, records))
    }

    #[test]
    fn series_begin_with_the_measured_part_and_end_with_a_whole_interval() {
        let mut short = with_operations("local-ssd", 1, &[0, 0, 5, 6, 1]);
        short.phases[1].end_ns = 4_500_000_000;
        let long = with_operations("p30", 1, &[0, 0, 3, 3, 3, 3]);

        let curves = drawn(&[short, long]);

        assert_eq!(curves.block, Some(1));
        let chart = &curves.series[0];
        assert_eq!(chart.x, [-2.0, -1.0, 0.0, 1.0, 2.0, 3.0]);
        let five = [0.0, 0.0, 5.0, 6.0].map(Some);
        assert_eq!(chart.lines[0].values[..4], five);
        assert_eq!(chart.lines[0].values[4..], [None, None]);
        assert_eq!(chart.lines[1].values.len(), 6);
        assert_eq!(curves.spans[0].from, -2.0);
    }

    #[test]
    fn a_long_series_keeps_its_peaks() {
        let mut values = vec![100; 10_000];
        values[6_789] = 9_999;
        values[1_234] = 1;

        let curves = drawn(&[with_operations("p30", 0, &values)]);

        let chart = &curves.series[0];
        assert!(chart.x.len() <= POINTS_MAX, "{}", chart.x.len());
        assert_eq!(chart.x.len(), chart.lines[0].values.len());
        let kept: Vec<f64> = chart.lines[0].values.iter().flatten().copied().collect();
        assert!(kept.contains(&9_999.0) && kept.contains(&1.0));
        assert!(chart.x.is_sorted());
    }

    #[test]
    fn a_percentile_is_drawn_as_far_as_there_are_requests() {
        let curves = drawn(&records());

        for chart in &curves.distributions {
            let ends = chart.x.last().unwrap();
            assert!(*ends > 10.0, "{} ends at {ends}", chart.title);
            for line in &chart.lines {
                let values: Vec<f64> = line.values.iter().flatten().copied().collect();
                assert!(values.is_sorted(), "{}", chart.title);
            }
        }
        assert!(!curves.distributions.is_empty());
    }

    #[test]
    fn every_trial_is_a_dot_the_twins_too() {
        let question = Question {
            aa: true,
            ..question()
        };
        let mut records = records();
        records.push(trial("local-ssd (twin)", 0, 157.5));
        let curves = curves(&question, &records, &make(&question, &records));

        let counts: Vec<usize> = curves
            .trials
            .arms
            .iter()
            .map(|arm| arm.values.len())
            .collect();
        assert_eq!(counts, [3, 3, 1]);
        assert_eq!(curves.trials.unit, "s");
    }

    #[test]
    fn digits_that_cannot_be_seen_are_dropped() {
        let shortened = [123.456_7, 0.000_123_456, 123_456.0, -5.0, 0.0, f64::NAN].map(short);
        assert_eq!(shortened, [123.5, 0.000_123_5, 123_500.0, -5.0, 0.0, 0.0]);
    }
}
