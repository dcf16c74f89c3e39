//! A generated file.

use askama::Template;

/// The file to read first.
pub const README: &str = "README.md";

/// A file of a set, most of them scripts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// Its name.
    pub name: String,
    /// Its text, ending in a line feed.
    pub text: String,
}

impl Script {
    /// Renders a template in the encoding that files of this name need: `cmd` wants carriage returns, and Windows
    /// PowerShell reads UTF-8 only behind a byte order mark.
    ///
    /// # Panics
    /// When the template fails to render, which one of texts and numbers does not.
    pub fn new(name: &str, template: &impl Template) -> Script {
        let text = template.render().expect("a template of texts and numbers") + "\n";
        let text = match name.rsplit_once('.') {
            Some((_, "cmd")) => text.replace('\n', "\r\n"),
            Some((_, "ps1")) if !text.is_ascii() => format!("\u{feff}{text}"),
            Some(_) | None => text,
        };
        Script {
            name: name.to_owned(),
            text,
        }
    }
}
