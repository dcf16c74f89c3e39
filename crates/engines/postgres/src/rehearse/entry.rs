//! An entry of a log, whatever its form.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// An entry of a log.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Entry {
    /// Its line, from 1.
    pub(crate) line: u64,
    /// When it was written, in microseconds of the log's clock.
    pub(crate) time_us: i64,
    /// Its session: the log's own name for it, or the number of its process.
    pub(crate) session: String,
    /// The session's user.
    pub(crate) user: Option<String>,
    /// The session's database.
    pub(crate) database: Option<String>,
    /// `LOG`, `ERROR`, ..
    pub(crate) severity: String,
    /// What it says.
    pub(crate) message: String,
    /// Its details.
    pub(crate) detail: Option<String>,
    /// The statement that it is about.
    pub(crate) statement: Option<String>,
    /// Whether one of its texts was not UTF-8.
    pub(crate) is_garbled: bool,
    /// How many lines its session had written before, if the log counts them.
    pub(crate) number_in_session: Option<u64>,
}

/// A time such as `2026-11-28 19:20:14.123 UTC`. Its zone is left out: a log has one clock.
pub(crate) fn time_us(text: &str) -> Option<i64> {
    // Its date and its time of day; a zone follows.
    let mut words = text.splitn(3, ' ');
    let (date, day) = (words.next()?, words.next()?);
    let time: DateTime = format!("{date}T{day}").parse().ok()?;
    let zoned = time.to_zoned(TimeZone::UTC).ok()?;
    Some(zoned.timestamp().as_microsecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_without_its_zone() {
        // One day and one second after 1970, and a half.
        let second = 86_401_000_000;
        assert_eq!(time_us("1970-01-02 00:00:01 UTC"), Some(second));
        assert_eq!(
            time_us("1970-01-02 00:00:01.500 CEST"),
            Some(second + 500_000)
        );
        assert_eq!(time_us("yesterday"), None);
        assert_eq!(time_us("1970-13-02 00:00:01"), None);
    }
}
