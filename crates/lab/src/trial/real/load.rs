//! Loading, if it is not measured: all databases concurrently, each by its own session.

use std::thread;

use model::{Instant, random};

use super::super::parameters::{self, ParameterRows};
use super::super::sessions::{self, Window};
use super::gate::Gate;
use super::session::RealSession;
use super::trial::{RealTrial, joined};
use engine::Engine;
use workload::Database;

impl RealTrial<'_> {
    /// Loads all databases. The first that fails ends the others.
    pub(super) fn load(&self, engine: &dyn Engine) -> Result<(), String> {
        let sessions = match self.subject.workload().database {
            Database::PerSession => self.subject.settings.workload.sessions,
            Database::Shared => 1,
        };
        let gate = Gate::new(self.common.clock, sessions);
        thread::scope(|scope| {
            let gate = &gate;
            let one = |session| move || self.load_one(engine, gate, session);
            let loads: Vec<_> = (0..sessions).map(|n| scope.spawn(one(n))).collect();
            self.wait_until_done(gate, engine, |_| None);
            let results: Vec<Result<(), String>> = loads.into_iter().map(joined).collect();
            match self.common.stop.why() {
                Some(why) => Err(why),
                None => results.into_iter().collect(),
            }
        })
    }

    /// Runs the query whose rows are parameters, if the workload has one, in its own session: before caches are
    /// emptied, as it is not part of the measurement.
    pub(super) fn parameters(&self, engine: &dyn Engine) -> Result<Option<ParameterRows>, String> {
        let Some(query) = parameters::query(self.subject.workload()) else {
            return Ok(None);
        };
        let gate = Gate::new(self.common.clock, 1);
        let answer = thread::scope(|scope| {
            let asked = scope.spawn(|| {
                let _entered = gate.enter();
                let client = engine.connect(0).map_err(|error| error.to_string());
                client.and_then(|mut client| client.table(&query.text))
            });
            self.wait_until_done(&gate, engine, |_| None);
            joined(asked)
        });
        match self.common.stop.why() {
            Some(why) => Err(why),
            None => ParameterRows::of(query, answer).map(Some),
        }
    }

    fn load_one(&self, engine: &dyn Engine, gate: &Gate, session: u32) -> Result<(), String> {
        let _entered = gate.enter();
        let workload = self.subject.workload();
        let client = engine.connect(session).map_err(|error| error.to_string());
        let result = client.and_then(|client| {
            let mut seat = RealSession::new(&self.common, client, ALL);
            let count = self.subject.settings.workload.sessions;
            let mut variables = workload.variables(session, count);
            let seed = random::derive(self.subject.id.seed, "load", u64::from(session));
            let distribute = || {
                engine
                    .distribute_tables(session)
                    .map_err(|error| error.to_string())
            };
            sessions::load(&mut seat, workload, &mut variables, seed, distribute)
        });
        result.map_err(|error| {
            let error = format!("loading the database of session {session}: {error}");
            self.common.stop.set(Some(error.clone()));
            error
        })
    }
}

/// All time: no part of a load is excluded.
const ALL: Window = Window {
    from: Instant::ZERO,
    until: None,
};
