//! The answer, in a sentence.

use analysis::report::advice::Kind;
use analysis::report::advice::document::{Advice, Layout, Volume};
use catalogue::Generation;
use reading::Role;
use replay::OFF_MAX;
use table::quantity::percent;

use super::DocumentBuilder;
use crate::prefer::SAME_PRICE;

impl DocumentBuilder<'_> {
    /// The answer, in a sentence that begins with what to do; before it, that a search which ended early has not decided it.
    pub(super) fn answer(&self, document: &Advice) -> String {
        let answer = self.decided(document);
        match (document.counts.complete, document.decision.kind) {
            (false, Kind::Stay | Kind::Change | Kind::Move) => {
                format!("Undecided, as the search ended early. So far: {answer}")
            }
            (true, _) | (false, Kind::Nothing | Kind::Undecided) => answer,
        }
    }

    fn decided(&self, document: &Advice) -> String {
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
                "Stay on {}, for {}: nothing that keeps {goal} saves {} a month or more.{}{}",
                what(&document.today),
                price(&document.today),
                currency.shown(decision.worth_usd_per_month),
                match self.is_by_bound() {
                    true =>
                        " A bound says so (--quick): what is faster was not looked for.".to_owned(),
                    false => self.faster(document),
                },
                self.on_other_kind(document)
            ),
            (Kind::Undecided, Some(layout)) => format!(
                "Undecided: nothing that keeps {goal} costs less than {}{now}. This is a bound, and no layout was simulated (--quick): \
                 {}, for that price, may be too slow. The same command without --quick answers.",
                price(layout),
                what(layout)
            ),
            (Kind::Change, Some(layout)) => format!(
                "Change one thing: {}, for {}{now}: operations take {}.{}",
                decision.differences.join(" and "),
                price(layout),
                time(layout),
                self.for_as_much(document, layout)
            ),
            (Kind::Move, Some(layout)) => format!(
                "Move to {}, for {}{now}: operations take {}.{}",
                what(layout),
                price(layout),
                time(layout),
                self.for_as_much(document, layout)
            ),
            (Kind::Change | Kind::Move | Kind::Undecided | Kind::Nothing, _) => {
                self.nothing(document, &goal)
            }
        }
    }

    /// What more money brings, where that is more than the model's error.
    fn faster(&self, document: &Advice) -> String {
        let answers = [&document.best_value, &document.fastest];
        let mut answers = answers.into_iter().flatten();
        let faster = answers.find(|layout| layout.time <= 1.0 - OFF_MAX);
        faster.map_or_else(String::new, |layout| {
            format!(
                " Faster within the budget: {}, for {} a month: {}.",
                what(layout),
                document.asked.currency.shown(usd(layout)),
                time(layout)
            )
        })
    }

    /// What is faster than the advised layout by more than the model's error, for about the same price or less: it has more disks, or
    /// more kinds of them. And what keeps the goal for less, if that is another one.
    fn for_as_much(&self, document: &Advice, advised: &Layout) -> String {
        let very_cheapest = self.found.very_cheapest.as_ref();
        let very_cheapest = very_cheapest.map(|found| self.layout(found));
        let answers = [&document.fastest, &document.best_value, &document.runner_up];
        let others: Vec<&Layout> = answers
            .into_iter()
            .chain([&very_cheapest])
            .flatten()
            .chain(&document.frontier)
            .filter(|layout| !self.saves_too_little(layout, advised))
            .collect();
        let (quicker, cheaper) = beside(&others, advised, 1.0 + document.asked.slower_max);
        let named = |begins: &str, layout: &Layout| {
            format!(
                " {begins}: {}, for {} a month: {}.",
                what(layout),
                document.asked.currency.shown(usd(layout)),
                time(layout)
            )
        };
        let costs_less = |layout: &Layout| usd(layout) < usd(advised) - AS_MUCH;
        let quicker = quicker.map(|layout| {
            let begins = match costs_less(layout) {
                true => "For less, with more disks or kinds of them",
                false => "For about as much",
            };
            named(begins, layout)
        });
        let cheaper = cheaper.map(|layout| named("Cheaper", layout));
        format!(
            "{}{}{}",
            quicker.unwrap_or_default(),
            cheaper.unwrap_or_default(),
            self.on_other_kind(document)
        )
    }

    /// Whether a layout is on an earlier generation of the advised machine, and does not save what such a one has to.
    fn saves_too_little(&self, layout: &Layout, advised: &Layout) -> bool {
        let generation = |layout: &Layout| {
            let machine = self.request.catalogue.machine(layout.machine.as_ref()?);
            Generation::of(&machine.ok()?.family)
        };
        let both = generation(advised).zip(generation(layout));
        let is_earlier = both.is_some_and(|(advised, own)| advised.is_newer_than(&own));
        is_earlier && usd(layout) * (1.0 + self.layouts.newer_may_cost) > usd(advised)
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
            (Some(dearer), _) if self.is_by_bound() => format!(
                "the cheapest that may is {}, for {} a month, by a bound (--quick)",
                what(dearer),
                price(dearer)
            ),
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

/// Of `others`: the fastest that costs about as much as the advised layout, or less, and is faster by more than the model's error;
/// and the cheapest that costs less and takes at most `goal` of today's time, unless it is the same.
fn beside<'a>(
    others: &[&'a Layout],
    advised: &Layout,
    goal: f64,
) -> (Option<&'a Layout>, Option<&'a Layout>) {
    if advised.usd_per_month.is_none() {
        return (None, None);
    }
    let priced = || {
        let all = others.iter().copied();
        all.filter(|layout| layout.usd_per_month.is_some())
    };
    let as_much = priced().filter(|layout| {
        usd(layout) <= usd(advised) * (1.0 + SAME_PRICE)
            && layout.time <= advised.time * (1.0 - OFF_MAX)
    });
    let quicker = as_much.min_by(|a, b| a.time.total_cmp(&b.time));
    let less =
        priced().filter(|layout| usd(layout) < usd(advised) - AS_MUCH && layout.time <= goal);
    let cheapest = less.min_by(|a, b| usd(a).total_cmp(&usd(b)));
    let is_other =
        |cheaper: &&Layout| quicker.is_none_or(|quicker| usd(quicker) > usd(cheaper) + AS_MUCH);
    (quicker, cheapest.filter(is_other))
}

/// Prices that differ by fewer dollars a month are the same.
const AS_MUCH: f64 = 0.5;

/// How long operations take: `63 % (52 % to 77 %) of today's time`.
fn time(layout: &Layout) -> String {
    let range = layout.time_range.filter(|_| layout.time_mostly.is_some());
    let range = range.map_or_else(String::new, |[least, most]| {
        format!(" ({} to {})", percent(least), percent(most))
    });
    format!("{}{range} of today's time", percent(layout.time))
}

fn usd(layout: &Layout) -> f64 {
    layout.usd_per_month.unwrap_or_default()
}

/// A layout in a few words.
pub(super) fn what(layout: &Layout) -> String {
    let machine = layout.machine_shown();
    let machine = machine.unwrap_or_else(|| "today's machine".to_owned());
    let volumes: Vec<String> = layout.volumes.iter().map(brief).collect();
    format!("{machine} with {}", volumes.join(" and "))
}

/// A volume in a few words, for a sentence.
fn brief(volume: &Volume) -> String {
    let roles = Role::joined(&volume.roles, ", ");
    let count = match volume.count {
        1 => String::new(),
        count => format!("{count} x "),
    };
    match volume.forgets {
        true => format!("its own disk for {roles}"),
        false => format!("{count}{} for {roles}", volume.disk),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeMap;

    use super::*;

    pub(in super::super) fn layout(usd: f64, time: f64) -> Layout {
        Layout {
            machine: None,
            switched_on: None,
            processors_used: None,
            machine_usd_per_month: None,
            volumes: Vec::new(),
            usd_per_month: Some(usd),
            bill: Vec::new(),
            time,
            time_half: 0.0,
            time_range: None,
            time_mostly: None,
            time_is_least: false,
            data_reads: None,
            operation_ms: 1.0,
            used: Vec::new(),
            spent: BTreeMap::new(),
            parts_ms: BTreeMap::new(),
            headroom: None,
            headroom_is_least: false,
            differences: Vec::new(),
            survived: None,
        }
    }

    /// Prices of what is named beside a layout of $735 at 96 % of today's time.
    fn named(others: &[(f64, f64)]) -> [Option<f64>; 2] {
        let others: Vec<Layout> = others
            .iter()
            .map(|(usd, time)| layout(*usd, *time))
            .collect();
        let others: Vec<&Layout> = others.iter().collect();
        let (quicker, cheaper) = beside(&others, &layout(735.0, 0.96), 1.05);
        [quicker, cheaper].map(|found| found.map(usd))
    }

    #[test]
    fn what_costs_as_much_or_less_and_is_much_faster_is_named_wherever_it_was_found() {
        assert_eq!(named(&[(723.0, 0.47), (822.0, 0.2)]), [Some(723.0), None]);
        // One that is slower for the same price is not named too.
        assert_eq!(named(&[(723.4, 0.52), (723.1, 0.57)]), [Some(723.4), None]);
        // 5 % more is about as much; 15 % faster is within the model's error.
        assert_eq!(named(&[(771.0, 0.5), (772.0, 0.4)]), [Some(771.0), None]);
        assert_eq!(named(&[(760.0, 0.82)]), [None, None]);
    }

    #[test]
    fn what_keeps_the_goal_for_less_is_named() {
        assert_eq!(named(&[(726.0, 0.97)]), [None, Some(726.0)]);
        assert_eq!(
            named(&[(740.0, 0.5), (726.0, 0.97), (700.0, 1.04)]),
            [Some(740.0), Some(700.0)]
        );
        // Too slow, and a price that is the same.
        assert_eq!(named(&[(700.0, 1.06), (734.8, 0.97)]), [None, None]);
    }
}
