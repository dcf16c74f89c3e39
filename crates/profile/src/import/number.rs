//! Numbers as tools write them.

/// The mark between whole part and decimals in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decimal {
    Point,
    Comma,
}

impl Decimal {
    /// The mark that all of these cells have; `None` where both occur.
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

    /// The number in a cell; `None` where it is blank, no number, negative or not finite.
    pub(super) fn number(self, cell: &str) -> Option<f64> {
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
        value.ok().and_then(counted)
    }
}

/// The value, if something can have been counted or timed as it.
pub(super) fn counted(value: f64) -> Option<f64> {
    (value.is_finite() && value >= 0.0).then_some(value)
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
}
