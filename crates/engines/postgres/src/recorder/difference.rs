//! Computes an interval from two snapshots and the samples between them, or the reason why it is not possible. Pure.

use std::collections::BTreeMap;

use model::Duration;
use profile::{Interval, Io, Lost, Requests};
use reading::Role;

use super::snapshot::Snapshot;
use engine::recorder::{Host, HostFigures, Samples, add, millis};

/// Page of the log, `XLOG_BLCKSZ`, in bytes.
const LOG_PAGE: f64 = 8192.0;

/// What was counted from `before` to `after`.
///
/// # Errors
/// Why it cannot be determined.
pub(super) fn interval(
    before: &Snapshot,
    after: &Snapshot,
    samples: &Samples,
    host: Option<&Host>,
) -> Result<Interval, Lost> {
    let grown = comparable(before, after)?;
    let ended = grown.of("database.xact_commit").unwrap_or(0.0)
        + grown.of("database.xact_rollback").unwrap_or(0.0);
    let mut figures = Interval {
        operations: Some((ended - (after.taken.own - before.taken.own)).max(0.0)),
        logical_read_bytes: logical_reads(&grown).map(|blocks| blocks * after.block()),
        ..after.taken.interval(&before.taken, samples)
    };
    let log = log(&grown, after.is_on("track_wal_io_timing"));
    match after.taken.of_host(&before.taken, host)? {
        None => figures.roles = of_server(&grown, log),
        Some(counted) => {
            figures.processor = Some(counted.processor);
            figures.roles = of_host(&counted, log);
        }
    }
    Ok(figures)
}

/// Pages that were asked of the server's buffers.
fn logical_reads(grown: &Grown<'_>) -> Option<f64> {
    Some(grown.of("database.blks_hit")? + grown.of("database.blks_read")?)
}

/// Assumptions that a user of the figures must know.
pub(super) fn assumptions(first: &Snapshot, host: Option<&Host>) -> Vec<String> {
    let mut known = Vec::new();
    let mut assume = |text: &str| known.push(text.to_owned());
    if !first
        .counters
        .keys()
        .any(|name| name.ends_with("|wal|normal|write_bytes"))
    {
        assume(
            "Bytes of the log are those of its records, and a page more for each write, which is of whole pages.",
        );
    }
    match host {
        Some(host) => {
            assume("Requests are those of whole disks: other programs' count too.");
            if host
                .disks
                .iter()
                .any(|roles| roles.len() > 1 && roles.contains(&Role::Log))
            {
                assume(
                    "The log shares a disk: the server's log writes and flushes are taken off the disk's, at its mean \
                     latency.",
                );
                if !first.is_on("track_wal_io_timing") {
                    assume("track_wal_io_timing is off: the log's own latency was not recorded.");
                }
            }
            if host
                .disks
                .iter()
                .any(|roles| roles.contains(&Role::Data) && roles.contains(&Role::Temp))
            {
                assume("Temporary files share a disk with data: their requests count as data.");
            }
        }
        None => {
            if !first.is_on("track_io_timing") {
                assume(
                    "track_io_timing is off: times of reads and writes of data were not recorded.",
                );
            }
            if !first.is_on("track_wal_io_timing") {
                assume("track_wal_io_timing is off: times of the log were not recorded.");
            }
            assume(
                "Spilled sorts and hashes are in no view of the server: they are missing; temporary tables count as data.",
            );
            assume("Processor time of a server that is not seen here was not recorded.");
        }
    }
    known
}

/// How much counters grew.
struct Grown<'a> {
    before: &'a Snapshot,
    after: &'a Snapshot,
}

fn comparable<'a>(before: &'a Snapshot, after: &'a Snapshot) -> Result<Grown<'a>, Lost> {
    // Both are from one server, so a different value means a restart.
    if (before.started_s - after.started_s).abs() > 1e-3 {
        return Err(Lost::Restart);
    }
    after.taken.follows(&before.taken)?;
    let is_shrunk = |(name, value): (&String, &f64)| {
        let is_counter = !name.ends_with("op_bytes");
        let later = after.counters.get(name);
        is_counter && later.is_some_and(|later| later < value)
    };
    if after.is_reset_since(before) || before.counters.iter().any(is_shrunk) {
        return Err(Lost::Reset);
    }
    Ok(Grown { before, after })
}

impl Grown<'_> {
    /// `None` if the server does not count it.
    fn of(&self, name: &str) -> Option<f64> {
        let (before, after) = (
            self.before.counters.get(name)?,
            self.after.counters.get(name)?,
        );
        Some(after - before)
    }

    /// The sum over rows of pg_stat_io that are `wanted` by process, object and context; `None` without such a row.
    fn io(&self, column: &str, wanted: impl Fn(&str, &str, &str) -> bool) -> Option<f64> {
        let mut sum = None;
        for (name, after) in &self.after.counters {
            let Some(row) = name.strip_prefix("io.") else {
                continue;
            };
            let parts: Vec<&str> = row.split('|').collect();
            if let [process, object, context, of] = parts.as_slice()
                && *of == column
                && wanted(process, object, context)
            {
                // A new row started at 0.
                let before = self.before.counters.get(name).copied().unwrap_or(0.0);
                *sum.get_or_insert(0.0) += after - before;
            }
        }
        sum
    }
}

fn log(grown: &Grown, is_timed: bool) -> Io {
    let wal = |_: &str, object: &str, context: &str| object == "wal" && context == "normal";
    let count = grown
        .of("wal.wal_write")
        .or_else(|| grown.io("writes", wal));
    let records = grown
        .of("wal.wal_bytes")
        .or_else(|| grown.of("server.wal_lsn"));
    // A write is whole pages: half of one more at each end, on average.
    let bytes = records.map(|bytes| bytes + count.unwrap_or(0.0) * LOG_PAGE);
    let time = |ms: Option<f64>| ms.filter(|_| is_timed).map(millis);
    Io {
        writes: Requests {
            count,
            bytes: grown.io("write_bytes", wal).or(bytes),
            waited: time(
                grown
                    .of("wal.wal_write_time")
                    .or_else(|| grown.io("write_time", wal)),
            ),
        },
        flushes: Requests {
            count: grown.of("wal.wal_sync").or_else(|| grown.io("fsyncs", wal)),
            bytes: None,
            waited: time(
                grown
                    .of("wal.wal_sync_time")
                    .or_else(|| grown.io("fsync_time", wal)),
            ),
        },
        ..Io::default()
    }
}

/// Requests as counted by the server.
fn of_server(grown: &Grown, log: Io) -> BTreeMap<Role, Io> {
    let block = grown.after.block();
    let is_timed = grown.after.is_on("track_io_timing");
    let time = |ms: Option<f64>| ms.filter(|_| is_timed).map(millis);
    let data = |_: &str, object: &str, _: &str| object != "wal";
    let own = |process: &str, object: &str, _: &str| {
        object != "wal" && matches!(process, "client backend" | "parallel worker")
    };
    let both =
        |a: &str, b: &str, of: &dyn Fn(&str) -> Option<f64>| Some(of(a)? + of(b).unwrap_or(0.0));
    let io = match grown.io("reads", data) {
        Some(reads) => {
            let sum = |column: &str| grown.io(column, data);
            let writes = both("writes", "extends", &sum);
            let blocks = |count: Option<f64>| count.map(|count| count * block);
            Io {
                reads: Requests {
                    count: Some(reads),
                    bytes: sum("read_bytes").or(Some(reads * block)),
                    waited: time(sum("read_time")),
                },
                writes: Requests {
                    count: writes,
                    bytes: both("write_bytes", "extend_bytes", &sum).or(blocks(writes)),
                    waited: time(both("write_time", "extend_time", &sum)),
                },
                flushes: Requests {
                    count: sum("fsyncs"),
                    bytes: None,
                    waited: time(sum("fsync_time")),
                },
                session_writes: both("writes", "extends", &|column: &str| grown.io(column, own)),
            }
        }
        None => {
            let reads = grown.of("database.blks_read");
            let columns = ["buffers_checkpoint", "buffers_clean", "buffers_backend"];
            let writes = columns
                .iter()
                .map(|column| grown.of(&format!("bgwriter.{column}")))
                .sum::<Option<f64>>();
            Io {
                reads: Requests {
                    count: reads,
                    bytes: reads.map(|reads| reads * block),
                    waited: time(grown.of("database.blk_read_time")),
                },
                writes: Requests {
                    count: writes,
                    bytes: writes.map(|writes| writes * block),
                    waited: None,
                },
                session_writes: grown.of("bgwriter.buffers_backend"),
                ..Io::default()
            }
        }
    };
    BTreeMap::from([(Role::Data, io), (Role::Log, log)])
}

/// Requests of the disks; if the log shares one, the server's counts of the log are subtracted.
fn of_host(counted: &HostFigures<'_>, log: Io) -> BTreeMap<Role, Io> {
    let mut roles: BTreeMap<Role, Io> = BTreeMap::new();
    for (on, disk) in &counted.disks {
        let mut disk = *disk;
        let role = [Role::Data, Role::Temp, Role::Log]
            .into_iter()
            .find(|role| on.contains(role));
        let role = role.unwrap_or(Role::Data);
        if on.contains(&Role::Log) && role != Role::Log {
            add(roles.entry(Role::Log).or_default(), taken(&mut disk, log));
        }
        add(roles.entry(role).or_default(), disk);
    }
    roles
}

/// Subtracts the log's requests from the disk's. The log's latency is the one timed by the server, or unknown: the disk's is
/// mostly that of other writes.
fn taken(disk: &mut Io, log: Io) -> Io {
    let flushes = take(&mut disk.flushes, log.flushes);
    // Linux writes the log's pages when the log is flushed.
    let timed = log.writes.waited.zip(log.flushes.waited);
    let timed = timed.map(|(writing, flushing)| {
        let both = writing + flushing;
        both.saturating_sub(flushes.waited.unwrap_or_default())
    });
    let writes = take(&mut disk.writes, log.writes);
    Io {
        writes: Requests {
            waited: timed,
            ..writes
        },
        flushes,
        ..Io::default()
    }
}

/// Subtracts a part from requests, capped at their total; the part has their mean latency.
fn take(whole: &mut Requests, part: Requests) -> Requests {
    let least = |part: Option<f64>, whole: Option<f64>| {
        part.map(|part| whole.map_or(part, |whole| part.min(whole)))
    };
    let count = least(part.count, whole.count);
    let bytes = least(part.bytes, whole.bytes);
    let waited = match (count, whole.count, whole.waited) {
        (Some(count), Some(all), Some(waited)) if all > 0.0 => {
            Some(Duration::from_secs_f64(waited.as_secs_f64() * count / all))
        }
        (Some(_), Some(_), Some(_)) => Some(Duration::ZERO),
        _ => part.waited,
    };
    let left = |whole: Option<f64>, part: Option<f64>| {
        whole.map(|whole| (whole - part.unwrap_or(0.0)).max(0.0))
    };
    let taken = Requests {
        count,
        bytes,
        waited,
    };
    *whole = Requests {
        count: left(whole.count, count),
        bytes: left(whole.bytes, bytes),
        waited: whole
            .waited
            .map(|all| all.saturating_sub(waited.unwrap_or(Duration::ZERO))),
    };
    taken
}

#[cfg(test)]
mod tests;
