//! Advice that was given before, shown again from its folder.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use files::{input, write_named};

use super::super::output::print_report;
use super::super::{UsageError, drilled, print, print_json};
use super::args::{Args, Format};
use super::open::open;
use analysis::report::advice::{self, Advice, page};
use analysis::report::markdown;

/// Names of the document and of the page in the folder of advice.
pub(crate) const DOCUMENT: &str = "advice.json";
pub(crate) const PAGE: &str = "advice.html";

/// The document of advice in `folder`; `None` where it has none, as a results folder.
pub(super) fn document(folder: &Path) -> Option<PathBuf> {
    let file = folder.join(DOCUMENT);
    file.is_file().then_some(file)
}

/// Shows the advice in `file`, without looking for any.
///
/// # Errors
/// When it is something else, an option is for results of a run, or a page cannot be written.
pub(super) fn show(file: &Path, args: &Args) -> Result<()> {
    check(args)?;
    let name = file.display().to_string();
    let text = input::named(file).with_context(|| name.clone())?;
    let mut advice = Advice::read(&name, &text).map_err(|error| UsageError(error.to_string()))?;
    if let Some(folder) = &args.output.drill {
        let drill = drilled::of_server(folder)?;
        drilled::add_to_advice(folder, &drill, &mut advice);
    }
    let shown = match &args.output.html {
        Some(file) => {
            write_named(file, page(&advice).as_bytes())?;
            file.clone()
        }
        None => args.folder.join(PAGE),
    };
    match args.output.format {
        Format::Text => {
            let report = advice::report(&advice, false);
            let files = files_line(&shown, &advice);
            print_report(&report, args.output.full, &files, &more(&args.folder))?;
        }
        Format::Json => print_json(&advice.json())?,
        Format::Markdown => print(&markdown::render(&advice::report(&advice, false)))?,
        Format::Csv | Format::Parquet => return Err(refused(args, "--format").into()),
    }
    match args.output.open {
        true => open(&shown),
        false => Ok(()),
    }
}

/// The line that names the page.
pub(crate) fn files_line(page: &Path, advice: &Advice) -> String {
    let assumed = advice.assumptions.len();
    format!("Page:    {} ({assumed} assumptions)\n", page.display())
}

/// The command that shows all of the advice in `folder`.
pub(crate) fn more(folder: &Path) -> String {
    format!("dbstow report {} --full", folder.display())
}

/// Refuses what is about results of a run.
fn check(args: &Args) -> Result<(), UsageError> {
    let given = [
        ("a second folder", args.other.is_some()),
        ("--out", args.out.is_some()),
        ("--fail-if-slower", args.output.fail_if_slower.is_some()),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((what, _)) => Err(refused(args, what)),
    }
}

fn refused(args: &Args, what: &str) -> UsageError {
    let folder = args.folder.display();
    UsageError(format!(
        "{what}: that is for results of a run, and {folder} has advice; leave it out, or give --format text, json or markdown"
    ))
}
