//! Counters of a volume, or of a disk.

use super::log::{self, Counter, Log};
use crate::rates::Rates;

/// A volume, or a disk if only disks were counted.
pub(super) struct Disk<'a> {
    pub(super) name: &'a str,
    /// `logicaldisk` or `physicaldisk`.
    pub(super) object: &'static str,
    pub(super) both: Both<'a>,
    pub(super) reads: Figures<'a>,
    pub(super) writes: Figures<'a>,
}

/// Counters of reads and writes together, which are not used: what the others say too.
pub(super) struct Both<'a> {
    pub(super) count: Option<&'a Counter>,
    pub(super) bytes: Option<&'a Counter>,
    pub(super) mean: Option<&'a Counter>,
    pub(super) size: Option<&'a Counter>,
    pub(super) queue: Option<&'a Counter>,
    pub(super) idle: Option<&'a Counter>,
}

/// Counters of one kind of request.
pub(super) struct Figures<'a> {
    pub(super) count: Option<&'a Counter>,
    pub(super) bytes: Option<&'a Counter>,
    pub(super) mean: Option<&'a Counter>,
    /// Also implied by the others: bytes of a request, and requests in flight.
    pub(super) size: Option<&'a Counter>,
    pub(super) queue: Option<&'a Counter>,
}

impl<'a> Disk<'a> {
    /// Volumes as the database sees them, or else the underlying disks; never both.
    pub(super) fn all(log: &'a Log) -> Result<Vec<Disk<'a>>, String> {
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

    pub(super) fn is_active(&self, rows: usize) -> bool {
        let rates = |row| [self.reads.rates(row), self.writes.rates(row)];
        let mut all = (1..rows).flat_map(rates);
        all.any(|rates| rates.per_second > Some(0.0))
    }
}

impl Figures<'_> {
    pub(super) fn rates(&self, row: usize) -> Rates {
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
