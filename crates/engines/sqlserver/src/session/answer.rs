//! A server's response: rows, counts and messages, as plain values.

use super::failure::Failure;
use super::message::Message;

/// The response to a batch, in order of arrival.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// All items.
    pub items: Vec<Item>,
}

/// An item of a response.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A result set.
    Rows(Rows),
    /// Number of rows changed by a statement; `None`: not reported.
    Affected(Option<u64>),
    /// An informational message.
    Info(Message),
    /// An error.
    Error(Message),
}

/// A result set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// A cell for each.
    pub rows: Vec<Vec<Cell>>,
}

/// A value. Queries cast their columns, so that there are few kinds.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// `NULL`
    Null,
    /// `bit`, `tinyint`, `smallint`, `int`, `bigint`, and `numeric` without digits behind the point
    Int(i64),
    /// `float`, `real`
    Float(f64),
    /// Text. Invalid characters are replaced.
    Text(String),
    /// A type that our own queries do not use. Results of a user's statements are not inspected.
    Other,
}

impl Batch {
    /// The result sets.
    pub fn results(&self) -> impl Iterator<Item = &Rows> {
        self.items.iter().filter_map(|item| match item {
            Item::Rows(rows) => Some(rows),
            Item::Affected(_) | Item::Info(_) | Item::Error(_) => None,
        })
    }

    /// The server's errors.
    pub fn errors(&self) -> impl Iterator<Item = &Message> {
        self.items.iter().filter_map(|item| match item {
            Item::Error(message) => Some(message),
            Item::Rows(_) | Item::Affected(_) | Item::Info(_) => None,
        })
    }

    /// The response, if it has no errors.
    ///
    /// # Errors
    /// The server's errors.
    pub fn refused(self) -> Result<Batch, Failure> {
        let errors: Vec<Message> = self.errors().cloned().collect();
        match errors.is_empty() {
            true => Ok(self),
            false => Err(Failure::Refused(errors)),
        }
    }

    /// Rows of the first result set; empty without one.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.results().next().into_iter().flat_map(Rows::iter)
    }
}

impl Rows {
    /// Its rows, with their columns by name.
    pub fn iter(&self) -> impl Iterator<Item = Row<'_>> {
        let columns = &self.columns;
        self.rows.iter().map(move |cells| Row { columns, cells })
    }
}

/// A row with access to cells by column name.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    columns: &'a [String],
    cells: &'a [Cell],
}

/// A column that is missing, or has another type than requested.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the server's answer has no {kind} in a column {column} (its columns: {columns})")]
pub struct Missing {
    column: String,
    kind: &'static str,
    columns: String,
}

impl<'a> Row<'a> {
    /// A whole number; `None` for NULL.
    ///
    /// # Errors
    /// When the column is missing, or has another type.
    pub fn int(&self, column: &str) -> Result<Option<i64>, Missing> {
        match self.cell(column) {
            Some(Cell::Null) => Ok(None),
            Some(Cell::Int(value)) => Ok(Some(*value)),
            Some(Cell::Float(_) | Cell::Text(_) | Cell::Other) | None => {
                Err(self.missing(column, "whole number"))
            }
        }
    }

    /// A text; `None` for NULL.
    ///
    /// # Errors
    /// As [`Row::int`].
    pub fn text(&self, column: &str) -> Result<Option<&'a str>, Missing> {
        match self.cell(column) {
            Some(Cell::Null) => Ok(None),
            Some(Cell::Text(text)) => Ok(Some(text)),
            Some(Cell::Int(_) | Cell::Float(_) | Cell::Other) | None => {
                Err(self.missing(column, "text"))
            }
        }
    }

    /// A whole number that is never NULL; 0 if it is anyway.
    ///
    /// # Errors
    /// As [`Row::int`].
    pub fn count(&self, column: &str) -> Result<i64, Missing> {
        self.int(column).map(Option::unwrap_or_default)
    }

    /// A text; empty for NULL.
    ///
    /// # Errors
    /// As [`Row::int`].
    pub fn word(&self, column: &str) -> Result<String, Missing> {
        self.text(column)
            .map(|text| text.unwrap_or_default().to_owned())
    }

    /// 0 or 1; `None` for NULL.
    ///
    /// # Errors
    /// As [`Row::int`].
    pub fn flag(&self, column: &str) -> Result<Option<bool>, Missing> {
        self.int(column).map(|value| value.map(|value| value != 0))
    }

    fn cell(&self, column: &str) -> Option<&'a Cell> {
        let place = self.columns.iter().position(|name| name == column)?;
        self.cells.get(place)
    }

    fn missing(&self, column: &str, kind: &'static str) -> Missing {
        Missing {
            column: column.to_owned(),
            kind,
            columns: self.columns.join(", "),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Rows {
        Rows {
            columns: vec!["id".to_owned(), "name".to_owned()],
            rows: vec![vec![Cell::Int(2), Cell::Text("tempdb".to_owned())]],
        }
    }

    #[test]
    fn cells_are_found_by_name_and_kind() {
        let rows = rows();
        let row = rows.iter().next().expect("a row");
        assert_eq!(
            (row.count("id"), row.word("name")),
            (Ok(2), Ok("tempdb".to_owned()))
        );
        let error = row.int("name").expect_err("it is a text");
        assert!(
            error.to_string().contains("whole number in a column name"),
            "{error}"
        );
        assert!(row.int("size").is_err());
    }

    #[test]
    fn a_value_of_a_type_that_was_not_asked_for_is_neither_text_nor_number() {
        let rows = Rows {
            columns: vec!["name".to_owned()],
            rows: vec![vec![Cell::Other]],
        };
        let row = rows.iter().next().expect("a row");
        assert!(row.text("name").is_err() && row.int("name").is_err());
    }

    #[test]
    fn an_error_in_the_middle_is_an_error_of_the_batch() {
        let message = Message {
            number: 5123,
            class: 16,
            state: 1,
            line: 3,
            text: "CREATE FILE\n".to_owned(),
        };
        let batch = Batch {
            items: vec![
                Item::Rows(rows()),
                Item::Error(message),
                Item::Affected(None),
            ],
        };
        let error = batch.refused().expect_err("it has an error in it");
        assert_eq!(
            error.to_string(),
            "error 5123, class 16, line 3: CREATE FILE"
        );
        assert_eq!(error.number(), Some(5123));
    }
}
