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
//! Engines differ in the settings of [`StoreSpec`]: the size of a page, pages that are written twice (InnoDB) or
//! logged whole (PostgreSQL) so that a torn one can be restored, a second log (MySQL, MariaDB), row versions in temp
//! space (SQL Server).
//!
//! Not modelled: latches and allocation contention, recovery, reads of row versions.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::request::{Completion, Request};
use crate::storage::{Observer, Storage};
use crate::time::{Duration, Instant};
use crate::units::Bytes;

mod binlog;
mod doublewrite;
mod files;
mod images;
mod log;
mod page;
mod page_cache;
mod pool;
mod read_ahead;
mod versions;
mod writer;

pub use binlog::BinlogSpec;
pub use doublewrite::DoublewriteSpec;
pub use files::{FileId, FileSpec, Files, Full, PageAddress, Role};
pub use log::{Commit, LOG_BLOCK};
pub use page::{EXTENT, NotAPageSize, PageSize};
pub use versions::VersionSpec;

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

/// The settings of a store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoreSpec {
    /// Size of the buffer pool.
    pub memory: Bytes,
    /// Size of a page.
    pub page_size: PageSize,
    /// How much a read of a missing page brings in.
    pub read_unit: ReadUnit,
    /// How far to read ahead of a sequential reader; zero disables it.
    pub read_ahead: Bytes,
    /// Largest write into which neighbouring dirty pages are gathered.
    pub write_gather: Bytes,
    /// Background writes in flight at the same time.
    pub writes_in_flight: u32,
    /// Longest time a page of a data file stays dirty; `None`: until its frame is needed.
    pub checkpoint: Option<Duration>,
    /// Most bytes of log since the oldest changed page of a data file whose write has not started: pages are written,
    /// and sessions wait for that, to stay within it. `None`: unbounded. Writes in flight do not count.
    pub log_capacity: Option<Bytes>,
    /// Pages written twice, so that a torn one can be restored; `None`: once.
    pub doublewrite: Option<DoublewriteSpec>,
    /// Whether the first change of a data file's page since the last checkpoint logs the whole page, so that a torn
    /// one can be restored.
    pub full_page_images: bool,
    /// Whether a commit waits for its log records.
    pub commit: Commit,
    /// Largest write of the log ([`LOG_BLOCK`] in SQL Server).
    pub log_block: Bytes,
    /// Log writes in flight from which on commits share the next one; at least 1. Of full blocks at least 32 may be in flight.
    pub log_in_flight_max: u32,
    /// Whether a log write is durable only after a flush of its volume; false if it is written through (SQL Server).
    pub log_flush: bool,
    /// The binary log, which a commit must reach after the log; `None`: disabled.
    pub binlog: Option<BinlogSpec>,
    /// Size of the operating system's page cache behind the buffer pool; zero if files bypass it.
    pub page_cache: Bytes,
    /// Row versions written to temp space, if the engine keeps them there.
    pub versions: Option<VersionSpec>,
    /// Data files of tables, in the order of proportional fill.
    pub data: Vec<FileSpec>,
    /// Data files of temporary tables, spills and row versions.
    pub temp: Vec<FileSpec>,
    /// The log file.
    pub log: FileSpec,
}

impl StoreSpec {
    /// A store with all files on volume 0: pages are read one by one and written once, when their frame is needed, and
    /// commits wait for the log.
    pub fn plain(memory: Bytes) -> StoreSpec {
        let file = FileSpec {
            volume: 0,
            size: None,
        };
        StoreSpec {
            memory,
            page_size: PageSize::DEFAULT,
            read_unit: ReadUnit::Page,
            read_ahead: Bytes::ZERO,
            write_gather: Bytes::kib(256),
            writes_in_flight: 32,
            checkpoint: None,
            log_capacity: None,
            doublewrite: None,
            full_page_images: false,
            commit: Commit::Durable,
            log_block: LOG_BLOCK,
            log_in_flight_max: 1,
            log_flush: false,
            binlog: None,
            page_cache: Bytes::ZERO,
            versions: None,
            data: vec![file],
            temp: vec![file],
            log: file,
        }
    }
}

/// How much a read of a missing page brings in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadUnit {
    /// That page.
    #[default]
    Page,
    /// Its whole extent, as SQL Server does while its buffer pool fills.
    Extent,
}

/// Whether a request to the store is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Done.
    Done,
    /// Not yet: return at that time and retry.
    Wait(Wait),
}

/// What a session waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The end of the wait.
    pub until: Instant,
    /// The cause.
    pub cause: Cause,
    /// The part of that request that falls within the wait.
    pub part: Completion,
}

/// The cause of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// A page to be read.
    Read,
    /// A dirty page to be written, so that its frame can be used or the log overwritten.
    Write,
    /// Log records to be durable, in the log or the binary log.
    Log,
}

impl Wait {
    fn new(now: Instant, cause: Cause, completion: Completion) -> Wait {
        let wait = completion.done.since(now);
        let part = match cause {
            Cause::Read => completion.tail(wait),
            Cause::Write | Cause::Log => completion.in_proportion(wait),
        };
        Wait {
            until: completion.done,
            cause,
            part,
        }
    }
}

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

    /// Whether a page is in the buffer pool or on its way: requesting it reaches no disk.
    pub fn holds(&self, file: FileId, page: u64) -> bool {
        self.files
            .find(file, page)
            .is_some_and(|place| self.pool.holds(place.key()))
    }

    /// A session reads a page.
    pub fn read(&mut self, now: Instant, session: u32, file: FileId, page: u64) -> Step {
        self.advance(now);
        self.counters.page_requests += 1;
        let Some(place) = self.files.find(file, page) else {
            return Step::Done;
        };
        if let Some(arriving) = self.pool.touch(place.key()) {
            let step = if arriving.done > now {
                Step::Wait(Wait::new(now, Cause::Read, arriving))
            } else {
                Step::Done
            };
            self.read_ahead(now, session, file, page);
            return step;
        }
        match self.bring_in(now, file, page) {
            Ok(completion) => {
                self.read_ahead(now, session, file, page);
                if self.timeless {
                    Step::Done
                } else {
                    Step::Wait(Wait::new(now, Cause::Read, completion))
                }
            }
            Err(wait) => Step::Wait(wait),
        }
    }

    /// A session writes a whole page.
    ///
    /// # Errors
    /// When the role's files are full.
    pub fn write(&mut self, now: Instant, file: FileId, page: u64) -> Result<Step, Full> {
        self.advance(now);
        self.counters.page_requests += 1;
        let place = self.files.place(file, page)?;
        let key = place.key();
        let is_data = self.files.role(file) == Role::Data;
        if is_data && let Some(wait) = self.keep_log_short(now) {
            return Ok(Step::Wait(wait));
        }
        if self.pool.touch(key).is_none() {
            match self.frame(now) {
                Ok(frame) => self.pool.install(frame, key, Completion::immediate(now)),
                Err(wait) => return Ok(Step::Wait(wait)),
            }
        }
        if self.timeless {
            let page = self.page_size.bytes();
            self.warm(place.volume, place.offset(), page);
            return Ok(Step::Done);
        }
        let was_clean = self.pool.dirty(key, now);
        if is_data {
            if was_clean {
                self.writer.dirtied(now, key, self.log.end());
            }
            self.log_image(now, key);
        }
        Ok(Step::Done)
    }

    /// Writes the oldest changes while the log fills; returns the wait if it is full.
    fn keep_log_short(&mut self, now: Instant) -> Option<Wait> {
        let log_end = self.log.end();
        if self.timeless || !self.writer.is_log_filling(log_end) {
            return None;
        }
        let (writer, pool, mut submit) = self.writing();
        writer.write_old(now, log_end, pool, &mut submit);
        let is_full = writer.is_log_full(log_end);
        is_full.then(|| Wait::new(now, Cause::Write, writer.next_completion(now)))
    }

    /// Logs a page whole if the engine does so and this is its first change since the last checkpoint.
    fn log_image(&mut self, now: Instant, key: u64) {
        let Store {
            images: Some(images),
            log,
            storage,
            counters,
            page_size,
            ..
        } = self
        else {
            return;
        };
        if images.is_due(now, key) {
            log.append(now, page_size.bytes(), &mut |now, volume, request| {
                counters.log_bytes += request.length.0;
                storage.submit(now, volume, request)
            });
        }
    }

    /// A session commits: `log_bytes` of records, and `rows` whose old versions are kept.
    ///
    /// Retry until done; the records are counted once per `ticket`.
    ///
    /// # Errors
    /// When the temp files are full of versions.
    pub fn commit(&mut self, now: Instant, ticket: &mut CommitTicket) -> Result<Step, Full> {
        self.advance(now);
        if self.timeless {
            return Ok(Step::Done);
        }
        if let Some(mut versions) = self.versions.take() {
            let step = versions.append(self, now, ticket);
            self.versions = Some(versions);
            if let Step::Wait(wait) = step? {
                return Ok(Step::Wait(wait));
            }
        }
        let Store {
            log,
            binlog,
            storage,
            counters,
            ..
        } = self;
        let logged = log.commit(now, ticket, &mut |now, volume, request| {
            counters.log_bytes += request.length.0;
            storage.submit(now, volume, request)
        });
        let (Step::Done, Some(binlog)) = (logged, binlog) else {
            return Ok(logged);
        };
        let mut second = ticket.in_binlog();
        let step = binlog.commit(now, &mut second, &mut |now, volume, request| {
            counters.binlog_bytes += request.length.0;
            storage.submit(now, volume, request)
        });
        ticket.binlog_end = second.log_end;
        Ok(step)
    }

    /// Adds records of a transaction that continues to the log: done if its buffer has room.
    ///
    /// Retry until done; the records are counted once per `ticket`.
    pub fn stream_log(&mut self, now: Instant, ticket: &mut CommitTicket) -> Step {
        self.advance(now);
        if self.timeless {
            return Step::Done;
        }
        let Store {
            log,
            storage,
            counters,
            ..
        } = self;
        log.stream(now, ticket, &mut |now, volume, request| {
            counters.log_bytes += request.length.0;
            storage.submit(now, volume, request)
        })
    }

    /// Runs everything that becomes due up to `now`: finished writes, checkpoints, log
    /// flushes, expired versions.
    pub fn advance(&mut self, now: Instant) {
        while let Some(due) = self.next_due().filter(|due| *due <= now) {
            if self.log.next_due() == Some(due) {
                let Store {
                    log,
                    storage,
                    counters,
                    ..
                } = self;
                log.finish(due, &mut |now, volume, request| {
                    counters.log_bytes += request.length.0;
                    storage.submit(now, volume, request)
                });
            } else if self.binlog.as_ref().and_then(Log::next_due) == Some(due) {
                self.finish_binlog(due);
            } else if self.versions.as_ref().and_then(Versions::next_due) == Some(due) {
                if let Some(file) = self.versions.as_mut().and_then(Versions::expire) {
                    self.drop_file(file);
                }
            } else {
                self.background(due);
            }
        }
    }

    fn finish_binlog(&mut self, due: Instant) {
        let Store {
            binlog: Some(binlog),
            storage,
            counters,
            ..
        } = self
        else {
            return;
        };
        binlog.finish(due, &mut |now, volume, request| {
            counters.binlog_bytes += request.length.0;
            storage.submit(now, volume, request)
        });
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

    /// A frame for a page, or the wait for one.
    fn frame(&mut self, now: Instant) -> Result<u32, Wait> {
        let (writer, pool, mut submit) = self.writing();
        writer.refill(now, pool, &mut submit);
        match pool.take_free() {
            Some(frame) => Ok(frame),
            None => Err(Wait::new(now, Cause::Write, writer.next_completion(now))),
        }
    }

    /// Reads a missing page, or its whole extent if that is the unit.
    fn bring_in(&mut self, now: Instant, file: FileId, page: u64) -> Result<Completion, Wait> {
        let place = self
            .files
            .find(file, page)
            .expect("the caller found the page");
        let first = match self.read_unit {
            ReadUnit::Page => place,
            ReadUnit::Extent => place.extent_start(),
        };
        let pages = match self.read_unit {
            ReadUnit::Page => 1,
            ReadUnit::Extent => self.page_size.extent(),
        };
        let length = self.page_size.of(pages);
        let frame = self.frame(now)?;
        let completion = if self.timeless {
            self.warm(first.volume, first.offset(), length);
            Completion::immediate(now)
        } else {
            self.fetch(now, first.volume, Request::read(first.offset(), length))
        };
        self.pool.install(frame, place.key(), completion);
        for other in (0..pages)
            .map(|n| first.key() + n)
            .filter(|key| *key != place.key())
        {
            self.admit(now, other, completion);
        }
        Ok(completion)
    }

    /// Reads from the page cache, or from the volume into it.
    fn fetch(&mut self, now: Instant, volume: usize, request: Request) -> Completion {
        if let Some(cache) = &mut self.page_cache
            && let Some(hit) = cache.read(now, volume, &request)
        {
            return hit;
        }
        self.counters.physical_reads += 1;
        self.storage.submit(now, volume, request)
    }

    /// Puts a range into the caches, in no time.
    fn warm(&mut self, volume: usize, offset: u64, length: Bytes) {
        self.storage.warm(volume, offset, length);
        if let Some(cache) = &mut self.page_cache {
            cache.fill(volume, offset, length);
        }
    }

    /// Reads a page in along with another one, if a frame is free.
    fn admit(&mut self, now: Instant, key: u64, completion: Completion) {
        if self.pool.holds(key) {
            return;
        }
        if let Ok(frame) = self.frame(now) {
            self.pool.install(frame, key, completion);
        }
    }

    /// Reads ahead of a sequential reader; adjacent extents of a file take one request.
    fn read_ahead(&mut self, now: Instant, session: u32, file: FileId, page: u64) {
        if self.timeless {
            return;
        }
        let mut requests: Vec<(PageAddress, u64)> = Vec::new();
        for first in self.read_ahead.wanted(session, file, page) {
            let Some(place) = self.files.find(file, first) else {
                continue;
            };
            if self.pool.holds(place.key()) {
                continue;
            }
            let extent = place.extent_start();
            let before = requests.iter_mut().find(|(start, extents)| {
                let end = start.key() + *extents * self.page_size.extent();
                start.volume == extent.volume && end == extent.key()
            });
            match before {
                Some((_, extents)) => *extents += 1,
                None => requests.push((extent, 1)),
            }
        }
        for (start, extents) in requests {
            let request = Request::read(start.offset(), Bytes(extents * EXTENT.0));
            let completion = self.fetch(now, start.volume, request);
            for key in (0..extents * self.page_size.extent()).map(|n| start.key() + n) {
                self.admit(now, key, completion);
            }
        }
    }
}

/// What a session must still write before its commit is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommitTicket {
    /// The session.
    pub session: u32,
    /// Log records not yet added to the log.
    pub log_bytes: u64,
    /// Rows whose old versions are not yet kept.
    pub rows: u64,
    /// Bytes of the transaction's records that [`Store::stream_log`] has already put into the log.
    pub streamed: u64,
    /// How far the log must be durable, once the records are in it.
    pub(crate) log_end: Option<u64>,
    /// The same for the binary log.
    pub(crate) binlog_end: Option<u64>,
}

impl CommitTicket {
    /// A commit of `log_bytes` of records over `rows` changed rows.
    pub fn new(session: u32, log_bytes: u64, rows: u64) -> CommitTicket {
        CommitTicket {
            session,
            log_bytes,
            rows,
            ..CommitTicket::default()
        }
    }

    /// The commit of a transaction that already streamed this many bytes of records into the log.
    pub fn after_streaming(self, streamed: u64) -> CommitTicket {
        CommitTicket { streamed, ..self }
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
        WriteRequest::Pages { first, count } => {
            counters.pages_written += count;
            let place = files.by_key(first);
            let request = Request::write(place.offset(), page.of(count));
            if let Some(cache) = page_cache {
                cache.fill(place.volume, request.offset, request.length);
            }
            storage.submit(now, place.volume, request)
        }
        WriteRequest::Copies { volume, request } => storage.submit(now, volume, request),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DiskSpec, Iops, LatencySpec, MachineSpec, Throughput, VolumeSpec};

    fn spec() -> StoreSpec {
        StoreSpec {
            writes_in_flight: 8,
            ..StoreSpec::plain(Bytes::mib(1))
        }
    }

    fn store(spec: &StoreSpec) -> Store {
        let disk = DiskSpec {
            read_latency: LatencySpec::constant(Duration::from_millis(1)),
            write_latency: LatencySpec::constant(Duration::from_millis(1)),
            ..DiskSpec::limited(Iops(1_000), Throughput::from_mb_per_s(100))
        };
        let storage = Storage::new(&MachineSpec::unlimited(), &[VolumeSpec::of("d", disk)], 1);
        Store::new(spec, storage, 1)
    }

    /// Retries until done; returns when that was.
    fn patiently(mut now: Instant, mut ask: impl FnMut(Instant) -> Step) -> Instant {
        while let Step::Wait(wait) = ask(now) {
            now = wait.until;
        }
        now
    }

    fn written(store: &mut Store, file: FileId, pages: u64) -> Instant {
        (0..pages).fold(Instant::ZERO, |now, page| {
            patiently(now, |now| {
                store
                    .write(now, file, page)
                    .expect("files that grow are never full")
            })
        })
    }

    #[test]
    fn a_write_that_finds_a_frame_does_not_wait() {
        let mut store = store(&spec());
        let file = store.create(Role::Temp);
        assert_eq!(written(&mut store, file, 64), Instant::ZERO);
        assert_eq!(store.counters().pages_written, 0);
    }

    #[test]
    fn writes_beyond_memory_go_at_the_speed_of_the_disk_and_gathered() {
        let mut store = store(&spec());
        let file = store.create(Role::Temp);
        // 100 MiB through a pool of 1 MiB at 100 MB/s: 99 MiB take 1.04 s, and need far fewer than the
        // 12,672 requests of single pages.
        let end = written(&mut store, file, 12_800).as_secs_f64();
        assert!((1.0..1.1).contains(&end), "{end}");
        assert!(
            store.storage().usage(Instant::ZERO)[0].used < 1_000,
            "{:?}",
            store.storage().usage(Instant::ZERO)[0]
        );
    }

    #[test]
    fn a_missing_page_waits_for_the_disk_and_a_held_one_does_not() {
        let mut store = store(&spec());
        let file = store.create(Role::Data);
        let now = written(&mut store, file, 1_000);
        let arrived = patiently(now, |now| store.read(now, 0, file, 0));
        assert!(arrived > now);
        assert_eq!(store.read(arrived, 0, file, 0), Step::Done);
    }

    #[test]
    fn an_extent_read_brings_in_its_neighbours() {
        let mut store = store(&StoreSpec {
            read_unit: ReadUnit::Extent,
            ..spec()
        });
        let file = store.create(Role::Data);
        let now = written(&mut store, file, 1_000);
        let arrived = patiently(now, |now| store.read(now, 0, file, 3));
        for page in 0..8 {
            assert_eq!(
                store.read(arrived, 0, file, page),
                Step::Done,
                "page {page}"
            );
        }
    }

    #[test]
    fn dropped_pages_are_never_written() {
        let mut store = store(&spec());
        let file = store.create(Role::Temp);
        written(&mut store, file, 64);
        store.drop_file(file);
        assert_eq!(store.counters().pages_discarded, 64);
        let other = store.create(Role::Temp);
        assert_eq!(written(&mut store, other, 96), Instant::ZERO);
        assert_eq!(store.counters().pages_written, 0);
    }

    #[test]
    fn a_data_page_is_written_when_it_has_been_dirty_for_too_long() {
        let mut store = store(&StoreSpec {
            checkpoint: Some(Duration::SECOND),
            ..spec()
        });
        let file = store.create(Role::Data);
        written(&mut store, file, 16);
        store.advance(Instant::from_nanos(999_999_999));
        assert_eq!(store.counters().pages_written, 0);
        store.advance(Instant::ZERO + Duration::from_secs(2));
        assert_eq!(store.counters().pages_written, 16);
    }

    #[test]
    fn commits_under_way_share_the_next_flush() {
        let mut store = store(&spec());
        let mut tickets: [CommitTicket; 5] =
            core::array::from_fn(|session| CommitTicket::new(session as u32, 1_000, 0));
        // All five ask at once: the first flush carries one, the second the other four.
        let waits = tickets
            .each_mut()
            .map(|ticket| store.commit(Instant::ZERO, ticket).expect("no versions"));
        assert!(waits.iter().all(|step| matches!(step, Step::Wait(_))));
        let [first, second, others @ ..] = &mut tickets;
        let first = patiently(Instant::ZERO, |now| {
            store.commit(now, first).expect("no versions")
        });
        let second = patiently(first, |now| store.commit(now, second).expect("no versions"));
        assert_eq!(first, Instant::ZERO + Duration::from_millis(1));
        assert_eq!(second, Instant::ZERO + Duration::from_millis(2));
        for other in others {
            assert_eq!(store.commit(second, other), Ok(Step::Done));
        }
        assert_eq!(store.storage().usage(Instant::ZERO)[0].used, 2);
    }

    #[test]
    fn relaxed_commits_write_full_blocks_and_do_not_wait() {
        let mut store = store(&StoreSpec {
            commit: Commit::Relaxed,
            ..spec()
        });
        for _ in 0..120 {
            let mut ticket = CommitTicket::new(0, 1_024, 0);
            assert_eq!(store.commit(Instant::ZERO, &mut ticket), Ok(Step::Done));
        }
        // 120 KiB are two blocks of 60 KiB.
        assert_eq!(store.storage().usage(Instant::ZERO)[0].used, 2);
    }

    #[test]
    fn a_pool_has_64_frames_at_least() {
        let mut store = store(&StoreSpec {
            memory: Bytes::ZERO,
            ..spec()
        });
        let file = store.create(Role::Temp);
        // Two extents are kept free: what comes after 64 - 16 pages may be written out.
        assert_eq!(written(&mut store, file, 48), Instant::ZERO);
        assert_eq!(store.counters().pages_written, 0);
    }

    #[test]
    fn versions_are_written_by_the_page_and_go_by_the_extent() {
        let mut store = store(&StoreSpec {
            versions: Some(VersionSpec {
                bytes_per_row: Bytes::kib(4),
                retention: Duration::from_millis(1),
            }),
            ..spec()
        });
        let mut changed = |rows| {
            let mut ticket = CommitTicket::new(0, 0, rows);
            let step = store.commit(Instant::ZERO, &mut ticket);
            assert_eq!(step, Ok(Step::Done));
            (store.counters().page_requests, store.next_due().is_some())
        };
        // Two rows of 4 KiB are a page, and 16 an extent, of which only a full one will go.
        assert_eq!(changed(1), (0, false));
        assert_eq!(changed(1), (1, false));
        assert_eq!(changed(13), (7, false));
        assert_eq!(changed(1), (8, true));
        let due = store.next_due().expect("the extent is to go");
        assert!(due > Instant::ZERO, "it is kept for a while");
        store.advance(due);
        assert_eq!(store.counters().pages_discarded, 8);
    }

    #[test]
    fn versions_that_expire_in_memory_cost_no_write() {
        let versions = VersionSpec {
            bytes_per_row: PAGE,
            retention: Duration::from_millis(1),
        };
        let mut store = store(&StoreSpec {
            versions: Some(versions),
            ..spec()
        });
        let mut now = Instant::ZERO;
        for _ in 0..1_000 {
            let mut ticket = CommitTicket::new(0, 0, 1);
            now = patiently(now + Duration::from_millis(1), |now| {
                store
                    .commit(now, &mut ticket)
                    .expect("files that grow are never full")
            });
        }
        assert_eq!(store.counters().pages_written, 0);
        assert!(store.counters().pages_discarded > 900);
    }
}
