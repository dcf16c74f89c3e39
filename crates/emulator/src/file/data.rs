//! Reads, writes and flushes of a volume in file mode: each is one request to the model.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use model::{Bytes, Instant, Operation, Request};
use rustix::fs::fstat;
use rustix::io::Errno as Code;

use super::super::front::{DataPath, Done, Errno};
use super::super::trace::Traced;
use super::handles::OpenFile;
use super::tree::Tree;
use paced::Completion;

impl DataPath for Tree {
    fn read(&self, handle: u64, offset: u64, buffer: &mut [u8]) -> Result<Done, Errno> {
        let arrived = self.storage.now();
        let open = self.files.get(handle).map_err(errno)?;
        let length = read_all(&open.file, offset, buffer).map_err(errno)?;
        if length == 0 {
            // Beyond the end, no disk is involved.
            return Ok(Done { length, due: None });
        }
        let request = Request::read(offset, Bytes(length as u64));
        let due = Some(self.submit(&open, arrived, request));
        Ok(Done { length, due })
    }

    fn write(&self, handle: u64, offset: u64, data: &[u8]) -> Result<Done, Errno> {
        let arrived = self.storage.now();
        let open = self.files.get(handle).map_err(errno)?;
        self.write_all(&open, offset, data).map_err(errno)?;
        let request = Request::write(offset, Bytes(data.len() as u64));
        Ok(Done {
            length: data.len(),
            due: Some(self.submit(&open, arrived, request)),
        })
    }

    fn sync(&self, handle: u64, data_only: bool) -> Result<Done, Errno> {
        let arrived = self.storage.now();
        let open = self.files.get(handle).map_err(errno)?;
        let synced = match data_only {
            true => open.file.sync_data(),
            false => open.file.sync_all(),
        };
        synced.map_err(|error| errno(code(&error)))?;
        Ok(Done {
            length: 0,
            due: Some(self.submit(&open, arrived, Request::flush())),
        })
    }
}

impl Tree {
    /// Writes a range of the real file, if the volume has room for it.
    fn write_all(&self, open: &OpenFile, offset: u64, data: &[u8]) -> Result<(), Code> {
        let write = || {
            open.file
                .write_all_at(data, offset)
                .map_err(|error| code(&error))
        };
        let region = open.node.region.as_deref().ok_or(Code::BADF)?;
        let length = data.len() as u64;
        if region.holds(offset.saturating_add(length)) {
            return write();
        }
        self.space.grow(region, length, || {
            write()?;
            fstat(&open.file)
        })
    }

    /// Submits a request of an open file to the model; returns when to answer it.
    fn submit(&self, open: &OpenFile, arrived: Instant, request: Request) -> Instant {
        let storage = &self.storage;
        let address = |offset| {
            let region = open.node.region.as_deref();
            region.map_or(offset, |region| region.address(offset))
        };
        let addressed = Request {
            offset: address(request.offset),
            ..request
        };
        let durable = open.durable && request.operation == Operation::Write;
        let completion = match durable {
            true => storage.submit_durable(arrived, self.volume, addressed),
            false => storage.submit(arrived, self.volume, addressed),
        };
        self.note(open, arrived, request, completion);
        completion.due
    }

    fn note(&self, open: &OpenFile, arrived: Instant, request: Request, completion: Completion) {
        let Some(trace) = &self.trace else {
            return;
        };
        let path = self.path_below_root(&open.node);
        let traced = Traced {
            volume: &self.name,
            path: &path,
            request,
            arrived,
            completion,
        };
        trace.add(traced, &self.storage);
    }

    /// Makes changes to a directory durable.
    ///
    /// # Errors
    /// The error of the backing filesystem.
    pub(super) fn sync_directory(&self, handle: u64) -> Result<Instant, Code> {
        let arrived = self.storage.now();
        let open = self.directories.get(handle)?;
        open.file.sync_all().map_err(|error| code(&error))?;
        let completion = self.storage.submit(arrived, self.volume, Request::flush());
        Ok(completion.due)
    }

    /// Allocates or frees space in a file, as with `fallocate`.
    ///
    /// # Errors
    /// `ENOSPC` when the volume is full, or the error of the backing filesystem.
    pub(super) fn allocate(
        &self,
        open: &Arc<OpenFile>,
        offset: u64,
        length: u64,
        flags: rustix::fs::FallocateFlags,
    ) -> Result<(), Code> {
        use rustix::fs::{FallocateFlags, fallocate};
        let takes = !flags.intersects(FallocateFlags::PUNCH_HOLE | FallocateFlags::COLLAPSE_RANGE);
        let region = open.node.region.as_deref().ok_or(Code::BADF)?;
        let present = fstat(&open.file)?;
        let allocated = u64::try_from(present.st_blocks).unwrap_or(0) * 512;
        // A file of the requested length has most of it: existing space is not allocated again.
        let more = match takes {
            true => (offset + length).saturating_sub(allocated.min(offset + length)),
            false => 0,
        };
        self.space.grow(region, more, || {
            fallocate(&open.file, flags, offset, length)?;
            fstat(&open.file)
        })
    }
}

fn read_all(file: &File, offset: u64, buffer: &mut [u8]) -> Result<usize, Code> {
    let mut length = 0;
    while length < buffer.len() {
        match file.read_at(&mut buffer[length..], offset + length as u64) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(code(&error)),
        }
    }
    Ok(length)
}

/// The number of an operating system error.
pub(super) fn code(error: &std::io::Error) -> Code {
    Code::from_io_error(error).unwrap_or(Code::IO)
}

fn errno(code: Code) -> Errno {
    Errno(code.raw_os_error())
}
