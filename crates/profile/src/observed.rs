//! What a recording shows of the disks below it: mean latencies, and the highest rates that were served.

use std::collections::BTreeSet;

use model::Duration;
use reading::Role;

use super::definition::{Interval, Io, Profile, Requests};

/// What a recording shows of the disks that hold files of some roles.
///
/// It is not what the disks can do: latencies contain the waits of the recorded load, and a higher rate may never have been asked
/// for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observed {
    /// Reads, except those of the log, which a running server does not read.
    pub reads: Latency,
    /// Writes.
    pub writes: Latency,
    /// Flushes of the log.
    pub flushes: Latency,
    /// The most reads and writes per second, on average over an interval; 0: none were counted.
    pub requests_per_s: f64,
    /// The most bytes per second that they moved, likewise.
    pub bytes_per_s: f64,
    /// Length of an interval, the median.
    pub interval: Duration,
}

/// Latency of requests of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Latency {
    /// There were no requests, or they were not counted.
    NoRequests,
    /// There were requests, and how long they took was not recorded.
    NotRecorded,
    /// The mean.
    Mean(Duration),
}

impl Profile {
    /// What the profile shows of the disks that hold the files of `roles`: latencies of its busiest `window`, as that is replayed,
    /// and rates of all intervals that were recorded.
    pub fn observed(&self, roles: &BTreeSet<Role>, window: Duration) -> Observed {
        let busiest = self.clone().busiest(window).intervals;
        let without = |left_out: Role| roles.iter().copied().filter(move |role| *role != left_out);
        let log = roles.iter().copied().filter(|role| *role == Role::Log);
        let highest = |part: fn(&Requests) -> Option<f64>| {
            let rates = self.whole().map(|interval| {
                let all = roles.iter().filter_map(|role| interval.roles.get(role));
                let all = all.flat_map(|io| [part(&io.reads), part(&io.writes)]);
                all.flatten().sum::<f64>() / interval.length.as_secs_f64()
            });
            rates.fold(0.0, f64::max)
        };
        let mut lengths: Vec<Duration> =
            (self.intervals.iter().map(|interval| interval.length)).collect();
        lengths.sort();
        Observed {
            reads: Latency::of(&busiest, without(Role::Log), |io| &io.reads),
            writes: Latency::of(&busiest, roles.iter().copied(), |io| &io.writes),
            flushes: Latency::of(&busiest, log, |io| &io.flushes),
            requests_per_s: highest(|requests| requests.count),
            bytes_per_s: highest(|requests| requests.bytes),
            interval: lengths.get(lengths.len() / 2).copied().unwrap_or_default(),
        }
    }
}

impl Latency {
    fn of(
        intervals: &[Interval],
        roles: impl Iterator<Item = Role> + Clone,
        kind: fn(&Io) -> &Requests,
    ) -> Latency {
        let each = intervals.iter().flat_map(|interval| {
            let there = roles.clone().filter_map(|role| interval.roles.get(&role));
            there.map(kind)
        });
        let (mut count, mut waited_s) = (0.0, 0.0);
        for requests in each {
            let Some(more) = requests.count.filter(|more| *more > 0.0) else {
                continue;
            };
            let Some(waited) = requests.waited else {
                return Latency::NotRecorded;
            };
            count += more;
            waited_s += waited.as_secs_f64();
        }
        match count > 0.0 {
            true => Latency::Mean(Duration::from_secs_f64(waited_s / count)),
            false => Latency::NoRequests,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three intervals of 10 s; the second is the busiest, the third has no wait of its log's flushes.
    const TEXT: &str = r#"format = "dbstow.profile/1"
start = "2026-11-22T10:00:00Z"
[origin]
tool = "test"
[intervals]
at_s = [0.0, 10.0, 20.0]
length_s = [10.0, 10.0, 10.0]
[intervals.data]
reads = [100.0, 300.0, 200.0]
read_bytes = [1000.0, 2000.0, 9000.0]
read_wait_s = [0.1, 0.9, 0.2]
writes = [0.0, 100.0, 0.0]
write_bytes = [0.0, 500.0, 0.0]
write_wait_s = [0.0, 0.4, 0.0]
[intervals.log]
reads = [5.0, 5.0, 5.0]
read_wait_s = [5.0, 5.0, 5.0]
writes = [10.0, 20.0, 40.0]
flushes = [10.0, 20.0, 40.0]
flush_wait_s = [0.01, 0.06, 0.04]
"#;

    fn observed(roles: &[Role], seconds: u64) -> Observed {
        let profile = crate::read("a.toml", TEXT).expect("a profile");
        let roles = roles.iter().copied().collect();
        profile.observed(&roles, Duration::from_secs(seconds))
    }

    #[test]
    fn latencies_are_of_the_busiest_window_and_rates_of_the_whole_recording() {
        let data = observed(&[Role::Data], 10);
        // 0.9 s for 300 reads, 0.4 s for 100 writes.
        assert_eq!(data.reads, Latency::Mean(Duration::from_millis(3)));
        assert_eq!(data.writes, Latency::Mean(Duration::from_millis(4)));
        // 400 requests in the second interval, 9,000 bytes in the third.
        assert_eq!((data.requests_per_s, data.bytes_per_s), (40.0, 900.0));
        assert_eq!(data.interval, Duration::from_secs(10));
        // 1.2 s for 600 reads.
        let whole = observed(&[Role::Data], 3_600);
        assert_eq!(whole.reads, Latency::Mean(Duration::from_millis(2)));
    }

    #[test]
    fn what_is_left_out_beside_the_busiest_window_still_has_its_rates() {
        let profile = crate::read("a.toml", TEXT).expect("a profile");
        let busiest = profile.busiest(Duration::from_secs(10));
        assert_eq!(busiest.covered(), Duration::from_secs(10));
        assert_eq!(busiest.recorded(), Duration::from_secs(30));
        let data = busiest.observed(&[Role::Data].into(), Duration::from_secs(10));
        assert_eq!((data.requests_per_s, data.bytes_per_s), (40.0, 900.0));
    }

    #[test]
    fn a_kind_without_requests_differs_from_one_whose_time_was_not_recorded() {
        let log = observed(&[Role::Log], 10);
        assert_eq!(log.reads, Latency::NoRequests, "the log's do not count");
        assert_eq!(log.writes, Latency::NotRecorded);
        assert_eq!(log.flushes, Latency::Mean(Duration::from_millis(3)));
        assert_eq!(observed(&[Role::Data], 10).flushes, Latency::NoRequests);
        let temp = observed(&[Role::Temp], 10);
        assert_eq!(
            (temp.reads, temp.requests_per_s),
            (Latency::NoRequests, 0.0)
        );
    }

    #[test]
    fn files_that_share_disks_are_observed_together() {
        let both = observed(&[Role::Data, Role::Log], 3_600);
        // The log's writes have no time, so that those of both have none.
        assert_eq!(both.writes, Latency::NotRecorded);
        // 300 + 100 reads and writes of data, 5 + 20 of the log in 10 s.
        assert_eq!(both.requests_per_s, 42.5);
    }
}
