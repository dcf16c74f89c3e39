//! Selects the trials of a plan that a task runs: by an option, or by the variable in which a scheduler numbers its
//! tasks.

use std::ops::RangeInclusive;

use crate::command::UsageError;
use experiment::plan::counted;

/// Variables in which schedulers number the tasks of an array from 0, and their schedulers.
///
/// Sources, read 2026-11-25: <https://slurm.schedmd.com/job_array.html>,
/// <https://kubernetes.io/docs/concepts/workloads/controllers/job/#completion-mode>,
/// <https://docs.aws.amazon.com/batch/latest/userguide/array_jobs.html>, the user's guides of PBS Professional and of Torque.
pub(super) const VARIABLES: [&str; 5] = [
    "SLURM_ARRAY_TASK_ID",
    "JOB_COMPLETION_INDEX",
    "AWS_BATCH_JOB_ARRAY_INDEX",
    "PBS_ARRAY_INDEX",
    "PBS_ARRAYID",
];

/// `7`, or `0-99`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Indices(RangeInclusive<u32>);

impl std::str::FromStr for Indices {
    type Err = String;

    fn from_str(text: &str) -> Result<Indices, String> {
        let number = |text: &str| {
            let number = text.trim().parse();
            number
                .map_err(|_| "give an index from 0, such as 7, or a range, such as 0-99".to_owned())
        };
        let (first, last) = match text.split_once('-') {
            None => (number(text)?, number(text)?),
            Some((first, last)) => (number(first)?, number(last)?),
        };
        match first <= last {
            true => Ok(Indices(first..=last)),
            false => Err(format!(
                "the range ends before it begins; give {last}-{first}"
            )),
        }
    }
}

/// An index and its source.
struct Source {
    by: String,
    indices: RangeInclusive<u32>,
}

/// The places in a plan of `trials` trials that a task runs, given the option `asked` and these `variables`, where each
/// index stands for `chunk` trials. The last chunk may be shorter.
///
/// # Errors
/// When there is no index, there are conflicting ones, or one that the plan does not have.
pub(super) fn chosen(
    asked: Option<&Indices>,
    variables: &[(&str, String)],
    chunk: u32,
    trials: u32,
) -> Result<RangeInclusive<u32>, UsageError> {
    let Source { by, indices } = match asked {
        Some(Indices(indices)) if indices.start() == indices.end() => Source {
            by: format!("--index {}", indices.start()),
            indices: indices.clone(),
        },
        Some(Indices(indices)) => Source {
            by: format!("--index {}-{}", indices.start(), indices.end()),
            indices: indices.clone(),
        },
        None => of_variables(variables)?,
    };
    // Every plan has at least one trial.
    let last = trials.saturating_sub(1);
    let chunks_last = last / chunk;
    if *indices.end() > chunks_last {
        let chunks = match chunk {
            1 => String::new(),
            chunk => format!(", in chunks of {chunk}"),
        };
        return Err(UsageError(format!(
            "{by}: the plan has {}{chunks}; give {}",
            counted(trials, "trial"),
            match chunks_last {
                0 => "index 0".to_owned(),
                last => format!("an index from 0 to {last}"),
            }
        )));
    }
    let (first, end) = (indices.start() * chunk, indices.end() * chunk + (chunk - 1));
    Ok(first..=end.min(last))
}

/// The value of the one variable that is set, or of all that are.
fn of_variables(variables: &[(&str, String)]) -> Result<Source, UsageError> {
    let Some(((name, value), others)) = variables.split_first() else {
        return Err(UsageError(format!(
            "no trial is named; give --index N, or run this as a task of an array, whose index is in one of {}",
            VARIABLES.join(", ")
        )));
    };
    if let Some((other, else_value)) = others.iter().find(|(_, other)| other != value) {
        return Err(UsageError(format!(
            "{name} is {value}, and {other} is {else_value}; give --index N, or unset the one that does not count this task"
        )));
    }
    let index = value.parse().map_err(|_| {
        UsageError(format!(
            "{name} is \"{value}\", which is not an index (0 or greater); give --index N"
        ))
    })?;
    Ok(Source {
        by: format!("{name}={value}"),
        indices: index..=index,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First and last trial, or why there are none.
    type Ranged = Result<(u32, u32), String>;

    fn of(asked: Option<&str>, variables: &[(&str, &str)], chunk: u32) -> Ranged {
        let asked: Option<Indices> = asked.map(|text| text.parse()).transpose()?;
        let variables: Vec<(&str, String)> = variables
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned()))
            .collect();
        let range = chosen(asked.as_ref(), &variables, chunk, 40).map_err(|error| error.0)?;
        Ok((*range.start(), *range.end()))
    }

    #[test]
    fn an_index_is_of_one_trial_or_of_a_chunk_and_the_last_chunk_may_be_short() {
        assert_eq!(of(Some("7"), &[], 1), Ok((7, 7)));
        assert_eq!(of(Some("0-39"), &[], 1), Ok((0, 39)));
        assert_eq!(of(None, &[("PBS_ARRAY_INDEX", "2")], 12), Ok((24, 35)));
        // Trials 36 to 39: 40 / 12 leaves 4.
        assert_eq!(of(None, &[("PBS_ARRAY_INDEX", "3")], 12), Ok((36, 39)));
        assert_eq!(of(Some("0"), &[], u32::MAX), Ok((0, 39)));
    }

    #[test]
    fn the_option_counts_more_than_a_variable() {
        assert_eq!(
            of(Some("7"), &[("SLURM_ARRAY_TASK_ID", "3")], 1),
            Ok((7, 7))
        );
    }

    #[test]
    fn variables_that_agree_are_one() {
        let both = [("SLURM_ARRAY_TASK_ID", "3"), ("PBS_ARRAYID", "3")];
        assert_eq!(of(None, &both, 1), Ok((3, 3)));
    }

    #[test]
    fn a_mistake_is_reported_with_its_place_its_value_and_the_remedy() {
        let slurm = |value| {
            [
                ("SLURM_ARRAY_TASK_ID", value),
                ("JOB_COMPLETION_INDEX", "4"),
            ]
        };
        let cases: [(Ranged, &[&str]); 7] = [
            (of(None, &[], 1), &["--index N", "JOB_COMPLETION_INDEX"]),
            (
                of(None, &slurm("3"), 1),
                &["SLURM_ARRAY_TASK_ID is 3", "JOB_COMPLETION_INDEX is 4"],
            ),
            (
                of(None, &slurm("3")[..1], 20),
                &["SLURM_ARRAY_TASK_ID=3", "chunks of 20", "0 to 1"],
            ),
            (of(None, &slurm("x")[..1], 1), &["is \"x\"", "--index N"]),
            (of(Some("40"), &[], 1), &["--index 40", "0 to 39"]),
            (of(Some("9-3"), &[], 1), &["3-9"]),
            (of(Some("-1"), &[], 1), &["from 0"]),
        ];
        for (result, parts) in cases {
            let error = result.expect_err("a mistake");
            assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        }
    }
}
