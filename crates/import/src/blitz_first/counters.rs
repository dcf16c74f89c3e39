//! Counters since the server started, in several snapshots.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use model::Duration;

use super::{Clock, Rows, TABLE, When, dates, draft, table};
use crate::cumulative::{Snapshot, Total, Totals, differences};
use crate::error::ImportError;
use crate::table::{Row, Table};
use crate::twice::{Range, Twice};
use crate::{Options, Source};
use profile::{Draft, between};

/// Rows of one file closer than this belong to one snapshot.
const SNAPSHOT: Duration = Duration::SECOND;

/// Reads the table: counters since the server started.
///
/// # Errors
/// When a column is missing, or a row cannot be read.
pub(crate) fn read(sources: &[Source], options: &Options) -> Result<Draft, ImportError> {
    totals(sources, options, draft())
}

/// Reads several snapshots of `sys.dm_io_virtual_file_stats`.
///
/// # Errors
/// As [`read`]; also when there is only one snapshot.
pub(crate) fn read_view(sources: &[Source], options: &Options) -> Result<Draft, ImportError> {
    let mut draft = draft();
    draft.origin.tool = "sys.dm_io_virtual_file_stats".to_owned();
    totals(sources, options, draft)
}

fn totals(sources: &[Source], options: &Options, mut draft: Draft) -> Result<Draft, ImportError> {
    let mut snapshots: BTreeMap<Timestamp, Snapshot<(String, String)>> = BTreeMap::new();
    let mut servers = BTreeSet::new();
    let tables = sources
        .iter()
        .map(|source| table(source, &TABLE, &mut draft));
    let tables = tables.collect::<Result<Vec<Table>, ImportError>>()?;
    let all = tables
        .iter()
        .map(Rows::of)
        .collect::<Result<Vec<Rows>, ImportError>>()?;
    let mut clock = Clock::of(&all);
    // One snapshot may be a file: the order of dates shows in all of them.
    let dates = dates(&all, options, &mut draft)?;
    let has_date = |rows: &Rows| matches!(rows.when, When::Date(_));
    if options.start.is_some() && all.iter().all(has_date) {
        let note = "--start has no effect: the rows have dates";
        draft.notes.push(note.to_owned());
    }
    for (source, rows) in sources.iter().zip(&all) {
        let table = rows.table;
        rows.check_server(source.file, &mut servers)?;
        let read = table.any(&["bytes_read", "num_of_bytes_read"])?;
        let written = table.any(&["bytes_written", "num_of_bytes_written"])?;
        if rows.kind.is_none() {
            draft.assume("File 2 of a database is taken for its log, and no other: the file has no `type_desc`.");
        }
        check_stall(rows, &mut draft);
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
            let at = rows.at(row, (&dates, options.start), &mut clock, &mut draft)?;
            let cell = |at: usize| row.1.get(at).unwrap_or_default().to_owned();
            let file = (cell(rows.database), cell(rows.file));
            let files = snapshots.entry(at).or_default();
            let now = (rows.role(&row.1), totals);
            if let Some(before) = files.insert(file, now) {
                rows.repeated(row, before == now, &mut draft)?;
            }
        }
    }
    let snapshots = merged(snapshots);
    if snapshots.len() == 1 {
        let message = "it has one snapshot of counters since the server started; select at least three times, some minutes apart";
        return Err(ImportError::file(sources[0].file, message));
    }
    differences(&snapshots, &mut draft);
    Ok(draft)
}

/// The snapshots, whose rows need not have been written at one instant.
fn merged<K: Ord>(rows: BTreeMap<Timestamp, Snapshot<K>>) -> BTreeMap<Timestamp, Snapshot<K>> {
    let mut snapshots: BTreeMap<Timestamp, Snapshot<K>> = BTreeMap::new();
    for (at, mut files) in rows {
        match snapshots.last_entry() {
            Some(mut last) if between(*last.key(), at) < SNAPSHOT => {
                last.get_mut().append(&mut files);
            }
            _ => {
                snapshots.insert(at, files);
            }
        }
    }
    snapshots
}

/// Notes where the time of all requests is not that of reads and of writes.
fn check_stall(rows: &Rows, draft: &mut Draft) {
    let Some(all) = rows.table.find(&["io_stall"]) else {
        return;
    };
    let of = |row: &Row| {
        let number = |at| rows.number(row, at).ok();
        let both = number(rows.read_ms)? + number(rows.write_ms)?;
        Some(Twice::of(Range::exact(number(all)?), Range::exact(both)))
    };
    let twice = rows.table.rows.iter().filter_map(of);
    if twice.fold(Twice::default(), Twice::and).differs(1.1, 0.0) {
        draft.assume("`io_stall` is not `io_stall_read_ms` and `io_stall_write_ms` together; these two count, and may be wrong.");
    }
}
