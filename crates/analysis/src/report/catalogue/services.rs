//! Managed services of the catalogue.

use std::collections::{BTreeMap, BTreeSet};

use catalogue::{Catalogue, DiskEntry, Limits, MachineEntry, Service, ServiceStorage};
use model::{Bytes, Measure, Rate};
use serde_json::{Value, json};
use table::quantity;
use table::{Column, Table};

use super::disks::price_shown;
use super::machines::machine_json;
use super::{limits_shown, listed, source};
use crate::report::section::{Body, Item, Kind, Place, Report};

/// What is shown for a figure that is not known.
const UNKNOWN: &str = "?";

/// Some services, a row each.
pub fn services(services: &[&Service]) -> Report {
    let classes = |service: &&&Service| match &service.not_modelled {
        Some(_) => "not modelled".to_owned(),
        None => service.classes.len().to_string(),
    };
    let columns = [
        Column::text("service", |service: &&&Service| service.name.clone()).pinned(),
        Column::text("data", |service: &&&Service| service.lies.data.clone()),
        Column::text("log", |service: &&&Service| service.lies.log.clone()),
        Column::text("temporary", |service: &&&Service| service.lies.temp.clone()),
        Column::figure("classes", classes),
    ];
    let mut table = Table::of(services, columns);
    table.note = "Where files are; `dbstow services NAME` shows what each storage type allows, and why a service is not modelled."
        .to_owned();
    listed(table)
}

/// A service: what its storage allows, and what its classes are.
pub fn service(service: &Service, catalogue: &Catalogue) -> Report {
    let mut report = Report {
        title: format!("{}: {}", service.name, service.title),
        ..Report::default()
    };
    if let Some(why) = &service.not_modelled {
        let text = format!("It is not modelled: {why}.");
        report.add(
            "answer",
            "",
            Place::Full,
            Body::List(vec![Item::new(Kind::Point, "", text)]),
        );
    }
    let storage = storage_table(service, catalogue);
    if !service.storage.is_empty() {
        report.add("storage", "", Place::Full, Body::Table(storage));
    }
    if !service.classes.is_empty() {
        let families = Body::Table(families(service));
        report.add("classes", "", Place::Full, families);
    }
    report
}

/// What is assumed of a service and what else is to be known of it, and where its figures come from.
pub fn service_details(service: &Service, catalogue: &Catalogue) -> Report {
    let mut report = Report::default();
    let assumed = service
        .assumed
        .iter()
        .map(|text| format!("assumed: {text}"));
    let ids: Vec<&str> = service
        .includes_sources
        .iter()
        .map(|source| source.id.as_str())
        .collect();
    let price = format!(
        "its price includes {}; it leaves out {} ({})",
        service.includes,
        service.leaves,
        ids.join(", ")
    );
    let notes = assumed.chain(service.notes.iter().cloned()).chain([price]);
    let notes = notes.map(|text| Item::new(Kind::Point, "", text)).collect();
    report.add("notes", "Notes", Place::Full, Body::List(notes));
    let entries = entries(service, catalogue);
    let of_disks = entries
        .iter()
        .flat_map(|(_, disk)| *disk)
        .flat_map(|disk| &disk.sources);
    let of_classes = service.classes.values().flat_map(|class| &class.sources);
    let mut known = BTreeSet::new();
    let of_change = service.change.iter().flat_map(|change| &change.sources);
    let all = service.sources.iter().chain(&service.includes_sources);
    let all = all.chain(of_disks).chain(of_classes).chain(of_change);
    let all = all.filter(|one| known.insert(one.id.as_str())).map(source);
    report.add("sources", "Sources", Place::Full, Body::List(all.collect()));
    report
}

/// Its classes, a row each.
pub fn classes(service: &Service) -> Report {
    let limits = |class: &&MachineEntry| {
        let limits = class.spec.limits.iter();
        let limits = limits.map(|(name, limit)| format!("{name}: {}", limits_shown(limit)));
        limits.collect::<Vec<_>>().join("\n")
    };
    let mut classes: Vec<&MachineEntry> = service.classes.values().collect();
    classes.sort_by(|a, b| {
        (&a.family, a.spec.cores, &a.name).cmp(&(&b.family, b.spec.cores, &b.name))
    });
    let columns = [
        Column::text("machine", |class: &&MachineEntry| class.name.clone()).pinned(),
        Column::figure("cores", |class: &&MachineEntry| {
            class.spec.cores.to_string()
        }),
        Column::text("memory", |class: &&MachineEntry| {
            class.spec.memory.to_string()
        }),
        Column::text("limits", limits),
        Column::text("local", |class: &&MachineEntry| local_shown(class)),
        Column::figure("$/month", |class: &&MachineEntry| {
            per_month(class, Some(1.0))
        }),
    ];
    let mut table = Table::of(classes, columns);
    table.note = price_note(service);
    listed(table)
}

/// Its storage types, with their entries; `local` has none.
fn entries<'a>(
    service: &'a Service,
    catalogue: &'a Catalogue,
) -> Vec<(&'a ServiceStorage, Option<&'a DiskEntry>)> {
    let storage = service.storage.iter();
    storage
        .map(|storage| (storage, catalogue.disk(&storage.disk).ok()))
        .collect()
}

/// A storage type at one range of sizes.
struct Band<'a> {
    storage: &'a ServiceStorage,
    entry: Option<&'a DiskEntry>,
    limits: Option<&'a Limits>,
    from: Bytes,
    to: Option<Bytes>,
}

fn bands<'a>(service: &'a Service, catalogue: &'a Catalogue) -> Vec<Band<'a>> {
    let mut bands = Vec::new();
    for (storage, entry) in entries(service, catalogue) {
        let Some(disk) = entry else {
            bands.push(Band {
                storage,
                entry,
                limits: None,
                from: Bytes::ZERO,
                to: None,
            });
            continue;
        };
        let mut all = disk.limits_by_size().peekable();
        while let Some((from, limits)) = all.next() {
            let to = all.peek().map(|(next, _)| *next);
            bands.push(Band {
                storage,
                entry,
                limits: Some(limits),
                from,
                to,
            });
        }
    }
    bands
}

impl Band<'_> {
    fn name(&self) -> String {
        match self.from {
            Bytes::ZERO => self.storage.disk.clone(),
            _ => String::new(),
        }
    }

    fn size(&self) -> String {
        match (self.entry, self.from, self.to) {
            (None, _, _) => "with the class".to_owned(),
            (Some(disk), Bytes::ZERO, None) => disk.size.shown(),
            (Some(_), Bytes::ZERO, Some(to)) => format!("below {to}"),
            (Some(_), from, Some(to)) => format!("{from} to {to}"),
            (Some(_), from, None) => format!("from {from}"),
        }
    }

    fn iops(&self) -> String {
        let limits = self.limits;
        let own = limits.and_then(|limits| limits.iops.as_ref());
        let mut text = own.map_or_else(|| self.of_class(), |own| own.brief());
        if let Some(burst) = limits.and_then(|limits| limits.bursts.iops.as_ref()) {
            text.push_str(&format!("\nburst {}", burst.rate.shown()));
        }
        text
    }

    fn throughput(&self) -> String {
        let own = self.limits.and_then(|limits| limits.throughput.as_ref());
        own.map_or_else(|| self.of_class(), |own| own.brief())
    }

    /// What limits it instead of limits of its own.
    fn of_class(&self) -> String {
        let named = self.entry.map(|disk| &disk.class.machine_limits);
        let named = self
            .storage
            .capped
            .iter()
            .chain(named.into_iter().flatten());
        match named.map(String::as_str).collect::<Vec<_>>().as_slice() {
            [] => UNKNOWN.to_owned(),
            ["ebs" | "uncached" | "ultra", ..] => UNKNOWN.to_owned(),
            [name, ..] => format!("class: {name}"),
        }
    }

    fn holds(&self) -> String {
        let roles = match self.storage.roles.as_slice() {
            _ if !self.name_is_first() => return String::new(),
            [] => "all".to_owned(),
            roles => roles.join(", "),
        };
        let with = self.storage.beside.iter();
        let with = with.filter_map(|disk| Some(disk.rsplit_once('.')?.1));
        let with: Vec<&str> = with.collect();
        match with.as_slice() {
            [] => roles,
            with => format!("{roles}; only\nbeside {}", with.join(", ")),
        }
    }

    fn name_is_first(&self) -> bool {
        self.from == Bytes::ZERO
    }

    fn price(&self) -> String {
        match self.entry {
            Some(disk) if self.name_is_first() => match price_shown(disk.price.as_ref()) {
                price if price.is_empty() => UNKNOWN.to_owned(),
                price => price.replace(" per GiB", ""),
            },
            Some(_) => String::new(),
            None => "in the class's".to_owned(),
        }
    }
}

fn storage_table(service: &Service, catalogue: &Catalogue) -> Table {
    let columns = [
        Column::text("storage", |band: &Band<'_>| band.name()).pinned(),
        Column::text("size", Band::size),
        Column::text("IOPS", Band::iops),
        Column::text("throughput", Band::throughput),
        Column::text("files", Band::holds),
        Column::figure("$/GiB", Band::price),
    ];
    let mut table = Table::of(bands(service, catalogue), columns);
    table.note = match service.volumes_max {
        Some(1) => "One volume for all files, and those that say beside what they are.".to_owned(),
        Some(most) => format!("At most {most} volumes."),
        None => "A disk for each file.".to_owned(),
    };
    table
}

/// Families of classes whose limits and local disks are alike.
struct Family<'a> {
    names: Vec<&'a str>,
    classes: Vec<&'a MachineEntry>,
}

fn families(service: &Service) -> Table {
    let mut by_name: BTreeMap<&str, Vec<&MachineEntry>> = BTreeMap::new();
    for class in service.classes.values() {
        by_name.entry(&class.family).or_default().push(class);
    }
    let mut families: Vec<Family<'_>> = Vec::new();
    for (name, classes) in by_name {
        let own = Family::of(name, classes);
        let is_alike = |other: &&mut Family<'_>| other.key() == own.key();
        match families.iter_mut().find(is_alike) {
            None => families.push(own),
            Some(other) => {
                other.names.extend(own.names);
                other.classes.extend(own.classes);
                other.sort();
            }
        }
    }
    let multi = service.multi_zone.class;
    let prices = move |family: &Family<'_>| family.range(|class| per_month(class, Some(1.0)));
    let prices_multi = move |family: &Family<'_>| family.range(|class| per_month(class, multi));
    let columns = [
        Column::text("families", Family::shown).pinned(),
        Column::figure("classes", |family: &Family<'_>| {
            family.classes.len().to_string()
        }),
        Column::figure("cores", |family: &Family<'_>| {
            family.range(|class| class.spec.cores.to_string())
        }),
        Column::figure("IOPS", |family: &Family<'_>| {
            family.range(|class| rate(class, Measure::Iops))
        }),
        Column::figure("MB/s", |family: &Family<'_>| {
            family.range(|class| rate(class, Measure::Throughput))
        }),
        Column::figure("log MB/s", |family: &Family<'_>| family.range(log_rate)),
        Column::text("local", |family: &Family<'_>| local_brief(&family.classes)),
        Column::figure("$/month", prices),
        Column::figure("two zones", prices_multi),
    ];
    let mut table = Table::of(families, columns);
    table.note = price_note(service);
    table
}

impl<'a> Family<'a> {
    fn of(name: &'a str, classes: Vec<&'a MachineEntry>) -> Family<'a> {
        let mut family = Family {
            names: vec![name],
            classes,
        };
        family.sort();
        family
    }

    /// By size, those of one size by price.
    fn sort(&mut self) {
        let usd = |class: &MachineEntry| {
            let usd = class.price.and_then(|price| price.linux_per_month());
            usd.unwrap_or(0.0)
        };
        self.classes.sort_by(|a, b| {
            let by_size = a.spec.cores.cmp(&b.spec.cores);
            by_size.then(usd(a).total_cmp(&usd(b)))
        });
    }

    /// Its names, a few on a line.
    fn shown(&self) -> String {
        let lines = self.names.chunks(4).map(|names| names.join(", "));
        lines.collect::<Vec<_>>().join(",\n")
    }

    /// What families of one row have in common, apart from sizes and prices.
    fn key(&self) -> [String; 2] {
        let first = |of: fn(&MachineEntry) -> String| {
            let per_core = self.classes.first().map(|class| of(class));
            per_core.unwrap_or_default()
        };
        [
            local_brief(&self.classes),
            first(|class| format!("{} {}", rate(class, Measure::Iops), log_rate(class))),
        ]
    }

    /// What the smallest and the largest of it have.
    fn range(&self, of: impl Fn(&MachineEntry) -> String) -> String {
        let mut known: Vec<String> = self.classes.iter().map(|class| of(class)).collect();
        known.retain(|text| text != UNKNOWN);
        match (known.first(), known.last()) {
            (Some(first), Some(last)) if first != last => format!("{first} - {last}"),
            (Some(only), _) => only.clone(),
            (None, _) => UNKNOWN.to_owned(),
        }
    }
}

/// What lasts of its limit on all its volumes.
fn rate(class: &MachineEntry, measure: Measure) -> String {
    let limits = class.spec.limits.iter().filter(|(name, _)| *name != "log");
    let mut rates = limits.flat_map(|(_, limits)| limits);
    let found = rates.find_map(|limit| match (limit.rate, measure) {
        (Rate::Iops(iops), Measure::Iops) => Some(quantity::count(iops.0)),
        (Rate::Throughput(rate), Measure::Throughput) => {
            Some(quantity::count((rate.0 as f64 / 1e6).round() as u64))
        }
        (Rate::Iops(_), Measure::Throughput) | (Rate::Throughput(_), Measure::Iops) => None,
    });
    found.unwrap_or_else(|| UNKNOWN.to_owned())
}

/// The cap of its log.
fn log_rate(class: &MachineEntry) -> String {
    let log = class.spec.limits.get("log").into_iter().flatten();
    let mut rates = log.filter_map(|limit| match limit.rate {
        Rate::Throughput(rate) => Some((rate.0 as f64 / 1e6).round()),
        Rate::Iops(_) => None,
    });
    rates
        .next()
        .map_or_else(|| "none".to_owned(), |rate| rate.to_string())
}

fn local_shown(class: &MachineEntry) -> String {
    match (&class.spec.local_disk, class.local_disks) {
        (Some(disk), Some(count)) if count > 1 => format!("{count} x {}", disk.size),
        (Some(disk), _) => disk.size.to_string(),
        (None, Some(0)) => "no".to_owned(),
        (None, _) => UNKNOWN.to_owned(),
    }
}

/// Whether the classes have local disks.
fn local_brief(classes: &[&MachineEntry]) -> String {
    let has = |class: &&&MachineEntry| class.spec.local_disk.is_some();
    match classes.iter().filter(has).count() {
        0 => local_shown(classes[0]),
        all if all == classes.len() => "yes".to_owned(),
        _ => "some".to_owned(),
    }
}

fn per_month(class: &MachineEntry, times: Option<f64>) -> String {
    let usd = class.price.and_then(|price| price.linux_per_month());
    let usd = usd.zip(times).map(|(usd, times)| usd * times);
    usd.map_or_else(|| UNKNOWN.to_owned(), quantity::usd)
}

fn price_note(service: &Service) -> String {
    let lists = service
        .classes
        .values()
        .filter_map(MachineEntry::price_list);
    let lists: BTreeSet<String> = lists.collect();
    let lists: Vec<String> = lists.into_iter().collect();
    format!(
        "From the smallest class to the largest. IOPS, MB/s: what lasts, of all volumes. $/month: on demand, 730 hours, without storage; \
         {}. ?: not known.",
        lists.join("; ")
    )
}

fn service_json(service: &Service, catalogue: &Catalogue) -> Value {
    let storage = bands(service, catalogue);
    let band = |band: &Band<'_>| {
        json!({
            "disk": band.storage.disk,
            "size": band.size(),
            "from": band.from,
            "to": band.to,
            "iops": band.limits.and_then(|limits| limits.iops.as_ref()).map(catalogue::Limit::shown),
            "throughput": band.limits.and_then(|limits| limits.throughput.as_ref()).map(catalogue::Limit::shown),
            "burst_iops": band.limits.and_then(|limits| limits.bursts.iops.as_ref()).map(|burst| burst.rate.shown()),
            "roles": band.storage.roles,
            "beside": band.storage.beside,
            "inside": band.storage.inside,
            "file_each": band.storage.file_each,
            "capped": band.storage.capped,
            "price_usd_per_month": band.entry.and_then(|disk| disk.price.as_ref()),
            "notes": band.entry.map(|disk| &disk.notes),
            "assumed": band.entry.map(|disk| &disk.assumed),
        })
    };
    json!({
        "name": service.name,
        "title": service.title,
        "types": service.types,
        "not_modelled": service.not_modelled,
        "includes": service.includes,
        "leaves_out": service.leaves,
        "files": { "data": service.lies.data, "log": service.lies.log, "temp": service.lies.temp },
        "volumes_max": service.volumes_max,
        "price_factor_two_zones": { "class": service.multi_zone.class, "storage": service.multi_zone.storage },
        "storage": storage.iter().map(band).collect::<Vec<_>>(),
        "classes": service.classes.values().map(machine_json).collect::<Vec<_>>(),
        "assumed": service.assumed,
        "notes": service.notes,
        "sources": service.sources,
    })
}

/// The document `dbstow.services/1`, as JSON with a line feed at its end.
pub fn services_json(services: &[&Service], catalogue: &Catalogue) -> String {
    let services = services.iter();
    let services: Vec<Value> = services.map(|one| service_json(one, catalogue)).collect();
    let document = json!({ "schema": "dbstow.services/1", "services": services });
    format!("{document:#}\n")
}

#[cfg(test)]
mod tests;
