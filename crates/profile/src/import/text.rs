//! Text from bytes: UTF-8 or UTF-16, with or without a byte order mark.

use super::error::ImportError;

/// Characters of a line that an error shows.
const EXCERPT: usize = 60;

/// The text of a file of another tool.
///
/// Windows tools write UTF-16; without a byte order mark it is recognised by the zero bytes that ASCII has in it.
///
/// # Errors
/// When it is neither UTF-8 nor UTF-16.
pub fn decode(file: &str, bytes: &[u8]) -> Result<String, ImportError> {
    let units = |from: fn([u8; 2]) -> u16, bytes: &[u8]| {
        let (pairs, _) = bytes.as_chunks::<2>();
        let units: Vec<u16> = pairs.iter().map(|pair| from(*pair)).collect();
        String::from_utf16(&units)
            .map_err(|_| ImportError::file(file, "it is not valid UTF-16; save it as UTF-8"))
    };
    match bytes {
        [0xff, 0xfe, rest @ ..] => units(u16::from_le_bytes, rest),
        [0xfe, 0xff, rest @ ..] => units(u16::from_be_bytes, rest),
        [first, 0, ..] if *first != 0 => units(u16::from_le_bytes, bytes),
        [0, second, ..] if *second != 0 => units(u16::from_be_bytes, bytes),
        _ => {
            let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
            if bytes.contains(&0) {
                let message = "it is not text; export it first, with `relog -f csv`, `sadf -j` or `blkparse -i`";
                return Err(ImportError::file(file, message));
            }
            // Names of time zones come in the code page of the machine; figures are ASCII.
            Ok(String::from_utf8_lossy(bytes).into_owned())
        }
    }
}

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
            assert_eq!(decode("a.csv", &bytes).expect("text"), text);
        }
    }

    #[test]
    fn binary_files_are_refused_with_the_tool_that_exports_them() {
        let error = decode("sa22", b"\xd5\x96\x75\x21\x00\x00").expect_err("no text");
        assert!(error.to_string().contains("sadf -j"), "{error}");
    }
}
