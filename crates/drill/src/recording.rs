//! The metadata of a recording, besides the writes. It is read from a folder of unknown origin: a [`Recording`] only
//! exists once all of it was checked.

use std::path::{Component, Path};

use model::Instant;
use serde::{Deserialize, Serialize};

use super::Ledger;
use super::placed::{Placed, SETTINGS_MAX, at_most, between};
use engine::drilled::{Origin, SESSIONS_MAX};

/// Version of the stored format.
const FORMAT: &str = "dbstow.crash-recording/1";

/// Most characters of a text that is only displayed.
const TEXT_MAX: usize = 1_000;

/// The metadata of a recording, besides the writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Recording {
    format: String,
    /// The recorded placement.
    pub(super) placed: Placed,
    /// Additional settings that the server was started with.
    pub(super) server: Vec<(String, String)>,
    /// The server's version.
    pub(super) version: String,
    /// When each session's commits were acknowledged.
    pub(super) ledger: Ledger,
    /// When clients began, by the recording's clock.
    pub(super) from: Instant,
    /// When they had ended.
    pub(super) until: Instant,
    /// Where the volumes were mounted, each in a directory of its name.
    pub(super) mounted: String,
}

/// A recording as parsed from a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    format: String,
    placed: Placed,
    server: Vec<(String, String)>,
    version: String,
    ledger: Ledger,
    from: Instant,
    until: Instant,
    mounted: String,
}

impl Recording {
    /// The recording of a placement.
    pub(super) fn new(
        (placed, server): (Placed, Vec<(String, String)>),
        version: String,
        ledger: Ledger,
        (from, until): (Instant, Instant),
        mounted: String,
    ) -> Recording {
        Recording {
            format: FORMAT.to_owned(),
            placed,
            server,
            version,
            ledger,
            from,
            until,
            mounted,
        }
    }

    /// Parses the output of [`Recording::text`].
    ///
    /// # Errors
    /// When it is something else, or contains impossible values: the key, and the remedy.
    pub fn parse(text: &str) -> Result<Recording, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// The stored form.
    pub fn text(&self) -> String {
        serde_json::to_string(self).expect("it is plain data")
    }
}

impl TryFrom<Unchecked> for Recording {
    type Error = String;

    fn try_from(read: Unchecked) -> Result<Recording, String> {
        if read.format != FORMAT {
            return Err(format!(
                "it is of another version (format is \"{}\", not \"{FORMAT}\")",
                read.format
            ));
        }
        shown("version", &read.version)?;
        at_most("server", read.server.len(), SETTINGS_MAX)?;
        let sessions = &read.ledger.sessions;
        between("ledger.sessions", sessions.len(), 1, SESSIONS_MAX as usize)?;
        for (session, commits) in sessions.iter().enumerate() {
            if !commits.is_sorted() {
                return Err(format!(
                    "ledger.sessions[{session}] has a commit that was acknowledged before the one before it"
                ));
            }
        }
        if read.until < read.from {
            return Err("until is before from".to_owned());
        }
        let mut mounted = Path::new(&read.mounted).components();
        let is_whole = mounted.next() == Some(Component::RootDir)
            && mounted.all(|part| matches!(part, Component::Normal(_)));
        if !is_whole {
            return Err(format!(
                "mounted is \"{}\", which is not an absolute path without \"..\"",
                read.mounted
            ));
        }
        Ok(Recording {
            format: read.format,
            placed: read.placed,
            server: read.server,
            version: read.version,
            ledger: read.ledger,
            from: read.from,
            until: read.until,
            mounted: read.mounted,
        })
    }
}

/// Checks the server settings in a folder's recording.
///
/// # Errors
/// The first one that a replay may not set.
pub(super) fn check_settings(
    recording: &Recording,
    origin: Origin,
    may_set: &dyn Fn(&str, &str) -> Result<(), String>,
) -> Result<(), String> {
    match origin {
        Origin::ThisRun => Ok(()),
        Origin::Folder => recording.server.iter().try_for_each(|(name, value)| {
            may_set(name, value).map_err(|why| {
                format!(
                    "server sets {name:?} to {value:?}, and {why}; remove it there, or drill the placement again without it"
                )
            })
        }),
    }
}

fn shown(key: &str, text: &str) -> Result<(), String> {
    match text.len() <= TEXT_MAX {
        true => Ok(()),
        false => Err(format!("{key} has more than {TEXT_MAX} bytes")),
    }
}
