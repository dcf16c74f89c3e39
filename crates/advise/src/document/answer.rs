//! The answer, in a sentence.

use analysis::report::advice::Kind;
use analysis::report::advice::document::{Advice, Layout, Volume};
use replay::OFF_MAX;
use table::quantity::percent;

use super::Described;
use crate::prefer::SAME_PRICE;

impl Described<'_> {
    /// The answer, in a sentence that begins with what to do.
    pub(super) fn answer(&self, document: &Advice) -> String {
        let decision = &document.decision;
        let currency = &document.asked.currency;
        let price = |layout: &Layout| {
            let usd = layout.usd_per_month.unwrap_or_default();
            format!("{} a month", currency.shown(usd))
        };
        let goal = format!(
            "operations at most {} slower than today",
            percent(self.request.wishes.limits.slower_max)
        );
        let now = document.today.usd_per_month;
        let now = match now {
            Some(now) => format!(" (today {})", currency.shown(now)),
            None => " (today's price is not known)".to_owned(),
        };
        match (decision.kind, &document.cheapest) {
            (Kind::Stay, _) => format!(
                "Stay on {}, for {}: nothing that keeps {goal} saves {} a month or more.{}",
                what(&document.today),
                price(&document.today),
                currency.shown(decision.worth_usd_per_month),
                self.faster(document)
            ),
            (Kind::Change, Some(layout)) => format!(
                "Change one thing: {}, for {}{now}: operations take {} of today's time.{}",
                decision.differences.join(" and "),
                price(layout),
                percent(layout.time),
                for_as_much(document, layout)
            ),
            (Kind::Move, Some(layout)) => format!(
                "Move to {}, for {}{now}: operations take {} of today's time.{}",
                what(layout),
                price(layout),
                percent(layout.time),
                for_as_much(document, layout)
            ),
            (Kind::Change | Kind::Move | Kind::Nothing, _) => self.nothing(document, &goal),
        }
    }

    /// What more money brings, where that is more than the model's error.
    fn faster(&self, document: &Advice) -> String {
        let answers = [&document.best_value, &document.fastest];
        let mut answers = answers.into_iter().flatten();
        let faster = answers.find(|layout| layout.time <= 1.0 - OFF_MAX);
        faster.map_or_else(String::new, |layout| {
            let usd = layout.usd_per_month.unwrap_or_default();
            format!(
                " Faster within the budget: {}, for {} a month: {} of today's time.",
                what(layout),
                document.asked.currency.shown(usd),
                percent(layout.time)
            )
        })
    }

    /// What is missing where nothing within the budget is fast enough.
    fn nothing(&self, document: &Advice, goal: &str) -> String {
        let currency = &document.asked.currency;
        let price = |layout: &Layout| currency.shown(layout.usd_per_month.unwrap_or_default());
        let budget = self.request.wishes.limits.budget;
        let budget = budget.map_or_else(String::new, |most| {
            format!(" for at most {} a month", currency.shown(most))
        });
        let nearest = match (&document.above_budget, &document.fastest) {
            (Some(dearer), _) => format!(
                "the cheapest that does is {}, for {} a month: raise the budget to that",
                what(dearer),
                price(dearer)
            ),
            (None, Some(fastest)) => format!(
                "the nearest is {}, for {} a month, on which operations take {} of today's time: allow that (--not-slower), or \
                 more machines and disks",
                what(fastest),
                price(fastest),
                percent(fastest.time)
            ),
            (None, None) => {
                "allow more (--not-slower), or other machines and disks (--machine, --disk, --cloud)".to_owned()
            }
        };
        let nothing = match document.counts.complete {
            true => "No layout keeps",
            false => "The search ended before it found a layout that keeps",
        };
        format!("{nothing} {goal}{budget}; {nearest}.")
    }
}

/// What is faster than the advised layout by more than the model's error, for about the same price: it has more disks, or more
/// kinds of them.
fn for_as_much(document: &Advice, advised: &Layout) -> String {
    let is_as_dear = |layout: &Layout| {
        let prices = layout.usd_per_month.zip(advised.usd_per_month);
        prices.is_some_and(|(own, most)| own <= most * (1.0 + SAME_PRICE))
    };
    let answers = [&document.fastest, &document.best_value];
    let mut answers = answers.into_iter().flatten();
    let found =
        answers.find(|layout| is_as_dear(layout) && layout.time <= advised.time * (1.0 - OFF_MAX));
    found.map_or_else(String::new, |layout| {
        let usd = layout.usd_per_month.unwrap_or_default();
        format!(
            " For about as much: {}, for {} a month: {} of today's time.",
            what(layout),
            document.asked.currency.shown(usd),
            percent(layout.time)
        )
    })
}

/// A layout in a few words.
fn what(layout: &Layout) -> String {
    let machine = layout.machine.as_deref().unwrap_or("today's machine");
    let volumes: Vec<String> = layout.volumes.iter().map(brief).collect();
    format!("{machine} with {}", volumes.join(" and "))
}

/// A volume in a few words, for a sentence.
fn brief(volume: &Volume) -> String {
    let roles: Vec<&str> = volume.roles.iter().map(|role| role.name()).collect();
    let roles = roles.join(", ");
    let count = match volume.count {
        1 => String::new(),
        count => format!("{count} x "),
    };
    match volume.forgets {
        true => format!("its own disk for {roles}"),
        false => format!("{count}{} for {roles}", volume.disk),
    }
}
