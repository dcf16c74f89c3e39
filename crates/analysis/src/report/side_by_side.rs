//! Two results side by side, arm by arm: before and after, or simulated and measured.

use askama::Template;
use comfy_table::{CellAlignment, Table, presets};

use super::page::policy;
use super::{markdown, placements};
use crate::findings::{Arm, Comparison, Findings, Metric, Verdict};
use crate::quantity::{self, Quantity};

const STYLE: &str = include_str!("../../templates/page.css");

/// Two results, as far as they can be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideBySide {
    title: String,
    sheets: Vec<Sheet>,
    cautions: Vec<String>,
}

/// One table of them; its first column is text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sheet {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

#[derive(Template)]
#[template(path = "side_by_side.html")]
struct Page<'a> {
    both: &'a SideBySide,
    version: &'static str,
    policy: String,
    style: &'static str,
}

/// The two have no arm in common that reports the metric.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the two results have no arm in common that reports {0}; name another with --metric")]
pub struct NothingInCommon(String);

impl SideBySide {
    /// Puts `after` beside `before`, by `metric`.
    ///
    /// # Errors
    /// When no arm of both has it.
    pub fn of(
        before: &Findings,
        after: &Findings,
        metric: &str,
    ) -> Result<SideBySide, NothingInCommon> {
        let both = Both {
            before,
            after,
            names: names(before, after),
        };
        let figures = both.figures(metric);
        let figures = figures.ok_or_else(|| NothingInCommon(metric.to_owned()))?;
        let sheets = [Some(figures), both.verdicts(metric), both.bounds()];
        Ok(SideBySide {
            title: format!("{metric}: {} and {}", before.experiment, after.experiment),
            sheets: sheets.into_iter().flatten().collect(),
            cautions: both.cautions(),
        })
    }

    /// For a terminal.
    pub fn text(&self) -> String {
        let sheets = self.sheets.iter().map(Sheet::text);
        let parts: Vec<String> = sheets.chain([self.cautions.join("\n")]).collect();
        format!("{}\n{}\n", self.title, parts.join("\n\n"))
    }

    /// For pull requests, tickets and wikis.
    pub fn markdown(&self) -> String {
        let title = format!("## {}", markdown::text(&self.title));
        let sheets = self.sheets.iter();
        let sheets =
            sheets.map(|sheet| markdown::table(&sheet.header, sheet.rows.iter().cloned(), 1));
        let cautions = [markdown::text(&self.cautions.join(" "))];
        let parts: Vec<String> = [title].into_iter().chain(sheets).chain(cautions).collect();
        format!("{}\n", parts.join("\n\n"))
    }

    /// As a page of its own.
    pub fn page(&self) -> String {
        let page = Page {
            both: self,
            version: env!("CARGO_PKG_VERSION"),
            policy: policy::of(&[STYLE], &[]),
            style: STYLE,
        };
        page.render()
            .expect("the template asks for nothing that can fail")
    }
}

impl Sheet {
    /// Nothing without rows.
    fn of(header: Vec<String>, rows: impl Iterator<Item = Vec<String>>) -> Option<Sheet> {
        let rows: Vec<Vec<String>> = rows.collect();
        (!rows.is_empty()).then_some(Sheet { header, rows })
    }

    fn text(&self) -> String {
        let mut table = Table::new();
        table
            .load_style(presets::NOTHING)
            .set_header(&self.header)
            .add_rows(&self.rows);
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        let lines: Vec<String> = table
            .lines()
            .map(|line| line.trim_end().to_owned())
            .collect();
        lines.join("\n")
    }
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

    fn figures(&self, metric: &str) -> Option<Sheet> {
        let both: Vec<(&Arm, &Metric, &Metric)> = self
            .arms()
            .filter_map(|(arm, other)| {
                Some((arm, arm.metrics.get(metric)?, other.metrics.get(metric)?))
            })
            .collect();
        let published = both
            .iter()
            .any(|(arm, ..)| arm.published.contains_key(metric));
        let mut header = vec!["arm".to_owned()];
        header.extend(published.then(|| "published".to_owned()));
        header.extend(self.names.clone());
        header.extend(["second / first", "intervals"].map(str::to_owned));
        let rows = both.into_iter().map(|(arm, first, second)| {
            let apart = first.high < second.low || second.high < first.low;
            let alone = first.low == first.high || second.low == second.high;
            let mut row = vec![arm.name.clone()];
            let said = arm.published.get(metric).map(placements::said);
            row.extend(published.then(|| said.unwrap_or_else(|| "-".into())));
            row.extend([figure(first), figure(second)]);
            row.push(quantity::ratio(second.mean / first.mean));
            let intervals = match (alone, apart) {
                (true, _) => "-",
                (false, true) => "apart",
                (false, false) => "overlap",
            };
            row.push(intervals.to_owned());
            row
        });
        Sheet::of(header, rows)
    }

    /// What each says of the placements among themselves: what should agree where single figures do not.
    fn verdicts(&self, metric: &str) -> Option<Sheet> {
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
        Sheet::of(header, rows)
    }

    fn bounds(&self) -> Option<Sheet> {
        let rows = self.arms().map(|(arm, other)| {
            [
                arm.name.clone(),
                arm.bound_by.to_string(),
                other.bound_by.to_string(),
            ]
        });
        let [first, second] = &self.names;
        let header = ["bound by".to_owned(), first.clone(), second.clone()];
        Sheet::of(header.to_vec(), rows.map(Vec::from))
    }

    fn cautions(&self) -> Vec<String> {
        let mut cautions = vec![
            "The trials of the two were not interleaved, so this is no verdict: run both placements in \
             one experiment for that."
                .to_owned(),
        ];
        if self.before.mode != self.after.mode {
            cautions.push(format!(
                "The first was made in mode {}, the second in mode {}: shown side by side, not pooled.",
                self.before.mode, self.after.mode
            ));
        }
        for (name, findings) in self.names.iter().zip([self.before, self.after]) {
            let ids = findings.warnings.iter().map(|warning| warning.id.as_str());
            let ids: Vec<&str> = ids.collect();
            if !ids.is_empty() {
                cautions.push(format!("Warnings of {name}: {}.", ids.join(", ")));
            }
        }
        cautions
    }
}

fn figure(metric: &Metric) -> String {
    Quantity::with_interval([metric.mean, metric.low, metric.high], &metric.unit).to_string()
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
    use crate::findings::make;
    use experiment::examples;

    #[test]
    fn a_simulated_and_an_emulated_result_stand_side_by_side() {
        let simulated = make(&examples::question(), &examples::records());
        let (question, records) = examples::in_mode("emulate", examples::emulated);
        let emulated = make(&question, &records);

        insta::assert_snapshot!(SideBySide::of(&simulated, &emulated, "elapsed_s").unwrap().text(), @r#"
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
        Warnings of simulate: model-chance, fitted.
        Warnings of emulate, postgres 17.2: fitted.
        "#);
    }

    #[test]
    fn a_metric_that_neither_has_is_refused_with_the_option_to_name_another() {
        let simulated = make(&examples::question(), &examples::records());

        let error = SideBySide::of(&simulated, &simulated, "nonsense").unwrap_err();

        assert!(error.to_string().contains("--metric"), "{error}");
    }
}
