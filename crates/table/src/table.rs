//! Tables of typed cells, independent of the output format: columns, their cells, and which formats show them.
//!
//! ```text
//! rows ──columns──> Table ──┬─> terminal (`text`), Markdown, page
//!             └──────────────> CSV, whose cells are raw
//! ```

use crate::Cell;

/// A table as shown by terminal, Markdown and page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// A heading for each column.
    pub headings: Vec<Heading>,
    /// Each row has as many cells as there are headings.
    pub rows: Vec<Vec<Cell>>,
    /// Meaning of its symbols; printed below it.
    pub note: String,
}

/// The heading of a column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heading {
    /// A line break in it applies only on a terminal.
    pub name: String,
    /// The unit of all its cells; empty where they have none, or each has its own.
    pub unit: String,
    /// Whether its cells are right-aligned, as figures are.
    pub right: bool,
    /// Whether a terminal repeats it in each part of a table that is too wide for one.
    pub pinned: bool,
    /// Whether a terminal leaves out values repeated from the row above.
    pub once: bool,
    /// Whether a terminal shows it below each row, on lines of their own.
    pub below: bool,
}

/// A column of a table whose rows are built from `R`.
pub struct Column<'a, R> {
    heading: Heading,
    optional: bool,
    csv_only: bool,
    /// Its name in CSV, with its unit; `None` where CSV does not have it.
    pub csv: Option<&'static str>,
    /// Its cell in a row.
    pub cell: Box<dyn Fn(&R) -> Cell + 'a>,
}

impl Table {
    /// The cells of `rows`, without CSV-only columns.
    pub fn of<'a, R>(
        rows: impl IntoIterator<Item = R>,
        columns: impl IntoIterator<Item = Column<'a, R>>,
    ) -> Table {
        let rows: Vec<R> = rows.into_iter().collect();
        let mut table = Table {
            rows: rows.iter().map(|_| Vec::new()).collect(),
            ..Table::default()
        };
        for column in columns.into_iter().filter(|column| !column.csv_only) {
            let cells: Vec<Cell> = rows.iter().map(&column.cell).collect();
            if column.optional && cells.iter().all(Cell::is_empty) {
                continue;
            }
            table.headings.push(column.heading);
            for (row, cell) in table.rows.iter_mut().zip(cells) {
                row.push(cell);
            }
        }
        table
    }

    /// Leaves out columns behind the first `most`.
    pub fn keep_columns(&mut self, most: usize) {
        self.headings.truncate(most);
        for row in &mut self.rows {
            row.truncate(most);
        }
    }

    /// Leaves out the column at `place`.
    pub(crate) fn leave_out(&mut self, place: usize) {
        self.headings.remove(place);
        for row in &mut self.rows {
            row.remove(place);
        }
    }

    /// Its heading, one text per column.
    pub fn head(&self) -> Vec<String> {
        self.headings.iter().map(Heading::line).collect()
    }

    /// Its rows as lines of text, without what a terminal leaves out; empty for an empty table.
    pub fn lines(&self) -> Vec<Vec<String>> {
        let line = |number: usize| {
            let row = &self.rows[number];
            let above = number.checked_sub(1).map(|above| &self.rows[above]);
            let cells = self.headings.iter().enumerate().map(|(at, heading)| {
                let repeats = above.is_some_and(|above| above[at] == row[at]);
                match heading.once && repeats {
                    true => String::new(),
                    false => row[at].line(),
                }
            });
            cells.collect()
        };
        (0..self.rows.len()).map(line).collect()
    }
}

impl<'a, R> Column<'a, R> {
    /// A column of text.
    pub fn text<C: Into<Cell>>(
        name: impl Into<String>,
        cell: impl Fn(&R) -> C + 'a,
    ) -> Column<'a, R> {
        Column {
            heading: Heading {
                name: name.into(),
                ..Heading::default()
            },
            cell: Box::new(move |row| cell(row).into()),
            optional: false,
            csv_only: false,
            csv: None,
        }
    }

    /// A column of figures.
    pub fn figure<C: Into<Cell>>(
        name: impl Into<String>,
        cell: impl Fn(&R) -> C + 'a,
    ) -> Column<'a, R> {
        let mut column = Column::text(name, cell);
        column.heading.right = true;
        column
    }

    /// A CSV-only column.
    pub fn csv_only<C: Into<Cell>>(
        name: &'static str,
        cell: impl Fn(&R) -> C + 'a,
    ) -> Column<'a, R> {
        Column {
            csv_only: true,
            ..Column::text(name, cell).csv(name)
        }
    }

    /// Sets the unit of its cells.
    pub fn unit(mut self, unit: impl Into<String>) -> Column<'a, R> {
        self.heading.unit = unit.into();
        self
    }

    /// Repeats it on a terminal in each part of a table that is too wide for one.
    pub fn pinned(mut self) -> Column<'a, R> {
        self.heading.pinned = true;
        self
    }

    /// Leaves out values repeated from the row above, on a terminal.
    pub fn once(mut self) -> Column<'a, R> {
        self.heading.once = true;
        self
    }

    /// Shows it below each row on a terminal, where it is too wide for a column: each of its lines is one there.
    pub fn below(mut self) -> Column<'a, R> {
        self.heading.below = true;
        self
    }

    /// Omits it where no row has a value for it; CSV always has it.
    pub fn optional(mut self) -> Column<'a, R> {
        self.optional = true;
        self
    }

    /// Also adds it to CSV, under this name.
    pub fn csv(mut self, name: &'static str) -> Column<'a, R> {
        self.csv = Some(name);
        self
    }
}

impl Heading {
    /// On one line.
    pub fn line(&self) -> String {
        let name = self.name.replace('\n', " ");
        match self.unit.as_str() {
            "" => name,
            unit => format!("{name}, {unit}"),
        }
    }
}
