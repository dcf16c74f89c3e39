//! Windows performance counters: volumes, and SQL Server.
//!
//! The user specifies the roles of volumes. If SQL Server's counters of log flushes are present, they separate the log on a
//! volume that it shares with data.

mod check;
mod contradiction;
mod disk;
mod log;
mod sql;

use model::Duration;
use reading::Role;

use super::devices::{self, Found};
use super::error::ImportError;
use super::number::counted;
use super::source::{Options, Source};
use super::steps::{Resolution, Step, steps};
use crate::rates::requests;
use disk::Disk;
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
    let roles = devices::assign_roles(&options.devices, &found, is_same, &mut draft);
    let roles = roles.map_err(|mistake| mistake.of(source.file))?;
    for (disk, _) in disks.iter().zip(&roles).filter(|(_, role)| role.is_some()) {
        disk.check(log.times.len(), &mut draft);
    }
    check::total(&disks, &log, &mut draft);
    let chosen = Chosen::of(&log, &options.instances);
    let chosen = chosen.map_err(|mistake| mistake.of(source.file))?;
    let sql = Sql::find(&log, &chosen);
    if sql.is_there() {
        draft.origin.product = Some("SQL Server".to_owned());
        sql.assume_lacking(&mut draft);
    }
    draft.machine.processors = log.processors();
    draft.machine.cache = sql.cache(0..log.times.len());
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
