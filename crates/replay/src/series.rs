//! A server's demand over time.

use std::collections::BTreeSet;

use model::Duration;
use profile::{Interval, Profile};
use reading::Role;

use super::demand::{Demand, DemandError};
use super::log_writer::LogWriter;

/// Minimum number of operations for a mean: with fewer, a period would depend on chance.
const OPERATIONS_MIN: f64 = 100.0;

/// A server's demand over time: consecutive periods.
#[derive(Clone, Debug, PartialEq)]
pub struct DemandSeries {
    /// Never empty.
    periods: Vec<Period>,
    separate: BTreeSet<Role>,
    merged: BTreeSet<Role>,
    assumptions: Vec<String>,
}

/// A span of time, and the demand of operations in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Period {
    /// Its length; above 0.
    pub length: Duration,
    /// Operations per second that ended.
    pub operations_per_s: f64,
    /// Demand of one of them, and the number of sessions.
    pub demand: Demand,
}

impl DemandSeries {
    /// A server's demand while it was recorded.
    ///
    /// A period spans as many intervals as are needed for 100 operations. Gaps are skipped.
    ///
    /// # Errors
    /// When the profile lacks data that a demand needs.
    pub fn of(profile: &Profile) -> Result<DemandSeries, DemandError> {
        let log_writer = log_writer_of(profile);
        let periods = periods(&profile.intervals, log_writer)?;
        Ok(DemandSeries::new(profile, log_writer, periods))
    }

    /// The demand in at most `parts` periods of equally many operations, the least busy intervals first: disk performance depends
    /// on load, not on when it occurred.
    ///
    /// Each has at least 100 operations, if the profile has that many. Idle time is skipped.
    ///
    /// # Errors
    /// When the profile lacks data that a demand needs.
    pub fn by_load(profile: &Profile, parts: u32) -> Result<DemandSeries, DemandError> {
        let log_writer = log_writer_of(profile);
        // Missing figures are missing in every part.
        Demand::of(&profile.intervals, log_writer)?;
        let mut busy = profile.intervals.clone();
        let rate = |interval: &Interval| {
            interval.operations.unwrap_or(0.0) / interval.length.as_secs_f64()
        };
        busy.retain(|interval| rate(interval) > 0.0);
        busy.sort_by(|a, b| rate(a).total_cmp(&rate(b)));
        let all: f64 = busy.iter().filter_map(|interval| interval.operations).sum();
        let each = (all / f64::from(parts.max(1))).max(OPERATIONS_MIN);
        let mut periods = Vec::new();
        let (mut from, mut operations) = (0, 0.0);
        for (at, interval) in busy.iter().enumerate() {
            operations += interval.operations.unwrap_or(0.0);
            let is_last = at + 1 == busy.len();
            // The next part's end, with a tolerance for floating-point error.
            let is_due = operations >= each * (periods.len() + 1) as f64 * (1.0 - 1e-9);
            let left = all - operations;
            if is_last || is_due && left >= OPERATIONS_MIN {
                periods.push(period(&busy[from..=at], log_writer)?);
                from = at + 1;
            }
        }
        Ok(DemandSeries::new(profile, log_writer, periods))
    }

    fn new(profile: &Profile, log_writer: LogWriter, periods: Vec<Period>) -> DemandSeries {
        DemandSeries {
            assumptions: log_writer
                .assumption(profile, periods.iter().map(|period| period.demand.log))
                .into_iter()
                .collect(),
            periods,
            separate: profile.roles(),
            merged: profile.merged_roles(),
        }
    }

    /// A steady demand in which requests of all roles were counted separately.
    pub fn steady(demand: Demand, operations_per_s: f64) -> DemandSeries {
        DemandSeries {
            periods: vec![Period {
                length: Duration::from_secs(1),
                operations_per_s,
                demand,
            }],
            separate: Role::COMMON.into(),
            merged: BTreeSet::new(),
            assumptions: Vec::new(),
        }
    }

    #[cfg(test)]
    pub(super) fn set_periods(&mut self, periods: Vec<Period>) {
        self.periods = periods;
    }

    /// The periods, in order of time; at least one.
    pub fn periods(&self) -> &[Period] {
        &self.periods
    }

    /// Total length of the periods.
    pub fn length(&self) -> Duration {
        self.periods.iter().map(|period| period.length).sum()
    }

    /// Maximum number of sessions of a period.
    pub fn sessions_max(&self) -> u32 {
        let sessions = self.periods.iter().map(|period| period.demand.sessions);
        sessions.max().unwrap_or(1)
    }

    /// Operations per second, over all periods.
    pub fn operations_per_s(&self) -> f64 {
        let weighted = |period: &Period| period.operations_per_s * period.length.as_secs_f64();
        self.periods.iter().map(weighted).sum::<f64>() / self.length().as_secs_f64()
    }

    /// Roles whose requests were counted separately.
    pub fn separate(&self) -> &BTreeSet<Role> {
        &self.separate
    }

    /// Roles whose requests are included in those for data.
    pub fn merged(&self) -> &BTreeSet<Role> {
        &self.merged
    }

    /// Assumptions made to derive the demand, in addition to those of the profile, as sentences.
    pub fn assumptions(&self) -> &[String] {
        &self.assumptions
    }

    /// Sets `sessions` for the period that has the most, and scales the others in proportion.
    pub fn with_sessions(mut self, sessions: u32) -> DemandSeries {
        let share = f64::from(sessions) / f64::from(self.sessions_max());
        for period in &mut self.periods {
            let sessions = f64::from(period.demand.sessions) * share;
            period.demand.sessions = (sessions.round() as u32).max(1);
        }
        self
    }

    /// Scales to `rate` operations per second over all periods.
    pub fn with_rate(mut self, rate: f64) -> DemandSeries {
        let share = rate / self.operations_per_s();
        for period in &mut self.periods {
            period.operations_per_s *= share;
        }
        self
    }
}

/// How the server of a profile writes its log.
pub(super) fn log_writer_of(profile: &Profile) -> LogWriter {
    let origin = &profile.origin;
    LogWriter::of(origin.product.as_deref(), origin.version.as_deref())
}

/// Periods with enough operations each, or none; the rest at the end belongs to the last.
fn periods(intervals: &[Interval], log_writer: LogWriter) -> Result<Vec<Period>, DemandError> {
    let mut parts: Vec<&[Interval]> = Vec::new();
    let (mut from, mut operations) = (0, 0.0);
    for (at, interval) in intervals.iter().enumerate() {
        let own = interval.operations.unwrap_or(0.0);
        if own >= OPERATIONS_MIN && from < at {
            // A quiet time before a burst is not part of it.
            parts.push(&intervals[from..at]);
            (from, operations) = (at, 0.0);
        }
        operations += own;
        if operations >= OPERATIONS_MIN {
            parts.push(&intervals[from..=at]);
            (from, operations) = (at + 1, 0.0);
        }
    }
    if from < intervals.len() {
        let from = parts.pop().map_or(0, |last| from - last.len());
        parts.push(&intervals[from..]);
    }
    let all = Demand::of(intervals, log_writer)?;
    // An idle period has the mean demand of all, which no session issues.
    let period = |intervals| match period(intervals, log_writer) {
        Err(DemandError::Idle) => {
            let length: Duration = intervals.iter().map(|interval| interval.length).sum();
            Ok(Period {
                length,
                operations_per_s: 0.0,
                demand: Demand {
                    delay: Duration::from_secs_f64(1e3 * length.as_secs_f64()),
                    ..all.clone()
                },
            })
        }
        period => period,
    };
    parts.into_iter().map(period).collect()
}

/// One period.
fn period(intervals: &[Interval], log_writer: LogWriter) -> Result<Period, DemandError> {
    let length: Duration = intervals.iter().map(|interval| interval.length).sum();
    let operations = intervals.iter().filter_map(|interval| interval.operations);
    Ok(Period {
        length,
        operations_per_s: operations.sum::<f64>() / length.as_secs_f64(),
        demand: Demand::of(intervals, log_writer)?,
    })
}

#[cfg(test)]
mod tests;
