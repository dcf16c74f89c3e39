//! Two results side by side, arm by arm: before and after, or simulated and measured.

use askama::Template;

use super::cell::Cell;
use super::page::policy;
use super::table::{Column, Table};
use super::width::Width;
use super::{markdown, terminal};
use crate::findings::{Arm, Comparison, Findings, Metric, Verdict};
use crate::quantity;
use reading::fact;

const STYLE: &str = include_str!("../../templates/page.css");

/// Two results, as far as they can be compared.
#[derive(Clone, Debug, PartialEq)]
pub struct SideBySide {
    title: String,
    tables: Vec<Table>,
    cautions: Vec<String>,
}

#[derive(Template)]
#[template(path = "side_by_side.html")]
struct Page<'a> {
    both: &'a SideBySide,
    version: &'static str,
    policy: String,
    style: &'static str,
}

/// The two cannot be shown side by side.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NothingInCommon {
    /// No arm of one has the name of an arm of the other.
    #[error(
        "the two results have no arm in common (the first has {0}; the second {1}); give two results of one experiment"
    )]
    Arm(String, String),
    /// No arm of both reports the metric.
    #[error("the two results have no arm in common that reports {0}; name another with --metric")]
    Metric(String),
    /// Modelled disks were shown to the engine in different ways.
    #[error(
        "the first result is of {0} mode and the second of {1} mode, with and without a filesystem's cache, so that \
         they cannot be compared; run one of them again with --front {0}"
    )]
    Front(String, String),
}

impl SideBySide {
    /// Puts `after` beside `before`, by `metric`.
    ///
    /// # Errors
    /// When no arm of both has it, or they were run in ways that cannot be compared.
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
        both.check()?;
        let figures = both.figures(metric);
        if figures.rows.is_empty() {
            return Err(NothingInCommon::Metric(metric.to_owned()));
        }
        let tables = [figures, both.verdicts(metric), both.bounds()].into_iter();
        Ok(SideBySide {
            title: format!("{metric}: {} and {}", before.experiment, after.experiment),
            tables: tables.filter(|table| !table.rows.is_empty()).collect(),
            cautions: both.cautions(),
        })
    }

    /// For a terminal.
    pub fn text(&self, width: Width) -> String {
        let title = width.wrapped("", &self.title);
        let tables = self.tables.iter();
        let tables = tables.map(|table| terminal::table::table(table, width));
        let cautions = self.cautions.iter();
        let cautions = cautions.map(|caution| width.wrapped("", caution));
        let parts: Vec<String> = tables.chain([cautions.collect()]).collect();
        format!("{title}{}", parts.join("\n"))
    }

    /// For pull requests, tickets and wikis.
    pub fn markdown(&self) -> String {
        let title = format!("## {}", markdown::text(&self.title));
        let tables = self.tables.iter().map(markdown::table);
        let cautions = [markdown::text(&self.cautions.join(" "))];
        let parts: Vec<String> = [title].into_iter().chain(tables).chain(cautions).collect();
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

    fn check(&self) -> Result<(), NothingInCommon> {
        let both = [self.before, self.after];
        let front = |findings: &Findings| findings.environment.get(fact::FRONT).cloned();
        if let [Some(one), Some(other)] = both.map(front)
            && one != other
        {
            return Err(NothingInCommon::Front(one, other));
        }
        if self.arms().next().is_none() {
            let [one, other] = both.map(|findings| {
                let arms = findings.arms.iter().map(|arm| arm.name.as_str());
                arms.collect::<Vec<_>>().join(", ")
            });
            return Err(NothingInCommon::Arm(one, other));
        }
        Ok(())
    }

    fn figures(&self, metric: &str) -> Table {
        let rows = self.arms().filter_map(|(arm, other)| {
            Some((arm, arm.metrics.get(metric)?, other.metrics.get(metric)?))
        });
        type Row<'a> = (&'a Arm, &'a Metric, &'a Metric);
        let [before, after] = &self.names;
        let columns = [
            Column::text("arm", |(arm, ..): &Row| arm.name.clone()),
            Column::figure("published", |(arm, ..): &Row| {
                arm.published.get(metric).cloned().map(Cell::Published)
            })
            .optional(),
            Column::figure(before, |(_, first, _): &Row| Cell::Metric((*first).clone())),
            Column::figure(after, |(.., second): &Row| Cell::Metric((*second).clone())),
            Column::figure("second / first", |(_, first, second): &Row| {
                Cell::Ratio(second.mean / first.mean)
            }),
            Column::text("intervals", |(_, first, second): &Row| {
                let apart = first.high < second.low || second.high < first.low;
                let alone = first.low == first.high || second.low == second.high;
                match (alone, apart) {
                    (true, _) => None,
                    (false, true) => Some("apart"),
                    (false, false) => Some("overlap"),
                }
            }),
        ];
        Table::of(rows, columns)
    }

    /// What each says of the placements among themselves: what should agree where single figures do not.
    fn verdicts(&self, metric: &str) -> Table {
        let rows = self.before.comparisons.iter().filter_map(|first| {
            let same = |second: &&Comparison| {
                (&second.baseline, &second.candidate) == (&first.baseline, &first.candidate)
                    && second.metric == first.metric
            };
            let second = self.after.comparisons.iter().find(same)?;
            (first.metric == metric).then_some((first, second))
        });
        type Row<'a> = (&'a Comparison, &'a Comparison);
        let [before, after] = &self.names;
        let columns = [
            Column::text("placements", |(first, _): &Row| {
                format!("{} / {}", first.candidate, first.baseline)
            }),
            Column::text(before, |(first, _): &Row| verdict(first)),
            Column::text(after, |(_, second): &Row| verdict(second)),
            Column::text("verdict", |(first, second): &Row| {
                match first.verdict == second.verdict {
                    true => "same",
                    false => "another",
                }
            }),
        ];
        Table::of(rows, columns)
    }

    fn bounds(&self) -> Table {
        type Row<'a> = (&'a Arm, &'a Arm);
        let [before, after] = &self.names;
        let columns = [
            Column::text("limited by", |(first, _): &Row| first.name.clone()),
            Column::text(before, |(first, _): &Row| first.bound_by.to_string()),
            Column::text(after, |(_, second): &Row| second.bound_by.to_string()),
        ];
        Table::of(self.arms(), columns)
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

fn verdict(comparison: &Comparison) -> String {
    let word = match comparison.verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::NoDifference => "no difference",
        Verdict::CannotTell => "inconclusive",
    };
    let ratio = comparison.ratio;
    format!(
        "{word}:\n{} ({} to {})",
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

        insta::assert_snapshot!(SideBySide::of(&simulated, &emulated, "elapsed_s").unwrap().text(Width::default()), @r#"
        elapsed_s: tempdb-ssd-vs-premium and tempdb-ssd-vs-premium
         arm         published        simulate   emulate, postgres 17.2   second / first   intervals
        ─────────────────────────────────────────────────────────────────────────────────────────────
         local-ssd         157   157.9 ± 1.5 s            157.9 ± 1.5 s             1.00   overlap
         p30               164   163.9 ± 1.8 s            163.9 ± 1.8 s             1.00   overlap

         placements        simulate              emulate, postgres 17.2   verdict
        ──────────────────────────────────────────────────────────────────────────
         p30 / local-ssd   no difference:        no difference:           same
                           1.04 (1.03 to 1.05)   1.04 (1.03 to 1.05)

         limited by   simulate                    emulate, postgres 17.2
        ────────────────────────────────────────────────────────────────────
         local-ssd    machine.cached.throughput   machine.cached.throughput
         p30          machine.cached.throughput   machine.cached.throughput

        The trials of the two were not interleaved, so this is no verdict: run both placements in one
        experiment for that.
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
