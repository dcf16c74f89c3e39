//! Samples as text: OpenMetrics, and the older text format of Prometheus.
//!
//! Both are written here from the samples. The client library of Prometheus writes OpenMetrics alone, which would have to be
//! parsed again for scrapers that read the older format.

use std::fmt::{self, Write};

use super::{FAMILIES, Family, Kind, Label, Latency, Sample, Value};

/// A text format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextFormat {
    /// OpenMetrics 1.0, including the end marker.
    ///
    /// Source: <https://github.com/prometheus/OpenMetrics/blob/v1.0.0/specification/OpenMetrics.md>, read 2026-11-25.
    OpenMetrics,
    /// Prometheus' text format 0.0.4, which older scrapers, `promtool check metrics` and `node_exporter` read. It names a family
    /// of counters after its samples, and has neither infos nor units.
    ///
    /// Source: <https://prometheus.io/docs/instrumenting/exposition_formats/>, read 2026-11-25.
    Prometheus,
}

impl TextFormat {
    /// `samples` in this format, in the order of [`FAMILIES`].
    pub fn text(self, samples: &[Sample]) -> String {
        let mut text = String::new();
        self.write(samples, &mut text)
            .expect("a string takes any text");
        text
    }

    fn write(self, samples: &[Sample], text: &mut String) -> fmt::Result {
        for family in FAMILIES {
            let members = samples.iter().filter(|sample| sample.family == family.name);
            let mut members = members.peekable();
            if members.peek().is_some() {
                self.write_header(family, text)?;
            }
            for sample in members {
                write_sample(family, sample, text)?;
            }
        }
        match self {
            TextFormat::OpenMetrics => writeln!(text, "# EOF"),
            TextFormat::Prometheus => Ok(()),
        }
    }

    fn write_header(self, family: &Family, text: &mut String) -> fmt::Result {
        let (name, kind) = match (self, family.kind) {
            (TextFormat::OpenMetrics, kind) => (family.name.to_owned(), kind.name()),
            (TextFormat::Prometheus, Kind::Info) => (family.sample_name(), Kind::Gauge.name()),
            (TextFormat::Prometheus, kind) => (family.sample_name(), kind.name()),
        };
        writeln!(text, "# HELP {name} {}.", family.help)?;
        writeln!(text, "# TYPE {name} {kind}")?;
        match (self, family.unit) {
            (TextFormat::OpenMetrics, Some(unit)) => writeln!(text, "# UNIT {name} {unit}"),
            _ => Ok(()),
        }
    }
}

fn write_sample(family: &Family, sample: &Sample, text: &mut String) -> fmt::Result {
    let (name, labels) = (family.sample_name(), labels(&sample.labels));
    let labelled = match labels.is_empty() {
        true => name.clone(),
        false => format!("{name}{{{labels}}}"),
    };
    match &sample.value {
        Value::Count(count) => writeln!(text, "{labelled} {count}"),
        Value::Number(number) => writeln!(text, "{labelled} {}", figure(*number)),
        Value::Latency(latency) => write_histogram(&name, &labels, latency, text),
        Value::Info => writeln!(text, "{labelled} 1"),
    }
}

fn write_histogram(name: &str, labels: &str, latency: &Latency, text: &mut String) -> fmt::Result {
    let (own, before) = match labels.is_empty() {
        true => (String::new(), String::new()),
        false => (format!("{{{labels}}}"), format!("{labels},")),
    };
    writeln!(text, "{name}_sum{own} {}", figure(latency.sum_s()))?;
    writeln!(text, "{name}_count{own} {}", latency.count())?;
    let mut cumulative = 0;
    for (bound_s, count) in latency.buckets() {
        cumulative += count;
        let bound = figure(bound_s);
        writeln!(text, "{name}_bucket{{{before}le=\"{bound}\"}} {cumulative}")?;
    }
    Ok(())
}

/// `a="1",b="2"`, escaped as both formats have it.
fn labels(labels: &[Label]) -> String {
    let escaped = |value: &str| {
        let value = value.replace('\\', r"\\").replace('"', "\\\"");
        value.replace('\n', r"\n")
    };
    let labels = labels
        .iter()
        .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)));
    labels.collect::<Vec<_>>().join(",")
}

/// A number in decimal digits with a point, `+Inf`, `-Inf` or `NaN`: a bound of a bucket is part of a series' name, and has to
/// stay the same text.
fn figure(number: f64) -> String {
    match number {
        f64::INFINITY => "+Inf".to_owned(),
        f64::NEG_INFINITY => "-Inf".to_owned(),
        _ if number.fract() == 0.0 => format!("{number:.1}"),
        _ => number.to_string(),
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
        insta::assert_snapshot!(TextFormat::OpenMetrics.text(&samples()), @r#"
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
        insta::assert_snapshot!(TextFormat::Prometheus.text(&samples()), @r#"
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

    #[test]
    fn buckets_are_cumulative_and_bounds_have_a_point_and_no_exponent() {
        let mut histogram = reading::histogram::empty();
        // One in the bucket to 100 us, two above the last bound: 60 s.
        histogram.record(80_000).expect("it grows");
        histogram.record_n(60_000_000_000, 2).expect("it grows");
        let mut latency = Latency::default();
        latency.add(&histogram);
        let name = "dbstow_emulator_reply_error_seconds";
        let samples = [Sample::new(name, vec![], Value::Latency(latency))];

        let text = TextFormat::Prometheus.text(&samples);

        for (bound, count) in [("0.00005", 0), ("0.0001", 1), ("1.0", 1), ("+Inf", 3)] {
            let line = format!("\n{name}_bucket{{le=\"{bound}\"}} {count}\n");
            assert!(text.contains(&line), "{line} is not in {text}");
        }
        assert!(text.contains(&format!("\n{name}_count 3\n")), "{text}");
    }

    #[test]
    fn numbers_that_are_not_finite_are_written_as_the_formats_have_them() {
        let written = [0.0, -2.0, 1e-9, f64::INFINITY, f64::NEG_INFINITY, f64::NAN].map(figure);
        assert_eq!(
            written,
            ["0.0", "-2.0", "0.000000001", "+Inf", "-Inf", "NaN"]
        );
    }
}
