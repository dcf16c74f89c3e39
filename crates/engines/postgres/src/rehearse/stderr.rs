//! A log as a server writes it to stderr: lines that begin with a prefix, and lines that continue one, which begin with a tab.

use std::collections::HashMap;
use std::io::BufRead;

use super::collect::Collector;
use super::entry::Entry;
use super::prefix::{Prefix, USUAL, severity};
use engine::log_lines::{ENTRY_BYTES_MAX, Lines, text_of, too_long};
use engine::logged::LogError;

/// Lines from which the prefix is recognised.
const FIRST_LINES: usize = 200;

/// The entry of each session that details may still follow.
#[derive(Default)]
struct Open(HashMap<String, Entry>);

/// Reads all entries; returns what their lines begin with.
///
/// # Errors
/// When the prefix is not known, or an entry has a mistake.
pub(crate) fn read(
    from: impl BufRead,
    collector: &mut Collector<'_>,
    prefix: Option<&str>,
) -> Result<String, LogError> {
    let mut lines = Lines::new(from);
    let mut held = Vec::new();
    let prefix = match prefix {
        Some(prefix) => Prefix::parse(prefix).map_err(LogError::Whole)?,
        None => {
            while held.len() < FIRST_LINES
                && let Some(line) = lines.next_line()?
            {
                held.push(line);
            }
            let texts: Vec<String> = held.iter().map(|line| text_of(&line.bytes).0).collect();
            recognised(&texts)?
        }
    };
    let mut open = Open::default();
    // The line that may be continued.
    let mut current: Option<Entry> = None;
    let mut held = held.into_iter();
    let mut is_whole = true;
    loop {
        let line = match held.next() {
            Some(line) => line,
            None => match lines.next_line()? {
                Some(line) => line,
                None => break,
            },
        };
        is_whole = line.is_whole;
        let (text, is_garbled) = text_of(&line.bytes);
        if let Some(begun) = prefix.read(&text) {
            let (severity, message) = severity(begun.rest).expect("a prefix ends before one");
            let entry = Entry {
                line: line.number,
                severity: severity.to_owned(),
                message: message.to_owned(),
                is_garbled,
                ..begun.entry
            };
            if let Some(done) = current.replace(entry) {
                open.add(done, collector)?;
            }
        } else if let Some(current) = &mut current {
            // Lines that programs of the server's machine wrote between its own have no tab, and are none of an entry.
            if let Some(more) = text.strip_prefix('\t') {
                current.message.push('\n');
                current.message.push_str(more);
                current.is_garbled |= is_garbled;
                if current.message.len() > ENTRY_BYTES_MAX {
                    return Err(too_long(current.line));
                }
            }
        }
    }
    match current {
        // Its end may be missing.
        Some(_) if !is_whole => collector.half_line(),
        Some(done) => open.add(done, collector)?,
        None => {}
    }
    open.finish(collector)?;
    Ok(prefix.text)
}

/// The first usual prefix that most lines with a severity begin with.
fn recognised(lines: &[String]) -> Result<Prefix, LogError> {
    let entries = lines.iter().filter(|line| !line.starts_with('\t'));
    let entries: Vec<&String> = entries.filter(|line| line.contains(":  ")).collect();
    let prefixes = USUAL.iter().filter_map(|text| Prefix::parse(text).ok());
    let counted = prefixes.map(|prefix| {
        let read = entries.iter().filter(|line| prefix.read(line).is_some());
        (read.count(), prefix)
    });
    // The first of the best.
    let best = counted.reduce(|best, next| if next.0 > best.0 { next } else { best });
    match best.filter(|(count, _)| *count > 0 && 2 * count >= entries.len()) {
        Some((_, prefix)) => Ok(prefix),
        None => Err(LogError::at(
            1,
            "it begins as no log of PostgreSQL does; give its log_line_prefix with --prefix, such as '%m [%p] ' (SHOW log_line_prefix)",
        )),
    }
}

impl Open {
    /// Adds an entry, or what it says of the one before it of its session.
    fn add(&mut self, entry: Entry, collector: &mut Collector<'_>) -> Result<(), LogError> {
        let severity = entry.severity.as_str();
        if let Some(before) = self.0.get_mut(&entry.session) {
            match severity {
                "DETAIL" => {
                    before.detail = Some(entry.message);
                    before.is_garbled |= entry.is_garbled;
                    return Ok(());
                }
                "STATEMENT" => {
                    before.statement = Some(entry.message);
                    before.is_garbled |= entry.is_garbled;
                    return Ok(());
                }
                "HINT" | "CONTEXT" | "QUERY" | "LOCATION" => return Ok(()),
                _ => {}
            }
        }
        match self.0.insert(entry.session.clone(), entry) {
            Some(done) => collector.add(done),
            None => Ok(()),
        }
    }

    fn finish(self, collector: &mut Collector<'_>) -> Result<(), LogError> {
        let mut left: Vec<Entry> = self.0.into_values().collect();
        left.sort_by_key(|entry| entry.line);
        left.into_iter().try_for_each(|entry| collector.add(entry))
    }
}
