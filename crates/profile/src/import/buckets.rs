//! Traces as intervals: single requests, summed.

use std::collections::BTreeMap;

use jiff::Timestamp;
use model::Duration;
use reading::Role;

use super::Options;
use super::steps::later;
use crate::definition::{Interval, Io, Requests};
use crate::draft::{Draft, Span};

/// Length of an interval, unless the user gives one.
const LENGTH: Duration = Duration::SECOND;

/// Most intervals: a time that makes more of them is a mistake in the file.
const INTERVALS_MAX: u64 = 1_000_000;

/// Requests of a trace.
#[derive(Clone, Debug)]
pub(super) struct Buckets {
    length: Duration,
    /// Whether the trace has the time that requests took.
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
    /// 0 where the trace has no such time.
    pub(super) waited: Duration,
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

    /// Adds an interval for each span of the trace; one without requests has zeros.
    ///
    /// # Errors
    /// When there would be too many.
    pub(super) fn finish(self, options: &Options, draft: &mut Draft) -> Result<(), String> {
        let buckets = self.last.as_nanos() / self.length.as_nanos() + 1;
        if buckets > INTERVALS_MAX {
            return Err(format!(
                "the trace covers {}, which is {buckets} intervals of {}; give a longer --interval",
                self.last, self.length
            ));
        }
        // The last one was traced in part.
        let rest = self.last.as_nanos() % self.length.as_nanos();
        let is_short = rest * 2 < self.length.as_nanos() && buckets > 2;
        let buckets = if is_short { buckets - 1 } else { buckets };
        if options.start.is_none() {
            draft.assume("A trace has no date: its time starts in 1970.");
        }
        let start = options.start.unwrap_or(Timestamp::UNIX_EPOCH);
        let roles: Vec<Role> = Role::COMMON
            .into_iter()
            .filter(|role| self.sums.values().any(|sum| sum.contains_key(role)))
            .collect();
        for bucket in 0..buckets {
            let from = later(start, self.length * bucket);
            let sums = self.sums.get(&bucket);
            let one = |role: &Role| {
                let io = sums.and_then(|sums| sums.get(role)).copied();
                (*role, self.whole(io.unwrap_or_default()))
            };
            draft.spans.push(Span {
                from,
                until: later(from, self.length),
                figures: Interval {
                    roles: roles.iter().map(one).collect(),
                    ..Interval::default()
                },
            });
        }
        Ok(())
    }

    /// Zeros where nothing happened; nothing where nothing is known.
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
