//! Records the disk load of an existing SQL Server: [`engine::recorder`] with its dynamic management views.
//!
//! T-SQL and client run against Babelfish 4.4 (all loads equal to SQLite's); not yet run on SQL Server.

mod difference;
mod request;
mod session;

use host::clock::Clock;
use model::Duration;
use profile::{Draft, Interval, Lost, Profile, Timestamp};

use crate::Access;
use difference::{Snapshot, assumptions, interval};
use engine::recorder::{
    self, RecordError, Recorded, RecordedServers, Recorder, Recording, Samples, Watcher,
};
use engine::{EngineError, Patience};
use session::RecorderSession;

/// Servers that can be recorded.
pub(crate) const SERVERS: RecordedServers = RecordedServers {
    title: "SQL Server",
    schemes: &["sqlserver", "mssql"],
    url: "sqlserver://USER@HOST:PORT",
};

impl Recorder for Access {
    fn record(
        &self,
        patience: Patience,
        recording: Recording,
        watcher: &dyn Watcher,
    ) -> Result<Profile, RecordError> {
        let access = &self.clone().with_patience(&patience);
        recorder::record(Server { access }, recording, watcher)
    }
}

struct Server<'a> {
    access: &'a Access,
}

impl Recorded for Server<'_> {
    type Session = RecorderSession;
    type Snapshot = Snapshot;

    fn name(&self) -> String {
        self.access.server()
    }

    fn connect(&self, number: u32) -> Result<RecorderSession, EngineError> {
        RecorderSession::open(self.access, number)
    }

    fn snapshot(&self, session: &mut RecorderSession, clock: &Clock) -> Result<Snapshot, String> {
        session.snapshot(clock).map_err(|error| error.to_string())
    }

    fn at(snapshot: &Snapshot) -> Duration {
        snapshot.at
    }

    fn sample(&self, session: &mut RecorderSession, samples: &mut Samples) -> Result<(), String> {
        session.sample(samples).map_err(|error| error.to_string())
    }

    fn describe(
        &mut self,
        session: &mut RecorderSession,
        first: &mut Snapshot,
        draft: &mut Draft,
    ) -> Timestamp {
        draft.origin.product = Some(session.product().to_owned());
        draft.origin.version = Some(session.version().to_owned());
        draft.machine = session.machine();
        for sentence in assumptions(first) {
            draft.assume(sentence);
        }
        first.server_time
    }

    fn interval(
        &self,
        before: &Snapshot,
        after: &Snapshot,
        samples: &Samples,
    ) -> Result<Interval, Lost> {
        interval(before, after, samples)
    }
}
