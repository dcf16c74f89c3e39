//! Shows the progress of a run on the terminal.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::sync::Arc;

use engine::hooks::Progress as Report;
use experiment::plan::Trial;
use experiment::record::Outcome;
use experiment::spec::Mode;
use host::clock::Clock;
use lab::trial::Moment;
use lab::trial::real::VolumeRate;
use lab::{Event, Observer};
use model::{Duration, Instant};
use parking_lot::Mutex;

use crate::command::output::note;
use crate::command::progress::Progress;
use table::quantity::{self, number};

/// A bar for the trials of a run, and permanent lines.
pub(in crate::command) struct RunProgress {
    experiment: String,
    pub(in crate::command) progress: Progress,
    /// The stage of the real-time trial, with its volumes.
    now: Mutex<Now>,
    /// Steps of the bar for each running simulated trial, by its index in the plan, and how many have ended.
    simulated: Mutex<(BTreeMap<u32, u64>, usize)>,
    /// Steps of the bar per trial.
    steps: u64,
    trials: usize,
    clock: Clock,
    /// When the last periodic line was printed.
    last: Mutex<Instant>,
}

/// Steps of the bar per trial.
const STEPS: u64 = 1_000;

/// How often a run prints its progress where the bar is hidden.
const MINUTE: Duration = Duration::from_secs(60);

/// The stage of a trial.
#[derive(Default)]
struct Now {
    phase: &'static str,
    volumes: String,
    /// Estimated remaining time of the run.
    left: String,
}

impl RunProgress {
    /// The initial state, for `trials` trials.
    pub(in crate::command) fn new(experiment: &str, mode: Mode, trials: usize) -> RunProgress {
        let (steps, template) = match mode {
            Mode::Simulate => (STEPS, "{bar:30} {prefix} {to_go}: {msg}"),
            Mode::Emulate | Mode::Measure => (
                1,
                "{bar:20} {pos}/{len} trials, {elapsed} so far, left: {prefix}\n{wide_msg}",
            ),
        };
        RunProgress {
            experiment: experiment.to_owned(),
            progress: Progress::new(trials as u64 * steps, template),
            now: Mutex::default(),
            simulated: Mutex::default(),
            steps,
            trials,
            clock: Clock::start(),
            last: Mutex::new(Instant::ZERO),
        }
    }

    /// A function that prints a permanent line, from any thread.
    pub(in crate::command) fn line(&self) -> Report {
        let (experiment, progress) = (self.experiment.clone(), self.progress.clone());
        Arc::new(move |text| progress.suspend(|| note(&format!("{experiment}: {text}"))))
    }

    /// Prints a permanent line.
    fn say(&self, text: &str) {
        let line = format!("{}: {text}", self.experiment);
        self.progress.suspend(|| note(&line));
    }

    /// Shows the progress of a simulated trial.
    fn simulated(&self, trial: &Trial, moment: Moment) {
        let mut simulated = self.simulated.lock();
        let (steps, at) = match moment {
            Moment::Loading => (0, "loading".to_owned()),
            Moment::Running { done, now } => {
                // A trial has ended only with its record.
                let steps = (done * STEPS as f64) as u64;
                (
                    steps.min(STEPS - 1),
                    format!("{:.1} s of virtual time", now.as_secs_f64()),
                )
            }
        };
        let (under_way, ended) = &mut *simulated;
        let before = under_way.insert(trial.index, steps).unwrap_or(0);
        self.progress.step(steps.saturating_sub(before));
        self.progress
            .set_prefix(&format!("{ended}/{} trials", self.trials));
        self.progress
            .set_message(&format!("{}, {at}", named(trial)));
        self.minute(|| {
            format!(
                "{ended} of {} trials done; {}, {at}",
                self.trials,
                named(trial)
            )
        });
    }

    fn ended(&self, trial: &Trial) {
        let mut simulated = self.simulated.lock();
        let (under_way, ended) = &mut *simulated;
        *ended += 1;
        let before = under_way.remove(&trial.index).unwrap_or(0);
        self.progress.step(self.steps - before);
    }

    /// Prints a line a minute where the bar is hidden.
    fn minute(&self, line: impl FnOnce() -> String) {
        if std::io::stderr().is_terminal() {
            return;
        }
        let mut last = self.last.lock();
        let now = self.clock.now();
        if now.since(*last) >= MINUTE {
            *last = now;
            self.say(&line());
        }
    }

    /// Shows a trial's stage after a change.
    fn draw(&self, trial: &Trial, change: impl FnOnce(&mut Now)) {
        let mut now = self.now.lock();
        change(&mut now);
        self.progress.set_prefix(&now.left);
        self.progress
            .set_message(&format!("{}: {}{}", named(trial), now.phase, now.volumes));
    }
}

impl Observer for RunProgress {
    fn on(&self, event: Event<'_>) {
        match event {
            Event::Planned { trials, left } => {
                if let Some(left) = left.filter(|_| !trials.is_empty()) {
                    self.say(&format!("takes {left}"));
                }
            }
            Event::TrialBegan { left: None, .. } => {}
            Event::Simulated { trial, moment } => self.simulated(trial, moment),
            Event::TrialBegan {
                trial,
                left: Some(left),
            } => self.draw(trial, |now| now.left = left.to_string()),
            Event::PhaseBegan { trial, phase } => self.draw(trial, |now| {
                now.phase = phase;
                now.volumes.clear();
            }),
            Event::SecondPassed { trial, second } => {
                self.minute(|| {
                    let now = self.now.lock();
                    format!("{}: {}{}", named(trial), now.phase, now.volumes)
                });
                self.draw(trial, |now| {
                    now.volumes = second.volumes.iter().map(volume).collect();
                });
            }
            Event::TrialEnded {
                trial,
                record,
                took,
            } => {
                self.ended(trial);
                let is_watched = std::io::stderr().is_terminal();
                match (&record.outcome, took) {
                    (_, None) => {}
                    (Outcome::Failed { error }, Some(_)) => {
                        self.say(&format!("{} failed: {error}", named(trial)));
                    }
                    (Outcome::Finished, Some(_)) if is_watched => {}
                    (Outcome::Finished, Some(took)) => {
                        self.say(&format!("{}: {:.1} s", named(trial), took.as_secs_f64()));
                    }
                }
            }
            Event::Warning(what) => self.say(what),
            Event::Finished => self.progress.end(),
        }
    }
}

fn named(trial: &Trial) -> String {
    format!("block {}, {}", trial.block + 1, trial.arm)
}

/// `, d 1,240 IOPS 9.7 MB/s`
fn volume(rate: &VolumeRate) -> String {
    format!(
        ", {} {} IOPS {}",
        rate.volume,
        number(rate.iops),
        quantity::rate(rate.mb_per_s)
    )
}
