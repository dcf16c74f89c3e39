//! The charts' data as tables: for readers who cannot see charts, and to copy from.

use crate::findings::{Agreement, Chart, Curves, Dots, DotsOfArm, Findings, Line, PublishedPoint};
use table::quantity::number;
use table::{Column, Quantity, Table};

/// Quantiles in the tables, as 1 / (1 - quantile), with their names.
const QUANTILES: [(f64, &str); 5] = [
    (2.0, "p50"),
    (10.0, "p90"),
    (100.0, "p99"),
    (1_000.0, "p99.9"),
    (10_000.0, "p99.99"),
];

/// One table for every chart, under its title.
pub(super) fn of<'a>(findings: &Findings, curves: &'a Curves) -> Vec<(&'a str, Table)> {
    let series = curves.series.iter();
    let series = series.map(|chart| (&*chart.title, over_time(findings, chart)));
    let distributions = curves.distributions.iter();
    let distributions = distributions.map(|chart| (&*chart.title, quantiles(findings, chart)));
    let agreement = findings.agreement.iter();
    let agreement = agreement.filter(|found| !found.points.is_empty());
    let agreement = agreement.map(|found| ("Published figures and ours", published(found)));
    agreement
        .chain(series)
        .chain(distributions)
        .chain([("Trials", trials(&curves.trials))])
        .collect()
}

fn published(found: &Agreement) -> Table {
    let columns = [
        Column::text("placement", |point: &&PublishedPoint| point.arm.clone()),
        Column::figure("published", |point: &&PublishedPoint| point.published),
        Column::figure("ours", |point: &&PublishedPoint| point.ours),
        Column::text("", |point: &&PublishedPoint| {
            let fitted = if point.fitted { "fitted" } else { "" };
            fitted.to_owned()
        }),
    ];
    Table::of(&found.points, columns)
}

/// The arm and, where it has several lines, the line's name.
fn placement<'a>(findings: &'a Findings) -> Column<'a, &'a Line> {
    Column::text("placement", |line: &&Line| {
        let arm = findings.arms.get(line.arm).map_or("", |arm| &arm.name);
        match line.name.as_str() {
            "" => arm.to_owned(),
            name => format!("{arm}, {name}"),
        }
    })
}

fn over_time(findings: &Findings, chart: &Chart) -> Table {
    let reduced = |name, reduce: fn(f64, f64) -> f64| {
        Column::figure(name, move |line: &&Line| {
            // Values before 0 were not measured.
            let measured = chart.x.iter().zip(&line.values).filter(|(x, _)| **x >= 0.0);
            measured.filter_map(|(_, value)| *value).reduce(reduce)
        })
        .unit(&chart.unit)
    };
    let columns = [
        placement(findings),
        reduced("least", f64::min),
        reduced("greatest", f64::max),
    ];
    Table::of(&chart.lines, columns)
}

fn quantiles(findings: &Findings, chart: &Chart) -> Table {
    let quantile = |(wanted, name): (f64, &'static str)| {
        let near = move |x: &f64| (x / wanted - 1.0).abs() < 0.01;
        let at = chart.x.iter().position(near);
        Column::figure(name, move |line: &&Line| line.values[at?]).unit(&chart.unit)
    };
    let columns = [placement(findings)].into_iter();
    Table::of(&chart.lines, columns.chain(QUANTILES.map(quantile)))
}

fn trials(trials: &Dots) -> Table {
    let columns = [
        Column::text("placement", |arm: &&DotsOfArm| arm.name.clone()),
        Column::figure("mean, 95 % interval", |arm: &&DotsOfArm| {
            let [mean, low, high] = arm.interval?;
            Some(Quantity::with_interval([mean, low, high], &trials.unit))
        }),
        Column::figure("each trial", |arm: &&DotsOfArm| {
            let values: Vec<String> = arm.values.iter().map(|value| number(*value)).collect();
            values.join("  ")
        }),
    ];
    Table::of(&trials.arms, columns)
}
