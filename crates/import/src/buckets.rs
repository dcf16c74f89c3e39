//! Traces as intervals: sums of single requests. A long time without requests is a gap.

use std::collections::BTreeMap;
use std::ops::Range;

use jiff::Timestamp;
use model::Duration;
use reading::Role;

use super::source::Options;
use profile::{Draft, Interval, Io, Requests, Span, later};

/// Length of an interval, unless the user gives one.
const LENGTH: Duration = Duration::SECOND;

/// Maximum number of intervals: more than a day of seconds. Each takes some 2 KB of memory.
const INTERVALS_MAX: u64 = 100_000;

/// More consecutive intervals without a request than this are a gap: with seconds, an hour in which a server does not even write
/// a checkpoint.
const IDLE_MAX: u64 = 3_600;

/// Longest time from one line of a trace to the next; more means that one of the two is wrong.
const JUMP_MAX: Duration = Duration::from_secs(365 * 86_400);

/// Maximum time by which a line may precede the line before it: traces of several processors are merged, but not from further
/// apart.
const BACK_MAX: Duration = Duration::from_secs(3_600);

/// Requests of a trace.
#[derive(Clone, Debug)]
pub(super) struct Buckets {
    length: Duration,
    /// Whether the trace has request latencies.
    has_waits: bool,
    sums: BTreeMap<u64, BTreeMap<Role, Io>>,
    last: Duration,
}

/// Kinds of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Write,
    Flush,
}

/// One request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    /// From the start of the trace.
    pub(super) at: Duration,
    pub(super) role: Role,
    pub(super) kind: Kind,
    pub(super) bytes: u64,
    /// 0 if the trace has no latencies.
    pub(super) waited: Duration,
}

/// The times of a trace's lines, in the order of the file.
#[derive(Default)]
pub(super) struct Course {
    before: Option<(usize, Duration)>,
}

impl Course {
    /// The time `at` of line `line`.
    ///
    /// # Errors
    /// When it and the previous one cannot both be right: as text, without the line.
    pub(super) fn pass(&mut self, line: usize, at: Duration) -> Result<(), String> {
        let Some((line_before, before)) = self.before.replace((line, at)) else {
            return Ok(());
        };
        let implausible = |distance: Duration, which: &str| {
            Err(format!(
                "its time ({at}) is {distance} {which} that of line {line_before} ({before}), and one of them is wrong; \
                 correct it, or leave its line out"
            ))
        };
        let (ahead, back) = (at.saturating_sub(before), before.saturating_sub(at));
        if ahead > JUMP_MAX {
            implausible(ahead, "after")
        } else if back > BACK_MAX {
            implausible(back, "before")
        } else {
            Ok(())
        }
    }
}

impl Buckets {
    pub(super) fn new(options: &Options, has_waits: bool) -> Result<Buckets, String> {
        match options.interval.unwrap_or(LENGTH) {
            Duration::ZERO => Err("--interval is 0 s; give 1s, or leave it out".to_owned()),
            length => Ok(Buckets {
                length,
                has_waits,
                sums: BTreeMap::new(),
                last: Duration::ZERO,
            }),
        }
    }

    pub(super) fn add(&mut self, request: Request) {
        let bucket = request.at.as_nanos() / self.length.as_nanos();
        self.last = self.last.max(request.at);
        let io = self.sums.entry(bucket).or_default();
        let io = io.entry(request.role).or_default();
        let sum = match request.kind {
            Kind::Read => &mut io.reads,
            Kind::Write => &mut io.writes,
            Kind::Flush => &mut io.flushes,
        };
        *sum.count.get_or_insert(0.0) += 1.0;
        *sum.bytes.get_or_insert(0.0) += request.bytes as f64;
        let waited = sum.waited.get_or_insert(Duration::ZERO);
        *waited += request.waited;
    }

    /// Traced length of the last interval: up to the last request.
    fn rest(&self) -> Duration {
        Duration::from_nanos(self.last.as_nanos() % self.length.as_nanos())
    }

    /// Removes the last interval if less than half of it was traced: a rate of so few requests is not meaningful. The first two
    /// intervals are not both removed.
    fn take_rest(&mut self) -> Option<BTreeMap<Role, Io>> {
        let last = self.last.as_nanos() / self.length.as_nanos();
        let is_short = self.rest() * 2 < self.length && last > 1;
        is_short.then(|| self.sums.remove(&last))?
    }

    /// The intervals of the trace, in rows without a gap, up to this one.
    fn rows(&self, end: u64) -> Vec<Range<u64>> {
        let mut rows: Vec<Range<u64>> = Vec::new();
        let mut row = 0..0;
        for bucket in self.sums.keys().copied() {
            if bucket > row.end + IDLE_MAX {
                rows.push(row);
                row = bucket..bucket;
            }
            row.end = bucket + 1;
        }
        // Without requests until the end, if that is near.
        if end <= row.end + IDLE_MAX {
            row.end = end;
        }
        rows.push(row);
        rows.retain(|row| !row.is_empty());
        rows
    }

    /// Adds an interval for each span of the trace, with zeros if it has no requests.
    ///
    /// # Errors
    /// When there are too many.
    pub(super) fn finish(mut self, options: &Options, draft: &mut Draft) -> Result<(), String> {
        let roles: Vec<Role> = Role::COMMON
            .into_iter()
            .filter(|role| self.sums.values().any(|sum| sum.contains_key(role)))
            .collect();
        let all = self.last.as_nanos() / self.length.as_nanos() + 1;
        let taken = self.take_rest();
        let rows = self.rows(if taken.is_some() { all - 1 } else { all });
        let buckets: u64 = rows.iter().map(|row| row.end - row.start).sum();
        if buckets > INTERVALS_MAX {
            return Err(format!(
                "the trace covers {}, which is {buckets} intervals of {}, and at most {INTERVALS_MAX} are made; give a \
                 longer --interval",
                self.last, self.length
            ));
        }
        if rows.len() > 1 {
            draft.assume(format!(
                "Where the trace has no request for more than {}, nothing was recorded: {}.",
                self.length * IDLE_MAX,
                rows.len() - 1
            ));
        }
        if options.start.is_none() {
            draft.assume("A trace has no date: its time starts in 1970.");
        }
        let start = options.start.unwrap_or(Timestamp::UNIX_EPOCH);
        let last = self.last_length(taken.as_ref(), draft);
        for bucket in rows.into_iter().flatten() {
            let from = later(start, self.length * bucket);
            let sums = self.sums.get(&bucket);
            let one = |role: &Role| {
                let io = sums.and_then(|sums| sums.get(role)).copied();
                (*role, self.whole(io.unwrap_or_default()))
            };
            draft.spans.push(Span {
                from,
                until: later(from, if bucket + 1 == all { last } else { self.length }),
                figures: Interval {
                    roles: roles.iter().map(one).collect(),
                    ..Interval::default()
                },
            });
        }
        Ok(())
    }

    /// The length of the last interval, if it was not removed; adds a note in both cases.
    fn last_length(&self, taken: Option<&BTreeMap<Role, Io>>, draft: &mut Draft) -> Duration {
        let rest = self.rest();
        if let Some(taken) = taken {
            let sum = |count: fn(&Io) -> &Requests| -> f64 {
                let counts = taken.values().filter_map(|io| count(io).count);
                counts.fold(0.0, |all, more| all + more)
            };
            draft.assume(format!(
                "The trace ends {rest} into its last interval of {}, which is left out with its {} reads, {} writes and {} \
                 flushes.",
                self.length,
                sum(|io| &io.reads),
                sum(|io| &io.writes),
                sum(|io| &io.flushes)
            ));
            return self.length;
        }
        if rest == Duration::ZERO {
            draft.assume(format!(
                "The trace ends as its last interval begins, which counts as {}.",
                self.length
            ));
            return self.length;
        }
        draft.assume(format!(
            "The last interval is {rest} long, up to the last request of the trace."
        ));
        rest
    }

    /// Zeros for recorded figures without requests; `None` for unknown figures.
    fn whole(&self, io: Io) -> Io {
        let requests = |requests: Requests| Requests {
            count: requests.count.or(Some(0.0)),
            bytes: requests.bytes.or(Some(0.0)),
            waited: self.has_waits.then(|| requests.waited.unwrap_or_default()),
        };
        Io {
            reads: requests(io.reads),
            writes: requests(io.writes),
            flushes: Requests {
                bytes: None,
                ..requests(io.flushes)
            },
            session_writes: None,
        }
    }
}
