//! A connection that plays the statements of a logged session, in the copy of its database.

use super::collect::RESET;
use super::renamed::renamed;
use crate::session::{Driver, Failure, Session as _};
use crate::tsql::{Name, Statement};
use engine::interruption::Watch;
use engine::logged::{LogSession, Logged, Played};

/// A statement that does nothing: it sets what is set.
const NOTHING: &str = "SET NOCOUNT OFF;";

/// A session of a log.
pub(crate) struct LoggedTrialSession {
    connection: Driver,
    watch: Watch,
    /// The database in the log, and the copy.
    database: (String, Name),
}

impl LoggedTrialSession {
    /// Plays on `connection`, which is in the copy.
    pub(crate) fn new(
        connection: Driver,
        watch: Watch,
        database: (String, Name),
    ) -> LoggedTrialSession {
        LoggedTrialSession {
            connection,
            watch,
            database,
        }
    }
}

impl LogSession for LoggedTrialSession {
    fn play(&mut self, statement: &Logged) -> Result<Played, String> {
        self.watch.check()?;
        let (from, to) = &self.database;
        let played = match &*statement.text {
            "" => self.connection.statement(NOTHING, &[]),
            RESET => {
                self.connection.reset();
                let back = Statement::Use(to.clone()).to_string();
                self.connection.statement(&back, &[])
            }
            text => {
                let own = renamed(text, from, &to.to_string());
                self.connection
                    .statement(own.as_deref().unwrap_or(text), &[])
            }
        };
        match played {
            Ok(rows) => Ok(Played::Done(Some(rows))),
            Err(failure @ Failure::Refused(_)) => Ok(Played::Failed(failure.to_string())),
            Err(lost) => Err(lost.to_string()),
        }
    }
}
