//! Chooses which columns of a table go side by side, and their widths, so that no word is broken.

use comfy_table::{CellAlignment, LineStyle, TableStyle};

use crate::Width;

/// A single rule, under the header: rows begin with a name, which separates them.
const STYLE: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// Padding between the contents of adjacent columns, and around all of them.
const BETWEEN: usize = 3;
const AROUND: usize = 2;

/// Before what is shown below a row.
const BELOW: &str = "     ";

/// The possible widths of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// The width of its longest word.
    pub(super) least: usize,
    /// The width it needs before another column may share the line: a figure stays on its line, words wrap.
    pub(super) wanted: usize,
    /// The width of its longest line.
    pub(super) natural: usize,
    /// Whether each part repeats it.
    pub(super) pinned: bool,
}

/// Columns side by side: the index and width of each.
pub(super) type Part = Vec<(usize, usize)>;

/// The width of a column, by its index, when its lines are wrapped to a given width.
pub(super) type Used<'a> = &'a dyn Fn(usize, usize) -> usize;

/// As few parts as `width` allows, about equally full; `None` where a column beside the pinned ones is too wide.
pub(super) fn parts(spans: &[Span], width: Width, used: Used) -> Option<Vec<Part>> {
    let width = width.columns();
    let wanted = distributed(spans, |span| span.wanted, width);
    let least = || distributed(spans, |span| span.least, width);
    let parts = wanted.or_else(least)?;
    // The narrowest limit that needs no further part fills them evenly.
    let of = |narrow: usize| distributed(spans, |span| span.wanted, narrow);
    let alike = (1..width)
        .filter_map(of)
        .find(|narrow| narrow.len() == parts.len());
    let parts = alike.unwrap_or(parts).into_iter();
    Some(
        parts
            .map(|part| widths(&part, spans, width, used))
            .collect(),
    )
}

/// All columns side by side; `None` where they are too wide for that, even with words wrapped.
pub(super) fn one(spans: &[Span], width: Width, used: Used) -> Option<Part> {
    let all: Vec<usize> = (0..spans.len()).collect();
    let fits = total(spans.iter().map(|span| span.least)) <= width.columns();
    fits.then(|| widths(&all, spans, width.columns(), used))
}

/// The columns in parts of at most `width`, with column widths from `of`.
fn distributed(
    spans: &[Span],
    of: impl Fn(&Span) -> usize,
    width: usize,
) -> Option<Vec<Vec<usize>>> {
    let (pinned, others): (Vec<usize>, Vec<usize>) =
        (0..spans.len()).partition(|at| spans[*at].pinned);
    let fits = |part: &[usize]| {
        let all = pinned.iter().chain(part);
        total(all.map(|at| of(&spans[*at]))) <= width
    };
    let mut parts: Vec<Vec<usize>> = vec![Vec::new()];
    for other in others {
        let last = parts.last_mut().expect("there is one from the start");
        last.push(other);
        if !fits(last) && last.len() > 1 {
            last.pop();
            parts.push(vec![other]);
        }
    }
    let complete = |part: Vec<usize>| {
        let mut part = [pinned.clone(), part].concat();
        part.sort_unstable();
        part
    };
    let whole = parts.iter().all(|part| fits(part));
    whole.then(|| parts.into_iter().map(complete).collect())
}

/// The total width of a table with columns of these widths.
fn total(widths: impl Iterator<Item = usize>) -> usize {
    let widths: Vec<usize> = widths.collect();
    widths.iter().sum::<usize>() + BETWEEN * widths.len().saturating_sub(1) + AROUND
}

/// The width of each column of `part`: spare width goes evenly to those with longer lines.
fn widths(part: &[usize], spans: &[Span], width: usize, used: Used) -> Part {
    let spans = || part.iter().map(|at| spans[*at]);
    let all = |of: fn(Span) -> usize| -> Vec<usize> { spans().map(of).collect() };
    let wanted = all(|span| span.wanted);
    let mut widths = match total(wanted.iter().copied()) <= width {
        true => wanted,
        false => all(|span| span.least),
    };
    let mut spare = width.saturating_sub(total(widths.iter().copied()));
    let mut hungry: Vec<(usize, usize)> = spans()
        .zip(&widths)
        .map(|(span, given)| span.natural.saturating_sub(*given))
        .enumerate()
        .collect();
    hungry.sort_by_key(|(_, lacking)| *lacking);
    for (nth, (place, lacking)) in hungry.iter().enumerate() {
        let given = (*lacking).min(spare / (hungry.len() - nth));
        // Width that the next word did not fit into goes to the next column.
        let taken = used(part[*place], widths[*place] + given).max(widths[*place]);
        spare -= (taken - widths[*place]).min(spare);
        widths[*place] = taken;
    }
    part.iter().copied().zip(widths).collect()
}

/// A column as it is drawn: lines of its head and of each row, none wider than the column.
pub(super) struct Drawn {
    pub(super) right: bool,
    pub(super) head: String,
    pub(super) rows: Vec<String>,
}

/// The columns side by side, with the lines of each row that are `below` it; without a head where no column has one.
pub(super) fn draw(columns: &[Drawn], below: &[Vec<String>]) -> String {
    let mut shown = comfy_table::Table::new();
    let has_head = columns.iter().any(|column| !column.head.is_empty());
    shown.load_style(STYLE);
    if has_head {
        shown.set_header(columns.iter().map(|column| column.head.as_str()));
    }
    let rows = columns.first().map_or(0, |column| column.rows.len());
    for row in 0..rows {
        shown.add_row(columns.iter().map(|column| column.rows[row].as_str()));
    }
    for (shown, column) in shown.column_iter_mut().zip(columns) {
        if column.right {
            shown.set_cell_alignment(CellAlignment::Right);
        }
    }
    let height = |texts: &mut dyn Iterator<Item = &String>| {
        let heights = texts.map(|text| text.lines().count());
        heights.max().unwrap_or_default().max(1)
    };
    // The rule is a line of the head.
    let head = match has_head {
        true => height(&mut columns.iter().map(|column| &column.head)) + 1,
        false => 0,
    };
    let of_row = |row: usize| height(&mut columns.iter().map(|column| &column.rows[row]));
    let mut lines = shown.lines().map(|line| format!("{}\n", line.trim_end()));
    let mut text: String = lines.by_ref().take(head).collect();
    for (row, below) in below.iter().enumerate() {
        text.extend(lines.by_ref().take(of_row(row)));
        text.extend(below.iter().map(|line| format!("{BELOW}{line}\n")));
    }
    text.extend(lines);
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Lines that always fill the width they are wrapped to.
    const ALL: fn(usize, usize) -> usize = |_, width| width;

    fn span(least: usize, wanted: usize, natural: usize, pinned: bool) -> Span {
        Span {
            least,
            wanted,
            natural,
            pinned,
        }
    }

    #[test]
    fn columns_that_do_not_fit_stand_below_beside_those_that_are_repeated() {
        let name = span(10, 10, 10, true);
        let figure = span(15, 15, 15, false);
        let spans = [name, figure, figure, figure, figure];

        // 10 + 4 x 15 + 4 x 3 + 2 = 84; with three figures 66, with two 48
        let columns = |width: usize| -> Vec<Vec<usize>> {
            let parts = parts(&spans, Width::of(width), &ALL).unwrap();
            let places = |part: Part| part.into_iter().map(|(place, _)| place).collect();
            parts.into_iter().map(places).collect()
        };
        assert_eq!(columns(84), [vec![0, 1, 2, 3, 4]]);
        // Two and two rather than three and one.
        assert_eq!(columns(83), [vec![0, 1, 2], vec![0, 3, 4]]);
        assert_eq!(columns(66), [vec![0, 1, 2], vec![0, 3, 4]]);
    }

    #[test]
    fn a_figure_wraps_only_where_it_stands_alone_and_nothing_is_drawn_where_a_word_does_not_fit() {
        let name = span(30, 30, 30, true);

        let squeezed = parts(&[name, span(10, 40, 40, false)], Width::of(60), &ALL).unwrap();
        // 60 - 30 - 3 - 2 = 25
        assert_eq!(squeezed, [[(0, 30), (1, 25)]]);
        assert_eq!(
            parts(&[name, span(26, 26, 26, false)], Width::of(60), &ALL),
            None
        );
    }

    #[test]
    fn one_part_has_all_columns_or_there_is_none() {
        let spans = [span(10, 10, 10, true), span(8, 14, 40, false)];

        // 10 + 8 + 3 + 2 = 23, and the least width of text is 60.
        assert_eq!(
            one(&spans, Width::of(60), &ALL),
            Some(vec![(0, 10), (1, 40)])
        );
        let wide = [span(10, 10, 10, true), span(46, 46, 46, false)];
        assert_eq!(one(&wide, Width::of(60), &ALL), None);
    }

    proptest! {
        #[test]
        fn every_column_is_shown_once_and_no_part_is_too_wide(
            widths in prop::collection::vec((1_usize..30, 0_usize..30, 0_usize..60, any::<bool>()), 1..12),
            columns in 60_usize..200,
        ) {
            let spans: Vec<Span> = widths.into_iter()
                .map(|(least, wanted, natural, pinned)| span(least, least + wanted, least + wanted + natural, pinned))
                .collect();
            if let Some(parts) = parts(&spans, Width::of(columns), &ALL) {
                let mut others = Vec::new();
                for part in &parts {
                    prop_assert!(total(part.iter().map(|(_, width)| *width)) <= columns);
                    for (place, width) in part {
                        prop_assert!(*width >= spans[*place].least);
                        others.extend((!spans[*place].pinned).then_some(*place));
                    }
                }
                let all: Vec<usize> = (0..spans.len()).filter(|at| !spans[*at].pinned).collect();
                prop_assert_eq!(others, all);
            }
        }
    }
}
