//! The verdict as a sentence.

use super::words;
use crate::findings::{
    Agreement, Arm, Cheapest, Comparison, NoiseFloor, Ratio, StopsHelping, Undecided, UnknownCause,
    Verdict,
};
use catalogue::is_delivered;
use table::quantity::{number, percent, percent_signed, ratios, usd};

/// The metric that is a time: its ratios are reported as faster or slower.
const ELAPSED: &str = "elapsed_s";

/// A comparison as a sentence, the answer first: `p30 and local-ssd tie (within 5 %): 1.04x the elapsed time (95 % CI
/// 1.02-1.06, 5 blocks).`
pub fn verdict(comparison: &Comparison) -> String {
    let answer = answer(comparison);
    match made_of(comparison) {
        Some(made_of) => format!("{answer} {made_of}"),
        None => answer,
    }
}

fn answer(comparison: &Comparison) -> String {
    let Comparison {
        baseline,
        candidate,
        metric,
        ..
    } = comparison;
    let seen = &comparison.ratio;
    let basis = |seen: &Ratio| basis(seen, comparison.blocks);
    let [mean, ..] = shown(seen);
    let times = format!("{mean}x the {}", what(metric));
    if let Some(withheld) = comparison.withheld {
        return format!(
            "{candidate} vs {baseline}: no verdict: {}; {times} ({}).",
            withheld.reason(),
            basis(seen)
        );
    }
    match comparison.verdict {
        Verdict::NoDifference => format!(
            "{candidate} and {baseline} tie (within {}): {times} ({}).",
            percent(comparison.margin),
            basis(seen)
        ),
        Verdict::CannotTell => format!(
            "{candidate} vs {baseline}: inconclusive: {times} ({}); {}.",
            basis(seen),
            unsettled(comparison)
        ),
        Verdict::Faster if metric == ELAPSED => {
            let inverse = inverse(seen);
            format!(
                "{candidate} is {}x faster than {baseline} ({}).",
                shown(&inverse)[0],
                basis(&inverse)
            )
        }
        Verdict::Slower if metric == ELAPSED => format!(
            "{candidate} is {mean}x slower than {baseline} ({}).",
            basis(seen)
        ),
        Verdict::Faster => format!(
            "{candidate}: {times} of {baseline} ({}), faster.",
            basis(seen)
        ),
        Verdict::Slower => format!(
            "{candidate}: {times} of {baseline} ({}), slower.",
            basis(seen)
        ),
    }
}

fn inverse(ratio: &Ratio) -> Ratio {
    Ratio {
        mean: 1.0 / ratio.mean,
        low: 1.0 / ratio.high,
        high: 1.0 / ratio.low,
    }
}

/// Causes with a smaller share of the variance are left out.
const SHARE_MIN: f64 = 0.15;

/// What an interval that is wider than the margin is made of, what would narrow it, and the interval without it: `Mostly the write
/// latency of azure-premium, 1.3 to 3.9 ms: calibrate such a disk to narrow it; were it typical: 1.40-1.42.`
fn made_of(comparison: &Comparison) -> Option<String> {
    let unknown = comparison.unknown.as_ref()?;
    let Ratio { low, high, .. } = comparison.ratio;
    if high / low <= 1.0 + comparison.margin {
        return None;
    }
    let causes = unknown.causes.iter().take(2);
    let causes: Vec<&UnknownCause> = causes.filter(|cause| cause.share >= SHARE_MIN).collect();
    let range = |cause: &&UnknownCause| {
        let (low, high) = (number(cause.low), number(cause.high));
        match cause.unit.as_str() {
            "" => {
                let known = match is_delivered(&cause.name) {
                    true => "documented",
                    false => "assumed",
                };
                format!("the {}, {low} to {high} times what is {known}", cause.name)
            }
            unit => format!("the {}, {low} to {high} {unit}", cause.name),
        }
    };
    let of: Vec<String> = causes.iter().map(range).collect();
    let is_disks = |cause: &&UnknownCause| !cause.unit.is_empty() || is_delivered(&cause.name);
    let are_disks = causes.iter().all(is_disks);
    let remedy = match are_disks {
        true => "calibrate such a disk, or record the server",
        false => "record the server",
    };
    let is_inverse = comparison.verdict == Verdict::Faster
        && comparison.metric == ELAPSED
        && comparison.withheld.is_none();
    let typical = match is_inverse {
        true => inverse(&unknown.typical),
        false => unknown.typical,
    };
    let [_, low, high] = shown(&typical);
    (!of.is_empty()).then(|| {
        format!(
            "The interval is mostly {}: {remedy} to narrow it. Were it typical: {low}-{high}.",
            of.join(", and ")
        )
    })
}

/// Where more stops helping: `gp3: volume.d.iops stops helping at 6000: 12000 and 16000 are no more than 5 % better.`
pub(super) fn stops_helping(stops: &StopsHelping) -> String {
    let StopsHelping {
        of,
        key,
        values,
        earliest,
        latest,
        ..
    } = stops;
    let values: Vec<&str> = values.iter().map(|value| &*value.value).collect();
    let margin = percent(stops.margin);
    if let Some(withheld) = stops.withheld {
        return format!(
            "{of}: no verdict on where {key} stops helping: {}.",
            withheld.reason()
        );
    }
    if earliest != latest {
        let needed = needed(stops.blocks_needed);
        return format!(
            "{of}: inconclusive where {key} stops helping, from {earliest} to {latest}{needed}."
        );
    }
    let later = values.iter().skip_while(|value| *value != earliest).skip(1);
    let later: Vec<&str> = later.copied().collect();
    match later.split_last() {
        None => format!("{of}: {key} still helps at {latest}, the last value."),
        Some((last, [])) => format!(
            "{of}: {key} stops helping at {latest}: {last} is no more than {margin} better."
        ),
        Some((last, others)) => format!(
            "{of}: {key} stops helping at {latest}: {} and {last} are no more than {margin} better.",
            others.join(", ")
        ),
    }
}

/// `; about 6 blocks in all would settle it`.
fn needed(blocks: Option<u32>) -> String {
    blocks.map_or_else(String::new, |blocks| {
        format!("; about {blocks} blocks in all would settle it")
    })
}

/// What to buy: `Cheapest arm no more than 5 % worse than local-ssd: p30, at $135 a month for its disks instead of
/// $300.`
pub(super) fn cheapest(cheapest: &Cheapest) -> String {
    let Cheapest {
        arm,
        usd_per_month,
        best,
        undecided,
        ..
    } = cheapest;
    let price = usd(*usd_per_month);
    let of = match cheapest.with_machine {
        true => "with its machine",
        false => "for its disks",
    };
    let open: Vec<String> = undecided.iter().map(self::undecided).collect();
    let open = open.join(", ");
    let with_credits_spent = cheapest.sustained.as_ref().map(|sustained| {
        let then = match &sustained.arm == arm {
            true => "it is the same arm".to_owned(),
            false => format!("it is {}, at ${} a month", sustained.arm, usd(sustained.usd_per_month)),
        };
        format!(
            " This holds while burst credits last; with credits spent, {then}, estimated from the rates that limits \
             sustain: run it with --sustained for that."
        )
    });
    let while_they_last = match cheapest.on_credits {
        true => " This holds while burst credits last; run it with --sustained for what holds after that.".to_owned(),
        false => String::new(),
    };
    let with_credits_spent = with_credits_spent.unwrap_or(while_they_last);
    let settled = match (arm == best, undecided.is_empty()) {
        (true, true) => format!(
            "Cheapest arm no more than {} worse than the best: {arm}, the best itself, at ${price} a month {of}.",
            percent(cheapest.margin)
        ),
        (true, false) => format!(
            "Cheapest arm not settled: {arm}, at ${price} a month {of}, has the best mean, and was not \
             told apart from: {open}."
        ),
        (false, settled) => {
            let instead = cheapest
                .best_usd_per_month
                .map_or_else(String::new, |best| format!(" instead of ${}", usd(best)));
            let open = match settled {
                true => String::new(),
                false => format!(" These cost less, and were not told apart from {best}: {open}."),
            };
            format!(
                "Cheapest arm no more than {} worse than {best}: {arm}, at ${price} a month \
                 {of}{instead}.{open}",
                percent(cheapest.margin)
            )
        }
    };
    format!("{settled}{with_credits_spent}")
}

/// `p30 ($135; about 6 blocks in all would settle it)`.
fn undecided(undecided: &Undecided) -> String {
    let Undecided {
        arm,
        usd_per_month,
        blocks_needed,
    } = undecided;
    let needed = needed(*blocks_needed);
    format!("{arm} (${}{needed})", usd(*usd_per_month))
}

/// `Median error of 16 predicted figures against the published ones: 2.9 %; largest: +64 %, io1-1000 operations_per_s.`
pub(super) fn agreement(found: &Agreement) -> String {
    format!(
        "Median error of {} predicted figures against the published ones: {}; largest: {}, {}.",
        found.figures,
        percent(found.median),
        percent_signed(found.worst),
        found.worst_of
    )
}

/// The result of the twins.
pub(super) fn noise_floor(floor: &NoiseFloor) -> String {
    let [mean, low, high] = shown(&floor.ratio);
    format!(
        "Noise floor: {} against its own twin, {} {mean} times ({low} to {high}).",
        floor.arm,
        words::metric(&floor.metric)
    )
}

/// A drill's findings for an arm.
pub(super) fn survived(arm: &Arm) -> Option<String> {
    let survived = arm.survived.as_ref()?;
    Some(survived.sentence(&arm.name))
}

/// A metric as something to have more or less of.
fn what(metric: &str) -> String {
    let words = words::metric(metric);
    match metric {
        ELAPSED => "elapsed time".to_owned(),
        "mb_per_s" | "iops" => words,
        _ if metric.ends_with("_per_s") => format!("{words} per second"),
        _ => words,
    }
}

fn basis(seen: &Ratio, blocks: u32) -> String {
    if blocks < 2 {
        return "1 block, no interval".into();
    }
    let [_, low, high] = shown(seen);
    format!("95 % CI {low}-{high}, {blocks} blocks")
}

/// Mean, low and high.
pub(super) fn shown(seen: &Ratio) -> [String; 3] {
    ratios([seen.mean, seen.low, seen.high])
}

/// What would settle an inconclusive comparison.
fn unsettled(comparison: &Comparison) -> String {
    match comparison.blocks_needed {
        Some(needed) => format!("about {needed} blocks in all would settle it"),
        None if comparison.blocks < 2 => "one block is not enough".into(),
        None if comparison.unknown.is_some() => "more blocks would not settle it".into(),
        None => format!(
            "it is too close to the margin of {} for more blocks to settle",
            percent(comparison.margin)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::Unknown;
    use crate::findings::{Question, make};
    use catalogue::delivered_by;
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
        insta::assert_snapshot!(said(&examples::question(), 3, 1.0), @"p30 and local-ssd tie (within 5 %): 1.04x the elapsed time (95 % CI 1.03-1.05, 3 blocks).");
    }

    #[test]
    fn too_few_blocks_are_said_with_how_many_would_do() {
        insta::assert_snapshot!(said(&examples::question(), 3, 1.05), @"p30 is 1.14x slower than local-ssd (95 % CI 1.03-1.27, 3 blocks).");
        insta::assert_snapshot!(said(&examples::question(), 1, 1.5), @"p30 vs local-ssd: inconclusive: 1.56x the elapsed time (1 block, no interval); one block is not enough.");
    }

    #[test]
    fn less_time_is_reported_as_how_much_faster() {
        let comparison = Comparison {
            baseline: "local-ssd".into(),
            candidate: "p30".into(),
            metric: ELAPSED.into(),
            ratio: Ratio {
                mean: 0.07,
                low: 0.068,
                high: 0.072,
            },
            verdict: Verdict::Faster,
            margin: 0.05,
            blocks: 3,
            blocks_needed: None,
            withheld: None,
            unknown: None,
        };
        // 1 / 0.07 = 14.29, 1 / 0.072 = 13.89, 1 / 0.068 = 14.71
        insta::assert_snapshot!(verdict(&comparison), @"p30 is 14.3x faster than local-ssd (95 % CI 13.9-14.7, 3 blocks).");
    }

    #[test]
    fn more_throughput_is_faster() {
        let question = Question {
            metric: "mb_per_s".into(),
            ..examples::question()
        };

        insta::assert_snapshot!(said(&question, 3, 3.0), @"p30: 4.54x the throughput of local-ssd (95 % CI 1.56-13.21, 3 blocks), faster.");
    }

    #[test]
    fn a_wide_interval_says_what_it_is_made_of_and_what_would_narrow_it() {
        let findings = make(&examples::question(), &examples::records());
        let cause = |name: &str, share, low, high, unit: &str| UnknownCause {
            name: name.into(),
            share,
            low,
            high,
            unit: unit.into(),
        };
        let mut comparison = findings.comparisons[0].clone();
        comparison.ratio = Ratio {
            mean: 1.5,
            low: 1.1,
            high: 2.0,
        };
        comparison.unknown = Some(Unknown {
            causes: vec![
                cause("write latency of azure-premium", 0.8, 1.3, 3.9, "ms"),
                cause("processor time of statements", 0.16, 0.25, 4.0, ""),
                cause("read latency of azure-premium", 0.02, 1.0, 2.0, "ms"),
            ],
            typical: Ratio {
                mean: 1.41,
                low: 1.4,
                high: 1.42,
            },
        });
        insta::assert_snapshot!(
            made_of(&comparison).expect("it is wide"),
            @"The interval is mostly the write latency of azure-premium, 1.30 to 3.90 ms, and the processor time of statements, 0.250 to 4 times what is assumed: record the server to narrow it. Were it typical: 1.40-1.42."
        );
        let unknown = comparison.unknown.as_mut().expect("it was given");
        unknown.causes = vec![
            cause(&delivered_by("aws-gp"), 0.6, 0.909, 1.1, ""),
            cause("read latency of aws-gp", 0.3, 0.2, 0.8, "ms"),
        ];
        insta::assert_snapshot!(made_of(&comparison).expect("it is wide"), @"The interval is mostly the delivered part of the limits of aws-gp, 0.909 to 1.10 times what is documented, and the read latency of aws-gp, 0.200 to 0.800 ms: calibrate such a disk, or record the server to narrow it. Were it typical: 1.40-1.42.");
        let unknown = comparison.unknown.as_mut().expect("it was given");
        unknown.causes[1] = cause("I/O of order-entry", 0.3, 0.5, 1.9, "");
        insta::assert_snapshot!(made_of(&comparison).expect("it is wide"), @"The interval is mostly the delivered part of the limits of aws-gp, 0.909 to 1.10 times what is documented, and the I/O of order-entry, 0.500 to 1.90 times what is assumed: record the server to narrow it. Were it typical: 1.40-1.42.");
        comparison.ratio.high = 1.14;
        assert_eq!(made_of(&comparison), None, "narrower than the margin");
    }
}
