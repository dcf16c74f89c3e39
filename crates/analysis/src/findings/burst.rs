//! Arms that exceeded the sustained rate of their disks or machine by spending burst credits.

use super::disks::measured_s;
use super::trials::Trials;
use super::warnings::{list, warning};
use super::{Findings, Warning};
use experiment::record::{LimitRecord, Record};
use model::{Duration, Throughput};
use reading::cause::{Measure, Owner};
use table::quantity::{self, number, percent};

/// A smaller surplus over the sustained rate may be chance.
const SURPLUS_MIN: f64 = 0.01;

/// Reports for each arm which credits it spends fastest, and how long they last.
pub(super) fn warnings(trials: &Trials, findings: &Findings) -> Option<Warning> {
    let arms = list(findings.arms.iter().filter_map(|arm| {
        let spending = spending(trials, &arm.name)?;
        Some(format!("{}: {}", arm.name, spending.words()))
    }))?;
    Some(warning(
        "burst-credits",
        format!(
            "these arms were faster than what is sustained, on burst credits: {arms}. Verdicts and prices hold while credits last; \
             run it with --sustained too, which starts with all of them spent."
        ),
    ))
}

/// The share of an arm's speed that its limits sustain; 1 where it spends no credits.
///
/// An upper bound: an operation's demand on a limit is assumed constant, so that operations per second drop with the
/// limit (utilisation law; Denning and Buzen 1978).
pub(super) fn sustained_share(trials: &Trials, arm: &str) -> f64 {
    let Some(record) = trials.finished(arm).first() else {
        return 1.0;
    };
    let shares = spending_of(record).map(|spending| spending.limit.rate / spending.used_per_s);
    shares.fold(1.0, f64::min)
}

/// The credits that an arm spends fastest, according to its first trial.
fn spending<'a>(trials: &Trials<'a>, arm: &str) -> Option<Spending<'a>> {
    first_to_run_out(trials.finished(arm).first()?)
}

/// Credits that paid for the use of a limit.
struct Spending<'a> {
    limit: &'a LimitRecord,
    /// Units per second that passed the limit.
    used_per_s: f64,
    /// Credits at the start.
    start: f64,
    /// The share of them left at the end, and for how many seconds that lasts at this rate.
    left: f64,
    left_s: f64,
}

/// Of the limits that a trial used beyond their sustained rate, the one that runs out of credits first.
fn first_to_run_out(record: &Record) -> Option<Spending<'_>> {
    spending_of(record).min_by(|one, other| one.left_s.total_cmp(&other.left_s))
}

/// The limits that a trial used beyond their sustained rate.
fn spending_of(record: &Record) -> impl Iterator<Item = Spending<'_>> {
    let elapsed_s = measured_s(record);
    record.limits.iter().filter_map(move |limit| {
        let burst = limit.burst?;
        let used_per_s = limit.used / elapsed_s;
        let surplus = used_per_s - limit.rate;
        (surplus > SURPLUS_MIN * limit.rate).then_some(Spending {
            limit,
            used_per_s,
            start: burst.credits_start,
            left: burst.credits_end,
            left_s: burst.credits_end / surplus,
        })
    })
}

impl Spending<'_> {
    /// `disk d.1: 2,950 IOPS, of which 1,500 are sustained; 2 % of the credits at the start spent, and the rest lasts 59
    /// min at this load`.
    fn words(&self) -> String {
        // Of a limit that was drawn lower, and is used by less than is documented, the drawn one explains the sentence.
        let documented = self.limit.documented;
        let documented = documented.filter(|documented| self.used_per_s > *documented);
        let rate = documented.unwrap_or(self.limit.rate);
        let [used, sustained] = match self.limit.name.measure {
            Some(Measure::Throughput) => [
                quantity::rate(self.used_per_s / 1e6),
                Throughput(rate as u64).to_string(),
            ],
            Some(Measure::Iops | Measure::Credits) | None => {
                [format!("{} IOPS", number(self.used_per_s)), number(rate)]
            }
        };
        let whose = match &self.limit.name.owner {
            Owner::Machine(name) => format!("the machine's {name} limit"),
            Owner::Disk(disk) => format!("disk {disk}"),
            Owner::Disks => "the disks".to_owned(),
        };
        let spent = match self.start > 0.0 {
            true => percent((1.0 - self.left / self.start).max(0.0)),
            false => "none".to_owned(),
        };
        format!(
            "{whose}: {used}, of which {sustained} are sustained; {spent} of the credits at the start spent, and the rest lasts {} \
             at this load",
            quantity::duration(Duration::from_secs_f64(self.left_s))
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::make;
    use super::*;
    use experiment::examples::{limit, question, records};
    use experiment::record::BurstRecord;
    use model::Counts;

    /// The warning, where `p30` used this many IOPS of a disk that sustains 500, of which this many are documented.
    fn warning_text(used_per_s: f64, documented: Option<f64>) -> Option<String> {
        let mut records = records();
        for record in records.iter_mut().filter(|record| record.arm == "p30") {
            let seconds = measured_s(record);
            let burst = BurstRecord {
                rate: 3_000.0,
                credits_start: 5_400_000.0,
                credits_end: 5_400_000.0 - (used_per_s - 500.0).max(0.0) * seconds,
            };
            record.limits = vec![LimitRecord {
                used: used_per_s * seconds,
                rate: 500.0,
                documented,
                burst: Some(burst),
                ..limit("disk.f.1.iops", Counts::All, 0.9)
            }];
        }
        let warnings = make(&question(), &records).warnings.into_iter();
        let mut warning = warnings.filter(|warning| warning.id == "burst-credits");
        warning.next().map(|warning| warning.text)
    }

    #[test]
    fn credits_that_carry_an_arm_are_reported_with_how_long_they_last() {
        let text = warning_text(2_000.0, None).expect("there is a warning");
        assert!(
            text.contains(
                "p30: disk f.1: 2,000 IOPS, of which 500 are sustained; 4.6 % of the credits"
            ),
            "{text}"
        );
        // (5,400,000 - 1,500 x 163.9 s) / 1,500 a second.
        assert!(
            text.contains("the rest lasts 57.3 min at this load"),
            "{text}"
        );
        assert_eq!(warning_text(500.0, None), None);
    }

    #[test]
    fn a_drawn_limit_is_reported_as_it_is_documented() {
        let text = warning_text(2_000.0, Some(600.0)).expect("there is a warning");
        assert!(
            text.contains("p30: disk f.1: 2,000 IOPS, of which 600 are sustained; 4.6 % of"),
            "{text}"
        );
    }
}
