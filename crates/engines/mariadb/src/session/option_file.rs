//! The user's option file, `~/.my.cnf`: the password in its section `[client]`. Everything else in it, and included files, is
//! ignored.
//!
//! Source: <https://dev.mysql.com/doc/refman/8.4/en/option-files.html>, "Option File Syntax", read 2026-11-25.

use std::path::Path;

use engine::server_url::secret_in;

/// The password in an option file; `None` if the file or the password is missing.
///
/// # Errors
/// As text, when it has a password and other users can read it.
pub(crate) fn password(file: &Path) -> Result<Option<String>, String> {
    secret_in(file, password_in)
}

/// The last password of `[client]`.
fn password_in(text: &str) -> Option<String> {
    let mut is_of_clients = false;
    let mut password = None;
    for line in text.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            let name = section.split(']').next().unwrap_or_default();
            is_of_clients = name.trim() == "client";
        } else if is_of_clients
            && let Some((name, value)) = line.split_once('=')
            && name.trim() == "password"
        {
            password = Some(value_of(value));
        }
    }
    password.filter(|password| !password.is_empty())
}

/// A value without its quotes, and without the comment that follows it.
fn value_of(text: &str) -> String {
    let text = text.trim();
    let quote = text
        .chars()
        .next()
        .filter(|first| ['"', '\''].contains(first));
    let inner = quote.and_then(|quote| {
        let rest = &text[1..];
        Some(&rest[..rest.find(quote)?])
    });
    let bare = || text.split(" #").next().unwrap_or_default().trim_end();
    unescaped(inner.unwrap_or_else(bare))
}

/// `\b`, `\t`, `\n`, `\r`, `\\` and `\s` stand for one character each.
fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            plain.push(character);
            continue;
        }
        match characters.next() {
            Some('b') => plain.push('\u{8}'),
            Some('t') => plain.push('\t'),
            Some('n') => plain.push('\n'),
            Some('r') => plain.push('\r'),
            Some('s') => plain.push(' '),
            Some('\\') | None => plain.push('\\'),
            Some(other) => plain.extend(['\\', other]),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_password_for_clients_counts() {
        let text = "password = none\n[client]\nuser=ann\n# password = old\npassword = first\n\
                    password= 's3 #cret'  # mine\n[mysqldump]\npassword=other\n";
        assert_eq!(password_in(text).as_deref(), Some("s3 #cret"));
        for (value, expected) in [
            ("plain", "plain"),
            ("a#b # comment", "a#b"),
            (r"one\stwo\\three\q", r"one two\three\q"),
            (r#""a'b""#, "a'b"),
        ] {
            let text = format!("[client]\npassword={value}");
            assert_eq!(password_in(&text).as_deref(), Some(expected), "{value}");
        }
        for none in [
            "[client]\npassword\n",
            "[client]\npassword=\n",
            "[mysqld]\npassword=x",
        ] {
            assert_eq!(password_in(none), None, "{none}");
        }
    }
}
