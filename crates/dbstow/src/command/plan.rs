//! `dbstow plan`: shows what would run, before anything runs.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::ValueHint;
use files::write_named;

use super::output::note;
use super::request::report_idle;
use super::run::default_folder;
use super::{ExperimentArgs, UsageError, ready};
use experiment::plan::{Estimate, Plan};
use experiment::results::Results;
use experiment::spec::Mode;
use lab::inventory::Inventory;
use lab::plan_file::PlanFile;
use lab::request::ResolvedRun;
use lab::{Prepared, RunInputs};

/// Shows what would run: arms, files on volumes, blocks, seeds and order; executes simulated scripts on few rows to
/// estimate its time
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    dbstow plan tempdb-scale-out\n  \
    dbstow plan tempdb-scale-out --blocks 10 --json\n  \
    dbstow plan mine.toml --set workload.sessions=1,2,4,8 --catalogue disks.toml --out plan.json\n  \
    dbstow submit plan.json --to slurm")]
pub struct Args {
    /// Which experiment.
    #[command(flatten)]
    pub request: ExperimentArgs,
    /// Add the baseline once more, to measure the noise floor
    #[arg(long)]
    pub aa: bool,
    /// Print the plan as JSON, with every setting
    #[arg(long)]
    pub json: bool,
    /// Write the plan to this file, with the catalogues, workloads and profiles of your own that it refers to, so that its
    /// trials can run on other machines (`dbstow trial`, `dbstow submit`)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
}

/// Prints the plan.
///
/// # Errors
/// When the experiment is invalid.
pub fn run(args: &Args) -> Result<()> {
    let ResolvedRun {
        inventory,
        plan,
        idle,
    } = args.request.resolve(args.aa)?;
    report_idle(&idle);
    if let Some(file) = &args.out {
        write(file, plan.clone(), &inventory)?;
    }
    if args.json {
        super::print_json(&format!("{}\n", plan.to_json()))?;
        return Ok(());
    }
    if plan.variant.mode == Mode::Simulate {
        let prepared = Prepared::new(&plan, &inventory, &args.request.real_time.options())?;
        ready::preview(&prepared, &args.request, RunInputs::default().jobs)?;
    }
    let mut text = plan.describe();
    if plan.variant.mode != Mode::Simulate {
        text += &format!("takes {}\n", estimate(&plan, &default_folder(&plan)));
    }
    Ok(super::print(&text)?)
}

/// Writes the plan with everything that it refers to.
///
/// # Errors
/// When a user's file can no longer be read, or the plan cannot be written.
pub(super) fn write(file: &Path, plan: Plan, inventory: &Inventory) -> Result<()> {
    let trials = plan.trials().len();
    let text = PlanFile::new(plan, inventory)
        .map_err(UsageError)?
        .to_json();
    write_named(file, format!("{text}\n").as_bytes())?;
    let planned = match trials {
        1 => "1 trial is".to_owned(),
        more => format!("{more} trials, 0 to {}, are", more.saturating_sub(1)),
    };
    note(&format!("dbstow: {planned} planned in {}", file.display()));
    Ok(())
}

/// The duration of the whole plan, estimated from earlier trials in `folder` if there are any.
fn estimate(plan: &Plan, folder: &Path) -> Estimate {
    let earlier = match Results::open(folder) {
        Ok(results) => results.durations(),
        // None has run yet, or it ran elsewhere.
        Err(_) => Default::default(),
    };
    Estimate::of(plan, plan.trials(), &earlier)
}
