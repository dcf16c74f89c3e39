//! `dbstow advise`: which machine, which disks, where the files go, for how much a month.
//!
//! ```text
//! profile, today's layout ──back-test──> fits? ──> advise::Request ──> document ──> terminal, JSON, folder
//! ```

mod args;
mod folder;
mod paid;

pub use args::{Args, Temp};

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use advise::{
    AdviseError, Finalists, LeftOut, Limits, Names, Rehearsal, Scripts, Server, Step, System,
    TempOn, Wishes,
};
use anyhow::{Context, Result};
use catalogue::Catalogue;
use files::input;

use super::listing::ListFormat;
use super::output::{note, print_report};
use super::progress::Progress;
use super::report::advised;
use super::request::{experiment_named, layout_of_today, resolved};
use super::{UsageError, backtest, drilled, plan};
use crate::engines::{ENGINES, scripts_for};
use analysis::report::advice::{self, Advice, Kind, page};
use engine::Options;
use experiment::spec::{EngineName, ExperimentText};
use lab::Prepared;
use lab::request::{ResolvedRun, RunRequest};
use model::Bytes;
use reading::Role;
use table::quantity::usd;

/// A file that the directory of a dump has.
const DUMPED: &str = "toc.dat";

/// Steps of the progress bar.
const STEPS: u64 = 1_000;

/// Runs `dbstow advise`.
///
/// # Errors
/// When an input is invalid, the profile does not fit today's layout, or nothing within the budget is fast enough.
pub fn run(args: &Args) -> Result<()> {
    folder::check_free(args)?;
    let wishes = args.wishes()?;
    let drill = args.drill.as_deref().map(drilled::of_server).transpose()?;
    let profile = args.profile.display().to_string();
    // Read once: it may be a pipe.
    let layout_text = args.layout_of_today(&profile)?;
    let layout = resolved(&today(args, layout_text.clone(), profile))?;
    let prepared = backtest::prepared(&layout, args.today.as_deref())?;
    let mut catalogue = layout.inventory.catalogue.clone();
    price(args, &mut catalogue)?;
    // Before anything is simulated: what is refused is refused at once.
    let server = Server::new(&prepared, wishes, args.system(), catalogue).map_err(mistake)?;
    let tested = backtest::of(&prepared)?;
    backtest::judge_printed(&tested, args.untested, args.format)?;
    let server = server.tested(&tested).map_err(mistake)?;
    let request = server.request().map_err(mistake)?;
    let names = Names {
        system_why: server.system_why(),
        ..args.names(server.product())
    };
    let document = interruptible(|go_on| request.advice(&tested, &names, go_on));
    let mut document = document.map_err(mistake)?;
    if let (Some(folder), Some(drill)) = (&args.drill, &drill) {
        drilled::add_to_advice(folder, drill, &mut document);
    }
    let folder = folder::made(args)?;
    let finalists = Finalists {
        today: layout_text.text(),
        profile: folder::seen_from(folder.path(), &args.profile),
        window: args.window.as_deref(),
        temp_files_max: names.scripts.map_or(1, |scripts| scripts.temp_files_max),
    };
    let finalists = request.finalists(&tested, &finalists, &mut document, &mut |text| {
        let written = folder::write_finalists(&folder, text);
        let checked = written.and_then(|()| runs(args, folder.path()));
        checked.map_err(|error| format!("{error:#}"))
    });
    let finalists = finalists.map_err(mistake)?;
    for LeftOut { arm, why } in &finalists.left_out {
        let file = folder::FINALISTS;
        note(&format!("dbstow: {file} leaves out {arm}: {why}"));
    }
    folder::write(&folder, &document, &finalists.text, &page(&document))?;
    match args.format {
        ListFormat::Text => {
            let files = advised::files_line(&folder.path().join(advised::PAGE), &document);
            let report = advice::report(&document, args.minimal);
            print_report(&report, args.full, &files, &advised::more(folder.path()))?;
        }
        ListFormat::Json => super::print_json(&document.json())?,
    }
    if let Some(file) = &args.plan_out {
        let ResolvedRun {
            inventory, plan, ..
        } = resolved(&finalists_in(args, folder.path())?)?;
        plan::write(file, plan, &inventory)?;
    }
    if document.decision.kind != Kind::Nothing {
        return Ok(());
    }
    Err(UsageError(document.answer).into())
}

fn mistake(error: AdviseError) -> UsageError {
    UsageError(error.to_string())
}

impl Args {
    /// The operating system that was asked for.
    fn system(&self) -> Option<System> {
        match (self.windows, self.linux) {
            (true, _) => Some(System::Windows),
            (false, true) => Some(System::Linux),
            (false, false) => None,
        }
    }

    /// What layouts may be bought, and what they have to keep.
    ///
    /// # Errors
    /// When a capacity cannot be parsed, is 0, or is given twice.
    fn wishes(&self) -> Result<Wishes, UsageError> {
        Ok(Wishes {
            cloud: self.cloud.clone(),
            region: self.region.clone(),
            machine_pattern: self.machine.clone(),
            keep_machine: self.keep_machine,
            arm: self.arm,
            any_generation: self.paid.any_generation,
            system: System::default(),
            disks: self.disk.clone(),
            disks_max: self.disks_max,
            temp: match self.temp {
                Temp::Any => TempOn::Any,
                Temp::Local => TempOn::Local,
                Temp::Remote => TempOn::Remote,
            },
            capacity: capacity(&self.capacity)?,
            growth: self.growth,
            licence: self.paid.licence()?,
            replicas: self.paid.replicas,
            commitment_years: self.paid.term.map(paid::Term::years),
            backup_days: self.paid.backup_days,
            services: self.service.clone().unwrap_or_default(),
            nominal: self.paid.nominal,
            limits: Limits {
                slower_max: self.not_slower,
                budget: self.budget,
                simulations_max: self.simulations,
                quick: self.paid.quick,
            },
        })
    }

    /// Today's layout, with the keys that are set.
    ///
    /// # Errors
    /// When it cannot be read, or a key is invalid or is none of a layout.
    fn layout_of_today(&self, profile: &str) -> Result<ExperimentText> {
        let sections = ["machine.", "volume.", "placement."];
        let is_other =
            |(key, _): &&(String, String)| !sections.iter().any(|of| key.starts_with(of));
        if let Some((key, value)) = self.set.iter().find(is_other) {
            let message = format!(
                "--set {key}={value}: it sets keys of today's layout, which are in machine, volume and placement; leave it out"
            );
            return Err(UsageError(message).into());
        }
        let today = self.today.as_deref();
        let layout = layout_of_today(profile, today, self.window.as_deref(), &self.set)?;
        Ok(layout.with(&self.set)?)
    }

    /// The rehearsal of the finalists that was asked for. Its files may be on another machine.
    fn rehearsal(&self, on_server: bool) -> Option<Rehearsal> {
        let [database, statements] = self.rehearse.as_slice() else {
            return None;
        };
        let stem = self.profile.file_stem().unwrap_or(OsStr::new("profile"));
        Some(Rehearsal {
            on_server,
            option: match !on_server && database.join(DUMPED).exists() {
                true => "--dump",
                false => "--backup",
            },
            database: database.display().to_string(),
            statements: statements.display().to_string(),
            out: format!("{}-rehearsal", stem.to_string_lossy()),
        })
    }

    /// What the document calls files, and the scripts for a server of `product`.
    fn names(&self, product: Option<&str>) -> Names {
        let layout = product.and_then(scripts_for);
        let finalists = folder::name(self).join(folder::FINALISTS);
        let catalogues = self.catalogue.iter();
        Names {
            profile: self.profile.display().to_string(),
            finalists: finalists.display().to_string(),
            catalogues: catalogues.map(|file| file.display().to_string()).collect(),
            currency: self.currency.clone().unwrap_or_default(),
            system_why: None,
            rehearsal: self.rehearsal(layout.is_some_and(|layout| layout.moves().needs_server)),
            scripts: layout.map(|layout| {
                let moves = layout.moves();
                Scripts {
                    engine: layout.name(),
                    roles: moves.roles,
                    what: moves.what,
                    arguments: moves.arguments,
                    temp_files_max: moves.temp_files_max,
                    // A build without the engine does not suggest to run it on a server.
                    needs_server: moves.needs_server
                        && ENGINES.find(&EngineName::new(layout.name())).is_ok(),
                }
            }),
        }
    }
}

/// The space that files need, by role.
fn capacity(asked: &[(String, String)]) -> Result<BTreeMap<Role, Bytes>, UsageError> {
    let mut capacity = BTreeMap::new();
    for (name, size) in asked {
        let at = |problem: String| UsageError(format!("--capacity {name}={size}: {problem}"));
        let role = Role::COMMON.into_iter().find(|role| role.name() == name);
        let role = role.ok_or_else(|| at("there are data, temp and log".to_owned()))?;
        let bytes: Bytes = size.parse().map_err(|error| at(format!("{error}")))?;
        if bytes == Bytes::ZERO {
            return Err(at("it is 0; give what the files take".to_owned()));
        }
        if capacity.insert(role, bytes).is_some() {
            return Err(at(format!("{name} is given twice; keep one")));
        }
    }
    Ok(capacity)
}

/// Resolves the experiment of the finalists in the folder `own`, as `dbstow run` does.
///
/// # Errors
/// Why it cannot be run.
fn runs(args: &Args, own: &Path) -> Result<()> {
    let request = RunRequest {
        // The finalists may run on a machine with more memory than this one.
        allow_large: true,
        ..finalists_in(args, own)?
    };
    let ResolvedRun {
        inventory, plan, ..
    } = request.resolve(ENGINES)?;
    Prepared::new(&plan, &inventory, &Options::default())?;
    Ok(())
}

/// A request for the experiment of the finalists.
fn finalists_in(args: &Args, own: &Path) -> Result<RunRequest> {
    let file = own.join(folder::FINALISTS).display().to_string();
    Ok(RunRequest {
        catalogues: args.catalogue.clone(),
        ..RunRequest::new(experiment_named(&file)?)
    })
}

/// A request for the profile on today's layout.
fn today(args: &Args, layout: ExperimentText, profile: String) -> RunRequest {
    let window = args
        .window
        .clone()
        .map(|window| ("workload.window".to_owned(), window));
    RunRequest {
        catalogues: args.catalogue.clone(),
        set: window.into_iter().collect(),
        ..RunRequest::back_test(layout, profile)
    }
}

/// Replaces list prices by the user's prices.
fn price(args: &Args, catalogue: &mut Catalogue) -> Result<()> {
    if let Some(share) = args.discount {
        catalogue.discount(share);
    }
    if let Some(file) = &args.prices {
        let name = file.display().to_string();
        let text = input::named(file).map_err(|error| {
            UsageError(format!(
                "--prices {name}: {error}; give a CSV file with the columns name,usd,per"
            ))
        })?;
        catalogue
            .add_prices(&text, &name)
            .with_context(|| format!("--prices {name}"))?;
    }
    Ok(())
}

/// Runs a search; Ctrl-C interrupts it.
fn interruptible(
    search: impl FnOnce(&mut dyn FnMut(Step) -> bool) -> Result<Advice, AdviseError>,
) -> Result<Advice, AdviseError> {
    let stopped = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stopped);
    // Without a handler Ctrl-C ends the program, which leaves nothing behind either.
    let _ = ctrlc::set_handler(move || asked.store(true, Ordering::Relaxed));
    let progress = Progress::new(STEPS, "search {wide_bar} {msg} {elapsed}");
    let shown = Cell::new(0);
    let advice = search(&mut |step: Step| {
        let now = (step.done * STEPS as f64) as u64;
        progress.step(now.saturating_sub(shown.replace(now)));
        progress.set_message(&format!(
            "{} simulated, {} as bounds, at ${} a month",
            step.simulated,
            step.bounds,
            usd(step.usd_per_month)
        ));
        !stopped.load(Ordering::Relaxed)
    });
    progress.end();
    if stopped.load(Ordering::Relaxed) {
        note("dbstow: interrupted; this is the best so far");
    }
    advice
}
