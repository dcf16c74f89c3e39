//! `dbstow check`: reads an experiment and says whether it can be run, without running it.

use anyhow::Result;

use super::Asked;

/// Checks an experiment without running it
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Which experiment.
    #[command(flatten)]
    pub asked: Asked,
}

/// Prints one line if all is well.
///
/// # Errors
/// The first mistake.
pub fn run(args: &Args) -> Result<()> {
    let plan = args.asked.understand(false)?.plan;
    Ok(super::print(&format!(
        "{}: OK; {} arms x {} blocks = {} trials\n",
        args.asked.experiment,
        plan.arms.len(),
        plan.protocol.blocks,
        plan.trials().len()
    ))?)
}
