//! From observations in real time to the record.

use std::collections::BTreeMap;
use std::thread;

use host::site::Site;
use model::Duration;
use reading::{Reading, fact};

use super::super::collect::{self, Counted, Transfers};
use super::super::parameters;
use super::run::Ran;
use super::series::SecondBySecond;
use super::waits::Samples;
use crate::trial::Subject;
use engine::{Engine, FrontKind, Modelled};
use experiment::record::{ClientRecord, Note, Phase, Record, histogram};
use experiment::spec::Mode;

/// All observations of a finished trial.
pub(super) struct Observed {
    pub(super) ran: Ran,
    pub(super) phases: Vec<Phase>,
    pub(super) series: SecondBySecond,
    pub(super) notes: Vec<Note>,
}

/// The record of a trial that did not complete.
pub(super) fn failed(subject: &Subject<'_>, error: String) -> Record {
    collect::failed(subject.id, subject.mode, error)
}

/// The record of a completed trial; `disks` describes those of each volume. Otherwise what went wrong.
pub(super) fn record(
    subject: &Subject<'_>,
    disks: &[String],
    site: &dyn Site,
    engine: &dyn Engine,
    observed: Observed,
) -> Result<Record, String> {
    let Observed {
        ran,
        phases,
        series,
        mut notes,
    } = observed;
    collect::check_operations(&ran.tally)?;
    let done = ran.until.volumes.since(&ran.from.volumes);
    let done = done.map_err(|error| error.to_string())?;
    let elapsed = collect::measured(&phases);
    let volumes = collect::volumes(subject.stage, disks, &done);
    let mut counted = counted(&ran, &done, elapsed);
    if subject.mode == Mode::Measure && subject.engine.counts_whole_ms() {
        counted.transfers = counted.transfers.map(Transfers::in_whole_ms);
    }
    let mut metrics = collect::metrics(&counted, subject.workload().operation);
    if counted.transfers.is_some() {
        metrics.extend(collect::per_disk(&volumes, elapsed));
    }
    notes.extend(series.pauses.notes(&phases));
    notes.extend(ran.notes.iter().cloned());
    notes.extend(engine.notes());
    if subject.workload().stress.is_some() {
        notes.push(Note::Stress);
    }
    let asked = &subject.settings.workload;
    notes.extend(parameters::departures(subject.workload(), asked));
    let environment: BTreeMap<String, String> = site.environment().into_iter().collect();
    notes.extend(no_write_back(subject, &environment));
    let none = Samples::default();
    let samples = ran.samples.as_ref().unwrap_or_else(|| {
        let unknown = "the engine does not report what sessions wait for";
        notes.push(Note::Other(unknown.to_owned()));
        &none
    });
    Ok(Record {
        metrics,
        phases,
        time_split_ns: samples.split(ran.time, &done.disks, &subject.stage.files),
        volumes,
        limits: collect::limits(&done, elapsed),
        operations: (ran.tally.operations > 0).then(|| histogram::encode(&ran.tally.latency)),
        series: series.finish(ran.tally.ended.clone(), &ran.series),
        errors: ran.tally.errors.clone(),
        engine: Some(engine.describe()),
        counters: counters(&ran).chain(samples.events(ran.time)).collect(),
        environment,
        pacing: done.pacing.clone(),
        client: Some(client(&ran, samples)),
        notes,
        ..collect::blank(subject.id, subject.mode)
    })
}

/// The note that an engine which relies on a filesystem's cache for its writes has none: each write reaches the modelled
/// disk separately.
fn no_write_back(subject: &Subject<'_>, environment: &BTreeMap<String, String>) -> Option<Note> {
    let Modelled::Mounted { front, .. } = subject.engine.modelled() else {
        return None;
    };
    let shown = environment.get(fact::FRONT)?;
    let without = front == FrontKind::Block && shown == FrontKind::File.name();
    without.then(|| Note::NoWriteBack("modelled disks were shown as a file tree".to_owned()))
}

/// The engine's counters over the measured time. A server omits what it never waited for: that is zero.
fn counters(ran: &Ran) -> impl Iterator<Item = (String, f64)> {
    let earlier = &ran.from.counted;
    ran.until.counted.iter().map(|(name, value)| {
        let before = earlier.get(name).copied().unwrap_or(0.0);
        (name.clone(), value - before)
    })
}

fn counter(ran: &Ran, wanted: &str) -> Option<f64> {
    counters(ran)
        .find(|(name, _)| name == wanted)
        .map(|(_, value)| value)
}

fn counted(ran: &Ran, done: &Reading, elapsed: Duration) -> Counted {
    Counted {
        elapsed,
        operations: ran.tally.operations,
        statements: ran.tally.statements,
        logical_reads: counter(ran, "logical_reads"),
        physical_reads: counter(ran, "physical_reads"),
        transfers: collect::transfers(&done.disks),
        cpu_utilisation: ran.until.cpu_utilisation,
    }
}

fn client(ran: &Ran, samples: &Samples) -> ClientRecord {
    let cpu = ran.until.own_cpu.saturating_sub(ran.from.own_cpu);
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get());
    ClientRecord {
        cpu_ns: cpu.as_nanos(),
        cores: u32::try_from(cores).unwrap_or(u32::MAX),
        between_ns: samples.between(ran.time).as_nanos(),
    }
}
