//! An event of a log, whatever its form, and a time in it.

use std::sync::Arc;

use engine::log_gathering::Gathering;
use engine::log_lines::ENTRY_BYTES_MAX;
use engine::logged::{LogError, LogRequest};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// An event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    /// Its number in the log, from 1: of a line, row or event.
    pub(crate) place: u64,
    pub(crate) at_us: i64,
    /// Its place among the events of the server, where that is known.
    pub(crate) sequence: i64,
    /// The server's number of the session.
    pub(crate) session: i64,
    pub(crate) database: Option<Arc<str>>,
    pub(crate) user: Option<Arc<str>>,
    pub(crate) said: Said,
}

/// What an event says of its session.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Said {
    /// It executes a text.
    Executes(Execution),
    /// The client changes its transaction by the protocol, by what this text does.
    Transacts(&'static str),
    /// It is new.
    Connects,
    /// It is over.
    Quits,
    /// The client cancels this text.
    Cancels(Option<Arc<str>>),
}

/// The execution of a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Execution {
    /// `None`: it is not in the log, or is not text.
    pub(crate) text: Option<Arc<str>>,
    /// Whether the event's time is that of its beginning.
    pub(crate) at_begin: bool,
    /// Whether the event is not about its end.
    pub(crate) is_start: bool,
    pub(crate) took_us: Option<i64>,
    pub(crate) result: Option<Ended>,
    pub(crate) rows: Option<u64>,
}

/// How an execution ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Well,
    WithError,
    Cancelled,
}

/// The events of a log that is being read.
pub(crate) struct Events<'a> {
    pub(crate) gathering: Gathering<'a>,
    /// What a place is a number of.
    pub(crate) of: &'static str,
    pub(crate) all: Vec<Event>,
}

impl<'a> Events<'a> {
    pub(crate) fn new(asked: &'a LogRequest, of: &'static str) -> Events<'a> {
        Events {
            gathering: Gathering::new(asked),
            of,
            all: Vec::new(),
        }
    }

    /// Adds an event.
    ///
    /// # Errors
    /// When there are more than memory is for.
    pub(crate) fn add(&mut self, event: Event) -> Result<(), LogError> {
        self.gathering.keep(event.place, size_of::<Event>())?;
        self.all.push(event);
        Ok(())
    }

    /// An error about an event.
    pub(crate) fn wrong(&self, place: u64, why: impl std::fmt::Display) -> LogError {
        LogError::Whole(format!("{} {place}: {why}", self.of))
    }

    pub(crate) fn too_long(&self, place: u64) -> LogError {
        let why = format!(
            "it has more than {} MiB; a log of statements has shorter ones: check that the file is one, or leave it out",
            ENTRY_BYTES_MAX >> 20
        );
        self.wrong(place, why)
    }

    /// A time of the log in microseconds, as its clock shows it: without its difference to UTC.
    ///
    /// # Errors
    /// When the text is none.
    pub(crate) fn time(&self, place: u64, text: &str) -> Result<i64, LogError> {
        parse_time(text).ok_or_else(|| {
            let why = format!(
                "\"{}\" is not a time; write it as 2026-11-28 09:00:00.1234567",
                text.escape_debug()
            );
            self.wrong(place, why)
        })
    }
}

/// Characters of a time to the second.
const TO_SECOND: usize = "2026-11-28 09:00:00".len();

/// `2026-11-28T09:00:00.123Z`, `2026-11-28 09:00:00.1234567 +00:00` and the like.
fn parse_time(text: &str) -> Option<i64> {
    let text = text.trim();
    let fraction = text.get(TO_SECOND..)?;
    let end = fraction.find(|c: char| c != '.' && !c.is_ascii_digit());
    let time: DateTime = text[..TO_SECOND + end.unwrap_or(fraction.len())]
        .parse()
        .ok()?;
    let zoned = time.to_zoned(TimeZone::UTC).ok()?;
    Some(zoned.timestamp().as_microsecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_as_the_clock_shows_it() {
        // 2026-11-28 is day 20,785 since 1970.
        let noon = (20_785 * 86_400 + 43_200) * 1_000_000;
        for (text, us) in [
            ("2026-11-28T12:00:00.123Z", 123_000),
            ("2026-11-28 12:00:00.1234567", 123_456),
            ("2026-11-28 12:00:00.1234567 +02:00", 123_456),
            (" 2026-11-28 12:00:00-05:00 ", 0),
        ] {
            assert_eq!(parse_time(text), Some(noon + us), "{text}");
        }
        for text in [
            "",
            "12:00",
            "11/28/2026 12:00:00 PM",
            "2026-13-28 12:00:00",
            "2026-11-28 12:00:0é",
        ] {
            assert_eq!(parse_time(text), None, "{text}");
        }
    }
}
