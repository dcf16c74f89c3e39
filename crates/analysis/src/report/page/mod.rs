//! Findings as one HTML file that needs nothing else: what a DBA forwards to who pays for the disks.
//!
//! ```text
//! Findings ──view──> strings ──template──┐
//! Curves ──JSON, drawn as it is──────────┼──> page
//! Plan ──how to repeat it────────────────┘
//! ```
//!
//! Charts are uPlot's (<https://github.com/leeoniya/uPlot>, MIT), which stands in `vendor/uplot`.

mod layout;
pub(super) mod policy;
mod tables;

use askama::Template;

use super::placements::{self, Placements};
use super::{place, sentence, split, words};
use crate::findings::{Arm, Curves, Findings, Warning};
use experiment::plan::Plan;
use experiment::spec::Mode;
use layout::Layout;
use tables::Sheet;

const UPLOT_STYLE: &str = include_str!("../../../vendor/uplot/uPlot.min.css");
const UPLOT: &str = include_str!("../../../vendor/uplot/uPlot.iife.min.js");
const STYLE: &str = include_str!("../../../templates/page.css");
const SCRIPT: &str = include_str!("../../../templates/page.js");

/// Causes of a placement's time that are named.
const CAUSES_MAX: usize = 8;

/// Share from which a part of a bar has room for its percentage.
const WIDE: f64 = 0.05;

/// All that a page is made from.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    /// What was found.
    pub findings: &'a Findings,
    /// What is drawn over an axis.
    pub curves: &'a Curves,
    /// What was planned.
    pub plan: &'a Plan,
    /// When the last trial ended, in words; `None` where nobody knows.
    pub when: Option<&'a str>,
}

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    findings: &'a Findings,
    version: &'static str,
    /// Version of the program that made the plan.
    planned_by: &'a str,
    mode: String,
    facts: Vec<(&'static str, String)>,
    answers: Vec<String>,
    noise_floor: Option<String>,
    cheapest: Vec<String>,
    reasons: Vec<(String, &'a str)>,
    placements: Placements<'a>,
    legend: String,
    bars: Vec<Bar<'a>>,
    layouts: Vec<Layout<'a>>,
    series_block: Option<u32>,
    sheets: Vec<Sheet>,
    warnings: &'a [Warning],
    command: String,
    plan: String,
    environment: Vec<(&'a String, &'a String)>,
    data: String,
    policy: String,
    uplot_style: &'static str,
    uplot: &'static str,
    style: &'static str,
    script: &'static str,
}

/// Where a placement's time went.
struct Bar<'a> {
    arm: &'a str,
    parts: Vec<BarPart>,
}

struct BarPart {
    /// Class of its colour.
    family: &'static str,
    /// In percent, for the drawing.
    width: String,
    /// Whether there is room for a text in it.
    wide: bool,
    percent: String,
    words: String,
}

/// The whole page.
pub fn render(parts: Parts) -> String {
    let Parts {
        findings,
        curves,
        plan,
        when,
    } = parts;
    let page = Page {
        findings,
        version: env!("CARGO_PKG_VERSION"),
        planned_by: &plan.version,
        mode: mode(findings),
        facts: facts(findings, when),
        answers: answers(findings),
        noise_floor: findings.noise_floor.as_ref().map(sentence::noise_floor),
        cheapest: findings.cheapest.iter().map(sentence::cheapest).collect(),
        reasons: words::reasons(findings),
        placements: Placements::of(findings),
        legend: placements::legend(findings),
        bars: findings.arms.iter().filter_map(bar).collect(),
        layouts: findings.arms.iter().map(Layout::of).collect(),
        series_block: curves.block.map(|block| block + 1),
        sheets: tables::of(findings, curves),
        warnings: &findings.warnings,
        command: plan.command(),
        plan: plan.describe(),
        environment: findings.environment.iter().collect(),
        data: data(findings, curves),
        policy: policy::of(&[UPLOT_STYLE, STYLE], &[UPLOT, SCRIPT]),
        uplot_style: UPLOT_STYLE,
        uplot: UPLOT,
        style: STYLE,
        script: SCRIPT,
    };
    page.render()
        .expect("the template asks for nothing that can fail")
}

/// The mode, and what its figures are.
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

/// What stands under the question.
fn facts(findings: &Findings, when: Option<&str>) -> Vec<(&'static str, String)> {
    let engine = findings.engine.as_ref();
    let facts = [
        ("Experiment", Some(findings.experiment.clone())),
        ("Mode", Some(mode(findings))),
        (
            "Engine",
            engine.map(|engine| format!("{} {}", engine.name, engine.version)),
        ),
        (
            "A “file” is",
            engine
                .map(|engine| engine.file.clone())
                .filter(|file| !file.is_empty()),
        ),
        ("Machine", place::machine(findings)),
        ("Volumes", place::volumes(findings)),
        (
            "Time kept",
            findings.lateness.as_ref().map(place::time_kept),
        ),
        ("Finished", when.map(str::to_owned)),
        (
            "Repeated",
            Some(format!(
                "{}, seed {}",
                words::blocks(findings.blocks),
                findings.seed
            )),
        ),
        ("Published", findings.source.clone()),
    ];
    facts
        .into_iter()
        .filter_map(|(name, fact)| Some((name, fact?)))
        .collect()
}

/// A verdict for each comparison; what to do where there is none.
fn answers(findings: &Findings) -> Vec<String> {
    if findings.comparisons.is_empty() {
        let arms = findings.arms.iter().filter(|arm| arm.trials > 0).count();
        return vec![match arms {
            0 => "No answer: no trial finished.".to_owned(),
            1 => "One placement alone: nothing to compare it with.".to_owned(),
            _ => "No answer: no block has finished trials of two placements.".to_owned(),
        }];
    }
    let comparisons = findings.comparisons.iter();
    comparisons.map(sentence::verdict).collect()
}

fn bar(arm: &Arm) -> Option<Bar<'_>> {
    let parts = split::parts(arm, CAUSES_MAX);
    let parts: Vec<BarPart> = parts
        .into_iter()
        .map(|part| BarPart {
            family: part.cause.as_ref().map_or("other", words::family),
            width: format!("{:.2}", part.share * 100.0),
            wide: part.share >= WIDE,
            percent: part.percent,
            words: part.words,
        })
        .collect();
    (!parts.is_empty()).then(|| Bar {
        arm: &arm.name,
        parts,
    })
}

/// What the script draws. Nothing in it can end the element that it stands in.
fn data(findings: &Findings, curves: &Curves) -> String {
    let arms: Vec<&str> = findings.arms.iter().map(|arm| arm.name.as_str()).collect();
    let data = serde_json::json!({ "arms": arms, "curves": curves });
    data.to_string().replace('<', "\\u003c")
}
