//! Two results side by side, arm by arm: before and after, or simulated and measured.
//!
//! There is no verdict: the trials of the two results were not interleaved.

mod both;
mod document;

use askama::Template;

use crate::findings::{Findings, Verdict};
use crate::report::cell;
use crate::report::markdown;
use crate::report::page::{STYLE, policy};
use crate::report::sentence;
use both::Both;
pub use both::NothingInCommon;
pub use document::{Bounds, Document, Intervals, Pair, Said, Side, Verdicts};
use table::{Cell, Column, Table, Width};

/// Two results, reduced to what can be compared.
#[derive(Clone, Debug, PartialEq)]
pub struct SideBySide {
    title: String,
    tables: Vec<Table>,
    document: Document,
}

#[derive(Template)]
#[template(path = "side_by_side.html")]
struct Page<'a> {
    both: &'a SideBySide,
    policy: String,
}

impl SideBySide {
    /// Puts `after` beside `before`, by `metric`.
    ///
    /// # Errors
    /// When they share no arm with this metric, or were run in ways that cannot be compared.
    pub fn of(
        before: &Findings,
        after: &Findings,
        metric: &str,
    ) -> Result<SideBySide, NothingInCommon> {
        let both = Both::of(before, after)?;
        let document = Document::of(&both, metric);
        if document.arms.is_empty() {
            return Err(NothingInCommon::Metric(metric.to_owned()));
        }
        let tables = [figures(&document), verdicts(&document), bounds(&document)].into_iter();
        Ok(SideBySide {
            title: match before.experiment == after.experiment {
                true => format!("{metric} of {}", before.experiment),
                false => format!("{metric}: {} and {}", before.experiment, after.experiment),
            },
            tables: tables.filter(|table| !table.rows.is_empty()).collect(),
            document,
        })
    }

    /// Names the folders of the two results, as their experiment is often the same.
    pub fn in_folders(self, [first, second]: [&str; 2]) -> SideBySide {
        let Document {
            first: one,
            second: other,
            ..
        } = &self.document;
        SideBySide {
            title: format!(
                "{} ({}: {first}; {}: {second})",
                self.title, one.name, other.name
            ),
            ..self
        }
    }

    /// The document behind the tables.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// One JSON document: `schema/side-by-side.schema.json`.
    pub fn json(&self) -> String {
        self.document.json()
    }

    /// One row per arm, for spreadsheets and plotting.
    pub fn csv(&self) -> String {
        self.document.csv()
    }

    /// For a terminal.
    pub fn text(&self, width: Width) -> String {
        let title = width.wrapped("", &self.title);
        let tables = self.tables.iter();
        let tables = tables.map(|table| table.text(width));
        let cautions = self.document.cautions.iter();
        let cautions = cautions.map(|caution| width.wrapped("", caution));
        let parts: Vec<String> = tables.chain([cautions.collect()]).collect();
        format!("{title}{}", parts.join("\n"))
    }

    /// For pull requests, tickets and wikis.
    pub fn markdown(&self) -> String {
        let title = format!("## {}", markdown::text(&self.title));
        let tables = self.tables.iter().map(markdown::table);
        let cautions = [markdown::beginning(&self.document.cautions.join(" "))];
        let parts: Vec<String> = [title].into_iter().chain(tables).chain(cautions).collect();
        format!("{}\n", parts.join("\n\n"))
    }

    /// As a self-contained page.
    pub fn page(&self) -> String {
        let page = Page {
            both: self,
            policy: policy::of(&[STYLE], &[]),
        };
        page.render()
            .expect("the template asks for nothing that can fail")
    }
}

fn figures(document: &Document) -> Table {
    type Row<'a> = &'a Pair;
    let columns = [
        Column::text("arm", |pair: &Row| pair.arm.clone()),
        Column::figure("published", |pair: &Row| {
            pair.published.as_ref().map(cell::published)
        })
        .optional(),
        Column::figure(&document.first.name, |pair: &Row| Cell::from(&pair.first)),
        Column::figure(&document.second.name, |pair: &Row| Cell::from(&pair.second)),
        Column::figure("second / first", |pair: &Row| Cell::Ratio(pair.ratio)),
        Column::text("intervals", |pair: &Row| {
            pair.intervals.map(Intervals::name)
        }),
    ];
    Table::of(&document.arms, columns)
}

fn verdicts(document: &Document) -> Table {
    type Row<'a> = &'a Verdicts;
    let columns = [
        Column::text("placements", |both: &Row| {
            format!("{} / {}", both.candidate, both.baseline)
        }),
        Column::text(&document.first.name, |both: &Row| said(both.first)),
        Column::text(&document.second.name, |both: &Row| said(both.second)),
        Column::text("verdict", |both: &Row| {
            match (both.first.verdict, both.second.verdict) {
                (Verdict::CannotTell, _) | (_, Verdict::CannotTell) => "inconclusive",
                (first, second) if first == second => "same",
                (_, _) => "different",
            }
        }),
    ];
    Table::of(&document.comparisons, columns)
}

fn bounds(document: &Document) -> Table {
    type Row<'a> = &'a Bounds;
    let columns = [
        Column::text("limited by", |both: &Row| both.arm.clone()),
        Column::text(&document.first.name, |both: &Row| both.first.to_string()),
        Column::text(&document.second.name, |both: &Row| both.second.to_string()),
    ];
    Table::of(&document.bounds, columns)
}

fn said(said: Said) -> String {
    let word = match said.verdict {
        _ if said.withheld.is_some() => "no verdict",
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::NoDifference => "no difference",
        Verdict::CannotTell => "inconclusive",
    };
    let [mean, low, high] = sentence::shown(&said.ratio);
    format!("{word}:\n{mean} ({low} to {high})")
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
        elapsed_s of tempdb-ssd-vs-premium
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

        The trials of the two were not interleaved, so this is not a verdict: run both placements in one
        experiment for that.
        The first was made in mode simulate, the second in mode emulate: shown side by side, not pooled.
        Warnings of simulate: model-chance, fitted.
        Warnings of emulate, postgres 17.2: fitted.
        "#);
    }

    #[test]
    fn two_results_of_one_experiment_are_told_apart_by_their_folders() {
        let simulated = make(&examples::question(), &examples::records());
        let both = SideBySide::of(&simulated, &simulated, "elapsed_s").unwrap();
        let json = both.json();

        let both = both.in_folders(["runs/one", "runs/two"]);

        let title = "elapsed_s of tempdb-ssd-vs-premium (before: runs/one; after: runs/two)";
        assert!(both.text(Width::default()).starts_with(title));
        assert!(
            both.markdown()
                .contains("before: runs/one; after: runs/two")
        );
        assert!(both.page().contains(&format!("<h1>{title}</h1>")));
        assert_eq!(both.json(), json);
    }

    #[test]
    fn a_metric_that_neither_has_is_refused_with_the_option_to_name_another() {
        let simulated = make(&examples::question(), &examples::records());

        let error = SideBySide::of(&simulated, &simulated, "nonsense").unwrap_err();

        assert!(error.to_string().contains("--metric"), "{error}");
    }

    #[test]
    fn the_document_fits_its_schema_and_is_read_back_as_it_was() {
        const SCHEMA: &str = include_str!("../../../../../schema/side-by-side.schema.json");
        let simulated = make(&examples::question(), &examples::records());
        let (question, records) = examples::in_mode("emulate", examples::emulated);
        let single = make(&question, &records[..2]);
        let emulated = make(&question, &records);
        let schema = serde_json::from_str(SCHEMA).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        for after in [emulated, single] {
            let both = SideBySide::of(&simulated, &after, "elapsed_s").unwrap();

            let value = serde_json::from_str(&both.json()).unwrap();

            let errors: Vec<String> = validator
                .iter_errors(&value)
                .map(|error| format!("{}: {error}", error.instance_path()))
                .collect();
            assert!(errors.is_empty(), "{errors:#?}");
            let read: Document = serde_json::from_value(value).unwrap();
            assert_eq!(&read, both.document());
        }
    }

    #[test]
    fn csv_has_a_row_an_arm_with_all_digits() {
        let simulated = make(&examples::question(), &examples::records());
        let both = SideBySide::of(&simulated, &simulated, "elapsed_s").unwrap();

        insta::assert_snapshot!(both.csv(), @r#"
        arm,metric,unit,published,first,first_low,first_high,second,second_low,second_high,ratio,intervals
        local-ssd,elapsed_s,s,157,157.86666666666667,156.34883345322794,159.3844998801054,157.86666666666667,156.34883345322794,159.3844998801054,1,overlap
        p30,elapsed_s,s,164,163.86666666666667,162.1042706027696,165.62906273056376,163.86666666666667,162.1042706027696,165.62906273056376,1,overlap
        "#);
    }
}
