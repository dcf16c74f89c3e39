//! A general log: what clients send, as it arrives.
//!
//! ```text
//! 261128 23:09:19\t    12 Connect\tapp@localhost on shop using Socket      MariaDB: a time where the second changes
//! \t\t    12 Query\tSELECT 1
//! 2026-11-28T23:09:19.123456Z\t   12 Query\tSELECT 1                       MySQL: a time on each
//! ```
//!
//! Sources: <https://mariadb.com/docs/server/server-management/server-monitoring-logs/general-query-log>,
//! <https://dev.mysql.com/doc/refman/8.4/en/query-log.html>, read 2026-11-28; and what MariaDB 10.11 writes.

use std::io::BufRead;

use super::collect::{Collector, DISCARDED, Entry, Said, Statement};
use super::header::{self, Header};
use super::time;
use engine::log_lines::{ENTRY_BYTES_MAX, Line, Lines, too_long};
use engine::logged::{LeftOut, LogError, LogRequest, StatementLog};

/// Commands other than statements, which change nothing of a session's.
const HARMLESS: [&str; 13] = [
    "Ping",
    "Statistics",
    "Field List",
    "Close stmt",
    "Reset stmt",
    "Fetch",
    "Long Data",
    "Processlist",
    "Debug",
    "Time",
    "Daemon",
    "Sleep",
    "Set option",
];

/// Commands of the server itself, or about it.
const OF_SERVER: [&str; 16] = [
    "Binlog Dump",
    "Binlog Dump GTID",
    "Table Dump",
    "Connect Out",
    "Register Slave",
    "Register Replica",
    "Slave_IO",
    "Slave_SQL",
    "Slave_worker",
    "Shutdown",
    "Refresh",
    "Kill",
    "Create DB",
    "Drop DB",
    "Delayed insert",
    "Group Replication Data Stream subscription",
];

/// Commands that change whose a session is, or set it back.
const OF_SESSION: [&str; 4] = [
    "Change user",
    "Reset connection",
    "Reset Connection",
    "Bulk_execute",
];

/// The beginning of an entry.
struct Begun<'a> {
    /// `None`: as that before it.
    at: Option<(i64, bool)>,
    session: u64,
    command: &'a str,
    argument: &'a str,
}

impl<'a> Begun<'a> {
    /// Of a line; `None`: it continues the one before it.
    fn of(line: &'a str) -> Option<Begun<'a>> {
        let (time, rest) = line.split_once('\t')?;
        let at = match time.is_empty() {
            true => None,
            false => Some(time::parse(time)?),
        };
        // Where MariaDB leaves the time out, there is a second tab.
        let rest = match at {
            None => rest.strip_prefix('\t')?,
            Some(_) => rest,
        };
        let (session, rest) = rest.trim_start_matches(' ').split_once(' ')?;
        let (command, argument) = rest.split_once('\t')?;
        let is_known = ["Connect", "Quit", "Init DB", "Query", "Prepare", "Execute"]
            .contains(&command)
            || [&HARMLESS[..], &OF_SERVER, &OF_SESSION]
                .iter()
                .any(|known| known.contains(&command));
        is_known.then_some(Begun {
            at,
            session: session.parse().ok()?,
            command,
            argument,
        })
    }
}

/// Whether a log begins as a general log, in one of its first lines.
pub(crate) fn is_one(first: &str) -> bool {
    first.lines().any(|line| Begun::of(line).is_some())
}

/// Reads all entries.
///
/// # Errors
/// When one has a mistake.
pub(crate) fn read(
    from: impl BufRead,
    asked: &LogRequest,
    is_coarse: bool,
) -> Result<StatementLog, LogError> {
    let mut collector = Collector::new(asked, is_coarse, true);
    let mut lines = Lines::new(from);
    let mut header = Header::default();
    let mut now_us = None;
    // The entry that may be continued.
    let mut current: Option<Entry> = None;
    let mut is_whole = true;
    while let Some(line) = lines.next_line()? {
        is_whole = line.is_whole;
        let (text, is_garbled) = line.text();
        match header.take(&text) {
            header::Part::First => {
                flush(&mut current, &mut collector)?;
                collector.restarted();
                continue;
            }
            header::Part::Later => continue,
            header::Part::None => {}
        }
        let Some(begun) = Begun::of(&text) else {
            more(&mut current, &line, &text, is_garbled)?;
            continue;
        };
        if let Some((at_us, is_short)) = begun.at {
            if is_short != is_coarse {
                return Err(LogError::at(
                    line.number,
                    "its time is written otherwise than in the lines before it; give the log of one server",
                ));
            }
            now_us = Some(at_us);
        }
        flush(&mut current, &mut collector)?;
        let Some(at_us) = now_us else {
            // What was in the second that the log begins in has no time.
            continue;
        };
        current = Some(Entry {
            line: line.number,
            at_us,
            session: begun.session,
            who: None,
            said: said(&begun, is_garbled),
        });
    }
    match current {
        // Its end may be missing.
        Some(_) if !is_whole => collector.gathering.half_line = true,
        _ => flush(&mut current, &mut collector)?,
    }
    collector.logs(&[("general-log", "ON"), ("general-log-file", DISCARDED)]);
    collector.finish(match is_coarse {
        true => "general log, whose times are seconds".to_owned(),
        false => "general log".to_owned(),
    })
}

fn flush(current: &mut Option<Entry>, collector: &mut Collector<'_>) -> Result<(), LogError> {
    current.take().map_or(Ok(()), |entry| collector.add(entry))
}

/// A line that continues a statement.
fn more(
    current: &mut Option<Entry>,
    line: &Line,
    text: &str,
    is_garbled: bool,
) -> Result<(), LogError> {
    let Some(Entry {
        line: first,
        said: Said::Executes(statement),
        ..
    }) = current
    else {
        return Ok(());
    };
    statement.text.push('\n');
    statement.text.push_str(text);
    statement.is_garbled |= is_garbled;
    match statement.text.len() > ENTRY_BYTES_MAX {
        true => Err(too_long((*first).min(line.number))),
        false => Ok(()),
    }
}

fn said(begun: &Begun<'_>, is_garbled: bool) -> Said {
    match begun.command {
        "Connect" => connected(begun.argument),
        "Quit" => Said::Quits,
        "Init DB" => Said::Enters(begun.argument.to_owned()),
        "Prepare" => Said::Prepares,
        command @ ("Query" | "Execute") => Said::Executes(Statement {
            text: begun.argument.to_owned(),
            is_garbled,
            was_prepared: command == "Execute",
            ..Statement::default()
        }),
        command if OF_SERVER.contains(&command) => Said::Other(LeftOut::OfServer),
        command if OF_SESSION.contains(&command) => Said::Other(LeftOut::Protocol),
        _ => Said::Nothing,
    }
}

/// `app@localhost on shop using Socket`, `app@localhost as anonymous on shop`, or why there is no session.
fn connected(argument: &str) -> Said {
    let who = argument
        .rsplit_once(" using ")
        .map_or(argument, |(who, _)| who);
    let Some((account, database)) = who.rsplit_once(" on ") else {
        // Access was denied.
        return Said::Quits;
    };
    let account = account
        .split_once(" as ")
        .map_or(account, |(account, _)| account);
    let user = account.rsplit_once('@').map_or(account, |(user, _)| user);
    Said::Connects(user.to_owned(), Some(database.trim().to_owned()))
}
