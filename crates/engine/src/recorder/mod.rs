//! Records an existing server of any product: queries only, nothing is changed.
//!
//! ```text
//!  snapshots every few seconds ──┐
//!                                ├─► difference ─► an interval, or why there is none ─► draft of a profile
//!  samples of sessions, 100 ms   ──┘
//! ```
//!
//! An engine implements `Recorded`: how to reach its server, what to query, and how to evaluate two answers; or `OnHost`, where
//! a server on this machine also has the counters of its disks and its process.

mod disks;
mod host;
mod on_host;
mod process_file;
mod samples;

use std::fmt::Display;

use ::host::clock::Clock;
use model::Duration;
use profile::{Draft, INTERVALS_MIN, Interval, Lost, Profile, Span, Timestamp};

use crate::{EngineError, Patience, ProductOptions};

pub use disks::{add, millis};
pub use host::{Host, HostCounters, HostFigures};
pub use on_host::{OnHost, Taken, WithHost};
pub use process_file::lines as process_lines;
pub use samples::Samples;

/// Interval between two samples of the sessions.
const SAMPLE_EVERY: Duration = Duration::from_millis(100);

/// Interval between two attempts to reconnect.
const RETRY_EVERY: Duration = Duration::from_secs(1);

/// A recording is reported after each interval, unless reporting would take more than this fraction (1/n) of its time:
/// it is rewritten each time, which takes longer the longer it is.
const TELLING_SHARE: u64 = 100;

/// A recording that is killed loses at most its last interval, or this if reporting takes long.
const LOST_MAX: Duration = Duration::from_secs(60);

/// Operations per second below which a server without a session is idle: background processes make a few.
const IDLE_PER_S: f64 = 5.0;

/// Duration of a recording, and of its intervals.
#[derive(Clone, Copy, Debug)]
pub struct Recording {
    /// Total duration.
    pub length: Duration,
    /// Length of an interval.
    pub every: Duration,
    /// Whether a server that is on this machine is recorded as if it were not: from its own answers alone.
    pub without_host: bool,
}

/// Why a recording has no profile.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The server cannot be used.
    #[error(transparent)]
    Server(#[from] EngineError),
    /// The recording is not a usable profile: too short, or of an idle server.
    #[error("{0}")]
    Nothing(String),
}

/// Receives reports from a running recording.
pub trait Watcher {
    /// Whether to end early.
    fn is_stopped(&self) -> bool;

    /// This much time of the recording has passed.
    fn elapsed(&self, time: Duration);

    /// The profile of the recording so far; reported often enough that a killed recording loses little.
    fn so_far(&self, profile: &Profile);

    /// Another interval, `length` long, was counted.
    fn counted(&self, length: Duration, interval: &Interval) {
        let _ = (length, interval);
    }

    /// A message that may interest the user.
    fn note(&self, text: &str);
}

/// How servers of a product are recorded.
#[derive(Clone, Copy)]
pub struct RecordedServers {
    /// The name of such a server.
    pub title: &'static str,
    /// Schemes of their URLs.
    pub schemes: &'static [&'static str],
    /// An example URL, for usage lines.
    pub url: &'static str,
    /// A recorder for the server of a URL with one of the schemes.
    pub open: OpenRecorder,
}

/// A recorder for the server of a URL, within limits of an answer. Fails when the URL or the login is invalid, with the remedy.
pub type OpenRecorder =
    fn(&str, &ProductOptions, Patience) -> Result<Box<dyn Recorder>, EngineError>;

/// Records the server of a parsed URL; it is not connected yet.
pub trait Recorder {
    /// Records until the time is over or it is stopped.
    ///
    /// # Errors
    /// When the first connection to the server fails, or there is too little for a profile.
    fn record(
        self: Box<Self>,
        recording: Recording,
        watcher: &dyn Watcher,
    ) -> Result<Profile, RecordError>;
}

impl<R: Recorded> Recorder for R {
    fn record(
        self: Box<Self>,
        recording: Recording,
        watcher: &dyn Watcher,
    ) -> Result<Profile, RecordError> {
        record(*self, recording, watcher)
    }
}

/// The product-specific part of a recording.
pub trait Recorded {
    /// A connection to it.
    type Session: RecordedSession;

    /// Its name in messages, without a password.
    fn name(&self) -> String;

    /// Connects; `number` distinguishes connections.
    fn connect(&self, number: u32) -> Result<Self::Session, EngineError>;

    /// Leaves out what this machine counts of the server's disks and processes.
    fn leave_host_out(&mut self) {}

    /// When a snapshot was taken, by the recording's clock.
    fn at(snapshot: &Snapshot<Self>) -> Duration;

    /// Adds to a snapshot what does not come from the server. Not called for the first, before [`Recorded::describe`].
    fn complete(&self, _snapshot: &mut Snapshot<Self>) {}

    /// Describes the server in the draft, using its first snapshot; returns that snapshot's time by the server's clock.
    fn describe(
        &mut self,
        session: &mut Self::Session,
        first: &mut Snapshot<Self>,
        draft: &mut Draft,
    ) -> Timestamp;

    /// What was counted from `before` to `after`.
    ///
    /// # Errors
    /// Why it cannot be determined.
    fn interval(
        &self,
        before: &Snapshot<Self>,
        after: &Snapshot<Self>,
        samples: &Samples,
    ) -> Result<Interval, Lost>;
}

/// A connection to a server that is recorded.
pub trait RecordedSession {
    /// All its counters at an instant.
    type Snapshot;
    /// Why the connection is lost.
    type Error: Display;

    /// All counters now, along with the time of `clock`.
    ///
    /// # Errors
    /// When the connection is lost.
    fn snapshot(&mut self, clock: &Clock) -> Result<Self::Snapshot, Self::Error>;

    /// Takes one sample of what sessions are doing; by default, that is not known.
    ///
    /// # Errors
    /// When the connection is lost.
    fn sample(&mut self, _samples: &mut Samples) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// All counters of a server at an instant.
pub type Snapshot<R> = <<R as Recorded>::Session as RecordedSession>::Snapshot;

/// Records a server until the time is over or it is stopped.
///
/// # Errors
/// When the first connection to the server fails, or there is too little for a profile.
fn record<R: Recorded>(
    mut server: R,
    recording: Recording,
    watcher: &dyn Watcher,
) -> Result<Profile, RecordError> {
    if recording.without_host {
        server.leave_host_out();
    }
    let mut session = server.connect(0)?;
    let clock = Clock::start();
    let mut first = session.snapshot(&clock).map_err(|error| {
        EngineError::failed(format!("read the statistics of {}", server.name()), error)
    })?;
    let mut draft = Draft::of("dbstow record");
    let start = server.describe(&mut session, &mut first, &mut draft);
    let mut watch = RecordingUnderWay {
        server,
        recording,
        watcher,
        clock,
        start,
        draft,
        samples: Samples::default(),
        before: first,
        report_next: Duration::ZERO,
    };
    watch.run(session);
    watch.profile()
}

struct RecordingUnderWay<'a, R: Recorded> {
    server: R,
    recording: Recording,
    watcher: &'a dyn Watcher,
    clock: Clock,
    start: Timestamp,
    draft: Draft,
    samples: Samples,
    before: Snapshot<R>,
    /// When the recording so far is next reported to the watcher.
    report_next: Duration,
}

impl<R: Recorded> RecordingUnderWay<'_, R> {
    fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.clock.now().as_nanos())
    }

    fn is_over(&self) -> bool {
        self.elapsed() >= self.recording.length || self.watcher.is_stopped()
    }

    fn run(&mut self, session: R::Session) {
        let mut session = Some(session);
        let mut due = self.recording.every;
        let mut connections = 1;
        // The last interval ends with the recording, so its snapshot may be slightly late.
        while !self.watcher.is_stopped() && due <= self.recording.length {
            self.watcher.elapsed(self.elapsed());
            let Some(open) = &mut session else {
                if self.is_over() {
                    break;
                }
                session = self.server.connect(connections).ok();
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
                let after = open.snapshot(&self.clock);
                after.map(|after| {
                    self.add(after);
                    self.report();
                })
            } else {
                open.sample(&mut self.samples)
            };
            match worked {
                Ok(()) => {
                    let left = due.saturating_sub(self.elapsed());
                    Clock::sleep(left.min(SAMPLE_EVERY));
                }
                // What was in progress ended with it.
                Err(_) if self.watcher.is_stopped() => {}
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
            Clock::sleep(SAMPLE_EVERY);
        }
    }

    fn add(&mut self, mut after: Snapshot<R>) {
        self.server.complete(&mut after);
        let samples = std::mem::take(&mut self.samples);
        let at = |snapshot: &Snapshot<R>| profile::later(self.start, R::at(snapshot));
        let (from, until) = (at(&self.before), at(&after));
        let counted = self.server.interval(&self.before, &after, &samples);
        // One impossible figure would lose the whole recording at its end.
        let counted = counted.and_then(|figures| match figures.check() {
            Ok(()) => Ok(figures),
            Err(why) => {
                self.watcher.note(&format!(
                    "the server counted what cannot be: {why}; this interval is left out"
                ));
                Err(Lost::Gap)
            }
        });
        match counted {
            Ok(figures) => {
                let length = R::at(&after).saturating_sub(R::at(&self.before));
                self.watcher.counted(length, &figures);
                self.draft.spans.push(Span {
                    from,
                    until,
                    figures,
                });
            }
            Err(cause) => {
                self.draft.losses.push((from, cause));
                if cause == Lost::Reset {
                    self.watcher
                        .note("statistics were reset; this interval is left out");
                }
            }
        }
        self.before = after;
    }

    /// Reports the recording so far to the watcher, unless the last report was recent and slow.
    fn report(&mut self) {
        let now = self.elapsed();
        if now < self.report_next {
            return;
        }
        // Too short or idle: it may still become a profile.
        if let Ok(profile) = self.profile() {
            self.watcher.so_far(&profile);
        }
        let took = self.elapsed().saturating_sub(now);
        self.report_next = now + pause_after(took);
    }

    fn profile(&self) -> Result<Profile, RecordError> {
        let spans = &self.draft.spans;
        let sum = |figure: fn(&Interval) -> Option<f64>| {
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
                "the server was idle: no session had anything to do; record while it works"
                    .to_owned(),
            ));
        }
        let profile = self.draft.clone().finish(INTERVALS_MIN);
        profile.map_err(|why| RecordError::Nothing(why.replacen("it has", "the recording has", 1)))
    }
}

/// How long to pause after a report that took this long.
fn pause_after(took: Duration) -> Duration {
    Duration::from_nanos(took.as_nanos().saturating_mul(TELLING_SHARE)).min(LOST_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reporting_takes_a_hundredth_of_the_time_and_a_minute_at_most_is_lost() {
        // 20 ms are a hundredth of two seconds: at intervals of 10 s, each is reported.
        assert_eq!(
            pause_after(Duration::from_millis(20)),
            Duration::from_secs(2)
        );
        assert_eq!(pause_after(Duration::from_secs(5)), LOST_MAX);
    }
}
