//! From the entries of a log to its sessions and their statements.

use std::collections::HashMap;
use std::sync::Arc;

use super::text;
use engine::log_gathering::Gathering;
use engine::logged::{Boundary, LeftOut, LogError, LogRequest, Logged, StatementLog};

/// How far times may go back: an entry's is taken before it waits for those before it.
const BACK_US_MAX: i64 = 2_000_000;

const SECOND_US: i64 = 1_000_000;

/// Where a rehearsal's server logs statements to: nothing is kept of them.
pub(crate) const DISCARDED: &str = "/dev/null";

/// A statement in a log, or what else an entry says of its session.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Said {
    /// It begins, with this user and database.
    Connects(String, Option<String>),
    /// It is over.
    Quits,
    /// This is its database from here on.
    Enters(String),
    /// It executes a statement.
    Executes(Statement),
    /// A text that it prepares: nothing is executed.
    Prepares,
    /// It does something other than a statement, which is not replayed, for this reason.
    Other(LeftOut),
    /// Nothing of interest.
    Nothing,
}

/// A statement in a log.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Statement {
    pub(crate) text: String,
    /// Whether it is not UTF-8.
    pub(crate) is_garbled: bool,
    /// Whether it was executed by the protocol, as one that was prepared.
    pub(crate) was_prepared: bool,
    /// How long it took; the entry's time is then that of its end.
    pub(crate) took_us: Option<i64>,
    pub(crate) failed: bool,
    pub(crate) rows: Option<u64>,
}

/// An entry of a log.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    /// Its line, from 1.
    pub(crate) line: u64,
    pub(crate) at_us: i64,
    /// The server's number of the session.
    pub(crate) session: u64,
    /// Of a slow log: user and database of the session at its statement.
    pub(crate) who: Option<(String, Option<String>)>,
    pub(crate) said: Said,
}

/// A statement's time: the entry's, and its place among those of the same second, where times are whole seconds.
#[derive(Clone, Copy, Debug)]
struct Stamp {
    at_us: i64,
    place: i64,
    took_us: Option<i64>,
    /// Whether it is not of the log, and takes no time of it.
    is_added: bool,
}

/// A session whose entries are read.
#[derive(Default)]
struct Session {
    user: Option<Arc<str>>,
    /// Its database when its first statement that is kept begins.
    first_database: Option<Arc<str>>,
    database: Option<Arc<str>>,
    /// The database that its kept statements are in.
    kept_in: Option<Arc<str>>,
    statements: Vec<(Logged, Stamp)>,
    in_transaction: bool,
    /// Whether statements open transactions by themselves.
    opens_by_itself: bool,
    began_before: bool,
    /// Whether its last statement executes one that was prepared by SQL, which the log has next.
    executes: bool,
}

/// Collects the sessions of a log.
pub(crate) struct Collector<'a> {
    pub(crate) gathering: Gathering<'a>,
    open: HashMap<u64, Session>,
    closed: Vec<Session>,
    /// How many entries there are of a second, where times are whole seconds.
    of_second: HashMap<i64, i64>,
    /// Whether times are whole seconds.
    is_coarse: bool,
    /// Whether the log says when sessions begin.
    knows_begin: bool,
    first_us: Option<i64>,
    last_us: Option<i64>,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(asked: &'a LogRequest, is_coarse: bool, knows_begin: bool) -> Collector<'a> {
        Collector {
            gathering: Gathering::new(asked),
            open: HashMap::new(),
            closed: Vec::new(),
            of_second: HashMap::new(),
            is_coarse,
            knows_begin,
            first_us: None,
            last_us: None,
        }
    }

    /// The server has started, or opened its log again, so that numbers of sessions may be new ones.
    pub(crate) fn restarted(&mut self) {
        if !self.knows_begin {
            for (_, session) in std::mem::take(&mut self.open) {
                self.close(session);
            }
        }
    }

    /// Notes the options by which statements are logged.
    pub(crate) fn logs(&mut self, options: &[(&str, &str)]) {
        let options = options.iter();
        let options = options.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        self.gathering.logging.extend(options);
    }

    fn close(&mut self, session: Session) {
        if !session.statements.is_empty() {
            self.closed.push(session);
        }
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// When it goes back in time, or there are more statements than memory is for.
    pub(crate) fn add(&mut self, entry: Entry) -> Result<(), LogError> {
        if let Some(last) = self.last_us.filter(|last| entry.at_us < last - BACK_US_MAX) {
            return Err(LogError::at(
                entry.line,
                format!(
                    "its time is {} s before that of the entry before it; give the log of one server, in the order in which it was written, \
                     and without an hour that the clock was set back by",
                    (last - entry.at_us) / SECOND_US
                ),
            ));
        }
        let at_us = self.last_us.unwrap_or(entry.at_us).max(entry.at_us);
        self.first_us.get_or_insert(at_us);
        self.last_us = Some(at_us);
        let place = self.of_second.entry(at_us).or_default();
        let stamp = Stamp {
            at_us,
            place: *place,
            took_us: None,
            is_added: false,
        };
        *place += 1;
        if !self.is_coarse {
            self.of_second.clear();
        }
        let mut session = match (self.open.remove(&entry.session), &entry.said) {
            // The server has started meanwhile.
            (Some(old), Said::Connects(..)) => {
                self.close(old);
                Session::default()
            }
            (Some(session), _) => session,
            (None, Said::Connects(..)) => Session::default(),
            (None, _) => Session {
                began_before: self.knows_begin,
                ..Session::default()
            },
        };
        if let Some((user, database)) = &entry.who {
            session.user = Some(self.gathering.text(user));
            session.database = database.as_deref().map(|name| self.gathering.text(name));
        }
        match entry.said {
            Said::Connects(user, database) => {
                session.user = Some(self.gathering.text(&user));
                session.database =
                    Some(self.gathering.text(database.as_deref().unwrap_or_default()));
            }
            Said::Quits => {
                self.close(session);
                return Ok(());
            }
            Said::Enters(database) => session.database = Some(self.gathering.text(&database)),
            Said::Executes(statement) => {
                let executes = text::executes(&statement.text);
                let is_again =
                    std::mem::replace(&mut session.executes, executes) && statement.was_prepared;
                if !is_again {
                    self.execute(&mut session, entry.line, statement, stamp)?;
                }
            }
            Said::Other(why) => self.gathering.leave(why, 1),
            Said::Prepares | Said::Nothing => {}
        }
        self.open.insert(entry.session, session);
        Ok(())
    }

    fn execute(
        &mut self,
        session: &mut Session,
        line: u64,
        statement: Statement,
        stamp: Stamp,
    ) -> Result<(), LogError> {
        if let Some(database) = text::used(&statement.text) {
            // It is played where a statement needs it.
            session.database = Some(self.gathering.text(&database));
            return Ok(());
        }
        let (database, user) = (session.database.as_deref(), session.user.as_deref());
        let is_asked = self.gathering.is_asked(stamp.at_us, database, user)
            && (!self.gathering.asked().reads_only || text::reads(&statement.text));
        if !is_asked {
            // A session that is in the window later began before it.
            session.began_before |= session.statements.is_empty();
            return Ok(());
        }
        let was_open = session.in_transaction;
        if let Some(commits) = text::autocommit(&statement.text) {
            session.opens_by_itself = !commits;
            session.in_transaction &= !commits;
        }
        let boundary = match text::boundary(&statement.text) {
            Boundary::Within
                if session.opens_by_itself && !was_open && !is_setting(&statement.text) =>
            {
                Boundary::Begins
            }
            boundary => boundary,
        };
        match boundary {
            Boundary::Begins => session.in_transaction = true,
            Boundary::Ends => session.in_transaction = false,
            Boundary::Within => {}
        }
        let kept = &session.statements;
        let ends_unknown = boundary == Boundary::Ends && !was_open && session.began_before;
        if ends_unknown
            && kept
                .iter()
                .all(|(kept, _)| kept.boundary == Boundary::Within)
        {
            // What it did before was in the transaction that ends here.
            self.gathering
                .leave(LeftOut::BeganBefore, kept.len() as u64 + 1);
            session.statements.clear();
            session.kept_in = None;
            return Ok(());
        }
        let why = match &statement.text {
            text if statement.is_garbled || text.contains('\0') => Some(LeftOut::NoText),
            _ if session.database.is_none() && self.gathering.asked().database.is_none() => {
                Some(LeftOut::NoDatabase)
            }
            text => text::left_out(text),
        };
        if let Some(why) = why {
            self.gathering.leave(why, 1);
            return Ok(());
        }
        if session.statements.is_empty() {
            session.first_database.clone_from(&session.database);
            session.kept_in.clone_from(&session.database);
        } else if session.kept_in != session.database {
            session.kept_in.clone_from(&session.database);
            if let Some(database) = session.database.as_deref().filter(|name| !name.is_empty()) {
                let text = text::use_of(database);
                let entering = Statement {
                    took_us: statement.took_us,
                    text,
                    ..Statement::default()
                };
                let added = Stamp {
                    is_added: true,
                    ..stamp
                };
                self.keep(session, line, entering, (Boundary::Within, added))?;
            }
        }
        self.keep(session, line, statement, (boundary, stamp))
    }

    fn keep(
        &mut self,
        session: &mut Session,
        line: u64,
        statement: Statement,
        (boundary, stamp): (Boundary, Stamp),
    ) -> Result<(), LogError> {
        self.gathering.has_durations |= statement.took_us.is_some();
        self.gathering.keep(line, size_of::<Stamp>())?;
        let rows = statement
            .rows
            .filter(|_| text::has_counted_rows(&statement.text));
        let logged = Logged {
            form: self.gathering.text(&text::form(&statement.text)),
            text: self.gathering.text(&statement.text),
            parameters: None,
            is_prepared: false,
            start_us: 0,
            end_us: None,
            failed: statement.failed,
            rows,
            boundary,
            reads: text::reads(&statement.text),
        };
        let stamp = Stamp {
            took_us: statement.took_us,
            ..stamp
        };
        session.statements.push((logged, stamp));
        Ok(())
    }

    /// The log, read to its end.
    ///
    /// # Errors
    /// When it has no statement that can be replayed.
    pub(crate) fn finish(mut self, form: String) -> Result<StatementLog, LogError> {
        for (_, session) in std::mem::take(&mut self.open) {
            self.close(session);
        }
        self.gathering.exact_us = if self.is_coarse { SECOND_US } else { 0 };
        for session in std::mem::take(&mut self.closed) {
            let mut last_us = i64::MIN;
            let times = |(logged, stamp): (Logged, Stamp)| {
                let at_us = self.time(stamp);
                let took_us = stamp.took_us.unwrap_or(0);
                // Where a second is spread, a statement may seem to begin before the end of the one before it: the player makes up for that.
                let start_us = at_us.saturating_sub(took_us);
                // Ends of a session never go back, so that none of its transactions waits for one that waits for it.
                let (start_us, end_us) = match stamp.is_added {
                    true => (start_us.max(last_us), start_us.max(last_us)),
                    false => (start_us, at_us),
                };
                last_us = end_us;
                Logged {
                    start_us,
                    end_us: stamp.took_us.map(|_| end_us),
                    ..logged
                }
            };
            let statements = session.statements.into_iter().map(times).collect();
            let login = (session.user, session.first_database);
            self.gathering
                .close(login, statements, session.began_before);
        }
        self.gathering.finish(
            form,
            "it has no statement that is asked for; log them with general_log = ON, or with slow_query_log = ON and long_query_time = 0, and \
             check --window, --database and --user",
        )
    }

    /// When an entry was written. Those of a second that have no finer time are spread over it, in their order. The log begins and
    /// ends within a second: these two are as dense as the one beside them, and so the shorter for it.
    fn time(&self, stamp: Stamp) -> i64 {
        let count_of = |at_us| self.of_second.get(&at_us).copied().unwrap_or(0);
        let count = count_of(stamp.at_us);
        if !self.is_coarse || count == 0 {
            return stamp.at_us;
        }
        let beside = match stamp.at_us {
            first if Some(first) == self.first_us => count_of(first + SECOND_US),
            last if Some(last) == self.last_us => count_of(last - SECOND_US),
            _ => 0,
        };
        let whole = count.max(beside);
        let before = match Some(stamp.at_us) == self.first_us {
            true => whole - count,
            false => 0,
        };
        stamp.at_us + (before + stamp.place) * SECOND_US / whole
    }
}

/// Whether a statement opens no transaction.
fn is_setting(text: &str) -> bool {
    text::autocommit(text).is_some()
        || text
            .trim_start()
            .get(..4)
            .is_some_and(|word| word.eq_ignore_ascii_case("set "))
}
