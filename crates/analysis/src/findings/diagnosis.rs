//! Determines what limited an arm, and the next limit.
//!
//! The sessions' time decides, not the disks' counters: a slow disk that is not on the critical path limits nothing.

use super::bound::{Bottleneck, Bound, By};
use super::limits::{LimitUse, limits};
use super::reason::{self, Seen};
use super::split::{Family, Split};
use super::{ArmVolume, BoundBy, Disk};
use experiment::record::{Limit, Record};
use experiment::spec::Role;
use reading::cause::{Io, Measure, Owner};

/// Share of a limit from which on it counts as reached. A paced limit under a closed loop of few sessions never reaches
/// 1: sessions also compute between their requests.
const REACHED: f64 = 0.9;
/// A cause below this share of the sessions' time is not worth naming as the next.
const WORTH_NAMING: f64 = 0.05;

/// What limited an arm.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Diagnosis {
    /// A limit, or the largest part of the sessions' time.
    pub(super) bound_by: BoundBy,
    /// The next limit, were that one removed.
    pub(super) next: Option<BoundBy>,
    /// The reason in a sentence.
    pub(super) reason: String,
}

/// What limited the arm of these trials, with their disks' figures in `volumes`.
pub(super) fn diagnose(trials: &[&Record], split: &Split, volumes: &[ArmVolume]) -> Diagnosis {
    let limits = limits(trials, split);
    let Some(mut bound) = bound(split, &limits) else {
        return Diagnosis {
            bound_by: BoundBy::Unknown,
            next: None,
            reason: "no trial recorded where its sessions' time went.".into(),
        };
    };
    let mut next = next(&bound, split, &limits);
    for bound in next.iter_mut().chain([&mut bound]) {
        bound.at = place(&bound.what, volumes);
    }
    let seen = Seen {
        bound: &bound,
        next: next.as_ref(),
        waited_for_io: split.waited_for_io(),
    };
    Diagnosis {
        reason: reason::sentence(&seen),
        bound_by: bound.what,
        next: next.map(|next| next.what),
    }
}

fn bound(split: &Split, limits: &[LimitUse]) -> Option<Bound> {
    let (largest, _) = *split.families().first()?;
    match largest {
        Family::Throttle => {}
        Family::Cpu
        | Family::Lock
        | Family::Think
        | Family::Service
        | Family::Queue
        | Family::Other => {
            if let Some(limit) = used_up(split, limits) {
                return Some(limit);
            }
        }
    }
    let mut causes = split.causes().into_iter();
    let (what, share) = causes.find(|(cause, _)| Family::from(cause) == largest)?;
    Some(by_time(what, share, limits))
}

/// A cause that sessions spent time on, throttled by a limit or otherwise.
fn by_time(what: BoundBy, share: f64, limits: &[LimitUse]) -> Bound {
    let (limit, by) = match &what {
        BoundBy::Limit(limit) => {
            let used = limits.iter().find(|used| used.limit == *limit);
            (used.cloned(), By::Throttling)
        }
        BoundBy::Cause(_) | BoundBy::Unknown => (None, By::Time),
    };
    Bound {
        what,
        share,
        limit,
        by,
        at: None,
    }
}

/// An exhausted limit.
fn by_use(limit: &LimitUse) -> Bound {
    Bound {
        what: BoundBy::Limit(limit.limit.clone()),
        share: limit.waited,
        limit: Some(limit.clone()),
        by: By::Use,
        at: None,
    }
}

/// An exhausted limit, while sessions wait for its kind of I/O more than for anything else: its throttling delayed work
/// that no session waits for directly, such as the background writer's.
fn used_up(split: &Split, limits: &[LimitUse]) -> Option<Bound> {
    let elsewhere = split
        .families()
        .into_iter()
        .filter(|(family, _)| matches!(family, Family::Cpu | Family::Lock | Family::Think))
        .map(|(_, share)| share)
        .fold(0.0, f64::max);
    let limit = limits
        .iter()
        .find(|limit| limit.utilisation >= REACHED && limit.waited > elsewhere)?;
    Some(by_use(limit))
}

/// The next limit: another limit that the arm would reach if the time of `bound` disappeared and everything else sped up
/// accordingly; otherwise the next largest cause.
fn next(bound: &Bound, split: &Split, limits: &[LimitUse]) -> Option<Bound> {
    let left = 1.0 - bound.share;
    let reached = limits.iter().find(|limit| {
        !same_limit(&limit.limit, &bound.what)
            && limit.utilisation >= (REACHED * left).max(WORTH_NAMING)
    });
    if let Some(limit) = reached {
        return Some(by_use(limit));
    }
    let mut causes = split.causes().into_iter();
    let (what, share) =
        causes.find(|(cause, share)| *cause != bound.what && *share >= WORTH_NAMING)?;
    Some(by_time(what, share, limits))
}

/// Where a wait for I/O was spent: at the volume whose requests of that kind took the most time in total.
fn place(bound: &BoundBy, volumes: &[ArmVolume]) -> Option<Bottleneck> {
    let BoundBy::Cause(cause) = bound else {
        return None;
    };
    let io = cause.io()?;
    let roles: &[Role] = match io {
        Io::Read | Io::Write => &[Role::Data, Role::Temp, Role::Undo, Role::Doublewrite],
        Io::Log => &[Role::Log, Role::Binlog],
    };
    let holds = |volume: &&ArmVolume| {
        let files = |role: &Role| volume.files.get(role).is_some_and(|files| *files > 0);
        roles.iter().any(files)
    };
    let candidates = volumes.iter().filter(holds).flat_map(|volume| {
        let disks = volume.disks.iter();
        disks.filter_map(|disk| spent(io, volume, disk))
    });
    let (_, place) = candidates.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    Some(place)
}

/// Latency of a disk's requests of a kind, summed per second, and the place.
fn spent(io: Io, volume: &ArmVolume, disk: &Disk) -> Option<(f64, Bottleneck)> {
    let counted = disk.counted?;
    let (rate, mean_ms) = match io {
        Io::Read => (disk.read_iops, counted.read_mean_ms?),
        Io::Write | Io::Log => (disk.write_iops, counted.write_mean_ms?),
    };
    let place = Bottleneck {
        volume: volume.name.clone(),
        mean_ms,
        busy: counted.busy,
    };
    Some((rate * mean_ms, place))
}

/// Whether removing `bound` also removes `limit`: the base rate that remains when burst credits are exhausted is the
/// sustained rate of the disk's own limits.
fn same_limit(limit: &Limit, bound: &BoundBy) -> bool {
    let BoundBy::Limit(bound) = bound else {
        return false;
    };
    let credits = bound.measure == Some(Measure::Credits);
    limit == bound || (credits && limit.owner == Owner::Disks && bound.owner == Owner::Disks)
}

#[cfg(test)]
mod tests {
    use super::super::disks::volumes;
    use super::*;
    use experiment::examples::{limit, measured, split_of, trial};
    use experiment::record::LimitRecord;

    fn diagnosis(parts: &[(&str, u64)], limits: Vec<LimitRecord>) -> Diagnosis {
        let mut record = trial("p30", 0, 100.0);
        record.time_split_ns = split_of(parts);
        record.limits = limits;
        diagnose(&[&record], &Split::of(&[&record]), &volumes(&[&record]))
    }

    #[test]
    fn the_limit_that_throttled_most_binds() {
        let diagnosis = diagnosis(
            &[
                ("cpu", 90),
                ("read.service", 200),
                ("read.throttled.machine.cached.throughput", 710),
            ],
            vec![
                limit("machine.cached.throughput", model::Counts::All, 0.98),
                limit("disk.temp.1.throughput", model::Counts::All, 0.32),
            ],
        );

        // without the 71 %, the disk would be used 0.32 / 0.29 = 110 %
        assert_eq!(diagnosis.bound_by.to_string(), "machine.cached.throughput");
        assert_eq!(
            diagnosis.next.expect("something is").to_string(),
            "disk.throughput"
        );
        insta::assert_snapshot!(diagnosis.reason, @"limited by the machine's cached throughput: 71 % of session time waiting on it, 98 % used; next bottleneck: disk temp.1's throughput (32 % used).");
    }

    #[test]
    fn throttling_in_parts_outweighs_a_larger_single_cause() {
        let diagnosis = diagnosis(
            &[
                ("cpu", 400),
                ("read.throttled.disk.iops", 350),
                ("write.throttled.disk.throughput", 250),
            ],
            vec![],
        );

        assert_eq!(diagnosis.bound_by.to_string(), "disk.iops");
        assert_eq!(diagnosis.next.expect("something is").to_string(), "cpu");
    }

    #[test]
    fn a_used_up_disk_binds_when_sessions_wait_for_its_io() {
        let parts = [
            ("cpu", 300),
            ("read.queued", 250),
            ("read.service", 250),
            ("write.service", 200),
        ];
        let full = vec![limit("disk.temp.1.iops", model::Counts::All, 0.96)];

        let diagnosis = diagnosis(&parts, full);

        assert_eq!(diagnosis.bound_by.to_string(), "disk.iops");
        insta::assert_snapshot!(diagnosis.reason, @"limited by disk temp.1's IOPS: 96 % used, and 70 % of session time waiting for that I/O; next bottleneck: CPU (30 % of session time).");
    }

    #[test]
    fn a_used_up_disk_that_nobody_waits_for_does_not_bind() {
        let parts = [("cpu", 900), ("read.service", 100)];
        let full = vec![limit("disk.temp.1.iops", model::Counts::All, 0.96)];

        let diagnosis = diagnosis(&parts, full);

        assert_eq!(diagnosis.bound_by.to_string(), "cpu");
        insta::assert_snapshot!(diagnosis.reason, @"limited by CPU, not by disks: 90 % of session time, against 10 % waiting for I/O; next bottleneck: disk temp.1's IOPS (96 % used).");
    }

    #[test]
    fn locking_binds_where_sessions_wait_for_each_other() {
        let diagnosis = diagnosis(
            &[("cpu", 30), ("lock", 600), ("write.service", 370)],
            vec![],
        );

        assert_eq!(diagnosis.bound_by.to_string(), "lock");
        assert_eq!(
            diagnosis.next.expect("something is").to_string(),
            "write.service"
        );
        insta::assert_snapshot!(diagnosis.reason, @"most time went to waiting for locks: 60 % of session time, against 37 % waiting for I/O; next bottleneck: the latency of the disks' writes (37 % of session time).");
    }

    #[test]
    fn credits_that_ran_out_are_named() {
        let diagnosis = diagnosis(
            &[("read.throttled.disk.credits", 800), ("read.service", 200)],
            vec![limit("disk.temp.1.iops", model::Counts::All, 1.0)],
        );

        assert_eq!(diagnosis.bound_by.to_string(), "disk.credits");
        insta::assert_snapshot!(diagnosis.reason, @"limited by the disks' base rate, burst credits having run out: 80 % of session time waiting on it; next bottleneck: the latency of the disks' reads (20 % of session time).");
    }

    #[test]
    fn on_real_disks_the_volume_that_was_waited_for_is_named() {
        let mut record = measured("p30", 0, 100.0);
        let mut log = record.volumes[0].clone();
        log.name = "log".into();
        log.files = [(Role::Log, 1)].into();
        record.volumes.push(log);

        let diagnosis = diagnose(&[&record], &Split::of(&[&record]), &volumes(&[&record]));

        assert_eq!(diagnosis.bound_by.to_string(), "read.service");
        insta::assert_snapshot!(diagnosis.reason, @"most time went to the latency of reads on volume temp: 70 % of session time (1.50 ms each, its disk busy 97 % of the time); next bottleneck: CPU (20 % of session time).");
    }

    #[test]
    fn without_any_time_the_bound_is_unknown() {
        assert_eq!(diagnosis(&[], vec![]).bound_by, BoundBy::Unknown);
    }
}
