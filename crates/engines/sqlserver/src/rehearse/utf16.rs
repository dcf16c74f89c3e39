//! A text in UTF-16, as SQL Server's and Windows' tools write it, read as UTF-8.

use std::io::{self, BufRead, BufReader, Read};

/// Marks at the beginning of a text: UTF-8, UTF-16 with the low byte first, and with the high byte first.
const UTF8: [u8; 3] = [0xEF, 0xBB, 0xBF];
const LITTLE: [u8; 2] = [0xFF, 0xFE];
const BIG: [u8; 2] = [0xFE, 0xFF];

/// The text, in UTF-8, without a mark. What is not a character is replaced.
pub(crate) fn decoded<'a>(mut from: impl BufRead + 'a) -> io::Result<Box<dyn BufRead + 'a>> {
    let first = from.fill_buf()?;
    let decode = match first {
        [a, b, ..] if [*a, *b] == LITTLE => u16::from_le_bytes,
        [a, b, ..] if [*a, *b] == BIG => u16::from_be_bytes,
        // `bcp -w` writes no mark.
        [first, 0, ..] if *first != 0 => {
            return Ok(Box::new(BufReader::new(Utf16::of(
                from,
                u16::from_le_bytes,
            ))));
        }
        [a, b, c, ..] if [*a, *b, *c] == UTF8 => {
            from.consume(UTF8.len());
            return Ok(Box::new(from));
        }
        _ => return Ok(Box::new(from)),
    };
    from.consume(LITTLE.len());
    Ok(Box::new(BufReader::new(Utf16::of(from, decode))))
}

struct Utf16<R> {
    from: R,
    decode: fn([u8; 2]) -> u16,
    /// A unit that belongs to the next one, or that was read too far.
    before: Option<u16>,
    /// Bytes in UTF-8 that were not taken yet, last first.
    ready: Vec<u8>,
}

impl<R: BufRead> Utf16<R> {
    fn of(from: R, decode: fn([u8; 2]) -> u16) -> Utf16<R> {
        Utf16 {
            from,
            decode,
            before: None,
            ready: Vec::new(),
        }
    }

    fn unit(&mut self) -> io::Result<Option<u16>> {
        if let Some(unit) = self.before.take() {
            return Ok(Some(unit));
        }
        let mut bytes = [0; 2];
        match self.from.read_exact(&mut bytes) {
            Ok(()) => Ok(Some((self.decode)(bytes))),
            // Half a unit at the end is not a character.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn letter(&mut self) -> io::Result<Option<char>> {
        let Some(unit) = self.unit()? else {
            return Ok(None);
        };
        let is_high = (0xD800..0xDC00).contains(&unit);
        let second = if is_high { self.unit()? } else { None };
        let pair = [Some(unit), second].into_iter().flatten();
        let letter = char::decode_utf16(pair).next();
        Ok(letter.map(|letter| {
            letter.unwrap_or_else(|_| {
                self.before = second;
                char::REPLACEMENT_CHARACTER
            })
        }))
    }
}

impl<R: BufRead> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut length = 0;
        while length < buffer.len() {
            if self.ready.is_empty() {
                let Some(letter) = self.letter()? else {
                    break;
                };
                let mut bytes = [0; 4];
                self.ready
                    .extend(letter.encode_utf8(&mut bytes).bytes().rev());
            }
            while let Some(place) = buffer.get_mut(length)
                && let Some(byte) = self.ready.pop()
            {
                *place = byte;
                length += 1;
            }
        }
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_in_its_encoding_by_its_mark_or_without() {
        let text = "a,\"é𝄞\"\n";
        let units = || [0xFEFF].into_iter().chain(text.encode_utf16());
        let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
        for bytes in [
            text.as_bytes(),
            format!("\u{FEFF}{text}").as_bytes(),
            &little,
            // As `bcp -w` writes it.
            &little[2..],
            &big,
        ] {
            let mut read = String::new();
            decoded(bytes).unwrap().read_to_string(&mut read).unwrap();
            assert_eq!(read, text);
        }
    }

    #[test]
    fn half_a_pair_is_replaced() {
        let units = [0xFEFF, 0xD834, 0x61, 0xD834];
        let bytes: Vec<u8> = units
            .into_iter()
            .flat_map(u16::to_le_bytes)
            .chain([7])
            .collect();
        let mut read = String::new();
        decoded(&*bytes).unwrap().read_to_string(&mut read).unwrap();
        assert_eq!(read, "\u{FFFD}a\u{FFFD}");
    }
}
