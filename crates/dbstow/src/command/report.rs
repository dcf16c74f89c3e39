//! `dbstow report`: says what recorded trials show, from the records alone.

use std::path::PathBuf;

use anyhow::Result;

use crate::findings::{self, Findings};
use crate::report::{csv, json, terminal};
use crate::results::Results;

/// Arguments of `report`.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Example:\n  dbstow report dbstow-results/tempdb-spill-1f2e3d4c --format csv"
)]
pub struct Args {
    /// Results folder, as `dbstow run` wrote it
    pub folder: PathBuf,
    /// How to print it
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
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
}

/// Carries out `dbstow report`.
///
/// # Errors
/// When the folder holds no results.
pub fn run(args: &Args) -> Result<()> {
    show(&Results::open(&args.folder)?, args.format)
}

/// Prints what a folder's records say.
///
/// # Errors
/// When nothing can be printed.
pub fn show(results: &Results, format: Format) -> Result<()> {
    let findings = findings_of(results);
    let text = match format {
        Format::Text => format!(
            "{}\nRecords: {}\n",
            terminal::render(&findings),
            results.folder().display()
        ),
        Format::Json => format!("{}\n", json::render(&findings)),
        Format::Csv => csv::render(&findings),
    };
    Ok(super::print(&text)?)
}

/// What a folder's records say, unreadable ones named.
pub fn findings_of(results: &Results) -> Findings {
    let (records, unreadable) = results.records();
    let mut findings = findings::make(&results.question, &records);
    findings.warnings.extend(unreadable);
    findings
}
