//! Conclusions that cannot be drawn although the records are in order.

use super::metrics::value;
use super::split::Split;
use super::trials::Trials;
use super::warnings::{list, warning};
use super::{Findings, Warning};
use crate::statistics;
use experiment::question::Question;
use experiment::record::Record;
use experiment::spec::Mode;
use table::quantity::{number, percent, percent_signed};

/// A probability below which an effect is reported.
const CHANCE_MAX: f64 = 0.05;
/// Share of the sessions' time below which their waits for I/O decide nothing.
const IO_MIN: f64 = 0.05;

/// Everything that weakens the conclusions.
pub(super) fn warnings(question: &Question, trials: &Trials, findings: &Findings) -> Vec<Warning> {
    let mut doubts = vec![
        one_block(findings),
        model_chance(findings),
        two_humps(question, trials),
        noise_floor(question, findings),
        little_io(trials, findings),
    ];
    // Simulated trials share neither machine nor clock, so that neither can move them.
    if findings.mode() != Some(Mode::Simulate) {
        let table = Table::of(question, trials);
        doubts.push(drift(question, &table));
        doubts.push(order_effect(question, &table));
    }
    doubts.into_iter().flatten().collect()
}

fn one_block(findings: &Findings) -> Option<Warning> {
    let most = findings.arms.iter().map(|arm| arm.trials).max()?;
    (most == 1).then(|| {
        warning(
            "one-block",
            "each arm ran once, so that nothing is known of the spread between trials and no verdict \
             is possible. Run at least 3 blocks (--blocks 3), better 5."
                .into(),
        )
    })
}

fn model_chance(findings: &Findings) -> Option<Warning> {
    let repeated = findings.arms.iter().any(|arm| arm.trials > 1);
    (findings.mode() == Some(Mode::Simulate) && repeated).then(|| {
        warning(
            "model-chance",
            "simulated: intervals show the model's variation over seeds, not how much a real machine \
             differs from run to run, nor how well the model fits yours. Confirm what matters \
             on the real disks."
                .into(),
        )
    })
}

fn two_humps(question: &Question, trials: &Trials) -> Option<Warning> {
    let metric = &question.metric;
    let arms = list(question.arms.iter().filter_map(|arm| {
        let finished = trials.finished(&arm.name);
        // Groups of draws are not groups of results.
        if finished.iter().any(|record| !record.drawn.is_empty()) {
            return None;
        }
        let samples: Vec<f64> = finished
            .iter()
            .filter_map(|record| value(record, metric))
            .collect();
        let humps = statistics::two_humps(&samples)?;
        let matters = humps.high > humps.low * (1.0 + question.margin);
        matters.then(|| {
            format!(
                "{} ({} trials near {}, {} near {})",
                arm.name,
                humps.low_count,
                number(humps.low),
                humps.high_count,
                number(humps.high)
            )
        })
    }))?;
    Some(warning(
        "two-humps",
        format!(
            "`{metric}` falls into two groups: {arms}. A mean between them describes neither; look in \
             the records for what differs (burst credits, a checkpoint, a neighbour)."
        ),
    ))
}

fn noise_floor(question: &Question, findings: &Findings) -> Option<Warning> {
    let ratio = findings.noise_floor.as_ref()?.ratio;
    let margin = 1.0 + question.margin;
    let loud = ratio.low < 1.0 / margin || ratio.high > margin;
    loud.then(|| {
        warning(
            "noise-floor",
            format!(
                "identical twins of the baseline differ by {} ({} to {}), more than the margin of {}. \
                 Smaller differences between arms mean nothing here; stop other load, run more \
                 blocks, or widen the margin.",
                percent_signed(ratio.mean - 1.0),
                percent_signed(ratio.low - 1.0),
                percent_signed(ratio.high - 1.0),
                percent(question.margin)
            ),
        )
    })
}

/// The objection to the first article: with most of the time spent elsewhere, a tie says nothing about the disks.
fn little_io(trials: &Trials, findings: &Findings) -> Option<Warning> {
    let waited = |arm: &str| {
        let split = Split::of(trials.finished(arm));
        (!split.is_empty()).then(|| split.waited_for_io())
    };
    let little = |arm: &str| waited(arm).is_some_and(|share| share < IO_MIN);
    let idle: Vec<&str> = findings
        .comparisons
        .iter()
        .filter(|compared| little(&compared.baseline) && little(&compared.candidate))
        .map(|compared| compared.candidate.as_str())
        .collect();
    let baseline = &findings.comparisons.first()?.baseline;
    let most = idle
        .iter()
        .copied()
        .chain([baseline.as_str()])
        .filter_map(waited);
    (!idle.is_empty()).then(|| {
        warning(
            "little-io",
            format!(
                "{baseline} and {}: sessions waited for I/O at most {} of their time. That says that this workload \
                 hardly uses its disks, not that the disks are alike: to compare those, give the workload more data \
                 than memory, or more sessions.",
                idle.join(", "),
                percent(most.fold(0.0, f64::max))
            ),
        )
    })
}

/// The deciding metric as logarithms, in the blocks that every arm finished.
struct Table {
    values: Vec<Vec<f64>>,
    positions: Vec<Vec<f64>>,
}

impl Table {
    fn of(question: &Question, trials: &Trials) -> Table {
        let (values, positions) = (0..question.blocks)
            .filter_map(|block| row(question, trials, block))
            .unzip();
        Table { values, positions }
    }
}

fn row(question: &Question, trials: &Trials, block: u32) -> Option<(Vec<f64>, Vec<f64>)> {
    let cell = |record: &Record| {
        let value = value(record, &question.metric).filter(|value| *value > 0.0)?;
        Some((value.ln(), f64::from(record.position)))
    };
    let mut cells = question.arms.iter().map(|arm| {
        let mut finished = trials.finished(&arm.name).iter();
        cell(finished.find(|record| record.block == block)?)
    });
    let cells: Option<Vec<(f64, f64)>> = cells.by_ref().collect();
    Some(cells?.into_iter().unzip())
}

fn drift(question: &Question, table: &Table) -> Option<Warning> {
    let blocks: Vec<f64> = table
        .values
        .iter()
        .map(|row| row.iter().sum::<f64>() / row.len() as f64)
        .collect();
    let trend = statistics::drift(&blocks)?;
    let change = (trend.slope * (blocks.len() - 1) as f64).exp_m1();
    matters(question, change, trend.chance).then(|| {
        warning(
            "drift",
            format!(
                "`{}` moved by {} from the first block to the last. Comparisons within blocks stand, \
                 single figures do not; look for credits that run out, files that grow, a machine that \
                 warms up.",
                question.metric,
                percent_signed(change)
            ),
        )
    })
}

fn order_effect(question: &Question, table: &Table) -> Option<Warning> {
    let effect = statistics::order_effect(&table.values, &table.positions)?;
    let change = effect.slope.exp_m1();
    let across = (effect.slope * question.arms.len().saturating_sub(1) as f64).exp_m1();
    matters(question, across, effect.chance).then(|| {
        warning(
            "order-effect",
            format!(
                "`{}` changes by {} with every place later in a block: trials are not independent. The \
                 order is shuffled, so more blocks average it out, but first find what a trial leaves \
                 behind.",
                question.metric,
                percent_signed(change)
            ),
        )
    })
}

/// Not explained by chance, and large enough to change a verdict.
fn matters(question: &Question, change: f64, chance: f64) -> bool {
    chance < CHANCE_MAX && change.abs() > question.margin / 2.0
}

#[cfg(test)]
mod tests {
    use super::super::{Question, make};
    use super::*;
    use experiment::examples::{emulated, in_mode, measured, question, records, split_of, trial};

    fn warned(findings: &Findings, id: &str) -> Option<String> {
        let warning = findings.warnings.iter().find(|warning| warning.id == id);
        warning.map(|warning| warning.text.clone())
    }

    /// Both arms in as many blocks as `elapsed_s` has values, equal for both.
    fn blocks_of(elapsed_s: &[f64], mode: &str) -> Findings {
        let question = Question {
            mode: mode.into(),
            blocks: u32::try_from(elapsed_s.len()).unwrap(),
            ..question()
        };
        let records: Vec<Record> = (0..question.blocks)
            .zip(elapsed_s)
            .flat_map(|(block, s)| [trial("local-ssd", block, *s), trial("p30", block, *s)])
            .map(|record| Record {
                mode: mode.into(),
                ..record
            })
            .collect();
        make(&question, &records)
    }

    #[test]
    fn one_block_is_no_ground_for_a_verdict() {
        assert!(warned(&blocks_of(&[157.0], "simulate"), "one-block").is_some());
        assert!(warned(&blocks_of(&[157.0, 158.0], "simulate"), "one-block").is_none());
    }

    #[test]
    fn drift_is_reported_where_the_world_can_drift() {
        let rising = [100.0, 103.0, 106.1, 109.0, 112.2];

        let warning = warned(&blocks_of(&rising, "measure"), "drift").unwrap();

        assert!(
            warning.starts_with("`elapsed_s` moved by +12 %"),
            "{warning}"
        );
        assert!(warned(&blocks_of(&rising, "simulate"), "drift").is_none());
    }

    #[test]
    fn two_humps_are_reported_with_their_places() {
        let humps = [100.0, 150.0, 100.2, 150.3, 99.9, 150.1, 100.1, 149.8];

        let warning = warned(&blocks_of(&humps, "simulate"), "two-humps").unwrap();

        assert!(
            warning.contains("p30 (4 trials near 100, 4 near 150)"),
            "{warning}"
        );
    }

    #[test]
    fn a_tie_of_arms_that_hardly_touch_a_disk_says_nothing() {
        let mut records = records();
        for record in &mut records {
            record.time_split_ns = split_of(&[("cpu", 980), ("read.service", 20)]);
        }

        let warning = warned(&make(&question(), &records), "little-io").unwrap();

        assert!(
            warning.starts_with("local-ssd and p30: sessions waited for I/O at most 2 %"),
            "{warning}"
        );
    }

    #[test]
    fn an_arm_that_waits_less_than_the_other_is_a_finding_not_a_doubt() {
        let mut records = records();
        for record in records.iter_mut().filter(|record| record.arm == "p30") {
            record.time_split_ns = split_of(&[("cpu", 980), ("read.service", 20)]);
        }

        assert!(warned(&make(&question(), &records), "little-io").is_none());
    }

    #[test]
    fn real_time_has_no_chance_of_a_model() {
        for (question, records) in [in_mode("emulate", emulated), in_mode("measure", measured)] {
            let findings = make(&question, &records);

            assert!(warned(&findings, "model-chance").is_none());
            let all = findings.warnings.iter().map(|warning| &warning.text);
            assert!(!all.into_iter().any(|text| text.contains("over seeds")));
        }
    }

    #[test]
    fn twins_further_apart_than_the_margin_are_reported() {
        let question = Question {
            aa: true,
            ..question()
        };
        let mut records = records();
        let twins = [(0, 140.0), (1, 170.0), (2, 158.0)];
        records.extend(twins.map(|(block, s)| trial("local-ssd (twin)", block, s)));

        assert!(warned(&make(&question, &records), "noise-floor").is_some());
    }
}
