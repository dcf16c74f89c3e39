//! Finds the ends of T-SQL's statements and batches.

use super::scan::Lexeme;

/// Finds the end of a statement, which may contain others between `BEGIN` and `END`.
///
/// A procedure, function or trigger extends to the end of its batch, because its statements do not require a block.
#[derive(Debug, Default)]
pub(super) struct BlockEnd {
    head: Head,
    /// Open `BEGIN` and `CASE`.
    depth: u32,
    /// The line of the outermost of them.
    line: u32,
    after_begin: bool,
}

/// Kind of a statement, by its first words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Head {
    #[default]
    Start,
    /// `CREATE`, `ALTER`, `CREATE OR ALTER`
    Makes,
    /// Something whose body extends to the end of the batch.
    Module,
    Other,
}

impl BlockEnd {
    /// Consumes a lexeme of the statement, which is on `line`.
    pub(super) fn take(&mut self, lexeme: Lexeme<'_>, line: u32) {
        let after_begin = std::mem::take(&mut self.after_begin);
        let word = lexeme.keyword();
        self.head = match (self.head, word.as_str()) {
            (Head::Start, "CREATE" | "ALTER") | (Head::Makes, "OR" | "ALTER") => Head::Makes,
            (Head::Makes, "PROC" | "PROCEDURE" | "FUNCTION" | "TRIGGER") => Head::Module,
            (Head::Module, _) => Head::Module,
            (Head::Start | Head::Makes | Head::Other, _) => Head::Other,
        };
        match word.as_str() {
            "BEGIN" | "CASE" => {
                if self.depth == 0 {
                    self.line = line;
                }
                self.depth += 1;
                self.after_begin = word == "BEGIN";
            }
            "END" => self.depth = self.depth.saturating_sub(1),
            // Not a block, but a statement.
            "TRAN" | "TRANSACTION" | "DISTRIBUTED" if after_begin => self.depth -= 1,
            _ => {}
        }
    }

    /// Whether a `;` here ends the statement.
    pub(super) fn semicolon_ends(&self) -> bool {
        self.depth == 0 && self.head != Head::Module
    }

    /// The line of an open block.
    pub(super) fn open(&self) -> Option<u32> {
        (self.depth > 0).then_some(self.line)
    }
}

/// Meaning of a line with `GO`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Separator<'a> {
    /// The batch ends.
    End,
    /// The batch runs this many times.
    Repeat(&'a str),
}

/// Whether the word at `start` is the batch separator: `GO`, in any case, alone on its line.
///
/// It is not T-SQL: clients such as `sqlcmd` interpret it, and a server never sees it. Source:
/// <https://learn.microsoft.com/sql/t-sql/language-elements/sql-server-utilities-statements-go> (read 2026-11-21).
pub(super) fn separator<'a>(text: &'a str, lexeme: Lexeme<'_>) -> Option<Separator<'a>> {
    if !lexeme.text.eq_ignore_ascii_case("go") {
        return None;
    }
    let before = text[..lexeme.start].rsplit('\n').next().unwrap_or_default();
    let after = &text[lexeme.start + lexeme.text.len()..];
    let after = after.split('\n').next().unwrap_or_default();
    let after = after.split("--").next().unwrap_or_default().trim();
    match before.trim().is_empty() {
        true if after.is_empty() => Some(Separator::End),
        true if after.chars().all(|c| c.is_ascii_digit()) => Some(Separator::Repeat(after)),
        true | false => None,
    }
}
