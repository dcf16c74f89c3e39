//! What each session does in a run, whatever the clock: its share, its turns, its keys, its operations,
//! one after the other, until time or number is up.

use hdrhistogram::Histogram;
use model::random::{self, Stream};
use model::{Duration, Instant};
use rand_distr::{Distribution, Exp1};

use super::parameters::ParameterRows;
use experiment::record::series::Points;
use experiment::record::{Errors, histogram};
use experiment::spec::{Amount, Arrival, Workload as WorkloadSettings};
use workload::{Driver, LOOP_COUNT, LOOP_FIRST, Run as Mix, Script, Value, Variables, Workload};

/// How many consecutive operations of a session may take no time before a duration that should end them is considered
/// never to.
const TIMELESS_MAX: u64 = 1_000_000;
/// Error texts that are kept.
const ERRORS_KEPT: usize = 5;

/// A session's connection to its engine, and its clock.
pub(super) trait SessionContext: Driver<Error = String> {
    /// The current instant.
    fn now(&self) -> Instant;

    /// Selects the script whose statements come next.
    fn enter(&mut self, script: usize);

    /// Ends what a script leaves open.
    fn settle(&mut self) -> Result<(), String>;

    /// Rolls back an operation that failed.
    fn roll_back(&mut self);

    /// Statements executed so far.
    fn statements(&self) -> u64;

    /// Starts the measured time.
    fn measure(&mut self);

    /// Records that an operation ended at `now`, whether successful or measured or not.
    fn ended(&mut self, now: Instant, success: bool);

    /// Whether the run must end early.
    fn stopping(&self) -> bool;

    /// Replays operation `number` of the session if that was executed elsewhere; `None`: it is to be executed.
    fn replay(&mut self, _number: u64) -> Option<Outcome> {
        None
    }
}

/// What came of an operation.
#[derive(Clone)]
pub(super) struct Outcome {
    /// Its script, by its place in the mix.
    pub(super) script: usize,
    /// The error, if one occurred.
    pub(super) result: Result<(), String>,
}

/// Executes one turn of `mix`: picks a script, runs it, and rolls back what failed.
pub(super) fn execute<S: SessionContext>(
    mix: &Mix,
    variables: &mut Variables,
    keys: &mut Stream,
    seat: &mut S,
) -> Outcome {
    let script = mix.pick(keys);
    seat.enter(script);
    let result = mix.scripts[script]
        .script
        .execute(variables, keys, seat)
        .map_err(|error| error.to_string())
        .and_then(|()| seat.settle());
    if result.is_err() {
        seat.roll_back();
    }
    Outcome { script, result }
}

/// What all sessions of a run share.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    pub(super) workload: &'a Workload,
    pub(super) sessions: u32,
    pub(super) seed: u64,
    pub(super) arrival: Arrival,
    /// Operations of all sessions together; `None`: until the window ends.
    pub(super) operations: Option<u64>,
    /// The measured time.
    pub(super) window: Window,
    /// Rows whose columns are parameters of the operations.
    pub(super) rows: Option<&'a ParameterRows>,
}

impl<'a> Task<'a> {
    /// The task of a run that begins at `start`.
    pub(super) fn new(
        asked: &WorkloadSettings,
        workload: &'a Workload,
        seed: u64,
        start: Instant,
    ) -> Task<'a> {
        let from = start + asked.warm_up;
        let (operations, until) = match asked.amount {
            Amount::Operations(operations) => (Some(operations), None),
            Amount::Duration(duration) => (None, Some(from + duration)),
        };
        Task {
            workload,
            sessions: asked.sessions,
            seed,
            arrival: asked.arrival,
            operations,
            window: Window { from, until },
            rows: None,
        }
    }

    /// The same, with each operation's parameters from one of `rows`.
    pub(super) fn with_rows(self, rows: Option<&'a ParameterRows>) -> Task<'a> {
        Task { rows, ..self }
    }

    /// Operations of a session: its part of the total; the first sessions run one more if it does not divide evenly.
    fn share(&self, session: u32) -> u64 {
        let (sessions, session) = (u64::from(self.sessions), u64::from(session));
        self.operations.map_or(u64::MAX, |all| {
            all / sessions + u64::from(session < all % sessions)
        })
    }
}

/// The measured time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// Its start; before it is warm-up.
    pub(super) from: Instant,
    /// Its end; `None`: when the sessions are done.
    pub(super) until: Option<Instant>,
}

impl Window {
    fn holds(&self, now: Instant) -> bool {
        now >= self.from && self.until.is_none_or(|until| now <= until)
    }
}

/// An operation that took no time.
pub(super) struct Timeless {
    /// Its script.
    pub(super) script: String,
    /// Why it failed, if it did.
    pub(super) error: Option<String>,
}

/// Results of sessions in the measured time.
pub(super) struct Tally {
    pub(super) operations: u64,
    pub(super) statements: u64,
    pub(super) latency: Histogram<u64>,
    pub(super) errors: Errors,
    /// Why a database could not be loaded, if loading is measured.
    pub(super) load_failed: Option<String>,
    /// The operation that took no time, like all before it, so that they would never end.
    pub(super) timeless: Option<Timeless>,
    /// Operations that ended, per interval from time zero, whether measured or not.
    pub(super) ended: Points,
}

impl Tally {
    pub(super) fn new() -> Tally {
        Tally {
            operations: 0,
            statements: 0,
            latency: histogram::empty(),
            errors: Errors::default(),
            load_failed: None,
            timeless: None,
            ended: Points::counts(),
        }
    }

    /// Counts failed operations, and keeps their text if it is new.
    pub(super) fn error(&mut self, text: String, operations: u64) {
        self.errors.count += operations;
        self.keep(text);
    }

    fn keep(&mut self, text: String) {
        if self.errors.first.len() < ERRORS_KEPT && !self.errors.first.contains(&text) {
            self.errors.first.push(text);
        }
    }

    /// Adds the results of another session.
    pub(super) fn merge(&mut self, other: Tally) {
        self.timeless = self.timeless.take().or(other.timeless);
        self.operations += other.operations;
        self.statements += other.statements;
        self.latency
            .add(&other.latency)
            .expect("a histogram that grows takes any other");
        self.load_failed = self.load_failed.take().or(other.load_failed);
        self.errors.count += other.errors.count;
        for text in other.errors.first {
            self.keep(text);
        }
        self.ended.merge(other.ended);
    }
}

/// Loads a database: schema, then `spread`, then data. Reports what went wrong.
///
/// The statements are numbered after those of the run, so that a connection used for both keeps each
/// of them prepared under its own key.
pub(super) fn load<S: SessionContext>(
    seat: &mut S,
    workload: &Workload,
    variables: &mut Variables,
    seed: u64,
    spread: impl FnOnce() -> Result<(), String>,
) -> Result<(), String> {
    let mut random = random::stream(seed, "load");
    let first = workload.run.scripts.len();
    let mut run_script = |seat: &mut S, number: usize, script: &Script| {
        seat.enter(first + number);
        script
            .execute(variables, &mut random, seat)
            .map_err(|error| format!("{}: {error}", script.name))?;
        seat.settle()
    };
    for (number, script) in workload.load.schema.iter().enumerate() {
        run_script(seat, number, script)?;
    }
    spread()?;
    let data = workload.load.scripts.iter();
    for (number, script) in (workload.load.schema.len()..).zip(data) {
        run_script(seat, number, script)?;
    }
    Ok(())
}

/// What a session's operations are drawn from.
pub(super) fn keys(seed: u64, session: u32) -> Stream {
    random::stream(own_seed(seed, session), "keys")
}

fn own_seed(seed: u64, session: u32) -> u64 {
    random::derive(seed, "session", u64::from(session))
}

/// One session's run.
pub(super) struct Run<'a, 'b, S> {
    task: &'a Task<'a>,
    session: u32,
    seat: &'b mut S,
    keys: Stream,
    arrivals: Stream,
    /// Determines the order in which it takes rows with parameters.
    order: u64,
    tally: Tally,
    /// Statements executed when the measured time began.
    before: Option<u64>,
}

impl<'a, 'b, S: SessionContext> Run<'a, 'b, S> {
    /// The run of `session`, from 0. The same seed draws the same keys, whatever the clock.
    pub(super) fn new(task: &'a Task<'a>, session: u32, seat: &'b mut S) -> Run<'a, 'b, S> {
        let seed = own_seed(task.seed, session);
        let keys = keys(task.seed, session);
        let arrivals = random::stream(seed, "arrivals");
        Run {
            task,
            session,
            seat,
            keys,
            arrivals,
            order: ParameterRows::order(seed),
            tally: Tally::new(),
            before: None,
        }
    }

    /// Runs this session's share to the end.
    pub(super) fn run_to_end(mut self, variables: &mut Variables) -> Tally {
        let mut due = self.seat.now();
        let share = self.task.share(self.session);
        let per_turn = self.task.workload.run.per_turn;
        let stress = self.task.workload.stress.as_ref();
        let pause = stress.map_or(Duration::ZERO, |stress| stress.pause);
        let (mut number, mut still) = (0, 0);
        while number < share {
            let Some(start) = self.next_start(&mut due) else {
                break;
            };
            let count = per_turn.min(share - number);
            self.begin_measuring();
            variables.set_operation(number);
            if let Some(rows) = self.task.rows {
                rows.set(variables, number, self.order);
            }
            if per_turn > 1 {
                set_turn(variables, number, count);
            }
            let before = self.seat.now();
            let outcome = self.operation(variables, start, [number, count]);
            number += count;
            if pause > Duration::ZERO && number < share {
                // If it is cut short, the run ends anyway.
                let _ = self.seat.sleep(pause);
            }
            still = if self.seat.now() > before {
                0
            } else {
                still + 1
            };
            if still > TIMELESS_MAX && self.task.operations.is_none() {
                let (script, error) = outcome;
                let script = script.to_owned();
                self.tally.timeless = Some(Timeless { script, error });
                break;
            }
        }
        if let Some(before) = self.before {
            self.tally.statements += self.seat.statements() - before;
        }
        self.tally
    }

    /// Waits for the next operation's turn; returns the instant it was due. `None` when the run is over.
    fn next_start(&mut self, due: &mut Instant) -> Option<Instant> {
        match self.task.arrival {
            Arrival::Closed { think } => {
                if think > Duration::ZERO {
                    self.seat.sleep(think).ok()?;
                }
                *due = self.seat.now();
            }
            Arrival::Open { rate_per_s } => {
                // A Poisson stream over all sessions is a Poisson stream with a share of the rate in each.
                let gap: f64 = Exp1.sample(&mut self.arrivals);
                *due += Duration::from_secs_f64(gap * f64::from(self.task.sessions) / rate_per_s);
                let until_due = due.since(self.seat.now());
                self.seat.sleep(until_due).ok()?;
            }
        }
        let over = self
            .task
            .window
            .until
            .is_some_and(|until| self.seat.now() >= until);
        (!over && !self.seat.stopping()).then_some(*due)
    }

    /// One turn, which runs `count` operations from `number` on. Returns the script's name, and the error if one occurred.
    fn operation(
        &mut self,
        variables: &mut Variables,
        start: Instant,
        [number, count]: [u64; 2],
    ) -> (&'a str, Option<String>) {
        let mix = &self.task.workload.run;
        let Outcome { script, result } = match self.seat.replay(number) {
            Some(outcome) => outcome,
            None => execute(mix, variables, &mut self.keys, self.seat),
        };
        let script: &Script = &mix.scripts[script].script;
        let end = self.seat.now();
        self.seat.ended(end, result.is_ok());
        self.tally.ended.add(end, count);
        let error = result
            .err()
            .map(|error| format!("{}: {error}", script.name));
        if self.task.window.holds(end) {
            match &error {
                None => {
                    self.tally.operations += count;
                    if mix.per_turn == 1 {
                        histogram::record(&mut self.tally.latency, end.since(start));
                    }
                }
                Some(error) => self.tally.error(error.clone(), count),
            }
        }
        (&script.name, error)
    }

    fn begin_measuring(&mut self) {
        if self.before.is_none() && self.seat.now() >= self.task.window.from {
            self.before = Some(self.seat.statements());
            self.seat.measure();
        }
    }
}

/// Passes the range of its operations to a loop on the server.
fn set_turn(variables: &mut Variables, first: u64, count: u64) {
    for (name, value) in [(LOOP_FIRST, first), (LOOP_COUNT, count)] {
        let value = Value::Int(i64::try_from(value).unwrap_or(i64::MAX));
        let known = variables.set(name, value);
        assert!(
            known,
            "the workload's reader has seen to it that the loop reads :{name}"
        );
    }
}
