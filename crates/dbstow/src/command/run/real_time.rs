//! Trials in real time: one after the other, so that they do not disturb each other.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, bail};
use model::Duration;
use volume::clock::Clock;

use super::{Ready, id};
use crate::command::output::note;
use crate::command::progress::Progress;
use analysis::quantity::number;
use experiment::plan::{Estimate, Trial};
use experiment::record::{Outcome, Record};
use experiment::results::Results;
use lab::trial::real::{self, Event, Supply, VolumeRate};

/// Failures of one arm, one after the other, after which the run is given up.
const FAILURES_MAX: u32 = 3;

/// Shows how far so many trials are.
pub(super) fn progress(trials: usize) -> Progress {
    Progress::new(
        trials as u64,
        "{bar:20} {pos}/{len} trials, {elapsed} so far, left: {prefix}\n{wide_msg}",
    )
}

/// Carries out trials in the order of the plan, writing each record at once.
pub(super) fn carry_out(
    (results, ready): (&Results, &[Ready]),
    trials: &[Trial],
    supply: &dyn Supply,
    progress: Progress,
    interrupted: &AtomicBool,
) -> Result<()> {
    let mut run = Run {
        results,
        clock: Clock::start(),
        progress,
        durations: results.durations(),
        now: Mutex::default(),
        failures: BTreeMap::new(),
    };
    if !trials.is_empty() {
        run.say(&format!("takes {}", run.left(trials)));
    }
    for (number, trial) in trials.iter().enumerate() {
        let id = id(&results.plan, trial);
        let subject = super::subject(&results.plan, ready, &id);
        let stop = || interrupted.load(Ordering::Relaxed);
        if stop() {
            break;
        }
        let left = run.left(&trials[number..]).to_string();
        let tell = |event| run.tell(trial, event, &left);
        let start = run.clock.now();
        let Ok(record) = real::carry_out(&subject, supply, &tell, &stop) else {
            break;
        };
        let written = results.write(&record);
        written.context("a record could not be kept; those before it were")?;
        run.done(trial, &record, run.clock.now().since(start))?;
    }
    run.progress.end();
    Ok(())
}

/// What a trial is doing.
#[derive(Default)]
struct Now {
    phase: &'static str,
    volumes: String,
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

/// A run under way.
struct Run<'a> {
    results: &'a Results,
    clock: Clock,
    progress: Progress,
    /// How long a trial of each arm takes.
    durations: BTreeMap<String, Duration>,
    /// What the trial is at, and its volumes with it.
    now: Mutex<Now>,
    /// Failures of each arm since it last succeeded.
    failures: BTreeMap<String, u32>,
}

impl Run<'_> {
    fn left(&self, trials: &[Trial]) -> Estimate {
        Estimate::of(&self.results.plan, trials, &self.durations)
    }

    /// Shows what a trial is at.
    fn tell(&self, trial: &Trial, event: Event, left: &str) {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Phase(phase) => {
                *now = Now {
                    phase,
                    volumes: String::new(),
                }
            }
            Event::Second(rates) => now.volumes = rates.iter().map(volume).collect(),
            Event::Left(what) => self.say(&format!("could not be cleaned up: {what}")),
        }
        let Now { phase, volumes } = &*now;
        self.progress.set_prefix(left);
        self.progress.set_message(&format!(
            "block {}, {}: {phase}{volumes}",
            trial.block + 1,
            trial.arm
        ));
    }

    /// Says how a trial ended.
    ///
    /// # Errors
    /// When its arm has failed too often.
    fn done(&mut self, trial: &Trial, record: &Record, took: Duration) -> Result<()> {
        self.progress.step();
        let name = format!("block {}, {}", trial.block + 1, trial.arm);
        let Outcome::Failed { error } = &record.outcome else {
            self.failures.remove(&trial.arm);
            self.durations.insert(trial.arm.clone(), took);
            if !std::io::stderr().is_terminal() {
                self.say(&format!("{name}: {:.1} s", took.as_secs_f64()));
            }
            return Ok(());
        };
        self.say(&format!("{name} failed: {error}"));
        let failures = self.failures.entry(trial.arm.clone()).or_default();
        *failures += 1;
        if *failures < FAILURES_MAX {
            return Ok(());
        }
        self.progress.end();
        bail!(
            "arm \"{}\" failed {FAILURES_MAX} times in a row, the last time because: {error}; what \
             is finished is kept in {}: once that is mended, the same command goes on from there",
            trial.arm,
            self.results.folder().display()
        )
    }

    /// Prints a line that stays.
    fn say(&self, text: &str) {
        let line = format!("{}: {text}", self.results.plan.experiment);
        self.progress.suspend(|| note(&line));
    }
}
