//! Every text that a user may read, as one list, and every comment: none has a word that STYLE.md replaces.
//!
//! `cargo test --workspace --test words -- --nocapture` prints the list, a line for each text of the sources: file, then
//! the text. (`--help` is made of the doc comments in `command`; they are in it too.)

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Phrases from the table in STYLE.md that are wrong in any context.
const REPLACED: [&str; 27] = [
    "carry out",
    "carried out",
    "carries out",
    "came of it",
    "bring about",
    "brings about",
    "way back",
    "as it was on the server",
    "came to its end",
    "is mended",
    "vouches",
    "to be found in",
    "is not whole",
    "held back by",
    "times as long",
    "of no account",
    "is let go",
    "heed",
    "whoever",
    "obituary",
    "leftovers",
    "is no",
    "are no",
    "told",
    "nobody",
    "somebody",
    "anybody",
];

/// Where these words are the right ones.
const ALLOWED: [&str; 19] = [
    // The user of that name.
    "`nobody`",
    "user nobody (postgres where there is no nobody)",
    "user nobody",
    "there is no",
    "there are no",
    "is no longer",
    "is no more",
    "is no later",
    "is no earlier",
    "is no larger",
    "is no tighter",
    "are no longer",
    "are no more",
    "1 is yes, 2 is no",
    "told apart",
    "told_apart",
    "nobody else",
    "somebody else",
    "somebody_else",
];

#[test]
fn no_text_for_users_has_words_that_style_replaces() {
    let mut texts = Vec::new();
    for source in sources() {
        let code = fs::read_to_string(&source).expect("a source is text");
        let tokens = TokenStream::from_str(&code).expect("it was compiled");
        let is_help = source
            .components()
            .any(|part| part.as_os_str() == "command");
        let mut found = Vec::new();
        collect(tokens, is_help, &mut found);
        let shown = source
            .strip_prefix(crates())
            .expect("it is in there")
            .display()
            .to_string();
        texts.extend(found.into_iter().map(|text| (shown.clone(), text)));
    }
    for (source, text) in &texts {
        println!("{source}\t{text}");
    }
    assert!(texts.len() > 1_000, "only {} texts were found", texts.len());
    let wrong = texts.iter().filter_map(|(source, text)| {
        let phrase = replaced(text, &REPLACED)?;
        Some(format!("{source}: \"{phrase}\" in: {text}"))
    });
    let wrong: Vec<_> = wrong.collect();
    assert!(
        wrong.is_empty(),
        "STYLE.md has better words for these: {wrong:#?}"
    );
}

/// From the same table, and words of which a comment needs none.
const REPLACED_IN_COMMENTS: [&str; 6] = [
    "habits",
    "understood",
    "dealt",
    "standing",
    "trouble",
    "story",
];

#[test]
fn no_comment_has_words_that_style_replaces() {
    let mut count = 0;
    let mut wrong = Vec::new();
    for source in sources() {
        let code = fs::read_to_string(&source).expect("a source is text");
        for comment in comments(&code) {
            count += 1;
            let phrase =
                replaced(&comment, &REPLACED).or_else(|| replaced(&comment, &REPLACED_IN_COMMENTS));
            if let Some(phrase) = phrase {
                wrong.push(format!("{}: \"{phrase}\" in: {comment}", source.display()));
            }
        }
    }
    assert!(count > 5_000, "only {count} comments were found");
    assert!(
        wrong.is_empty(),
        "STYLE.md has better words for these: {wrong:#?}"
    );
}

/// Names of types, functions and values for which the field has a term: request, error, view.
const REPLACED_NAMES: [&str; 8] = [
    "Asked",
    "Described",
    "Mistake",
    "NotMet",
    "Shown",
    "habits",
    "obituary",
    "told",
];

#[test]
fn no_name_is_a_word_that_style_replaces() {
    let mut wrong = Vec::new();
    for source in sources() {
        let code = fs::read_to_string(&source).expect("a source is text");
        let mut names = Vec::new();
        collect_names(
            TokenStream::from_str(&code).expect("it was compiled"),
            &mut names,
        );
        names.retain(|name| REPLACED_NAMES.contains(&name.as_str()));
        wrong.extend(
            names
                .first()
                .map(|name| format!("{}: {name}", source.display())),
        );
    }
    assert!(
        wrong.is_empty(),
        "there are better names for these: {wrong:#?}"
    );
}

#[test]
fn no_document_has_words_that_style_replaces() {
    let mut wrong = Vec::new();
    for document in crate::documents::documents()
        .into_iter()
        .filter(|document| {
            !["STYLE.md", "CHANGELOG.md"]
                .iter()
                .any(|name| document.ends_with(name))
        })
    {
        let text = fs::read_to_string(&document).expect("a document is text");
        for paragraph in text.split("\n\n") {
            let paragraph = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
            wrong.extend(
                replaced(&paragraph, &REPLACED)
                    .map(|phrase| format!("{}: \"{phrase}\" in: {paragraph}", document.display())),
            );
        }
    }
    assert!(
        wrong.is_empty(),
        "STYLE.md has better words for these: {wrong:#?}"
    );
}

/// The comments of a source that have lines of their own, each joined to one line.
fn comments(code: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in code.lines() {
        let text = line.trim_start().strip_prefix("//");
        if let Some(text) = text {
            let text = text.trim_start_matches(['/', '!']).trim();
            match all.last_mut().filter(|_| goes_on) {
                Some(last) => {
                    last.push(' ');
                    last.push_str(text);
                }
                None => all.push(text.to_owned()),
            }
        }
        goes_on = text.is_some();
    }
    all
}

#[test]
fn a_comment_is_read_across_its_lines() {
    let code = "fn a() {\n    // It was carried\n    // out.\n    b();\n    /// Another.\n}";
    assert_eq!(comments(code), ["It was carried out.", "Another."]);
}

/// The first of `phrases` in a text, apart from where it is the right one.
fn replaced<'a>(text: &str, phrases: &[&'a str]) -> Option<&'a str> {
    let text = text.to_lowercase();
    let text = ALLOWED
        .iter()
        .fold(text, |text, allowed| text.replace(allowed, ""));
    let mut phrases = phrases.iter().copied();
    phrases.find(|phrase| has_words(&text, phrase))
}

/// Whether `phrase` stands in `text` as whole words.
fn has_words(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + phrase.len()..].chars().next();
        let is_letter = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
        !is_letter(before) && !is_letter(after)
    })
}

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The sources compiled into the program, without tests in separate files.
fn sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![crates()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the sources are there") {
            let path = entry.expect("it can be read").path();
            let name = path
                .file_name()
                .and_then(|name| name.to_str())
                .unwrap_or_default();
            let is_other = [
                "tds-double",
                "tests",
                "benches",
                "examples",
                "tests.rs",
                "examples.rs",
            ]
            .contains(&name);
            if path.is_dir() && !is_other {
                folders.push(path);
            } else if name.ends_with(".rs") && !is_other {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Texts of at least two words in `tokens`, without test-only code; with documentation where `is_help`.
fn collect(tokens: TokenStream, is_help: bool, found: &mut Vec<String>) {
    let mut skips_next_body = false;
    let mut after_hash = false;
    for token in tokens {
        match token {
            TokenTree::Group(group) if after_hash && group.delimiter() == Delimiter::Bracket => {
                let attribute = group.stream().to_string();
                skips_next_body |= attribute.replace(' ', "").starts_with("cfg(test)");
                if is_help && attribute.starts_with("doc") {
                    collect(group.stream(), is_help, found);
                }
                after_hash = false;
            }
            TokenTree::Group(group) => {
                let is_body = group.delimiter() == Delimiter::Brace;
                match skips_next_body && is_body {
                    true => skips_next_body = false,
                    false => collect(group.stream(), is_help, found),
                }
            }
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                let Some((_, text)) = text.split_once('"') else {
                    continue;
                };
                let text = text.trim_end_matches(['#', '"']).split_whitespace();
                let text: Vec<&str> = text.filter(|word| *word != "\\").collect();
                if text.len() > 1 {
                    found.push(text.join(" "));
                }
            }
            TokenTree::Punct(punct) => {
                after_hash = punct.as_char() == '#' || (after_hash && punct.as_char() == '!');
                // `#[cfg(test)] mod tests;` has no body.
                skips_next_body &= punct.as_char() != ';';
            }
            TokenTree::Ident(_) => after_hash = false,
        }
    }
}

/// The names in `tokens`, without those of test-only code.
fn collect_names(tokens: TokenStream, names: &mut Vec<String>) {
    let mut skips_next_body = false;
    let mut after_hash = false;
    for token in tokens {
        match &token {
            TokenTree::Group(group) if after_hash => {
                let attribute = group.stream().to_string().replace(' ', "");
                skips_next_body |= attribute.starts_with("cfg(test)");
            }
            TokenTree::Group(group) => {
                let is_of_tests = skips_next_body && group.delimiter() == Delimiter::Brace;
                match is_of_tests {
                    true => skips_next_body = false,
                    false => collect_names(group.stream(), names),
                }
            }
            TokenTree::Ident(name) => names.push(name.to_string()),
            // `#[cfg(test)] mod tests;` has no body.
            TokenTree::Punct(punct) => skips_next_body &= punct.as_char() != ';',
            TokenTree::Literal(_) => {}
        }
        after_hash = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '#');
    }
}
