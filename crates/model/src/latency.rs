//! Drawing latencies from a distribution.

use rand_distr::{Distribution, Exp1, StandardNormal};

use crate::random::Stream;
use crate::spec::LatencySpec;
use crate::time::Duration;

/// The standard normal distribution's 99 % quantile.
///
/// Source: any table of the normal distribution; Abramowitz and Stegun, *Handbook of Mathematical
/// Functions*, table 26.5.
const Z_99: f64 = 2.326_347_874_040_841;

/// A latency ready to be drawn.
#[derive(Clone, Debug)]
pub enum Latency {
    /// The same every time.
    Constant(Duration),
    /// Exponential with this mean.
    Exponential(Duration),
    /// Log-normal, stored as the binary logarithm of its nanoseconds because exp2 is the fastest to compute.
    LogNormal {
        /// Mean of the binary logarithm.
        mean: f64,
        /// Standard deviation of the binary logarithm.
        deviation: f64,
    },
}

impl Latency {
    /// Prepares a latency from `spec`.
    ///
    /// A log-normal's parameters follow from its percentiles: mu = log p50, sigma = log(p99 / p50) / z(0.99),
    /// to any base.
    /// A p99 not above the p50 gives the p50 every time.
    pub fn new(spec: LatencySpec) -> Latency {
        match spec {
            LatencySpec::Constant { value } => Latency::Constant(value),
            LatencySpec::Exponential { mean } => Latency::Exponential(mean),
            LatencySpec::LogNormal { p50, p99 } => {
                let ratio = p99.as_secs_f64() / p50.as_secs_f64();
                if p50 == Duration::ZERO || ratio <= 1.0 {
                    return Latency::Constant(p50);
                }
                Latency::LogNormal {
                    mean: libm::log2(p50.as_nanos() as f64),
                    deviation: libm::log2(ratio) / Z_99,
                }
            }
        }
    }

    /// One latency.
    pub fn draw(&self, random: &mut Stream) -> Duration {
        match self {
            Latency::Constant(value) => *value,
            Latency::Exponential(mean) => {
                let share: f64 = Exp1.sample(random);
                Duration::from_nanos((share * mean.as_nanos() as f64) as u64)
            }
            // Not `rand_distr::LogNormal`: as soon as any crate of the program enables std, it uses the
            // platform's exp, whose last digit differs between C libraries and even processors.
            Latency::LogNormal { mean, deviation } => {
                let normal: f64 = StandardNormal.sample(random);
                Duration::from_nanos(libm::exp2(mean + deviation * normal) as u64)
            }
        }
    }
}

impl LatencySpec {
    /// The same distribution, scaled by `factor`.
    pub fn times(&self, factor: f64) -> LatencySpec {
        let times = |time: &Duration| Duration::from_secs_f64(time.as_secs_f64() * factor);
        match self {
            LatencySpec::Constant { value } => LatencySpec::Constant {
                value: times(value),
            },
            LatencySpec::Exponential { mean } => LatencySpec::Exponential { mean: times(mean) },
            LatencySpec::LogNormal { p50, p99 } => LatencySpec::LogNormal {
                p50: times(p50),
                p99: times(p99),
            },
        }
    }

    /// The typical latency: the median, or the constant.
    pub fn typical(&self) -> Duration {
        match self {
            LatencySpec::Constant { value } => *value,
            LatencySpec::Exponential { mean } => *mean,
            LatencySpec::LogNormal { p50, .. } => *p50,
        }
    }

    /// The mean of the distribution.
    ///
    /// For a log-normal exp(mu + sigma² / 2).
    pub fn mean(&self) -> Duration {
        match self {
            LatencySpec::Constant { value } => *value,
            LatencySpec::Exponential { mean } => *mean,
            LatencySpec::LogNormal { p50, p99 } => {
                let ratio = p99.as_secs_f64() / p50.as_secs_f64();
                if *p50 == Duration::ZERO || ratio <= 1.0 {
                    return *p50;
                }
                let sigma = libm::log(ratio) / Z_99;
                Duration::from_secs_f64(p50.as_secs_f64() * libm::exp(sigma * sigma / 2.0))
            }
        }
    }

    /// The same distribution with a mean of `mean` in place of `from`; constant where `from` is 0.
    #[must_use]
    pub fn scaled(&self, from: Duration, mean: Duration) -> LatencySpec {
        if from == Duration::ZERO {
            return LatencySpec::constant(mean);
        }
        let factor = mean.as_secs_f64() / from.as_secs_f64();
        let scaled = |value: &Duration| Duration::from_secs_f64(value.as_secs_f64() * factor);
        match self {
            LatencySpec::Constant { value } => LatencySpec::constant(scaled(value)),
            LatencySpec::Exponential { mean } => LatencySpec::Exponential { mean: scaled(mean) },
            LatencySpec::LogNormal { p50, p99 } => LatencySpec::LogNormal {
                p50: scaled(p50),
                p99: scaled(p99),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    #[test]
    fn a_log_normal_keeps_its_percentiles() {
        let latency = Latency::new(LatencySpec::LogNormal {
            p50: Duration::from_millis(1),
            p99: Duration::from_millis(3),
        });
        let mut random = stream(1, "test");
        let mut drawn: alloc::vec::Vec<_> =
            (0..100_000).map(|_| latency.draw(&mut random)).collect();
        drawn.sort();
        let p50 = drawn[50_000].as_millis_f64();
        let p99 = drawn[99_000].as_millis_f64();
        // Standard error of the median of 100,000 is 0.2 %, of the p99 about 0.9 %.
        assert!((p50 - 1.0).abs() < 0.01, "{p50}");
        assert!((p99 - 3.0).abs() < 0.12, "{p99}");
    }

    #[test]
    fn percentiles_that_do_not_spread_give_the_median_every_time() {
        let ms = Duration::from_millis;
        for (p50, p99) in [
            (ms(3), ms(3)),
            (ms(3), ms(1)),
            (ms(0), ms(1)),
            (ms(0), ms(0)),
        ] {
            let spec = LatencySpec::LogNormal { p50, p99 };
            let mut random = stream(1, "test");
            let drawn: [Duration; 3] =
                core::array::from_fn(|_| Latency::new(spec).draw(&mut random));
            assert_eq!(drawn, [p50; 3]);
            assert_eq!(spec.mean(), p50);
        }
    }

    #[test]
    fn the_mean_of_a_log_normal_follows_from_its_percentiles() {
        let spec = LatencySpec::LogNormal {
            p50: Duration::from_millis(1),
            p99: Duration::from_millis(3),
        };
        // sigma = ln 3 / 2.326348 = 0.472248; exp(sigma² / 2) = exp(0.111509) = 1.117964
        let mean = spec.mean().as_millis_f64();
        assert!((mean - 1.117_964).abs() < 1e-5, "{mean}");
    }

    #[test]
    fn a_longer_latency_keeps_its_shape() {
        let ms = Duration::from_millis;
        let spec = LatencySpec::LogNormal {
            p50: ms(1),
            p99: ms(3),
        };
        let longer = LatencySpec::LogNormal {
            p50: ms(2),
            p99: ms(6),
        };
        assert_eq!(spec.times(2.0), longer);
        assert_eq!(longer.typical(), ms(2));
    }

    #[test]
    fn a_seed_gives_the_same_latencies_on_every_platform() {
        let latency = Latency::new(LatencySpec::LogNormal {
            p50: Duration::from_millis(1),
            p99: Duration::from_millis(3),
        });
        let mut random = stream(1, "test");

        let drawn: [u64; 4] = core::array::from_fn(|_| latency.draw(&mut random).as_nanos());

        // Pinned values: a record must be reproducible from its seed.
        assert_eq!(drawn, [2_230_034, 614_279, 1_574_215, 2_113_235]);
    }
}
