//! The screen of a run, built from its events.

use std::collections::BTreeMap;

use analysis::findings;
use analysis::report::verdict;
use experiment::plan::{Plan, Trial};
use experiment::question::Question;
use experiment::record::{Outcome, Record, Series};
use lab::trial::Moment;
use lab::{Event, Observer};
use parking_lot::Mutex;

use super::{ArmProgress, Screen, VolumeHistory, volumes};

/// Help for the keys in a run.
const KEYS: &str = "q: leave this screen, the run continues   Ctrl-C: stop the run";

/// The screen of a run in progress. Events may come from several threads.
pub struct RunLive(Mutex<State>);

struct State {
    screen: Screen,
    question: Question,
    records: Vec<Record>,
    trials: u32,
    ended: u32,
    left: String,
    /// Running simulated trials, by their index in the plan, and the share of each that is done.
    simulated: BTreeMap<u32, f64>,
    /// The activity of each arm's volumes, trial by trial, where nothing was sampled before a trial ended.
    by_trial: BTreeMap<String, Vec<VolumeHistory>>,
    /// Whether the volumes of the real-time trial were sampled.
    is_read: bool,
    /// Number of complete blocks at the last verdicts.
    blocks: u32,
}

impl RunLive {
    /// A run of `plan`, with existing `records`.
    pub fn new(plan: &Plan, question: Question, records: Vec<Record>) -> RunLive {
        let mut arms: Vec<ArmProgress> = Vec::new();
        for arm in plan.all_arms() {
            let planned = plan.trials().iter().filter(|trial| trial.arm == arm.name);
            arms.push(ArmProgress {
                name: arm.name.clone(),
                planned: u32::try_from(planned.count()).unwrap_or(u32::MAX),
                ..ArmProgress::default()
            });
        }
        let screen = Screen {
            title: format!(
                "{}: {}, {}",
                plan.experiment,
                plan.variant.mode.name(),
                plan.variant.engine
            ),
            doing: "starting".to_owned(),
            done: Some(0.0),
            arms,
            keys: KEYS.to_owned(),
            ..Screen::default()
        };
        let mut state = State {
            screen,
            question,
            records: Vec::new(),
            trials: u32::try_from(plan.trials().len()).unwrap_or(u32::MAX),
            ended: 0,
            left: String::new(),
            simulated: BTreeMap::new(),
            by_trial: BTreeMap::new(),
            is_read: false,
            blocks: 0,
        };
        for record in records {
            state.keep(&record);
        }
        state.judge();
        RunLive(Mutex::new(state))
    }

    /// Its current content.
    pub fn screen(&self) -> Screen {
        self.0.lock().screen.clone()
    }
}

impl Observer for RunLive {
    fn on(&self, event: Event<'_>) {
        let mut state = self.0.lock();
        match event {
            Event::TrialBegan { trial, left } => {
                if let Some(left) = left {
                    state.left = format!("; left: {left}");
                    state.is_read = false;
                    state.show_volumes(trial, Vec::new());
                }
                if let Some(arm) = state.arm(&trial.arm) {
                    arm.running += 1;
                }
            }
            Event::PhaseBegan { trial, phase } => {
                state.screen.doing = format!("{}: {phase}{}", named(trial), state.left);
            }
            Event::Simulated { trial, moment } => state.simulated(trial, moment),
            Event::SecondPassed { second, .. } => {
                volumes::add(&mut state.screen.volumes, &second.done, second.span);
                state.is_read = true;
            }
            Event::TrialEnded { trial, record, .. } => state.ended(trial, record),
            Event::Finished => state.screen.doing = "finished".to_owned(),
            Event::Planned { .. } | Event::Warning(_) => {}
        }
    }
}

impl State {
    fn arm(&mut self, name: &str) -> Option<&mut ArmProgress> {
        self.screen.arms.iter_mut().find(|arm| arm.name == name)
    }

    /// Replaces those of another arm, whose volumes may have the same names.
    fn show_volumes(&mut self, trial: &Trial, volumes: Vec<VolumeHistory>) {
        self.screen.volumes = volumes;
        self.screen.volumes_of = named(trial);
    }

    fn simulated(&mut self, trial: &Trial, moment: Moment) {
        let (share, at) = match moment {
            Moment::Loading => (0.0, "loading".to_owned()),
            Moment::Running { done, now } => {
                (done, format!("{:.1} s of virtual time", now.as_secs_f64()))
            }
        };
        self.simulated.insert(trial.index, share);
        self.screen.doing = format!("{}: {at}", named(trial));
        self.count();
    }

    fn ended(&mut self, trial: &Trial, record: &Record) {
        self.simulated.remove(&trial.index);
        if let Some(arm) = self.arm(&trial.arm) {
            arm.running = arm.running.saturating_sub(1);
        }
        // In virtual time, and for plain I/O, nothing was sampled while it ran.
        if !self.is_read {
            let history = self.by_trial.entry(trial.arm.clone()).or_default();
            volumes::add_record(history, record);
            let history = history.clone();
            self.show_volumes(trial, history);
        }
        self.keep(record);
        self.count();
        self.judge();
    }

    fn keep(&mut self, record: &Record) {
        self.ended += 1;
        if let Some(arm) = self.arm(&record.arm) {
            match record.outcome {
                Outcome::Finished => arm.finished += 1,
                Outcome::Failed { .. } => arm.failed += 1,
            }
        }
        // A verdict needs no series, which are most of a record.
        self.records.push(Record {
            series: Series::default(),
            ..record.clone()
        });
    }

    fn count(&mut self) {
        let under_way: f64 = self.simulated.values().sum();
        let done = (f64::from(self.ended) + under_way) / f64::from(self.trials.max(1));
        self.screen.done = Some(done.min(1.0));
    }

    /// Computes the verdicts once more blocks are complete.
    fn judge(&mut self) {
        let compared = self.screen.arms.iter().filter(|arm| arm.planned > 1);
        let complete = compared.map(|arm| arm.finished + arm.failed).min();
        let complete = complete.unwrap_or(u32::from(self.ended == self.trials));
        if complete > self.blocks {
            self.blocks = complete;
            let findings = findings::make(&self.question, &self.records);
            self.screen.verdicts = findings.comparisons.iter().map(verdict).collect();
        }
    }
}

fn named(trial: &Trial) -> String {
    format!("block {}, {}", trial.block + 1, trial.arm)
}
