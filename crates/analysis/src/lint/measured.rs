//! Matches the user's own comparisons to advised changes: the arms must differ by that change alone.
//!
//! What was simulated, emulated or measured here was not the captured server, and is never presented as its figure: every
//! sentence names mode and engine.

use rules::Change;
use serde::Serialize;

use crate::findings::{Comparison, Findings, Ratio, Verdict};
use experiment::plan::Plan;
use experiment::question::Question;
use experiment::spec::{EngineName, Mode, Placement, Role, Settings};
use table::quantity;

/// The content of a results folder.
#[derive(Clone, Copy, Debug)]
pub struct Results<'a> {
    /// Its path, as given by the user.
    pub folder: &'a str,
    /// The plan.
    pub plan: &'a Plan,
    /// Its question.
    pub question: &'a Question,
    /// The results.
    pub findings: &'a Findings,
}

/// A comparison that is relevant to a finding.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// The results folder.
    pub folder: String,
    /// The experiment.
    pub experiment: String,
    /// `simulate`, `emulate` or `measure`.
    pub mode: String,
    /// Its name, such as `sqlite`.
    pub engine: String,
    /// Baseline arm.
    pub baseline: String,
    /// Candidate arm.
    pub candidate: String,
    /// The metric.
    pub metric: String,
    /// Candidate / baseline.
    pub ratio: Ratio,
    /// Blocks that both arms finished.
    pub blocks: u32,
    /// The verdict on the candidate.
    pub verdict: Verdict,
    /// Whether it supports the finding.
    pub speaks: Support,
    /// The whole as a sentence.
    pub text: String,
}

/// What a comparison implies for a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Support {
    /// The advised change paid off.
    For,
    /// It did not.
    Against,
    /// The blocks so far are inconclusive.
    CannotTell,
}

/// The comparisons of exactly `change` in `results`.
pub fn about(change: Change, results: &Results) -> Vec<Measured> {
    let comparisons = results.findings.comparisons.iter();
    comparisons
        .filter_map(|comparison| one(change, comparison, results))
        .collect()
}

fn one(change: Change, comparison: &Comparison, results: &Results) -> Option<Measured> {
    let baseline = Side::of(&comparison.baseline, results)?;
    let candidate = Side::of(&comparison.candidate, results)?;
    let speaks = if makes(change, &baseline, &candidate) {
        speaks(comparison.verdict)
    } else if makes(change, &candidate, &baseline) {
        speaks(turned(comparison.verdict))
    } else {
        return None;
    };
    let Plan {
        experiment,
        variant,
        ..
    } = results.plan;
    let text = format!(
        "{} ({experiment}): {}: {}",
        how(variant.mode, &variant.engine),
        sentence(change, comparison, baseline.settings, candidate.settings),
        conclusion(speaks),
    );
    Some(Measured {
        folder: results.folder.to_owned(),
        experiment: experiment.clone(),
        mode: variant.mode.name().to_owned(),
        engine: variant.engine.as_str().to_owned(),
        baseline: comparison.baseline.clone(),
        candidate: comparison.candidate.clone(),
        metric: comparison.metric.clone(),
        ratio: comparison.ratio,
        blocks: comparison.blocks,
        verdict: comparison.verdict,
        speaks,
        text,
    })
}

/// An arm of a comparison.
struct Side<'a> {
    settings: &'a Settings,
    /// Its volumes that are empty after the machine was stopped.
    forgets: &'a [String],
}

impl<'a> Side<'a> {
    fn of(name: &str, results: &Results<'a>) -> Option<Side<'a>> {
        let mut asked = results.question.arms.iter();
        Some(Side {
            settings: &results.plan.arm(name)?.settings,
            forgets: asked
                .find(|arm| arm.name == name)
                .map_or(&[], |arm| &arm.forgets),
        })
    }
}

/// Whether going from one arm to the other is exactly `change`.
fn makes(change: Change, from: &Side<'_>, to: &Side<'_>) -> bool {
    let local = |side: &Side<'_>| -> Vec<bool> {
        let temp = volumes(&side.settings.placement, Role::Temp);
        let forgets = |name: &&str| side.forgets.iter().any(|known| known == name);
        temp.iter().map(forgets).collect()
    };
    let (was_local, is_local) = (local(from), local(to));
    let (from, to) = (from.settings, to.settings);
    let (before, after) = (&from.placement, &to.placement);
    let moved = match change {
        Change::MoreTempFiles | Change::FewerTempFiles | Change::TempApart | Change::TempLocal => {
            Role::Temp
        }
        Change::MoreDataFiles => Role::Data,
        Change::LogApart => Role::Log,
        Change::BinlogApart => Role::Binlog,
    };
    let apart = |placement: &Placement| {
        let temp = volumes(placement, Role::Temp);
        let others = [Role::Data, Role::Log].map(|role| volumes(placement, role));
        others.iter().flatten().all(|volume| !temp.contains(volume))
    };
    let log_apart = |placement: &Placement| {
        !volumes(placement, Role::Data).contains(&placement.log.volume.as_str())
    };
    // Without a binary log there is nothing to move.
    let binlog_apart = |placement: &Placement| {
        let binlog = placement.binlog.as_ref()?;
        Some(binlog.volume != placement.log.volume)
    };
    let more = |role, from: &Settings, to: &Settings| {
        let (from, to) = (&from.placement, &to.placement);
        to.files(role).len() > from.files(role).len() && volumes(to, role) == volumes(from, role)
    };
    let made = match change {
        Change::MoreTempFiles => more(Role::Temp, from, to),
        Change::FewerTempFiles => more(Role::Temp, to, from),
        Change::MoreDataFiles => more(Role::Data, from, to),
        Change::TempApart => !apart(before) && apart(after),
        Change::TempLocal => {
            was_local.iter().all(|local| !local) && is_local.iter().all(|local| *local)
        }
        Change::LogApart => !log_apart(before) && log_apart(after),
        Change::BinlogApart => {
            binlog_apart(before) == Some(false) && binlog_apart(after) == Some(true)
        }
    };
    made && alike_but(moved, from, to)
}

/// Whether two arms differ only in the location and number of one role's files.
fn alike_but(moved: Role, from: &Settings, to: &Settings) -> bool {
    let others = Role::ALL.into_iter().filter(|role| *role != moved);
    let placed = |role| from.placement.files(role) == to.placement.files(role);
    // A volume that both have is the same one, whichever role is on it.
    let mut both = from
        .volumes
        .iter()
        .filter_map(|volume| Some((volume, to.volume(&volume.name)?)));
    from.machine == to.machine
        && from.workload == to.workload
        && from.engine == to.engine
        && { others }.all(placed)
        && both.all(|(before, after)| before == after)
}

/// Volumes of a role, each once, in order.
fn volumes(placement: &Placement, role: Role) -> std::collections::BTreeSet<&str> {
    let files = placement.files(role).iter();
    files.map(|file| file.volume.as_str()).collect()
}

/// What the comparison implies for the change that the candidate makes.
fn speaks(verdict: Verdict) -> Support {
    match verdict {
        Verdict::Faster => Support::For,
        Verdict::Slower | Verdict::NoDifference => Support::Against,
        Verdict::CannotTell => Support::CannotTell,
    }
}

/// The verdict on the baseline.
fn turned(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Faster => Verdict::Slower,
        Verdict::Slower => Verdict::Faster,
        Verdict::NoDifference => Verdict::NoDifference,
        Verdict::CannotTell => Verdict::CannotTell,
    }
}

fn how(mode: Mode, engine: &EngineName) -> String {
    match mode {
        Mode::Simulate => format!("simulated here with {engine}"),
        Mode::Emulate => format!("emulated here with {engine}"),
        Mode::Measure => format!("measured here with {engine}"),
    }
}

/// `8 temp files: 0.99x the elapsed time of 1 temp file (0.97-1.01)`.
fn sentence(
    change: Change,
    comparison: &Comparison,
    baseline: &Settings,
    candidate: &Settings,
) -> String {
    let Ratio { mean, low, high } = comparison.ratio;
    let [mean, low, high] = quantity::ratios([mean, low, high]);
    let interval = match comparison.blocks {
        0 | 1 => "one block, no interval".to_owned(),
        _ => format!("{low}-{high}"),
    };
    let shown = |role: Role, settings: &Settings| {
        let files = settings.placement.files(role).len();
        format!("{files} {role} file{}", if files == 1 { "" } else { "s" })
    };
    let (theirs, ours) = match change {
        Change::MoreTempFiles | Change::FewerTempFiles => {
            (shown(Role::Temp, baseline), shown(Role::Temp, candidate))
        }
        Change::MoreDataFiles => (shown(Role::Data, baseline), shown(Role::Data, candidate)),
        Change::TempApart | Change::TempLocal | Change::LogApart | Change::BinlogApart => {
            (comparison.baseline.clone(), comparison.candidate.clone())
        }
    };
    let what = match comparison.metric.as_str() {
        "elapsed_s" => "elapsed time",
        metric => metric,
    };
    format!("{ours}: {mean}x the {what} of {theirs} ({interval})")
}

fn conclusion(speaks: Support) -> &'static str {
    match speaks {
        Support::For => "supports this",
        Support::Against => "does not support this",
        Support::CannotTell => "inconclusive so far",
    }
}

#[cfg(test)]
mod tests;
