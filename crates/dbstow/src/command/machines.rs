//! `dbstow machines`: lists, searches and shows the machines of the catalogue.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use model::{DiskSpec, MachineSpec};
use serde_json::{Value, json};

use super::listing::{self, ListFormat};
use catalogue::MachineEntry;

/// Arguments of `dbstow machines`.
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct Args {
    /// Part of a name or title; where one machine is meant, everything about it is shown
    #[arg(add = super::names::of_machines())]
    pub pattern: Option<String>,
    /// Show everything about each machine found, sources included
    #[arg(long)]
    pub details: bool,
    /// Also read this catalogue file; may be given several times
    #[arg(long, value_name = "FILE")]
    pub catalogue: Vec<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub format: ListFormat,
}

/// Prints what was asked for.
///
/// # Errors
/// When a catalogue file cannot be read or nothing is found.
pub fn run(args: &Args) -> anyhow::Result<()> {
    args.format.print(&rendered(args)?)?;
    Ok(())
}

/// What [`run`] prints.
///
/// # Errors
/// As [`run`].
pub fn rendered(args: &Args) -> anyhow::Result<String> {
    let catalogue = listing::catalogue(&args.catalogue)?;
    let pattern = args.pattern.as_deref().unwrap_or_default();
    let meant = catalogue.machines_meant(pattern);
    let mut machines: Vec<&MachineEntry> = match meant.as_slice() {
        [one] => vec![*one],
        _ => (catalogue.machines())
            .filter(|machine| found(machine, pattern))
            .collect(),
    };
    if machines.is_empty() {
        catalogue.machine(pattern)?;
    }
    machines.sort_by_cached_key(|machine| listing::natural_key(&machine.name));
    Ok(match (args.format, args.details || machines.len() == 1) {
        (ListFormat::Json, true | false) => {
            let machines: Vec<Value> = machines
                .iter()
                .map(|machine| machine_json(machine))
                .collect();
            let document = json!({ "schema": "dbstow.machines/1", "machines": machines });
            format!("{document:#}\n")
        }
        (ListFormat::Text, false) => overview(&machines),
        (ListFormat::Text, true) => {
            let all: Vec<String> = machines.iter().map(|machine| details(machine)).collect();
            all.join("\n")
        }
    })
}

fn found(machine: &MachineEntry, pattern: &str) -> bool {
    let mut texts = vec![machine.name.as_str(), machine.title.as_str()];
    texts.extend(machine.aliases.iter().map(String::as_str));
    listing::matches(pattern, &texts)
}

fn overview(machines: &[&MachineEntry]) -> String {
    let row = |machine: &&MachineEntry| {
        let spec = &machine.spec;
        let limits = spec.limits.iter();
        let limits =
            limits.map(|(name, limit)| format!("{name}: {}", listing::limits_shown(limit)));
        vec![
            machine.name.clone(),
            spec.cores.to_string(),
            spec.memory.to_string(),
            limits.collect::<Vec<_>>().join("\n"),
            spec.host_cache
                .as_ref()
                .map_or_else(String::new, |cache| cache.size.to_string()),
            spec.local_disk
                .as_ref()
                .map_or_else(String::new, |disk| disk.size.to_string()),
        ]
    };
    let header = [
        "machine",
        "cores",
        "memory",
        "limits",
        "host cache",
        "local disk",
    ];
    listing::table(&header, machines.iter().map(row).collect())
}

fn details(machine: &MachineEntry) -> String {
    let spec = &machine.spec;
    let mut rows = vec![
        ("cores", spec.cores.to_string()),
        ("memory", spec.memory.to_string()),
    ];
    for (name, limits) in &spec.limits {
        rows.push((
            "limit",
            format!("{name}: {}", listing::limits_shown(limits)),
        ));
    }
    if let Some(cache) = &spec.host_cache {
        let text = format!("{}, within the limit {}", cache.size, cache.limit);
        rows.push(("host cache", text));
    }
    if let Some(disk) = &spec.local_disk {
        rows.push(("local disk", local_disk_shown(disk, &machine.spec)));
    }
    let counts = [
        ("disks at most", machine.disks_max),
        ("files at most", machine.files_max),
    ];
    for (what, count) in counts {
        rows.extend(count.map(|count| (what, count.to_string())));
    }
    rows.push(("confidence", machine.confidence.to_string()));
    rows.push(("also called", machine.aliases.join(", ")));
    rows.extend(machine.assumed.iter().map(|text| ("assumed", text.clone())));
    rows.extend(machine.notes.iter().map(|text| ("note", text.clone())));
    rows.retain(|(_, value)| !value.is_empty());
    let title = match machine.title.as_str() {
        "" => String::new(),
        title => format!(": {title}"),
    };
    format!(
        "{}{title}\n{}{}",
        machine.name,
        listing::pairs(rows),
        listing::sources_shown(&machine.sources)
    )
}

fn local_disk_shown(disk: &DiskSpec, machine: &MachineSpec) -> String {
    let mut parts = vec![disk.size.to_string()];
    if !disk.limits.is_empty() {
        parts.push(listing::limits_shown(&disk.limits));
    }
    let mut names = disk.machine_limits.iter();
    if let Some(name) = names.find(|name| machine.limits.contains_key(*name)) {
        parts.push(format!("within the limit {name}"));
    }
    parts.join(", ")
}

fn machine_json(machine: &MachineEntry) -> Value {
    json!({
        "name": machine.name,
        "title": machine.title,
        "aliases": machine.aliases,
        "spec": machine.spec,
        "disks_max": machine.disks_max,
        "files_max": machine.files_max,
        "confidence": machine.confidence,
        "assumed": machine.assumed,
        "notes": machine.notes,
        "sources": machine.sources,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(pattern: &str) -> String {
        let args = Args {
            pattern: Some(pattern.into()),
            ..Args::default()
        };
        rendered(&args).expect("something is found")
    }

    #[test]
    fn no_line_of_the_list_is_wider_than_100_columns() {
        let text = text_of("");
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(100), "{widest:?}");
    }

    #[test]
    fn a_whole_name_shows_limits_cache_and_source() {
        let text = text_of("azure.DS2");
        for part in [
            "cached: 8000 IOPS, 64 MB/s",
            "86 GiB, within the limit cached",
            "14 GiB, within the limit cached",
            "[az-prevgen]",
        ] {
            assert!(text.contains(part), "no {part} in {text}");
        }
    }

    #[test]
    fn a_machine_is_shown_in_full_by_the_end_of_its_name() {
        let whole = text_of("azure.DS14_v2");
        for end in ["ds14_v2", "azure.DS14v2"] {
            assert_eq!(text_of(end), whole, "{end}");
        }
    }

    #[test]
    fn an_unknown_machine_is_answered_with_the_near_ones() {
        let args = Args {
            pattern: Some("azure.DS14_v22".into()),
            ..Args::default()
        };
        let error = rendered(&args).expect_err("no such machine").to_string();
        assert!(error.contains("`azure.DS14_v2`"), "{error}");
    }
}
