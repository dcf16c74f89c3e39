//! Bytes in and out: a cursor that never reads past the end, and a client's protocol errors.

use std::fmt;

/// A client broke the protocol, or used a part of it that the double does not implement.
///
/// SQL Server closes such a connection; so does the double, and a test can query it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation(String);

impl Violation {
    pub(crate) fn new(text: impl Into<String>) -> Violation {
        Violation(text.into())
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Reads little-endian values from a message's body.
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor { bytes, position: 0 }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.position == self.bytes.len()
    }

    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8], Violation> {
        let rest = &self.bytes[self.position..];
        if length > rest.len() {
            let (at, left) = (self.position, rest.len());
            return Err(Violation::new(format!(
                "{length} bytes wanted at {at}, {left} are left"
            )));
        }
        self.position += length;
        Ok(&rest[..length])
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Violation> {
        let bytes = self.take(N)?;
        Ok(bytes.try_into().expect("as many as were asked for"))
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.position).copied()
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Violation> {
        Ok(self.take(1)?[0])
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Violation> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Violation> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Violation> {
        self.array().map(u64::from_le_bytes)
    }

    /// UTF-16 of this many bytes.
    pub(crate) fn chars_of(&mut self, bytes: usize) -> Result<String, Violation> {
        if !bytes.is_multiple_of(2) {
            return Err(Violation::new(format!(
                "text of {bytes} bytes, which is odd"
            )));
        }
        let units = self.take(bytes)?.chunks_exact(2);
        let units: Vec<u16> = units
            .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
            .collect();
        String::from_utf16(&units).map_err(|_| Violation::new("text that is not UTF-16"))
    }

    /// UTF-16 preceded by a byte with its count of characters (B_VARCHAR).
    pub(crate) fn name(&mut self) -> Result<String, Violation> {
        let count = usize::from(self.u8()?);
        self.chars_of(count * 2)
    }

    /// The rest, as text.
    pub(crate) fn rest_chars(&mut self) -> Result<String, Violation> {
        self.chars_of(self.bytes.len() - self.position)
    }
}

/// UTF-16, without a length.
pub(crate) fn put_chars(text: &str, out: &mut Vec<u8>) {
    out.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
}

/// B_VARCHAR: at most 255 characters.
pub(crate) fn put_name(text: &str, out: &mut Vec<u8>) {
    let count = text.encode_utf16().count();
    out.push(u8::try_from(count).expect("a name of at most 255 characters"));
    put_chars(text, out);
}

/// US_VARCHAR: at most 65,535 characters.
pub(crate) fn put_text(text: &str, out: &mut Vec<u8>) {
    let count = text.encode_utf16().count();
    let count = u16::try_from(count).expect("a text of at most 65,535 characters");
    out.extend(count.to_le_bytes());
    put_chars(text, out);
}

/// A token whose content is preceded by its length in two bytes.
pub(crate) fn put_sized(token: u8, out: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>)) {
    out.push(token);
    let at = out.len();
    out.extend([0, 0]);
    fill(out);
    let length = u16::try_from(out.len() - at - 2).expect("a token of at most 65,535 bytes");
    out[at..at + 2].copy_from_slice(&length.to_le_bytes());
}
