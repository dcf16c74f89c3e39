//! Warnings about how our figures relate to published ones.

use super::Verdict;
use super::compared::verdict_of;
use super::warnings::{list, warning};
use super::{Arm, Findings, Published, Warning};
use experiment::spec::Mode;
use table::Quantity;
use table::quantity::{self, percent, percent_signed};

/// Smallest reported deviation from a published figure.
const GAP_MAX: f64 = 0.10;

/// Warns of agreement by construction, and of disagreement.
pub(super) fn warnings(findings: &Findings) -> Vec<Warning> {
    let all = [
        contradicted(findings),
        fitted(findings),
        published_gap(findings),
    ];
    all.into_iter().flatten().collect()
}

fn fitted(findings: &Findings) -> Option<Warning> {
    // Nothing is modelled there, so fitting has no influence.
    if findings.mode() == Some(Mode::Measure) {
        return None;
    }
    let arms = list(
        findings
            .arms
            .iter()
            .filter(|arm| arm.fitted)
            .map(|arm| arm.name.clone()),
    )?;
    let others = match findings.mode() {
        Some(Mode::Simulate) | None => "predicted",
        Some(Mode::Emulate | Mode::Measure) => "other",
    };
    Some(warning(
        "fitted",
        format!(
            "a parameter was fitted to the published figures of: {arms}. These rows match by \
             construction; judge the model by the {others} rows alone."
        ),
    ))
}

fn published_gap(findings: &Findings) -> Option<Warning> {
    let gaps = list(
        findings
            .arms
            .iter()
            .filter(|arm| !arm.fitted || findings.mode() == Some(Mode::Measure))
            .flat_map(gaps),
    )?;
    let (figures, advice) = match findings.mode() {
        Some(Mode::Simulate) | None => (
            "predicted figures",
            "The model leaves out or misjudges something there: do not rely on these figures by themselves; compare \
             placements with each other.",
        ),
        Some(Mode::Emulate) => (
            "figures measured on modelled disks",
            "Engine, processors or the disks' models differ from what was published with; compare \
             placements with each other, not single figures with the source.",
        ),
        Some(Mode::Measure) => (
            "measured figures",
            "Disks, machine or engine are not those of the source; its conclusions may not apply here.",
        ),
    };
    Some(warning(
        "published-gap",
        format!(
            "{figures} more than {} off the published ones: {gaps}. {advice}",
            percent(GAP_MAX)
        ),
    ))
}

/// Verdicts that contradict the published figures of the same two arms.
fn contradicted(findings: &Findings) -> Option<Warning> {
    let pairs = list(findings.comparisons.iter().filter_map(|comparison| {
        let published = |arm: &str| {
            let arm = findings.arms.iter().find(|other| other.name == arm)?;
            match arm.published.get(&comparison.metric)? {
                Published::Number(number) => Some(*number),
                Published::Words(_) => None,
            }
        };
        let ratio = published(&comparison.candidate)? / published(&comparison.baseline)?;
        let theirs = verdict_of(ratio, &comparison.metric, comparison.margin);
        let apart = (comparison.ratio.mean / ratio).ln().abs() > comparison.margin.ln_1p();
        let is_decided = comparison.verdict != Verdict::CannotTell;
        let differs = is_decided && theirs != comparison.verdict && apart;
        differs.then(|| {
            format!(
                "{} vs {}: {}x here, {}x published",
                comparison.candidate,
                comparison.baseline,
                quantity::ratio(comparison.ratio.mean),
                quantity::ratio(ratio)
            )
        })
    }))?;
    Some(warning(
        "published-contradicts",
        format!(
            "the published figures give other verdicts, by the same metric: {pairs}. Do not rely on these before you know \
             what differs."
        ),
    ))
}

fn gaps(arm: &Arm) -> Vec<String> {
    let gap = |(name, published): (&String, &Published)| {
        let metric = arm.metrics.get(name)?;
        let share = published.deviation(metric.mean)?;
        (share.abs() > GAP_MAX).then(|| {
            let ours = Quantity {
                value: metric.mean,
                error: None,
                unit: &metric.unit,
            };
            format!("{} {name} {ours} ({})", arm.name, percent_signed(share))
        })
    };
    arm.published.iter().filter_map(gap).collect()
}

#[cfg(test)]
mod tests {
    use super::super::make;
    use super::*;
    use experiment::examples::{emulated, in_mode, measured, question, records};
    use experiment::question::ArmQuestion;

    fn warned(findings: &Findings, id: &str) -> Option<String> {
        let warning = findings.warnings.iter().find(|warning| warning.id == id);
        warning.map(|warning| warning.text.clone())
    }

    #[test]
    fn a_gap_counts_on_predicted_arms_alone() {
        let mut question = question();
        for arm in &mut question.arms {
            arm.published
                .insert("elapsed_s".into(), Published::Number(100.0));
        }

        let warning = warned(&make(&question, &records()), "published-gap").unwrap();

        assert!(warning.contains("p30 elapsed_s 164 s (+64 %)"), "{warning}");
        assert!(!warning.contains("local-ssd"), "{warning}");
    }

    #[test]
    fn a_gap_is_the_models_fault_only_where_there_is_a_model() {
        let gap = |mode: &str, trial| {
            let (mut question, records) = in_mode(mode, trial);
            for arm in &mut question.arms {
                arm.published
                    .insert("elapsed_s".into(), Published::Number(100.0));
            }
            warned(&make(&question, &records), "published-gap").unwrap()
        };

        let (emulated, measured) = (gap("emulate", emulated), gap("measure", measured));

        assert!(emulated.starts_with("figures measured on modelled disks"));
        assert!(measured.starts_with("measured figures") && measured.contains("local-ssd"));
        assert!(!emulated.contains("predicted") && !measured.contains("model"));
    }

    #[test]
    fn a_verdict_that_the_published_figures_do_not_give_leads() {
        let mut question = question();
        let publish = |arm: &mut ArmQuestion, elapsed_s: f64| {
            let figure = Published::Number(elapsed_s);
            arm.published.insert("elapsed_s".into(), figure);
        };
        publish(&mut question.arms[0], 100.0);
        publish(&mut question.arms[1], 104.0);
        let agreed = make(&question, &records());
        assert_eq!(warned(&agreed, "published-contradicts"), None);

        publish(&mut question.arms[1], 150.0);
        let contradicted = make(&question, &records());

        let (leading, _) = contradicted.warnings_by_weight();
        let expected = "the published figures give other verdicts, by the same metric: p30 vs local-ssd: 1.04x here, 1.50x \
                    published.";
        assert!(
            leading
                .iter()
                .any(|warning| warning.text.starts_with(expected)),
            "{leading:?}"
        );
    }

    #[test]
    fn what_was_fitted_has_no_part_in_measured_figures() {
        let (question, records) = in_mode("measure", measured);

        assert_eq!(warned(&make(&question, &records), "fitted"), None);
    }
}
