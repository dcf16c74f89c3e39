//! Shared by the commands that list or show: the format, and the catalogue with the user's own files.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::ValueEnum;

use catalogue::Catalogue;
use lab::request::inputs;

/// How a list is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// Tables and sentences
    #[default]
    Text,
    /// One JSON document
    Json,
}

impl ListFormat {
    /// Prints in this format.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn print(self, text: &str) -> io::Result<()> {
        match self {
            ListFormat::Text => super::print(text),
            ListFormat::Json => super::print_json(text),
        }
    }
}

/// The built-in catalogue, with the user's own files.
pub(super) fn catalogue(files: &[PathBuf]) -> anyhow::Result<Catalogue> {
    let mut catalogue = Catalogue::builtin();
    for file in files {
        add(&mut catalogue, file)?;
    }
    Ok(catalogue)
}

/// Adds the entries of a user's own file.
pub(super) fn add(catalogue: &mut Catalogue, file: &Path) -> anyhow::Result<()> {
    let name = file.display().to_string();
    let text = inputs::catalogue(file).with_context(|| format!("--catalogue {name}"))?;
    Ok(catalogue.add(&text, &name)?)
}
