//! What to do: stay, change one thing, or move.
//!
//! ```text
//! today keeps the goal within the budget, and nothing that keeps it saves what is worth a change ──> stay
//! the cheapest differs from today in one thing, or one change saves nearly as much ───────────────> change
//! a bound alone says what could be bought ────────────────────────────────────────────────────────> undecided
//! else ──────────────────────────────────────────────────────────────────────────────────────────> move
//! ```

use std::borrow::Cow;

use analysis::report::advice::document::{Advice, Layout, Volume};
use analysis::report::advice::{Decision, Kind};
use catalogue::{Catalogue, Provision};
use model::{Bytes, DiskSpec, Iops, Throughput};
use reading::Role;
use replay::OFF_MAX;

use super::DocumentBuilder;
use super::changes::{Tried, is_expressible};
use crate::error::AdviseError;
use crate::offer::sustained;
use crate::search::Found;

/// A saving of fewer dollars a month pays for no change to a server: the work costs more.
pub(crate) const WORTH_USD: f64 = 10.0;

/// A saving of a smaller share of today's price is within what list prices differ by.
pub(crate) const WORTH_SHARE: f64 = 0.05;

/// The saving that is worth a change, in dollars a month, where today's layout costs `usd`.
pub(super) fn worth(usd: Option<f64>) -> f64 {
    WORTH_USD.max(WORTH_SHARE * usd.unwrap_or_default())
}

impl DocumentBuilder<'_> {
    /// Adds to each layout what is different in it from today's.
    pub(super) fn add_differences(&self, document: &mut Advice) {
        let now = document.today.clone();
        for layout in document.layouts_mut() {
            layout.differences = differences(self.request.catalogue, &now, layout);
        }
    }

    /// What to do.
    ///
    /// # Errors
    /// When an operation takes no time.
    pub(super) fn decision(
        &self,
        today: &Layout,
        cheapest: Option<&Layout>,
    ) -> Result<Decision, AdviseError> {
        let worth_usd_per_month = worth(today.usd_per_month);
        let decided =
            |kind, layout: Option<&'static str>, differences, saves_usd_per_month| Decision {
                kind,
                layout: layout.map(Cow::Borrowed),
                differences,
                saves_usd_per_month,
                worth_usd_per_month,
                model_error: OFF_MAX,
            };
        let is_as_good = |now: f64| cheapest.is_none_or(|cheapest| !is_worth_it(now, cheapest));
        if today.usd_per_month.is_some_and(is_as_good) && self.today_is_enough(today)? {
            return Ok(decided(Kind::Stay, Some("today"), Vec::new(), Some(0.0)));
        }
        let Some(cheapest) = cheapest else {
            return Ok(decided(Kind::Nothing, None, Vec::new(), None));
        };
        let differences = differences(self.request.catalogue, today, cheapest);
        let saves = today.usd_per_month.zip(cheapest.usd_per_month);
        let saves = saves.map(|(now, then)| now - then);
        let kind = match differences.len() {
            _ if self.is_by_bound() => Kind::Undecided,
            0 | 1 => Kind::Change,
            _ => Kind::Move,
        };
        Ok(decided(kind, Some("cheapest"), differences, saves))
    }

    /// Whether today's layout is within the budget, and takes the load as fast as asked.
    fn today_is_enough(&self, today: &Layout) -> Result<bool, AdviseError> {
        let limits = self.request.wishes.limits;
        let usd = today.usd_per_month.unwrap_or(f64::INFINITY);
        if limits.budget.is_some_and(|most| usd > most) {
            return Ok(false);
        }
        if self.request.wishes.growth <= 1.0 {
            return Ok(true);
        }
        let most_s = self.found.today.operation_s * (1.0 + limits.slower_max);
        let grown_s = self.request.today.placed.operation_s(&self.request.load);
        Ok(grown_s.map_err(AdviseError::Today)? <= most_s)
    }

    /// The price of today's layout, where nothing that keeps the goal saves enough, or is much faster for as much.
    pub(super) fn kept_for(&self, today: &Layout, cheapest: &Layout) -> Option<f64> {
        let now = today
            .usd_per_month
            .filter(|_| self.request.wishes.growth <= 1.0)?;
        cheapest.usd_per_month?;
        (!is_worth_it(now, cheapest)).then_some(now)
    }

    /// One change that saves enough, and nearly as much as the cheapest.
    pub(super) fn one_change(
        &self,
        today: &Layout,
        cheapest: Option<&Layout>,
        changes: &[Tried],
    ) -> Result<Option<Layout>, AdviseError> {
        let (Some(now), true) = (
            today.usd_per_month,
            is_expressible(self.request.today.settings),
        ) else {
            return Ok(None);
        };
        let limits = self.request.wishes.limits;
        // By price: the first that saves enough saves the most.
        let found = changes.iter().find(|tried| {
            let usd = now + tried.change.usd_more_per_month;
            let others = cheapest.and_then(|cheapest| cheapest.usd_per_month);
            tried.change.layout.time <= 1.0 + limits.slower_max
                && now - usd >= worth(Some(now))
                && limits.budget.is_none_or(|most| usd <= most)
                && others.is_none_or(|other| usd - other < worth(Some(now)))
        });
        let is_one_already = cheapest.is_some_and(|cheapest| {
            differences(self.request.catalogue, today, cheapest).len() <= 1
        });
        match found.filter(|_| !is_one_already) {
            Some(tried) => self.confirmed_change(tried),
            None => Ok(None),
        }
    }

    /// Where the cheapest saves too little: a layout that costs no more than today's, and is faster by more than the model's error.
    pub(super) fn quicker(&self, today: &Layout, cheapest: Option<&Layout>) -> Option<&Found> {
        let now = today.usd_per_month?;
        cheapest.and_then(|cheapest| self.kept_for(today, cheapest))?;
        let found = [&self.found.best_value, &self.found.fastest];
        let found = found.into_iter().flatten();
        let found = found.filter(|found| {
            found.layout.usd_per_month < now + 0.005 && found.time.mean <= 1.0 - OFF_MAX
        });
        found.min_by(|a, b| a.time.mean.total_cmp(&b.time.mean))
    }
}

/// What is different in a layout; a phrase for the machine and each volume.
fn differences(catalogue: &Catalogue, today: &Layout, other: &Layout) -> Vec<String> {
    let mut all = Vec::new();
    let (machine, now) = (other.machine_shown(), today.machine_shown());
    if machine != now {
        let machine = machine.unwrap_or_else(|| "another machine".to_owned());
        let now = now.map_or_else(String::new, |now| format!(" instead of {now}"));
        all.push(format!("machine {machine}{now}"));
    }
    let mut kept = Vec::new();
    for volume in &other.volumes {
        let roles = Role::joined(&volume.roles, ", ");
        let matching = |(at, now): &(usize, &Volume)| {
            !kept.contains(at) && volume.roles.iter().any(|role| now.roles.contains(role))
        };
        let mut matching = today.volumes.iter().enumerate().filter(matching);
        let same = matching
            .clone()
            .find(|(_, now)| is_same_volume(catalogue, now, volume));
        match (same, matching.next()) {
            (Some((at, _)), _) => kept.push(at),
            (None, Some((at, now))) if now.roles == volume.roles => {
                kept.push(at);
                all.push(format!(
                    "volume for {roles}: {} instead of {}",
                    volume.disks(),
                    now.disks()
                ));
            }
            (None, _) => all.push(format!("{roles} on {}", volume.disks())),
        }
    }
    // What moved to a volume that stays is a change too, but for the one that its going away is.
    let gone = (0..today.volumes.len()).filter(|at| !kept.contains(at));
    let is_merge = other.volumes.len() < today.volumes.len();
    for at in gone.filter(|_| is_merge) {
        all.push(format!("without volume {}", today.volumes[at].name));
    }
    all
}

/// Whether both are the same disks as provisioned; a product goes by several names where its rules were changed.
fn is_same_volume(catalogue: &Catalogue, one: &Volume, other: &Volume) -> bool {
    let provisioned = |volume: &Volume| -> Option<(String, DiskSpec)> {
        let entry = catalogue.disk(&volume.disk).ok()?;
        let asked = Provision {
            size: volume.size.map(Bytes),
            iops: volume.iops.map(Iops),
            throughput: volume.throughput.map(Throughput),
            bursting: false,
        };
        let disk = entry.provision(&asked).ok()?;
        Some((entry.class.name.clone(), sustained(disk.spec)))
    };
    one.count == other.count
        && match (provisioned(one), provisioned(other)) {
            (Some((class, own)), Some((other_class, other))) => {
                let rates = |disk: &DiskSpec| {
                    let limits = disk.limits.iter();
                    limits
                        .map(|limit| (limit.counts, limit.rate))
                        .collect::<Vec<_>>()
                };
                class == other_class && own.size == other.size && rates(&own) == rates(&other)
            }
            _ => one.disk == other.disk && one.size == other.size,
        }
}

/// Whether a layout saves what is worth a change, or costs no more than today's and is faster by more than the model's error.
fn is_worth_it(now_usd: f64, layout: &Layout) -> bool {
    let usd = layout.usd_per_month.unwrap_or(f64::INFINITY);
    // Where its interval reaches today's time, it may be no faster.
    let reaches_today = layout.time_range.is_some_and(|[_, most]| most >= 1.0);
    let is_quicker = usd < now_usd + 0.005 && layout.time <= 1.0 - OFF_MAX && !reaches_today;
    is_quicker || now_usd - usd >= worth(Some(now_usd))
}

#[cfg(test)]
mod tests;
