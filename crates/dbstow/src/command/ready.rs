//! Checks whether a plan can run here, and announces how long it takes.

use anyhow::Result;

use super::ExperimentArgs;
use super::output::note;
use experiment::plan::Trial;
use lab::Prepared;
use lab::run::Needs;

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
    let needs = needs(prepared, trials, args.allow_large)?;
    if !args.allow_large {
        needs.check_fits()?;
    }
    let jobs = announce(&needs, trials.len(), jobs);
    Ok(Ready { jobs, needs })
}

/// A plan that can run here.
pub(super) struct Ready<'a> {
    /// How many of the requested jobs fit into this machine's memory.
    pub(super) jobs: usize,
    /// What is known of its arms.
    pub(super) needs: Needs<'a>,
}

/// Reports what [`check`] would refuse or announce for a simulated plan.
///
/// # Errors
/// A script that fails.
pub(super) fn preview(prepared: &Prepared, args: &ExperimentArgs, jobs: usize) -> Result<()> {
    let trials = prepared.plan().trials();
    let needs = needs(prepared, trials, true)?;
    if let Err(mistake) = needs.check_fits()
        && !args.allow_large
    {
        note(&format!("dbstow: cannot run here: {mistake}"));
    }
    announce(&needs, trials.len(), jobs);
    Ok(())
}

/// What trials need. Refuses what does not fit into this machine, unless `allow_large`.
fn needs<'a>(prepared: &'a Prepared, trials: &[Trial], allow_large: bool) -> Result<Needs<'a>> {
    match prepared.needs(trials) {
        Ok(needs) => Ok(needs),
        Err(error) if error.is_of_sql() || error.is_of_space() && !allow_large => Err(error.into()),
        Err(error) => {
            note(&format!(
                "dbstow: not estimated, since on few rows: {error}"
            ));
            Ok(Needs::default())
        }
    }
}

/// Prints remarks, and the duration of a run of more than a minute. Returns how many of `jobs` fit into memory.
fn announce(needs: &Needs<'_>, trials: usize, jobs: usize) -> usize {
    let jobs = needs.jobs(jobs.min(trials));
    for text in needs.remarks().into_iter().chain(needs.announcement(jobs)) {
        note(&format!("dbstow: {text}"));
    }
    jobs
}
