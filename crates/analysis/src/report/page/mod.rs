//! Findings as one self-contained HTML file: what a DBA forwards to those who pay for the disks.
//!
//! ```text
//! Findings ──sections, bars, boxes──template──┐
//! Curves ──JSON, drawn as it is───────────────┼──> page
//! Plan ──how to repeat it─────────────────────┘
//! ```
//!
//! Charts are drawn by uPlot (<https://github.com/leeoniya/uPlot>, MIT), made for time series and small (51 kB). It is vendored in
//! `vendor/uplot`, because a build must not need the network; `make vendor` checks its digest. Bars and boxes are plain HTML:
//! they print, scale, and work with screen readers. The page's own policy forbids any request.

mod layout;
pub(super) mod policy;
mod rank;
mod tables;

use askama::Template;

use rank::Ranked;

use super::section::{Item, Kind, Section, sections};
use super::time::{self, Part};
use super::{environment, words};
use crate::findings::{Arm, Curves, Findings};
use experiment::plan::Plan;
use experiment::spec::Mode;
use table::Table;

pub(super) const UPLOT_STYLE: &str = include_str!("../../../vendor/uplot/uPlot.min.css");
pub(super) const UPLOT: &str = include_str!("../../../vendor/uplot/uPlot.iife.min.js");
pub(super) const STYLE: &str = include_str!("../../../templates/page.css");
/// Script code shared by all pages with charts.
pub(super) const CHARTS: &str = include_str!("../../../templates/charts.js");
const SCRIPT: &str = include_str!("../../../templates/page.js");

/// Number of causes named for a placement's time.
const CAUSES_MAX: usize = 8;

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
    version: &'static str,
    /// Version of dbstow that made the plan.
    planned_by: &'a str,
    mode: String,
    facts: Vec<(&'static str, String)>,
    no_verdict: &'static str,
    shown: Sections,
    /// The placements in order, and those that are folded away.
    placements: [(Table, Vec<&'a Arm>); 2],
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
    uplot_style: &'static str,
    uplot: &'static str,
    charts: &'static str,
    style: &'static str,
    script: &'static str,
}

/// The sections that a page shows unchanged, each in its place.
#[derive(Default)]
struct Sections {
    cautions: Vec<Item>,
    placements: Table,
    processes: Table,
    verdicts: Vec<Item>,
    /// What to buy, and the noise floor.
    besides: Vec<Item>,
    why: Vec<Item>,
    fitted: Vec<Item>,
    warnings: Vec<Item>,
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
    let ranked = Ranked::of(findings);
    let shown = Sections::of(findings, &ranked.order());
    let page = Page {
        findings,
        version: env!("CARGO_PKG_VERSION"),
        planned_by: &plan.version,
        mode: mode(findings),
        facts: facts(findings, when),
        no_verdict: no_verdict(findings),
        placements: [&ranked.shown, &ranked.folded].map(|places| {
            let arms = places.iter().map(|at| &findings.arms[*at]);
            (of_rows(&shown.placements, places), arms.collect())
        }),
        shown,
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
        uplot_style: UPLOT_STYLE,
        uplot: UPLOT,
        charts: CHARTS,
        style: STYLE,
        script: SCRIPT,
    };
    page.render()
        .expect("the template asks for nothing that can fail")
}

impl Sections {
    /// The verdicts in the order of their candidates.
    fn of(findings: &Findings, order: &[usize]) -> Sections {
        let mut shown = Sections::default();
        for section in sections(findings) {
            match section {
                Section::Cautions(items) => shown.cautions = items,
                Section::Placements(table) => shown.placements = table,
                Section::Answers(items) => {
                    let verdict = |item: &Item| matches!(item.kind, Kind::Verdict(_));
                    (shown.verdicts, shown.besides) = items.into_iter().partition(verdict);
                }
                Section::Why(items) => shown.why = items,
                Section::Processes(table) => shown.processes = table,
                Section::Fitted(items) => shown.fitted = items,
                Section::Warnings(items) => shown.warnings = items,
                // Drawn, as bars and boxes.
                Section::Time(_) | Section::Disks(_) => {}
            }
        }
        let rank = |name: &str| order.iter().position(|at| findings.arms[*at].name == name);
        let candidates = findings.comparisons.iter();
        let ranks: Vec<_> = candidates
            .map(|comparison| rank(&comparison.candidate))
            .collect();
        let mut ranked: Vec<_> = ranks.into_iter().zip(shown.verdicts).collect();
        ranked.sort_by_key(|(rank, _)| *rank);
        shown.verdicts = ranked.into_iter().map(|(_, verdict)| verdict).collect();
        shown
    }
}

/// The mode, and what its figures mean.
fn mode(findings: &Findings) -> String {
    format!(
        "{}: {}",
        findings.mode,
        match findings.mode() {
            Some(Mode::Simulate) => "predicted by a model, in virtual time",
            Some(Mode::Emulate) => "a real engine on modelled disks",
            Some(Mode::Measure) => "a real engine on real disks",
            None => "a mode that this version does not know",
        }
    )
}

/// The text below the question.
fn facts(findings: &Findings, when: Option<&str>) -> Vec<(&'static str, String)> {
    let seeded = format!("{}, seed {}", words::blocks(findings.blocks), findings.seed);
    let facts = [
        ("experiment", Some(findings.experiment.clone())),
        ("mode", Some(mode(findings))),
        ("repeated", Some(seeded)),
        ("finished", when.map(str::to_owned)),
    ];
    let known = facts.into_iter();
    known
        .filter_map(|(name, fact)| Some((name, fact?)))
        .chain(environment::facts(findings))
        .collect()
}

/// The text shown where there is no verdict.
fn no_verdict(findings: &Findings) -> &'static str {
    match findings.arms.iter().filter(|arm| arm.trials > 0).count() {
        0 => "No answer: no trial finished.",
        1 => "One placement alone: nothing to compare it with.",
        _ => "No answer: no block has finished trials of two placements.",
    }
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
