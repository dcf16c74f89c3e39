//! `dbstow drill`: tests what a placement survives.
//!
//! ```text
//! experiment ──arms──> placements ──drill──> outcomes ──> document ──> terminal, JSON, folder
//! ```

mod args;
mod document;
mod replay;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use analysis::report::drill::document::{Drill, Placement};
use analysis::report::drill::{View, page};
use anyhow::{Context, Result, bail};
use drill::{DrillError, DrillSpec, Drilled, Origin, Placed, Step, Tools, drill};
use engine::hooks::HostHooks;
use experiment::spec::{
    Disk, EngineName, ExperimentText, Mode, SpecError, builtin_names, drill_names, drill_text,
    remedy,
};
use files::{FileError, Folder, Readers};
use host::orphans::Registration;
use lab::inventory::Inventory;
use lab::request::RunRequest;
use lab::trial::Stage;
use model::{Bytes, VolumeSpec};

use super::drilled::DOCUMENT;
use super::listing::{self, ListFormat};
use super::output::note;
use super::progress::Progress;
use super::request::{experiment_named, idle_without_run, is_path, report_idle, resolved};
use super::{ExpectationFailed, UsageError};
use args::{Engine, FailOn};
use document::document;

pub use args::Args;

/// Name of the page next to it.
const PAGE: &str = "drill.html";

/// Runs `dbstow drill`.
///
/// # Errors
/// When the experiment has a mistake, the server does not run, a control is not detected, or, where requested, a
/// placement does not survive.
pub fn run(args: &Args) -> Result<()> {
    let Some(experiment) = &args.experiment else {
        return list(args);
    };
    let folder = args.folder(experiment);
    if let Some(name) = &args.replay {
        return replay::run(args, name, &folder);
    }
    let engine = args.engine_of(experiment);
    let (experiment, placed) = args.placed(experiment, engine)?;
    let tools = args.tools(engine, Origin::ThisRun)?;
    let own = new_folder(&folder)?;
    let spec = args.spec();
    let drilled = with_progress(|observe| drill(&tools, &placed, &spec, &folder, observe));
    close(&tools);
    let drilled = drilled.inspect_err(|_| {
        // Nothing in it is needed.
        let _ = own.remove();
    })?;
    let document = document(args, engine, &experiment, &placed, &drilled);
    // Where the folder's disk is full, the findings are still printed.
    let written = own.write(&document);
    args.format.print(&match args.format {
        ListFormat::Text => text(&View::of(&document), &folder),
        ListFormat::Json => document.json(),
    })?;
    written?;
    if let Some(error) = drilled.failed {
        return Err(error.into());
    }
    if !document.proves {
        bail!("{}", document.answer);
    }
    match args.fail_on {
        Some(FailOn::Loss) if document.placements.iter().any(has_loss) => {
            Err(ExpectationFailed(format!("--fail-on loss: {}", document.answer)).into())
        }
        Some(FailOn::Loss) | None => Ok(()),
    }
}

/// Removes the remains of a drill, and reports what cannot be removed.
fn close(tools: &Tools) {
    if let Err(left) = tools.finish() {
        note(&format!("dbstow: left behind: {}", left.join("; ")));
    }
}

/// Whether data is lost that was on disks which still exist.
fn has_loss(placement: &Placement) -> bool {
    let mut volumes = placement.volumes.iter();
    placement.crash_events().any(|event| event.failed() > 0)
        || volumes.any(|volume| volume.event != "lost" && volume.verdict != "intact")
}

/// Lists the built-in drills.
fn list(args: &Args) -> Result<()> {
    let drills = drill_names().into_iter().map(|name| {
        let text = drill_text(name).expect("it was listed");
        let table: toml::Table = toml::from_str(text).expect("it is well-formed");
        let question = table.get("question").and_then(toml::Value::as_str);
        (name, question.unwrap_or_default().to_owned())
    });
    let drills: Vec<(&str, String)> = drills.collect();
    Ok(args.format.print(&match args.format {
        ListFormat::Text => listing::pairs(drills),
        ListFormat::Json => {
            let all = drills.iter();
            let all = all
                .map(|(name, question)| serde_json::json!({ "name": name, "question": question }));
            format!("{:#}\n", serde_json::Value::Array(all.collect()))
        }
    })?)
}

impl Args {
    fn folder(&self, experiment: &str) -> PathBuf {
        self.out.clone().unwrap_or_else(|| {
            let name = Path::new(experiment).file_stem();
            let mut name = name.unwrap_or_default().to_owned();
            name.push("-drill");
            PathBuf::from(name)
        })
    }

    fn spec(&self) -> DrillSpec {
        DrillSpec {
            cuts: self.cuts,
            seed: self.seed,
            record: self.record,
            sessions: self.sessions,
            cache: self.write_cache.rule(self.write_back),
            atomic: self.atomic,
            skew: self.skew,
            power: self.power.meant(),
            faults: self.faults,
            space: self.space,
            jobs: self.jobs,
        }
    }

    /// The drilled engine: the one that a built-in drill names, unless the user names another.
    fn engine_of(&self, experiment: &str) -> Engine {
        let of_drill = || {
            let table: toml::Table = toml::from_str(drill_text(experiment)?).ok()?;
            Engine::named(table.get("engine")?.get("name")?.as_str()?)
        };
        self.engine.or_else(of_drill).unwrap_or_else(Engine::usual)
    }

    /// The experiment's name, and its placements.
    fn placed(&self, experiment: &str, engine: Engine) -> Result<(String, Vec<Placed>)> {
        let names: Vec<&str> = drill_names().into_iter().chain(builtin_names()).collect();
        if !is_path(experiment) && !names.contains(&experiment) {
            let remedy = remedy(experiment, "built in", names);
            let name = experiment.to_owned();
            return Err(SpecError::Unknown { name, remedy }.into());
        }
        let text = match drill_text(experiment) {
            Some(text) => ExperimentText::of_file(format!("drills/{experiment}.toml"), text),
            None => experiment_named(experiment)?,
        };
        let resolved = resolved(&RunRequest {
            set: self.set.clone(),
            mode: Mode::Emulate,
            engine: Some(EngineName::new(engine.name())),
            catalogues: self.catalogue.clone(),
            ..RunRequest::placements(text)
        })?;
        let Inventory { catalogue, .. } = &resolved.inventory;
        let mut placed = Vec::new();
        for arm in &resolved.plan.arms {
            let stage = Stage::new(&arm.settings, catalogue)?;
            let promised = |volume: &VolumeSpec| {
                let mut volumes = arm.settings.volumes.iter();
                let disk = &volumes.find(|known| known.name == volume.name)?.disk;
                match disk {
                    Disk::Catalogue(name) => catalogue.disk(name).ok()?.class.atomic_write,
                    Disk::Local | Disk::Unlimited | Disk::Recorded => None,
                }
            };
            let atomic: Vec<Bytes> = stage
                .volumes
                .iter()
                .map(|volume| promised(volume).unwrap_or(Placed::ATOMIC_DEFAULT))
                .collect();
            let of = |name: String, server: &[(&str, &str)]| Placed {
                name,
                settings: arm.settings.clone(),
                machine: stage.machine.clone(),
                volumes: stage.volumes.clone(),
                atomic: atomic.clone(),
                forgets: stage.forgets.clone(),
                server: server
                    .iter()
                    .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                    .chain(self.setting.iter().cloned())
                    .collect(),
            };
            match engine.drill.modes() {
                [] => placed.push(of(arm.name.clone(), &[])),
                modes => placed.extend(modes.iter().map(|mode| {
                    let values: Vec<&str> = mode.iter().map(|(_, value)| *value).collect();
                    of(format!("{}, {}", arm.name, values.join(", ")), mode)
                })),
            }
        }
        let known: Vec<&str> = placed.iter().map(|placed| placed.name.as_str()).collect();
        if let Some(unknown) = self.arm.iter().find(|name| !known.contains(&name.as_str())) {
            let remedy = remedy(unknown, "arms", known.iter().copied());
            return Err(
                UsageError(format!("--arm {unknown}: there is no such arm{remedy}")).into(),
            );
        }
        placed.retain(|placed| self.arm.is_empty() || self.arm.contains(&placed.name));
        let why = "a drill has clients and settings of its own; --setting sets the server's";
        report_idle(
            &[
                resolved.idle,
                idle_without_run(&self.set, engine.drill.keys(), why),
            ]
            .concat(),
        );
        Ok((resolved.plan.experiment.clone(), placed))
    }

    fn tools(&self, engine: Engine, origin: Origin) -> Result<Tools> {
        if !nix::unistd::geteuid().is_root() || !host::loop_device::exist() {
            bail!(
                "a drill has real file systems on modelled disks (block mode), which needs root and loop devices: run as root, \
                 and load the kernel's module with `modprobe loop` where there are none"
            );
        }
        super::leftovers::clear()?;
        let interrupted = Arc::<AtomicBool>::default();
        let asked = Arc::clone(&interrupted);
        ctrlc::set_handler(move || {
            if !asked.swap(true, Ordering::Relaxed) {
                note("\nstopping and cleaning up");
            }
        })
        .context("a handler for Ctrl-C")?;
        let registration = Arc::new(Registration::new().context("writing down what is made")?);
        let hooks = HostHooks {
            emulator: || super::emulated::attached().map_err(std::io::Error::other),
            interrupted,
            ..HostHooks::default()
        };
        let options = &self.of_product.options;
        let product = engine.drill.product(options, origin, &registration)?;
        Ok(Tools::new(product, registration, hooks, origin))
    }
}

/// The folder of a drill.
struct Own {
    folder: Folder,
    path: PathBuf,
}

fn new_folder(path: &Path) -> Result<Own> {
    match Folder::new_to_fill(path) {
        Ok(folder) => Ok(Own {
            folder,
            path: path.to_owned(),
        }),
        Err(FileError::Exists(_)) => Err(UsageError(format!(
            "{} exists already; remove it, or name another folder by --out",
            path.display()
        ))
        .into()),
        Err(error) => Err(error.into()),
    }
}

impl Own {
    fn write(&self, document: &Drill) -> Result<()> {
        for (name, text) in [(DOCUMENT, document.json()), (PAGE, page(document))] {
            self.folder
                .write_new(name.as_ref(), text.as_bytes(), Readers::OwnerOnly)?;
        }
        Ok(())
    }

    fn remove(&self) -> std::io::Result<()> {
        std::fs::remove_dir_all(&self.path)
    }
}

/// Runs the drill, showing progress on stderr.
fn with_progress(
    drill: impl FnOnce(&(dyn Fn(Step<'_>) + Sync)) -> Result<Drilled, DrillError>,
) -> Result<Drilled> {
    let progress = Progress::new(0, "{wide_bar} {pos} of {len}  {msg}");
    let drilled = drill(&|step| match step {
        Step::Recording(name) => progress.set_message(&format!("recording {name}")),
        Step::Cutting(name, states) => {
            progress.more(states as u64);
            progress.set_message(&format!("states of {name}"));
        }
        Step::Looked(_) => progress.step(1),
    });
    progress.end();
    Ok(drilled?)
}

fn text(shown: &View, folder: &Path) -> String {
    let mut text = format!("{}\n\n", shown.answer);
    text.push_str(&listing::pairs(shown.facts.clone()));
    text.push('\n');
    text.push_str(&listing::report_table(&shown.matrix));
    if let Some(faults) = &shown.faults {
        text.push('\n');
        text.push_str(&listing::report_table(faults));
    }
    for (title, sentences) in [
        ("Not survived:", &shown.examples),
        (
            "What servers said without a volume, and on one that was full or failed:",
            &shown.volumes,
        ),
        ("Controls:", &shown.controls),
        ("How to read this:", &shown.notes),
    ] {
        text.push_str(&super::profile::bullets(title, sentences));
    }
    text.push_str(&format!(
        "\nPage, document, and what was recorded: {}\n",
        folder.display()
    ));
    text
}
