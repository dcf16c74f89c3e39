//! The blocks that do not pack: slots of one temporary file.

use std::fs::File;
use std::io;
use std::path::PathBuf;

/// Size of a block: a page of the database, so that SQLite writes and reads whole ones.
pub(super) const BLOCK: usize = 8 << 10;

/// Why the temporary file could not be used, human-readable.
pub(crate) fn failure(error: &io::Error) -> String {
    format!(
        "the temporary file for pages that do not pack, in {}: {error}; make room there, or set TMPDIR",
        std::env::temp_dir().display()
    )
}

/// The directory of the temporary file, and its free space.
pub fn temporary_space() -> (PathBuf, io::Result<model::Bytes>) {
    let directory = std::env::temp_dir();
    let free = fs4::available_space(&directory).map(model::Bytes);
    (directory, free)
}

/// The temporary file, and its free slots.
#[derive(Default)]
pub(super) struct Slots {
    pub(super) file: Option<File>,
    pub(super) count: u64,
    pub(super) free: Vec<u64>,
}

impl Slots {
    pub(super) fn read(&self, slot: u64, plain: &mut [u8]) -> io::Result<()> {
        let file = self.file.as_ref().expect("a slot is in a file");
        read_at(file, plain, slot * BLOCK as u64)
    }

    fn write(&mut self, slot: u64, plain: &[u8]) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        write_at(file, plain, slot * BLOCK as u64)
    }

    /// Writes into a free slot; after an error it is still free.
    pub(super) fn add(&mut self, plain: &[u8]) -> io::Result<u64> {
        let slot = self.free.last().copied().unwrap_or(self.count);
        self.write(slot, plain)?;
        if self.free.pop().is_none() {
            self.count += 1;
        }
        Ok(slot)
    }
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

#[cfg(unix)]
fn write_at(file: &File, buffer: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        let count = std::os::windows::fs::FileExt::seek_read(file, buffer, offset)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        buffer = &mut buffer[count..];
        offset += count as u64;
    }
    Ok(())
}

#[cfg(windows)]
fn write_at(file: &File, mut buffer: &[u8], mut offset: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        let count = std::os::windows::fs::FileExt::seek_write(file, buffer, offset)?;
        buffer = &buffer[count..];
        offset += count as u64;
    }
    Ok(())
}
