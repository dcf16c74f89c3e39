//! Expressions of `\set` and `\if`: a tree in which variables are slots.
//!
//! Operators, their precedence and the functions are pgbench's.
//! Source: `src/bin/pgbench/exprparse.y` and `doc/src/sgml/ref/pgbench.sgml`, "Built-In
//! Operators" and "Built-In Functions", read 2026-11-21.

mod error;
mod evaluate;
mod function;
mod number;
mod parse;
mod token;

pub use error::{EvaluationError, ExpressionError};
pub use function::Function;
pub(crate) use function::permute;

use super::value::Value;
use super::variables::Slot;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A literal.
    Constant(Value),
    /// `:name`.
    Variable(Slot),
    /// `- x`, `NOT x`, `~ x`, `x IS NULL`.
    Unary(Unary, Box<Expression>),
    /// `x + y` and the like.
    Binary(Binary, Box<[Expression; 2]>),
    /// `f(x, ..)`.
    Call(Function, Vec<Expression>),
    /// `CASE WHEN condition THEN value .. [ELSE value] END`.
    Case {
        /// Condition and value, in order.
        branches: Vec<(Expression, Expression)>,
        /// The value when no condition holds; NULL without.
        otherwise: Option<Box<Expression>>,
    },
}

impl Expression {
    /// Whether its value may be drawn.
    pub fn draws(&self) -> bool {
        match self {
            Expression::Constant(_) | Expression::Variable(_) => false,
            Expression::Unary(_, operand) => operand.draws(),
            Expression::Binary(_, operands) => operands.iter().any(Expression::draws),
            Expression::Call(function, arguments) => {
                function.is_random() || arguments.iter().any(Expression::draws)
            }
            Expression::Case {
                branches,
                otherwise,
            } => {
                let mut all = branches.iter();
                all.any(|(condition, value)| condition.draws() || value.draws())
                    || otherwise.as_ref().is_some_and(|value| value.draws())
            }
        }
    }
}

/// An operator with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `- x`
    Negate,
    /// `NOT x`
    Not,
    /// `~ x`, bit by bit
    Complement,
    /// `x IS NULL`
    IsNull,
}

/// An operator with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// `OR`
    Or,
    /// `AND`
    And,
    /// `=` and the like
    Compare(Comparison),
    /// `+` and the like
    Compute(Arithmetic),
}

/// An operator that gives true or false.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `<>` or `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// An operator that gives a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// `|`
    BitOr,
    /// `#`
    BitXor,
    /// `&`
    BitAnd,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`, which drops the fraction between whole numbers
    Divide,
    /// `%`
    Remainder,
}
