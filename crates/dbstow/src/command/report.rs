//! `dbstow report`: says what recorded trials show, from the records alone.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use files::{Readers, write_named, write_whole};

use super::Mistake;
use super::output::{note, print_styled, width};
use analysis::findings::{self, Findings};
use analysis::report::page::{self, Parts};
use analysis::report::side_by_side::SideBySide;
use analysis::report::{csv, json, markdown, terminal};
use experiment::record::Record;
use experiment::results::Results;

/// What the page is called in a results folder.
const PAGE: &str = "report.html";

/// Arguments of `report`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    dbstow report dbstow-results/tempdb-spill-1f2e3d4c --open\n  \
    dbstow report dbstow-results/tempdb-spill-1f2e3d4c --format markdown\n  \
    dbstow report results/before results/after\n  \
    dbstow report results/simulated results/measured --metric mb_per_s --html both.html")]
pub struct Args {
    /// Results folder, as `dbstow run` wrote it
    pub folder: PathBuf,
    /// A second one, to be shown side by side with the first
    pub other: Option<PathBuf>,
    /// Metric by which to compare two results [default: the first experiment's]
    #[arg(long, requires = "other")]
    pub metric: Option<String>,
    /// In which forms
    #[command(flatten)]
    pub output: Output,
}

/// In which forms a result is shown.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Output {
    /// How to print what was found
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Write the HTML page to this file [default: report.html in the results folder]
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Show the page in the browser
    #[arg(long)]
    pub open: bool,
}

/// How findings are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Tables and sentences
    #[default]
    Text,
    /// One JSON document (schema/findings.schema.json)
    Json,
    /// One line for each arm and metric
    Csv,
    /// For pull requests, tickets and wikis
    Markdown,
}

/// Runs `dbstow report`.
///
/// # Errors
/// When a folder holds no results, or a page that was asked for cannot be written.
pub fn run(args: &Args) -> Result<()> {
    let results = Results::open(&args.folder)?;
    match &args.other {
        None => show(&results, &args.output).map(|_| ()),
        Some(other) => show_both(&results, &Results::open(other)?, args),
    }
}

/// Prints what a folder's records say, and writes it as a page. Gives what they say.
///
/// # Errors
/// When nothing can be printed, or a page that was asked for cannot be written.
pub fn show(results: &Results, output: &Output) -> Result<Findings> {
    let (records, findings) = found(results);
    let page = write_page(results, &records, &findings, output);
    match output.format {
        Format::Text => {
            let mut text = terminal::render(&findings, width());
            let records = results.folder().display();
            text.push(&format!("\nRecords: {records}\n{}", page_line(&page)));
            print_styled(&text)?;
        }
        Format::Json => super::print_json(&format!("{}\n", json::render(&findings)))?,
        Format::Csv => super::print(&csv::render(&findings))?,
        Format::Markdown => super::print(&markdown::render(&findings))?,
    }
    // Only now: what was found is not to be lost over it.
    if let Some(page) = page?.filter(|_| output.open) {
        open(&page)?;
    }
    Ok(findings)
}

fn page_line(page: &Result<Option<PathBuf>>) -> String {
    match page {
        Ok(Some(page)) => format!("Page:    {}\n", page.display()),
        Ok(None) | Err(_) => String::new(),
    }
}

/// Prints two results side by side, and writes them as a page where that is asked for.
fn show_both(before: &Results, after: &Results, args: &Args) -> Result<()> {
    if args.output.open && args.output.html.is_none() {
        return Err(Mistake("--open with two results needs --html FILE".to_owned()).into());
    }
    let metric = args.metric.as_ref().unwrap_or(&before.question.metric);
    let both = SideBySide::of(&found(before).1, &found(after).1, metric)?;
    let text = match args.output.format {
        Format::Text => both.text(width()),
        Format::Markdown => both.markdown(),
        Format::Json | Format::Csv => {
            let message =
                "two results are shown as text or markdown; for JSON and CSV report each by itself";
            return Err(Mistake(message.to_owned()).into());
        }
    };
    super::print(&text)?;
    let Some(file) = &args.output.html else {
        return Ok(());
    };
    write_named(file, both.page().as_bytes())?;
    if args.output.open { open(file) } else { Ok(()) }
}

/// A folder's records and what they say, unreadable ones named.
fn found(results: &Results) -> (Vec<Record>, Findings) {
    let (records, unreadable) = results.records();
    let mut findings = findings::make(&results.question, &records);
    findings.warnings.extend(unreadable);
    (records, findings)
}

/// Writes the page where it is wanted, or into the results folder if that can be written. Says where.
fn write_page(
    results: &Results,
    records: &[Record],
    findings: &Findings,
    output: &Output,
) -> Result<Option<PathBuf>> {
    let curves = findings::curves(&results.question, records, findings);
    let when = results.finished();
    let text = page::render(Parts {
        findings,
        curves: &curves,
        plan: &results.plan,
        when: when.as_deref(),
    });
    if let Some(file) = &output.html {
        write_named(file, text.as_bytes())?;
        return Ok(Some(file.clone()));
    }
    let file = results.folder().join(PAGE);
    // In a folder that may be anybody's, a pipe or a device is not written to.
    match write_whole(&file, text.as_bytes(), Readers::Umask) {
        Ok(()) => Ok(Some(file)),
        Err(error) => {
            note(&format!(
                "dbstow: cannot write the page: {error}; choose another file with --html FILE"
            ));
            Ok(None)
        }
    }
}

fn open(page: &Path) -> Result<()> {
    opener::open(page).with_context(|| format!("{}: no browser would show it", page.display()))
}
