//! Where the sessions' time went, as shares of the whole.

use std::collections::BTreeMap;

use experiment::record::{Cause, Limit, Record};
use reading::cause::{Io, Part};

use super::BoundBy;

/// Shares of all sessions' time by cause; they sum to 1, unless there was none.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Split(BTreeMap<Cause, f64>);

/// The remedy that would win the time back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Family {
    /// Cores, or less work for them.
    Cpu,
    /// Sessions that block each other.
    Lock,
    /// Sessions idle until their own next operation.
    Think,
    /// The service time of disks.
    Service,
    /// Requests queued behind others.
    Queue,
    /// Limits.
    Throttle,
    /// Other work of the engine or dbstow.
    Other,
}

impl From<&Cause> for Family {
    fn from(cause: &Cause) -> Family {
        match cause {
            Cause::Cpu | Cause::CpuQueued => Family::Cpu,
            Cause::Lock => Family::Lock,
            Cause::Think => Family::Think,
            Cause::Client | Cause::Other => Family::Other,
            Cause::Io(_, Part::Service) => Family::Service,
            Cause::Io(_, Part::Queued) => Family::Queue,
            Cause::Io(_, Part::Throttled(_)) => Family::Throttle,
        }
    }
}

impl From<&BoundBy> for Family {
    fn from(bound: &BoundBy) -> Family {
        match bound {
            BoundBy::Unknown => Family::Other,
            BoundBy::Limit(_) => Family::Throttle,
            BoundBy::Cause(cause) => Family::from(cause),
        }
    }
}

impl Split {
    /// The split over all of `trials` together.
    pub(super) fn of(trials: &[&Record]) -> Split {
        let mut spent: BTreeMap<Cause, f64> = BTreeMap::new();
        for (cause, ns) in trials.iter().flat_map(|record| &record.time_split_ns) {
            *spent.entry(cause.clone()).or_default() += *ns as f64;
        }
        let whole: f64 = spent.values().sum();
        if whole <= 0.0 {
            return Split::default();
        }
        spent.values_mut().for_each(|ns| *ns /= whole);
        Split(spent)
    }

    /// The shares under the names used in findings: machine limits without their measure.
    pub(super) fn reported(&self) -> BTreeMap<Cause, f64> {
        let mut reported = BTreeMap::new();
        for (cause, share) in &self.0 {
            *reported.entry(without_measure(cause)).or_default() += share;
        }
        reported
    }

    /// Share of each family, the largest first.
    pub(super) fn families(&self) -> Vec<(Family, f64)> {
        largest_first(
            self.0
                .iter()
                .map(|(cause, share)| (Family::from(cause), *share)),
        )
    }

    /// Share of each cause, largest first, where everything throttled by one limit is one cause under the limit's name.
    pub(super) fn causes(&self) -> Vec<(BoundBy, f64)> {
        largest_first(self.0.iter().map(|(cause, share)| {
            let bound = match cause.throttled_by() {
                Some(limit) => BoundBy::Limit(limit.clone()),
                None => BoundBy::Cause(cause.clone()),
            };
            (bound, *share)
        }))
    }

    /// Share of the waits for one kind of I/O.
    pub(super) fn waited(&self, io: Io) -> f64 {
        let waits = self.0.iter().filter(|(cause, _)| cause.io() == Some(io));
        waits.map(|(_, share)| share).sum()
    }

    /// Share of all waits for I/O.
    pub(super) fn waited_for_io(&self) -> f64 {
        [Io::Read, Io::Write, Io::Log]
            .map(|io| self.waited(io))
            .iter()
            .sum()
    }

    /// Whether any time was recorded.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// `read.throttled.machine.cached.throughput` as `read.throttled.machine.cached`.
fn without_measure(cause: &Cause) -> Cause {
    let whole = cause.throttled_by().and_then(Limit::of_machine_as_a_whole);
    match (cause, whole) {
        (Cause::Io(io, _), Some(limit)) => Cause::Io(*io, Part::Throttled(limit)),
        (other, _) => other.clone(),
    }
}

fn largest_first<K: Ord>(shares: impl Iterator<Item = (K, f64)>) -> Vec<(K, f64)> {
    let mut summed: BTreeMap<K, f64> = BTreeMap::new();
    for (key, share) in shares {
        *summed.entry(key).or_default() += share;
    }
    let mut sorted: Vec<(K, f64)> = summed.into_iter().collect();
    sorted.sort_by(|a, b| b.1.total_cmp(&a.1));
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::examples::{split_of, trial};

    fn split(parts: &[(&str, u64)]) -> Split {
        let mut record = trial("p30", 0, 1.0);
        record.time_split_ns = split_of(parts);
        Split::of(&[&record])
    }

    #[test]
    fn shares_sum_to_one_and_machine_limits_lose_their_measure() {
        let split = split(&[
            ("cpu", 100),
            ("read.throttled.machine.cached.throughput", 600),
            ("read.throttled.machine.cached.iops", 100),
            ("write.throttled.disk.iops", 200),
        ]);

        let reported = split.reported();

        assert!((reported.values().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(
            (reported[&"read.throttled.machine.cached".parse().expect("a cause")] - 0.7).abs()
                < 1e-12
        );
        assert!(
            (reported[&"write.throttled.disk.iops".parse().expect("a cause")] - 0.2).abs() < 1e-12
        );
    }

    #[test]
    fn one_limit_is_one_cause_whatever_it_throttled() {
        let split = split(&[
            ("cpu", 400),
            ("read.throttled.disk.iops", 300),
            ("write.throttled.disk.iops", 300),
        ]);

        let (cause, share) = split.causes().remove(0);

        assert_eq!(
            (cause.to_string().as_str(), Family::from(&cause)),
            ("disk.iops", Family::Throttle)
        );
        assert!((share - 0.6).abs() < 1e-12);
    }

    #[test]
    fn waits_are_distinguished_from_work() {
        let split = split(&[
            ("cpu", 50),
            ("cpu.queued", 20),
            ("log.service", 10),
            ("read.queued", 20),
        ]);

        assert_eq!(split.families()[0].0, Family::Cpu);
        assert!((split.waited_for_io() - 0.3).abs() < 1e-12);
        assert!((split.waited(Io::Log) - 0.1).abs() < 1e-12);
    }

    #[test]
    fn no_time_has_no_shares() {
        assert!(split(&[]).is_empty());
        assert!(split(&[("cpu", 0)]).reported().is_empty());
    }
}
