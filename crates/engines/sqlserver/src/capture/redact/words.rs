//! Redacts error texts. They are written by the server in its language, so their contents cannot be enumerated: encountered names
//! are replaced everywhere, and so is everything in quotation marks, and every word that looks like a path, a domain account or
//! an address, unless it is SQL Server's own.

use super::names::{Kind, Names};
use crate::tsql::question::QUESTIONS;

/// Names shorter than this are replaced only as whole words.
const ANYWHERE_MIN: usize = 4;

/// Delimiters of a placeholder during processing: private-use characters, which no message has.
const OPEN: char = '\u{E000}';
const CLOSE: char = '\u{E001}';

/// Words in quotation marks that are the same on every server.
const OWN: [&str; 13] = [
    "server",
    "database",
    "master",
    "tempdb",
    "model",
    "msdb",
    "mssqlsystemresource",
    "dbo",
    "sys",
    "public",
    "guest",
    "sysadmin",
    "resource",
];

/// The text with placeholders for names.
pub(super) fn words(names: &mut Names, text: &str) -> String {
    let text: String = text
        .chars()
        .filter(|c| ![OPEN, CLOSE].contains(c))
        .collect();
    let marked = known_replaced(names, &text);
    let mut result = String::new();
    let mut rest: &str = &marked;
    while let Some(found) = first_quoted(rest) {
        result.push_str(&outside(names, found.before));
        result.push_str(&inside(names, found.quoted));
        result.push_str(found.close);
        rest = found.after;
    }
    result.push_str(&outside(names, rest));
    result.retain(|c| ![OPEN, CLOSE].contains(&c));
    result
}

/// Replaces encountered names, ignoring case, longest first.
fn known_replaced(names: &Names, text: &str) -> String {
    let fold = |c: char| c.to_lowercase().next().unwrap_or(c);
    let known: Vec<(Vec<char>, &str)> = names
        .longest_first()
        .into_iter()
        .map(|(name, made)| (name.chars().map(fold).collect(), made))
        .collect();
    let chars: Vec<char> = text.chars().collect();
    let folded: Vec<char> = chars.iter().copied().map(fold).collect();
    let alone = |from: usize, to: usize| {
        let joins = |at: Option<&char>| at.is_some_and(|c| c.is_alphanumeric() || *c == '_');
        !joins(from.checked_sub(1).and_then(|at| chars.get(at))) && !joins(chars.get(to))
    };
    let mut result = String::new();
    let mut at = 0;
    while at < chars.len() {
        let hit = known.iter().find(|(name, _)| {
            folded[at..].starts_with(name)
                && (name.len() >= ANYWHERE_MIN || alone(at, at + name.len()))
        });
        match hit {
            Some((name, made)) => {
                result.extend([OPEN]);
                result.push_str(made);
                result.push(CLOSE);
                at += name.len();
            }
            None => {
                result.push(chars[at]);
                at += 1;
            }
        }
    }
    result
}

/// Quotation marks of SQL Server's languages, opening and closing.
const MARKS: [(char, char); 9] = [
    ('\'', '\''),
    ('"', '"'),
    ('[', ']'),
    ('“', '”'),
    ('„', '“'),
    ('‘', '’'),
    ('«', '»'),
    ('»', '«'),
    ('「', '」'),
];

/// A part in quotation marks, and the surrounding text.
struct Quoted<'a> {
    /// With the opening mark at its end.
    before: &'a str,
    quoted: &'a str,
    close: &'a str,
    after: &'a str,
}

/// The first part in quotation marks. An apostrophe within a word is not an opening mark.
fn first_quoted(text: &str) -> Option<Quoted<'_>> {
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let start = at + c.len_utf8();
        let opens = !before.is_alphanumeric();
        before = c;
        let mark = MARKS.iter().find(|(open, _)| *open == c);
        let Some((_, close)) = mark.filter(|_| opens) else {
            continue;
        };
        let mut ends = text[start..].match_indices(*close).map(|(end, _)| end);
        // A closing apostrophe is not followed by a letter.
        let end = ends.find(|end| {
            let after = text[start + end + close.len_utf8()..].chars().next();
            !after.is_some_and(char::is_alphanumeric)
        });
        if let Some(end) = end.map(|end| start + end).filter(|end| *end > start) {
            let after = end + close.len_utf8();
            return Some(Quoted {
                before: &text[..start],
                quoted: &text[start..end],
                close: &text[end..after],
                after: &text[after..],
            });
        }
    }
    None
}

fn inside(names: &mut Names, quoted: &str) -> String {
    match is_own(quoted) {
        true => quoted.to_owned(),
        false => masked(names, quoted),
    }
}

fn outside(names: &mut Names, text: &str) -> String {
    let mut result = String::new();
    for piece in text.split_inclusive(char::is_whitespace) {
        let word = piece.trim_end();
        match says_where(word) && !is_own(word.trim_end_matches([',', '.', ';', ':'])) {
            true => result.push_str(&masked(names, word)),
            false => result.push_str(word),
        }
        result.push_str(&piece[word.len()..]);
    }
    result
}

/// Whether a word looks like a path, an account, an address, or a host with its domain.
fn says_where(word: &str) -> bool {
    let dotted = word.split('.').collect::<Vec<_>>();
    let letters =
        |text: &str, c: Option<char>| !text.is_empty() && c.is_some_and(char::is_alphabetic);
    let host = dotted.windows(2).any(|pair| {
        letters(pair[0], pair[0].chars().last()) && letters(pair[1], pair[1].chars().next())
    });
    word.contains(['\\', '@']) || word.starts_with('/') && word.len() > 1 || host
}

/// The placeholders and separators of a text; everything else in it becomes a name.
fn masked(names: &mut Names, text: &str) -> String {
    let mut result = String::new();
    let mut run = String::new();
    let mut stands = false;
    let mut end = |run: &mut String, result: &mut String| {
        match run.trim().is_empty() || run.chars().count() == 1 {
            true => result.push_str(run),
            false => result.push_str(&names.of(Kind::Name, run)),
        }
        run.clear();
    };
    for c in text.chars() {
        if c == OPEN || !stands && matches!(c, '\\' | '/' | ':' | '@' | '.') {
            end(&mut run, &mut result);
            stands = c == OPEN;
            result.push(c);
        } else if stands {
            stands = c != CLOSE;
            result.push(c);
        } else {
            run.push(c);
        }
    }
    end(&mut run, &mut result);
    result
}

/// Whether a quoted part is SQL Server's own, or a word of our own queries.
fn is_own(quoted: &str) -> bool {
    let ours = |text: &str| {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '.'));
        words
            .into_iter()
            .any(|word| word.eq_ignore_ascii_case(quoted))
    };
    OWN.iter().any(|own| own.eq_ignore_ascii_case(quoted))
        || QUESTIONS.iter().any(|question| ours(question.text))
        || quoted.starts_with("dm_") && quoted.chars().all(|c| c.is_ascii_lowercase() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redacted(text: &str) -> String {
        let mut names = Names::default();
        names.of(Kind::Database, "Sales");
        names.of(Kind::Login, "bo");
        names.of(Kind::Login, "O'Brien");
        words(&mut names, text)
    }

    #[test]
    fn names_go_and_the_servers_own_words_stay() {
        let cases = [
            (
                "error 300, class 14, line 1: VIEW SERVER STATE permission was denied on object 'server', database 'master'.",
                "error 300, class 14, line 1: VIEW SERVER STATE permission was denied on object 'server', database 'master'.",
            ),
            (
                "Invalid column name 'io_stall_queued_read_ms'.",
                "Invalid column name 'io_stall_queued_read_ms'.",
            ),
            (
                "The principal \"O'Brien\" can't use 'sales', nor 'Payroll', SALES_2 or bo.",
                "The principal \"login-2\" can't use 'database-1', nor 'name-1', database-1_2 or login-1.",
            ),
            (
                "Die Datei „F:\\Geheim\\lohn.mdf“ von ACME\\eva fehlt.",
                "Die Datei „F:\\name-1\\name-2.name-3“ von name-4\\name-5 fehlt.",
            ),
            ("about", "about"),
        ];
        for (text, expected) in cases {
            assert_eq!(redacted(text), expected);
        }
    }
}
