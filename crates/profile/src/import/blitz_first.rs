//! What sp_BlitzFirst (First Responder Kit) writes of files: the table with counters, and the view with differences.
//!
//! Columns: `sp_BlitzFirst.sql`, version 8.32 of 2026-04-07,
//! <https://github.com/BrentOzarULTD/SQL-Server-First-Responder-Kit>, read 2026-11-21.

use std::collections::{BTreeMap, BTreeSet};

use csv::StringRecord;
use jiff::Timestamp;
use model::Duration;
use reading::Role;

use super::cumulative::{Snapshot, Total, Totals, differences};
use super::error::ImportError;
use super::number::Decimal;
use super::stamp::{DateOrder, Stamp};
use super::table::{Row, Table};
use super::text::excerpt;
use super::twice::{Range, Twice};
use super::{Options, Source};
use crate::definition::{Interval, Requests};
use crate::draft::{Draft, Span, add};

/// `database_id` of tempdb.
const TEMPDB: &str = "2";

/// Rows of the table or the view, with the columns that both have.
struct Rows<'a> {
    table: &'a Table,
    server: Option<usize>,
    date: usize,
    database: usize,
    file: usize,
    kind: usize,
    read_ms: usize,
    reads: usize,
    write_ms: usize,
    writes: usize,
}

impl<'a> Rows<'a> {
    fn of(table: &'a Table) -> Result<Rows<'a>, ImportError> {
        Ok(Rows {
            table,
            server: table.find(&["servername"]),
            date: table.column("checkdate")?,
            database: table.column("databaseid")?,
            file: table.column("fileid")?,
            kind: table.column("typedesc")?,
            read_ms: table.column("io_stall_read_ms")?,
            reads: table.column("num_of_reads")?,
            write_ms: table.column("io_stall_write_ms")?,
            writes: table.column("num_of_writes")?,
        })
    }

    fn number(&self, (line, cells): &Row, at: usize) -> Result<f64, ImportError> {
        let cell = cells.get(at).unwrap_or_default();
        let counted = Decimal::Point.counted(cell).ok().flatten();
        counted.ok_or_else(|| {
            let name = &self.table.header[at];
            let message = format!(
                "`{name}` is `{}`, which is not a count (0 to 2^64); export the table again",
                excerpt(cell)
            );
            self.table.error(*line, message)
        })
    }

    /// tempdb's log is temporary, too: nobody waits for its flushes.
    fn role(&self, cells: &StringRecord) -> Role {
        let cell = |at: usize| cells.get(at).unwrap_or_default().trim();
        match (cell(self.database), cell(self.kind)) {
            (TEMPDB, _) => Role::Temp,
            (_, kind) if kind.eq_ignore_ascii_case("LOG") => Role::Log,
            _ => Role::Data,
        }
    }

    fn date(
        &self,
        (line, cells): &Row,
        options: &Options,
        draft: &mut Draft,
    ) -> Result<Timestamp, ImportError> {
        let text = cells.get(self.date).unwrap_or_default();
        let stamp = Stamp::parse(text);
        let order = options.dates.unwrap_or(DateOrder::MonthFirst);
        let at = stamp.and_then(|stamp| stamp.instant(order, options.utc_offset));
        if options.utc_offset.is_none() && stamp.is_some_and(|stamp| !stamp.has_offset()) {
            draft.assume("Times have no offset and are taken as UTC.");
        }
        at.ok_or_else(|| {
            let message = format!(
                "`{}` is not a readable date and time; check --dates",
                excerpt(text)
            );
            self.table.error(*line, message)
        })
    }

    /// Refuses rows of more than one server, with those `seen` before.
    fn check_server(&self, file: &str, seen: &mut BTreeSet<String>) -> Result<(), ImportError> {
        let Some(at) = self.server else {
            return Ok(());
        };
        let rows = self.table.rows.iter();
        let servers = rows.filter_map(|(_, cells)| cells.get(at));
        seen.extend(servers.map(str::to_owned));
        match seen.len() {
            0 | 1 => Ok(()),
            several => Err(ImportError::file(
                file,
                format!(
                    "there are rows of {several} servers ({}); export those of one (where ServerName = ..)",
                    excerpt(&Vec::from_iter(seen.iter().map(String::as_str)).join(", "))
                ),
            )),
        }
    }
}

fn draft() -> Draft {
    let mut draft = Draft::of("sp_BlitzFirst");
    draft.origin.product = Some("SQL Server".to_owned());
    draft.assume("The log of tempdb counts as temporary space.");
    draft
}

/// Reads the table: counters since the server started.
///
/// # Errors
/// When a column is missing, or a row cannot be read.
pub(super) fn read(sources: &[Source], options: &Options) -> Result<Draft, ImportError> {
    let mut draft = draft();
    let mut snapshots: BTreeMap<Timestamp, Snapshot<(String, String)>> = BTreeMap::new();
    let mut servers = BTreeSet::new();
    for source in sources {
        let table = Table::read(source.file, source.text)?;
        let rows = Rows::of(&table)?;
        rows.check_server(source.file, &mut servers)?;
        let (read, written) = (table.column("bytes_read")?, table.column("bytes_written")?);
        if table.is_cut {
            draft.assume("The last line is truncated and left out.");
        }
        for row in &table.rows {
            let total = |count, bytes, waited_ms| -> Result<Total, ImportError> {
                Ok(Total {
                    count: rows.number(row, count)?,
                    bytes: rows.number(row, bytes)?,
                    waited_ms: Some(rows.number(row, waited_ms)?),
                })
            };
            let totals = Totals {
                reads: total(rows.reads, read, rows.read_ms)?,
                writes: total(rows.writes, written, rows.write_ms)?,
            };
            let at = rows.date(row, options, &mut draft)?;
            let cell = |at: usize| row.1.get(at).unwrap_or_default().to_owned();
            let file = (cell(rows.database), cell(rows.file));
            let files = snapshots.entry(at).or_default();
            files.insert(file, (rows.role(&row.1), totals));
        }
    }
    differences(&snapshots, &mut draft);
    Ok(draft)
}

/// Reads the view: differences, which leaves out what lies around a restart.
///
/// # Errors
/// As [`read`].
pub(super) fn read_deltas(source: &Source, options: &Options) -> Result<Draft, ImportError> {
    const MEGABYTE: f64 = 1_048_576.0;
    let mut draft = draft();
    draft.assume("Bytes are rounded to megabytes by the view.");
    let table = Table::read(source.file, source.text)?;
    let rows = Rows::of(&table)?;
    rows.check_server(source.file, &mut BTreeSet::new())?;
    let elapsed = table.column("elapsedseconds")?;
    let (read, written) = (
        table.column("megabytes_read")?,
        table.column("megabytes_written")?,
    );
    check_means(&rows, &mut draft);
    let mut spans: BTreeMap<Timestamp, Span> = BTreeMap::new();
    for row in &table.rows {
        let requests = |count, megabytes, waited_ms| -> Result<Requests, ImportError> {
            let waited = rows.number(row, waited_ms)? / 1e3;
            Ok(Requests {
                count: Some(rows.number(row, count)?),
                bytes: Some(rows.number(row, megabytes)? * MEGABYTE),
                waited: Some(Duration::from_secs_f64(waited)),
            })
        };
        let reads = requests(rows.reads, read, rows.read_ms)?;
        let writes = requests(rows.writes, written, rows.write_ms)?;
        let until = rows.date(row, options, &mut draft)?;
        let seconds = rows.number(row, elapsed)?;
        let length = Duration::from_secs_f64(seconds).as_nanos();
        let from = Timestamp::from_nanosecond(until.as_nanosecond() - i128::from(length));
        let from = from.map_err(|_| {
            let message = format!(
                "`ElapsedSeconds` is {seconds}, so that the row begins before there were dates; export the table again"
            );
            table.error(row.0, message)
        })?;
        let span = spans.entry(until).or_insert(Span {
            from,
            until,
            figures: Interval::default(),
        });
        let io = span.figures.roles.entry(rows.role(&row.1)).or_default();
        add(&mut io.reads, reads);
        add(&mut io.writes, writes);
    }
    draft.spans = spans.into_values().collect();
    Ok(draft)
}

/// Notes where the view's mean latencies are not its times over its counts.
fn check_means(rows: &Rows, draft: &mut Draft) {
    for (kind, waited, count) in [
        ("read", rows.read_ms, rows.reads),
        ("write", rows.write_ms, rows.writes),
    ] {
        let column = format!("io_stall_{kind}_ms_average");
        let Some(mean) = rows.table.find(&[&column]) else {
            continue;
        };
        let of = |row: &Row| {
            let number = |at| rows.number(row, at).ok();
            let count = number(count)?;
            // Some versions cut the mean off to whole milliseconds.
            let (least, most) = (count * number(mean)?, count * (number(mean)? + 1.0));
            Some(Twice::of(
                Range::exact(number(waited)?),
                Range::between(least, most),
            ))
        };
        let twice = rows.table.rows.iter().filter_map(of);
        if twice.fold(Twice::default(), Twice::and).differs(1.1, 0.0) {
            draft.assume(format!(
                "`{column}` is not time waited over requests; the times count, and may be wrong."
            ));
        }
    }
}
