//! What can be wrong with a profile.

use thiserror::Error;

use model::cores::CORES_MAX;

use super::columns::{self, Column};
use super::definition::{Interval, Profile};

/// A profile that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProfileError {
    /// The text is no TOML, or holds a key or value that a profile cannot.
    #[error("{file}:{line}: {message}")]
    Text {
        /// The file, as it was named.
        file: String,
        /// Line, from 1.
        line: usize,
        /// What is wrong there.
        message: String,
    },
    /// Its figures contradict each other.
    #[error("{file}: {message}")]
    Figures {
        /// The file, as it was named.
        file: String,
        /// Which figures, and the remedy.
        message: String,
    },
}

/// Most that lies between the first interval's beginning and the last one's end. More is a mistyped date; 584 years of
/// nanoseconds exceed 64 bits.
const YEARS: u64 = 100;
const LONGEST: model::Duration = model::Duration::from_secs(YEARS * 365 * 86_400);

/// Most intervals: a week of seconds. Each takes some 2 KB of memory.
pub const INTERVALS_MAX: usize = 7 * 86_400;

/// Refuses intervals that are empty, overlap or go back, and figures that are out of range, or there for some intervals
/// only.
///
/// # Errors
/// The first of these, in words.
pub(super) fn check(profile: &Profile) -> Result<(), String> {
    if profile.intervals.is_empty() {
        return Err("it has no interval; record for longer".to_owned());
    }
    if profile.intervals.len() > INTERVALS_MAX {
        return Err(format!(
            "it has {} intervals, and at most {INTERVALS_MAX} are read; record or import it with longer ones (--interval)",
            profile.intervals.len()
        ));
    }
    if let Some(processors) = profile.machine.processors
        && processors > CORES_MAX
    {
        return Err(format!(
            "`processors` of its machine is {processors}, and no machine has more than {CORES_MAX}; correct it"
        ));
    }
    let mut end = model::Duration::ZERO;
    for (number, interval) in profile.intervals.iter().enumerate() {
        let number = number + 1;
        if interval.length == model::Duration::ZERO {
            return Err(format!(
                "interval {number} has a length of 0 s; leave it out"
            ));
        }
        if interval.at < end {
            return Err(format!(
                "interval {number} begins at {}, before the one before it ends ({end})",
                interval.at
            ));
        }
        end = interval.at + interval.length;
        if end > LONGEST {
            return Err(format!(
                "interval {number} ends more than {YEARS} years after the first begins; correct its date, or leave it \
                 out"
            ));
        }
    }
    columns::all().try_for_each(|column| check_column(&profile.intervals, &column))
}

impl Interval {
    /// Whether every figure is in the range that a profile has for it.
    ///
    /// # Errors
    /// The first that is not, in words.
    pub fn check(&self) -> Result<(), String> {
        let mut counted = columns::all().filter_map(|column| Some((column, column.get(self)?)));
        counted.try_for_each(|(column, value)| {
            column
                .check(value)
                .map_err(|why| format!("`{column}` is {why}"))
        })
    }
}

fn check_column(intervals: &[Interval], column: &Column) -> Result<(), String> {
    let values: Vec<Option<f64>> = intervals
        .iter()
        .map(|interval| column.get(interval))
        .collect();
    if let Some(missing) = values.iter().position(Option::is_none)
        && values.iter().any(Option::is_some)
    {
        return Err(format!(
            "`{column}` is missing in interval {}: a figure is there for all intervals or for none",
            missing + 1
        ));
    }
    for (number, value) in (1..).zip(values.into_iter().flatten()) {
        column.check(value).map_err(|why| {
            format!(
                "`{column}` of interval {number} is {why}; correct it, or leave the interval out"
            )
        })?;
    }
    Ok(())
}
