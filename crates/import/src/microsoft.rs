//! `*_PerformanceAggregated_Counters.csv` of Microsoft's performance data collection (`az datamigration
//! performance-data-collection`, Data Migration Assistant).
//!
//! ```text
//! ServerName,DatabaseName,DatabaseFileName,FileType,TimeDataCollected,CounterName,AggregatorType,Value
//! SRV,shop,D:\data\shop.mdf,ROWS,2026-11-03 09:00:00,FNR,Mean,600
//! ```
//!
//! One real file is public: test data of <https://github.com/microsoft/sqltoolsservice>, collected in 2021, read 2026-11-26.
//! The meaning of its codes follows from the counters that Microsoft's page lists on the same three levels
//! (<https://learn.microsoft.com/azure/dms/ads-sku-recommend>, of 2022-05-09), one to one. In that file, counters of files
//! have one value fewer than there are samples, and an idle file has 0: they are differences between samples. No page says
//! so, and all counts of the file are 0.

use std::collections::{BTreeMap, BTreeSet};

use csv::StringRecord;
use jiff::Timestamp;
use model::Duration;
use reading::Role;

use super::error::ImportError;
use super::number::Decimal;
use super::source::{Options, Source};
use super::stamp::Dates;
use super::steps::{Resolution, Step, steps};
use super::table::{Row, Table, header_names};
use super::text::excerpt;
use crate::rates::{Rates, requests};
use profile::{Draft, Interval, Lost, Span, add, between};

/// Counters of a file: reads, megabytes read, latency of reads; the same of writes.
const CODES: [&str; 6] = ["FNR", "FRM", "FRL", "FNW", "FWM", "FWL"];
/// The ones that every file requires: counts and bytes.
const NEEDED: [usize; 4] = [0, 1, 3, 4];
/// Counters of the server and of a database: processor time, memory.
const OTHERS: [&str; 5] = ["ICP", "IM", "IMP", "DCP", "DCS"];
/// SQL Server's scripts divide by 1024 * 1024; the tools do not say.
const MEGABYTE: f64 = 1_048_576.0;
/// Time between two samples, unless it was set (`--perf-query-interval`):
/// <https://learn.microsoft.com/powershell/module/az.datamigration/get-azdatamigrationperformancedatacollection>,
/// read 2026-11-26.
const SAMPLE: Duration = Duration::from_secs(30);
/// No window has more samples: a day with one a second, the shortest that the tools take. Ours; theirs is 20.
const SAMPLES_MAX: f64 = 86_400.0;
/// In the public file, windows of 10 min come up to 10 min 30 s apart; this does not imply a different time between samples.
const LATE: std::ops::Range<f64> = 0.95..1.1;

/// Whether a file has this format, by its header or its name.
pub(super) fn is_counters(file: &str, first: &str) -> bool {
    let header = header_names(first);
    let has = |name: &str| header.iter().any(|cell| cell == name);
    let named = file
        .to_lowercase()
        .ends_with("performanceaggregated_counters.csv");
    named || has("timedatacollected") && has("countername") && has("aggregatortype")
}

/// Counters of one file in one window.
#[derive(Clone, Copy, Debug)]
struct Window {
    role: Role,
    /// In the order of [`CODES`].
    means: [Option<f64>; 6],
    largest: [Option<f64>; 6],
    /// Number of differences between samples: the maximum over its counters.
    values: Option<f64>,
}

/// Windows by their time, and in each the files by database and name.
type Windows = BTreeMap<Timestamp, BTreeMap<(String, String), Window>>;

/// Reads the counters.
///
/// # Errors
/// When a column is missing, a row cannot be read, or there are rows of several servers.
pub(super) fn read(source: &Source, options: &Options) -> Result<Draft, ImportError> {
    let wrong = |message: String| ImportError::file(source.file, message);
    if options.interval == Some(Duration::ZERO) {
        return Err(wrong(
            "--interval is 0 s; give the time between samples, or leave it out".to_owned(),
        ));
    }
    let table = Table::read(source.file, source.text)?;
    let mut draft = Draft::of("PerfDataCollection");
    draft.origin.product = Some("SQL Server".to_owned());
    if table.is_cut {
        draft.assume("The last line is truncated and left out.");
    }
    let mut windows = Rows::of(&table)?.windows(options, &mut draft)?;
    check_largest(&windows).map_err(wrong)?;
    leave_out_incomplete(&mut windows, &mut draft).map_err(wrong)?;
    assume(&windows, &mut draft);
    let times: Vec<Timestamp> = windows.keys().copied().collect();
    let (usual, sample) = lengths(&times, &windows, options, &mut draft).map_err(wrong)?;
    let steps = steps(&times, Resolution::Fine);
    for (number, (until, files)) in windows.iter().enumerate() {
        let before = number.checked_sub(1).and_then(|before| steps.get(before));
        let from = match before {
            Some(Step::Interval(from, _)) => *from,
            Some(Step::Gap | Step::Back) | None => earlier(*until, usual).ok_or_else(|| {
                wrong(format!("`{until}` is before there were dates; correct it"))
            })?,
        };
        let length = between(from, *until);
        let mut figures = Interval::default();
        for window in files.values() {
            let io = figures.roles.entry(window.role).or_default();
            add(&mut io.reads, requests(window.rates(0, sample), length));
            add(&mut io.writes, requests(window.rates(3, sample), length));
        }
        draft.spans.push(Span {
            from,
            until: *until,
            figures,
        });
    }
    Ok(draft)
}

impl Window {
    /// Rates of reads or writes, whose counters begin at index `first` in [`CODES`].
    fn rates(&self, first: usize, sample: Duration) -> Rates {
        let seconds = sample.as_secs_f64();
        Rates {
            per_second: self.means[first].map(|count| count / seconds),
            bytes_per_second: self.means[first + 1].map(|megabytes| megabytes * MEGABYTE / seconds),
            mean_s: self.means[first + 2].map(|ms| ms / 1e3),
        }
    }

    fn is_complete(&self) -> bool {
        NEEDED.iter().all(|needed| self.means[*needed].is_some())
    }
}

/// Positions of the columns.
struct Rows<'a> {
    table: &'a Table,
    server: Option<usize>,
    database: usize,
    file: usize,
    kind: usize,
    time: usize,
    counter: usize,
    aggregator: usize,
    value: usize,
}

impl<'a> Rows<'a> {
    fn of(table: &'a Table) -> Result<Rows<'a>, ImportError> {
        Ok(Rows {
            table,
            server: table.find(&["servername"]),
            database: table.column("databasename")?,
            file: table.column("databasefilename")?,
            kind: table.column("filetype")?,
            time: table.column("timedatacollected")?,
            counter: table.column("countername")?,
            aggregator: table.column("aggregatortype")?,
            value: table.column("value")?,
        })
    }

    fn windows(&self, options: &Options, draft: &mut Draft) -> Result<Windows, ImportError> {
        let mut windows = Windows::new();
        let mut unknown = BTreeSet::new();
        let mut server: Option<&str> = None;
        let dates = Dates::of(self.table.cells(self.time), options, draft)
            .map_err(|((table, line), message)| table.error(line, message))?;
        for row in &self.table.rows {
            let cell = |at: usize| row.1.get(at).unwrap_or_default().trim();
            let name = self.server.map_or("", cell);
            if *server.get_or_insert(name) != name {
                let message = format!(
                    "it has rows of several servers (`{}`, `{}`); leave the others' out",
                    excerpt(server.unwrap_or_default()),
                    excerpt(name)
                );
                return Err(self.table.error(row.0, message));
            }
            let code = cell(self.counter).to_uppercase();
            let Some(number) = CODES.iter().position(|known| *known == code) else {
                if !OTHERS.contains(&code.as_str()) {
                    unknown.insert(code);
                }
                continue;
            };
            let at = self.at(row, &dates, draft)?;
            let file = (cell(self.database).to_owned(), cell(self.file).to_owned());
            let window = windows
                .entry(at)
                .or_default()
                .entry(file)
                .or_insert(Window {
                    role: self.role(&row.1),
                    means: [None; 6],
                    largest: [None; 6],
                    values: None,
                });
            let aggregator = cell(self.aggregator).to_lowercase();
            let place = match aggregator.as_str() {
                "mean" => &mut window.means[number],
                "max" => &mut window.largest[number],
                // Spelling of the tools.
                "occurence" | "occurrence" => {
                    let values = self.number(row, &code)?;
                    if values >= SAMPLES_MAX {
                        let message = format!(
                            "{code} Occurence: {values} values are more than a window has (one a second for a day); \
                             correct it, or leave its row out"
                        );
                        return Err(self.table.error(row.0, message));
                    }
                    window.values = Some(window.values.map_or(values, |before| before.max(values)));
                    continue;
                }
                // A sum of squares in the public file; not needed here.
                _ => continue,
            };
            let value = self.number(row, &code)?;
            if place.replace(value).is_some_and(|before| before != value) {
                let message = format!(
                    "{code} {aggregator} of this file and time has another value above; leave one of them out"
                );
                return Err(self.table.error(row.0, message));
            }
        }
        if !unknown.is_empty() {
            let unknown: Vec<&str> = unknown.iter().map(String::as_str).collect();
            draft.assume(format!(
                "Counters with unknown codes are left out: {}.",
                excerpt(&unknown.join(", "))
            ));
        }
        Ok(windows)
    }

    fn number(&self, row: &Row, code: &str) -> Result<f64, ImportError> {
        let cell = |at: usize| row.1.get(at).unwrap_or_default().trim();
        let what = format!("{code} {}", cell(self.aggregator));
        let value = Decimal::Point.counted(cell(self.value));
        let value =
            value.map_err(|message| self.table.error(row.0, format!("{what}: {message}")))?;
        value.ok_or_else(|| {
            let message = format!(
                "{what}: `{}` is not a number of 0 or more; correct it, or leave its row out",
                excerpt(cell(self.value))
            );
            self.table.error(row.0, message)
        })
    }

    fn at(&self, row: &Row, dates: &Dates, draft: &mut Draft) -> Result<Timestamp, ImportError> {
        let at = dates.instant(row.1.get(self.time).unwrap_or_default(), draft);
        at.map_err(|message| self.table.error(row.0, message))
    }

    fn role(&self, cells: &StringRecord) -> Role {
        let cell = |at: usize| cells.get(at).unwrap_or_default().trim();
        if cell(self.database).eq_ignore_ascii_case("tempdb") {
            Role::Temp
        } else if cell(self.kind).eq_ignore_ascii_case("log") {
            Role::Log
        } else {
            Role::Data
        }
    }
}

/// Rejects a mean that exceeds the largest of its values, or has none.
fn check_largest(windows: &Windows) -> Result<(), String> {
    for (at, files) in windows {
        for window in files.values() {
            for (number, code) in CODES.iter().enumerate() {
                let (mean, largest) = (window.means[number], window.largest[number]);
                if let Some(mean) = mean.filter(|mean| window.values == Some(0.0) && *mean > 0.0) {
                    return Err(format!(
                        "the window of {at} contradicts itself: {code} has a mean of {mean}, and `Occurence` is 0; correct it, \
                         or leave the window out"
                    ));
                }
                if let Some((mean, largest)) = mean.zip(largest)
                    && mean > largest * (1.0 + 1e-9)
                {
                    return Err(format!(
                        "the window of {at} contradicts itself: {code} has a mean of {mean} and a largest value of {largest}; \
                         correct it, or leave the window out"
                    ));
                }
            }
        }
    }
    Ok(())
}

/// Drops windows in which a file lacks a count, as the last one may.
///
/// # Errors
/// When a count is in no window.
fn leave_out_incomplete(windows: &mut Windows, draft: &mut Draft) -> Result<(), String> {
    let is_missing = |needed: &&usize| {
        let mut all = windows.values().flat_map(BTreeMap::values);
        all.all(|window| window.means[**needed].is_none())
    };
    let missing = NEEDED.iter().filter(is_missing);
    let missing: Vec<&str> = missing.map(|needed| CODES[*needed]).collect();
    if !missing.is_empty() {
        return Err(format!(
            "no row has a Mean of {}; give the file as Microsoft's tool wrote it, with {}",
            missing.join(", "),
            NEEDED.map(|needed| CODES[needed]).join(", ")
        ));
    }
    let before = windows.len();
    windows.retain(|at, files| {
        let complete = files.values().all(Window::is_complete);
        if !complete {
            draft.losses.push((*at, Lost::Gap));
        }
        complete
    });
    if windows.len() < before {
        draft.assume(format!(
            "Windows in which a file lacks a count or its bytes are left out: {}.",
            before - windows.len()
        ));
    }
    Ok(())
}

/// Adds assumptions that hold for every file of this format.
fn assume(windows: &Windows, draft: &mut Draft) {
    draft.assume("A window ends at its `TimeDataCollected`; in which unit its counters are, no page of Microsoft says.");
    draft.assume(
        "A latency is a mean over samples in milliseconds, whatever number of requests each had.",
    );
    draft.assume("Processor time (ICP) is left out: it is a share of processors whose number is not in the file.");
    if !windows
        .values()
        .flat_map(BTreeMap::values)
        .any(|window| window.role == Role::Temp)
    {
        draft.assume("Requests to temporary files are not in the file, and unknown.");
    }
}

/// Length of a window, and the time between two samples in it.
///
/// # Errors
/// When windows are too short for the samples they reportedly contain.
fn lengths(
    times: &[Timestamp],
    windows: &Windows,
    options: &Options,
    draft: &mut Draft,
) -> Result<(Duration, Duration), String> {
    let mut apart: Vec<Duration> = times
        .windows(2)
        .map(|pair| between(pair[0], pair[1]))
        .collect();
    apart.sort_unstable();
    let usual = apart.get(apart.len() / 2).copied();
    let values = windows
        .values()
        .flat_map(BTreeMap::values)
        .filter_map(|window| window.values);
    let samples = values.fold(0.0, f64::max) + 1.0;
    if let Some(usual) = usual.filter(|usual| samples > 1.0 && usual.as_secs_f64() < samples) {
        return Err(format!(
            "`Occurence` contradicts `TimeDataCollected`: windows are {usual} apart and have {samples} samples, less than a \
             second apart, which the tools do not take; correct the wrong one"
        ));
    }
    let asked = options.interval;
    let expected = asked.unwrap_or(SAMPLE);
    let by_windows = usual
        .filter(|_| samples > 1.0)
        .map(|usual| usual.as_secs_f64() / samples);
    let sample = match by_windows {
        Some(seconds) if !LATE.contains(&(seconds / expected.as_secs_f64())) => {
            let found = Duration::from_millis((seconds * 1e3).round() as u64);
            let (used, other) = if asked.is_some() {
                (expected, found)
            } else {
                (found, expected)
            };
            let reason = if asked.is_some() {
                "these windows have them"
            } else {
                "is usual"
            };
            draft.assume(format!(
                "Counts are between samples {used} apart, and {other} apart {reason}: windows of {samples} samples are {} apart \
                 (--interval sets the time between samples).",
                usual.unwrap_or(Duration::ZERO)
            ));
            used
        }
        _ => {
            draft.assume(format!(
                "Counts are between samples {expected} apart (--interval sets it)."
            ));
            expected
        }
    };
    let whole = Duration::from_secs_f64(sample.as_secs_f64() * samples);
    Ok((usual.unwrap_or(whole), sample))
}

fn earlier(until: Timestamp, length: Duration) -> Option<Timestamp> {
    Timestamp::from_nanosecond(until.as_nanosecond() - i128::from(length.as_nanos())).ok()
}
