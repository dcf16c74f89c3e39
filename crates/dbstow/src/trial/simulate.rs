//! A trial in virtual time.

use std::cell::RefCell;
use std::rc::Rc;

use model::random;
use model::store::Role;
use model::{Duration, Instant};
use rusqlite::Connection;
use volume::virtual_time::{Body, Session, Simulation};

use super::collect::{Collected, Snapshot, record};
use super::meter::{Meter, SharedMeter};
use super::sessions::{self, Run, Tally, Task, Window};
use super::{Stage, TrialId};
use crate::record::{Outcome, Phase, Record};
use crate::spec::{Amount, Settings, Temperature};
use crate::workload::{Database, Tables, Workload};

/// The trial was stopped from outside; there is nothing to record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

/// Carries a trial out. A trial that fails is a record too.
///
/// # Errors
/// When `cancelled` says so before the end.
pub fn carry_out(
    id: &TrialId,
    settings: &Settings,
    stage: &Stage,
    workload: &Workload,
    cancelled: &dyn Fn() -> bool,
) -> Result<Record, Cancelled> {
    let volumes = stage
        .volumes
        .iter()
        .map(|volume| (volume.name.as_str(), volume.disks.len()));
    let meter = SharedMeter(Rc::new(RefCell::new(Meter::new(volumes))));
    let result = Trial {
        id,
        settings,
        stage,
        workload,
        cancelled,
        meter: meter.clone(),
    }
    .run();
    if cancelled() {
        return Err(Cancelled);
    }
    Ok(record(id, stage, workload, &meter, result))
}

struct Trial<'a> {
    id: &'a TrialId,
    settings: &'a Settings,
    stage: &'a Stage,
    workload: &'a Workload,
    cancelled: &'a dyn Fn() -> bool,
    meter: SharedMeter,
}

impl Trial<'_> {
    fn run(&self) -> Result<Collected, String> {
        let mut store = self.stage.build(random::derive(self.id.seed, "store", 0));
        store.observe(Box::new(self.meter.clone()));
        let simulation = Simulation::new(store, self.stage.machine.cores, self.stage.costs)
            .map_err(|error| format!("a temporary file for the database's pages: {error}"))?;
        let connections = simulation.timeless(|session| self.prepare(session))?;
        self.quiesce(&simulation, &connections);
        let loaded = Snapshot::take(&simulation, Instant::ZERO);
        let task = self.task();
        let tally = Rc::new(RefCell::new(Tally::new()));
        let snapshots = Rc::new(RefCell::new(Vec::new()));
        self.meter.0.borrow_mut().measure(
            task.window.from,
            task.window.until.unwrap_or(Instant::from_nanos(u64::MAX)),
        );
        let mut bodies: Vec<Body<'_>> = Vec::new();
        for connection in &connections {
            let (task, meter, tally) = (&task, self.meter.clone(), Rc::clone(&tally));
            bodies.push(Box::new(move |session| {
                Run::new(task, session, meter, tally).carry_out(connection)
            }));
        }
        bodies.extend(watcher(&simulation, task.window, Rc::clone(&snapshots)));
        let end = simulation.run_to_end(bodies).map_err(|stalled| {
            format!(
                "{} sessions wait for each other's locks for ever",
                stalled.sessions
            )
        })?;
        drop(connections);
        let tally = Rc::into_inner(tally)
            .expect("every session has ended")
            .into_inner();
        let mut snapshots = snapshots.take();
        if snapshots.is_empty() {
            snapshots.push(loaded);
        }
        if snapshots.len() == 1 {
            snapshots.push(Snapshot::take(&simulation, end));
        }
        let phases = phases(&task, &tally, end);
        Ok(Collected {
            tally,
            from: snapshots.remove(0),
            until: snapshots.remove(0),
            phases,
            cores: self.stage.machine.cores,
        })
    }

    fn task(&self) -> Task<'_> {
        let asked = &self.settings.workload;
        let from = Instant::ZERO + asked.warm_up;
        let (operations, until) = match asked.amount {
            Amount::Operations(operations) => (Some(operations), None),
            Amount::Duration(duration) => (None, Some(from + duration)),
        };
        Task {
            workload: self.workload,
            sessions: asked.sessions,
            seed: self.id.seed,
            arrival: asked.arrival,
            operations,
            window: Window { from, until },
            load: self.workload.load.measured,
            cancelled: self.cancelled,
        }
    }

    /// Opens every session's connection, and loads what is not to be measured.
    fn prepare(&self, session: &Session) -> Result<Vec<Connection>, String> {
        let tables = match self.workload.tables {
            Tables::Data => Role::Data,
            Tables::Temp => Role::Temp,
        };
        let count = self.settings.workload.sessions;
        let mut connections = Vec::new();
        for number in 0..count {
            let name = match self.workload.database {
                Database::PerSession => format!("session-{number}"),
                Database::Shared => "shared".to_owned(),
            };
            let connection = session
                .open(&name, tables)
                .map_err(|error| error.to_string())?;
            let kib = (self.settings.engine.sort_memory.0 >> 10).max(512);
            connection
                .execute_batch(&format!("PRAGMA cache_size = -{kib}"))
                .map_err(|error| error.to_string())?;
            let first = number == 0 || self.workload.database == Database::PerSession;
            if first && !self.workload.load.measured {
                let mut variables = self.workload.variables(number, count);
                let seed = random::derive(self.id.seed, "load", u64::from(number));
                sessions::load(session, &connection, self.workload, &mut variables, seed)?;
            }
            connections.push(connection);
        }
        Ok(connections)
    }

    /// After loading: SQLite's own caches are let go, the store's and the host's kept or emptied.
    fn quiesce(&self, simulation: &Simulation, connections: &[Connection]) {
        for connection in connections {
            // Best effort: what stays is at most the few pages of SQLite's own cache.
            let _ = connection.release_memory();
        }
        let engine = &self.settings.engine;
        simulation.with_store(|store| {
            if engine.start == Temperature::Cold {
                store.empty_pool();
            }
            if engine.host_cache_start == Temperature::Cold {
                store.empty_host_cache();
            }
        });
    }
}

/// A session that does nothing but look when the measured time begins and ends.
fn watcher<'a>(
    simulation: &'a Simulation,
    window: Window,
    snapshots: Rc<RefCell<Vec<Snapshot>>>,
) -> Option<Body<'a>> {
    if window.from == Instant::ZERO && window.until.is_none() {
        return None;
    }
    Some(Box::new(move |session| {
        for instant in [Some(window.from), window.until].into_iter().flatten() {
            session.sleep(instant.since(session.now()));
            snapshots
                .borrow_mut()
                .push(Snapshot::take(simulation, session.now()));
        }
    }))
}

/// The phases of the trial; loading before time zero took no virtual time.
fn phases(task: &Task<'_>, tally: &Tally, end: Instant) -> Vec<Phase> {
    let phase = |name: &str, start: Instant, end: Instant, measured| Phase {
        name: name.to_owned(),
        start_ns: start.as_nanos(),
        end_ns: end.as_nanos(),
        measured,
    };
    let mut phases = Vec::new();
    let run_from = if task.load {
        phases.push(phase("load", Instant::ZERO, tally.loaded, true));
        tally.loaded
    } else {
        phases.push(phase("load", Instant::ZERO, Instant::ZERO, false));
        task.window.from
    };
    if task.window.from > Instant::ZERO {
        phases.push(phase("warm-up", Instant::ZERO, task.window.from, false));
    }
    phases.push(phase(
        "run",
        run_from,
        task.window.until.unwrap_or(end),
        true,
    ));
    phases
}

impl Collected {
    /// How long the measured phases took.
    pub(super) fn elapsed(&self) -> Duration {
        let measured = self.phases.iter().filter(|phase| phase.measured);
        Duration::from_nanos(
            measured
                .map(|phase| phase.end_ns.saturating_sub(phase.start_ns))
                .sum(),
        )
    }
}

/// The record of a trial that came to no end.
pub(super) fn failed(error: String) -> Outcome {
    Outcome::Failed { error }
}
