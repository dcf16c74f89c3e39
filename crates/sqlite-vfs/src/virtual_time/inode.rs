//! A file of a simulation: its bytes, and its place in the modelled store.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::rc::Rc;

use model::store::{FileId, PageSize};

use super::spool;
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
    pub(super) page_size: PageSize,
    pub(super) locks: RefCell<Locks>,
}

impl Inode {
    /// A file of these bytes; their place is `place`, if its requests cost anything.
    pub(super) fn of(world: &Rc<World>, place: Option<FileId>, bytes: spool::Bytes) -> Inode {
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
}
