//! SQL as a sequence of lexemes: enough to find the ends of statements and the `:names` within them.
//!
//! It is not an SQL parser: it recognises quotes, comments and words. Dialects share most of them; T-SQL also has
//! `[names]`, comments inside one another, and words that begin with `#`. Those with [`Grammar::Programs`] have comments that begin
//! with `#`, and backslashes in texts; their `--` must be followed by a blank, and the content of `/*! .. */` is SQL.

use products::Grammar;

/// Kind of a lexeme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Blanks, line ends included.
    Blank,
    /// `-- ..`, `/* .. */` or `# ..`
    Comment,
    /// `'..'`, `".."`, and `` `..` `` or T-SQL's `[..]`
    Quoted,
    /// `:name`
    Parameter,
    /// A word or a number, `@name` and `@@name`; in T-SQL also `#name`.
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

impl Lexeme<'_> {
    /// A word in upper case, by which SQL knows its keywords; empty for any other lexeme.
    pub(super) fn keyword(&self) -> String {
        match self.kind {
            Kind::Word => self.text.to_ascii_uppercase(),
            Kind::Blank
            | Kind::Comment
            | Kind::Quoted
            | Kind::Parameter
            | Kind::Semicolon
            | Kind::Backslash
            | Kind::Other
            | Kind::Unclosed => String::new(),
        }
    }
}

/// Reads lexemes from `position` on; the pieces are the whole text, without gaps.
pub(super) struct Scanner<'a> {
    pub(super) text: &'a str,
    pub(super) position: usize,
    grammar: Grammar,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str, grammar: Grammar) -> Scanner<'a> {
        Scanner {
            text,
            position: 0,
            grammar,
        }
    }
}

impl<'a> Iterator for Scanner<'a> {
    type Item = Lexeme<'a>;

    fn next(&mut self) -> Option<Lexeme<'a>> {
        let start = self.position;
        let rest = &self.text[start..];
        let first = rest.chars().next()?;
        let tsql = self.grammar == Grammar::Batches;
        let programs = self.grammar == Grammar::Programs;
        let (kind, length) = match first {
            ';' => (Kind::Semicolon, 1),
            '\\' => (Kind::Backslash, 1),
            '\'' | '"' if programs => escaped(rest, first),
            '\'' | '"' => quoted(rest, first),
            '`' if !tsql => quoted(rest, first),
            '[' if tsql => quoted(rest, ']'),
            '#' if programs => line_comment(rest),
            '-' if programs && is_minus_of_minus(rest) => (Kind::Other, 2),
            _ if rest.starts_with("--") => line_comment(rest),
            _ if programs && rest.starts_with("/*!") => (Kind::Other, 3),
            _ if programs && rest.starts_with("/*M!") => (Kind::Other, 4),
            _ if rest.starts_with("/*") && tsql => nested_comment(rest),
            _ if rest.starts_with("/*") => block_comment(rest),
            _ if rest.starts_with("::") => (Kind::Other, 2),
            ':' if rest[1..].starts_with(begins_name) => (Kind::Parameter, 1 + word(&rest[1..])),
            _ if first.is_whitespace() => (Kind::Blank, run(rest, char::is_whitespace)),
            _ if tsql && continues_name_of_tsql(first) => {
                (Kind::Word, run(rest, continues_name_of_tsql))
            }
            '@' if rest[1..].starts_with(continues_variable) => {
                (Kind::Word, 1 + run(&rest[1..], continues_variable))
            }
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

/// A doubled quote is part of the text.
fn quoted(rest: &str, close: char) -> (Kind, usize) {
    let mut position = 1;
    while let Some(inside) = rest[position..].find(close) {
        position += inside + 1;
        if !rest[position..].starts_with(close) {
            return (Kind::Quoted, position);
        }
        position += 1;
    }
    (Kind::Unclosed, rest.len())
}

/// As [`quoted`], but a character after a backslash is part of the text too.
///
/// Source: <https://mariadb.com/kb/en/string-literals/> (read 2026-11-25).
fn escaped(rest: &str, close: char) -> (Kind, usize) {
    let mut position = 1;
    while let Some(inside) = rest[position..].find([close, '\\']) {
        position += inside + 1;
        let behind = &rest[position..];
        match rest[..position].ends_with('\\') {
            true => position += behind.chars().next().map_or(0, char::len_utf8),
            false if behind.starts_with(close) => position += 1,
            false => return (Kind::Quoted, position),
        }
    }
    (Kind::Unclosed, rest.len())
}

fn line_comment(rest: &str) -> (Kind, usize) {
    (Kind::Comment, rest.find('\n').unwrap_or(rest.len()))
}

/// Whether a text begins with two minus signs that are not a comment in [`Grammar::Programs`]: `5--1` is 6 there.
///
/// Source: <https://mariadb.com/kb/en/comment-syntax/> (read 2026-11-25).
fn is_minus_of_minus(rest: &str) -> bool {
    let behind = rest.strip_prefix("--").and_then(|rest| rest.chars().next());
    behind.is_some_and(|next| !next.is_whitespace() && !next.is_control())
}

fn block_comment(rest: &str) -> (Kind, usize) {
    match rest[2..].find("*/") {
        Some(inside) => (Kind::Comment, inside + 4),
        None => (Kind::Unclosed, rest.len()),
    }
}

/// `/* /* */ */` is one comment.
fn nested_comment(rest: &str) -> (Kind, usize) {
    let mut depth = 0_usize;
    let mut position = 0;
    while let Some(found) = rest[position..].find(['/', '*']) {
        position += found;
        match rest[position..].get(..2) {
            Some("/*") => depth += 1,
            Some("*/") => depth -= 1,
            Some(_) | None => {
                position += 1;
                continue;
            }
        }
        position += 2;
        if depth == 0 {
            return (Kind::Comment, position);
        }
    }
    (Kind::Unclosed, rest.len())
}

fn begins_name(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

fn continues_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Including a server's `@@variable`, which is not one of ours.
fn continues_variable(c: char) -> bool {
    continues_name(c) || c == '@'
}

fn continues_name_of_tsql(c: char) -> bool {
    continues_name(c) || matches!(c, '@' | '#' | '$')
}

fn word(text: &str) -> usize {
    run(text, continues_name)
}

fn run(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}
