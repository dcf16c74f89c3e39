//! Windows performance counters: volumes, and SQL Server beside them.
//!
//! Volumes become roles by what the user says is on them. Where SQL Server's counters of log flushes are there, they tell
//! the log apart on a volume that it shares with data.

mod log;

use model::Duration;
use reading::Role;

use super::devices::{self, Found};
use super::error::ImportError;
use super::number::counted;
use super::steps::{Resolution, Step, between, steps};
use super::twice::{Load, Range, Twice};
use super::{Options, Source};
use crate::definition::{Interval, Lost, Requests, Wait};
use crate::draft::{Draft, Rates, Span, add, requests};
use log::{Counter, Log};

/// Reads a file of relog, typeperf, logman or Export-Csv.
///
/// # Errors
/// When it is none, lacks what a profile needs, or it is open which volume holds what.
pub(super) fn read(source: &Source, options: &Options) -> Result<Draft, ImportError> {
    let wrong = |message: String| ImportError::file(source.file, message);
    let mut draft = Draft::of("perfmon");
    let log = log::read(source, options, &mut draft)?;
    let disks = Disk::all(&log).map_err(wrong)?;
    let found: Vec<Found> = disks
        .iter()
        .map(|disk| Found {
            name: disk.name,
            is_active: disk.is_active(log.times.len()),
        })
        .collect();
    let roles =
        devices::assign_roles(&options.devices, &found, is_same, &mut draft).map_err(wrong)?;
    for (disk, _) in disks.iter().zip(&roles).filter(|(_, role)| role.is_some()) {
        disk.check(log.times.len(), &mut draft);
    }
    let sql = Sql::find(&log);
    if sql.is_there {
        draft.origin.product = Some("SQL Server".to_owned());
    }
    draft.machine.processors = log.processors();
    if log.process.is_none() && draft.machine.processors.is_some() {
        draft.assume("Processor time covers all processes of the machine.");
    }
    let place = LogPlace::of(&draft);
    let told_apart = Some(Role::Log).filter(|_| sql.has_flushes());
    devices::assume_shared(&options.devices, told_apart, &mut draft);
    if sql.has_flushes() {
        place.assume(&mut draft);
    }
    let resolution = match log.times.iter().all(|at| at.subsec_nanosecond() == 0) {
        true => Resolution::Seconds,
        false => Resolution::Fine,
    };
    for (number, step) in steps(&log.times, resolution).into_iter().enumerate() {
        let row = number + 1;
        match step {
            Step::Gap => draft.losses.push((log.times[number], Lost::Gap)),
            Step::Back => draft.losses.push((log.times[number], Lost::Clock)),
            Step::Interval(from, until) => {
                let length = between(from, until);
                let mut figures = sql.figures(row, length);
                figures.processor = log.processor(row, length);
                for (disk, role) in disks.iter().zip(&roles) {
                    if let Some(role) = role {
                        let io = figures.roles.entry(*role).or_default();
                        add(&mut io.reads, requests(disk.reads.rates(row), length));
                        add(&mut io.writes, requests(disk.writes.rates(row), length));
                    }
                }
                sql.add_log(&mut figures, row, length, place);
                draft.spans.push(Span {
                    from,
                    until,
                    figures,
                });
            }
        }
    }
    Ok(draft)
}

/// `D:` is `LogicalDisk(D:)` and one of `PhysicalDisk(2 D: E:)`.
fn is_same(asked: &str, found: &str) -> bool {
    let plain = |name: &str| name.trim_end_matches('\\').to_lowercase();
    plain(asked) == plain(found)
        || found
            .split_whitespace()
            .any(|part| plain(part) == plain(asked))
}

/// Where the log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LogPlace {
    /// On volumes of its own.
    Apart,
    /// On a volume with other files.
    Shared,
    /// On a volume that the user did not name.
    Elsewhere,
}

impl LogPlace {
    fn of(draft: &Draft) -> LogPlace {
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

    fn assume(self, draft: &mut Draft) {
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

/// Counters that are of one count may differ by so much: what Windows rounds is less. Ours.
const CONTRADICTION: f64 = 1.1;

/// A volume, or a disk where only these were counted.
struct Disk<'a> {
    name: &'a str,
    transfers: Option<&'a Counter>,
    reads: Figures<'a>,
    writes: Figures<'a>,
}

/// Counters of one kind of request.
struct Figures<'a> {
    count: Option<&'a Counter>,
    bytes: Option<&'a Counter>,
    mean: Option<&'a Counter>,
    /// What the others give too: bytes of a request, and requests in flight.
    size: Option<&'a Counter>,
    queue: Option<&'a Counter>,
}

impl<'a> Disk<'a> {
    /// Volumes as the database sees them, or else what they are made of; never both.
    fn all(log: &'a Log) -> Result<Vec<Disk<'a>>, String> {
        for object in ["logicaldisk", "physicaldisk"] {
            let of_object = log.counters.iter().filter(|c| c.object == object);
            let of_object: Vec<&Counter> = of_object.collect();
            let mut names: Vec<&str> = of_object.iter().map(|c| c.instance.as_str()).collect();
            names.retain(|name| *name != "_total");
            names.sort_unstable();
            names.dedup();
            let disks = names.into_iter().map(|name| Disk::of(name, &of_object));
            let disks: Vec<Disk> = disks.collect();
            if disks
                .iter()
                .any(|disk| disk.reads.count.is_some() && disk.writes.count.is_some())
            {
                return Ok(disks);
            }
        }
        Err(
            "it lacks `Disk Reads/sec` or `Disk Writes/sec` of volumes; collect \\LogicalDisk(*)\\* and, of SQL Server, \
             `Batch Requests/sec` and `Log Flushes/sec`"
                .to_owned(),
        )
    }

    fn of(instance: &'a str, counters: &[&'a Counter]) -> Disk<'a> {
        let find = |name: &str| {
            let is_it = |c: &&&Counter| c.instance == instance && c.name == name;
            counters.iter().find(is_it).copied()
        };
        let figures = |kind: &str| Figures {
            count: find(&format!("disk {kind}s/sec")),
            bytes: find(&format!("disk {kind} bytes/sec")),
            mean: find(&format!("avg. disk sec/{kind}")),
            size: find(&format!("avg. disk bytes/{kind}")),
            queue: find(&format!("avg. disk {kind} queue length")),
        };
        Disk {
            name: instance,
            transfers: find("disk transfers/sec"),
            reads: figures("read"),
            writes: figures("write"),
        }
    }

    /// Notes counters that contradict one another. None of them is refused: where rows are means of means, as a spreadsheet
    /// makes them, a size is not bytes over requests.
    fn check(&self, rows: usize, draft: &mut Draft) {
        let mut told = |what: &str, twice: Twice| {
            if twice.differs(CONTRADICTION, 0.0) {
                let [stated, derived] = twice.means();
                draft.assume(format!(
                    "{} contradicts itself: {what} are {derived:.3} a second, and {stated:.3} by the counters that count.",
                    self.name
                ));
            }
        };
        for (kind, figures) in [("read", &self.reads), ("write", &self.writes)] {
            told(
                &format!("`Disk {kind}s/sec` x `Avg. Disk Bytes/{kind}`"),
                figures.bytes_twice(rows),
            );
        }
        told("`Disk Transfers/sec`", self.transfers_twice(rows));
        for (kind, figures) in [("read", &self.reads), ("write", &self.writes)] {
            let queue = format!("Avg. Disk {kind} Queue Length");
            let who = format!("{} ({kind}s)", self.name);
            if let Some(told) = figures.load(rows).contradiction(&who, &queue, &queue) {
                draft.assume(told);
            }
        }
    }

    fn transfers_twice(&self, rows: usize) -> Twice {
        let of = |row: usize| {
            let all = self.reads.rates(row).per_second? + self.writes.rates(row).per_second?;
            let transfers = self.transfers?.value(row)?;
            Some(Twice::of(Range::exact(all), Range::exact(transfers)))
        };
        (0..rows).filter_map(of).fold(Twice::default(), Twice::and)
    }

    fn is_active(&self, rows: usize) -> bool {
        let rates = |row| [self.reads.rates(row), self.writes.rates(row)];
        let mut all = (1..rows).flat_map(rates);
        all.any(|rates| rates.per_second > Some(0.0))
    }
}

impl Figures<'_> {
    fn bytes_twice(&self, rows: usize) -> Twice {
        let of = |row: usize| {
            let derived = self.count?.value(row)? * self.size?.value(row)?;
            Some(Twice::of(
                Range::exact(self.bytes?.value(row)?),
                Range::exact(derived),
            ))
        };
        (0..rows).filter_map(of).fold(Twice::default(), Twice::and)
    }

    fn load(&self, rows: usize) -> Load {
        let mut load = Load::default();
        for row in 0..rows {
            let rates = self.rates(row);
            if let Some((rate, mean_s)) = rates.per_second.zip(rates.mean_s) {
                let queue = self.queue.and_then(|queue| queue.value(row));
                load.add(Range::exact(rate * mean_s), queue.map(Range::exact), None);
            }
        }
        load
    }

    fn rates(&self, row: usize) -> Rates {
        let value = |counter: Option<&Counter>| counter?.value(row);
        let per_second = value(self.count);
        // Without a request there is no mean, which some tools leave blank.
        let none = (per_second == Some(0.0)).then_some(0.0);
        Rates {
            per_second,
            bytes_per_second: value(self.bytes),
            mean_s: value(self.mean).or(none),
        }
    }
}

/// Counters of SQL Server.
struct Sql<'a> {
    is_there: bool,
    batches: Option<&'a Counter>,
    write_transactions: Vec<&'a Counter>,
    /// Log flushes and their bytes: of all databases, or of each.
    flushes: Vec<&'a Counter>,
    flushed: Vec<&'a Counter>,
    waiting: Vec<(Wait, &'a Counter)>,
}

impl<'a> Sql<'a> {
    fn find(log: &'a Log) -> Sql<'a> {
        let of = |object: &str, name: &str| -> Vec<&'a Counter> {
            let wanted = |counter: &&Counter| counter.sql() == Some(object) && counter.name == name;
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
        Sql {
            is_there: log.counters.iter().any(|counter| counter.sql().is_some()),
            batches: of("sql statistics", "batch requests/sec").first().copied(),
            write_transactions: of("databases", "write transactions/sec"),
            flushes: of("databases", "log flushes/sec"),
            flushed: of("databases", "log bytes flushed/sec"),
            waiting: waiting.collect(),
        }
    }

    fn has_flushes(&self) -> bool {
        !self.flushes.is_empty()
    }

    /// Operations, commits and waiting sessions of a row.
    fn figures(&self, row: usize, length: Duration) -> Interval {
        let count = |counter: Option<&Counter>| Some(counter?.value(row)? * length.as_secs_f64());
        let mut figures = Interval {
            operations: count(self.batches),
            commits: without_tempdb(&self.write_transactions, row)
                .map(|rate| rate * length.as_secs_f64()),
            ..Interval::default()
        };
        for (wait, counter) in &self.waiting {
            if let Some(sessions) = counter.value(row) {
                *figures.waiting.entry(*wait).or_default() += sessions;
            }
        }
        figures
    }

    /// The log's writes where its volume does not show them: SQL Server's flushes of the log, which it writes through.
    fn add_log(&self, figures: &mut Interval, row: usize, length: Duration, place: LogPlace) {
        let count = |rates: &[&Counter]| Some(without_tempdb(rates, row)? * length.as_secs_f64());
        let Some(flushes) = count(&self.flushes) else {
            return;
        };
        let log = figures.roles.entry(Role::Log).or_default();
        let writes = Requests {
            count: Some(flushes),
            bytes: count(&self.flushed),
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

/// The part of all requests, and the rest, with the mean latency of all. Counters of a volume and of SQL Server are not
/// read at the same moment, so that a part may seem larger than all.
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

/// A rate of all databases but tempdb, whose log is no log to wait for.
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

impl Log {
    /// Logical processors, where each was counted: by one of two objects, or by both.
    fn processors(&self) -> Option<u32> {
        let count = |object: &str| {
            let is_one = |counter: &&Counter| {
                let is_it = counter.object == object && counter.name == "% processor time";
                is_it && !counter.instance.contains("_total")
            };
            u32::try_from(self.counters.iter().filter(is_one).count()).unwrap_or(0)
        };
        let count = count("processor").max(count("processor information"));
        Some(count).filter(|count| *count > 0)
    }

    fn processor(&self, row: usize, length: Duration) -> Option<Duration> {
        let percent = match self.process {
            Some(at) => self.counters[at].value(row)?,
            None => {
                let whole = ["processor", "processor information"].into_iter();
                let mut whole =
                    whole.filter_map(|o| self.value(o, "_total", "% processor time", row));
                whole.next()? * f64::from(self.processors()?)
            }
        };
        counted(percent)
            .map(|percent| Duration::from_secs_f64(percent / 100.0 * length.as_secs_f64()))
    }
}
