//! A mean with its interval between trials.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The confidence level of intervals.
pub const CONFIDENCE: f64 = 0.95;

/// A mean with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Mean of the samples.
    pub mean: f64,
    /// Lower end of the interval; equal to the mean for a single sample, which has no interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Number of samples.
    pub n: usize,
}

/// What an interval is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Within {
    /// The mean over blocks, which differ by chance: more blocks narrow it.
    Chance,
    /// A single block, each of which drew uncertain values: more blocks find its ends better, and do not narrow it.
    Unknown,
}

/// The mean of `samples` with its two-sided interval by Student's t; `None` for no samples.
///
/// Assumes that samples are independent and roughly normal, as means of whole trials tend to be. Where blocks drew what is
/// unknown and all samples are positive, it works on their logarithms, and the mean is the geometric one.
///
/// Source: Student, "The probable error of a mean", Biometrika 6, 1908.
pub fn estimate(samples: &[f64], within: Within) -> Option<Estimate> {
    let n = samples.len();
    if n == 0 {
        return None;
    }
    let is_positive = samples.iter().all(|sample| *sample > 0.0);
    if within == Within::Unknown && is_positive {
        // What is drawn are factors: the interval of their logarithms does not reach below zero.
        let logs: Vec<f64> = samples.iter().map(|sample| sample.ln()).collect();
        let half = half_width(deviation(&logs), n, within).unwrap_or(0.0);
        let middle = mean(&logs);
        return Some(Estimate {
            mean: middle.exp(),
            low: (middle - half).exp(),
            high: (middle + half).exp(),
            n,
        });
    }
    let mean = mean(samples);
    let half = half_width(deviation(samples), n, within).unwrap_or(0.0);
    Some(Estimate {
        mean,
        low: mean - half,
        high: mean + half,
        n,
    })
}

/// Half the width of the interval around the mean of `n` samples that deviate by `deviation`; `None`
/// when `n` is below 2.
///
/// Of a further sample, the deviation of the mean is added to its own.
///
/// Source: Hahn and Meeker, *Statistical Intervals*, 1991, section 4.7.
pub(super) fn half_width(deviation: f64, n: usize, within: Within) -> Option<f64> {
    if n < 2 {
        return None;
    }
    let t = students_t(n - 1).inverse_cdf(0.5 + CONFIDENCE / 2.0);
    let of_mean = 1.0 / n as f64;
    let variance = match within {
        Within::Chance => of_mean,
        Within::Unknown => 1.0 + of_mean,
    };
    Some(t * deviation * variance.sqrt())
}

/// The probability that `|t|` is at least this large if there is no effect. An effect without any scatter (`t` infinite)
/// has probability 0; no effect without any scatter (`t` is NaN) has 1.
pub(super) fn chance_of(t: f64, freedom: usize) -> f64 {
    if t.is_nan() {
        1.0
    } else if t.is_infinite() {
        0.0
    } else {
        2.0 * students_t(freedom).sf(t.abs())
    }
}

/// The mean; NaN for no samples.
pub(super) fn mean(samples: &[f64]) -> f64 {
    samples.iter().sum::<f64>() / samples.len() as f64
}

/// The standard deviation of a sample (divided by n - 1); 0 below two samples.
///
/// Exactly 0 for equal samples, whatever rounding does to their mean.
pub(super) fn deviation(samples: &[f64]) -> f64 {
    if samples.len() < 2 || samples.iter().all(|sample| *sample == samples[0]) {
        return 0.0;
    }
    let mean = mean(samples);
    let squares: f64 = samples.iter().map(|sample| (sample - mean).powi(2)).sum();
    (squares / (samples.len() - 1) as f64).sqrt()
}

fn students_t(freedom: usize) -> StudentsT {
    StudentsT::new(0.0, 1.0, freedom as f64)
        .expect("a scale of 1 and at least one degree of freedom are valid")
}

#[cfg(test)]
mod tests {
    use super::super::samples::normal;
    use super::*;

    #[test]
    fn five_samples_have_the_textbook_interval() {
        // mean 3, s = sqrt(2.5), t(4; 0.975) = 2.776445: 2.776445 x 1.581139 / sqrt(5) = 1.963243
        let estimate = estimate(&[1.0, 2.0, 3.0, 4.0, 5.0], Within::Chance).unwrap();

        assert_eq!((estimate.mean, estimate.n), (3.0, 5));
        assert!((estimate.low - (3.0 - 1.963_243)).abs() < 1e-5);
        assert!((estimate.high - (3.0 + 1.963_243)).abs() < 1e-5);
    }

    #[test]
    fn one_sample_has_a_mean_and_no_width() {
        let estimate = estimate(&[7.0], Within::Chance).unwrap();

        assert_eq!(
            (estimate.low, estimate.mean, estimate.high),
            (7.0, 7.0, 7.0)
        );
    }

    #[test]
    fn identical_samples_have_no_width() {
        let estimate = estimate(&[0.1; 7], Within::Chance).unwrap();

        assert_eq!(estimate.low, estimate.high);
    }

    #[test]
    fn no_samples_have_no_estimate() {
        assert_eq!(estimate(&[], Within::Chance), None);
    }

    #[test]
    fn two_samples_have_a_wide_interval() {
        // mean 2, s = sqrt 2, t(1; 0.975) = 12.706205: 12.706205 x 1.414214 / sqrt 2 = 12.706205
        let estimate = estimate(&[1.0, 3.0], Within::Chance).unwrap();

        assert!((estimate.low - (2.0 - 12.706_205)).abs() < 1e-5);
        assert!((estimate.high - (2.0 + 12.706_205)).abs() < 1e-5);
    }

    #[test]
    fn the_chance_of_t_is_the_tables() {
        // Student's table: |t| at least 2.776445 with 4 degrees, or 12.706205 with 1, in 5 of 100.
        for (t, freedom) in [(2.776_445, 4), (-2.776_445, 4), (12.706_205, 1)] {
            let chance = chance_of(t, freedom);
            assert!((chance - 0.05).abs() < 1e-6, "{t}: {chance}");
        }
        assert_eq!(chance_of(0.0, 4), 1.0);
        assert_eq!(chance_of(f64::INFINITY, 4), 0.0);
        assert_eq!(chance_of(f64::NEG_INFINITY, 4), 0.0);
        assert_eq!(chance_of(f64::NAN, 4), 1.0);
    }

    #[test]
    fn the_deviation_is_that_of_a_sample() {
        // mean 5, squares 9 + 1 + 1 + 1 + 0 + 0 + 4 + 16 = 32, over 8 - 1
        let samples = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert!((deviation(&samples) - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!(deviation(&[]), 0.0);
        assert_eq!(deviation(&[3.0]), 0.0);
    }

    #[test]
    fn the_interval_holds_the_true_mean_95_times_in_100() {
        let mut random = model::random::stream(1, "coverage");
        let tries = 4_000;

        let held = (0..tries)
            .filter(|_| {
                let estimate =
                    estimate(&normal(&mut random, 100.0, 7.0, 5), Within::Chance).unwrap();
                estimate.low <= 100.0 && 100.0 <= estimate.high
            })
            .count();

        // binomial: 0.95 +- 3 x sqrt(0.95 x 0.05 / 4000) = 0.95 +- 0.0103
        let share = held as f64 / f64::from(tries);
        assert!((share - 0.95).abs() < 0.0104, "{share}");
    }

    #[test]
    fn an_interval_of_the_unknown_holds_a_further_block_95_times_in_100() {
        let mut random = model::random::stream(1, "further");
        let tries = 4_000;

        let held = (0..tries)
            .filter(|_| {
                let drawn = normal(&mut random, 0.0, 0.4, 11);
                let drawn: Vec<f64> = drawn.into_iter().map(f64::exp).collect();
                let (further, blocks) = drawn.split_first().unwrap();
                let estimate = estimate(blocks, Within::Unknown).unwrap();
                estimate.low <= *further && *further <= estimate.high
            })
            .count();

        // binomial: 0.95 +- 3 x sqrt(0.95 x 0.05 / 4000) = 0.95 +- 0.0103
        let share = held as f64 / f64::from(tries);
        assert!((share - 0.95).abs() < 0.0104, "{share}");
    }

    #[test]
    fn with_more_blocks_the_interval_of_the_unknown_converges_to_its_own_and_that_of_chance_to_nothing()
     {
        let mut random = model::random::stream(1, "converges");
        let drawn = normal(&mut random, 0.0, 0.4, 4_000);
        let drawn: Vec<f64> = drawn.into_iter().map(f64::exp).collect();
        let width = |within| {
            let estimate = estimate(&drawn, within).unwrap();
            (estimate.high / estimate.low).ln()
        };
        // 2 x 1.96 x 0.4 = 1.568; its standard error is that of a deviation, 0.4 / sqrt(2 x 4000), times 3.92: 0.0175.
        assert!((width(Within::Unknown) - 1.568).abs() < 0.053);
        assert!(width(Within::Chance) < 0.03);
    }
}
