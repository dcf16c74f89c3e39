//! What a line of a log begins with: `log_line_prefix`.
//!
//! Source: <https://www.postgresql.org/docs/18/runtime-config-logging.html>, `log_line_prefix`, read 2026-11-28.

use super::entry::{Entry, time_us};

/// Prefixes that are tried, in this order: of Debian, of PostgreSQL, of Amazon RDS, of Azure, and others in use.
pub(crate) const USUAL: [&str; 8] = [
    "%m [%p] %q%u@%d ",
    "%m [%p] ",
    "%t:%r:%u@%d:[%p]:",
    "%t-%c-",
    "%t [%p]: user=%u,db=%d,app=%a,client=%h ",
    "%t [%p]: [%l-1] user=%u,db=%d ",
    "%m %p %u@%d ",
    "%m [%p] %u@%d ",
];

/// A prefix.
pub(crate) struct Prefix {
    parts: Vec<Part>,
    /// As the server's settings have it.
    pub(crate) text: String,
}

/// A part of a prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// This text.
    Text(String),
    /// A value, by its letter.
    Value(char),
    /// Here it ends in lines of processes without a session.
    Quits,
}

/// What a prefix says, and what follows it.
pub(crate) struct Begun<'a> {
    /// Time, session, user and database.
    pub(crate) entry: Entry,
    /// Severity and message.
    pub(crate) rest: &'a str,
}

impl Prefix {
    /// Reads a prefix.
    ///
    /// # Errors
    /// When it has no time, or no process or session.
    pub(crate) fn parse(text: &str) -> Result<Prefix, String> {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            if letter != '%' {
                literal.push(letter);
                continue;
            }
            // A width may stand before the letter.
            let mut value = letters.next();
            while value.is_some_and(|value| value == '-' || value.is_ascii_digit()) {
                value = letters.next();
            }
            match value {
                Some('%') => literal.push('%'),
                Some(value) => {
                    if !literal.is_empty() {
                        parts.push(Part::Text(std::mem::take(&mut literal)));
                    }
                    parts.push(match value {
                        'q' => Part::Quits,
                        value => Part::Value(value),
                    });
                }
                None => {}
            }
        }
        if !literal.is_empty() {
            parts.push(Part::Text(literal));
        }
        let has = |letters: &str| {
            let mut parts = parts.iter();
            parts.any(|part| matches!(part, Part::Value(value) if letters.contains(*value)))
        };
        if !has("mtn") || !has("pc") {
            return Err(format!(
                "log_line_prefix {text:?} has no time (%m) or no process (%p, %c), and so no sessions"
            ));
        }
        Ok(Prefix {
            parts,
            text: text.to_owned(),
        })
    }

    /// Reads the beginning of a line; `None` if it does not begin like this.
    pub(crate) fn read<'a>(&self, line: &'a str) -> Option<Begun<'a>> {
        let mut entry = Entry::default();
        let mut rest = line;
        for (place, part) in self.parts.iter().enumerate() {
            match part {
                Part::Quits if severity(rest.trim_start()).is_some() => break,
                Part::Quits => {}
                Part::Text(text) => rest = rest.strip_prefix(text.as_str())?,
                Part::Value(letter) => {
                    let mut after = self.parts[place + 1..].iter();
                    let end = after.find_map(|part| match part {
                        Part::Text(text) => Some(text.as_str()),
                        Part::Value(_) | Part::Quits => None,
                    });
                    let length = match letter {
                        'm' | 't' | 's' => time_length(rest)?,
                        'p' | 'l' | 'x' => rest
                            .find(|c: char| !c.is_ascii_digit())
                            .unwrap_or(rest.len()),
                        _ => match end {
                            Some(end) => rest.find(end)?,
                            None => rest.find(' ').unwrap_or(rest.len()),
                        },
                    };
                    let (value, after) = rest.split_at(length);
                    take(&mut entry, *letter, value)?;
                    rest = after;
                }
            }
        }
        severity(rest.trim_start())?;
        Some(Begun {
            entry,
            rest: rest.trim_start(),
        })
    }
}

/// Puts a value where it belongs.
fn take(entry: &mut Entry, letter: char, value: &str) -> Option<()> {
    match letter {
        'm' | 't' => entry.time_us = time_us(value)?,
        'n' => {
            let seconds: f64 = value.parse().ok()?;
            let is_time = (0.0..1e11).contains(&seconds);
            entry.time_us = is_time.then_some((seconds * 1e6) as i64)?;
        }
        'c' => entry.session = value.to_owned(),
        'p' if value.is_empty() => return None,
        'p' if entry.session.is_empty() => entry.session = value.to_owned(),
        'u' => entry.user = Some(value.to_owned()),
        'd' => entry.database = Some(value.to_owned()),
        'l' => entry.number_in_session = value.parse().ok(),
        _ => {}
    }
    Some(())
}

/// The length of a time: a date, a time of day, and a zone.
fn time_length(text: &str) -> Option<usize> {
    let zone = text.match_indices(' ').nth(1)?.0 + 1;
    let after = text.get(zone..)?;
    let is_zone = |c: char| c.is_ascii_alphabetic() || c == '+';
    let digits = |c: char| c.is_ascii_digit();
    let name = after.find(|c: char| !is_zone(c)).unwrap_or(after.len());
    // `-03` follows no letter: `%t-%c` has a dash after `UTC`.
    let length = match after.starts_with(['+', '-']) {
        true => {
            1 + after[1..]
                .find(|c: char| !digits(c))
                .unwrap_or(after.len() - 1)
        }
        false => name,
    };
    (length > 0).then_some(zone + length)
}

/// The severity that a line begins with after its prefix, and its message.
pub(crate) fn severity(text: &str) -> Option<(&str, &str)> {
    let (severity, message) = text.split_once(":  ")?;
    let is_severity = !severity.is_empty()
        && severity
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
    is_severity.then_some((severity, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_usual_servers_are_read() {
        for (prefix, line, session, user) in [
            (
                "%m [%p] ",
                "2026-11-28 19:20:14.123 UTC [812] LOG:  statement: SELECT 1",
                "812",
                None,
            ),
            (
                "%m [%p] %q%u@%d ",
                "2026-11-28 19:20:14.123 UTC [812] app@shop LOG:  statement: SELECT 1",
                "812",
                Some("app"),
            ),
            (
                "%t:%r:%u@%d:[%p]:",
                "2026-11-28 19:20:14 UTC:10.0.0.7(51234):app@shop:[812]:LOG:  statement: SELECT 1",
                "812",
                Some("app"),
            ),
            (
                "%t-%c-",
                "2026-11-28 19:20:14 UTC-6745a1b2.32c-LOG:  statement: SELECT 1",
                "6745a1b2.32c",
                None,
            ),
        ] {
            let read = Prefix::parse(prefix).unwrap().read(line).expect(prefix);
            assert_eq!(read.entry.session, session);
            assert_eq!(read.entry.user.as_deref(), user);
            assert_eq!(read.rest, "LOG:  statement: SELECT 1");
        }
    }

    #[test]
    fn a_prefix_without_time_or_process_is_refused_and_other_lines_are_not_read() {
        assert!(Prefix::parse("%u@%d ").is_err());
        assert!(Prefix::parse("%m %u ").is_err());
        let prefix = Prefix::parse("%m [%p] ").unwrap();
        for line in [
            "",
            "2026",
            "2026-11-28 19:20:14.123 UTC [] LOG:  x",
            "é [1] LOG:  x",
        ] {
            assert!(prefix.read(line).is_none(), "{line}");
        }
    }
}
