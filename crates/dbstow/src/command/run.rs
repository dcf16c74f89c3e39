//! `dbstow run`: carries an experiment out and says what came of it.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use anyhow::{Context, Result, anyhow, bail};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Asked;
use super::report::{Format, show};
use crate::findings::{ArmQuestion, Question};
use crate::inventory::Inventory;
use crate::plan::{Plan, Trial};
use crate::results::Results;
use crate::trial::{self, Stage, TrialId};
use crate::workload::Workload;

/// Arguments of `run`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    dbstow run tempdb-ssd-vs-premium\n  \
    dbstow run tempdb-scale-out --blocks 10 --seed 7\n  \
    dbstow run tempdb-spill --set engine.memory=\"1 GiB\" --format json\n  \
    dbstow run mine.toml --workload ./my-workload --out results/mine")]
pub struct Args {
    /// The experiment
    #[command(flatten)]
    pub asked: Asked,
    /// Run the baseline as its own twin too, which shows the noise floor
    #[arg(long)]
    pub aa: bool,
    /// Results folder [default: dbstow-results/EXPERIMENT-PLAN]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Remove the records of an earlier run in that folder first
    #[arg(long)]
    pub fresh: bool,
    /// How to print what was found
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Trials at the same time; in virtual time this changes no result [default: the processors]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
}

/// An arm with everything looked up.
struct Ready {
    stage: Stage,
    workload: Workload,
}

/// Carries out `dbstow run`.
///
/// # Errors
/// When the experiment has a mistake, the folder cannot be used, or the run was interrupted.
pub fn run(args: &Args, inventory: &Inventory) -> Result<()> {
    let spec = args.asked.spec(inventory)?;
    let plan = Plan::new(&spec, args.aa);
    let ready = arms(&plan, inventory)?;
    let question = question(&plan, &ready);
    let folder = args.out.clone().unwrap_or_else(|| default_folder(&plan));
    let results = Results::create(&folder, question, plan, args.fresh)?;
    let outstanding = results.outstanding();
    if outstanding.len() < results.plan.trials().len() {
        let all = results.plan.trials().len();
        let done = all - outstanding.len();
        eprintln!(
            "{done} of {all} trials are recorded in {} already; --fresh runs them again",
            folder.display()
        );
    }
    let interrupted = interruption()?;
    let jobs = args
        .jobs
        .or_else(|| thread::available_parallelism().ok().map(Into::into))
        .unwrap_or(1);
    carry_out(&results, &ready, &outstanding, jobs.max(1), &interrupted)?;
    if interrupted.load(Ordering::Relaxed) {
        bail!(
            "interrupted; what is finished is kept in {}: the same command goes on from there, `dbstow report {}` shows it",
            folder.display(),
            folder.display()
        );
    }
    show(&results, args.format)
}

fn default_folder(plan: &Plan) -> PathBuf {
    PathBuf::from("dbstow-results").join(format!("{}-{}", plan.experiment, &plan.digest()[..8]))
}

/// Looks up what every arm needs, before anything runs.
fn arms(plan: &Plan, inventory: &Inventory) -> Result<Vec<Ready>> {
    let ready = plan.arms.iter().map(|arm| {
        let stage = Stage::new(&arm.settings, &inventory.catalogue)
            .with_context(|| format!("arm \"{}\"", arm.name))?;
        let workload = inventory
            .workload(&arm.settings.workload)
            .map_err(|error| anyhow!(error))?;
        Ok(Ready { stage, workload })
    });
    ready.collect()
}

fn question(plan: &Plan, ready: &[Ready]) -> Question {
    let arm = |(arm, ready): (&crate::spec::Arm, &Ready)| ArmQuestion {
        name: arm.name.clone(),
        baseline: arm.baseline.clone(),
        published: arm.published.clone(),
        fitted: arm.fitted,
        usd_per_month: ready.stage.usd_per_month,
    };
    let asked = plan
        .arms
        .iter()
        .zip(ready)
        .filter(|(arm, _)| plan.twin.as_ref() != Some(&arm.name));
    Question {
        experiment: plan.experiment.clone(),
        question: plan.question.clone(),
        source: plan.source.as_ref().map(ToString::to_string),
        mode: plan.variant.mode.to_string(),
        seed: plan.protocol.seed,
        blocks: plan.protocol.blocks,
        margin: plan.protocol.margin,
        baseline: Some(plan.protocol.baseline.clone()),
        metric: plan.protocol.metric.clone(),
        arms: asked.map(arm).collect(),
        fitted: plan
            .fitted
            .iter()
            .map(|fitted| crate::findings::Fitted {
                parameter: fitted.parameter.clone(),
                value: fitted.value.clone(),
                to: fitted.to.clone(),
            })
            .collect(),
        aa: plan.twin.is_some(),
    }
}

/// Set by Ctrl-C or a request to terminate; a second one ends the program at once.
fn interruption() -> Result<Arc<AtomicBool>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&interrupted);
    ctrlc::set_handler(move || {
        if seen.swap(true, Ordering::Relaxed) {
            // Records are written whole or not at all, so there is nothing left to save.
            std::process::abort();
        }
        eprintln!("\nfinishing the present trials' operations; once more to stop at once");
    })
    .context("a handler for Ctrl-C")?;
    Ok(interrupted)
}

/// Carries out trials on `jobs` threads, in the order of the plan, writing each record at once.
fn carry_out(
    results: &Results,
    ready: &[Ready],
    trials: &[Trial],
    jobs: usize,
    interrupted: &AtomicBool,
) -> Result<()> {
    let progress = progress(trials.len());
    let next = AtomicUsize::new(0);
    let failure = Mutex::new(None);
    thread::scope(|scope| {
        for _ in 0..jobs.min(trials.len()) {
            scope.spawn(|| {
                while let Some(trial) = trials.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let stop = || interrupted.load(Ordering::Relaxed);
                    progress.set_message(format!("block {} {}", trial.block + 1, trial.arm));
                    let Ok(record) = one(results, ready, trial, &stop) else {
                        return;
                    };
                    progress.inc(1);
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
            });
        }
    });
    progress.finish_and_clear();
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
    stop: &dyn Fn() -> bool,
) -> Result<crate::record::Record, trial::Cancelled> {
    let plan = &results.plan;
    let place = plan
        .arms
        .iter()
        .position(|arm| arm.name == trial.arm)
        .expect("a plan's trials are of its arms");
    let id = TrialId {
        experiment: plan.experiment.clone(),
        plan: plan.digest().to_owned(),
        arm: trial.arm.clone(),
        block: trial.block,
        position: trial.position,
        seed: trial.seed,
    };
    let Ready { stage, workload } = &ready[place];
    trial::simulate(&id, &plan.arms[place].settings, stage, workload, stop)
}

fn progress(trials: usize) -> ProgressBar {
    let target = if std::io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} trials, {eta} left: {msg}")
        .expect("the template is well-formed");
    let progress = ProgressBar::with_draw_target(Some(trials as u64), target).with_style(style);
    progress.enable_steady_tick(std::time::Duration::from_millis(200));
    progress
}
