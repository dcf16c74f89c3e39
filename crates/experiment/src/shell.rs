//! A command as one line that can be typed.

/// Joins `words` into a line for a shell of this platform: `sh`, or on Windows both `cmd` and PowerShell.
pub fn line<W: AsRef<str>>(words: impl IntoIterator<Item = W>) -> String {
    match cfg!(windows) {
        true => windows_line(words),
        false => shell_words::join(words),
    }
}

/// With double quotes, the only ones that both know.
fn windows_line<W: AsRef<str>>(words: impl IntoIterator<Item = W>) -> String {
    let words = words.into_iter();
    let quoted: Vec<String> = words.map(|word| windows_word(word.as_ref())).collect();
    quoted.join(" ")
}

/// A quote within is escaped, and so are backslashes before one, as the C library of Windows reads them.
fn windows_word(word: &str) -> String {
    // PowerShell makes several words of one with a comma.
    let is_plain = |c: char| c.is_alphanumeric() || "-_./\\:=+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    let mut quoted = "\"".to_owned();
    let mut backslashes = 0;
    for c in word.chars() {
        match c {
            '\\' => backslashes += 1,
            '"' => quoted.push_str(&"\\".repeat(backslashes + 1)),
            _ => {}
        }
        if c != '\\' {
            backslashes = 0;
        }
        quoted.push(c);
    }
    quoted.push_str(&"\\".repeat(backslashes));
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_for_windows_has_double_quotes_where_they_are_needed() {
        let words = ["dbstow", "run", r"advice\finalists.toml", "--set", "a=b"];
        assert_eq!(
            windows_line(words),
            r"dbstow run advice\finalists.toml --set a=b"
        );
        let words = ["data,temp", r"C:\my files\", "", r#"say \"x""#];
        assert_eq!(
            windows_line(words),
            r#""data,temp" "C:\my files\\" "" "say \\\"x\"""#
        );
    }

    #[cfg(not(windows))]
    #[test]
    fn a_line_for_sh_is_read_back() {
        let words = ["dbstow", "it's", "a b", "$x"];
        assert_eq!(
            shell_words::split(&line(words)).expect("it is quoted"),
            words
        );
    }
}
