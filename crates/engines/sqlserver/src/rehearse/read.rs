//! A log of any form.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use super::event::Events;
use super::{collect, export, utf16, workload_file, xml};
use engine::logged::{LogError, LogRequest, StatementLog};

/// Bytes from which the form is recognised.
const FIRST_BYTES: usize = 64 << 10;

/// Reads a log of statements, which is this file, opened; its form is recognised.
///
/// # Errors
/// When it is none, or has a mistake.
pub fn read_log(path: &Path, file: &File, asked: &LogRequest) -> Result<StatementLog, LogError> {
    let whole = |error: std::io::Error| LogError::Whole(error.to_string());
    if asked.prefix.is_some() {
        return Err(LogError::Whole(
            "a log of SQL Server has no prefix; leave --prefix out".to_owned(),
        ));
    }
    let mut from = BufReader::with_capacity(FIRST_BYTES, file);
    let is_database = from
        .fill_buf()
        .map_err(whole)?
        .starts_with(workload_file::MAGIC);
    if is_database {
        let mut events = Events::new(asked, "row");
        workload_file::read(path, &mut events)?;
        return collect::sessions(events, "WorkloadTools");
    }
    let mut from = utf16::decoded(from).map_err(whole)?;
    let first = from.fill_buf().map_err(whole)?;
    let begins = String::from_utf8_lossy(first);
    let begins = begins.trim_start();
    if begins.starts_with('<') {
        let mut events = Events::new(asked, "event");
        xml::read(from, &mut events)?;
        return collect::sessions(events, "Extended Events as XML");
    }
    let header = begins
        .lines()
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    if !header.contains("name") || !header.contains(',') {
        return Err(LogError::Whole(
            "it begins as none of the logs that are read; give WorkloadTools' file (SQLite), or Extended Events as XML (event_data of \
             sys.fn_xe_file_target_read_file) or as CSV (Management Studio: Export to, CSV File); a .xel file itself is not read"
                .to_owned(),
        ));
    }
    let mut events = Events::new(asked, "line");
    export::read(from, &mut events)?;
    collect::sessions(events, "Extended Events as CSV")
}

#[cfg(test)]
mod tests;
