//! A typed value of a table, and how it is formatted.

use crate::quantity::{Quantity, bytes, count, number, percent_bare, ratio, usd, used_bare};

/// A value. It knows its format; a renderer only places it.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Nothing to show.
    Missing,
    /// Text. A line break in it applies only on a terminal.
    Text(String),
    /// Text that a reader must not overlook.
    Marked(&'static str),
    /// A name with a qualifier.
    Name(String, Vec<String>),
    /// A count of so many, which goes without saying where it is all of them.
    Of {
        /// How many.
        count: u32,
        /// Of how many.
        all: u32,
    },
    /// A count.
    Count(u64),
    /// A value in the unit of its column.
    Number(f64),
    /// Dollars, in a column of them.
    Usd(f64),
    /// A share, in a column of percent.
    Percent(f64),
    /// The used share of a limit, in a column of percent.
    Used(f64),
    /// A factor.
    Ratio(f64),
    /// A figure that is formatted already.
    Figure {
        /// How it reads, with its own unit where its column has none.
        text: String,
        /// The same for programs.
        raw: String,
    },
    /// A figure beside the one that it is compared with, both in the unit of their column and formatted already.
    Beside {
        /// The figure.
        text: String,
        /// The same for programs.
        raw: String,
        /// What it is compared with, if there is such a figure; lines break at its spaces, not at its no-break spaces.
        reference: Option<String>,
        /// How far it is off.
        deviation: Option<String>,
    },
    /// Bytes, each in a suitable unit.
    Bytes(i64),
    /// Two related values: read and write, mean and p99.
    Pair(Box<[Cell; 2]>),
}

impl Cell {
    /// `first / second`
    pub fn pair(first: impl Into<Cell>, second: impl Into<Cell>) -> Cell {
        Cell::Pair(Box::new([first.into(), second.into()]))
    }

    /// Whether it is empty or trivial.
    pub fn is_empty(&self) -> bool {
        match self {
            Cell::Missing => true,
            Cell::Text(text) => text.is_empty(),
            Cell::Of { count, all } => count == all,
            Cell::Marked(_)
            | Cell::Name(..)
            | Cell::Count(_)
            | Cell::Number(_)
            | Cell::Usd(_)
            | Cell::Percent(_)
            | Cell::Used(_)
            | Cell::Ratio(_)
            | Cell::Figure { .. }
            | Cell::Beside { .. }
            | Cell::Bytes(_)
            | Cell::Pair(_) => false,
        }
    }

    /// Whether a page highlights it.
    pub fn is_marked(&self) -> bool {
        matches!(self, Cell::Marked(_))
    }

    /// On one line: `157.9 ± 1.5 (publ. 157, +0.6 %)`.
    pub fn line(&self) -> String {
        match self {
            Cell::Missing => "-".into(),
            Cell::Text(text) => text.replace('\n', " "),
            Cell::Marked(text) => (*text).into(),
            Cell::Name(name, notes) => noted(name.clone(), notes),
            Cell::Of { count, all } => format!("{count} of {all}"),
            Cell::Count(how_many) => count(*how_many),
            Cell::Number(value) => number(*value),
            Cell::Usd(amount) => usd(*amount),
            Cell::Percent(share) => percent_bare(*share),
            Cell::Used(share) => used_bare(*share),
            Cell::Ratio(value) => ratio(*value),
            Cell::Figure { text, .. } => text.clone(),
            Cell::Beside {
                text,
                reference,
                deviation,
                ..
            } => {
                let reference = reference.as_ref().map(|text| text.replace('\u{a0}', " "));
                let notes: Vec<String> = reference.into_iter().chain(deviation.clone()).collect();
                noted(text.clone(), &notes)
            }
            Cell::Bytes(count) => bytes(*count),
            Cell::Pair(both) => both.each_ref().map(Cell::line).join(" / "),
        }
    }

    /// On several lines, the value first: `157.9 ± 1.5`, `publ. 157 (+0.6 %)`.
    pub fn lines(&self) -> Vec<String> {
        match self {
            Cell::Name(name, notes) => [vec![name.clone()], notes.clone()].concat(),
            Cell::Beside {
                text,
                reference,
                deviation,
                ..
            } => {
                // Kept together when lines are wrapped.
                let together = |text: &String| text.replace(' ', "\u{a0}");
                let off = deviation
                    .as_ref()
                    .map(|off| format!(" ({})", together(off)));
                let below = reference.clone();
                let below = below.map(|text| text + &off.unwrap_or_default());
                [together(text)].into_iter().chain(below).collect()
            }
            Cell::Text(text) => text.lines().map(str::to_owned).collect(),
            other => vec![other.line()],
        }
    }

    /// For programs: all digits, no unit, empty for a missing value.
    pub fn raw(&self) -> String {
        match self {
            Cell::Missing => String::new(),
            Cell::Name(name, _) => name.clone(),
            Cell::Of { count, .. } => count.to_string(),
            Cell::Number(value)
            | Cell::Usd(value)
            | Cell::Percent(value)
            | Cell::Used(value)
            | Cell::Ratio(value) => value.to_string(),
            Cell::Count(count) => count.to_string(),
            Cell::Figure { raw, .. } | Cell::Beside { raw, .. } => raw.clone(),
            Cell::Bytes(count) => count.to_string(),
            Cell::Pair(both) => both.each_ref().map(Cell::raw).join(" / "),
            Cell::Text(_) | Cell::Marked(_) => self.line(),
        }
    }
}

/// With its own unit.
impl From<Quantity<'_>> for Cell {
    fn from(quantity: Quantity) -> Cell {
        Cell::Figure {
            text: quantity.to_string(),
            raw: quantity.value.to_string(),
        }
    }
}

impl From<f64> for Cell {
    fn from(value: f64) -> Cell {
        Cell::Number(value)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.into())
    }
}

impl<C: Into<Cell>> From<Option<C>> for Cell {
    fn from(cell: Option<C>) -> Cell {
        cell.map_or(Cell::Missing, Into::into)
    }
}

fn noted(value: String, notes: &[String]) -> String {
    match notes {
        [] => value,
        notes => format!("{value} ({})", notes.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_stands_above_the_one_that_it_is_compared_with() {
        let cell = Cell::Beside {
            text: "157.9 ± 1.5".into(),
            raw: "157.9".into(),
            reference: Some("publ.\u{a0}157".into()),
            deviation: Some("+0.6 %".into()),
        };

        assert_eq!(cell.line(), "157.9 ± 1.5 (publ. 157, +0.6 %)");
        let together = ["157.9\u{a0}±\u{a0}1.5", "publ.\u{a0}157 (+0.6\u{a0}%)"];
        assert_eq!(cell.lines(), together);
        assert_eq!(cell.raw(), "157.9");
    }

    #[test]
    fn what_is_missing_is_a_dash_for_readers_and_nothing_for_programs() {
        let half = Cell::pair(1.5, None::<f64>);

        assert_eq!(
            (Cell::Missing.line(), Cell::Missing.raw()),
            ("-".into(), String::new())
        );
        assert_eq!(half.line(), "1.50 / -");
    }

    #[test]
    fn a_count_of_all_goes_without_saying() {
        let [all, some] = [3, 2].map(|count| Cell::Of { count, all: 3 });

        assert!(all.is_empty() && !some.is_empty());
        assert_eq!((some.line(), some.raw()), ("2 of 3".into(), "2".into()));
    }
}
