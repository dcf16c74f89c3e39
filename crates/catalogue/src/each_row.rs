//! Rows of a table, each with its line.

use serde::de::DeserializeOwned;

/// An error in a table, with its line.
pub(super) struct RowError {
    /// Line, from 1.
    pub(super) line: u64,
    /// What.
    pub(super) message: String,
}

/// Reads each row of a table, with its line; lines that begin with `#` are comments.
///
/// # Errors
/// The first invalid line, and the first that `read` refuses.
pub(super) fn each<T: DeserializeOwned>(
    text: &str,
    mut read: impl FnMut(u64, T) -> Result<(), String>,
) -> Result<(), RowError> {
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .from_reader(text.as_bytes());
    let headers = reader.headers().map_err(of_csv)?.clone();
    for record in reader.records() {
        let record = record.map_err(of_csv)?;
        let line = record.position().map_or(0, csv::Position::line);
        let row = record.deserialize(Some(&headers));
        let row = row.map_err(|error| said(&error));
        row.and_then(|row| read(line, row))
            .map_err(|message| RowError { line, message })?;
    }
    Ok(())
}

fn of_csv(error: csv::Error) -> RowError {
    RowError {
        line: error.position().map_or(1, csv::Position::line),
        message: said(&error),
    }
}

/// Without the location, which the caller adds.
fn said(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::Deserialize { err, .. } => err.to_string(),
        _ => error.to_string(),
    }
}
