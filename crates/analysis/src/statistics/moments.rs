//! Means, deviations and quantiles.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// The confidence level of intervals.
pub const CONFIDENCE: f64 = 0.95;

/// Standard deviations, or of a sample of `freedom` degrees estimated ones, on either side of the mean that hold as much.
///
/// Source: Student, "The probable error of a mean", Biometrika 6, 1908.
pub(super) fn reach(freedom: Option<usize>) -> f64 {
    let below = 0.5 + CONFIDENCE / 2.0;
    match freedom {
        Some(freedom) => students_t(freedom).inverse_cdf(below),
        None => Normal::standard().inverse_cdf(below),
    }
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
    use super::*;

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
    fn as_many_deviations_as_the_tables_have() {
        for (freedom, expected) in [
            (Some(4), 2.776_445),
            (Some(1), 12.706_205),
            (None, 1.959_964),
        ] {
            assert!((reach(freedom) - expected).abs() < 1e-5, "{freedom:?}");
        }
    }
}
