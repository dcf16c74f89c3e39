//! Server text in a dbstow message.

/// Bytes of a server's text that a message includes. Ours: a database error has a few hundred, and 2 KiB fill a terminal
/// of 25 lines; a text of megabytes would hide dbstow's own message.
const SAID_MAX: usize = 2 << 10;

/// A server's text for a message: its beginning, and the number of bytes left out.
pub fn said(text: &str) -> String {
    let end = text.floor_char_boundary(SAID_MAX);
    match text.len() - end {
        0 => text.to_owned(),
        more => format!("{} .. ({more} more bytes are left out)", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_has_its_beginning_and_what_was_left_out() {
        let short = "x".repeat(SAID_MAX);
        assert_eq!(said(&short), short);
        // 2,047 bytes, and two for each of three letters: the first of them would end at 2,049.
        let long = format!("{}äöü", "x".repeat(SAID_MAX - 1));
        let cut = format!(
            "{} .. (6 more bytes are left out)",
            "x".repeat(SAID_MAX - 1)
        );
        assert_eq!(said(&long), cut);
    }
}
