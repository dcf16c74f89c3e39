//! How trials are repeated and compared, and what was published and fitted.

use std::collections::BTreeMap;
use std::fmt;

use model::number::Counted;
use serde::{Deserialize, Serialize};

use super::arm::{Arm, Published};
use super::bounds::TRIALS_MAX;
use super::document::Text;
use super::error::{Fault, listed, remedy};
use super::{Mode, Variant, metric, wire};

/// How trials are repeated and compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Protocol {
    /// How often each arm is run; at least 1.
    pub blocks: u32,
    /// Differences up to this share are ignored; between 0 and 1.
    pub margin: f64,
    /// A trial with a greater share of failed operations does not count; at least 0, below 1.
    #[serde(default = "errors_max_default")]
    pub errors_max: f64,
    /// Name of the arm that others are compared against.
    pub baseline: String,
    /// The metric they are compared by.
    pub metric: String,
    /// Seed of all randomness.
    pub seed: u64,
    /// Whether uncertain values are the typical ones in every block, instead of drawn; always in real time.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub nominal: bool,
}

/// What plans from before the key have, so that digests stay the same.
fn yes() -> bool {
    true
}

pub(crate) fn is_yes(value: &bool) -> bool {
    *value
}

/// Where published figures come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Title of the publication.
    pub title: String,
    /// Its date, as precise as known.
    pub date: Option<String>,
    /// Note for readers of the figures.
    pub note: Option<String>,
    /// Whether some of its figures are omitted, because the arms differ from the published ones.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub figures_left_out: bool,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.title)?;
        match &self.date {
            Some(date) if !self.title.contains(date.as_str()) => write!(f, " ({date})")?,
            Some(_) | None => {}
        }
        match self.figures_left_out {
            true => f.write_str("; its figures are left out: they are for other settings or disks"),
            false => Ok(()),
        }
    }
}

/// A parameter that was fitted to published figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fitted {
    /// Its dotted key in the experiment file.
    pub parameter: String,
    /// Its value, as in the file.
    pub value: String,
    /// Arms whose published figures were used.
    pub to: Vec<String>,
    /// What was matched, and why this parameter.
    pub why: String,
}

/// Default share of failed operations up to which a trial counts. Failed operations are not measured: with more of them, an arm
/// would look better by about as much as the differences to be detected.
pub(crate) fn errors_max_default() -> f64 {
    0.01
}

/// Default number of blocks.
///
/// Where worlds are drawn, the interval of a further one is `t x sqrt(1 + 1/n)` deviations on either side: 3.0 for 5 blocks, 2.5
/// for 8, 2.4 for 10, and 2.0 for any number. Where only chance differs, 5 blocks give its mean to 1.2 deviations.
fn blocks_default(nominal: bool) -> u32 {
    match nominal {
        true => 5,
        false => 8,
    }
}

/// Maximum number of blocks of a plan: far beyond practical use, and such a plan still fits into memory.
const BLOCKS_MAX: u32 = 10_000;

/// The protocol, given the names of the arms in order. The few blocks of quick settings hold too few worlds: they draw none.
pub(crate) fn resolve(
    asked: &wire::Protocol,
    workload: &wire::Workload,
    variant: &Variant,
    arms: &[String],
) -> Result<Protocol, Fault> {
    let Variant { mode, quick, .. } = *variant;
    let by_default = metric_default(workload, mode);
    let first = || arms.first().cloned().unwrap_or_default();
    // A profile's disks are held against what was recorded on them, and advice draws nothing either.
    let by_rule = quick || workload.profile.is_some();
    let nominal = mode != Mode::Simulate || asked.nominal.unwrap_or(by_rule);
    let protocol = Protocol {
        blocks: asked.blocks.unwrap_or(blocks_default(nominal)),
        margin: asked.margin.map_or(0.05, |share| share.0),
        errors_max: asked
            .errors_max
            .map_or_else(errors_max_default, |share| share.0),
        baseline: asked.baseline.clone().unwrap_or_else(first),
        metric: asked.metric.as_deref().unwrap_or(by_default).to_owned(),
        seed: asked.seed.map_or(1, |seed| seed.0),
        nominal,
    };
    check(&protocol, arms.iter().map(String::as_str))?;
    if workload.profile.is_some() {
        check_replayed(&protocol.metric, by_default)?;
    }
    Ok(protocol)
}

/// Rejects a protocol that cannot be repeated or compared, given the names of the arms.
pub(crate) fn check<'a>(
    protocol: &Protocol,
    arms: impl Iterator<Item = &'a str> + Clone,
) -> Result<(), Fault> {
    let fault = |key: &str, message: String| Err(Fault::at(&["protocol", key], message));
    let Protocol {
        blocks,
        margin,
        errors_max,
        baseline,
        metric,
        seed: _,
        nominal: _,
    } = protocol;
    if !(1..=BLOCKS_MAX).contains(blocks) {
        return fault(
            "blocks",
            format!("{blocks} blocks cannot be run; give 1 to {BLOCKS_MAX}"),
        );
    }
    if !(*margin > 0.0 && *margin < 1.0) {
        return fault(
            "margin",
            format!("a margin of {margin} is not between 0 and 1; 0.05 stands for 5 %"),
        );
    }
    if !(0.0..1.0).contains(errors_max) {
        return fault(
            "errors_max",
            format!(
                "errors_max of {errors_max} is not a share from 0 to below 1; 0.01 stands for 1 %"
            ),
        );
    }
    if let Err(message) = metric::check(metric) {
        return fault("metric", message);
    }
    if !arms.clone().any(|name| name == baseline) {
        let hint = remedy(baseline, "defined", arms);
        return fault(
            "baseline",
            format!("the baseline \"{baseline}\" is not an arm{hint}"),
        );
    }
    Ok(())
}

/// Rejects a metric that the replay of a profile does not have; `instead` is one that it has.
pub(crate) fn check_replayed(metric: &str, instead: &str) -> Result<(), Fault> {
    if metric::is_of_profile(metric) {
        return Ok(());
    }
    let message = format!(
        "a profile is replayed for a fixed time and has no {metric}; use {instead}, or leave metric out"
    );
    Err(Fault::at(&["protocol", "metric"], message))
}

/// Rejects more trials than a plan can hold, including one additional arm for the twin of `--aa`.
pub(crate) fn check_trials(arms: usize, blocks: u32) -> Result<(), Fault> {
    if (arms + 1).saturating_mul(blocks as usize) <= TRIALS_MAX {
        return Ok(());
    }
    let message = format!(
        "{arms} arms in {blocks} blocks are more than the {TRIALS_MAX} trials that a plan can have; run fewer blocks, or \
         fewer arms"
    );
    Err(Fault::at(&["protocol", "blocks"], message))
}

/// Rejects an experiment without a question.
pub(crate) fn check_question(question: &str) -> Result<(), Fault> {
    match question.trim().is_empty() {
        false => Ok(()),
        true => Err(Fault::at(
            &["question"],
            "the question is empty; say what is to be found out",
        )),
    }
}

/// The default metric for comparing arms.
fn metric_default(workload: &wire::Workload, mode: Mode) -> &'static str {
    let is_open =
        workload.demand == Some(wire::Demand::Open) || workload.rate.is_some_and(|rate| rate > 0.0);
    match workload.profile {
        None => "elapsed_s",
        // Plain I/O issues its requests at fixed rates.
        Some(_) if mode != Mode::Simulate => "transfer_latency_ms",
        Some(_) if is_open => "operation_latency_mean_ms",
        Some(_) => "operations_per_s",
    }
}

/// Rejects figures of an unknown arm or metric.
pub(crate) fn check_published(asked: &wire::Experiment, arms: &[String]) -> Result<(), Fault> {
    for (arm, figures) in &asked.published {
        if !arms.contains(arm) {
            let hint = remedy(arm, "defined", arms.iter().map(String::as_str));
            let message = format!("figures are published for \"{arm}\", which is not an arm{hint}");
            return Err(Fault::at(&["published", arm], message));
        }
        check_figures(arm, figures)?;
    }
    Ok(())
}

/// Smallest figure above 0: a picosecond in seconds. Values of trials, at most 2^64, divided by it are still finite.
const FIGURE_MIN: f64 = 1e-12;

/// Rejects figures of an arm that are not valid counts or amounts, and those of unknown metrics.
pub(crate) fn check_figures(arm: &str, figures: &BTreeMap<String, Published>) -> Result<(), Fault> {
    for (name, figure) in figures {
        if let Published::Number(number) = figure
            && (Counted::try_from(*number).is_err() || (*number > 0.0 && *number < FIGURE_MIN))
        {
            let message = format!(
                "{name} is {number:?}; give 0, a number from {FIGURE_MIN:e} to 2^64, or words"
            );
            return Err(Fault::at(&["published", arm, name], message));
        }
        metric::check(name).map_err(|message| Fault::at(&["published", arm, name], message))?;
    }
    Ok(())
}

/// The fitted parameters: keys of the file, fitted to arms that have published figures.
pub(crate) fn fitted(
    text: &Text,
    asked: &[wire::Fitted],
    arms: &[Arm],
) -> Result<Vec<Fitted>, Fault> {
    let with_figures: Vec<&str> = arms
        .iter()
        .filter(|arm| !arm.published.is_empty())
        .map(|arm| arm.name.as_str())
        .collect();
    let mut fitted = Vec::new();
    for (number, entry) in asked.iter().enumerate() {
        let number = number.to_string();
        let fault = |message: String| Err(Fault::at(&["fitted", &number], message));
        let parameter = &entry.parameter;
        let Some(value) = text.value(parameter) else {
            return fault(format!(
                "\"{parameter}\" is marked as fitted, but is not a key of this file with a value"
            ));
        };
        let to = entry.to.as_slice();
        if to.is_empty() {
            return fault(format!(
                "\"{parameter}\" does not say which arms it was fitted to"
            ));
        }
        if let Some(unknown) = to.iter().find(|arm| !with_figures.contains(&arm.as_str())) {
            return fault(format!(
                "\"{parameter}\" is fitted to \"{unknown}\", which is not an arm with published \
                 figures (those are: {})",
                listed(&with_figures)
            ));
        }
        fitted.push(Fitted {
            parameter: parameter.clone(),
            value,
            to: to.to_vec(),
            why: entry.why.clone(),
        });
    }
    Ok(fitted)
}
