//! A table as text that fits the width: split into parts where it is too wide, or one list per row where even a part would be. On a
//! screen it is one part, and what does not fit is left out.

use std::borrow::Cow;

use textwrap::core::display_width;

use crate::fit::{self, Drawn, Part, Span};
use crate::width::unbroken;
use crate::{Cell, Heading, Table, Width};

/// The width a text column needs before another column may share the line.
const WORDS_MIN: usize = 14;

impl Table {
    /// The table as text for a terminal, in several parts below one another where it is too wide for one; empty without rows.
    pub fn text(&self, width: Width) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let (table, below) = self.split_below();
        let columns = columns(&table);
        let spans: Vec<Span> = columns.iter().map(Column::span).collect();
        let used = |at: usize, width: usize| columns[at].used(width);
        let text = match fit::parts(&spans, width, &used) {
            Some(parts) => {
                let last = parts.len() - 1;
                let drawn = parts.iter().enumerate().map(|(at, part)| {
                    let below = if at == last { &below[..] } else { &[] };
                    drawn(&table, &columns, part, below)
                });
                drawn.collect::<Vec<_>>().join("\n")
            }
            None => listed(self, width),
        };
        text + &self.noted(width)
    }

    /// The table as text for a screen, in one part: its last columns are left out where they do not fit side by side.
    pub fn brief(&self, width: Width) -> String {
        let (table, below) = self.split_below();
        let mut table = table.into_owned();
        while !table.rows.is_empty() {
            let columns = columns(&table);
            let spans: Vec<Span> = columns.iter().map(Column::span_unwrapped).collect();
            let used = |at: usize, width: usize| columns[at].used(width);
            if let Some(part) = fit::one(&spans, width, &used) {
                return drawn(&table, &columns, &part, &below) + &self.noted(width);
            }
            let Some(last) = columns.iter().rposition(|column| !column.pinned) else {
                break;
            };
            table.leave_out(last);
        }
        self.text(width)
    }

    fn noted(&self, width: Width) -> String {
        match self.note.as_str() {
            "" => String::new(),
            note => width.wrapped(" ", note),
        }
    }

    /// The table without what is shown below its rows, and those lines of each row; no rows where there are none.
    fn split_below(&self) -> (Cow<'_, Table>, Vec<Vec<String>>) {
        if !self.headings.iter().any(|heading| heading.below) {
            return (Cow::Borrowed(self), Vec::new());
        }
        let mut beside = self.clone();
        let mut below = vec![Vec::new(); self.rows.len()];
        for at in (0..self.headings.len())
            .rev()
            .filter(|at| self.headings[*at].below)
        {
            for (row, lines) in beside.rows.iter().zip(&mut below) {
                lines.splice(0..0, row[at].lines());
            }
            beside.leave_out(at);
        }
        (Cow::Owned(beside), below)
    }
}

/// A column, its head and cells as lines. Text that must stay together is joined by no-break spaces.
struct Column {
    right: bool,
    pinned: bool,
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// Where no column is marked as repeated, the first one is: it names the row.
fn columns(table: &Table) -> Vec<Column> {
    let none_pinned = !table.headings.iter().any(|heading| heading.pinned);
    let column = |(at, heading): (usize, &Heading)| Column {
        right: heading.right,
        pinned: heading.pinned || none_pinned && at == 0,
        head: head(heading),
        rows: table.rows.iter().map(|row| lines(&row[at])).collect(),
    };
    table.headings.iter().enumerate().map(column).collect()
}

fn head(heading: &Heading) -> Vec<String> {
    let unit = Some(heading.unit.clone()).filter(|unit| !unit.is_empty());
    let lines = heading.name.lines().map(str::to_owned);
    lines.chain(unit).collect()
}

/// The natural lines of a cell: the parts of a figure stay together, words may wrap.
fn lines(cell: &Cell) -> Vec<String> {
    match cell {
        Cell::Text(_) | Cell::Name(..) | Cell::Beside { .. } => {
            let lines = cell.lines().into_iter();
            lines.map(|line| line.replace(" %", "\u{a0}%")).collect()
        }
        figure => vec![figure.line().replace(' ', "\u{a0}")],
    }
}

impl Column {
    fn span(&self) -> Span {
        let all = || self.rows.iter().chain([&self.head]).flatten();
        let words = all().flat_map(|line| line.split(' '));
        let longest = |texts: &mut dyn Iterator<Item = &str>| texts.map(display_width).max();
        let least = longest(&mut words.into_iter()).unwrap_or(0);
        let natural = longest(&mut all().map(String::as_str)).unwrap_or(0);
        let wanted = match self.right {
            true => natural,
            false => natural.min(WORDS_MIN).max(least),
        };
        Span {
            least,
            wanted,
            natural,
            pinned: self.pinned,
        }
    }

    /// The same, but a figure stays on its line, even where it has several words.
    fn span_unwrapped(&self) -> Span {
        let span = self.span();
        match self.right {
            true => Span {
                least: span.wanted,
                ..span
            },
            false => span,
        }
    }

    /// Its width when wrapped to `width`.
    fn used(&self, width: usize) -> usize {
        let all = self.rows.iter().chain([&self.head]).flatten();
        let wrapped = all.flat_map(|line| textwrap::wrap(line, unbroken(width)));
        wrapped.map(|line| display_width(&line)).max().unwrap_or(0)
    }

    /// Wrapped to `width`.
    fn drawn(&self, width: usize) -> Drawn {
        let wrap = |lines: &Vec<String>| {
            let wrapped = lines
                .iter()
                .flat_map(|line| textwrap::wrap(line, unbroken(width)));
            let wrapped: Vec<String> = wrapped.map(|line| line.replace('\u{a0}', " ")).collect();
            wrapped.join("\n")
        };
        Drawn {
            right: self.right,
            head: wrap(&self.head),
            rows: self.rows.iter().map(wrap).collect(),
        }
    }
}

fn drawn(table: &Table, columns: &[Column], part: &Part, below: &[Vec<String>]) -> String {
    let column = |(at, width): &(usize, usize)| {
        let mut drawn = columns[*at].drawn(*width);
        if table.headings[*at].once {
            let same = |row: usize| row > 0 && table.rows[row][*at] == table.rows[row - 1][*at];
            for row in (0..table.rows.len()).filter(|row| same(*row)) {
                drawn.rows[row].clear();
            }
        }
        drawn
    };
    let columns: Vec<Drawn> = part.iter().map(column).collect();
    fit::draw(&columns, below)
}

/// Each row as a list, for names that leave no room for a column beside them.
fn listed(table: &Table, width: Width) -> String {
    let rows = table.rows.iter().map(|row| {
        let mut cells = table.headings.iter().zip(row);
        let name = cells
            .next()
            .map_or_else(String::new, |(_, name)| name.line());
        let cells = cells.filter(|(_, cell)| !cell.is_empty());
        let lines = cells.map(|(heading, cell)| {
            let line = format!("{}: {}", heading.line(), cell.line());
            width.wrapped("   ", &line)
        });
        width.wrapped(" ", &name) + &lines.collect::<String>()
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Column;

    #[test]
    fn on_a_screen_the_last_columns_are_left_out_and_names_stay_whole() {
        let row = [
            "a name that is long, and one.of.many.words",
            "predicted",
            "1,503 ± 4",
            "24.8 (20.1 to 37.9)",
        ];
        let columns = [
            Column::text("placement", |row: &[&'static str; 4]| row[0]).pinned(),
            Column::text("ours", |row: &[&'static str; 4]| row[1]),
            Column::figure("rate", |row: &[&'static str; 4]| row[2]),
            Column::figure("time", |row: &[&'static str; 4]| row[3]),
        ];
        let table = Table::of([row], columns);

        let shown = |width: usize| table.brief(Width::of(width));
        // Names wrap to 17 columns; 17 + 9 + 9 + 19 and 3 x 3 + 2 are 65.
        assert!(shown(65).contains("24.8 (20.1 to 37.9)"), "{}", shown(65));
        let narrow = shown(64);
        assert!(!narrow.contains("24.8"), "{narrow}");
        assert!(narrow.contains("1,503 ± 4"), "{narrow}");
        assert!(narrow.contains("one.of.many.words"), "{narrow}");
        assert_eq!(
            narrow.matches('─').count(),
            narrow.lines().nth(1).map_or(0, |rule| rule.chars().count()),
            "one part: {narrow}"
        );
    }
}
