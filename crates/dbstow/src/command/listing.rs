//! Shared by `disks`, `machines` and `workloads`: loading, matching, and tables as wide as the terminal.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::ValueEnum;
use comfy_table::{ColumnConstraint, ContentArrangement, Table, presets};
use model::{Counts, LimitSpec, Rate};
use serde_json::{Value, json};

use super::output;
use catalogue::{Catalogue, Latency, LimitValue, Source};
use lab::request::inputs;

/// How a list is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// Tables and sentences
    #[default]
    Text,
    /// One JSON document
    Json,
}

impl ListFormat {
    /// Prints in this format.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn print(self, text: &str) -> io::Result<()> {
        match self {
            ListFormat::Text => super::print(text),
            ListFormat::Json => super::print_json(text),
        }
    }
}

/// The built-in catalogue, with the user's own files.
pub(super) fn catalogue(files: &[PathBuf]) -> anyhow::Result<Catalogue> {
    let mut catalogue = Catalogue::builtin();
    for file in files {
        add(&mut catalogue, file)?;
    }
    Ok(catalogue)
}

/// Adds the entries of a user's own file.
pub(super) fn add(catalogue: &mut Catalogue, file: &Path) -> anyhow::Result<()> {
    let name = file.display().to_string();
    let text = inputs::catalogue(file).with_context(|| format!("--catalogue {name}"))?;
    Ok(catalogue.add(&text, &name)?)
}

/// Whether one of the texts contains the pattern, case-insensitive.
pub(super) fn matches(pattern: &str, texts: &[&str]) -> bool {
    let wanted = pattern.to_lowercase();
    texts
        .iter()
        .any(|text| text.to_lowercase().contains(&wanted))
}

/// A key that sorts `p4` before `p10`: runs of digits as numbers.
pub(super) fn natural_key(name: &str) -> Vec<(String, u64)> {
    let mut key = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let digits_at = rest
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(rest.len());
        let (text, tail) = rest.split_at(digits_at);
        let digits_end = tail
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(tail.len());
        let (digits, tail) = tail.split_at(digits_end);
        key.push((text.to_owned(), digits.parse().unwrap_or(0)));
        rest = tail;
    }
    key
}

/// A table with a header, whose first column, the names, is never wrapped.
pub(super) fn table(header: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(columns())
        .set_header(header.to_vec());
    table.add_rows(rows);
    if let Some(names) = table.column_mut(0) {
        names.set_constraint(ColumnConstraint::ContentWidth);
    }
    trimmed(&table)
}

/// Two columns without lines: name and value.
pub(super) fn pairs(rows: Vec<(&str, String)>) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(columns());
    for (what, value) in rows {
        table.add_row([what.to_owned(), value]);
    }
    trimmed(&table)
}

fn columns() -> u16 {
    u16::try_from(output::width().columns()).unwrap_or(u16::MAX)
}

fn trimmed(table: &Table) -> String {
    table
        .to_string()
        .lines()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect()
}

/// The sources, one per paragraph; addresses stay on one line, so that they can be copied.
pub(super) fn sources_shown(sources: &[Source]) -> String {
    let mut text = String::from(" sources\n");
    for source in sources {
        text.push_str(&format!(
            "   [{}] {}, {}\n",
            source.id, source.title, source.date
        ));
        for line in source.url.iter().chain(&source.note) {
            text.push_str(&format!("       {line}\n"));
        }
    }
    text
}

/// A latency with its origin: `p50 310 us, p99 1512 us [lat-liang]`.
pub(super) fn latency_shown(latency: &Latency) -> String {
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
pub(super) fn latency_json(latency: &Latency) -> Value {
    json!({
        "distribution": latency.spec,
        "assumed": latency.assumed,
        "sources": latency.sources,
    })
}

/// A model limit in a few words: `reads 187 MB/s`, `2300 IOPS (3500 while credits last)`.
pub(super) fn limit_shown(limit: &LimitSpec) -> String {
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
pub(super) fn limits_shown(limits: &[LimitSpec]) -> String {
    let shown: Vec<String> = limits.iter().map(limit_shown).collect();
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_sort_as_numbers() {
        let mut names = ["azure.premium.p10", "azure.premium.p4", "aws.gp3"];
        names.sort_by_key(|name| natural_key(name));
        assert_eq!(names, ["aws.gp3", "azure.premium.p4", "azure.premium.p10"]);
    }

    #[test]
    fn a_pattern_matches_in_any_case() {
        assert!(matches("ds14", &["azure.DS14_v2"]));
        assert!(!matches("ds15", &["azure.DS14_v2"]));
    }
}
