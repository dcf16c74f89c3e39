//! `dbstow check`: reads an experiment and reports whether it can run. In simulate mode it executes every script once, on
//! few rows, and reports the size of the data.

use anyhow::Result;

use super::output::note;
use super::request::report_idle;
use super::{ExperimentArgs, ready};
use catalogue::Catalogue;
use experiment::plan::Plan;
use experiment::spec::{Mode, Role, Settings, Volume};
use lab::request::ResolvedRun;
use lab::run::Rehearsed;
use lab::{Prepared, RunInputs};
use model::Bytes;

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
/// The first mistake.
pub fn run(args: &Args) -> Result<()> {
    let ResolvedRun {
        inventory,
        plan,
        idle,
    } = args.request.resolve(false)?;
    let prepared = Prepared::new(&plan, &inventory, &args.request.real_time.options())?;
    if prepared.has_one_writer() {
        note(
            "dbstow: sessions write to one database: SQLite lets one of them write at a time, so that locks may limit \
             it before the disks do; a server does not (--engine postgres), nor does simulate",
        );
    }
    let trials = prepared.plan().trials();
    let ready = ready::check(&prepared, trials, &args.request, RunInputs::default().jobs)?;
    let experiment = args.request.experiment.as_deref().unwrap_or_default();
    let mut arms = ready.arms;
    report_idle(&idle);
    for text in prepared.notes() {
        note(&format!("dbstow: {text}"));
    }
    if args.request.mode != Mode::Measure
        && let Some(text) = local_data(&plan, &inventory.catalogue)
    {
        note(&format!("dbstow: {text}"));
    }
    // Trials are in a random order.
    let place = |name: &str| plan.all_arms().position(|arm| arm.name == name);
    arms.sort_by_key(|rehearsed| place(&rehearsed.arm.name));
    let sizes = sizes(&arms);
    Ok(super::print(&format!(
        "{experiment}: OK; {}\n{sizes}",
        plan.size()
    ))?)
}

/// The arms with data or log on a disk that is empty after a stop, where there are some; `run` warns of them, too.
fn local_data(plan: &Plan, catalogue: &Catalogue) -> Option<String> {
    let is_kept = |settings: &Settings| {
        let machine = settings.machine.kind.as_deref();
        let forgets = |volume: &&Volume| {
            catalogue
                .after_stop(&volume.disk.to_string(), machine)
                .forgets()
        };
        let lasting = Role::ALL.into_iter().filter(|role| *role != Role::Temp);
        let mut files = lasting.flat_map(|role| settings.placement.files(role));
        files.any(|file| {
            let mut volumes = settings.volumes.iter().filter(forgets);
            volumes.any(|volume| volume.name == file.volume)
        })
    };
    let arms = plan.all_arms().filter(|arm| is_kept(&arm.settings));
    let arms: Vec<&str> = arms.map(|arm| arm.name.as_str()).collect();
    (!arms.is_empty()).then(|| {
        format!(
            "{}: data or log is on a disk that is empty after its machine was stopped, moved or failed",
            arms.join(", ")
        )
    })
}

/// The data size of each arm relative to its memory; arms with the same amounts share a line.
fn sizes(arms: &[Rehearsed<'_>]) -> String {
    let mut lines: Vec<(String, Vec<&str>)> = Vec::new();
    for rehearsed in arms {
        let (data, memory) = (
            rehearsed.forecast.size.data,
            rehearsed.arm.settings.engine.memory,
        );
        if data == Bytes::ZERO {
            // Plain I/O has no database.
            continue;
        }
        let times = data.0 as f64 / memory.0 as f64;
        let line = format!("{data} of data in {memory} of memory, {times:.1} : 1");
        let name = rehearsed.arm.name.as_str();
        match lines.iter_mut().find(|(known, _)| *known == line) {
            Some((_, names)) => names.push(name),
            None => lines.push((line, vec![name])),
        }
    }
    let lines = lines.iter();
    lines
        .map(|(line, names)| format!("{}: {line}\n", names.join(", ")))
        .collect()
}
