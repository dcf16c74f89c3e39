//! What the trials of a plan need of this machine: whether they fit, how many at once, and how long they take.

use std::path::PathBuf;

use experiment::plan::Trial;
use model::{Bytes, Duration};
use sqlite_vfs::virtual_time::temporary_space;

use super::{Prepared, Rehearsed};
use crate::trial::{Forecast, RehearsalError, memory, memory_needed};

/// Duration from which on it is announced.
const LONG: Duration = Duration::from_secs(60);

/// Memory of the program in addition to its trials.
const MEMORY_OWN: Bytes = Bytes::mib(128);

/// Task memory is rounded up to a multiple of this.
const MEMORY_STEP: Bytes = Bytes::mib(256);

/// What trials need, from their scripts on few rows; nothing where they are not simulated.
#[derive(Default)]
pub struct Needs<'a> {
    /// What is known of their arms.
    pub arms: Vec<Rehearsed<'a>>,
}

/// A trial that this machine cannot hold.
#[derive(Debug, thiserror::Error)]
#[error(
    "a trial needs about {needed} of {what}; use fewer rows (--set workload.parameters.rows=..), or give --allow-large to try"
)]
pub struct TooLarge {
    needed: Bytes,
    what: Space,
}

/// What a trial takes up.
#[derive(Debug)]
enum Space {
    Memory { there: Bytes },
    Temporary { directory: PathBuf, free: Bytes },
}

impl std::fmt::Display for Space {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Space::Memory { there } => write!(f, "memory, and this machine has {there}"),
            Space::Temporary { directory, free } => {
                let directory = directory.display();
                write!(f, "temporary space, and {directory} has {free} free")
            }
        }
    }
}

impl Prepared {
    /// What `trials` need, each of whose scripts is executed on few rows.
    ///
    /// # Errors
    /// The first script that fails.
    pub fn needs(&self, trials: &[Trial]) -> Result<Needs<'_>, RehearsalError> {
        let arms = self.rehearse(trials)?;
        Ok(Needs { arms })
    }
}

impl Needs<'_> {
    /// What a trial needs at most.
    fn largest(&self) -> Forecast {
        let arms = self.arms.iter();
        arms.fold(Forecast::default(), |all, arm| Forecast {
            memory: all.memory.max(arm.forecast.memory),
            disk: all.disk.max(arm.forecast.disk),
            ..all
        })
    }

    /// Checks that this machine can hold every database.
    ///
    /// # Errors
    /// When it cannot.
    pub fn check_fits(&self) -> Result<(), TooLarge> {
        let largest = self.largest();
        if let Some(there) = memory().filter(|there| largest.memory > *there) {
            return Err(TooLarge {
                needed: largest.memory,
                what: Space::Memory { there },
            });
        }
        let (directory, free) = temporary_space();
        match free {
            Ok(free) if largest.disk > free => Err(TooLarge {
                needed: largest.disk,
                what: Space::Temporary { directory, free },
            }),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// How many of at most `wanted` trials fit into this machine's memory together; at least 1.
    pub fn jobs(&self, wanted: usize) -> usize {
        let there = memory().map(|there| there.0 / self.largest().memory.0.max(1));
        let fitting = there.map_or(usize::MAX, |times| {
            usize::try_from(times).unwrap_or(usize::MAX)
        });
        wanted.min(fitting).max(1)
    }

    /// How long all trials take with so many at once at most, and what each takes up, where that is more than a minute. What trials
    /// have in common is simulated once, which makes it shorter.
    pub fn announcement(&self, jobs: usize) -> Option<String> {
        let all: u64 = self.arms.iter().map(|arm| arm.time.as_nanos()).sum();
        let time = Duration::from_nanos(all / jobs as u64);
        let largest = self.largest();
        let held = [
            ("memory", largest.memory),
            ("temporary space", largest.disk),
        ];
        let held = held.into_iter().filter(|(_, bytes)| *bytes > Bytes::ZERO);
        let held: Vec<String> = held.map(|(of, bytes)| format!("{bytes} of {of}")).collect();
        let held = match held.is_empty() {
            true => String::new(),
            false => format!("; each trial up to {}", held.join(" and ")),
        };
        (time > LONG).then(|| format!("takes at most about {}{held}", words(time)))
    }

    /// The arms whose sessions' total read-ahead exceeds the buffer pool, which then evicts pages before they are read.
    pub fn remarks(&self) -> Vec<String> {
        self.arms.iter().filter_map(reads_too_far).collect()
    }

    /// Memory for a task that runs so many trials at once; `None` where nothing is known.
    pub fn task_memory(&self, at_once: u32) -> Option<Bytes> {
        let arms = self.arms.iter();
        let of_arm =
            |arm: &Rehearsed<'_>| arm.forecast.memory.max(memory_needed(&arm.arm.settings));
        arms.map(of_arm)
            .max()
            .map(|trial| task_memory(trial, at_once))
    }

    /// Sentences on the size of each arm's data and its memory; arms with the same amounts share one.
    pub fn sizes(&self) -> Vec<String> {
        let mut lines: Vec<(String, Vec<&str>)> = Vec::new();
        // Plain I/O has no database.
        let of_databases = |arm: &&Rehearsed<'_>| arm.forecast.size.data > Bytes::ZERO;
        for rehearsed in self.arms.iter().filter(of_databases) {
            let data = rehearsed.forecast.size.data;
            let memory = rehearsed.arm.settings.engine.memory;
            let times = data.0 as f64 / memory.0 as f64;
            let line = format!("{data} of data in {memory} of memory, {times:.1} : 1");
            let name = rehearsed.arm.name.as_str();
            match lines.iter_mut().find(|(known, _)| *known == line) {
                Some((_, names)) => names.push(name),
                None => lines.push((line, vec![name])),
            }
        }
        let lines = lines.into_iter();
        lines
            .map(|(line, names)| format!("{}: {line}", names.join(", ")))
            .collect()
    }
}

/// Memory for a task whose trials' memory nothing is known of.
pub fn task_memory_unknown(at_once: u32) -> Bytes {
    task_memory(MEMORY_STEP, at_once)
}

fn task_memory(trial: Bytes, at_once: u32) -> Bytes {
    let trials = trial.0.saturating_mul(u64::from(at_once));
    let steps = trials.saturating_add(MEMORY_OWN.0).div_ceil(MEMORY_STEP.0);
    Bytes(steps.saturating_mul(MEMORY_STEP.0))
}

fn reads_too_far(rehearsed: &Rehearsed<'_>) -> Option<String> {
    let settings = &rehearsed.arm.settings;
    let (ahead, sessions) = (settings.engine.read_ahead, settings.workload.sessions);
    let memory = settings.engine.memory;
    let all = Bytes(ahead.0.saturating_mul(u64::from(sessions)));
    (all > memory).then(|| {
        format!(
            "{}: {sessions} sessions read ahead by {ahead} each, which is {all} together, and engine.memory is {memory}: pages are \
             evicted before they are read",
            rehearsed.arm.name
        )
    })
}

/// `4 min`, `2 h 10 min`
fn words(time: Duration) -> String {
    let minutes = (time.as_secs_f64() / 60.0).ceil() as u64;
    match (minutes / 60, minutes % 60) {
        (0, minutes) => format!("{minutes} min"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_has_memory_for_its_trials_and_the_program_in_whole_steps() {
        // 4 x 100 MiB + 128 MiB = 528 MiB, which is 3 steps of 256 MiB.
        assert_eq!(task_memory(Bytes::mib(100), 4), Bytes::mib(768));
        assert_eq!(task_memory_unknown(1), Bytes::mib(512));
    }

    #[test]
    fn minutes_are_rounded_up() {
        assert_eq!(words(Duration::from_secs(61)), "2 min");
        assert_eq!(words(Duration::from_secs(7_800)), "2 h 10 min");
    }
}
