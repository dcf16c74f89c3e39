//! Quoting in scripts: template filters, each for the language of a script. A product adds those of its own language.

// `filter_fn` does not pass comments on to the type that it generates.
#![expect(missing_docs)]

use std::fmt::Display;

use askama::{Result, Values, filter_fn};

/// A word of a POSIX shell.
#[filter_fn]
pub fn sh<T: Display>(text: T, _: &dyn Values) -> Result<String> {
    Ok(shell_words::quote(&text.to_string()).into_owned())
}

/// A PowerShell string: inside single quotes only single quotes are special, and PowerShell treats typographic ones
/// alike.
///
/// Source: <https://learn.microsoft.com/powershell/module/microsoft.powershell.core/about/about_quoting_rules>,
/// read 2026-11.
#[filter_fn]
pub fn powershell<T: Display>(text: T, _: &dyn Values) -> Result<String> {
    Ok(in_powershell(&text.to_string()))
}

pub(crate) fn in_powershell(text: &str) -> String {
    let mut quoted = String::from("'");
    for letter in text.chars() {
        quoted.push(letter);
        if matches!(letter, '\'' | '‘' | '’' | '‚' | '‛') {
            quoted.push(letter);
        }
    }
    quoted + "'"
}

/// A word of a systemd unit's command: specifiers begin with a per cent sign, variables with a dollar.
///
/// Source: systemd.service(5) "Command lines" and systemd.syntax(7) "Quoting".
#[filter_fn]
pub fn systemd_command<T: Display>(text: T, _: &dyn Values) -> Result<String> {
    Ok(in_unit(&text.to_string()).replace('$', "$$"))
}

/// A path in a systemd unit, where dollars are not special.
#[filter_fn]
pub fn systemd_path<T: Display>(text: T, _: &dyn Values) -> Result<String> {
    Ok(in_unit(&text.to_string()))
}

fn in_unit(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaped.replace('%', "%%"))
}

/// A string of YAML, which is also one of JSON.
#[filter_fn]
pub fn yaml<T: Display>(text: T, _: &dyn Values) -> Result<String> {
    let mut quoted = String::from("\"");
    for letter in text.to_string().chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            // Control characters, and what a YAML parser may take for a line break.
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' => {
                quoted += &format!("\\u{:04x}", u32::from(letter));
            }
            other => quoted.push(other),
        }
    }
    Ok(quoted + "\"")
}

/// A comment of a script, or a sentence of a README, always on one line.
#[filter_fn]
pub fn line<T: Display>(text: T, _: &dyn Values) -> Result<String> {
    Ok(in_one_line(&text.to_string()))
}

fn in_one_line(text: &str) -> String {
    let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
    text.chars().map(plain).collect()
}

/// A text in a table of Markdown: a bar would end the cell.
pub fn cell(text: &str) -> String {
    let text = in_one_line(text).replace('|', "\\|").replace('`', "'");
    format!("`{text}`")
}

#[cfg(test)]
mod tests {
    use askama::Template;

    use super::super::quote as filters;

    #[derive(Template)]
    #[template(
        source = "{{ path|sh }} {{ path|powershell }} {{ path|systemd_command }} {{ path|systemd_path }} \
                  {{ path|yaml }}",
        ext = "txt"
    )]
    struct All {
        path: &'static str,
    }

    #[derive(Template)]
    #[template(source = "# {{ text|line }}", ext = "txt")]
    struct Comment {
        text: &'static str,
    }

    #[test]
    fn no_text_leaves_its_quotes() {
        let all = |path| All { path }.render().expect("texts");
        assert_eq!(
            all("a b'$(x)"),
            "'a b'\\''$(x)' 'a b''$(x)' \"a b'$$(x)\" \"a b'$(x)\" \"a b'$(x)\""
        );
        assert_eq!(
            all("%n ’\"\\"),
            "'%n ’\"\\' '%n ’’\"\\' \"%%n ’\\\"\\\\\" \"%%n ’\\\"\\\\\" \"%n ’\\\"\\\\\""
        );
        let text = "a\nrm -rf";
        assert_eq!(Comment { text }.render().expect("a text"), "# a rm -rf");
        assert_eq!(super::cell("a|b`\n"), "`a\\|b' `");
    }
}
