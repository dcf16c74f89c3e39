//! `dbstow run --profile .. --today ..`: compares a profile with replays on its server's current disks.

use std::cell::Cell;
use std::rc::Rc;

use anyhow::Result;
use replay::{BackTest, Figure};
use serde_json::json;

use super::listing::{self, ListFormat};
use super::output::note;
use super::progress::Progress;
use super::request::report_idle;
use super::{ExpectationFailed, UsageError};
use engine::Options;
use lab::Prepared;
use lab::request::ResolvedRun;
use lab::trial::Cancel;
use table::quantity::{self, percent_signed};

/// Steps of the progress bar.
const STEPS: u64 = 500;

/// Replays a profile on its server's current layout, prints recorded beside simulated figures, and stops where they
/// differ too much.
///
/// # Errors
/// When the layout or the profile has a mistake, or, unless `untested`, the profile does not fit.
pub(super) fn run(
    layout: &ResolvedRun,
    today: Option<&str>,
    format: ListFormat,
    untested: bool,
) -> Result<()> {
    let backtest = replayed(layout, today)?;
    format.print(&match format {
        ListFormat::Text => text(&backtest),
        ListFormat::Json => document(&backtest),
    })?;
    judge(&backtest, untested)
}

/// The same, but prints nothing.
///
/// # Errors
/// As [`run`].
pub(super) fn quietly(layout: &ResolvedRun, today: Option<&str>, untested: bool) -> Result<()> {
    judge(&replayed(layout, today)?, untested)
}

fn replayed(layout: &ResolvedRun, today: Option<&str>) -> Result<BackTest> {
    let prepared = prepared(layout, today)?;
    for text in prepared.notes() {
        note(&format!("dbstow: {text}"));
    }
    of(&prepared)
}

/// The layout of the file `today`, with everything resolved; it has one placement.
///
/// # Errors
/// When it has several, or contains a mistake.
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
    let tell = |done: f64| {
        let now = (done * STEPS as f64) as u64;
        progress.step(now.saturating_sub(shown.replace(now)));
    };
    // There is nothing to clean up: Ctrl-C ends the program.
    let never = Rc::new(|| false) as Cancel;
    let backtest = prepared.backtest(&never, &tell);
    progress.end();
    let backtest = backtest.map_err(|error| UsageError(format!("the back-test: {error}")))?;
    Ok(backtest)
}

/// Refuses to continue with a profile that does not fit.
///
/// # Errors
/// When it does not, unless `untested`.
pub(super) fn judge(backtest: &BackTest, untested: bool) -> Result<()> {
    let Some((misfit, figure)) = backtest.misfit() else {
        return Ok(());
    };
    let message = format!(
        "the profile does not fit this layout: {} is {} off; {}; {}",
        name(figure),
        percent_signed(figure.off()),
        misfit.reason(),
        misfit.remedy()
    );
    if untested {
        note(&format!("dbstow: {message}"));
        return Ok(());
    }
    Err(ExpectationFailed(format!("{message}; use --untested to continue anyway")).into())
}

/// Recorded beside simulated figures, and the verdict.
pub(super) fn text(backtest: &BackTest) -> String {
    let row = |figure: &Figure| {
        vec![
            figure.role.map_or("", reading::Role::name).to_owned(),
            figure.measure.to_string(),
            quantity::number(figure.recorded),
            quantity::number(figure.simulated),
            percent_signed(figure.off()),
            judged(figure).to_owned(),
        ]
    };
    let rows = backtest.figures.iter().map(row).collect();
    let table = listing::table(&["", "", "recorded", "simulated", "off", ""], rows);
    let verdict = match backtest.fits() {
        true => format!(
            "The profile fits this layout: no figure that sessions wait for is more than {} off.\n",
            quantity::percent(replay::OFF_MAX)
        ),
        false => String::new(),
    };
    let assumed = super::profile::bullets("Assumed:", &backtest.assumptions);
    format!(
        "Back-test: the profile on the disks that the server has\n\n{table}\n{verdict}{assumed}"
    )
}

/// The meaning of a figure.
fn judged(figure: &Figure) -> &'static str {
    match (figure.decides, figure.fits()) {
        (true, true) => "fits",
        (true, false) => "does not fit",
        (false, _) => "nobody waits for it",
    }
}

fn name(figure: &Figure) -> String {
    let role = figure
        .role
        .map_or_else(String::new, |role| format!("{role}: "));
    format!("{role}{}", figure.measure)
}

fn document(backtest: &BackTest) -> String {
    let figure = |figure: &Figure| {
        json!({
            "role": figure.role,
            "figure": figure.measure.to_string(),
            "recorded": figure.recorded,
            "simulated": figure.simulated,
            "off": figure.off(),
            "decides": figure.decides,
            "fits": figure.fits(),
        })
    };
    let figures: Vec<_> = backtest.figures.iter().map(figure).collect();
    let misfit = backtest.misfit().map(|(misfit, _)| misfit);
    let document = json!({
        "schema": "dbstow.backtest/1",
        "off_max": replay::OFF_MAX,
        "fits": backtest.fits(),
        "figures": figures,
        "assumptions": backtest.assumptions,
        "reason": misfit.map(replay::Misfit::reason),
        "remedy": misfit.map(replay::Misfit::remedy),
    });
    format!("{document:#}\n")
}
