//! How close our figures are to published ones, all of them together.

use super::{Agreement, Arm, Published, PublishedPoint};
use experiment::question::Question;
use experiment::spec::Mode;

/// With fewer figures no median is reported.
const FIGURES_MIN: usize = 4;

/// Over all figures of arms without fitted parameters; `None` where there are few, or where they do not predict the
/// published settings.
pub(super) fn of(question: &Question, mode: Option<Mode>, arms: &[Arm]) -> Option<Agreement> {
    if mode != Some(Mode::Simulate) || !question.changed.is_empty() {
        return None;
    }
    let own = arms.iter().filter(|arm| !arm.fitted);
    let mut off: Vec<(f64, String)> = own.flat_map(deviations).collect();
    if off.len() < FIGURES_MIN {
        return None;
    }
    off.sort_by(|(one, _), (other, _)| one.abs().total_cmp(&other.abs()));
    let sizes: Vec<f64> = off.iter().map(|(share, _)| share.abs()).collect();
    let points = arms.iter().filter_map(|arm| {
        let Published::Number(published) = arm.published.get(&question.metric)? else {
            return None;
        };
        let ours = arm.metrics.get(&question.metric)?.mean;
        // Drawn on a logarithmic scale.
        (*published > 0.0 && ours > 0.0).then(|| PublishedPoint {
            arm: arm.name.clone(),
            published: *published,
            ours,
            fitted: arm.fitted,
        })
    });
    let points: Vec<PublishedPoint> = points.collect();
    let (worst, worst_of) = off.pop()?;
    Some(Agreement {
        figures: u32::try_from(sizes.len()).unwrap_or(u32::MAX),
        median: median(&sizes),
        worst,
        worst_of,
        metric: question.metric.clone(),
        points,
    })
}

/// The deviation of each of an arm's figures, as a share of the published one, and its name.
fn deviations(arm: &Arm) -> impl Iterator<Item = (f64, String)> + '_ {
    arm.published.iter().filter_map(|(name, published)| {
        let share = published.deviation(arm.metrics.get(name)?.mean)?;
        Some((share, format!("{} {name}", arm.name)))
    })
}

/// The median of sorted values; there must be at least one.
fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    match sorted.len() % 2 {
        0 => f64::midpoint(sorted[middle - 1], sorted[middle]),
        _ => sorted[middle],
    }
}

#[cfg(test)]
mod tests {
    use super::super::make;
    use super::*;
    use experiment::examples::{question, records};
    use experiment::question::ArmQuestion;

    /// The examples, with these shares of our own figures published for each arm.
    fn published(shares: [&[(&str, f64)]; 2]) -> Question {
        let question = question();
        let found = make(&question, &records());
        let arms = question.arms.iter().zip(shares).map(|(arm, shares)| {
            let ours = found.arms.iter().find(|other| other.name == arm.name);
            let ours = ours.expect("every arm was run");
            let figure = |(name, share): &(&str, f64)| {
                let published = ours.metrics[*name].mean / (1.0 + share);
                ((*name).to_owned(), Published::Number(published))
            };
            ArmQuestion {
                published: shares.iter().map(figure).collect(),
                fitted: false,
                ..arm.clone()
            }
        });
        let arms = arms.collect();
        Question { arms, ..question }
    }

    #[test]
    fn the_median_and_the_largest_error_of_all_figures_are_reported() {
        let question = published([
            &[("elapsed_s", 0.01), ("mb_per_s", -0.40)],
            &[("elapsed_s", 0.05), ("mb_per_s", 0.02)],
        ]);
        let found = make(&question, &records()).agreement.expect("four figures");
        let close = |one: f64, other: f64| assert!((one - other).abs() < 1e-9, "{one}, {other}");
        assert_eq!(found.figures, 4);
        close(found.median, 0.035);
        close(found.worst, -0.40);
        assert_eq!(
            found.worst_of,
            format!("{} mb_per_s", question.arms[0].name)
        );
        assert_eq!(
            found.points.len(),
            2,
            "one for each arm, by the main metric"
        );
        close(found.points[1].ours / found.points[1].published, 1.05);
        let findings = make(&question, &records());
        let report = crate::report::run::report(&findings);
        let sentence = crate::report::markdown::render(&report);
        let words: Vec<&str> = sentence.split_whitespace().collect();
        let expected = "Median error of 4 predicted figures against the published ones: 3.5 %; largest: -40 %,";
        assert!(words.join(" ").contains(expected), "{sentence}");
    }

    #[test]
    fn nothing_is_reported_of_other_settings_and_of_other_modes() {
        let four = published([
            &[("elapsed_s", 0.01), ("mb_per_s", -0.40)],
            &[("elapsed_s", 0.05), ("mb_per_s", 0.02)],
        ]);
        let quick = Question {
            changed: vec!["quick settings".to_owned()],
            ..four.clone()
        };
        assert_eq!(make(&quick, &records()).agreement, None);
        let emulated = Question {
            mode: "emulate".to_owned(),
            ..four
        };
        assert_eq!(make(&emulated, &records()).agreement, None);
    }

    #[test]
    fn of_three_figures_and_of_fitted_ones_nothing_is_reported() {
        let three = published([
            &[("elapsed_s", 0.01), ("mb_per_s", -0.40)],
            &[("elapsed_s", 0.05)],
        ]);
        assert_eq!(make(&three, &records()).agreement, None);
        let mut four = published([
            &[("elapsed_s", 0.01), ("mb_per_s", -0.40)],
            &[("elapsed_s", 0.05), ("mb_per_s", 0.02)],
        ]);
        four.arms[0].fitted = true;
        assert_eq!(make(&four, &records()).agreement, None);
    }
}
