//! Detects trials of one arm that fall into two groups.

use super::moments::{deviation, mean};

/// The fewest samples that are searched for groups.
const SAMPLES_MIN: usize = 8;
/// The fewest samples that make a group.
const GROUP_MIN: usize = 3;
/// Distance of the groups, in their own widths, from which on they count as two.
///
/// Ashman's D above 2 separates two *known* normals. Here the split is searched for first, which alone yields some 2.8 on
/// a single normal; with 8, and the gap below, a single group is taken for two in fewer than 1 of 100 normal and 2 of 100
/// flat samples, from eight samples up (see the tests).
const DISTANCE_MIN: f64 = 8.0;
/// Empty space between the groups, as a share of the distance of their means.
const GAP_MIN: f64 = 0.5;

/// Two groups of samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Humps {
    /// Mean of the lower group.
    pub low: f64,
    /// Mean of the upper group.
    pub high: f64,
    /// Samples in the lower group.
    pub low_count: usize,
    /// Samples in the upper group.
    pub high_count: usize,
}

/// The two groups in `samples`, if there are any, each with at least a quarter of the samples and three of them; also
/// `None` below eight samples.
///
/// The split is where the spread within the groups is least (Otsu, IEEE Trans. SMC 9, 1979); the groups
/// are two when Ashman's D (Ashman, Bird and Zepf, Astronomical Journal 108, 1994) and the empty space
/// between them are large.
pub fn two_humps(samples: &[f64]) -> Option<Humps> {
    if samples.len() < SAMPLES_MIN || samples.iter().any(|sample| !sample.is_finite()) {
        return None;
    }
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = split(&sorted);
    let distance = mean(high) - mean(low);
    let gap = high[0] - low[low.len() - 1];
    let widths = deviation(low).hypot(deviation(high));
    let apart = std::f64::consts::SQRT_2 * distance > DISTANCE_MIN * widths;
    (apart && gap > GAP_MIN * distance).then(|| Humps {
        low: mean(low),
        high: mean(high),
        low_count: low.len(),
        high_count: high.len(),
    })
}

/// The split with the least sum of squares within its two parts, each at least a quarter of the whole and large enough to
/// be a group.
fn split(sorted: &[f64]) -> (&[f64], &[f64]) {
    let least = sorted.len().div_ceil(4).max(GROUP_MIN);
    let within = |part: &[f64]| deviation(part).powi(2) * (part.len() - 1) as f64;
    let spread = |at: usize| within(&sorted[..at]) + within(&sorted[at..]);
    let at = (least..=sorted.len() - least)
        .min_by(|a, b| spread(*a).total_cmp(&spread(*b)))
        .expect("a quarter from either end leaves a place between");
    sorted.split_at(at)
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::super::samples::normal;
    use super::*;

    #[test]
    fn two_groups_are_found_and_counted() {
        let humps =
            two_humps(&[10.0, 10.1, 20.0, 10.2, 20.1, 9.9, 20.2, 10.0]).expect("two groups");

        assert_eq!((humps.low_count, humps.high_count), (5, 3));
        assert!((humps.high - 20.1).abs() < 1e-9);
    }

    #[test]
    fn identical_samples_are_one_group() {
        assert_eq!(two_humps(&[5.0; 12]), None);
    }

    #[test]
    fn two_exact_values_are_two_groups() {
        assert!(two_humps(&[5.0, 5.0, 5.0, 5.0, 6.0, 6.0, 6.0, 6.0]).is_some());
    }

    #[test]
    fn a_sample_that_is_no_number_leaves_nothing_to_group() {
        for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut samples = [5.0, 5.0, 5.0, 5.0, 6.0, 6.0, 6.0, 6.0];
            assert!(two_humps(&samples).is_some());
            samples[3] = odd;
            assert_eq!(two_humps(&samples), None, "{odd}");
        }
    }

    #[test]
    fn a_group_is_a_quarter_of_the_samples_and_three_at_least() {
        let groups = |low: usize, high: usize| {
            let samples: Vec<f64> = [vec![1.0; low], vec![9.0; high]].concat();
            two_humps(&samples).map(|humps| (humps.low_count, humps.high_count))
        };
        assert_eq!(groups(3, 5), Some((3, 5)));
        assert_eq!(groups(5, 3), Some((5, 3)));
        assert_eq!(groups(2, 6), None);
        assert_eq!(groups(6, 2), None);
        // A quarter of 17 is 4.25, so 5.
        assert_eq!(groups(5, 12), Some((5, 12)));
        assert_eq!(groups(4, 13), None);
    }

    #[test]
    fn the_spread_of_a_group_counts_by_its_size() {
        // Sums of squares within {0, 2, 5, 9, 9} and {9, 12, 30}: 66 + 258 = 324, the least of the three splits
        // ({0, 2, 5} and the rest: 12.7 + 334.8 = 347.5). By variances, without weights, {0, 2, 5} would win:
        // 6.3 + 83.7 = 90.0 against 16.5 + 129 = 145.5.
        let sorted = [0.0, 2.0, 5.0, 9.0, 9.0, 9.0, 12.0, 30.0];
        assert_eq!(split(&sorted).0.len(), 5);
    }

    #[test]
    fn groups_are_two_from_a_distance_of_8_widths_on() {
        // 0 +- 1 and d +- 1, four each: s = sqrt(4 / 3) a group, widths sqrt(8 / 3) = 1.632993, so that
        // sqrt 2 x d = 8 x 1.632993 at d = 9.237604. The gap there is d - 2 > d / 2.
        let found = |d: f64| {
            two_humps(&[-1.0, 1.0, -1.0, 1.0, d - 1.0, d + 1.0, d - 1.0, d + 1.0]).is_some()
        };
        assert!(!found(9.23));
        assert!(found(9.25));
    }

    #[test]
    fn groups_are_two_with_a_gap_of_more_than_half_their_distance() {
        // 25 samples at 0 and one at x, 25 at 100 and one at 100 - x: means x / 26 and 100 - x / 26. The gap
        // 100 - 2 x is half of their distance 100 - x / 13 at x = 50 x 26 / 51 = 25.490196. Each s is
        // x / sqrt 26 = 5 there, so that the distance is large enough: sqrt 2 x 98 > 8 x 7.07.
        let found = |x: f64| {
            let stragglers = vec![x, 100.0 - x];
            let samples: Vec<f64> = [vec![0.0; 25], stragglers, vec![100.0; 25]].concat();
            two_humps(&samples).is_some()
        };
        assert!(found(25.4));
        assert!(!found(25.6));
    }

    #[test]
    fn seven_samples_are_too_few() {
        assert_eq!(two_humps(&[1.0, 1.0, 1.0, 9.0, 9.0, 9.0, 9.0]), None);
    }

    #[test]
    fn one_group_is_seldom_taken_for_two() {
        let mut random = model::random::stream(4, "humps");
        for n in [8, 10, 20, 40] {
            let normals = (0..2_000)
                .filter(|_| two_humps(&normal(&mut random, 0.0, 1.0, n)).is_some())
                .count();
            let uniforms = (0..2_000)
                .filter(|_| {
                    let flat: Vec<f64> = (0..n).map(|_| random.random_range(0.0..1.0)).collect();
                    two_humps(&flat).is_some()
                })
                .count();
            // normals below 1 in 100, the flat and thus hardest shape below 2 in 100
            assert!(normals < 20 && uniforms < 40, "{n}: {normals}, {uniforms}");
        }
    }
}
