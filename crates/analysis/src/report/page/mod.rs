//! Findings as one self-contained HTML file: what a DBA forwards to those who pay for the disks.
//!
//! ```text
//! Findings ──report, bars, boxes────template──┐
//! Curves ──JSON, drawn as it is───────────────┼──> page
//! Plan ──how to repeat it─────────────────────┘
//! ```
//!
//! Charts are drawn by uPlot (<https://github.com/leeoniya/uPlot>, MIT), made for time series and small (51 kB). It is vendored in
//! `vendor/uplot`, because a build must not need the network; `make vendor` checks its digest. Bars and boxes are plain HTML:
//! they print, scale, and work with screen readers. The page's own policy forbids any request.

pub mod any;
pub mod application;
mod layout;
pub(in crate::report) mod policy;
mod tables;

use askama::Template;

use super::rank::Ranked;
use super::section::{Kind, Report};
use super::time::{self, Part};
use super::{environment, run};
use crate::findings::{Arm, Curves, Findings};
use experiment::plan::Plan;
use table::Table;

pub(super) const UPLOT_STYLE: &str = include_str!("../../../vendor/uplot/uPlot.min.css");
pub(super) const UPLOT: &str = include_str!("../../../vendor/uplot/uPlot.iife.min.js");
/// Version of dbstow that makes a page.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The style that all pages share.
pub(super) const STYLE: &str = include_str!("../../../templates/page.css");
/// Script code shared by all pages with charts.
pub(super) const CHARTS: &str = include_str!("../../../templates/charts.js");
const SCRIPT: &str = include_str!("../../../templates/page.js");

/// Number of causes named for a placement's time.
const CAUSES_MAX: usize = 8;

/// Up to this many placements are shown; of more, the best and the worst, and the others behind a fold.
const UNFOLDED_MAX: usize = 12;

/// Number of columns that fit side by side on paper; with more, each row becomes a list there.
const TURNED: usize = 6;

/// Share from which a part of a bar has room for its percentage.
const WIDE: f64 = 0.05;

/// The input of a page.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    /// What was found.
    pub findings: &'a Findings,
    /// What is drawn over an axis.
    pub curves: &'a Curves,
    /// What was planned.
    pub plan: &'a Plan,
    /// When the last trial ended, as text; `None` where unknown.
    pub when: Option<&'a str>,
}

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    findings: &'a Findings,
    /// Version of dbstow that made the plan.
    planned_by: &'a str,
    mode: String,
    report: Report,
    /// Where it ran, behind the facts of the report.
    ran: Vec<(&'static str, String)>,
    /// The placements in order, and those that are folded away.
    placements: [(Table, Vec<&'a Arm>); 2],
    /// Explains symbols of their table.
    note: String,
    /// Names the order of the placements where it is not the experiment's.
    ranked: String,
    has_limits: bool,
    has_agreement: bool,
    has_series: bool,
    has_distributions: bool,
    has_trials: bool,
    series_block: Option<u32>,
    tables: Vec<(&'a str, Table)>,
    command: String,
    plan: String,
    environment: Vec<(&'a String, &'a String)>,
    data: String,
    policy: String,
}

/// The rows at these indices.
fn of_rows(table: &Table, places: &[usize]) -> Table {
    Table {
        headings: table.headings.clone(),
        rows: places.iter().map(|at| table.rows[*at].clone()).collect(),
        note: String::new(),
    }
}

/// The whole page.
pub fn render(parts: Parts) -> String {
    let Parts {
        findings,
        curves,
        plan,
        when,
    } = parts;
    let ranked = Ranked::of(findings, UNFOLDED_MAX);
    let report = run::report(findings);
    let placements = report.table("placements").cloned().unwrap_or_default();
    let mut ran = environment::ran(findings);
    ran.extend(when.map(|when| ("finished", when.to_owned())));
    let page = Page {
        findings,
        planned_by: &plan.version,
        mode: run::mode(findings),
        ran,
        placements: [&ranked.shown, &ranked.others].map(|places| {
            let arms = places.iter().map(|at| &findings.arms[*at]);
            (of_rows(&placements, places), arms.collect())
        }),
        note: placements.note,
        report,
        has_agreement: findings
            .agreement
            .iter()
            .any(|found| !found.points.is_empty()),
        has_limits: layout::has_limits(&findings.arms),
        has_series: !curves.series.is_empty(),
        has_distributions: !curves.distributions.is_empty(),
        has_trials: curves.trials.arms.iter().any(|arm| !arm.values.is_empty()),
        series_block: curves.block.map(|block| block + 1),
        tables: tables::of(findings, curves),
        command: plan.command(),
        plan: plan.describe(),
        environment: findings.environment.iter().collect(),
        data: data(findings, curves, &ranked.order()),
        ranked: ranked.note,
        policy: policy::of(&[UPLOT_STYLE, STYLE], &[UPLOT, CHARTS, SCRIPT]),
    };
    page.render()
        .expect("the template asks for nothing that can fail")
}

/// Where a placement's time went; empty where that was not recorded.
fn bar(arm: &Arm) -> Vec<Part> {
    time::parts(arm, CAUSES_MAX)
}

/// Data that the script draws.
fn data(findings: &Findings, curves: &Curves, order: &[usize]) -> String {
    let arms: Vec<&str> = findings.arms.iter().map(|arm| arm.name.as_str()).collect();
    let data = serde_json::json!({ "arms": arms, "order": order, "curves": curves, "agreement": findings.agreement });
    embedded(&data)
}

/// Data for a script of the page, escaped so that it cannot close the element that contains it.
pub(super) fn embedded(data: &serde_json::Value) -> String {
    data.to_string().replace('<', "\\u003c")
}
