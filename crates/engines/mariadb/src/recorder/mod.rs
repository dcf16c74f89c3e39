//! Records the disk load of an existing MariaDB or MySQL server: [`engine::recorder`] with its status variables and
//! `performance_schema`, and, if it is on this machine, the counters of its disks and its process.

mod difference;
mod files;
mod host;
mod requests;
mod session;
mod snapshot;

use ::host::clock::Clock;
use model::Duration;
use profile::{Draft, Interval, Lost, Profile, Timestamp};

use crate::ServerUrl;
use engine::recorder::{
    self, RecordError, Recorded, RecordedServers, Recorder, Recording, Samples, Watcher,
};
use engine::{EngineError, Patience};
use host::Host;
use session::RecorderSession;
use snapshot::Snapshot;

/// Servers that can be recorded.
pub(crate) const SERVERS: RecordedServers = RecordedServers {
    title: "MariaDB",
    schemes: &["mysql", "mariadb"],
    url: "mysql://USER@HOST:PORT/",
};

impl Recorder for ServerUrl {
    fn record(
        &self,
        patience: Patience,
        recording: Recording,
        watcher: &dyn Watcher,
    ) -> Result<Profile, RecordError> {
        let server = &self.clone().with_patience(patience);
        let server = Server {
            url: server,
            host: Err("it was not looked for".to_owned()),
        };
        recorder::record(server, recording, watcher)
    }
}

struct Server<'a> {
    url: &'a ServerUrl,
    /// Its location on this machine, or why it is unknown.
    host: Result<Host, String>,
}

impl Server<'_> {
    fn with_host(&self, mut snapshot: Snapshot) -> Snapshot {
        // A disk or server that is gone has no figures; the interval is then dropped.
        snapshot.host = self
            .host
            .as_ref()
            .ok()
            .and_then(|host| host.counters().ok());
        snapshot
    }
}

impl Recorded for Server<'_> {
    type Session = RecorderSession;
    type Snapshot = Snapshot;

    fn name(&self) -> String {
        self.url.to_string()
    }

    fn connect(&self, number: u32) -> Result<RecorderSession, EngineError> {
        RecorderSession::open(self.url, number)
    }

    fn snapshot(&self, session: &mut RecorderSession, clock: &Clock) -> Result<Snapshot, String> {
        let snapshot = session.snapshot(clock);
        snapshot
            .map(|snapshot| self.with_host(snapshot))
            .map_err(|failure| failure.to_string())
    }

    fn at(snapshot: &Snapshot) -> Duration {
        snapshot.at
    }

    fn sample(&self, session: &mut RecorderSession, samples: &mut Samples) -> Result<(), String> {
        session
            .sample(samples)
            .map_err(|failure| failure.to_string())
    }

    fn describe(
        &mut self,
        _session: &mut RecorderSession,
        first: &mut Snapshot,
        draft: &mut Draft,
    ) -> Timestamp {
        self.host = Host::find(first);
        draft.origin.product = Some(first.server.product().to_owned());
        draft.origin.version = Some(first.server.release().to_owned());
        match &self.host {
            Ok(host) => {
                draft.machine = host.machine();
                draft.volumes = host.volumes();
            }
            Err(why) => draft.assume(format!(
                "Processor time and disks were not recorded: {why}."
            )),
        }
        for sentence in difference::assumptions(first, self.host.as_ref().ok()) {
            draft.assume(sentence);
        }
        *first = self.with_host(std::mem::take(first));
        timestamp(first.server_time_s)
    }

    fn interval(
        &self,
        before: &Snapshot,
        after: &Snapshot,
        samples: &Samples,
    ) -> Result<Interval, Lost> {
        difference::interval(before, after, samples, self.host.as_ref().ok())
    }
}

fn timestamp(seconds: f64) -> Timestamp {
    Timestamp::from_microsecond((seconds * 1e6) as i64).unwrap_or(Timestamp::UNIX_EPOCH)
}
