//! Comparisons of the document: ratios, verdicts, and what they rest on.

use experiment::question::SweepValue;
use serde::{Deserialize, Serialize};

/// Baseline against candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Baseline arm.
    pub baseline: String,
    /// Candidate arm.
    pub candidate: String,
    /// The metric.
    pub metric: String,
    /// Candidate / baseline, within blocks.
    pub ratio: Ratio,
    /// The verdict.
    pub verdict: Verdict,
    /// Differences up to this share do not count.
    pub margin: f64,
    /// Blocks that both arms finished.
    pub blocks: u32,
    /// Total blocks that would settle a `cannot-tell`.
    pub blocks_needed: Option<u32>,
    /// Why a verdict is withheld, regardless of the blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld: Option<Withheld>,
    /// What the interval is made of, where blocks drew uncertain values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<Unknown>,
}

/// A ratio with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// Geometric mean over blocks of candidate / baseline.
    pub mean: f64,
    /// Lower end of the 95 % interval between blocks.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The conclusion about a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It is faster.
    Faster,
    /// It is slower.
    Slower,
    /// No difference larger than the margin.
    NoDifference,
    /// The blocks so far are inconclusive.
    CannotTell,
}

/// Why a verdict is withheld; the warning of the same name gives the details.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Withheld {
    /// The files that the two arms place differently saw almost no I/O.
    TooLittleIo,
    /// The files that the two arms place differently are on one disk in both.
    SameDisk,
    /// Statements did not exercise what the workload is about.
    NotExercised,
    /// They differ only in the number of files on the same disks, which simulate does not model.
    NumberOfFiles,
}

impl Withheld {
    /// The reason in a few words.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Withheld::TooLittleIo => "the files in question saw next to no I/O (too-little-io)",
            Withheld::SameDisk => "both use the same disk (same-disk)",
            Withheld::NumberOfFiles => {
                "simulate cannot tell numbers of files on the same disks apart (number-of-files)"
            }
            Withheld::NotExercised => "the workload did not do what it is about (not-exercised)",
        }
    }
}

/// What an interval is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unknown {
    /// What explains most of it, the largest share first; empty where chance explains it.
    pub causes: Vec<UnknownCause>,
    /// The ratio if everything were at its typical value, with the interval of chance alone; estimated by regression over the
    /// blocks.
    pub typical: Ratio,
}

/// Something that is not known exactly, and decides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnknownCause {
    /// What it is, such as `write latency of azure-premium`.
    pub name: String,
    /// Its share of the variance of the ratio's logarithm between blocks, 0 to 1.
    pub share: f64,
    /// 95 of 100 are above this.
    pub low: f64,
    /// And below this.
    pub high: f64,
    /// `ms`; empty for a multiple of the typical value.
    pub unit: String,
}

/// Where increasing a key stops making a difference: at a value between `earliest` and `latest`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StopsHelping {
    /// The arm as named in the experiment, with the other swept keys' values.
    pub of: String,
    /// The key.
    pub key: String,
    /// Its values in ascending order, and the arms that have them.
    pub values: Vec<SweepValue>,
    /// The first value that no later one was shown to be better than.
    pub earliest: String,
    /// The first value that all later ones were shown not to improve on; the last value if there is no earlier one.
    pub latest: String,
    /// Later values that are better by up to this share count as no better.
    pub margin: f64,
    /// Total blocks that would settle it, where `earliest` is not `latest`; `None` where 1,000 would not be enough.
    pub blocks_needed: Option<u32>,
    /// Why there is no verdict, regardless of the blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld: Option<Withheld>,
}

/// The spread between identical twins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoiseFloor {
    /// The arm that ran as its own twin.
    pub arm: String,
    /// By which metric.
    pub metric: String,
    /// Twin / baseline.
    pub ratio: Ratio,
}
