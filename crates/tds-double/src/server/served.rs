//! The server behind a double: who may log in, what a text does, and what ends with a session.

use std::io;
use std::time::Duration;

use super::space::NotStarted;
use super::state::{self, Account, Waiting};
use super::{SqlServer, answer, change, error, restore, text};
use crate::double::Double;
use crate::login::{Login, Proof};
use crate::model::{Admitted, Form, Identity, Model, Question, Refusal, Session};
use crate::reply::{Item, Reply};

/// Longer than any test waits.
const AGES: Duration = Duration::from_secs(3600);

impl Model for SqlServer {
    fn identity(&self) -> Identity {
        let mut parts = self
            .edition
            .version
            .split('.')
            .map(|part| part.parse::<u16>().unwrap_or(0));
        let mut next = || parts.next().unwrap_or(0);
        Identity {
            name: self.name.clone(),
            major: next() as u8,
            minor: next() as u8,
            build: next(),
        }
    }

    fn login(&mut self, login: &Login) -> Result<Admitted, Refusal> {
        let account = match &login.proof {
            Proof::Password { user, password } => {
                let known = |account: &&Account| {
                    account.name.eq_ignore_ascii_case(user) && account.password == *password
                };
                self.accounts.iter().find(known)
            }
            Proof::Token(token) => self
                .accounts
                .first()
                .filter(|_| self.token.as_ref() == Some(token)),
            Proof::Integrated => None,
        };
        let account = account.ok_or(Refusal::Denied)?;
        let wanted = if login.database.is_empty() {
            "master"
        } else {
            &login.database
        };
        let database = self
            .database(wanted)
            .ok_or_else(|| Refusal::NoDatabase(wanted.to_owned()))?;
        Ok(Admitted {
            login: account.name.clone(),
            database: database.1.name.clone(),
        })
    }

    fn answer(&mut self, session: &mut Session, question: &Question) -> Option<Reply> {
        if self.severed.contains(&session.id) {
            return Some(Reply::new().with(Item::Cut));
        }
        self.inside.insert(session.id, session.database.clone());
        self.count(state::BATCHES, 1);
        let last = self.asked.values().max().copied().unwrap_or(0);
        self.asked.insert(session.id, last + 1);
        if let Some((_, waiting)) = self.hangs.iter().find(|(known, _)| known(question)) {
            let waiting = Waiting {
                session: i64::from(session.id),
                ..waiting.clone()
            };
            self.under_way.insert(session.id, waiting);
            return Some(Reply::new().with(Item::Delay(AGES)).done());
        }
        if self.recovering > 0 && needs_tempdb(&question.text) {
            self.recovering -= 1;
            return Some(Reply::error(error::recovering("tempdb")));
        }
        if let Some(reply) = answer::answer(self, session, &question.text) {
            return Some(reply);
        }
        if let Some(reply) = restore::answer(self, session, &question.text) {
            return Some(reply);
        }
        if let Some(statements) = text::read(&question.text) {
            return Some(change::run(self, session, &statements));
        }
        let rule = self.works.iter().find(|rule| (rule.known)(question))?;
        let (work, reply) = (rule.work.clone(), rule.reply.clone());
        // As SQL Server stores it: preceded by the declarations of its parameters.
        let text = match question.form {
            Form::Statement => format!("(@p1 bigint){}", question.text),
            Form::Batch | Form::Procedure => question.text.clone(),
        };
        let (threads, spilled) = self.plan_cache.entry(text).or_default();
        *threads = work.threads.max(1).max(*threads);
        *spilled += work.spilled_pages;
        Some(match self.work(&work) {
            Ok(()) => reply,
            Err(error) => Reply::error(error),
        })
    }

    fn answered(&mut self, session: &Session) {
        self.under_way.remove(&session.id);
    }

    fn reset(&mut self, session: &Session) {
        self.inside.insert(session.id, session.database.clone());
    }

    fn closed(&mut self, session: &Session) {
        self.inside.remove(&session.id);
        self.severed.remove(&session.id);
        self.under_way.remove(&session.id);
        self.asked.remove(&session.id);
    }
}

/// Whether a text concerns objects in tempdb. Others only mention it in a condition.
fn needs_tempdb(text: &str) -> bool {
    ["tempdb.", "[tempdb]", "#"]
        .iter()
        .any(|part| text.contains(part))
}

/// Restarts the server behind a double: its connections end, it goes down, and it comes back if it can.
///
/// # Errors
/// Where it does not start: it stays down then.
pub fn restart(double: &mut Double<SqlServer>) -> Result<(), RestartError> {
    double.go_down();
    let started = double.model().restart();
    started.map_err(RestartError::NotStarted)?;
    double.come_back().map_err(RestartError::Port)
}

/// Why a server did not come back.
#[derive(Debug)]
pub enum RestartError {
    /// SQL Server would not start either.
    NotStarted(NotStarted),
    /// The double's port was taken in the meantime.
    Port(io::Error),
}
