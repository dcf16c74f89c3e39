//! SQL Server's own counters: of one instance, or of several together.

use std::collections::BTreeSet;

use model::{Bytes, Duration};
use reading::Role;

use super::contradiction::{excess, twice};
use super::log::{Counter, Log};
use crate::error::{Choice, OptionError};
use profile::{Draft, Interval, Requests, Wait};

/// The instance without a name, as its service is called.
const DEFAULT: &str = "MSSQLSERVER";

impl Counter {
    /// The object within SQL Server, without the name of its instance.
    pub(super) fn sql(&self) -> Option<&str> {
        self.sql_parts().map(|(_, object)| object)
    }

    /// The SQL Server it belongs to, in upper case.
    fn instance_name(&self) -> Option<String> {
        let (owner, _) = self.sql_parts()?;
        let name = owner.strip_prefix("mssql$").unwrap_or(DEFAULT);
        Some(name.to_uppercase())
    }

    fn sql_parts(&self) -> Option<(&str, &str)> {
        let parts = self.object.split_once(':')?;
        let is_sql = parts.0 == "sqlserver" || parts.0.starts_with("mssql$");
        is_sql.then_some(parts)
    }
}

/// The SQL Servers whose counters are used.
pub(super) struct Chosen {
    /// Their names, in upper case; empty if the file has none.
    names: BTreeSet<String>,
    /// Other instances in the file.
    others: BTreeSet<String>,
}

impl Chosen {
    /// The only instance of the file, or those that the user names.
    ///
    /// # Errors
    /// When there are several and none is named, or a named one is missing.
    pub(super) fn of(log: &Log, asked: &[String]) -> Result<Chosen, OptionError> {
        let all: BTreeSet<String> = log
            .counters
            .iter()
            .filter_map(Counter::instance_name)
            .collect();
        let listed =
            |names: &BTreeSet<String>| Vec::from_iter(names.iter().map(String::as_str)).join(", ");
        let Some(first) = all.first() else {
            return match asked.first() {
                None => Ok(Chosen {
                    names: all,
                    others: BTreeSet::new(),
                }),
                Some(name) => Err(format!(
                    "it has no counters of a SQL Server, and none of `{name}`; leave --instance out"
                )
                .into()),
            };
        };
        if asked.is_empty() && all.len() > 1 {
            let message = format!(
                "it has counters of {} SQL Servers ({}): choose with --instance {first}, or add them up with --instance for \
                 each; requests to a disk that several use cannot be divided among them",
                all.len(),
                listed(&all)
            );
            return Err(OptionError::open(
                message,
                Choice::Instances(all.into_iter().collect()),
            ));
        }
        let mut names = BTreeSet::new();
        for name in asked {
            let plain = plain(name);
            if !all.contains(&plain) {
                let there = listed(&all);
                return Err(
                    format!("it has no counters of a SQL Server `{name}`; it has {there}").into(),
                );
            }
            names.insert(plain);
        }
        if asked.is_empty() {
            names.clone_from(&all);
        }
        let others = all.difference(&names).cloned().collect();
        Ok(Chosen { names, others })
    }

    /// Notes what other instances share with the chosen ones, whose log is there.
    pub(super) fn assume(&self, log: &Log, place: LogPlace, draft: &mut Draft) {
        if !self.others.is_empty() {
            let others = match self.others.len() {
                1 => "1 other SQL Server".to_owned(),
                several => format!("{several} other SQL Servers"),
            };
            let chosen = match self.names.len() {
                1 => "SQL Server that was chosen",
                _ => "SQL Servers that were chosen",
            };
            draft.assume(format!(
                "{others} of the machine used its disks too: requests cannot be divided, and all count; operations, commits, \
                 log flushes and waits are those of the {chosen}."
            ));
            let flushes = Sql::of(log, &self.others).flushes_per_second(log);
            let flushes = flushes.map_or("whose rate is not in the file".to_owned(), |rate| {
                format!("{rate:.1} a second")
            });
            let role = match place {
                LogPlace::Apart => "the log",
                LogPlace::Shared | LogPlace::Elsewhere => "data",
            };
            draft.assume(format!(
                "Log flushes of what was not chosen, {flushes}, are not taken off: they count as writes of {role} where they \
                 go to its volume."
            ));
            let others: Vec<&str> = self.others.iter().map(String::as_str).collect();
            let others = others.join(", ");
            draft.notes.push(format!(
                "counters of SQL Server {others} are not used (--instance)"
            ));
        }
        if self.names.len() > 1 {
            draft.assume(format!(
                "Operations, commits, log flushes and waits are those of {} SQL Servers together.",
                self.names.len()
            ));
        }
    }
}

/// `A`, `MSSQL$A` and `HOST\A` are the same name.
fn plain(name: &str) -> String {
    let name = name.trim().to_uppercase();
    let name = name
        .rsplit_once('\\')
        .map_or(name.as_str(), |(_, name)| name);
    match name.strip_prefix("MSSQL$") {
        Some(name) => name.to_owned(),
        None if name == "SQLSERVER" => DEFAULT.to_owned(),
        None => name.to_owned(),
    }
}

/// Where the log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogPlace {
    /// On separate volumes.
    Apart,
    /// On a volume with other files.
    Shared,
    /// On a volume that the user did not name.
    Elsewhere,
}

impl LogPlace {
    pub(super) fn of(draft: &Draft) -> LogPlace {
        let volumes = draft.volumes.iter().map(|volume| &volume.roles);
        let with_log: Vec<_> = volumes.filter(|roles| roles.contains(&Role::Log)).collect();
        if with_log.is_empty() {
            LogPlace::Elsewhere
        } else if with_log.iter().any(|roles| roles.len() == 1) {
            LogPlace::Apart
        } else {
            LogPlace::Shared
        }
    }

    pub(super) fn assume(self, draft: &mut Draft) {
        match self {
            LogPlace::Apart => {}
            LogPlace::Shared => draft.assume(
                "The log shares a volume: SQL Server's log flushes count as the log's writes, and are taken off the \
                 writes of data; both have the volume's mean latency.",
            ),
            LogPlace::Elsewhere => draft.assume(
                "The log is on a volume without a role: SQL Server's log flushes count as its writes, and their time is \
                 not known.",
            ),
        }
    }
}

/// Bytes of a page.
const PAGE: f64 = 8192.0;

/// Counters of the SQL Servers that were chosen.
pub(super) struct Sql<'a> {
    instances: Vec<Instance<'a>>,
}

/// Counters of one SQL Server.
struct Instance<'a> {
    batches: Option<&'a Counter>,
    write_transactions: Vec<&'a Counter>,
    /// Pages asked of the buffer pool, and those in it.
    lookups: Option<&'a Counter>,
    pages: Option<&'a Counter>,
    /// Log flushes and their bytes: for all databases, or for each.
    flushes: Vec<&'a Counter>,
    flushed: Vec<&'a Counter>,
    waiting: Vec<(Wait, &'a Counter)>,
}

impl<'a> Instance<'a> {
    fn find(log: &'a Log, instance: &str) -> Instance<'a> {
        let of = |object: &str, name: &str| -> Vec<&'a Counter> {
            let wanted = |counter: &&Counter| {
                counter.sql() == Some(object)
                    && counter.name == name
                    && counter.instance_name().as_deref() == Some(instance)
            };
            log.counters.iter().filter(wanted).collect()
        };
        let kinds = [
            ("page io latch waits", Wait::DataRead),
            ("log write waits", Wait::Log),
            ("lock waits", Wait::Lock),
            ("page latch waits", Wait::Lock),
        ];
        let waiting = kinds.into_iter().flat_map(|(name, wait)| {
            let all = of("wait statistics", name).into_iter();
            let now = all.filter(|counter| counter.instance == "waits in progress");
            now.map(move |counter| (wait, counter))
        });
        Instance {
            batches: of("sql statistics", "batch requests/sec").first().copied(),
            write_transactions: of("databases", "write transactions/sec"),
            lookups: of("buffer manager", "page lookups/sec").first().copied(),
            pages: of("buffer manager", "database pages").first().copied(),
            flushes: of("databases", "log flushes/sec"),
            flushed: of("databases", "log bytes flushed/sec"),
            waiting: waiting.collect(),
        }
    }
}

impl<'a> Sql<'a> {
    pub(super) fn find(log: &'a Log, chosen: &Chosen) -> Sql<'a> {
        Sql::of(log, &chosen.names)
    }

    fn of(log: &'a Log, names: &BTreeSet<String>) -> Sql<'a> {
        let names = names.iter();
        Sql {
            instances: names.map(|name| Instance::find(log, name)).collect(),
        }
    }

    /// The mean over all rows; `None` if a row lacks it.
    fn flushes_per_second(&self, log: &Log) -> Option<f64> {
        let rows = 1..log.times.len();
        let count = rows.len() as f64;
        let all: Option<f64> = rows.map(|row| self.flushes(row)).sum();
        all.filter(|_| count > 0.0).map(|all| all / count)
    }

    /// The least that the buffer pools held, of these rows.
    pub(super) fn cache(&self, rows: std::ops::Range<usize>) -> Option<Bytes> {
        let pages = rows.filter_map(|row| self.sum(Duration::SECOND, |sql| sql.pages?.value(row)));
        let least = pages.reduce(f64::min).filter(|pages| *pages > 0.0)?;
        Some(Bytes((least * PAGE) as u64))
    }

    /// Log flushes per second, without tempdb's.
    pub(super) fn flushes(&self, row: usize) -> Option<f64> {
        self.sum(Duration::SECOND, |sql| without_tempdb(&sql.flushes, row))
    }

    /// Their bytes per second.
    pub(super) fn flushed(&self, row: usize) -> Option<f64> {
        self.sum(Duration::SECOND, |sql| without_tempdb(&sql.flushed, row))
    }

    /// Notes where databases have more than all of them together.
    pub(super) fn check_totals(&self, rows: usize, draft: &mut Draft) {
        for sql in &self.instances {
            for (what, counters) in [
                ("Log Flushes/sec", &sql.flushes),
                ("Log Bytes Flushed/sec", &sql.flushed),
                ("Write Transactions/sec", &sql.write_transactions),
            ] {
                let (total, each): (Vec<&Counter>, Vec<&Counter>) = counters
                    .iter()
                    .partition(|counter| counter.instance == "_total");
                let each = |row| each.iter().map(|counter| counter.value(row)).sum();
                let total = |row| total.first()?.value(row);
                if let Some([each, total]) = excess(twice(rows, each, total)) {
                    draft.assume(format!(
                        "`Databases(_Total)` has {total} of `{what}`, and its databases {each} together: `_Total` counts, and one of \
                         the figures is wrong."
                    ));
                }
            }
        }
    }

    /// Notes counters that a replay needs, where an instance lacks them.
    pub(super) fn assume_lacking(&self, draft: &mut Draft) {
        let lacks = |has: fn(&Instance<'a>) -> bool| self.instances.iter().any(|sql| !has(sql));
        if lacks(|sql| sql.batches.is_some()) {
            draft.assume(
                "`SQL Statistics\\Batch Requests/sec` is not in the file: operations are not counted, and without them there is no \
                 advice.",
            );
        }
        if lacks(|sql| !sql.write_transactions.is_empty()) {
            draft.assume(
                "`Databases(*)\\Write Transactions/sec` is not in the file: commits are not counted, so that each log write is \
                 replayed as one commit.",
            );
        }
    }

    pub(super) fn is_there(&self) -> bool {
        !self.instances.is_empty()
    }

    pub(super) fn has_flushes(&self) -> bool {
        self.instances
            .iter()
            .any(|instance| !instance.flushes.is_empty())
    }

    /// Sum of a rate over all instances for that time; `None` if one lacks it.
    fn sum(&self, length: Duration, rate: impl Fn(&Instance<'a>) -> Option<f64>) -> Option<f64> {
        let rates: Option<Vec<f64>> = self.instances.iter().map(rate).collect();
        let rates = rates.filter(|rates| !rates.is_empty())?;
        Some(rates.iter().sum::<f64>() * length.as_secs_f64())
    }

    /// Operations, commits and waiting sessions of a row.
    pub(super) fn figures(&self, row: usize, length: Duration) -> Interval {
        let mut figures = Interval {
            operations: self.sum(length, |sql| sql.batches?.value(row)),
            commits: self.sum(length, |sql| without_tempdb(&sql.write_transactions, row)),
            logical_read_bytes: self
                .sum(length, |sql| sql.lookups?.value(row))
                .map(|pages| pages * PAGE),
            ..Interval::default()
        };
        for (wait, counter) in self.instances.iter().flat_map(|sql| &sql.waiting) {
            if let Some(sessions) = counter.value(row) {
                *figures.waiting.entry(*wait).or_default() += sessions;
            }
        }
        figures
    }

    /// The log's writes if its volume does not show them: SQL Server's log flushes, which are write-through.
    pub(super) fn add_log(
        &self,
        figures: &mut Interval,
        row: usize,
        length: Duration,
        place: LogPlace,
    ) {
        let Some(flushes) = self.sum(length, |sql| without_tempdb(&sql.flushes, row)) else {
            return;
        };
        let log = figures.roles.entry(Role::Log).or_default();
        let writes = Requests {
            count: Some(flushes),
            bytes: self.sum(length, |sql| without_tempdb(&sql.flushed, row)),
            waited: None,
        };
        match place {
            LogPlace::Apart => {}
            LogPlace::Elsewhere => log.writes = writes,
            LogPlace::Shared => {
                let data = figures.roles.entry(Role::Data).or_default();
                let [taken, rest] = divided(data.writes, writes);
                data.writes = rest;
                figures.roles.entry(Role::Log).or_default().writes = taken;
            }
        }
    }
}

/// Splits requests into a part and the rest, with the mean latency of all. Counters of a volume and of SQL Server are not read at
/// the same moment, so a part may appear larger than the total.
fn divided(all: Requests, part: Requests) -> [Requests; 2] {
    let latency = all.latency().unwrap_or_default().as_secs_f64();
    let timed = |count: Option<f64>, bytes: Option<f64>| Requests {
        count,
        bytes,
        waited: all
            .waited
            .zip(count)
            .map(|(_, count)| Duration::from_secs_f64(latency * count)),
    };
    let taken = |all: Option<f64>, part: Option<f64>| Some(part?.min(all?));
    let (count, bytes) = (taken(all.count, part.count), taken(all.bytes, part.bytes));
    let rest = |all: Option<f64>, part: Option<f64>| Some(all? - part.unwrap_or(0.0));
    [
        timed(count, bytes),
        timed(rest(all.count, count), rest(all.bytes, bytes)),
    ]
}

/// A rate of all databases except tempdb, whose log sessions do not wait for.
fn without_tempdb(rates: &[&Counter], row: usize) -> Option<f64> {
    let of = |instance: &str| rates.iter().find(|counter| counter.instance == instance);
    let temp = of("tempdb").and_then(|counter| counter.value(row));
    let each = || {
        let others = rates.iter().filter(|counter| counter.instance != "tempdb");
        let values: Option<Vec<f64>> = others.map(|counter| counter.value(row)).collect();
        values
            .filter(|values| !values.is_empty())
            .map(|values| values.iter().sum())
    };
    match of("_total") {
        Some(total) => Some((total.value(row)? - temp.unwrap_or(0.0)).max(0.0)),
        None => each(),
    }
}
