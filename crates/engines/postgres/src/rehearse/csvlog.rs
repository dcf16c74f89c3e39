//! A log in CSV (`csvlog`).
//!
//! Source: <https://www.postgresql.org/docs/18/runtime-config-logging.html>, "Using CSV-Format Log Output", read 2026-11-28.

use std::io::{self, Read};

use csv::{ByteRecord, ErrorKind, ReaderBuilder};

use super::collect::Collector;
use super::entry::{Entry, time_us};
use engine::log_lines::{Bounded, text_of, too_long};
use engine::logged::LogError;

/// Columns of version 12; later ones added some at the end.
const COLUMNS_MIN: usize = 23;

/// Reads all entries.
///
/// # Errors
/// When one has a mistake.
pub(crate) fn read(from: impl Read, collector: &mut Collector<'_>) -> Result<(), LogError> {
    let (bounded, entry_bytes) = Bounded::new(from);
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(bounded);
    let mut record = ByteRecord::new();
    loop {
        entry_bytes.restart();
        let line = reader.position().line();
        let read = reader.read_byte_record(&mut record);
        if !read.map_err(|error| failed(line, &error))? {
            return Ok(());
        }
        let columns = record.len();
        if columns < COLUMNS_MIN {
            let more = reader.read_byte_record(&mut record);
            if more.map_err(|error| failed(line, &error))? {
                return Err(LogError::at(
                    line,
                    format!(
                        "it has {columns} columns, and a csvlog of PostgreSQL 13 or later has at least {COLUMNS_MIN}; check that the \
                         file is one, and whole"
                    ),
                ));
            }
            collector.half_line();
            return Ok(());
        }
        let entry = entry(line, &record)?;
        collector.add(entry)?;
    }
}

fn entry(line: u64, record: &ByteRecord) -> Result<Entry, LogError> {
    let text = |column: usize| text_of(record.get(column).unwrap_or_default());
    let given = |column: usize| Some(text(column).0).filter(|text| !text.is_empty());
    let (time, _) = text(0);
    let time_us = time_us(&time);
    let time_us = time_us.ok_or_else(|| {
        let why = format!("its first column is {time:?}, and that of a csvlog is a time");
        LogError::at(line, why)
    })?;
    let (message, is_garbled) = text(13);
    let (detail, is_detail_garbled) = text(14);
    Ok(Entry {
        line,
        time_us,
        user: given(1),
        database: given(2),
        session: text(5).0,
        number_in_session: text(6).0.parse().ok(),
        severity: text(11).0,
        message,
        detail: Some(detail).filter(|detail| !detail.is_empty()),
        statement: given(19),
        is_garbled: is_garbled || is_detail_garbled,
    })
}

fn failed(line: u64, error: &csv::Error) -> LogError {
    match error.kind() {
        ErrorKind::Io(error) if error.kind() == io::ErrorKind::FileTooLarge => too_long(line),
        _ => LogError::at(line, error.to_string()),
    }
}
