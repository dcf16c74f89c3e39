//! What loading does with the pages of a modelled store, in order.

use std::collections::HashMap;

use model::store::{FileId, Role};

use super::trace::Freed;

/// Most touches of pages that an image keeps, of 8 bytes each.
const TOUCHES_MAX: usize = 8 << 20;

/// What loading does with a page or a file, in 8 bytes: two bits for the kind, 22 for the file, 40 for the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Touch(u64);

/// The same, legible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The page is read.
    Read = 0,
    /// The page is written.
    Write = 1,
    /// The file is created: in data files (page 0) or in temporary ones (1).
    Create = 2,
    /// Pages from this one on are freed.
    Free = 3,
}

const KINDS: [Kind; 4] = [Kind::Read, Kind::Write, Kind::Create, Kind::Free];
const FILE_BITS: u32 = 22;
const PAGE_BITS: u32 = 40;

impl Touch {
    /// `None` for a file or page whose number has too many bits.
    fn new(kind: Kind, file: u32, page: u64) -> Option<Touch> {
        let fits = file < 1 << FILE_BITS && page < 1 << PAGE_BITS;
        let number = u64::from(file) << PAGE_BITS | page;
        fits.then_some(Touch((kind as u64) << (FILE_BITS + PAGE_BITS) | number))
    }

    pub(super) fn parts(self) -> (Kind, u32, u64) {
        let kind = KINDS[(self.0 >> (FILE_BITS + PAGE_BITS)) as usize];
        let file = self.0 >> PAGE_BITS & ((1 << FILE_BITS) - 1);
        (kind, file as u32, self.0 & ((1 << PAGE_BITS) - 1))
    }
}

/// The page number of a drop of a whole file.
pub(super) const ALL: u64 = (1 << PAGE_BITS) - 1;

/// Records what loading does.
#[derive(Default)]
pub(super) struct TouchRecorder {
    pub(super) touches: Vec<Touch>,
    /// Number of each file, in the order in which they were created.
    pub(super) numbers: HashMap<FileId, u32>,
    created: u32,
    /// Whether there was more than an image keeps.
    overflowed: bool,
}

impl TouchRecorder {
    /// A file is created.
    pub(super) fn create(&mut self, file: FileId, role: Role) {
        self.numbers.insert(file, self.created);
        self.created += 1;
        self.push(Kind::Create, file, u64::from(role == Role::Temp));
    }

    /// A page is read.
    pub(super) fn read(&mut self, file: FileId, page: u64) {
        self.push(Kind::Read, file, page);
    }

    /// A page is written.
    pub(super) fn write(&mut self, file: FileId, page: u64) {
        self.push(Kind::Write, file, page);
    }

    /// Pages are freed.
    pub(super) fn free(&mut self, pages: Freed) {
        match pages {
            Freed::File(file) => self.push(Kind::Free, file, ALL),
            Freed::From(file, first) => self.push(Kind::Free, file, first),
        }
    }

    fn push(&mut self, kind: Kind, file: FileId, page: u64) {
        let touch = Touch::new(kind, self.numbers[&file], page);
        match touch.filter(|_| self.touches.len() < TOUCHES_MAX) {
            Some(touch) => self.touches.push(touch),
            None => self.overflowed = true,
        }
    }

    /// Whether there was more than an image keeps.
    pub(super) fn has_overflowed(&self) -> bool {
        self.overflowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_touch_keeps_its_kind_file_and_page() {
        for (kind, file, page) in [
            (Kind::Read, 0, 0),
            (Kind::Write, 1, 7),
            (Kind::Create, (1 << 22) - 1, 1),
            (Kind::Free, 3, ALL),
        ] {
            let touch = Touch::new(kind, file, page);
            assert_eq!(touch.map(Touch::parts), Some((kind, file, page)));
        }
        assert_eq!(Touch::new(Kind::Read, 1 << 22, 0), None);
        assert_eq!(Touch::new(Kind::Read, 0, 1 << 40), None);
    }
}
