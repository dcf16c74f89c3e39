//! A log in JSON (`jsonlog`, since version 15): an object a line.
//!
//! Source: <https://www.postgresql.org/docs/18/runtime-config-logging.html>, "Using JSON-Format Log Output", read 2026-11-28.

use std::io::BufRead;

use serde::Deserialize;

use super::collect::Collector;
use super::entry::{Entry, time_us};
use engine::log_lines::{Lines, text_of};
use engine::logged::LogError;

/// The keys that matter.
#[derive(Deserialize)]
struct Object {
    timestamp: String,
    user: Option<String>,
    dbname: Option<String>,
    session_id: Option<String>,
    line_num: Option<u64>,
    error_severity: Option<String>,
    message: Option<String>,
    detail: Option<String>,
    statement: Option<String>,
}

/// Reads all entries.
///
/// # Errors
/// When one has a mistake.
pub(crate) fn read(from: impl BufRead, collector: &mut Collector<'_>) -> Result<(), LogError> {
    let mut lines = Lines::new(from);
    while let Some(line) = lines.next_line()? {
        if line.bytes.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let (text, is_garbled) = text_of(&line.bytes);
        let object: Object = match serde_json::from_str(&text) {
            Ok(object) => object,
            Err(_) if !line.is_whole => {
                collector.half_line();
                return Ok(());
            }
            Err(error) => {
                let why = format!("it is not an entry of a jsonlog: {error}");
                return Err(LogError::at(line.number, why));
            }
        };
        let time_us = time_us(&object.timestamp).ok_or_else(|| {
            let why = format!("its timestamp is {:?}, and no time", object.timestamp);
            LogError::at(line.number, why)
        })?;
        collector.add(Entry {
            line: line.number,
            time_us,
            session: object.session_id.unwrap_or_default(),
            user: object.user,
            database: object.dbname,
            severity: object.error_severity.unwrap_or_default(),
            message: object.message.unwrap_or_default(),
            detail: object.detail,
            statement: object.statement,
            is_garbled,
            number_in_session: object.line_num,
        })?;
    }
    Ok(())
}
