//! What happens to the bytes of an emulation's volumes.
//!
//! ```text
//! in place   image                        written where they belong
//! recorded   image, stays as it was  <──  writes: bytes, in their order    history: what they were, and when
//! crashed    the same image          <──  some of those writes        <──  unnamed file: what is written from then on
//! discarded  image, stays as it was  <──  unnamed file: what is written, at the same place
//! ```
//!
//! Only the first changes the image, so nothing is copied, and several states of one recording can be mounted at once.

use std::fs::File;
use std::io::{self, BufReader};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use crate::crash::{Action, Event, History, Moment};
use files::{FileError, Folder, Readers};
use model::{Bytes, Instant};
use parking_lot::Mutex;

use super::block::layers::{Layers, Store, Writes};
use super::error::EmulationError;
use super::image::Programs;
use super::setup::{Contents, CrashSpec, EmulationSpec, FlippedBit, RecordSpec};

/// Names of the two files of a recording.
const WRITES: &str = "writes";
const HISTORY: &str = "history";

/// What happens to the bytes.
pub(super) enum Kept {
    /// They stay in the volumes.
    InPlace,
    /// The images stay unchanged; writes are recorded.
    Recorded(Arc<Recorder>),
    /// The images stay unchanged; writes are discarded at the end.
    Discarded,
    /// The volumes start as those of a recording were when power was cut.
    Crashed {
        /// The recorded writes.
        writes: Arc<Writes>,
        /// For each volume, ranges and the location of their bytes; later ones override earlier ones.
        ranges: Vec<Vec<(Range<u64>, Option<u64>)>>,
        /// A flipped bit.
        flipped: Option<FlippedBit>,
    },
}

/// Records what is written to the volumes of an emulation, and when.
pub(super) struct Recorder {
    writes: Arc<Writes>,
    history: Mutex<History>,
    folder: Folder,
    most: Bytes,
    /// When space ran out.
    ended: OnceLock<Instant>,
}

impl Kept {
    /// As specified.
    ///
    /// # Errors
    /// When a recording cannot be created or read.
    pub(super) fn of(spec: &EmulationSpec) -> Result<Kept, EmulationError> {
        match &spec.contents {
            Contents::InPlace => Ok(Kept::InPlace),
            Contents::Discarded => Ok(Kept::Discarded),
            Contents::Recorded(RecordSpec { directory, most }) => {
                let names = spec.volumes.iter().map(|mount| mount.volume.name.clone());
                let recorder = Recorder::create(directory, names.collect(), *most);
                recorder
                    .map(|recorder| Kept::Recorded(Arc::new(recorder)))
                    .map_err(|error| failed("cannot record to", directory, error))
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
        let is_bit = |bit: FlippedBit| bit.volume < volumes && bit.bit <= 7;
        if !moment.has(&spec.choice) || !spec.flipped.is_none_or(is_bit) {
            return Err(of(io::Error::other(
                "the state is not one of this recording",
            )));
        }
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
            flipped: spec.flipped,
        })
    }

    /// The store of the volume with index `place`, over its `image` in the directory `backing`.
    ///
    /// # Errors
    /// When there is not enough space for what will be written.
    pub(super) fn store(&self, image: File, place: usize, backing: &Path) -> io::Result<Store> {
        Ok(match self {
            Kept::InPlace => Store::Image(image),
            Kept::Recorded(recorder) => {
                Store::Layers(Layers::over(image, Arc::clone(&recorder.writes)))
            }
            Kept::Discarded => {
                let over = tempfile::tempfile_in(backing)?;
                over.set_len(image.metadata()?.len())?;
                Store::Layers(Layers::in_place(image, Arc::new(Writes::new(over))))
            }
            Kept::Crashed {
                writes,
                ranges,
                flipped,
            } => {
                let new = Arc::new(Writes::new(tempfile::tempfile_in(backing)?));
                let store = Store::Layers(Layers::recorded(image, writes, &ranges[place], new));
                if let Some(flipped) = flipped.filter(|flipped| flipped.volume == place) {
                    let mut byte = [0];
                    store.read(flipped.byte, &mut byte)?;
                    store.write(flipped.byte, &[byte[0] ^ 1 << flipped.bit])?;
                }
                store
            }
        })
    }

    /// The recorder of requests, if any.
    pub(super) fn recorder(&self) -> Option<Arc<Recorder>> {
        match self {
            Kept::Recorded(recorder) => Some(Arc::clone(recorder)),
            Kept::InPlace | Kept::Discarded | Kept::Crashed { .. } => None,
        }
    }

    /// Whether requests take modelled time; false when inspecting a crash state.
    pub(super) fn is_modelled(&self) -> bool {
        !matches!(self, Kept::Crashed { .. })
    }

    /// Whether programs on the volumes may be executed: neither crash states nor copies of a server's files need it, and their
    /// bytes may come from anyone.
    pub(super) fn programs(&self) -> Programs {
        match self {
            Kept::InPlace | Kept::Recorded(_) => Programs::Run,
            Kept::Discarded | Kept::Crashed { .. } => Programs::Refused,
        }
    }

    /// Writes the history of the recording.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn finish(&self) -> io::Result<()> {
        match self {
            Kept::Recorded(recorder) => recorder.finish(),
            Kept::InPlace | Kept::Discarded | Kept::Crashed { .. } => Ok(()),
        }
    }
}

impl Recorder {
    fn create(folder: &Path, volumes: Vec<String>, most: Bytes) -> io::Result<Recorder> {
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
                ended: None,
            }),
            folder,
            most,
            ended: OnceLock::new(),
        })
    }

    /// Adds an event.
    pub(super) fn note(&self, event: Event) {
        self.history.lock().events.push(event);
    }

    /// Whether there is room for this many more bytes; otherwise recording ends.
    pub(super) fn goes_on(&self, bytes: u64, now: Instant) -> bool {
        if self.writes.length() + bytes > self.most.0 {
            self.end(now);
        }
        self.ended.get().is_none()
    }

    /// Ends recording: out of space.
    pub(super) fn end(&self, now: Instant) {
        // Only the first counts.
        let _ = self.ended.set(now);
    }

    fn finish(&self) -> io::Result<()> {
        let mut history = self.history.lock();
        // Concurrent requests are added by several threads.
        history.events.sort_by_key(|event| event.arrived);
        if let Some(at) = self.ended.get() {
            history.end_at(*at);
        }
        match self.store(&history) {
            Err(error) if error.kind() == io::ErrorKind::StorageFull => {
                // The end of the recorded bytes is given up to make room for the history.
                let keep = self.writes.length() / 8 * 7;
                history.end_before_bytes(keep);
                self.writes.cut(keep)?;
                self.store(&history)
            }
            stored => stored,
        }
    }

    fn store(&self, history: &History) -> io::Result<()> {
        let mut bytes = Vec::new();
        history.write(&mut bytes)?;
        let written = self
            .folder
            .write_new(HISTORY.as_ref(), &bytes, Readers::OwnerOnly);
        written.map_err(|error| match error {
            FileError::Io { source, .. } => source,
            other => io::Error::other(other),
        })
    }
}

/// Reads the history of the recording in `folder`.
///
/// # Errors
/// When it does not exist or is damaged.
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
