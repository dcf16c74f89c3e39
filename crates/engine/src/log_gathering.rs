//! What readers of logs share: statements that are kept, within a bound, and those that are left out.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use crate::logged::{LeftOut, LogError, LogRequest, Logged, LoggedSession, Login, StatementLog};

/// Most bytes of the statements that are kept: all of them are in memory during a replay.
const BYTES_MAX: usize = 4 << 30;

const DAY_US: i64 = 86_400_000_000;

/// The sessions of a log that is being read.
pub struct Gathering<'a> {
    asked: &'a LogRequest,
    closed: Vec<LoggedSession>,
    /// Texts, each once.
    texts: HashSet<Arc<str>>,
    bytes: usize,
    left_out: BTreeMap<LeftOut, u64>,
    began_before: u64,
    /// Whether the last line is incomplete.
    pub half_line: bool,
    /// How exact its times are, if not to a millisecond.
    pub exact_us: i64,
    /// Whether the log says how long statements took.
    pub has_durations: bool,
    /// Whether the log says which statements failed.
    pub has_errors: bool,
    /// Settings by which its server logged statements.
    pub logging: BTreeMap<String, String>,
}

impl<'a> Gathering<'a> {
    /// Nothing yet.
    pub fn new(asked: &'a LogRequest) -> Gathering<'a> {
        Gathering {
            asked,
            closed: Vec::new(),
            texts: HashSet::new(),
            bytes: 0,
            left_out: BTreeMap::new(),
            began_before: 0,
            half_line: false,
            exact_us: 0,
            has_durations: false,
            has_errors: false,
            logging: BTreeMap::new(),
        }
    }

    /// The part of the log that is replayed.
    pub fn asked(&self) -> &'a LogRequest {
        self.asked
    }

    /// Whether a time is of the window, and database and user, where they are known, are those that are asked for.
    pub fn is_asked(&self, at_us: i64, database: Option<&str>, user: Option<&str>) -> bool {
        let is = |asked: &Option<String>, found: Option<&str>| match (asked, found) {
            (Some(asked), Some(found)) => asked == found,
            (None, _) | (_, None) => true,
        };
        let in_window = self.asked.window.is_none_or(|(from, until)| {
            let second = at_us.rem_euclid(DAY_US) / 1_000_000;
            let second = u32::try_from(second).unwrap_or(0);
            match from <= until {
                true => (from..until).contains(&second),
                // Past midnight.
                false => second >= from || second < until,
            }
        });
        in_window && is(&self.asked.database, database) && is(&self.asked.user, user)
    }

    /// The text, kept once.
    pub fn text(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.texts.get(text) {
            return Arc::clone(known);
        }
        let new: Arc<str> = Arc::from(text);
        self.bytes += 2 * text.len() + 64;
        self.texts.insert(Arc::clone(&new));
        new
    }

    /// Counts a statement that is kept, with what it takes besides its texts.
    ///
    /// # Errors
    /// When there are more than memory is for.
    pub fn keep(&mut self, line: u64, bytes: usize) -> Result<(), LogError> {
        self.bytes += size_of::<Logged>() + bytes;
        match self.bytes > BYTES_MAX {
            true => Err(LogError::at(
                line,
                format!(
                    "the statements until here take more than {} GiB of memory; replay a part of the log with --window",
                    BYTES_MAX >> 30
                ),
            )),
            false => Ok(()),
        }
    }

    /// Counts statements that cannot be replayed.
    pub fn leave(&mut self, why: LeftOut, count: u64) {
        *self.left_out.entry(why).or_default() += count;
    }

    /// Adds a session that has ended. What the log does not say of it is assumed as asked.
    pub fn close(
        &mut self,
        (user, database): (Option<Arc<str>>, Option<Arc<str>>),
        statements: Vec<Logged>,
        began_before: bool,
    ) {
        if statements.is_empty() {
            return;
        }
        self.began_before += u64::from(began_before);
        let assumed = |name: &Option<String>| name.as_deref().map(Arc::from);
        let database = database.or_else(|| assumed(&self.asked.database));
        self.closed.push(LoggedSession {
            login: Login {
                user: user.or_else(|| assumed(&self.asked.user)),
                database: database.unwrap_or_else(|| Arc::from("")),
            },
            statements,
        });
    }

    /// The log, read to its end; `none` says why it has no statement, if none was left out.
    ///
    /// # Errors
    /// When it has no statement that can be replayed.
    pub fn finish(self, form: String, none: &str) -> Result<StatementLog, LogError> {
        let mut sessions = self.closed;
        if sessions.is_empty() {
            let left_out = self.left_out.iter();
            let left_out: Vec<String> = left_out.map(|(why, count)| why.counted(*count)).collect();
            return Err(LogError::Whole(match left_out.is_empty() {
                true => none.to_owned(),
                false => format!(
                    "none of its statements can be replayed: {}",
                    left_out.join("; ")
                ),
            }));
        }
        sessions.sort_by_key(|session| (session.statements[0].start_us, session.login.clone()));
        Ok(StatementLog {
            form,
            sessions,
            left_out: self.left_out,
            began_before: self.began_before,
            half_line: self.half_line,
            exact_us: self.exact_us,
            has_durations: self.has_durations,
            has_errors: self.has_errors,
            logging: self.logging,
        })
    }
}
