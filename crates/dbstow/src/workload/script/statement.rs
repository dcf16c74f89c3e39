//! Replaces the `:names` of a statement by positional parameters.

use super::super::dialect::Dialect;
use super::Statement;
use super::scan::{Kind, Scanner};
use crate::workload::variables::Slot;

impl Statement {
    /// A statement from its SQL at `line`; a name that comes twice is one parameter.
    ///
    /// Unlike pgbench, which replaces names inside quotes too, quoted texts and comments stay as they
    /// are: a value cannot become part of a text by accident.
    pub(super) fn new(
        sql: &str,
        (line, index): (u32, usize),
        dialect: Dialect,
        resolve: &mut dyn FnMut(&str) -> Slot,
    ) -> Statement {
        let mut text = String::with_capacity(sql.len());
        let mut parameters: Vec<String> = Vec::new();
        for lexeme in Scanner::new(sql) {
            if lexeme.kind != Kind::Parameter {
                text.push_str(lexeme.text);
                continue;
            }
            let name = &lexeme.text[1..];
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
