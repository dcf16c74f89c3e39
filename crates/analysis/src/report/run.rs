//! The report on a run, in the order of a DBA's questions: which is better; the results, beside published ones; why; how
//! far to trust it; then what the disks did, and where it all ran.

use super::rank::{Ranked, order};
use super::section::{Body, Item, Kind, Place, Report};
use super::{arms, disks, environment, processes, sentence, time, words};
use crate::findings::{Arm, Comparison, Findings, Warning, without_next};
use experiment::spec::Mode;

/// Number of verdicts among the answers; with more arms, those of the best.
const VERDICTS_MAX: usize = 3;
/// Number of other answers: what to buy, and where more stops helping.
const OTHERS_MAX: usize = 2;
/// Number of reasons on a screen.
const REASONS_MAX: usize = 5;
/// Number of warnings on a screen.
const WARNINGS_MAX: usize = 3;
/// Up to this many placements are all on a screen.
const ROWS_MAX: usize = 8;

/// A warning at every run in virtual time, which the note on intervals says in its own words.
const OF_EVERY_RUN: &str = "model-chance";

/// The report on `findings`.
pub fn report(findings: &Findings) -> Report {
    let mut facts = vec![("run", run(findings))];
    facts.extend(environment::asked(findings));
    let all = answers(findings);
    let mut report = Report {
        title: findings.question.clone(),
        answer: answer(findings, &all),
        facts,
        ..Report::default()
    };
    let ranked = Ranked::of(findings, ROWS_MAX);
    let table = Body::Table;
    let full = Place::Full;
    let screen = Place::Screen;
    report.add(
        "placements",
        "",
        Place::Short(ROWS_MAX),
        table(arms::brief(findings, &ranked)),
    );
    report.add("placements", "", full, table(arms::table(findings)));
    let short = Body::List(why(findings, &ranked, without_next));
    report.add("why", "", Place::Short(REASONS_MAX), short);
    let why = Body::List(why(findings, &ranked, str::to_owned));
    report.add("why", "Why", full, why);
    let warnings = Body::List(warnings(findings));
    report.add("warnings", "Read first", screen(WARNINGS_MAX), warnings);
    if all.iter().any(|item| !report.answer.contains(item)) {
        report.add("answers", "All answers", full, Body::List(all));
    }
    report.add("time", "", full, table(time::table(findings)));
    report.add("layout", "", full, table(disks::table(findings)));
    report.add("processes", "", full, table(processes::table(findings)));
    let fitted = Body::List(fitted(findings));
    report.add("fitted", "Fitted to published figures", full, fitted);
    let ran = Body::Facts(environment::ran(findings));
    report.add("environment", "Where it ran", full, ran);
    report
}

/// The experiment, and how it was run.
fn run(findings: &Findings) -> String {
    let engine = findings.engine.as_ref();
    let engine = engine.map_or_else(String::new, |engine| {
        format!(", {} {}", engine.name, engine.version)
    });
    format!(
        "{}: {}{engine}, {}, seed {}",
        findings.experiment,
        mode(findings),
        words::blocks(findings.blocks),
        findings.seed
    )
}

/// The mode, and what its figures mean.
pub(super) fn mode(findings: &Findings) -> String {
    let means = match findings.mode() {
        Some(Mode::Simulate) => "predicted by a model, in virtual time",
        Some(Mode::Emulate) => "a real engine on modelled disks",
        Some(Mode::Measure) => "a real engine on real disks",
        None => "a mode that this version does not know",
    };
    format!("{} ({means})", findings.mode)
}

/// The verdicts of the best arms, what to buy, and where more stops helping; or why there is no verdict.
fn answer(findings: &Findings, all: &[Item]) -> Vec<Item> {
    let mut verdicts: Vec<&Comparison> = findings.comparisons.iter().collect();
    if verdicts.is_empty() {
        return Item::all(Kind::Point, [no_verdict(findings)]);
    }
    if verdicts.len() > VERDICTS_MAX {
        let order = order(findings);
        let rank = |name: &str| order.iter().position(|at| findings.arms[*at].name == name);
        verdicts.sort_by_key(|comparison| rank(&comparison.candidate));
        verdicts.truncate(VERDICTS_MAX);
    }
    let others = all.iter().skip(findings.comparisons.len());
    let verdicts = verdicts.into_iter().map(verdict);
    verdicts.chain(others.take(OTHERS_MAX).cloned()).collect()
}

/// The text shown where there is no verdict.
fn no_verdict(findings: &Findings) -> &'static str {
    match findings.arms.iter().filter(|arm| arm.trials > 0).count() {
        0 => "No answer: no trial finished.",
        1 => "One placement alone: nothing to compare it with.",
        _ => "No answer: no block has finished trials of two placements.",
    }
}

fn verdict(comparison: &Comparison) -> Item {
    Item::new(
        Kind::Verdict(comparison.verdict),
        "",
        sentence::verdict(comparison),
    )
}

/// All verdicts, then everything else that answers something.
fn answers(findings: &Findings) -> Vec<Item> {
    let verdicts = findings.comparisons.iter().map(verdict);
    let stops = findings.stops_helping.iter().map(sentence::stops_helping);
    let prices = findings.cheapest.iter().map(sentence::cheapest);
    let agreement = findings.agreement.iter().map(sentence::agreement);
    let floor = findings.noise_floor.iter().map(sentence::noise_floor);
    let drilled = findings.arms.iter().filter_map(sentence::survived);
    let item = |kind| move |text| Item::new(kind, "", text);
    verdicts
        .chain(prices.map(item(Kind::Price)))
        .chain(stops.map(item(Kind::Remark)))
        .chain(floor.map(item(Kind::Remark)))
        .chain(drilled.map(item(Kind::Remark)))
        .chain(agreement.map(item(Kind::Remark)))
        .collect()
}

/// The reasons as `shown`, in the order of the table; arms with the same reason together.
fn why(findings: &Findings, ranked: &Ranked, shown: fn(&str) -> String) -> Vec<Item> {
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for arm in ranked.order().into_iter().map(|at| &findings.arms[at]) {
        let reason = shown(&arm.reason);
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, arms)) => arms.push(&arm.name),
            None => reasons.push((reason, vec![&arm.name])),
        }
    }
    let reasons = reasons.into_iter();
    reasons
        .map(|(reason, arms)| Item::new(Kind::Point, named(&arms), reason))
        .collect()
}

/// Number of names listed before a reason.
const NAMES_MAX: usize = 8;

/// `one, two, three`; of many the first ones, and the number of the rest.
fn named(arms: &[&str]) -> String {
    match arms.len() {
        0..=NAMES_MAX => arms.join(", "),
        all => format!(
            "{} and {} more",
            arms[..NAMES_MAX].join(", "),
            all - NAMES_MAX
        ),
    }
}

/// What to know before relying on it, the worst first.
fn warnings(findings: &Findings) -> Vec<Item> {
    let (cautions, warnings) = findings.warnings_by_weight();
    let item = |kind| move |warning: &Warning| Item::new(kind, &*warning.id, &*warning.text);
    let cautions = cautions.into_iter().map(item(Kind::Caution));
    let warnings = warnings.into_iter();
    let warnings = warnings.filter(|warning| warning.id != OF_EVERY_RUN);
    cautions.chain(warnings.map(item(Kind::Warning))).collect()
}

/// Nothing of a real disk is fitted.
fn fitted(findings: &Findings) -> Vec<Item> {
    if findings.fitted.is_empty() || findings.mode() == Some(Mode::Measure) {
        return Vec::new();
    }
    let parameters = findings.fitted.iter().map(|fitted| {
        let to = fitted.to.join(", ");
        let text = format!("{} = {} (to {to})", fitted.parameter, fitted.value);
        Item::new(Kind::Point, "", text)
    });
    let rows = |how: &str, fitted: bool| {
        let compared = |arm: &&Arm| !arm.published.is_empty() && arm.fitted == fitted;
        let arms = findings.arms.iter().filter(compared);
        let arms: Vec<&str> = arms.map(|arm| arm.name.as_str()).collect();
        let arms = match arms.is_empty() {
            true => "none".to_owned(),
            false => arms.join(", "),
        };
        Item::new(Kind::Remark, format!("rows {how}"), arms)
    };
    let figures = words::figures(findings.mode());
    parameters
        .chain([rows("used to fit", true), rows(figures, false)])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_arms_with_one_reason_the_first_are_named() {
        let arms = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];

        assert_eq!(named(&arms[..8]), "a, b, c, d, e, f, g, h");
        assert_eq!(named(&arms), "a, b, c, d, e, f, g, h and 2 more");
    }
}
