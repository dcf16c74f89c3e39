//! Do the trials of one arm fall into two groups?

use super::estimate::{deviation, mean};

/// Fewest samples among which groups are looked for.
const SAMPLES_MIN: usize = 8;
/// Fewest samples that make a group.
const GROUP_MIN: usize = 3;
/// Distance of the groups in their own widths from which on they are two.
///
/// Ashman's D above 2 separates two *known* normals. Here the split is sought first, which alone brings
/// some 2.8 on a single normal; with 8, and the gap below, a single group is taken for two in fewer
/// than 1 of 100 normal and 2 of 100 flat samples, from eight samples up (see the tests).
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

/// The two groups that `samples` fall into, if they do, with at least a quarter of the samples and
/// three in each; `None` too below eight samples.
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

/// Where the sum of squares within the two parts is least, each at least a quarter of the whole
/// and a group.
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
