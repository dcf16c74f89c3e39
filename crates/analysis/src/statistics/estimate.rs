//! A mean with its interval between trials.

use super::moments::mean;
use super::scatter::{Scatter, Within};

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

/// The mean of `samples` with its two-sided interval; `None` for no samples.
///
/// Assumes that samples are independent and roughly normal, as means of whole trials tend to be. Where blocks drew what is
/// unknown and all samples are positive, it works on their logarithms, and the mean is the geometric one.
pub fn estimate(samples: &[f64], within: &Within) -> Option<Estimate> {
    let n = samples.len();
    if n == 0 {
        return None;
    }
    let interval = |values: &[f64]| {
        let middle = mean(values);
        let half = Scatter::of(values, within).half(n).unwrap_or(0.0);
        [middle, middle - half, middle + half]
    };
    let is_drawn = matches!(within, Within::Unknown(_));
    let [mean, low, high] = match is_drawn && samples.iter().all(|sample| *sample > 0.0) {
        // What is drawn are factors: the interval of their logarithms does not reach below zero.
        true => {
            let logs: Vec<f64> = samples.iter().map(|sample| sample.ln()).collect();
            interval(&logs).map(f64::exp)
        }
        false => interval(samples),
    };
    Some(Estimate { mean, low, high, n })
}

#[cfg(test)]
mod tests {
    use super::super::samples::normal;
    use super::*;

    #[test]
    fn five_samples_have_the_textbook_interval() {
        // mean 3, s = sqrt(2.5), t(4; 0.975) = 2.776445: 2.776445 x 1.581139 / sqrt(5) = 1.963243
        let estimate = estimate(&[1.0, 2.0, 3.0, 4.0, 5.0], &Within::Chance).unwrap();

        assert_eq!((estimate.mean, estimate.n), (3.0, 5));
        assert!((estimate.low - (3.0 - 1.963_243)).abs() < 1e-5);
        assert!((estimate.high - (3.0 + 1.963_243)).abs() < 1e-5);
    }

    #[test]
    fn one_sample_has_a_mean_and_no_width() {
        let estimate = estimate(&[7.0], &Within::Chance).unwrap();

        assert_eq!(
            (estimate.low, estimate.mean, estimate.high),
            (7.0, 7.0, 7.0)
        );
    }

    #[test]
    fn identical_samples_have_no_width() {
        let estimate = estimate(&[0.1; 7], &Within::Chance).unwrap();

        assert_eq!(estimate.low, estimate.high);
    }

    #[test]
    fn no_samples_have_no_estimate() {
        assert_eq!(estimate(&[], &Within::Chance), None);
    }

    #[test]
    fn two_samples_have_a_wide_interval() {
        // mean 2, s = sqrt 2, t(1; 0.975) = 12.706205: 12.706205 x 1.414214 / sqrt 2 = 12.706205
        let estimate = estimate(&[1.0, 3.0], &Within::Chance).unwrap();

        assert!((estimate.low - (2.0 - 12.706_205)).abs() < 1e-5);
        assert!((estimate.high - (2.0 + 12.706_205)).abs() < 1e-5);
    }

    #[test]
    fn the_interval_holds_the_true_mean_95_times_in_100() {
        let mut random = model::random::stream(1, "coverage");
        let tries = 4_000;

        let held = (0..tries)
            .filter(|_| {
                let estimate =
                    estimate(&normal(&mut random, 100.0, 7.0, 5), &Within::Chance).unwrap();
                estimate.low <= 100.0 && 100.0 <= estimate.high
            })
            .count();

        // binomial: 0.95 +- 3 x sqrt(0.95 x 0.05 / 4000) = 0.95 +- 0.0103
        let share = held as f64 / f64::from(tries);
        assert!((share - 0.95).abs() < 0.0104, "{share}");
    }
}
