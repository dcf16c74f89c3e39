//! Trials in virtual time: several at a time, since that does not change the results.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use experiment::plan::Trial;
use parking_lot::Mutex;

use super::{Event, Run, RunError};
use crate::trial::Cancel;

/// Trials that no thread has taken yet, in their order.
struct Queue<'a> {
    left: VecDeque<&'a Trial>,
    /// The block of each trial under way.
    under_way: Vec<u32>,
}

impl<'a> Queue<'a> {
    fn of(trials: &'a [Trial]) -> Queue<'a> {
        Queue {
            left: trials.iter().collect(),
            under_way: Vec::new(),
        }
    }

    /// The next trial: of a block of which none is under way, if possible. Trials of one block that run at the same time would wait
    /// for what is executed once for all of them.
    fn take(&mut self) -> Option<&'a Trial> {
        let is_alone = |trial: &&Trial| !self.under_way.contains(&trial.block);
        let place = self.left.iter().position(is_alone).unwrap_or(0);
        let trial = self.left.remove(place)?;
        self.under_way.push(trial.block);
        Some(trial)
    }

    fn end(&mut self, trial: &Trial) {
        let place = self
            .under_way
            .iter()
            .position(|block| *block == trial.block);
        self.under_way.swap_remove(place.expect("it was taken"));
    }
}

impl Run<'_> {
    /// Runs `trials` on `jobs` threads.
    pub(super) fn simulated(&self, trials: &[Trial], jobs: usize) -> Result<(), RunError> {
        self.observer.on(Event::Planned { trials, left: None });
        let queue = Mutex::new(Queue::of(trials));
        // What cannot be stored need not be computed.
        let failed = Arc::<AtomicBool>::default();
        let failure = Mutex::new(None);
        let work = || {
            let (interrupted, other) = (Arc::clone(self.interrupted), Arc::clone(&failed));
            let either =
                move || interrupted.load(Ordering::Relaxed) || other.load(Ordering::Relaxed);
            let stop: Cancel = Rc::new(either);
            loop {
                let Some(trial) = queue.lock().take() else {
                    return;
                };
                let simulated = self.simulated_trial(trial, &stop);
                queue.lock().end(trial);
                match simulated {
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
        let report = |moment| self.observer.on(Event::Simulated { trial, moment });
        let Ok(record) = self.prepared.simulate(&id, stop, &report) else {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_of_other_blocks_come_first_while_one_of_a_block_is_under_way() {
        let trial = |index, block| Trial {
            index,
            arm: String::new(),
            block,
            position: 0,
            seed: 0,
        };
        let trials = [
            trial(0, 0),
            trial(1, 0),
            trial(2, 1),
            trial(3, 1),
            trial(4, 2),
        ];
        let mut queue = Queue::of(&trials);
        let take = |queue: &mut Queue<'_>| queue.take().map(|trial| trial.index);
        // Two threads: each has a block to itself, and stays in it.
        assert_eq!([take(&mut queue), take(&mut queue)], [Some(0), Some(2)]);
        queue.end(&trials[0]);
        assert_eq!(take(&mut queue), Some(1));
        queue.end(&trials[2]);
        assert_eq!(take(&mut queue), Some(3));
        // Three: the next block; then whatever is left.
        assert_eq!(take(&mut queue), Some(4));
        assert_eq!(take(&mut queue), None);

        let mut alone = Queue::of(&trials[..2]);
        assert_eq!([take(&mut alone), take(&mut alone)], [Some(0), Some(1)]);
    }
}
