//! Layouts as cards; what can be done is one each: to stay, the cheapest, and the fastest.

use serde::Serialize;

use super::decision::Kind;
use super::document::{Advice, Layout};
use super::money::Currency;
use super::shown::{machine, milliseconds, time, volume, why};

/// A layout, as sentences for a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Card {
    /// What it is: `Stay`, `Cheapest`.
    pub title: String,
    /// Whether it is the answer.
    pub is_answer: bool,
    /// The machine's name.
    pub machine: String,
    /// Its volumes, one each.
    pub volumes: Vec<String>,
    /// The whole price.
    pub price: String,
    /// The time of an operation.
    pub time: String,
    /// What holds it back.
    pub held_back: String,
}

impl Card {
    /// That of `layout`, with prices in `currency`.
    pub fn of(title: String, layout: &Layout, currency: &Currency) -> Card {
        Card {
            title,
            is_answer: false,
            machine: machine(layout),
            volumes: layout.volumes.iter().map(volume).collect(),
            price: match layout.usd_per_month {
                Some(usd) => format!("{} a month", currency.shown(usd)),
                None => "price not known".to_owned(),
            },
            time: format!(
                "{} % of today's time, {} ms per operation",
                time(layout),
                milliseconds(layout)
            ),
            held_back: why(layout),
        }
    }
}

/// The layout that is marked as the answer, where there is one.
pub(super) fn answer(advice: &Advice) -> Option<&Layout> {
    match advice.decision.kind {
        Kind::Undecided | Kind::Nothing => None,
        Kind::Stay | Kind::Change | Kind::Move => advice.chosen(),
    }
}

/// To stay, the cheapest, and the fastest; those that are one layout are one card.
pub(super) fn cards(advice: &Advice) -> Vec<Card> {
    let currency = &advice.asked.currency;
    let layouts = [
        ("Stay", Some(&advice.today)),
        ("Cheapest", advice.cheapest.as_ref()),
        ("Fastest", advice.fastest.as_ref()),
        ("Above the budget", advice.above_budget.as_ref()),
    ];
    let mut named: Vec<(String, &Layout)> = Vec::new();
    for (title, layout) in layouts {
        let Some(layout) = layout else { continue };
        match named.iter_mut().find(|(_, known)| known.is_same_as(layout)) {
            Some((titles, _)) => *titles = format!("{titles}, {}", title.to_lowercase()),
            None if layout.time_is_least => {
                named.push((format!("{title}, by a bound"), layout));
            }
            None => named.push((title.to_owned(), layout)),
        }
    }
    let answer = answer(advice);
    let card = |(title, layout): (String, &Layout)| Card {
        is_answer: answer.is_some_and(|answer| answer.is_same_as(layout)),
        ..Card::of(title, layout, currency)
    };
    named.into_iter().map(card).collect()
}
