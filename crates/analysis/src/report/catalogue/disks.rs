//! Disks of the catalogue.

use catalogue::{DiskEntry, Limit, LimitValue, Limits, Price, Provisioned};
use model::Bytes;
use serde_json::{Value, json};
use table::quantity::list_price;
use table::{Column, Table};

use super::{detailed, latency_json, latency_shown, limits_shown, listed};
use crate::report::section::Report;

/// Some disks, a row each.
pub fn disks(disks: &[&DiskEntry]) -> Report {
    let latency = |disk: &&&DiskEntry| {
        let class = &disk.class;
        format!("{}\n{}", class.read.typical(), class.write.typical())
    };
    let columns = [
        Column::text("disk", |disk: &&&DiskEntry| disk.name.clone()).pinned(),
        Column::text("size", |disk: &&&DiskEntry| disk.size.shown()),
        Column::text("IOPS", |disk: &&&DiskEntry| {
            brief(disk.limits.iops.as_ref())
        }),
        Column::text("throughput", |disk: &&&DiskEntry| {
            brief(disk.limits.throughput.as_ref())
        }),
        Column::text("p50 r, w", latency),
        Column::text("USD/month", |disk: &&&DiskEntry| {
            price_shown(disk.price.as_ref())
        }),
    ];
    listed(Table::of(disks, columns))
}

fn brief<Q: LimitValue>(limit: Option<&Limit<Q>>) -> String {
    limit.map_or_else(|| "no limit".into(), Limit::brief)
}

fn shown<Q: LimitValue>(limit: Option<&Limit<Q>>) -> String {
    limit.map_or_else(|| "no limit".into(), Limit::shown)
}

pub(super) fn price_shown(price: Option<&Price>) -> String {
    match price {
        None => String::new(),
        Some(Price::Whole { usd }) => list_price(*usd),
        Some(Price::Parts(parts)) => format!("{} per GiB", list_price(parts.per_gib)),
    }
}

/// A limit of all sizes: `3000; from 400 GiB 12000`.
fn by_size(disk: &DiskEntry, shown: impl Fn(&Limits) -> String) -> String {
    let parts = disk.limits_by_size().map(|(from, limits)| match from {
        Bytes::ZERO => shown(limits),
        from => format!("from {from}: {}", shown(limits)),
    });
    let parts: Vec<String> = parts.collect();
    parts.join("; ")
}

/// The price with all its parts, and the region and date of its price list.
fn price_parts_shown(disk: &DiskEntry) -> String {
    let price = disk.price.as_ref();
    let mut text = price_shown(price);
    if let Some(Price::Parts(parts)) = price {
        if let Some(sizes) = &parts.billed_size {
            text.push_str(&format!(
                ", billed as the next larger of {}",
                sizes.steps_shown()
            ));
        }
        let steps = parts.per_iops.iter().map(|step| ("IOPS", step));
        let steps = steps.chain(parts.per_mib_per_s.iter().map(|step| ("MiB/s", step)));
        let steps = steps.chain(parts.per_mb_per_s.iter().map(|step| ("MB/s", step)));
        for (unit, step) in steps {
            text.push_str(&format!(", {} per {unit}", list_price(step.usd)));
            if step.above > 0 {
                text.push_str(&format!(" above {}", step.above));
            }
        }
    }
    if let Some(list) = disk.price_list() {
        text.push_str(&format!("; {list}"));
    }
    text
}

/// All about a disk, and what it has as provisioned.
pub fn disk(disk: &DiskEntry, provisioned: Option<&Provisioned>) -> Report {
    let class = &disk.class;
    let mut rows = vec![
        ("kind", class.title.clone()),
        ("size", disk.size.shown()),
        ("IOPS", by_size(disk, |limits| shown(limits.iops.as_ref()))),
        (
            "throughput",
            by_size(disk, |limits| shown(limits.throughput.as_ref())),
        ),
        ("bursting", bursting_shown(disk)),
        ("one I/O", io_unit_shown(disk)),
        ("read", latency_shown(&class.read)),
        ("write", latency_shown(&class.write)),
        ("flush", latency_shown(&class.flush)),
        ("machine limits", class.machine_limits.join(", or else ")),
        ("limits hold on", disk.on_machines.shown()),
        (
            "of a machine",
            (disk.on_machines.count_max).map_or_else(String::new, |most| format!("at most {most}")),
        ),
        (
            "not together with",
            (disk.on_machines.group.as_ref())
                .map_or_else(String::new, |group| format!("other entries of {group}")),
        ),
        (
            "host cache",
            if class.host_cache { "allowed" } else { "no" }.into(),
        ),
        ("after a stop", class.after_stop.shown().into()),
        (
            "atomic write",
            class
                .atomic_write
                .map_or_else(String::new, |size| format!("{size}, aligned")),
        ),
        ("USD a month", price_parts_shown(disk)),
        ("confidence", disk.confidence.to_string()),
        ("also called", disk.aliases.join(", ")),
    ];
    rows.extend(
        class
            .assumed
            .iter()
            .chain(&disk.assumed)
            .map(|text| ("assumed", text.clone())),
    );
    rows.extend(
        class
            .notes
            .iter()
            .chain(&disk.notes)
            .map(|text| ("note", text.clone())),
    );
    let missed = disk.on_machines.missed();
    rows.extend(missed.map(|text| ("measured less", text.to_owned())));
    if let Some(provisioned) = provisioned {
        let price = provisioned
            .usd_per_month
            .map(|usd| format!(", {} USD a month", list_price(usd)));
        let limits = limits_shown(&provisioned.spec.limits);
        let as_asked = format!(
            "{}: {limits}{}",
            provisioned.spec.size,
            price.unwrap_or_default()
        );
        rows.push(("as asked", as_asked));
    }
    let mut sources = disk.sources.clone();
    let of_class = [
        &class.sources,
        &class.read.sources,
        &class.write.sources,
        &class.flush.sources,
    ];
    for source in of_class.into_iter().flatten() {
        if !sources.contains(source) {
            sources.push(source.clone());
        }
    }
    detailed(format!("{}: {}", disk.name, disk.title), rows, &sources)
}

fn bursting_shown(disk: &DiskEntry) -> String {
    let bursts = &disk.limits.bursts;
    let iops = bursts
        .iops
        .as_ref()
        .map(|burst| format!("{} IOPS", burst.rate.shown()));
    let throughput = bursts.throughput.as_ref().map(|burst| burst.rate.shown());
    let rates: Vec<String> = iops.into_iter().chain(throughput).collect();
    match (rates.is_empty(), bursts.optional) {
        (true, _) => "none".into(),
        (false, true) => format!("{}, when asked for", rates.join(" and ")),
        (false, false) => rates.join(" and "),
    }
}

fn io_unit_shown(disk: &DiskEntry) -> String {
    let unit = disk.class.io_unit;
    let size = match unit.size_max {
        Some(size) => format!("up to {size}"),
        None => "a request of any size".into(),
    };
    match unit.charge_min {
        Some(least) => format!("{size}, charged as {least} at least"),
        None => size,
    }
}

fn disk_json(disk: &DiskEntry, provisioned: Option<&Provisioned>) -> Value {
    let class = &disk.class;
    json!({
        "name": disk.name,
        "title": disk.title,
        "aliases": disk.aliases,
        "class": class.name,
        "size": disk.size.shown(),
        "iops": disk.limits.iops.as_ref().map(Limit::shown),
        "throughput": disk.limits.throughput.as_ref().map(Limit::shown),
        "limits_from": disk.limits_from.iter().map(|from| json!({
            "size": from.size,
            "iops": from.limits.iops.as_ref().map(Limit::shown),
            "throughput": from.limits.throughput.as_ref().map(Limit::shown),
        })).collect::<Vec<_>>(),
        "bursting": bursting_shown(disk),
        "io_unit": class.io_unit,
        "atomic_write": class.atomic_write,
        "read_latency": latency_json(&class.read),
        "write_latency": latency_json(&class.write),
        "flush_latency": latency_json(&class.flush),
        "machine_limits": class.machine_limits,
        "host_cache": class.host_cache,
        "after_stop": class.after_stop,
        "on_machines": disk.on_machines,
        "price_usd_per_month": disk.price,
        "confidence": disk.confidence,
        "assumed": class.assumed.iter().chain(&disk.assumed).collect::<Vec<_>>(),
        "notes": class.notes.iter().chain(&disk.notes).collect::<Vec<_>>(),
        "sources": disk.sources,
        "class_sources": class.sources,
        "provisioned": provisioned.map(|provisioned| json!({
            "spec": provisioned.spec,
            "usd_per_month": provisioned.usd_per_month,
        })),
    })
}

/// The document `dbstow.disks/1`, as JSON with a line feed at its end.
pub fn disks_json(disks: &[&DiskEntry], provisioned: Option<&Provisioned>) -> String {
    let disks = disks.iter().map(|disk| disk_json(disk, provisioned));
    let disks: Vec<Value> = disks.collect();
    let document = json!({ "schema": "dbstow.disks/1", "disks": disks });
    format!("{document:#}\n")
}

#[cfg(test)]
mod tests {
    use catalogue::{Catalogue, Provision};
    use model::Iops;

    use super::*;
    use crate::report::markdown;

    #[test]
    fn a_disk_is_shown_with_its_sources_and_what_is_assumed() {
        let catalogue = Catalogue::builtin();
        let p30 = catalogue.disk("azure.premium.p30").expect("built in");
        let provisioned = p30.provision(&Provision::default()).expect("as it is");
        let text = markdown::render(&disk(p30, Some(&provisioned)));
        for part in [
            "135.17; Azure eastus, 2026",
            "az-premium-sizes",
            "assumed: the spread",
            "5000 IOPS, 200 MB/s",
        ] {
            assert!(text.contains(part), "no {part} in {text}");
        }
    }

    #[test]
    fn a_provisioned_disk_is_shown_with_its_limits_and_price() {
        let catalogue = Catalogue::builtin();
        let gp3 = catalogue.disk("aws.gp3").expect("built in");
        let asked = Provision {
            size: Some(Bytes::gib(100)),
            iops: Some(Iops(6000)),
            ..Provision::default()
        };
        let provisioned = gp3.provision(&asked).expect("allowed");
        // 100 * 0.08 + 3000 * 0.005 = 23
        let text = markdown::render(&disk(gp3, Some(&provisioned)));
        assert!(text.contains("6000 IOPS, 125 MiB/s, 23.00 USD"), "{text}");
        assert!(text.contains("0.005 per IOPS above 3000"), "{text}");
        let document = disks_json(&[gp3], Some(&provisioned));
        let json: Value = serde_json::from_str(&document).expect("JSON");
        assert_eq!(json["disks"][0]["provisioned"]["usd_per_month"], 23.0);
    }
}
