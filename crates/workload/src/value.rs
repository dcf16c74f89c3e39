//! The value of a variable or an argument.

use std::fmt;

/// A number, a text, or nothing.
///
/// It has no boolean: conditions yield 1 or 0, as in SQLite, and any number except 0 is true.
/// (pgbench has separate booleans; scripts that it accepts behave the same here.)
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A whole number.
    Int(i64),
    /// A number with a fraction.
    Double(f64),
    /// A text; only parameters of a workload are texts.
    Text(String),
    /// SQL's NULL: the value of a `CASE` without a matching branch.
    Null,
}

impl Value {
    /// Whether a condition with this value holds: numbers other than 0 do, NULL and texts do not.
    pub fn is_true(&self) -> bool {
        match self {
            Value::Int(value) => *value != 0,
            Value::Double(value) => *value != 0.0,
            Value::Text(_) | Value::Null => false,
        }
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Value {
        Value::Int(i64::from(truth))
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Int(value) => write!(f, "{value}"),
            Value::Double(value) => write!(f, "{value}"),
            Value::Text(text) => f.write_str(text),
            Value::Null => f.write_str("NULL"),
        }
    }
}
