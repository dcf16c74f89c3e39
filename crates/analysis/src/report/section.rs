//! The sections of a report, in the order of a DBA's questions: the results, beside published ones; whether they differ;
//! why; what the disks did; how far to trust it all.

use super::{arms, disks, processes, sentence, time, words};
use crate::findings::{Arm, Comparison, Findings, Verdict, Warning};
use experiment::spec::Mode;
use table::Table;

/// A part of a report. Text and Markdown show all of them alike; a page draws some as bars and boxes.
pub(super) enum Section {
    /// Warnings that limit the rest.
    Cautions(Vec<Item>),
    /// The results.
    Placements(Table),
    /// Which is better, which to buy, and the noise floor.
    Answers(Vec<Item>),
    /// What bound each placement.
    Why(Vec<Item>),
    /// Where the sessions' time went.
    Time(Table),
    /// What the disks did.
    Disks(Table),
    /// Which processes of the server read and wrote.
    Processes(Table),
    /// What was fitted to published figures.
    Fitted(Vec<Item>),
    /// How far to trust it.
    Warnings(Vec<Item>),
}

/// The content of a section.
pub(super) enum Body<'a> {
    Table(&'a Table),
    /// Items under a title, which may be empty.
    List(&'static str, &'a [Item]),
}

/// A sentence.
pub(super) struct Item {
    pub(super) kind: Kind,
    /// Its subject, where that is printed before it.
    pub(super) about: String,
    pub(super) text: String,
}

/// The kind of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A comparison's verdict.
    Verdict(Verdict),
    Price,
    Point,
    /// A note to the item above.
    Remark,
    Warning,
}

/// All sections that have content.
pub(super) fn sections(findings: &Findings) -> Vec<Section> {
    let (cautions, warnings) = findings.warnings_by_weight();
    let sections = [
        Section::Cautions(items(&cautions)),
        Section::Placements(arms::table(findings)),
        Section::Answers(answers(findings)),
        Section::Why(why(findings)),
        Section::Time(time::table(findings)),
        Section::Disks(disks::table(findings)),
        Section::Processes(processes::table(findings)),
        Section::Fitted(fitted(findings)),
        Section::Warnings(items(&warnings)),
    ];
    let shown = |section: &Section| match section.body() {
        Body::Table(table) => !table.rows.is_empty(),
        Body::List(_, items) => !items.is_empty(),
    };
    sections.into_iter().filter(shown).collect()
}

impl Section {
    /// What to render.
    pub(super) fn body(&self) -> Body<'_> {
        match self {
            Section::Placements(table)
            | Section::Time(table)
            | Section::Disks(table)
            | Section::Processes(table) => Body::Table(table),
            Section::Cautions(items) => Body::List("Read first", items),
            Section::Answers(items) => Body::List("", items),
            Section::Why(items) => Body::List("Why", items),
            Section::Fitted(items) => Body::List("Fitted to published figures", items),
            Section::Warnings(items) => Body::List("Warnings", items),
        }
    }
}

impl Item {
    fn new(kind: Kind, about: impl Into<String>, text: impl Into<String>) -> Item {
        Item {
            kind,
            about: about.into(),
            text: text.into(),
        }
    }
}

fn answers(findings: &Findings) -> Vec<Item> {
    let verdict = |comparison: &Comparison| {
        let kind = Kind::Verdict(comparison.verdict);
        Item::new(kind, "", sentence::verdict(comparison))
    };
    let verdicts = findings.comparisons.iter().map(verdict);
    let stops = findings.stops_helping.iter().map(sentence::stops_helping);
    let prices = findings.cheapest.iter().map(sentence::cheapest);
    let agreement = findings.agreement.iter();
    let agreement = agreement.map(sentence::agreement);
    let floor = findings.noise_floor.iter().map(sentence::noise_floor);
    let drilled = findings.arms.iter().filter_map(sentence::survived);
    let item = |kind| move |text| Item::new(kind, "", text);
    verdicts
        .chain(stops.map(item(Kind::Remark)))
        .chain(prices.map(item(Kind::Price)))
        .chain(agreement.map(item(Kind::Remark)))
        .chain(floor.map(item(Kind::Remark)))
        .chain(drilled.map(item(Kind::Remark)))
        .collect()
}

/// The reasons; arms with the same reason together.
fn why(findings: &Findings) -> Vec<Item> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for arm in &findings.arms {
        match reasons.iter_mut().find(|(reason, _)| *reason == arm.reason) {
            Some((_, arms)) => arms.push(&arm.name),
            None => reasons.push((&arm.reason, vec![&arm.name])),
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

fn items(warnings: &[&Warning]) -> Vec<Item> {
    warnings
        .iter()
        .map(|warning| Item::new(Kind::Warning, &*warning.id, &*warning.text))
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
