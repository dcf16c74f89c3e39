//! Chart data: series, distributions and single trials; thinned, never smoothed.
//!
//! A page draws these values unchanged and computes none. They are not part of the findings' document, which would grow by
//! megabytes of data that the records already contain.

mod chart;
mod series;

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use serde::Serialize;

use super::Findings;
use super::metrics::{NS_PER_MS, estimates, unit_of, value};
use super::trials::Trials;
use chart::short;
pub use chart::{Chart, Line, Span};
use experiment::question::{Question, twin_of};
use experiment::record::{Record, VolumeRecord, histogram};
use reading::Role;
use series::{DrawnTrial, of_block, series};
pub(crate) use series::{POINTS_MAX, extremes};

/// Points of a percentile curve between one nine and the next.
const POINTS_A_NINE: i32 = 10;

/// All chart data.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curves {
    /// The block, from 0, whose trials the series show; `None` without any trial.
    pub block: Option<u32>,
    /// Load, warm-up and the like of those trials, by arm.
    pub spans: Vec<Span>,
    /// Values over time: `x` in seconds from the start of the measured part.
    pub series: Vec<Chart>,
    /// Latencies over all trials: `x` is 1 / (1 - quantile), so that 10 is the 90th percentile.
    pub distributions: Vec<Chart>,
    /// Every trial by the deciding metric.
    pub trials: Dots,
}

/// All trials.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Dots {
    /// The metric.
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
    /// One value per trial, in the order of blocks.
    pub values: Vec<f64>,
    /// Mean, lower and upper end of its 95 % interval; `None` without any trial.
    pub interval: Option<[f64; 3]>,
}

/// The chart data of `records` for `findings`, which were computed from them and `question`.
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
        spans: shown.iter().flat_map(DrawnTrial::spans).collect(),
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
    Role::joined(there.map(|(role, _)| role), ", ")
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
        Line {
            values: x.iter().map(at).collect(),
            ends_band: false,
            arm,
            name,
        }
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

#[cfg(test)]
mod tests {
    use super::super::make;
    use super::series::POINTS_MAX;
    use super::*;
    use experiment::examples::{question, records, trial};
    use experiment::record::{DiskRecord, Phase, Series};

    /// A trial with a load of 2 s and a run of `values`, one value per second.
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
    fn a_pool_is_drawn_as_the_band_in_which_its_disks_are() {
        let mut record = with_operations("p30", 0, &[0, 0, 5, 5]);
        let disk = record.volumes[0].disks[0].clone();
        record.volumes[0].disks.clear();
        for number in 1..=10_u64 {
            let name = format!("temp.{number}");
            for what in ["reads", "writes", "read_bytes", "write_bytes"] {
                let values = vec![0, 0, number, 20 - number];
                record
                    .series
                    .values
                    .insert(format!("{name}.{what}"), values);
            }
            let disk = DiskRecord {
                name,
                ..disk.clone()
            };
            record.volumes[0].disks.push(disk);
        }

        let curves = drawn(&[record]);

        let mut charts = curves.series.iter();
        let iops = charts.find(|chart| chart.title == "IOPS of disks").unwrap();
        let [most, least] = &iops.lines[..] else {
            panic!("{:?}", iops.lines);
        };
        assert_eq!(most.name, "temp, most of 10 disks");
        assert_eq!((most.ends_band, least.ends_band), (false, true));
        // Reads and writes of the first disk: 1 + 1, then 19 + 19; of the tenth 10 + 10 twice.
        assert_eq!(most.values[2..], [20.0, 38.0].map(Some));
        assert_eq!(least.values[2..], [2.0, 20.0].map(Some));
    }

    #[test]
    fn a_chart_in_which_nothing_happened_is_left_out() {
        let mut record = with_operations("p30", 0, &[0, 0, 5, 5]);
        let space = ("level.tempdb.user_bytes".to_owned(), vec![0, 0, 0, 0]);
        record.series.values.extend([space]);

        let curves = drawn(&[record]);

        let titles = curves.series.iter().map(|chart| &*chart.title);
        assert_eq!(titles.collect::<Vec<_>>(), ["Operations"]);
    }

    #[test]
    fn of_what_an_engine_counts_the_greatest_lines_are_drawn_from_the_run_on() {
        let mut record = with_operations("p30", 0, &[0, 0, 5, 5]);
        let waits = [("A", 1), ("B", 5), ("C", 4), ("D", 3), ("WRITELOG", 500)];
        for (wait, ms) in waits {
            let name = format!("counter.waits.{wait}_ms");
            record.series.values.insert(name, vec![0, 0, ms, 2 * ms]);
            let name = format!("counter.waits.{wait}_count");
            record.series.values.insert(name, vec![0, 0, 9_000, 9_000]);
        }
        let space = ("level.tempdb.user_bytes".to_owned(), vec![0, 0, 3 << 20]);
        record.series.values.extend([space]);

        let curves = drawn(&[record]);

        let titled = |title: &str| {
            let mut charts = curves.series.iter();
            charts.find(|chart| chart.title.starts_with(title)).unwrap()
        };
        let waits = titled("Waits");
        let names: Vec<&str> = waits.lines.iter().map(|line| &*line.name).collect();
        assert_eq!(names, ["WRITELOG", "B", "C", "D"]);
        // 500 ms of waits in a second are half a session's.
        assert_eq!(waits.lines[0].values, [None, None, Some(0.5), Some(1.0)]);
        let space = titled("Space");
        assert_eq!(space.lines[0].name, "user");
        assert_eq!(space.lines[0].values[2], Some(3.146));
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
