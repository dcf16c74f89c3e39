//! Replaces the `:names` of a statement by positional parameters.

use products::{Dialect, Placeholder};

use super::Statement;
use super::scan::{Kind, Scanner};
use crate::variables::Slot;

impl Statement {
    /// A statement from its SQL at `line`; a name that occurs twice is one parameter if these have numbers.
    ///
    /// Unlike pgbench, which replaces names inside quotes too, quoted texts and comments are unchanged:
    /// a value cannot become part of a text by accident. `mapped` are words that are variables too, with
    /// their `@`.
    pub(super) fn new(
        sql: &str,
        (line, index): (u32, usize),
        (dialect, mapped): (Dialect, &[String]),
        resolve: &mut dyn FnMut(&str) -> Slot,
    ) -> Statement {
        let mut text = String::with_capacity(sql.len());
        let mut parameters = Parameters {
            placeholder: dialect.placeholder,
            names: Vec::new(),
        };
        for lexeme in Scanner::new(sql, dialect.grammar) {
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
            match name {
                Some(name) => text.push_str(&parameters.refer_to(name)),
                None => text.push_str(lexeme.text),
            }
        }
        let parameters = parameters.names;
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

/// The parameters of a statement read so far.
struct Parameters {
    placeholder: Placeholder,
    /// The variables behind them, in order.
    names: Vec<String>,
}

impl Parameters {
    /// The placeholder for the next occurrence of variable `name`.
    fn refer_to(&mut self, name: &str) -> String {
        match self.placeholder {
            Placeholder::Numbered(prefix) => {
                let known = self.names.iter().position(|known| known == name);
                let place = known.unwrap_or_else(|| self.add(name));
                format!("{prefix}{}", place + 1)
            }
            Placeholder::InOrder(mark) => {
                self.add(name);
                mark.to_owned()
            }
        }
    }

    /// Adds a parameter and returns its index.
    fn add(&mut self, name: &str) -> usize {
        self.names.push(name.to_owned());
        self.names.len() - 1
    }
}

/// The variable that a word refers to; T-SQL ignores case.
fn mapped_name<'a>(word: &str, mapped: &'a [String]) -> Option<&'a str> {
    let found = mapped.iter().find(|known| known.eq_ignore_ascii_case(word));
    found.map(String::as_str)
}
