//! The words of an expression.

use super::error::ExpressionError;

/// A word of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'a> {
    Int(i64),
    Double(f64),
    Variable(&'a str),
    Word(&'a str),
    Symbol(&'static str),
}

/// Symbols, longer ones first, so that `<=` is not read as `<`.
const SYMBOLS: [&str; 21] = [
    "<<", ">>", "<=", ">=", "<>", "!=", "(", ")", ",", "+", "-", "*", "/", "%", "=", "<", ">", "|",
    "#", "&", "~",
];

/// Splits `text` into words.
pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, ExpressionError> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (token, length) = token(rest)?;
        found.push(token);
        rest = rest[length..].trim_start();
    }
    Ok(found)
}

fn token(rest: &str) -> Result<(Token<'_>, usize), ExpressionError> {
    let first = rest.as_bytes()[0];
    if first.is_ascii_digit()
        || (first == b'.' && rest[1..].starts_with(|c: char| c.is_ascii_digit()))
    {
        return number(rest);
    }
    if let Some(name) = rest.strip_prefix(':') {
        let length = word_length(name);
        if length > 0 {
            return Ok((Token::Variable(&name[..length]), length + 1));
        }
    }
    let length = word_length(rest);
    if length > 0 {
        return Ok((Token::Word(&rest[..length]), length));
    }
    match SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
        Some(symbol) => Ok((Token::Symbol(symbol), symbol.len())),
        None => Err(ExpressionError::Unexpected {
            found: rest.chars().take(1).collect(),
            wanted: "a number, a `:variable`, an operator or a function",
        }),
    }
}

fn word_length(text: &str) -> usize {
    text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .unwrap_or(text.len())
}

fn number(rest: &str) -> Result<(Token<'_>, usize), ExpressionError> {
    let bytes = rest.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let mut end = digits(0);
    let mut whole = true;
    if bytes.get(end) == Some(&b'.') {
        whole = false;
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent > end + 1 + sign {
            whole = false;
            end = exponent;
        }
    }
    // `12ab` is a typo, not the number 12 and a word.
    let end_of_word = end + word_length(&rest[end..]);
    let text = &rest[..end_of_word];
    let invalid = || ExpressionError::Number {
        given: text.to_owned(),
    };
    if end_of_word > end {
        return Err(invalid());
    }
    let token = if whole {
        Token::Int(text.parse().map_err(|_| invalid())?)
    } else {
        Token::Double(text.parse().map_err(|_| invalid())?)
    };
    Ok((token, end))
}
