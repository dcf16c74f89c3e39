//! The run of a trial in real time: one thread per session, and one that samples what they wait for.

use std::io;
use std::sync::atomic::Ordering;
use std::thread;

use host::site::Site;
use model::{Duration, Instant};

use super::super::parameters::ParameterRows;
use super::super::sessions::{self, Run, SessionContext, Tally, Task, Window};
use super::event::Event;
use super::gate::Gate;
use super::series::{EngineSeries, end_if_gone};
use super::session::RealSession;
use super::snapshot::{Counters, Snapshot};
use super::stop::{Stop, StopOnDrop};
use super::trial::{LOOK_EVERY, RealTrial, joined};
use super::waits::{Samples, SessionTime};
use engine::Engine;
use experiment::record::Note;
use workload::{Database, Variables};

/// Observations of a run.
pub(super) struct Ran {
    /// When the sessions began.
    pub(super) start: Instant,
    /// When the last one had its database loaded, if that is measured.
    pub(super) loaded: Instant,
    /// When the last one ended.
    pub(super) end: Instant,
    pub(super) window: Window,
    pub(super) tally: Tally,
    pub(super) time: SessionTime,
    /// `None`: the engine cannot report waits; the notes may give the reason.
    pub(super) samples: Option<Samples>,
    pub(super) series: EngineSeries,
    pub(super) from: Snapshot,
    pub(super) until: Snapshot,
    pub(super) notes: Vec<Note>,
}

/// The results of one session.
pub(super) struct Done {
    pub(super) tally: Tally,
    pub(super) time: SessionTime,
    pub(super) loaded: Instant,
    pub(super) end: Instant,
}

/// The initial state of all sessions.
#[derive(Clone, Copy)]
struct Start<'a> {
    gate: &'a Gate,
    /// Set once the shared database is loaded, if that is measured.
    loaded: &'a Stop,
    /// Rows whose columns are parameters.
    rows: Option<&'a ParameterRows>,
}

/// How long after the end of the measured time a session may take for its last operation, which no longer counts.
const GRACE: Duration = Duration::SECOND;

impl RealTrial<'_> {
    /// Runs the sessions, with parameters from `rows`, if any.
    pub(super) fn run(
        &self,
        site: &dyn Site,
        engine: &dyn Engine,
        rows: Option<&ParameterRows>,
    ) -> Result<Ran, String> {
        let sessions = self.subject.settings.workload.sessions;
        let gate = &Gate::new(self.common.clock, sessions);
        let loaded = &Stop::new(self.common.clock);
        thread::scope(|scope| {
            let start = Start { gate, loaded, rows };
            let one = |number| move || self.session(engine, start, number);
            let spawn = |n| thread::Builder::new().spawn_scoped(scope, one(n));
            let threads = match (0..sessions).map(spawn).collect::<io::Result<Vec<_>>>() {
                Ok(threads) => threads,
                Err(error) => {
                    // Sessions that are already connected leave without running.
                    gate.close();
                    return Err(format!(
                        "a thread for each of {sessions} sessions: {error}; use fewer sessions"
                    ));
                }
            };
            let window = |start| self.task(start).window;
            let sampling = scope.spawn(move || Samples::take(engine, &self.common, gate, window));
            let series =
                scope.spawn(move || EngineSeries::read(engine, &self.common, gate, window));
            let watched = self.watch(site, engine, gate);
            if watched.is_err() {
                self.common.stop.set(None);
                gate.close();
                self.wait_until_done(gate, engine, |_| None);
            }
            let done: Vec<_> = threads.into_iter().map(joined).collect();
            let samples = joined(sampling);
            let series = joined(series);
            // The error of a session that could not connect is more informative than that the run
            // did not begin.
            let done = done.into_iter().collect::<Result<Vec<_>, String>>()?;
            let watched = watched?;
            Ok(Ran::new(
                watched,
                done.into_iter().flatten(),
                samples,
                series,
            ))
        })
    }

    fn task(&self, start: Instant) -> Task<'_> {
        let asked = &self.subject.settings.workload;
        Task::new(asked, self.subject.workload(), self.subject.id.seed, start)
    }

    /// One session from its connection to its end; `None` if it never began.
    fn session(
        &self,
        engine: &dyn Engine,
        Start { gate, loaded, rows }: Start<'_>,
        number: u32,
    ) -> Result<Option<Done>, String> {
        let _entered = gate.enter();
        let client = engine.connect(number).map_err(|error| {
            gate.close();
            error.to_string()
        })?;
        let Some(start) = gate.ready() else {
            return Ok(None);
        };
        let task = self.task(start).with_rows(rows);
        let mut seat = RealSession::new(&self.common, client, task.window);
        let mut variables = task.workload.variables(number, task.sessions);
        let mut tally = Tally::new();
        let load = self.load_measured(engine, &mut seat, &mut variables, loaded, number);
        let loaded = seat.now();
        match load {
            Ok(()) => tally = Run::new(&task, number, &mut seat).run_to_end(&mut variables),
            Err(error) => tally.load_failed = Some(error),
        }
        let end = seat.now();
        let time = SessionTime {
            active: seat.in_window(start, end),
            thought: seat.thought(),
        };
        Ok(Some(Done {
            tally,
            time,
            loaded,
            end,
        }))
    }

    /// Loads this session's database, if that is measured; a shared one is loaded by the first, and the
    /// others wait for it.
    fn load_measured(
        &self,
        engine: &dyn Engine,
        seat: &mut RealSession<'_>,
        variables: &mut Variables,
        loaded: &Stop,
        number: u32,
    ) -> Result<(), String> {
        let workload = self.subject.workload();
        if !workload.load.measured {
            return Ok(());
        }
        let mut load = || {
            let seed = self.subject.id.seed;
            let distribute = || {
                engine
                    .distribute_tables(number)
                    .map_err(|error| error.to_string())
            };
            sessions::load(seat, workload, variables, seed, distribute)
        };
        match workload.database {
            Database::PerSession => load(),
            Database::Shared if number == 0 => {
                let _loaded = StopOnDrop(loaded);
                load()
            }
            Database::Shared => {
                loaded.sleep_until(Instant::from_nanos(u64::MAX));
                Ok(())
            }
        }
    }

    /// Lets the sessions begin once all are connected, samples the counters at the start and end of the
    /// measured time, and ensures that the sessions end.
    fn watch(&self, site: &dyn Site, engine: &dyn Engine, gate: &Gate) -> Result<Watched, String> {
        while !gate.all_ready(self.common.clock.now() + LOOK_EVERY) {
            self.check_cancelled(engine);
        }
        if gate.is_closed() || self.common.stop.is_set() {
            return Err("a session could not begin".to_owned());
        }
        let mut counters = Counters::new(site, engine);
        let warm_up = self.subject.settings.workload.warm_up > Duration::ZERO;
        (self.report)(Event::Phase(if warm_up { "warm-up" } else { "run" }));
        let mut snapshots = Vec::new();
        if !warm_up {
            snapshots.push(counters.snapshot()?);
        }
        let start = self.common.clock.now();
        gate.open(start);
        let window = self.task(start).window;
        let mut alive = Alive::default();
        let mut broken = None;
        self.wait_until_done(gate, engine, |now| {
            let due = match snapshots.len() {
                0 => Some(window.from),
                1 => window.until,
                _ => None,
            };
            if due.is_some_and(|due| now >= due) && broken.is_none() {
                match counters.snapshot() {
                    Ok(snapshot) => snapshots.push(snapshot),
                    Err(error) => {
                        self.common.stop.set(Some(error.clone()));
                        broken = Some(error);
                    }
                }
                (self.report)(Event::Phase("run"));
            }
            if window.until.is_some_and(|until| now >= until + GRACE) {
                engine.interrupt();
            }
            alive.look(self, engine, now);
            due.filter(|due| *due > now)
        });
        if let Some(error) = broken {
            return Err(error);
        }
        if self.common.stop.is_set() {
            // The counters are not needed, and an engine that is gone cannot report them.
            return Err("the trial was ended".to_owned());
        }
        while snapshots.len() < 2 {
            snapshots.push(counters.snapshot()?);
        }
        let [from, until] = <[Snapshot; 2]>::try_from(snapshots)
            .unwrap_or_else(|_| unreachable!("one is taken at each end of the window"));
        Ok(Watched {
            start,
            window,
            from,
            until,
        })
    }
}

/// Observations of the watching thread.
pub(super) struct Watched {
    pub(super) start: Instant,
    pub(super) window: Window,
    pub(super) from: Snapshot,
    pub(super) until: Snapshot,
}

/// Checks that an engine is alive when operations fail.
#[derive(Default)]
struct Alive {
    failures: u64,
    next: Instant,
}

impl Alive {
    /// Ends the trial if operations have failed since the last check, and the engine does not answer.
    fn look(&mut self, trial: &RealTrial<'_>, engine: &dyn Engine, now: Instant) {
        let failures = trial.common.failures.load(Ordering::Relaxed);
        if now < self.next || failures == self.failures || trial.common.stop.is_set() {
            return;
        }
        self.failures = failures;
        self.next = now + Duration::SECOND;
        end_if_gone(engine, &trial.common.stop);
    }
}

impl Ran {
    pub(super) fn new(
        watched: Watched,
        done: impl Iterator<Item = Done>,
        samples: Result<Option<Samples>, engine::EngineError>,
        series: EngineSeries,
    ) -> Ran {
        let mut ran = Ran {
            start: watched.start,
            loaded: watched.start,
            end: watched.start,
            window: watched.window,
            tally: Tally::new(),
            time: SessionTime::default(),
            samples: None,
            series,
            from: watched.from,
            until: watched.until,
            notes: Vec::new(),
        };
        for done in done {
            ran.tally.merge(done.tally);
            ran.time.active += done.time.active;
            ran.time.thought += done.time.thought;
            ran.loaded = ran.loaded.max(done.loaded);
            ran.end = ran.end.max(done.end);
        }
        if let Some(error) = &ran.series.error {
            ran.notes.push(Note::Other(format!(
                "what the engine counted is known in part only: {error}"
            )));
        }
        match samples {
            Ok(samples) => ran.samples = samples,
            Err(error) => ran.notes.push(Note::Other(format!(
                "what sessions waited for is not known: {error}"
            ))),
        }
        ran
    }
}
