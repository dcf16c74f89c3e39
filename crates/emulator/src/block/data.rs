//! Reads, writes and flushes of an image.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::crash::{Action, Event};
use model::{Bytes, Instant, Request};

use super::super::contents::Recorder;
use super::super::fault::Faults;
use super::super::front::{DataPath, Done, Errno};
use super::super::image::NAME;
use super::super::mounted::Parts;
use super::super::pace::Pace;
use super::super::trace::{Trace, Traced};
use super::layers::Store;
use paced::PacedStorage;

/// The bytes of a volume, and its index in the model.
pub(super) struct Data {
    store: Store,
    recorder: Option<Arc<Recorder>>,
    storage: Arc<PacedStorage>,
    pace: Arc<Pace>,
    trace: Option<Arc<Trace>>,
    name: String,
    place: usize,
    /// Whether requests are currently modelled and counted, and whether they ever are.
    modelled: AtomicBool,
    may_be_modelled: bool,
    problem: OnceLock<String>,
    /// Requests that fail on demand.
    pub(super) faults: Faults,
}

/// A disk's answer to a request that it cannot execute.
const EIO: Errno = Errno(rustix::io::Errno::IO.raw_os_error());

impl Data {
    /// A volume that is not modelled yet.
    pub(super) fn new(
        (store, faults): (Store, Faults),
        name: &str,
        place: usize,
        parts: &Parts,
    ) -> Data {
        Data {
            store,
            recorder: parts.kept.recorder(),
            storage: Arc::clone(&parts.storage),
            pace: Arc::clone(&parts.pace),
            trace: parts.trace.clone(),
            name: name.to_owned(),
            place,
            modelled: AtomicBool::new(false),
            may_be_modelled: parts.kept.is_modelled(),
            problem: OnceLock::new(),
            faults,
        }
    }

    /// Starts or stops modelling and counting requests.
    pub(super) fn model(&self, modelled: bool) {
        self.modelled
            .store(modelled && self.may_be_modelled, Ordering::Relaxed);
    }

    /// The first problem with the image.
    pub(super) fn problem(&self) -> Option<&str> {
        self.problem.get().map(String::as_str)
    }

    /// Frees a range of the volume; it reads as zeros from then on.
    ///
    /// # Errors
    /// When the file system of the backing directory does not support it.
    pub(super) fn discard(&self, offset: u64, length: u64) -> Result<(), Errno> {
        let arrived = self.storage.now();
        let range = offset..offset + length;
        let freed = self.store.discard(range);
        freed.map_err(|error| Errno(error.raw_os_error().unwrap_or(EIO.0)))?;
        self.record(Action::Discard, offset, length, (arrived, None), None);
        Ok(())
    }

    /// Runs `action`, which returns its byte count, and asks the model when a request of that size is done.
    fn execute(
        &self,
        action: impl FnOnce(&Store) -> io::Result<usize>,
        request: impl FnOnce(Bytes) -> Request,
    ) -> Result<(Instant, Done), Errno> {
        let arrived = self.storage.now();
        let length = action(&self.store).map_err(|error| self.failed(&error))?;
        let modelled = self.modelled.load(Ordering::Relaxed);
        let due = modelled.then(|| self.submit(arrived, request(Bytes(length as u64))));
        Ok((arrived, Done { length, due }))
    }

    /// Records a request that changes the volume, if recording is on. Requests without modelled time are done at once.
    /// A request counts as done at the earliest time its reply may leave: its program's next request may arrive before
    /// it is due.
    fn record(
        &self,
        action: Action,
        offset: u64,
        length: u64,
        (arrived, due): (Instant, Option<Instant>),
        bytes_at: Option<u64>,
    ) {
        if let Some(recorder) = &self.recorder {
            recorder.note(Event {
                volume: self.place,
                action,
                range: offset..offset + length,
                arrived,
                done: match due {
                    Some(due) => self.pace.earliest(due).max(arrived),
                    None => self.storage.now(),
                },
                bytes_at: bytes_at.unwrap_or(0),
            });
        }
    }

    /// Submits the request to the model, and logs it.
    fn submit(&self, arrived: Instant, request: Request) -> Instant {
        let completion = self.storage.submit(arrived, self.place, request);
        if let Some(trace) = &self.trace {
            let traced = Traced {
                volume: &self.name,
                path: NAME,
                request,
                arrived,
                completion,
            };
            trace.add(traced, &self.storage);
        }
        completion.due
    }

    /// Whether the recording, if any, has room for this many more bytes; otherwise recording ends.
    fn goes_on(&self, bytes: usize) -> bool {
        let recorder = self.recorder.as_ref();
        recorder.is_none_or(|recorder| recorder.goes_on(bytes as u64, self.storage.now()))
    }

    /// A disk has only one error; the cause is kept as a human-readable text.
    fn failed(&self, error: &io::Error) -> Errno {
        if let (io::ErrorKind::StorageFull, Some(recorder)) = (error.kind(), &self.recorder) {
            recorder.end(self.storage.now());
            return EIO;
        }
        let problem = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                format!("the backing disk is full, so that writes fail ({error})")
            }
            _ => format!("the image cannot be used: {error}"),
        };
        // Later ones follow from the first.
        let _ = self.problem.set(problem);
        EIO
    }
}

impl DataPath for Data {
    fn read(&self, _: u64, offset: u64, buffer: &mut [u8]) -> Result<Done, Errno> {
        let read = self.execute(
            |store| store.read(offset, buffer),
            |length| Request::read(offset, length),
        );
        read.map(|(_, done)| done)
    }

    fn write(&self, _: u64, offset: u64, data: &[u8]) -> Result<Done, Errno> {
        if self.faults.write_fails(offset) || !self.goes_on(data.len()) {
            return Err(EIO);
        }
        let mut bytes_at = None;
        let (arrived, done) = self.execute(
            |store| {
                bytes_at = store.write(offset, data)?;
                Ok(data.len())
            },
            |length| Request::write(offset, length),
        )?;
        let length = data.len() as u64;
        self.record(Action::Write, offset, length, (arrived, done.due), bytes_at);
        Ok(done)
    }

    /// Modelled only. What was written is in the machine's page cache, so it outlives the emulator but
    /// not the machine, like everything else a database leaves behind. A flush of the real disk under the
    /// image would make every commit wait for two disks, one of them not the modelled one: 50 MB written and
    /// synced on a modelled 200 MB/s took 2 s on a busy machine.
    fn sync(&self, _: u64, _: bool) -> Result<Done, Errno> {
        if self.faults.flush_fails() || !self.goes_on(0) {
            return Err(EIO);
        }
        let (arrived, done) = self.execute(|_| Ok(0), |_| Request::flush())?;
        self.record(Action::Flush, 0, 0, (arrived, done.due), None);
        Ok(done)
    }
}
