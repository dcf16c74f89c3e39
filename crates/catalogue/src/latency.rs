//! A latency in the catalogue: its distribution, and where it comes from.

use model::{Duration, LatencySpec};

use super::source::Source;
use super::wire::LatencyWire;

/// Service time of a request once started, and its source.
#[derive(Clone, Debug, PartialEq)]
pub struct Latency {
    /// The distribution.
    pub spec: LatencySpec,
    /// Assumption in place of unpublished figures, with the reason.
    pub assumed: Option<String>,
    /// Where the figures come from.
    pub sources: Vec<Source>,
}

/// p99 over p50 where only a mean is published.
///
/// Assumed: between the 1.3 of an io2 volume and the 4.9 of reads on gp2
/// (`lat-awssamples` and `lat-liang` in `catalogue/measured.toml`).
const SPREAD: f64 = 2.0;

/// The 99 % quantile of the standard normal distribution.
const Z99: f64 = 2.326_347_874_040_841;

impl Latency {
    pub(super) fn read(wire: &LatencyWire, sources: Vec<Source>) -> Result<Latency, String> {
        let spec = match (wire.value, wire.mean, wire.p50, wire.p99) {
            (Some(value), None, None, None) => LatencySpec::Constant { value },
            (None, Some(mean), None, None) => log_normal_of_mean(mean),
            (None, None, Some(p50), Some(p99)) if p50 > Duration::ZERO && p50 <= p99 => {
                LatencySpec::LogNormal { p50, p99 }
            }
            (Some(_) | None, Some(_) | None, Some(_) | None, Some(_) | None) => {
                return Err(
                    "a latency is `value`, or `mean`, or `p50` with a `p99` that is not less"
                        .into(),
                );
            }
        };
        if sources.is_empty() && wire.assumed.is_none() {
            return Err("a latency needs `sources`, or `assumed` with the reason".into());
        }
        Ok(Latency {
            spec,
            assumed: wire.assumed.clone(),
            sources,
        })
    }

    /// The typical latency: the median, or the constant.
    pub fn typical(&self) -> Duration {
        match self.spec {
            LatencySpec::Constant { value } => value,
            LatencySpec::Exponential { mean } => mean,
            LatencySpec::LogNormal { p50, .. } => p50,
        }
    }

    /// Short text: `p50 3.83 ms, p99 7.66 ms`.
    pub fn shown(&self) -> String {
        match self.spec {
            LatencySpec::Constant { value } => value.to_string(),
            LatencySpec::Exponential { mean } => format!("mean {mean}, exponential"),
            LatencySpec::LogNormal { p50, p99 } => format!("p50 {p50}, p99 {p99}"),
        }
    }
}

/// The log-normal with this mean whose p99 is [`SPREAD`] times its p50, to the microsecond.
///
/// A log-normal has mean `p50 * exp(s²/2)` and p99 `p50 * exp(Z99 * s)`.
fn log_normal_of_mean(mean: Duration) -> LatencySpec {
    let s = SPREAD.ln() / Z99;
    let p50_us = (mean.as_secs_f64() * 1e6 / (s * s / 2.0).exp()).round();
    LatencySpec::LogNormal {
        p50: Duration::from_secs_f64(p50_us / 1e6),
        p99: Duration::from_secs_f64(p50_us * SPREAD / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_becomes_a_log_normal_of_that_mean() {
        // s = ln 2 / 2.3263 = 0.29796; exp(s²/2) = 1.04539; 4 ms / 1.04539 = 3.826 ms
        assert_eq!(
            log_normal_of_mean(Duration::from_millis(4)),
            LatencySpec::LogNormal {
                p50: Duration::from_micros(3_826),
                p99: Duration::from_micros(7_652),
            }
        );
    }
}
