//! What is to be known of answers on managed services: what their price includes, and what was left out.

use std::collections::BTreeSet;

use analysis::report::advice::document::{Advice, Layout};
use catalogue::{DiskEntry, MachineEntry, Service};
use table::quantity::percent;

use super::DocumentBuilder;

/// Names without a price that a sentence lists.
const NAMED: usize = 6;

impl DocumentBuilder<'_> {
    /// Sentences about services, where any are asked for.
    pub(super) fn services(&self, document: &Advice) -> Vec<String> {
        let services = &self.request.need.services;
        if services.offered.is_empty() {
            return Vec::new();
        }
        let mut all = Vec::new();
        for service in services.offered.values() {
            let mut answers = BTreeSet::new();
            for (answer, layout) in document.answers() {
                if self
                    .service_of(layout)
                    .is_some_and(|own| own.name == service.name)
                {
                    answers.insert(answer);
                    all.extend(self.regions(layout));
                }
            }
            if !answers.is_empty()
                || document
                    .frontier
                    .iter()
                    .any(|layout| self.is_on(layout, service))
            {
                let sources = service.includes_sources.iter();
                let sources: Vec<String> = sources
                    .map(|source| format!("{}, {}", source.id, source.date))
                    .collect();
                all.push(format!(
                    "{}: its price includes {}; it leaves out {} ({}; `dbstow services {} --details`).",
                    service.title,
                    service.includes,
                    service.leaves,
                    sources.join("; "),
                    service.name
                ));
            }
            all.extend(self.unpriced(service));
        }
        if !services.alone {
            all.push(
                "A machine gives access to its operating system; backups, patches and a standby are yours."
                    .to_owned(),
            );
        }
        let not_modelled = services.not_modelled.iter();
        all.extend(not_modelled.map(|(title, why)| {
            format!("{title} was not considered, as it is not modelled: {why}.")
        }));
        all.dedup();
        all
    }

    /// The cheapest on the other kind, in a sentence; empty where layouts are of one kind.
    pub(super) fn on_other_kind(&self, document: &Advice) -> String {
        let Some(found) = &self.found.of_other_kind else {
            return String::new();
        };
        let layout = self.layout(found);
        let begins = match self.service_of(&layout) {
            Some(_) => "On a managed service",
            None => "On a machine of your own",
        };
        let usd = layout.usd_per_month.unwrap_or_default();
        format!(
            " {begins}: {}, for {} a month: {} of today's time.",
            super::answer::what(&layout),
            document.asked.currency.shown(usd),
            percent(layout.time)
        )
    }

    fn is_on(&self, layout: &Layout, service: &Service) -> bool {
        self.service_of(layout)
            .is_some_and(|own| own.name == service.name)
    }

    pub(super) fn service_of(&self, layout: &Layout) -> Option<&Service> {
        self.request.catalogue.service_of(layout.machine.as_ref()?)
    }

    /// Where class and storage have prices of different regions.
    fn regions(&self, layout: &Layout) -> Option<String> {
        let catalogue = self.request.catalogue;
        let class = catalogue.machine(layout.machine.as_ref()?).ok()?;
        let disks = layout.volumes.iter();
        let disks = disks.filter_map(|volume| catalogue.disk(&volume.disk).ok());
        let lists = disks
            .filter_map(DiskEntry::price_list)
            .chain(class.price_list());
        // Without their dates.
        let regions = lists.map(|list| list.split(", ").next().unwrap_or_default().to_owned());
        let regions: BTreeSet<String> = regions.collect();
        (regions.len() > 1).then(|| {
            let regions: Vec<String> = regions.into_iter().collect();
            format!(
                "Prices of {} and its storage are of different regions ({}); give those of yours (--prices).",
                class.name,
                regions.join(", ")
            )
        })
    }

    /// Classes and storage types of a service whose price is not known.
    fn unpriced(&self, service: &Service) -> Option<String> {
        let need = &self.request.need;
        let is_unknown = |class: &&MachineEntry| need.machines_usd(class, None).is_none();
        let classes = service.classes.values().filter(is_unknown);
        let classes = classes.map(|class| class.name.clone());
        let catalogue = self.request.catalogue;
        let disks = service.storage.iter();
        let disks = disks.filter_map(|storage| catalogue.disk(&storage.disk).ok());
        let disks = disks.filter(|disk| disk.price.is_none());
        let names: Vec<String> = disks.map(|disk| disk.name.clone()).chain(classes).collect();
        let shown = names[..names.len().min(NAMED)].join(", ");
        let more = names.len().saturating_sub(NAMED);
        let more = match more {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        (!names.is_empty()).then(|| {
            format!(
                "{}: the prices of {shown}{more} are not known, and these were not considered; give yours (--prices).",
                service.title
            )
        })
    }
}
