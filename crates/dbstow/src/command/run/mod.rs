//! `dbstow run`: carries an experiment out and says what came of it.

mod interruption;
mod prompt;
mod real_time;
mod simulated;

use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use anyhow::{Context, Result, anyhow, bail};

use interruption::Interruption;

use super::asked::memory;
use super::output::note;
use super::report::{Output, show};
use super::{Asked, Mistake, Understood};
use analysis::findings::{ArmQuestion, Question};
use experiment::plan::{Plan, Trial};
use experiment::record::Outcome;
use experiment::results::Results;
use experiment::spec::{EngineKind, Mode, Variant};
use lab::engine::sqlserver::{DrivenKind, OPERATIONS_PER_TRIP};
use lab::inventory::Inventory;
use lab::trial::real::{Leftovers, Outside, Places};
use lab::trial::{self, Stage, Subject, TrialId};
use workload::Workload;

/// Arguments of `run`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    dbstow run tempdb-ssd-vs-premium\n  \
    dbstow run tempdb-scale-out --blocks 10 --seed 7\n  \
    dbstow run tempdb-spill --set engine.memory=\"1 GiB\" --format json\n  \
    dbstow run mine.toml --workload ./my-workload --out results/mine\n  \
    dbstow run tempdb-scale-out --mode emulate --engine postgres\n  \
    dbstow run tempdb-ssd-vs-premium --mode measure --volume d=/mnt/nvme --volume f=/mnt/data\n  \
    dbstow run tempdb-ssd-vs-premium --mode measure --engine sqlserver --server sqlserver://sa@db1 \\\n      \
    --volume d='D:\\' --volume f='F:\\tempdb' --restart-command 'ssh db1 systemctl restart mssql-server'")]
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
    /// In which forms
    #[command(flatten)]
    pub output: Output,
    /// Trials at the same time; in virtual time this changes no result [default: the processors]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Leave the volumes of real time as they are in the end, for a look at them
    #[arg(long)]
    pub keep: bool,
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
pub fn run(args: &Args) -> Result<()> {
    let Understood { inventory, plan } = args.asked.understand(args.aa)?;
    let mode = plan.variant.mode;
    check(args, &plan.variant)?;
    let ready = arms(&plan, &inventory, args.asked.place.driven)?;
    let question = question(&plan, &ready);
    let folder = args.out.clone().unwrap_or_else(|| default_folder(&plan));
    // Before the folder is there, so that whoever sees it can interrupt.
    let interruption = Interruption::listen(mode, &folder)?;
    let interrupted = Arc::clone(&interruption.asked);
    let results = Results::create(&folder, question, plan, args.fresh)?;
    let outstanding = results.outstanding();
    if outstanding.len() < results.plan.trials().len() {
        let all = results.plan.trials().len();
        let done = all - outstanding.len();
        note(&format!(
            "{done} of {all} trials are recorded in {} already; --fresh runs them again",
            folder.display()
        ));
    }
    let mut left = Leftovers::default();
    match mode {
        Mode::Simulate => {
            let cores = || thread::available_parallelism().map_or(1, Into::into);
            let jobs = args.jobs.unwrap_or_else(cores).max(1);
            let jobs = jobs.min(fitting(&results.plan));
            simulated::carry_out(&results, &ready, &outstanding, jobs, &interrupted)?;
        }
        Mode::Emulate | Mode::Measure => {
            #[cfg(target_os = "linux")]
            super::emulated::clear_leftovers()?;
            let options = args.asked.place.options();
            let progress = real_time::progress(outstanding.len());
            let outside = Outside {
                emulator,
                prompt: prompt::prompt(Arc::clone(&interrupted), progress.clone()),
                interrupted: Arc::clone(&interrupted),
            };
            let places = Places::claim(&results.plan, &options, args.keep, outside)?;
            let done = real_time::carry_out(
                (&results, &ready),
                &outstanding,
                &places,
                progress,
                &interrupted,
            );
            left = places.close();
            for left in left.others.iter().chain(&left.not_put_back) {
                note(&format!("dbstow: {left}"));
            }
            done?;
        }
    }
    interruption.idle();
    if interruption.was_asked() {
        bail!(interruption::text(&folder));
    }
    show(&results, &args.output)?;
    if !left.lost_emulators.is_empty() {
        bail!(
            "the emulator ended before it was stopped ({}); rerun the same command to repeat the trials that failed",
            left.lost_emulators.join("; ")
        );
    }
    let (records, _) = results.records();
    if !records
        .iter()
        .any(|record| record.outcome == Outcome::Finished)
    {
        bail!("no trial came to its end; the warnings say why");
    }
    if !left.not_put_back.is_empty() {
        bail!("not everything is as it was on the server; what is missing is said above");
    }
    Ok(())
}

/// How many simulated trials this machine has the memory for at the same time; at least one.
fn fitting(plan: &Plan) -> usize {
    let needed = plan.arms.iter();
    let needed = needed.map(|arm| trial::memory_needed(&arm.settings).0);
    let Some((there, needed)) = memory().zip(needed.max()) else {
        return usize::MAX;
    };
    usize::try_from(there.0 / needed.max(1)).map_or(usize::MAX, |jobs| jobs.max(1))
}

/// What only one of the modes knows.
fn check(args: &Args, variant: &Variant) -> Result<()> {
    let mistake = |message: &str| Err(Mistake(message.to_owned()).into());
    match variant.mode {
        Mode::Simulate if args.keep => {
            mistake("--keep is about the volumes of real time, and simulate has none; leave it out")
        }
        Mode::Measure if args.keep && variant.engine == EngineKind::SqlServer => mistake(
            "--keep is about files of our own, and those of a run on SQL Server are the server's; leave it out",
        ),
        Mode::Emulate | Mode::Measure if args.jobs.is_some_and(|jobs| jobs != 1) => mistake(
            "in real time trials run one at a time, so that they do not disturb each other; leave \
             --jobs out",
        ),
        Mode::Simulate | Mode::Emulate | Mode::Measure => Ok(()),
    }
}

/// The command that starts an emulator, which ends with this process.
fn emulator() -> std::io::Result<std::process::Command> {
    #[cfg(target_os = "linux")]
    return super::emulated::attached().map_err(std::io::Error::other);
    #[cfg(not(target_os = "linux"))]
    return Err(std::io::ErrorKind::Unsupported.into());
}

/// Where the results of a plan go, unless the user says so.
pub(super) fn default_folder(plan: &Plan) -> PathBuf {
    PathBuf::from("dbstow-results").join(format!("{}-{}", plan.experiment, &plan.digest()[..8]))
}

/// Looks up what every arm needs, before anything runs.
fn arms(plan: &Plan, inventory: &Inventory, driven: Option<DrivenKind>) -> Result<Vec<Ready>> {
    let ready = plan.arms.iter().map(|arm| {
        let stage = Stage::new(&arm.settings, &inventory.catalogue)
            .with_context(|| format!("arm \"{}\"", arm.name))?;
        let mut workload = inventory
            .workload(&arm.settings.workload)
            .map_err(|error| anyhow!(error))?;
        if driven == Some(DrivenKind::Server) {
            let run = workload.run.on_server(OPERATIONS_PER_TRIP);
            workload.run = run.ok_or_else(|| {
                Mistake(format!(
                    "the workload {} has no loop on the server (`server_loop` in its workload.toml); leave \
                     --driven out",
                    workload.name
                ))
            })?;
        }
        Ok(Ready { stage, workload })
    });
    ready.collect()
}

fn question(plan: &Plan, ready: &[Ready]) -> Question {
    let arm = |(arm, ready): (&experiment::spec::Arm, &Ready)| ArmQuestion {
        name: arm.name.clone(),
        baseline: arm.baseline.clone(),
        published: arm.published.clone(),
        fitted: arm.fitted,
        // Real directories have no list price.
        usd_per_month: ready
            .stage
            .usd_per_month
            .filter(|_| plan.variant.mode != Mode::Measure),
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
            .map(|fitted| analysis::findings::Fitted {
                parameter: fitted.parameter.clone(),
                value: fitted.value.clone(),
                to: fitted.to.clone(),
            })
            .collect(),
        aa: plan.twin.is_some(),
    }
}

/// What a trial is of.
fn subject<'a>(plan: &'a Plan, ready: &'a [Ready], id: &'a TrialId) -> Subject<'a> {
    let place = plan.arms.iter().position(|arm| arm.name == id.arm);
    let place = place.expect("a plan's trials are of its arms");
    Subject {
        id,
        variant: plan.variant,
        settings: &plan.arms[place].settings,
        stage: &ready[place].stage,
        workload: &ready[place].workload,
    }
}

fn id(plan: &Plan, trial: &Trial) -> TrialId {
    TrialId {
        experiment: plan.experiment.clone(),
        plan: plan.digest().to_owned(),
        arm: trial.arm.clone(),
        block: trial.block,
        position: trial.position,
        seed: trial.seed,
    }
}
