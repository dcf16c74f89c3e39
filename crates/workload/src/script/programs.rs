//! Finds the ends of statements where stored programs contain others.

use super::scan::Lexeme;

/// Finds the end of a statement, which may contain others between `BEGIN` and `END`.
///
/// Only stored programs have such blocks; elsewhere `BEGIN` starts a transaction. A body of several statements must be a block,
/// since an `IF` or `LOOP` outside of one cannot be distinguished from a function of that name. Source:
/// <https://mariadb.com/kb/en/begin-end/> (read 2026-11-25).
#[derive(Debug, Default)]
pub(super) struct BlockEnd {
    head: Head,
    /// Open `BEGIN` and `CASE`.
    depth: u32,
    /// The line of the outermost of them.
    line: u32,
    after_end: bool,
}

/// Kind of a statement, by its first words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Head {
    #[default]
    Start,
    /// `CREATE`, `CREATE OR REPLACE`, ..
    Makes,
    /// `CREATE DEFINER = ..`, up to the kind of object.
    Definer,
    /// `BEGIN`, which is a transaction unless `NOT ATOMIC` follows.
    Begins,
    /// Something that may have blocks.
    Program,
    Other,
}

impl Head {
    fn followed_by(self, word: &str) -> Head {
        match (self, word) {
            (Head::Start, "CREATE") | (Head::Makes, "OR" | "REPLACE" | "AGGREGATE") => Head::Makes,
            (Head::Start, "BEGIN") => Head::Begins,
            (Head::Begins, "NOT") => Head::Program,
            (Head::Makes | Head::Definer, "TRIGGER" | "PROCEDURE" | "FUNCTION" | "EVENT") => {
                Head::Program
            }
            (Head::Definer, "SQL" | "VIEW" | "ROLE") => Head::Other,
            (Head::Makes, "DEFINER") | (Head::Definer, _) => Head::Definer,
            (Head::Program, _) => Head::Program,
            (Head::Start | Head::Makes | Head::Begins | Head::Other, _) => Head::Other,
        }
    }
}

impl BlockEnd {
    /// Consumes a lexeme of the statement, which is on `line`.
    pub(super) fn take(&mut self, lexeme: Lexeme<'_>, line: u32) {
        let after_end = std::mem::take(&mut self.after_end);
        let word = lexeme.keyword();
        let before = self.head;
        self.head = before.followed_by(&word);
        match (self.head, word.as_str()) {
            (Head::Program, "NOT") if before == Head::Begins => self.open_block(line),
            // `END CASE` and `END` end what was counted, `END IF`, `END LOOP` and the like what was not.
            (Head::Program, "CASE") if after_end => {}
            (Head::Program, "IF" | "LOOP" | "WHILE" | "REPEAT" | "FOR") if after_end => {
                self.depth += 1;
            }
            (Head::Program, "BEGIN" | "CASE") => self.open_block(line),
            (Head::Program, "END") => {
                self.depth = self.depth.saturating_sub(1);
                self.after_end = true;
            }
            _ => {}
        }
    }

    fn open_block(&mut self, line: u32) {
        if self.depth == 0 {
            self.line = line;
        }
        self.depth += 1;
    }

    /// Whether a `;` here ends the statement.
    pub(super) fn semicolon_ends(&self) -> bool {
        self.depth == 0
    }

    /// The line of an open block.
    pub(super) fn open(&self) -> Option<u32> {
        (self.depth > 0).then_some(self.line)
    }
}

/// Whether the first word of a statement is `DELIMITER`, which only a client knows.
pub(super) fn is_delimiter(lexeme: Lexeme<'_>) -> bool {
    lexeme.text.eq_ignore_ascii_case("delimiter")
}
