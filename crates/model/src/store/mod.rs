//! What a database engine puts between SQL and its files.
//!
//! ```text
//!  session ── read, write (page) ──► buffer pool ──► data files ──► volumes
//!                                     ▲    │ dirty pages
//!                                     │    ▼
//!                              background writer, checkpoint (gathered writes)
//!  session ── commit (bytes) ────► log (group commit) ──► log volume
//!          │                        └─► binary log, the same ──► its volume
//!          └─ row versions ──────► temp files, until they expire
//! ```
//!
//! A session that must wait receives the time and the cause; it then returns and retries. The store
//! never calls back: [`Store::advance`] executes what became due in the meantime.
//!
//! Engines differ in the settings of [`StoreSpec`]: the size of a page, pages that are written twice or logged
//! whole so that a torn one can be restored, a second log, row versions in temp space.
//!
//! Not modelled: latches and allocation contention, recovery, reads of row versions.

use alloc::boxed::Box;

use crate::request::{Completion, Request};
use crate::storage::{Observer, Storage};
use crate::time::{Duration, Instant};
use crate::units::Bytes;

mod binlog;
mod commit;
mod doublewrite;
mod files;
mod images;
mod log;
mod page;
mod page_cache;
mod pages;
mod pool;
mod read_ahead;
mod run;
mod spec;
mod ticket;
mod version_writes;
mod versions;
mod wait;
mod writer;

pub use files::{FileId, FileSpec, Files, Full, PageAddress, Role};
pub use page::{EXTENT, NotAPageSize, PageSize};
pub use spec::{BinlogSpec, Commit, DoublewriteSpec, LOG_BLOCK, ReadUnit, StoreSpec, VersionSpec};
pub use ticket::CommitTicket;
pub use wait::{Cause, Step, Wait};

use doublewrite::Doublewrite;
use images::Images;
use log::Log;
use page_cache::PageCache;
use pool::Pool;
use read_ahead::ReadAhead;
use versions::Versions;
use writer::{WriteRequest, Writer};

/// Default size of a page.
pub const PAGE: Bytes = PageSize::DEFAULT.bytes();
/// Pages of that size in an extent.
pub const EXTENT_PAGES: u64 = PageSize::DEFAULT.extent();

/// Counts since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Pages requested from the buffer pool.
    pub page_requests: u64,
    /// Reads submitted to the volumes.
    pub physical_reads: u64,
    /// Pages written in place; their copies (doublewrite) are not counted.
    pub pages_written: u64,
    /// Dirty pages dropped with their file before they were written.
    pub pages_discarded: u64,
    /// Bytes of log written.
    pub log_bytes: u64,
    /// Bytes of the binary log written.
    pub binlog_bytes: u64,
}

/// Buffer pool, data files, background writer and logs, over the volumes of a machine.
pub struct Store {
    storage: Storage,
    files: Files,
    pool: Pool,
    writer: Writer,
    log: Log,
    binlog: Option<Log>,
    images: Option<Images>,
    page_cache: Option<PageCache>,
    versions: Option<Versions>,
    read_ahead: ReadAhead,
    page_size: PageSize,
    read_unit: ReadUnit,
    timeless: bool,
    counters: Counters,
}

impl Store {
    /// An empty store over `storage`.
    ///
    /// # Panics
    /// When the storage does not have a file's volume.
    pub fn new(spec: &StoreSpec, storage: Storage, seed: u64) -> Store {
        let page_size = spec.page_size;
        let frames = (spec.memory.0 / page_size.bytes().0).max(64);
        let mut files = Files::new(page_size, &spec.data, &spec.temp, spec.log);
        let doublewrite = Doublewrite::of(spec, &mut files);
        let binlog = spec.binlog.map(|binlog| binlog.log(spec, &mut files));
        let versions = |versions| Versions::new(versions, page_size, seed);
        Store {
            pool: Pool::new(u32::try_from(frames).unwrap_or(u32::MAX)),
            writer: Writer::new(spec, doublewrite),
            log: Log::new(
                spec.commit,
                spec.log_flush,
                spec.log_block,
                spec.log_in_flight_max,
                files.log_place(),
            ),
            binlog,
            images: spec.full_page_images.then(|| Images::new(spec.checkpoint)),
            page_cache: PageCache::of(spec.page_cache),
            versions: spec.versions.map(versions),
            read_ahead: ReadAhead::new(spec.read_ahead, page_size),
            page_size,
            read_unit: spec.read_unit,
            timeless: false,
            counters: Counters::default(),
            storage,
            files,
        }
    }

    /// Size of a page.
    pub fn page_size(&self) -> PageSize {
        self.page_size
    }

    /// The underlying volumes.
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    /// Finds room for a page that will be written.
    ///
    /// # Errors
    /// When the role's files are full.
    pub fn reserve(&mut self, file: FileId, page: u64) -> Result<(), Full> {
        self.files.place(file, page).map(|_| ())
    }

    /// Lets `observer` see every request to a disk.
    pub fn observe(&mut self, observer: Box<dyn Observer>) {
        self.storage.observe(observer);
    }

    /// Counts since the start.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// The longest time so far that a page of a data file waited to be written beyond what the checkpoint allows.
    pub fn checkpoint_late(&self) -> Duration {
        self.writer.late()
    }

    /// While on, everything is placed and cached as usual but takes no time and reaches no disk:
    /// for loading that is not measured.
    pub fn set_timeless(&mut self, timeless: bool) {
        self.timeless = timeless;
    }

    /// Drops every clean page from the buffer pool, and the page cache.
    pub fn empty_pool(&mut self) {
        self.pool.drop_clean();
        if let Some(cache) = &mut self.page_cache {
            cache.clear();
        }
    }

    /// Empties the host's cache.
    pub fn empty_host_cache(&mut self) {
        self.storage.clear_host_cache();
    }

    /// Creates an empty file of `role`.
    pub fn create(&mut self, role: Role) -> FileId {
        self.files.create(role)
    }

    /// Releases all pages of a file from `first` on; dirty ones are never written.
    pub fn release(&mut self, file: FileId, first: u64) {
        let Store {
            files,
            pool,
            counters,
            ..
        } = self;
        files.release(file, first, |key| {
            counters.pages_discarded += u64::from(pool.discard(key))
        });
    }

    /// Drops a file; its id may be reused.
    pub fn drop_file(&mut self, file: FileId) {
        self.release(file, 0);
        self.files.forget(file);
    }

    /// Runs everything that becomes due up to `now`: finished writes, checkpoints, log
    /// flushes, expired versions.
    pub fn advance(&mut self, now: Instant) {
        while let Some(due) = self.next_due().filter(|due| *due <= now) {
            if self.log.next_due() == Some(due) {
                let written = &mut self.counters.log_bytes;
                self.log
                    .finish(due, &mut to_volume(&mut self.storage, written));
            } else if let Some(binlog) = &mut self.binlog
                && binlog.next_due() == Some(due)
            {
                let written = &mut self.counters.binlog_bytes;
                binlog.finish(due, &mut to_volume(&mut self.storage, written));
            } else if self.versions.as_ref().and_then(Versions::next_due) == Some(due) {
                if let Some(file) = self.versions.as_mut().and_then(Versions::expire) {
                    self.drop_file(file);
                }
            } else {
                self.background(due);
            }
        }
    }

    /// When the next thing becomes due.
    pub fn next_due(&self) -> Option<Instant> {
        let binlog = self.binlog.as_ref().and_then(Log::next_due);
        let versions = self.versions.as_ref().and_then(Versions::next_due);
        [
            self.writer.next_due(),
            self.log.next_due(),
            binlog,
            versions,
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// The writer, the pool it writes from, and where its writes go.
    fn writing(
        &mut self,
    ) -> (
        &mut Writer,
        &mut Pool,
        impl FnMut(Instant, WriteRequest) -> Completion + '_,
    ) {
        let Store {
            writer,
            pool,
            storage,
            page_cache,
            files,
            counters,
            page_size,
            ..
        } = self;
        let submit = submitter(storage, page_cache, files, *page_size, counters);
        (writer, pool, submit)
    }

    /// Lets the writer finish one write, or start what has been dirty for too long.
    fn background(&mut self, due: Instant) {
        let log_end = self.log.end();
        let (writer, pool, mut submit) = self.writing();
        writer.finish(due, pool, &mut submit);
        writer.write_old(due, log_end, pool, &mut submit);
        writer.refill(due, pool, &mut submit);
    }
}

/// Submits a log's writes to its volume, and adds up their bytes in `written`.
fn to_volume<'a>(
    storage: &'a mut Storage,
    written: &'a mut u64,
) -> impl FnMut(Instant, usize, Request) -> Completion + 'a {
    move |now, volume, request| {
        *written += request.length.0;
        storage.submit(now, volume, request)
    }
}

/// Submits the writer's writes to the volumes.
fn submitter<'a>(
    storage: &'a mut Storage,
    page_cache: &'a mut Option<PageCache>,
    files: &'a Files,
    page: PageSize,
    counters: &'a mut Counters,
) -> impl FnMut(Instant, WriteRequest) -> Completion + 'a {
    move |now, written| match written {
        WriteRequest::Pages {
            first,
            count,
            durability,
        } => {
            counters.pages_written += count;
            let place = files.by_key(first);
            let request = Request {
                durability,
                ..Request::write(place.offset(), page.of(count))
            };
            if let Some(cache) = page_cache {
                cache.fill(place.volume, request.offset, request.length);
            }
            storage.submit(now, place.volume, request)
        }
        WriteRequest::Copies { volume, request } => storage.submit(now, volume, request),
    }
}

#[cfg(test)]
mod tests;
