//! Errors when an expression is parsed or evaluated.

/// Longest expression, in words; it bounds the depth of the tree, and so the stack needed to evaluate it.
pub(super) const WORDS_MAX: usize = 1_000;
/// Deepest nesting of parentheses, calls and prefix operators.
pub(super) const DEPTH_MAX: usize = 60;

/// An error in an expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpressionError {
    /// An unexpected word.
    #[error("`{found}` where {wanted} should stand")]
    Unexpected {
        /// The word, or `end of line`.
        found: String,
        /// What was expected.
        wanted: &'static str,
    },
    /// A function that does not exist.
    #[error("no function `{name}`{remedy}")]
    UnknownFunction {
        /// The name.
        name: String,
        /// The nearest one, or all.
        remedy: String,
    },
    /// A function called with too few or too many arguments.
    #[error("`{name}` was given {given} arguments; it takes {wanted}")]
    Arguments {
        /// The function.
        name: String,
        /// How many it got.
        given: usize,
        /// How many it takes.
        wanted: String,
    },
    /// A number that is malformed or does not fit in 64 bits.
    #[error("`{given}` is not a number of 64 bits, such as 42 or 1.5")]
    Number {
        /// The text.
        given: String,
    },
    /// An expression too long or too deep.
    #[error(
        "the expression is longer than {WORDS_MAX} words or deeper than {DEPTH_MAX}; split it over several `\\set`"
    )]
    TooLong,
}

/// What can go wrong while an expression is evaluated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EvaluationError {
    /// A division or remainder by 0.
    #[error("division by zero; guard it with `CASE WHEN`")]
    DivisionByZero,
    /// A whole number that needs more than 64 bits.
    #[error("a whole number does not fit in 64 bits; use `double(..)` or smaller numbers")]
    OutOfRange,
    /// A variable read before it was set.
    #[error("variable `{name}` has no value yet; `\\set` it on every way that leads here")]
    Unset {
        /// Its name.
        name: String,
    },
    /// A random key from a range without keys.
    #[error("no number lies between {low} and {high}; the lower bound comes first")]
    EmptyRange {
        /// Lower bound.
        low: i64,
        /// Upper bound.
        high: i64,
    },
    /// The parameter of a distribution outside of what it allows.
    #[error("`{function}` was given parameter {given}; it takes {low:e} to {high:e}")]
    Shape {
        /// The function.
        function: &'static str,
        /// The parameter.
        given: String,
        /// Least allowed.
        low: f64,
        /// Most allowed.
        high: f64,
    },
    /// Arithmetic on a text.
    #[error("\"{text}\" is a text, where a number should stand")]
    NotANumber {
        /// The text.
        text: String,
    },
    /// A wait that is negative, not a number or NULL.
    #[error("`\\sleep {given}` is not a wait; the variable should hold 0 or more")]
    Wait {
        /// The value.
        given: String,
    },
}
