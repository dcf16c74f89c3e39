//! What iostat and sadf share: a JSON document with one element for each record, which a kill may have cut off.

use std::borrow::Cow;

use serde::de::DeserializeOwned;

use super::error::ImportError;

/// Objects and lists that are open around an element of `statistics`: document, sysstat, hosts, host, statistics.
const DEPTH: usize = 5;

/// Closes them.
const CLOSE: &str = "]}]}}";

/// Reads a document, and whether its end was truncated and left out.
///
/// # Errors
/// With the line, when it is not JSON of these tools.
pub(super) fn read<T: DeserializeOwned>(file: &str, text: &str) -> Result<(T, bool), ImportError> {
    let error = match serde_json::from_str(text) {
        Ok(document) => return Ok((document, false)),
        Err(error) if error.is_eof() => error,
        Err(error) => return Err(wrong(file, &error)),
    };
    let Some(closed) = closed(text) else {
        return Err(wrong(file, &error));
    };
    match serde_json::from_str(&closed) {
        Ok(document) => Ok((document, true)),
        Err(error) => Err(wrong(file, &error)),
    }
}

fn wrong(file: &str, error: &serde_json::Error) -> ImportError {
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    ImportError::line(
        file,
        error.line(),
        format!("{message}; record again with `iostat -x -t -o JSON` or export with `sadf -j`"),
    )
}

/// The document up to its last whole element.
fn closed(text: &str) -> Option<Cow<'_, str>> {
    let (mut depth, mut quoted, mut escaped) = (0usize, false, false);
    let mut end = None;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = quoted,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                if depth == DEPTH && byte == b'}' {
                    end = Some(at + 1);
                }
            }
            _ => {}
        }
    }
    Some(format!("{}{CLOSE}", &text[..end?]).into())
}
