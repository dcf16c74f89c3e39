//! `dbstow trial`: runs some trials of a plan file, on any machine.

mod index;

use crate::engines::ENGINES;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use clap::ValueHint;

use super::output::print;
use super::run::interruption::{self, Interruption};
use super::run::progress::RunProgress;
use super::run::{emulator, prompt, resumable};
use super::{RealTimeArgs, UsageError};
use engine::hooks::HostHooks;
use experiment::kind::Kind;
use experiment::plan::{Plan, Trial};
use experiment::record::{Outcome, Record};
use experiment::results::Results;
use experiment::spec::Mode;
use files::input;
use index::{Indices, VARIABLES, chosen};
use lab::plan_file::PlanFile;
use lab::run::Chosen;
use lab::{Prepared, RunInputs, run_into};

/// Arguments of `trial`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    dbstow plan tempdb-scale-out --blocks 100 --out plan.json\n  \
    dbstow trial plan.json --index 7 --out results\n  \
    dbstow trial plan.json --index 0-99 --jobs 8 --out results\n  \
    sbatch --array=0-29 --wrap='dbstow trial plan.json --chunk 10 --out results'\n  \
    dbstow report results\n\n\
    Many may run at once, on many machines, with one results folder on a shared file system. A trial that has a record\n\
    is not run again, so that a task may be repeated.")]
pub struct Args {
    /// Plan, as `dbstow plan --out` wrote it
    #[arg(value_hint = ValueHint::FilePath)]
    pub plan: PathBuf,
    /// Trials to run: an index from 0, or a range such as 0-99 [default: index of the scheduler's task, from
    /// SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX, AWS_BATCH_JOB_ARRAY_INDEX, PBS_ARRAY_INDEX or PBS_ARRAYID]
    #[arg(long, value_name = "N|FIRST-LAST")]
    pub index: Option<Indices>,
    /// Number of trials for each index: with 10, index 3 stands for trials 30 to 39
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub chunk: u32,
    /// Results folder, which trials of the same plan may share
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// Run trials again that have a record
    #[arg(long)]
    pub fresh: bool,
    /// Trials to run in parallel (simulate); results do not change
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub jobs: usize,
    /// Where it runs in real time
    #[command(flatten)]
    pub real_time: RealTimeArgs,
}

/// Runs `dbstow trial`.
///
/// # Errors
/// When the plan or the folder cannot be used, the selection contains no trial of the plan, or a trial failed.
pub fn run(args: &Args) -> Result<()> {
    let file = load(&args.plan)?;
    let all = file.plan.trials();
    let variables: Vec<(&str, String)> = VARIABLES
        .into_iter()
        .filter_map(|name| Some((name, std::env::var(name).ok()?)))
        .collect();
    let count = u32::try_from(all.len()).context("a plan has fewer trials")?;
    let range = chosen(args.index.as_ref(), &variables, args.chunk, count)?;
    let trials = &all[*range.start() as usize..=*range.end() as usize];

    let outstanding: Vec<Trial> = trials
        .iter()
        .filter(|trial| args.fresh || !is_done(&args.out, &file.plan, trial))
        .cloned()
        .collect();
    if !outstanding.is_empty() {
        execute(args, &file, &outstanding)?;
    }
    let outcomes = outcomes(&args.out, &file.plan, trials)?;
    let there = trials.len() - outstanding.len();
    print(&summary(&trials[0], trials.len(), there, args))?;
    check_completed(trials.iter().zip(outcomes))
}

/// The plan in a file.
///
/// # Errors
/// When it cannot be read, or is not a plan.
pub(super) fn load(path: &Path) -> Result<PlanFile> {
    let shown = path.display().to_string();
    let bytes = input::named_bytes(path).map_err(|error| {
        UsageError(format!(
            "{shown}: {error}; give a plan, as `dbstow plan --out` writes it"
        ))
    })?;
    let text = String::from_utf8(bytes).map_err(|_| {
        UsageError(format!(
            "{shown}: it is not text in UTF-8; give a plan, as `dbstow plan --out` writes it"
        ))
    })?;
    Kind::Plan.check(&shown, &text)?;
    PlanFile::from_json(&text).context(shown)
}

/// Whether there is a record that makes running the trial again unnecessary, as for [`Results::outstanding`].
fn is_done(folder: &Path, plan: &Plan, trial: &Trial) -> bool {
    let record = Results::record_of(folder, plan, trial);
    let is_final = |record: &Record| {
        plan.variant.mode == Mode::Simulate || record.outcome == Outcome::Finished
    };
    record.as_ref().is_some_and(is_final)
}

/// Runs `trials`, and stores their records.
fn execute(args: &Args, file: &PlanFile, trials: &[Trial]) -> Result<()> {
    let plan = &file.plan;
    let mode = plan.variant.mode;
    check_place(args, plan)?;
    let inventory = file
        .inventory(ENGINES)
        .with_context(|| args.plan.display().to_string())?;
    let options = args.real_time.options();
    let prepared = Prepared::new(plan, &inventory, &options)?;
    prepared.preflight(&options)?;
    let interruption = Interruption::listen(mode, &args.out)?;
    let results = Results::join(&args.out, prepared.question(), plan.clone())?;
    #[cfg(target_os = "linux")]
    if mode != Mode::Simulate {
        super::orphans::clear()?;
    }
    let shown = RunProgress::new(&plan.experiment, mode, trials.len());
    let interrupted = Arc::clone(&interruption.asked);
    let inputs = RunInputs {
        inventory,
        options,
        keep: false,
        jobs: args.jobs,
        hooks: HostHooks {
            emulator,
            prompt: prompt::prompt(Arc::clone(&interrupted), shown.progress.clone()),
            progress: shown.line(),
            interrupted,
        },
    };
    let store = Chosen {
        results: &results,
        trials: trials.to_vec(),
    };
    let left = run_into(&store, &prepared, &inputs, &shown);
    let left = left.map_err(|error| resumable(error, &args.out))?;
    interruption.idle();
    if interruption.was_asked() {
        bail!(interruption::text(&args.out));
    }
    if !left.lost_emulators.is_empty() {
        bail!(
            "the emulator ended before it was stopped ({}); repeat the trial",
            left.lost_emulators.join("; ")
        );
    }
    if !left.not_put_back.is_empty() {
        bail!("the server was not fully restored; see the messages above");
    }
    Ok(())
}

/// Refuses to run real-time trials in a place other than planned.
fn check_place(args: &Args, plan: &Plan) -> Result<()> {
    if plan.variant.mode == Mode::Simulate {
        return Ok(());
    }
    let engine = ENGINES.find(&plan.variant.engine)?;
    let found = args.real_time.options().facts(engine, &plan.arms);
    let found = found.context("the current directory")?;
    if found == plan.place {
        return Ok(());
    }
    let differing = plan.place.keys().chain(found.keys());
    let name = differing
        .into_iter()
        .find(|name| found.get(*name) != plan.place.get(*name))
        .expect("maps that differ differ in a key");
    let shown =
        |value: Option<&String>| value.map_or("not set".to_owned(), |value| format!("\"{value}\""));
    let message = format!(
        "{}: planned with {name} {}, and here it is {}; give the same options for real time as to `dbstow plan`",
        args.plan.display(),
        shown(plan.place.get(name)),
        shown(found.get(name)),
    );
    Err(UsageError(message).into())
}

/// A one-line summary.
fn summary(first: &Trial, count: usize, there: usize, args: &Args) -> String {
    let out = args.out.display();
    let again = match there {
        0 => String::new(),
        there if there == count => "; --fresh runs it again".to_owned(),
        _ => "; --fresh runs them again".to_owned(),
    };
    let Trial {
        index, arm, block, ..
    } = first;
    if count == 1 {
        let verb = match there {
            0 => "is recorded",
            _ => "was recorded before",
        };
        return format!(
            "trial {index} (block {}, {arm}) {verb} in {out}{again}\n",
            block + 1
        );
    }
    let last = *index as usize + count - 1;
    format!(
        "trials {index} to {last}: {} recorded in {out}, {there} recorded before{again}\n",
        count - there
    )
}

/// The outcomes of the trials, from their records in `folder`.
///
/// # Errors
/// When a trial has no readable record: whatever removed or damaged it, the task is not done.
fn outcomes(folder: &Path, plan: &Plan, trials: &[Trial]) -> Result<Vec<Outcome>> {
    let (mut outcomes, mut missing) = (Vec::new(), Vec::new());
    for trial in trials {
        match Results::record_of(folder, plan, trial) {
            Some(record) => outcomes.push(record.outcome),
            None => missing.push(trial.index),
        }
    }
    let Some(first) = missing.first() else {
        return Ok(outcomes);
    };
    let folder = folder.display();
    match missing.len() - 1 {
        0 => bail!("trial {first} has no record in {folder}; repeat it"),
        others => bail!("trial {first} and {others} more have no record in {folder}; repeat them"),
    }
}

/// Reports failed trials as an error. They are recorded; in virtual time, running them again gives the same result.
fn check_completed<'a>(trials: impl Iterator<Item = (&'a Trial, Outcome)>) -> Result<()> {
    let failed = trials.filter_map(|(trial, outcome)| match outcome {
        Outcome::Failed { error } => Some((trial, error)),
        Outcome::Finished => None,
    });
    let failed: Vec<(&Trial, String)> = failed.collect();
    let Some((trial, error)) = failed.first() else {
        return Ok(());
    };
    let others = match failed.len() - 1 {
        0 => String::new(),
        others => format!(", and {others} more"),
    };
    bail!(
        "trial {} (block {}, {}) failed: {error}{others}; what failed is recorded",
        trial.index,
        trial.block + 1,
        trial.arm
    )
}

#[cfg(test)]
mod tests {
    use experiment::spec::{Spec, Variant};

    use super::*;

    #[test]
    fn a_trial_without_a_record_is_no_success() {
        let spec = Spec::builtin("tempdb-ssd-vs-premium", &[], Variant::default());
        let plan = Plan::new(&spec.expect("it is built in"), false);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let error = |trials| outcomes(folder.path(), &plan, trials).expect_err("no record");
        let all = plan.trials();
        let one = error(&all[3..4]).to_string();
        assert!(one.starts_with("trial 3 has no record in "), "{one}");
        let three = error(&all[..3]).to_string();
        assert!(three.starts_with("trial 0 and 2 more have"), "{three}");
    }
}
