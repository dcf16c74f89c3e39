//! Lines of a log of statements, each of a bounded length.

use std::cell::Cell;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

use crate::logged::LogError;

/// Most bytes of an entry: servers' own texts end at 1 GB, and statements of that size are rare.
pub const ENTRY_BYTES_MAX: usize = 16 << 20;

/// Counts what is read for one entry, and ends a log whose entry does not end: reading then fails with
/// [`io::ErrorKind::FileTooLarge`].
pub struct Bounded<R> {
    from: R,
    entry: EntryBytes,
}

/// How many bytes of the present entry were read.
#[derive(Clone, Default)]
pub struct EntryBytes(Rc<Cell<usize>>);

impl EntryBytes {
    /// The next entry begins.
    pub fn restart(&self) {
        self.0.set(0);
    }

    fn add(&self, bytes: usize) {
        self.0.set(self.0.get() + bytes);
    }

    fn check(&self) -> io::Result<()> {
        match self.0.get() > ENTRY_BYTES_MAX {
            true => Err(io::ErrorKind::FileTooLarge.into()),
            false => Ok(()),
        }
    }
}

impl<R> Bounded<R> {
    /// With the count, which the parser restarts at each entry.
    pub fn new(from: R) -> (Bounded<R>, EntryBytes) {
        let entry = EntryBytes::default();
        let bounded = Bounded {
            from,
            entry: entry.clone(),
        };
        (bounded, entry)
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.entry.check()?;
        let read = self.from.read(buffer)?;
        self.entry.add(read);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Bounded<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.entry.check()?;
        self.from.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.entry.add(amount);
        self.from.consume(amount);
    }
}

/// Reads line by line.
pub struct Lines<R> {
    from: R,
    line: u64,
}

/// A line without its end.
pub struct Line {
    /// Its number, from 1.
    pub number: u64,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Whether it ends: the last one of a log that is written to may not.
    pub is_whole: bool,
}

impl Line {
    /// Its text, and whether it is not UTF-8.
    pub fn text(&self) -> (String, bool) {
        text_of(&self.bytes)
    }
}

/// Text of bytes that may not be UTF-8, and whether they are not.
pub fn text_of(bytes: &[u8]) -> (String, bool) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (text.to_owned(), false),
        Err(_) => (String::from_utf8_lossy(bytes).into_owned(), true),
    }
}

impl<R: BufRead> Lines<R> {
    /// From the first line on.
    pub fn new(from: R) -> Lines<R> {
        Lines { from, line: 0 }
    }

    /// The next line; `None` at the end.
    ///
    /// # Errors
    /// When it cannot be read, or is too long.
    pub fn next_line(&mut self) -> Result<Option<Line>, LogError> {
        let number = self.line + 1;
        let mut bytes = Vec::new();
        let mut bounded = (&mut self.from).take(ENTRY_BYTES_MAX as u64 + 1);
        bounded
            .read_until(b'\n', &mut bytes)
            .map_err(|error| LogError::at(number, error.to_string()))?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let is_whole = bytes.ends_with(b"\n");
        if !is_whole && bytes.len() > ENTRY_BYTES_MAX {
            return Err(too_long(number));
        }
        if is_whole {
            bytes.pop();
            if bytes.ends_with(b"\r") {
                bytes.pop();
            }
        }
        self.line = number;
        Ok(Some(Line {
            number,
            bytes,
            is_whole,
        }))
    }
}

/// The error of an entry that is too long.
pub fn too_long(line: u64) -> LogError {
    LogError::at(
        line,
        format!(
            "it has more than {} MiB; a log of statements has shorter ones: check that the file is one, or cut the line out",
            ENTRY_BYTES_MAX >> 20
        ),
    )
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn a_line_without_an_end_is_half_and_an_endless_one_is_refused() {
        let mut lines = Lines::new(&b"one\r\ntwo"[..]);
        let line = lines.next_line().unwrap().unwrap();
        assert_eq!(
            (line.number, &*line.bytes, line.is_whole),
            (1, &b"one"[..], true)
        );
        let line = lines.next_line().unwrap().unwrap();
        assert_eq!(
            (line.number, &*line.bytes, line.is_whole),
            (2, &b"two"[..], false)
        );
        assert!(lines.next_line().unwrap().is_none());

        let mut lines = Lines::new(BufReader::new(std::io::repeat(b'x')));
        let error = lines.next_line().err().unwrap().to_string();
        assert!(
            error.starts_with("line 1: it has more than 16 MiB"),
            "{error}"
        );
    }
}
