//! A log of any form.

use std::io::{BufRead, BufReader, Read};

use super::collect::Collector;
use super::{csvlog, jsonlog, stderr};
use engine::logged::{LogError, LogRequest, StatementLog};

/// Bytes from which the form is recognised.
const FIRST_BYTES: usize = 64 << 10;

/// What a line would begin with that has the columns of a csvlog, or the fields of a jsonlog.
const COLUMNS: &str = "%m,\"%u\",\"%d\",%p,\"%r\",%c,%l,\"%i\",%s,\"%v\",%x,";

/// Reads a log of statements; its form is recognised.
///
/// # Errors
/// When it is none, or has a mistake.
pub fn read_log(log: &mut dyn Read, asked: &LogRequest) -> Result<StatementLog, LogError> {
    let mut from = BufReader::with_capacity(FIRST_BYTES, log);
    let first = from
        .fill_buf()
        .map_err(|error| LogError::Whole(error.to_string()))?;
    let mut collector = Collector::new(asked);
    let mut prefix = COLUMNS.to_owned();
    let form = if first.is_empty() {
        return Err(LogError::Whole(
            "it is empty; give a log of PostgreSQL (csvlog, jsonlog or stderr)".to_owned(),
        ));
    } else if asked.prefix.is_none() && first.starts_with(b"{") {
        jsonlog::read(from, &mut collector)?;
        "jsonlog".to_owned()
    } else if asked.prefix.is_none() && is_csv(first) {
        csvlog::read(from, &mut collector)?;
        "csvlog".to_owned()
    } else {
        prefix = stderr::read(from, &mut collector, asked.prefix.as_deref())?;
        format!("stderr, log_line_prefix = '{prefix}'")
    };
    collector.finish(form, prefix)
}

/// Whether it begins as a csvlog: a time, and columns in quotes or none.
fn is_csv(first: &[u8]) -> bool {
    let line = first
        .split(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    let mut columns = line.splitn(4, |byte| *byte == b',');
    let time = columns.next().unwrap_or_default();
    let is_time = time.first().is_some_and(u8::is_ascii_digit) && time.len() < 40;
    let is_name = |name: &[u8]| name.is_empty() || name.starts_with(b"\"");
    is_time && columns.next().is_some_and(is_name) && columns.next().is_some_and(is_name)
}

#[cfg(test)]
mod tests;
