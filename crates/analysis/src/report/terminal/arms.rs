//! The articles' own table: a row a placement, ours above what was published.

use super::super::placements::{Cell, Column, Placements, Row, legend};
use super::super::words;
use super::table::table;
use crate::findings::Findings;
use experiment::spec::Mode;

/// Metrics that fit side by side.
const COLUMNS_MAX: usize = 4;

/// One table, or several below one another where there are many metrics.
pub(super) fn tables(findings: &Findings) -> String {
    let placements = Placements::of(findings);
    let columns = placements.columns.len();
    let tables: Vec<String> = (0..columns)
        .step_by(COLUMNS_MAX)
        .map(|from| (from, columns.min(from + COLUMNS_MAX)))
        .map(|(from, until)| one_table(&placements, from, until, findings.mode()))
        .collect();
    let legend = legend(findings);
    let legend = match legend.as_str() {
        "" => String::new(),
        text => words::wrapped(" ", text),
    };
    format!("{}{legend}", tables.join("\n"))
}

fn one_table(placements: &Placements, from: usize, until: usize, mode: Option<Mode>) -> String {
    let Placements {
        compared, priced, ..
    } = *placements;
    let mut header = vec!["placement".into()];
    header.extend(compared.then(|| figures_heading(mode).into()));
    header.extend(placements.columns[from..until].iter().map(heading));
    header.extend(priced.then(|| "disks\n$/month".into()));
    let rows = placements.rows.iter().map(|row| {
        let mut cells = vec![name(row)];
        cells.extend(compared.then(|| row.role.replace(" on ", " on\n")));
        cells.extend(row.cells[from..until].iter().map(cell));
        cells.extend(priced.then(|| row.usd.clone().unwrap_or_else(|| "-".into())));
        cells
    });
    table(header, rows.collect(), if compared { 2 } else { 1 })
}

fn heading(column: &Column) -> String {
    match column.unit.as_str() {
        "" => column.name.clone(),
        unit => format!("{}\n{unit}", column.name),
    }
}

/// The name, and how many trials it rests on where some are missing.
fn name(row: &Row) -> String {
    match &row.incomplete {
        None => row.name.to_owned(),
        Some(trials) => format!("{}\n({trials})", row.name),
    }
}

fn figures_heading(mode: Option<Mode>) -> &'static str {
    match mode {
        Some(Mode::Simulate) | None => "published\nfigures",
        Some(Mode::Emulate | Mode::Measure) => "our\nfigures",
    }
}

fn cell(cell: &Cell) -> String {
    let Cell {
        ours,
        published,
        deviation,
    } = cell;
    let Some(published) = published else {
        return ours.clone();
    };
    let deviation = deviation.as_ref().map_or_else(String::new, |deviation| {
        format!(" ({})", deviation.replace(' ', "\u{a0}"))
    });
    format!("{ours}\npubl. {published}{deviation}")
}
