//! Numbers as tools write them.

use std::collections::BTreeMap;

use model::number::Counted;
use serde::{Deserialize, Deserializer, de};

use super::text::excerpt;

/// The decimal separator of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decimal {
    Point,
    Comma,
}

impl Decimal {
    /// The separator that all of these cells use; `None` if both occur.
    pub(super) fn of<'a>(cells: impl Iterator<Item = &'a str>) -> Option<Decimal> {
        let (mut point, mut comma) = (false, false);
        for cell in cells.map(str::trim) {
            if Decimal::Point.number(cell).is_some() {
                point |= cell.contains('.');
            } else if Decimal::Comma.number(cell).is_some() {
                comma |= cell.contains(',');
            }
        }
        match (point, comma) {
            (_, false) => Some(Decimal::Point),
            (false, true) => Some(Decimal::Comma),
            (true, true) => None,
        }
    }

    /// The number in a cell; `None` if it is blank or not a number.
    ///
    /// # Errors
    /// When the value is negative or too large for a count: with the cell, to be appended to its location.
    pub(super) fn counted(self, cell: &str) -> Result<Option<f64>, String> {
        let positive = cell
            .trim()
            .strip_prefix('-')
            .and_then(|cell| self.parse(cell));
        if positive.is_some_and(|value| value > 0.0) {
            return Err(format!(
                "`{}` is negative, and no count or time is; correct it, or leave its row out",
                excerpt(cell)
            ));
        }
        match self.parse(cell) {
            None => Ok(None),
            Some(value) => match Counted::try_from(value) {
                Ok(counted) => Ok(Some(counted.get())),
                Err(_) => Err(format!(
                    "`{}` is more than can have been counted (2^64); correct it, or leave its row out",
                    excerpt(cell)
                )),
            },
        }
    }

    /// The number in a cell, if it is a possible count.
    fn number(self, cell: &str) -> Option<f64> {
        self.parse(cell).and_then(counted)
    }

    fn parse(self, cell: &str) -> Option<f64> {
        let cell = cell.trim();
        let begins = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '+');
        if !cell.starts_with(begins) {
            return None;
        }
        let value = match self {
            Decimal::Point => cell.parse(),
            Decimal::Comma if cell.contains('.') => return None,
            Decimal::Comma => cell.replacen(',', ".", 1).parse(),
        };
        value.ok()
    }
}

/// The value, if it is a possible count or time.
pub(super) fn counted(value: f64) -> Option<f64> {
    Counted::try_from(value).ok().map(Counted::get)
}

/// JSON figures by name, each a possible count or time.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Figures(BTreeMap<String, f64>);

impl Figures {
    /// Figures by name.
    pub(super) fn of(figures: impl Iterator<Item = (String, f64)>) -> Figures {
        Figures(figures.collect())
    }

    /// A figure; `None` if it is missing.
    pub(super) fn counted(&self, name: &str) -> Option<f64> {
        self.0.get(name).copied().and_then(counted)
    }

    /// A figure as written.
    pub(super) fn get(&self, name: &str) -> Option<f64> {
        self.0.get(name).copied()
    }
}

impl<'de> Deserialize<'de> for Figures {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Figures, D::Error> {
        let figures = BTreeMap::<String, f64>::deserialize(deserializer)?;
        for (name, value) in &figures {
            Counted::try_from(*value)
                .map_err(|error| de::Error::custom(format!("`{name}`: {error}")))?;
        }
        Ok(Figures(figures))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comma_is_a_decimal_mark_only_in_files_without_points() {
        assert_eq!(
            Decimal::of(["0,5", "12", " "].into_iter()),
            Some(Decimal::Comma)
        );
        assert_eq!(
            Decimal::of(["0.5", "9.3E-05"].into_iter()),
            Some(Decimal::Point)
        );
        assert_eq!(Decimal::of(["0.5", "1,234"].into_iter()), None);
        assert_eq!(Decimal::Comma.number("0,25"), Some(0.25));
        assert_eq!(Decimal::Point.number("9.32E-05"), Some(9.32e-5));
    }

    #[test]
    fn what_cannot_have_been_counted_is_no_number() {
        for cell in ["", " ", "-1", "nan", "inf", "1e999", "NULL", "1,000,000"] {
            assert_eq!(Decimal::Point.number(cell), None, "{cell}");
        }
    }

    #[test]
    fn what_is_beyond_every_counter_is_an_error_and_not_a_blank() {
        for blank in ["", " ", "nan", "inf", "NULL", "-"] {
            assert_eq!(Decimal::Point.counted(blank), Ok(None), "{blank}");
        }
        let negative = Decimal::Point.counted("-0.5").expect_err("no count");
        assert!(negative.starts_with("`-0.5` is negative"), "{negative}");
        for wrong in ["1e308", "1e999", "18446744073709560000"] {
            let error = Decimal::Point.counted(wrong).expect_err("it is too large");
            assert!(error.starts_with(&format!("`{wrong}` is more")), "{error}");
        }
    }

    #[test]
    fn a_figure_of_json_beyond_every_counter_is_named() {
        let figures: Figures = serde_json::from_str(r#"{"w/s": 2}"#).expect("figures");
        assert_eq!(
            (figures.counted("r/s"), figures.counted("w/s")),
            (None, Some(2.0))
        );
        let error = serde_json::from_str::<Figures>(r#"{"r/s": -0.5}"#).expect_err("negative");
        assert!(
            error.to_string().contains("`r/s`: -0.5 is not a count"),
            "{error}"
        );
        let error = serde_json::from_str::<Figures>(r#"{"r/s": 1e308}"#).expect_err("too many");
        assert!(
            error.to_string().contains("`r/s`: 1e308 is not a count"),
            "{error}"
        );
    }
}
