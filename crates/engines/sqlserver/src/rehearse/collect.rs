//! From the events of a log to its sessions and their statements.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::call::{self, Call};
use super::event::{Ended, Event, Events, Execution, Said};
use super::text::{self, Step};
use engine::log_gathering::Gathering;
use engine::logged::{Boundary, LeftOut, LogError, Logged, StatementLog};

/// The text of a connection that is taken from a pool, as its event has it.
pub(crate) const RESET: &str = "exec sp_reset_connection";

/// Prepared statements that are known at a time, of a session.
const PREPARED_MAX: usize = 100_000;

/// A session whose events are read.
#[derive(Default)]
struct Session {
    user: Option<Arc<str>>,
    database: Option<Arc<str>>,
    statements: Vec<Logged>,
    began_before: bool,
    /// Transactions that are open.
    depth: u32,
    has_savepoint: bool,
    /// Whether statements open transactions by themselves.
    is_implicit: bool,
    prepared: BTreeMap<i64, call::Statement>,
    last_end_us: i64,
}

/// What is executed in place of a text.
struct Played {
    text: String,
    /// The statement itself, without its call.
    inner: String,
}

/// Collects the sessions of a log.
struct Collector<'a> {
    gathering: Gathering<'a>,
    open: HashMap<i64, Session>,
}

/// The sessions of a log.
///
/// # Errors
/// When there are more statements than memory is for, or none that can be replayed.
pub(crate) fn sessions(events: Events<'_>, form: &str) -> Result<StatementLog, LogError> {
    let Events {
        gathering, mut all, ..
    } = events;
    let is_end =
        |event: &Event| matches!(&event.said, Said::Executes(execution) if !execution.is_start);
    let has_ends = all.iter().any(is_end);
    let has_results = all.iter().any(
        |event| matches!(&event.said, Said::Executes(execution) if execution.result.is_some()),
    );
    // Files of a target hold the buffers of each processor, which are not in order.
    all.sort_by_key(|event| (event.at_us, event.sequence, event.place));
    let mut collector = Collector {
        gathering,
        open: HashMap::new(),
    };
    collector.gathering.has_errors = has_results;
    for event in all {
        match &event.said {
            Said::Executes(execution) if execution.is_start && has_ends => {}
            // Ends say it themselves.
            Said::Cancels(_) if has_results => {}
            _ => collector.add(event)?,
        }
    }
    collector.finish(form)
}

impl Collector<'_> {
    fn add(&mut self, event: Event) -> Result<(), LogError> {
        if matches!(event.said, Said::Connects | Said::Quits) {
            if let Some(session) = self.open.remove(&event.session) {
                self.close(session);
            }
            if event.said == Said::Connects {
                self.open.insert(event.session, Session::default());
            }
            return Ok(());
        }
        let mut session = self.open.remove(&event.session).unwrap_or_else(|| Session {
            began_before: true,
            ..Session::default()
        });
        let number = event.session;
        let done = self.of_session(&mut session, event);
        if let Some(ended) = done? {
            self.close(std::mem::replace(&mut session, ended));
        }
        self.open.insert(number, session);
        Ok(())
    }

    /// Adds what an event says of a session; returns the one that takes its place, if it is over.
    fn of_session(
        &mut self,
        session: &mut Session,
        event: Event,
    ) -> Result<Option<Session>, LogError> {
        match &event.said {
            Said::Transacts(text) => {
                let text = self.gathering.text(text);
                // The event is about its end.
                let execution = Execution {
                    text: Some(text),
                    took_us: Some(0),
                    ..Execution::default()
                };
                self.execute(session, &event, &execution)?;
            }
            Said::Executes(execution) => {
                let text = execution.text.as_deref().unwrap_or_default();
                if call::parse(text) == Some(Call::Connects) {
                    return Ok(Some(Session::default()));
                }
                self.execute(session, &event, execution)?;
            }
            Said::Cancels(Some(cancelled)) => {
                let last = session.statements.last();
                let is_last = last.is_some_and(|last| {
                    last.text == *cancelled && last.boundary == Boundary::Within
                });
                if is_last {
                    session.statements.pop();
                    self.gathering.leave(LeftOut::Cancelled, 1);
                }
            }
            Said::Cancels(None) | Said::Connects | Said::Quits => {}
        }
        Ok(None)
    }

    fn execute(
        &mut self,
        session: &mut Session,
        event: &Event,
        execution: &Execution,
    ) -> Result<(), LogError> {
        let text = execution
            .text
            .as_deref()
            .filter(|text| !text.contains('\0'));
        let played = text.map(|text| self.played(session, text)).transpose();
        let is_asked = self
            .gathering
            .is_asked(event.at_us, None, event.user.as_deref());
        if !is_asked {
            // A session that is in the window later began before it.
            session.began_before |= session.statements.is_empty();
            return Ok(());
        }
        let asked = self.gathering.asked();
        let is_reset = matches!(&played, Ok(Some(Some(played))) if played.text == RESET);
        // A pool's connection may be in another database until its next statement.
        if let (Some(asked), Some(database), false) = (&asked.database, &event.database, is_reset)
            && !asked.eq_ignore_ascii_case(database)
        {
            self.gathering.leave(LeftOut::OtherDatabase, 1);
            return Ok(());
        }
        let reads_only = asked.reads_only;
        let has_database = event.database.is_some() || asked.database.is_some();
        let played = match played {
            Ok(Some(Some(played))) => played,
            // It executes nothing.
            Ok(Some(None)) => return Ok(()),
            Ok(None) => {
                self.gathering.leave(LeftOut::NoText, 1);
                return Ok(());
            }
            Err(why) => {
                self.gathering.leave(why, 1);
                return Ok(());
            }
        };
        if reads_only && !is_reset && !text::reads(&played.inner) {
            return Ok(());
        }
        let why = match execution.result {
            Some(Ended::Cancelled) => Some(LeftOut::Cancelled),
            _ if !has_database => Some(LeftOut::NoDatabase),
            // Each session is in its database from the beginning.
            _ if text::used(&played.inner).is_some() => return Ok(()),
            _ if is_reset && session.statements.is_empty() => {
                session.began_before = false;
                return Ok(());
            }
            _ if is_reset => None,
            _ => text::left_out(&played.text).or_else(|| text::left_out(&played.inner)),
        };
        if let Some(why) = why {
            self.gathering.leave(why, 1);
            return Ok(());
        }
        let was_open = session.depth > 0;
        session.follow(&played, is_reset);
        let boundary = match (was_open, session.depth > 0) {
            (false, true) => Boundary::Begins,
            (true, false) => Boundary::Ends,
            (true, true) | (false, false) => Boundary::Within,
        };
        let ends_unknown = !was_open && session.began_before && text::only_ends(&played.inner);
        if ends_unknown
            && session
                .statements
                .iter()
                .all(|kept| kept.boundary == Boundary::Within)
        {
            // What it did before was in the transaction that ends here.
            let count = session.statements.len() as u64 + 1;
            self.gathering.leave(LeftOut::BeganBefore, count);
            session.statements.clear();
            return Ok(());
        }
        self.keep(session, event, execution, (&played, boundary))
    }

    /// What is played in place of a text; `None`: it executes nothing.
    fn played(&self, session: &mut Session, text: &str) -> Result<Option<Played>, LeftOut> {
        let of = |text: String, inner: String| Ok(Some(Played { text, inner }));
        match call::parse(text) {
            None => of(text.to_owned(), text.to_owned()),
            Some(Call::Executes(statement)) => of(statement.text(), statement.inner),
            Some(Call::PreparesAndExecutes(handle, statement)) => {
                let text = statement.text();
                let inner = statement.inner.clone();
                if let Some(handle) = handle {
                    session.prepare(handle, statement);
                }
                of(text, inner)
            }
            Some(Call::Prepares(handle, statement)) => {
                session.prepare(handle, statement);
                Ok(None)
            }
            Some(Call::ExecutesPrepared(handle, values)) => match session.prepared.get(&handle) {
                Some(statement) => of(statement.with_values(&values), statement.inner.clone()),
                None => Err(LeftOut::PreparedBefore),
            },
            Some(Call::Unprepares(handle)) => {
                session.prepared.remove(&handle);
                Ok(None)
            }
            Some(Call::Resets | Call::Connects) => of(RESET.to_owned(), RESET.to_owned()),
            Some(Call::Cursor) => Err(LeftOut::Protocol),
        }
    }

    fn keep(
        &mut self,
        session: &mut Session,
        event: &Event,
        execution: &Execution,
        (played, boundary): (&Played, Boundary),
    ) -> Result<(), LogError> {
        self.gathering.has_durations |= execution.took_us.is_some();
        self.gathering.keep(event.place, 0)?;
        if session.statements.is_empty() {
            session.user.clone_from(&event.user);
            // One that is asked for is the same in letters of either case.
            let is_asked = self.gathering.asked().database.is_some();
            session.database = event.database.clone().filter(|_| !is_asked);
        }
        let took_us = execution.took_us.unwrap_or(0);
        let (start_us, end_us) = match execution.at_begin {
            true => (event.at_us, event.at_us.saturating_add(took_us)),
            false => (event.at_us.saturating_sub(took_us), event.at_us),
        };
        // Ends of a session never go back, so that none of its transactions waits for one that waits for it.
        session.last_end_us = session.last_end_us.max(end_us);
        let rows = execution
            .rows
            .filter(|_| text::has_counted_rows(&played.inner));
        session.statements.push(Logged {
            form: self.gathering.text(&text::form(&played.inner)),
            text: self.gathering.text(&played.text),
            parameters: None,
            is_prepared: false,
            start_us,
            end_us: execution.took_us.map(|_| session.last_end_us),
            failed: execution.result == Some(Ended::WithError),
            rows,
            boundary,
            reads: played.text == RESET || text::reads(&played.inner),
        });
        Ok(())
    }

    fn close(&mut self, session: Session) {
        let login = (session.user, session.database);
        self.gathering
            .close(login, session.statements, session.began_before);
    }

    fn finish(mut self, form: &str) -> Result<StatementLog, LogError> {
        for (_, session) in std::mem::take(&mut self.open) {
            self.close(session);
        }
        self.gathering.finish(
            form.to_owned(),
            "it has no statement that is asked for: neither sql_batch_completed nor rpc_completed, nor a row of WorkloadTools' Events; \
             capture these, and check --window, --database and --user",
        )
    }
}

impl Session {
    fn prepare(&mut self, handle: i64, statement: call::Statement) {
        if self.prepared.len() >= PREPARED_MAX {
            self.prepared.pop_first();
        }
        self.prepared.insert(handle, statement);
    }

    /// Follows what a text does to the transaction.
    fn follow(&mut self, played: &Played, is_reset: bool) {
        if is_reset {
            self.depth = 0;
            self.has_savepoint = false;
            self.is_implicit = false;
            return;
        }
        let steps = text::steps(&played.inner);
        for step in &steps {
            match step {
                Step::Begins => self.depth += 1,
                Step::Commits => self.depth = self.depth.saturating_sub(1),
                Step::RollsBack { to_name } if *to_name && self.has_savepoint => {}
                Step::RollsBack { .. } => self.depth = 0,
                Step::Saves => self.has_savepoint = true,
                Step::Implicit(is_on) => self.is_implicit = *is_on,
            }
        }
        if self.is_implicit
            && self.depth == 0
            && steps.is_empty()
            && text::opens_implicitly(&played.inner)
        {
            self.depth = 1;
        }
        self.has_savepoint &= self.depth > 0;
    }
}
