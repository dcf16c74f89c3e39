//! A run in which something else than the sessions of a workload uses the engine, such as the sessions of a log.

use std::thread;

use hdrhistogram::Histogram;
use host::clock::Clock;
use host::site::Site;
use model::{Duration, Instant};

use super::super::sessions::{Tally, Window};
use super::event::Event;
use super::gate::Gate;
use super::run::{Done, Ran, Watched};
use super::series::EngineSeries;
use super::snapshot::Counters;
use super::trial::{LOOK_EVERY, RealTrial, joined};
use super::waits::{Samples, SessionTime};
use engine::Engine;
use experiment::record::Errors;
use experiment::record::series::Points;

/// Plays on an engine.
pub trait Player: Sync {
    /// Plays to the end, or until `stopped`, on an engine that has its data. It calls `ready` once it has connected what it can
    /// connect in advance, and begins when that returns true, or leaves.
    ///
    /// # Errors
    /// Why it could not play.
    fn play(
        &self,
        engine: &dyn Engine,
        clock: Clock,
        ready: &(dyn Fn() -> bool + Sync),
        stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<Performance, String>;

    /// Whether waits and counters of the engine are sampled meanwhile, by sessions of dbstow's own.
    fn is_sampled(&self) -> bool {
        true
    }

    /// Asks the engine what it counted, once all is played and measured; by default nothing.
    fn collect(&self, _engine: &dyn Engine) {}
}

/// What was played.
#[derive(Clone, Debug)]
pub struct Performance {
    /// Operations that succeeded.
    pub operations: u64,
    /// Statements.
    pub statements: u64,
    /// Of operations, in nanoseconds.
    pub latency: Histogram<u64>,
    /// Operations that failed.
    pub errors: Errors,
    /// Operations that ended, per interval.
    pub ended: Points,
    /// The time of all sessions together.
    pub active: Duration,
    /// Of which they waited for the time of their next statement.
    pub thought: Duration,
}

impl RealTrial<'_> {
    /// Lets `player` play.
    pub(super) fn play(
        &self,
        site: &dyn Site,
        engine: &dyn Engine,
        player: &dyn Player,
    ) -> Result<Ran, String> {
        let gate = &Gate::new(self.common.clock, 1);
        let window = |from| Window { from, until: None };
        thread::scope(|scope| {
            let play = move || {
                let _entered = gate.enter();
                let ready = || gate.ready().is_some();
                let stopped = || self.common.stop.is_set();
                let played = player.play(engine, self.common.clock, &ready, &stopped);
                if played.is_err() {
                    gate.close();
                }
                (played, self.common.clock.now())
            };
            let playing = scope.spawn(play);
            let sampling = scope.spawn(move || match player.is_sampled() {
                true => Samples::take(engine, &self.common, gate, window),
                false => Ok(None),
            });
            let series = scope.spawn(move || match player.is_sampled() {
                true => EngineSeries::read(engine, &self.common, gate, window),
                false => EngineSeries::default(),
            });
            let watched = self.watch_player(site, engine, gate);
            if watched.is_err() {
                self.common.stop.set(None);
                gate.close();
                self.wait_until_done(gate, engine, |_| None);
            }
            let (played, end) = joined(playing);
            let samples = joined(sampling);
            let series = joined(series);
            let played = played?;
            let watched = watched?;
            player.collect(engine);
            let time = SessionTime {
                active: played.active,
                thought: played.thought,
            };
            let done = Done {
                time,
                loaded: watched.start,
                end,
                tally: Tally {
                    operations: played.operations,
                    statements: played.statements,
                    latency: played.latency,
                    errors: played.errors,
                    ended: played.ended,
                    ..Tally::new()
                },
            };
            Ok(Ran::new(watched, [done].into_iter(), samples, series))
        })
    }

    fn watch_player(
        &self,
        site: &dyn Site,
        engine: &dyn Engine,
        gate: &Gate,
    ) -> Result<Watched, String> {
        while !gate.all_ready(self.common.clock.now() + LOOK_EVERY) {
            self.check_cancelled(engine);
        }
        if gate.is_closed() || self.common.stop.is_set() {
            return Err("a session could not begin".to_owned());
        }
        let mut counters = Counters::new(site, engine);
        (self.report)(Event::Phase("run"));
        let from = counters.snapshot()?;
        let start: Instant = self.common.clock.now();
        gate.open(start);
        self.wait_until_done(gate, engine, |_| None);
        if self.common.stop.is_set() {
            return Err("the trial was ended".to_owned());
        }
        Ok(Watched {
            start,
            window: Window {
                from: start,
                until: None,
            },
            from,
            until: counters.snapshot()?,
        })
    }
}
