//! A typed value of a table, and how it is formatted.

use crate::findings::{Metric, Published};
use crate::quantity::{
    Quantity, bytes, count, number, percent_bare, percent_signed, ratio, usd, used_bare,
};

/// A value. It knows its format; a renderer only places it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    /// Nothing to show.
    Missing,
    /// Text. A line break in it applies only on a terminal.
    Text(String),
    /// Text that a reader must not overlook.
    Marked(&'static str),
    /// A name with a qualifier.
    Name(String, Vec<String>),
    /// How many of the planned trials finished.
    Trials { finished: u32, planned: u32 },
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
    /// A metric with its interval and its own unit.
    Metric(Metric),
    /// A published figure, in the unit of its column.
    Published(Published),
    /// A metric with its interval beside the published figure, both in the unit of their column.
    Beside(Option<Metric>, Option<Published>),
    /// Bytes, each in a suitable unit.
    Bytes(i64),
    /// Two related values: read and write, mean and p99.
    Pair(Box<[Cell; 2]>),
}

impl Cell {
    /// `first / second`
    pub(super) fn pair(first: impl Into<Cell>, second: impl Into<Cell>) -> Cell {
        Cell::Pair(Box::new([first.into(), second.into()]))
    }

    /// Whether it is empty or trivial.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Cell::Missing | Cell::Beside(None, None) => true,
            Cell::Text(text) => text.is_empty(),
            Cell::Trials { finished, planned } => finished == planned,
            Cell::Marked(_)
            | Cell::Name(..)
            | Cell::Count(_)
            | Cell::Number(_)
            | Cell::Usd(_)
            | Cell::Percent(_)
            | Cell::Used(_)
            | Cell::Ratio(_)
            | Cell::Metric(_)
            | Cell::Published(_)
            | Cell::Beside(..)
            | Cell::Bytes(_)
            | Cell::Pair(_) => false,
        }
    }

    /// Whether a page highlights it.
    pub(super) fn is_marked(&self) -> bool {
        matches!(self, Cell::Marked(_))
    }

    /// On one line: `157.9 ± 1.5 (publ. 157, +0.6 %)`.
    pub(super) fn line(&self) -> String {
        match self {
            Cell::Missing => "-".into(),
            Cell::Text(text) => text.replace('\n', " "),
            Cell::Marked(text) => (*text).into(),
            Cell::Name(name, notes) => noted(name.clone(), notes),
            Cell::Trials { finished, planned } => format!("{finished} of {planned}"),
            Cell::Count(how_many) => count(*how_many),
            Cell::Number(value) => number(*value),
            Cell::Usd(amount) => usd(*amount),
            Cell::Percent(share) => percent_bare(*share),
            Cell::Used(share) => used_bare(*share),
            Cell::Ratio(value) => ratio(*value),
            Cell::Metric(metric) => quantity(metric).to_string(),
            Cell::Published(published) => said(published),
            Cell::Beside(ours, published) => {
                let (published, off) = beside(ours.as_ref(), published.as_ref());
                let published = published.map(|text| text.replace('\u{a0}', " "));
                let notes: Vec<String> = published.into_iter().chain(off).collect();
                noted(bare(ours.as_ref()), &notes)
            }
            Cell::Bytes(count) => bytes(*count),
            Cell::Pair(both) => both.each_ref().map(Cell::line).join(" / "),
        }
    }

    /// On several lines, the value first: `157.9 ± 1.5`, `publ. 157 (+0.6 %)`.
    pub(super) fn lines(&self) -> Vec<String> {
        match self {
            Cell::Name(name, notes) => [vec![name.clone()], notes.clone()].concat(),
            Cell::Beside(ours, published) => {
                let (published, off) = beside(ours.as_ref(), published.as_ref());
                // Kept together when lines are wrapped.
                let off = off.map(|off| format!(" ({})", off.replace(' ', "\u{a0}")));
                let below = published.map(|text| text + &off.unwrap_or_default());
                let ours = bare(ours.as_ref()).replace(' ', "\u{a0}");
                [ours].into_iter().chain(below).collect()
            }
            Cell::Text(text) => text.lines().map(str::to_owned).collect(),
            other => vec![other.line()],
        }
    }

    /// For programs: all digits, no unit, empty for a missing value.
    pub(super) fn raw(&self) -> String {
        match self {
            Cell::Missing | Cell::Beside(None, _) => String::new(),
            Cell::Name(name, _) => name.clone(),
            Cell::Trials { finished, .. } => finished.to_string(),
            Cell::Number(value)
            | Cell::Usd(value)
            | Cell::Percent(value)
            | Cell::Used(value)
            | Cell::Ratio(value) => value.to_string(),
            Cell::Count(count) => count.to_string(),
            Cell::Metric(metric) | Cell::Beside(Some(metric), _) => metric.mean.to_string(),
            Cell::Published(Published::Number(value)) => value.to_string(),
            Cell::Bytes(count) => count.to_string(),
            Cell::Pair(both) => both.each_ref().map(Cell::raw).join(" / "),
            Cell::Text(_) | Cell::Marked(_) | Cell::Published(Published::Words(_)) => self.line(),
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

fn quantity(metric: &Metric) -> Quantity<'_> {
    Quantity::with_interval([metric.mean, metric.low, metric.high], &metric.unit)
}

fn bare(metric: Option<&Metric>) -> String {
    metric.map_or_else(|| "-".into(), |metric| quantity(metric).bare())
}

/// `publ. 157`, and how far our figure is off.
fn beside(
    ours: Option<&Metric>,
    published: Option<&Published>,
) -> (Option<String>, Option<String>) {
    let off = ours.and_then(|ours| published?.deviation(ours.mean));
    let published = published.map(|published| format!("publ.\u{a0}{}", said(published)));
    (published, off.map(percent_signed))
}

/// A published figure as it was published.
fn said(published: &Published) -> String {
    match published {
        Published::Number(value) => number(*value),
        Published::Words(words) => words.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elapsed() -> Metric {
        Metric {
            mean: 157.9,
            low: 156.4,
            high: 159.4,
            unit: "s".into(),
        }
    }

    #[test]
    fn a_published_figure_stands_behind_or_below_ours() {
        // 157.9 / 157 - 1 = 0.57 %
        let cell = Cell::Beside(Some(elapsed()), Some(Published::Number(157.0)));

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
    fn trials_go_without_saying_where_all_finished() {
        let [all, some] = [3, 2].map(|finished| Cell::Trials {
            finished,
            planned: 3,
        });

        assert!(all.is_empty() && !some.is_empty());
        assert_eq!((some.line(), some.raw()), ("2 of 3".into(), "2".into()));
    }
}
