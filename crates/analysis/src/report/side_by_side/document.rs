//! Two results as one document: the source of tables, sentences, JSON and CSV.

use serde::{Deserialize, Serialize};

use super::both::{Arms, Both};
use crate::findings::{BoundBy, Comparison, Findings, Metric, Published, Ratio, Verdict, Withheld};
use crate::report::{cell, csv};
use table::Column;

/// The name and version of the format.
const SCHEMA: &str = "dbstow.side-by-side/1";

/// The document that `report A B --format json` prints (`schema/side-by-side.schema.json`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// `dbstow.side-by-side/1`.
    pub schema: String,
    /// The metric that the two are compared by.
    pub metric: String,
    /// The first result.
    pub first: Side,
    /// The second.
    pub second: Side,
    /// The arms that both have, with the metric, in the order of the first.
    pub arms: Vec<Pair>,
    /// The verdicts of each result, where both compare the same two arms.
    pub comparisons: Vec<Verdicts>,
    /// What limited the arms that both have.
    pub bounds: Vec<Bounds>,
    /// What to know before relying on it.
    pub cautions: Vec<String>,
}

/// One of the two results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Side {
    /// Its name in this report.
    pub name: String,
    /// Its experiment.
    pub experiment: String,
    /// `simulate`, `emulate` or `measure`.
    pub mode: String,
    /// Ids of its warnings.
    pub warnings: Vec<String>,
}

/// An arm in both results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// Its name.
    pub arm: String,
    /// What was published elsewhere.
    pub published: Option<Published>,
    /// The metric in the first result.
    pub first: Metric,
    /// In the second.
    pub second: Metric,
    /// Second / first.
    pub ratio: f64,
    /// Whether the two intervals have values in common; `None` where a result has a single trial.
    pub intervals: Option<Intervals>,
}

/// How two intervals lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Intervals {
    /// They do not overlap.
    Apart,
    /// They overlap.
    Overlap,
}

/// A comparison that both results make.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdicts {
    /// The arm that is compared against.
    pub baseline: String,
    /// The arm that is compared.
    pub candidate: String,
    /// The first result's verdict.
    pub first: Said,
    /// The second result's verdict.
    pub second: Said,
}

/// A comparison as one result has it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Said {
    /// The verdict.
    pub verdict: Verdict,
    /// Candidate / baseline.
    pub ratio: Ratio,
    /// Why a verdict is withheld, regardless of the blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld: Option<Withheld>,
}

/// What limited an arm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// Its name.
    pub arm: String,
    /// In the first result.
    pub first: BoundBy,
    /// In the second.
    pub second: BoundBy,
}

impl Document {
    pub(super) fn of(both: &Both, metric: &str) -> Document {
        let [first, second] = &both.names;
        Document {
            schema: SCHEMA.to_owned(),
            metric: metric.to_owned(),
            first: side(first, both.before),
            second: side(second, both.after),
            arms: both.arms().filter_map(|arms| pair(arms, metric)).collect(),
            comparisons: comparisons(both, metric),
            bounds: both.arms().map(bounds).collect(),
            cautions: both.cautions(),
        }
    }

    /// Indented, with a line feed at its end.
    pub(super) fn json(&self) -> String {
        let text = serde_json::to_string_pretty(self);
        text.expect("its keys are texts, and what is not a number becomes null") + "\n"
    }

    /// One row per arm, under a header.
    pub(super) fn csv(&self) -> String {
        type Row<'a> = &'a Pair;
        let columns = [
            Column::csv_only("arm", |pair: &Row| pair.arm.clone()),
            Column::csv_only("metric", |_: &Row| self.metric.clone()),
            Column::csv_only("unit", |pair: &Row| pair.first.unit.clone()),
            Column::csv_only("published", |pair: &Row| {
                pair.published.as_ref().map(cell::published)
            }),
            Column::csv_only("first", |pair: &Row| pair.first.mean),
            Column::csv_only("first_low", |pair: &Row| pair.first.low),
            Column::csv_only("first_high", |pair: &Row| pair.first.high),
            Column::csv_only("second", |pair: &Row| pair.second.mean),
            Column::csv_only("second_low", |pair: &Row| pair.second.low),
            Column::csv_only("second_high", |pair: &Row| pair.second.high),
            Column::csv_only("ratio", |pair: &Row| pair.ratio),
            Column::csv_only("intervals", |pair: &Row| {
                pair.intervals.map(Intervals::name)
            }),
        ];
        let rows: Vec<&Pair> = self.arms.iter().collect();
        csv::table(&rows, columns.into())
    }
}

impl Intervals {
    pub(super) fn name(self) -> &'static str {
        match self {
            Intervals::Apart => "apart",
            Intervals::Overlap => "overlap",
        }
    }
}

fn side(name: &str, findings: &Findings) -> Side {
    let warnings = findings.warnings.iter();
    Side {
        name: name.to_owned(),
        experiment: findings.experiment.clone(),
        mode: findings.mode.clone(),
        warnings: warnings.map(|warning| warning.id.clone()).collect(),
    }
}

fn pair((arm, other): Arms, metric: &str) -> Option<Pair> {
    let first = arm.metrics.get(metric)?.clone();
    let second = other.metrics.get(metric)?.clone();
    let apart = first.high < second.low || second.high < first.low;
    let alone = first.low == first.high || second.low == second.high;
    let intervals = match (alone, apart) {
        (true, _) => None,
        (false, true) => Some(Intervals::Apart),
        (false, false) => Some(Intervals::Overlap),
    };
    Some(Pair {
        arm: arm.name.clone(),
        published: arm.published.get(metric).cloned(),
        ratio: second.mean / first.mean,
        first,
        second,
        intervals,
    })
}

/// The verdicts of each result among the placements: these should agree even where single figures do not.
fn comparisons(both: &Both, metric: &str) -> Vec<Verdicts> {
    let firsts = both.before.comparisons.iter();
    let firsts = firsts.filter(|first| first.metric == metric);
    let verdicts = firsts.filter_map(|first| {
        let same = |second: &&Comparison| {
            (&second.baseline, &second.candidate) == (&first.baseline, &first.candidate)
                && second.metric == first.metric
        };
        let second = both.after.comparisons.iter().find(same)?;
        Some(Verdicts {
            baseline: first.baseline.clone(),
            candidate: first.candidate.clone(),
            first: said(first),
            second: said(second),
        })
    });
    verdicts.collect()
}

fn said(comparison: &Comparison) -> Said {
    Said {
        verdict: comparison.verdict,
        ratio: comparison.ratio,
        withheld: comparison.withheld,
    }
}

fn bounds((arm, other): Arms) -> Bounds {
    Bounds {
        arm: arm.name.clone(),
        first: arm.bound_by.clone(),
        second: other.bound_by.clone(),
    }
}
