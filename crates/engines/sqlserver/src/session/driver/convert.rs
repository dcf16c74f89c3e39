//! Values, messages and errors of the client library, in our terms and back.

use mssql_tds::datatypes::column_values::ColumnValues;
use mssql_tds::datatypes::sql_string::{EncodingType, SqlString};
use mssql_tds::datatypes::sqltypes::SqlType;
use mssql_tds::error::{Error, SqlErrorInfo, SqlInfoMessage};
use mssql_tds::message::parameters::rpc_parameters::{RpcParameter, StatusFlags};
use rules::said;

use crate::session::{Argument, Cell, Failure, Message};

/// Longest `nvarchar` that is not `max`.
const WORD_MAX: usize = 4000;

/// The type that an argument is declared as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Declared {
    BigInt,
    Float,
    Word,
    Text,
}

impl Declared {
    pub(super) fn of(argument: &Argument) -> Declared {
        match argument {
            Argument::Int(_) => Declared::BigInt,
            Argument::Float(_) => Declared::Float,
            Argument::Null => Declared::Word,
            Argument::Text(text) if text.encode_utf16().count() > WORD_MAX => Declared::Text,
            Argument::Text(_) => Declared::Word,
        }
    }
}

pub(super) fn cell(value: ColumnValues) -> Cell {
    match value {
        ColumnValues::Null => Cell::Null,
        ColumnValues::Bit(value) => Cell::Int(value.into()),
        ColumnValues::TinyInt(value) => Cell::Int(value.into()),
        ColumnValues::SmallInt(value) => Cell::Int(value.into()),
        ColumnValues::Int(value) => Cell::Int(value.into()),
        ColumnValues::BigInt(value) => Cell::Int(value),
        ColumnValues::Real(value) => Cell::Float(value.into()),
        ColumnValues::Float(value) => Cell::Float(value),
        ColumnValues::String(text) => Cell::Text(decoded(&text)),
        // Sizes in RESTORE's answers.
        ColumnValues::Decimal(value) | ColumnValues::Numeric(value) if value.scale == 0 => {
            value.to_string().parse().map_or(Cell::Other, Cell::Int)
        }
        _ => Cell::Other,
    }
}

/// Decodes a text. The library's own conversion panics on invalid UTF-8 in a column with a UTF-8 collation.
fn decoded(text: &SqlString) -> String {
    match text.encoding_type() {
        EncodingType::Utf8 => String::from_utf8_lossy(&text.bytes).into_owned(),
        _ => text.to_utf8_string(),
    }
}

pub(super) fn argument(number: usize, value: &Argument) -> RpcParameter {
    let value = match value {
        Argument::Null => SqlType::NVarchar(None, 4000),
        Argument::Int(value) => SqlType::BigInt(Some(*value)),
        Argument::Float(value) => SqlType::Float(Some(*value)),
        Argument::Text(text) => {
            let declared = Declared::of(value);
            let text = Some(SqlString::from_utf8_string(text.clone()));
            match declared {
                Declared::Text => SqlType::NVarcharMax(text),
                Declared::BigInt | Declared::Float | Declared::Word => {
                    SqlType::NVarchar(text, 4000)
                }
            }
        }
    };
    RpcParameter::new(Some(format!("@p{number}")), StatusFlags::NONE, value)
}

/// Whether the client may have stopped in the middle of a response without noticing.
pub(super) fn is_out_of_step(error: &Error) -> bool {
    matches!(
        error,
        Error::ProtocolError(_)
            | Error::UsageError(_)
            | Error::ImplementationError(_)
            | Error::UnimplementedFeature { .. }
            | Error::TypeConversionError(_)
    )
}

/// The client's error for a server without encryption.
fn has_no_tls(text: &str) -> bool {
    [
        "Server does not support encryption",
        "Server disallowed encryption",
    ]
    .iter()
    .any(|start| text.starts_with(start))
}

pub(super) fn failure(error: Error) -> Failure {
    match error {
        Error::SqlServerError { diagnostics } => {
            Failure::Refused(diagnostics.errors.into_iter().map(Message::from).collect())
        }
        Error::TimeoutError(_) => Failure::Timeout,
        Error::OperationCancelledError(_) => Failure::Cancelled,
        Error::ProtocolError(text) if has_no_tls(&text) => Failure::NoEncryption,
        error if is_out_of_step(&error) => Failure::OutOfStep(error.to_string()),
        other => Failure::Lost(other.to_string()),
    }
}

impl From<SqlErrorInfo> for Message {
    fn from(error: SqlErrorInfo) -> Message {
        let (number, class, state) = (error.number, error.class, error.state);
        message(number, class, state, error.line_number, &error.message)
    }
}

impl From<SqlInfoMessage> for Message {
    fn from(info: SqlInfoMessage) -> Message {
        let (number, class, state) = (info.number, info.class, info.state);
        message(number, class, state, info.line_number, &info.message)
    }
}

fn message(number: u32, class: i32, state: u8, line: Option<i32>, text: &str) -> Message {
    Message {
        number,
        class: u8::try_from(class).unwrap_or(u8::MAX),
        state,
        line: line.and_then(|line| line.try_into().ok()).unwrap_or(0),
        text: said(text),
    }
}
