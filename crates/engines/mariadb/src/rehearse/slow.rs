//! A slow log, with `long_query_time = 0`: statements with their durations, as they end.
//!
//! ```text
//! # Time: 261128 23:09:19                            MariaDB: where the second changes; MySQL: always, as 2026-11-28T23:09:19.123456Z
//! # User@Host: app[app] @ localhost []               MySQL: .. Id:    12
//! # Thread_id: 12  Schema: shop  QC_hit: No          MariaDB
//! # Query_time: 0.000376  Lock_time: 0.000250  Rows_sent: 1  Rows_examined: 1
//! use `shop`;                                        where the database of the log changes
//! SET timestamp=1795907359;
//! SELECT c FROM sbtest2 WHERE id=2519;
//! ```
//!
//! Sources: <https://mariadb.com/docs/server/server-management/server-monitoring-logs/slow-query-log/slow-query-log-overview>,
//! <https://dev.mysql.com/doc/refman/8.4/en/slow-query-log.html>, read 2026-11-28; and what MariaDB 10.11 writes.

use std::io::BufRead;

use super::collect::{Collector, DISCARDED, Entry, Said, Statement};
use super::header::{self, Header};
use super::{text, time};
use engine::log_lines::{ENTRY_BYTES_MAX, Lines, too_long};
use engine::logged::{LeftOut, LogError, LogRequest, StatementLog};

const TIME: &str = "# Time: ";
const USER: &str = "# User@Host: ";

/// An entry that is read.
#[derive(Default)]
struct Open {
    line: u64,
    user: String,
    host: String,
    session: Option<u64>,
    /// Of MariaDB, the session's database.
    schema: Option<String>,
    took_us: Option<i64>,
    rows: Option<u64>,
    failed: Option<bool>,
    is_cached: bool,
    text: String,
    is_garbled: bool,
    /// An administrator command, which has no text.
    command: Option<String>,
}

/// Whether a log begins as a slow log, in one of its first lines.
pub(crate) fn is_one(first: &str) -> bool {
    first.lines().any(|line| line.starts_with(USER))
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
    let mut collector = Collector::new(asked, is_coarse, false);
    let mut lines = Lines::new(from);
    let mut header = Header::default();
    let mut now_us = None;
    // Of MySQL, which says it where it changes.
    let mut database = None;
    let mut current: Option<Open> = None;
    let mut has_errors = true;
    let mut is_whole = true;
    while let Some(line) = lines.next_line()? {
        is_whole = line.is_whole;
        let (text, is_garbled) = line.text();
        let part = header.take(&text);
        if part == header::Part::Later {
            continue;
        }
        let time = text.strip_prefix(TIME);
        let user = text.strip_prefix(USER);
        let begins = part == header::Part::First || time.is_some() || user.is_some();
        if begins && let Some(done) = current.take() {
            has_errors &= done.failed.is_some();
            add(done, now_us, &mut database, &mut collector)?;
        }
        if part == header::Part::First {
            collector.restarted();
        } else if let Some(time) = time {
            let read = time::parse(time).filter(|(_, is_short)| *is_short == is_coarse);
            let (at_us, _) = read.ok_or_else(|| {
                let why = format!("its time is {time:?}; give the slow log of one server of MariaDB 10.6 or MySQL 8.0, or later");
                LogError::at(line.number, why)
            })?;
            now_us = Some(at_us);
        } else if let Some(user) = user {
            current = Some(Open::of(line.number, user));
        } else if let Some(open) = &mut current {
            open.take(&text, is_garbled)?;
        }
    }
    match current {
        // Its end may be missing.
        Some(open) if !is_whole && !open.text.trim_end().ends_with(';') => {
            collector.gathering.half_line = true
        }
        Some(open) => {
            has_errors &= open.failed.is_some();
            add(open, now_us, &mut database, &mut collector)?;
        }
        None => {}
    }
    collector.gathering.has_errors = has_errors;
    collector.logs(&[
        ("slow-query-log", "ON"),
        ("long-query-time", "0"),
        ("slow-query-log-file", DISCARDED),
    ]);
    collector.finish(match is_coarse {
        true => "slow log, whose times are seconds".to_owned(),
        false => "slow log".to_owned(),
    })
}

impl Open {
    /// `app[app] @ localhost [127.0.0.1]  Id:    12`
    fn of(line: u64, user: &str) -> Open {
        let (account, rest) = user.split_once(" @ ").unwrap_or((user, ""));
        let given = account
            .split_once('[')
            .map_or(account, |(_, given)| given.trim_end_matches(']'));
        let (host, id) = rest.split_once("Id:").unwrap_or((rest, ""));
        Open {
            line,
            user: given.to_owned(),
            host: host.trim().trim_end_matches("[]").trim().to_owned(),
            session: id.trim().parse().ok(),
            ..Open::default()
        }
    }

    fn take(&mut self, text: &str, is_garbled: bool) -> Result<(), LogError> {
        match text.strip_prefix('#').filter(|_| self.text.is_empty()) {
            Some(rest) => self.note(rest.trim_start()),
            None => {
                if !self.text.is_empty() {
                    self.text.push('\n');
                }
                self.text.push_str(text);
                self.is_garbled |= is_garbled;
            }
        }
        match self.text.len() > ENTRY_BYTES_MAX {
            true => Err(too_long(self.line)),
            false => Ok(()),
        }
    }

    /// A line of names and values.
    fn note(&mut self, line: &str) {
        if let Some(command) = line.strip_prefix("administrator command: ") {
            self.command = Some(command.trim_end_matches(';').to_owned());
            return;
        }
        let of = |name: &str| {
            let (before, after) = line.split_once(name)?;
            let is_name = before.is_empty() || before.ends_with(' ');
            is_name.then(|| after.trim_start().split("  ").next().unwrap_or_default())
        };
        // MySQL has one blank between some.
        let word = |name: &str| of(name).and_then(|value| value.split(' ').next());
        if let Some(id) = word("Thread_id:").and_then(|id| id.parse().ok()) {
            self.session = Some(id);
        }
        if let Some((_, after)) = line.split_once("Schema: ") {
            self.schema = Some(
                after
                    .rsplit_once("  QC_hit:")
                    .map_or(after, |(schema, _)| schema)
                    .trim()
                    .to_owned(),
            );
        }
        if let Some(seconds) = word("Query_time:").and_then(|seconds| seconds.parse::<f64>().ok()) {
            let us = (seconds * 1e6).round();
            self.took_us = (0.0..1e15).contains(&us).then_some(us as i64);
        }
        if let Some(rows) = word("Rows_sent:").and_then(|rows| rows.parse().ok()) {
            self.rows = Some(rows);
        }
        if let Some(error) = word("Errno:").and_then(|error| error.parse::<u32>().ok()) {
            self.failed = Some(error > 0);
        }
        self.is_cached |= word("QC_hit:") == Some("Yes");
    }

    /// The statement, without what the log sets before it; and the database that the log says.
    fn statement(&self) -> (&str, Option<String>) {
        let (mut text, mut database) = (self.text.as_str(), None);
        let line = |text: &str| {
            text.split_once('\n')
                .map_or((text.len(), text.len()), |(line, _)| {
                    (line.len(), line.len() + 1)
                })
        };
        let (end, next) = line(text);
        if text.starts_with("use ") && text[..end].ends_with(';') && next < text.len() {
            database = text::used(&text[..end]);
            text = &text[next..];
        }
        let (end, next) = line(text);
        if text.starts_with("SET ")
            && text[..end].contains("timestamp=")
            && text[..end].ends_with(';')
        {
            text = &text[next.min(text.len())..];
        }
        let text = text.trim_end();
        (text.strip_suffix(';').unwrap_or(text), database)
    }
}

/// Adds a whole entry.
fn add(
    open: Open,
    now_us: Option<i64>,
    database: &mut Option<String>,
    collector: &mut Collector<'_>,
) -> Result<(), LogError> {
    let (text, entered) = open.statement();
    if entered.is_some() {
        *database = entered;
    }
    let (Some(at_us), Some(session)) = (now_us, open.session) else {
        // What was in the second that the log begins in has no time; and no line of numbers: it is cut.
        return Ok(());
    };
    // Its own threads have no host; their users are none.
    let is_server = open.host.is_empty();
    let schema = open.schema.clone().or_else(|| database.clone());
    let said = match (&open.command, is_server) {
        (_, true) => Said::Other(LeftOut::OfServer),
        (Some(command), false) => match command.as_str() {
            "Quit" => Said::Quits,
            "Init DB" => schema.clone().map_or(Said::Nothing, Said::Enters),
            _ => Said::Nothing,
        },
        (None, false) if text.is_empty() => Said::Nothing,
        (None, false) => Said::Executes(Statement {
            text: text.to_owned(),
            is_garbled: open.is_garbled,
            was_prepared: false,
            took_us: open.took_us,
            failed: open.failed.unwrap_or(false),
            rows: open.rows.filter(|_| !open.is_cached),
        }),
    };
    collector.add(Entry {
        line: open.line,
        at_us,
        session,
        who: Some((open.user.clone(), schema)),
        said,
    })
}
