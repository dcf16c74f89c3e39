//! A trial in virtual time.

mod collect;
mod image;
mod meter;
mod progress;
mod raw;
mod rehearsal;
mod replay;
mod session;
mod tapes;
mod trial;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use model::Instant;
use model::split::TimeSplit;
use rusqlite::Connection;
use sqlite_vfs::virtual_time::{self, Image, Parts, Simulation, TapeFiles};

pub use image::{Images, Loads};
pub use progress::{Moment, Reporter};
pub use rehearsal::{Forecast, RehearsalError, Size, rehearse};
pub use replay::{Replayed, replay};

use collect::{Collected, Snapshot, record};
use meter::SharedMeter;
use progress::Progress;
use session::{Body, Sums};
use tapes::{Executed, ReplayingSession};
use trial::VirtualTrial;

use super::parameters;
use super::sessions::{Tally, Task, Window};
use super::{Cancel, Cancelled, Stage, Subject};
use engine::Simulated;
use experiment::record::{Phase, Record};
use workload::Workload;

/// Runs a trial, which begins with copies of `images` where it loads the same, and reports progress. A failed trial has a
/// record too.
///
/// # Errors
/// When `cancelled` returns true before the end.
pub fn run_trial(
    subject: &Subject<'_>,
    images: &Images,
    cancelled: &Cancel,
    report: &Reporter<'_>,
) -> Result<Record, Cancelled> {
    let record = match subject.engine.simulated() {
        Some(Simulated::PlainIo) => raw::record(subject, &**cancelled),
        Some(Simulated::Statements) | None => sql(subject, images, cancelled, report),
    };
    if cancelled() {
        return Err(Cancelled);
    }
    Ok(record)
}

fn sql(
    subject: &Subject<'_>,
    images: &Images,
    cancelled: &Cancel,
    report: &Reporter<'_>,
) -> Record {
    let Subject {
        id,
        settings,
        stage,
        work,
        ..
    } = *subject;
    let workload = &logging(work.workload(), stage.log_bytes_factor);
    let trial = VirtualTrial {
        id,
        settings,
        stage,
        workload,
        cancelled,
        meter: SharedMeter::of(stage),
    };
    report(Moment::Loading);
    let loaded = images.of(&trial);
    let loaded = loaded.as_deref();
    let executed = loaded.and_then(|loaded| images.executed(&trial, loaded));
    let replayed = loaded.zip(executed);
    if let Some(collected) =
        replayed.and_then(|(loaded, executed)| trial.replay(loaded, &executed, report))
    {
        return trial.record(Ok(collected));
    }
    // The other meter has counted what was replayed until it could not be any further.
    let trial = VirtualTrial {
        meter: SharedMeter::of(stage),
        ..trial
    };
    trial.record(trial.execute(loaded, report))
}

/// The workload, whose changed rows log `factor` times as many bytes as it says.
fn logging(workload: &Workload, factor: f64) -> Workload {
    let mut workload = workload.clone();
    let bytes = &mut workload.run.log_bytes_per_row;
    *bytes = (*bytes as f64 * factor).round() as u64;
    workload
}

/// How the sessions of a trial do their operations.
enum Sessions<'a> {
    /// They execute them on these connections.
    Executing(Vec<Connection>),
    /// They replay them.
    Replaying {
        executed: &'a Executed,
        /// Those whose opening made the databases, if no image did.
        connections: Vec<Connection>,
        /// Each session's files.
        files: Vec<RefCell<TapeFiles>>,
        /// Set when one of them cannot replay any further.
        is_abandoned: &'a Cell<bool>,
    },
}

impl Sessions<'_> {
    fn connections(&self) -> &[Connection] {
        match self {
            Sessions::Executing(connections) => connections,
            Sessions::Replaying { .. } => &[],
        }
    }

    /// Runs session `number`.
    fn run(&self, number: usize, simulation: &Simulation, body: &Body<'_>) {
        match self {
            Sessions::Executing(connections) => body.run_session(&connections[number]),
            Sessions::Replaying {
                executed,
                files,
                is_abandoned,
                ..
            } => ReplayingSession {
                session: body.session,
                simulation,
                executed,
                files: &files[number],
                loads: u64::from(body.task.workload.load.measured),
                statements: 0,
                before: None,
                progress: body.progress,
                is_abandoned,
            }
            .run(body),
        }
    }

    /// Closes their databases, which frees the files of temporary tables.
    fn close(self, simulation: &Simulation) {
        match self {
            Sessions::Executing(connections) => drop(connections),
            Sessions::Replaying {
                files, connections, ..
            } => {
                let files = files.into_iter().map(RefCell::into_inner);
                files.for_each(|files| simulation.close(files));
                drop(connections);
            }
        }
    }
}

impl VirtualTrial<'_> {
    fn record(&self, result: Result<Collected, String>) -> Record {
        let ended = result.is_ok();
        let mut record = record(self.id, self.stage, self.workload, &self.meter, result);
        if ended {
            let departures = parameters::departures(self.workload, &self.settings.workload);
            record.notes.extend(departures);
        }
        record
    }

    /// Replays what was executed on images of its databases; `None` if it has to execute its statements itself.
    fn replay(
        &self,
        images: &[Arc<Image>],
        executed: &Executed,
        report: &Reporter<'_>,
    ) -> Option<Collected> {
        let simulation = self.simulation().ok()?;
        let connections = match self.workload.load.measured {
            true => simulation.timeless(|session| self.prepare(session)).ok()?,
            false => {
                simulation.timeless(|session| self.place_images(session, images, Parts::Pages))?;
                Vec::new()
            }
        };
        let tables = trial::tables(self.workload);
        let files = |number| {
            session::with_database(self.workload, number, |database| {
                simulation.tape_files(database, tables)
            })
        };
        let sessions = 0..self.settings.workload.sessions;
        let files = sessions.map(|number| files(number).map(RefCell::new));
        let files: Vec<RefCell<TapeFiles>> = files.collect::<Option<_>>()?;
        let is_abandoned = Cell::new(false);
        let replaying = Sessions::Replaying {
            executed,
            connections,
            files,
            is_abandoned: &is_abandoned,
        };
        let collected = self.run(&simulation, replaying, report);
        collected.ok().filter(|_| !is_abandoned.get())
    }

    /// Executes the statements of its sessions, on `images` of its databases if there are any.
    fn execute(
        &self,
        images: Option<&[Arc<Image>]>,
        report: &Reporter<'_>,
    ) -> Result<Collected, String> {
        if (self.cancelled)() {
            return Err(Cancelled.to_string());
        }
        let (simulation, connections) = self.loaded(images)?;
        self.run(&simulation, Sessions::Executing(connections), report)
    }

    fn run(
        &self,
        simulation: &Simulation,
        sessions: Sessions<'_>,
        report: &Reporter<'_>,
    ) -> Result<Collected, String> {
        simulation.with_store(|store| store.observe(Box::new(self.meter.clone())));
        let connections = sessions.connections();
        let rows = simulation.timeless(|session| self.parameters(session, connections))?;
        self.quiesce(simulation, connections);
        let loaded = Snapshot::take(simulation, Instant::ZERO, self.stage);
        let asked = &self.settings.workload;
        let task = Task::new(asked, self.workload, self.id.seed, Instant::ZERO);
        let task = task.with_rows(rows.as_ref());
        let progress = &Progress::of(&task, report);
        let sums = Rc::new(RefCell::new(Sums {
            tally: Tally::new(),
            split: TimeSplit::default(),
            loaded: Instant::ZERO,
        }));
        let snapshots = Rc::new(RefCell::new(Vec::new()));
        self.meter.0.borrow_mut().measure(
            task.window.from,
            task.window.until.unwrap_or(Instant::from_nanos(u64::MAX)),
        );
        let mut bodies: Vec<virtual_time::Body<'_>> = Vec::new();
        for number in 0..asked.sessions as usize {
            let (task, sums, sessions) = (&task, Rc::clone(&sums), &sessions);
            bodies.push(Box::new(move |session| {
                let body = Body {
                    task,
                    session,
                    sums,
                    progress,
                };
                sessions.run(number, simulation, &body);
            }));
        }
        bodies.extend(watcher(
            simulation,
            self.stage,
            task.window,
            Rc::clone(&snapshots),
        ));
        let end = simulation.run(bodies).map_err(|error| error.to_string())?;
        if (self.cancelled)() {
            return Err(Cancelled.to_string());
        }
        sessions.close(simulation);
        let sums = Rc::into_inner(sums)
            .expect("every session has ended")
            .into_inner();
        let mut snapshots = snapshots.take();
        if snapshots.is_empty() {
            snapshots.push(loaded);
        }
        if snapshots.len() == 1 {
            snapshots.push(Snapshot::take(simulation, end, self.stage));
        }
        let phases = phases(&task, sums.loaded, end);
        Ok(Collected {
            tally: sums.tally,
            split: sums.split,
            from: snapshots.remove(0),
            until: snapshots.remove(0),
            phases,
            cores: self.stage.machine.cores,
        })
    }
}

/// A session that only observes when the measured time begins and ends.
fn watcher<'a>(
    simulation: &'a Simulation,
    stage: &'a Stage,
    window: Window,
    snapshots: Rc<RefCell<Vec<Snapshot>>>,
) -> Option<virtual_time::Body<'a>> {
    if window.from == Instant::ZERO && window.until.is_none() {
        return None;
    }
    Some(Box::new(move |session| {
        for instant in [Some(window.from), window.until].into_iter().flatten() {
            session.sleep(instant.since(session.now()));
            if session.stopping() {
                return;
            }
            snapshots
                .borrow_mut()
                .push(Snapshot::take(simulation, session.now(), stage));
        }
    }))
}

/// The phases of the trial; loading before time zero took no virtual time.
fn phases(task: &Task<'_>, loaded: Instant, end: Instant) -> Vec<Phase> {
    let phase = |name: &str, start: Instant, end: Instant, measured| Phase {
        name: name.to_owned(),
        start_ns: start.as_nanos(),
        end_ns: end.as_nanos(),
        measured,
    };
    let mut phases = Vec::new();
    let run_from = if task.workload.load.measured {
        phases.push(phase("load", Instant::ZERO, loaded, true));
        loaded
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
        // A load that took longer than the whole window leaves nothing to measure.
        task.window.until.unwrap_or(end).max(run_from),
        true,
    ));
    phases
}
