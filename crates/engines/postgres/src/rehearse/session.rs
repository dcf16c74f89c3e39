//! A connection that plays the statements of a logged session.

use std::collections::HashMap;
use std::sync::Arc;

use postgres_protocol::IsNull;

use super::text;
use crate::session::failure::Failure;
use crate::session::wire::Connection;
use engine::Patience;
use engine::interruption::Watch;
use engine::logged::{LogSession, Logged, Played};

/// Most statements that a session keeps prepared; all are forgotten when there are more.
const PREPARED_MAX: usize = 2_000;

/// Plays statements.
pub(crate) struct Session {
    connection: Connection,
    watch: Watch,
    /// Names of prepared statements, by text.
    prepared: HashMap<Arc<str>, String>,
}

impl Session {
    pub(crate) fn new(mut connection: Connection, patience: &Patience, watch: Watch) -> Session {
        connection.set_patience(patience.of_session(watch.clone()));
        Session {
            connection,
            watch,
            prepared: HashMap::new(),
        }
    }

    fn extended(
        &mut self,
        statement: &Logged,
        parameters: &[Option<Box<str>>],
    ) -> Result<(), Failure> {
        let name = match statement.is_prepared {
            false => None,
            true => match self.prepared.get(&statement.text) {
                Some(name) => Some(name.clone()),
                None => {
                    if self.prepared.len() >= PREPARED_MAX {
                        self.prepared.clear();
                    }
                    let name = format!("dbstow_{}", self.prepared.len());
                    self.connection.prepare(&name, &statement.text)?;
                    let text = Arc::clone(&statement.text);
                    self.prepared.insert(text, name.clone());
                    Some(name)
                }
            },
        };
        let write = |value: &Option<Box<str>>, buffer: &mut bytes::BytesMut| match value {
            Some(value) => {
                buffer.extend_from_slice(value.as_bytes());
                Ok(IsNull::No)
            }
            None => Ok(IsNull::Yes),
        };
        let done = match &name {
            Some(name) => self.connection.execute(name, parameters, write),
            None => self
                .connection
                .execute_once(&statement.text, parameters, write),
        };
        done.map(|_| ())
    }
}

impl LogSession for Session {
    fn play(&mut self, statement: &Logged) -> Result<Played, String> {
        self.watch.check()?;
        let done = match &statement.parameters {
            None => self.connection.discard(&statement.text),
            Some(parameters) => self.extended(statement, parameters),
        };
        if !self.prepared.is_empty() && text::forgets_prepared(&statement.text) {
            self.prepared.clear();
        }
        match done {
            Ok(()) => Ok(Played::Done(None)),
            Err(Failure::Refused { code, message }) => {
                Ok(Played::Failed(format!("SQLSTATE {code}: {message}")))
            }
            Err(lost) => Err(lost.to_string()),
        }
    }
}
