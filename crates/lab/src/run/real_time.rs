//! Trials in real time: one after the other, so that they do not disturb each other.

use std::collections::BTreeMap;

use experiment::plan::{Estimate, Trial};
use experiment::record::{Outcome, Record};
use host::clock::Clock;

use super::{Event, FAILURES_MAX, Run, RunError, RunInputs};
use crate::trial::real::{self, Orphans, RunVolumes, Supply};

impl Run<'_> {
    /// Runs `trials` on volumes that are created for them and removed at the end.
    pub(super) fn in_real_time(
        &self,
        trials: &[Trial],
        inputs: &RunInputs,
    ) -> Result<Orphans, RunError> {
        let plan = self.prepared.plan();
        let volumes = RunVolumes::claim(
            plan,
            self.prepared.engine(),
            &inputs.options,
            inputs.keep,
            &inputs.hooks,
        )?;
        let ended = self.one_by_one(trials, &volumes);
        let left = volumes.close();
        for what in left.others.iter().chain(&left.not_put_back) {
            self.observer.on(Event::Warning(what));
        }
        ended.map(|()| left)
    }

    fn one_by_one(&self, trials: &[Trial], supply: &dyn Supply) -> Result<(), RunError> {
        let clock = Clock::start();
        let mut durations = self.store.durations();
        let mut failures = Failures::default();
        let left = |trials, durations: &_| Estimate::of(self.prepared.plan(), trials, durations);
        self.observer.on(Event::Planned {
            trials,
            left: Some(left(trials, &durations)),
        });
        for (number, trial) in trials.iter().enumerate() {
            if self.is_interrupted() {
                break;
            }
            let left = Some(left(&trials[number..], &durations));
            self.observer.on(Event::TrialBegan { trial, left });
            let start = clock.now();
            let Some(record) = self.real_trial(trial, supply) else {
                break;
            };
            self.store.keep(&record).map_err(RunError::Store)?;
            let took = clock.now().since(start);
            if record.outcome == Outcome::Finished {
                durations.insert(trial.arm.clone(), took);
            }
            self.observer.on(Event::TrialEnded {
                trial,
                record: &record,
                took: Some(took),
            });
            failures.count(&record)?;
        }
        Ok(())
    }

    /// Its record, unless the run was interrupted.
    fn real_trial(&self, trial: &Trial, supply: &dyn Supply) -> Option<Record> {
        let id = self.prepared.id(trial);
        let report = |event| {
            self.observer.on(match &event {
                real::Event::Phase(phase) => Event::PhaseBegan { trial, phase },
                real::Event::Second(second) => Event::SecondPassed { trial, second },
                real::Event::Left(what) => {
                    let text = format!("could not be cleaned up: {what}");
                    return self.observer.on(Event::Warning(&text));
                }
            });
        };
        let stop = || self.is_interrupted();
        let record = real::run_trial(&self.prepared.subject(&id), supply, &report, &stop).ok()?;
        Some(self.prepared.noted(&id, record))
    }
}

/// Failures of each arm since it last succeeded.
#[derive(Default)]
struct Failures(BTreeMap<String, u32>);

impl Failures {
    /// # Errors
    /// When an arm has failed too often.
    fn count(&mut self, record: &Record) -> Result<(), RunError> {
        let Outcome::Failed { error } = &record.outcome else {
            self.0.remove(&record.arm);
            return Ok(());
        };
        let failures = self.0.entry(record.arm.clone()).or_default();
        *failures += 1;
        if *failures < FAILURES_MAX {
            return Ok(());
        }
        Err(RunError::GivenUp {
            arm: record.arm.clone(),
            error: error.clone(),
        })
    }
}
