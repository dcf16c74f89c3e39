//! `dbstow run --profile .. --today ..`: compares a profile with replays on its server's current disks.

use std::cell::Cell;
use std::rc::Rc;

use analysis::report::backtest::{json, misfit, report};
use analysis::report::profile::part;
use anyhow::Result;
use replay::BackTest;

use super::listing::ListFormat;
use super::output::{note, print_whole, width};
use super::progress::Progress;
use super::request::report_idle;
use super::{ExpectationFailed, UsageError};
use catalogue::Catalogue;
use engine::Options;
use experiment::plan::Plan;
use lab::Prepared;
use lab::request::ResolvedRun;
use lab::trial::Cancel;

/// Steps of the progress bar.
const STEPS: u64 = 500;

/// Replays a profile on its server's current layout, prints recorded beside simulated figures, and stops where they
/// differ too much.
///
/// # Errors
/// When the layout or the profile is invalid, or, unless `untested`, the profile does not fit.
pub(super) fn run(
    layout: &ResolvedRun,
    today: Option<&str>,
    format: ListFormat,
    untested: bool,
) -> Result<Recorded> {
    let recorded = Recorded::new(layout, today)?;
    let backtest = &recorded.backtest;
    match format {
        ListFormat::Text => print_whole(&report(backtest))?,
        ListFormat::Json => super::print_json(&json(backtest))?,
    }
    judge(backtest, untested)?;
    Ok(recorded)
}

/// The same, but prints nothing on standard output.
///
/// # Errors
/// As [`run`].
pub(super) fn quietly(
    layout: &ResolvedRun,
    today: Option<&str>,
    untested: bool,
) -> Result<Recorded> {
    let recorded = Recorded::new(layout, today)?;
    if let Some(caveat) = recorded.backtest.caveat() {
        note(&format!(
            "dbstow: the rate of the back-test fits, and a detail does not: {caveat}"
        ));
    }
    judge(&recorded.backtest, untested)?;
    Ok(recorded)
}

/// A back-test, and what it found of disks.
pub(super) struct Recorded {
    backtest: BackTest,
    /// Names of the disks of today's volumes.
    disks: Vec<String>,
    /// The catalogue, with latencies as they were recorded.
    catalogue: Catalogue,
}

impl Recorded {
    fn new(layout: &ResolvedRun, today: Option<&str>) -> Result<Recorded> {
        let prepared = prepared(layout, today)?;
        for text in prepared.notes() {
            note(&format!("dbstow: {text}"));
        }
        let backtest = of(&prepared)?;
        let (_, stage, recording) = prepared.first();
        if let Some(kept) = recording.and_then(|recording| part(&recording.profile)) {
            note(&format!("dbstow: {kept}"));
        }
        let mut catalogue = layout.inventory.catalogue.clone();
        advise::teach(&backtest, &stage.disks, &mut catalogue);
        Ok(Recorded {
            backtest,
            disks: stage.disks.clone(),
            catalogue,
        })
    }

    /// Keys that give the volumes of `plan` the latencies that were recorded; prints them.
    pub(super) fn keys(&self, plan: &Plan) -> Vec<(String, String)> {
        let (keys, notes) =
            advise::keys_of_plan(plan, &self.backtest, &self.disks, &self.catalogue);
        let as_recorded = keys
            .iter()
            .map(|(key, value)| format!("as recorded: {key} = {value}"));
        for text in notes.into_iter().chain(as_recorded) {
            note(&format!("dbstow: {text}"));
        }
        keys
    }
}

/// The layout of the file `today`, with everything resolved; it has one placement.
///
/// # Errors
/// When it has several, or is invalid.
pub(super) fn prepared(layout: &ResolvedRun, today: Option<&str>) -> Result<Prepared> {
    let ResolvedRun {
        inventory,
        plan,
        idle,
    } = layout;
    let names: Vec<&str> = plan.arms.iter().map(|arm| arm.name.as_str()).collect();
    if names.len() != 1 {
        let message = format!(
            "{}the layout has {} arms ({}), and a server has one placement of its files; keep that one",
            today.map_or_else(String::new, |file| format!("--today {file}: ")),
            names.len(),
            names.join(", ")
        );
        return Err(UsageError(message).into());
    }
    let prepared = Prepared::new(plan, inventory, &Options::default())?;
    report_idle(idle);
    Ok(prepared)
}

/// The profile compared with replays on its layout.
///
/// # Errors
/// When a replay does not complete.
pub(super) fn of(prepared: &Prepared) -> Result<BackTest> {
    let progress = Progress::new(STEPS, "back-test {wide_bar}");
    let shown = Cell::new(0);
    let report = |done: f64| {
        let now = (done * STEPS as f64) as u64;
        progress.step(now.saturating_sub(shown.replace(now)));
    };
    // There is nothing to clean up: Ctrl-C ends the program.
    let never = Rc::new(|| false) as Cancel;
    let backtest = prepared.backtest(&never, &report);
    progress.end();
    let backtest = backtest.map_err(|error| UsageError(format!("the back-test: {error}")))?;
    Ok(backtest)
}

/// Refuses to continue with a profile that does not fit; a detail that is off is a caveat.
///
/// # Errors
/// When it does not, unless `untested`.
fn judge(backtest: &BackTest, untested: bool) -> Result<()> {
    let Some(reasons) = misfit(backtest) else {
        return Ok(());
    };
    let reasons = reasons.iter().map(|reason| width().wrapped("- ", reason));
    let reasons: String = reasons.collect();
    let message = |remedy: &str| {
        let reasons = reasons.trim_end();
        format!("the profile does not fit this layout{remedy}:\n{reasons}")
    };
    if untested {
        note(&format!("dbstow: {}", message("")));
        return Ok(());
    }
    Err(ExpectationFailed(message(" (--untested continues all the same)")).into())
}

/// The same; a text also shows the figures of what is refused.
///
/// # Errors
/// As [`judge`].
pub(super) fn judge_printed(backtest: &BackTest, untested: bool, format: ListFormat) -> Result<()> {
    let judged = judge(backtest, untested);
    if judged.is_err() && format == ListFormat::Text {
        print_whole(&report(backtest))?;
    }
    judged
}
