//! How values differ between blocks, and how wide an interval that makes.

use super::explained::explain_width;
use super::moments::{deviation, reach};

/// What an interval is of.
#[derive(Clone, Debug, PartialEq)]
pub enum Within {
    /// The mean over blocks, which differ by chance: more blocks narrow it.
    Chance,
    /// A single block, each of which drew these uncertain values: more blocks find its ends better, and do not narrow it.
    Unknown(Vec<Draws>),
}

/// A value that is not known exactly, as blocks drew it.
#[derive(Clone, Debug, PartialEq)]
pub struct Draws {
    /// The standard deviation of the logarithm that it was drawn by.
    pub deviation: f64,
    /// Logarithms of the factors, one a block.
    pub logs: Vec<f64>,
}

impl Within {
    /// The same of the blocks at these places alone.
    #[must_use]
    pub fn at(&self, places: &[usize]) -> Within {
        match self {
            Within::Chance => Within::Chance,
            Within::Unknown(all) => {
                let at = |draws: &Draws| Draws {
                    deviation: draws.deviation,
                    logs: places.iter().map(|place| draws.logs[*place]).collect(),
                };
                Within::Unknown(all.iter().map(at).collect())
            }
        }
    }
}

/// How values of blocks differ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scatter {
    /// The variance that what was drawn explains. By how much each value was to differ is known, so that it has no error of a
    /// sample's deviation.
    explained: f64,
    /// How many causes explain it.
    causes: usize,
    /// The standard deviation of what they leave.
    left: f64,
    /// Whether the interval is that of a further block instead of the mean.
    is_of_block: bool,
}

impl Scatter {
    /// Of `values`, one a block.
    pub(super) fn of(values: &[f64], within: &Within) -> Scatter {
        let all = Scatter {
            explained: 0.0,
            causes: 0,
            left: deviation(values),
            is_of_block: matches!(within, Within::Unknown(_)),
        };
        let Within::Unknown(draws) = within else {
            return all;
        };
        let logs: Vec<Vec<f64>> = draws.iter().map(|draws| draws.logs.clone()).collect();
        let Some(found) = explain_width(values, &logs) else {
            return all;
        };
        let variances = found.causes.iter();
        let variances = variances.map(|cause| (cause.slope * draws[cause.at].deviation).powi(2));
        Scatter {
            explained: variances.sum(),
            causes: found.causes.len(),
            left: found.left,
            ..all
        }
    }

    /// Half the width of the interval around the mean of `n` such values; `None` when `n` is below 2.
    ///
    /// Of a further block, the deviation of the mean is added to its own.
    ///
    /// Source: Hahn and Meeker, *Statistical Intervals*, 1991, section 4.7.
    pub(super) fn half(&self, n: usize) -> Option<f64> {
        if n < 2 + self.causes {
            return None;
        }
        let of_mean = 1.0 / n as f64;
        let blocks = match self.is_of_block {
            true => 1.0 + of_mean,
            false => of_mean,
        };
        let by_chance = reach(Some(n - 1 - self.causes)) * self.left * blocks.sqrt();
        Some(match self.causes {
            0 => by_chance,
            _ => (reach(None).powi(2) * self.explained + by_chance.powi(2)).sqrt(),
        })
    }
}

#[cfg(test)]
mod tests {
    use model::World;

    use super::super::estimate::{Estimate, estimate};
    use super::super::samples::normal;
    use super::*;

    /// What unknowns of this spread are in the first worlds of a seed.
    fn draws(seed: u64, unknowns: usize, between: f64, blocks: usize) -> Vec<Draws> {
        let of = |unknown| {
            let log = |number| {
                let number = u32::try_from(number).expect("there are few blocks");
                World { seed, number }.deviations(&format!("unknown {unknown}")) * between.ln()
            };
            Draws {
                deviation: between.ln(),
                logs: (0..blocks).map(log).collect(),
            }
        };
        (0..unknowns).map(of).collect()
    }

    /// The estimate of what is proportional to unknowns to these powers, in each block times a factor of chance.
    fn product(draws: &[Draws], powers: &[f64], chance: &[f64]) -> Estimate {
        let log = |block: usize| -> f64 {
            let parts = std::iter::zip(draws, powers).map(|(of, power)| power * of.logs[block]);
            chance[block] + parts.sum::<f64>()
        };
        let samples: Vec<f64> = (0..chance.len()).map(|block| log(block).exp()).collect();
        estimate(&samples, &Within::Unknown(draws.to_vec())).expect("there are blocks")
    }

    #[test]
    fn eight_blocks_know_the_interval_of_one_unknown() {
        for power in [-1.0, 0.3, 1.0] {
            for seed in 0..50 {
                let draws = draws(seed, 5, 1.4, 8);
                let found = product(&draws, &[power], &[0.0; 8]);
                let half = (found.high / found.mean).ln();
                let expected = 1.96 * f64::abs(power) * 1.4_f64.ln();
                assert!((half / expected - 1.0).abs() < 0.01, "{half} {expected}");
                assert!((found.mean - 1.0).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn an_interval_of_the_unknown_holds_a_further_block_95_times_in_100() {
        let mut random = model::random::stream(1, "further");
        // One unknown, several, and chance, as parts of one deviation; the last has nothing but chance.
        let cases: [(&[f64], f64); 5] = [
            (&[1.0], 0.05),
            (&[1.0], 0.4),
            (&[0.7, -0.7], 0.1),
            (&[0.6, 0.5, 0.4, 0.3], 0.2),
            (&[], 0.4),
        ];
        for (powers, chance) in cases {
            for blocks in [6, 8, 10, 16] {
                let held = (0..1_000_u64)
                    .filter(|seed| {
                        let draws = draws(*seed, powers.len() + 3, 1.4, blocks);
                        let by_chance = normal(&mut random, 0.0, chance, blocks + 1);
                        let further = normal(&mut random, 0.0, 1.4_f64.ln(), powers.len());
                        let parts =
                            std::iter::zip(powers, &further).map(|(power, log)| power * log);
                        let further = (by_chance[blocks] + parts.sum::<f64>()).exp();
                        let found = product(&draws, powers, &by_chance[..blocks]);
                        found.low <= further && further <= found.high
                    })
                    .count();
                // binomial: 0.95 +- 3 x sqrt(0.95 x 0.05 / 1000) = 0.95 +- 0.021, and a little on either side: what explains little
                // counts as chance, which widens the interval, and what explains too much narrows it.
                let share = held as f64 / 1_000.0;
                assert!(
                    (0.92..=0.985).contains(&share),
                    "{powers:?} {chance} {blocks}: {share}"
                );
            }
        }
    }

    #[test]
    fn with_more_blocks_the_ends_of_the_interval_converge_and_those_of_chance_to_nothing() {
        let mut random = model::random::stream(1, "converges");
        let widths = [8, 64, 1_000].map(|blocks| {
            let halves = (0..20_u64).map(|seed| {
                let draws = draws(seed, 4, 1.4, blocks);
                let found = product(&draws, &[0.8, 0.5], &normal(&mut random, 0.0, 0.1, blocks));
                (found.high / found.mean).ln()
            });
            let mut halves: Vec<f64> = halves.collect();
            halves.sort_by(f64::total_cmp);
            (halves[19] - halves[0], halves[10])
        });
        let [(few, _), (more, _), (many, half)] = widths;
        assert!(few > 2.0 * more && more > 2.0 * many, "{widths:?}");
        // 1.96 x sqrt((0.8^2 + 0.5^2) x (ln 1.4)^2 + 0.1^2) = 0.652
        assert!((half - 0.652).abs() < 0.01, "{widths:?}");

        let samples = normal(&mut random, 10.0, 1.0, 4_000);
        let found = estimate(&samples, &Within::Chance).expect("there are samples");
        assert!(found.high - found.low < 0.1);
    }

    #[test]
    fn with_few_blocks_all_is_as_by_chance() {
        // Logarithms 0 and 0.2: mean 0.1, s 0.141421, t(1) 12.706205; of a further block: 12.706205 x s x sqrt(1.5).
        let draws = vec![Draws {
            deviation: 0.4,
            logs: vec![0.0, 0.2],
        }];
        let found =
            estimate(&[1.0, 0.2_f64.exp()], &Within::Unknown(draws)).expect("there are two");
        assert!(((found.high / found.mean).ln() - 2.200_78).abs() < 1e-4);
    }
}
