//! SQL as a row of lexemes: enough to find the ends of statements and the `:names` within them.
//!
//! It is no parser of SQL: it knows quotes, comments and words, which every dialect shares.

/// What a lexeme is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Blanks, line ends included.
    Blank,
    /// `-- ..` or `/* .. */`
    Comment,
    /// `'..'`, `".."` or `` `..` ``
    Quoted,
    /// `:name`
    Parameter,
    /// A word or a number.
    Word,
    /// `;`
    Semicolon,
    /// `\`
    Backslash,
    /// Any other character, and `::`.
    Other,
    /// A quote or comment without its end.
    Unclosed,
}

/// A piece of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lexeme<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    /// Where it begins, in bytes.
    pub(super) start: usize,
}

/// Reads lexemes from `position` on; the pieces are the whole text, without gaps.
pub(super) struct Scanner<'a> {
    pub(super) text: &'a str,
    pub(super) position: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Scanner<'a> {
        Scanner { text, position: 0 }
    }
}

impl<'a> Iterator for Scanner<'a> {
    type Item = Lexeme<'a>;

    fn next(&mut self) -> Option<Lexeme<'a>> {
        let start = self.position;
        let rest = &self.text[start..];
        let first = rest.chars().next()?;
        let (kind, length) = match first {
            ';' => (Kind::Semicolon, 1),
            '\\' => (Kind::Backslash, 1),
            '\'' | '"' | '`' => quoted(rest, first),
            _ if rest.starts_with("--") => (Kind::Comment, rest.find('\n').unwrap_or(rest.len())),
            _ if rest.starts_with("/*") => block_comment(rest),
            _ if rest.starts_with("::") => (Kind::Other, 2),
            ':' if rest[1..].starts_with(begins_name) => (Kind::Parameter, 1 + word(&rest[1..])),
            _ if first.is_whitespace() => (Kind::Blank, run(rest, char::is_whitespace)),
            _ if continues_name(first) => (Kind::Word, word(rest)),
            _ => (Kind::Other, first.len_utf8()),
        };
        self.position += length;
        Some(Lexeme {
            kind,
            text: &rest[..length],
            start,
        })
    }
}

/// A doubled quote is two quoted lexemes side by side, which comes to the same.
fn quoted(rest: &str, quote: char) -> (Kind, usize) {
    match rest[1..].find(quote) {
        Some(inside) => (Kind::Quoted, inside + 2),
        None => (Kind::Unclosed, rest.len()),
    }
}

fn block_comment(rest: &str) -> (Kind, usize) {
    match rest[2..].find("*/") {
        Some(inside) => (Kind::Comment, inside + 4),
        None => (Kind::Unclosed, rest.len()),
    }
}

fn begins_name(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

fn continues_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn word(text: &str) -> usize {
    run(text, continues_name)
}

fn run(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}
