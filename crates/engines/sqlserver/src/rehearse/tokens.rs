//! The tokens of a T-SQL text. What they mean together is not parsed: the server does that.
//!
//! Source: <https://learn.microsoft.com/sql/t-sql/language-elements/slash-star-comment-transact-sql> (comments nest), "Constants" and
//! "Database identifiers" beside it, read 2026-11-29. Double quotes are around names, as with `QUOTED_IDENTIFIER ON`, which clients
//! set when they log in.

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
    /// Where it begins in the text.
    pub(crate) start: usize,
}

/// Kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A keyword, a name or a variable.
    Word,
    /// A name in brackets or double quotes.
    Quoted,
    /// A text constant, `N` included.
    Text,
    /// A number.
    Number,
    /// Any other character.
    Sign,
}

impl Token<'_> {
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// Whether it is this keyword.
    pub(crate) fn is(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text.eq_ignore_ascii_case(word)
    }

    pub(crate) fn is_one(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.is(word))
    }

    pub(crate) fn is_sign(&self, sign: &str) -> bool {
        self.kind == Kind::Sign && self.text == sign
    }

    /// The name that it is, without brackets or quotes.
    pub(crate) fn name(&self) -> Option<String> {
        match self.kind {
            Kind::Word => Some(self.text.to_owned()),
            Kind::Quoted => {
                let closing = if self.text.starts_with('[') {
                    "]"
                } else {
                    "\""
                };
                let inner = &self.text[1..];
                let inner = inner.strip_suffix(closing).unwrap_or(inner);
                Some(inner.replace(&closing.repeat(2), closing))
            }
            Kind::Text | Kind::Number | Kind::Sign => None,
        }
    }

    /// The text that it is a constant of.
    pub(crate) fn constant(&self) -> Option<String> {
        if self.kind != Kind::Text {
            return None;
        }
        let quoted = self.text.trim_start_matches(['N', 'n']);
        let inner = quoted.strip_prefix('\'')?;
        Some(inner.strip_suffix('\'').unwrap_or(inner).replace("''", "'"))
    }
}

/// The tokens of a text, without blanks and comments.
pub(crate) fn tokens(text: &str) -> Tokens<'_> {
    Tokens { text, at: 0 }
}

/// Reads a text.
pub(crate) struct Tokens<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        self.at += blank(&self.text[self.at..]);
        let rest = &self.text[self.at..];
        let (kind, length) = first(rest)?;
        let token = Token {
            kind,
            text: &rest[..length],
            start: self.at,
        };
        self.at += length;
        Some(token)
    }
}

/// Kind and length of the token that a text begins with.
fn first(text: &str) -> Option<(Kind, usize)> {
    let letter = text.chars().next()?;
    let after = || text.chars().nth(1);
    let while_in = |is: fn(char) -> bool| text.find(|c| !is(c)).unwrap_or(text.len());
    Some(match letter {
        '\'' => (Kind::Text, quoted(text, '\'')),
        'N' | 'n' if after() == Some('\'') => (Kind::Text, 1 + quoted(&text[1..], '\'')),
        '[' => (Kind::Quoted, quoted(text, ']')),
        '"' => (Kind::Quoted, quoted(text, '"')),
        letter if letter.is_ascii_digit() => (
            Kind::Number,
            while_in(|c| c.is_ascii_alphanumeric() || c == '.'),
        ),
        letter if is_of_word(letter) => (Kind::Word, while_in(is_of_word)),
        letter => (Kind::Sign, letter.len_utf8()),
    })
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '@' | '#' | '$')
}

/// Length of what is quoted at the beginning of a text; two closing quotes are one of it.
fn quoted(text: &str, closing: char) -> usize {
    let mut letters = text.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        if letter == closing && letters.next_if(|(_, next)| *next == closing).is_none() {
            return at + closing.len_utf8();
        }
    }
    text.len()
}

/// Length of blanks and comments at the beginning of a text.
fn blank(text: &str) -> usize {
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        rest = if rest.starts_with("--") {
            rest.find('\n').map_or("", |end| &rest[end..])
        } else if rest.starts_with("/*") {
            after_comment(rest)
        } else {
            return text.len() - rest.len();
        };
    }
}

/// What follows the comment that a text begins with.
fn after_comment(text: &str) -> &str {
    let (mut depth, mut at) = (0u32, 0);
    let bytes = text.as_bytes();
    while at < bytes.len() {
        let step = match &bytes[at..] {
            [b'/', b'*', ..] => {
                depth += 1;
                2
            }
            [b'*', b'/', ..] => {
                depth -= 1;
                2
            }
            _ => 1,
        };
        at += step;
        if depth == 0 {
            return &text[at..];
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        tokens(text).map(|token| token.text).collect()
    }

    #[test]
    fn comments_nest_and_quotes_are_doubled() {
        assert_eq!(
            texts(
                "/* a /* b */ c */SELECT [a ]] 1], N'it''s', \"b\"\"\" -- x\nFROM #t WHERE @p1=0x1F"
            ),
            [
                "SELECT",
                "[a ]] 1]",
                ",",
                "N'it''s'",
                ",",
                "\"b\"\"\"",
                "FROM",
                "#t",
                "WHERE",
                "@p1",
                "=",
                "0x1F"
            ]
        );
        assert_eq!(texts("/* open /* */"), [""; 0]);
        assert_eq!(texts("'open"), ["'open"]);
    }

    #[test]
    fn names_and_constants_are_what_they_quote() {
        let all: Vec<Token<'_>> = tokens("[a]]b] \"c\"\"d\" N'it''s' 'x' y").collect();
        let names: Vec<_> = all.iter().filter_map(Token::name).collect();
        assert_eq!(names, ["a]b", "c\"d", "y"]);
        let constants: Vec<_> = all.iter().filter_map(Token::constant).collect();
        assert_eq!(constants, ["it's", "x"]);
    }

    proptest! {
        /// Any text has tokens, which are its parts, in order.
        #[test]
        fn tokens_are_parts_of_the_text(text in r#"[a-zN0-9 '"\[\]/*\-é.;\n@]{0,40}"#) {
            let mut end = 0;
            for token in tokens(&text) {
                prop_assert!(token.start >= end && !token.text.is_empty());
                end = token.end();
                prop_assert_eq!(&text[token.start..end], token.text);
            }
        }
    }
}
