//! Validation of profiles.

use thiserror::Error;

use model::cores::CORES_MAX;

use super::columns::{self, Column};
use super::definition::{Interval, Profile};

/// A profile that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProfileError {
    /// The text is not valid TOML, or contains a key or value that profiles do not allow.
    #[error("{file}:{line}: {message}")]
    Text {
        /// The file, as named by the caller.
        file: String,
        /// Line, from 1.
        line: usize,
        /// What is wrong there.
        message: String,
    },
    /// Its figures contradict each other.
    #[error("{file}: {message}")]
    Figures {
        /// The file, as named by the caller.
        file: String,
        /// Which figures, and the remedy.
        message: String,
    },
}

/// Maximum time from the beginning of the first interval to the end of the last. More indicates a mistyped date; 584 years of
/// nanoseconds exceed 64 bits.
const YEARS: u64 = 100;
const LONGEST: model::Duration = model::Duration::from_secs(YEARS * 365 * 86_400);

/// Maximum number of intervals: a week of seconds. Each takes some 2 KB of memory.
pub const INTERVALS_MAX: usize = 7 * 86_400;

/// Rejects intervals that are empty, overlap or go back in time, and figures that are out of range or present for only some
/// intervals.
///
/// # Errors
/// The first of these, as text.
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
    let balance = profile.machine.burst_balance.into_iter().flatten();
    if let Some(percent) = balance.max().filter(|percent| *percent > 100) {
        return Err(format!(
            "`burst_balance` of its machine has {percent} %, and the most is 100; correct it"
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
    /// Checks that every figure is in its range.
    ///
    /// # Errors
    /// The first that is not, as text.
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
