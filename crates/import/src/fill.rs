//! Fills a recording of a managed server with what its service counted: the server does not know what its volumes did.
//!
//! ```text
//! recorded by the server   |--|--|--|--|--|--|--|--|     operations, sessions, the log, other roles
//! counted by the service   |--------|--------|--------|  requests of volumes
//! the profile              |--------|--------|           of each whole point, both
//! ```

use std::collections::BTreeMap;

use model::Duration;
use reading::Role;

use super::format::Format;
use super::imported::Imported;
use profile::{
    Draft, INTERVALS_MIN, Interval, Io, Lost, Profile, Requests, Span, Timestamp, add, between,
    later,
};

/// Share of a point's time that has to be recorded for the point to count. Our choice: the rest is taken to be alike.
const COVERED_MIN: f64 = 0.9;

/// The recording with the requests that the service counted, where both were there.
///
/// Requests of the volume are those of data, without those of the log and of temporary files as the server counted them, unless the
/// service counted a volume of theirs. What else the recording has stays, summed over the points of the service.
///
/// # Errors
/// As text, when the two have fewer than two points of time in common.
pub fn fill(recorded: &Profile, counted: Imported) -> Result<Imported, String> {
    let Imported {
        format,
        profile: service,
        notes,
    } = counted;
    let mut draft = described(recorded, &service, format);
    let spans = service.intervals.iter().filter_map(|point| {
        let from = later(service.start, point.at);
        let figures = filled(recorded, point, from)?;
        Some(Span {
            from,
            until: later(from, point.length),
            figures,
        })
    });
    draft.spans = spans.collect();
    let points = draft.spans.len();
    if points < INTERVALS_MIN {
        return Err(format!(
            "{points} of its {} points of time were recorded too: it is from {} to {}, and the recording from {} to {}; ask for the time \
             of the recording",
            service.intervals.len(),
            service.start,
            end(&service),
            recorded.start,
            end(recorded)
        ));
    }
    draft.assume(format!(
        "Requests of the volumes are as {format} counted them, of {points} points of time that the server was recorded in."
    ));
    if !service.roles().contains(&Role::Log) && recorded.roles().contains(&Role::Log) {
        draft.assume(
            "The log shares a volume: the server's log writes are taken off the volume's, at its mean latency.",
        );
    }
    let profile = draft.finish(INTERVALS_MIN)?;
    Ok(Imported {
        format,
        profile,
        notes,
    })
}

fn end(profile: &Profile) -> Timestamp {
    let last = profile.intervals.last();
    last.map_or(profile.start, |last| {
        later(profile.start, last.at + last.length)
    })
}

fn described(recorded: &Profile, service: &Profile, format: Format) -> Draft {
    let mut draft = Draft::of(&recorded.origin.tool);
    draft.origin = recorded.origin.clone();
    draft.origin.tool = format!("{} and {format}", recorded.origin.tool);
    draft.machine = recorded.machine.clone();
    let of_service = &service.machine;
    draft.machine.name = draft.machine.name.or_else(|| of_service.name.clone());
    draft.machine.processors = draft.machine.processors.or(of_service.processors);
    draft.machine.memory = draft.machine.memory.or(of_service.memory);
    draft.machine.burst_balance = of_service.burst_balance;
    draft.volumes = match service.volumes.is_empty() {
        true => recorded.volumes.clone(),
        false => service.volumes.clone(),
    };
    let causes = recorded.interruptions.iter();
    draft.losses = causes
        .filter(|interruption| interruption.cause != Lost::Gap)
        .map(|interruption| (later(recorded.start, interruption.at), interruption.cause))
        .collect();
    for sentence in recorded.assumptions.iter().chain(&service.assumptions) {
        draft.assume(sentence.clone());
    }
    draft
}

/// The figures of a point; `None` where too little of it was recorded.
fn filled(recorded: &Profile, point: &Interval, from: Timestamp) -> Option<Interval> {
    let until = later(from, point.length);
    let within = recorded.intervals.iter().filter_map(|interval| {
        let begins = later(recorded.start, interval.at);
        let ends = later(begins, interval.length);
        let common = between(begins.max(from), ends.min(until));
        (common > Duration::ZERO).then_some((interval, common))
    });
    let within: Vec<(&Interval, Duration)> = within.collect();
    let covered: Duration = within.iter().map(|(_, common)| *common).sum();
    let share = covered.as_secs_f64() / point.length.as_secs_f64();
    if share < COVERED_MIN {
        return None;
    }
    let server = Server { within, share };
    let mut roles = server.roles();
    for (role, io) in &point.roles {
        let on_own_volume = *role != Role::Data;
        let own = match on_own_volume {
            true => *io,
            false => server.without_others(*io, &roles, point),
        };
        let known = roles.entry(*role).or_default();
        let flushes = known.flushes;
        let session_writes = known.session_writes.zip(own.writes.count);
        *known = Io {
            flushes,
            // As many of the volume's at most.
            session_writes: session_writes.map(|(sessions, all)| sessions.min(all)),
            ..own
        };
    }
    Some(Interval {
        operations: server.sum(|interval| interval.operations),
        commits: server.sum(|interval| interval.commits),
        processor: server
            .sum(|interval| Some(interval.processor?.as_secs_f64()))
            .map(Duration::from_secs_f64)
            .or(point.processor),
        logical_read_bytes: server.sum(|interval| interval.logical_read_bytes),
        sessions: server.mean(|interval| interval.sessions),
        running: server.mean(|interval| interval.running),
        waiting: server.waiting(),
        roles,
        ..Interval::default()
    })
}

/// What the server recorded within a point.
struct Server<'a> {
    /// Intervals, each with how much of it is within the point.
    within: Vec<(&'a Interval, Duration)>,
    /// Share of the point that they cover.
    share: f64,
}

impl Server<'_> {
    /// A count within the whole point.
    fn sum(&self, figure: impl Fn(&Interval) -> Option<f64>) -> Option<f64> {
        let parts = self.within.iter().map(|(interval, common)| {
            let part = common.as_secs_f64() / interval.length.as_secs_f64();
            Some(figure(interval)? * part)
        });
        let sum: Option<f64> = parts.sum();
        Some(sum? / self.share)
    }

    /// A mean over time.
    fn mean(&self, figure: impl Fn(&Interval) -> Option<f64>) -> Option<f64> {
        let covered: f64 = self
            .within
            .iter()
            .map(|(_, common)| common.as_secs_f64())
            .sum();
        let parts = self
            .within
            .iter()
            .map(|(interval, common)| Some(figure(interval)? * common.as_secs_f64()));
        let sum: Option<f64> = parts.sum();
        Some(sum? / covered)
    }

    fn waiting(&self) -> BTreeMap<profile::Wait, f64> {
        let first = self.within.first();
        let kinds = first
            .into_iter()
            .flat_map(|(interval, _)| interval.waiting.keys());
        let mean = |kind: &profile::Wait| {
            let mean = self.mean(|interval| interval.waiting.get(kind).copied());
            mean.map(|mean| (*kind, mean))
        };
        kinds.filter_map(mean).collect()
    }

    fn roles(&self) -> BTreeMap<Role, Io> {
        let first = self.within.first();
        let roles = first
            .into_iter()
            .flat_map(|(interval, _)| interval.roles.keys());
        let one = |role: &Role| {
            let of = |figure: fn(&Io) -> Option<f64>| {
                self.sum(|interval| figure(interval.roles.get(role)?))
            };
            let seconds = |waited: Option<f64>| waited.map(Duration::from_secs_f64);
            let requests = |count, bytes, waited| Requests {
                count: of(count),
                bytes: of(bytes),
                waited: seconds(of(waited)),
            };
            let io = Io {
                reads: requests(
                    |io| io.reads.count,
                    |io| io.reads.bytes,
                    |io| Some(io.reads.waited?.as_secs_f64()),
                ),
                writes: requests(
                    |io| io.writes.count,
                    |io| io.writes.bytes,
                    |io| Some(io.writes.waited?.as_secs_f64()),
                ),
                flushes: requests(
                    |io| io.flushes.count,
                    |_| None,
                    |io| Some(io.flushes.waited?.as_secs_f64()),
                ),
                session_writes: of(|io| io.session_writes),
            };
            (*role, io)
        };
        roles.map(one).collect()
    }

    /// A volume's requests without those of other roles that the service did not count by themselves.
    fn without_others(&self, all: Io, roles: &BTreeMap<Role, Io>, point: &Interval) -> Io {
        let mut others = Io::default();
        for (role, io) in roles {
            if *role != Role::Data && !point.roles.contains_key(role) {
                add(&mut others.reads, io.reads);
                add(&mut others.writes, io.writes);
            }
        }
        Io {
            reads: less(all.reads, others.reads),
            writes: less(all.writes, others.writes),
            ..all
        }
    }
}

/// Requests without some of them, at the mean latency of all.
fn less(all: Requests, some: Requests) -> Requests {
    let left =
        |all: Option<f64>, some: Option<f64>| all.map(|all| (all - some.unwrap_or(0.0)).max(0.0));
    let count = left(all.count, some.count);
    let share = match (count, all.count) {
        (Some(count), Some(all)) if all > 0.0 => count / all,
        _ => 1.0,
    };
    Requests {
        count,
        bytes: left(all.bytes, some.bytes),
        waited: all
            .waited
            .map(|waited| Duration::from_secs_f64(waited.as_secs_f64() * share)),
    }
}
