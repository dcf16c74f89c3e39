//! An experiment's text before it is read, and where it comes from.

use toml_edit::{DocumentMut, Item};

use super::builtin::builtin_text;
use super::document::{Text, typed};
use super::error::SpecError;

/// An experiment in the file format: from a file, built in, or built by code. Nothing of it is read or checked yet.
///
/// ```
/// use experiment::spec::ExperimentText;
///
/// let experiment = ExperimentText::builtin("files-times-disks")?;
/// assert!(experiment.text().contains("[workload]"));
/// # Ok::<(), experiment::spec::SpecError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ExperimentText {
    pub(super) source: TextSource,
    pub(super) text: String,
}

/// Where a text comes from: what its errors refer to.
#[derive(Clone, Debug)]
pub(super) enum TextSource {
    /// A file, as named by the user.
    File(String),
    /// Code that built the experiment of this name.
    Code(String),
}

impl ExperimentText {
    /// `text` of `file`, which is only named in errors. Paths in it are relative to the current folder: [`super::located`]
    /// converts those of a file.
    pub fn of_file(file: impl Into<String>, text: impl Into<String>) -> ExperimentText {
        ExperimentText {
            source: TextSource::File(file.into()),
            text: text.into(),
        }
    }

    /// `text` of the experiment `name`, which code built: its errors name keys, not lines.
    pub(crate) fn of_code(name: &str, text: String) -> ExperimentText {
        ExperimentText {
            source: TextSource::Code(name.to_owned()),
            text,
        }
    }

    /// The built-in experiment `name`.
    ///
    /// # Errors
    /// When it does not exist, with the nearest name.
    pub fn builtin(name: &str) -> Result<ExperimentText, SpecError> {
        let text = builtin_text(name)?;
        Ok(ExperimentText::of_file(
            format!("experiments/{name}.toml"),
            text,
        ))
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names of its keys and sections at the top level; `None` if it is not TOML, which is reported when it is read.
    pub fn sections(&self) -> Option<Vec<String>> {
        let table: toml::Table = toml::from_str(&self.text).ok()?;
        Some(table.keys().cloned().collect())
    }

    /// The same with `set`, dotted keys and their values as a user types them.
    ///
    /// # Errors
    /// What is wrong with the text, with its line, or with a key.
    pub fn with(self, set: &[(String, String)]) -> Result<ExperimentText, SpecError> {
        if set.is_empty() {
            return Ok(self);
        }
        let (text, _) = Text::read(&self.text)
            .map_err(|(line, message)| self.source.error(&self.text, line, &[], message))?;
        let edits = set.iter().map(|(key, value)| (key.as_str(), typed(value)));
        let edited = text.edited(&edits.collect::<Vec<_>>());
        let edited = edited.map_err(|(at, message)| {
            let (key, value) = set[at].clone();
            SpecError::Override {
                key,
                value,
                message,
            }
        })?;
        Ok(ExperimentText {
            text: edited.source().to_owned(),
            ..self
        })
    }

    /// The same without its workload, if that replays a profile.
    pub fn without_profile(self) -> ExperimentText {
        let Ok(mut document) = self.text.parse::<DocumentMut>() else {
            // Its errors are reported with their place later.
            return self;
        };
        let workload = document.get("workload").and_then(Item::as_table_like);
        if !workload.is_some_and(|workload| workload.contains_key("profile")) {
            return self;
        }
        document.remove("workload");
        ExperimentText {
            text: document.to_string(),
            ..self
        }
    }
}

impl TextSource {
    /// An error on a line of `text`, or at `key` if known.
    pub(super) fn error(
        &self,
        text: &str,
        line: usize,
        key: &[String],
        message: String,
    ) -> SpecError {
        match self {
            TextSource::File(file) => SpecError::File {
                file: file.clone(),
                line,
                message,
            },
            TextSource::Code(experiment) => {
                let set = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
                let key = match key {
                    [] => format!("`{}`", set.trim()),
                    key => key.join("."),
                };
                SpecError::Code {
                    experiment: experiment.clone(),
                    key,
                    message,
                }
            }
        }
    }
}
