//! A database as it was loaded, for other simulations to begin with.
//!
//! Loading takes no virtual time, so that all that it leaves behind is the bytes of the database's file, and what the
//! modelled store did with the pages on the way: where they were placed, and which are cached. The bytes are
//! shared between copies until one writes to them; the pages are touched again, in the same order, in the store of each
//! simulation.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use model::store::{FileId, Full, Role};

use super::inode::Inode;
use super::scheduler::Simulation;
use super::session::{Session, file_name};
use super::spool::{Bytes, Frozen, Spool};
use super::trace::Freed;
use super::world::Loading;

/// Most touches of pages that an image keeps, of 8 bytes each.
const TOUCHES_MAX: usize = 8 << 20;

/// A loaded database. Threads may share it.
pub struct Image {
    frozen: Arc<Frozen>,
    /// Number of its file among those that loading created.
    file: u32,
    touches: Vec<Touch>,
    /// The rowid of the last row that was inserted.
    last_row: i64,
}

impl Image {
    /// Bytes that it takes in memory.
    pub fn memory(&self) -> u64 {
        self.frozen.memory() + (self.touches.capacity() * size_of::<Touch>()) as u64
    }

    /// The rowid of the last row that loading inserted.
    pub fn last_row(&self) -> i64 {
        self.last_row
    }
}

/// What loading does with a page or a file, in 8 bytes: two bits for the kind, 22 for the file, 40 for the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Touch(u64);

/// The same, legible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
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

    fn parts(self) -> (Kind, u32, u64) {
        let kind = KINDS[(self.0 >> (FILE_BITS + PAGE_BITS)) as usize];
        let file = self.0 >> PAGE_BITS & ((1 << FILE_BITS) - 1);
        (kind, file as u32, self.0 & ((1 << PAGE_BITS) - 1))
    }
}

/// The page number of a drop of a whole file.
const ALL: u64 = (1 << PAGE_BITS) - 1;

/// Records what loading does.
#[derive(Default)]
pub(super) struct Recorder {
    touches: Vec<Touch>,
    /// Number of each file, in the order in which they were created.
    numbers: HashMap<FileId, u32>,
    created: u32,
    /// Whether there was more than an image keeps.
    overflowed: bool,
}

impl Recorder {
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

impl Simulation {
    /// Runs `load` outside of the measurement, and keeps as an image the one database that it opens and fills. It returns the
    /// connections, and the rowid of the last row inserted. `None` if it fails, or leaves more than an image can be.
    pub fn into_image<T>(self, load: impl FnOnce(&Session) -> Option<(T, i64)>) -> Option<Image> {
        self.world.loading.set(Loading::Recorded);
        let result = self.timeless(load);
        self.world.loading.set(Loading::Plain);
        let recorder = self.world.recorder.take();
        let (connections, last_row) = result?;
        // What is closed after loading is still open where an image is placed.
        drop(connections);
        let mut files = self.files.borrow_mut();
        let mut places = files.drain().filter_map(|(_, inode)| {
            let place = inode.place()?;
            Some((inode, recorder.numbers[&place]))
        });
        let (Some((inode, file)), None) = (places.next(), places.next()) else {
            return None;
        };
        let spool = self.world.spool.replace(Spool::new());
        let frozen = Arc::new(spool.freeze(inode.bytes.take()).ok()?);
        let mut touches = recorder.touches;
        touches.shrink_to_fit();
        (!recorder.overflowed).then_some(Image {
            frozen,
            file,
            touches,
            last_row,
        })
    }
}

/// What of an image is placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// Its bytes, and its pages in the modelled store: as if it had been loaded here.
    All,
    /// Its bytes, for sessions that tape what they do ([`super::Tape`]): no request of theirs reaches the store.
    Bytes,
    /// Its pages, for sessions that replay a tape.
    Pages,
}

impl Session {
    /// Puts `parts` of a copy of `image` where [`Session::open`] finds it under `name`.
    ///
    /// # Errors
    /// When the files of the modelled store have no room for it.
    pub fn place(&self, image: &Image, parts: Parts, name: &str, tables: Role) -> Result<(), Full> {
        self.place_as(image, parts, tables, file_name(name, tables))
    }

    /// The same where [`Session::open_shared`] finds it.
    ///
    /// # Errors
    /// When the files of the modelled store have no room for it.
    pub fn place_shared(
        &self,
        image: &Image,
        parts: Parts,
        name: &str,
        tables: Role,
    ) -> Result<(), Full> {
        self.place_as(
            image,
            parts,
            tables,
            file_name(&self.world().shared_name(name), tables),
        )
    }

    fn place_as(
        &self,
        image: &Image,
        parts: Parts,
        tables: Role,
        name: String,
    ) -> Result<(), Full> {
        let place = match parts {
            Parts::All | Parts::Pages => self.touch(image)?,
            Parts::Bytes => self.world().store.borrow_mut().create(tables),
        };
        let bytes = match parts {
            Parts::All | Parts::Bytes => image.frozen.copy(),
            Parts::Pages => Bytes::default(),
        };
        let inode = Inode::placed(self.world(), place, bytes);
        self.files().borrow_mut().insert(name, Rc::new(inode));
        Ok(())
    }

    /// Does with the pages what loading did; returns the place of the database.
    fn touch(&self, image: &Image) -> Result<FileId, Full> {
        let mut files: Vec<Option<FileId>> = Vec::new();
        let world = self.world();
        for touch in &image.touches {
            let (kind, file, page) = touch.parts();
            let id = || files[file as usize].expect("a file is created before it is touched");
            match kind {
                Kind::Create => {
                    let role = if page == 0 { Role::Data } else { Role::Temp };
                    files.push(Some(world.store.borrow_mut().create(role)));
                }
                Kind::Read => self.read(id(), page),
                Kind::Write => self.write(id(), page)?,
                Kind::Free if page == ALL => {
                    world.free(Freed::File(id()));
                    files[file as usize] = None;
                }
                Kind::Free => world.free(Freed::From(id(), page)),
            }
        }
        Ok(files[image.file as usize].expect("the database was not dropped"))
    }

    /// Runs `work` while nothing that SQLite reads touches the modelled store: for opening a database whose image
    /// was made when it had been opened already. `None` if SQLite wrote or created a file.
    pub fn unobserved<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        let world = self.world();
        world.loading.set(Loading::Unobserved);
        let result = work();
        world.loading.set(Loading::Plain);
        (!world.is_disturbed.take()).then_some(result)
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
