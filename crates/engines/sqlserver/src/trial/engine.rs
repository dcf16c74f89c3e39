//! The engine interface of a server for a trial.

use std::collections::BTreeMap;

use host::clock::Clock;
use model::Duration;

use super::{OBSERVER, SESSION, SqlServer, client, cold, counters, restart, restore};
use crate::trial::sampler::Sampler;
#[cfg(target_os = "linux")]
use engine::logged::{LogSession, Login};
use engine::{Client, CounterSampler, Engine, EngineError, WaitSampler};
use experiment::record::{EngineRecord, Note};
use experiment::spec::Temperature;
#[cfg(target_os = "linux")]
use reading::object::ObjectUse;
use workload::Database;

/// Maximum number of attempts to cancel sessions: for two seconds.
const CANCELS_MAX: usize = 100;

const CANCEL_EVERY: Duration = Duration::from_millis(20);

impl Engine for SqlServer {
    fn describe(&self) -> EngineRecord {
        self.record.clone()
    }

    fn connect(&self, session: u32) -> Result<Box<dyn Client + '_>, EngineError> {
        let watch = self.interruptions.watch();
        let kept = self.kept().remove(&session);
        let connection = match kept {
            Some(connection) => connection,
            None => {
                let mut connection = self.run.access().connect(SESSION)?;
                self.enter(&mut connection, session)?;
                connection
            }
        };
        self.cancellers().push(connection.canceller());
        Ok(Box::new(client::TrialSession::new(
            self, session, connection, watch,
        )))
    }

    #[cfg(target_os = "linux")]
    fn log_session(&self, _login: &Login) -> Result<Box<dyn LogSession + '_>, EngineError> {
        Ok(Box::new(self.logged()?))
    }

    #[cfg(target_os = "linux")]
    fn objects(&self) -> Result<Vec<ObjectUse>, EngineError> {
        Err(EngineError::Missing(
            "those of SQL Server are not counted yet".to_owned(),
        ))
    }

    /// SQL Server fills the files of a database in proportion to what is free in them: there is nothing to do.
    fn distribute_tables(&self, _session: u32) -> Result<(), EngineError> {
        Ok(())
    }

    fn quiesce(&self) -> Result<(), EngineError> {
        self.observe(|session| cold::checkpoint(&self.run, session, [&self.name, &self.tempdb]))
    }

    fn start(
        &self,
        temperature: Temperature,
        forget: &mut dyn FnMut() -> Result<Vec<String>, EngineError>,
    ) -> Result<Vec<String>, EngineError> {
        let mut notes = Vec::new();
        if temperature == Temperature::Cold {
            notes.extend(self.observe(|session| cold::empty(&self.run, session, self.number))?);
            notes.extend(forget()?);
        }
        Ok(notes)
    }

    fn counters(&self) -> Result<BTreeMap<String, f64>, EngineError> {
        let now = self.observe(restart::started_in)?;
        if now != self.started {
            return Err(EngineError::failed(
                "read the server's counters",
                format!("it was restarted at {now}, in the middle of the trial"),
            ));
        }
        self.observe(|session| counters::read(session, &self.run.files()))
    }

    fn waits(&self) -> Result<Option<Box<dyn WaitSampler + '_>>, EngineError> {
        Ok(Some(Box::new(self.sampler()?)))
    }

    fn counter_sampler(&self) -> Result<Option<Box<dyn CounterSampler + '_>>, EngineError> {
        Ok(Some(Box::new(self.sampler()?)))
    }

    fn notes(&self) -> Vec<Note> {
        let missed = self.claims.iter().flat_map(|claims| self.missed(claims));
        self.notes.iter().cloned().chain(missed).collect()
    }

    fn interrupt(&self) {
        self.interruptions.interrupt();
        let cancellers = self.cancellers().clone();
        for _ in 0..CANCELS_MAX {
            cancellers
                .iter()
                .for_each(crate::session::Canceller::cancel);
            if self.kept().len() >= self.sessions {
                break;
            }
            Clock::sleep(CANCEL_EVERY);
        }
    }

    /// Nothing is kept on an external server.
    fn keep(&mut self) {}

    fn stop(&mut self) -> Result<(), EngineError> {
        if std::mem::replace(&mut self.stopped, true) {
            return Ok(());
        }
        // A database in use cannot be dropped.
        self.kept().clear();
        *self.observer.lock() = None;
        let dropped = self.drop_database();
        // Regardless of the database: volumes cannot be removed while tempdb is on them.
        let left = restore::leave_volumes(&self.run);
        match (dropped, left) {
            (Err(dropped), Err(left)) => Err(EngineError::failed(dropped.to_string(), left)),
            (dropped, left) => dropped.and(left),
        }
    }
}

impl Drop for SqlServer {
    fn drop(&mut self) {
        // The error cannot be reported here; callers that need it call `stop`, and the journal records it.
        let _ = self.stop();
    }
}

impl SqlServer {
    fn sampler(&self) -> Result<Sampler<'_>, EngineError> {
        let session = self.run.access().connect(OBSERVER)?;
        self.cancellers().push(session.canceller());
        Ok(Sampler {
            run: &self.run,
            session,
        })
    }

    /// Drops the run's own database, if there is one.
    fn drop_database(&self) -> Result<(), EngineError> {
        let name = self.name.text();
        if !self.run.made(name) {
            return Ok(());
        }
        let mut session = self.run.to_restore().connect(OBSERVER)?;
        let dropped = self.run.drop_database(&mut session, name);
        dropped.map_err(|error| EngineError::failed("clear up after SQL Server", error))
    }

    /// The user that owns the schema of a session's tables, if each session has its own tables.
    pub(crate) fn owner(&self, session: u32) -> Option<String> {
        match self.database {
            Database::PerSession => Some(format!("session_{session}")),
            Database::Shared => None,
        }
    }
}
