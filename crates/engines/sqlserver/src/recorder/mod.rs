//! Records the disk load of an existing SQL Server: [`engine::recorder`] with its dynamic management views.
//!
//! T-SQL and client run against Babelfish 4.4 (all loads equal to SQLite's); not yet run on SQL Server.

mod difference;
mod request;
mod session;

use model::Duration;
use profile::{Draft, Interval, Lost, Machine, Timestamp};

use crate::Access;
use difference::{Snapshot, assumptions, interval};
use engine::EngineError;
use engine::recorder::{Recorded, RecordedServers, Samples};
use session::RecorderSession;

/// Servers that can be recorded.
pub(crate) const SERVERS: RecordedServers = RecordedServers {
    title: "SQL Server",
    schemes: &["sqlserver", "mssql"],
    url: "sqlserver://USER@HOST:PORT",
    open: |url, options, patience| {
        let access = Access::new(url, options)?.with_patience(&patience);
        Ok(Box::new(Server(access)))
    },
};

/// A server that is recorded.
struct Server(Access);

impl Recorded for Server {
    type Session = RecorderSession;

    fn name(&self) -> String {
        self.0.server()
    }

    fn connect(&self, number: u32) -> Result<RecorderSession, EngineError> {
        RecorderSession::open(&self.0, number)
    }

    fn at(snapshot: &Snapshot) -> Duration {
        snapshot.at
    }

    fn describe(
        &mut self,
        session: &mut RecorderSession,
        first: &mut Snapshot,
        draft: &mut Draft,
    ) -> Timestamp {
        draft.origin.product = Some(session.product().to_owned());
        draft.origin.version = Some(session.version().to_owned());
        draft.origin.edition = session.edition().map(str::to_owned);
        draft.machine = Machine {
            cache: first.cache(),
            ..session.machine()
        };
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
