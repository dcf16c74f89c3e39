//! Counters as columns: from rows of all counters, or from one row per value.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::date_order::{DateOrder, UtcOffset};
use crate::error::ImportError;
use crate::number::Decimal;
use crate::stamp::{Dates, is_open};
use crate::table::{Row, Table};
use crate::text::excerpt;
use crate::{Options, Source};
use profile::Draft;

/// Objects whose presence shows that counter names are English.
const ENGLISH: [&str; 8] = [
    "logicaldisk",
    "physicaldisk",
    "processor",
    "processor information",
    "process",
    "memory",
    "system",
    "network interface",
];

/// The counters.
#[derive(Clone, Debug)]
pub(super) struct Log {
    pub(super) times: Vec<Timestamp>,
    pub(super) counters: Vec<Counter>,
    /// Which counters are processor time of SQL Servers.
    pub(super) processes: Vec<usize>,
}

/// A counter, all of its names in lower case.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Counter {
    host: String,
    pub(super) object: String,
    pub(super) instance: String,
    pub(super) name: String,
    values: Vec<Option<f64>>,
}

impl Counter {
    /// Reads `\\HOST\Object(instance)\Name`; an instance may be a path.
    pub(super) fn parse(path: &str) -> Option<Counter> {
        let path = path.trim().to_lowercase();
        let (host, rest) = match path.strip_prefix(r"\\") {
            Some(rest) => rest.split_once('\\')?,
            None => ("", path.strip_prefix('\\')?),
        };
        let (object, name) = rest.rsplit_once('\\')?;
        let (object, instance) = match object.split_once('(') {
            Some((object, rest)) => (object, rest.strip_suffix(')')?),
            None => (object, ""),
        };
        Some(Counter {
            host: host.to_owned(),
            object: object.to_owned(),
            instance: instance.to_owned(),
            name: name.to_owned(),
            values: Vec::new(),
        })
    }

    fn is_english(&self) -> bool {
        ENGLISH.contains(&self.object.as_str())
    }

    /// Object and name, for an error.
    fn path(&self) -> String {
        format!("{}\\{}", self.object, self.name)
    }

    pub(super) fn value(&self, row: usize) -> Option<f64> {
        self.values.get(row).copied().flatten()
    }
}

impl Log {
    pub(super) fn value(
        &self,
        object: &str,
        instance: &str,
        name: &str,
        row: usize,
    ) -> Option<f64> {
        let is_it = |c: &&Counter| c.object == object && c.instance == instance && c.name == name;
        self.counters.iter().find(is_it)?.value(row)
    }

    fn of(
        file: &str,
        times: Vec<Timestamp>,
        mut counters: Vec<Counter>,
    ) -> Result<Log, ImportError> {
        let wrong = |message: String| ImportError::line(file, 1, message);
        let known = |counter: &Counter| counter.is_english() || counter.sql().is_some();
        if !counters.iter().any(known) {
            let first = counters.first().map(Counter::path).unwrap_or_default();
            let first = excerpt(&first);
            return Err(wrong(format!(
                "it has no counter with an English name (the first is `{first}`); {ENGLISH_USER}"
            )));
        }
        let hosts: BTreeSet<&str> = counters.iter().map(|c| c.host.as_str()).collect();
        if hosts.len() > 1 {
            let hosts: Vec<&str> = hosts.into_iter().collect();
            return Err(wrong(format!(
                "it has counters of {} machines ({}); select one with `relog -c`",
                hosts.len(),
                excerpt(&hosts.join(", "))
            )));
        }
        check_repeated(&counters).map_err(wrong)?;
        // Counters that are added up count once, too.
        let mut seen = BTreeSet::new();
        counters.retain(|c| seen.insert([c.object.clone(), c.instance.clone(), c.name.clone()]));
        let is_process = |c: &Counter| {
            let is_sql = c.instance == "sqlservr" || c.instance.starts_with("sqlservr#");
            c.object == "process" && is_sql && c.name == "% processor time"
        };
        let processes = (0..counters.len()).filter(|at| is_process(&counters[*at]));
        Ok(Log {
            times,
            processes: processes.collect(),
            counters,
        })
    }

    /// The first counter in another language, where Windows' own have no English name. SQL Server's are English in most
    /// languages, and `System` is a word in several.
    pub(super) fn foreign(&self) -> Option<String> {
        let is_windows = |c: &&Counter| c.sql().is_none() && c.object != "system";
        let mut windows = self.counters.iter().filter(is_windows);
        let first = windows.clone().next()?;
        let foreign = !windows.any(Counter::is_english);
        foreign.then(|| format!("the first is `{}`", excerpt(&first.path())))
    }
}

/// What to do about names in another language.
pub(super) const ENGLISH_USER: &str = "names in another language are not read, and relog does not translate them: collect \
                                       again with logman or typeperf, as a user whose Windows language is English, or record \
                                       the server itself (`dbstow record --server sqlserver://..`), whatever its language";

/// Rejects a counter that occurs twice with different values.
fn check_repeated(counters: &[Counter]) -> Result<(), String> {
    let mut seen: BTreeMap<[&str; 3], &Counter> = BTreeMap::new();
    for counter in counters {
        let key = [
            counter.object.as_str(),
            counter.instance.as_str(),
            counter.name.as_str(),
        ];
        if let Some(before) = seen.insert(key, counter)
            && before.values != counter.values
        {
            let path = counter.path();
            return Err(format!(
                "it has `{}` twice, with different values; leave one of them out",
                excerpt(&path)
            ));
        }
    }
    Ok(())
}

/// Reads both forms.
///
/// # Errors
/// When it is neither, or contains ambiguous times or numbers.
pub(super) fn read(
    source: &Source,
    options: &Options,
    draft: &mut Draft,
) -> Result<Log, ImportError> {
    let table = Table::read(source.file, source.text)?;
    if table.is_cut {
        draft.assume("The last line is truncated and left out.");
    }
    let (path, value) = (table.find(&["path"]), table.find(&["value", "cookedvalue"]));
    match (table.find(&["timestamp"]), path, value) {
        (Some(time), Some(path), Some(value)) => {
            long(source.file, &table, [time, path, value], options, draft)
        }
        _ => wide(source.file, &table, options, draft),
    }
}

/// One row per time, one column per counter.
fn wide(
    file: &str,
    table: &Table,
    options: &Options,
    draft: &mut Draft,
) -> Result<Log, ImportError> {
    let cells = table
        .rows
        .iter()
        .flat_map(|(_, cells)| cells.iter().skip(1));
    let decimal = decimal(file, cells)?;
    // Tools print sentences after the last row.
    let is_row = |(_, cells): &&Row| {
        let first = cells[0].trim();
        cells.len() > 1 && !first.starts_with(|c: char| c.is_alphabetic())
    };
    let rows: Vec<&Row> = table.rows.iter().filter(is_row).collect();
    let texts: Vec<(usize, &str)> = rows
        .iter()
        .map(|(line, cells)| (*line, &cells[0]))
        .collect();
    // Windows' own tools write the month first in all locales.
    let own = table.header[0].contains("(PDH-");
    let bias = bias(&table.header[0]);
    if bias.is_some() && options.utc_offset.is_some_and(|given| Some(given) != bias) {
        let note = "--utc-offset has no effect: the header of the file has its offset";
        draft.notes.push(note.to_owned());
    }
    let is_open = |(_, text): &(usize, &str)| is_open(text);
    let options = Options {
        dates: (options.dates)
            .or((own && texts.iter().any(is_open)).then_some(DateOrder::MonthFirst)),
        utc_offset: bias.or(options.utc_offset),
        ..options.clone()
    };
    let times = times(table, &texts, &options, draft)?;
    let mut counters = Vec::new();
    for (at, path) in table.header.iter().enumerate().skip(1) {
        let Some(counter) = Counter::parse(path) else {
            continue;
        };
        let value = |(line, cells): &&Row| {
            value(
                table,
                *line,
                path,
                decimal,
                cells.get(at).unwrap_or_default(),
            )
        };
        // Exactly as many: a large file has millions.
        let mut values = Vec::with_capacity(rows.len());
        for row in &rows {
            values.push(value(row)?);
        }
        counters.push(Counter { values, ..counter });
    }
    Log::of(file, times, counters)
}

/// The value of a counter in a cell, if valid.
fn value(
    table: &Table,
    line: usize,
    path: &str,
    decimal: Decimal,
    cell: &str,
) -> Result<Option<f64>, ImportError> {
    // typeperf writes -1 where it has no value, as of a process that ended.
    if cell.trim() == "-1" && !is_counted(path) {
        return Ok(None);
    }
    decimal
        .counted(cell)
        .map_err(|message| table.error(line, format!("{}: {message}", excerpt(path))))
}

/// Whether a counter, by its path, is of disks or of SQL Server.
fn is_counted(path: &str) -> bool {
    let counter = Counter::parse(path);
    counter.is_some_and(|counter| counter.sql().is_some() || counter.object.ends_with("disk"))
}

/// One row per value.
fn long(
    file: &str,
    table: &Table,
    [time, path, value]: [usize; 3],
    options: &Options,
    draft: &mut Draft,
) -> Result<Log, ImportError> {
    let values: Vec<&str> = table
        .rows
        .iter()
        .map(|(_, cells)| cells.get(value).unwrap_or_default())
        .collect();
    let decimal = decimal(file, values.iter().copied())?;
    let mut texts: Vec<(usize, &str)> = Vec::new();
    let mut counters: BTreeMap<String, Counter> = BTreeMap::new();
    for ((line, cells), value) in table.rows.iter().zip(&values) {
        let text = cells.get(time).unwrap_or_default();
        if texts.last().is_none_or(|(_, last)| *last != text) {
            texts.push((*line, text));
        }
        let path = cells.get(path).unwrap_or_default().to_lowercase();
        let counted = self::value(table, *line, &path, decimal, value)?;
        let Some(parsed) = Counter::parse(&path) else {
            let message = format!("`{}` is not a counter path", excerpt(&path));
            return Err(table.error(*line, message));
        };
        let counter = counters.entry(path).or_insert(parsed);
        if counter.values.len() == texts.len() && counter.value(texts.len() - 1) != counted {
            let path = counter.path();
            let message = format!(
                "`{}` has two values at {}; leave one of them out",
                excerpt(&path),
                excerpt(text)
            );
            return Err(table.error(*line, message));
        }
        counter.values.resize(texts.len(), None);
        counter.values[texts.len() - 1] = counted;
    }
    let times = times(table, &texts, options, draft)?;
    Log::of(file, times, counters.into_values().collect())
}

fn decimal<'a>(file: &str, cells: impl Iterator<Item = &'a str>) -> Result<Decimal, ImportError> {
    Decimal::of(cells).ok_or_else(|| {
        let message = "it has numbers with decimal points and others with commas; export it again in one locale";
        ImportError::file(file, message)
    })
}

/// The offset in a header such as `(PDH-CSV 4.0) (Romance Standard Time)(-60)`; the number is minutes to add for UTC.
fn bias(header: &str) -> Option<UtcOffset> {
    let (_, last) = header.trim_end().strip_suffix(')')?.rsplit_once('(')?;
    UtcOffset::of_bias(last.parse().ok()?)
}

fn times(
    table: &Table,
    texts: &[(usize, &str)],
    options: &Options,
    draft: &mut Draft,
) -> Result<Vec<Timestamp>, ImportError> {
    let wrong = |(line, message): (usize, String)| table.error(line, message);
    let dates = Dates::of(texts.iter().copied(), options, draft).map_err(wrong)?;
    let mut times = Vec::new();
    for (line, text) in texts {
        let at = dates.instant(text, draft);
        times.push(at.map_err(|message| table.error(*line, message))?);
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instance_may_be_a_path_or_hold_commas() {
        let parts = |path: &str| {
            let counter = Counter::parse(path).expect(path);
            (counter.object, counter.instance, counter.name)
        };
        let owned = |a: &str, b: &str, c: &str| (a.to_owned(), b.to_owned(), c.to_owned());
        assert_eq!(
            parts(r"\\DB1\LogicalDisk(C:\Mount\data)\Avg. Disk sec/Read"),
            owned("logicaldisk", r"c:\mount\data", "avg. disk sec/read")
        );
        assert_eq!(
            parts(r"\\DB1\Processor Information(3,3)\% Processor Time"),
            owned("processor information", "3,3", "% processor time")
        );
        assert_eq!(parts(r"\System\Threads"), owned("system", "", "threads"));
        assert_eq!(Counter::parse("a description of the collector set"), None);
    }

    #[test]
    fn a_zone_may_hold_commas_and_brackets() {
        for (header, seconds) in [
            ("(PDH-CSV 4.0) (Romance Standard Time)(-60)", Some(3600)),
            (
                "(PDH-CSV 4.0) (Paris, Madrid (heure d'été))(-120)",
                Some(7200),
            ),
            ("(PDH-CSV 4.0) (Central Daylight Time)(300)", Some(-18000)),
            ("(PDH-CSV 4.0)", None),
        ] {
            assert_eq!(
                bias(header).map(|offset| offset.0.seconds()),
                seconds,
                "{header}"
            );
        }
    }
}
