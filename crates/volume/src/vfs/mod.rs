//! A virtual file system for SQLite whose files belong to a [`crate::virtual_time::Simulation`].
//!
//! Written by hand over SQLite's C interface, because sleeping, randomness and the current time have to be
//! virtual too, which wrapper crates leave to the operating system. Every file is routed by what SQLite
//! says it is for: a main database to the role it was opened with, everything temporary to temp space.

mod lock;
mod methods;
pub(crate) mod spool;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use model::store::{FileId, Role};

use crate::virtual_time::{Session, World};
use lock::Locks;
pub(crate) use methods::register;

/// The name SQLite knows it by.
pub(crate) const NAME: &std::ffi::CStr = c"dbstow";

/// A file of a simulation.
pub(crate) struct Inode {
    world: Rc<World>,
    bytes: RefCell<spool::Bytes>,
    /// Its place in the store; `None`: its requests cost nothing.
    place: Option<FileId>,
    locks: RefCell<Locks>,
    waiting: RefCell<Vec<u32>>,
    /// How often a lock on it was given back.
    releases: Cell<u64>,
}

impl Inode {
    fn new(world: &Rc<World>, role: Option<Role>) -> Inode {
        Inode {
            world: Rc::clone(world),
            bytes: RefCell::default(),
            place: role.map(|role| world.store.borrow_mut().create(role)),
            locks: RefCell::default(),
            waiting: RefCell::default(),
            releases: Cell::new(0),
        }
    }

    /// Puts a session into the queue for a lock on this file.
    pub(crate) fn wait(&self, session: u32) {
        self.waiting.borrow_mut().push(session);
    }

    /// How often a lock on it was given back so far.
    pub(crate) fn releases(&self) -> u64 {
        self.releases.get()
    }

    /// Lets the queue try again.
    fn released(&self, session: &Session) {
        self.releases.set(self.releases.get() + 1);
        session.wake_all(self.waiting.take());
    }

    fn truncate(&self, length: u64) {
        self.world
            .spool
            .borrow_mut()
            .truncate(&mut self.bytes.borrow_mut(), length);
        if let Some(place) = self.place {
            let pages = length.div_ceil(model::store::PAGE.0);
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
