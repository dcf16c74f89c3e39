//! A log of statements: its sessions, and a connection that plays one of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use experiment::plan::counted;

/// Which part of a log is replayed, and how it is read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogRequest {
    /// From when to when, in seconds of the day; `None`: all of it.
    pub window: Option<(u32, u32)>,
    /// Only statements in this database; if the log does not name any, all are in it.
    pub database: Option<String>,
    /// Only statements of this user; if the log does not name any, all are of it.
    pub user: Option<String>,
    /// Only statements that read.
    pub reads_only: bool,
    /// What each line begins with, in the product's notation; `None`: recognised.
    pub prefix: Option<String>,
}

/// Why a log cannot be read.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum LogError {
    /// A line has a mistake.
    #[error("line {line}: {why}")]
    Line {
        /// Its number, from 1.
        line: u64,
        /// What is wrong with it, and the remedy.
        why: String,
    },
    /// The whole has one.
    #[error("{0}")]
    Whole(String),
}

impl LogError {
    /// An error about a line.
    pub fn at(line: u64, why: impl Into<String>) -> LogError {
        LogError::Line {
            line,
            why: why.into(),
        }
    }
}

/// A log of statements, by session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatementLog {
    /// The form of the log, as text.
    pub form: String,
    /// Its sessions, in the order of their first statements.
    pub sessions: Vec<LoggedSession>,
    /// Statements that cannot be replayed, by reason.
    pub left_out: BTreeMap<LeftOut, u64>,
    /// Sessions that began before the log or the window, so that their state is not known.
    pub began_before: u64,
    /// Whether the last line is incomplete.
    pub half_line: bool,
    /// How exact its times are, if not to a millisecond.
    pub exact_us: i64,
    /// Whether the log says how long statements took.
    pub has_durations: bool,
    /// Whether the log says which statements failed; otherwise all are taken for having succeeded.
    pub has_errors: bool,
    /// Settings by which its server logged statements, as far as the log shows.
    pub logging: BTreeMap<String, String>,
}

impl StatementLog {
    /// Leaves out sessions in other databases than these, and counts their statements.
    pub fn keep_databases(&mut self, databases: &[String]) {
        let mut others = 0;
        self.sessions.retain(|session| {
            let is_kept = databases
                .iter()
                .any(|name| **name == *session.login.database);
            if !is_kept {
                others += session.statements.len() as u64;
            }
            is_kept
        });
        if others > 0 {
            *self.left_out.entry(LeftOut::OtherDatabase).or_default() += others;
        }
    }
}

/// Why a statement of a log cannot be replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LeftOut {
    /// The rows that a client sent are not in a log.
    CopyFromClient,
    /// It starts a program, or reads or writes a file of the server's machine.
    CallsOut,
    /// It is of the server itself, or changes its settings, accounts or sessions.
    OfServer,
    /// Its parameters are not in the log, or were cut.
    NoParameters,
    /// Its text was cut, or is not text.
    NoText,
    /// It belongs to a transaction that began before the log or the window.
    BeganBefore,
    /// It is a message of the protocol that is not a statement.
    Protocol,
    /// The log does not say in which database it ran.
    NoDatabase,
    /// It ran in a database that was not given.
    OtherDatabase,
    /// It was prepared before the log or the window, so that its text is not known.
    PreparedBefore,
    /// Its client did not wait for its end.
    Cancelled,
}

impl LeftOut {
    /// What is left out of so many statements: `1 statement in ..`.
    pub fn counted(self, count: u64) -> String {
        format!("{} {}", counted(count, "statement"), self.reason())
    }

    /// The reason, as it follows a number of statements.
    pub fn reason(self) -> &'static str {
        match self {
            LeftOut::CopyFromClient => {
                "of COPY FROM STDIN, LOAD DATA LOCAL or INSERT BULK, whose rows are not in a log"
            }
            LeftOut::CallsOut => "with a program, or a file of the server's machine",
            LeftOut::OfServer => "of the server itself, its settings, accounts or sessions",
            LeftOut::NoParameters => "with parameters that the log does not have",
            LeftOut::NoText => "whose text is cut or not UTF-8",
            LeftOut::BeganBefore => "of transactions that began before the log or the window",
            LeftOut::Protocol => "that only the protocol has, and no text",
            LeftOut::NoDatabase => "without a database in the log",
            LeftOut::OtherDatabase => "in databases that are not rehearsed",
            LeftOut::PreparedBefore => "prepared before the log or the window",
            LeftOut::Cancelled => "cancelled by their clients",
        }
    }
}

/// A session of a log.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedSession {
    /// Who it is, and where.
    pub login: Login,
    /// Its statements, in their order.
    pub statements: Vec<Logged>,
}

/// User and database of a session.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Login {
    /// The user; `None`: the log does not say.
    pub user: Option<Arc<str>>,
    /// The database.
    pub database: Arc<str>,
}

/// A statement of a log. Times are microseconds of the log's clock.
#[derive(Clone, Debug, PartialEq)]
pub struct Logged {
    /// Its text.
    pub text: Arc<str>,
    /// The text with its constants left out, which statements of a kind have in common.
    pub form: Arc<str>,
    /// Its parameters, as text; `None`: it was sent without any, as text alone.
    pub parameters: Option<Box<[Option<Box<str>>]>>,
    /// Whether it was prepared once, and executed several times.
    pub is_prepared: bool,
    /// When it began.
    pub start_us: i64,
    /// When it ended, where that is known.
    pub end_us: Option<i64>,
    /// Whether it ended with an error.
    pub failed: bool,
    /// How many rows it returned, where that is known.
    pub rows: Option<u64>,
    /// What it does to its session's transaction.
    pub boundary: Boundary,
    /// Whether it only reads, as far as its words say.
    pub reads: bool,
}

/// What a statement does to its session's transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundary {
    /// It opens one.
    Begins,
    /// It ends the open one.
    Ends,
    /// Nothing; outside of one, it is its own.
    Within,
}

/// A connection that plays the statements of a session.
pub trait LogSession: Send {
    /// Executes a statement, and discards its rows.
    ///
    /// # Errors
    /// When the connection is gone.
    fn play(&mut self, statement: &Logged) -> Result<Played, String>;
}

/// How a statement ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Played {
    /// Without an error; with the number of rows that it returned, where that is known.
    Done(Option<u64>),
    /// With this error.
    Failed(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_in_other_databases_are_left_out_and_counted() {
        let session = |database: &str, statements| LoggedSession {
            login: Login {
                user: None,
                database: database.into(),
            },
            statements: vec![
                Logged {
                    text: "SELECT 1".into(),
                    form: "SELECT ?".into(),
                    parameters: None,
                    is_prepared: false,
                    start_us: 0,
                    end_us: None,
                    rows: None,
                    failed: false,
                    boundary: Boundary::Within,
                    reads: true,
                };
                statements
            ],
        };
        let mut log = StatementLog {
            sessions: vec![session("shop", 1), session("rdsadmin", 2), session("x", 3)],
            ..StatementLog::default()
        };
        log.keep_databases(&["shop".to_owned()]);
        assert_eq!(log.sessions, [session("shop", 1)]);
        assert_eq!(log.left_out, BTreeMap::from([(LeftOut::OtherDatabase, 5)]));
        log.keep_databases(&["shop".to_owned()]);
        assert_eq!(log.left_out.len(), 1);
    }
}
