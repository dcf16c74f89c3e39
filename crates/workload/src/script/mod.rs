//! Scripts: SQL statements with branches, variables and waits, in pgbench's language.
//!
//! Source: `doc/src/sgml/ref/pgbench.sgml`, "Custom Scripts".
//! Unsupported commands (`\gset`, `\shell`, pipelines, ..) are errors that say what to do instead; nothing is skipped silently.

mod error;
mod execute;
mod parse;
mod programs;
mod scan;
mod split;
mod statement;
mod tsql;
mod unsupported;

pub use error::{ScriptError, ScriptProblem};
pub use execute::{Driver, ExecutionError};
pub(super) use parse::is_name;

use super::expression::Expression;
use super::variables::Slot;

/// A script, read and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// The file it came from, as messages name it.
    pub name: String,
    /// What it does, in order.
    pub commands: Vec<Command>,
    /// How many statements it has; their indices run from 0 to one less.
    pub statements: usize,
}

impl Script {
    /// Whether any of its statements changes tables, by its first word.
    pub fn writes(&self) -> bool {
        writes(&self.commands)
    }

    /// Whether any of its expressions draws a number; what its statements draw does not count.
    pub fn draws(&self) -> bool {
        draws(&self.commands)
    }
}

fn draws(commands: &[Command]) -> bool {
    commands.iter().any(|command| match command {
        Command::Sql(_) => false,
        Command::Set { expression, .. } => expression.draws(),
        Command::If {
            branches,
            otherwise,
        } => {
            let mut all = branches.iter();
            all.any(|branch| branch.condition.draws() || draws(&branch.commands))
                || draws(otherwise)
        }
        Command::Sleep { pause, .. } => pause.amount.draws(),
    })
}

/// First words of statements that change tables.
const WRITING: [&str; 4] = ["INSERT", "UPDATE", "DELETE", "REPLACE"];

fn writes(commands: &[Command]) -> bool {
    commands.iter().any(|command| match command {
        Command::Sql(statement) => {
            let word = statement.text.split_whitespace().next();
            word.is_some_and(|word| WRITING.contains(&word.to_ascii_uppercase().as_str()))
        }
        Command::If {
            branches,
            otherwise,
        } => writes(otherwise) || branches.iter().any(|branch| writes(&branch.commands)),
        Command::Set { .. } | Command::Sleep { .. } => false,
    })
}

/// A step of a script.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// A statement for the engine.
    Sql(Statement),
    /// `\set name expression`
    Set {
        /// The variable.
        slot: Slot,
        /// Its new value.
        expression: Expression,
        /// Line in the file, from 1.
        line: u32,
    },
    /// `\if .. \elif .. \else .. \endif`
    If {
        /// `\if` and every `\elif`, in order.
        branches: Vec<Branch>,
        /// Body of `\else`.
        otherwise: Vec<Command>,
    },
    /// `\sleep span`
    Sleep {
        /// How long.
        pause: Pause,
        /// Line in the file, from 1.
        line: u32,
    },
}

/// An SQL statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The SQL, with the dialect's parameters where `:name` stood (`?1`, `?2`, ..; `$1`, ..; `@p1`, ..; or `?` for each), and
    /// without the `;`, which T-SQL keeps.
    pub text: String,
    /// The variables for these parameters, in order. Where they have no numbers, a variable that occurs twice is listed twice.
    pub parameters: Vec<String>,
    /// Line in the file, from 1.
    pub line: u32,
    /// Number within its script, from 0: a key for prepared statements.
    pub index: usize,
    pub(super) slots: Vec<Slot>,
}

/// A branch of `\if`.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// Taken if this is the first condition that holds.
    pub condition: Expression,
    /// Line of the condition in the file, from 1.
    pub line: u32,
    /// What it does.
    pub commands: Vec<Command>,
}

/// How long `\sleep` waits: `amount` times `unit`.
#[derive(Clone, Debug, PartialEq)]
pub struct Pause {
    /// A literal or a variable.
    pub amount: Expression,
    /// Its unit.
    pub unit: PauseUnit,
}

/// Unit of `\sleep`; without one it is the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseUnit {
    /// `us`
    Microsecond,
    /// `ms`
    Millisecond,
    /// `s`
    Second,
}

#[cfg(test)]
mod tests;
