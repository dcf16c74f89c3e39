//! Dates as tools write them: ISO, American, or with the day first.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;

use super::date_order::{DateOrder, UtcOffset, offset};
use super::source::Options;
use super::text::excerpt;
use profile::Draft;

/// A date and time as written in a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stamp {
    /// First and second number of a date, if their order is ambiguous; year, month and day otherwise.
    date: Date,
    /// Hour, minute, second, nanosecond.
    time: (i8, i8, i8, i32),
    offset: Option<Offset>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Date {
    Known(i16, i8, i8),
    Open { first: i8, second: i8, year: i16 },
}

impl Stamp {
    /// Reads `2026-11-21T21:18:33+0000`, `11/21/26 09:15:38 PM`, `21.11.2026 21:15`, `2026-11-21 21:16:49.07 +01:00`.
    pub(super) fn parse(text: &str) -> Option<Stamp> {
        let text = text.trim();
        let end = text.find(|c: char| c.is_whitespace() || c == 'T')?;
        let date = date(&text[..end])?;
        let rest = text[end..].trim_start_matches('T').trim_start();
        let end = rest.find(|c: char| !(c.is_ascii_digit() || matches!(c, ':' | '.' | ',')));
        let (clock, rest) = rest.split_at(end.unwrap_or(rest.len()));
        let rest = rest.trim_start();
        let upper = rest.get(..2).unwrap_or_default().to_ascii_uppercase();
        let (half, rest) = match upper.as_str() {
            "AM" | "PM" => (Some(upper == "PM"), rest[2..].trim_start()),
            _ => (None, rest),
        };
        let offset = match rest {
            "" => None,
            zone => Some(offset(zone)?),
        };
        Some(Stamp {
            date,
            time: time(clock, half)?,
            offset,
        })
    }

    /// Whether the order of day and month is ambiguous.
    fn is_open(&self) -> bool {
        matches!(self.date, Date::Open { .. })
    }

    /// The instant; `None` if the date does not exist. An offset in the text takes precedence over the argument.
    fn instant(&self, order: DateOrder, offset: Option<UtcOffset>) -> Option<Timestamp> {
        let (year, month, day) = match (self.date, order) {
            (Date::Known(year, month, day), _) => (year, month, day),
            (
                Date::Open {
                    first,
                    second,
                    year,
                },
                DateOrder::MonthFirst,
            ) => (year, first, second),
            (
                Date::Open {
                    first,
                    second,
                    year,
                },
                DateOrder::DayFirst,
            ) => (year, second, first),
        };
        let (hour, minute, second, nano) = self.time;
        let local = DateTime::new(year, month, day, hour, minute, second, nano).ok()?;
        let offset = self.offset.or(offset.map(|offset| offset.0));
        offset.unwrap_or(Offset::UTC).to_timestamp(local).ok()
    }
}

/// Whether the date of a text may begin with the day or with the month.
pub(super) fn is_open(text: &str) -> bool {
    Stamp::parse(text).is_some_and(|stamp| stamp.is_open())
}

/// How the dates and times of a file, or of files that belong together, are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dates {
    order: DateOrder,
    offset: Option<UtcOffset>,
}

impl Dates {
    /// The requested order, or the only one that is possible for these texts: in the other, a month would not exist or times
    /// would not be monotonic. Each text has a location, for errors.
    ///
    /// # Errors
    /// With the location of an ambiguous date, when nothing determines the order.
    pub(super) fn of<'a, P>(
        texts: impl Iterator<Item = (P, &'a str)>,
        options: &Options,
        draft: &mut Draft,
    ) -> Result<Dates, (P, String)> {
        let mut stamps: Vec<Stamp> = Vec::new();
        let mut open = None;
        for (place, text) in texts {
            if let Some(stamp) = Stamp::parse(text) {
                open = open.or_else(|| stamp.is_open().then_some((place, text)));
                stamps.push(stamp);
            }
        }
        let offset = options.utc_offset;
        if offset.is_some() && stamps.iter().all(|stamp| stamp.offset.is_some()) {
            let note = "--utc-offset has no effect: no time of the file is without an offset";
            draft.notes.push(note.to_owned());
        }
        let order = match (options.dates, open) {
            (None, None) => DateOrder::MonthFirst,
            (Some(order), None) => {
                let note = "--dates has no effect: no date of the file can be read in two ways";
                draft.notes.push(note.to_owned());
                order
            }
            (Some(order), Some(_)) => order,
            (None, Some((place, text))) => order(&stamps, draft).ok_or_else(|| {
                let message = format!(
                    "`{}` may begin with the day or with the month; give --dates dmy or --dates mdy",
                    excerpt(text)
                );
                (place, message)
            })?,
        };
        Ok(Dates { order, offset })
    }

    /// The instant of a text; times without an offset are noted.
    ///
    /// # Errors
    /// With the text, when it is not a date and time.
    pub(super) fn instant(&self, text: &str, draft: &mut Draft) -> Result<Timestamp, String> {
        let stamp = Stamp::parse(text);
        let at = stamp.and_then(|stamp| stamp.instant(self.order, self.offset));
        let at = at.ok_or_else(|| {
            let remedy = match stamp {
                Some(stamp) if stamp.is_open() => match self.order {
                    DateOrder::MonthFirst => "give --dates dmy if days come first",
                    DateOrder::DayFirst => "give --dates mdy if months come first",
                },
                Some(_) | None => "correct it, or export it as 2026-11-21 21:15:38",
            };
            let text = excerpt(text);
            format!("`{text}` is not a readable date and time; {remedy}")
        })?;
        if self.offset.is_none() && stamp.is_some_and(|stamp| stamp.offset.is_none()) {
            draft.assume("Times have no offset and are taken as UTC.");
        }
        Ok(at)
    }
}

/// The only possible order of these dates; `None` if both or neither are possible.
fn order(stamps: &[Stamp], draft: &mut Draft) -> Option<DateOrder> {
    let read = |order| -> Option<Vec<Timestamp>> {
        let instants = stamps.iter().map(|stamp| stamp.instant(order, None));
        instants.collect()
    };
    let [month, day] = [DateOrder::MonthFirst, DateOrder::DayFirst].map(read);
    let (month, day) = match (month, day) {
        (Some(_), None) => return Some(DateOrder::MonthFirst),
        (None, Some(_)) => return Some(DateOrder::DayFirst),
        (None, None) => return None,
        (Some(month), Some(day)) if month == day => return Some(DateOrder::MonthFirst),
        (Some(month), Some(day)) => (month, day),
    };
    // A table may be exported with the newest row first.
    let is_one_way = |times: &[Timestamp]| times.is_sorted() || times.is_sorted_by(|a, b| a >= b);
    let (order, first, other) = match (is_one_way(&month), is_one_way(&day)) {
        (true, false) => (DateOrder::MonthFirst, "month", "day"),
        (false, true) => (DateOrder::DayFirst, "day", "month"),
        (true, true) | (false, false) => return None,
    };
    draft.assume(format!(
        "Dates begin with the {first}: with the {other} first, time would run back and forth."
    ));
    Some(order)
}

fn date(text: &str) -> Option<Date> {
    let parts: Vec<&str> = text.split(['-', '/', '.']).collect();
    let [a, b, c] = parts.as_slice() else {
        return None;
    };
    if a.len() == 4 {
        return Some(Date::Known(
            a.parse().ok()?,
            b.parse().ok()?,
            c.parse().ok()?,
        ));
    }
    let year: i16 = c.parse().ok()?;
    let year = if c.len() <= 2 { 2000 + year } else { year };
    let (first, second) = (a.parse().ok()?, b.parse().ok()?);
    Some(match text.contains('.') {
        true => Date::Known(year, second, first),
        false => Date::Open {
            first,
            second,
            year,
        },
    })
}

fn time(text: &str, afternoon: Option<bool>) -> Option<(i8, i8, i8, i32)> {
    let mut parts = text.split(':');
    let hour: i8 = parts.next()?.parse().ok()?;
    let minute = parts.next()?.parse().ok()?;
    let seconds = parts.next().unwrap_or("0");
    let (whole, fraction) = seconds.split_once(['.', ',']).unwrap_or((seconds, ""));
    let digits: String = fraction
        .chars()
        .chain("000000000".chars())
        .take(9)
        .collect();
    let hour = match afternoon {
        None => hour,
        Some(true) if (1..12).contains(&hour) => hour + 12,
        Some(false) if hour == 12 => 0,
        Some(_) => hour,
    };
    Some((hour, minute, whole.parse().ok()?, digits.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instant(text: &str, order: DateOrder) -> String {
        let stamp = Stamp::parse(text).expect(text);
        stamp.instant(order, None).expect(text).to_string()
    }

    #[test]
    fn one_instant_is_read_from_every_form() {
        for text in [
            "2026-11-21T21:15:38+0000",
            "2026-11-21T22:15:38+01:00",
            "2026-11-21 21:15:38 UTC",
            "2026-11-21 22:15:38.0000000 +01:00",
            "11/21/26 21:15:38",
            "11/21/2026 09:15:38 PM",
            "11/21/2026 21:15:38.000",
            "21.11.2026 21:15:38",
        ] {
            assert_eq!(
                instant(text, DateOrder::MonthFirst),
                "2026-11-21T21:15:38Z",
                "{text}"
            );
        }
        let first = instant("21/11/2026 21:15:38", DateOrder::DayFirst);
        assert_eq!(first, "2026-11-21T21:15:38Z");
        let midnight = instant("11/21/2026 12:05:00 AM", DateOrder::MonthFirst);
        assert_eq!(midnight, "2026-11-21T00:05:00Z");
    }

    /// The order that these dates show, and whether it was assumed.
    fn shown(texts: &[&str]) -> (Option<DateOrder>, bool) {
        let stamps: Vec<Stamp> = texts.iter().filter_map(|text| Stamp::parse(text)).collect();
        let mut draft = Draft::of("test");
        let found = order(&stamps, &mut draft);
        (found, !draft.assumptions.is_empty())
    }

    #[test]
    fn the_order_is_known_when_one_number_is_no_month() {
        let day = ["12/11/2026 10:00:00", "13/11/2026 10:00:00"];
        let month = ["11/12/2026 10:00:00", "11/13/2026 10:00:00"];
        let either = ["11/11/2026 10:00:00", "11/11/2026 11:00:00"];
        let open = ["11/12/2026 10:00:00", "11/12/2026 11:00:00"];
        let neither = ["11/13/2026 10:00:00", "13/11/2026 10:00:00"];
        assert_eq!(shown(&day), (Some(DateOrder::DayFirst), false));
        assert_eq!(shown(&month), (Some(DateOrder::MonthFirst), false));
        assert_eq!(shown(&either), (Some(DateOrder::MonthFirst), false));
        assert_eq!(shown(&open), (None, false));
        assert_eq!(shown(&neither), (None, false));
    }

    #[test]
    fn the_order_is_known_when_the_other_runs_back_and_forth() {
        // From 11 and 12 November to 1 December; the month first, these are November, December and January of one year.
        let mut forth = [
            "11/11/2026 10:00:00",
            "12/11/2026 10:00:00",
            "01/12/2026 10:00:00",
        ];
        assert_eq!(shown(&forth), (Some(DateOrder::DayFirst), true));
        forth.reverse();
        assert_eq!(shown(&forth), (Some(DateOrder::DayFirst), true));
        // 3 and 4 May, or 5 March and 5 April.
        let both = ["05/03/2026 10:00:00", "05/04/2026 10:00:00"];
        assert_eq!(shown(&both), (None, false));
    }

    #[test]
    fn what_is_no_date_is_refused_without_a_panic() {
        for text in [
            "",
            "T",
            "2026-13-45T99:99:99",
            "1/2 3",
            "é/é/é é",
            "11/21/26 21:15:38 é",
            "-/-/- :",
            "11/21/2026 21:15:38 +é1",
        ] {
            let read =
                Stamp::parse(text).and_then(|stamp| stamp.instant(DateOrder::DayFirst, None));
            assert_eq!(read, None, "{text}");
        }
    }
}
