//! `sys.dm_io_virtual_file_stats` of SQL Server, several times; and what sp_BlitzFirst (First Responder Kit) derives from it: the
//! table with counters, and the view with differences.
//!
//! Columns: `sp_BlitzFirst.sql`, version 8.32 of 2026-04-07,
//! <https://github.com/BrentOzarULTD/SQL-Server-First-Responder-Kit>, read 2026-11-21. The view:
//! <https://learn.microsoft.com/sql/relational-databases/system-dynamic-management-views/sys-dm-io-virtual-file-stats-transact-sql>,
//! of 2017-05-11, read 2026-11-26.

mod counters;
mod deltas;

use std::collections::BTreeSet;

use csv::StringRecord;
use jiff::Timestamp;
use model::Duration;
use reading::Role;

use super::error::ImportError;
use super::format::Format;
use super::number::Decimal;
use super::source::{Options, Source};
use super::stamp::{Dates, Stamp};
use super::table::{Row, Table, header_names};
use super::text::excerpt;
use profile::{Draft, later};

pub(super) use counters::{read, read_view};
pub(super) use deltas::read_deltas;

/// `database_id` of tempdb.
const TEMPDB: &str = "2";

/// `file_id` of the log of a database, unless it has several.
const LOG_FILE: &str = "2";

/// Kinds of files: <https://learn.microsoft.com/sql/relational-databases/system-catalog-views/sys-master-files-transact-sql>.
const KINDS: [&str; 4] = ["rows", "log", "filestream", "fulltext"];

/// Columns of the table, in their order.
const TABLE: [&str; 16] = [
    "ID",
    "ServerName",
    "CheckDate",
    "DatabaseID",
    "FileID",
    "DatabaseName",
    "FileLogicalName",
    "TypeDesc",
    "SizeOnDiskMB",
    "io_stall_read_ms",
    "num_of_reads",
    "bytes_read",
    "io_stall_write_ms",
    "num_of_writes",
    "bytes_written",
    "PhysicalName",
];

/// Columns of the view with differences, in their order.
const DELTAS: [&str; 20] = [
    "ServerName",
    "CheckDate",
    "DatabaseID",
    "DatabaseName",
    "FileID",
    "FileLogicalName",
    "TypeDesc",
    "PhysicalName",
    "SizeOnDiskMB",
    "ElapsedSeconds",
    "SizeOnDiskMBgrowth",
    "io_stall_read_ms",
    "io_stall_read_ms_average",
    "num_of_reads",
    "megabytes_read",
    "io_stall_write_ms",
    "io_stall_write_ms_average",
    "num_of_writes",
    "megabytes_written",
    "JoinKey",
];

/// The format of a file without a header row, as Management Studio saves results: recognised by the number of columns, a date and
/// numbers in their places.
pub(super) fn without_names(cells: &[String]) -> Option<Format> {
    let (format, names): (Format, &[&str]) = match cells.len() {
        16 => (Format::BlitzFirst, &TABLE),
        20 => (Format::BlitzFirstDeltas, &DELTAS),
        _ => return None,
    };
    let fits = |(cell, name): (&String, &&str)| match *name {
        "CheckDate" => Stamp::parse(&cell.to_uppercase()).is_some(),
        "DatabaseID" | "FileID" | "num_of_reads" | "num_of_writes" => {
            cell.trim().parse::<u64>().is_ok()
        }
        "TypeDesc" => KINDS.contains(&cell.trim()),
        _ => true,
    };
    cells.iter().zip(names).all(fits).then_some(format)
}

/// The table of a file, whose columns have these names if it has no header.
fn table(source: &Source, names: &[&str], draft: &mut Draft) -> Result<Table, ImportError> {
    let first = source.text.lines().find(|line| !line.trim().is_empty());
    let table = match without_names(&header_names(first.unwrap_or_default())) {
        Some(_) => {
            draft.assume("The file has no column names: they are taken in the order in which sp_BlitzFirst writes them.");
            Table::with(source.file, source.text, names)?
        }
        None => Table::read(source.file, source.text)?,
    };
    if table.is_cut {
        draft.assume("The last line is truncated and left out.");
    }
    Ok(table)
}

/// Names of a column with the time of a row; the view has none, and scripts add one.
const DATES: [&str; 11] = [
    "checkdate",
    "capturedate",
    "capture_date",
    "capture_time",
    "collection_time",
    "collected_at",
    "snapshot_time",
    "sample_time",
    "timestamp",
    "datetime",
    "date",
];

/// Time column of a row.
#[derive(Clone, Copy)]
enum When {
    /// A column with dates.
    Date(usize),
    /// A column with milliseconds since the computer started.
    SinceBoot(usize),
}

/// Time by `sample_ms`, from the first row of the first file on.
#[derive(Default)]
struct Clock {
    /// Before SQL Server 2016 it is an `int`, which is negative after 2^31 ms (24.8 days).
    is_int: bool,
    last: Option<f64>,
    elapsed_ms: f64,
}

impl Clock {
    fn of(all: &[Rows]) -> Clock {
        let is_negative = |rows: &Rows| match rows.when {
            When::Date(_) => false,
            When::SinceBoot(column) => {
                let mut cells = rows.table.cells(column);
                cells.any(|(_, cell)| cell.trim().starts_with('-'))
            }
        };
        Clock {
            is_int: all.iter().any(is_negative),
            ..Clock::default()
        }
    }

    /// Milliseconds up to this row; `None` before the first row.
    fn elapsed(&mut self, now: f64) -> Option<f64> {
        let last = self.last.replace(now).unwrap_or(now);
        self.elapsed_ms += match self.is_int {
            // Both are in the range of `int`, and steps wrap as the counter does.
            true => f64::from((now as i32).wrapping_sub(last as i32)),
            false => now - last,
        };
        Some(self.elapsed_ms).filter(|elapsed| *elapsed >= 0.0)
    }
}

/// Rows of one file, with the common columns.
struct Rows<'a> {
    table: &'a Table,
    server: Option<usize>,
    when: When,
    database: usize,
    file: usize,
    kind: Option<usize>,
    read_ms: usize,
    reads: usize,
    write_ms: usize,
    writes: usize,
}

impl<'a> Rows<'a> {
    fn of(table: &'a Table) -> Result<Rows<'a>, ImportError> {
        let kind = table.find(&["typedesc", "type_desc"]);
        let mut kinds = kind.into_iter().flat_map(|kind| table.cells(kind));
        let is_known = |cell: &str| KINDS.contains(&cell.trim().to_lowercase().as_str());
        if let Some(((_, line), cell)) = kinds.find(|(_, cell)| !is_known(cell)) {
            let message = format!(
                "the type of the file is `{}`, and there are ROWS, LOG, FILESTREAM and FULLTEXT; correct it",
                excerpt(cell)
            );
            return Err(table.error(line, message));
        }
        Ok(Rows {
            table,
            server: table.find(&["servername", "server_name"]),
            when: match (table.find(&DATES), table.find(&["sample_ms"])) {
                (Some(at), _) => When::Date(at),
                (None, Some(at)) => When::SinceBoot(at),
                (None, None) => When::Date(table.column("checkdate")?),
            },
            database: table.any(&["databaseid", "database_id"])?,
            file: table.any(&["fileid", "file_id"])?,
            kind,
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

    /// Milliseconds since the computer started, as written.
    fn sample(&self, row: &Row, at: usize, is_int: bool) -> Result<f64, ImportError> {
        if !is_int {
            return self.number(row, at);
        }
        let cell = row.1.get(at).unwrap_or_default();
        let value: Result<i32, _> = cell.trim().parse();
        value.map(f64::from).map_err(|_| {
            let message = format!(
                "`sample_ms` is `{}`, and other rows are negative, as only an `int` (up to 2147483647) is; correct it",
                excerpt(cell)
            );
            self.table.error(row.0, message)
        })
    }

    /// tempdb's log is temporary, too: no session waits for its flushes.
    fn role(&self, cells: &StringRecord) -> Role {
        let cell = |at: usize| cells.get(at).unwrap_or_default().trim();
        match (cell(self.database), self.kind.map(cell)) {
            (TEMPDB, _) => Role::Temp,
            (_, Some(kind)) if kind.eq_ignore_ascii_case("LOG") => Role::Log,
            (_, None) if cell(self.file) == LOG_FILE => Role::Log,
            _ => Role::Data,
        }
    }

    /// The cells with dates, with their places for an error.
    fn dates(&self) -> impl Iterator<Item = ((&Table, usize), &str)> {
        let column = match self.when {
            When::Date(column) => Some(column),
            When::SinceBoot(_) => None,
        };
        column
            .into_iter()
            .flat_map(|column| self.table.cells(column))
    }

    /// When a row was written; without dates, by the clock.
    fn at(
        &self,
        row: &Row,
        (dates, start): (&Dates, Option<Timestamp>),
        clock: &mut Clock,
        draft: &mut Draft,
    ) -> Result<Timestamp, ImportError> {
        let column = match self.when {
            When::Date(column) => {
                let at = dates.instant(row.1.get(column).unwrap_or_default(), draft);
                return at.map_err(|message| self.table.error(row.0, message));
            }
            When::SinceBoot(column) => column,
        };
        if start.is_none() {
            draft.assume("`sample_ms` is not a date: the time of the file starts in 1970.");
        }
        let now = self.sample(row, column, clock.is_int)?;
        if clock.is_int {
            draft.assume("`sample_ms` goes on below 0 after 24.8 days, as before SQL Server 2016: intervals are its steps.");
        }
        let Some(elapsed_ms) = clock.elapsed(now) else {
            let message = "`sample_ms` goes back, as when the computer was started again; import what comes before and after by itself";
            return Err(self.table.error(row.0, message));
        };
        let start = start.unwrap_or(Timestamp::UNIX_EPOCH);
        Ok(later(start, Duration::from_secs_f64(elapsed_ms / 1e3)))
    }

    /// Notes a row whose file has one above for the same time.
    ///
    /// # Errors
    /// When their figures differ.
    fn repeated(&self, row: &Row, is_same: bool, draft: &mut Draft) -> Result<(), ImportError> {
        if is_same {
            draft.assume("Rows that occur twice count once.");
            return Ok(());
        }
        let cell = |at: usize| excerpt(row.1.get(at).unwrap_or_default());
        let message = format!(
            "file {} of database {} has another row above for the same time, with other figures; leave one of them out",
            cell(self.file),
            cell(self.database)
        );
        Err(self.table.error(row.0, message))
    }

    /// Rejects rows of more than one server, including those `seen` before.
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

/// How the dates of tables that belong together are read.
fn dates(all: &[Rows], options: &Options, draft: &mut Draft) -> Result<Dates, ImportError> {
    let texts = all.iter().flat_map(Rows::dates);
    Dates::of(texts, options, draft).map_err(|((table, line), message)| table.error(line, message))
}
