//! CSV of other tools: separator detection, columns by name, line numbers.

use super::error::ImportError;
use super::text::excerpt;

/// A row with its line, from 1.
pub(super) type Row = (usize, csv::StringRecord);

/// A table with a header.
#[derive(Clone, Debug)]
pub(super) struct Table {
    file: String,
    /// Cells of the header, as written.
    pub(super) header: Vec<String>,
    /// The rows below it.
    pub(super) rows: Vec<Row>,
    /// Whether the last row was truncated and dropped.
    pub(super) is_cut: bool,
}

impl Table {
    /// Reads it; empty lines are skipped, and a truncated last row is dropped.
    ///
    /// # Errors
    /// When the header is missing, or has no rows below it.
    pub(super) fn read(file: &str, text: &str) -> Result<Table, ImportError> {
        Table::with(file, text, &[])
    }

    /// Reads a table whose columns have these names if the text has no header; otherwise its first row has them.
    ///
    /// # Errors
    /// As [`Table::read`].
    pub(super) fn with(file: &str, text: &str, names: &[&str]) -> Result<Table, ImportError> {
        let first = text.lines().find(|line| !line.trim().is_empty());
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(separator(first.unwrap_or_default()))
            .has_headers(false)
            .flexible(true)
            .from_reader(text.as_bytes());
        let mut rows: Vec<Row> = Vec::new();
        let mut lines = Lines {
            text,
            at: 0,
            line: 1,
        };
        let mut record = csv::StringRecord::new();
        let wrong = |error: csv::Error| ImportError::file(file, error.to_string());
        while reader.read_record(&mut record).map_err(wrong)? {
            let line = lines.at(record.position().map_or(0, csv::Position::byte));
            if record.iter().any(|cell| !cell.trim().is_empty()) {
                rows.push((line, exact(&record)));
            }
        }
        if !names.is_empty() {
            rows.insert(0, (0, names.to_vec().into()));
        }
        if rows.len() < 2 {
            let message =
                "it has no row below its header; record for longer, and export with column names";
            return Err(ImportError::file(file, message));
        }
        let (_, header) = rows.remove(0);
        let header: Vec<String> = header.iter().map(str::to_owned).collect();
        let is_cut = is_cut(
            text,
            rows.last().map_or(0, |(_, cells)| cells.len()),
            header.len(),
        );
        if is_cut {
            rows.pop();
        }
        Ok(Table {
            file: file.to_owned(),
            header,
            rows,
            is_cut,
        })
    }

    /// Index of a column, by any of its names.
    pub(super) fn find(&self, names: &[&str]) -> Option<usize> {
        let header: Vec<String> = self.header.iter().map(|name| plain(name)).collect();
        let place = |name: &&str| header.iter().position(|cell| cell == *name);
        names.iter().find_map(place)
    }

    /// Index of a required column.
    ///
    /// # Errors
    /// With the header, when it is missing.
    pub(super) fn column(&self, name: &str) -> Result<usize, ImportError> {
        self.any(&[name])
    }

    /// Index of a required column, by any of its names.
    ///
    /// # Errors
    /// With the header and the first name, when it is missing, or two columns have the name.
    pub(super) fn any(&self, names: &[&str]) -> Result<usize, ImportError> {
        let name = names[0];
        let is_it = |cell: &&String| names.contains(&plain(cell).as_str());
        if self.header.iter().filter(is_it).count() > 1 {
            let message = format!("there are two columns `{name}`; leave one of them out");
            return Err(ImportError::line(&self.file, 1, message));
        }
        self.find(names).ok_or_else(|| {
            let header = excerpt(&self.header.join(", "));
            let message = format!(
                "there is no column `{name}` (the header is: {header}); export all columns of the table, with names"
            );
            ImportError::line(&self.file, 1, message)
        })
    }

    /// The cells of a column, with their locations for errors.
    pub(super) fn cells(&self, column: usize) -> impl Iterator<Item = ((&Table, usize), &str)> {
        self.rows.iter().map(move |(line, cells)| {
            let cell = cells.get(column).unwrap_or_default();
            ((self, *line), cell)
        })
    }

    /// The error at a line.
    pub(super) fn error(&self, line: usize, message: impl Into<String>) -> ImportError {
        ImportError::line(&self.file, line, message)
    }
}

/// The record without room to spare: the reader's have up to twice what they need, and large files have many.
fn exact(record: &csv::StringRecord) -> csv::StringRecord {
    let mut exact =
        csv::StringRecord::with_capacity(record.as_byte_record().as_slice().len(), record.len());
    for cell in record {
        exact.push_field(cell);
    }
    exact
}

/// Line numbers by byte offset. The reader's own count is one too low after lines that end in CR LF.
struct Lines<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl Lines<'_> {
    /// The line, from 1, of a record that begins at `place`, or after the line ends there. Calls must be in ascending order.
    fn at(&mut self, place: u64) -> usize {
        let bytes = self.text.as_bytes();
        let place = usize::try_from(place)
            .unwrap_or(usize::MAX)
            .min(bytes.len());
        let ends = |byte: &&u8| matches!(byte, b'\r' | b'\n');
        let place = place + bytes[place..].iter().take_while(ends).count();
        let passed = bytes.get(self.at..place).unwrap_or_default();
        self.line += passed.iter().filter(|byte| **byte == b'\n').count();
        self.at = place;
        self.line
    }
}

/// The cells of a header, in lower case.
pub(super) fn header_names(line: &str) -> Vec<String> {
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(separator(line))
        .has_headers(false)
        .from_reader(line.as_bytes());
    let cells = reader.records().next().and_then(Result::ok);
    cells.map_or_else(Vec::new, |cells| cells.iter().map(plain).collect())
}

fn plain(name: &str) -> String {
    name.trim().to_lowercase()
}

/// The separator that occurs most often in a header, outside of quotes.
fn separator(header: &str) -> u8 {
    let mut quoted = false;
    let mut counts = [(b',', 0), (b';', 0), (b'\t', 0), (b'|', 0)];
    for byte in header.bytes() {
        quoted ^= byte == b'"';
        let count = counts.iter_mut().find(|(separator, _)| *separator == byte);
        if let Some((_, count)) = count.filter(|_| !quoted) {
            *count += 1;
        }
    }
    // The first in a tie: a header of one column has no separator.
    counts.reverse();
    counts
        .iter()
        .max_by_key(|(_, count)| *count)
        .map_or(b',', |(separator, _)| *separator)
}

/// Whether a text ends within a row.
fn is_cut(text: &str, cells: usize, columns: usize) -> bool {
    let last = text.lines().last().unwrap_or_default();
    let quotes = last.bytes().filter(|byte| *byte == b'"').count();
    !text.ends_with('\n') && (cells < columns || quotes % 2 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_are_found_outside_of_quotes() {
        for (header, cells) in [
            ("a,b,c", vec!["a", "b", "c"]),
            ("\"a,b\";\"c,d\";E", vec!["a,b", "c,d", "e"]),
            ("\"A, a\"\t\"B\"", vec!["a, a", "b"]),
            ("time|a(0,1)|b", vec!["time", "a(0,1)", "b"]),
            ("one", vec!["one"]),
        ] {
            assert_eq!(header_names(header), cells, "{header}");
        }
    }

    #[test]
    fn a_row_that_was_cut_off_is_left_out() {
        let whole = "a,b\n1,2\n3,4";
        let cut = "a,b\n1,2\n3";
        let quoted = "\"a\",\"b\"\n\"1\",\"2\"\n\"3\",\"4";
        let rows = |text| Table::read("a.csv", text).expect("rows").rows.len();
        assert_eq!([rows(whole), rows(cut), rows(quoted)], [2, 1, 1]);
    }

    #[test]
    fn lines_are_counted_whatever_ends_them() {
        for text in [
            "a,b\n\n1,2\n\"3\n3\",4\n5,6\n",
            "a,b\r\n\r\n1,2\r\n\"3\r\n3\",4\r\n5,6\r\n",
        ] {
            let table = Table::read("a.csv", text).expect("rows");
            let lines: Vec<usize> = table.rows.iter().map(|(line, _)| *line).collect();
            assert_eq!(lines, [3, 4, 6], "{text:?}");
        }
    }

    #[test]
    fn a_missing_column_is_named_with_the_header() {
        let table = Table::read("a.csv", "x,y\n1,2\n").expect("a table");
        let error = table.column("z").expect_err("no z").to_string();
        assert!(
            error.starts_with("a.csv:1: there is no column `z` (the header is: x, y)"),
            "{error}"
        );
    }
}
