//! Errors in a script.

use super::super::expression::ExpressionError;

/// An error in a script, with its location.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {problem}")]
pub struct ScriptError {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// What is wrong there.
    pub problem: ScriptProblem,
}

/// What is wrong with a line of a script.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScriptProblem {
    /// A command that does not exist.
    #[error("no command `{command}`{remedy}")]
    UnknownCommand {
        /// As written.
        command: String,
        /// The nearest one, or all.
        remedy: String,
    },
    /// A command of pgbench that dbstow does not have.
    #[error("`{command}` is not supported; {remedy}")]
    Unsupported {
        /// As written.
        command: String,
        /// What to do instead.
        remedy: &'static str,
    },
    /// A quote or comment without its end.
    #[error("{what} that begins here is never closed; add `{close}`")]
    Unclosed {
        /// Which.
        what: &'static str,
        /// What closes it.
        close: &'static str,
    },
    /// A command in the middle of a statement.
    #[error(
        "`{command}` stands inside a statement; end the statement with `;`, and put the command on a line of its own"
    )]
    InsideStatement {
        /// As written.
        command: String,
    },
    /// A branch command without its `\if`.
    #[error("`{command}` has no `\\if` before it; add one or remove this line")]
    WithoutIf {
        /// As written.
        command: String,
    },
    /// `\elif` or `\else` after `\else`.
    #[error("`{command}` comes after `\\else`; only `\\endif` can")]
    AfterElse {
        /// As written.
        command: String,
    },
    /// `\if` without `\endif`.
    #[error("this `\\if` is never closed; add `\\endif`")]
    IfNotClosed,
    /// Too many `\if` inside one another.
    #[error("more than {limit} `\\if` inside one another; use `\\elif`")]
    TooDeep {
        /// How many are allowed.
        limit: usize,
    },
    /// Arguments to a command that takes none.
    #[error("`{command}` takes nothing behind it, but `{given}` stands there; remove it")]
    Surplus {
        /// As written.
        command: String,
        /// The arguments.
        given: String,
    },
    /// A malformed `\set`.
    #[error("`\\set {given}` has no name and expression; write `\\set key random(1, 100)`")]
    Set {
        /// The arguments of the command.
        given: String,
    },
    /// `\set` of a built-in variable.
    #[error("`{name}` is set by dbstow itself; choose another name")]
    Reserved {
        /// The variable.
        name: String,
    },
    /// A malformed `\sleep`.
    #[error(
        "`\\sleep {given}` is not a wait; write a whole number or a `:variable`, then us, ms or s, such as `\\sleep 10 ms`"
    )]
    Sleep {
        /// The arguments of the command.
        given: String,
    },
    /// A variable that nothing sets.
    #[error("variable `{name}` is never set{remedy}")]
    Undefined {
        /// The variable.
        name: String,
        /// The nearest one, or all.
        remedy: String,
    },
    /// A malformed expression.
    #[error(transparent)]
    Expression(#[from] ExpressionError),
}
