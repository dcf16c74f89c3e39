//! Summary of a profile: on average, and in the busiest interval.

use std::collections::{BTreeMap, BTreeSet};

use model::Duration;
use reading::Role;

use super::definition::{Interval, Io, Profile, Requests, Wait};

/// Summary of a profile.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Requests to the files of each recorded role, in the order of reports.
    pub roles: Vec<RoleSummary>,
    /// Operations per second.
    pub operations: Option<MeanAndHighest>,
    /// Committed transactions per second.
    pub commits: Option<MeanAndHighest>,
    /// Processors in use.
    pub processors: Option<MeanAndHighest>,
    /// Sessions that had something to do in an interval.
    pub sessions: Option<MeanAndHighest>,
    /// Running sessions.
    pub running: Option<MeanAndHighest>,
    /// Waiting sessions, by cause.
    pub waiting: BTreeMap<Wait, MeanAndHighest>,
    /// Length of an interval; the median if there are several.
    pub interval: Duration,
}

/// A figure over all intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanAndHighest {
    /// The mean over time.
    pub mean: f64,
    /// The highest value of an interval.
    pub highest: f64,
}

/// Requests to the files of one role.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoleSummary {
    /// Which role.
    pub role: Role,
    /// Over all intervals.
    pub mean: Rates,
    /// In the interval with the most requests per second, or the most bytes if requests were not counted.
    pub busiest: Rates,
    /// When that begins, from the start of the profile.
    pub busiest_at: Duration,
}

/// Requests per second, and their mean latency.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// Reads.
    pub reads: RequestRates,
    /// Writes.
    pub writes: RequestRates,
    /// Flushes.
    pub flushes: RequestRates,
}

/// Requests of one kind per second; unrecorded figures are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RequestRates {
    /// How many.
    pub per_second: Option<f64>,
    /// Bytes that they moved.
    pub bytes_per_second: Option<f64>,
    /// Mean latency; also `None` if there were no requests.
    pub latency: Option<Duration>,
}

/// Summary of a profile.
pub fn summary(profile: &Profile) -> Summary {
    let per_second = |figure: fn(&Interval) -> Option<f64>| {
        mean_and_highest(profile, |interval| {
            Some(figure(interval)? / interval.length.as_secs_f64())
        })
    };
    // Each wait once: a day has thousands of intervals.
    let waits: BTreeSet<Wait> = profile
        .intervals
        .iter()
        .flat_map(|interval| interval.waiting.keys().copied())
        .collect();
    let waiting = |wait: Wait| {
        let spread = mean_and_highest(profile, |interval| interval.waiting.get(&wait).copied());
        Some((wait, spread?))
    };
    let mut lengths: Vec<Duration> = profile
        .intervals
        .iter()
        .map(|interval| interval.length)
        .collect();
    lengths.sort();
    let roles = profile.roles();
    Summary {
        roles: Role::ALL
            .into_iter()
            .filter(|role| roles.contains(role))
            .map(|role| role_summary(profile, role))
            .collect(),
        operations: per_second(|interval| interval.operations),
        commits: per_second(|interval| interval.commits),
        processors: per_second(|interval| interval.processor.map(Duration::as_secs_f64)),
        sessions: mean_and_highest(profile, |interval| interval.sessions),
        running: mean_and_highest(profile, |interval| interval.running),
        waiting: waits.into_iter().filter_map(waiting).collect(),
        interval: lengths.get(lengths.len() / 2).copied().unwrap_or_default(),
    }
}

fn mean_and_highest(
    profile: &Profile,
    figure: impl Fn(&Interval) -> Option<f64>,
) -> Option<MeanAndHighest> {
    let weighted = |interval: &Interval| Some(figure(interval)? * interval.length.as_secs_f64());
    let highest = profile
        .intervals
        .iter()
        .filter_map(&figure)
        .fold(0.0, f64::max);
    Some(MeanAndHighest {
        mean: profile.total(weighted)? / profile.covered().as_secs_f64(),
        highest,
    })
}

fn role_summary(profile: &Profile, role: Role) -> RoleSummary {
    let io = |interval: &Interval| interval.roles.get(&role).copied().unwrap_or_default();
    let total = |figure: fn(&Io) -> &Requests| {
        let of = |part: fn(&Requests) -> Option<f64>| {
            profile.total(|interval| part(figure(interval.roles.get(&role)?)))
        };
        Requests {
            count: of(|requests| requests.count),
            bytes: of(|requests| requests.bytes),
            waited: of(|requests| requests.waited.map(Duration::as_secs_f64))
                .map(Duration::from_secs_f64),
        }
    };
    let all = Io {
        reads: total(|io| &io.reads),
        writes: total(|io| &io.writes),
        flushes: total(|io| &io.flushes),
        session_writes: None,
    };
    let load = |interval: &Interval| {
        let io = io(interval);
        let sum = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (None, None) => None,
            // For a log, often only writes are recorded.
            (a, b) => Some(a.unwrap_or(0.0) + b.unwrap_or(0.0)),
        };
        let requests = sum(io.reads.count, io.writes.count);
        let load = requests
            .or(sum(io.reads.bytes, io.writes.bytes))
            .or(io.flushes.count);
        load.unwrap_or(0.0) / interval.length.as_secs_f64()
    };
    let busiest = profile
        .intervals
        .iter()
        .max_by(|a, b| load(a).total_cmp(&load(b)));
    let length = busiest.map_or(Duration::SECOND, |interval| interval.length);
    RoleSummary {
        role,
        mean: Rates::of(&all, profile.covered()),
        busiest: Rates::of(&busiest.map(io).unwrap_or_default(), length),
        busiest_at: busiest.map_or(Duration::ZERO, |interval| interval.at),
    }
}

impl Rates {
    /// Rates of requests in `length`.
    pub fn of(io: &Io, length: Duration) -> Rates {
        let seconds = length.as_secs_f64();
        let one = |requests: &Requests| RequestRates {
            per_second: requests.count.map(|count| count / seconds),
            bytes_per_second: requests.bytes.map(|bytes| bytes / seconds),
            latency: requests.latency(),
        };
        Rates {
            reads: one(&io.reads),
            writes: one(&io.writes),
            flushes: one(&io.flushes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"format = "dbstow.profile/1"
start = "2026-11-22T10:00:00Z"
[origin]
tool = "test"
[intervals]
at_s = [0.0, 10.0, 20.0]
length_s = [10.0, 10.0, 20.0]
operations = [100.0, 300.0, 400.0]
running = [1.0, 2.0, 4.0]
[intervals.data]
reads = [10.0, 30.0, 40.0]
writes = [0.0, 0.0, 0.0]
read_wait_s = [0.1, 0.6, 0.1]
"#;

    #[test]
    fn means_are_over_time_and_the_busiest_interval_is_by_rate() {
        let profile = crate::read("a.toml", TEXT).expect("a profile");
        let summary = summary(&profile);
        // 800 operations in 40 s; 300 in 10 s.
        let operations = MeanAndHighest {
            mean: 20.0,
            highest: 30.0,
        };
        assert_eq!(summary.operations, Some(operations));
        // (1 x 10 + 2 x 10 + 4 x 20) / 40.
        assert_eq!(
            summary.running,
            Some(MeanAndHighest {
                mean: 2.75,
                highest: 4.0
            })
        );
        let data = &summary.roles[0];
        assert_eq!(data.mean.reads.per_second, Some(2.0));
        // 0.8 s for 80 reads.
        assert_eq!(data.mean.reads.latency, Some(Duration::from_millis(10)));
        // 30 reads in 10 s, 20 ms each; the third has more reads, in more time.
        assert_eq!(data.busiest_at, Duration::from_secs(10));
        assert_eq!(data.busiest.reads.latency, Some(Duration::from_millis(20)));
        // Not recorded, and no request: neither has a latency.
        assert_eq!(data.mean.flushes, RequestRates::default());
        assert_eq!(data.mean.writes.latency, None);
    }

    #[test]
    fn the_busiest_interval_is_found_where_writes_alone_were_recorded() {
        let text = TEXT.replace(
            "[intervals.data]",
            "[intervals.log]\nwrites = [10.0, 30.0, 40.0]\n[intervals.data]",
        );
        let summary = summary(&crate::read("a.toml", &text).expect("a profile"));
        // 30 writes in 10 s; not the last interval, with 40 in 20 s.
        assert_eq!(summary.roles[1].role, Role::Log);
        assert_eq!(summary.roles[1].busiest_at, Duration::from_secs(10));
        assert_eq!(summary.roles[1].busiest.writes.per_second, Some(3.0));
    }
}
