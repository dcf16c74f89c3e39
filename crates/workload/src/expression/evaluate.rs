//! The value of an [`Expression`].

use std::cmp::Ordering;

use model::random::Stream;

use super::super::value::Value;
use super::super::variables::Variables;
use super::error::EvaluationError;
use super::function::Function;
use super::number::{Number, number, out_of_range, remainder};
use super::{Arithmetic, Binary, Comparison, Expression, Unary};

impl Expression {
    /// The value under `variables`; random functions draw from `random`.
    ///
    /// # Errors
    /// See [`EvaluationError`].
    pub fn evaluate(
        &self,
        variables: &Variables,
        random: &mut Stream,
    ) -> Result<Value, EvaluationError> {
        match self {
            Expression::Constant(value) => Ok(value.clone()),
            Expression::Variable(slot) => match variables.at(*slot) {
                Some(value) => Ok(value.clone()),
                None => Err(EvaluationError::Unset {
                    name: variables.name(*slot).to_owned(),
                }),
            },
            Expression::Unary(operator, operand) => {
                unary(*operator, &operand.evaluate(variables, random)?)
            }
            Expression::Binary(operator, operands) => {
                let left = operands[0].evaluate(variables, random)?;
                if let Some(decided) = decided_by(*operator, &left) {
                    return Ok(decided);
                }
                binary(*operator, &left, &operands[1].evaluate(variables, random)?)
            }
            Expression::Call(function, arguments) => call(*function, arguments, variables, random),
            Expression::Case {
                branches,
                otherwise,
            } => {
                for (condition, value) in branches {
                    if condition.evaluate(variables, random)?.is_true() {
                        return value.evaluate(variables, random);
                    }
                }
                match otherwise {
                    Some(value) => value.evaluate(variables, random),
                    None => Ok(Value::Null),
                }
            }
        }
    }
}

fn call(
    function: Function,
    arguments: &[Expression],
    variables: &Variables,
    random: &mut Stream,
) -> Result<Value, EvaluationError> {
    // Nearly all calls have up to three arguments; those are kept off the heap.
    let mut few = [Number::Int(0); 3];
    let mut many = Vec::new();
    for (index, argument) in arguments.iter().enumerate() {
        let Some(value) = number(&argument.evaluate(variables, random)?)? else {
            return Ok(Value::Null);
        };
        if arguments.len() <= few.len() {
            few[index] = value;
        } else {
            many.push(value);
        }
    }
    let numbers = if many.is_empty() {
        &few[..arguments.len()]
    } else {
        &many
    };
    function.apply(numbers, random).map(Value::from)
}

fn unary(operator: Unary, operand: &Value) -> Result<Value, EvaluationError> {
    if operator == Unary::IsNull {
        return Ok(Value::from(*operand == Value::Null));
    }
    let Some(operand) = number(operand)? else {
        return Ok(Value::Null);
    };
    Ok(match (operator, operand) {
        (Unary::Negate, Number::Int(value)) => {
            Value::Int(value.checked_neg().ok_or_else(out_of_range)?)
        }
        (Unary::Negate, Number::Double(value)) => Value::Double(-value),
        (Unary::Not, value) => Value::from(value.double() == 0.0),
        (Unary::Complement, value) => Value::Int(!value.int()?),
        (Unary::IsNull, _) => Value::from(false),
    })
}

/// The value if the left side alone decides it, so the right side is not evaluated.
fn decided_by(operator: Binary, left: &Value) -> Option<Value> {
    match (operator, truth(left)) {
        (Binary::And, Some(false)) => Some(Value::from(false)),
        (Binary::Or, Some(true)) => Some(Value::from(true)),
        (Binary::And | Binary::Or | Binary::Compare(_) | Binary::Compute(_), _) => None,
    }
}

/// SQL's three-valued truth: `None` for NULL.
fn truth(value: &Value) -> Option<bool> {
    (*value != Value::Null).then(|| value.is_true())
}

fn binary(operator: Binary, left: &Value, right: &Value) -> Result<Value, EvaluationError> {
    match operator {
        Binary::And => Ok(match (truth(left), truth(right)) {
            (Some(false), _) | (_, Some(false)) => Value::from(false),
            (Some(true), Some(true)) => Value::from(true),
            (None, _) | (_, None) => Value::Null,
        }),
        Binary::Or => Ok(match (truth(left), truth(right)) {
            (Some(true), _) | (_, Some(true)) => Value::from(true),
            (Some(false), Some(false)) => Value::from(false),
            (None, _) | (_, None) => Value::Null,
        }),
        Binary::Compare(operator) => compare(operator, left, right),
        Binary::Compute(operator) => {
            let (Some(left), Some(right)) = (number(left)?, number(right)?) else {
                return Ok(Value::Null);
            };
            arithmetic(operator, left, right).map(Value::from)
        }
    }
}

fn compare(operator: Comparison, left: &Value, right: &Value) -> Result<Value, EvaluationError> {
    let order = match (left, right) {
        (Value::Text(left), Value::Text(right)) => Some(left.cmp(right)),
        (left, right) => match (number(left)?, number(right)?) {
            (Some(Number::Int(left)), Some(Number::Int(right))) => Some(left.cmp(&right)),
            (Some(left), Some(right)) => left.double().partial_cmp(&right.double()),
            (None, _) | (_, None) => return Ok(Value::Null),
        },
    };
    // Without an order (NaN) the sides differ, and neither is less.
    let holds = match operator {
        Comparison::Equal => order == Some(Ordering::Equal),
        Comparison::NotEqual => order != Some(Ordering::Equal),
        Comparison::Less => order == Some(Ordering::Less),
        Comparison::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Comparison::Greater => order == Some(Ordering::Greater),
        Comparison::GreaterOrEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    };
    Ok(Value::from(holds))
}

fn arithmetic(
    operator: Arithmetic,
    left: Number,
    right: Number,
) -> Result<Number, EvaluationError> {
    if let (Number::Int(left), Number::Int(right)) = (left, right) {
        return int_arithmetic(operator, left, right).map(Number::Int);
    }
    let (x, y) = (left.double(), right.double());
    Ok(Number::Double(match operator {
        Arithmetic::Add => x + y,
        Arithmetic::Subtract => x - y,
        Arithmetic::Multiply => x * y,
        Arithmetic::Divide if y == 0.0 => return Err(EvaluationError::DivisionByZero),
        Arithmetic::Divide => x / y,
        // Remainder and bit operations work on whole numbers, as in pgbench.
        Arithmetic::Remainder
        | Arithmetic::BitOr
        | Arithmetic::BitXor
        | Arithmetic::BitAnd
        | Arithmetic::ShiftLeft
        | Arithmetic::ShiftRight => {
            return int_arithmetic(operator, left.int()?, right.int()?).map(Number::Int);
        }
    }))
}

fn int_arithmetic(operator: Arithmetic, left: i64, right: i64) -> Result<i64, EvaluationError> {
    let bits = |by: i64| u32::try_from(by).ok();
    let checked = match operator {
        Arithmetic::Add => left.checked_add(right),
        Arithmetic::Subtract => left.checked_sub(right),
        Arithmetic::Multiply => left.checked_mul(right),
        Arithmetic::Divide if right == 0 => return Err(EvaluationError::DivisionByZero),
        Arithmetic::Divide => left.checked_div(right),
        Arithmetic::Remainder => return remainder(left, right),
        Arithmetic::BitOr => Some(left | right),
        Arithmetic::BitXor => Some(left ^ right),
        Arithmetic::BitAnd => Some(left & right),
        Arithmetic::ShiftLeft => bits(right).and_then(|by| left.checked_shl(by)),
        Arithmetic::ShiftRight => bits(right).and_then(|by| left.checked_shr(by)),
    };
    checked.ok_or(EvaluationError::OutOfRange)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use model::random::stream;

    use super::super::super::variables::Names;
    use super::*;

    fn value(text: &str) -> Result<Value, EvaluationError> {
        let mut names = Names::new();
        let expression = Expression::parse(text, &mut |name| names.define(name)).expect(text);
        let mut variables = Variables::new(Arc::new(names), 2, 8);
        variables.set("half", Value::Double(0.5));
        expression.evaluate(&variables, &mut stream(1, "keys"))
    }

    #[test]
    fn operators_bind_as_in_pgbench() {
        for (text, expected) in [
            ("1 + 2 * 3", 7),
            ("(1 + 2) * 3", 9),
            ("10 - 4 - 3", 3),
            ("-7 / 2", -3),
            ("-7 % 3", -1),
            ("- 2 * 3", -6),
            ("1 + 1 << 2", 8),
            ("1 + 2 = 3", 1),
            ("not 1 = 2", 1),
            ("not 1 = 1 or 1 = 1", 1),
            ("1 = 1 or 1 / 0 = 1", 1),
            ("1 = 2 and 1 / 0 = 1", 0),
            ("5 & 3 # 1", 0),
            ("null is null and 1 is not null", 1),
            ("case when :session = 2 then 10 else 20 end", 10),
            ("case when 1 < 2 then 1 + 1 end * 2", 4),
            ("mod(17, 5) + abs(-3)", 5),
            ("least(4, 2, 9) + max(1, 7)", 9),
            ("int(sqrt(16)) + int(:half * 4)", 6),
            (":sessions - 1", 7),
        ] {
            assert_eq!(value(text), Ok(Value::Int(expected)), "{text}");
        }
    }

    #[test]
    fn a_double_on_either_side_makes_a_double() {
        assert_eq!(value("1 / 2.0"), Ok(Value::Double(0.5)));
        assert_eq!(value("greatest(1, 2.5)"), Ok(Value::Double(2.5)));
        assert_eq!(value("1e3 + .5"), Ok(Value::Double(1_000.5)));
    }

    #[test]
    fn null_spreads_but_does_not_hide_a_certain_answer() {
        assert_eq!(value("null + 1"), Ok(Value::Null));
        assert_eq!(value("null and 0"), Ok(Value::from(false)));
        assert_eq!(value("null or 1"), Ok(Value::from(true)));
        assert_eq!(value("case when null then 1 end"), Ok(Value::Null));
    }

    #[test]
    fn arithmetic_that_has_no_answer_is_an_error() {
        assert_eq!(value("1 / 0"), Err(EvaluationError::DivisionByZero));
        assert_eq!(
            value("9223372036854775807 + 1"),
            Err(EvaluationError::OutOfRange)
        );
        assert_eq!(value("int(1e30)"), Err(EvaluationError::OutOfRange));
        assert_eq!(
            value("random(2, 1)"),
            Err(EvaluationError::EmptyRange { low: 2, high: 1 })
        );
        assert!(matches!(
            value("random_zipfian(1, 10, 0.5)"),
            Err(EvaluationError::Shape { .. })
        ));
        assert_eq!(
            value("1 + :unknown"),
            Err(EvaluationError::Unset {
                name: "unknown".to_owned()
            })
        );
    }
}
