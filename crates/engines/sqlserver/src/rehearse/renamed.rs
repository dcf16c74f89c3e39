//! A text for a database under another name.

use super::tokens::{Token, tokens};

/// The text, with another database in place of `from` where it is entered, or stands before a schema and a name; in quoted texts, too,
/// since a call has its statement in one. `None`: it does not name it.
pub(crate) fn renamed(text: &str, from: &str, to: &str) -> Option<String> {
    let mentions = text.len() >= from.len()
        && (0..=text.len() - from.len()).any(|at| {
            let own = text.as_bytes().get(at..at + from.len());
            own.is_some_and(|own| own.eq_ignore_ascii_case(from.as_bytes()))
        });
    if !mentions {
        return None;
    }
    let all: Vec<Token<'_>> = tokens(text).collect();
    let mut new = String::with_capacity(text.len() + to.len());
    let mut copied = 0;
    for (place, token) in all.iter().enumerate() {
        let is_own = token
            .name()
            .is_some_and(|name| name.eq_ignore_ascii_case(from));
        let own = is_own && (follows_use(&all, place) || is_before_schema(&all, place));
        let replaced = match token.constant() {
            Some(inner) => {
                let inner = renamed(&inner, from, to);
                inner.map(|inner| {
                    let national = if token.text.starts_with('\'') {
                        ""
                    } else {
                        "N"
                    };
                    format!("{national}'{}'", inner.replace('\'', "''"))
                })
            }
            None => own.then(|| to.to_owned()),
        };
        if let Some(replaced) = replaced {
            new.push_str(&text[copied..token.start]);
            new.push_str(&replaced);
            copied = token.end();
        }
    }
    if copied == 0 {
        return None;
    }
    new.push_str(&text[copied..]);
    Some(new)
}

fn follows_use(all: &[Token<'_>], place: usize) -> bool {
    place > 0 && all[place - 1].is("use")
}

/// Whether a name has a schema, or none, and another name behind it, and no name before it.
fn is_before_schema(all: &[Token<'_>], place: usize) -> bool {
    let is_dot = |place: usize| all.get(place).is_some_and(|token| token.is_sign("."));
    let is_name = |place: usize| all.get(place).is_some_and(|token| token.name().is_some());
    let is_first = place == 0 || !is_dot(place - 1);
    let is_third = is_dot(place + 2) || is_name(place + 2) && is_dot(place + 3);
    is_first && is_dot(place + 1) && is_third
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_database_is_renamed_where_it_is_one() {
        let to = "[dbstow_1]";
        let renamed = |text| renamed(text, "shop", to);
        for (text, expected) in [
            ("USE shop", "USE [dbstow_1]"),
            ("use [Shop]; SELECT 1", "use [dbstow_1]; SELECT 1"),
            ("SELECT a FROM shop..t", "SELECT a FROM [dbstow_1]..t"),
            (
                "SELECT a FROM [SHOP].dbo.[t]",
                "SELECT a FROM [dbstow_1].dbo.[t]",
            ),
            (
                "exec sp_executesql N'SELECT ''x'' FROM shop.dbo.t'",
                "exec sp_executesql N'SELECT ''x'' FROM [dbstow_1].dbo.t'",
            ),
        ] {
            assert_eq!(renamed(text).as_deref(), Some(expected), "{text}");
        }
        for text in [
            "SELECT shop.id FROM dbo.shop",
            "SELECT dbo.shop.id FROM dbo.shop",
            "SELECT workshop.dbo.t",
            "SELECT 1",
            "",
        ] {
            assert_eq!(renamed(text), None, "{text}");
        }
    }
}
