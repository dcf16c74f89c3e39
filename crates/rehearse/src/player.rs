//! Plays the sessions of a log: a thread for each lane.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, OnceLock};
use std::thread;

use experiment::record::series::Points;
use experiment::record::{Errors, histogram};
use hdrhistogram::Histogram;
use host::clock::Clock;
use lab::trial::real::{Performance, Player};
use model::{Duration, Instant};
use parking_lot::Mutex;

use super::committed::Committed;
use super::outcome::Outcome;
use super::pace::Pace;
use super::schedule::{End, Planned, PlannedSession, Schedule};
use super::trip::{PAUSE_MIN_US, Trip};
use engine::Engine;
use engine::logged::{Boundary, LogSession, Logged, Played};

/// How many statements that do nothing are played to see how long the way to the server and back takes: the shortest counts.
const TRIPS: u32 = 20;

/// Texts of errors that are kept.
const ERRORS_KEPT: usize = 5;

/// How long a sleeping session sleeps at most before it looks whether it must stop.
const SLEEP_MAX: Duration = Duration::from_millis(50);

/// Plays a schedule.
pub(crate) struct LogPlayer {
    pub(crate) schedule: Arc<Schedule>,
    pub(crate) pace: Pace,
    /// Whether texts of errors are kept, which may have values of the user's.
    with_text: bool,
    /// The outcome of the last trial.
    outcome: Mutex<Outcome>,
}

/// What all lanes of a trial share.
struct Stage<'a> {
    player: &'a LogPlayer,
    engine: &'a dyn Engine,
    clock: Clock,
    committed: Committed,
    stopped: &'a (dyn Fn() -> bool + Sync),
    /// Passed once all have connected, and once more when they may begin.
    barrier: Barrier,
    /// When they began; `None`: they must not.
    begin: OnceLock<Option<Instant>>,
    has_failed: AtomicBool,
}

/// What a lane did.
struct Lane {
    outcome: Outcome,
    performance: Performance,
}

/// A session that is played.
struct Playing<'a> {
    begin: Instant,
    /// When the last statement ended.
    ended: Instant,
    /// When it ended in the log.
    ended_us: Option<i64>,
    /// Pauses of the log that were not made yet.
    pause_us: i64,
    trip: Trip,
    /// The open transaction: when it began, and an error that the log does not have.
    open: Option<(Instant, Option<String>)>,
    session: Box<dyn LogSession + 'a>,
}

impl LogPlayer {
    pub(crate) fn new(schedule: Arc<Schedule>, pace: Pace, with_text: bool) -> LogPlayer {
        LogPlayer {
            schedule,
            pace,
            with_text,
            outcome: Mutex::default(),
        }
    }

    /// What is kept of an error: without texts, its code alone.
    fn shown<'a>(&self, error: &'a str) -> &'a str {
        match self.with_text {
            true => error,
            false => error.split(": ").next().unwrap_or_default(),
        }
    }

    /// The outcome of the last trial.
    pub(crate) fn take_outcome(&self) -> Outcome {
        std::mem::take(&mut *self.outcome.lock())
    }
}

impl Player for LogPlayer {
    fn play(
        &self,
        engine: &dyn Engine,
        clock: Clock,
        ready: &(dyn Fn() -> bool + Sync),
        stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<Performance, String> {
        let stage = &Stage {
            player: self,
            engine,
            clock,
            committed: Committed::new(self.schedule.writing),
            stopped,
            barrier: Barrier::new(self.schedule.lanes.len() + 1),
            begin: OnceLock::new(),
            has_failed: AtomicBool::new(false),
        };
        let lanes = thread::scope(|scope| {
            let lanes = self.schedule.lanes.iter();
            let lanes: Vec<_> = lanes
                .map(|sessions| scope.spawn(move || stage.lane(sessions)))
                .collect();
            stage.barrier.wait();
            let may_begin = !stage.has_failed.load(Ordering::Relaxed) && ready();
            let _ = stage.begin.set(may_begin.then(|| clock.now()));
            stage.barrier.wait();
            let ended = lanes.into_iter().map(|lane| lane.join());
            let ended: Vec<_> = ended
                .map(|lane| lane.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect();
            ended.into_iter().collect::<Result<Vec<Lane>, String>>()
        })?;
        let mut all = Lane::new();
        for lane in lanes {
            all.merge(lane);
        }
        *self.outcome.lock() = all.outcome;
        Ok(all.performance)
    }

    fn collect(&self, engine: &dyn Engine) {
        self.outcome.lock().used(engine.objects());
    }
}

impl Stage<'_> {
    /// Plays the sessions of a lane, one after the other.
    fn lane(&self, sessions: &[PlannedSession]) -> Result<Lane, String> {
        let connect = |session: &PlannedSession| self.engine.log_session(&session.login);
        let first = sessions.first().map(connect).transpose();
        let first = first.map_err(|error| error.to_string());
        let first = first.and_then(|first| first.map(|session| self.timed(session)).transpose());
        if first.is_err() {
            self.has_failed.store(true, Ordering::Relaxed);
        }
        self.barrier.wait();
        self.barrier.wait();
        let (mut first, trip_us) = first?.unzip();
        let mut lane = Lane::new();
        let Some(Some(begin)) = self.begin.get().copied() else {
            return Ok(lane);
        };
        for planned in sessions {
            if (self.stopped)() {
                break;
            }
            let connection = match first.take() {
                Some(connection) => Ok(connection),
                None => {
                    // It connects when its first statement is about to come.
                    let start = &planned.statements[0];
                    self.wait_for(start, begin);
                    connect(planned)
                }
            };
            match connection {
                Ok(session) => {
                    let playing = Playing {
                        begin,
                        ended: self.clock.now(),
                        ended_us: None,
                        pause_us: 0,
                        trip: Trip::of(trip_us.unwrap_or(0)),
                        open: None,
                        session,
                    };
                    self.session(planned, playing, &mut lane);
                }
                Err(error) => self.leave(&planned.statements, &error.to_string(), &mut lane),
            }
        }
        lane.performance.active = self.clock.now() - begin;
        Ok(lane)
    }

    /// The session, and what the way to the server and back takes, in microseconds.
    fn timed<'a>(
        &self,
        mut session: Box<dyn LogSession + 'a>,
    ) -> Result<(Box<dyn LogSession + 'a>, i64), String> {
        let nothing = Logged {
            text: Arc::from(""),
            form: Arc::from(""),
            parameters: None,
            is_prepared: false,
            start_us: 0,
            end_us: None,
            failed: false,
            rows: None,
            boundary: Boundary::Within,
            reads: true,
        };
        let mut shortest = i64::MAX;
        for _ in 0..TRIPS {
            let sent = self.clock.now();
            session.play(&nothing)?;
            let took = (self.clock.now() - sent).as_nanos() / 1_000;
            shortest = shortest.min(i64::try_from(took).unwrap_or(i64::MAX));
        }
        Ok((session, shortest))
    }

    fn session(&self, planned: &PlannedSession, mut playing: Playing<'_>, lane: &mut Lane) {
        for (place, statement) in planned.statements.iter().enumerate() {
            if (self.stopped)() {
                return;
            }
            if let Err(why) = self.statement(statement, &mut playing, lane) {
                self.leave(&planned.statements[place..], &why, lane);
                return;
            }
        }
    }

    /// Statements that cannot be played: nothing may wait for them.
    fn leave(&self, statements: &[Planned], why: &str, lane: &mut Lane) {
        let why = self.player.shown(why);
        for statement in statements {
            lane.outcome.not_played += 1;
            lane.outcome
                .differs(&statement.logged.form, || format!("not played: {why}"));
            if let Some(end) = statement.ends {
                lane.failed(why.to_owned());
                self.ended(end);
            }
        }
    }

    /// Plays a statement when it is due.
    fn statement(
        &self,
        planned: &Planned,
        playing: &mut Playing<'_>,
        lane: &mut Lane,
    ) -> Result<(), String> {
        let logged = &planned.logged;
        let begun = self.clock.now();
        if planned.needs > 0 && !self.committed.wait_for(planned.needs, self.stopped) {
            return Err("the rehearsal was ended".to_owned());
        }
        // The server's part is done: it has answered, here and where this waits for.
        let ready = self.clock.now();
        let due = self.due(planned, playing);
        self.sleep_until(due);
        let sent = self.clock.now();
        lane.performance.thought += ready.max(due) - begun;
        lane.outcome.order_us += (ready - begun).as_nanos() / 1_000;
        lane.outcome.pauses_us += due.since(ready).as_nanos() / 1_000;
        let player_late = sent.since(ready.max(due));
        lane.outcome
            .player_late_us
            .add(player_late.as_nanos() / 1_000);
        if let Pace::Original(_) = self.player.pace {
            let server_late = ready.since(due);
            lane.outcome
                .server_late_us
                .add(server_late.as_nanos() / 1_000);
        }
        let played = playing.session.play(logged)?;
        let ended = self.clock.now();
        playing.ended = ended;
        playing.ended_us = logged.end_us;
        lane.took(logged, ended - sent);
        playing.trip.saw(logged, ended - sent);
        let open = playing.open.get_or_insert((sent, None));
        match (&played, logged.failed) {
            (Played::Done(Some(rows)), false)
                if logged.rows.is_some_and(|logged_rows| logged_rows != *rows) =>
            {
                let logged_rows = logged.rows.unwrap_or_default();
                let how = || format!("{rows} rows, and {logged_rows} in the log");
                lane.outcome.differs(&logged.form, how);
            }
            (Played::Done(_), false) | (Played::Failed(_), true) => lane.outcome.as_recorded += 1,
            (Played::Done(_), true) => lane
                .outcome
                .differs(&logged.form, || "no error, unlike in the log".to_owned()),
            (Played::Failed(error), false) => {
                let error = self.player.shown(error);
                lane.outcome.differs(&logged.form, || error.to_owned());
                open.1.get_or_insert(error.to_owned());
            }
        }
        if let Some(end) = planned.ends {
            let (start, error) = playing.open.take().expect("it was opened above");
            lane.ended(ended, ended - start, error);
            self.ended(end);
        }
        Ok(())
    }

    /// A transaction has ended: others may wait for one that writes.
    fn ended(&self, end: End) {
        match end {
            End::Writes(rank) => self.committed.ended(rank),
            End::Reads => {}
        }
    }

    /// When a statement is to be sent.
    fn due(&self, planned: &Planned, playing: &mut Playing<'_>) -> Instant {
        let logged = &planned.logged;
        match self.player.pace {
            Pace::Original(_) => self.original(logged.start_us, playing.begin),
            Pace::Closed => {
                // Of a session that began later, the time of its beginning is that of what it waits for.
                let before = playing.ended_us.unwrap_or(logged.start_us);
                let pause = logged.start_us - before - playing.trip.us;
                // Statements that follow at once leave no debt beyond what the sum of two pauses is off by: the log's times are rounded.
                let debt_max = 2 * self.player.schedule.exact_us;
                playing.pause_us = (playing.pause_us + pause).max(-debt_max);
                let may_wait = pause >= PAUSE_MIN_US || playing.open.is_none();
                if playing.pause_us < PAUSE_MIN_US || !may_wait {
                    return playing.ended;
                }
                let pause = std::mem::take(&mut playing.pause_us);
                playing.ended + Duration::from_micros(pause.unsigned_abs())
            }
        }
    }

    /// When something of this time of the log is due.
    fn original(&self, at_us: i64, begin: Instant) -> Instant {
        let Pace::Original(times) = self.player.pace else {
            return begin;
        };
        let since = (at_us - self.player.schedule.from_us).max(0) as f64 / 1e6;
        begin + Duration::from_secs_f64(since / times)
    }

    /// Waits until a session may connect.
    fn wait_for(&self, first: &Planned, begin: Instant) {
        self.committed.wait_for(first.needs, self.stopped);
        self.sleep_until(self.original(first.logged.start_us, begin));
    }

    fn sleep_until(&self, due: Instant) {
        loop {
            let left = due.since(self.clock.now());
            if left == Duration::ZERO || (self.stopped)() {
                return;
            }
            Clock::sleep(left.min(SLEEP_MAX));
        }
    }
}

impl Lane {
    fn new() -> Lane {
        Lane {
            outcome: Outcome::default(),
            performance: Performance {
                operations: 0,
                statements: 0,
                latency: histogram::empty(),
                errors: Errors::default(),
                ended: Points::counts(),
                active: Duration::ZERO,
                thought: Duration::ZERO,
            },
        }
    }

    fn took(&mut self, logged: &Logged, took: Duration) {
        self.performance.statements += 1;
        self.outcome.played += 1;
        let us = u32::try_from(took.as_nanos() / 1_000).unwrap_or(u32::MAX);
        match self.outcome.took_us.get_mut(&logged.form) {
            Some(all) => all.push(us),
            None => drop(
                self.outcome
                    .took_us
                    .insert(Arc::clone(&logged.form), vec![us]),
            ),
        }
    }

    /// A transaction that ended; with an error that the log does not have, if any.
    fn ended(&mut self, at: Instant, took: Duration, error: Option<String>) {
        self.performance.ended.add(at, 1);
        match error {
            Some(error) => self.failed(error),
            None => {
                self.performance.operations += 1;
                histogram::record(&mut self.performance.latency, took);
            }
        }
    }

    fn failed(&mut self, error: String) {
        let errors = &mut self.performance.errors;
        errors.count += 1;
        if errors.first.len() < ERRORS_KEPT && !errors.first.contains(&error) {
            errors.first.push(error);
        }
    }

    fn merge(&mut self, other: Lane) {
        let (own, more) = (&mut self.performance, other.performance);
        own.operations += more.operations;
        own.statements += more.statements;
        let latency: &Histogram<u64> = &more.latency;
        own.latency
            .add(latency)
            .expect("a histogram that grows takes any other");
        own.errors.count += more.errors.count;
        for text in more.errors.first {
            if own.errors.first.len() < ERRORS_KEPT && !own.errors.first.contains(&text) {
                own.errors.first.push(text);
            }
        }
        own.ended.merge(more.ended);
        own.active += more.active;
        own.thought += more.thought;
        self.outcome.merge(other.outcome);
    }
}
