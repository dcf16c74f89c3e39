//! `dbstow plan`: shows what would run, before anything runs.

use std::path::Path;

use anyhow::Result;

use super::run::default_folder;
use super::{Asked, ResolvedRun, ready};
use experiment::plan::{Estimate, Plan};
use experiment::results::Results;
use experiment::spec::Mode;
use lab::{Prepared, RunInputs};

/// Shows what would run: arms, files on volumes, blocks, seeds and order; executes simulated scripts on few rows to
/// estimate its time
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Which experiment.
    #[command(flatten)]
    pub asked: Asked,
    /// Add the baseline once more, to measure the noise floor
    #[arg(long)]
    pub aa: bool,
    /// Print the plan as JSON, with every setting
    #[arg(long)]
    pub json: bool,
}

/// Prints the plan.
///
/// # Errors
/// When the experiment has a mistake.
pub fn run(args: &Args) -> Result<()> {
    let ResolvedRun { inventory, plan } = args.asked.understand(args.aa)?;
    if args.json {
        super::print_json(&format!("{}\n", plan.to_json()))?;
        return Ok(());
    }
    if plan.variant.mode == Mode::Simulate {
        let prepared = Prepared::new(&plan, &inventory, &args.asked.real_time.options())?;
        ready::preview(&prepared, &args.asked, RunInputs::default().jobs)?;
    }
    let mut text = plan.describe();
    if plan.variant.mode != Mode::Simulate {
        text += &format!("takes {}\n", estimate(&plan, &default_folder(&plan)));
    }
    Ok(super::print(&text)?)
}

/// How long all of the plan takes, after earlier trials in `folder` if it holds any.
fn estimate(plan: &Plan, folder: &Path) -> Estimate {
    let earlier = match Results::open(folder) {
        Ok(results) => results.durations(),
        // None has run yet, or elsewhere.
        Err(_) => Default::default(),
    };
    Estimate::of(plan, plan.trials(), &earlier)
}
