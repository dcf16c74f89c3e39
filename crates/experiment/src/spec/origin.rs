//! The origin of an experiment: its text, what was changed in it, and the place of an error there.

use std::collections::BTreeMap;
use std::sync::Arc;

use toml_edit::Value;

use super::document::{Text, typed};
use super::error::{Fault, SpecError, touches};
use super::experiment_text::{ExperimentText, TextSource};
use super::mode::{Mode, Variant};
use super::wire;

/// Origin of the text: turns a fault into an error with its location.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    source: TextSource,
    /// The text as in its file.
    pub(super) text: Arc<Text>,
    /// The text with the settings that the variant selects.
    pub(super) start: Arc<Text>,
    pub(super) overrides: Vec<(String, String)>,
    pub(super) variant: Variant,
}

impl Origin {
    /// Reads `experiment`, without overrides.
    ///
    /// # Errors
    /// The first error in its shape, or in a section that sets keys of others, with its line.
    pub(super) fn read(experiment: &ExperimentText, variant: Variant) -> Result<Origin, SpecError> {
        let ExperimentText { source, text } = experiment;
        let (text, asked) =
            Text::read(text).map_err(|(line, message)| source.error(text, line, &[], message))?;
        let text = Arc::new(text);
        let mut origin = Origin {
            source: source.clone(),
            text: Arc::clone(&text),
            start: text,
            overrides: Vec::new(),
            variant,
        };
        for (section, keys, in_force) in sections(&asked, &origin.variant) {
            // Those that do not apply are checked anyway.
            let with = with_all(&origin.start, keys, &[section]);
            let with = with.map_err(|fault| origin.in_file(fault))?;
            if in_force {
                origin.start = Arc::new(with);
            }
        }
        Ok(origin)
    }

    /// The text with the overrides.
    ///
    /// # Errors
    /// The first override at fault.
    pub(super) fn overridden(&self) -> Result<Text, SpecError> {
        let edits = self.overrides.iter();
        let edits = edits.map(|(key, value)| (key.as_str(), typed(value)));
        let edited = self.start.edited(&edits.collect::<Vec<_>>());
        edited.map_err(|(at, message)| {
            let (key, value) = self.overrides[at].clone();
            SpecError::Override {
                key,
                value,
                message,
            }
        })
    }

    /// Locates a fault: at the override that introduced it, or at its line.
    ///
    /// `found` looks for a fault with other overrides. The override to blame is the last one without which the fault disappears:
    /// the fault's key does not determine it, since a conflict involves two keys. The key decides only if another fault appears
    /// instead.
    pub(super) fn error(
        &self,
        fault: Fault,
        found: impl Fn(&Origin) -> Option<Fault>,
    ) -> SpecError {
        let brings_in = |at: &usize| {
            let without = Origin {
                overrides: self.overrides[..*at].to_vec(),
                ..self.clone()
            };
            match found(&without) {
                None => true,
                Some(other) if other.message == fault.message => false,
                Some(_) => touches(&self.overrides[*at].0, &fault.key),
            }
        };
        let brought_in = (0..self.overrides.len()).rev().find(brings_in);
        match brought_in {
            None => self.in_file(fault),
            Some(at) => {
                let (key, value) = self.overrides[at].clone();
                SpecError::Override {
                    key,
                    value,
                    message: fault.message,
                }
            }
        }
    }

    /// Locates a fault in the file: at its line, or at the line of the section that sets its key.
    pub(super) fn in_file(&self, fault: Fault) -> SpecError {
        let Fault { key, message } = fault;
        let wire = self.text.wire();
        let set_by = sections(&wire, &self.variant)
            .into_iter()
            .rev()
            .filter(|(_, _, in_force)| *in_force)
            .find_map(|(section, keys, _)| {
                let set = keys.keys().find(|set| touches(set, &key))?;
                Some(self.text.line(&[section.to_owned(), set.clone()]))
            });
        let line = set_by.unwrap_or_else(|| self.text.line(&key));
        self.source.error("", line, &key, message)
    }
}

/// The sections that set keys of others, in order, and whether they apply.
fn sections<'a>(
    asked: &'a wire::Experiment,
    variant: &Variant,
) -> [(&'static str, &'a BTreeMap<String, toml::Value>, bool); 3] {
    let is_real = variant.mode != Mode::Simulate;
    let of_engine = wire::REAL_TIME_OF_ENGINE.strip_prefix("real-time-");
    let is_of_engine = of_engine == Some(variant.engine.as_str());
    [
        (wire::REAL_TIME, &asked.real_time, is_real),
        (
            wire::REAL_TIME_OF_ENGINE,
            &asked.real_time_of_engine,
            // Loading the amount of data that a server needs is not quick.
            is_real && is_of_engine && !variant.quick,
        ),
        (wire::QUICK, &asked.quick, variant.quick),
    ]
}

/// `text` with `keys` set; faults are attributed to the entries under `blamed`.
pub(super) fn with_all(
    text: &Text,
    keys: &BTreeMap<String, toml::Value>,
    blamed: &[&str],
) -> Result<Text, Fault> {
    let fault = |key: &str, message: String| {
        let path = [blamed, &[key]].concat();
        Fault::at(&path, format!("{key}: {message}"))
    };
    let edits = keys.iter().map(|(key, value)| {
        let value = value.to_string().parse::<Value>();
        let value = value.map_err(|error| fault(key, error.message().to_owned()))?;
        Ok((key.as_str(), value))
    });
    let edits = edits.collect::<Result<Vec<_>, Fault>>()?;
    let edited = text.edited(&edits);
    edited.map_err(|(at, message)| fault(edits[at].0, message))
}
