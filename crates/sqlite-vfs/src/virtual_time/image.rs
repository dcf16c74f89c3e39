//! A database as it was loaded, for other simulations to begin with.
//!
//! Loading takes no virtual time, so that all that it leaves behind is the bytes of the database's file, and what the
//! modelled store did with the pages on the way: where they were placed, and which are cached. The bytes are
//! shared between copies until one writes to them; the pages are touched again, in the same order, in the store of each
//! simulation.

use std::rc::Rc;
use std::sync::Arc;

use model::store::{FileId, Full, Role};

use super::inode::Inode;
use super::scheduler::Simulation;
use super::session::{Session, file_name};
use super::spool::{Bytes, Frozen, Spool};
use super::touches::{ALL, Kind, Touch};
use super::trace::Freed;
use super::world::Loading;

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
        let is_whole = !recorder.has_overflowed();
        let mut touches = recorder.touches;
        touches.shrink_to_fit();
        is_whole.then_some(Image {
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
        let inode = Inode::of(self.world(), Some(place), bytes);
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
