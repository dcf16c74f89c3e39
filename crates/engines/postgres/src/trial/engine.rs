//! The engine interface of a server for a trial.

use std::collections::BTreeMap;

use host::clock::Clock;
use model::Duration;

use super::{client, counters, waits};
use crate::session::failure::Failure;
use crate::session::login::{OBSERVER, SESSION, open};
use crate::session::target::Target;
use crate::session::wire::Connection;
use crate::trial::counters::Detail;
use crate::trial::product::POSTGRESQL;
use crate::trial::server::{Host, Postgres};
use crate::trial::tablespaces::{self, Which};
use engine::NOT_RESTARTED;
use engine::managed_server::cleared;
use engine::{Client, CounterSampler, Engine, EngineError, WaitSampler};
use experiment::record::{EngineRecord, NOT_LIMITED, PAGE_CACHE};
use experiment::spec::Temperature;
use workload::Tables;

/// Maximum number of attempts to cancel sessions: for two seconds.
const CANCELS_MAX: usize = 100;

const CANCEL_EVERY: Duration = Duration::from_millis(20);

impl Engine for Postgres {
    fn describe(&self) -> EngineRecord {
        let mut record = self.record.clone();
        let page_cache = match &self.host {
            Host::Private(cluster) => cluster.server().page_cache(),
            Host::External(_) => format!("{NOT_LIMITED} (the server is not ours)"),
        };
        record.settings.insert(PAGE_CACHE.to_owned(), page_cache);
        record
    }

    fn connect(&self, session: u32) -> Result<Box<dyn Client + '_>, EngineError> {
        let watch = self.interruptions.watch();
        let mut connection =
            open(&self.target, SESSION).map_err(|error| self.with_exit_reason(error))?;
        let schema = self.schema(session);
        connection
            .query(&format!("SET search_path = {schema}"))
            .map_err(|error| EngineError::failed("enter the session's schema", error))?;
        Ok(Box::new(client::TrialSession::new(self, connection, watch)))
    }

    fn distribute_tables(&self, session: u32) -> Result<(), EngineError> {
        let schema = self.schema(session);
        let which = Which::Schema(&schema, session);
        let placed = self.observe(|connection| {
            tablespaces::distribute(connection, &self.tablespaces, self.tables, which)
                .map_err(|error| EngineError::failed("place the tables", error))
        })?;
        if placed == 0 && self.tables == Tables::Temp && !self.load_is_measured {
            return Err(EngineError::failed(
                "place the tables",
                "the schema makes none that outlive their session, but the sessions of the run are \
                 not those that load; make them without TEMP (`CREATE TABLE`), and they are put into \
                 temp space unlogged",
            ));
        }
        Ok(())
    }

    fn quiesce(&self) -> Result<(), EngineError> {
        self.work("VACUUM (ANALYZE)")?;
        self.work("CHECKPOINT")?;
        Ok(())
    }

    fn start(
        &self,
        temperature: Temperature,
        forget: &mut dyn FnMut() -> Result<Vec<String>, EngineError>,
    ) -> Result<Vec<String>, EngineError> {
        let mut notes = Vec::new();
        match (&self.host, temperature) {
            (Host::Private(cluster), Temperature::Warm) => cluster.server().tighten(),
            (Host::Private(cluster), Temperature::Cold) => {
                *self.observer.lock() = None;
                cluster.server().shut_down()?;
                notes.extend(forget()?);
                cluster.start()?;
                cluster.server().tighten();
            }
            (Host::External(external), Temperature::Warm) => notes.extend(external.notes()),
            (Host::External(external), Temperature::Cold) => {
                notes.extend(external.notes());
                notes.push(NOT_RESTARTED.to_owned());
                notes.extend(forget()?);
            }
        }
        Ok(notes)
    }

    fn counters(&self) -> Result<BTreeMap<String, f64>, EngineError> {
        self.observe(|connection| counters::read(connection, self.major, Detail::ByProcess))
    }

    fn waits(&self) -> Result<Option<Box<dyn WaitSampler + '_>>, EngineError> {
        Ok(Some(Box::new(waits::Sampler::new(self.open_observer()?)?)))
    }

    fn counter_sampler(&self) -> Result<Option<Box<dyn CounterSampler + '_>>, EngineError> {
        Ok(Some(Box::new(counters::Sampler {
            connection: self.open_observer()?,
            major: self.major,
        })))
    }

    fn interrupt(&self) {
        self.interruptions.interrupt();
        // If the server is gone, its sessions return on their own.
        let _ = self.cancel_sessions();
    }

    fn abandon(&self) {
        match &self.host {
            Host::Private(cluster) => cluster.server().abandon(),
            // If the server is gone, the statement returns on its own.
            Host::External(_) => drop(self.cancel_own()),
        }
    }

    /// On an external server nothing is kept: it would keep using our directories.
    fn keep(&mut self) {
        match self.host {
            Host::Private(_) => self.directories.keep(),
            Host::External(_) => {}
        }
    }

    fn stop(&mut self) -> Result<(), EngineError> {
        if std::mem::replace(&mut self.stopped, true) {
            return Ok(());
        }
        *self.observer.lock() = None;
        let ended = match &self.host {
            Host::Private(cluster) => cluster.server().end(self.directories.are_kept()),
            Host::External(external) => external.remove(&self.tablespaces),
        };
        cleared(&POSTGRESQL, ended, self.directories.remove())
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // The error cannot be reported here; callers that need it call `stop`.
        let _ = self.stop();
    }
}

impl Postgres {
    /// Cancels the sessions' statements until all are idle: a session that was about to send a statement at the first attempt
    /// still sends it.
    fn cancel_sessions(&self) -> Result<(), Failure> {
        let mut connection = self.open_to_cancel()?;
        for _ in 0..CANCELS_MAX {
            let active = connection.query(&format!(
                "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE state = 'active' \
                 AND application_name = '{SESSION}' AND datname = current_database()"
            ))?;
            if active.is_empty() {
                break;
            }
            Clock::sleep(CANCEL_EVERY);
        }
        Ok(())
    }

    fn open_to_cancel(&self) -> Result<Connection, Failure> {
        let target = Target {
            patience: self.target.patience.for_cancelling(),
            ..self.target.clone()
        };
        Connection::open(&target, OBSERVER)
    }

    /// Cancels dbstow's own statements in its database, once.
    fn cancel_own(&self) -> Result<(), Failure> {
        let mut connection = self.open_to_cancel()?;
        connection.query(&format!(
            "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid() \
             AND application_name = '{OBSERVER}' AND datname = current_database()"
        ))?;
        Ok(())
    }
}
