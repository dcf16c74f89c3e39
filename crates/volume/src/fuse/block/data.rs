//! Reads, writes and flushes of an image.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use model::{Bytes, Instant, Request};
use rustix::fs::{FallocateFlags, fallocate};

use super::super::front::{DataPath, Done, Errno};
use super::super::image::NAME;
use super::super::mounted::Parts;
use super::super::trace::{Trace, Traced};
use crate::array::Array;

/// The image of a volume, and the volume's place in the model.
pub(super) struct Data {
    image: File,
    array: Arc<Array>,
    trace: Option<Arc<Trace>>,
    name: String,
    place: usize,
    /// Whether requests are modelled and counted by now.
    modelled: AtomicBool,
    trouble: OnceLock<String>,
}

/// What a disk says that cannot do what is asked.
const EIO: Errno = Errno(rustix::io::Errno::IO.raw_os_error());

impl Data {
    /// A volume that is not modelled yet.
    pub(super) fn new(image: File, name: &str, place: usize, parts: &Parts) -> Data {
        Data {
            image,
            array: Arc::clone(&parts.array),
            trace: parts.trace.clone(),
            name: name.to_owned(),
            place,
            modelled: AtomicBool::new(false),
            trouble: OnceLock::new(),
        }
    }

    /// Begins or ends to model and count requests.
    pub(super) fn model(&self, modelled: bool) {
        self.modelled.store(modelled, Ordering::Relaxed);
    }

    /// The first thing that went wrong with the image.
    pub(super) fn trouble(&self) -> Option<&str> {
        self.trouble.get().map(String::as_str)
    }

    /// Frees a range of the image; it reads as zeros from then on.
    ///
    /// # Errors
    /// When the file system of the backing directory cannot.
    pub(super) fn discard(&self, offset: u64, length: u64) -> Result<(), Errno> {
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        fallocate(&self.image, hole, offset, length).map_err(|error| Errno(error.raw_os_error()))
    }

    /// Carries `action` out on the image, and asks the model when a request of as many bytes is done.
    fn execute(
        &self,
        action: impl FnOnce(&File) -> io::Result<usize>,
        request: impl FnOnce(Bytes) -> Request,
    ) -> Result<Done, Errno> {
        let arrived = self.array.now();
        let length = action(&self.image).map_err(|error| self.failed(&error))?;
        let modelled = self.modelled.load(Ordering::Relaxed);
        let due = modelled.then(|| self.submit(arrived, request(Bytes(length as u64))));
        Ok(Done { length, due })
    }

    /// Asks the model, and writes the request down.
    fn submit(&self, arrived: Instant, request: Request) -> Instant {
        let verdict = self.array.submit(arrived, self.place, request);
        if let Some(trace) = &self.trace {
            let traced = Traced {
                volume: &self.name,
                path: NAME,
                request,
                arrived,
                verdict,
            };
            trace.add(traced, &self.array);
        }
        verdict.due
    }

    /// A disk knows no other error than that it cannot; the reason is kept for people.
    fn failed(&self, error: &io::Error) -> Errno {
        let trouble = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                format!("the backing disk is full, so that writes fail ({error})")
            }
            _ => format!("the image cannot be used: {error}"),
        };
        // Later ones follow from the first.
        let _ = self.trouble.set(trouble);
        EIO
    }
}

impl DataPath for Data {
    fn read(&self, _: u64, offset: u64, buffer: &mut [u8]) -> Result<Done, Errno> {
        self.execute(
            |image| read_fully(image, offset, buffer),
            |length| Request::read(offset, length),
        )
    }

    fn write(&self, _: u64, offset: u64, data: &[u8]) -> Result<Done, Errno> {
        self.execute(
            |image| image.write_all_at(data, offset).map(|()| data.len()),
            |length| Request::write(offset, length),
        )
    }

    /// Modelled only. What was written is in the machine's page cache, so that it outlives the emulator
    /// but not the machine, as do a database's other traces of an experiment. A flush of the real disk
    /// under the image would make every commit wait for two disks, one of them not the modelled one.
    fn sync(&self, _: u64, _: bool) -> Result<Done, Errno> {
        self.execute(|_| Ok(0), |_| Request::flush())
    }
}

/// Fills `buffer` as far as the image goes; gives how far that was.
fn read_fully(image: &File, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match image.read_at(&mut buffer[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(length) => filled += length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
