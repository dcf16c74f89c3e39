//! Pages as sessions read and write them: from the buffer pool, or brought in from the volumes.

use alloc::vec::Vec;

use super::files::{FileId, Full, PageAddress, Role};
use super::page::EXTENT;
use super::spec::ReadUnit;
use super::wait::{Cause, Step, Wait};
use super::{Store, to_volume};
use crate::request::{Completion, Request};
use crate::time::Instant;
use crate::units::Bytes;

impl Store {
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
        if let Some(images) = &mut self.images
            && images.is_due(now, key)
        {
            let submit = &mut to_volume(&mut self.storage, &mut self.counters.log_bytes);
            self.log.append(now, self.page_size.bytes(), submit);
        }
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
