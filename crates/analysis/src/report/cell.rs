//! Metrics and published figures as cells of a table.

use crate::findings::{Metric, Published};
use table::quantity::{number, percent_signed};
use table::{Cell, Quantity};

/// With its interval and its own unit.
impl From<&Metric> for Cell {
    fn from(metric: &Metric) -> Cell {
        quantity(metric).into()
    }
}

/// A published figure, in the unit of its column.
pub(super) fn published(published: &Published) -> Cell {
    Cell::Figure {
        text: said(published),
        raw: match published {
            Published::Number(value) => value.to_string(),
            Published::Words(words) => words.clone(),
        },
    }
}

/// A metric with its interval beside the published figure, both in the unit of their column.
pub(super) fn beside(ours: Option<&Metric>, published: Option<&Published>) -> Cell {
    if ours.is_none() && published.is_none() {
        return Cell::Missing;
    }
    let off = ours.and_then(|ours| published?.deviation(ours.mean));
    Cell::Beside {
        text: ours.map_or_else(|| "-".into(), |metric| quantity(metric).bare()),
        raw: ours.map_or_else(String::new, |metric| metric.mean.to_string()),
        reference: published.map(|published| format!("publ.\u{a0}{}", said(published))),
        deviation: off.map(percent_signed),
    }
}

fn quantity(metric: &Metric) -> Quantity<'_> {
    Quantity::with_interval([metric.mean, metric.low, metric.high], &metric.unit)
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

    #[test]
    fn a_published_figure_stands_behind_or_below_ours() {
        let elapsed = Metric {
            mean: 157.9,
            low: 156.4,
            high: 159.4,
            unit: "s".into(),
        };
        // 157.9 / 157 - 1 = 0.57 %
        let cell = beside(Some(&elapsed), Some(&Published::Number(157.0)));

        assert_eq!(cell.line(), "157.9 ± 1.5 (publ. 157, +0.6 %)");
        assert_eq!(cell.raw(), "157.9");
        assert!(beside(None, None).is_empty());
    }
}
