//! Reads the files that a request names: an empty one, or one of another kind, is called by its name.

use std::path::Path;

use super::error::{CatalogueFileError, RequestError};
use experiment::kind::Kind;
use experiment::spec::{Located, SpecError, located};
use files::input;
use import::{Format, argument, sniff};
use profile::Profile;

/// The text of an experiment's file, with its paths relative to the current folder.
///
/// # Errors
/// When it cannot be read, is another kind of file, or has a path that leads to two files.
pub fn experiment(file: &str) -> Result<Located, RequestError> {
    let text = input::named(Path::new(file)).map_err(|error| SpecError::Unreadable {
        file: file.to_owned(),
        why: error.to_string(),
    })?;
    in_format(file, text)
}

/// The same for a server's current layout.
///
/// # Errors
/// When it cannot be read, is empty or another kind of file, or has a path that leads to two files.
pub fn layout(file: &str) -> Result<Located, RequestError> {
    let refused = |why: String| RequestError::LayoutFile {
        file: file.to_owned(),
        why,
    };
    let text = input::named(Path::new(file)).map_err(|error| refused(error.to_string()))?;
    if let Some(format) = recording(file, &text) {
        return Err(refused(format!("it is a recording of {format}")));
    }
    match Kind::of(&text) {
        Some(Kind::Empty) => Err(refused("it is empty".to_owned())),
        Some(Kind::Profile) => Err(refused(
            "it is a profile, which is named without --today".to_owned(),
        )),
        _ => in_format(file, text),
    }
}

/// The tool that recorded `text`, if it is none of dbstow's own files.
fn recording(file: &str, text: &str) -> Option<Format> {
    let is_own = Kind::of(text).is_some();
    sniff(file, text).filter(|_| !is_own)
}

/// `text` of `file`, if it is an experiment or a layout.
fn in_format(file: &str, text: String) -> Result<Located, RequestError> {
    Kind::Experiment.check(file, &text)?;
    Ok(located(file, text)?)
}

/// A profile.
///
/// # Errors
/// When the file cannot be read, is another kind of file, or has a mistake.
pub fn profile(file: &Path) -> Result<Profile, RequestError> {
    let name = file.display().to_string();
    let text = input::named(file).map_err(|error| RequestError::ProfileFile {
        file: name.clone(),
        why: error.to_string(),
    })?;
    if let Some(format) = recording(&name, &text) {
        let why = format!(
            "it is a recording of {format}, of which `dbstow import {} --out profile.toml` makes a profile",
            argument(&name)
        );
        return Err(RequestError::ProfileFile { file: name, why });
    }
    Kind::Profile.check(&name, &text)?;
    Ok(profile::read(&name, &text)?)
}

/// The text of a catalogue file.
///
/// # Errors
/// When it cannot be read, is empty, or is another kind of file.
pub fn catalogue(file: &Path) -> Result<String, CatalogueFileError> {
    let text = input::named(file);
    let text = text.map_err(|error| CatalogueFileError::Unreadable(error.to_string()))?;
    if Kind::of(&text) == Some(Kind::Empty) {
        return Err(CatalogueFileError::Unreadable("it is empty".to_owned()));
    }
    Kind::Catalogue.check(&file.display().to_string(), &text)?;
    Ok(text)
}
