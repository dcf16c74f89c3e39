//! `dbstow rehearse`: replays a server's own statements on a copy of its database, on one layout after the other.
//!
//! ```text
//! arguments ──> RehearsalRequest ──resolve, run──> records, document ──> terminal, page, folder
//! ```

mod args;

use std::sync::Arc;

use analysis::findings::Findings;
use analysis::report::page::any;
use analysis::report::rehearsal::document::Rehearsal;
use analysis::report::rehearsal::report;
use anyhow::{Context, Result, bail};
use experiment::results::Results;
use experiment::spec::ExperimentText;
use files::{Folder, Readers};
use host::orphans::Registration;
use lab::request::inputs;
use rehearse::{
    LayoutFile, PROFILE, RehearsalError, RehearsalRequest, RehearsedEngine, ResolvedRehearsal,
    Source, Step, check_machine,
};

use super::emulated;
use super::output::{note, print_report};
use super::progress::Progress;
use super::report::findings_of;
use super::request::report_idle;
use super::{ExpectationFailed, UsageError};
use crate::engines::ENGINES;

pub use args::Args;

/// Name of the document in the folder of a rehearsal.
const DOCUMENT: &str = "rehearsal.json";

/// The page, in the same folder.
const PAGE: &str = "rehearsal.html";

/// Runs `dbstow rehearse`.
///
/// # Errors
/// When the backup, the log or a layout cannot be used, a trial fails, or too few statements end as in the log.
pub fn run(args: &Args) -> Result<()> {
    let source = args.source();
    let Some(engine) = RehearsedEngine::of(ENGINES, &source) else {
        bail!(
            "this build has no server that can be rehearsed; build dbstow with its default features"
        );
    };
    match source {
        Source::OnServer(_) if args.record => {
            return Err(UsageError(
                "--record: only a server that dbstow starts is recorded meanwhile; leave it out, and run dbstow record at the one in use"
                    .to_owned(),
            )
            .into());
        }
        Source::OnServer(_) => {}
        Source::Backup(_) | Source::Dumps(_) => check_machine()?,
    }
    super::orphans::clear()?;
    let registration = Arc::new(Registration::new().context("writing down what is made")?);
    let ended = rehearsed(args, engine, &registration);
    if let Err(left) = registration.finish() {
        for what in left {
            note(&format!("dbstow: {what}"));
        }
    }
    let (results, rehearsal) = ended?;
    show(args, &results, &rehearsal)
}

fn rehearsed(
    args: &Args,
    engine: RehearsedEngine,
    registration: &Arc<Registration>,
) -> Result<(Results, Rehearsal)> {
    let hooks = emulated::hooks()?;
    let product = match args.source() {
        Source::OnServer(options) => {
            let patience = args.timeout.patience(Arc::clone(&hooks.interrupted));
            engine.rehearsal.on_server(&options, &patience)
        }
        Source::Backup(_) | Source::Dumps(_) => {
            let options = &args.of_product.options;
            engine.rehearsal.product(options, registration)
        }
    }?;
    let request = RehearsalRequest {
        layouts: args
            .layout
            .iter()
            .map(|file| layout(file))
            .collect::<Result<_>>()?,
        source: args.source(),
        elsewhere: args.tablespaces()?,
        settings: args.settings.clone(),
        statements: args.statements.clone(),
        log: args.log(),
        pace: args.pace,
        order: args.order,
        logs_statements: !args.no_statement_log,
        blocks: args.blocks,
        seed: args.seed,
        fidelity: args.fidelity,
        record: args.record,
        with_text: args.with_text,
        catalogues: args.catalogue.clone(),
    };
    let resolved = request.resolve(ENGINES, engine, product);
    let resolved = resolved.map_err(|error| match error {
        RehearsalError::Log { .. }
        | RehearsalError::NameTwice { .. }
        | RehearsalError::NoDatabase { .. }
        | RehearsalError::Sessions { .. } => UsageError(error.to_string()).into(),
        RehearsalError::Request(error) => error.into(),
        RehearsalError::Spec(error) => error.into(),
        error => anyhow::Error::from(error),
    })?;
    announce(&resolved);
    let prepared = &resolved.prepared;
    let results = Results::create(
        &args.out,
        prepared.question(),
        prepared.plan().clone(),
        args.fresh,
    )?;
    let folder = Folder::open(results.folder())?;
    let rehearsal = with_progress(|observe| resolved.run(&results, registration, &hooks, observe))?;
    folder.write(
        DOCUMENT.as_ref(),
        rehearsal.json().as_bytes(),
        Readers::OwnerOnly,
    )?;
    Ok((results, rehearsal))
}

fn layout(file: &str) -> Result<LayoutFile> {
    let read = inputs::experiment(file)?;
    for text in read.notes {
        note(&format!("dbstow: {text}"));
    }
    Ok(LayoutFile {
        file: file.to_owned(),
        text: ExperimentText::of_file(file, read.text),
    })
}

/// What cannot be replayed, or is without effect, is said before anything is copied.
fn announce(resolved: &ResolvedRehearsal) {
    report_idle(&resolved.idle);
    for (why, count) in &resolved.log.left_out {
        note(&format!("dbstow: not replayed: {}", why.counted(*count)));
    }
}

/// Runs the rehearsal, showing progress on stderr.
fn with_progress(
    rehearse: impl FnOnce(&(dyn Fn(Step<'_>) + Sync)) -> Result<Rehearsal, RehearsalError>,
) -> Result<Rehearsal> {
    let progress = Progress::new(0, "{wide_bar} {pos} of {len}  {msg}");
    let trial = parking_lot::Mutex::new(String::new());
    let rehearsal = rehearse(&|step| match step {
        Step::Resumed(0) => note("dbstow: all trials are finished; --fresh repeats them"),
        Step::Resumed(trials) => note(&format!(
            "dbstow: finished trials are kept, {} outstanding",
            experiment::plan::counted(trials, "trial")
        )),
        Step::Restoring(what) => progress.set_message(what),
        Step::Copying(layout) => progress.set_message(&format!("copying the backup for {layout}")),
        Step::Trial(layout, number, trials) => {
            match number {
                1 => progress.more(trials as u64),
                _ => progress.step(1),
            }
            layout.clone_into(&mut trial.lock());
        }
        Step::Recording => "recording".clone_into(&mut trial.lock()),
        Step::Phase(phase) => progress.set_message(&format!("{}: {phase}", trial.lock())),
        Step::Warning(what) => note(&format!("dbstow: {what}")),
    });
    progress.end();
    Ok(rehearsal?)
}

fn show(args: &Args, results: &Results, rehearsal: &Rehearsal) -> Result<()> {
    let findings: Findings = findings_of(results);
    let report = report(rehearsal, &findings);
    let folder = results.folder();
    let page = any::page("rehearsal", &report);
    Folder::open(folder)?.write(PAGE.as_ref(), page.as_bytes(), Readers::OwnerOnly)?;
    let mut files = format!(
        "Records: {}\nPage:    {}\n",
        folder.display(),
        folder.join(PAGE).display()
    );
    let profile = folder.join(PROFILE);
    let is_recorded = profile.exists();
    if args.record && is_recorded {
        files += &format!("Profile: {}\n", profile.display());
    }
    print_report(&report, args.full, &files, "with --full from the start")?;
    if !rehearsal.unfaithful().is_empty() {
        let why = "too few statements ended as in the log".to_owned();
        return Err(ExpectationFailed(why).into());
    }
    if args.record && !is_recorded {
        bail!(
            "--record: there is no profile, for the reason above; the rest of the rehearsal is complete"
        );
    }
    Ok(())
}
