//! Which of several things that were drawn explains most of what blocks differ by.

use super::moments::{chance_of, deviation, mean, reach};

/// A probability below which something that was drawn counts as a cause.
const CHANCE_MAX: f64 = 0.05;
/// With fewer blocks, chance explains too much.
const BLOCKS_MIN: usize = 5;
/// How often slopes are fitted to what the others leave: by correlations between draws of up to 0.8, errors are below 1 in a million.
const SWEEPS: usize = 32;

/// What explains the variance of a value over blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    /// The one that explains most first.
    pub causes: Vec<Cause>,
    /// The value where every cause is zero: mean, low and high of the interval of chance.
    pub without: [f64; 3],
    /// The standard deviation of what the causes leave.
    pub(super) left: f64,
}

/// Something that was drawn and explains a part of the variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cause {
    /// Its position among what was drawn.
    pub at: usize,
    /// The share of the variance that it explains, 0 to 1; the sum over causes is at most 1.
    pub share: f64,
    /// By how much the value grows with it.
    pub(super) slope: f64,
}

/// Explains `values`, one a block, by `drawn`, of which each has one a block and zero as its typical value.
///
/// First-order: straight lines, one cause after the other, of which each takes what the ones before left; a cause counts where a
/// slope as large has a probability below 5 % over all that were drawn. Then all slopes together, as few draws are never quite
/// independent of each other.
/// `None` below five blocks.
///
/// Source: Saltelli and others, *Global Sensitivity Analysis*, 2008, section 1.2.5 (standardised regression coefficients).
///
/// # Panics
/// When a cause has not one value a block.
pub fn explain(values: &[f64], drawn: &[Vec<f64>]) -> Option<Explained> {
    explained(values, drawn, CHANCE_MAX / drawn.len().max(1) as f64)
}

/// The same with all that may be a cause: a slope as large has a probability below 5 % for each that was drawn. What is named by mistake
/// would mislead; of a width, it is as good as what it takes the place of.
pub(super) fn explain_width(values: &[f64], drawn: &[Vec<f64>]) -> Option<Explained> {
    explained(values, drawn, CHANCE_MAX)
}

fn explained(values: &[f64], drawn: &[Vec<f64>], chance_max: f64) -> Option<Explained> {
    assert!(drawn.iter().all(|cause| cause.len() == values.len()));
    let whole = deviation(values).powi(2);
    if values.len() < BLOCKS_MIN {
        return None;
    }
    let (mut left, mut causes) = (values.to_vec(), Vec::<Cause>::new());
    // Below that, what is left is the error of arithmetic.
    while deviation(&left).powi(2) > whole * 1e-12 && causes.len() + 3 < values.len() {
        let of_cause = |(at, cause): (usize, &Vec<f64>)| Some((at, Line::through(cause, &left)?));
        let lines = drawn.iter().enumerate().filter_map(of_cause);
        let best = lines.max_by(|(_, one), (_, other)| one.removes.total_cmp(&other.removes));
        let Some((at, line)) = best else { break };
        let freedom = values.len() - 2 - causes.len();
        let is_known = causes.iter().any(|known| known.at == at);
        if is_known || line.chance(freedom) >= chance_max {
            break;
        }
        let before = deviation(&left).powi(2);
        add(&mut left, -line.slope, &drawn[at]);
        let share = (before - deviation(&left).powi(2)) / whole;
        let slope = line.slope;
        causes.push(Cause { at, share, slope });
        refit(&mut causes, &mut left, drawn);
    }
    causes.sort_by(|one, other| other.share.total_cmp(&one.share));
    let middle = mean(&left);
    let n = left.len();
    let freedom = n - 1 - causes.len();
    let deviation_left = deviation(&left) * ((n - 1) as f64 / freedom as f64).sqrt();
    let half = reach(Some(freedom)) * deviation_left / (n as f64).sqrt();
    Some(Explained {
        left: deviation_left,
        causes,
        without: [middle, middle - half, middle + half],
    })
}

/// Least squares of all causes together: one line after the other through what all others leave, until that does not change.
fn refit(causes: &mut [Cause], left: &mut [f64], drawn: &[Vec<f64>]) {
    for _ in 0..SWEEPS {
        for cause in causes.iter_mut() {
            let Some(line) = Line::through(&drawn[cause.at], left) else {
                continue;
            };
            add(left, -line.slope, &drawn[cause.at]);
            cause.slope += line.slope;
        }
    }
}

fn add(left: &mut [f64], factor: f64, cause: &[f64]) {
    for (value, x) in left.iter_mut().zip(cause) {
        *value += factor * x;
    }
}

/// A straight line through the values of blocks.
struct Line {
    slope: f64,
    /// The sum of squares that it removes, and the one that it leaves.
    removes: f64,
    leaves: f64,
}

impl Line {
    /// The least-squares line; `None` where `x` does not vary.
    fn through(x: &[f64], y: &[f64]) -> Option<Line> {
        let (x_mean, y_mean) = (mean(x), mean(y));
        let product = |a: &[f64], a_mean: f64, b: &[f64], b_mean: f64| {
            let pairs = std::iter::zip(a, b);
            pairs.map(|(a, b)| (a - a_mean) * (b - b_mean)).sum::<f64>()
        };
        let xx = product(x, x_mean, x, x_mean);
        if xx <= 0.0 {
            return None;
        }
        let slope = product(x, x_mean, y, y_mean) / xx;
        let removes = slope * slope * xx;
        Some(Line {
            slope,
            removes,
            leaves: (product(y, y_mean, y, y_mean) - removes).max(0.0),
        })
    }

    /// The probability of a slope as large without an effect.
    fn chance(&self, freedom: usize) -> f64 {
        chance_of(
            (self.removes * freedom as f64 / self.leaves).sqrt(),
            freedom,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::normal;
    use super::*;

    #[test]
    fn causes_have_their_shares_and_what_is_left_is_chance() {
        let mut random = model::random::stream(1, "explained");
        let drawn: Vec<Vec<f64>> = (0..4).map(|_| normal(&mut random, 0.0, 1.0, 400)).collect();
        let chance = normal(&mut random, 0.0, 0.5, 400);
        // Variances 9, 1 and 0.25: shares of 0.88 and 0.10 of 10.25.
        let values: Vec<f64> = (0..400)
            .map(|block| 2.0 + 3.0 * drawn[2][block] - drawn[0][block] + chance[block])
            .collect();

        let explained = explain(&values, &drawn).unwrap();

        let causes: Vec<usize> = explained.causes.iter().map(|cause| cause.at).collect();
        assert_eq!(causes, [2, 0]);
        assert!(
            (explained.causes[0].share - 0.88).abs() < 0.04,
            "{explained:?}"
        );
        assert!(
            (explained.causes[1].share - 0.10).abs() < 0.04,
            "{explained:?}"
        );
        // 1.96 x 0.5 / sqrt(400) = 0.049 on either side of 2.
        let [middle, low, high] = explained.without;
        assert!(
            (middle - 2.0).abs() < 0.1 && (high - low - 0.098).abs() < 0.02,
            "{explained:?}"
        );
    }

    #[test]
    fn chance_alone_has_a_cause_less_than_6_times_in_100() {
        let mut random = model::random::stream(1, "no cause");
        let wrong = (0..1_000)
            .filter(|_| {
                let drawn: Vec<Vec<f64>> =
                    (0..5).map(|_| normal(&mut random, 0.0, 1.0, 10)).collect();
                let values = normal(&mut random, 0.0, 1.0, 10);
                !explain(&values, &drawn).unwrap().causes.is_empty()
            })
            .count();
        assert!(wrong < 60, "{wrong}");
    }

    #[test]
    fn a_straight_line_is_explained_whole() {
        let x: Vec<f64> = [-2.0, -1.0, 0.0, 1.0, 2.0, 3.0].into();
        let y: Vec<f64> = x.iter().map(|x| 1.0 + 2.0 * x).collect();
        let explained = explain(&y, &[x]).unwrap();
        assert_eq!(explained.causes.len(), 1);
        assert!((explained.causes[0].share - 1.0).abs() < 1e-9);
        assert!((explained.without[0] - 1.0).abs() < 1e-9);
    }

    #[test]
    fn blocks_that_do_not_differ_have_no_cause_and_four_have_no_explanation() {
        let x = vec![1.0, 2.0, 3.0, 4.0, 5.0];
        assert!(explain(&[7.0; 5], &[x]).unwrap().causes.is_empty());
        assert_eq!(
            explain(&[1.0, 2.0, 3.0, 4.0], &[vec![1.0, 2.0, 3.0, 4.0]]),
            None
        );
    }
}
