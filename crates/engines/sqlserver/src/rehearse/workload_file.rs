//! A file of WorkloadTools: a SQLite database with a table of events.
//!
//! Its rows are beginnings of executions, to which the end adds how long they took and the text as it was then; a Timeout has the text
//! that was cancelled. There are neither errors nor rows that were returned in it.
//!
//! Source: <https://github.com/spaghettidba/WorkloadTools/blob/25ec96f/WorkloadTools/Consumer/WorkloadFile/WorkloadFileWriterConsumer.cs>
//! and `WorkloadEvent.cs` beside it, read 2026-11-29. It stores texts with a zero in them as UTF-16.

use std::path::Path;

use percent_encoding::{AsciiSet, CONTROLS, percent_encode};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row};

use super::event::{Event, Events, Execution, Said};
use engine::log_lines::ENTRY_BYTES_MAX;
use engine::logged::LogError;

/// What each file of SQLite begins with.
pub(crate) const MAGIC: &[u8] = b"SQLite format 3\0";

/// What would end a path in a URI, or is not of it.
const NOT_OF_PATH: &AsciiSet = &CONTROLS.add(b'?').add(b'#').add(b'%').add(b' ');

/// `WorkloadEvent.EventType`.
const RPC_COMPLETED: i64 = 1;
const RPC_STARTING: i64 = 2;
const BATCH_COMPLETED: i64 = 3;
const BATCH_STARTING: i64 = -3;
const TIMEOUT: i64 = 5;

/// Columns of a row, in the order in which they are read.
const QUERY: &str = "SELECT row_id, event_type, start_time, session_id, database_name, server_principal_name, sql_text, duration, \
                     event_sequence FROM main.Events";

/// Reads all events.
///
/// # Errors
/// When it is another file, or a row has a mistake.
pub(crate) fn read(path: &Path, events: &mut Events<'_>) -> Result<(), LogError> {
    let unread = |error: rusqlite::Error| {
        LogError::Whole(format!(
            "it is a SQLite database that cannot be read as WorkloadTools writes one ({error}); stop the capture, and give its whole file"
        ))
    };
    let connection = open(path).map_err(unread)?;
    let kind: Result<String, _> =
        connection.query_row("PRAGMA main.table_list('Events')", [], |row| {
            row.get("type")
        });
    let kind = match kind {
        Err(rusqlite::Error::QueryReturnedNoRows) => None,
        kind => Some(kind.map_err(unread)?),
    };
    // A view or a virtual table would run what the file says. Its own list of what is which may lie, so SQLite is asked what it took it for.
    if kind.as_deref() != Some("table") {
        return Err(LogError::Whole(
            "it is a SQLite database without a table Events; give the file that SqlWorkload wrote (WorkloadFileWriterConsumer)".to_owned(),
        ));
    }
    let mut query = connection.prepare(QUERY).map_err(unread)?;
    let mut rows = query.query([]).map_err(unread)?;
    while let Some(row) = rows.next().map_err(unread)? {
        add(row, events)?;
    }
    Ok(())
}

/// Opens the file, which is only read; neither a journal beside it is used, nor anything of it executed.
fn open(path: &Path) -> rusqlite::Result<Connection> {
    let bytes = std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str());
    let path = percent_encode(bytes, NOT_OF_PATH);
    let absolute = if bytes.starts_with(b"/") { "" } else { "./" };
    let uri = format!("file:{absolute}{path}?mode=ro&immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(uri, flags)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.set_limit(
        rusqlite::limits::Limit::SQLITE_LIMIT_LENGTH,
        ENTRY_BYTES_MAX as i32,
    )?;
    Ok(connection)
}

/// What is in a row.
struct Cells<'a> {
    row: &'a Row<'a>,
    place: u64,
}

impl Cells<'_> {
    fn value(&self, column: usize, events: &Events<'_>) -> Result<ValueRef<'_>, LogError> {
        let value = self.row.get_ref(column);
        value.map_err(|error| events.wrong(self.place, error))
    }

    fn number(
        &self,
        (column, name): (usize, &str),
        events: &Events<'_>,
    ) -> Result<Option<i64>, LogError> {
        match self.value(column, events)? {
            ValueRef::Null => Ok(None),
            ValueRef::Integer(number) => Ok(Some(number)),
            ValueRef::Real(_) | ValueRef::Text(_) | ValueRef::Blob(_) => {
                Err(events.wrong(self.place, format!("its {name} is not a whole number")))
            }
        }
    }

    fn text(&self, column: usize, events: &Events<'_>) -> Result<Option<String>, LogError> {
        Ok(match self.value(column, events)? {
            ValueRef::Text(text) => String::from_utf8(text.to_vec()).ok(),
            ValueRef::Blob(bytes) => {
                let units = bytes
                    .chunks_exact(2)
                    .map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
                let units: Vec<u16> = units.collect();
                let text = String::from_utf16(&units).ok();
                text.map(|text| text.trim_end_matches('\0').to_owned())
            }
            ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => None,
        })
    }
}

fn add(row: &Row<'_>, events: &mut Events<'_>) -> Result<(), LogError> {
    let place = row.get_ref(0).ok().and_then(|value| value.as_i64().ok());
    let place = place
        .and_then(|place| u64::try_from(place).ok())
        .unwrap_or(0);
    let cells = Cells { row, place };
    let kind = cells.number((1, "event_type"), events)?.unwrap_or(0);
    let is_start = matches!(kind, RPC_STARTING | BATCH_STARTING);
    let is_end = matches!(kind, RPC_COMPLETED | BATCH_COMPLETED);
    if !is_start && !is_end && kind != TIMEOUT {
        return Ok(());
    }
    let text = cells.text(6, events)?;
    let text = text.map(|text| events.gathering.text(&text));
    // It writes 0 or nothing until the end comes.
    let took_us = cells.number((7, "duration"), events)?;
    let took_us = took_us.filter(|took| *took > 0);
    let said = match kind {
        TIMEOUT => Said::Cancels(text),
        _ => Said::Executes(Execution {
            text,
            at_begin: true,
            is_start,
            took_us,
            ..Execution::default()
        }),
    };
    let time = cells.text(2, events)?.unwrap_or_default();
    let at_us = events.time(place, &time)?;
    let Some(session) = cells.number((3, "session_id"), events)? else {
        return Err(events.wrong(place, "it has no session_id"));
    };
    let sequence = cells.number((8, "event_sequence"), events)?;
    let mut name = |column| {
        let text = cells.text(column, events)?;
        Ok(text.map(|text| events.gathering.text(&text)))
    };
    let (database, user) = (name(4)?, name(5)?);
    events.add(Event {
        place,
        at_us,
        sequence: sequence.unwrap_or(0),
        session,
        database,
        user,
        said,
    })
}
