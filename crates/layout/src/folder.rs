//! Folders as the server sees them: in the syntax of its system, which may differ from the one that dbstow runs on.

use std::fmt;

/// The syntax of paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// `D:\tempdb`.
    Windows,
    /// `/mnt/fast/tempdb`.
    Unix,
}

impl Style {
    /// An example of a folder.
    pub(crate) fn example(self) -> &'static str {
        match self {
            Style::Windows => "D:\\tempdb",
            Style::Unix => "/mnt/fast/tempdb",
        }
    }

    /// The likely style of a text, where it has an indication of one.
    pub fn of(path: &str) -> Option<Style> {
        match path.chars().next() {
            Some('/') => Some(Style::Unix),
            Some('\\') => Some(Style::Windows),
            Some(first) if first.is_ascii_alphabetic() && path[1..].starts_with(':') => {
                Some(Style::Windows)
            }
            Some(_) | None => None,
        }
    }

    fn separator(self) -> char {
        match self {
            Style::Windows => '\\',
            Style::Unix => '/',
        }
    }
}

/// An absolute path of a folder, without a trailing separator unless it is a root.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Folder(String);

impl Folder {
    /// Checks a folder against a style.
    ///
    /// # Errors
    /// What is wrong with it, and the remedy.
    pub fn new(text: &str, style: Style) -> Result<Folder, String> {
        let example = style.example();
        if text.chars().any(char::is_control) {
            return Err("there is a control character in it; leave it out".to_owned());
        }
        match (Style::of(text), style) {
            (Some(Style::Windows), Style::Unix) => {
                return Err(format!(
                    "this is a path of Windows, and the server runs on Linux; give one such as {example}"
                ));
            }
            (Some(Style::Unix), Style::Windows) => {
                return Err(format!(
                    "this is a path of Linux, and the server runs on Windows; give one such as {example}"
                ));
            }
            (None, _) => {
                return Err(format!(
                    "the path is not absolute, and the server has another current folder; give one such as {example}"
                ));
            }
            (Some(_), _) => {}
        }
        let folder = match style {
            Style::Windows => windows(text)?,
            Style::Unix => unix(text)?,
        };
        let parts = folder.split(style.separator());
        if parts.into_iter().any(|part| part == "." || part == "..") {
            return Err(format!(
                "leave . and .. out of it; give one such as {example}"
            ));
        }
        Ok(Folder(folder))
    }

    /// The path itself.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The path of a file in it.
    pub fn file(&self, name: &str) -> String {
        let style = Style::of(&self.0).unwrap_or(Style::Unix);
        let separator = style.separator();
        match self.0.ends_with(separator) {
            true => format!("{}{name}", self.0),
            false => format!("{}{separator}{name}", self.0),
        }
    }

    /// Whether it is the root of a drive or of a mount, which already exists.
    pub fn is_root(&self) -> bool {
        self.0.ends_with(['\\', '/'])
    }

    /// Systemd units for a mount of this folder and of those above it, except the root.
    ///
    /// Source: systemd.unit(5), "String escaping for inclusion in unit names".
    pub fn mount_units(&self) -> Vec<String> {
        let parts: Vec<&str> = self.0.split('/').filter(|part| !part.is_empty()).collect();
        let escaped = |(place, byte): (usize, u8)| match byte {
            b'/' => "-".to_owned(),
            b'.' if place == 0 => "\\x2e".to_owned(),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b':' | b'_' | b'.' => {
                char::from(byte).to_string()
            }
            other => format!("\\x{other:02x}"),
        };
        let unit = |count: usize| {
            let path = parts[..count].join("/");
            let name: String = path.bytes().enumerate().map(escaped).collect();
            format!("{name}.mount")
        };
        (1..=parts.len()).map(unit).collect()
    }

    /// Whether a file's path lies directly in it.
    pub fn holds(&self, path: &str) -> bool {
        let end = path.rfind(['\\', '/']).unwrap_or(0);
        let own = self.0.trim_end_matches(['\\', '/']);
        path[..end].to_lowercase() == own.to_lowercase()
    }

    /// Whether it lies under a mount point.
    pub fn is_under(&self, mount_point: &str) -> bool {
        let ends = ['\\', '/'];
        let mount = mount_point.trim_end_matches(ends).to_lowercase();
        let own = self.0.to_lowercase();
        own.strip_prefix(&mount)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(ends))
    }
}

impl fmt::Display for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Source of the characters that are invalid in names:
/// <https://learn.microsoft.com/windows/win32/fileio/naming-a-file>, read 2026-11.
fn windows(text: &str) -> Result<String, String> {
    let text = text.replace('/', "\\");
    let is_share = text.starts_with("\\\\");
    let rest = text
        .get(2..)
        .filter(|_| is_share || !text.starts_with('\\'));
    let Some(rest) = rest else {
        let why = "without a drive, the path is not absolute; give one such as D:\\tempdb";
        return Err(why.to_owned());
    };
    if !is_share && !rest.starts_with('\\') {
        return Err(format!(
            "without a backslash after the drive, the path is not absolute; give {}\\{rest}",
            &text[..2]
        ));
    }
    if let Some(odd) = rest.chars().find(|c| "<>:\"|?*".contains(*c)) {
        return Err(format!("Windows allows no {odd} in a path; leave it out"));
    }
    if is_share && rest.split('\\').filter(|part| !part.is_empty()).count() < 2 {
        return Err("a share is \\\\SERVER\\SHARE; give both".to_owned());
    }
    let trimmed = text.trim_end_matches('\\');
    match trimmed.ends_with(':') {
        true => Ok(format!("{trimmed}\\")),
        false => Ok(trimmed.to_owned()),
    }
}

fn unix(text: &str) -> Result<String, String> {
    if text.contains('\\') {
        return Err("SQL Server takes a backslash for a separator; leave it out".to_owned());
    }
    match text.trim_end_matches('/') {
        "" => Err("this is the root of all; give a folder in it".to_owned()),
        trimmed => Ok(trimmed.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_a_whole_path_of_the_servers_system() {
        let text = |text: &str, style| Folder::new(text, style).map(|folder| folder.to_string());
        assert_eq!(
            text("D:/tempdb/", Style::Windows),
            Ok("D:\\tempdb".to_owned())
        );
        assert_eq!(text("D:\\", Style::Windows), Ok("D:\\".to_owned()));
        assert_eq!(text("/mnt/d/", Style::Unix), Ok("/mnt/d".to_owned()));
        for (given, style, says) in [
            ("tempdb", Style::Windows, "not absolute"),
            ("D:tempdb", Style::Windows, "give D:\\tempdb"),
            ("/mnt/d", Style::Windows, "path of Linux"),
            ("D:\\tempdb", Style::Unix, "path of Windows"),
            ("D:\\a\"b", Style::Windows, "no \" in a path"),
            ("D:\\a\\..\\b", Style::Windows, "leave . and .. out"),
            ("/", Style::Unix, "root of all"),
            ("\\\\server", Style::Windows, "give both"),
            ("\\é", Style::Windows, "without a drive"),
            ("\\", Style::Windows, "without a drive"),
            ("/mnt/a\nb", Style::Unix, "control character"),
        ] {
            let why = text(given, style).expect_err(given);
            assert!(why.contains(says), "{given}: {why}");
        }
    }

    /// Output of `systemd-escape --path --suffix=mount`.
    #[test]
    fn a_mount_has_the_name_that_systemd_gives_it() {
        let units = |text| Folder::new(text, Style::Unix).expect(text).mount_units();
        assert_eq!(units("/mnt/x2"), ["mnt.mount", "mnt-x2.mount"]);
        assert_eq!(
            units("/.a/b-c d/é"),
            [
                "\\x2ea.mount",
                "\\x2ea-b\\x2dc\\x20d.mount",
                "\\x2ea-b\\x2dc\\x20d-\\xc3\\xa9.mount"
            ]
        );
    }

    #[test]
    fn the_longest_mount_point_need_not_be_a_drive() {
        let folder = Folder::new("C:\\mnt\\fast\\tempdb", Style::Windows).expect("a folder");
        assert!(folder.is_under("c:\\mnt\\fast\\"));
        assert!(folder.is_under("C:\\"));
        assert!(!folder.is_under("C:\\mnt\\fa\\"));
        assert!(folder.holds("C:\\MNT\\fast\\tempdb\\a.mdf"));
        assert_eq!(folder.file("a.mdf"), "C:\\mnt\\fast\\tempdb\\a.mdf");
        let root = Folder::new("/mnt", Style::Unix).expect("a folder");
        assert!(root.is_under("/"));
    }
}
