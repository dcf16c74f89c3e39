//! `dbstow compare`: two results folders side by side, arm by arm.

use std::path::PathBuf;

use anyhow::{Result, bail};
use comfy_table::{CellAlignment, Table, presets};

use super::report::findings_of;
use crate::findings::{Arm, Findings, Metric};
use crate::quantity;
use crate::results::Results;

/// Arguments of `compare`.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Example:\n  dbstow compare results/before results/after --metric operations_per_s"
)]
pub struct Args {
    /// The first results folder
    pub before: PathBuf,
    /// The second results folder
    pub after: PathBuf,
    /// By which metric [default: the first experiment's]
    #[arg(long)]
    pub metric: Option<String>,
}

/// Carries out `dbstow compare`.
///
/// # Errors
/// When a folder holds no results, or the two have no arm with that metric in common.
pub fn run(args: &Args) -> Result<()> {
    let (before, after) = (Results::open(&args.before)?, Results::open(&args.after)?);
    let metric = args
        .metric
        .clone()
        .unwrap_or_else(|| before.question.metric.clone());
    let (first, second) = (findings_of(&before), findings_of(&after));
    super::print(&format!("{}\n", rendered(&first, &second, &metric)?))?;
    Ok(())
}

/// The table, and what limits it.
fn rendered(before: &Findings, after: &Findings, metric: &str) -> Result<String> {
    let both: Vec<(&Arm, &Metric, &Metric)> = before
        .arms
        .iter()
        .filter_map(|arm| {
            let other = after.arms.iter().find(|other| other.name == arm.name)?;
            Some((arm, arm.metrics.get(metric)?, other.metrics.get(metric)?))
        })
        .collect();
    if both.is_empty() {
        bail!(
            "the two results have no arm in common that reports {metric}; name another with --metric"
        );
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["arm", "before", "after", "after / before", "intervals"]);
    for (arm, first, second) in both {
        let apart = first.high < second.low || second.high < first.low;
        table.add_row([
            arm.name.clone(),
            format!("{} {}", quantity::number(first.mean), first.unit),
            format!("{} {}", quantity::number(second.mean), second.unit),
            quantity::ratio(second.mean / first.mean),
            if apart { "apart" } else { "overlap" }.to_owned(),
        ]);
    }
    for column in 1..4 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let modes = if before.mode == after.mode {
        String::new()
    } else {
        format!(
            "\nThe first was made in mode {}, the second in mode {}: shown side by side, not pooled.",
            before.mode, after.mode
        )
    };
    Ok(format!(
        "{metric}: {} and {}\n{table}\nThe trials of the two were not interleaved, so this is no verdict: run both placements in one experiment for that.{modes}",
        before.experiment, after.experiment
    ))
}
