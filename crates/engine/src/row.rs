//! Answers to our own queries: rows of text, parsed without trust.

/// The memory that one answer may take: rows, their columns, and what comes with them. The largest seen is a list of
/// files of some thousand tables, of 1 MiB (our choice).
pub const ANSWER_BYTES_MAX: usize = 64 << 20;

/// Memory of a row and a column besides their text: the headers of a vector and of a text, and the allocator's.
const ROW_BYTES: usize = 48;
const COLUMN_BYTES: usize = 40;

/// How much of an unexpected value a message shows.
const SHOWN_MAX: usize = 40;

/// The largest count: picoseconds in an hour of a thousand sessions are 4e18, and servers count in 64 bits.
const COUNT_MAX: f64 = 1e24;

/// The remaining memory for an answer.
#[derive(Debug)]
pub struct Budget(usize);

/// An answer is larger than any legitimate one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the answer takes more than {} MiB, so that no more of it was read; check what answers at that address",
    ANSWER_BYTES_MAX >> 20
)]
pub struct TooLarge;

impl Default for Budget {
    /// The budget of a new answer.
    fn default() -> Budget {
        Budget(ANSWER_BYTES_MAX)
    }
}

impl Budget {
    /// Takes `bytes` of memory.
    ///
    /// # Errors
    /// When not enough is left.
    pub fn take(&mut self, bytes: usize) -> Result<(), TooLarge> {
        self.0 = self.0.checked_sub(bytes).ok_or(TooLarge)?;
        Ok(())
    }

    /// Takes what a row needs besides its columns.
    ///
    /// # Errors
    /// As for [`Budget::take`].
    pub fn take_row(&mut self) -> Result<(), TooLarge> {
        self.take(ROW_BYTES)
    }

    /// Takes what a column needs besides its text.
    ///
    /// # Errors
    /// As for [`Budget::take`].
    pub fn take_column(&mut self) -> Result<(), TooLarge> {
        self.take(COLUMN_BYTES)
    }
}

/// A row: columns as text. Invalid UTF-8 is replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row(Vec<Option<String>>);

/// A column that does not exist, or has unexpected content.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "column {column} of the answer is {came} instead of {wanted}; check what answers at that address"
)]
pub struct Unexpected {
    /// Its number, from 1.
    column: usize,
    came: String,
    wanted: &'static str,
}

/// A number that a column may hold.
pub trait Number: Sized {
    /// Its name in messages.
    const NAME: &'static str;

    /// Parses a text.
    fn of(text: &str) -> Option<Self>;
}

impl Number for u32 {
    const NAME: &'static str = "a whole number from 0 to 4294967295";

    fn of(text: &str) -> Option<u32> {
        text.parse().ok()
    }
}

impl Number for u64 {
    const NAME: &'static str = "a whole number from 0 on";

    fn of(text: &str) -> Option<u64> {
        text.parse().ok()
    }
}

impl Number for f64 {
    const NAME: &'static str = "a number";

    /// Neither infinite nor NaN, which would pass unnoticed through sums and comparisons, nor so large that a sum could
    /// overflow.
    fn of(text: &str) -> Option<f64> {
        let is_countable = |value: &f64| value.abs() <= COUNT_MAX;
        text.parse().ok().filter(is_countable)
    }
}

impl Row {
    /// A row with these columns.
    pub fn new(columns: Vec<Option<String>>) -> Row {
        Row(columns)
    }

    /// All columns.
    pub fn columns(&self) -> &[Option<String>] {
        &self.0
    }

    /// Moves out all columns.
    pub fn into_columns(self) -> Vec<Option<String>> {
        self.0
    }

    /// The text in a column, from 0; `None` for NULL.
    ///
    /// # Errors
    /// When the column does not exist.
    pub fn text(&self, column: usize) -> Result<Option<&str>, Unexpected> {
        match self.0.get(column) {
            Some(text) => Ok(text.as_deref()),
            None => Err(Unexpected {
                column: column + 1,
                came: format!("missing (there are {})", self.0.len()),
                wanted: "a value",
            }),
        }
    }

    /// The text in a column that is not NULL.
    ///
    /// # Errors
    /// When the column does not exist, or is NULL.
    pub fn word(&self, column: usize) -> Result<&str, Unexpected> {
        self.text(column)?
            .ok_or_else(|| unexpected(column, None, "a text"))
    }

    /// Whether a column is true: `t` or `f`.
    ///
    /// # Errors
    /// When the column does not exist, or is neither true nor false.
    pub fn flag(&self, column: usize) -> Result<bool, Unexpected> {
        match self.text(column)? {
            Some("t") => Ok(true),
            Some("f") => Ok(false),
            other => Err(unexpected(column, other, "t or f")),
        }
    }

    /// The number in a column; `None` for NULL.
    ///
    /// # Errors
    /// When the column does not exist, or does not contain such a number.
    pub fn number<N: Number>(&self, column: usize) -> Result<Option<N>, Unexpected> {
        let Some(text) = self.text(column)? else {
            return Ok(None);
        };
        match N::of(text.trim()) {
            Some(number) => Ok(Some(number)),
            None => Err(unexpected(column, Some(text), N::NAME)),
        }
    }

    /// The number in a column that is not NULL.
    ///
    /// # Errors
    /// As for [`Row::number`], and for NULL.
    pub fn count<N: Number>(&self, column: usize) -> Result<N, Unexpected> {
        self.number(column)?
            .ok_or_else(|| unexpected(column, None, N::NAME))
    }
}

/// Two columns of each row, such as names and values; a NULL value becomes an empty text.
///
/// # Errors
/// When a row has fewer columns, or no name.
pub fn pairs<C: FromIterator<(String, String)>>(rows: &[Row]) -> Result<C, Unexpected> {
    let pair = |row: &Row| {
        let value = row.text(1)?.unwrap_or_default();
        Ok((row.word(0)?.to_owned(), value.to_owned()))
    };
    rows.iter().map(pair).collect()
}

/// The first column of each row.
///
/// # Errors
/// When a row has none, or it is NULL.
pub fn words(rows: &[Row]) -> Result<Vec<String>, Unexpected> {
    rows.iter().map(|row| Ok(row.word(0)?.to_owned())).collect()
}

/// The first row of an answer.
///
/// # Errors
/// When the answer is empty.
pub fn first(rows: &[Row]) -> Result<&Row, Unexpected> {
    rows.first().ok_or(Unexpected {
        column: 1,
        came: "missing (there is no row)".to_owned(),
        wanted: "a value",
    })
}

fn unexpected(column: usize, came: Option<&str>, wanted: &'static str) -> Unexpected {
    let came = match came {
        None => "NULL".to_owned(),
        Some(text) => {
            let shown: String = text.chars().take(SHOWN_MAX).collect();
            let more = if shown.len() < text.len() { ".." } else { "" };
            format!("\"{shown}{more}\"")
        }
    };
    Unexpected {
        column: column + 1,
        came,
        wanted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_of_its_kind_is_refused_with_what_came() {
        let row = Row::new(vec![Some("-1".into()), Some("inf".into()), None]);
        for (error, said) in [
            (
                row.count::<u32>(0).expect_err("it is negative"),
                "\"-1\" instead of a whole number",
            ),
            (
                row.count::<f64>(1).expect_err("it is infinite"),
                "\"inf\" instead of a number",
            ),
            (
                row.count::<u64>(2).expect_err("it is NULL"),
                "column 3 of the answer is NULL",
            ),
            (
                row.count::<u64>(3).expect_err("it is not there"),
                "missing (there are 3)",
            ),
            (
                row.word(2).expect_err("it is NULL"),
                "NULL instead of a text",
            ),
        ] {
            assert!(error.to_string().contains(said), "{error}");
        }
        assert_eq!(row.number::<f64>(2), Ok(None));
        assert_eq!(row.count::<f64>(0), Ok(-1.0));
        let long = Row::new(vec![Some("é".repeat(1000))]);
        let error = long.count::<u64>(0).expect_err("it is a text").to_string();
        assert!(error.len() < 250 && error.contains("é.."), "{error}");
    }

    #[test]
    fn an_answer_without_end_ends() {
        let mut budget = Budget::default();
        let mut row = || budget.take_row().and_then(|()| budget.take_column());
        let rows = (0..).take_while(|_| row().is_ok()).count();
        // 64 MiB / 88 B
        assert_eq!(rows, 762_600);
        assert_eq!(Budget::default().take(usize::MAX), Err(TooLarge));
    }
}
