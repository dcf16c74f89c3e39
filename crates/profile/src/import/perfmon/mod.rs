//! Windows performance counters: volumes, and SQL Server.
//!
//! The user specifies the roles of volumes. If SQL Server's counters of log flushes are present, they separate the log on a
//! volume that it shares with data.

mod log;
mod sql;

use model::Duration;
use reading::Role;

use super::devices::{self, Found};
use super::error::ImportError;
use super::number::counted;
use super::steps::{Resolution, Step, between, steps};
use super::twice::{Load, Range, Twice};
use super::{Options, Source};
use crate::definition::Lost;
use crate::draft::{Draft, Rates, Span, add, requests};
use log::{Counter, Log};
use sql::{Chosen, LogPlace, Sql};

/// Whether the cells of a header, except the first, are counter paths.
pub(super) fn is_header(cells: &[String]) -> bool {
    let is_path = |cell: &String| cell.starts_with(r"\\") && Counter::parse(cell).is_some();
    cells.iter().skip(1).any(is_path)
}

/// Reads a file of relog, typeperf, logman or Export-Csv.
///
/// # Errors
/// When it is not such a file, lacks required figures, or the roles of the volumes are ambiguous.
pub(super) fn read(source: &Source, options: &Options) -> Result<Draft, ImportError> {
    let wrong = |message: String| ImportError::file(source.file, message);
    let mut draft = Draft::of("perfmon");
    let log = log::read(source, options, &mut draft)?;
    let disks = Disk::all(&log).map_err(wrong)?;
    Disk::note_other(&log, &mut draft);
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
    let chosen = Chosen::of(&log, &options.instances).map_err(wrong)?;
    let sql = Sql::find(&log, &chosen);
    if sql.is_there() {
        draft.origin.product = Some("SQL Server".to_owned());
    }
    draft.machine.processors = log.processors();
    match log.processes.len() {
        0 if draft.machine.processors.is_some() => {
            draft.assume("Processor time covers all processes of the machine.");
        }
        0 | 1 => {}
        several => draft.assume(format!(
            "Processor time is that of {several} processes `sqlservr` together: which SQL Server one is of, is not in the file."
        )),
    }
    let place = LogPlace::of(&draft);
    chosen.assume(&log, place, &mut draft);
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

/// Factor by which counters of the same events may differ: rounding by Windows is less. Our choice.
const CONTRADICTION: f64 = 1.1;

/// A volume, or a disk if only disks were counted.
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
    /// Also implied by the others: bytes of a request, and requests in flight.
    size: Option<&'a Counter>,
    queue: Option<&'a Counter>,
}

impl<'a> Disk<'a> {
    /// Volumes as the database sees them, or else the underlying disks; never both.
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
        let needed = "collect \\LogicalDisk(*)\\* and, of SQL Server, `Batch Requests/sec` and `Log Flushes/sec`";
        Err(match log.foreign() {
            Some(counter) => format!(
                "its disks have no counters with English names ({counter}); {}",
                log::ENGLISH_USER
            ),
            None => format!("it lacks `Disk Reads/sec` or `Disk Writes/sec` of volumes; {needed}"),
        })
    }

    /// Notes counters that are redundant and not used.
    fn note_other(log: &Log, draft: &mut Draft) {
        let has = |object: &str| {
            log.counters
                .iter()
                .any(|c| c.object == object && c.name == "disk reads/sec")
        };
        if has("logicaldisk") && has("physicaldisk") {
            draft.notes.push("counters of PhysicalDisk are not used: those of LogicalDisk count the same requests".to_owned());
        }
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

    /// Notes counters that contradict one another. None of them is rejected: in rows of averaged means, as produced by a
    /// spreadsheet, a size is not bytes over requests.
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
        // Without requests the mean is undefined, and some tools leave it blank.
        let none = (per_second == Some(0.0)).then_some(0.0);
        Rates {
            per_second,
            bytes_per_second: value(self.bytes),
            mean_s: value(self.mean).or(none),
        }
    }
}

impl Log {
    /// Number of logical processors, if each was counted: by one of two objects, or by both.
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
        let percent = match self.processes.as_slice() {
            // A process that was not running has no value.
            [_, ..] => {
                let values = self
                    .processes
                    .iter()
                    .filter_map(|at| self.counters[*at].value(row));
                values.reduce(|all, more| all + more)?
            }
            [] => {
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
