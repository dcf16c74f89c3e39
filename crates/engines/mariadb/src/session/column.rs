//! A column of a result, as the server defines it.

use crate::session::parse::Bytes;

/// A column of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: ColumnKind,
}

/// Type of a column, as far as it matters for arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    /// A whole number.
    Int,
    /// A number with a fraction that is stored in binary.
    Double,
    /// A text, and types that a text argument is converted to: decimals, dates.
    Text,
    /// Bytes.
    Bytes,
}

impl Column {
    /// Parses a column definition. Source:
    /// <https://mariadb.com/docs/server/reference/clientserver-protocol/4-server-response-packets/result-set-packets> and
    /// `enum_field_types` there, read 2026-11-26.
    pub(crate) fn of(packet: &[u8]) -> Option<Column> {
        let mut rest = Bytes(packet);
        // Catalogue, schema, table and its own name, and the column.
        for _ in 0..4 {
            rest.text()?;
        }
        let name = String::from_utf8_lossy(rest.text()?).into_owned();
        rest.text()?;
        rest.number()?;
        let charset = rest.u16()?;
        rest.u32()?;
        const BINARY: u16 = 63;
        let kind = match rest.u8()? {
            // TINY, SHORT, LONG, LONGLONG, INT24, YEAR
            1..=3 | 8 | 9 | 13 => ColumnKind::Int,
            // FLOAT, DOUBLE
            4 | 5 => ColumnKind::Double,
            // BIT; GEOMETRY; and texts without characters: VARCHAR, the BLOBs, VAR_STRING, STRING
            16 | 255 => ColumnKind::Bytes,
            15 | 249..=254 if charset == BINARY => ColumnKind::Bytes,
            _ => ColumnKind::Text,
        };
        Some(Column { name, kind })
    }
}
