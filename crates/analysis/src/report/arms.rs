//! The arms: one row per placement, ours beside what was published; in CSV one row per figure.

use std::collections::BTreeSet;

use super::rank::Ranked;
use super::{cell, words};
use crate::findings::{Arm, Findings, Metric, Published, Survived};
use experiment::spec::Mode;
use table::quantity::percent_signed;
use table::{Cell, Column, Table};

/// Number of columns on a screen.
const COLUMNS_MAX: usize = 6;

/// The unit of prices.
const PRICE: &str = "$/month";

/// Metrics that are always shown, published or not.
const ALWAYS: [&str; 4] = ["operations_per_s", "mb_per_s", "iops", "physical_reads"];

/// An arm; in CSV one of its figures.
pub(super) struct Row<'a> {
    arm: &'a Arm,
    /// Its name; empty for the arm as a whole.
    figure: String,
    metric: Option<&'a Metric>,
}

/// All columns in order, with the formats that include them; [`brief`] chooses those of a screen.
pub(super) fn columns(findings: &Findings) -> Vec<Column<'_, Row<'_>>> {
    let engine = findings.engine.as_ref();
    let engine = engine.map(|engine| format!("{} {}", engine.name, engine.version));
    let mut columns = vec![
        Column::csv_only("experiment", |_: &Row| findings.experiment.as_str()),
        Column::csv_only("mode", |_: &Row| findings.mode.as_str()),
    ];
    columns.extend(naming(findings));
    // In CSV, one row each.
    let metrics = metrics(findings).into_iter();
    columns.extend(metrics.map(|name| metric(findings, name)));
    columns.extend([
        Column::csv_only("metric", |row: &Row| row.figure.clone()),
        Column::csv_only("mean", |row: &Row| Some(row.metric?.mean)),
        Column::csv_only("low", |row: &Row| Some(row.metric?.low)),
        Column::csv_only("high", |row: &Row| Some(row.metric?.high)),
        Column::csv_only("unit", |row: &Row| Some(row.metric?.unit.clone())),
        Column::csv_only("published", |row: &Row| {
            row.published().map(cell::published)
        }),
        // A share, unlike the other columns.
        Column::csv_only("deviation", |row: &Row| {
            row.published()?.deviation(row.metric?.mean)
        }),
    ]);
    columns.extend(besides(findings));
    columns.extend([
        Column::csv_only("fitted", |row: &Row| row.arm.fitted.to_string()),
        Column::csv_only("engine", move |_: &Row| engine.clone()),
    ]);
    columns
}

/// What a row is about.
fn naming<'a>(findings: &'a Findings) -> [Column<'a, Row<'a>>; 3] {
    let mode = findings.mode();
    [
        Column::text("placement", |row: &Row| row.arm.name.clone())
            .pinned()
            .csv("arm"),
        Column::text("our\nfigures", move |row: &Row| role(row.arm, mode))
            .pinned()
            .optional(),
        Column::figure("trials", |row: &Row| Cell::Of {
            count: row.arm.trials,
            all: findings.blocks,
        })
        .pinned()
        .optional()
        .csv("trials"),
    ]
}

/// What an arm costs, and survives.
fn besides<'a>(findings: &'a Findings) -> [Column<'a, Row<'a>>; 2] {
    [
        Column::figure(priced(findings), |row: &Row| {
            row.arm.usd_per_month.map(Cell::Usd)
        })
        .unit(PRICE)
        .pinned()
        .optional(),
        Column::text("crash states\nsurvived", |row: &Row| {
            let survived = row.arm.survived.as_ref();
            survived.map_or_else(String::new, Survived::brief)
        })
        .optional(),
    ]
}

fn row(arm: &Arm) -> Row<'_> {
    Row {
        arm,
        figure: String::new(),
        metric: None,
    }
}

/// One row per arm.
pub(super) fn table(findings: &Findings) -> Table {
    let compared = findings.arms.iter().any(|arm| !arm.published.is_empty());
    let published = compared.then_some("publ.: published elsewhere (and how far ours is off)");
    Table {
        note: legend(findings, published.map(str::to_owned), prices(findings)),
        ..Table::of(findings.arms.iter().map(row), columns(findings))
    }
}

/// A line per arm, of many those that `ranked` shows and the baseline, with the columns that matter most: what decides,
/// what was published, prices, then the other metrics.
pub(super) fn brief(findings: &Findings, ranked: &Ranked) -> Table {
    let baseline = findings.comparisons.first().map(|first| &first.baseline);
    let baseline = ranked
        .others
        .iter()
        .find(|at| Some(&findings.arms[**at].name) == baseline);
    let rows = baseline.into_iter().chain(&ranked.shown);
    let rows = rows.map(|at| row(&findings.arms[*at]));
    let metrics = metrics(findings);
    let has_published = |name: &&&str| {
        findings
            .arms
            .iter()
            .any(|arm| arm.published.contains_key(**name))
    };
    let published = metrics.iter().find(has_published).copied();
    let mut columns: Vec<Column<'_, Row<'_>>> = naming(findings).into();
    let others = metrics.iter().filter(|name| Some(**name) != published);
    let decides = metrics.first().filter(|name| Some(**name) != published);
    columns.extend(decides.map(|name| bare(findings, name)));
    if let Some(name) = published {
        columns.extend([
            bare(findings, name),
            Column::figure("published", move |row: &Row| {
                row.arm.published.get(name).map(cell::published)
            }),
            Column::figure("off", move |row: &Row| off(row.arm, name)).optional(),
        ]);
    }
    columns.extend(besides(findings));
    let others = others.skip(usize::from(decides.is_some()));
    columns.extend(others.map(|name| bare(findings, name)));
    let more = (!ranked.note.is_empty()).then(|| format!("{}; --full shows all", ranked.note));
    let mut table = Table::of(rows, columns);
    table.keep_columns(COLUMNS_MAX);
    let is_priced = table.headings.iter().any(|heading| heading.unit == PRICE);
    let prices = prices(findings).filter(|_| is_priced);
    table.note = legend(findings, more, prices);
    table
}

/// How far ours is off from what was published.
fn off(arm: &Arm, metric: &str) -> Option<String> {
    let published = arm.published.get(metric)?;
    let off = published.deviation(arm.metrics.get(metric)?.mean)?;
    Some(percent_signed(off))
}

/// One row per figure: each arm's metrics, then what was published and not found, then the engine's own counters as
/// `counter.<name>`.
pub(super) fn figure_rows(findings: &Findings) -> Vec<Row<'_>> {
    findings.arms.iter().flat_map(figures_of).collect()
}

fn figures_of(arm: &Arm) -> Vec<Row<'_>> {
    let row = |figure: String, metric| Row {
        arm,
        figure,
        metric,
    };
    let metrics = arm.metrics.iter();
    let metrics = metrics.map(|(name, metric)| row(name.clone(), Some(metric)));
    let published = arm.published.keys();
    let missing = published.filter(|name| !arm.metrics.contains_key(*name));
    let missing = missing.map(|name| row(name.clone(), None));
    let counters = arm.counters.iter();
    let counters = counters.map(|(name, count)| row(format!("counter.{name}"), Some(count)));
    metrics.chain(missing).chain(counters).collect()
}

impl Row<'_> {
    fn published(&self) -> Option<&Published> {
        self.arm.published.get(&self.figure)
    }
}

/// The deciding metric, then all published ones, then the usual ones; each only once.
fn metrics(findings: &Findings) -> Vec<&str> {
    let comparisons = findings.comparisons.iter();
    let deciding = comparisons.map(|comparison| comparison.metric.as_str());
    let arms = findings.arms.iter();
    let published = arms.flat_map(|arm| arm.published.keys().map(String::as_str));
    let mut seen = BTreeSet::new();
    deciding
        .chain(["elapsed_s"])
        .chain(published)
        .chain(ALWAYS)
        .filter(|name| seen.insert(*name))
        .collect()
}

/// Ours beside what was published; left out where no arm has the metric.
fn metric<'a>(findings: &Findings, name: &'a str) -> Column<'a, Row<'a>> {
    of_metric(findings, name, |row| {
        let Arm {
            metrics, published, ..
        } = row.arm;
        cell::beside(metrics.get(name), published.get(name))
    })
}

/// Ours alone.
fn bare<'a>(findings: &Findings, name: &'a str) -> Column<'a, Row<'a>> {
    of_metric(findings, name, |row| {
        cell::beside(row.arm.metrics.get(name), None)
    })
}

fn of_metric<'a>(
    findings: &Findings,
    name: &'a str,
    cell: impl Fn(&Row) -> Cell + 'a,
) -> Column<'a, Row<'a>> {
    let any = findings.arms.iter().find_map(|arm| arm.metrics.get(name));
    Column::figure(words::metric(name), cell)
        .unit(any.map_or("", |metric| &metric.unit))
        .optional()
}

/// Whether figures beside published ones were fitted to them. A real disk cannot be fitted.
fn role(arm: &Arm, mode: Option<Mode>) -> Cell {
    match (arm.published.is_empty(), arm.fitted, mode) {
        (true, _, _) => "".into(),
        (false, true, Some(Mode::Simulate | Mode::Emulate) | None) => Cell::Marked("fitted"),
        (false, false, _) | (false, true, Some(Mode::Measure)) => {
            words::figures(mode).replace(" on ", " on\n").into()
        }
    }
}

/// Explains what intervals are of, and the symbols that are used; then `also`, and prices.
fn legend(findings: &Findings, also: Option<String>, prices: Option<String>) -> String {
    let repeated = findings.arms.iter().any(|arm| arm.trials > 1);
    let interval = repeated.then(|| interval(findings).to_owned());
    let parts = interval.into_iter().chain(also);
    parts.chain(prices).collect::<Vec<_>>().join("; ")
}

fn interval(findings: &Findings) -> &'static str {
    let is_drawn = findings.arms.iter().any(|arm| arm.drawn);
    match findings.mode() {
        Some(Mode::Simulate) if is_drawn => {
            "±: 95 % interval of the model over its seeds and all that was drawn, and not of a real machine from run to run"
        }
        Some(Mode::Simulate) => {
            "±: 95 % interval of the model over its seeds, and not of a real machine from run to run"
        }
        Some(Mode::Emulate | Mode::Measure) | None => "±: 95 % interval between trials",
    }
}

/// What a price includes, and what it leaves out.
fn prices(findings: &Findings) -> Option<String> {
    let arms = findings.arms.iter();
    let mut priced = arms.filter(|arm| arm.usd_per_month.is_some()).peekable();
    priced.peek()?;
    let lists: BTreeSet<&str> = priced
        .flat_map(|arm| arm.price_lists.iter().map(String::as_str))
        .collect();
    let lists: Vec<&str> = lists.into_iter().collect();
    let of = match lists.is_empty() {
        true => String::new(),
        false => format!(" ({})", lists.join("; ")),
    };
    let mut by_request = findings
        .arms
        .iter()
        .filter_map(|arm| arm.requests_usd_per_month);
    let requests = match by_request.next() {
        Some(_) => ", with the requests to them, as if those of the run went on all month",
        None => "",
    };
    Some(match with_machines(findings) {
        true => format!(
            "$/month: list price of the machine on demand with {}, 730 hours, and of its disks{of}{requests}",
            system(findings)
        ),
        false => format!("$/month: list price of the disks{of}, without the machine{requests}"),
    })
}

/// What has a price: the disks, and where machines differ, these too.
fn priced(findings: &Findings) -> &'static str {
    match with_machines(findings) {
        true => "machine\nand disks",
        false => "disks",
    }
}

/// The operating system of machines' prices.
fn system(findings: &Findings) -> &'static str {
    let priced = || findings.arms.iter().filter(|arm| arm.with_machine);
    match priced().filter(|arm| arm.with_windows).count() {
        0 => "Linux",
        all if all == priced().count() => "Windows",
        _ => "the operating system of its arm",
    }
}

fn with_machines(findings: &Findings) -> bool {
    findings.arms.iter().any(|arm| arm.with_machine)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::make;
    use experiment::examples;
    use experiment::question::RequestPrice;
    use experiment::record::Drawn;

    #[test]
    fn the_interval_is_of_what_was_drawn_however_few_blocks_there_are() {
        let mut records = examples::records();
        let note = |records: &[_]| table(&make(&examples::question(), records)).note;
        assert!(!note(&records).contains("drawn"), "{}", note(&records));
        let drawn = Drawn {
            factor: 1.2,
            between: 1.4,
            typical_ns: None,
        };
        records[0].drawn.insert("flush".to_owned(), drawn);
        assert!(note(&records).contains("drawn"), "{}", note(&records));
    }

    #[test]
    fn a_price_stands_with_region_date_and_what_it_leaves_out() {
        let mut question = examples::question();
        let note = |question: &_| table(&make(question, &examples::records())).note;
        assert!(!note(&question).contains("price"), "{}", note(&question));

        for arm in &mut question.arms {
            arm.usd_per_month = Some(135.17);
            arm.price_lists = vec!["AWS us-east-1, 2026".into()];
        }

        let note = note(&question);
        let price = "$/month: list price of the disks (AWS us-east-1, 2026), without the machine";
        assert!(note.ends_with(price), "{note}");
    }

    #[test]
    fn requests_that_cost_something_are_in_the_price_and_the_note_says_so() {
        let mut question = examples::question();
        let priced = |question: &_| {
            let found = make(question, &examples::records());
            (found.arms[1].clone(), table(&found).note)
        };
        question.arms[1].usd_per_month = Some(2.4);
        let (arm, _) = priced(&question);
        assert_eq!(
            (arm.usd_per_month, arm.requests_usd_per_month),
            (Some(2.4), None)
        );

        let volume = arm.volumes[0].name.clone();
        let requests: f64 = arm.volumes[0]
            .disks
            .iter()
            .map(|disk| disk.read_iops + disk.write_iops)
            .sum();
        assert!(requests > 10.0, "{requests}");
        let price = |hourly_max| RequestPrice {
            usd_per_10000: 0.002,
            hourly_max,
        };
        question.arms[1].requests = [(volume.clone(), price(None))].into();
        let (arm, note) = priced(&question);
        let all = requests * 3_600.0 * 730.0 / 1e4 * 0.002;
        let found = arm.requests_usd_per_month.expect("they cost something");
        assert!((found / all - 1.0).abs() < 1e-9, "{found}, not {all}");
        assert_eq!(arm.usd_per_month, Some(2.4 + found));
        assert!(note.contains("with the requests to them"), "{note}");

        // At most 10,000 an hour are charged.
        question.arms[1].requests = [(volume, price(Some(10_000)))].into();
        let found = priced(&question).0.requests_usd_per_month.unwrap();
        assert!((found - 0.002 * 730.0).abs() < 1e-9, "{found}");

        // Requests that no trial has counted have no price, and so have the disks none.
        let found = make(&question, &[]);
        assert_eq!(found.arms[1].usd_per_month, None);
    }

    #[test]
    fn where_machines_differ_the_price_has_them_in_it() {
        let mut question = examples::question();
        for arm in &mut question.arms {
            arm.usd_per_month = Some(206.0);
            arm.with_machine = true;
        }

        let table = table(&make(&question, &examples::records()));

        assert!(
            table.note.contains("list price of the machine"),
            "{}",
            table.note
        );
        let headings: Vec<String> = table.headings.iter().map(|one| one.line()).collect();
        assert!(
            headings
                .iter()
                .any(|heading| heading.contains("machine and disks")),
            "{headings:?}"
        );
    }
}
