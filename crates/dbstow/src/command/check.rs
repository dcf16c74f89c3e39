//! `dbstow check`: reads an experiment and says whether it can be run. In simulate it executes every script once, on
//! few rows.

use anyhow::Result;

use super::output::note;
use super::{Asked, ResolvedRun, ready};
use lab::{Prepared, RunInputs};

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
    let ResolvedRun { inventory, plan } = args.asked.understand(false)?;
    let prepared = Prepared::new(&plan, &inventory, &args.asked.real_time.options())?;
    let trials = prepared.plan().trials();
    ready::check(&prepared, trials, &args.asked, RunInputs::default().jobs)?;
    if prepared.has_one_writer() {
        note(
            "dbstow: sessions write to one database: SQLite lets one of them write at a time, so that locks may limit \
             it before the disks do; a server does not (--engine postgres), nor does simulate",
        );
    }
    Ok(super::print(&format!(
        "{}: OK; {}\n",
        args.asked.experiment,
        plan.size()
    ))?)
}
