//! The figures of an interval by name: each is a column of the file.

use std::fmt;

use model::Duration;
use model::number::COUNTED_MAX;
use reading::Role;

use super::definition::{Interval, Io, Requests, WAITING, Wait};

/// Longest time in a profile: longer than any real one, and within the nanoseconds of a [`Duration`], which ends at 584 years.
pub(super) const SECONDS_MAX: f64 = 1e10;

/// Maximum number of concurrent sessions, far more than any server supports.
const SESSIONS_MAX: f64 = 1e9;

/// One figure of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    /// Of the server as a whole.
    Whole(Whole),
    /// Sessions that waited.
    Waiting(Wait),
    /// Of the files of one role.
    Io(Role, Figure),
}

/// Figures of the server as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whole {
    Operations,
    Commits,
    Processor,
    LogicalReadBytes,
    Sessions,
    Running,
}

/// Figures of the files of one role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Figure {
    Count(Kind),
    Bytes(Kind),
    Waited(Kind),
    SessionWrites,
}

/// Kinds of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Write,
    Flush,
}

/// Figures of `[intervals]`, with their names in the file.
pub(super) const WHOLE: [(&str, Whole); 6] = [
    ("operations", Whole::Operations),
    ("commits", Whole::Commits),
    ("processor_s", Whole::Processor),
    ("logical_read_bytes", Whole::LogicalReadBytes),
    ("sessions", Whole::Sessions),
    ("running", Whole::Running),
];

/// Figures of `[intervals.data]` and of the tables of other roles, with their names in the file.
pub(super) const FIGURES: [(&str, Figure); 9] = [
    ("reads", Figure::Count(Kind::Read)),
    ("read_bytes", Figure::Bytes(Kind::Read)),
    ("read_wait_s", Figure::Waited(Kind::Read)),
    ("writes", Figure::Count(Kind::Write)),
    ("write_bytes", Figure::Bytes(Kind::Write)),
    ("write_wait_s", Figure::Waited(Kind::Write)),
    ("flushes", Figure::Count(Kind::Flush)),
    ("flush_wait_s", Figure::Waited(Kind::Flush)),
    ("session_writes", Figure::SessionWrites),
];

/// All columns.
pub(super) fn all() -> impl Iterator<Item = Column> {
    let whole = WHOLE.map(|(_, figure)| Column::Whole(figure));
    let waiting = WAITING.map(|(_, wait)| Column::Waiting(wait));
    let io = Role::ALL
        .into_iter()
        .flat_map(|role| FIGURES.map(|(_, figure)| Column::Io(role, figure)));
    whole.into_iter().chain(waiting).chain(io)
}

impl Column {
    /// Its value in an interval.
    pub(super) fn get(self, interval: &Interval) -> Option<f64> {
        match self {
            Column::Whole(Whole::Operations) => interval.operations,
            Column::Whole(Whole::Commits) => interval.commits,
            Column::Whole(Whole::Processor) => interval.processor.map(Duration::as_secs_f64),
            Column::Whole(Whole::LogicalReadBytes) => interval.logical_read_bytes,
            Column::Whole(Whole::Sessions) => interval.sessions,
            Column::Whole(Whole::Running) => interval.running,
            Column::Waiting(wait) => interval.waiting.get(&wait).copied(),
            Column::Io(role, figure) => figure.get(interval.roles.get(&role)?),
        }
    }

    /// Clears its value.
    pub(super) fn clear(self, interval: &mut Interval) {
        match self {
            Column::Whole(Whole::Operations) => interval.operations = None,
            Column::Whole(Whole::Commits) => interval.commits = None,
            Column::Whole(Whole::Processor) => interval.processor = None,
            Column::Whole(Whole::LogicalReadBytes) => interval.logical_read_bytes = None,
            Column::Whole(Whole::Sessions) => interval.sessions = None,
            Column::Whole(Whole::Running) => interval.running = None,
            Column::Waiting(wait) => {
                interval.waiting.remove(&wait);
            }
            Column::Io(role, figure) => {
                if let Some(io) = interval.roles.get_mut(&role) {
                    figure.clear(io);
                }
            }
        }
    }

    /// Sets its value.
    pub(super) fn set(self, interval: &mut Interval, value: f64) {
        match self {
            Column::Whole(Whole::Operations) => interval.operations = Some(value),
            Column::Whole(Whole::Commits) => interval.commits = Some(value),
            Column::Whole(Whole::Processor) => {
                interval.processor = Some(Duration::from_secs_f64(value));
            }
            Column::Whole(Whole::LogicalReadBytes) => interval.logical_read_bytes = Some(value),
            Column::Whole(Whole::Sessions) => interval.sessions = Some(value),
            Column::Whole(Whole::Running) => interval.running = Some(value),
            Column::Waiting(wait) => {
                interval.waiting.insert(wait, value);
            }
            Column::Io(role, figure) => figure.set(interval.roles.entry(role).or_default(), value),
        }
    }
}

impl Column {
    /// Rejects invalid values; the error continues a sentence that begins with the column's name.
    pub(super) fn check(self, value: f64) -> Result<(), String> {
        let most = match self {
            Column::Whole(Whole::Operations | Whole::Commits | Whole::LogicalReadBytes) => {
                COUNTED_MAX
            }
            Column::Whole(Whole::Processor) => SECONDS_MAX,
            Column::Whole(Whole::Sessions | Whole::Running) | Column::Waiting(_) => SESSIONS_MAX,
            Column::Io(_, Figure::Waited(_)) => SECONDS_MAX,
            Column::Io(_, Figure::Count(_) | Figure::Bytes(_) | Figure::SessionWrites) => {
                COUNTED_MAX
            }
        };
        within(value, most)
    }
}

/// Rejects values that are negative, not a number, or above `most`; the error has the value and the problem.
pub(super) fn within(value: f64, most: f64) -> Result<(), String> {
    if !value.is_finite() || value < 0.0 {
        Err(format!("{value:?}, which is negative or not finite"))
    } else if value > most {
        Err(format!(
            "{value:e}, which is more than it can be (at most {most:e})"
        ))
    } else {
        Ok(())
    }
}

impl Figure {
    fn get(self, io: &Io) -> Option<f64> {
        match self {
            Figure::Count(kind) => kind.of(io).count,
            Figure::Bytes(kind) => kind.of(io).bytes,
            Figure::Waited(kind) => kind.of(io).waited.map(Duration::as_secs_f64),
            Figure::SessionWrites => io.session_writes,
        }
    }

    fn clear(self, io: &mut Io) {
        match self {
            Figure::Count(kind) => kind.of_mut(io).count = None,
            Figure::Bytes(kind) => kind.of_mut(io).bytes = None,
            Figure::Waited(kind) => kind.of_mut(io).waited = None,
            Figure::SessionWrites => io.session_writes = None,
        }
    }

    fn set(self, io: &mut Io, value: f64) {
        match self {
            Figure::Count(kind) => kind.of_mut(io).count = Some(value),
            Figure::Bytes(kind) => kind.of_mut(io).bytes = Some(value),
            Figure::Waited(kind) => kind.of_mut(io).waited = Some(Duration::from_secs_f64(value)),
            Figure::SessionWrites => io.session_writes = Some(value),
        }
    }
}

impl Kind {
    fn of(self, io: &Io) -> &Requests {
        match self {
            Kind::Read => &io.reads,
            Kind::Write => &io.writes,
            Kind::Flush => &io.flushes,
        }
    }

    fn of_mut(self, io: &mut Io) -> &mut Requests {
        match self {
            Kind::Read => &mut io.reads,
            Kind::Write => &mut io.writes,
            Kind::Flush => &mut io.flushes,
        }
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Column::Whole(figure) => f.write_str(name(&WHOLE, figure)),
            Column::Waiting(wait) => write!(f, "waiting.{}", name(&WAITING, wait)),
            Column::Io(role, figure) => write!(f, "{role}.{}", name(&FIGURES, figure)),
        }
    }
}

fn name<T: PartialEq>(names: &[(&'static str, T)], wanted: &T) -> &'static str {
    let found = names.iter().find(|(_, figure)| figure == wanted);
    found.expect("every figure has a name in its list").0
}
