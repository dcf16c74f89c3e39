//! What the charts show, as tables: for readers who do not see them, and to copy from.

use crate::findings::{Chart, Curves, Findings, Line};
use crate::quantity::{Quantity, number};

/// Quantiles in the tables, as 1 / (1 - quantile), with their names.
const QUANTILES: [(f64, &str); 5] = [
    (2.0, "p50"),
    (10.0, "p90"),
    (100.0, "p99"),
    (1_000.0, "p99.9"),
    (10_000.0, "p99.99"),
];

/// A table that goes with a chart.
pub(super) struct Sheet {
    /// The chart's title.
    pub(super) title: String,
    pub(super) header: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

/// One for every chart, by its title.
pub(super) fn of(findings: &Findings, curves: &Curves) -> Vec<Sheet> {
    let series = curves.series.iter().map(|chart| over_time(findings, chart));
    let distributions = curves.distributions.iter();
    let distributions = distributions.map(|chart| quantiles(findings, chart));
    series
        .chain(distributions)
        .chain([trials(curves)])
        .collect()
}

fn name(findings: &Findings, line: &Line) -> String {
    let arm = findings.arms.get(line.arm).map_or("", |arm| &arm.name);
    match line.name.as_str() {
        "" => arm.to_owned(),
        name => format!("{arm}, {name}"),
    }
}

fn over_time(findings: &Findings, chart: &Chart) -> Sheet {
    let rows = chart.lines.iter().map(|line| {
        // What lies before 0 was not measured.
        let measured = chart.x.iter().zip(&line.values).filter(|(x, _)| **x >= 0.0);
        let values: Vec<f64> = measured.filter_map(|(_, value)| *value).collect();
        let least = values.iter().copied().reduce(f64::min);
        let greatest = values.iter().copied().reduce(f64::max);
        let shown = |value: Option<f64>| value.map_or_else(|| "-".into(), number);
        vec![name(findings, line), shown(least), shown(greatest)]
    });
    Sheet {
        title: chart.title.clone(),
        header: vec![
            "placement".into(),
            format!("least, {}", chart.unit),
            format!("greatest, {}", chart.unit),
        ],
        rows: rows.collect(),
    }
}

fn quantiles(findings: &Findings, chart: &Chart) -> Sheet {
    let at = |line: &Line, wanted: f64| {
        let near = |x: &f64| (x / wanted - 1.0).abs() < 0.01;
        line.values[chart.x.iter().position(near)?]
    };
    let rows = chart.lines.iter().map(|line| {
        let values = QUANTILES.map(|(place, _)| at(line, place).map_or_else(|| "-".into(), number));
        let mut row = vec![name(findings, line)];
        row.extend(values);
        row
    });
    let names = QUANTILES.map(|(_, name)| format!("{name}, {}", chart.unit));
    Sheet {
        title: chart.title.clone(),
        header: [vec!["placement".to_owned()], names.to_vec()].concat(),
        rows: rows.collect(),
    }
}

fn trials(curves: &Curves) -> Sheet {
    let rows = curves.trials.arms.iter().map(|arm| {
        let mean = arm.interval.map_or_else(
            || "-".into(),
            |interval| Quantity::with_interval(interval, &curves.trials.unit).to_string(),
        );
        let values: Vec<String> = arm.values.iter().map(|value| number(*value)).collect();
        vec![arm.name.clone(), mean, values.join("  ")]
    });
    Sheet {
        title: "Trials".into(),
        header: ["placement", "mean, 95 % interval", "each trial"]
            .map(String::from)
            .to_vec(),
        rows: rows.collect(),
    }
}
