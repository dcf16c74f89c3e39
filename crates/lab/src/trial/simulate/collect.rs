//! From counters in virtual time to the record.

use std::collections::BTreeMap;

use model::split::TimeSplit;
use model::storage::Usage;
use model::store::Counters;
use model::{Duration, Instant, Storage};
use reading::{DiskReading, LimitReading, Reading};
use sqlite_vfs::compile_options;
use sqlite_vfs::virtual_time::Simulation;

use super::super::collect::{self, Counted};
use super::super::sessions::Tally;
use super::super::{Stage, TrialId};
use super::meter::SharedMeter;
use experiment::record::{Cause, Note, Phase, Record, histogram};
use experiment::spec::{Mode, Role};
use workload::Workload;

/// Counters at an instant.
pub(super) struct Snapshot {
    limits: Vec<LimitReading>,
    counters: Counters,
    logical_reads: u64,
    lock_waits: u64,
    deadlocks: u64,
    checkpoint_late: Duration,
    cpu: Duration,
    /// Names of the machine's limits.
    machine_limits: Vec<String>,
}

impl Snapshot {
    /// The counters at `now`, on the volumes of `stage`.
    pub(super) fn take(simulation: &Simulation, now: Instant, stage: &Stage) -> Snapshot {
        simulation.with_store(|store| {
            store.advance(now);
            Snapshot {
                limits: limits(store.storage().usage(now), stage),
                counters: store.counters(),
                logical_reads: simulation.logical_reads(),
                lock_waits: simulation.lock_waits(),
                deadlocks: simulation.deadlocks(),
                checkpoint_late: store.checkpoint_late(),
                cpu: simulation.cpu_busy(),
                machine_limits: machine_limits(store.storage()),
            }
        })
    }
}

/// Limits by the names of their volumes.
pub(super) fn limits(usage: Vec<Usage>, stage: &Stage) -> Vec<LimitReading> {
    let volumes = stage.volumes.iter();
    let volumes: Vec<String> = volumes.map(|volume| volume.name.clone()).collect();
    usage
        .into_iter()
        .map(|usage| LimitReading::of(usage, &volumes))
        .collect()
}

fn machine_limits(storage: &Storage) -> Vec<String> {
    storage.machine_limit_names().map(str::to_owned).collect()
}

/// All counters of a finished trial.
pub(super) struct Collected {
    pub(super) tally: Tally,
    pub(super) split: TimeSplit,
    pub(super) from: Snapshot,
    pub(super) until: Snapshot,
    pub(super) phases: Vec<Phase>,
    pub(super) cores: u32,
}

/// The record of a trial.
pub(super) fn record(
    id: &TrialId,
    stage: &Stage,
    workload: &Workload,
    meter: &SharedMeter,
    result: Result<Collected, String>,
) -> Record {
    let checked = result.and_then(|collected| {
        collect::check_operations(&collected.tally)?;
        Ok(collected)
    });
    let collected = match checked {
        Ok(collected) => collected,
        Err(error) => return collect::failed(id, Mode::Simulate, error),
    };
    let meter = meter.0.borrow();
    let elapsed = collect::measured(&collected.phases);
    let done = done(
        &collected.from.limits,
        &collected.until.limits,
        meter.disks(),
    );
    let volumes = collect::volumes(stage, &stage.disks, &done);
    let counted = Counted {
        transfers: collect::transfers(&done.disks),
        ..counted(&collected, elapsed)
    };
    let mut metrics = collect::metrics(&counted, workload.operation);
    metrics.extend(collect::per_disk(&volumes, elapsed));
    let tally = &collected.tally;
    Record {
        metrics,
        counters: counters(&collected),
        time_split_ns: split(&collected.split, &collected.until.machine_limits),
        volumes,
        limits: collect::limits(&done, elapsed),
        operations: (tally.operations > 0).then(|| histogram::encode(&tally.latency)),
        series: meter.series(tally.ended.clone()),
        errors: tally.errors.clone(),
        phases: collected.phases,
        notes: notes(stage),
        ..collect::blank(id, Mode::Simulate)
    }
}

/// Deviations of an arm from what was requested.
fn notes(stage: &Stage) -> Vec<Note> {
    let mut notes = built_otherwise(compile_options::missing());
    notes.extend(undo_not_simulated(&stage.files));
    notes
}

/// The note that nothing is written to the undo files of these volumes.
fn undo_not_simulated(files: &[BTreeMap<Role, u32>]) -> Option<Note> {
    let has_undo = files.iter().any(|files| files.contains_key(&Role::Undo));
    has_undo.then(|| {
        Note::NotAsAsked(
            "simulate writes no undo records, so that where undo is changes nothing; run the arm with --mode emulate"
                .to_owned(),
        )
    })
}

/// The note that SQLite was compiled without the settings `missing`, on which its sorts and temporary files depend.
fn built_otherwise(missing: &[&str]) -> Vec<Note> {
    if missing.is_empty() {
        return Vec::new();
    }
    let missing = missing.join(", ");
    vec![Note::NotAsAsked(format!(
        "this dbstow's SQLite was compiled without {missing}, so that results differ from those of a released dbstow; \
         reinstall it with LIBSQLITE3_FLAGS set (docs/install.md)"
    ))]
}

/// Activity of disks and limits in the measured time, of which `disks` were counted separately.
pub(super) fn done(
    from: &[LimitReading],
    until: &[LimitReading],
    disks: Vec<DiskReading>,
) -> Reading {
    let reading = |limits: &[LimitReading]| Reading {
        at: Instant::ZERO,
        disks: Vec::new(),
        limits: limits.to_vec(),
        pacing: None,
    };
    let done = reading(until).since(&reading(from));
    Reading {
        disks,
        ..done.expect("what a limit let pass only grows")
    }
}

fn counted(collected: &Collected, elapsed: Duration) -> Counted {
    let Collected { from, until, .. } = collected;
    let cpu = until.cpu.saturating_sub(from.cpu).as_secs_f64();
    let all_cores = elapsed.as_secs_f64() * f64::from(collected.cores);
    let physical_reads = until.counters.physical_reads - from.counters.physical_reads;
    Counted {
        elapsed,
        operations: collected.tally.operations,
        statements: collected.tally.statements,
        logical_reads: Some((until.logical_reads - from.logical_reads) as f64),
        physical_reads: Some(physical_reads as f64),
        transfers: None,
        cpu_utilisation: Some(if all_cores > 0.0 {
            cpu / all_cores
        } else {
            0.0
        }),
    }
}

/// How often sessions waited for a lock, how often a transaction started over because of a deadlock, and how late
/// the checkpoint was since the start; zero values are omitted.
fn counters(collected: &Collected) -> BTreeMap<String, f64> {
    let Collected { from, until, .. } = collected;
    let counters = [
        ("lock_waits", (until.lock_waits - from.lock_waits) as f64),
        ("deadlocks", (until.deadlocks - from.deadlocks) as f64),
        ("checkpoint_late_s", until.checkpoint_late.as_secs_f64()),
    ];
    let happened = counters.into_iter().filter(|(_, count)| *count > 0.0);
    happened
        .map(|(name, count)| (name.to_owned(), count))
        .collect()
}

/// How time was spent, by name.
pub(super) fn split(split: &TimeSplit, machine_limits: &[String]) -> BTreeMap<Cause, u64> {
    let mut named: BTreeMap<Cause, u64> = BTreeMap::new();
    for (spent, time) in split.iter() {
        *named.entry(Cause::of(spent, machine_limits)).or_default() += time.as_nanos();
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_says_that_undo_is_not_simulated() {
        let data = BTreeMap::from([(Role::Data, 1)]);
        let undo = BTreeMap::from([(Role::Undo, 1)]);
        assert_eq!(undo_not_simulated(std::slice::from_ref(&data)), None);
        let Some(Note::NotAsAsked(what)) = undo_not_simulated(&[data, undo]) else {
            panic!("it has no undo");
        };
        assert!(what.contains("no undo records"), "{what}");
    }

    #[test]
    fn a_record_says_which_settings_sqlite_was_compiled_without() {
        assert_eq!(built_otherwise(&[]), []);
        let notes = built_otherwise(&["DEFAULT_PAGE_SIZE=8192", "MAX_ATTACHED=125"]);
        let [Note::NotAsAsked(what)] = &notes[..] else {
            panic!("{notes:?}");
        };
        assert!(
            what.contains("without DEFAULT_PAGE_SIZE=8192, MAX_ATTACHED=125,"),
            "{what}"
        );
    }
}
