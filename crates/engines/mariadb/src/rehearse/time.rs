//! Times of a log.

use std::ops::RangeInclusive;

/// A time in microseconds since 1970 by the log's own clock, and whether it has no fraction of a second: `261128 9:05:01` of
/// MariaDB, or `2026-11-28T09:05:01.123456Z` of MySQL. A zone is left out: a log has one clock.
pub(crate) fn parse(text: &str) -> Option<(i64, bool)> {
    match text.split_once('T') {
        Some((date, time)) => iso(date, time).map(|us| (us, false)),
        None => {
            let (date, time) = text.trim_end().split_once(' ')?;
            short(date, time.trim_start()).map(|us| (us, true))
        }
    }
}

fn short(date: &str, time: &str) -> Option<i64> {
    if date.len() != 6 || !date.is_ascii() {
        return None;
    }
    let year = number(&date[..2], 0..=99)?;
    let month = number(&date[2..4], 1..=12)?;
    let day = number(&date[4..], 1..=31)?;
    // The server writes two digits of the year.
    of_parts(2000 + year, month, day, time)
}

fn iso(date: &str, time: &str) -> Option<i64> {
    let mut parts = date.split('-');
    let year = number(parts.next()?, 1970..=9999)?;
    let month = number(parts.next()?, 1..=12)?;
    let day = number(parts.next()?, 1..=31)?;
    let end = time.find(['Z', '+', '-']).unwrap_or(time.len());
    let (seconds, fraction) = time[..end].split_once('.').unwrap_or((&time[..end], "0"));
    if fraction.is_empty() || fraction.len() > 6 {
        return None;
    }
    let us = number(fraction, 0..=999_999)? * 10_i64.pow(6 - u32::try_from(fraction.len()).ok()?);
    Some(of_parts(year, month, day, seconds)? + us)
}

fn of_parts(year: i64, month: i64, day: i64, time: &str) -> Option<i64> {
    let mut parts = time.split(':');
    let hours = number(parts.next()?, 0..=23)?;
    let minutes = number(parts.next()?, 0..=59)?;
    // A leap second is the last one of its minute.
    let seconds = number(parts.next()?, 0..=60)?;
    let is_end = parts.next().is_none();
    let seconds = ((days(year, month, day) * 24 + hours) * 60 + minutes) * 60 + seconds;
    is_end.then_some(seconds * 1_000_000)
}

fn number(text: &str, range: RangeInclusive<i64>) -> Option<i64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = is_number.then(|| text.parse().ok()).flatten()?;
    range.contains(&number).then_some(number)
}

/// Days since 1970-01-01.
/// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms" (2013),
/// <https://howardhinnant.github.io/date_algorithms.html>, read 2026-11-28.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_both_products_are_read() {
        // 2026-11-28 is day 20,785.
        let day = 20_785 * 86_400_000_000;
        let nine = day + (9 * 3_600 + 5 * 60 + 1) * 1_000_000;
        assert_eq!(parse("261128  9:05:01"), Some((nine, true)));
        assert_eq!(parse("261128 09:05:01"), Some((nine, true)));
        assert_eq!(
            parse("2026-11-28T09:05:01.123456Z"),
            Some((nine + 123_456, false))
        );
        assert_eq!(
            parse("2026-11-28T09:05:01.5+02:00"),
            Some((nine + 500_000, false))
        );
        assert_eq!(days(2000, 2, 29) + 1, days(2000, 3, 1));
        for text in [
            "",
            "261128",
            "261328 09:05:01",
            "261128 09:05",
            "2026-11-28T09:05:01.1234567Z",
            "ä1128 09:05:01",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
