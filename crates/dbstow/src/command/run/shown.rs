//! Shows on the terminal what happens in a run.

use std::io::IsTerminal;
use std::sync::Arc;

use experiment::plan::Trial;
use experiment::record::Outcome;
use experiment::spec::Mode;
use lab::hooks::Progress as Report;
use lab::trial::real::VolumeRate;
use lab::{Event, Observer};
use parking_lot::Mutex;

use crate::command::output::note;
use crate::command::progress::Progress;
use analysis::quantity::number;

/// A bar for the trials of a run, and lines for what stays.
pub(super) struct Shown {
    experiment: String,
    pub(super) progress: Progress,
    /// What the trial in real time is at, and its volumes with it.
    now: Mutex<Now>,
}

/// What a trial is doing.
#[derive(Default)]
struct Now {
    phase: &'static str,
    volumes: String,
    /// How long the run may still take.
    left: String,
}

impl Shown {
    /// Nothing yet, of `trials` trials.
    pub(super) fn new(experiment: &str, mode: Mode, trials: usize) -> Shown {
        let template = match mode {
            Mode::Simulate => "{bar:30} {pos}/{len} trials, {eta} left: {msg}",
            Mode::Emulate | Mode::Measure => {
                "{bar:20} {pos}/{len} trials, {elapsed} so far, left: {prefix}\n{wide_msg}"
            }
        };
        Shown {
            experiment: experiment.to_owned(),
            progress: Progress::new(trials as u64, template),
            now: Mutex::default(),
        }
    }

    /// What prints a line that stays, from any thread.
    pub(super) fn line(&self) -> Report {
        let (experiment, progress) = (self.experiment.clone(), self.progress.clone());
        Arc::new(move |text| progress.suspend(|| note(&format!("{experiment}: {text}"))))
    }

    /// Prints a line that stays.
    fn say(&self, text: &str) {
        let line = format!("{}: {text}", self.experiment);
        self.progress.suspend(|| note(&line));
    }

    /// Shows what a trial is at, after a change.
    fn draw(&self, trial: &Trial, change: impl FnOnce(&mut Now)) {
        let mut now = self.now.lock();
        change(&mut now);
        self.progress.set_prefix(&now.left);
        self.progress
            .set_message(&format!("{}: {}{}", named(trial), now.phase, now.volumes));
    }
}

impl Observer for Shown {
    fn on(&self, event: Event<'_>) {
        match event {
            Event::Planned { trials, left } => {
                if let Some(left) = left.filter(|_| !trials.is_empty()) {
                    self.say(&format!("takes {left}"));
                }
            }
            Event::TrialBegan { trial, left: None } => {
                let text = format!("block {} {}", trial.block + 1, trial.arm);
                self.progress.set_message(&text);
            }
            Event::TrialBegan {
                trial,
                left: Some(left),
            } => self.draw(trial, |now| now.left = left.to_string()),
            Event::PhaseBegan { trial, phase } => self.draw(trial, |now| {
                now.phase = phase;
                now.volumes.clear();
            }),
            Event::SecondPassed { trial, volumes } => {
                self.draw(trial, |now| {
                    now.volumes = volumes.iter().map(volume).collect()
                });
            }
            Event::TrialEnded {
                trial,
                record,
                took,
            } => {
                self.progress.step();
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
        ", {} {} IOPS {} MB/s",
        rate.volume,
        number(rate.iops),
        number(rate.mb_per_s)
    )
}
