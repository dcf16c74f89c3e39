//! Files that were dropped on the page: recordings of other tools, or a profile.

use std::error::Error;
use std::str::FromStr;

use analysis::report::profile::page;
use catalogue::Catalogue;
use experiment::kind::Kind;
use import::{Choice, ImportError, Options, Source};
use resolve::recorded_on;
use serde::{Deserialize, Serialize};

use crate::form::ImportOptions;
use crate::{Refused, command};

/// Largest total size of dropped files, in bytes: with texts and tables of them, which take up to four times as much, the page stays
/// below 1 GB.
const BYTES_MAX: u64 = 220 << 20;

/// A file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// Its name, as the browser shows it.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// Why files are not imported, and between what to choose where that is all that is missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{why}")]
pub struct NotImported {
    /// The reason, with the remedy.
    pub why: String,
    /// Devices of which some have the server's files.
    pub devices: Vec<String>,
    /// SQL Servers of which one is meant.
    pub instances: Vec<String>,
}

impl From<Refused> for NotImported {
    fn from(Refused(why): Refused) -> NotImported {
        NotImported {
            why,
            devices: Vec::new(),
            instances: Vec::new(),
        }
    }
}

impl From<ImportError> for NotImported {
    fn from(error: ImportError) -> NotImported {
        let mut refused = NotImported::from(Refused::because(&error));
        if let ImportError::Open { choice, .. } = error {
            match choice {
                Choice::Devices(names) => refused.devices = names,
                Choice::Instances(names) => refused.instances = names,
            }
        }
        refused
    }
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
    /// The command that makes the same profile of the files; `None`: it was one.
    pub command: Option<String>,
}

/// Refuses files of `bytes` in total, before they are read.
///
/// # Errors
/// When they are too large.
pub fn check_size(bytes: u64) -> Result<(), Refused> {
    match bytes > BYTES_MAX {
        true => Err(Refused(format!(
            "these files have {} MiB, and the page takes {}; use `dbstow import`, or drop fewer files",
            bytes >> 20,
            BYTES_MAX >> 20
        ))),
        false => Ok(()),
    }
}

/// The profile of `files`, of which the user says what is `given`.
///
/// # Errors
/// When there is no file, a file is empty, binary or of no known tool, or files do not go together; or when devices have no role yet.
pub fn import(files: Vec<Dropped>, given: &ImportOptions) -> Result<Imported, NotImported> {
    if files.is_empty() {
        return Err(Refused("there is no file; drop one or more".to_owned()).into());
    }
    // Each file is dropped as soon as it is text: a page has little memory.
    let texts = files.into_iter().map(|Dropped { name, bytes }| {
        let text = import::decode(&name, bytes)?;
        Ok((name, text))
    });
    let texts: Vec<(String, String)> = texts.collect::<Result<_, ImportError>>()?;
    // What another tool wrote is recognised by its beginning; a profile is parsed, which takes more memory than there is for a
    // large file.
    if let [(name, text)] = texts.as_slice()
        && import::sniff(name, text).is_none()
        && Kind::of(text) == Some(Kind::Profile)
    {
        let profile = profile::read(name, text).map_err(|error| Refused::because(&error))?;
        return Ok(Imported {
            from: "a profile".to_owned(),
            profile: text.clone(),
            notes: Vec::new(),
            page: page(&profile),
            command: None,
        });
    }
    let sources = texts.iter().map(|(file, text)| Source { file, text });
    let sources: Vec<Source<'_>> = sources.collect();
    let imported = import::read(&sources, &options(given)?)?;
    // The profile and its page take memory too.
    let files: Vec<String> = texts.into_iter().map(|(file, _)| file).collect();
    let text = profile::write("profile.toml", &imported.profile);
    Ok(Imported {
        from: imported.format.to_string(),
        profile: text.map_err(|error| Refused::because(&error))?,
        notes: imported.notes,
        page: page(&imported.profile),
        command: Some(command::importing(&files, given)),
    })
}

/// What the user says, as the import takes it.
fn options(given: &ImportOptions) -> Result<Options, Refused> {
    let machine = |name: &str| {
        let machine = recorded_on(name, &Catalogue::builtin());
        machine.map_err(|why| Refused(format!("the server's machine or class: {why}")))
    };
    let machine = given.machine.as_deref().map(machine).transpose()?;
    Ok(Options {
        format: parsed("format", given.format.as_deref())?,
        devices: parsed_all("device", &given.devices)?,
        start: parsed("time of the first record", given.start.as_deref())?,
        interval: parsed("time between records", given.interval.as_deref())?,
        utc_offset: parsed("offset from UTC", given.utc_offset.as_deref())?,
        dates: parsed("order of day and month", given.dates.as_deref())?,
        instances: given.instances.clone(),
        machine: machine.unwrap_or_default(),
    })
}

/// What was said, if anything.
fn parsed<T: FromStr<Err: Error>>(what: &str, said: Option<&str>) -> Result<Option<T>, Refused> {
    let parsed = said.map(|said| {
        said.parse::<T>()
            .map_err(|error| Refused(format!("{what} \"{said}\": {}", Refused::because(&error))))
    });
    parsed.transpose()
}

fn parsed_all<T: FromStr<Err: Error>>(what: &str, said: &[String]) -> Result<Vec<T>, Refused> {
    let parsed = said.iter().map(|said| parsed(what, Some(said)));
    let parsed: Result<Vec<Option<T>>, Refused> = parsed.collect();
    Ok(parsed?.into_iter().flatten().collect())
}
