//! A volume's bytes: in its image, or layered over an unchanged image.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;
use rangemap::RangeMap;
use rustix::fs::{FallocateFlags, fallocate};

/// Where a volume's bytes are.
pub(in super::super) enum Store {
    /// In its image.
    Image(File),
    /// Layers of writes over an unchanged image.
    Layers(Layers),
}

/// A file of bytes in the order in which they were written, by one volume or several.
pub(in super::super) struct Writes {
    file: File,
    end: AtomicU64,
}

/// Writes over an unchanged image.
pub(in super::super) struct Layers {
    image: File,
    /// Files that hold the written bytes; new ones go to the last.
    files: Vec<Arc<Writes>>,
    written: RwLock<RangeMap<u64, Source>>,
    /// Whether new bytes go to the same offset of their file as of the volume, so that it stays as short as that.
    in_place: bool,
}

/// Where the bytes of a range are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// In a file: at the offset in the volume plus `behind`, with wrap-around.
    File { place: usize, behind: u64 },
    /// Nowhere: they are zero.
    Zero,
}

impl Writes {
    /// An empty file.
    pub(in super::super) fn new(file: File) -> Writes {
        Writes {
            file,
            end: AtomicU64::new(0),
        }
    }

    /// Its length in bytes.
    pub(in super::super) fn length(&self) -> u64 {
        self.end.load(Ordering::Relaxed)
    }

    /// Truncates the file to `length` bytes, freeing their space.
    ///
    /// # Errors
    /// When the file cannot be truncated.
    pub(in super::super) fn cut(&self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }

    /// Writes bytes at an offset, and returns it.
    ///
    /// # Errors
    /// When they cannot be written.
    fn put(&self, bytes: &[u8], at: u64) -> io::Result<u64> {
        self.file.write_all_at(bytes, at)?;
        Ok(at)
    }

    /// Appends bytes, and returns their offset.
    ///
    /// # Errors
    /// When they cannot be written.
    fn append(&self, bytes: &[u8]) -> io::Result<u64> {
        let at = self.end.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.file.write_all_at(bytes, at)?;
        Ok(at)
    }
}

impl Layers {
    /// No writes yet, over `image`; new ones go to `writes`.
    pub(in super::super) fn over(image: File, writes: Arc<Writes>) -> Layers {
        Layers {
            image,
            files: vec![writes],
            written: RwLock::default(),
            in_place: false,
        }
    }

    /// No writes yet, over `image`; new ones go to the same offset of `writes`, where later ones replace earlier ones.
    pub(in super::super) fn in_place(image: File, writes: Arc<Writes>) -> Layers {
        Layers {
            in_place: true,
            ..Layers::over(image, writes)
        }
    }

    /// Earlier writes, where later ranges override earlier ones: `recorded` holds the bytes of a range if a place is
    /// given, otherwise they are zero. New writes go to `writes`.
    pub(in super::super) fn recorded(
        image: File,
        recorded: &Arc<Writes>,
        ranges: &[(Range<u64>, Option<u64>)],
        writes: Arc<Writes>,
    ) -> Layers {
        let mut written = RangeMap::new();
        for (range, at) in ranges {
            if !range.is_empty() {
                let source = at.map_or(Source::Zero, |at| Source::at(0, range.start, at));
                written.insert(range.clone(), source);
            }
        }
        Layers {
            image,
            files: vec![Arc::clone(recorded), writes],
            written: RwLock::new(written),
            in_place: false,
        }
    }

    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let range = offset..offset + buffer.len() as u64;
        let place = |at: u64| (at - offset) as usize;
        let (gaps, parts) = {
            let written = self.written.read();
            let gaps: Vec<Range<u64>> = written.gaps(&range).collect();
            let parts = written.overlapping(&range).map(|(part, source)| {
                let part = part.start.max(range.start)..part.end.min(range.end);
                (part, *source)
            });
            (gaps, parts.collect::<Vec<_>>())
        };
        let mut filled = buffer.len();
        for gap in gaps {
            let part = &mut buffer[place(gap.start)..place(gap.end)];
            let read = read_fully(&self.image, gap.start, part)?;
            if read < part.len() {
                filled = filled.min(place(gap.start) + read);
            }
        }
        for (part, source) in parts {
            let bytes = &mut buffer[place(part.start)..place(part.end)];
            match source {
                Source::Zero => bytes.fill(0),
                Source::File { place, behind } => {
                    let at = part.start.wrapping_add(behind);
                    self.files[place].file.read_exact_at(bytes, at)?;
                }
            }
        }
        Ok(filled)
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<u64> {
        let place = self.files.len() - 1;
        let at = match self.in_place {
            true => self.files[place].put(bytes, offset)?,
            false => self.files[place].append(bytes)?,
        };
        let range = offset..offset + bytes.len() as u64;
        if !range.is_empty() {
            self.written
                .write()
                .insert(range, Source::at(place, offset, at));
        }
        Ok(at)
    }
}

impl Source {
    fn at(place: usize, start: u64, at: u64) -> Source {
        Source::File {
            place,
            behind: at.wrapping_sub(start),
        }
    }
}

impl Store {
    /// Fills `buffer` up to the end of the volume; returns the length read.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub(in super::super) fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Store::Image(image) => read_fully(image, offset, buffer),
            Store::Layers(layers) => layers.read(offset, buffer),
        }
    }

    /// Writes all of `bytes`; returns their location unless it is in the image.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub(in super::super) fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<Option<u64>> {
        match self {
            Store::Image(image) => image.write_all_at(bytes, offset).map(|()| None),
            Store::Layers(layers) => layers.write(offset, bytes).map(Some),
        }
    }

    /// Frees a range; it reads as zeros from then on.
    ///
    /// # Errors
    /// When the file system of the backing directory does not support it.
    pub(super) fn discard(&self, range: Range<u64>) -> io::Result<()> {
        match self {
            Store::Image(image) => {
                let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                Ok(fallocate(
                    image,
                    hole,
                    range.start,
                    range.end - range.start,
                )?)
            }
            Store::Layers(layers) => {
                if !range.is_empty() {
                    layers.written.write().insert(range, Source::Zero);
                }
                Ok(())
            }
        }
    }
}

/// Fills `buffer` up to the end of the image; returns the length read.
pub(super) fn read_fully(image: &File, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn image(bytes: &[u8]) -> File {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(bytes, 0).unwrap();
        file
    }

    fn writes() -> Arc<Writes> {
        Arc::new(Writes::new(tempfile::tempfile().unwrap()))
    }

    fn all(store: &Store) -> Vec<u8> {
        let mut bytes = vec![9; 12];
        let length = store.read(0, &mut bytes).unwrap();
        bytes.truncate(length);
        bytes
    }

    #[test]
    fn what_is_written_lies_over_the_image_which_stays_as_it_was() {
        let under = image(b"0123456789");
        let store = Store::Layers(Layers::over(under.try_clone().unwrap(), writes()));
        store.write(2, b"abcd").unwrap();
        store.write(4, b"XY").unwrap();
        store.discard(7..9).unwrap();
        assert_eq!(all(&store), b"01abXY6\0\09");
        assert_eq!(all(&Store::Image(under)), b"0123456789");
        let mut middle = [0; 4];
        store.read(3, &mut middle).unwrap();
        assert_eq!(&middle, b"bXY6");
    }

    #[test]
    fn bytes_that_are_written_in_place_take_their_room_once() {
        let under = image(b"0123456789");
        let over = writes();
        let layers = Layers::in_place(under.try_clone().unwrap(), Arc::clone(&over));
        let store = Store::Layers(layers);
        for bytes in [b"abcd", b"efgh", b"ijkl"] {
            store.write(2, bytes).unwrap();
        }
        store.discard(4..5).unwrap();
        assert_eq!(all(&store), b"01ij\0l6789");
        assert_eq!(all(&Store::Image(under)), b"0123456789");
        assert_eq!(over.file.metadata().unwrap().len(), 6);
    }

    #[test]
    fn ranges_of_a_recording_are_there_and_what_is_written_to_them_is_elsewhere() {
        let recorded = writes();
        let first = recorded.append(b"abcdef").unwrap();
        let second = recorded.append(b"XYZ").unwrap();
        let ranges = [
            (1..7, Some(first)),
            (8..9, None),
            // Only the middle byte of the second write.
            (4..5, Some(second + 1)),
        ];
        let store = Layers::recorded(image(b"0123456789"), &recorded, &ranges, writes());
        let store = Store::Layers(store);
        assert_eq!(all(&store), b"0abcYef7\09");
        store.write(0, b"--").unwrap();
        assert_eq!(all(&store), b"--bcYef7\09");
        let mut kept = [0; 9];
        recorded.file.read_exact_at(&mut kept, 0).unwrap();
        assert_eq!(&kept, b"abcdefXYZ");
    }
}
