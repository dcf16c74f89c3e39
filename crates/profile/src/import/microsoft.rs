//! `*_PerformanceAggregated_Counters.csv` of Microsoft's performance data collection (`az datamigration
//! performance-data-collection`, Data Migration Assistant).
//!
//! No file of it is public. Microsoft's pages name the counters, not the columns: the reader takes a column for each
//! counter, or a row for each, and refuses anything else with the header.
//! <https://learn.microsoft.com/azure/dms/ads-sku-recommend>, of 2022-05-09, read 2026-11-21.

use std::collections::BTreeMap;

use jiff::Timestamp;
use reading::Role;

use super::cumulative::{Snapshot, Total, Totals, differences};
use super::error::ImportError;
use super::number::Decimal;
use super::stamp::{DateOrder, Stamp};
use super::table::{Row, Table};
use super::text::excerpt;
use super::{Options, Source};
use crate::draft::Draft;

/// Counters of a file.
const COUNTERS: [&str; 6] = [
    "numofreads",
    "readioinmb",
    "readlatency",
    "numofwrites",
    "writeioinmb",
    "writelatency",
];
const MEGABYTE: f64 = 1_048_576.0;
/// Time between two samples, unless it was set (`--perf-query-interval`).
const SAMPLE_S: f64 = 30.0;

/// Whether a file looks like it, by its name or by names of counters in it.
pub(super) fn is_counters(file: &str, head: &str) -> bool {
    let file = file.to_lowercase();
    let head = head.to_lowercase();
    let named = file.ends_with("performanceaggregated_counters.csv");
    named || head.contains("numofreads") && head.contains("numofwrites")
}

/// Figures of one file at one time, in the order of [`COUNTERS`].
type Figures = [Option<f64>; 6];

/// Name of the file that was counted, and what it is for.
type File = (String, Role);

/// Reads the counters.
///
/// # Errors
/// With the header, when its columns cannot be understood.
pub(super) fn read(source: &Source, options: &Options) -> Result<Draft, ImportError> {
    let table = Table::read(source.file, source.text)?;
    let mut draft = Draft::of("PerfDataCollection");
    draft.origin.product = Some("SQL Server".to_owned());
    draft.assume("The layout of the file is taken from Microsoft's documentation, which does not show an example.");
    if table.is_cut {
        draft.assume("The last line is truncated and left out.");
    }
    draft.assume("A row is a mean over the time since the row before it.");
    let layout = Layout::of(source.file, &table)?;
    let series = layout.series(options, &mut draft)?;
    if !series.keys().any(|(_, role)| *role == Role::Temp) {
        draft.assume("Requests to temporary files are not in the file, and unknown.");
    }
    let mut snapshots: BTreeMap<Timestamp, Snapshot<String>> = BTreeMap::new();
    let are_totals = series.values().all(are_totals);
    draft.assume(match are_totals {
        true => "Counts never shrink and are taken as totals.".to_owned(),
        false => format!("Counts are taken as differences between samples {SAMPLE_S} s apart."),
    });
    for ((file, role), rows) in &series {
        for (at, totals) in accumulated(rows, are_totals) {
            let files = snapshots.entry(at).or_default();
            files.insert(file.clone(), (*role, totals));
        }
    }
    differences(&snapshots, &mut draft);
    Ok(draft)
}

/// Where things are.
struct Layout<'a> {
    table: &'a Table,
    time: usize,
    /// Columns that name the file together.
    names: Vec<usize>,
    kind: Option<usize>,
    values: Values,
}

enum Values {
    /// A column for each counter.
    Columns([Option<usize>; 6]),
    /// A column with the counter's name, and one with its value.
    Rows { counter: usize, value: usize },
}

impl<'a> Layout<'a> {
    fn of(file: &str, table: &'a Table) -> Result<Layout<'a>, ImportError> {
        let header: Vec<String> = table
            .header
            .iter()
            .map(|name| name.trim().to_lowercase())
            .collect();
        let with = |parts: &[&str]| {
            header
                .iter()
                .position(|name| parts.iter().any(|part| name.contains(part)))
        };
        let refused = |what: &str| {
            let message = format!(
                "{what} is missing in the header ({}); no public example of this file exists: please report its header",
                header.join(", ")
            );
            ImportError::line(file, 1, message)
        };
        let time = with(&["time", "date"]).ok_or_else(|| refused("the time"))?;
        let is_name = |name: &String| {
            ["database", "file"].iter().any(|part| name.contains(part)) && !name.contains("type")
        };
        let names: Vec<usize> = (0..header.len())
            .filter(|at| is_name(&header[*at]))
            .collect();
        if names.is_empty() {
            return Err(refused("the file that was counted"));
        }
        let is_mean = |name: &&str| {
            ["mean", "avg", "average"]
                .iter()
                .any(|part| name.contains(part))
        };
        let column = |counter: &str| {
            let exact = header.iter().position(|name| name == counter);
            let mean = || {
                header
                    .iter()
                    .position(|name| name.contains(counter) && is_mean(&name.as_str()))
            };
            exact.or_else(mean)
        };
        let columns = COUNTERS.map(column);
        let values = if columns[0].is_some() && columns[3].is_some() {
            Values::Columns(columns)
        } else {
            let is_counter = |at: &usize| {
                let cell = |(_, cells): &Row| cells.get(*at).map(|cell| cell.trim().to_lowercase());
                table
                    .rows
                    .iter()
                    .filter_map(cell)
                    .any(|cell| COUNTERS.contains(&cell.as_str()))
            };
            let counter = (0..header.len()).find(is_counter);
            let mean = header.iter().position(|name| is_mean(&name.as_str()));
            let value = mean.or_else(|| header.iter().position(|name| name == "value"));
            let (counter, value) = counter
                .zip(value)
                .ok_or_else(|| refused("`NumOfReads` and its like"))?;
            Values::Rows { counter, value }
        };
        Ok(Layout {
            table,
            time,
            names,
            kind: with(&["filetype", "type"]),
            values,
        })
    }

    /// Figures by file and time.
    fn series(
        &self,
        options: &Options,
        draft: &mut Draft,
    ) -> Result<BTreeMap<File, BTreeMap<Timestamp, Figures>>, ImportError> {
        if options.utc_offset.is_none() {
            draft.assume("Times are taken as UTC.");
        }
        let mut series: BTreeMap<File, BTreeMap<Timestamp, Figures>> = BTreeMap::new();
        for (line, cells) in &self.table.rows {
            let cell = |at: usize| cells.get(at).unwrap_or_default().trim();
            let found: Vec<(usize, f64)> = match &self.values {
                Values::Columns(columns) => {
                    let one = |(number, at): (usize, &Option<usize>)| {
                        Some((number, Decimal::Point.number(cell((*at)?))?))
                    };
                    columns.iter().enumerate().filter_map(one).collect()
                }
                Values::Rows { counter, value } => {
                    let name = cell(*counter).to_lowercase();
                    let number = COUNTERS.iter().position(|counter| *counter == name);
                    number
                        .zip(Decimal::Point.number(cell(*value)))
                        .into_iter()
                        .collect()
                }
            };
            if found.is_empty() {
                // A counter of the instance or of a database.
                continue;
            }
            let text = cell(self.time);
            let order = options.dates.unwrap_or(DateOrder::MonthFirst);
            let at = Stamp::parse(text).and_then(|stamp| stamp.instant(order, options.utc_offset));
            let at = at.ok_or_else(|| {
                let message = format!(
                    "`{}` is not a readable date and time; check --dates",
                    excerpt(text)
                );
                self.table.error(*line, message)
            })?;
            let name: Vec<&str> = self.names.iter().map(|at| cell(*at)).collect();
            let file = (name.join("/"), self.role(&name, self.kind.map_or("", cell)));
            let figures = series.entry(file).or_default().entry(at).or_default();
            for (number, value) in found {
                figures[number] = Some(value);
            }
        }
        Ok(series)
    }

    fn role(&self, names: &[&str], kind: &str) -> Role {
        let is_log = |name: &&str| name.to_lowercase().ends_with(".ldf");
        if names.iter().any(|name| name.eq_ignore_ascii_case("tempdb")) {
            Role::Temp
        } else if kind.to_lowercase().contains("log") || names.iter().any(is_log) {
            Role::Log
        } else {
            Role::Data
        }
    }
}

/// Whether counts only grow, as counters since the start of the server do.
fn are_totals(rows: &BTreeMap<Timestamp, Figures>) -> bool {
    let grows = |number: usize| {
        let values: Vec<f64> = rows
            .values()
            .filter_map(|figures| figures[number])
            .collect();
        values.is_sorted()
    };
    grows(0) && grows(3)
}

/// Totals at each time, with the time waited, of which only the mean is known.
fn accumulated(rows: &BTreeMap<Timestamp, Figures>, are_totals: bool) -> Vec<(Timestamp, Totals)> {
    let mut sums = [Total::default(); 2];
    let mut before: Option<(Timestamp, Figures)> = None;
    let mut totals = Vec::new();
    for (at, figures) in rows {
        for (kind, sum) in sums.iter_mut().enumerate() {
            let first = kind * 3;
            let new = |number: usize| {
                let value = figures[number].unwrap_or(0.0);
                match &before {
                    None => 0.0,
                    Some((_, last)) if are_totals => (value - last[number].unwrap_or(0.0)).max(0.0),
                    Some((then, _)) => {
                        let apart = super::steps::between(*then, *at).as_secs_f64();
                        value * apart / SAMPLE_S
                    }
                }
            };
            let count = new(first);
            sum.count += count;
            sum.bytes += new(first + 1) * MEGABYTE;
            if let Some(latency) = figures[first + 2] {
                sum.waited_ms = Some(sum.waited_ms.unwrap_or(0.0) + count * latency);
            }
        }
        totals.push((
            *at,
            Totals {
                reads: sums[0],
                writes: sums[1],
            },
        ));
        before = Some((*at, *figures));
    }
    totals
}
