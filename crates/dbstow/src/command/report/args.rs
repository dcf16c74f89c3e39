//! Arguments of `dbstow report`.

use std::path::PathBuf;

use anyhow::Result;
use clap::ValueHint;

use crate::command::output::note;
use crate::command::{ExpectationFailed, UsageError};
use analysis::report::slower::Slower;
use table::quantity::percent;

/// Arguments of `report`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    dbstow report dbstow-results/tempdb-spill-1f2e3d4c --open\n  \
    dbstow report dbstow-results/tempdb-spill-1f2e3d4c --format markdown\n  \
    dbstow report dbstow-results/wal-apart-1f2e3d4c --drill wal-apart-drill\n  \
    dbstow report shop-advice --full\n  \
    dbstow report results/sweep --format parquet --out sweep.parquet\n  \
    dbstow report results/before results/after\n  \
    dbstow report results/simulated results/measured --metric mb_per_s --html both.html\n  \
    dbstow report results/last-week results/today --fail-if-slower 5%")]
pub struct Args {
    /// Results folder, as `dbstow run` wrote it; or the folder of advice
    pub folder: PathBuf,
    /// A second one, to be shown side by side with the first
    pub other: Option<PathBuf>,
    /// Metric by which to compare two results [default: the first experiment's]
    #[arg(long, requires = "other")]
    pub metric: Option<String>,
    /// In which forms
    #[command(flatten)]
    pub output: Output,
    /// File to write (parquet)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
}

/// In which forms a result is shown.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Output {
    /// How to print what was found
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Print everything, not one screen of it
    #[arg(long)]
    pub full: bool,
    /// Write the HTML page to this file [default: report.html in the results folder]
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Show the page in the browser
    #[arg(long)]
    pub open: bool,
    /// Show what the drill in this folder found of the same arms (`dbstow drill` of the same experiment)
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub drill: Option<PathBuf>,
    /// Exit with code 3 if a placement is slower than its baseline, or a second result worse than the first, by more
    /// than this, such as 5%; what is inconclusive does not fail
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true, value_parser = share)]
    pub fail_if_slower: Option<f64>,
}

impl Output {
    /// Checks the reported results against `--fail-if-slower`.
    ///
    /// # Errors
    /// [`ExpectationFailed`] when they are worse; a [`UsageError`] when nothing was compared.
    pub fn judge(&self, judged: impl Fn(f64) -> Slower) -> Result<()> {
        let Some(share) = self.fail_if_slower else {
            return Ok(());
        };
        let option = format!("--fail-if-slower {}", percent(share));
        let Slower {
            slower,
            unsettled,
            compared,
        } = judged(share);
        if compared == 0 {
            let message = format!(
                "{option}: nothing was compared, since fewer than two arms have completed trials in the same blocks"
            );
            return Err(UsageError(message).into());
        }
        for what in unsettled {
            note(&format!("{option}: does not fail on {what}"));
        }
        match slower.is_empty() {
            true => Ok(()),
            false => Err(ExpectationFailed(format!("{} ({option})", slower.join("; "))).into()),
        }
    }
}

/// Below a million per cent.
fn share(text: &str) -> Result<f64, String> {
    experiment::spec::percentage(text, 1e4)
}

/// How findings are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Tables and sentences
    #[default]
    Text,
    /// One JSON document (schema/findings.schema.json; of two results schema/side-by-side.schema.json)
    Json,
    /// One line for each arm and metric; of two results, for each arm
    Csv,
    /// For pull requests, tickets and wikis
    Markdown,
    /// One row for each record, for DuckDB, pandas and Spark; of `report` with --out
    Parquet,
}
