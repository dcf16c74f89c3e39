//! Records the disk load of an existing MariaDB or MySQL server: [`engine::recorder`] with its status variables and
//! `performance_schema`, and, if it is on this machine, the counters of its disks and its process.

mod difference;
mod files;
mod host;
mod requests;
mod session;
mod snapshot;

use profile::{Draft, Interval, Lost};

use crate::ServerUrl;
use engine::EngineError;
use engine::recorder::{Host, OnHost, RecordedServers, Recorder, Samples, WithHost};
use session::RecorderSession;
use snapshot::Snapshot;

/// Servers that can be recorded.
pub(crate) const SERVERS: RecordedServers = RecordedServers {
    title: "MariaDB",
    schemes: &["mysql", "mariadb"],
    url: "mysql://USER@HOST:PORT/",
    open: |url, _, patience| {
        let server = ServerUrl::parse(url)?.with_patience(patience);
        Ok(of(server))
    },
};

/// A recorder of a server.
pub(crate) fn of(server: ServerUrl) -> Box<dyn Recorder> {
    Box::new(WithHost::new(Server(server)))
}

/// A server that is recorded.
struct Server(ServerUrl);

impl OnHost for Server {
    type Session = RecorderSession;

    fn name(&self) -> String {
        self.0.to_string()
    }

    fn connect(&self, number: u32) -> Result<RecorderSession, EngineError> {
        RecorderSession::open(&self.0, number)
    }

    fn find(first: &Snapshot) -> Result<Host, String> {
        host::find(first)
    }

    fn describe(
        &self,
        _session: &mut RecorderSession,
        first: &Snapshot,
        host: Result<&Host, &str>,
        draft: &mut Draft,
    ) {
        draft.origin.product = Some(first.server.product().to_owned());
        draft.origin.version = Some(first.server.release().to_owned());
        draft.machine.cache = first.server.buffer_pool();
        if let Err(why) = host {
            draft.assume(format!(
                "Processor time and disks were not recorded: {why}."
            ));
        }
        for sentence in difference::assumptions(first, host.ok()) {
            draft.assume(sentence);
        }
    }

    fn interval(
        before: &Snapshot,
        after: &Snapshot,
        samples: &Samples,
        host: Option<&Host>,
    ) -> Result<Interval, Lost> {
        difference::interval(before, after, samples, host)
    }
}
