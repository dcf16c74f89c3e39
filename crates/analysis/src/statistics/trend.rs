//! Detects results that drift with time, or depend on the position in a block.
//!
//! Comparisons within blocks are unaffected by both; estimates of a single arm are not.

use super::moments::{chance_of, mean};

/// A straight line through values in order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// Change of the value from one block to the next.
    pub slope: f64,
    /// The probability of a slope this large if there is no drift.
    pub chance: f64,
}

/// The effect of running one position later in a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OrderEffect {
    /// Change of the value from one position to the next.
    pub slope: f64,
    /// The probability of a slope this large if the position has no effect.
    pub chance: f64,
}

/// Least-squares slope of `values` over their index, with its t-test; `None` below four values, where noise almost always
/// looks like a trend.
///
/// Source: Draper and Smith, *Applied Regression Analysis*, 3rd ed., 1998, section 1.4.
pub fn drift(values: &[f64]) -> Option<Trend> {
    if values.len() < 4 {
        return None;
    }
    let index: Vec<f64> = (0..values.len()).map(|index| index as f64).collect();
    let (slope, chance) = line(&centred(&index), &centred(values), values.len() - 2);
    Some(Trend { slope, chance })
}

/// The effect of the position in a block on the value: `values[block][arm]` was run at `positions[block][arm]`.
///
/// Arm and block means are removed from both first, so that a slow arm that happened to come last is not mistaken for an
/// effect. `None` without two arms and three blocks, or when every arm always had the same position.
///
/// Source: Frisch and Waugh, "Partial time regressions", Econometrica 1, 1933.
///
/// # Panics
/// When the two tables differ in shape.
pub fn order_effect(values: &[Vec<f64>], positions: &[Vec<f64>]) -> Option<OrderEffect> {
    let blocks = values.len();
    let arms = values.first().map_or(0, Vec::len);
    let shape = |table: &[Vec<f64>]| table.len() == blocks && table.iter().all(|r| r.len() == arms);
    assert!(
        shape(values) && shape(positions),
        "every block ran every arm"
    );
    if arms < 2 || blocks < 3 {
        return None;
    }
    let position = within_arms_and_blocks(positions);
    if position.iter().all(|position| position.abs() < 1e-9) {
        return None;
    }
    let freedom = (blocks - 1) * (arms - 1) - 1;
    let (slope, chance) = line(&position, &within_arms_and_blocks(values), freedom);
    Some(OrderEffect { slope, chance })
}

/// Slope of centred `y` over centred `x`, and its probability under no effect.
fn line(x: &[f64], y: &[f64], freedom: usize) -> (f64, f64) {
    let product = |a: &[f64], b: &[f64]| std::iter::zip(a, b).map(|(a, b)| a * b).sum::<f64>();
    let xx = product(x, x);
    let slope = product(x, y) / xx;
    let left: f64 = std::iter::zip(x, y)
        .map(|(x, y)| (y - slope * x).powi(2))
        .sum();
    let t = slope / (left / freedom as f64 / xx).sqrt();
    (slope, chance_of(t, freedom))
}

fn centred(values: &[f64]) -> Vec<f64> {
    let mean = mean(values);
    values.iter().map(|value| value - mean).collect()
}

/// The table, row by row, with row and column means removed.
fn within_arms_and_blocks(table: &[Vec<f64>]) -> Vec<f64> {
    let blocks: Vec<f64> = table.iter().map(|row| mean(row)).collect();
    let arms: Vec<f64> = (0..table[0].len())
        .map(|arm| mean(&table.iter().map(|row| row[arm]).collect::<Vec<_>>()))
        .collect();
    let all = mean(&blocks);
    let mut within = Vec::new();
    for (row, block) in std::iter::zip(table, &blocks) {
        within.extend(std::iter::zip(row, &arms).map(|(value, arm)| value - block - arm + all));
    }
    within
}

#[cfg(test)]
mod tests {
    use super::super::samples::normal;
    use super::*;

    #[test]
    fn the_slope_and_its_chance_are_the_textbook_ones() {
        // x 0..4, y 1 2 2 4 5: Sxx 10, Sxy 10, slope 1; residuals 0.2 0.2 -0.8 0.2 0.2, sum of
        // squares 0.8, t = 1 / sqrt(0.8 / 3 / 10) = 6.1237, p(3 degrees) = 0.00875
        let trend = drift(&[1.0, 2.0, 2.0, 4.0, 5.0]).unwrap();

        assert!((trend.slope - 1.0).abs() < 1e-12);
        assert!((trend.chance - 0.008_75).abs() < 1e-4, "{trend:?}");
    }

    #[test]
    fn constant_values_do_not_drift() {
        assert_eq!(drift(&[2.0; 6]).unwrap().chance, 1.0);
    }

    #[test]
    fn a_straight_line_has_no_chance_and_its_slope() {
        let trend = drift(&[1.0, 3.0, 5.0, 7.0]).unwrap();

        assert_eq!((trend.slope, trend.chance), (2.0, 0.0));
    }

    #[test]
    fn a_value_that_is_no_number_shows_no_drift() {
        for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let trend = drift(&[1.0, odd, 3.0, 4.0, 5.0]).unwrap();
            assert_eq!(trend.chance, 1.0, "{odd}");
        }
    }

    #[test]
    fn an_effect_of_the_order_needs_two_arms_and_three_blocks() {
        let table = |blocks: usize, arms: usize, cell: fn(usize, usize) -> f64| -> Vec<Vec<f64>> {
            (0..blocks)
                .map(|block| (0..arms).map(|arm| cell(block, arm)).collect())
                .collect()
        };
        let place = |block: usize, arm: usize| ((block + arm) % 2) as f64;
        let value = |block: usize, arm: usize| (block * arm) as f64;
        let effect = |blocks, arms| {
            order_effect(&table(blocks, arms, value), &table(blocks, arms, place)).is_some()
        };
        assert!(effect(3, 2));
        assert!(!effect(2, 2));
        assert!(!effect(3, 1));
        assert!(!effect(0, 0));
    }

    #[test]
    fn the_effect_of_the_order_is_the_textbook_one() {
        // Places 0 1 | 1 0 | 0 1 | 1 0, values 1 4 | 3 2 | 1 3 | 2 2. Less row means (2.5, 2.5, 2, 2) and arm
        // means (1.75, 2.75), plus the mean 2.25: -1 1 | 1 -1 | -0.5 0.5 | 0.5 -0.5; places: -+0.5. Sxx = 8 x
        // 0.25 = 2, Sxy = 0.5 x (1 + 1 + 1 + 1 + 4 x 0.5) = 3, slope 1.5; residuals +-0.25, sum of squares 0.5,
        // 3 - 1 = 2 degrees: t = 1.5 / sqrt(0.5 / 2 / 2) = 4.2426, p = 0.051317 (t / sqrt(2 + t^2) = 0.948683).
        let places = [[0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]].map(Vec::from);
        let values = [[1.0, 4.0], [3.0, 2.0], [1.0, 3.0], [2.0, 2.0]].map(Vec::from);

        let effect = order_effect(&values, &places).unwrap();

        assert!((effect.slope - 1.5).abs() < 1e-12, "{effect:?}");
        assert!((effect.chance - 0.051_317).abs() < 1e-6, "{effect:?}");
    }

    #[test]
    #[should_panic(expected = "every block ran every arm")]
    fn a_block_that_lacks_an_arm_is_refused() {
        let whole = vec![vec![1.0, 2.0]; 3];
        let mut lacking = whole.clone();
        lacking[1].pop();
        order_effect(&whole, &lacking);
    }

    #[test]
    fn three_values_are_too_few_for_a_drift() {
        assert_eq!(drift(&[1.0, 2.0, 3.0]), None);
    }

    #[test]
    fn noise_is_called_drift_5_times_in_100() {
        let mut random = model::random::stream(3, "drift");
        let tries = 3_000;

        let called = (0..tries)
            .filter(|_| drift(&normal(&mut random, 0.0, 1.0, 6)).unwrap().chance < 0.05)
            .count();

        // binomial: 0.05 +- 3 x sqrt(0.05 x 0.95 / 3000) = 0.05 +- 0.012
        let share = called as f64 / f64::from(tries);
        assert!((share - 0.05).abs() < 0.012, "{share}");
    }

    #[test]
    fn a_slow_arm_that_comes_last_is_no_order_effect() {
        let values = vec![vec![1.0, 9.0, 5.0]; 4];
        let positions = vec![
            vec![0.0, 2.0, 1.0],
            vec![1.0, 2.0, 0.0],
            vec![0.0, 2.0, 1.0],
            vec![1.0, 2.0, 0.0],
        ];

        assert_eq!(order_effect(&values, &positions).unwrap().chance, 1.0);
    }

    #[test]
    fn a_cost_for_every_place_is_found_whatever_the_arm() {
        let positions: Vec<Vec<f64>> = vec![
            vec![0.0, 1.0, 2.0],
            vec![2.0, 0.0, 1.0],
            vec![1.0, 2.0, 0.0],
            vec![2.0, 1.0, 0.0],
        ];
        let values: Vec<Vec<f64>> = positions
            .iter()
            .map(|row| {
                vec![
                    10.0 + 0.5 * row[0],
                    20.0 + 0.5 * row[1],
                    30.0 + 0.5 * row[2],
                ]
            })
            .collect();

        let effect = order_effect(&values, &positions).unwrap();

        assert!((effect.slope - 0.5).abs() < 1e-9);
        assert!(effect.chance < 1e-6);
    }

    #[test]
    fn an_order_that_never_changed_tells_nothing() {
        let positions = vec![vec![0.0, 1.0]; 5];

        assert_eq!(order_effect(&positions, &positions), None);
    }
}
