//! Windows performance counters: volumes, and SQL Server.
//!
//! The user specifies the roles of volumes. If SQL Server's counters of log flushes are present, they separate the log on a
//! volume that it shares with data.

mod check;
mod log;
mod sql;

use model::Duration;
use reading::Role;

use super::devices::{self, Found};
use super::error::ImportError;
use super::number::counted;
use super::steps::{Resolution, Step, steps};
use super::{Options, Source};
use crate::rates::{Rates, requests};
use log::{Counter, Log};
use profile::{Draft, Lost, Span, add, between};
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
    check::objects(&log, &mut draft);
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
    check::total(&disks, &log, &mut draft);
    let chosen = Chosen::of(&log, &options.instances).map_err(wrong)?;
    let sql = Sql::find(&log, &chosen);
    if sql.is_there() {
        draft.origin.product = Some("SQL Server".to_owned());
        sql.assume_lacking(&mut draft);
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
    sql.check_totals(log.times.len(), &mut draft);
    let of_log = match place {
        LogPlace::Apart => Some(Role::Log),
        LogPlace::Shared => Some(Role::Data),
        LogPlace::Elsewhere => None,
    };
    if let Some(role) = of_log {
        let with_log = disks
            .iter()
            .zip(&roles)
            .filter(|(_, its)| **its == Some(role));
        let with_log: Vec<&Disk> = with_log.map(|(disk, _)| disk).collect();
        check::log_flushes(&sql, &with_log, place, log.times.len(), &mut draft);
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

/// A volume, or a disk if only disks were counted.
struct Disk<'a> {
    name: &'a str,
    /// `logicaldisk` or `physicaldisk`.
    object: &'static str,
    both: Both<'a>,
    reads: Figures<'a>,
    writes: Figures<'a>,
}

/// Counters of reads and writes together, which are not used: what the others say too.
struct Both<'a> {
    count: Option<&'a Counter>,
    bytes: Option<&'a Counter>,
    mean: Option<&'a Counter>,
    size: Option<&'a Counter>,
    queue: Option<&'a Counter>,
    idle: Option<&'a Counter>,
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
            let disks = names
                .into_iter()
                .map(|name| Disk::of(object, name, &of_object));
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

    fn of(object: &'static str, instance: &'a str, counters: &[&'a Counter]) -> Disk<'a> {
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
            object,
            both: Both {
                count: find("disk transfers/sec"),
                bytes: find("disk bytes/sec"),
                mean: find("avg. disk sec/transfer"),
                size: find("avg. disk bytes/transfer"),
                queue: find("avg. disk queue length"),
                idle: find("% idle time"),
            },
            reads: figures("read"),
            writes: figures("write"),
        }
    }

    fn is_active(&self, rows: usize) -> bool {
        let rates = |row| [self.reads.rates(row), self.writes.rates(row)];
        let mut all = (1..rows).flat_map(rates);
        all.any(|rates| rates.per_second > Some(0.0))
    }
}

impl Figures<'_> {
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
