//! Metrics of an arm: the raw values of its trials, and estimates with a unit.

use std::collections::{BTreeMap, BTreeSet};

use super::Metric;
use crate::statistics::{self, Better, Draws, Within};
use experiment::record::{Drawn, Record, histogram};

/// Nanoseconds in a millisecond.
pub(super) const NS_PER_MS: f64 = 1e6;

/// All metrics of one trial: what it recorded, and latencies of operations from its histogram.
pub(super) fn of_trial(record: &Record) -> BTreeMap<String, f64> {
    let mut metrics = operation_latencies(record);
    metrics.extend(record.metrics.clone());
    metrics.retain(|_, value| value.is_finite());
    metrics
}

/// One metric of one trial.
pub(super) fn value(record: &Record, metric: &str) -> Option<f64> {
    match record.metrics.get(metric) {
        Some(value) => Some(*value).filter(|value| value.is_finite()),
        None => operation_latencies(record).get(metric).copied(),
    }
}

/// Estimates of every metric that any of `trials` has, over those that have it.
pub(super) fn estimates(trials: &[&Record]) -> BTreeMap<String, Metric> {
    let within = within(trials);
    estimated(
        trials.iter().map(|record| of_trial(record)).collect(),
        &within,
    )
}

/// Estimates of every counter that any of `trials` has, over those that have it; `io.` counters by process, which a record
/// leaves out where they are zero, are zero in each trial that has any.
pub(super) fn counters(trials: &[&Record]) -> BTreeMap<String, Metric> {
    let finite = |record: &&Record| {
        let mut counters = record.counters.clone();
        counters.retain(|_, value| value.is_finite());
        counters
    };
    let mut trials: Vec<BTreeMap<String, f64>> = trials.iter().map(finite).collect();
    let is_io = |name: &&String| name.starts_with("io.");
    let names: BTreeSet<String> = trials
        .iter()
        .flat_map(BTreeMap::keys)
        .filter(is_io)
        .cloned()
        .collect();
    for trial in trials
        .iter_mut()
        .filter(|trial| trial.keys().any(|name| is_io(&name)))
    {
        for name in &names {
            trial.entry(name.clone()).or_insert(0.0);
        }
    }
    estimated(trials, &Within::Chance)
}

/// What intervals over these trials are of.
pub(super) fn within(trials: &[&Record]) -> Within {
    let drawn = trials.iter().map(|record| record.drawn.iter().collect());
    within_drawn(drawn.collect())
}

/// What intervals over blocks are of that drew these values, by name.
pub(super) fn within_drawn(blocks: Vec<BTreeMap<&String, &Drawn>>) -> Within {
    // What one block drew, all did.
    let names: BTreeMap<&String, f64> = blocks
        .iter()
        .flat_map(|drawn| drawn.iter().map(|(name, drawn)| (*name, drawn.between)))
        .collect();
    if names.is_empty() {
        return Within::Chance;
    }
    let draws = |(name, between): (&String, f64)| Draws {
        deviation: between.ln(),
        logs: blocks
            .iter()
            .map(|drawn| drawn.get(name).map_or(0.0, |drawn| drawn.factor.ln()))
            .collect(),
    };
    Within::Unknown(names.into_iter().map(draws).collect())
}

fn estimated(trials: Vec<BTreeMap<String, f64>>, within: &Within) -> BTreeMap<String, Metric> {
    let names: BTreeSet<&String> = trials.iter().flat_map(BTreeMap::keys).collect();
    names
        .into_iter()
        .filter_map(|name| {
            let values = trials.iter().enumerate();
            let (places, samples): (Vec<usize>, Vec<f64>) = values
                .filter_map(|(place, trial)| Some((place, *trial.get(name)?)))
                .unzip();
            let estimate = statistics::estimate(&samples, &within.at(&places))?;
            Some((name.clone(), metric(name, estimate)))
        })
        .collect()
}

fn metric(name: &str, estimate: statistics::Estimate) -> Metric {
    Metric {
        mean: estimate.mean,
        low: estimate.low,
        high: estimate.high,
        unit: unit_of(name).into(),
    }
}

fn operation_latencies(record: &Record) -> BTreeMap<String, f64> {
    let Some(Ok(latency)) = record.operations.as_deref().map(histogram::decode) else {
        return BTreeMap::new();
    };
    if latency.is_empty() {
        return BTreeMap::new();
    }
    let at = |quantile| latency.value_at_quantile(quantile) as f64 / NS_PER_MS;
    BTreeMap::from([
        (
            "operation_latency_mean_ms".into(),
            latency.mean() / NS_PER_MS,
        ),
        ("operation_latency_p50_ms".into(), at(0.5)),
        ("operation_latency_p95_ms".into(), at(0.95)),
        ("operation_latency_p99_ms".into(), at(0.99)),
        ("operation_latency_p99_9_ms".into(), at(0.999)),
    ])
}

/// The unit of a metric, by the end of its name.
pub(super) fn unit_of(metric: &str) -> &'static str {
    const UNITS: [(&str, &str); 6] = [
        ("mb_per_s", "MB/s"),
        ("_per_s", "1/s"),
        ("iops", "1/s"),
        ("_ms", "ms"),
        ("_kb", "kB"),
        ("_s", "s"),
    ];
    UNITS
        .iter()
        .find(|(end, _)| metric.ends_with(end))
        .map_or("", |(_, unit)| unit)
}

/// Which way a metric is better: rates higher, everything else (times, counts of reads) lower.
pub(crate) fn better(metric: &str) -> Better {
    if metric.ends_with("_per_s") || metric.ends_with("iops") {
        Better::Higher
    } else {
        Better::Lower
    }
}

/// The values of a baseline's trial and of the candidate's trial in the same block.
pub(super) fn pair(baseline: &Record, candidates: &[&Record], metric: &str) -> Option<(f64, f64)> {
    let candidate = candidates
        .iter()
        .find(|record| record.block == baseline.block)?;
    Some((value(baseline, metric)?, value(candidate, metric)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::examples::trial;

    #[test]
    fn the_unit_is_the_end_of_the_name() {
        let units = [
            "elapsed_s",
            "mb_per_s",
            "operations_per_s",
            "iops",
            "read_latency_ms",
            "transfer_size_kb",
            "logical_reads",
        ]
        .map(unit_of);

        assert_eq!(units, ["s", "MB/s", "1/s", "1/s", "ms", "kB", ""]);
    }

    #[test]
    fn rates_are_better_higher_and_times_lower() {
        assert_eq!(better("batch_requests_per_s"), Better::Higher);
        assert_eq!(better("elapsed_s"), Better::Lower);
        assert_eq!(better("read_latency_ms"), Better::Lower);
    }

    #[test]
    fn latencies_of_operations_come_from_the_histogram() {
        let mut record = trial("p30", 0, 10.0);
        let mut latency = histogram::empty();
        latency.record_n(2_000_000, 99).unwrap();
        latency.record(80_000_000).unwrap();
        record.operations = Some(histogram::encode(&latency));

        let metrics = of_trial(&record);

        assert!((metrics["operation_latency_p50_ms"] - 2.0).abs() < 0.01);
        assert_eq!(metrics["elapsed_s"], 10.0);
    }

    #[test]
    fn a_process_that_did_nothing_in_a_trial_counts_as_zero_there() {
        let with = |block, all: &[(&str, f64)]| {
            let mut record = trial("p30", block, 10.0);
            let all = all.iter().map(|(name, value)| ((*name).to_owned(), *value));
            record.counters = all.collect();
            record
        };
        let (backend, checkpointer) = (
            "io.relation.client_backend.normal.write_bytes",
            "io.relation.checkpointer.normal.write_bytes",
        );
        let both = with(
            0,
            &[(backend, 60.0), (checkpointer, 40.0), ("lock_waits", 2.0)],
        );
        let one = with(1, &[(backend, 100.0)]);
        // For a server that does not count by process.
        let without = with(2, &[("physical_reads", 5.0)]);

        let counters = counters(&[&both, &one, &without]);

        // (60 + 100) / 2 and (40 + 0) / 2; others are means over those that have them.
        assert_eq!(counters[backend].mean, 80.0);
        assert_eq!(counters[checkpointer].mean, 20.0);
        assert_eq!(counters["lock_waits"].mean, 2.0);
        assert_eq!(counters["physical_reads"].mean, 5.0);
    }

    #[test]
    fn a_value_that_is_no_number_is_no_sample() {
        let mut record = trial("p30", 0, 10.0);
        record.metrics.insert("iops".into(), f64::NAN);

        assert!(!estimates(&[&record]).contains_key("iops"));
    }
}
