//! Counters that say the same thing twice. Contradictions are noted, none is rejected: in rows of averaged means, as produced by a
//! spreadsheet, a size is not bytes over requests.

use super::contradiction::{contradiction, excess, twice};
use super::disk::{Disk, Figures};
use super::log::{Counter, Log};
use super::sql::{LogPlace, Sql};
use crate::twice::{Load, Range, Twice};
use profile::Draft;

impl Disk<'_> {
    /// Notes counters that contradict one another.
    pub(super) fn check(&self, rows: usize, draft: &mut Draft) {
        let kinds = [("read", &self.reads), ("write", &self.writes)];
        let value = |counter: Option<&Counter>, row| counter?.value(row);
        let both = |row, of: fn(&Figures, usize) -> Option<f64>| {
            Some(of(&self.reads, row)? + of(&self.writes, row)?)
        };
        let count = |row| both(row, |figures, row| figures.rates(row).per_second);
        let bytes = |row| both(row, |figures, row| figures.rates(row).bytes_per_second);
        let mut note = |what: &str, twice: Twice| {
            if let Some([used, other]) = contradiction(twice) {
                draft.assume(format!(
                    "{} contradicts itself: {what} are {other} a second, and {used} by the counters that count.",
                    self.name
                ));
            }
        };
        for (kind, figures) in kinds {
            let size = |row| Some(figures.count?.value(row)? * figures.size?.value(row)?);
            note(
                &format!("`Disk {kind}s/sec` x `Avg. Disk Bytes/{kind}`"),
                twice(rows, |row| value(figures.bytes, row), size),
            );
        }
        note(
            "`Disk Transfers/sec`",
            twice(rows, count, |row| value(self.both.count, row)),
        );
        note(
            "`Disk Bytes/sec`",
            twice(rows, bytes, |row| value(self.both.bytes, row)),
        );
        note(
            "transfers x `Avg. Disk Bytes/Transfer`",
            twice(rows, bytes, |row| {
                Some(count(row)? * value(self.both.size, row)?)
            }),
        );
        for (kind, figures) in kinds {
            let queue = format!("Avg. Disk {kind} Queue Length");
            let who = format!("{} ({kind}s)", self.name);
            let mut load = Load::default();
            for row in 0..rows {
                if let Some(in_flight) = figures.in_flight(row) {
                    let queue = value(figures.queue, row).map(Range::exact);
                    load.add(Range::exact(in_flight), queue, None);
                }
            }
            draft
                .assumptions
                .extend(load.contradiction(&who, &queue, &queue));
        }
        let (mut load, mut by_mean) = (Load::default(), Load::default());
        for row in 0..rows {
            if let Some(in_flight) =
                both(row, |figures, row| figures.in_flight(row)).map(Range::exact)
            {
                let busy = value(self.both.idle, row).map(|idle| (1.0 - idle / 100.0).max(0.0));
                let queue = value(self.both.queue, row).map(Range::exact);
                load.add(in_flight, queue, busy.map(Range::exact));
                let mean = count(row).zip(value(self.both.mean, row));
                by_mean.add(
                    in_flight,
                    mean.map(|(count, mean)| Range::exact(count * mean)),
                    None,
                );
            }
        }
        let (queue, mean) = ("Avg. Disk Queue Length", "Avg. Disk sec/Transfer");
        let note = load.contradiction(self.name, queue, "% Idle Time");
        draft.assumptions.extend(note);
        draft
            .assumptions
            .extend(by_mean.contradiction(self.name, mean, mean));
    }
}

impl Figures<'_> {
    /// Requests in flight, from rate and latency.
    fn in_flight(&self, row: usize) -> Option<f64> {
        let rates = self.rates(row);
        Some(rates.per_second? * rates.mean_s?)
    }
}

const KINDS: [&str; 2] = ["reads", "writes"];

/// Notes where the sum of an object is not that of its disks.
pub(super) fn total(disks: &[Disk], log: &Log, draft: &mut Draft) {
    let Some(object) = disks.first().map(|disk| disk.object) else {
        return;
    };
    for kind in KINDS {
        let used = |row| sum(log, object, kind, row);
        let total = |row| log.value(object, "_total", &format!("disk {kind}/sec"), row);
        if let Some([used, total]) = contradiction(twice(log.times.len(), used, total)) {
            draft.assume(format!(
                "`{object}(_Total)` has {total} {kind} a second, and its disks in the file {used} together: these count; others \
                 are missing, or one of the figures is wrong."
            ));
        }
    }
}

/// Requests of a kind per second, of all disks of an object in the file.
fn sum(log: &Log, object: &str, kind: &str, row: usize) -> Option<f64> {
    let name = format!("disk {kind}/sec");
    let is_one = |c: &&Counter| c.object == object && c.name == name && c.instance != "_total";
    let values = log
        .counters
        .iter()
        .filter(is_one)
        .map(|counter| counter.value(row));
    let values: Vec<f64> = values.collect::<Option<_>>()?;
    (!values.is_empty()).then(|| values.iter().sum())
}

/// Notes that counters of disks are not used where there are those of volumes, and whether they say the same.
pub(super) fn objects(log: &Log, draft: &mut Draft) {
    let [logical, physical] = ["logicaldisk", "physicaldisk"];
    let has = |object: &str| {
        let mut counters = log.counters.iter();
        counters.any(|c| c.object == object && c.name == "disk reads/sec")
    };
    if !(has(logical) && has(physical)) {
        return;
    }
    let mut same = true;
    for kind in KINDS {
        let [used, other] =
            [logical, physical].map(|object| move |row| sum(log, object, kind, row));
        if let Some([used, other]) = contradiction(twice(log.times.len(), used, other)) {
            same = false;
            draft.assume(format!(
                "PhysicalDisk has {other} {kind} a second, and LogicalDisk {used}: those of LogicalDisk count; volumes are missing, \
                 or one of the figures is wrong."
            ));
        }
    }
    let why = match same {
        true => ": those of LogicalDisk count the same requests",
        false => "",
    };
    draft
        .notes
        .push(format!("counters of PhysicalDisk are not used{why}"));
}

/// Notes where SQL Server flushed more of its log than the volumes with it were written.
pub(super) fn log_flushes(
    sql: &Sql,
    with_log: &[&Disk],
    place: LogPlace,
    rows: usize,
    draft: &mut Draft,
) {
    let written = |row, of: fn(&Disk, usize) -> Option<f64>| -> Option<f64> {
        with_log.iter().map(|disk| of(disk, row)).sum()
    };
    let counts = twice(
        rows,
        |row| sql.flushes(row),
        |row| written(row, |disk, row| disk.writes.rates(row).per_second),
    );
    let bytes = twice(
        rows,
        |row| sql.flushed(row),
        |row| written(row, |disk, row| disk.writes.rates(row).bytes_per_second),
    );
    let end = match place {
        LogPlace::Shared => "all of these count as the log's, and none as data's",
        LogPlace::Apart | LogPlace::Elsewhere => "these count",
    };
    for (counter, of_disk, twice) in [
        ("Log Flushes/sec", "Disk Writes/sec", counts),
        ("Log Bytes Flushed/sec", "Disk Write Bytes/sec", bytes),
    ] {
        if let Some([flushed, written]) = excess(twice) {
            draft.assume(format!(
                "`{counter}` is {flushed}, and `{of_disk}` of the volumes with the log {written}: {end}, and one of the figures \
                 is wrong."
            ));
        }
    }
}
