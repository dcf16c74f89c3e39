//! `dbstow compare`: two results folders side by side, arm by arm.

use std::path::PathBuf;

use anyhow::{Result, bail};
use comfy_table::{CellAlignment, Table, presets};

use super::report::findings_of;
use crate::findings::{Arm, Comparison, Findings, Metric, Published, Verdict};
use crate::quantity::{self, Quantity};
use crate::results::Results;

/// Arguments of `compare`.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  dbstow compare results/before results/after --metric operations_per_s\n  \
                  dbstow compare results/simulated results/emulated"
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

/// The tables, and what limits them.
fn rendered(before: &Findings, after: &Findings, metric: &str) -> Result<String> {
    let both = Both {
        before,
        after,
        names: names(before, after),
    };
    let parts = [
        Some(both.figures(metric)?),
        both.verdicts(metric),
        both.bounds(),
        Some(both.caution()),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    Ok(format!(
        "{metric}: {} and {}\n{}",
        before.experiment,
        after.experiment,
        parts.join("\n\n")
    ))
}

/// What the two results are called: by mode and engine where these tell them apart.
fn names(before: &Findings, after: &Findings) -> [String; 2] {
    let name = |findings: &Findings| match &findings.engine {
        Some(engine) => format!("{}, {} {}", findings.mode, engine.name, engine.version),
        None => findings.mode.clone(),
    };
    let named = [name(before), name(after)];
    if named[0] == named[1] {
        ["before", "after"].map(str::to_owned)
    } else {
        named
    }
}

struct Both<'a> {
    before: &'a Findings,
    after: &'a Findings,
    names: [String; 2],
}

impl Both<'_> {
    /// Arms that both have.
    fn arms(&self) -> impl Iterator<Item = (&Arm, &Arm)> {
        self.before.arms.iter().filter_map(|arm| {
            let mut others = self.after.arms.iter();
            Some((arm, others.find(|other| other.name == arm.name)?))
        })
    }

    fn figures(&self, metric: &str) -> Result<String> {
        let both: Vec<(&Arm, &Metric, &Metric)> = self
            .arms()
            .filter_map(|(arm, other)| {
                Some((arm, arm.metrics.get(metric)?, other.metrics.get(metric)?))
            })
            .collect();
        if both.is_empty() {
            bail!(
                "the two results have no arm in common that reports {metric}; name another with --metric"
            );
        }
        let published = both
            .iter()
            .any(|(arm, ..)| arm.published.contains_key(metric));
        let mut header = vec!["arm".to_owned()];
        header.extend(published.then(|| "published".to_owned()));
        header.extend(self.names.clone());
        header.extend(["second / first", "intervals"].map(str::to_owned));
        let rows = both.into_iter().map(|(arm, first, second)| {
            let apart = first.high < second.low || second.high < first.low;
            let mut row = vec![arm.name.clone()];
            row.extend(published.then(|| said(arm.published.get(metric))));
            row.extend([figure(first), figure(second)]);
            row.push(quantity::ratio(second.mean / first.mean));
            row.push(if apart { "apart" } else { "overlap" }.to_owned());
            row
        });
        Ok(table(header, rows.collect()))
    }

    /// What each says of the placements among themselves: what should agree where single figures do not.
    fn verdicts(&self, metric: &str) -> Option<String> {
        let rows = self.before.comparisons.iter().filter_map(|first| {
            let same = |second: &&Comparison| {
                (&second.baseline, &second.candidate) == (&first.baseline, &first.candidate)
                    && second.metric == first.metric
            };
            let second = self.after.comparisons.iter().find(same)?;
            let agree = first.verdict == second.verdict;
            (first.metric == metric).then(|| {
                vec![
                    format!("{} / {}", first.candidate, first.baseline),
                    verdict(first),
                    verdict(second),
                    if agree { "same" } else { "another" }.to_owned(),
                ]
            })
        });
        let [first, second] = self.names.clone();
        let header = vec!["placements".to_owned(), first, second, "verdict".to_owned()];
        nonempty(header, rows.collect())
    }

    fn bounds(&self) -> Option<String> {
        let rows = self
            .arms()
            .map(|(arm, other)| [&arm.name, &arm.bound_by, &other.bound_by].map(Clone::clone));
        let [first, second] = &self.names;
        let header = ["bound by".to_owned(), first.clone(), second.clone()];
        nonempty(header.to_vec(), rows.map(Vec::from).collect())
    }

    fn caution(&self) -> String {
        let modes = if self.before.mode == self.after.mode {
            String::new()
        } else {
            format!(
                "\nThe first was made in mode {}, the second in mode {}: shown side by side, not pooled.",
                self.before.mode, self.after.mode
            )
        };
        format!(
            "The trials of the two were not interleaved, so this is no verdict: run both placements in \
             one experiment for that.{modes}"
        )
    }
}

fn nonempty(header: Vec<String>, rows: Vec<Vec<String>>) -> Option<String> {
    (!rows.is_empty()).then(|| table(header, rows))
}

/// A table whose first column is text and the others are not.
fn table(header: Vec<String>, rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_header(header)
        .add_rows(rows);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let lines: Vec<String> = table
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect();
    lines.join("\n")
}

fn figure(metric: &Metric) -> String {
    let quantity = Quantity {
        value: metric.mean,
        error: Some((metric.high - metric.low) / 2.0),
        unit: &metric.unit,
    };
    quantity.to_string()
}

fn said(published: Option<&Published>) -> String {
    match published {
        Some(Published::Number(value)) => quantity::number(*value),
        Some(Published::Words(words)) => words.clone(),
        None => "-".into(),
    }
}

fn verdict(comparison: &Comparison) -> String {
    let word = match comparison.verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::NoDifference => "no difference",
        Verdict::CannotTell => "cannot tell",
    };
    let ratio = comparison.ratio;
    format!(
        "{word}: {} ({} to {})",
        quantity::ratio(ratio.mean),
        quantity::ratio(ratio.low),
        quantity::ratio(ratio.high)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{examples, make};

    #[test]
    fn a_simulated_and_an_emulated_result_stand_side_by_side() {
        let simulated = make(&examples::question(), &examples::records());
        let (question, records) = examples::in_mode("emulate", examples::emulated);
        let emulated = make(&question, &records);

        insta::assert_snapshot!(rendered(&simulated, &emulated, "elapsed_s").unwrap(), @r#"
        elapsed_s: tempdb-ssd-vs-premium and tempdb-ssd-vs-premium
         arm        published       simulate  emulate, postgres 17.2  second / first  intervals
         local-ssd        157  157.9 ± 1.5 s           157.9 ± 1.5 s            1.00    overlap
         p30              164  163.9 ± 1.8 s           163.9 ± 1.8 s            1.00    overlap

         placements                                 simulate              emulate, postgres 17.2  verdict
         p30 / local-ssd  no difference: 1.04 (1.03 to 1.05)  no difference: 1.04 (1.03 to 1.05)     same

         bound by                    simulate     emulate, postgres 17.2
         local-ssd  machine.cached.throughput  machine.cached.throughput
         p30        machine.cached.throughput  machine.cached.throughput

        The trials of the two were not interleaved, so this is no verdict: run both placements in one experiment for that.
        The first was made in mode simulate, the second in mode emulate: shown side by side, not pooled.
        "#);
    }

    #[test]
    fn a_metric_that_neither_has_is_refused_with_the_option_to_name_another() {
        let simulated = make(&examples::question(), &examples::records());

        let error = rendered(&simulated, &simulated, "nonsense").unwrap_err();

        assert!(error.to_string().contains("--metric"), "{error}");
    }
}
