//! From the entries of a log to its sessions and their statements.

use std::collections::HashMap;
use std::sync::Arc;

use super::entry::Entry;
use super::message::{Message, Statement};
use super::{parameters, text};
use engine::log_gathering::Gathering;
use engine::logged::{Boundary, LeftOut, LogError, LogRequest, Logged, StatementLog};

/// How far the entries of a session may go back: a log's lines are written by several processes.
const BACK_US_MAX: i64 = 1_000_000;

/// How long a statement waits for a lock before the server looks for a deadlock: the default of `deadlock_timeout`.
const DEADLOCK_TIMEOUT_US: i64 = 1_000_000;

/// Collects the sessions of a log.
pub(crate) struct Collector<'a> {
    gathering: Gathering<'a>,
    /// By the log's name of the session.
    open: HashMap<String, Session>,
    /// Whether any entry is of the window.
    entries: u64,
}

/// A session whose entries are read.
#[derive(Default)]
struct Session {
    user: Option<Arc<str>>,
    database: Option<Arc<str>>,
    statements: Vec<Logged>,
    last_us: Option<i64>,
    /// Whether a transaction is open, as far as the log says.
    in_transaction: bool,
    /// Whether the last statement may still be running.
    is_running: bool,
    /// Whether its beginning is not in the log or the window.
    began_before: bool,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(asked: &'a LogRequest) -> Collector<'a> {
        let mut gathering = Gathering::new(asked);
        gathering.has_errors = true;
        Collector {
            gathering,
            open: HashMap::new(),
            entries: 0,
        }
    }

    /// Notes that the last line is incomplete.
    pub(crate) fn half_line(&mut self) {
        self.gathering.half_line = true;
    }

    /// Adds an entry; those of a session come in their order.
    ///
    /// # Errors
    /// When it goes back in time, or there are more statements than memory is for.
    pub(crate) fn add(&mut self, entry: Entry) -> Result<(), LogError> {
        // Of the server itself.
        if entry.session.is_empty() {
            return Ok(());
        }
        self.entries += 1;
        let is_new = !self.open.contains_key(&entry.session);
        let mut session = self.open.remove(&entry.session).unwrap_or_default();
        if is_new {
            let mut starts = ["connection received", "connection authorized"].iter();
            let begins = starts.any(|start| entry.message.starts_with(start));
            session.began_before = match entry.number_in_session {
                Some(number) => number > 1,
                None => !begins,
            };
        }
        if let Some(last) = session
            .last_us
            .filter(|last| entry.time_us < last - BACK_US_MAX)
        {
            return Err(LogError::at(
                entry.line,
                format!(
                    "its time is {} s before that of the line before it of the same session; give the log of one server, in the \
                     order in which it was written",
                    (last - entry.time_us) / 1_000_000
                ),
            ));
        }
        session.last_us = session.last_us.max(Some(entry.time_us));
        self.know(
            &mut session,
            entry.user.as_deref(),
            entry.database.as_deref(),
        );
        let ended = self.take(&mut session, &entry)?;
        match ended {
            true => self.close(session),
            false => drop(self.open.insert(entry.session, session)),
        }
        Ok(())
    }

    /// Learns a setting by which statements are logged.
    fn logs(&mut self, name: &str, value: &str) {
        let logging = &mut self.gathering.logging;
        if !logging.contains_key(name) {
            logging.insert(name.to_owned(), value.to_owned());
        }
    }

    /// Learns who a session is.
    fn know(&mut self, session: &mut Session, user: Option<&str>, database: Option<&str>) {
        let is_name = |name: &&str| !name.is_empty() && *name != "[unknown]";
        if session.user.is_none() {
            session.user = user.filter(is_name).map(|name| self.gathering.text(name));
        }
        if session.database.is_none() {
            session.database = database
                .filter(is_name)
                .map(|name| self.gathering.text(name));
        }
    }

    /// Takes what an entry says of its session; returns whether that has ended.
    fn take(&mut self, session: &mut Session, entry: &Entry) -> Result<bool, LogError> {
        if ["ERROR", "FATAL", "PANIC"].contains(&&*entry.severity) {
            self.fail(session, entry)?;
            return Ok(entry.severity != "ERROR");
        }
        if entry.severity != "LOG" {
            return Ok(false);
        }
        match Message::of(&entry.message) {
            Message::Statement(statement) => {
                self.logs("log_statement", "all");
                self.begin(session, entry, &statement, entry.time_us, None)?;
            }
            Message::Done(statement, us) => {
                self.gathering.has_durations = true;
                self.logs("log_min_duration_statement", "0");
                let us = i64::try_from(us).unwrap_or(i64::MAX);
                let start = entry.time_us.saturating_sub(us);
                self.begin(session, entry, &statement, start, Some(entry.time_us))?;
            }
            Message::Took(_) => {
                self.gathering.has_durations = true;
                self.logs("log_duration", "on");
                // Of a call of the protocol, if the last statement has ended.
                if session.is_running
                    && let Some(last) = session.statements.last_mut()
                {
                    last.end_us = Some(entry.time_us);
                }
                session.is_running = false;
            }
            // A parse or bind is part of its statement.
            Message::Call if entry.message.contains("fastpath") => {
                self.gathering.leave(LeftOut::Protocol, 1)
            }
            Message::LoggedIn(user, database) => self.know(session, user, database),
            Message::Ended => return Ok(true),
            Message::Call | Message::Other => {}
        }
        Ok(false)
    }

    /// A statement that began.
    fn begin(
        &mut self,
        session: &mut Session,
        entry: &Entry,
        statement: &Statement<'_>,
        start_us: i64,
        end_us: Option<i64>,
    ) -> Result<(), LogError> {
        let boundary = text::boundary(statement.text);
        session.is_running = false;
        if !self.is_asked(session, start_us, statement.text) {
            // A session that is in the window later began before it, as did a transaction that is open then.
            session.began_before |= session.statements.is_empty();
            return Ok(());
        }
        let was_open = session.in_transaction;
        match boundary {
            Boundary::Begins => session.in_transaction = true,
            Boundary::Ends => session.in_transaction = false,
            Boundary::Within => {}
        }
        let ends_unknown = boundary == Boundary::Ends && !was_open && session.began_before;
        if ends_unknown
            && session
                .statements
                .iter()
                .all(|s| s.boundary == Boundary::Within)
        {
            // What it did before was in the transaction that ends here.
            let count = session.statements.len() as u64 + 1;
            self.gathering.leave(LeftOut::BeganBefore, count);
            session.statements.clear();
            return Ok(());
        }
        if let Some(why) = self.unplayable(session, entry, statement) {
            self.gathering.leave(why, 1);
            return Ok(());
        }
        let parameters = statement.prepared.map(|_| {
            let detail = entry.detail.as_deref();
            detail.and_then(parameters::parse).unwrap_or_default()
        });
        let is_prepared = statement.prepared.is_some_and(|name| !name.is_empty());
        let form = self.gathering.text(&text::form(statement.text));
        let text = self.gathering.text(statement.text);
        let values = parameters.iter().flat_map(|values| values.iter().flatten());
        let bytes = values.map(|value| value.len() + 16).sum();
        self.gathering.keep(entry.line, bytes)?;
        // A log's times are of milliseconds, and its durations are finer.
        let start_us =
            (session.statements.last()).map_or(start_us, |last| start_us.max(last.start_us));
        let end_us = end_us.map(|end_us| end_us.max(start_us));
        session.statements.push(Logged {
            text,
            form,
            parameters,
            is_prepared,
            start_us,
            end_us,
            failed: false,
            rows: None,
            boundary,
            reads: text::reads(statement.text),
        });
        session.is_running = end_us.is_none();
        Ok(())
    }

    /// A statement that ended with an error.
    fn fail(&mut self, session: &mut Session, entry: &Entry) -> Result<(), LogError> {
        let Some(text) = &entry.statement else {
            return Ok(());
        };
        let is_running = session.is_running;
        let running = session.statements.last_mut().filter(|_| is_running);
        if let Some(last) = running.filter(|last| *last.text == **text) {
            last.failed = true;
            last.end_us = Some(entry.time_us);
            session.is_running = false;
            return Ok(());
        }
        // Where only durations are logged, an error has its statement, and no duration.
        let statement = Statement {
            text,
            prepared: None,
        };
        let before = session.statements.len();
        let waited_us = match &*entry.message {
            "deadlock detected" => DEADLOCK_TIMEOUT_US,
            _ => 0,
        };
        let previous_end_us = session.statements.last().and_then(|last| last.end_us);
        let start_us = (entry.time_us - waited_us).max(previous_end_us.unwrap_or(i64::MIN));
        self.begin(
            session,
            entry,
            &statement,
            start_us.min(entry.time_us),
            Some(entry.time_us),
        )?;
        if session.statements.len() > before
            && let Some(last) = session.statements.last_mut()
        {
            last.failed = true;
        }
        Ok(())
    }

    fn unplayable(
        &self,
        session: &Session,
        entry: &Entry,
        statement: &Statement<'_>,
    ) -> Option<LeftOut> {
        if entry.is_garbled || statement.text.contains('\0') {
            return Some(LeftOut::NoText);
        }
        if session.database.is_none() && self.gathering.asked().database.is_none() {
            return Some(LeftOut::NoDatabase);
        }
        let has_values = match statement.prepared {
            None => entry.severity == "LOG" || !statement.text.contains("$1"),
            Some(_) => match entry.detail.as_deref() {
                Some(detail) => parameters::parse(detail).is_some(),
                None => !statement.text.contains("$1"),
            },
        };
        match has_values {
            false => Some(LeftOut::NoParameters),
            true => text::left_out(statement.text),
        }
    }

    /// Whether a statement is of the window, the database and the user that are asked for.
    fn is_asked(&self, session: &Session, start_us: i64, text: &str) -> bool {
        let (database, user) = (session.database.as_deref(), session.user.as_deref());
        self.gathering.is_asked(start_us, database, user)
            && (!self.gathering.asked().reads_only || text::reads(text))
    }

    fn close(&mut self, session: Session) {
        let login = (session.user, session.database);
        self.gathering
            .close(login, session.statements, session.began_before);
    }

    /// The log, read to its end, whose lines begin with `prefix`, or have as much before a message.
    ///
    /// # Errors
    /// When it has no statement that can be replayed.
    pub(crate) fn finish(mut self, form: String, prefix: String) -> Result<StatementLog, LogError> {
        for (_, session) in std::mem::take(&mut self.open) {
            self.close(session);
        }
        self.logs("log_line_prefix", &prefix);
        let none = match self.entries {
            0 => {
                "it has no entry of a session; give a log of PostgreSQL (csvlog, jsonlog or stderr)"
            }
            _ => {
                "it has no statement that is asked for; log them with log_min_duration_statement = 0 or log_statement = all, and check \
                 --window, --database and --user"
            }
        };
        self.gathering.finish(form, none)
    }
}
