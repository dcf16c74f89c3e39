//! The verdict in plain words.

use super::words;
use crate::findings::{Cheapest, Comparison, NoiseFloor, Ratio, Verdict};
use crate::quantity::{number, percent, ratio};

/// What a comparison says: `p30 took 1.04 times as long as local-ssd (95 % interval 1.02 to 1.06,
/// 5 blocks): no difference larger than 5 %.`
pub(super) fn verdict(comparison: &Comparison) -> String {
    let blocks = comparison.blocks;
    format!(
        "{} ({}): {}.",
        measured(comparison),
        basis(&comparison.ratio, blocks),
        conclusion(comparison, blocks)
    )
}

/// What to buy: `Cheapest that is not more than 5 % worse than the best: p30, at 135 $ a month.`
pub(super) fn cheapest(cheapest: &Cheapest) -> String {
    let Cheapest {
        arm,
        usd_per_month,
        best,
        ..
    } = cheapest;
    let price = number(*usd_per_month);
    if arm == best {
        return format!(
            "Cheapest that is shown to be as good as the best: {arm}, at {price} $ a month for its disks."
        );
    }
    let instead = cheapest
        .best_usd_per_month
        .map_or_else(String::new, |usd| format!(" instead of {} $", number(usd)));
    format!(
        "Cheapest that is no more than {} worse than {best}: {arm}, at {price} $ a month for its \
         disks{instead}.",
        percent(cheapest.margin)
    )
}

/// What the twins say.
pub(super) fn noise_floor(floor: &NoiseFloor) -> String {
    format!(
        "Noise floor: {} against its own twin, {} {} times ({} to {}).",
        floor.arm,
        words::metric(&floor.metric),
        ratio(floor.ratio.mean),
        ratio(floor.ratio.low),
        ratio(floor.ratio.high)
    )
}

fn measured(comparison: &Comparison) -> String {
    let Comparison {
        baseline,
        candidate,
        metric,
        ..
    } = comparison;
    let times = ratio(comparison.ratio.mean);
    if metric == "elapsed_s" {
        format!("{candidate} took {times} times as long as {baseline}")
    } else {
        format!(
            "{candidate} had {times} times the {} of {baseline}",
            what(metric)
        )
    }
}

/// A metric as something to have more or less of.
fn what(metric: &str) -> String {
    let words = words::metric(metric);
    match metric {
        "mb_per_s" | "iops" => words,
        _ if metric.ends_with("_per_s") => format!("{words} per second"),
        _ => words,
    }
}

fn basis(ratio_seen: &Ratio, blocks: u32) -> String {
    if blocks < 2 {
        return "1 block, no interval".into();
    }
    format!(
        "95 % interval {} to {}, {blocks} blocks",
        ratio(ratio_seen.low),
        ratio(ratio_seen.high)
    )
}

fn conclusion(comparison: &Comparison, blocks: u32) -> String {
    let margin = percent(comparison.margin);
    match (comparison.verdict, comparison.blocks_needed) {
        (Verdict::Faster, _) => "faster".into(),
        (Verdict::Slower, _) => "slower".into(),
        (Verdict::NoDifference, _) => format!("no difference larger than {margin}"),
        (Verdict::CannotTell, Some(needed)) => {
            format!("cannot tell; about {needed} blocks in all would settle it")
        }
        (Verdict::CannotTell, None) if blocks < 2 => "cannot tell from one block".into(),
        (Verdict::CannotTell, None) => {
            format!("cannot tell; it is too close to the margin of {margin} for blocks to settle")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{Question, make};
    use experiment::examples;

    fn said(question: &Question, blocks: usize, factor: f64) -> String {
        let mut records = examples::records();
        records.truncate(2 * blocks);
        for record in records.iter_mut().filter(|record| record.arm == "p30") {
            for name in ["elapsed_s", "mb_per_s"] {
                let value = record.metrics.get_mut(name).expect("the example has it");
                *value *= 1.0 + (factor - 1.0) * f64::from(record.block + 1);
            }
        }
        let findings = make(question, &records);
        verdict(&findings.comparisons[0])
    }

    #[test]
    fn a_tie_is_said_with_its_margin() {
        insta::assert_snapshot!(said(&examples::question(), 3, 1.0), @"p30 took 1.04 times as long as local-ssd (95 % interval 1.03 to 1.05, 3 blocks): no difference larger than 5 %.");
    }

    #[test]
    fn too_few_blocks_are_said_with_how_many_would_do() {
        insta::assert_snapshot!(said(&examples::question(), 3, 1.05), @"p30 took 1.14 times as long as local-ssd (95 % interval 1.03 to 1.27, 3 blocks): slower.");
        insta::assert_snapshot!(said(&examples::question(), 1, 1.5), @"p30 took 1.56 times as long as local-ssd (1 block, no interval): cannot tell from one block.");
    }

    #[test]
    fn more_throughput_is_faster() {
        let question = Question {
            metric: "mb_per_s".into(),
            ..examples::question()
        };

        insta::assert_snapshot!(said(&question, 3, 3.0), @"p30 had 4.54 times the throughput of local-ssd (95 % interval 1.56 to 13.2, 3 blocks): faster.");
    }
}
