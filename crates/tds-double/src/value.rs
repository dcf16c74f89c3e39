//! Values and their types on the wire: TYPE_INFO and the value after it.
//!
//! Layouts: [MS-TDS] 2.2.5.4 (data types) and 2.2.5.5 (what precedes a value).
//!
//! [MS-TDS]: https://learn.microsoft.com/en-us/openspecs/windows_protocols/ms-tds/b46a581a-39de-4745-b076-ec4dbb7d13ec

use crate::wire::{Cursor, Violation, put_chars, put_name};

/// A value of a row, of a parameter or of a return value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// NULL of any type.
    Null,
    /// `bit`.
    Bit(bool),
    /// `tinyint`, `smallint`, `int` or `bigint`: the column's or parameter's [`Kind`] says which.
    Int(i64),
    /// `float` or `real`.
    Float(f64),
    /// `nvarchar`, or `varchar` of a client that sends it.
    Text(String),
    /// `varbinary`.
    Bytes(Vec<u8>),
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bit(value)
    }
}

impl From<i32> for Value {
    fn from(value: i32) -> Value {
        Value::Int(value.into())
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Value {
        Value::Int(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Value {
        Value::Float(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Value {
        Value::Text(value.to_owned())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Value {
        Value::Text(value)
    }
}

impl From<&[u8]> for Value {
    fn from(value: &[u8]) -> Value {
        Value::Bytes(value.to_owned())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Null, Into::into)
    }
}

/// A type of SQL Server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `bit`
    Bit,
    /// `tinyint`, 0 to 255
    TinyInt,
    /// `smallint`
    SmallInt,
    /// `int`
    Int,
    /// `bigint`
    BigInt,
    /// `real`, accepted as a parameter and sent as one
    Real,
    /// `float`
    Float,
    /// `nvarchar(n)`, n from 1 to 4000
    Text(u16),
    /// `nvarchar(max)`
    TextMax,
    /// `varbinary(n)`, n from 1 to 8000
    Bytes(u16),
    /// `varbinary(max)`
    BytesMax,
}

const INT1: u8 = 0x30;
const BIT: u8 = 0x32;
const INT2: u8 = 0x34;
const INT4: u8 = 0x38;
const REAL: u8 = 0x3B;
const FLOAT: u8 = 0x3E;
const INT8: u8 = 0x7F;
const NULL: u8 = 0x1F;
const INT_N: u8 = 0x26;
const NTEXT: u8 = 0x63;
const BIT_N: u8 = 0x68;
const FLOAT_N: u8 = 0x6D;
const VARBINARY: u8 = 0xA5;
const VARCHAR: u8 = 0xA7;
const BINARY: u8 = 0xAD;
const CHAR: u8 = 0xAF;
const NVARCHAR: u8 = 0xE7;
const NCHAR: u8 = 0xEF;

/// SQL_Latin1_General_CP1_CI_AS, the collation of an English installation: LCID 0x0409, ignore case, kana
/// and width, sort order 52.
pub(crate) const COLLATION: [u8; 5] = [0x09, 0x04, 0xD0, 0x00, 0x34];

/// Maximum length of a type that means `(max)`, and the length of a NULL.
const MAX: u16 = 0xFFFF;
const PLP_NULL: u64 = u64::MAX;
const PLP_UNKNOWN: u64 = u64::MAX - 1;
/// Values of `(max)` types are sent in pieces of this many bytes, so that clients have pieces to join.
const PLP_PIECE: usize = 8000;

impl Kind {
    /// Its name in T-SQL.
    pub fn name(self) -> String {
        match self {
            Kind::Bit => "bit".to_owned(),
            Kind::TinyInt => "tinyint".to_owned(),
            Kind::SmallInt => "smallint".to_owned(),
            Kind::Int => "int".to_owned(),
            Kind::BigInt => "bigint".to_owned(),
            Kind::Real => "real".to_owned(),
            Kind::Float => "float".to_owned(),
            Kind::Text(length) => format!("nvarchar({length})"),
            Kind::TextMax => "nvarchar(max)".to_owned(),
            Kind::Bytes(length) => format!("varbinary({length})"),
            Kind::BytesMax => "varbinary(max)".to_owned(),
        }
    }

    /// TYPE_INFO. A column that cannot be NULL has a type of fixed length, as SQL Server sends it.
    pub(crate) fn put(self, nullable: bool, out: &mut Vec<u8>) {
        match (self, nullable) {
            (Kind::Bit, true) => out.extend([BIT_N, 1]),
            (Kind::TinyInt, true) => out.extend([INT_N, 1]),
            (Kind::SmallInt, true) => out.extend([INT_N, 2]),
            (Kind::Int, true) => out.extend([INT_N, 4]),
            (Kind::BigInt, true) => out.extend([INT_N, 8]),
            (Kind::Real, true) => out.extend([FLOAT_N, 4]),
            (Kind::Float, true) => out.extend([FLOAT_N, 8]),
            (Kind::Bit, false) => out.push(BIT),
            (Kind::TinyInt, false) => out.push(INT1),
            (Kind::SmallInt, false) => out.push(INT2),
            (Kind::Int, false) => out.push(INT4),
            (Kind::BigInt, false) => out.push(INT8),
            (Kind::Real, false) => out.push(REAL),
            (Kind::Float, false) => out.push(FLOAT),
            (Kind::Text(length), _) => {
                assert!((1..=4000).contains(&length), "nvarchar({length})");
                out.push(NVARCHAR);
                out.extend((length * 2).to_le_bytes());
                out.extend(COLLATION);
            }
            (Kind::TextMax, _) => {
                out.push(NVARCHAR);
                out.extend(MAX.to_le_bytes());
                out.extend(COLLATION);
            }
            (Kind::Bytes(length), _) => {
                assert!((1..=8000).contains(&length), "varbinary({length})");
                out.push(VARBINARY);
                out.extend(length.to_le_bytes());
            }
            (Kind::BytesMax, _) => {
                out.push(VARBINARY);
                out.extend(MAX.to_le_bytes());
            }
        }
    }

    /// Encodes a value of this type. Mistakes of the model stop here: a value that the type cannot hold panics.
    pub(crate) fn put_value(self, value: &Value, nullable: bool, out: &mut Vec<u8>) {
        assert!(
            nullable || *value != Value::Null,
            "NULL in a column that has none"
        );
        match (self, value) {
            (Kind::Text(_) | Kind::Bytes(_), Value::Null) => out.extend(MAX.to_le_bytes()),
            (Kind::TextMax | Kind::BytesMax, Value::Null) => out.extend(PLP_NULL.to_le_bytes()),
            (_, Value::Null) => out.push(0),
            (Kind::Bit, Value::Bit(value)) => put_fixed(&[u8::from(*value)], nullable, out),
            (Kind::TinyInt, Value::Int(value)) => {
                let value = u8::try_from(*value).expect("a tinyint");
                put_fixed(&[value], nullable, out);
            }
            (Kind::SmallInt, Value::Int(value)) => {
                let value = i16::try_from(*value).expect("a smallint");
                put_fixed(&value.to_le_bytes(), nullable, out);
            }
            (Kind::Int, Value::Int(value)) => {
                let value = i32::try_from(*value).expect("an int");
                put_fixed(&value.to_le_bytes(), nullable, out);
            }
            (Kind::BigInt, Value::Int(value)) => put_fixed(&value.to_le_bytes(), nullable, out),
            (Kind::Real, Value::Float(value)) => {
                put_fixed(&(*value as f32).to_le_bytes(), nullable, out);
            }
            (Kind::Float, Value::Float(value)) => put_fixed(&value.to_le_bytes(), nullable, out),
            (Kind::Text(length), Value::Text(text)) => {
                let count = text.encode_utf16().count();
                assert!(
                    count <= length.into(),
                    "{count} in nvarchar({length}): {text}"
                );
                out.extend((count as u16 * 2).to_le_bytes());
                put_chars(text, out);
            }
            (Kind::TextMax, Value::Text(text)) => {
                let mut bytes = Vec::with_capacity(text.len() * 2);
                put_chars(text, &mut bytes);
                put_pieces(&bytes, out);
            }
            (Kind::Bytes(length), Value::Bytes(bytes)) => {
                let count = bytes.len();
                assert!(count <= length.into(), "{count} in varbinary({length})");
                out.extend((count as u16).to_le_bytes());
                out.extend(bytes);
            }
            (Kind::BytesMax, Value::Bytes(bytes)) => put_pieces(bytes, out),
            (kind, value) => panic!("{value:?} in a column of type {}", kind.name()),
        }
    }
}

fn put_fixed(bytes: &[u8], nullable: bool, out: &mut Vec<u8>) {
    if nullable {
        out.push(bytes.len() as u8);
    }
    out.extend(bytes);
}

fn put_pieces(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend((bytes.len() as u64).to_le_bytes());
    for piece in bytes.chunks(PLP_PIECE) {
        out.extend((piece.len() as u32).to_le_bytes());
        out.extend(piece);
    }
    out.extend(0_u32.to_le_bytes());
}

/// A parameter of a request by name or number.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// With its `@`, or empty where the client sent none and no declaration names it.
    pub name: String,
    /// As declared by the client on the wire.
    pub kind: Kind,
    /// The value that was sent.
    pub value: Value,
    /// Whether the client wants its value returned.
    pub output: bool,
}

impl Parameter {
    /// Parses one: name, flags, type and value.
    pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<Parameter, Violation> {
        let name = cursor.name()?;
        let flags = cursor.u8()?;
        let (kind, value) = read_typed(cursor)?;
        Ok(Parameter {
            name,
            kind,
            value,
            output: flags & 1 != 0,
        })
    }

    /// RETURNVALUE: the returned value of an output parameter.
    pub(crate) fn put_return(&self, ordinal: u16, out: &mut Vec<u8>) {
        out.push(0xAC);
        out.extend(ordinal.to_le_bytes());
        put_name(&self.name, out);
        out.push(1); // an output parameter, not the result of a function
        out.extend(0_u32.to_le_bytes()); // no user type
        out.extend(1_u16.to_le_bytes()); // nullable
        self.kind.put(true, out);
        self.kind.put_value(&self.value, true, out);
    }
}

fn read_typed(cursor: &mut Cursor<'_>) -> Result<(Kind, Value), Violation> {
    let code = cursor.u8()?;
    match code {
        NULL => Ok((Kind::Text(1), Value::Null)),
        BIT => Ok((Kind::Bit, Value::Bit(cursor.u8()? != 0))),
        INT1 => integer(cursor, 1),
        INT2 => integer(cursor, 2),
        INT4 => integer(cursor, 4),
        INT8 => integer(cursor, 8),
        REAL => float(cursor, 4),
        FLOAT => float(cursor, 8),
        INT_N | BIT_N | FLOAT_N => {
            let (declared, length) = (cursor.u8()?, cursor.u8()?);
            if length != 0 && length != declared {
                let text = format!("{length} bytes in a type of {declared}");
                return Err(Violation::new(text));
            }
            let (kind, value) = match (code, length) {
                (BIT_N, 1) => return Ok((Kind::Bit, Value::Bit(cursor.u8()? != 0))),
                (BIT_N, _) => (Kind::Bit, Value::Null),
                (INT_N, 0) => (integer_kind(declared)?, Value::Null),
                (INT_N, length) => return integer(cursor, length),
                (_, 0) => (float_kind(declared)?, Value::Null),
                (_, length) => return float(cursor, length),
            };
            Ok((kind, value))
        }
        NVARCHAR | NCHAR | VARCHAR | CHAR | VARBINARY | BINARY => read_sized(cursor, code),
        NTEXT => {
            cursor.u32()?;
            cursor.take(5)?;
            let value = match cursor.u32()? {
                u32::MAX => Value::Null,
                length => Value::Text(chars(cursor.take(length as usize)?)?),
            };
            Ok((Kind::TextMax, value))
        }
        other => Err(Violation::new(format!(
            "a parameter of type {other:#04x}, which the double does not read"
        ))),
    }
}

/// Types with a maximum length of 16 bits, the largest of which means `(max)`.
fn read_sized(cursor: &mut Cursor<'_>, code: u8) -> Result<(Kind, Value), Violation> {
    let declared = cursor.u16()?;
    let binary = matches!(code, VARBINARY | BINARY);
    if !binary {
        cursor.take(5)?;
    }
    let bytes = if declared == MAX {
        read_pieces(cursor)?
    } else {
        match cursor.u16()? {
            MAX => None,
            length if length > declared => {
                return Err(Violation::new(format!(
                    "{length} bytes in a type of {declared}"
                )));
            }
            length => Some(cursor.take(length.into())?.to_vec()),
        }
    };
    let wide = matches!(code, NVARCHAR | NCHAR);
    let kind = match (declared, binary) {
        (MAX, true) => Kind::BytesMax,
        (MAX, false) => Kind::TextMax,
        (declared, true) => Kind::Bytes(declared.clamp(1, 8000)),
        (declared, false) if wide => Kind::Text((declared / 2).clamp(1, 4000)),
        (declared, false) => Kind::Text(declared.clamp(1, 4000)),
    };
    let value = match bytes {
        None => Value::Null,
        Some(bytes) if binary => Value::Bytes(bytes),
        Some(bytes) if wide => Value::Text(chars(&bytes)?),
        Some(bytes) if bytes.is_ascii() => {
            Value::Text(bytes.iter().map(|byte| char::from(*byte)).collect())
        }
        Some(_) => {
            return Err(Violation::new(
                "varchar beyond ASCII, which the double does not read",
            ));
        }
    };
    Ok((kind, value))
}

fn read_pieces(cursor: &mut Cursor<'_>) -> Result<Option<Vec<u8>>, Violation> {
    let total = cursor.u64()?;
    if total == PLP_NULL {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    loop {
        match cursor.u32()? {
            0 => break,
            length => bytes.extend(cursor.take(length as usize)?),
        }
    }
    if total != PLP_UNKNOWN && total != bytes.len() as u64 {
        let text = format!("{} bytes in pieces, announced as {total}", bytes.len());
        return Err(Violation::new(text));
    }
    Ok(Some(bytes))
}

fn integer_kind(length: u8) -> Result<Kind, Violation> {
    match length {
        1 => Ok(Kind::TinyInt),
        2 => Ok(Kind::SmallInt),
        4 => Ok(Kind::Int),
        8 => Ok(Kind::BigInt),
        other => Err(Violation::new(format!("an integer of {other} bytes"))),
    }
}

fn integer(cursor: &mut Cursor<'_>, length: u8) -> Result<(Kind, Value), Violation> {
    let kind = integer_kind(length)?;
    let value = match length {
        1 => cursor.u8()?.into(),
        2 => (cursor.u16()? as i16).into(),
        4 => (cursor.u32()? as i32).into(),
        _ => cursor.u64()? as i64,
    };
    Ok((kind, Value::Int(value)))
}

fn float_kind(length: u8) -> Result<Kind, Violation> {
    match length {
        4 => Ok(Kind::Real),
        8 => Ok(Kind::Float),
        other => Err(Violation::new(format!("a float of {other} bytes"))),
    }
}

fn float(cursor: &mut Cursor<'_>, length: u8) -> Result<(Kind, Value), Violation> {
    let kind = float_kind(length)?;
    let value = match length {
        4 => f32::from_bits(cursor.u32()?).into(),
        _ => f64::from_bits(cursor.u64()?),
    };
    Ok((kind, Value::Float(value)))
}

fn chars(bytes: &[u8]) -> Result<String, Violation> {
    Cursor::new(bytes).chars_of(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(kind: Kind, value: Value) -> (Kind, Value) {
        let mut out = Vec::new();
        kind.put(true, &mut out);
        kind.put_value(&value, true, &mut out);
        let mut cursor = Cursor::new(&out);
        let read = read_typed(&mut cursor).expect("what was written");
        assert!(cursor.is_empty(), "{kind:?} {value:?} left bytes");
        read
    }

    #[test]
    fn every_type_and_its_null_come_back() {
        let long = "ä".repeat(9000);
        let cases = [
            (Kind::Bit, Value::Bit(true)),
            (Kind::TinyInt, Value::Int(255)),
            (Kind::SmallInt, Value::Int(-2)),
            (Kind::Int, Value::Int(i32::MIN.into())),
            (Kind::BigInt, Value::Int(i64::MAX)),
            (Kind::Real, Value::Float(0.5)),
            (Kind::Float, Value::Float(0.1)),
            (Kind::Text(3), Value::from("ü€x")),
            (Kind::Text(3), Value::from("")),
            (Kind::TextMax, Value::from(long)),
            (Kind::TextMax, Value::from("")),
            (Kind::Bytes(2), Value::Bytes(vec![0, 255])),
            (Kind::BytesMax, Value::Bytes(vec![7; 20_000])),
        ];
        for (kind, value) in cases {
            assert_eq!(round(kind, value.clone()), (kind, value));
            assert_eq!(round(kind, Value::Null), (kind, Value::Null));
        }
    }

    #[test]
    fn pieces_that_do_not_sum_to_their_announcement_are_refused() {
        let mut out = Vec::new();
        Kind::BytesMax.put(true, &mut out);
        Kind::BytesMax.put_value(&Value::Bytes(vec![1, 2, 3]), true, &mut out);
        let announced = 3; // after the type and its length of two bytes
        out[announced] = 4;
        let error = read_typed(&mut Cursor::new(&out)).expect_err("3 is not 4");
        assert!(error.to_string().contains("announced as 4"), "{error}");
    }

    #[test]
    #[should_panic(expected = "5 in nvarchar(4)")]
    fn a_text_longer_than_its_column_is_the_models_mistake() {
        Kind::Text(4).put_value(&Value::from("abcde"), true, &mut Vec::new());
    }
}
