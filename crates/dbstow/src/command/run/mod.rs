//! `dbstow run`: runs an experiment and reports the results.

mod args;
pub(super) mod interruption;
pub(super) mod progress;
pub(super) mod prompt;
mod until;
mod watched;

pub use args::Args;

use crate::engines::ENGINES;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail};

use interruption::Interruption;
use until::Until;
use watched::Watched;

use super::backtest::Recorded;
use super::listing::ListFormat;
use super::output::note;
use super::report::{Format, all_completed, findings_of, not_printed, show};
use super::request::report_idle;
#[cfg(feature = "live")]
use super::screen;
use super::{ExperimentArgs, UsageError, drilled, ready};
use analysis::findings::Findings;
use analysis::report::slower::Slower;
use engine::Measured;
use engine::hooks::HostHooks;
use experiment::plan::{Plan, Trial};
use experiment::results::{self, Results};
use experiment::spec::Mode;
use lab::request::ResolvedRun;
use lab::trial::real::Orphans;
use lab::{Prepared, RunError, RunInputs, run_into};

/// Runs `dbstow run`.
///
/// # Errors
/// When the experiment is invalid, the folder cannot be used, or the run was interrupted.
pub fn run(args: &Args) -> Result<()> {
    if args.output.format == Format::Parquet {
        return Err(not_printed());
    }
    if args.untested && args.today.is_none() && args.request.experiment.is_some() {
        let message = "--untested: nothing is tested; add --today FILE, or leave it out";
        return Err(UsageError(message.to_owned()).into());
    }
    let is_tested = args.today.is_some() || args.request.experiment.is_none();
    let recorded = match args.request.profile.is_some() && is_tested {
        true => Some(backtest(args)?),
        false => None,
    };
    if recorded.is_some() && args.request.experiment.is_none() {
        return Ok(());
    }
    let until = args
        .until
        .map(|share| Until::new(share, args.request.blocks));
    let resolved = |blocks| resolved(args, recorded.as_ref(), blocks);
    let mut request = resolved(until.map(Until::first).or(args.request.blocks))?;
    check(args, &request.plan)?;
    if let Some(until) = until {
        until.check(&request.plan)?;
    }
    if let Some(folder) = &args.output.drill {
        drilled::of_experiment(folder, &request.plan.experiment)?;
    }
    let mut rounds = Rounds {
        args,
        folder: args
            .out
            .clone()
            .unwrap_or_else(|| default_folder(&request.plan)),
        interruption: None,
    };
    let (results, left) = loop {
        let (results, left) = rounds.run(request)?;
        let is_sound = left.lost_emulators.is_empty() && left.not_put_back.is_empty();
        let until = until.filter(|_| is_sound);
        match until.and_then(|until| until.more(&findings_of(&results))) {
            Some(blocks) => request = resolved(Some(blocks))?,
            None => break (results, left),
        }
    };
    let findings = show(&results, &args.output)?;
    check_end(&findings, &left)?;
    args.output.judge(|share| Slower::of(&findings, share))
}

/// A run, which continues with more blocks where `--until` asks for them.
struct Rounds<'a> {
    args: &'a Args,
    folder: PathBuf,
    /// Once it listens.
    interruption: Option<Interruption>,
}

impl Rounds<'_> {
    /// Runs the trials of a request that have no record yet.
    fn run(&mut self, request: ResolvedRun) -> Result<(Results, Orphans)> {
        let Rounds { args, folder, .. } = self;
        let ResolvedRun {
            inventory,
            plan,
            idle,
        } = request;
        let is_first = self.interruption.is_none();
        let mode = plan.variant.mode;
        let options = args.request.real_time.options();
        let prepared = Prepared::new(&plan, &inventory, &options)?;
        let defaults = RunInputs::default();
        let mut jobs = args.jobs.unwrap_or(defaults.jobs);
        let fresh = args.fresh && is_first;
        let outstanding = match fresh {
            true => plan.trials().to_vec(),
            false => outstanding(folder, &plan),
        };
        if !outstanding.is_empty() {
            jobs = ready::check(&prepared, &outstanding, &args.request, jobs)?.jobs;
        }
        let mut outlet = None;
        if is_first {
            report_idle(&idle);
            #[cfg(feature = "live")]
            if args.live {
                screen::check()?;
            }
            outlet = args.publish.open()?;
            if args.until.is_some() && outlet.is_some() {
                let message = "--until: metrics are of a run whose number of trials is known; leave out --listen and --metrics, or \
                               give --blocks instead";
                return Err(UsageError(message.to_owned()).into());
            }
        }
        // Before the folder exists, so that a user who sees it can interrupt.
        let interruption = match &mut self.interruption {
            Some(listening) => listening,
            none => none.insert(Interruption::listen(mode, folder)?),
        };
        let results = Results::create(folder, prepared.question(), plan, fresh)?;
        if is_first {
            report_recorded(&results);
        }
        #[cfg(target_os = "linux")]
        if mode != Mode::Simulate {
            crate::command::orphans::clear()?;
        }
        let question = prepared.question();
        let watched = Watched::new(args, outlet, &results, question, interruption)?;
        let interrupted = Arc::clone(&interruption.asked);
        let inputs = RunInputs {
            inventory,
            options,
            keep: args.keep,
            jobs,
            hooks: HostHooks {
                emulator,
                prompt: prompt::prompt(Arc::clone(&interrupted), watched.shown.progress.clone()),
                progress: watched.shown.line(),
                interrupted,
            },
        };
        let left = run_into(&results, &prepared, &inputs, &watched);
        drop(watched);
        let left = left.map_err(|error| resumable(error, folder))?;
        interruption.idle();
        if interruption.was_asked() {
            bail!(interruption::text(folder));
        }
        Ok((results, left))
    }
}

/// Says how many trials need not run.
fn report_recorded(results: &Results) {
    let (outstanding, all) = (results.outstanding().len(), results.plan.trials().len());
    if outstanding < all {
        let done = all - outstanding;
        note(&format!(
            "{done} of {all} trials are recorded in {} already; --fresh runs them again",
            results.folder().display()
        ));
    }
}

/// The experiment, on disks with the latencies that were recorded.
fn resolved(args: &Args, recorded: Option<&Recorded>, blocks: Option<u32>) -> Result<ResolvedRun> {
    let request = ExperimentArgs {
        blocks,
        ..args.request.clone()
    };
    let as_declared = request.resolve(args.aa)?;
    let keys = recorded.map(|recorded| recorded.keys(&as_declared.plan));
    match keys.filter(|keys| !keys.is_empty()) {
        Some(keys) => request.resolve_with(keys, args.aa),
        None => Ok(as_declared),
    }
}

/// Compares the profile with replays on its server's current disks.
fn backtest(args: &Args) -> Result<Recorded> {
    let today = args.today.as_deref();
    let layout = args.request.resolve_today(today)?;
    let format = match args.output.format {
        Format::Text => ListFormat::Text,
        Format::Json if args.request.experiment.is_none() => ListFormat::Json,
        // Only one document is printed: the experiment's.
        Format::Json | Format::Csv | Format::Markdown if args.request.experiment.is_some() => {
            return super::backtest::quietly(&layout, today, args.untested);
        }
        Format::Json | Format::Csv | Format::Markdown | Format::Parquet => {
            let message =
                "a back-test is printed as text or json; give --format text or --format json";
            return Err(UsageError(message.to_owned()).into());
        }
    };
    super::backtest::run(&layout, today, format, args.untested)
}

/// The trials of `plan` without a record in `folder`.
fn outstanding(folder: &Path, plan: &Plan) -> Vec<Trial> {
    match Results::open(folder) {
        Ok(results) => results.outstanding_of(plan),
        // Nothing has run yet, or an invalid folder is refused later.
        Err(_) => plan.trials().to_vec(),
    }
}

/// The error for the user, who can resume from what the folder contains.
pub(super) fn resumable(error: RunError, folder: &Path) -> anyhow::Error {
    match error {
        RunError::GivenUp { .. } => anyhow::anyhow!(
            "{error}; finished trials are kept in {}: fix the cause, then rerun the same command",
            folder.display()
        ),
        RunError::Prepare(error) => error.into(),
        RunError::Volumes(error) => error.into(),
        RunError::Store(_) => error.into(),
    }
}

/// Whether a run whose results were shown is a success.
fn check_end(findings: &Findings, left: &Orphans) -> Result<()> {
    if !left.lost_emulators.is_empty() {
        bail!(
            "the emulator ended before it was stopped ({}); rerun the same command to repeat the trials that failed",
            left.lost_emulators.join("; ")
        );
    }
    all_completed(findings)?;
    if !left.not_put_back.is_empty() {
        bail!("the server was not fully restored; see the messages above");
    }
    Ok(())
}

/// Checks options that only apply to one of the modes.
fn check(args: &Args, plan: &Plan) -> Result<()> {
    let mistake = |message: &str| Err(UsageError(message.to_owned()).into());
    let places_files =
        ENGINES.find(&plan.variant.engine)?.measured(&plan.arms) != Measured::Directories;
    match plan.variant.mode {
        Mode::Simulate if args.keep => {
            mistake("--keep is about the volumes of real time, and simulate has none; leave it out")
        }
        Mode::Measure if args.keep && places_files => mistake(
            "--keep is about files of our own, and those of a run on this engine are the server's; leave it out",
        ),
        Mode::Emulate | Mode::Measure if args.jobs.is_some_and(|jobs| jobs != 1) => mistake(
            "in real time trials run one at a time, so that they do not disturb each other; leave \
             --jobs out",
        ),
        Mode::Simulate | Mode::Emulate | Mode::Measure => Ok(()),
    }
}

/// The command that starts an emulator, which ends with this process.
pub(super) fn emulator() -> std::io::Result<std::process::Command> {
    #[cfg(all(target_os = "linux", feature = "emulator"))]
    return super::emulated::attached().map_err(std::io::Error::other);
    #[cfg(not(all(target_os = "linux", feature = "emulator")))]
    return Err(std::io::ErrorKind::Unsupported.into());
}

/// Default results folder of a plan.
pub(super) fn default_folder(plan: &Plan) -> PathBuf {
    PathBuf::from(results::ALL).join(format!("{}-{}", plan.experiment, &plan.digest()[..8]))
}
