//! The document, from the search results.

mod answer;
mod assumed;
mod beside;
pub(crate) mod bill;
pub(crate) mod changes;
mod decide;
mod drawn;
pub(crate) mod layouts;
mod memory;
mod next;
mod processors;
mod services;
mod trust;
mod value;

use std::collections::BTreeSet;

use analysis::report::advice::document::{self, Capacity, Counts, Figure, Layout, SCHEMA};
use analysis::report::advice::{Level, Trust};
use catalogue::{BackupPrice, DiskEntry, MachineEntry};
use experiment::spec::Volume;
use model::HostCacheMode;
use reading::Role;
use replay::{BackTest, TimePart};
use table::quantity::percent;

use super::drawing::Drawing;
use super::error::AdviseError;
use super::layout::Layouts;
use super::licence::{Licence, Paid};
use super::request::{Names, Request};
use super::search::{Found, Results};
use super::system::System;

/// Request and results.
pub(crate) struct DocumentBuilder<'a> {
    pub(crate) request: &'a Request<'a>,
    pub(crate) backtest: &'a BackTest,
    pub(crate) names: &'a Names,
    pub(crate) layouts: &'a Layouts<'a>,
    pub(crate) found: &'a Results,
    /// `None`: what is not known of disks is not drawn.
    pub(crate) drawing: Option<Drawing>,
}

impl DocumentBuilder<'_> {
    /// The document.
    ///
    /// # Errors
    /// When an operation takes no time at all.
    pub(crate) fn document(&self) -> Result<document::Advice, AdviseError> {
        let found = self.found;
        let with_headroom =
            |found: &Option<Found>| -> Result<Option<document::Layout>, AdviseError> {
                let layout = |found| match self.is_by_bound() {
                    true => Ok(self.layout(found)),
                    false => self.with_headroom(found),
                };
                found.as_ref().map(layout).transpose()
            };
        let plain = |found: &Option<Found>| -> Result<Option<document::Layout>, AdviseError> {
            found
                .as_ref()
                .map(|found| self.with_range(found))
                .transpose()
        };
        let today = self.of_today();
        let above_budget = with_headroom(&found.above_budget)?;
        let mut cheapest = with_headroom(&found.cheapest)?;
        let mut runner_up = plain(&found.runner_up)?;
        let changes = match self.is_by_bound() {
            true => Vec::new(),
            false => self.changes(&today)?,
        };
        if let Some(changed) = self.one_change(&today, cheapest.as_ref(), &changes)? {
            runner_up = cheapest.replace(changed);
        } else if let Some(quicker) = self.quicker(&today, cheapest.as_ref()) {
            runner_up = cheapest;
            cheapest = Some(self.with_headroom(quicker)?);
        }
        let decision = self.decision(&today, cheapest.as_ref())?;
        let fastest = plain(&found.fastest)?;
        let best_value = plain(&found.best_value)?;
        let best_value = {
            let others = [&best_value, &cheapest, &runner_up, &fastest];
            let is_open =
                |found: &&document::Layout| !value::is_passed_over(found, cheapest.as_ref());
            let all = others.into_iter().flatten().filter(is_open);
            let all = all.chain(self.today_as_bought(&today));
            let goal = match &cheapest {
                Some(_) => 1.0 + self.request.wishes.limits.slower_max,
                None => f64::INFINITY,
            };
            let is_whole = !self.is_by_bound();
            value::best(all.filter(|layout| is_whole && layout.time <= goal)).cloned()
        };
        let mut document = document::Advice {
            schema: SCHEMA.into(),
            answer: String::new(),
            decision,
            trust: Trust {
                level: Level::High,
                because: Vec::new(),
            },
            server: self.server(),
            sessions_assumed: self.request.sessions_assumed(),
            asked: self.asked(),
            backtest: backtest(self.backtest),
            next: self.next(&today, cheapest.as_ref(), best_value.as_ref()),
            runner_up,
            fastest,
            best_value,
            changes: changes.into_iter().map(|tried| tried.change).collect(),
            frontier: found
                .frontier
                .iter()
                .map(|found| self.with_range(found))
                .collect::<Result<_, _>>()?,
            counts: Counts {
                considered_to_usd_per_month: self.request.wishes.limits.dearest(found),
                ..counts(found)
            },
            price_lists: Vec::new(),
            notes: Vec::new(),
            assumptions: Vec::new(),
            today,
            cheapest,
            above_budget,
        };
        self.add_reads(&mut document);
        self.add_differences(&mut document);
        document.price_lists = self.price_lists(&document);
        document.assumptions = self.assumptions(&document);
        document.notes = self.notes(&document);
        document.trust = self.trust(&document);
        document.answer = self.answer(&document);
        Ok(document)
    }

    /// Today's layout, where it can be compared with what is bought by price and time: its price is known and within the budget, and
    /// its time is of the load that is asked for.
    fn today_as_bought<'a>(&self, today: &'a Layout) -> Option<&'a Layout> {
        let wishes = self.request.wishes;
        let usd = today.usd_per_month?;
        let is_within = wishes.limits.budget.is_none_or(|most| usd <= most);
        (is_within && wishes.growth <= 1.0).then_some(today)
    }

    /// Whether nothing that could be bought was simulated: the times of layouts are bounds.
    fn is_by_bound(&self) -> bool {
        self.request.wishes.limits.quick
    }

    fn server(&self) -> Option<String> {
        let origin = &self.request.today.profile.origin;
        let product = origin.product.as_ref()?;
        let version = origin.version.iter().map(|version| format!(" {version}"));
        Some(format!("{product}{}", version.collect::<String>()))
    }

    fn asked(&self) -> document::Conditions {
        let need = &self.request.need;
        let capacity = need.holdings.iter().map(|holding| Capacity {
            roles: holding.roles.iter().copied().collect(),
            bytes: holding.size.0,
        });
        document::Conditions {
            profile: self.names.profile.clone(),
            cloud: need.cloud.clone(),
            slower_max: self.request.wishes.limits.slower_max,
            budget_usd_per_month: self.request.wishes.limits.budget,
            quick: self.is_by_bound(),
            growth: self.request.wishes.growth,
            currency: self.names.currency.clone(),
            system: match need.system {
                System::Windows => "Windows".into(),
                System::Linux => "Linux".into(),
            },
            licence: need
                .tariff
                .licence
                .as_ref()
                .map(|licence| document::Licence {
                    product: licence.edition.product.clone(),
                    edition: licence.edition.name.clone(),
                    model: match licence.paid {
                        Paid::Hourly(_) => "payg".into(),
                        Paid::Own { .. } => "own".into(),
                    },
                    own_usd_per_core_year: match licence.paid {
                        Paid::Hourly(_) => None,
                        Paid::Own { usd_core_year } => Some(usd_core_year),
                    },
                    passive_secondary: licence.passive_secondary,
                }),
            replicas: need.tariff.replicas,
            commitment_years: need.tariff.commitment.as_ref().map(|of| of.years),
            backup_days: need.tariff.backup.as_ref().map_or(0, |backup| backup.days),
            capacity: capacity.collect(),
            memory: need.memory.0,
        }
    }

    /// The sources of the prices in the answers.
    fn price_lists(&self, document: &document::Advice) -> Vec<String> {
        let mut lists = BTreeSet::new();
        for (_, layout) in document.answers() {
            let machine = layout.machine.as_ref();
            let machine = machine.and_then(|name| self.request.catalogue.machine(name).ok());
            lists.extend(machine.and_then(MachineEntry::price_list));
            let disks = layout.volumes.iter();
            lists.extend(disks.filter_map(|volume| {
                let disk = self.request.catalogue.disk(&volume.disk).ok();
                disk.and_then(DiskEntry::price_list)
            }));
        }
        let backup = self.request.need.tariff.backup.as_ref();
        let backup = backup.and_then(|backup| backup.price.as_ref());
        lists.extend(backup.and_then(BackupPrice::price_list));
        let licence = self.request.need.tariff.licence.as_ref();
        if let Some(Paid::Hourly(Some(rate))) = licence.map(|licence| &licence.paid) {
            lists.extend(rate.price_list());
        }
        lists.into_iter().collect()
    }

    /// Assumptions: in the catalogue, in the recorded profile, and here.
    fn assumptions(&self, document: &document::Advice) -> Vec<String> {
        let mut all =
            assumed::of_layouts(document, self.request.need.system, self.request.catalogue);
        let tariff = &self.request.need.tariff;
        all.extend(tariff.licence.iter().flat_map(Licence::assumptions));
        if let Some(commitment) = &tariff.commitment {
            let percent = percent(commitment.share);
            all.push(format!(
                "Machines cost {percent} of their price on demand ({}): {}. Windows and licences are paid in full.",
                commitment.title, commitment.assumed
            ));
        }
        if let Some(backup) = &tariff.backup {
            all.push(format!(
                "Backups of {} days take {}: a copy of the data, what changes on each further day, and their log, as if the recorded load \
                 went on all day.",
                backup.days, backup.size
            ));
        }
        if tariff.replicas > 0 {
            all.push(
                "Today's layout has as many replicas as new ones; none of them takes load."
                    .to_owned(),
            );
        }
        let of_today = self.request.today.notes.iter();
        all.extend(of_today.map(|note| format!("Today: {note}.")));
        all.extend(self.request.today.profile.assumptions.iter().cloned());
        all.extend(self.backtest.assumptions.iter().cloned());
        let mut assume = |text: &str| all.push(text.to_owned());
        if document.today.usd_per_month.is_none() {
            assume("Today's price: not known; the answer does not compare with it.");
        }
        for role in [Role::Temp, Role::Log] {
            if !self.request.need.separate.contains(&role) {
                assume(&format!(
                    "Requests for {role} were not counted separately: these files stay with the data, and are in its space."
                ));
            }
        }
        let has_cache = |volume: &Volume| volume.host_cache != HostCacheMode::None;
        if self.request.today.settings.volumes.iter().any(has_cache) {
            assume("New layouts have no host cache; today's has one.");
        }
        assume(match self.backtest.ran_out {
            true => {
                "All layouts are as in the long run, without burst credits: today's ran out while it was recorded."
            }
            false => {
                "New layouts are as in the long run, without burst credits; today's has its own."
            }
        });
        all.extend(self.of_memory());
        all.extend(self.services(document));
        all.extend(self.processors(document));
        all
    }
}

fn backtest(backtest: &BackTest) -> document::BackTest {
    let figure = |figure: &replay::Figure| Figure {
        role: figure.role,
        figure: figure.measure.to_string(),
        recorded: figure.recorded,
        simulated: figure.simulated,
        off: figure.off(),
        decides: figure.decides,
        waited: figure.waited,
    };
    let parts = backtest.parts.iter().flat_map(|[recorded, simulated]| {
        TimePart::ALL.into_iter().map(|part| document::Part {
            part: part.name().into(),
            recorded_s: recorded[part],
            simulated_s: simulated[part],
        })
    });
    let fit = backtest.fit();
    document::BackTest {
        fits: fit.allows_advice(),
        outcome: fit.name().into(),
        caveat: backtest.caveat(),
        notices: backtest.notices.clone(),
        off_max: replay::OFF_MAX,
        figures: backtest.figures.iter().map(figure).collect(),
        parts: parts.collect(),
    }
}

fn counts(found: &Results) -> Counts {
    let counts = found.counts;
    Counts {
        machines: counts.machines,
        machines_unpriced: counts.unpriced,
        considered: counts.considered,
        beaten: counts.beaten,
        bounded: counts.bounded,
        simulated: counts.simulated,
        bounds_simulated: counts.bounds,
        simulated_to_usd_per_month: counts.simulated_to_usd,
        considered_to_usd_per_month: None,
        complete: counts.is_complete,
    }
}
