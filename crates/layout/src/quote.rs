//! Texts inside of scripts: quoted for the shell that reads them.

use std::borrow::Cow;

/// For a POSIX shell.
pub(super) fn sh(text: &str) -> Cow<'_, str> {
    shell_words::quote(text)
}

/// For PowerShell: within single quotes only they mean something, and PowerShell takes typographic ones for
/// the same.
///
/// Source: <https://learn.microsoft.com/powershell/module/microsoft.powershell.core/about/about_quoting_rules>,
/// read 2026-11.
pub(super) fn powershell(text: &str) -> String {
    let mut quoted = String::from("'");
    for letter in text.chars() {
        quoted.push(letter);
        if matches!(letter, '\'' | '‘' | '’' | '‚' | '‛') {
            quoted.push(letter);
        }
    }
    quoted + "'"
}

/// For a word of a systemd unit: specifiers begin with a per cent sign, variables with a dollar.
///
/// Source: systemd.service(5) "Command lines" and systemd.syntax(7) "Quoting".
pub(super) fn systemd_command(text: &str) -> String {
    systemd_path(text).replace('$', "$$")
}

/// For a path in a unit, where dollars mean nothing.
pub(super) fn systemd_path(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaped.replace('%', "%%"))
}

/// A comment of a script in one line, whatever the text.
pub(super) fn line(text: &str) -> String {
    let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
    text.chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_leaves_its_quotes() {
        assert_eq!(sh("/a b'$(x)"), "'/a b'\\''$(x)'");
        assert_eq!(powershell("D:\\it's ’x"), "'D:\\it''s ’’x'");
        assert_eq!(systemd_command("/a %n $x \"y"), "\"/a %%n $$x \\\"y\"");
        assert_eq!(line("a\nrm -rf"), "a rm -rf");
    }
}
