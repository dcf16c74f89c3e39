//! Disks, machines and managed services of the catalogue: a list, or all about one.

mod disks;
mod machines;
mod services;

use catalogue::{Latency, LimitValue as _, Source};
use model::{Counts, LimitSpec, Rate};
use serde_json::{Value, json};
use table::{Column, Table};

use super::section::{Body, Item, Kind, Place, Report};

pub use disks::{disk, disks, disks_json};
pub use machines::{machine, machines, machines_json};
pub use services::{classes, service, service_details, services, services_json};

/// A list, without a title: what it is of was asked for.
fn listed(table: Table) -> Report {
    let mut report = Report::default();
    report.add("list", "", Place::Full, Body::Table(table));
    report
}

/// All about one entry: names and values, without those that are empty, and the sources.
fn detailed(title: String, rows: Vec<(&'static str, String)>, sources: &[Source]) -> Report {
    let rows = rows.into_iter().filter(|(_, value)| !value.is_empty());
    let columns = [
        Column::text("", |(name, _): &(&'static str, String)| *name),
        Column::text("", |(_, value): &(&'static str, String)| value.clone()),
    ];
    let mut report = Report {
        title,
        ..Report::default()
    };
    let facts = Table::of(rows, columns);
    report.add("facts", "", Place::Full, Body::Table(facts));
    let sources = Body::List(sources.iter().map(source).collect());
    report.add("sources", "Sources", Place::Full, sources);
    report
}

fn source(source: &Source) -> Item {
    let known = format!("[{}] {}, {}", source.id, source.title, source.date);
    let more = source.url.iter().chain(&source.note).cloned();
    let texts: Vec<String> = [known].into_iter().chain(more).collect();
    Item::new(Kind::Point, "", texts.join("; "))
}

/// A latency with its origin: `p50 310 us, p99 1512 us [lat-liang]`.
fn latency_shown(latency: &Latency) -> String {
    let mut text = latency.shown();
    for source in &latency.sources {
        text.push_str(&format!(" [{}]", source.id));
    }
    if let Some(assumed) = &latency.assumed {
        text.push_str(&format!("; assumed: {assumed}"));
    }
    text
}

/// A latency as JSON.
fn latency_json(latency: &Latency) -> Value {
    json!({
        "distribution": latency.spec,
        "assumed": latency.assumed,
        "sources": latency.sources,
    })
}

/// A model limit in a few words: `reads 187 MB/s`, `2300 IOPS (3500 while credits last)`.
fn limit_shown(limit: &LimitSpec) -> String {
    let counts = match limit.counts {
        Counts::All => "",
        Counts::Reads => "reads ",
        Counts::Writes => "writes ",
    };
    let (rate, burst) = match limit.rate {
        Rate::Iops(iops) => (
            iops.to_string(),
            limit.burst.map(|burst| burst.rate.to_string()),
        ),
        Rate::Throughput(throughput) => (
            throughput.shown(),
            limit
                .burst
                .map(|burst| model::Throughput(burst.rate).shown()),
        ),
    };
    match burst {
        Some(burst) => format!("{counts}{rate} ({burst} while credits last)"),
        None => format!("{counts}{rate}"),
    }
}

/// Several limits, separated by commas.
fn limits_shown(limits: &[LimitSpec]) -> String {
    let shown: Vec<String> = limits.iter().map(limit_shown).collect();
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use catalogue::Catalogue;
    use table::Width;

    use super::*;
    use crate::report::section::Extent;
    use crate::report::terminal;

    #[test]
    fn no_line_of_a_list_is_wider_than_100_columns() {
        let catalogue = Catalogue::builtin();
        let every_disk: Vec<_> = catalogue.disks().collect();
        let every_machine: Vec<_> = catalogue.machines().collect();
        for list in [disks(&every_disk), machines(&every_machine)] {
            let text = terminal::render(&list, Width::default(), Extent::Full).to_string();
            let widest = text.lines().map(|line| line.chars().count()).max();
            assert!(widest.is_some_and(|widest| widest <= 100), "{widest:?}");
        }
    }
}
