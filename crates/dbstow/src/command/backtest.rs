//! `dbstow run --profile .. --today ..`: compares a profile with replays on its server's current disks.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use anyhow::Result;
use replay::{BackTest, Detail, Figure, Fit, Measure, Parts, TimePart};
use serde_json::json;

use super::listing::{self, ListFormat};
use super::output::note;
use super::progress::Progress;
use super::request::report_idle;
use super::{ExpectationFailed, UsageError};
use catalogue::Catalogue;
use engine::Options;
use experiment::plan::Plan;
use experiment::spec::Volume;
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
) -> Result<Recorded> {
    let recorded = Recorded::new(layout, today)?;
    let backtest = &recorded.backtest;
    format.print(&match format {
        ListFormat::Text => text(backtest),
        ListFormat::Json => document(backtest),
    })?;
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
        let (_, stage, _) = prepared.first();
        let mut catalogue = layout.inventory.catalogue.clone();
        advise::teach(&backtest, &stage.disks, &mut catalogue);
        Ok(Recorded {
            backtest,
            disks: stage.disks.clone(),
            catalogue,
        })
    }

    /// Keys that give the volumes of `plan` the latencies that were recorded. A volume whose disk differs between arms has none.
    pub(super) fn keys(&self, plan: &Plan) -> Vec<(String, String)> {
        let volumes = plan.arms.iter().flat_map(|arm| &arm.settings.volumes);
        let mut disks: BTreeMap<&str, Vec<&Volume>> = BTreeMap::new();
        for volume in volumes {
            let of_name = disks.entry(volume.name.as_str()).or_default();
            if of_name.iter().all(|known| known.disk != volume.disk) {
                of_name.push(volume);
            }
        }
        let mut keys = Vec::new();
        for (name, volumes) in disks {
            match volumes.as_slice() {
                [volume] => keys.extend(advise::keys_of_volume(
                    volume,
                    &self.backtest,
                    &self.disks,
                    &self.catalogue,
                )),
                _ if self.backtest.own_latencies.is_empty() => {}
                _ => note(&format!(
                    "dbstow: volume {name} has another disk in some arms: all keep the catalogue's latencies, not the recorded ones"
                )),
            }
        }
        for (key, value) in &keys {
            note(&format!("dbstow: as recorded: {key} = {value}"));
        }
        keys
    }
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

/// Refuses to continue with a profile that does not fit; a detail that is off is a caveat.
///
/// # Errors
/// When it does not, unless `untested`.
pub(super) fn judge(backtest: &BackTest, untested: bool) -> Result<()> {
    let Fit::DoesNotFit { part, reason } = backtest.fit() else {
        return Ok(());
    };
    let message = format!(
        "the profile does not fit this layout: {}; {}; {}",
        off(backtest, &part),
        reason.text(),
        reason.remedy()
    );
    if untested {
        note(&format!("dbstow: {message}"));
        return Ok(());
    }
    Err(ExpectationFailed(format!("{message}; use --untested to continue anyway")).into())
}

/// How far operations are off, and the part that is off most.
fn off(backtest: &BackTest, part: &Detail) -> String {
    let operations = backtest.figures.first();
    let operations = operations.filter(|figure| {
        figure.measure == Measure::Operations && *part != Detail::Figure(**figure)
    });
    let operations = operations.map(|figure| {
        format!(
            "{} are {} off; ",
            figure.measure,
            percent_signed(figure.off())
        )
    });
    format!("{}{part}", operations.unwrap_or_default())
}

/// What was unusual, recorded beside simulated figures, and the verdict.
pub(super) fn text(backtest: &BackTest) -> String {
    let notices: String = backtest
        .notices
        .iter()
        .map(|notice| format!("{notice}\n\n"))
        .collect();
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
    let verdict = match backtest.fit() {
        Fit::Fits => format!(
            "The profile fits this layout: no figure that sessions wait for is more than {} off.\n",
            quantity::percent(replay::OFF_MAX)
        ),
        Fit::RateFits { details } => {
            let all: Vec<String> = details
                .iter()
                .map(|detail| format!("{detail} ({})", backtest.meaning(detail)))
                .collect();
            let shown = super::profile::bullets("The rate fits this layout, details do not:", &all);
            shown.trim_start().to_owned()
        }
        Fit::DoesNotFit { .. } => String::new(),
    };
    let assumed = super::profile::bullets("Assumed:", &backtest.assumptions);
    format!(
        "{notices}Back-test: the profile on the disks that the server has\n\n{table}{}\n{verdict}{assumed}",
        parts(backtest)
    )
}

/// An operation's time, by what its session waits for; empty where that was not recorded.
fn parts(backtest: &BackTest) -> String {
    let Some([recorded, simulated]) = &backtest.parts else {
        return String::new();
    };
    let of = |parts: &Parts, part| {
        [
            quantity::number(parts[part] * 1e3),
            quantity::percent(parts.share(part)),
        ]
    };
    let shown = TimePart::ALL
        .into_iter()
        .filter(|part| recorded[*part] + simulated[*part] > 0.0);
    let rows = shown.map(|part| {
        let mut row = vec![part.to_string()];
        row.extend(of(recorded, part));
        row.extend(of(simulated, part));
        row
    });
    let head = ["ms of an operation", "recorded", "", "simulated", ""];
    format!("\n{}", listing::table(&head, rows.collect()))
}

/// The meaning of a figure.
fn judged(figure: &Figure) -> &'static str {
    match (figure.decides, figure.fits()) {
        (true, true) => "fits",
        (true, false) => "does not fit",
        (false, _) => "nobody waits for it",
    }
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
    let parts = backtest.parts.iter().flat_map(|[recorded, simulated]| {
        TimePart::ALL.into_iter().map(|part| {
            json!({
                "part": part.name(),
                "recorded_s": recorded[part],
                "recorded_share": recorded.share(part),
                "simulated_s": simulated[part],
                "simulated_share": simulated.share(part),
            })
        })
    });
    let own = backtest.own_latencies.iter().map(|latency| {
        json!({
            "volume": latency.name,
            "operation": latency.operation,
            "declared_s": latency.declared.as_secs_f64(),
            "recorded_s": latency.recorded.as_secs_f64(),
            "implied": latency.implied,
        })
    });
    let fit = backtest.fit();
    let (details, refused) = match &fit {
        Fit::Fits => (Vec::new(), None),
        Fit::RateFits { details } => (details.iter().map(ToString::to_string).collect(), None),
        Fit::DoesNotFit { part, reason } => (vec![part.to_string()], Some(reason)),
    };
    let document = json!({
        "schema": "dbstow.backtest/1",
        "off_max": replay::OFF_MAX,
        "outcome": fit.name(),
        "fits": fit.allows_advice(),
        "details": details,
        "caveat": backtest.caveat(),
        "notices": backtest.notices,
        "figures": figures,
        "parts": parts.collect::<Vec<_>>(),
        "own_latencies": own.collect::<Vec<_>>(),
        "assumptions": backtest.assumptions,
        "cause": refused.map(|reason| reason.name()),
        "reason": refused.map(|reason| reason.text()),
        "remedy": refused.map(|reason| reason.remedy()),
    });
    format!("{document:#}\n")
}
