//! A connection that plays the statements of a logged session. They are sent as text: a log has them with their parameters.

use crate::session::failure::Failure;
use crate::session::wire::Connection;
use crate::trial::server::MariaDb;
use engine::interruption::Watch;
use engine::logged::{LogSession, Logged, Played};

/// A session of a log.
pub(crate) struct LoggedTrialSession<'a> {
    engine: &'a MariaDb,
    connection: Connection,
    watch: Watch,
}

impl<'a> LoggedTrialSession<'a> {
    pub(crate) fn new(
        engine: &'a MariaDb,
        mut connection: Connection,
        watch: Watch,
    ) -> LoggedTrialSession<'a> {
        let patience = engine.target().patience.of_session(watch.clone());
        connection.set_patience(patience);
        // So that it is interrupted as others are.
        engine.sessions.lock().insert(connection.number);
        LoggedTrialSession {
            engine,
            connection,
            watch,
        }
    }
}

impl Drop for LoggedTrialSession<'_> {
    fn drop(&mut self) {
        let mut sessions = self.engine.sessions.lock();
        sessions.remove(&self.connection.number);
    }
}

impl LogSession for LoggedTrialSession<'_> {
    fn play(&mut self, statement: &Logged) -> Result<Played, String> {
        self.watch.check()?;
        match self.connection.work(&statement.text) {
            Ok(()) => Ok(Played::Done(Some(self.connection.rows))),
            Err(Failure::Refused { code, message }) => {
                Ok(Played::Failed(format!("error {code}: {message}")))
            }
            Err(lost) => Err(self
                .engine
                .with_exit_reason(engine::EngineError::failed("play a statement", lost))
                .to_string()),
        }
    }
}
