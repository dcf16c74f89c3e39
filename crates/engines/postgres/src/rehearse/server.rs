//! The server of a trial, on a copy of another server's files.

use std::collections::BTreeMap;

use super::objects::Objects;
use super::session::Session;
use crate::session::login::{SESSION, open};
use crate::session::target::Target;
use crate::trial::Postgres;
use crate::{ServerUrl, recorder};
use engine::logged::{LogSession, Login};
use engine::recorder::Recorder;
use engine::{Client, CounterSampler, Engine, EngineError, WaitSampler};
use experiment::record::{EngineRecord, Note};
use experiment::spec::Temperature;
use reading::object::ObjectUse;

/// A server that plays statements.
pub(crate) struct Server {
    engine: Postgres,
    objects: Objects,
}

impl Server {
    /// A server that was started once and that sessions with these logins will use. Caches are as they were before only once it
    /// is started again.
    ///
    /// # Errors
    /// When it does not answer.
    pub(crate) fn new(engine: Postgres, logins: &[Login]) -> Result<Server, EngineError> {
        let objects = Objects::before(&engine.target, logins)?;
        Ok(Server { engine, objects })
    }
}

impl Engine for Server {
    fn describe(&self) -> EngineRecord {
        self.engine.describe()
    }

    fn connect(&self, _session: u32) -> Result<Box<dyn Client + '_>, EngineError> {
        Err(EngineError::Missing(
            "a rehearsal plays the sessions of its log".to_owned(),
        ))
    }

    fn log_session(&self, login: &Login) -> Result<Box<dyn LogSession + '_>, EngineError> {
        let watch = self.engine.interruptions.watch();
        let own = &self.engine.target;
        let target = Target {
            database: login.database.to_string(),
            user: login.user.as_deref().unwrap_or(&own.user).to_owned(),
            ..own.clone()
        };
        let connection =
            open(&target, SESSION).map_err(|error| self.engine.with_exit_reason(error))?;
        Ok(Box::new(Session::new(connection, &own.patience, watch)))
    }

    fn recorder(&self) -> Option<Box<dyn Recorder>> {
        let server = ServerUrl::private(self.engine.target.clone());
        Some(recorder::of(server))
    }

    fn objects(&self) -> Result<Vec<ObjectUse>, EngineError> {
        let engine = &self.engine;
        engine.observe(|observer| self.objects.since(&engine.target, observer))
    }

    fn start(
        &self,
        temperature: Temperature,
        forget: &mut dyn FnMut() -> Result<Vec<String>, EngineError>,
    ) -> Result<Vec<String>, EngineError> {
        self.engine.start(temperature, forget)
    }

    fn counters(&self) -> Result<BTreeMap<String, f64>, EngineError> {
        self.engine.counters()
    }

    fn waits(&self) -> Result<Option<Box<dyn WaitSampler + '_>>, EngineError> {
        self.engine.waits()
    }

    fn counter_sampler(&self) -> Result<Option<Box<dyn CounterSampler + '_>>, EngineError> {
        self.engine.counter_sampler()
    }

    fn notes(&self) -> Vec<Note> {
        self.engine.notes()
    }

    fn interrupt(&self) {
        self.engine.interrupt();
    }

    fn abandon(&self) {
        self.engine.abandon();
    }

    fn stop(&mut self) -> Result<(), EngineError> {
        // Nothing on its volumes is needed any more.
        self.engine.abandon();
        self.engine.stop()
    }
}
