//! Trials in virtual time: several at a time, since that does not change the results.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use experiment::plan::Trial;
use parking_lot::Mutex;

use super::{Event, Run, RunError};
use crate::trial::Cancel;

impl Run<'_> {
    /// Runs `trials` on `jobs` threads.
    pub(super) fn simulated(&self, trials: &[Trial], jobs: usize) -> Result<(), RunError> {
        self.observer.on(Event::Planned { trials, left: None });
        let next = AtomicUsize::new(0);
        // What cannot be stored need not be computed.
        let failed = Arc::<AtomicBool>::default();
        let failure = Mutex::new(None);
        let work = || {
            let (interrupted, other) = (Arc::clone(self.interrupted), Arc::clone(&failed));
            let either =
                move || interrupted.load(Ordering::Relaxed) || other.load(Ordering::Relaxed);
            let stop: Cancel = Rc::new(either);
            while let Some(trial) = trials.get(next.fetch_add(1, Ordering::Relaxed)) {
                match self.simulated_trial(trial, &stop) {
                    Ok(true) => {}
                    Ok(false) => return,
                    Err(error) => {
                        failed.store(true, Ordering::Relaxed);
                        failure.lock().get_or_insert(error);
                        return;
                    }
                }
            }
        };
        thread::scope(|scope| {
            // If no more threads can be started, the existing ones run all trials.
            let spawn = |_: &usize| {
                let spawned = thread::Builder::new().spawn_scoped(scope, work);
                spawned.is_ok()
            };
            if (0..jobs.min(trials.len())).take_while(spawn).count() == 0 {
                work();
            }
        });
        failure.into_inner().map_or(Ok(()), Err)
    }

    /// Returns whether it completed.
    fn simulated_trial(&self, trial: &Trial, stop: &Cancel) -> Result<bool, RunError> {
        self.observer.on(Event::TrialBegan { trial, left: None });
        let id = self.prepared.id(trial);
        let tell = |moment| self.observer.on(Event::Simulated { trial, moment });
        let Ok(record) = self.prepared.simulate(&id, stop, &tell) else {
            return Ok(false);
        };
        self.store.keep(&record).map_err(RunError::Store)?;
        let took = None;
        self.observer.on(Event::TrialEnded {
            trial,
            record: &record,
            took,
        });
        Ok(true)
    }
}
