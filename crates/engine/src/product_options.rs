//! Options of single products: the provider declares them, the command line parses them, the product looks them up by
//! name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::Duration;

/// An option of one product.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// Its name, as on the command line after `--`.
    pub name: &'static str,
    /// The kind of its value.
    pub kind: OptionKind,
    /// One or two sentences of help, which name the product.
    pub help: &'static str,
    /// Whether it determines the outcome of a trial, so that a plan records it.
    pub is_fact: bool,
    /// Another option that conflicts with it.
    pub excludes: Option<&'static str>,
    /// Whether a drill also takes it.
    pub in_drill: bool,
    /// Whether a rehearsal also takes it.
    pub in_rehearsal: bool,
    /// For login options, which every command that connects to a server accepts: their help heading.
    pub login: Option<&'static str>,
}

/// The kind of an option's value.
#[derive(Clone, Copy, Debug)]
pub enum OptionKind {
    /// None.
    Flag,
    /// A text, with its placeholder in the help.
    Text(&'static str),
    /// A path, with its placeholder in the help.
    Path(&'static str),
    /// A time.
    Time,
    /// One of these words, each with its help.
    Word(&'static [(&'static str, &'static str)]),
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionValue {
    /// None: the option itself.
    Flag,
    /// A text.
    Text(String),
    /// A path.
    Path(PathBuf),
    /// A time.
    Time(Duration),
    /// One of the words that the option takes.
    Word(&'static str),
}

/// Product options given by the user, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProductOptions(BTreeMap<&'static str, OptionValue>);

impl ProductOptions {
    /// Stores an option.
    pub fn set(&mut self, name: &'static str, value: OptionValue) {
        self.0.insert(name, value);
    }

    /// Names of all given options.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.keys().copied()
    }

    /// Whether none was given.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether an option was given.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The union of both.
    #[must_use]
    pub fn with(mut self, others: ProductOptions) -> ProductOptions {
        self.0.extend(others.0);
        self
    }

    /// The text value; `None` if not given, or of another kind.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.0.get(name)? {
            OptionValue::Text(text) => Some(text),
            OptionValue::Word(word) => Some(word),
            OptionValue::Flag | OptionValue::Path(_) | OptionValue::Time(_) => None,
        }
    }

    /// The path value; `None` if not given, or of another kind.
    pub fn path(&self, name: &str) -> Option<&Path> {
        match self.0.get(name)? {
            OptionValue::Path(path) => Some(path),
            OptionValue::Flag
            | OptionValue::Text(_)
            | OptionValue::Time(_)
            | OptionValue::Word(_) => None,
        }
    }

    /// The time value; `None` if not given, or of another kind.
    pub fn time(&self, name: &str) -> Option<Duration> {
        match self.0.get(name)? {
            OptionValue::Time(time) => Some(*time),
            OptionValue::Flag
            | OptionValue::Text(_)
            | OptionValue::Path(_)
            | OptionValue::Word(_) => None,
        }
    }

    /// Makes every path absolute.
    ///
    /// # Errors
    /// When the current directory is not known.
    pub(crate) fn make_absolute(&mut self) -> std::io::Result<()> {
        for value in self.0.values_mut() {
            if let OptionValue::Path(path) = value {
                *path = std::path::absolute(&*path)?;
            }
        }
        Ok(())
    }

    /// The value of an option, as recorded in a plan; a flag is `true`.
    pub(crate) fn shown(&self, name: &str) -> Option<String> {
        Some(match self.0.get(name)? {
            OptionValue::Flag => "true".to_owned(),
            OptionValue::Text(text) => text.clone(),
            OptionValue::Path(path) => path.display().to_string(),
            OptionValue::Time(time) => time.to_string(),
            OptionValue::Word(word) => (*word).to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_read_as_what_it_takes_and_as_nothing_else() {
        let mut options = ProductOptions::default();
        options.set("bin", OptionValue::Path("/opt/server".into()));
        options.set("limit", OptionValue::Time(Duration::from_secs(60)));
        options.set("driven", OptionValue::Word("server"));
        assert_eq!(options.path("bin"), Some(Path::new("/opt/server")));
        assert_eq!(options.text("bin"), None);
        assert_eq!(options.time("limit"), Some(Duration::from_secs(60)));
        assert_eq!(options.text("driven"), Some("server"));
        assert_eq!((options.path("other"), options.has("other")), (None, false));
    }
}
