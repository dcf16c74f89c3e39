//! A plain table that keeps to the width.

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

use super::super::words::WIDTH;

/// One line under the header and no other: rows begin with a name, which tells them apart.
const STYLE: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// A table of `rows` under `header`; the first `texts` columns are text, the others numbers.
pub(super) fn table(header: Vec<String>, rows: Vec<Vec<String>>, texts: usize) -> String {
    let mut table = Table::new();
    table
        .load_style(STYLE)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(WIDTH).expect("100 fits"))
        .set_header(header)
        .add_rows(rows);
    for column in table.column_iter_mut().skip(texts) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut text = String::new();
    for line in table.to_string().lines() {
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
