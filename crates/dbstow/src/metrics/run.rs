//! Counters of a run's events.

use std::collections::BTreeMap;

use experiment::plan::{Plan, Trial};
use experiment::record::{Cause, Outcome, Record};
use experiment::spec::Mode;
use lab::trial::Moment;
use lab::{Event, Observer};
use parking_lot::Mutex;

use super::{ClockKind, OTHER, Sample, Totals, Value};

/// Maximum number of arms with separate metrics; the others are aggregated.
const ARMS_MAX: usize = 128;

/// Counters of a run in progress. Events may come from several threads.
pub struct RunMetrics(Mutex<State>);

struct State {
    labels: [(&'static str, String); 4],
    planned: u64,
    recorded: u64,
    /// The deciding metric.
    metric: String,
    clock: ClockKind,
    totals: Totals,
    finished: u64,
    failed: u64,
    /// Running trials, by their index in the plan.
    running: BTreeMap<u32, Running>,
    arms: BTreeMap<String, Arm>,
}

struct Running {
    arm: String,
    phase: &'static str,
    /// Whether its disks were sampled while it ran.
    is_read: bool,
}

/// Totals of an arm's trials.
#[derive(Default)]
struct Arm {
    finished: u64,
    failed: u64,
    measured_s: f64,
    operations: u64,
    errors: u64,
    session_ns: BTreeMap<Cause, u64>,
    /// Sum of the deciding metric, and number of trials that have it.
    metric: (f64, u64),
}

impl RunMetrics {
    /// Counters for a run of `plan`, where trials in `recorded` already have records.
    pub fn new(plan: &Plan, recorded: usize) -> RunMetrics {
        let clock = match plan.variant.mode {
            Mode::Simulate => ClockKind::Virtual,
            Mode::Emulate | Mode::Measure => ClockKind::Real,
        };
        RunMetrics(Mutex::new(State {
            labels: [
                ("experiment", plan.experiment.clone()),
                ("plan", plan.digest().to_owned()),
                ("mode", plan.variant.mode.name().to_owned()),
                ("engine", plan.variant.engine.to_string()),
            ],
            planned: plan.trials().len() as u64,
            recorded: recorded as u64,
            metric: plan.protocol.metric.clone(),
            clock,
            totals: Totals::new(clock),
            finished: 0,
            failed: 0,
            running: BTreeMap::new(),
            arms: BTreeMap::new(),
        }))
    }

    /// Everything counted so far.
    pub fn samples(&self) -> Vec<Sample> {
        let state = self.0.lock();
        let mut samples = state.totals.samples();
        state.of_trials(&mut samples);
        for (name, arm) in &state.arms {
            arm.samples(name, &state, &mut samples);
        }
        samples
    }
}

impl Observer for RunMetrics {
    fn on(&self, event: Event<'_>) {
        let mut state = self.0.lock();
        match event {
            Event::TrialBegan { trial, .. } => state.phase(trial, "place"),
            Event::PhaseBegan { trial, phase } => state.phase(trial, phase),
            Event::Simulated { trial, moment } => state.phase(
                trial,
                match moment {
                    Moment::Loading => "load",
                    Moment::Running { .. } => "run",
                },
            ),
            Event::SecondPassed { trial, second } => {
                state.totals.add(&second.done, second.span);
                if let Some(running) = state.running.get_mut(&trial.index) {
                    running.is_read = true;
                }
            }
            Event::TrialEnded { trial, record, .. } => state.ended(trial, record),
            Event::Finished => state.running.clear(),
            Event::Planned { .. } | Event::Warning(_) => {}
        }
    }
}

impl State {
    fn phase(&mut self, trial: &Trial, phase: &'static str) {
        let running = self.running.entry(trial.index);
        let running = running.or_insert_with(|| Running {
            arm: trial.arm.clone(),
            phase,
            is_read: false,
        });
        running.phase = phase;
    }

    fn ended(&mut self, trial: &Trial, record: &Record) {
        let running = self.running.remove(&trial.index);
        match running.is_some_and(|running| running.is_read) {
            true => self.totals.idle(),
            false => self.totals.add_record(record),
        }
        let name = distinct_name(&self.arms, &trial.arm);
        let arm = self.arms.entry(name).or_default();
        match record.outcome {
            Outcome::Finished => {
                self.finished += 1;
                arm.add(record, &self.metric);
            }
            Outcome::Failed { .. } => {
                self.failed += 1;
                arm.failed += 1;
            }
        }
    }

    fn of_trials(&self, samples: &mut Vec<Sample>) {
        samples.push(Sample::new("dbstow_run", self.labels.to_vec(), Value::Info));
        let planned = Value::Number(self.planned as f64);
        let recorded = Value::Number(self.recorded as f64);
        samples.extend([
            Sample::new("dbstow_run_trials_planned", vec![], planned),
            Sample::new("dbstow_run_trials_recorded", vec![], recorded),
        ]);
        for (outcome, count) in [("finished", self.finished), ("failed", self.failed)] {
            let labels = vec![("outcome", outcome.to_owned())];
            samples.push(Sample::new(
                "dbstow_run_trials",
                labels,
                Value::Count(count),
            ));
        }
        let mut running: BTreeMap<(String, &str), u32> = BTreeMap::new();
        for trial in self.running.values() {
            let arm = distinct_name(&self.arms, &trial.arm);
            *running.entry((arm, trial.phase)).or_default() += 1;
        }
        for ((arm, phase), count) in running {
            let labels = vec![("arm", arm), ("phase", phase.to_owned())];
            let count = Value::Number(f64::from(count));
            samples.push(Sample::new("dbstow_run_trials_running", labels, count));
        }
    }
}

/// The label of an arm.
fn distinct_name(known: &BTreeMap<String, Arm>, arm: &str) -> String {
    match known.len() < ARMS_MAX || known.contains_key(arm) {
        true => arm.to_owned(),
        false => OTHER.to_owned(),
    }
}

impl Arm {
    fn add(&mut self, record: &Record, metric: &str) {
        self.finished += 1;
        let of = |name: &str| record.metrics.get(name).copied();
        let elapsed = of("elapsed_s").unwrap_or(0.0);
        self.measured_s += elapsed;
        // A record only has the rate.
        let operations = of("operations_per_s").unwrap_or(0.0) * elapsed;
        self.operations += operations.round() as u64;
        self.errors += record.errors.count;
        for (cause, ns) in &record.time_split_ns {
            *self.session_ns.entry(cause.clone()).or_default() += ns;
        }
        if let Some(value) = of(metric) {
            self.metric.0 += value;
            self.metric.1 += 1;
        }
    }

    fn samples(&self, name: &str, state: &State, samples: &mut Vec<Sample>) {
        let arm = ("arm", name.to_owned());
        for (outcome, count) in [("finished", self.finished), ("failed", self.failed)] {
            let labels = vec![arm.clone(), ("outcome", outcome.to_owned())];
            samples.push(Sample::new(
                "dbstow_arm_trials",
                labels,
                Value::Count(count),
            ));
        }
        let own = vec![("clock", state.clock.name().to_owned()), arm.clone()];
        let counted = [
            (
                "dbstow_arm_measured_seconds",
                Value::Number(self.measured_s),
            ),
            ("dbstow_arm_operations", Value::Count(self.operations)),
            ("dbstow_arm_errors", Value::Count(self.errors)),
        ];
        samples.extend(counted.map(|(family, value)| Sample::new(family, own.clone(), value)));
        for (cause, ns) in &self.session_ns {
            let mut labels = own.clone();
            labels.push(("cause", cause.to_string()));
            let seconds = Value::Number(*ns as f64 / 1e9);
            samples.push(Sample::new("dbstow_arm_session_seconds", labels, seconds));
        }
        let (sum, count) = self.metric;
        if count > 0 {
            let labels = vec![arm, ("metric", state.metric.clone())];
            let mean = Value::Number(sum / count as f64);
            samples.push(Sample::new("dbstow_arm_metric_mean", labels, mean));
        }
    }
}
