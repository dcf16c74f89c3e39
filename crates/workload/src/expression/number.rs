//! Numbers in expressions, and checked arithmetic on whole ones.

use super::super::value::Value;
use super::error::EvaluationError;

/// A value that is a number.
#[derive(Clone, Copy, Debug)]
pub(super) enum Number {
    Int(i64),
    Double(f64),
}

impl Number {
    /// As a whole number, without its fraction.
    pub(super) fn int(self) -> Result<i64, EvaluationError> {
        /// 2^63, the first double above every `i64`.
        const LIMIT: f64 = 9_223_372_036_854_775_808.0;
        match self {
            Number::Int(value) => Ok(value),
            Number::Double(value) if (-LIMIT..LIMIT).contains(&value) => Ok(value as i64),
            Number::Double(_) => Err(EvaluationError::OutOfRange),
        }
    }

    pub(super) fn double(self) -> f64 {
        match self {
            Number::Int(value) => value as f64,
            Number::Double(value) => value,
        }
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Value {
        match number {
            Number::Int(value) => Value::Int(value),
            Number::Double(value) => Value::Double(value),
        }
    }
}

pub(super) fn out_of_range() -> EvaluationError {
    EvaluationError::OutOfRange
}

pub(super) fn add(left: i64, right: i64) -> Result<i64, EvaluationError> {
    left.checked_add(right).ok_or(EvaluationError::OutOfRange)
}

pub(super) fn remainder(left: i64, right: i64) -> Result<i64, EvaluationError> {
    match right {
        0 => Err(EvaluationError::DivisionByZero),
        // The least `i64` over -1 overflows in hardware; its remainder is 0 like every other's.
        -1 => Ok(0),
        _ => Ok(left % right),
    }
}

/// The number in `value`; `None` for NULL.
pub(super) fn number(value: &Value) -> Result<Option<Number>, EvaluationError> {
    match value {
        Value::Int(value) => Ok(Some(Number::Int(*value))),
        Value::Double(value) => Ok(Some(Number::Double(*value))),
        Value::Null => Ok(None),
        Value::Text(text) => Err(EvaluationError::NotANumber { text: text.clone() }),
    }
}
