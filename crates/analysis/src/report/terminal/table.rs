//! A table that keeps to the width.

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, TableStyle};

use super::super::cell::Cell;
use super::super::table::{Heading, Table};
use super::super::words::{WIDTH, wrapped};

/// Columns that fit side by side, beside those that are repeated.
const COLUMNS_MAX: usize = 4;

/// One line under the header and no other: rows begin with a name, which tells them apart.
const STYLE: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// The table, in several parts below one another where it has columns to repeat and many others; nothing
/// without rows.
pub(in crate::report) fn table(table: &Table) -> String {
    if table.rows.is_empty() {
        return String::new();
    }
    let parts = parts(&table.headings).into_iter();
    let parts: Vec<String> = parts.map(|columns| part(table, &columns)).collect();
    match table.note.as_str() {
        "" => parts.join("\n"),
        note => parts.join("\n") + &wrapped(" ", note),
    }
}

/// The columns of each part, by their places.
fn parts(headings: &[Heading]) -> Vec<Vec<usize>> {
    let all = 0..headings.len();
    let (pinned, others): (Vec<usize>, Vec<usize>) =
        all.clone().partition(|at| headings[*at].pinned);
    if pinned.is_empty() || others.is_empty() {
        return vec![all.collect()];
    }
    let parts = others.chunks(COLUMNS_MAX);
    let with_pinned = |part: &[usize]| {
        let shown = |at: &usize| pinned.contains(at) || part.contains(at);
        all.clone().filter(shown).collect()
    };
    parts.map(with_pinned).collect()
}

fn part(table: &Table, columns: &[usize]) -> String {
    let mut shown = comfy_table::Table::new();
    shown
        .load_style(STYLE)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(WIDTH).expect("100 fits"))
        .set_header(columns.iter().map(|at| heading(&table.headings[*at])));
    let mut above: Option<&Vec<Cell>> = None;
    for row in &table.rows {
        let cells = columns.iter().map(|at| {
            let same = above.is_some_and(|above| above[*at] == row[*at]);
            match table.headings[*at].once && same {
                true => String::new(),
                false => row[*at].lines().join("\n"),
            }
        });
        shown.add_row(cells);
        above = Some(row);
    }
    for (column, at) in shown.column_iter_mut().zip(columns) {
        if table.headings[*at].right {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines = shown.lines().map(|line| format!("{}\n", line.trim_end()));
    lines.collect()
}

fn heading(heading: &Heading) -> String {
    match heading.unit.as_str() {
        "" => heading.name.clone(),
        unit => format!("{}\n{unit}", heading.name),
    }
}
