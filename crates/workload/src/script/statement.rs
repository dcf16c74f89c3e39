//! Replaces the `:names` of a statement by positional parameters.

use super::super::dialect::Dialect;
use super::Statement;
use super::scan::{Kind, Scanner};
use crate::variables::Slot;

impl Statement {
    /// A statement from its SQL at `line`; a name that comes twice is one parameter.
    ///
    /// Unlike pgbench, which replaces names inside quotes too, quoted texts and comments stay as they
    /// are: a value cannot become part of a text by accident. `mapped` are words of T-SQL that are variables
    /// too, with their `@`.
    pub(super) fn new(
        sql: &str,
        (line, index): (u32, usize),
        (dialect, mapped): (Dialect, &[String]),
        resolve: &mut dyn FnMut(&str) -> Slot,
    ) -> Statement {
        let mut text = String::with_capacity(sql.len());
        let mut parameters: Vec<String> = Vec::new();
        for lexeme in Scanner::new(sql, dialect) {
            let name = match lexeme.kind {
                Kind::Parameter => Some(&lexeme.text[1..]),
                Kind::Word => mapped_name(lexeme.text, mapped),
                Kind::Blank
                | Kind::Comment
                | Kind::Quoted
                | Kind::Semicolon
                | Kind::Backslash
                | Kind::Other
                | Kind::Unclosed => None,
            };
            let Some(name) = name else {
                text.push_str(lexeme.text);
                continue;
            };
            let known = parameters.iter().position(|parameter| parameter == name);
            let number = known.unwrap_or_else(|| {
                parameters.push(name.to_owned());
                parameters.len() - 1
            });
            text.push_str(&dialect.parameter(number + 1));
        }
        let slots = parameters.iter().map(|name| resolve(name)).collect();
        Statement {
            text,
            parameters,
            line,
            index,
            slots,
        }
    }
}

/// The variable that a word of T-SQL stands for; T-SQL takes large letters for small ones.
fn mapped_name<'a>(word: &str, mapped: &'a [String]) -> Option<&'a str> {
    let found = mapped.iter().find(|known| known.eq_ignore_ascii_case(word));
    found.map(String::as_str)
}
