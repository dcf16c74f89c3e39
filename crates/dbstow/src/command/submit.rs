//! `dbstow submit`: writes the batch script or manifest that runs a plan's trials on a cluster. It submits nothing.

use crate::engines::ENGINES;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::ValueHint;
use files::write_named;
use model::{Bytes, Duration};

use super::output::note;
use super::run::default_folder;
use super::trial::load;
use super::{UsageError, print};
use engine::Options;
use experiment::plan::{Plan, counted};
use experiment::spec::Mode;
use lab::Prepared;
use lab::plan_file::PlanFile;
use lab::run::task_memory_unknown;
use layout::job::{Claim, Job, KUBERNETES_TASKS_MAX, Pods};

/// Arguments of `submit`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    dbstow plan tempdb-scale-out --blocks 100 --out plan.json\n  \
    dbstow submit plan.json --to slurm --out job.sh\n  \
    dbstow submit plan.json --to slurm --chunk 10 --cores 4 --time-limit '30 min' --out job.sh\n  \
    dbstow submit plan.json --to kubernetes --image registry.example/dbstow:0.1.0 --out job.yaml\n  \
    dbstow submit plan.json --to kubernetes --image registry.example/dbstow:0.1.0 --claim shared")]
pub struct Args {
    /// Plan, as `dbstow plan --out` wrote it
    #[arg(value_hint = ValueHint::FilePath)]
    pub plan: PathBuf,
    /// What runs the tasks
    #[arg(long, value_enum)]
    pub to: Scheduler,
    /// Write to this file, and print the command that submits it [default: print the script or manifest]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    /// Results folder, as tasks find it; on Kubernetes, in the volume [default: dbstow-results/EXPERIMENT-PLAN]
    #[arg(long, value_name = "FOLDER")]
    pub results: Option<String>,
    /// Trials of a task [default: as many as make 1000 tasks of the plan, at least 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub chunk: Option<u32>,
    /// Processors of a task, which runs as many trials in parallel
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub cores: u32,
    /// Memory of a task [default: what its trials are expected to need]
    #[arg(long, value_name = "BYTES")]
    pub memory: Option<Bytes>,
    /// Longest that a task may take, such as '30 min'
    #[arg(long, value_name = "TIME")]
    pub time_limit: Option<Duration>,
    /// Most tasks to run at once [default: no limit for Slurm, 100 for Kubernetes]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub at_once: Option<u32>,
    /// How often a task that failed or was killed is repeated
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub retries: u32,
    /// The program, as tasks find it
    #[arg(long, value_name = "PATH", default_value = "dbstow")]
    pub program: String,
    /// Container image that has the program (kubernetes)
    #[arg(long, value_name = "IMAGE")]
    pub image: Option<String>,
    /// Claim of a volume that all nodes can write to (kubernetes) [default: a new claim]
    #[arg(long, value_name = "NAME")]
    pub claim: Option<String>,
    /// Size of the new claim (kubernetes) [default: 10 GiB]
    #[arg(long, value_name = "BYTES", conflicts_with = "claim")]
    pub claim_size: Option<Bytes>,
    /// Storage class of the new claim (kubernetes) [default: the cluster's]
    #[arg(long, value_name = "NAME", conflicts_with = "claim")]
    pub storage_class: Option<String>,
}

/// What runs tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Scheduler {
    /// A batch script with an array of tasks
    Slurm,
    /// A manifest of an Indexed Job
    Kubernetes,
}

/// Runs `dbstow submit`.
///
/// # Errors
/// When the plan cannot be used, or options conflict.
pub fn run(args: &Args) -> Result<()> {
    let file = load(&args.plan)?;
    check(args, &file.plan)?;
    let job = job(args, &file)?;
    let default = match args.to {
        Scheduler::Slurm => "job.sh",
        Scheduler::Kubernetes => "job.yaml",
    };
    let name = args
        .out
        .as_ref()
        .map_or_else(|| default.to_owned(), |file| file.display().to_string());
    let submission = match &args.image {
        None => job.slurm(&name),
        Some(image) => job.kubernetes(&pods(args, image)?, &name),
    };
    let Some(out) = &args.out else {
        return Ok(print(&submission.text)?);
    };
    write_named(out, submission.text.as_bytes())?;
    let preparation = submission.preparation.map(|text| text + " ");
    let preparation = preparation.unwrap_or_default();
    note(&format!(
        "dbstow: {} in {}, {} of memory each; nothing is submitted yet. {preparation}Submit them with:",
        counted(job.trials, "trial"),
        counted(job.tasks(), "task"),
        job.memory
    ));
    Ok(print(&format!("{}\n", submission.commands.join("\n")))?)
}

/// Checks for conflicting options.
fn check(args: &Args, plan: &Plan) -> Result<(), UsageError> {
    if plan.variant.mode != Mode::Simulate {
        return Err(UsageError(format!(
            "{}: its mode is {}, whose trials take a machine each, with its directories; write a script of your own around \
             `dbstow trial`, one task at a time on a machine",
            args.plan.display(),
            plan.variant.mode
        )));
    }
    let own = [
        ("--image", args.image.is_some()),
        ("--claim", args.claim.is_some()),
        ("--claim-size", args.claim_size.is_some()),
        ("--storage-class", args.storage_class.is_some()),
    ];
    match args.to {
        Scheduler::Kubernetes if args.image.is_none() => Err(UsageError(
            "--to kubernetes: give the container image that has dbstow with --image".to_owned(),
        )),
        Scheduler::Slurm => match own.iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => Err(UsageError(format!(
                "{option} is for Kubernetes; leave it out, or give --to kubernetes"
            ))),
            None => Ok(()),
        },
        Scheduler::Kubernetes => Ok(()),
    }
}

fn job(args: &Args, file: &PlanFile) -> Result<Job> {
    let plan = &file.plan;
    let trials = u32::try_from(plan.trials().len()).context("a plan has fewer trials")?;
    let memory = match args.memory {
        Some(memory) => memory,
        None => memory(file, args.cores).with_context(|| args.plan.display().to_string())?,
    };
    let job = Job {
        experiment: plan.experiment.clone(),
        digest: plan.digest().to_owned(),
        trials,
        chunk: args.chunk.unwrap_or_else(|| Job::chunk_of(trials)),
        plan: args.plan.display().to_string(),
        results: match &args.results {
            Some(results) => results.clone(),
            // Tasks run on Unix, wherever this file is generated.
            None => {
                let folder = default_folder(plan);
                let parts = folder.iter().map(|part| part.to_string_lossy());
                parts.collect::<Vec<_>>().join("/")
            }
        },
        program: args.program.clone(),
        cores: args.cores,
        memory,
        retries: args.retries,
        time_limit: args.time_limit,
        at_once: args.at_once,
    };
    if args.to == Scheduler::Kubernetes && job.tasks() > KUBERNETES_TASKS_MAX {
        let message = format!(
            "--chunk {}: {} tasks are more than the {KUBERNETES_TASKS_MAX} that a Job can have; give a larger --chunk",
            job.chunk,
            job.tasks()
        );
        return Err(UsageError(message).into());
    }
    Ok(job)
}

/// The expected memory of a task; executes each script of the plan on few rows.
fn memory(file: &PlanFile, cores: u32) -> Result<Bytes> {
    let prepared = Prepared::new(&file.plan, &file.inventory(ENGINES)?, &Options::default())?;
    let known = match prepared.needs(file.plan.trials()) {
        Ok(needs) => needs.task_memory(cores),
        Err(error) if error.is_of_sql() => return Err(error.into()),
        Err(error) => {
            note(&format!(
                "dbstow: memory could not be estimated: the scripts failed on few rows: {error}; give --memory"
            ));
            None
        }
    };
    Ok(known.unwrap_or_else(|| task_memory_unknown(cores)))
}

fn pods(args: &Args, image: &str) -> Result<Pods> {
    let claim = match &args.claim {
        Some(name) => Claim::Existing(name.clone()),
        None => Claim::New {
            size: args.claim_size.unwrap_or(Bytes::gib(10)),
            class: args.storage_class.clone(),
        },
    };
    let shown = || args.plan.display().to_string();
    Ok(Pods {
        image: image.to_owned(),
        claim,
        plan_size: Bytes(std::fs::metadata(&args.plan).with_context(shown)?.len()),
    })
}
