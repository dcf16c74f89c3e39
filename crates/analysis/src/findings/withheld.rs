//! Comparisons without a verdict, however clear their figures: the experiment did not measure what it asks.

use serde::{Deserialize, Serialize};

use super::trials::Trials;
use super::{Comparison, Verdict, not_exercised, number_of_files, same_disk, too_little_io};

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

/// Withdraws verdicts that have no basis.
pub(super) fn withhold(trials: &Trials, comparisons: Vec<Comparison>) -> Vec<Comparison> {
    let judged = |comparison: Comparison| match reason(trials, &comparison) {
        None => comparison,
        withheld => Comparison {
            verdict: Verdict::CannotTell,
            blocks_needed: None,
            withheld,
            ..comparison
        },
    };
    comparisons.into_iter().map(judged).collect()
}

fn reason(trials: &Trials, comparison: &Comparison) -> Option<Withheld> {
    if not_exercised::seen(trials, comparison).next().is_some() {
        return Some(Withheld::NotExercised);
    }
    if number_of_files::differ_in_it_alone(trials, comparison) {
        return Some(Withheld::NumberOfFiles);
    }
    let too_little = too_little_io::seen(trials, comparison).map(|_| Withheld::TooLittleIo);
    too_little.or_else(|| same_disk::disk(trials, comparison).map(|_| Withheld::SameDisk))
}
