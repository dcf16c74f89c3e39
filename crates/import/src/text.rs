//! Text from bytes: UTF-8 or UTF-16, with or without a byte order mark, or else Windows-1252.

use super::error::ImportError;

/// Number of characters of a line shown in errors.
const EXCERPT: usize = 60;

/// The text of a file of another tool.
///
/// Windows tools write UTF-16; without a byte order mark it is recognised by the zero bytes of ASCII characters.
///
/// # Errors
/// When it is not text.
pub fn decode(file: &str, mut bytes: Vec<u8>) -> Result<String, ImportError> {
    let units = |from: fn([u8; 2]) -> u16, bytes: &[u8]| {
        let (pairs, _) = bytes.as_chunks::<2>();
        let mut text = String::with_capacity(pairs.len());
        for character in char::decode_utf16(pairs.iter().map(|pair| from(*pair))) {
            let message = "it is not valid UTF-16; save it as UTF-8";
            text.push(character.map_err(|_| ImportError::file(file, message))?);
        }
        Ok(text)
    };
    match bytes.as_slice() {
        [0xff, 0xfe, rest @ ..] => return units(u16::from_le_bytes, rest),
        [0xfe, 0xff, rest @ ..] => return units(u16::from_be_bytes, rest),
        [first, 0, ..] if *first != 0 => return units(u16::from_le_bytes, &bytes),
        [0, second, ..] if *second != 0 => return units(u16::from_be_bytes, &bytes),
        _ => {}
    }
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    if bytes.starts_with(b"PK\x03\x04") {
        let message = "it is an archive; unpack it, and give the files in it (of a workbook, save a sheet as CSV)";
        return Err(ImportError::file(file, message));
    }
    if bytes.contains(&0) {
        let message =
            "it is not text; export it first, with `relog -f csv`, `sadf -j` or `blkparse -i`";
        return Err(ImportError::file(file, message));
    }
    // Names are in the code page of the machine; figures are ASCII in all of them. A large file is not copied.
    String::from_utf8(bytes).or_else(|error| {
        let bytes = error.into_bytes();
        Ok(bytes.into_iter().map(windows_1252).collect())
    })
}

/// A byte of the Western European code page, which relog and logman use there. Other code pages cannot be distinguished from it:
/// their letters are decoded incorrectly.
fn windows_1252(byte: u8) -> char {
    match byte {
        0x80..=0x9f => C1[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

/// What Windows-1252 has from 0x80 on, where Latin-1 has control characters; five are not defined.
/// <https://www.unicode.org/Public/MAPPINGS/VENDORS/MICSFT/WINDOWS/CP1252.TXT>, compared with Python's codec of it.
const C1: [char; 32] = [
    '€', UNDEFINED, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', UNDEFINED, 'Ž',
    UNDEFINED, UNDEFINED, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', UNDEFINED,
    'ž', 'Ÿ',
];

const UNDEFINED: char = char::REPLACEMENT_CHARACTER;

/// The beginning of a line, for an error.
pub(super) fn excerpt(line: &str) -> String {
    let line = line.trim();
    match line.char_indices().nth(EXCERPT) {
        None => line.to_owned(),
        Some((end, _)) => format!("{} ..", &line[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_the_same_in_every_encoding_that_windows_writes() {
        let text = "\"(PDH-CSV 4.0) (Romance Standard Time (été))(-60)\"";
        let units: Vec<u16> = text.encode_utf16().collect();
        let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
        let marked = |mark: &[u8], bytes: &[u8]| [mark, bytes].concat();
        for bytes in [
            text.as_bytes().to_vec(),
            marked(b"\xef\xbb\xbf", text.as_bytes()),
            marked(b"\xff\xfe", &little),
            marked(b"\xfe\xff", &big),
            little.clone(),
            big.clone(),
        ] {
            assert_eq!(decode("a.csv", bytes).expect("text"), text);
        }
    }

    #[test]
    fn names_in_a_code_page_are_readable() {
        // "Lesevorgänge/s – 5 €" as a Windows of Western Europe writes it.
        let bytes = b"Lesevorg\xe4nge/s \x96 5 \x80";
        assert_eq!(
            decode("a.csv", bytes.to_vec()).expect("text"),
            "Lesevorgänge/s – 5 €"
        );
        // A single invalid UTF-8 byte does not make a file unreadable.
        assert_eq!(decode("a.csv", b"a\xffb".to_vec()).expect("text"), "aÿb");
    }

    #[test]
    fn binary_files_are_refused_with_the_tool_that_exports_them() {
        let error = decode("sa22", b"\xd5\x96\x75\x21\x00\x00".to_vec()).expect_err("no text");
        assert!(error.to_string().contains("sadf -j"), "{error}");
    }
}
