//! Recording a server that is there: queries only, nothing changed.
//!
//! ```text
//!  snapshots every few seconds ─┐
//!  disks and processors of      ├─► difference ─► an interval, or why there is none ─► draft of a profile
//!  this machine                 │
//!  looks at sessions, 100 ms  ──┘
//! ```

mod difference;
mod host;
mod queries;
mod session;

use model::Duration;
use profile::{Draft, INTERVALS_MIN, Lost, Profile, Span, Timestamp};
use volume::clock::Clock;

use super::ServerUrl;
use crate::engine::EngineError;
use difference::{Looks, Snapshot, interval};
use host::Host;
use session::Session;

/// Between two looks at the sessions.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Between two attempts to connect again.
const RETRY_EVERY: Duration = Duration::from_secs(1);

/// Operations per second below which a server without a session is idle: autovacuum makes a few.
const IDLE_PER_S: f64 = 5.0;

/// What to record.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The server.
    pub server: ServerUrl,
    /// For how long.
    pub length: Duration,
    /// Length of an interval.
    pub every: Duration,
}

/// Why there is no profile.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The server cannot be used.
    #[error(transparent)]
    Server(#[from] EngineError),
    /// What was recorded is no profile: too short, or an idle server.
    #[error("{0}")]
    Nothing(String),
}

/// What a recording reports while it runs.
pub trait Watcher {
    /// Whether to end early.
    fn is_stopped(&self) -> bool;

    /// So much time of the recording is over.
    fn elapsed(&self, time: Duration);

    /// Something happened that a user may want to know of.
    fn note(&self, text: &str);
}

/// Records until the time is over or it is stopped.
///
/// # Errors
/// When the server cannot be connected to at first, or there is too little for a profile.
pub fn record(recording: &Recording, watcher: &dyn Watcher) -> Result<Profile, RecordError> {
    let mut session = Session::open(&recording.server, 0)?;
    let clock = Clock::start();
    let first = session
        .snapshot(&clock)
        .map_err(|error| EngineError::failed("read the server's statistics", error))?;
    let host = Host::find(&first);
    let mut watch = Watch {
        recording,
        watcher,
        clock,
        host,
        start: timestamp(first.server_time_s),
        draft: Draft::of("dbstow record"),
        looks: Looks::default(),
        before: None,
    };
    watch.describe(&first, &mut session);
    let first = watch.with_host(first);
    watch.before = Some(first);
    watch.run(session);
    watch.finish()
}

struct Watch<'a> {
    recording: &'a Recording,
    watcher: &'a dyn Watcher,
    clock: Clock,
    host: Result<Host, String>,
    start: Timestamp,
    draft: Draft,
    looks: Looks,
    before: Option<Snapshot>,
}

impl Watch<'_> {
    fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.clock.now().as_nanos())
    }

    fn is_over(&self) -> bool {
        self.elapsed() >= self.recording.length || self.watcher.is_stopped()
    }

    fn run(&mut self, session: Session) {
        let mut session = Some(session);
        let mut due = self.recording.every;
        let mut connections = 1;
        // The last interval ends with the recording, so that its snapshot may be a moment late.
        while !self.watcher.is_stopped() && due <= self.recording.length {
            self.watcher.elapsed(self.elapsed());
            let Some(open) = &mut session else {
                if self.is_over() {
                    break;
                }
                session = Session::open(&self.recording.server, connections).ok();
                match session {
                    Some(_) => {
                        connections += 1;
                        due = self.elapsed();
                        self.watcher
                            .note("connected again; the recording continues");
                    }
                    None => self.wait(RETRY_EVERY),
                }
                continue;
            };
            let worked = if self.elapsed() >= due {
                due += self.recording.every;
                open.snapshot(&self.clock).map(|after| self.add(after))
            } else {
                open.look(&mut self.looks)
            };
            match worked {
                Ok(()) => {
                    let left = due.saturating_sub(self.elapsed());
                    Clock::sleep(left.min(LOOK_EVERY));
                }
                Err(error) => {
                    self.watcher
                        .note(&format!("{error}; trying to connect again"));
                    session = None;
                }
            }
        }
    }

    /// Sleeps that long, or until it is stopped.
    fn wait(&self, span: Duration) {
        let until = self.elapsed() + span;
        while self.elapsed() < until && !self.is_over() {
            Clock::sleep(LOOK_EVERY);
        }
    }

    fn add(&mut self, after: Snapshot) {
        let after = self.with_host(after);
        let looks = std::mem::take(&mut self.looks);
        if let Some(before) = self.before.replace(after.clone()) {
            let at = |snapshot: &Snapshot| later(self.start, snapshot.at);
            match interval(&before, &after, &looks, self.host.as_ref().ok()) {
                Ok(figures) => self.draft.spans.push(Span {
                    from: at(&before),
                    until: at(&after),
                    figures,
                }),
                Err(cause) => {
                    self.draft.losses.push((at(&before), cause));
                    if cause == Lost::Reset {
                        self.watcher
                            .note("statistics were reset; this interval is left out");
                    }
                }
            }
        }
    }

    fn with_host(&self, mut snapshot: Snapshot) -> Snapshot {
        // A disk or server that is gone has no figures; the interval is left out then.
        snapshot.host = self
            .host
            .as_ref()
            .ok()
            .and_then(|host| host.counters().ok());
        snapshot
    }

    fn describe(&mut self, first: &Snapshot, session: &mut Session) {
        let draft = &mut self.draft;
        draft.origin.product = Some("PostgreSQL".to_owned());
        draft.origin.version = session.version();
        match &self.host {
            Ok(host) => {
                draft.machine = host.machine();
                draft.volumes = host.volumes();
            }
            Err(why) => draft.assume(format!(
                "Requests are those of the server ({why}): the operating system's cache may have served reads."
            )),
        }
        for sentence in difference::assumptions(first, self.host.as_ref().ok()) {
            draft.assume(sentence);
        }
    }

    fn finish(self) -> Result<Profile, RecordError> {
        let spans = &self.draft.spans;
        let sum = |figure: fn(&profile::Interval) -> Option<f64>| {
            spans
                .iter()
                .filter_map(|span| figure(&span.figures))
                .sum::<f64>()
        };
        let length: f64 = spans
            .iter()
            .map(|span| {
                let length = span.until.duration_since(span.from);
                length.as_secs_f64()
            })
            .sum();
        let sessions = sum(|interval| interval.sessions);
        let operations = sum(|interval| interval.operations);
        if spans.len() >= INTERVALS_MIN && sessions == 0.0 && operations < IDLE_PER_S * length {
            return Err(RecordError::Nothing(
                "the server was idle: no session had anything to do; record while it works, and nothing was written"
                    .to_owned(),
            ));
        }
        self.draft.finish(INTERVALS_MIN).map_err(|why| {
            RecordError::Nothing(format!(
                "nothing was written: {}",
                why.replacen("it has", "the recording has", 1)
            ))
        })
    }
}

fn timestamp(seconds: f64) -> Timestamp {
    Timestamp::from_microsecond((seconds * 1e6) as i64).unwrap_or(Timestamp::UNIX_EPOCH)
}

fn later(from: Timestamp, by: Duration) -> Timestamp {
    let ns = from.as_nanosecond() + i128::from(by.as_nanos());
    Timestamp::from_nanosecond(ns).unwrap_or(from)
}
