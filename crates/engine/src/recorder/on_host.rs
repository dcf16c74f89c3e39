//! Records a server that may be on this machine: the counters of its disks and its processes, too.

use std::collections::BTreeMap;

use model::Duration;
use profile::{Draft, Interval, Lost, Timestamp};

use super::host::{Host, HostCounters, HostFigures};
use super::{Recorded, RecordedSession, Samples};
use crate::EngineError;

/// How far the server's clock and ours may drift apart within an interval.
const CLOCK_APART_S: f64 = 1.5;

/// What every snapshot of such a server has.
#[derive(Clone, Debug, Default)]
pub struct Taken {
    /// Since the recording began, by our clock.
    pub at: Duration,
    /// The server's clock, in seconds.
    pub server_time_s: f64,
    /// Number of our connection that took it.
    pub connection: u32,
    /// Number of our own operations on it so far.
    pub own: f64,
    /// Sessions, and when their state last changed, by the server's clock in seconds.
    pub sessions: BTreeMap<u32, f64>,
    /// Counters of this machine, if the server is on it.
    pub host: Option<HostCounters>,
}

impl Taken {
    /// Checks that figures since `before` can be compared.
    ///
    /// # Errors
    /// When the connection was another, or a clock was set in between.
    pub fn follows(&self, before: &Taken) -> Result<(), Lost> {
        if before.connection != self.connection {
            return Err(Lost::Gap);
        }
        let own = (self.at.saturating_sub(before.at)).as_secs_f64();
        match (self.server_time_s - before.server_time_s - own).abs() > CLOCK_APART_S {
            true => Err(Lost::Clock),
            false => Ok(()),
        }
    }

    /// An interval with the activity of sessions since `before`, and no other figures.
    pub fn interval(&self, before: &Taken, samples: &Samples) -> Interval {
        let seen = self.sessions.iter();
        let changed = seen.filter(|(_, since)| **since >= before.server_time_s);
        samples.interval(changed.map(|(session, _)| *session))
    }

    /// What `host` counted since `before`; `None`: the server is not on this machine.
    ///
    /// # Errors
    /// When a counter is missing or shrank.
    pub fn of_host<'a>(
        &self,
        before: &Taken,
        host: Option<&'a Host>,
    ) -> Result<Option<HostFigures<'a>>, Lost> {
        let figures = |host: &'a Host| host.figures(before.host.as_ref(), self.host.as_ref());
        host.map(figures).transpose()
    }
}

/// A server that may be on this machine.
pub trait OnHost {
    /// A connection to it.
    type Session: RecordedSession<Snapshot: AsRef<Taken> + AsMut<Taken>>;

    /// Its name in messages, without a password.
    fn name(&self) -> String;

    /// Connects; `number` distinguishes connections.
    fn connect(&self, number: u32) -> Result<Self::Session, EngineError>;

    /// Locates it on this machine by its first snapshot.
    ///
    /// # Errors
    /// As text, why it is not visible here.
    fn find(first: &Snapshot<Self>) -> Result<Host, String>;

    /// Describes the server in the draft.
    fn describe(
        &self,
        session: &mut Self::Session,
        first: &Snapshot<Self>,
        host: Result<&Host, &str>,
        draft: &mut Draft,
    );

    /// What was counted from `before` to `after`.
    ///
    /// # Errors
    /// Why it cannot be determined.
    fn interval(
        before: &Snapshot<Self>,
        after: &Snapshot<Self>,
        samples: &Samples,
        host: Option<&Host>,
    ) -> Result<Interval, Lost>;
}

/// All counters of such a server at an instant.
type Snapshot<R> = <<R as OnHost>::Session as RecordedSession>::Snapshot;

/// Such a server with its location on this machine, or why that is unknown.
pub struct WithHost<R> {
    server: R,
    host: Result<Host, String>,
    leaves_host_out: bool,
}

impl<R> WithHost<R> {
    /// Not located yet.
    pub fn new(server: R) -> WithHost<R> {
        WithHost {
            server,
            host: Err("it was not looked for".to_owned()),
            leaves_host_out: false,
        }
    }
}

impl<R: OnHost> Recorded for WithHost<R> {
    type Session = R::Session;

    fn name(&self) -> String {
        self.server.name()
    }

    fn connect(&self, number: u32) -> Result<R::Session, EngineError> {
        self.server.connect(number)
    }

    fn leave_host_out(&mut self) {
        self.leaves_host_out = true;
    }

    fn at(snapshot: &Snapshot<R>) -> Duration {
        snapshot.as_ref().at
    }

    fn complete(&self, snapshot: &mut Snapshot<R>) {
        // A disk or server that is gone has no figures; the interval is then dropped.
        let host = self.host.as_ref().ok();
        snapshot.as_mut().host = host.and_then(|host| host.counters().ok());
    }

    fn describe(
        &mut self,
        session: &mut R::Session,
        first: &mut Snapshot<R>,
        draft: &mut Draft,
    ) -> Timestamp {
        self.host = match self.leaves_host_out {
            true => Err("as --no-host asks".to_owned()),
            false => R::find(first),
        };
        if let Ok(host) = &self.host {
            draft.machine = host.machine();
            draft.volumes = host.volumes();
        }
        let host = self.host.as_ref().map_err(String::as_str);
        self.server.describe(session, first, host, draft);
        self.complete(first);
        let micros = first.as_ref().server_time_s * 1e6;
        Timestamp::from_microsecond(micros as i64).unwrap_or(Timestamp::UNIX_EPOCH)
    }

    fn interval(
        &self,
        before: &Snapshot<R>,
        after: &Snapshot<R>,
        samples: &Samples,
    ) -> Result<Interval, Lost> {
        R::interval(before, after, samples, self.host.as_ref().ok())
    }
}
