//! What can be done, one card each: to stay, the cheapest, and the fastest.

use super::decision::Kind;
use super::document::{Advice, Layout};
use super::view::{machine, milliseconds, time, volume, why};

/// One thing that could be done, on a page.
pub(super) struct Card {
    /// What: `Stay`, `Cheapest`.
    pub(super) title: String,
    /// Whether it is the answer.
    pub(super) is_answer: bool,
    /// The machine's name.
    pub(super) machine: String,
    /// Its volumes, one each.
    pub(super) volumes: Vec<String>,
    /// The whole price.
    pub(super) price: String,
    /// The time of an operation.
    pub(super) time: String,
    /// What holds it back.
    pub(super) held_back: String,
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
    let answer = match advice.decision.kind {
        Kind::Undecided | Kind::Nothing => None,
        Kind::Stay | Kind::Change | Kind::Move => advice.chosen(),
    };
    let card = |(title, layout): (String, &Layout)| Card {
        title,
        is_answer: answer.is_some_and(|answer| answer.is_same_as(layout)),
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
    };
    named.into_iter().map(card).collect()
}
