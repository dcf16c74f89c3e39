//! Extended Events as CSV: what Management Studio writes (Extended Events, Export to, CSV File), or a query.
//!
//! ```text
//! name,timestamp,batch_text,duration,row_count,result,database_name,session_id,statement
//! ```
//!
//! Source: <https://learn.microsoft.com/sql/relational-databases/extended-events/advanced-viewing-of-target-data-from-extended-events-in-sql-server>,
//! read 2026-11-29.

use std::io::{self, Read};

use csv::{ByteRecord, ErrorKind, ReaderBuilder};

use super::event::Events;
use super::fields::Fields;
use engine::log_lines::{Bounded, text_of};
use engine::logged::{LeftOut, LogError};

/// Columns without which no statement is known.
const NEEDED: [&str; 3] = ["name", "timestamp", "session_id"];

/// Reads all events.
///
/// # Errors
/// When a column is missing, or an event has a mistake.
pub(crate) fn read(from: impl Read, events: &mut Events<'_>) -> Result<(), LogError> {
    let (bounded, entry_bytes) = Bounded::new(from);
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(bounded);
    let mut record = ByteRecord::new();
    let mut columns: Option<Vec<Option<usize>>> = None;
    loop {
        entry_bytes.restart();
        let line = reader.position().line();
        let read = reader.read_byte_record(&mut record);
        let is_one = read.map_err(|error| match error.kind() {
            ErrorKind::Io(io) if io.kind() == io::ErrorKind::FileTooLarge => events.too_long(line),
            _ => events.wrong(line, error),
        })?;
        match &columns {
            _ if !is_one => return Ok(()),
            None => columns = Some(columns_of(&record)?),
            Some(columns) => {
                if record.len() < columns.len() {
                    let at_end = !reader.read_byte_record(&mut record).unwrap_or(true);
                    if at_end {
                        events.gathering.half_line = true;
                        return Ok(());
                    }
                    let why = "it has fewer columns than the first line; export the events again";
                    return Err(events.wrong(line, why));
                }
                add(&record, columns, line, events)?;
            }
        }
    }
}

fn columns_of(header: &ByteRecord) -> Result<Vec<Option<usize>>, LogError> {
    let columns: Vec<Option<usize>> = header
        .iter()
        .map(|name| Fields::place(&text_of(name).0))
        .collect();
    let is_there = |name: &str| {
        columns
            .iter()
            .flatten()
            .any(|place| Some(*place) == Fields::place(name))
    };
    let text = is_there("batch_text") || is_there("statement");
    let missing = NEEDED.into_iter().find(|name| !is_there(name));
    match missing.or((!text).then_some("batch_text or statement")) {
        None => Ok(columns),
        Some(missing) => Err(LogError::Whole(format!(
            "its first line has no column {missing}; it takes name, timestamp, session_id, batch_text and statement, and better has \
             duration, result, row_count, database_name and event_sequence"
        ))),
    }
}

fn add(
    record: &ByteRecord,
    columns: &[Option<usize>],
    line: u64,
    events: &mut Events<'_>,
) -> Result<(), LogError> {
    let mut fields = Fields::default();
    let mut is_garbled = false;
    for (value, place) in record.iter().zip(columns) {
        if let Some(place) = place {
            let (value, garbled) = text_of(value);
            is_garbled |= garbled;
            fields.set(*place, value);
        }
    }
    if is_garbled {
        events.gathering.leave(LeftOut::NoText, 1);
        return Ok(());
    }
    fields.add_to(line, events)
}
