//! The bytes of all files of a simulation, in one unnamed temporary file.
//!
//! Files are cut into chunks, and a chunk that was given back is used again. One real file costs as
//! little as memory would, and holds it out of memory: the machine's own page cache decides.

use std::fs::File;
use std::io;

/// Size of a chunk.
const CHUNK: u64 = 256 << 10;

/// The temporary file, and which of its chunks are free.
pub(crate) struct Spool {
    file: File,
    chunks: u64,
    free: Vec<u64>,
}

/// One file's bytes.
#[derive(Default)]
pub(crate) struct Bytes {
    chunks: Vec<u64>,
    /// Length in bytes.
    pub(crate) length: u64,
}

impl Spool {
    /// An empty spool, in the system's directory for temporary files.
    pub(crate) fn new() -> io::Result<Spool> {
        Ok(Spool {
            file: tempfile::tempfile()?,
            chunks: 0,
            free: Vec::new(),
        })
    }

    /// Reads from `offset`; bytes beyond the end are zero. Returns how many there were.
    pub(crate) fn read(&self, bytes: &Bytes, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let there = (bytes.length.saturating_sub(offset) as usize).min(buffer.len());
        buffer[there..].fill(0);
        each_part(offset, there, |chunk, inside, range| {
            read_at(
                &self.file,
                &mut buffer[range],
                bytes.chunks[chunk] * CHUNK + inside,
            )
        })?;
        Ok(there)
    }

    /// Writes at `offset`; a gap after the old end becomes zeros.
    pub(crate) fn write(
        &mut self,
        bytes: &mut Bytes,
        offset: u64,
        buffer: &[u8],
    ) -> io::Result<()> {
        if offset > bytes.length {
            let gap = (offset - bytes.length) as usize;
            self.write_inside(bytes, bytes.length, &vec![0; gap])?;
        }
        self.write_inside(bytes, offset, buffer)
    }

    fn write_inside(&mut self, bytes: &mut Bytes, offset: u64, buffer: &[u8]) -> io::Result<()> {
        let end = offset + buffer.len() as u64;
        while (bytes.chunks.len() as u64) * CHUNK < end {
            let chunk = self.free.pop().unwrap_or_else(|| {
                self.chunks += 1;
                self.chunks - 1
            });
            bytes.chunks.push(chunk);
        }
        each_part(offset, buffer.len(), |chunk, inside, range| {
            write_at(
                &self.file,
                &buffer[range],
                bytes.chunks[chunk] * CHUNK + inside,
            )
        })?;
        bytes.length = bytes.length.max(end);
        Ok(())
    }

    /// Cuts a file to `length`, giving chunks back.
    pub(crate) fn truncate(&mut self, bytes: &mut Bytes, length: u64) {
        let keep = (length.div_ceil(CHUNK) as usize).min(bytes.chunks.len());
        self.free.extend(bytes.chunks.drain(keep..));
        bytes.length = bytes.length.min(length);
    }
}

/// Cuts a range of a file at chunk boundaries: chunk, offset inside it, range of the buffer.
fn each_part(
    offset: u64,
    length: usize,
    mut part: impl FnMut(usize, u64, std::ops::Range<usize>) -> io::Result<()>,
) -> io::Result<()> {
    let mut done = 0;
    while done < length {
        let at = offset + done as u64;
        let inside = at % CHUNK;
        let size = ((CHUNK - inside) as usize).min(length - done);
        part((at / CHUNK) as usize, inside, done..done + size)?;
        done += size;
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_over_chunk_boundaries() -> io::Result<()> {
        let mut spool = Spool::new()?;
        let mut bytes = Bytes::default();
        let written: Vec<u8> = (0..3 * CHUNK).map(|n| (n % 251) as u8).collect();
        spool.write(&mut bytes, 100, &written)?;
        let mut read = vec![0; written.len()];
        assert_eq!(spool.read(&bytes, 100, &mut read)?, written.len());
        assert_eq!(read, written);
        Ok(())
    }

    #[test]
    fn a_gap_and_the_rest_beyond_the_end_are_zeros_even_in_used_chunks() -> io::Result<()> {
        let mut spool = Spool::new()?;
        let mut old = Bytes::default();
        spool.write(&mut old, 0, &[7; CHUNK as usize])?;
        spool.truncate(&mut old, 0);
        let mut bytes = Bytes::default();
        spool.write(&mut bytes, 10, &[1])?;
        let mut read = [9; 12];
        assert_eq!(spool.read(&bytes, 0, &mut read)?, 11);
        assert_eq!(read, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0]);
        Ok(())
    }
}
