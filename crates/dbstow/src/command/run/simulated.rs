//! Trials in virtual time: several at once, since that changes no result.

use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use anyhow::{Context, Result};

use super::{Ready, id};
use crate::command::progress::Progress;
use experiment::plan::Trial;
use experiment::record::Record;
use experiment::results::Results;
use lab::trial::{self, Cancel, Cancelled};

/// Carries out trials on `jobs` threads, in the order of the plan, writing each record at once.
pub(super) fn carry_out(
    results: &Results,
    ready: &[Ready],
    trials: &[Trial],
    jobs: usize,
    interrupted: &Arc<AtomicBool>,
) -> Result<()> {
    let progress = progress(trials.len());
    let next = AtomicUsize::new(0);
    let failure = Mutex::new(None);
    let work = || {
        let flag = Arc::clone(interrupted);
        let stop: Cancel = Rc::new(move || flag.load(Ordering::Relaxed));
        while let Some(trial) = trials.get(next.fetch_add(1, Ordering::Relaxed)) {
            progress.set_message(&format!("block {} {}", trial.block + 1, trial.arm));
            let Ok(record) = one(results, ready, trial, &stop) else {
                return;
            };
            progress.step();
            if let Err(error) = results.write(&record) {
                // The others stop too: what cannot be kept need not be computed.
                interrupted.store(true, Ordering::Relaxed);
                failure
                    .lock()
                    .unwrap_or_else(|poisoned| poisoned.into_inner())
                    .get_or_insert(error);
                return;
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
    progress.end();
    match failure
        .into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
    {
        Some(error) => Err(error).context("a record could not be kept; those before it were"),
        None => Ok(()),
    }
}

fn one(
    results: &Results,
    ready: &[Ready],
    trial: &Trial,
    stop: &Cancel,
) -> Result<Record, Cancelled> {
    let id = id(&results.plan, trial);
    trial::simulate(&super::subject(&results.plan, ready, &id), stop)
}

fn progress(trials: usize) -> Progress {
    Progress::new(
        trials as u64,
        "{bar:30} {pos}/{len} trials, {eta} left: {msg}",
    )
}
