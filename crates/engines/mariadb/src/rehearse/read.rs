//! A log of either form.

use std::io::{BufRead, BufReader, Read};

use super::{general, slow, time};
use engine::logged::{LogError, LogRequest, StatementLog};

/// Bytes from which the form is recognised.
const FIRST_BYTES: usize = 64 << 10;

/// Reads a log of statements; its form is recognised.
///
/// # Errors
/// When it is none, or has a mistake.
pub fn read_log(log: &mut dyn Read, asked: &LogRequest) -> Result<StatementLog, LogError> {
    if asked.prefix.is_some() {
        return Err(LogError::Whole(
            "a general log and a slow log have no prefix; leave --prefix out".to_owned(),
        ));
    }
    let mut from = BufReader::with_capacity(FIRST_BYTES, log);
    let first = from
        .fill_buf()
        .map_err(|error| LogError::Whole(error.to_string()))?;
    let first = String::from_utf8_lossy(first).into_owned();
    // One of the two has times of each entry.
    let times = first.lines().filter_map(|line| {
        let line = line.strip_prefix("# Time: ").unwrap_or(line);
        time::parse(line.split('\t').next().unwrap_or_default())
    });
    let is_coarse = times.map(|(_, is_short)| is_short).next().unwrap_or(true);
    // Statements of a general log may hold lines of a slow log, and the other way round: what comes first counts.
    let place = |is_one: fn(&str) -> bool| first.lines().position(is_one);
    match (place(general::is_one), place(slow::is_one)) {
        (Some(general), slow) if slow.is_none_or(|slow| general < slow) => general::read(from, asked, is_coarse),
        (_, Some(_)) => slow::read(from, asked, is_coarse),
        _ => Err(LogError::Whole(
            "it begins as no log of MariaDB or MySQL does; give a general log (general_log = ON), or a slow log (slow_query_log = ON, \
             long_query_time = 0), both with log_output = FILE"
                .to_owned(),
        )),
    }
}

#[cfg(test)]
mod tests;
