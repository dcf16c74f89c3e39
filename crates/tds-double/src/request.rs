//! Requests after the login: batches, calls, transactions.
//!
//! Layouts: [MS-TDS](https://learn.microsoft.com/en-us/openspecs/windows_protocols/ms-tds/b46a581a-39de-4745-b076-ec4dbb7d13ec)
//! 2.2.6.7 (batch), 2.2.6.6 (call), 2.2.6.9 (transaction), 2.2.5.3 (headers of all of them).

use crate::value::{Kind, Parameter, Value};
use crate::wire::{Cursor, Violation};

const HEADER_TRANSACTION: u16 = 2;
/// Separates calls in one request: execute, or execute only if the previous call did not fail.
const NEXT_CALL: [u8; 2] = [0xFF, 0x80];

/// The headers of every request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Headers {
    /// The client's current transaction; 0 for none.
    pub(crate) transaction: u64,
}

impl Headers {
    fn read(cursor: &mut Cursor<'_>) -> Result<Headers, Violation> {
        let total = cursor.u32()? as usize;
        let rest = total.checked_sub(4);
        let rest = rest.ok_or_else(|| Violation::new(format!("headers of {total} bytes")))?;
        let mut headers = Cursor::new(cursor.take(rest)?);
        let mut transaction = None;
        while !headers.is_empty() {
            let length = headers.u32()? as usize;
            let length = length.checked_sub(6);
            let length = length.ok_or_else(|| Violation::new("a header shorter than itself"))?;
            let kind = headers.u16()?;
            let mut content = Cursor::new(headers.take(length)?);
            match kind {
                HEADER_TRANSACTION => {
                    transaction = Some(content.u64()?);
                    content.u32()?; // requests under way on this connection
                }
                1 | 3 => {} // query notifications, tracing
                other => return Err(Violation::new(format!("a header of type {other}"))),
            }
        }
        let transaction =
            transaction.ok_or_else(|| Violation::new("no transaction descriptor header"))?;
        Ok(Headers { transaction })
    }
}

/// Parses the text of a batch.
pub(crate) fn batch(body: &[u8]) -> Result<(Headers, String), Violation> {
    let mut cursor = Cursor::new(body);
    let headers = Headers::read(&mut cursor)?;
    Ok((headers, cursor.rest_chars()?))
}

/// A call of a procedure.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call {
    pub(crate) procedure: String,
    pub(crate) parameters: Vec<Parameter>,
}

/// Parses the calls of a request: usually one.
pub(crate) fn calls(body: &[u8]) -> Result<(Headers, Vec<Call>), Violation> {
    let mut cursor = Cursor::new(body);
    let headers = Headers::read(&mut cursor)?;
    let mut calls = Vec::new();
    loop {
        let procedure = match cursor.u16()? {
            0xFFFF => by_number(cursor.u16()?)?,
            count => cursor.chars_of(usize::from(count) * 2)?,
        };
        cursor.u16()?; // recompile, no metadata
        let mut parameters = Vec::new();
        while cursor.peek().is_some_and(|next| !NEXT_CALL.contains(&next)) {
            parameters.push(Parameter::read(&mut cursor)?);
        }
        calls.push(Call {
            procedure,
            parameters,
        });
        if cursor.is_empty() {
            return Ok((headers, calls));
        }
        cursor.u8()?;
        // Some clients end the last call with a separator.
        if cursor.is_empty() {
            return Ok((headers, calls));
        }
    }
}

fn by_number(number: u16) -> Result<String, Violation> {
    let name = match number {
        1 => "sp_cursor",
        2 => "sp_cursoropen",
        3 => "sp_cursorprepare",
        4 => "sp_cursorexecute",
        5 => "sp_cursorprepexec",
        6 => "sp_cursorunprepare",
        7 => "sp_cursorfetch",
        8 => "sp_cursoroption",
        9 => "sp_cursorclose",
        10 => "sp_executesql",
        11 => "sp_prepare",
        12 => "sp_execute",
        13 => "sp_prepexec",
        14 => "sp_prepexecrpc",
        15 => "sp_unprepare",
        other => {
            return Err(Violation::new(format!(
                "a call of procedure number {other}"
            )));
        }
    };
    Ok(name.to_owned())
}

/// A transaction manager request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Manage {
    Begin,
    /// Whether to begin the next one immediately.
    Commit {
        begin: bool,
    },
    Rollback {
        begin: bool,
    },
}

/// Parses a transaction manager request. Isolation levels are not interpreted.
pub(crate) fn transaction(body: &[u8]) -> Result<(Headers, Manage), Violation> {
    let mut cursor = Cursor::new(body);
    let headers = Headers::read(&mut cursor)?;
    let kind = cursor.u16()?;
    let manage = match kind {
        5 => {
            cursor.u8()?; // isolation level
            cursor.name()?;
            Manage::Begin
        }
        7 | 8 => {
            cursor.name()?;
            let begin = cursor.u8()? & 1 != 0;
            if begin {
                cursor.u8()?;
                cursor.name()?;
            }
            if kind == 7 {
                Manage::Commit { begin }
            } else {
                Manage::Rollback { begin }
            }
        }
        other => {
            return Err(Violation::new(format!(
                "a transaction request of type {other}"
            )));
        }
    };
    match cursor.is_empty() {
        true => Ok((headers, manage)),
        false => Err(Violation::new("bytes after a transaction request")),
    }
}

/// A text with its declared parameters, from `sp_executesql` and its relatives.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Statement {
    pub(crate) text: String,
    /// Names and types.
    pub(crate) declared: Vec<(String, String)>,
}

impl Statement {
    pub(crate) fn new(text: &Value, declarations: &Value) -> Result<Statement, Violation> {
        let declared = match declarations {
            Value::Null => Vec::new(),
            Value::Text(declarations) => declarations_of(declarations)?,
            other => {
                return Err(Violation::new(format!(
                    "{other:?} in place of declarations"
                )));
            }
        };
        match text {
            Value::Text(text) => Ok(Statement {
                text: text.clone(),
                declared,
            }),
            other => Err(Violation::new(format!("{other:?} in place of a text"))),
        }
    }

    /// The values under their declared names and as their declared types, or SQL Server's error for those that do not
    /// fit.
    pub(crate) fn bind(&self, values: &[Parameter]) -> Result<Vec<Parameter>, (u32, String)> {
        if values.len() > self.declared.len() {
            let text = "Procedure or function has too many arguments specified.".to_owned();
            return Err((8144, text));
        }
        let mut bound = Vec::new();
        for (place, (name, declared)) in self.declared.iter().enumerate() {
            let same = |value: &&Parameter| value.name.eq_ignore_ascii_case(name);
            let unnamed = values.get(place).filter(|value| value.name.is_empty());
            let Some(value) = values.iter().find(same).or(unnamed) else {
                let text = format!(
                    "The parameterized query '{}' expects the parameter '{name}', which was not supplied.",
                    self.text
                );
                return Err((8178, text));
            };
            let value = Parameter {
                name: name.clone(),
                ..value.clone()
            };
            bound.push(converted(value, declared));
        }
        Ok(bound)
    }
}

/// A value converted to the type that its statement was prepared with: text is truncated to `nvarchar(n)`, and a number
/// to six digits. Source: Microsoft, "CAST and CONVERT", "float and real styles" and "Truncate and round results", read
/// 2026-11-26.
fn converted(parameter: Parameter, declared: &str) -> Parameter {
    let declared = declared.to_ascii_lowercase();
    let length = declared.trim().strip_prefix("nvarchar(");
    let length = length.and_then(|rest| rest.split(')').next()?.parse::<u16>().ok());
    let Some(length) = length else {
        return parameter;
    };
    let text = match &parameter.value {
        Value::Float(value) => format!("{value:.6}"),
        Value::Text(text) => text.clone(),
        Value::Null | Value::Bit(_) | Value::Int(_) | Value::Bytes(_) => return parameter,
    };
    let units: Vec<u16> = text.encode_utf16().take(length.into()).collect();
    Parameter {
        kind: Kind::Text(length),
        value: Value::Text(String::from_utf16_lossy(&units)),
        ..parameter
    }
}

/// `@P1 int, @x decimal(10, 2) OUTPUT` declares `@P1` and `@x`; returns names with the text behind them.
fn declarations_of(declarations: &str) -> Result<Vec<(String, String)>, Violation> {
    let mut depth = 0_i32;
    let parts = declarations.split(|letter| {
        depth += match letter {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        letter == ',' && depth == 0
    });
    let parts: Vec<&str> = parts.map(str::trim).collect();
    if parts == [""] {
        return Ok(Vec::new());
    }
    let name = |part: &&str| match part.split_whitespace().collect::<Vec<_>>()[..] {
        [name, ref kind @ ..] if name.starts_with('@') && !kind.is_empty() => {
            Ok((name.to_owned(), kind.join(" ")))
        }
        _ => Err(Violation::new(format!("\"{part}\" declares no parameter"))),
    };
    parts.iter().map(name).collect()
}

/// An integer that a procedure expects at a position.
pub(crate) fn integer(parameter: Option<&Parameter>, what: &str) -> Result<i32, Violation> {
    match parameter.map(|parameter| (&parameter.value, parameter.kind)) {
        Some((Value::Int(value), Kind::Int)) => Ok(*value as i32),
        other => Err(Violation::new(format!("{other:?} in place of {what}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(transaction: u64) -> Vec<u8> {
        let mut out = 22_u32.to_le_bytes().to_vec();
        out.extend(18_u32.to_le_bytes());
        out.extend(2_u16.to_le_bytes());
        out.extend(transaction.to_le_bytes());
        out.extend(1_u32.to_le_bytes());
        out
    }

    fn int(name: &str, value: i64) -> Parameter {
        Parameter {
            name: name.to_owned(),
            kind: Kind::Int,
            value: Value::Int(value),
            output: false,
        }
    }

    #[test]
    fn a_batch_has_a_transaction_and_a_text() {
        let mut body = headers(7);
        body.extend("SELECT 1".encode_utf16().flat_map(u16::to_le_bytes));
        let (headers, text) = batch(&body).expect("valid");
        assert_eq!((headers.transaction, text.as_str()), (7, "SELECT 1"));
    }

    #[test]
    fn a_batch_without_its_transaction_is_refused() {
        let mut body = 4_u32.to_le_bytes().to_vec();
        body.extend("SELECT 1".encode_utf16().flat_map(u16::to_le_bytes));
        assert!(batch(&body).is_err());
    }

    #[test]
    fn calls_by_number_and_by_name_share_a_request() {
        let mut body = headers(0);
        body.extend([0xFF, 0xFF, 12, 0, 0, 0]);
        body.extend([0, 0, 0x38, 5, 0, 0, 0]); // no name, no flags, int, 5
        body.push(0x80);
        body.extend([4, 0]);
        body.extend("xp_y".encode_utf16().flat_map(u16::to_le_bytes));
        body.extend([0, 0]);
        let (_, calls) = calls(&body).expect("valid");
        let call = |procedure: &str, parameters| Call {
            procedure: procedure.to_owned(),
            parameters,
        };
        assert_eq!(
            calls,
            [
                call("sp_execute", vec![int("", 5)]),
                call("xp_y", Vec::new())
            ]
        );
    }

    #[test]
    fn a_commit_may_begin_the_next_transaction() {
        let mut body = headers(9);
        body.extend([7, 0, 0, 1, 2, 0]);
        let expected = Manage::Commit { begin: true };
        assert_eq!(transaction(&body).expect("valid").1, expected);
    }

    #[test]
    fn values_are_bound_by_name_else_by_place_and_have_to_be_as_many_as_declared() {
        let text = Value::from("SELECT @a, @b");
        let declarations = Value::from("@a int, @b decimal(10, 2) OUTPUT");
        let prepared = Statement::new(&text, &declarations).expect("valid");
        let names = prepared.declared.iter().map(|(name, _)| name.as_str());
        assert!(names.eq(["@a", "@b"]));
        let swapped = prepared.bind(&[int("@B", 2), int("@A", 1)]).expect("both");
        assert_eq!(swapped, [int("@a", 1), int("@b", 2)]);
        let placed = prepared.bind(&[int("", 1), int("", 2)]).expect("both");
        assert_eq!(placed, [int("@a", 1), int("@b", 2)]);
        let number = |values: &[Parameter]| prepared.bind(values).expect_err("refused").0;
        assert_eq!(number(&[int("", 1)]), 8178);
        assert_eq!(number(&[int("", 1), int("", 2), int("", 3)]), 8144);
    }
}
