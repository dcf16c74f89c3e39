//! What becomes of the bytes of an emulation's volumes.
//!
//! ```text
//! in place   image                        written where they belong
//! recorded   image, stays as it was  <──  writes: bytes, in their order    history: what they were, and when
//! crashed    the same image          <──  some of those writes        <──  unnamed file: what is written from then on
//! ```

use std::fs::File;
use std::io::{self, BufReader};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crash::{Action, Event, History, Moment};
use files::{Folder, Readers};
use parking_lot::Mutex;

use super::block::layers::{Layers, Store, Writes};
use super::error::EmulationError;
use super::setup::{Contents, CrashSpec, EmulationSpec};

/// Names of the two files of a recording.
const WRITES: &str = "writes";
const HISTORY: &str = "history";

/// What becomes of the bytes.
pub(super) enum Kept {
    /// They stay in the volumes.
    InPlace,
    /// The images stay as they are; what is written is recorded.
    Recorded(Arc<Recorder>),
    /// The volumes begin as a recording's were when power was cut.
    Crashed {
        /// What was written.
        writes: Arc<Writes>,
        /// For each volume, ranges and where their bytes are, the later over the earlier.
        ranges: Vec<Vec<(Range<u64>, Option<u64>)>>,
    },
}

/// Records what is written to the volumes of an emulation, and when.
pub(super) struct Recorder {
    writes: Arc<Writes>,
    history: Mutex<History>,
    folder: Folder,
}

impl Kept {
    /// As `spec` has it.
    ///
    /// # Errors
    /// When a recording cannot be made or read.
    pub(super) fn of(spec: &EmulationSpec) -> Result<Kept, EmulationError> {
        match &spec.contents {
            Contents::InPlace => Ok(Kept::InPlace),
            Contents::Recorded(folder) => {
                let names = spec.volumes.iter().map(|mount| mount.volume.name.clone());
                let recorder = Recorder::create(folder, names.collect());
                recorder
                    .map(|recorder| Kept::Recorded(Arc::new(recorder)))
                    .map_err(|error| failed("cannot record to", folder, error))
            }
            Contents::Crashed(crashed) => Kept::crashed(crashed, spec.volumes.len()),
        }
    }

    fn crashed(spec: &CrashSpec, volumes: usize) -> Result<Kept, EmulationError> {
        let of = |error| failed("cannot use the recording in", &spec.recording, error);
        let folder = Folder::open(&spec.recording)
            .map_err(io::Error::other)
            .map_err(of)?;
        let history = read(&folder).map_err(of)?;
        let counts = [history.volumes.len(), spec.rules.len(), spec.at.len()];
        if counts != [volumes; 3] {
            let what = format!(
                "it is of {} volumes, not of {volumes}",
                history.volumes.len()
            );
            return Err(of(io::Error::other(what)));
        }
        let moment = Moment::new(&history.events, &spec.rules, &spec.at);
        let mut ranges = vec![Vec::new(); volumes];
        for kept in moment.state(&spec.choice).kept {
            let event = &history.events[kept.event];
            let at = event.bytes_at + (kept.range.start - event.range.start);
            let at = (event.action == Action::Write).then_some(at);
            ranges[event.volume].push((kept.range, at));
        }
        let writes = folder
            .found_file(WRITES.as_ref())
            .map_err(io::Error::other)
            .map_err(of)?;
        let writes =
            writes.ok_or_else(|| of(io::Error::other("its writes are gone; record it again")))?;
        let ends = history.events.iter();
        let ends = ends.filter(|event| event.action == Action::Write);
        let ends = ends.map(|event| event.bytes_at + (event.range.end - event.range.start));
        let length = writes.metadata().map_err(of)?.len();
        if ends.max().is_some_and(|end| end > length) {
            let what = "its writes are not all there; copy it again, or record it again";
            return Err(of(io::Error::other(what)));
        }
        Ok(Kept::Crashed {
            writes: Arc::new(Writes::new(writes)),
            ranges,
        })
    }

    /// Where the bytes of the volume at `place` are, over its `image` in the directory `backing`.
    ///
    /// # Errors
    /// When there is no room for what will be written.
    pub(super) fn store(&self, image: File, place: usize, backing: &Path) -> io::Result<Store> {
        Ok(match self {
            Kept::InPlace => Store::Image(image),
            Kept::Recorded(recorder) => {
                Store::Layers(Layers::over(image, Arc::clone(&recorder.writes)))
            }
            Kept::Crashed { writes, ranges } => {
                let new = Arc::new(Writes::new(tempfile::tempfile_in(backing)?));
                Store::Layers(Layers::recorded(image, writes, &ranges[place], new))
            }
        })
    }

    /// What records requests, if anything does.
    pub(super) fn recorder(&self) -> Option<Arc<Recorder>> {
        match self {
            Kept::Recorded(recorder) => Some(Arc::clone(recorder)),
            Kept::InPlace | Kept::Crashed { .. } => None,
        }
    }

    /// Whether requests take their time: not those that look at what a crash has left.
    pub(super) fn is_modelled(&self) -> bool {
        !matches!(self, Kept::Crashed { .. })
    }

    /// Writes the history of what was recorded.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn finish(&self) -> io::Result<()> {
        match self {
            Kept::Recorded(recorder) => recorder.finish(),
            Kept::InPlace | Kept::Crashed { .. } => Ok(()),
        }
    }
}

impl Recorder {
    fn create(folder: &Path, volumes: Vec<String>) -> io::Result<Recorder> {
        let folder = Folder::open(folder).map_err(io::Error::other)?;
        if [WRITES, HISTORY]
            .iter()
            .any(|name| folder.holds(name.as_ref()))
        {
            return Err(io::Error::other(
                "it holds a recording; give another directory, or delete it",
            ));
        }
        let writes = folder.own_file(WRITES.as_ref()).map_err(io::Error::other)?;
        Ok(Recorder {
            writes: Arc::new(Writes::new(writes)),
            history: Mutex::new(History {
                volumes,
                events: Vec::new(),
            }),
            folder,
        })
    }

    /// Adds an event.
    pub(super) fn note(&self, event: Event) {
        self.history.lock().events.push(event);
    }

    fn finish(&self) -> io::Result<()> {
        let mut history = self.history.lock();
        // Requests at the same time are added by several threads.
        history.events.sort_by_key(|event| event.arrived);
        let mut bytes = Vec::new();
        history.write(&mut bytes)?;
        let written = self
            .folder
            .write_new(HISTORY.as_ref(), &bytes, Readers::OwnerOnly);
        written.map_err(io::Error::other)
    }
}

/// Reads the history of the recording in `folder`.
///
/// # Errors
/// When there is none, or it is damaged.
fn read(folder: &Folder) -> io::Result<History> {
    let file = folder
        .found_file(HISTORY.as_ref())
        .map_err(io::Error::other)?;
    let file = file.ok_or_else(|| io::Error::other("there is no history; record it again"))?;
    History::read(&mut BufReader::new(file)).map_err(io::Error::other)
}

fn failed(what: &str, folder: &Path, error: io::Error) -> EmulationError {
    EmulationError::system(format!("{what} {}", folder.display()), error)
}
