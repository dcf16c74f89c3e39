//! Files that were dropped on the page: recordings of other tools, or a profile.

use analysis::report::profile::page;
use experiment::kind::Kind;
use import::{Device, Options, Source};
use serde::{Deserialize, Serialize};

use crate::Refused;

/// Largest total size of dropped files, in bytes: with texts and tables of them, the page stays below 1 GB.
const BYTES_MAX: usize = 256 << 20;

/// A file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// Its name, as the browser shows it.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// What the files became.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imported {
    /// What wrote them, such as `iostat`; or that it is a profile.
    pub from: String,
    /// The profile, in TOML.
    pub profile: String,
    /// What was left out, as sentences.
    pub notes: Vec<String>,
    /// A page that shows the profile: its series, what it can answer, what is missing, what was assumed.
    pub page: String,
}

/// The profile of `files`, with `devices` such as `data=D:` assigned.
///
/// # Errors
/// When there is no file, a file is empty, binary, of no known tool, or too large, or files do not go together.
pub fn import(files: &[Dropped], devices: &[String]) -> Result<Imported, Refused> {
    if files.is_empty() {
        return Err(Refused("there is no file; drop one or more".to_owned()));
    }
    let bytes: usize = files.iter().map(|file| file.bytes.len()).sum();
    if bytes > BYTES_MAX {
        return Err(Refused(format!(
            "these files have {} MiB, and the page takes {}; use `dbstow import`, or drop fewer files",
            bytes >> 20,
            BYTES_MAX >> 20
        )));
    }
    let texts = files.iter().map(|file| {
        let text = import::decode(&file.name, &file.bytes);
        Ok((
            file.name.as_str(),
            text.map_err(|error| Refused::because(&error))?,
        ))
    });
    let texts: Vec<(&str, String)> = texts.collect::<Result<_, Refused>>()?;
    if let [(name, text)] = texts.as_slice()
        && Kind::of(text) == Some(Kind::Profile)
    {
        let profile = profile::read(name, text).map_err(|error| Refused::because(&error))?;
        return Ok(Imported {
            from: "a profile".to_owned(),
            profile: text.clone(),
            notes: Vec::new(),
            page: page(&profile),
        });
    }
    let sources: Vec<Source<'_>> = texts
        .iter()
        .map(|(file, text)| Source { file, text })
        .collect();
    let devices = devices.iter().map(|device| device.parse());
    let devices: Result<Vec<Device>, _> = devices.collect();
    let options = Options {
        devices: devices.map_err(|error| Refused::because(&error))?,
        ..Options::default()
    };
    let imported = import::read(&sources, &options).map_err(|error| Refused::because(&error))?;
    let text = profile::write("profile.toml", &imported.profile);
    Ok(Imported {
        from: imported.format.to_string(),
        profile: text.map_err(|error| Refused::because(&error))?,
        notes: imported.notes,
        page: page(&imported.profile),
    })
}
