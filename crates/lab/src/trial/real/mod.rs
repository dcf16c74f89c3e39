//! A trial in real time: a real engine on modelled or real disks.
//!
//! ```text
//! place ─► load ─► quiesce, go cold or stay warm ─► warm-up ─► run ─► collect ─► stop, remove
//!          │                                        │ a thread a session, one that samples waits  │
//!          └ once a second: what the volumes did ───┴─────────────────────────────────────────────┘
//! ```

mod collect;
mod emulated;
mod error;
mod event;
mod gate;
mod load;
mod pauses;
mod play;
mod preflight;
#[cfg(feature = "fio")]
mod raw;
mod run;
mod run_volumes;
mod series;
mod session;
mod snapshot;
mod stop;
mod trial;
mod waits;
mod work_dir;

use std::sync::Arc;
use std::thread;

use host::clock::Clock;
use host::site::Site;
use model::Instant;

use super::sessions::Window;
use super::{Cancelled, Subject};
use collect::Observed;
use engine::{Engine, EngineError, Started};
pub use error::VolumesError;
pub use event::{Event, Second, VolumeRate};
use experiment::record::{Note, Phase, Record};
use experiment::spec::{Mode, Temperature};
pub use play::{Performance, Player};
pub use preflight::check as preflight;
use run::Ran;
pub use run_volumes::{Orphans, RunVolumes};
use series::SecondBySecond;
use stop::{Stop, StopOnDrop};
use trial::{RealTrial, joined};
pub use work_dir::WorkDirError;

/// Provides a trial's files, and the engine on them.
pub trait Supply {
    /// Creates directories for the arm's volumes.
    ///
    /// # Errors
    /// What could not be created, and the remedy.
    fn place<'a>(&'a self, subject: &'a Subject<'a>) -> Result<Placed<'a>, String>;
}

/// Directories created for one trial.
pub struct Placed<'a> {
    /// The volumes.
    pub site: Arc<dyn Site + Send + Sync>,
    /// A short description of each volume's disks.
    pub disks: Vec<String>,
    /// Starts the engine on them, empty.
    pub engine: Box<dyn FnOnce() -> Result<Started, EngineError> + 'a>,
    /// Removes everything that was created, once the engine has stopped. Returns human-readable
    /// messages on what is left.
    pub close: Box<dyn FnOnce() -> Vec<String> + 'a>,
    /// Whether the engine must leave its files.
    pub keep: bool,
    /// What plays on an engine that has its data already, in place of the sessions of a workload.
    pub player: Option<&'a dyn Player>,
}

/// Runs a trial. A failed trial has a record too.
///
/// # Errors
/// When `cancelled` returns true before the end; everything that was created is removed then, too.
pub fn run_trial(
    subject: &Subject<'_>,
    supply: &dyn Supply,
    report: &(dyn Fn(Event) + Sync),
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Result<Record, Cancelled> {
    let clock = Clock::start();
    report(Event::Phase("place"));
    let record = match supply.place(subject) {
        Ok(placed) => on(placed, subject, clock, report, cancelled),
        Err(error) => collect::failed(subject, error),
    };
    if cancelled() {
        return Err(Cancelled);
    }
    Ok(record)
}

/// The trial on its placement, which is removed at the end.
fn on(
    placed: Placed<'_>,
    subject: &Subject<'_>,
    clock: Clock,
    report: &(dyn Fn(Event) + Sync),
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Record {
    let Placed {
        site,
        disks,
        engine,
        close,
        keep,
        player,
    } = placed;
    let trial = RealTrial::new(subject, clock, report, cancelled);
    let mut left = Vec::new();
    let result = match engine() {
        Err(error) => Err(error.to_string()),
        #[cfg(feature = "fio")]
        Ok(Started::PlainIo) => trial.plain_io(&*site, &disks),
        #[cfg(not(feature = "fio"))]
        Ok(Started::PlainIo) => Err(::raw::WITHOUT_FIO.to_owned()),
        Ok(Started::Engine(mut engine)) => {
            let result = trial.run_phases(&*site, &*engine, player);
            let record = result
                .and_then(|observed| collect::record(subject, &disks, &*site, &*engine, observed));
            report(Event::Phase("clean up"));
            if keep {
                engine.keep();
            }
            left.extend(engine.stop().err().map(|error| error.to_string()));
            record
        }
    };
    let mut record = result.unwrap_or_else(|error| collect::failed(subject, error));
    drop(site);
    left.extend(close());
    for left in left {
        report(Event::Left(left.clone()));
        record.notes.push(Note::NotCleanedUp(left));
    }
    record
}

impl RealTrial<'_> {
    fn run_phases(
        &self,
        site: &dyn Site,
        engine: &dyn Engine,
        player: Option<&dyn Player>,
    ) -> Result<Observed, String> {
        let over = Stop::new(self.common.clock);
        thread::scope(|scope| {
            let (clock, over, stop) = (self.common.clock, &over, &self.common.stop);
            let report = self.report;
            let series = scope.spawn(move || SecondBySecond::read(site, clock, over, stop, report));
            let ended = StopOnDrop(over);
            let result = match player {
                None => self.phases(site, engine),
                Some(player) => self.phases_of(player, site, engine),
            };
            drop(ended);
            let series = joined(series);
            // The reason for the early end is more informative than the sessions' errors.
            if let Some(why) = self.common.stop.why() {
                return Err(why);
            }
            let (ran, phases, notes) = result?;
            Ok(Observed {
                ran,
                phases,
                series,
                notes,
            })
        })
    }

    fn phases(
        &self,
        site: &dyn Site,
        engine: &dyn Engine,
    ) -> Result<(Ran, Vec<Phase>, Vec<Note>), String> {
        let now = || self.common.clock.now();
        let mut phases = Phases(vec![phase("place", Instant::ZERO, now(), false)]);
        if !self.subject.workload().load.measured {
            (self.report)(Event::Phase("load"));
            self.load(engine)?;
            phases.until("load", now(), false);
        }
        let rows = self.parameters(engine)?;
        (self.report)(Event::Phase("quiesce"));
        let notes = self.quiesce(site, engine)?;
        phases.until("quiesce", now(), false);
        let ran = self.run(site, engine, rows.as_ref())?;
        phases.run(&ran, self.subject.workload().load.measured);
        Ok((ran, phases.0, notes))
    }

    /// The phases of a trial whose data is there.
    fn phases_of(
        &self,
        player: &dyn Player,
        site: &dyn Site,
        engine: &dyn Engine,
    ) -> Result<(Ran, Vec<Phase>, Vec<Note>), String> {
        let now = || self.common.clock.now();
        let mut phases = Phases(vec![phase("place", Instant::ZERO, now(), false)]);
        (self.report)(Event::Phase("quiesce"));
        let notes = self.quiesce(site, engine)?;
        phases.until("quiesce", now(), false);
        let ran = self.play(site, engine, player)?;
        phases.run(&ran, false);
        Ok((ran, phases.0, notes))
    }

    /// After loading: the engine settles, and caches are dropped or kept. Returns what could not be done.
    fn quiesce(&self, site: &dyn Site, engine: &dyn Engine) -> Result<Vec<Note>, String> {
        let asked = &self.subject.settings.engine;
        let host_cache = asked.host_cache_start == Temperature::Cold;
        let mut forget = || {
            site.go_cold(host_cache)
                .map_err(|error| EngineError::failed("emptying the volumes' caches", error))
        };
        let work = || {
            engine.quiesce()?;
            engine.start(asked.start, &mut forget)
        };
        let not_done = self.abandoned_if_cancelled(engine, work);
        let not_done = not_done.map_err(|error| error.to_string())?;
        let mut notes: Vec<Note> = not_done.into_iter().map(Note::NotCold).collect();
        let caches = self.subject.settings.volumes.iter();
        let mut caches = caches.filter(|volume| volume.host_cache != model::HostCacheMode::None);
        let modelled = self.subject.mode == Mode::Emulate;
        if asked.start == Temperature::Warm && host_cache && modelled && caches.next().is_some() {
            let warm = "the host cache is as warm as the load left it: in real time it is emptied \
                        only together with the engine's own (engine.start = \"cold\")";
            notes.push(Note::NotCold(warm.to_owned()));
        }
        Ok(notes)
    }
}

struct Phases(Vec<Phase>);

impl Phases {
    /// Appends a phase that began where the last one ended.
    fn until(&mut self, name: &str, end: Instant, measured: bool) {
        let start_ns = self.0.last().map_or(0, |phase| phase.end_ns);
        self.0.push(Phase {
            name: name.to_owned(),
            start_ns,
            end_ns: end.as_nanos(),
            measured,
        });
    }

    fn run(&mut self, ran: &Ran, load_measured: bool) {
        let Window { from, until } = ran.window;
        let mut run_from = from;
        if load_measured {
            self.0.push(phase("load", ran.start, ran.loaded, true));
            run_from = ran.loaded;
        }
        if from > ran.start {
            self.0.push(phase("warm-up", ran.start, from, false));
        }
        // A load that took longer than the whole window leaves nothing to measure.
        let run_until = until.unwrap_or(ran.end).max(run_from);
        self.0.push(phase("run", run_from, run_until, true));
    }
}

fn phase(name: &str, start: Instant, end: Instant, measured: bool) -> Phase {
    Phase {
        name: name.to_owned(),
        start_ns: start.as_nanos(),
        end_ns: end.as_nanos(),
        measured,
    }
}
