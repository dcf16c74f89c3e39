//! The files of a [`super::Simulation`]: their bytes are kept, and every page has its place in the
//! modelled store.
//!
//! Every file is routed by the purpose that SQLite states: a main database to the role it was opened
//! with, everything temporary to temp space; a journal costs nothing, since the modelled log replaces it.

use std::ffi::CStr;
use std::rc::Rc;
use std::sync::Once;

use model::store::Role;
use model::{Duration, Instant};
use rusqlite::ffi;

use super::inode::Inode;
use super::session::{current, with_current};
use super::spool::Bytes;
use super::trace::Freed;
use super::world::World;
use crate::vfs::{Code, File, FileSystem, Level, Purpose, Registered};

/// The VFS name under which databases are opened.
pub(super) const VFS: &CStr = c"dbstow";

/// Registers the file system with SQLite, once per process.
pub(super) fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        Box::leak(Box::new(Registered::new(VFS.to_owned(), Files)));
    });
}

/// The files of the simulation that is running on the thread.
struct Files;

/// The role of a file; `None` for journals.
fn role(name: Option<&str>, purpose: Purpose) -> Option<Role> {
    match purpose {
        Purpose::Journal | Purpose::StatementJournal => None,
        Purpose::Database | Purpose::Log | Purpose::Temporary => {
            let data = name.is_some_and(|name| name.starts_with("data/"));
            Some(if data { Role::Data } else { Role::Temp })
        }
    }
}

/// A new file of this role; `None`: its requests cost nothing.
fn created(world: &Rc<World>, role: Option<Role>) -> Inode {
    let place = role.map(|role| {
        let place = world.create(role);
        with_current(|session| session.created(place, role));
        place
    });
    Inode::of(world, place, Bytes::default())
}

impl Inode {
    /// Truncates it to `length`, and releases the place of the rest.
    fn truncate(&self, length: u64) {
        self.world
            .spool
            .borrow_mut()
            .truncate(&mut self.bytes.borrow_mut(), length);
        if let Some(place) = self.place() {
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
        if let Some(place) = self.place() {
            self.free(Freed::File(place));
        }
    }
}

impl FileSystem for Files {
    type File = Open;

    fn open(&self, name: Option<&str>, purpose: Purpose, create: bool) -> Result<Open, Code> {
        let session = current().ok_or(Code(ffi::SQLITE_CANTOPEN))?;
        let world = session.world();
        let new = || Rc::new(created(world, role(name, purpose)));
        let Some(name) = name else {
            return Ok(Open::new(new()));
        };
        let known = session.files().borrow().get(name).cloned();
        let inode = match known {
            Some(inode) => inode,
            None if !create => return Err(Code(ffi::SQLITE_CANTOPEN)),
            None => {
                let inode = new();
                let mut files = session.files().borrow_mut();
                files.insert(name.to_owned(), Rc::clone(&inode));
                inode
            }
        };
        Ok(Open::new(inode))
    }

    fn delete(&self, name: &str) -> bool {
        let gone = current().and_then(|session| session.files().borrow_mut().remove(name));
        gone.is_some()
    }

    fn exists(&self, name: &str) -> bool {
        current().is_some_and(|session| {
            let files = session.files().borrow();
            files
                .get(name)
                .is_some_and(|inode| inode.bytes.borrow().length > 0)
        })
    }

    fn sleep(&self, span: Duration) {
        if let Some(session) = current() {
            session.sleep(span);
        }
    }

    fn now(&self) -> Instant {
        current().map_or(Instant::ZERO, |session| session.asked_time())
    }
}

/// An open file.
struct Open {
    inode: Rc<Inode>,
    level: Level,
}

impl Open {
    fn new(inode: Rc<Inode>) -> Open {
        Open {
            inode,
            level: Level::Unlocked,
        }
    }

    fn lower(&self, wanted: Level) {
        self.inode.locks.borrow_mut().lower(self.level, wanted);
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.lower(Level::Unlocked);
    }
}

impl File for Open {
    const SHARES_MEMORY: bool = false;

    fn read(&mut self, buffer: &mut [u8], offset: u64) -> Result<usize, Code> {
        let inode = &self.inode;
        if let Some(session) = current() {
            if session.stopping() {
                return Err(Code(ffi::SQLITE_IOERR_READ));
            }
            if let Some((place, pages)) = inode.pages(offset, buffer.len()) {
                pages.for_each(|page| session.read_page(place, page));
            }
        }
        let mut spool = inode.world.spool.borrow_mut();
        spool
            .read(&inode.bytes.borrow(), offset, buffer)
            .map_err(|error| inode.world.spool_failed(&error, ffi::SQLITE_IOERR_READ))
    }

    fn write(&mut self, data: &[u8], offset: u64) -> Result<(), Code> {
        let inode = &self.inode;
        if let Some(session) = current() {
            if session.stopping() {
                return Err(Code(ffi::SQLITE_IOERR_WRITE));
            }
            if let Some((place, mut pages)) = inode.pages(offset, data.len()) {
                pages
                    .try_for_each(|page| session.write_page(place, page))
                    .map_err(|_| Code(ffi::SQLITE_FULL))?;
            }
        }
        let mut spool = inode.world.spool.borrow_mut();
        spool
            .write(&mut inode.bytes.borrow_mut(), offset, data)
            .map_err(|error| inode.world.spool_failed(&error, ffi::SQLITE_IOERR_WRITE))
    }

    fn truncate(&mut self, length: u64) -> Result<(), Code> {
        self.inode.truncate(length);
        Ok(())
    }

    /// Durability is the modelled log's business.
    fn sync(&mut self) -> Result<(), Code> {
        Ok(())
    }

    fn length(&self) -> u64 {
        self.inode.bytes.borrow().length
    }

    /// Sessions of one database record their transactions, and never conflict.
    fn lock(&mut self, level: Level) -> bool {
        let (reached, granted) = self.inode.locks.borrow_mut().raise(self.level, level);
        self.level = reached;
        granted
    }

    fn unlock(&mut self, level: Level) {
        if level < self.level {
            self.lower(level);
            self.level = level;
        }
    }

    fn reserved(&self) -> bool {
        self.inode.locks.borrow().reserved()
    }
}
