//! `dbstow check`: reads an experiment and reports whether it can run. In simulate mode it executes every script once, on
//! few rows, and reports the size of the data.

use anyhow::Result;

use super::output::note;
use super::request::report_idle;
use super::{ExperimentArgs, ready};
use lab::{Prepared, RunInputs};

/// Checks an experiment without running it
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Which experiment.
    #[command(flatten)]
    pub request: ExperimentArgs,
}

/// Prints the success, the assumptions, and for simulated arms the size of the data.
///
/// # Errors
/// The first error.
pub fn run(args: &Args) -> Result<()> {
    let resolved = args.request.resolve(false)?;
    let (plan, inventory) = (&resolved.plan, &resolved.inventory);
    let prepared = Prepared::new(plan, inventory, &args.request.real_time.options())?;
    if prepared.has_one_writer() {
        note(
            "dbstow: sessions write to one database: SQLite lets one of them write at a time, so that locks may limit \
             it before the disks do; a server does not (--engine postgres), nor does simulate",
        );
    }
    let trials = prepared.plan().trials();
    let ready = ready::check(&prepared, trials, &args.request, RunInputs::default().jobs)?;
    let experiment = args.request.experiment.as_deref().unwrap_or_default();
    report_idle(&resolved.idle);
    for text in prepared.notes() {
        note(&format!("dbstow: {text}"));
    }
    if let Some(text) = resolved.local_data() {
        note(&format!("dbstow: {text}"));
    }
    // Trials are in a random order.
    let mut needs = ready.needs;
    let place = |name: &str| plan.all_arms().position(|arm| arm.name == name);
    needs.arms.sort_by_key(|known| place(&known.arm.name));
    let sizes = needs.sizes().into_iter();
    let sizes: String = sizes.map(|size| format!("{size}\n")).collect();
    Ok(super::print(&format!(
        "{experiment}: OK; {}\n{sizes}",
        plan.size()
    ))?)
}
