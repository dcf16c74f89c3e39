//! Machines of the catalogue.

use std::collections::BTreeSet;

use catalogue::{HostCaching, MachineEntry, Processor};
use model::{DiskSpec, MachineSpec};
use serde_json::{Value, json};
use table::quantity;
use table::{Column, Table};

use super::{detailed, limits_shown, listed};
use crate::report::section::Report;

/// Some machines, a row each.
pub fn machines(machines: &[&MachineEntry]) -> Report {
    let limits = |machine: &&&MachineEntry| {
        let limits = machine.spec.limits.iter();
        let limits = limits.map(|(name, limit)| format!("{name}: {}", limits_shown(limit)));
        limits.collect::<Vec<_>>().join("\n")
    };
    let price = |machine: &&&MachineEntry| {
        let usd = machine.price.and_then(|price| price.linux_per_month());
        usd.map_or_else(String::new, quantity::usd)
    };
    let columns = [
        Column::text("machine", |machine: &&&MachineEntry| machine.name.clone()).pinned(),
        Column::figure("cores", |machine: &&&MachineEntry| {
            machine.spec.cores.to_string()
        }),
        Column::text("memory", |machine: &&&MachineEntry| {
            machine.spec.memory.to_string()
        }),
        Column::text("limits", limits),
        Column::text("host\ncache", |machine: &&&MachineEntry| {
            host_cache_shown(machine)
        }),
        Column::text("local disks", |machine: &&&MachineEntry| {
            local_disks_shown(machine)
        }),
        Column::figure("$/month", price),
    ];
    let mut table = Table::of(machines, columns);
    let lists = machines.iter().filter_map(|machine| machine.price_list());
    let lists: BTreeSet<String> = lists.collect();
    if !lists.is_empty() {
        let lists: Vec<String> = lists.into_iter().collect();
        table.note = format!(
            "$/month: list price with Linux, on demand, 730 hours, without disks; {}",
            lists.join("; ")
        );
    }
    listed(table)
}

/// Its memory, where known.
fn host_cache_shown(machine: &MachineEntry) -> String {
    match (&machine.host_caching, &machine.spec.host_cache) {
        (HostCaching::Sized, Some(cache)) => cache.size.to_string(),
        (HostCaching::SizeUnknown { .. }, _) => "yes".to_owned(),
        (HostCaching::Unsupported { .. }, _) => "no".to_owned(),
        (HostCaching::Sized | HostCaching::NotInCatalogue, _) => String::new(),
    }
}

/// Number and size of its disks, and whether they come without a file system.
fn local_disks_shown(machine: &MachineEntry) -> String {
    let Some(disk) = &machine.spec.local_disk else {
        return String::new();
    };
    let count = match machine.local_disks {
        None | Some(0 | 1) => String::new(),
        Some(several) => format!("{several} x "),
    };
    let raw = match machine.local_disks_raw {
        Some(true) => ", raw",
        Some(false) | None => "",
    };
    format!("{count}{}{raw}", disk.size)
}

/// The processor that [`catalogue::Processor::speed`] is relative to.
const REFERENCE: &str = "Intel's Xeon Platinum 8370C";

/// The clock of a processor, if it is published.
fn clock(processor: &Processor) -> Option<(&'static str, String)> {
    let all = processor
        .all_core_ghz
        .map(|ghz| format!("{ghz} GHz on all cores"));
    let one = processor.boost_ghz.map(|ghz| format!("{ghz} GHz at most"));
    let both: Vec<String> = all.into_iter().chain(one).collect();
    (!both.is_empty()).then(|| ("clock", both.join(", ")))
}

/// All about a machine.
pub fn machine(machine: &MachineEntry) -> Report {
    let spec = &machine.spec;
    let mut rows = vec![
        ("cores", spec.cores.to_string()),
        ("memory", spec.memory.to_string()),
    ];
    rows.extend(machine.processor.as_ref().map(|processor| {
        let [low, high] = processor.spread.map(quantity::number);
        let speed = quantity::number(processor.speed);
        let model = &processor.model;
        (
            "processor",
            format!("{model}: {speed} times as fast as {REFERENCE} ({low} to {high})"),
        )
    }));
    rows.extend(machine.processor.as_ref().and_then(clock));
    rows.extend(machine.baseline.map(|baseline| {
        let share = quantity::percent(baseline);
        (
            "burstable",
            format!("may use {share} of its processors in the long run"),
        )
    }));
    for (name, limits) in &spec.limits {
        rows.push(("limit", format!("{name}: {}", limits_shown(limits))));
    }
    let host_cache = match (&machine.host_caching, &spec.host_cache) {
        (HostCaching::Sized, Some(cache)) => Some(format!(
            "{}, within the limit {}; a write through a read-only one takes {} more than on the disk",
            cache.size,
            cache.limit,
            cache.through_latency.mean()
        )),
        (HostCaching::SizeUnknown { source, .. }, _) => Some(format!(
            "yes ({}, {}); its size is not published: experiments give it ([machine] host_cache)",
            source.title, source.date
        )),
        (HostCaching::Unsupported { source }, _) => {
            Some(format!("no ({}, {})", source.title, source.date))
        }
        (HostCaching::Sized | HostCaching::NotInCatalogue, _) => None,
    };
    rows.extend(host_cache.map(|text| ("host cache", text)));
    if let Some(disk) = &spec.local_disk {
        let count = match machine.local_disks {
            None | Some(0 | 1) => String::new(),
            Some(several) => format!("{several}, each "),
        };
        rows.push((
            "local disk",
            format!("{count}{}", local_disk_shown(disk, &machine.spec)),
        ));
        if machine.local_disks_raw == Some(true) {
            let raw = "without a file system at first, and again after every stop";
            rows.push(("local disk", raw.to_owned()));
        }
    }
    let counts = [
        ("disks at most", machine.disks_max),
        ("files at most", machine.files_max),
    ];
    for (what, count) in counts {
        rows.extend(count.map(|count| (what, count.to_string())));
    }
    if let Some(price) = machine.price {
        let list = machine.price_list().unwrap_or_default();
        let usd = |price: Option<f64>| price.map_or("unknown".to_owned(), quantity::usd);
        rows.push((
            "USD a month",
            format!(
                "{} with Linux, {} with Windows; on demand, 730 hours, without disks; {list}",
                usd(price.linux_per_month()),
                usd(price.windows_per_month())
            ),
        ));
    }
    rows.push(("confidence", machine.confidence.to_string()));
    rows.push(("also called", machine.aliases.join(", ")));
    let assumed = machine.assumptions().into_iter();
    rows.extend(assumed.map(|text| ("assumed", text)));
    rows.extend(machine.notes.iter().map(|text| ("note", text.clone())));
    let title = match machine.title.as_str() {
        "" => String::new(),
        title => format!(": {title}"),
    };
    detailed(format!("{}{title}", machine.name), rows, &machine.sources)
}

fn local_disk_shown(disk: &DiskSpec, machine: &MachineSpec) -> String {
    let mut parts = vec![disk.size.to_string()];
    if !disk.limits.is_empty() {
        parts.push(limits_shown(&disk.limits));
    }
    let mut names = disk.machine_limits.iter();
    if let Some(name) = names.find(|name| machine.limits.contains_key(*name)) {
        parts.push(format!("within the limit {name}"));
    }
    parts.join(", ")
}

pub(super) fn machine_json(machine: &MachineEntry) -> Value {
    json!({
        "name": machine.name,
        "title": machine.title,
        "aliases": machine.aliases,
        "family": machine.family,
        "arm": machine.arm,
        "spec": machine.spec,
        "processor": machine.processor.as_ref().map(|processor| &processor.model),
        "processor_all_core_ghz": machine.processor.as_ref().and_then(|one| one.all_core_ghz),
        "processor_boost_ghz": machine.processor.as_ref().and_then(|one| one.boost_ghz),
        "processor_speed": machine.processor.as_ref().map(|processor| processor.speed),
        "baseline": machine.baseline,
        "host_cache_supported": match machine.host_caching {
            HostCaching::Sized | HostCaching::SizeUnknown { .. } => Some(true),
            HostCaching::Unsupported { .. } => Some(false),
            HostCaching::NotInCatalogue => None,
        },
        "local_disks": machine.local_disks,
        "local_disks_raw": machine.local_disks_raw,
        "usd_per_hour": machine.price,
        "price_list": machine.price_list(),
        "disks_max": machine.disks_max,
        "files_max": machine.files_max,
        "confidence": machine.confidence,
        "assumed": machine.assumptions(),
        "notes": machine.notes,
        "sources": machine.sources,
    })
}

/// The document `dbstow.machines/1`, as JSON with a line feed at its end.
pub fn machines_json(machines: &[&MachineEntry]) -> String {
    let machines = machines.iter().map(|machine| machine_json(machine));
    let machines: Vec<Value> = machines.collect();
    let document = json!({ "schema": "dbstow.machines/1", "machines": machines });
    format!("{document:#}\n")
}

#[cfg(test)]
mod tests {
    use catalogue::Catalogue;

    use super::*;
    use crate::report::markdown;

    #[test]
    fn a_machine_is_shown_with_its_limits_cache_and_source() {
        let catalogue = Catalogue::builtin();
        let ds2 = catalogue.machines_meant("azure.DS2")[0];
        let text = markdown::render(&machine(ds2));
        for part in [
            "cached: 8000 IOPS, 64 MB/s",
            "86 GiB, within the limit cached",
            "14 GiB, within the limit cached",
            "az-prevgen",
        ] {
            assert!(text.contains(part), "no {part} in {text}");
        }
    }
}
