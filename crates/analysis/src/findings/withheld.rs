//! Comparisons without a verdict, however clear their figures: the experiment did not measure what it asks.

use super::trials::Trials;
use super::{
    Comparison, Verdict, Withheld, not_exercised, number_of_files, same_disk, too_little_io,
};

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
