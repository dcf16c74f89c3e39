//! In which order a date has day and month, and how far local time is ahead of UTC.

use std::str::FromStr;

use jiff::tz::Offset;
use thiserror::Error;

/// Which comes first in a date such as 03/04/2026.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateOrder {
    /// As in the United States.
    MonthFirst,
    /// As in most other countries.
    DayFirst,
}

/// A text that is not an order of dates.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("give mdy or dmy")]
pub struct DateOrderError;

impl FromStr for DateOrder {
    type Err = DateOrderError;

    fn from_str(text: &str) -> Result<DateOrder, DateOrderError> {
        match text {
            "mdy" => Ok(DateOrder::MonthFirst),
            "dmy" => Ok(DateOrder::DayFirst),
            _ => Err(DateOrderError),
        }
    }
}

/// How far local time is ahead of UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UtcOffset(pub(super) Offset);

/// A text that is not an offset.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("give hours and minutes ahead of UTC, such as +01:00 or -05:00")]
pub struct UtcOffsetError;

impl FromStr for UtcOffset {
    type Err = UtcOffsetError;

    fn from_str(text: &str) -> Result<UtcOffset, UtcOffsetError> {
        offset(text.trim()).map(UtcOffset).ok_or(UtcOffsetError)
    }
}

impl UtcOffset {
    /// The offset where UTC is local time plus `minutes`.
    pub(super) fn of_bias(minutes: i64) -> Option<UtcOffset> {
        let seconds = i32::try_from(minutes.checked_mul(-60)?).ok()?;
        Offset::from_seconds(seconds).ok().map(UtcOffset)
    }
}

/// `Z`, `UTC`, `+01`, `+0100` or `+01:00`.
pub(super) fn offset(text: &str) -> Option<Offset> {
    if ["Z", "UTC", "GMT"].contains(&text) {
        return Some(Offset::UTC);
    }
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+')?),
    };
    let digits = digits.replace(':', "");
    let is_number = digits.chars().all(|c| c.is_ascii_digit());
    if !is_number || !matches!(digits.len(), 2 | 4) {
        return None;
    }
    let hours: i32 = digits[..2].parse().ok()?;
    let minutes: i32 = digits.get(2..4).unwrap_or_default().parse().unwrap_or(0);
    Offset::from_seconds(sign * (hours * 3600 + minutes * 60)).ok()
}
