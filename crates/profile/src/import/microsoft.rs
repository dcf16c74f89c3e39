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
/// Of these, what every row needs: counts and bytes.
const NEEDED: [usize; 4] = [0, 1, 3, 4];
/// So many changes of a count, hardly one of which is a decrease, are those of totals.
const STEPS_MIN: usize = 4;
/// Totals shrink in no more than one step of so many: when the server was restarted.
const SHRUNK_SHARE: usize = 10;
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
    let are_totals = are_totals(series.values()).ok_or_else(|| {
        let message = "it has too few rows to tell totals from differences between samples; collect for an hour or longer";
        ImportError::file(source.file, message.to_owned())
    })?;
    draft.assume(match are_totals {
        true => "Counts hardly ever shrink and are taken as totals.".to_owned(),
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
            let is_one = |part: &str| *name == part || *name == format!("{part}name");
            [
                "database",
                "file",
                "databasefile",
                "filelogical",
                "filephysical",
            ]
            .into_iter()
            .any(is_one)
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
            for needed in NEEDED {
                if columns[needed].is_none() {
                    return Err(refused(&format!("`{}`", COUNTERS[needed])));
                }
            }
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
        let decimal = self.decimal()?;
        for (line, cells) in &self.table.rows {
            let cell = |at: usize| cells.get(at).unwrap_or_default().trim();
            let cells: Vec<(usize, &str)> = match &self.values {
                Values::Columns(columns) => {
                    let one = |(number, at): (usize, &Option<usize>)| Some((number, cell((*at)?)));
                    columns.iter().enumerate().filter_map(one).collect()
                }
                Values::Rows { counter, value } => {
                    let name = cell(*counter).to_lowercase();
                    let number = COUNTERS.iter().position(|counter| *counter == name);
                    number
                        .map(|number| (number, cell(*value)))
                        .into_iter()
                        .collect()
                }
            };
            let mut found: Vec<(usize, f64)> = Vec::new();
            for (number, text) in cells {
                let value = decimal.counted(text).map_err(|message| {
                    let message = format!("{}: {message}", COUNTERS[number]);
                    self.table.error(*line, message)
                })?;
                found.extend(value.map(|value| (number, value)));
            }
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

    /// The mark of the decimals in the columns with figures.
    fn decimal(&self) -> Result<Decimal, ImportError> {
        let columns: Vec<usize> = match &self.values {
            Values::Columns(columns) => columns.iter().copied().flatten().collect(),
            Values::Rows { value, .. } => vec![*value],
        };
        let rows = self.table.rows.iter();
        let cells = rows.flat_map(|(_, cells)| columns.iter().filter_map(|at| cells.get(*at)));
        Decimal::of(cells).ok_or_else(|| {
            let message = "it has numbers with decimal points and others with commas; export it again in one locale";
            self.table.error(1, message.to_owned())
        })
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

/// Whether counts only grow, but for a restart now and then, as counters since the start of the server do; `None` where
/// too few rows show it.
fn are_totals<'a>(files: impl Iterator<Item = &'a BTreeMap<Timestamp, Figures>>) -> Option<bool> {
    let (mut steps, mut shrunk) = (0, 0);
    for rows in files {
        for number in [0, 3] {
            let values: Vec<f64> = rows
                .values()
                .filter_map(|figures| figures[number])
                .collect();
            let changes = values.windows(2).filter(|pair| pair[0] != pair[1]);
            for pair in changes {
                steps += 1;
                shrunk += usize::from(pair[1] < pair[0]);
            }
        }
    }
    match shrunk * SHRUNK_SHARE > steps {
        true => Some(false),
        false => (steps >= STEPS_MIN).then_some(true),
    }
}

/// Totals at each time, with the time waited, of which only the mean is known. A row that lacks a count or its bytes is
/// left out.
fn accumulated(rows: &BTreeMap<Timestamp, Figures>, are_totals: bool) -> Vec<(Timestamp, Totals)> {
    let mut sums = [Total::default(); 2];
    let mut before: Option<(Timestamp, Figures)> = None;
    let mut totals = Vec::new();
    let complete = rows
        .iter()
        .filter(|(_, figures)| NEEDED.iter().all(|needed| figures[*needed].is_some()));
    for (at, figures) in complete {
        for (kind, sum) in sums.iter_mut().enumerate() {
            let first = kind * 3;
            let value = |number: usize| figures[number].unwrap_or_default();
            let (count, bytes) = (value(first), value(first + 1) * MEGABYTE);
            let new = match &before {
                None => 0.0,
                Some((_, last)) if are_totals => (count - last[first].unwrap_or_default()).max(0.0),
                Some((then, _)) => {
                    let samples = super::steps::between(*then, *at).as_secs_f64() / SAMPLE_S;
                    sum.bytes += bytes * samples;
                    count * samples
                }
            };
            match are_totals {
                // A restart shows as counts that shrink.
                true => (sum.count, sum.bytes) = (count, bytes),
                false => sum.count += new,
            }
            if let Some(latency) = figures[first + 2] {
                sum.waited_ms = Some(sum.waited_ms.unwrap_or(0.0) + new * latency);
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
