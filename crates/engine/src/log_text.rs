//! What the characters of a logged statement say of it. Its text is not parsed: the server does that.

use std::iter::Peekable;
use std::str::Chars;

/// How a product writes constants and comments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Syntax {
    /// Whether a backslash in a quoted text takes the next character's meaning away.
    pub backslashes: bool,
    /// Whether a text between double quotes is a constant, and no name.
    pub double_quotes: bool,
    /// Whether `#` begins a comment, and `--` only before a blank.
    pub hash_comments: bool,
}

/// A text without its constants: numbers and quoted texts are `?`, comments and blanks are one blank. Of letters and signs alone,
/// without what the server makes of them: `IN (1, 2)` and `IN (1)` differ. Comments that a server executes (`/*!`, `/*+`) stay.
pub fn form(text: &str, syntax: Syntax) -> String {
    let mut form = String::with_capacity(text.len());
    let mut letters = text.trim().chars().peekable();
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        let is_quote = letter == '\'' || letter == '"' && syntax.double_quotes;
        if is_quote {
            quoted(&mut letters, letter, syntax.backslashes);
            form.push('?');
        } else if letter == '`' || letter == '"' {
            // A name, which may have digits and blanks.
            form.push(letter);
            for inner in letters.by_ref() {
                form.push(inner);
                if inner == letter {
                    break;
                }
            }
        } else if letter.is_ascii_digit() && !is_word(before) {
            while letters
                .next_if(|c| c.is_ascii_alphanumeric() || *c == '.')
                .is_some()
            {}
            // The sign of a constant belongs to it.
            if [" -", "(-", ",-", "=-"]
                .iter()
                .any(|sign| form.ends_with(sign))
            {
                form.pop();
            }
            form.push('?');
        } else if letter.is_whitespace() || comment(letter, &mut letters, syntax) {
            if !form.ends_with(' ') && !form.is_empty() {
                form.push(' ');
            }
            before = ' ';
            continue;
        } else {
            form.push(letter);
        }
        before = letter;
    }
    form.truncate(form.trim_end().len());
    form
}

/// Skips a quoted text behind its first quote.
fn quoted(letters: &mut Peekable<Chars<'_>>, quote: char, backslashes: bool) {
    while let Some(inner) = letters.next() {
        if inner == '\\' && backslashes {
            letters.next();
        // Two quotes are one of the text.
        } else if inner == quote && letters.next_if_eq(&quote).is_none() {
            return;
        }
    }
}

/// Skips a comment that begins with `first`; returns whether there is one.
fn comment(first: char, letters: &mut Peekable<Chars<'_>>, syntax: Syntax) -> bool {
    let mut ahead = letters.clone();
    let second = ahead.next();
    let third = ahead.next();
    let is_line = match (first, second) {
        ('#', _) => syntax.hash_comments,
        ('-', Some('-')) => !syntax.hash_comments || third.is_none_or(char::is_whitespace),
        _ => false,
    };
    if is_line {
        letters.by_ref().take_while(|c| *c != '\n').for_each(drop);
        return true;
    }
    if (first, second) != ('/', Some('*')) || matches!(third, Some('!' | '+')) {
        return false;
    }
    letters.next();
    let mut before = ' ';
    for inner in letters.by_ref() {
        if (before, inner) == ('*', '/') {
            break;
        }
        before = inner;
    }
    true
}

/// The first three words of a text, after comments.
pub fn words(text: &str, syntax: Syntax) -> Vec<&str> {
    let text = without_comments(text, syntax);
    let parts = text.split(|c: char| c.is_whitespace() || c == ';' || c == '(');
    parts.filter(|part| !part.is_empty()).take(3).collect()
}

fn without_comments(text: &str, syntax: Syntax) -> &str {
    let mut rest = text.trim_start();
    loop {
        let after = if let Some(comment) = rest.strip_prefix("--") {
            comment.split_once('\n').map(|(_, after)| after)
        } else if let Some(comment) = rest.strip_prefix('#').filter(|_| syntax.hash_comments) {
            comment.split_once('\n').map(|(_, after)| after)
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.split_once("*/").map(|(_, after)| after)
        } else {
            return rest;
        };
        rest = after.unwrap_or_default().trim_start();
    }
}

/// Whether this holds of each statement of a text; of several, without their constants, which may have semicolons.
pub fn each(text: &str, syntax: Syntax, holds: fn(&str) -> bool) -> bool {
    match text.trim_end().trim_end_matches(';').contains(';') {
        false => holds(text),
        true => form(text, syntax).split(';').all(holds),
    }
}

/// Whether a word of a text is `other`, in letters of either case.
pub fn is(word: &str, other: &str) -> bool {
    word.eq_ignore_ascii_case(other)
}

/// Whether a text has one of these words.
pub fn has_word(text: &str, wanted: &[&str]) -> bool {
    let mut all = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    all.any(|part| wanted.iter().any(|word| is(part, word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OTHER: Syntax = Syntax {
        backslashes: true,
        double_quotes: true,
        hash_comments: true,
    };

    #[test]
    fn statements_of_a_kind_have_one_form() {
        let standard = |text| form(text, Syntax::default());
        assert_eq!(
            standard(
                "UPDATE t1 SET a = a + -37,  b = 'it''s 5'\nWHERE c = $1 AND d IN (1.5, 0x1F);"
            ),
            "UPDATE t1 SET a = a + ?, b = ? WHERE c = $1 AND d IN (?, ?);"
        );
        assert_eq!(standard("SELECT 'open"), "SELECT ?");
        assert_eq!(
            standard("SELECT \"a 1\", '\\', 2 --1"),
            "SELECT \"a 1\", ?, ?"
        );
        assert_eq!(
            form(
                "SELECT `a 1`, 'it\\'s', \"5\"\"\" # 7\n/* id 9 */ FROM t -- 3\nWHERE a = 1--1 /*!80000 FOR x */",
                OTHER
            ),
            "SELECT `a 1`, ?, ? FROM t WHERE a = ?--? /*!? FOR x */"
        );
        assert_eq!(form("/* id 9 */SELECT/**/1/*", OTHER), "SELECT ?");
    }

    #[test]
    fn a_semicolon_in_a_constant_ends_no_statement() {
        let is_short = |text: &str| text.len() < 12;
        let each = |text| each(text, Syntax::default(), is_short);
        assert!(each("SELECT 1;") && each("SELECT ';'; SELECT 2"));
        assert!(!each("SELECT 1; SELECT a, b"));
    }

    #[test]
    fn words_come_after_comments() {
        assert_eq!(words("-- a\n/* b */ BEGIN;", OTHER), ["BEGIN"]);
        assert_eq!(words("# a\nSELECT(1)", OTHER), ["SELECT", "1)"]);
        assert_eq!(
            words("# a\nSELECT", Syntax::default()),
            ["#", "a", "SELECT"]
        );
        assert!(has_word("a FOR update", &["update"]) && !has_word("updated_a", &["updated"]));
    }
}
