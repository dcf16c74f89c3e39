//! Every layout of an answer: the frontier, and each in full, as a click on the chart shows it.

use super::cards::{Card, answer};
use super::document::{Advice, Layout};
use super::shown::{machine, most_used, named, prices, time, usd, used, volumes};
use table::quantity::percent;
use table::{Column, Table};

/// The name of a layout that is on the frontier and not one of the answers.
const ON_FRONTIER: &str = "on the frontier";

/// A layout in full.
pub(super) struct Point {
    pub(super) card: Card,
    /// Its name on a button: price and time.
    pub(super) label: String,
    /// Its bill, every line.
    pub(super) bill: Table,
    /// The most used limits.
    pub(super) used: Vec<String>,
    /// How it differs from today's layout; a phrase each.
    pub(super) differences: Vec<String>,
}

impl Advice {
    /// The answers and the layouts of the frontier, each once and with its names; by price, and at the end those whose price is not
    /// known.
    pub fn every_layout(&self) -> Vec<(String, &Layout)> {
        let mut all = named(self);
        for layout in &self.frontier {
            if !all.iter().any(|(_, known)| known.is_same_as(layout)) {
                all.push((ON_FRONTIER.to_owned(), layout));
            }
        }
        let price = |layout: &Layout| layout.usd_per_month.unwrap_or(f64::INFINITY);
        all.sort_by(|(_, one), (_, other)| price(one).total_cmp(&price(other)));
        all
    }
}

/// Every layout in full.
pub(super) fn points(advice: &Advice) -> Vec<Point> {
    let currency = &advice.asked.currency;
    let answer = answer(advice);
    let point = |(name, layout): (String, &Layout)| {
        let card = Card {
            is_answer: answer.is_some_and(|answer| answer.is_same_as(layout)),
            ..Card::of(name, layout, currency)
        };
        let price = layout.usd_per_month.map(|usd| currency.shown(usd));
        let price = price.as_deref().unwrap_or("price not known");
        Point {
            label: format!("{price}, {}", percent(layout.time)),
            bill: prices(layout, currency),
            used: most_used(layout).collect(),
            differences: layout.differences.clone(),
            card,
        }
    };
    advice.every_layout().into_iter().map(point).collect()
}

/// The layouts of the frontier.
pub(super) fn frontier(advice: &Advice) -> Table {
    let currency = &advice.asked.currency;
    let frontier = Table::of(
        &advice.frontier,
        [
            Column::text("machine", |layout: &&Layout| machine(layout)),
            Column::text("volumes", |layout: &&Layout| volumes(layout)),
            Column::figure(currency.per_month(), |layout: &&Layout| {
                usd(layout.usd_per_month, currency)
            }),
            Column::figure("time, %\nof today", |layout: &&Layout| time(layout)),
            Column::text("most used", |layout: &&Layout| used(layout, 1)),
            Column::text("what it takes", |layout: &&Layout| {
                layout.differences.join("\n")
            })
            .below(),
        ],
    );
    Table {
        note: "by more than 5 %, each simulated once; an answer may be a simpler one of about the same price and time"
            .to_owned(),
        ..frontier
    }
}
