//! The article's own table: a row a placement, ours above what was published.

use std::collections::BTreeSet;

use super::super::words;
use super::table::table;
use crate::findings::{Arm, Findings, Metric, Published};
use crate::quantity::{Quantity, number, percent_signed};
use crate::spec::Mode;

/// Metrics that are shown whether or not anybody published them, as far as the trials have them.
const ALWAYS: [&str; 4] = ["operations_per_s", "mb_per_s", "iops", "physical_reads"];
/// Metrics that fit side by side.
const COLUMNS_MAX: usize = 4;

/// One table, or several below one another where there are many metrics.
pub(super) fn tables(findings: &Findings) -> String {
    let metrics = metrics(findings);
    let tables: Vec<String> = metrics
        .chunks(COLUMNS_MAX)
        .map(|metrics| one_table(findings, metrics))
        .collect();
    format!("{}{}", tables.join("\n"), legend(findings))
}

/// What the signs mean, as far as they are used.
fn legend(findings: &Findings) -> String {
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
    if parts.is_empty() {
        return String::new();
    }
    words::wrapped(" ", &parts.join("; "))
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

fn one_table(findings: &Findings, metrics: &[String]) -> String {
    let priced = findings.arms.iter().any(|arm| arm.usd_per_month.is_some());
    let compared = findings.arms.iter().any(|arm| !arm.published.is_empty());
    let mut header = vec!["placement".into()];
    header.extend(compared.then(|| figures_heading(findings.mode()).into()));
    header.extend(metrics.iter().map(|name| heading(findings, name)));
    header.extend(priced.then(|| "disks\n$/month".into()));
    let rows = findings.arms.iter().map(|arm| {
        let mut row = vec![name(arm, findings.blocks)];
        row.extend(compared.then(|| role(arm, findings.mode())));
        row.extend(metrics.iter().map(|metric| cell(arm, metric)));
        row.extend(priced.then(|| arm.usd_per_month.map_or_else(|| "-".into(), number)));
        row
    });
    table(header, rows.collect(), if compared { 2 } else { 1 })
}

fn heading(findings: &Findings, name: &str) -> String {
    let words = words::metric(name);
    let metric = findings.arms.iter().find_map(|arm| arm.metrics.get(name));
    match metric.map(|metric| metric.unit.as_str()) {
        Some("") | None => words,
        Some(unit) => format!("{words}\n{unit}"),
    }
}

/// The name, and how many trials it rests on where some are missing.
fn name(arm: &Arm, blocks: u32) -> String {
    if arm.trials == blocks {
        arm.name.clone()
    } else {
        format!("{}\n({} of {blocks} trials)", arm.name, arm.trials)
    }
}

fn figures_heading(mode: Option<Mode>) -> &'static str {
    match mode {
        Some(Mode::Simulate) | None => "published\nfigures",
        Some(Mode::Emulate | Mode::Measure) => "our\nfigures",
    }
}

/// How this row's figures came about, beside the published ones: made to fit them, or not. A real disk
/// cannot be fitted.
fn role(arm: &Arm, mode: Option<Mode>) -> String {
    match (arm.published.is_empty(), arm.fitted, mode) {
        (true, _, _) => String::new(),
        (false, true, Some(Mode::Simulate | Mode::Emulate) | None) => "fitted".into(),
        (false, false, _) | (false, true, Some(Mode::Measure)) => {
            words::figures(mode).replace(" on ", " on\n")
        }
    }
}

fn cell(arm: &Arm, name: &str) -> String {
    let ours = arm.metrics.get(name).map(estimate);
    let published = arm.published.get(name).map(|published| {
        let deviation = arm
            .metrics
            .get(name)
            .and_then(|m| published.deviation(m.mean));
        let deviation = deviation.map_or_else(String::new, |d| {
            format!(" ({})", percent_signed(d).replace(' ', "\u{a0}"))
        });
        format!("\npubl. {}{deviation}", said(published))
    });
    format!(
        "{}{}",
        ours.unwrap_or_else(|| "-".into()),
        published.unwrap_or_default()
    )
}

fn estimate(metric: &Metric) -> String {
    let error = (metric.high - metric.low) / 2.0;
    Quantity {
        value: metric.mean,
        error: Some(error),
        unit: &metric.unit,
    }
    .bare()
}

fn said(published: &Published) -> String {
    match published {
        Published::Number(value) => number(*value),
        Published::Words(words) => words.clone(),
    }
}
