//! `dbstow advise`: which machine, which disks, where the files go, for how much a month.
//!
//! ```text
//! profile, today's layout ──back-test──> fits? ──> advise::Request ──> document ──> terminal, JSON, folder
//! ```

mod folder;
mod paid;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use advise::{
    AdviseError, Finalists, LeftOut, Limits, Names, Placed, Request, Scripts, Step, System, TempOn,
    Today, Wishes,
};
use anyhow::{Context, Result};
use catalogue::Catalogue;
use clap::{ValueEnum, ValueHint};
use files::input;

use super::listing::ListFormat;
use super::output::{note, print_report};
use super::pair::key_and_value;
use super::progress::Progress;
use super::report::advised;
use super::request::{experiment_named, layout_of_today, resolved};
use super::{UsageError, backtest, drilled, plan};
use crate::engines::{ENGINES, scripts_for};
use analysis::report::advice::{self, Advice, Currency, Kind, page};
use engine::Options;
use experiment::spec::ExperimentText;
use import::Format;
use lab::Prepared;
use lab::request::{ResolvedRun, RunRequest};
use model::Bytes;
use reading::Role;
use table::quantity::usd;

/// Steps of the progress bar.
const STEPS: u64 = 1_000;

/// Maximum price of a layout in dollars a month: more than all machines of a cloud.
const BUDGET_MAX: f64 = 1e12;

/// Arguments of `advise`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    dbstow advise shop.toml --today today.toml --cloud azure\n  \
    dbstow advise shop.toml --today today.toml --cloud azure --not-slower 5% --budget 900\n  \
    dbstow advise shop.toml --today today.toml --keep-machine --capacity data=2TiB --capacity log=100GiB\n  \
    dbstow advise shop.toml --today today.toml --cloud aws --machine r6i --temp local --growth 1.5\n  \
    dbstow advise shop.toml --today recorded --set machine.cores=16 --set machine.memory=128GiB --cloud azure \\\n      \
    --capacity data=2TiB --capacity log=100GiB --capacity temp=200GiB\n  \
    dbstow advise shop.toml --today today.toml --cloud azure --drill finalists-drill\n  \
    dbstow advise shop.toml --today today.toml --cloud aws --minimal --currency EUR=0.92\n  \
    dbstow advise shop.toml --today today.toml --cloud azure --windows --prices own.csv --discount 30%")]
pub struct Args {
    /// Profile, as `dbstow record` and `dbstow import` write it
    #[arg(value_hint = ValueHint::FilePath)]
    pub profile: PathBuf,
    /// What the server has today: a file with machine, volumes and one placement; `recorded`: disks as the profile shows
    /// them [default: what the profile names]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub today: Option<String>,
    /// Set a key of today's machine, volumes or placement, such as machine.memory=128GiB; may be given several times
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_and_value)]
    pub set: Vec<(String, String)>,
    /// Replay only the busiest time of this length, such as 1h
    #[arg(long, value_name = "TIME", value_parser = span)]
    pub window: Option<String>,
    /// Only of this cloud: azure, aws, gcp, or how names of an own catalogue begin [default: today's]
    #[arg(long)]
    pub cloud: Option<String>,
    /// Only prices of this region
    #[arg(long)]
    pub region: Option<String>,
    /// Only machines whose name has this in it
    #[arg(long, value_name = "PATTERN")]
    pub machine: Option<String>,
    /// Only the machine of today
    #[arg(long, conflicts_with = "machine")]
    pub keep_machine: bool,
    /// Machines with Arm processors too
    #[arg(long)]
    pub arm: bool,
    /// Prices of machines with Windows [default: as `system` of today's machine, or as where its counters come from]
    #[arg(long)]
    pub windows: bool,
    /// Prices of machines with Linux
    #[arg(long, conflicts_with = "windows")]
    pub linux: bool,
    /// Only this disk of the catalogue; may be given several times
    #[arg(long, value_name = "NAME")]
    #[cfg_attr(feature = "shell", arg(add = crate::command::names::of_disks()))]
    pub disk: Vec<String>,
    /// Most disks to attach
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub disks_max: Option<u32>,
    /// Where temporary files may be
    #[arg(long, value_enum, default_value_t)]
    pub temp: Temp,
    /// Space that files need: data=2TiB, temp=100GiB, log=50GiB; may be given for each [default: the size of today's
    /// volumes]
    #[arg(long, value_name = "ROLE=SIZE", value_parser = key_and_value)]
    pub capacity: Vec<(String, String)>,
    /// Times today's sessions and space that the layout has to take
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = factor)]
    pub growth: f64,
    /// Most dollars a month
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub budget: Option<f64>,
    /// How much longer than today operations may take
    #[arg(long, value_name = "PERCENT", default_value = "5%", allow_hyphen_values = true, value_parser = longer)]
    pub not_slower: f64,
    /// What is paid besides list prices
    #[command(flatten)]
    pub paid: paid::BillArgs,
    /// Own prices in place of list prices: a CSV file with name,usd,per
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub prices: Option<PathBuf>,
    /// Take this much off list prices
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true, value_parser = share)]
    pub discount: Option<f64>,
    /// Show prices in this currency, at this rate: what one US dollar is in it, such as EUR=0.92. Options and documents stay in
    /// US dollars
    #[arg(long, value_name = "CODE=RATE", value_parser = Currency::parse)]
    pub currency: Option<Currency>,
    /// List the smallest changes from today's layout too, with what each brings and costs
    #[arg(long)]
    pub minimal: bool,
    /// Most simulations of layouts, and of what layouts have in common
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub simulations: u64,
    /// Show what the drill in this folder found of the same layouts (`dbstow drill` of the finalists)
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub drill: Option<PathBuf>,
    /// Continue with a profile that does not fit today's layout
    #[arg(long)]
    pub untested: bool,
    /// Also read this catalogue file; may be given several times
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub catalogue: Vec<PathBuf>,
    /// Folder for the page, the document and the finalists [default: the profile's name with -advice]
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// Replace an answer that is in the folder
    #[arg(long)]
    pub force: bool,
    /// Write the simulated trials of the finalists, with the profile, as a plan to this file, to run on a cluster (`dbstow
    /// submit`, `dbstow trial`)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub plan_out: Option<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub format: ListFormat,
    /// Print everything, not one screen of it
    #[arg(long)]
    pub full: bool,
}

/// A span of time, as it was written.
fn span(text: &str) -> Result<String, String> {
    let parsed = text.parse::<model::Duration>();
    parsed
        .map(|_| text.to_owned())
        .map_err(|error| error.to_string())
}

/// Where temporary files may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Temp {
    /// Wherever it is best
    #[default]
    Any,
    /// On disks inside the machine, which come back empty after a stop
    Local,
    /// On disks that are attached
    Remote,
}

/// Runs `dbstow advise`.
///
/// # Errors
/// When an input is invalid, the profile does not fit today's layout, or nothing within the budget is fast enough.
pub fn run(args: &Args) -> Result<()> {
    folder::check_free(args)?;
    let mut wishes = args.wishes()?;
    let drill = args.drill.as_deref().map(drilled::of_server).transpose()?;
    let profile = args.profile.display().to_string();
    // Read once: it may be a pipe.
    let layout_text = args.layout_of_today(&profile)?;
    let layout = resolved(&today(args, layout_text.clone(), profile))?;
    let prepared = backtest::prepared(&layout, args.today.as_deref())?;
    let (arm, stage, recording) = prepared.first();
    let recording = recording.expect("a back-test is of a profile");

    let origin = &recording.profile.origin;
    let is_perfmon = origin.tool == Format::Perfmon.name();
    let (system, system_why) = System::of(args.system(), arm.settings.machine.system, is_perfmon);
    wishes.system = system;
    let mut catalogue = layout.inventory.catalogue.clone();
    price(args, &mut catalogue)?;
    let mut today = Today {
        settings: &arm.settings,
        placed: Placed {
            machine: stage.machine.clone(),
            volumes: stage.volumes.clone(),
            places: stage.replay_places(&arm.settings.placement),
        },
        notes: &stage.notes,
        profile: &recording.profile,
    };
    // Before anything is simulated: what is refused is refused at once.
    let request = Request::new(&wishes, &today, &catalogue).map_err(mistake)?;
    request.check_offers().map_err(mistake)?;
    let cores_used = request.cores_used_today();
    let tested = backtest::of(&prepared)?;
    backtest::judge_printed(&tested, args.untested, args.format)?;
    advise::teach(&tested, &stage.disks, &mut catalogue);
    today.placed.volumes = tested.volumes_in_the_long_run();
    today.placed.machine.cores = cores_used;
    let request = Request::new(&wishes, &today, &catalogue).map_err(mistake)?;
    let product = recording.profile.origin.product.as_deref();
    let names = Names {
        system_why,
        ..args.names(product)
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
            scripts: layout.map(|layout| {
                let moves = layout.moves();
                Scripts {
                    engine: layout.name(),
                    roles: moves.roles,
                    what: moves.what,
                    arguments: moves.arguments,
                    temp_files_max: moves.temp_files_max,
                    needs_server: moves.needs_server,
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

/// Below 100 %.
fn share(text: &str) -> Result<f64, String> {
    experiment::spec::percentage(text, 1.0)
}

/// Below 900 %.
fn longer(text: &str) -> Result<f64, String> {
    experiment::spec::percentage(text, 9.0)
}

fn factor(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(factor) if (0.1..=100.0).contains(&factor) => Ok(factor),
        Ok(_) | Err(_) => Err("give a number from 0.1 to 100, such as 1.5".to_owned()),
    }
}

fn dollars(text: &str) -> Result<f64, String> {
    match text.trim().trim_start_matches('$').parse::<f64>() {
        Ok(usd) if usd > 0.0 && usd <= BUDGET_MAX => Ok(usd),
        Ok(_) | Err(_) => Err(format!(
            "give dollars a month, such as 900, up to {BUDGET_MAX:e}"
        )),
    }
}
