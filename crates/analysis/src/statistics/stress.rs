//! The average that SQLQueryStress shows, beside the mean of all samples.

use model::Duration;

/// The resolution of elapsed times in `SET STATISTICS TIME`.
const RESOLUTION: Duration = Duration::from_millis(1);

/// Two averages of the same iterations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StressAverages {
    /// What SQLQueryStress shows as "Actual Seconds/Iteration (Avg)"; `None` where it shows `---`.
    pub shown_s: Option<f64>,
    /// The mean of all iterations; `None` where there are none.
    pub mean_s: Option<f64>,
    /// Iterations.
    pub samples: u64,
    /// Iterations left out of the shown average.
    pub dropped: u64,
}

/// Both averages of iterations, given as server-side elapsed times with their counts.
///
/// SQLQueryStress divides the sum of the elapsed times by the number of those above 0, in whole milliseconds: the faster
/// the disks, the more iterations are dropped, and the average cannot fall below 1 ms. Source: ErikEJ/SqlQueryStress,
/// `src/SqlQueryStressCLI/LoadRunner.cs`, `ProcessQueryOutput` and `UpdateUi`,
/// and the same in `FormMain.cs` (read 2026-11-21).
///
/// Assumed: the server truncates to whole milliseconds, which its documentation does not specify. Not modelled:
/// SQLQueryStress adds up the times of all statements of a batch, each in whole milliseconds, with those of parsing and
/// compiling, so that a batch of several loses more than is counted here.
pub fn stress_averages(iterations: impl IntoIterator<Item = (Duration, u64)>) -> StressAverages {
    let (mut samples, mut counted) = (0_u64, 0_u64);
    let (mut elapsed_ns, mut whole) = (0_u128, 0_u128);
    for (elapsed, count) in iterations {
        let units = elapsed.as_nanos() / RESOLUTION.as_nanos();
        samples += count;
        elapsed_ns += u128::from(elapsed.as_nanos()) * u128::from(count);
        whole += u128::from(units) * u128::from(count);
        counted += if units > 0 { count } else { 0 };
    }
    let resolution_s = RESOLUTION.as_secs_f64();
    StressAverages {
        shown_s: (counted > 0).then(|| whole as f64 / counted as f64 * resolution_s),
        mean_s: (samples > 0).then(|| elapsed_ns as f64 / samples as f64 / 1e9),
        samples,
        dropped: samples - counted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn averages(iterations_us: &[u64]) -> StressAverages {
        let iterations = iterations_us.iter();
        stress_averages(iterations.map(|elapsed| (Duration::from_micros(*elapsed), 1)))
    }

    #[test]
    fn fast_iterations_drop_out_of_the_shown_average_only() {
        // Shown: (0 +) 1 + 2 + (0 +) 5 whole ms over the 3 that are above 0 = 8/3 ms. Mean: 0.25 + 1.75 +
        // 2 + 0.75 + 5.25 = 10 ms over 5 = 2 ms.
        let averages = averages(&[250, 1_750, 2_000, 750, 5_250]);
        assert_eq!(averages.shown_s, Some(8.0 / 3.0 * 0.001));
        assert_eq!(averages.mean_s, Some(0.002));
        assert_eq!((averages.samples, averages.dropped), (5, 2));
    }

    #[test]
    fn a_disk_twice_as_fast_can_show_the_same_average() {
        // Of 1,000 iterations, 10 take 1 ms on either; the others 800 us on one disk, and 400 us on the other.
        let of = |usual| {
            let usual = (Duration::from_micros(usual), 990);
            stress_averages([usual, (Duration::from_millis(1), 10)])
        };
        let (slow, fast) = (of(800), of(400));
        assert_eq!(slow.shown_s, Some(0.001));
        assert_eq!(slow.shown_s, fast.shown_s);
        assert_eq!((slow.dropped, fast.dropped), (990, 990));
        // 990 x 0.8 ms + 10 x 1 ms = 802 ms, and 406 ms, over 1,000.
        assert_eq!(
            (slow.mean_s, fast.mean_s),
            (Some(0.000_802), Some(0.000_406))
        );
    }

    #[test]
    fn nothing_is_shown_where_nothing_took_a_millisecond() {
        let averages = averages(&[999, 1]);
        assert_eq!(averages.shown_s, None);
        assert_eq!(averages.mean_s, Some(0.000_5));
        assert_eq!(averages.dropped, 2);
        let none = stress_averages([]);
        assert_eq!((none.shown_s, none.mean_s, none.dropped), (None, None, 0));
    }
}
