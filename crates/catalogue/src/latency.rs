//! A latency in the catalogue: its distribution, and where it comes from.

use model::{Duration, LatencySpec, Spread};

use super::source::{Known, Source};
use super::wire::LatencyWire;

/// Service time of a request once started, and its source.
#[derive(Clone, Debug, PartialEq)]
pub struct Latency {
    /// The distribution.
    pub spec: LatencySpec,
    /// How it is known.
    pub known: Known,
    /// By how much volumes of the kind differ.
    pub between: Spread,
    /// Whether that is assumed for an entry in a file of one's own, which says neither this nor how the latency is known.
    pub is_between_assumed: bool,
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
    /// `shipped` of what ships with the program; in a file of one's own, how a latency is known is assumed unless it says so.
    pub(super) fn read(
        wire: &LatencyWire,
        sources: Vec<Source>,
        shipped: bool,
    ) -> Result<Latency, String> {
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
        let known = known(wire, &sources, shipped)?;
        let between = match wire.between {
            None => known.spread(),
            Some(factor) => Spread::new(factor).map_err(|error| format!("`between`: {error}"))?,
        };
        Ok(Latency {
            spec,
            known,
            between,
            is_between_assumed: !shipped && wire.between.is_none() && wire.known.is_none(),
            assumed: wire.assumed.clone(),
            sources,
        })
    }

    /// The typical latency: the median, or the constant.
    pub fn typical(&self) -> Duration {
        self.spec.typical()
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

/// How a latency is known: as the entry says, or else by how many sources it has. What an entry gives a reason for is assumed.
fn known(wire: &LatencyWire, sources: &[Source], shipped: bool) -> Result<Known, String> {
    let is_sourced = wire.known.is_some_and(|known| known != Known::Assumed);
    if is_sourced && sources.is_empty() {
        return Err("`known` has to be \"assumed\" without `sources`".into());
    }
    let is_assumed = wire.assumed.is_some() || !shipped;
    let by_sources = match sources.len() {
        0 => Known::Assumed,
        _ if is_assumed => Known::Assumed,
        1 => Known::One,
        _ => Known::Several,
    };
    Ok(wire.known.unwrap_or(by_sources))
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
    use crate::Catalogue;

    /// A read latency of 1 ms with these keys, in a file of one's own.
    fn own(keys: &str) -> Result<Latency, String> {
        let text = format!(
            "[source.mine]\ntitle = \"Mine\"\ndate = \"2026\"\n[class.mine]\ntitle = \"Mine\"\n\
             read = {{ p50 = \"1 ms\", p99 = \"2 ms\", {keys} }}\n\
             write = {{ value = \"1 ms\", sources = [\"mine\"] }}\nflush = {{ value = \"0 s\", sources = [\"mine\"] }}\n\
             [disk.mine]\nclass = \"mine\"\ntitle = \"Mine\"\nsize = \"1 GiB\"\niops = 100\n\
             confidence = \"measured\"\nsources = [\"mine\"]\n"
        );
        let mut catalogue = Catalogue::builtin();
        let added = catalogue.add(&text, "mine.toml");
        added.map_err(|error| error.to_string())?;
        Ok(catalogue
            .disk("mine")
            .expect("it was added")
            .class
            .read
            .clone())
    }

    #[test]
    fn a_spread_is_as_given_or_by_how_the_latency_is_known() {
        let factor = |keys: &str| own(keys).expect(keys).between.factor();
        assert_eq!(factor("sources = [\"mine\"], between = 1.25"), 1.25);
        assert_eq!(factor("sources = [\"mine\"], known = \"documented\""), 1.0);
        assert_eq!(factor("sources = [\"mine\"], known = \"several\""), 1.4);
        assert_eq!(factor("sources = [\"mine\"], known = \"one\""), 1.6);
        // A file of one's own that says nothing is assumed, however many sources it has.
        let silent = own("sources = [\"mine\"]").expect("it is valid");
        assert_eq!(
            (silent.known, silent.between.factor()),
            (Known::Assumed, 2.1)
        );
        assert!(silent.is_between_assumed);
    }

    #[test]
    fn a_spread_below_1_and_knowledge_without_a_source_are_refused() {
        for (keys, told) in [
            (
                "sources = [\"mine\"], between = 0.8",
                "`read`: `between`: a spread of 0.8 is not a factor of 1 to 100; 1.4 stands",
            ),
            (
                "assumed = \"a guess\", known = \"several\"",
                "`read`: `known` has to be \"assumed\" without `sources`",
            ),
            (
                "between = 1.2",
                "`read`: a latency needs `sources`, or `assumed`",
            ),
        ] {
            let error = own(keys).expect_err(keys);
            assert!(
                error.starts_with("mine.toml:4: `mine`: ") && error.contains(told),
                "{error}"
            );
        }
    }

    #[test]
    fn every_latency_that_ships_is_known_by_its_sources_or_assumed_with_a_reason() {
        for disk in Catalogue::builtin().disks() {
            for latency in [&disk.class.read, &disk.class.write, &disk.class.flush] {
                match latency.known {
                    Known::Assumed => assert!(latency.assumed.is_some(), "{}", disk.class.name),
                    Known::One => assert!(!latency.sources.is_empty(), "{}", disk.class.name),
                    Known::Several => assert!(latency.sources.len() > 1, "{}", disk.class.name),
                    Known::Documented => assert_eq!(latency.between, Spread::NONE),
                }
            }
        }
    }

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
