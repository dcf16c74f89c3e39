//! Samples as text: OpenMetrics, and the older text format of Prometheus.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};

use super::{FAMILIES, Family, Kind, Sample, Value};

/// Samples in OpenMetrics 1.0, including the end marker.
///
/// Source: <https://github.com/prometheus/OpenMetrics/blob/v1.0.0/specification/OpenMetrics.md>, read 2026-11-25.
pub fn openmetrics(samples: Vec<Sample>) -> String {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Samples(samples)));
    let mut text = String::new();
    text::encode(&mut text, &registry).expect("a string takes it");
    text
}

/// The same in Prometheus' text format 0.0.4, which older scrapers, `promtool check metrics` and `node_exporter` read. It
/// names a family of counters after its samples, and has neither infos nor units.
///
/// Source: <https://prometheus.io/docs/instrumenting/exposition_formats/>, read 2026-11-25.
pub fn prometheus(openmetrics: &str) -> String {
    let mut text = String::with_capacity(openmetrics.len());
    for line in openmetrics.lines() {
        let mut words = line.splitn(4, ' ');
        let (hash, word, name) = (words.next(), words.next(), words.next());
        let rest = words.next().unwrap_or_default();
        match (hash, word, name) {
            (Some("#"), Some("EOF" | "UNIT"), _) => continue,
            (Some("#"), Some(word @ ("HELP" | "TYPE")), Some(name)) => {
                let known = FAMILIES.iter().find(|family| family.name == name);
                let name = known.map_or_else(|| name.to_owned(), Family::sample_name);
                let rest = match (word, rest) {
                    ("TYPE", "info") => "gauge",
                    (_, rest) => rest,
                };
                text += &format!("# {word} {name} {rest}");
            }
            (_, _, _) => text += line,
        }
        text.push('\n');
    }
    text
}

#[derive(Debug)]
struct Samples(Vec<Sample>);

impl Collector for Samples {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        for family in FAMILIES {
            let mut members = self.0.iter().filter(|sample| sample.family == family.name);
            let Some(first) = members.next() else {
                continue;
            };
            let unit = family.unit.map(unit);
            let name = match family.unit {
                // The encoder appends it at the end.
                Some(unit) => family.name.trim_end_matches(unit).trim_end_matches('_'),
                None => family.name,
            };
            let help = format!("{}.", family.help);
            let kind = kind(family.kind);
            let mut metric = encoder.encode_descriptor(name, &help, unit.as_ref(), kind)?;
            for sample in std::iter::once(first).chain(members) {
                let labels = &sample.labels;
                if let Value::Info = sample.value {
                    metric.encode_info(labels)?;
                    continue;
                }
                match labels.is_empty() {
                    // It would write empty braces.
                    true => encode(&mut metric, family.kind, &sample.value)?,
                    false => encode(
                        &mut metric.encode_family(labels)?,
                        family.kind,
                        &sample.value,
                    )?,
                }
            }
        }
        Ok(())
    }
}

fn encode(member: &mut MetricEncoder<'_>, kind: Kind, value: &Value) -> fmt::Result {
    match (value, kind) {
        (Value::Count(count), _) => member.encode_counter::<NoLabelSet, _, u64>(count, None),
        (Value::Number(number), Kind::Counter) => {
            member.encode_counter::<NoLabelSet, _, u64>(number, None)
        }
        (Value::Number(number), Kind::Gauge | Kind::Histogram | Kind::Info) => {
            member.encode_gauge(number)
        }
        (Value::Latency(latency), _) => member.encode_histogram::<NoLabelSet>(
            latency.sum_s(),
            latency.count(),
            &latency.buckets(),
            None,
        ),
        // It was written with its labels.
        (Value::Info, _) => Ok(()),
    }
}

fn kind(kind: Kind) -> MetricType {
    match kind {
        Kind::Counter => MetricType::Counter,
        Kind::Gauge => MetricType::Gauge,
        Kind::Histogram => MetricType::Histogram,
        Kind::Info => MetricType::Info,
    }
}

fn unit(unit: &str) -> Unit {
    match unit {
        "bytes" => Unit::Bytes,
        "seconds" => Unit::Seconds,
        other => Unit::Other(other.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples() -> Vec<Sample> {
        let outcome = |outcome: &str| vec![("outcome", outcome.to_owned())];
        let arm = vec![("arm", "a \"b\"\n".to_owned()), ("phase", "run".to_owned())];
        vec![
            Sample::new(
                "dbstow_run_trials",
                outcome("finished"),
                Value::Count(u64::MAX),
            ),
            Sample::new("dbstow_run_trials", outcome("failed"), Value::Count(0)),
            Sample::new("dbstow_run_trials_running", arm, Value::Number(1.0)),
            Sample::new("dbstow_emulator_cpu_seconds", vec![], Value::Number(1.5)),
            Sample::new(
                "dbstow_emulator",
                vec![("transport", "fuser".to_owned())],
                Value::Info,
            ),
        ]
    }

    #[test]
    fn families_are_written_in_their_order_and_labels_are_escaped() {
        insta::assert_snapshot!(openmetrics(samples()), @r#"
        # HELP dbstow_emulator How requests reach the emulator.
        # TYPE dbstow_emulator info
        dbstow_emulator_info{transport="fuser"} 1
        # HELP dbstow_emulator_cpu_seconds Processor time of the emulator.
        # TYPE dbstow_emulator_cpu_seconds counter
        # UNIT dbstow_emulator_cpu_seconds seconds
        dbstow_emulator_cpu_seconds_total 1.5
        # HELP dbstow_run_trials Trials that this run completed.
        # TYPE dbstow_run_trials counter
        dbstow_run_trials_total{outcome="finished"} 18446744073709551615
        dbstow_run_trials_total{outcome="failed"} 0
        # HELP dbstow_run_trials_running Trials under way.
        # TYPE dbstow_run_trials_running gauge
        dbstow_run_trials_running{arm="a \"b\"\n",phase="run"} 1.0
        # EOF
        "#);
    }

    #[test]
    fn the_older_format_names_counters_and_infos_as_their_samples() {
        insta::assert_snapshot!(prometheus(&openmetrics(samples())), @r#"
        # HELP dbstow_emulator_info How requests reach the emulator.
        # TYPE dbstow_emulator_info gauge
        dbstow_emulator_info{transport="fuser"} 1
        # HELP dbstow_emulator_cpu_seconds_total Processor time of the emulator.
        # TYPE dbstow_emulator_cpu_seconds_total counter
        dbstow_emulator_cpu_seconds_total 1.5
        # HELP dbstow_run_trials_total Trials that this run completed.
        # TYPE dbstow_run_trials_total counter
        dbstow_run_trials_total{outcome="finished"} 18446744073709551615
        dbstow_run_trials_total{outcome="failed"} 0
        # HELP dbstow_run_trials_running Trials under way.
        # TYPE dbstow_run_trials_running gauge
        dbstow_run_trials_running{arm="a \"b\"\n",phase="run"} 1.0
        "#);
    }
}
