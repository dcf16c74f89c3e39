//! A file of a simulation: its bytes, and its place in the modelled store.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::rc::Rc;

use model::store::{FileId, PageSize, Role};

use super::session::{current, with_current};
use super::spool;
use super::trace::Freed;
use super::world::World;
use crate::vfs::{FREE_BELOW, Locks};

/// The named files of a simulation.
pub(super) type Inodes = RefCell<HashMap<String, Rc<Inode>>>;

/// A file of a simulation.
pub(super) struct Inode {
    pub(super) world: Rc<World>,
    pub(super) bytes: RefCell<spool::Bytes>,
    /// Its place in the store; `None`: its requests cost nothing.
    place: Option<FileId>,
    page_size: PageSize,
    pub(super) locks: RefCell<Locks>,
}

impl Inode {
    pub(super) fn new(world: &Rc<World>, role: Option<Role>) -> Inode {
        let place = role.map(|role| {
            let place = world.create(role);
            with_current(|session| session.created(place, role));
            place
        });
        Inode::of(world, place, spool::Bytes::default())
    }

    /// A file of these bytes whose pages have their place already.
    pub(super) fn placed(world: &Rc<World>, place: FileId, bytes: spool::Bytes) -> Inode {
        Inode::of(world, Some(place), bytes)
    }

    fn of(world: &Rc<World>, place: Option<FileId>, bytes: spool::Bytes) -> Inode {
        Inode {
            world: Rc::clone(world),
            bytes: RefCell::new(bytes),
            place,
            page_size: world.store.borrow().page_size(),
            locks: RefCell::default(),
        }
    }

    /// Its place in the store, if its requests cost anything.
    pub(super) fn place(&self) -> Option<FileId> {
        self.place
    }

    /// The pages that a range touches, if it costs anything.
    pub(super) fn pages(
        &self,
        offset: u64,
        length: usize,
    ) -> Option<(FileId, RangeInclusive<u64>)> {
        let place = self.place.filter(|_| length >= FREE_BELOW)?;
        let page = self.page_size.bytes().0;
        Some((place, offset / page..=(offset + length as u64 - 1) / page))
    }

    /// Truncates it to `length`, and releases the place of the rest.
    pub(super) fn truncate(&self, length: u64) {
        self.world
            .spool
            .borrow_mut()
            .truncate(&mut self.bytes.borrow_mut(), length);
        if let Some(place) = self.place {
            let pages = length.div_ceil(self.page_size.bytes().0);
            self.free(Freed::From(place, pages));
        }
    }

    fn free(&self, pages: Freed) {
        match current() {
            Some(session) => session.free(pages),
            None => self.world.free(pages),
        }
    }
}

impl Drop for Inode {
    fn drop(&mut self) {
        self.world
            .spool
            .borrow_mut()
            .truncate(self.bytes.get_mut(), 0);
        if let Some(place) = self.place {
            self.free(Freed::File(place));
        }
    }
}
