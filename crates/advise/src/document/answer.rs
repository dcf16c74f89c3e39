//! The answer, in a sentence.

use analysis::report::advice::document;
use table::quantity::{percent, usd};

use super::Described;

impl Described<'_> {
    /// The answer, in a sentence.
    pub(super) fn answer(&self, document: &document::Advice) -> String {
        let price = |layout: &document::Layout| {
            format!("${} a month", usd(layout.usd_per_month.unwrap_or_default()))
        };
        let now = document
            .today
            .usd_per_month
            .map(|now| format!(" (today ${})", usd(now)));
        let now = now.unwrap_or_default();
        let what = |layout: &document::Layout| {
            let machine = layout.machine.clone().unwrap_or_default();
            let volumes: Vec<String> = layout.volumes.iter().map(brief).collect();
            format!("{machine} with {}", volumes.join(" and "))
        };
        let goal = format!(
            "operations at most {} slower than today",
            percent(self.request.wishes.limits.slower_max)
        );
        if let Some(cheapest) = &document.cheapest {
            if let Some(now) = self.kept_for(&document.today, cheapest) {
                return format!(
                    "Keep today's layout, for ${} a month: nothing cheaper keeps {goal}. The cheapest other one is {}, for \
                     {}: operations take {} of today's time.",
                    usd(now),
                    what(cheapest),
                    price(cheapest),
                    percent(cheapest.time)
                );
            }
            return format!(
                "{}, for {}{now}: operations take {} of today's time.",
                what(cheapest),
                price(cheapest),
                percent(cheapest.time)
            );
        }
        let budget = self
            .request
            .wishes
            .limits
            .budget
            .map_or_else(String::new, |most| {
                format!(" for at most ${} a month", usd(most))
            });
        let nearest = match (&document.above_budget, &document.fastest) {
            (Some(dearer), _) => format!(
                "the cheapest that does is {}, for {}: raise the budget to that",
                what(dearer),
                price(dearer)
            ),
            (None, Some(fastest)) => format!(
                "the nearest is {}, for {}, on which operations take {} of today's time: allow that (--not-slower), or more \
                 machines and disks",
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

    /// The price of today's layout, where nothing cheaper is fast enough.
    pub(super) fn kept_for(
        &self,
        today: &document::Layout,
        cheapest: &document::Layout,
    ) -> Option<f64> {
        let now = today
            .usd_per_month
            .filter(|_| self.request.wishes.growth <= 1.0)?;
        (now <= cheapest.usd_per_month?).then_some(now)
    }
}

/// A volume in a few words, for a sentence.
fn brief(volume: &document::Volume) -> String {
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
