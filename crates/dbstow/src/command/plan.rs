//! `dbstow plan`: shows what would run, before anything runs.

use anyhow::Result;

use super::Asked;
use crate::plan::Plan;
use crate::spec::Known;

/// Shows what would run: arms, files on volumes, blocks, seeds and order
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
pub fn run(args: &Args, known: &dyn Known) -> Result<()> {
    let plan = Plan::new(&args.asked.spec(known)?, args.aa);
    if args.json {
        super::print(&format!("{}\n", plan.to_json()))?;
    } else {
        super::print(&plan.describe())?;
    }
    Ok(())
}
