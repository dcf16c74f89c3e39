//! A file of a simulation: its bytes, its place in the modelled store, and who waits for a lock on it.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::rc::Rc;

use model::Instant;
use model::store::{FileId, PageSize, Role};

use super::spool;
use super::world::World;
use crate::vfs::{FREE_BELOW, Level, Locks};

/// The files of a simulation that have names.
pub(super) type Inodes = RefCell<HashMap<String, Rc<Inode>>>;

/// A file of a simulation.
pub(super) struct Inode {
    pub(super) world: Rc<World>,
    pub(super) bytes: RefCell<spool::Bytes>,
    /// Its place in the store; `None`: its requests cost nothing.
    place: Option<FileId>,
    page_size: PageSize,
    pub(super) locks: RefCell<Locks>,
    waiting: RefCell<Vec<u32>>,
    /// How often a lock on it was given back.
    releases: Cell<u64>,
}

impl Inode {
    pub(super) fn new(world: &Rc<World>, role: Option<Role>) -> Inode {
        Inode {
            world: Rc::clone(world),
            bytes: RefCell::default(),
            place: role.map(|role| world.store.borrow_mut().create(role)),
            page_size: world.store.borrow().page_size(),
            locks: RefCell::default(),
            waiting: RefCell::default(),
            releases: Cell::new(0),
        }
    }

    /// Puts a session into the queue for a lock on this file.
    pub(super) fn wait(&self, session: u32) {
        self.waiting.borrow_mut().push(session);
    }

    /// How often a lock on it was given back so far.
    pub(super) fn releases(&self) -> u64 {
        self.releases.get()
    }

    /// Lets the queue try again.
    fn released(&self, now: Instant) {
        self.releases.set(self.releases.get() + 1);
        for session in self.waiting.take() {
            self.world.wake(session, now);
        }
    }

    /// Gives a lock on it back, down to the level that is wanted. `now` is that of the session that does; without one
    /// there is no run, and nobody waits.
    pub(super) fn lower(&self, held: Level, wanted: Level, now: Option<Instant>) {
        self.locks.borrow_mut().lower(held, wanted);
        if let Some(now) = now {
            self.released(now);
        }
    }

    /// The pages a range touches, if it costs anything.
    pub(super) fn pages(
        &self,
        offset: u64,
        length: usize,
    ) -> Option<(FileId, RangeInclusive<u64>)> {
        let place = self.place.filter(|_| length >= FREE_BELOW)?;
        let page = self.page_size.bytes().0;
        Some((place, offset / page..=(offset + length as u64 - 1) / page))
    }

    /// Cuts it to `length`, and gives the place of the rest back.
    pub(super) fn truncate(&self, length: u64) {
        self.world
            .spool
            .borrow_mut()
            .truncate(&mut self.bytes.borrow_mut(), length);
        if let Some(place) = self.place {
            let pages = length.div_ceil(self.page_size.bytes().0);
            self.world.store.borrow_mut().release(place, pages);
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
            self.world.store.borrow_mut().drop_file(place);
        }
    }
}
