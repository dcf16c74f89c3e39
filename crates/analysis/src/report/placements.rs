//! The articles' own table as values: a row a placement, ours beside what was published.

use std::collections::BTreeSet;

use super::words;
use crate::findings::{Arm, Findings, Metric, Published};
use crate::quantity::{Quantity, number, percent_signed};
use experiment::spec::Mode;

/// Metrics that are shown whether or not anybody published them, as far as the trials have them.
const ALWAYS: [&str; 4] = ["operations_per_s", "mb_per_s", "iops", "physical_reads"];

/// The table; every row has as many cells as there are columns.
pub(super) struct Placements<'a> {
    pub(super) columns: Vec<Column>,
    /// Whether any row has a published figure, so that `role` says something.
    pub(super) compared: bool,
    /// Whether any row has a price.
    pub(super) priced: bool,
    pub(super) rows: Vec<Row<'a>>,
}

/// A metric.
pub(super) struct Column {
    pub(super) name: String,
    /// Empty for a count.
    pub(super) unit: String,
}

/// A placement.
pub(super) struct Row<'a> {
    pub(super) name: &'a str,
    /// How many trials it rests on, where some are missing: `2 of 3 trials`.
    pub(super) incomplete: Option<String>,
    /// How its figures came about, beside published ones: made to fit them, or not.
    pub(super) role: &'static str,
    pub(super) cells: Vec<Cell>,
    /// Of its disks, a month.
    pub(super) usd: Option<String>,
}

/// A figure.
pub(super) struct Cell {
    /// With its interval, without unit; `-` where there is none.
    pub(super) ours: String,
    pub(super) published: Option<String>,
    /// How far ours is off the published one.
    pub(super) deviation: Option<String>,
}

impl Placements<'_> {
    pub(super) fn of(findings: &Findings) -> Placements<'_> {
        let metrics = metrics(findings);
        Placements {
            columns: metrics.iter().map(|name| column(findings, name)).collect(),
            compared: findings.arms.iter().any(|arm| !arm.published.is_empty()),
            priced: findings.arms.iter().any(|arm| arm.usd_per_month.is_some()),
            rows: findings
                .arms
                .iter()
                .map(|arm| Row {
                    name: &arm.name,
                    incomplete: (arm.trials != findings.blocks)
                        .then(|| format!("{} of {} trials", arm.trials, findings.blocks)),
                    role: role(arm, findings.mode()),
                    cells: metrics.iter().map(|metric| cell(arm, metric)).collect(),
                    usd: arm.usd_per_month.map(number),
                })
                .collect(),
        }
    }
}

/// What the signs mean, as far as they are used.
pub(super) fn legend(findings: &Findings) -> String {
    let repeated = findings.arms.iter().any(|arm| arm.trials > 1);
    let compared = findings.arms.iter().any(|arm| !arm.published.is_empty());
    let parts: Vec<&str> = [
        (repeated, "±: 95 % interval between trials"),
        (
            compared,
            "publ.: published elsewhere (and how far ours is off)",
        ),
    ]
    .into_iter()
    .filter_map(|(used, text)| used.then_some(text))
    .collect();
    parts.join("; ")
}

/// The metric that decides, then all that was published, then the usual ones; each only once.
fn metrics(findings: &Findings) -> Vec<String> {
    let arms = &findings.arms;
    let has = |name: &str| arms.iter().any(|arm| arm.metrics.contains_key(name));
    let deciding = findings
        .comparisons
        .iter()
        .map(|comparison| comparison.metric.as_str());
    let published = arms
        .iter()
        .flat_map(|arm| arm.published.keys().map(String::as_str));
    let always = ALWAYS.into_iter().filter(|name| has(name));
    let elapsed = ["elapsed_s"].into_iter().filter(|name| has(name));
    let mut seen = BTreeSet::new();
    deciding
        .chain(elapsed)
        .chain(published)
        .chain(always)
        .filter(|name| seen.insert(*name))
        .map(str::to_owned)
        .collect()
}

fn column(findings: &Findings, name: &str) -> Column {
    let metric = findings.arms.iter().find_map(|arm| arm.metrics.get(name));
    Column {
        name: words::metric(name),
        unit: metric.map_or_else(String::new, |metric| metric.unit.clone()),
    }
}

/// A real disk cannot be fitted.
fn role(arm: &Arm, mode: Option<Mode>) -> &'static str {
    match (arm.published.is_empty(), arm.fitted, mode) {
        (true, _, _) => "",
        (false, true, Some(Mode::Simulate | Mode::Emulate) | None) => "fitted",
        (false, false, _) | (false, true, Some(Mode::Measure)) => words::figures(mode),
    }
}

fn cell(arm: &Arm, name: &str) -> Cell {
    let ours = arm.metrics.get(name);
    let published = arm.published.get(name);
    let deviation = ours.and_then(|ours| published?.deviation(ours.mean));
    Cell {
        ours: ours.map_or_else(|| "-".into(), estimate),
        published: published.map(said),
        deviation: deviation.map(percent_signed),
    }
}

fn estimate(metric: &Metric) -> String {
    Quantity::with_interval([metric.mean, metric.low, metric.high], &metric.unit).bare()
}

/// A published figure as it was said.
pub(super) fn said(published: &Published) -> String {
    match published {
        Published::Number(value) => number(*value),
        Published::Words(words) => words.clone(),
    }
}
