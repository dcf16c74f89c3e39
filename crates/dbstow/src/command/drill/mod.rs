//! `dbstow drill`: tests what a placement survives.
//!
//! ```text
//! arguments ──> DrillRequest ──drill──> document ──> terminal, JSON, folder
//! ```

mod args;
mod close;
mod replay;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use analysis::report::drill::document::Drill;
use analysis::report::drill::{page, report};
use anyhow::{Context, Result, bail};
use drill::{
    DrillError, DrillRequest, DrillRequestError, DrillResult, DrilledEngine, Origin, ResolvedDrill,
    Step, Tools, check_machine,
};
use experiment::spec::{ExperimentText, SpecError, builtin_names, drill_names, drill_text, remedy};
use files::{FileError, Folder, Readers};
use host::orphans::Registration;

use super::drilled::DOCUMENT;
use super::emulated;
use super::listing::ListFormat;
use super::output::{print_report, width};
use super::progress::Progress;
use super::request::{experiment_named, in_options, is_path, report_idle};
use super::{ExpectationFailed, UsageError};
use crate::engines::ENGINES;
use args::FailOn;
use close::close;
use table::{Column, Table};

pub use args::Args;

/// Name of the page next to it.
const PAGE: &str = "drill.html";

/// Runs `dbstow drill`.
///
/// # Errors
/// When the experiment is invalid, the server does not run, a control is not detected, or, where requested, a
/// placement does not survive.
pub fn run(args: &Args) -> Result<()> {
    let Some(experiment) = &args.experiment else {
        return list(args);
    };
    let folder = args.folder(experiment);
    if let Some(name) = &args.replay {
        return replay::run(args, name, &folder);
    }
    let resolved = args.resolved(experiment)?;
    report_idle(&resolved.idle);
    let tools = args.tools(resolved.engine, Origin::ThisRun)?;
    let own = new_folder(&folder)?;
    let result = with_progress(|observe| resolved.run(&tools, &folder, observe));
    close(&tools);
    let DrillResult { document, failed } = result.inspect_err(|_| {
        // Nothing in it is needed.
        let _ = own.remove();
    })?;
    // Where the folder's disk is full, the findings are still printed.
    let written = own.write(&document);
    match args.format {
        ListFormat::Text => {
            let files = format!("Page:    {}\n", folder.join(PAGE).display());
            print_report(
                &report(&document),
                args.full,
                &files,
                "on the page, or with --full from the start",
            )?;
        }
        ListFormat::Json => super::print_json(&document.json())?,
    }
    written?;
    if let Some(error) = failed {
        return Err(error.into());
    }
    if !document.proves {
        bail!("{}", document.answer);
    }
    match args.fail_on {
        Some(FailOn::Loss) if document.has_loss() => {
            Err(ExpectationFailed(format!("--fail-on loss: {}", document.answer)).into())
        }
        Some(FailOn::Loss) | None => Ok(()),
    }
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
        ListFormat::Text => {
            let columns = [
                Column::text("", |(name, _): &(&str, String)| *name),
                Column::text("", |(_, question): &(&str, String)| question.clone()),
            ];
            Table::of(drills, columns).text(width())
        }
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

    /// The request, resolved.
    fn resolved(&self, experiment: &str) -> Result<ResolvedDrill> {
        let drill = drill_text(experiment);
        let names: Vec<&str> = drill_names().into_iter().chain(builtin_names()).collect();
        if !is_path(experiment) && !names.contains(&experiment) {
            let remedy = remedy(experiment, "built in", names);
            let name = experiment.to_owned();
            return Err(SpecError::Unknown { name, remedy }.into());
        }
        let text = match drill {
            Some(text) => ExperimentText::of_file(format!("drills/{experiment}.toml"), text),
            None => experiment_named(experiment)?,
        };
        let usual = || DrilledEngine::of(ENGINES, drill.unwrap_or_default());
        let engine = self.engine.or_else(usual);
        let mut request = DrillRequest {
            arms: self.arm.clone(),
            settings: self.setting.clone(),
            spec: self.spec(),
            ..DrillRequest::new(
                text,
                engine.expect("every build has an engine that is drilled"),
            )
        };
        request.run.set.clone_from(&self.set);
        request.run.catalogues.clone_from(&self.catalogue);
        request.resolve(ENGINES).map_err(|error| match error {
            DrillRequestError::Request(error) => in_options(&request.run, error),
            DrillRequestError::Stage(error) => error.into(),
            error @ DrillRequestError::NoArm { .. } => UsageError(error.to_string()).into(),
        })
    }

    fn tools(&self, engine: DrilledEngine, origin: Origin) -> Result<Tools> {
        check_machine()?;
        super::orphans::clear()?;
        let hooks = emulated::hooks()?;
        let registration = Arc::new(Registration::new().context("writing down what is made")?);
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
    drill: impl FnOnce(&(dyn Fn(Step<'_>) + Sync)) -> Result<DrillResult, DrillError>,
) -> Result<DrillResult> {
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
