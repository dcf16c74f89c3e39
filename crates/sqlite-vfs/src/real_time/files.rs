//! SQLite's files in real time: pages of the buffer pool, and locks that sessions wait for.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::store::PAGE;
use model::{Duration, Instant};
use parking_lot::{Condvar, Mutex};
use rusqlite::ffi;

use super::activity::{Activity, Status};
use super::pool::PoolError;
use super::shared::Shared;
use super::spaces::{Group, Key, PAGE_SIZE, Space};
use crate::vfs::shared::{Change, HeldLocks, LOCKS, Memory, SharedLocks};
use crate::vfs::{Code, File, FileSystem, Level, Locks, Purpose};
use host::clock::Clock;

/// One of SQLite's files.
struct Inode {
    database: Arc<Shared>,
    space: Space,
    length: Mutex<u64>,
    memory: Memory,
    locks: Mutex<FileLocks>,
    released: Condvar,
}

#[derive(Default)]
struct FileLocks {
    file: Locks,
    shared: SharedLocks,
    /// How often a lock on the file was released.
    file_releases: u64,
    /// How often each lock on the shared memory was released.
    shared_releases: [u64; LOCKS],
}

/// A lock that could not be taken.
#[derive(Clone, Copy)]
enum Wanted {
    File,
    Shared(Change),
}

impl FileLocks {
    /// How often a lock that may have blocked the wanted one was released.
    ///
    /// Others do not count: between two attempts, a waiting session releases the locks it did get, and two
    /// of them would wake each other for ever.
    fn releases(&self, wanted: Wanted) -> u64 {
        match wanted {
            Wanted::File => self.file_releases,
            Wanted::Shared(change) => self.shared_releases[change.range()].iter().sum(),
        }
    }
}

impl Inode {
    fn new(database: &Arc<Shared>, group: Group) -> Inode {
        Inode {
            database: Arc::clone(database),
            space: database.pool.create(group),
            length: Mutex::new(0),
            memory: Memory::default(),
            locks: Mutex::default(),
            released: Condvar::new(),
        }
    }

    /// Waits until a lock is released that may be the wanted one; returns whether to retry.
    fn wait(&self, busy: &Busy, session: &Status) -> bool {
        let _doing = session.doing(Activity::WaitingForDatabase);
        let mut locks = self.locks.lock();
        while locks.releases(busy.wanted) == busy.releases {
            if session.interrupted() {
                return false;
            }
            self.released.wait(&mut locks);
        }
        true
    }

    /// Wakes waiting sessions so that they notice an interrupt.
    fn wake(&self) {
        let _locks = self.locks.lock();
        self.released.notify_all();
    }
}

impl Drop for Inode {
    fn drop(&mut self) {
        let pages = self.length.lock().div_ceil(PAGE.0);
        self.database.pool.forget(self.space, pages);
    }
}

/// The named files of a database.
#[derive(Default)]
pub(super) struct Inodes(Mutex<BTreeMap<String, Arc<Inode>>>);

impl Inodes {
    /// Wakes sessions that wait for a file so that they notice an interrupt.
    pub(super) fn wake(&self) {
        let inodes: Vec<Arc<Inode>> = self.0.lock().values().cloned().collect();
        inodes.iter().for_each(|inode| inode.wake());
    }
}

/// The files of a database, as one session opens them.
pub(super) struct SessionFiles {
    pub(super) database: Arc<Shared>,
    pub(super) inodes: Arc<Inodes>,
    pub(super) session: Arc<SessionState>,
}

/// A session as its files and its busy handler see it.
pub(super) struct SessionState {
    pub(super) status: Status,
    /// The lock that SQLite could not take.
    busy: Mutex<Option<Busy>>,
    pub(super) clock: Clock,
}

/// A lock that a session could not take.
struct Busy {
    inode: Arc<Inode>,
    wanted: Wanted,
    /// How often others had released it by then.
    releases: u64,
}

impl SessionState {
    pub(super) fn new(status: Status, clock: Clock) -> SessionState {
        SessionState {
            status,
            busy: Mutex::default(),
            clock,
        }
    }

    /// SQLite's busy handler: waits until a lock on the file is released; returns whether to retry.
    pub(super) fn wait_for_file(&self) -> bool {
        let busy = self.busy.lock().take();
        match busy {
            Some(busy) => busy.inode.wait(&busy, &self.status),
            // It had every lock, but another session has committed since it began to read.
            None => !self.status.interrupted(),
        }
    }
}

/// The group of a file, by its name and by the purpose SQLite opens it for. The name of a database begins
/// with the role of its tables; both roles share the log.
fn group(name: Option<&str>, purpose: Purpose) -> Group {
    match (purpose, name) {
        (Purpose::Log | Purpose::Journal, Some(_)) => Group::Log,
        (Purpose::Database, Some(name)) if name.starts_with("data/") => Group::Data,
        (_, _) => Group::Temp,
    }
}

impl FileSystem for SessionFiles {
    type File = Open;

    fn open(&self, name: Option<&str>, purpose: Purpose, create: bool) -> Result<Open, Code> {
        let new = || Arc::new(Inode::new(&self.database, group(name, purpose)));
        let inode = match name {
            None => new(),
            Some(name) => {
                let mut inodes = self.inodes.0.lock();
                match inodes.get(name) {
                    Some(inode) => Arc::clone(inode),
                    None if !create => return Err(Code(ffi::SQLITE_CANTOPEN)),
                    None => {
                        let inode = new();
                        inodes.insert(name.to_owned(), Arc::clone(&inode));
                        inode
                    }
                }
            }
        };
        Ok(Open {
            inode,
            session: Arc::clone(&self.session),
            level: Level::Unlocked,
            held: HeldLocks::default(),
        })
    }

    fn delete(&self, name: &str) -> bool {
        let gone = self.inodes.0.lock().remove(name);
        gone.is_some()
    }

    fn exists(&self, name: &str) -> bool {
        let inode = self.inodes.0.lock().get(name).cloned();
        inode.is_some_and(|inode| *inode.length.lock() > 0)
    }

    fn sleep(&self, span: Duration) {
        Clock::sleep(span);
    }

    fn now(&self) -> Instant {
        self.session.clock.now()
    }
}

/// An open file of a session.
pub(super) struct Open {
    inode: Arc<Inode>,
    session: Arc<SessionState>,
    level: Level,
    held: HeldLocks,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.give_back(|open, locks| open.lower(locks, Level::Unlocked));
    }
}

impl Open {
    /// The code to return to SQLite; keeps the message for the user.
    fn failed(&self, error: PoolError, code: i32) -> Code {
        match error {
            PoolError::Full(full) => {
                self.inode.database.note(&full.to_string());
                Code(ffi::SQLITE_FULL)
            }
            PoolError::Io(error) if error.kind() == std::io::ErrorKind::Interrupted => Code(code),
            PoolError::Io(error) => {
                self.inode.database.note(&error.to_string());
                Code(code)
            }
        }
    }

    fn found_busy(&self, locks: &FileLocks, wanted: Wanted) {
        *self.session.busy.lock() = Some(Busy {
            inode: Arc::clone(&self.inode),
            wanted,
            releases: locks.releases(wanted),
        });
    }

    /// Releases locks, and lets others retry; the session does not wait for locks that it releases itself.
    fn give_back(&mut self, give_back: impl FnOnce(&mut Open, &mut FileLocks)) {
        let inode = Arc::clone(&self.inode);
        let mut locks = inode.locks.lock();
        let session = Arc::clone(&self.session);
        let mut busy = session.busy.lock();
        let own = busy
            .as_mut()
            .filter(|busy| Arc::ptr_eq(&busy.inode, &inode));
        let before = own.as_ref().map(|busy| locks.releases(busy.wanted));
        give_back(self, &mut locks);
        if let (Some(busy), Some(before)) = (own, before) {
            busy.releases += locks.releases(busy.wanted) - before;
        }
        inode.released.notify_all();
    }

    fn lower(&mut self, locks: &mut FileLocks, level: Level) {
        locks.file.lower(self.level, level);
        locks.file_releases += 1;
        self.level = level;
    }
}

/// Splits a range by page: the page, the offset in it, and the offset in the range.
fn parts(space: Space, offset: u64, length: usize) -> impl Iterator<Item = Part> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = offset + done as u64;
        let from = (at % PAGE.0) as usize;
        let part = (length - done).min(PAGE_SIZE - from);
        let start = done;
        done += part;
        (part > 0).then_some(Part {
            key: (space, at / PAGE.0),
            from,
            range: start..start + part,
        })
    })
}

struct Part {
    key: Key,
    from: usize,
    range: std::ops::Range<usize>,
}

impl File for Open {
    const SHARES_MEMORY: bool = true;

    fn read(&mut self, buffer: &mut [u8], offset: u64) -> Result<usize, Code> {
        let inode = &self.inode;
        let length = inode.length.lock().saturating_sub(offset);
        let there = usize::try_from(length).map_or(buffer.len(), |length| length.min(buffer.len()));
        buffer[there..].fill(0);
        for part in parts(inode.space, offset, there) {
            let out = &mut buffer[part.range];
            inode
                .database
                .pool
                .read(part.key, part.from, out, &self.session.status)
                .map_err(|error| self.failed(error, ffi::SQLITE_IOERR_READ))?;
        }
        Ok(there)
    }

    fn write(&mut self, data: &[u8], offset: u64) -> Result<(), Code> {
        let inode = &self.inode;
        let length = *inode.length.lock();
        for part in parts(inode.space, offset, data.len()) {
            let new = part.key.1 * PAGE.0 >= length;
            let data = &data[part.range];
            inode
                .database
                .pool
                .write(part.key, part.from, data, new, &self.session.status)
                .map_err(|error| self.failed(error, ffi::SQLITE_IOERR_WRITE))?;
        }
        let mut length = inode.length.lock();
        *length = (*length).max(offset + data.len() as u64);
        Ok(())
    }

    fn truncate(&mut self, length: u64) -> Result<(), Code> {
        let before = std::mem::replace(&mut *self.inode.length.lock(), length);
        let pages = length.div_ceil(PAGE.0)..before.div_ceil(PAGE.0);
        if !pages.is_empty() {
            self.inode.database.pool.release(self.inode.space, pages);
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<(), Code> {
        let inode = &self.inode;
        inode
            .database
            .pool
            .sync(inode.space, &self.session.status)
            .map_err(|error| self.failed(error, ffi::SQLITE_IOERR_FSYNC))
    }

    fn length(&self) -> u64 {
        *self.inode.length.lock()
    }

    fn lock(&mut self, level: Level) -> bool {
        let mut locks = self.inode.locks.lock();
        let (level, reached) = locks.file.raise(self.level, level);
        if !reached {
            self.found_busy(&locks, Wanted::File);
        }
        drop(locks);
        self.level = level;
        reached
    }

    fn unlock(&mut self, level: Level) {
        if level < self.level {
            self.give_back(|open, locks| open.lower(locks, level));
        }
    }

    fn reserved(&self) -> bool {
        self.inode.locks.lock().file.reserved()
    }

    fn shared(&self) -> Option<&Memory> {
        Some(&self.inode.memory)
    }

    fn lock_shared(&mut self, change: Change) -> bool {
        if !change.take {
            self.give_back(|open, locks| {
                locks.shared.change(&mut open.held, change);
                let releases = &mut locks.shared_releases[change.range()];
                releases.iter_mut().for_each(|count| *count += 1);
            });
            return true;
        }
        let mut locks = self.inode.locks.lock();
        let possible = locks.shared.change(&mut self.held, change);
        if !possible {
            self.found_busy(&locks, Wanted::Shared(change));
        }
        possible
    }
}
