//! Checks whether a plan can run here: requirements of its mode, duration, and memory and disk space.

use anyhow::Result;
use model::{Bytes, Duration};
use sqlite_vfs::virtual_time::temporary_space;

use super::output::note;
use super::{ExperimentArgs, UsageError};
use experiment::plan::Trial;
use lab::Prepared;
use lab::run::Rehearsed;
use lab::trial::{Forecast, memory};

/// Duration from which on it is announced.
const LONG: Duration = Duration::from_secs(60);

/// Checks that this machine meets the requirements of `prepared`, executes each simulated script on few rows, and
/// announces the duration of a run of more than a minute.
///
/// # Errors
/// What is missing or does not fit, with the remedy; a script that fails.
pub(super) fn check<'a>(
    prepared: &'a Prepared,
    trials: &[Trial],
    args: &ExperimentArgs,
    jobs: usize,
) -> Result<Ready<'a>> {
    prepared.preflight(&args.real_time.options())?;
    let arms = rehearse(prepared, trials, args.allow_large)?;
    let forecast = largest(&arms);
    if !args.allow_large {
        fits(&forecast)?;
    }
    arms.iter()
        .filter_map(reads_too_far)
        .for_each(|remark| note(&remark));
    let jobs = say(&arms, &forecast, trials.len(), jobs);
    Ok(Ready { jobs, arms })
}

/// A plan that can run here.
pub(super) struct Ready<'a> {
    /// How many of the requested jobs fit into this machine's memory.
    pub(super) jobs: usize,
    /// What is known of its arms; empty where they are not simulated, or few rows were not enough.
    pub(super) arms: Vec<Rehearsed<'a>>,
}

/// Reports what [`check`] would refuse or announce for a simulated plan.
///
/// # Errors
/// A script that fails.
pub(super) fn preview(prepared: &Prepared, args: &ExperimentArgs, jobs: usize) -> Result<()> {
    let trials = prepared.plan().trials();
    let arms = rehearse(prepared, trials, true)?;
    let forecast = largest(&arms);
    arms.iter()
        .filter_map(reads_too_far)
        .for_each(|remark| note(&remark));
    if let Err(mistake) = fits(&forecast)
        && !args.allow_large
    {
        note(&format!("dbstow: cannot run here: {mistake}"));
    }
    say(&arms, &forecast, trials.len(), jobs);
    Ok(())
}

/// Executes each simulated script on few rows. Refuses what does not fit into this machine, unless `allow_large`.
fn rehearse<'a>(
    prepared: &'a Prepared,
    trials: &[Trial],
    allow_large: bool,
) -> Result<Vec<Rehearsed<'a>>> {
    match prepared.rehearse(trials) {
        Ok(arms) => Ok(arms),
        Err(error) if error.is_of_sql() || error.is_of_space() && !allow_large => Err(error.into()),
        Err(error) => {
            note(&format!(
                "dbstow: not estimated, since on few rows: {error}"
            ));
            Ok(Vec::new())
        }
    }
}

/// Warns where the sessions' total read-ahead exceeds the buffer pool, which then evicts pages before they are read.
fn reads_too_far(rehearsed: &Rehearsed<'_>) -> Option<String> {
    let settings = &rehearsed.arm.settings;
    let (ahead, sessions) = (settings.engine.read_ahead, settings.workload.sessions);
    let memory = settings.engine.memory;
    let all = Bytes(ahead.0.saturating_mul(u64::from(sessions)));
    (all > memory).then(|| {
        format!(
            "dbstow: {}: {sessions} sessions read ahead by {ahead} each, which is {all} together, and engine.memory is \
             {memory}: pages are evicted before they are read",
            rehearsed.arm.name
        )
    })
}

/// The memory and disk space of the largest trial.
fn largest(arms: &[Rehearsed<'_>]) -> Forecast {
    arms.iter().fold(Forecast::default(), |all, arm| Forecast {
        memory: all.memory.max(arm.forecast.memory),
        disk: all.disk.max(arm.forecast.disk),
        ..all
    })
}

/// Announces the duration of a run of more than a minute. Returns how many of `jobs` parallel trials fit into this
/// machine's memory.
fn say(arms: &[Rehearsed<'_>], forecast: &Forecast, trials: usize, jobs: usize) -> usize {
    let jobs = jobs.min(trials);
    let jobs = jobs.min(fitting(forecast)).max(1);
    let all: u64 = arms.iter().map(|arm| arm.time.as_nanos()).sum();
    let time = Duration::from_nanos(all / jobs as u64);
    if time > LONG {
        let held = [
            ("memory", forecast.memory),
            ("temporary space", forecast.disk),
        ];
        let held = held.into_iter().filter(|(_, bytes)| *bytes > Bytes::ZERO);
        let held: Vec<String> = held.map(|(of, bytes)| format!("{bytes} of {of}")).collect();
        let held = match held.is_empty() {
            true => String::new(),
            false => format!("; each trial up to {}", held.join(" and ")),
        };
        note(&format!("dbstow: takes about {}{held}", words(time)));
    }
    jobs
}

/// Number of trials that fit into memory together.
fn fitting(forecast: &Forecast) -> usize {
    let times = memory().map(|there| there.0 / forecast.memory.0.max(1));
    times.map_or(usize::MAX, |times| {
        usize::try_from(times).unwrap_or(usize::MAX)
    })
}

/// Refuses databases that this machine cannot hold.
fn fits(forecast: &Forecast) -> Result<(), UsageError> {
    let refuse = |needed: Bytes, what: String| {
        Err(UsageError(format!(
            "a trial needs about {needed} of {what}; use fewer rows (--set workload.parameters.rows=..), or give \
             --allow-large to try"
        )))
    };
    if let Some(there) = memory().filter(|there| forecast.memory > *there) {
        return refuse(
            forecast.memory,
            format!("memory, and this machine has {there}"),
        );
    }
    let (directory, free) = temporary_space();
    match free {
        Ok(free) if forecast.disk > free => refuse(
            forecast.disk,
            format!(
                "temporary space, and {} has {free} free",
                directory.display()
            ),
        ),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// `4 min`, `2 h 10 min`
fn words(time: Duration) -> String {
    let minutes = (time.as_secs_f64() / 60.0).ceil() as u64;
    match (minutes / 60, minutes % 60) {
        (0, minutes) => format!("{minutes} min"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}
