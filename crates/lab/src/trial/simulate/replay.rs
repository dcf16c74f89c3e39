//! A trial that replays a profile, in virtual time.

use model::Instant;
use replay::{DemandSeries, Follow, ReplayError};
use resolve::Replayed as Inputs;

use super::super::collect::{self, Counted};
use super::super::sessions::Tally;
use super::super::{Cancel, Cancelled, Stage, TrialId};
use super::collect::{done, limits, split};
use super::meter::SharedMeter;
use super::progress::Progress;
use super::{Moment, Reporter};
use experiment::record::{Note, Phase, Record, histogram};
use experiment::spec::{Mode, Role, Settings};
use workload::OperationKind;

/// What a trial that replays a profile runs.
#[derive(Clone, Copy)]
pub struct Replayed<'a> {
    /// The trial.
    pub id: &'a TrialId,
    /// All settings of the arm.
    pub settings: &'a Settings,
    /// The arm's volumes, resolved.
    pub stage: &'a Stage,
    /// The demand of its sessions.
    pub demand: &'a DemandSeries,
}

impl<'a> Replayed<'a> {
    /// The same, for the replay.
    fn inputs(&self) -> Inputs<'a> {
        Inputs {
            settings: self.settings,
            stage: self.stage,
            demand: self.demand,
            seed: self.id.seed,
        }
    }
}

/// Replays a profile, and reports progress. A failed trial has a record too.
///
/// # Errors
/// When `cancelled` returns true before the end.
pub fn replay(
    replayed: &Replayed<'_>,
    cancelled: &Cancel,
    report: &Reporter<'_>,
) -> Result<Record, Cancelled> {
    report(Moment::Loading);
    let Replayed {
        id,
        settings,
        stage,
        ..
    } = *replayed;
    let inputs = replayed.inputs();
    let (length, until) = (inputs.length(), inputs.end());
    let window = [Instant::ZERO + settings.workload.warm_up, until];
    let mut follower = Follower {
        window,
        tally: Tally::new(),
        progress: Progress::until(until, report),
        cancelled,
    };
    let meter = SharedMeter::of(stage);
    meter.0.borrow_mut().measure(window[0], window[1]);
    let outcome = match inputs.run(&stage.volumes, Box::new(meter.clone()), &mut follower) {
        Ok(outcome) => outcome,
        Err(ReplayError::Stopped) => return Err(Cancelled),
        Err(error @ (ReplayError::Timeless | ReplayError::Behind(_))) => {
            return Ok(collect::failed(id, Mode::Simulate, error.to_string()));
        }
    };
    let tally = follower.tally;
    if let Err(error) = collect::check_operations(&tally) {
        return Ok(collect::failed(id, Mode::Simulate, error));
    }
    let meter = meter.0.borrow();
    let (from, until) = (
        limits(outcome.usage_before, stage),
        limits(outcome.usage_after, stage),
    );
    let done = done(&from, &until, meter.disks());
    let volumes = collect::volumes(stage, &stage.disks, &done);
    let transfers = collect::transfers(&done.disks);
    let cores = length.as_secs_f64() * f64::from(stage.machine.cores);
    let counted = Counted {
        elapsed: length,
        operations: tally.operations,
        // Products that count batches of statements count operations.
        statements: tally.operations,
        logical_reads: None,
        physical_reads: transfers.map(|transfers| transfers.reads as f64),
        transfers,
        cpu_utilisation: Some(outcome.processor.as_secs_f64() / cores),
    };
    let mut metrics = collect::metrics(&counted, OperationKind::Operation);
    metrics.extend(collect::per_disk(&volumes, length));
    let limit_names: Vec<String> = stage.machine.limits.keys().cloned().collect();
    Ok(Record {
        metrics,
        time_split_ns: split(&outcome.split, &limit_names),
        volumes,
        limits: collect::limits(&done, length),
        operations: Some(histogram::encode(&tally.latency)),
        series: meter.series(tally.ended.clone()),
        phases: phases(window),
        notes: notes(replayed),
        ..collect::blank(id, Mode::Simulate)
    })
}

/// What a reader must know about this placement and profile.
fn notes(replayed: &Replayed<'_>) -> Vec<Note> {
    let mut notes = replayed.demand.assumptions().to_vec();
    if !replayed.demand.separate().contains(&Role::Temp)
        && !replayed.demand.merged().contains(&Role::Temp)
    {
        notes.push("temp I/O was not recorded, and none is replayed".to_owned());
    }
    let volumes = replayed.stage.volumes.iter();
    let cached: Vec<&str> = volumes
        .filter(|volume| volume.host_cache != model::HostCacheMode::None)
        .map(|volume| volume.name.as_str())
        .collect();
    if !cached.is_empty() {
        notes.push(format!(
            "a profile does not count how often the same blocks are read: the host cache of {} serves next to none of them \
             here",
            cached.join(", ")
        ));
    }
    notes.into_iter().map(Note::Other).collect()
}

fn phases([from, until]: [Instant; 2]) -> Vec<Phase> {
    let phase = |name: &str, from: Instant, until: Instant, measured| Phase {
        name: name.to_owned(),
        start_ns: from.as_nanos(),
        end_ns: until.as_nanos(),
        measured,
    };
    let warm_up = phase("warm-up", Instant::ZERO, from, false);
    let warm_up = (from > Instant::ZERO).then_some(warm_up);
    let run = phase("run", from, until, true);
    warm_up.into_iter().chain([run]).collect()
}

/// Counts operations, and reports the progress of the replay.
struct Follower<'a> {
    window: [Instant; 2],
    tally: Tally,
    progress: Progress<'a>,
    cancelled: &'a Cancel,
}

impl Follow for Follower<'_> {
    fn ended(&mut self, began: Instant, now: Instant) {
        self.tally.ended.add(now, 1);
        self.progress.ended(now);
        let [from, until] = self.window;
        if now >= from && now < until {
            self.tally.operations += 1;
            histogram::record(&mut self.tally.latency, now.since(began));
        }
    }

    fn is_stopped(&self) -> bool {
        (self.cancelled)()
    }
}
