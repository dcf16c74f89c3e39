//! What is stored in the folder of a placement: a recording and its writes.

use std::io::BufReader;
use std::path::Path;

use emulator::crash::{Action, Event, History};
use files::{Folder, input};

use super::place::VOLUME;
use super::recording::Recording;
use super::{DrillError, Placed};

/// Most write pieces per disk of a recording: each takes some 60 bytes of memory while a state is checked.
const PIECES_MAX: u64 = 1 << 24;

/// Names in a placement's folder; the second is also the name of the file within the first.
pub(super) const WRITES: &str = "writes";
pub(super) const ABOUT: &str = "recording.json";

/// Reads what is stored in the folder of a placement, including the history of its writes.
///
/// # Errors
/// When it does not exist, is of another version, or contains impossible values.
pub(super) fn read(own: &Folder) -> Result<(Recording, History), DrillError> {
    let text = input::inside(own, ABOUT, input::BYTES_MAX)?;
    let file = own.path().join(ABOUT);
    let recording = Recording::parse(&text).map_err(|why| no_recording(&file, why))?;
    let history = read_history(own)?;
    let volumes = recording.placed.volumes.iter();
    let names: Vec<&String> = volumes.map(|volume| &volume.name).collect();
    let no = |why: String| no_recording(&own.path().join(WRITES), why);
    if history.volumes.iter().collect::<Vec<_>>() != names {
        return Err(no(format!(
            "its history is of the volumes {:?}, and {ABOUT} of {names:?}",
            history.volumes
        )));
    }
    check(&history, &recording.placed, own).map_err(no)?;
    Ok((recording, history))
}

/// Checks that all writes lie within the volumes, and that their bytes exist.
fn check(history: &History, placed: &Placed, own: &Folder) -> Result<(), String> {
    let beyond = |event: &&Event| event.range.end > VOLUME.0;
    if let Some(event) = history.events.iter().find(beyond) {
        return Err(format!(
            "its history has a request up to byte {} of a volume of {VOLUME}",
            event.range.end
        ));
    }
    let length = |event: &Event| event.range.end - event.range.start;
    let pieces = history.events.iter().map(|event| {
        let volume = &placed.volumes[event.volume];
        match volume.disks.len() {
            1 => 1,
            _ => length(event) / volume.interleave.0.max(1) + 2,
        }
    });
    let pieces: u64 = pieces.fold(0, u64::saturating_add);
    if pieces > PIECES_MAX {
        return Err(format!(
            "its history has {pieces} parts of writes, and at most {PIECES_MAX} are looked at; record for less time"
        ));
    }
    let writes = own.inner(WRITES.as_ref());
    let writes = writes.and_then(|folder| folder.regular_file(WRITES.as_ref()));
    let there = writes.map_err(|error| error.to_string())?.metadata();
    let there = there.map_err(|error| error.to_string())?.len();
    let events = history.events.iter();
    let events = events.filter(|event| event.action == Action::Write);
    let written: u64 = events.map(length).fold(0, u64::saturating_add);
    if written > there {
        return Err(format!(
            "its history has {written} bytes of writes, and its writes are {there} bytes; copy it again"
        ));
    }
    Ok(())
}

/// Reads the history of the writes in the folder of a placement.
pub(super) fn read_history(own: &Folder) -> Result<History, DrillError> {
    let writes = own.inner(WRITES.as_ref())?;
    let file = writes.regular_file("history".as_ref())?;
    let history = History::read(&mut BufReader::new(file));
    history.map_err(|error| no_recording(writes.path(), error.to_string()))
}

fn no_recording(place: &Path, why: String) -> DrillError {
    DrillError::NoRecording {
        place: place.to_owned(),
        why,
    }
}

/// Path of the recorded writes in a placement's folder.
pub(super) fn writes(folder: &Path) -> std::path::PathBuf {
    folder.join(WRITES)
}
