//! Where the sessions' time went, as shares of the whole.

use std::collections::BTreeMap;

use experiment::record::Record;

/// Shares of all sessions' time by cause, named as in a record; they sum to 1, unless there was none.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Split(BTreeMap<String, f64>);

/// What one would have to change to win the time back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Family {
    /// Cores, or work for them.
    Cpu,
    /// Sessions that wait for each other.
    Lock,
    /// Sessions that wait for their own next operation.
    Think,
    /// The time disks take for a request.
    Service,
    /// Requests behind others.
    Queue,
    /// Limits.
    Throttle,
    /// A cause that this version does not know.
    Other,
}

impl Split {
    /// The split over all of `trials` together.
    pub(super) fn of(trials: &[&Record]) -> Split {
        let mut spent: BTreeMap<String, f64> = BTreeMap::new();
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

    /// The shares as the findings name them: machine limits without their measure.
    pub(super) fn reported(&self) -> BTreeMap<String, f64> {
        let mut reported = BTreeMap::new();
        for (cause, share) in &self.0 {
            *reported.entry(without_measure(cause).into()).or_default() += share;
        }
        reported
    }

    /// Share of each family, the largest first.
    pub(super) fn families(&self) -> Vec<(Family, f64)> {
        largest_first(self.0.iter().map(|(cause, share)| (family(cause), *share)))
    }

    /// Share of each cause, where all that one limit throttled is one cause under the limit's name; the
    /// largest first.
    pub(super) fn causes(&self) -> Vec<(String, f64)> {
        largest_first(self.0.iter().map(|(cause, share)| {
            let cause = throttled_by(cause).unwrap_or(cause);
            (cause.to_owned(), *share)
        }))
    }

    /// Share of the waits for I/O of one `kind` (`read`, `write`, `log`).
    pub(super) fn waited(&self, kind: &str) -> f64 {
        let of_kind = self
            .0
            .iter()
            .filter(|(cause, _)| kind_of(cause) == Some(kind));
        of_kind.map(|(_, share)| share).sum()
    }

    /// Share of all waits for I/O.
    pub(super) fn waited_for_io(&self) -> f64 {
        ["read", "write", "log"]
            .map(|kind| self.waited(kind))
            .iter()
            .sum()
    }

    /// Whether any time was recorded.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Which family a cause of [`Split::causes`] or of a record belongs to.
pub(crate) fn family(cause: &str) -> Family {
    if is_limit(cause) || throttled_by(cause).is_some() {
        return Family::Throttle;
    }
    if kind_of(cause).is_some() {
        return match cause.rsplit('.').next() {
            Some("service") => Family::Service,
            Some("queued") => Family::Queue,
            Some(_) | None => Family::Other,
        };
    }
    match cause.split('.').next() {
        Some("cpu") => Family::Cpu,
        Some("lock") => Family::Lock,
        Some("think") => Family::Think,
        Some(_) | None => Family::Other,
    }
}

/// Whether `cause` is the name of a limit: `disk.iops`, `machine.cached.throughput`.
pub(super) fn is_limit(cause: &str) -> bool {
    cause.starts_with("disk.") || cause.starts_with("machine.")
}

/// The limit in `read.throttled.<limit>`.
fn throttled_by(cause: &str) -> Option<&str> {
    cause.split_once(".throttled.").map(|(_, limit)| limit)
}

/// `read`, `write` or `log`, when `cause` is a wait for I/O.
fn kind_of(cause: &str) -> Option<&str> {
    let (kind, _) = cause.split_once('.')?;
    matches!(kind, "read" | "write" | "log").then_some(kind)
}

/// `read.throttled.machine.cached.throughput` as `read.throttled.machine.cached`.
fn without_measure(cause: &str) -> &str {
    let of_machine = throttled_by(cause).is_some_and(|limit| limit.starts_with("machine."));
    match cause.rsplit_once('.') {
        Some((rest, "iops" | "throughput" | "credits")) if of_machine => rest,
        Some(_) | None => cause,
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
        assert!((reported["read.throttled.machine.cached"] - 0.7).abs() < 1e-12);
        assert!((reported["write.throttled.disk.iops"] - 0.2).abs() < 1e-12);
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
            (cause.as_str(), family(&cause)),
            ("disk.iops", Family::Throttle)
        );
        assert!((share - 0.6).abs() < 1e-12);
    }

    #[test]
    fn waits_are_told_from_work() {
        let split = split(&[
            ("cpu", 50),
            ("cpu.queued", 20),
            ("log.service", 10),
            ("read.queued", 20),
        ]);

        assert_eq!(split.families()[0].0, Family::Cpu);
        assert!((split.waited_for_io() - 0.3).abs() < 1e-12);
        assert!((split.waited("log") - 0.1).abs() < 1e-12);
    }

    #[test]
    fn no_time_has_no_shares() {
        assert!(split(&[]).is_empty());
        assert!(split(&[("cpu", 0)]).reported().is_empty());
    }
}
