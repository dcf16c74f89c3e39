//! The transaction log: records gathered into blocks, and one flush for many commits.

use alloc::collections::VecDeque;

use super::spec::{Commit, LOG_BLOCK};
use super::ticket::CommitTicket;
use super::{Cause, Step, Wait};
use crate::request::{Completion, Durability, Request};
use crate::time::Instant;
use crate::units::Bytes;

/// Log writes are whole sectors.
const SECTOR: u64 = 512;
/// Records that no session waits for are written once this many have gathered, or a block: 1 MB, as the default of
/// `wal_writer_flush_after`
/// (<https://www.postgresql.org/docs/current/runtime-config-wal.html>).
const STREAMED: u64 = 1 << 20;
/// Full blocks in flight at the same time, at least: what a server had before 2012 (same source).
const WRITES_MAX: usize = 32;

/// Submits a write to a volume.
type Submit<'a> = &'a mut dyn FnMut(Instant, usize, Request) -> Completion;

/// The end of the log, and how far it is written and durable.
pub(super) struct Log {
    commit: Commit,
    /// Whether a write is durable only after a flush of its volume.
    flush: bool,
    /// When a write is durable.
    durability: Durability,
    /// Largest write.
    block: u64,
    /// Writes and flushes in flight from which on commits share the next write.
    in_flight_max: usize,
    volume: usize,
    base: u64,
    /// Bytes of records so far.
    end: u64,
    /// End of the writes started.
    started: u64,
    /// End of the writes done.
    written: u64,
    /// End of the durable log.
    durable: u64,
    /// Ends that a session waits for and that are not durable yet.
    wanted: VecDeque<u64>,
    in_flight: VecDeque<(Completion, u64)>,
    /// The flush in flight, and the durable end after it.
    flushing: Option<(Completion, u64)>,
}

impl Log {
    pub(super) fn new(
        commit: Commit,
        flush: bool,
        block: Bytes,
        in_flight_max: u32,
        (volume, base): (usize, u64),
    ) -> Log {
        Log {
            commit,
            flush: flush && commit == Commit::Durable,
            durability: match commit {
                Commit::Durable if !flush => Durability::OnCompletion,
                Commit::Durable | Commit::Relaxed => Durability::OnFlush,
            },
            block: block.0.max(SECTOR),
            in_flight_max: in_flight_max.max(1) as usize,
            volume,
            base,
            end: 0,
            started: 0,
            written: 0,
            durable: 0,
            wanted: VecDeque::new(),
            in_flight: VecDeque::new(),
            flushing: None,
        }
    }

    /// Bytes of records so far.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    pub(super) fn next_due(&self) -> Option<Instant> {
        let under_way = [self.in_flight.front(), self.flushing.as_ref()].into_iter();
        let done = under_way.flatten().map(|(completion, _)| completion.done);
        done.min()
    }

    pub(super) fn commit(
        &mut self,
        now: Instant,
        ticket: &mut CommitTicket,
        submit: Submit<'_>,
    ) -> Step {
        let own_end = self.add(ticket);
        let is_wanted = self.commit == Commit::Durable && own_end > self.durable;
        // A repeated request is already in it.
        if is_wanted && self.wanted.back().is_none_or(|end| *end < own_end) {
            self.wanted.push_back(own_end);
        }
        self.start(now, submit);
        match self.commit {
            Commit::Durable => self.wait_for(now, self.durable, own_end),
            Commit::Relaxed => self.wait_for(now, self.written, self.buffered(own_end)),
        }
    }

    /// Adds records of a transaction that continues; it waits only if the log's buffer is full.
    pub(super) fn stream(
        &mut self,
        now: Instant,
        ticket: &mut CommitTicket,
        submit: Submit<'_>,
    ) -> Step {
        let own_end = self.add(ticket);
        self.start(now, submit);
        self.wait_for(now, self.written, self.buffered(own_end))
    }

    /// Adds the records of a ticket once; returns their end.
    fn add(&mut self, ticket: &mut CommitTicket) -> u64 {
        *ticket.log_end.get_or_insert_with(|| {
            self.end = self.end.saturating_add(ticket.log_bytes);
            self.end
        })
    }

    /// How far the log must be written for all records up to `end` to fit its buffer: the buffer is as large as what
    /// may be in flight, of blocks of at most [`LOG_BLOCK`], whatever the largest write is.
    fn buffered(&self, end: u64) -> u64 {
        let buffer = self.block.min(LOG_BLOCK.0) * WRITES_MAX as u64;
        end.saturating_sub(buffer.max(self.block))
    }

    fn wait_for(&self, now: Instant, reached: u64, awaited: u64) -> Step {
        if reached >= awaited {
            return Step::Done;
        }
        // Not yet started: it starts when the write before it is done.
        let under_way = || self.flushing.iter().chain(&self.in_flight);
        let write = under_way()
            .find(|(_, end)| *end >= awaited)
            .or(under_way().next());
        let completion = write.map_or(Completion::immediate(now), |(completion, _)| *completion);
        Step::Wait(Wait::new(now, Cause::Log, completion))
    }

    /// Adds records that no session waits for yet; they are written once a block of them is full, or 1 MiB if nothing
    /// is in flight, or with a commit.
    pub(super) fn append(&mut self, now: Instant, bytes: Bytes, submit: Submit<'_>) {
        self.end = self.end.saturating_add(bytes.0);
        self.start(now, submit);
    }

    /// Finishes the writes that are done at `due`, and starts what waited for them.
    pub(super) fn finish(&mut self, due: Instant, submit: Submit<'_>) {
        while let Some((completion, end)) = self.in_flight.front().copied() {
            if completion.done > due {
                break;
            }
            self.written = end;
            self.in_flight.pop_front();
        }
        if let Some((_, end)) = self
            .flushing
            .take_if(|(completion, _)| completion.done <= due)
        {
            self.durable = end;
        }
        if !self.flush {
            self.durable = self.written;
        }
        while self
            .wanted
            .pop_front_if(|end| *end <= self.durable)
            .is_some()
        {}
        self.start(due, submit);
    }

    /// Writes full blocks at once and flushes what a session waits for. Writes the rest when a session waits for it or
    /// it is large enough, unless too much is in flight.
    fn start(&mut self, now: Instant, submit: Submit<'_>) {
        while self.end - self.started >= self.block
            && self.in_flight.len() < WRITES_MAX.max(self.in_flight_max)
        {
            self.write(now, self.block, submit);
        }
        let is_written = self.wanted.front().is_some_and(|end| *end <= self.written);
        if self.flush && is_written && self.flushing.is_none() {
            let completion = submit(now, self.volume, Request::flush());
            self.flushing = Some((completion, self.written));
        }
        let rest = self.end - self.started;
        let under_way = self.in_flight.len() + usize::from(self.flushing.is_some());
        let is_wanted = self.wanted.back().is_some_and(|end| *end > self.started);
        if under_way < self.in_flight_max && (is_wanted || rest >= STREAMED) {
            self.write(now, rest, submit);
        }
    }

    fn write(&mut self, now: Instant, length: u64, submit: Submit<'_>) {
        let offset = self.base + self.started.next_multiple_of(SECTOR);
        let padded = length.next_multiple_of(SECTOR);
        let request = Request {
            durability: self.durability,
            ..Request::write(offset, Bytes(padded))
        };
        let mut completion = submit(now, self.volume, request);
        self.started += length;
        // A later block is useless before the earlier ones: it is done when they are.
        if let Some((before, _)) = self.in_flight.back()
            && before.done > completion.done
        {
            completion = *before;
        }
        self.in_flight.push_back((completion, self.started));
    }
}

#[cfg(test)]
mod tests;
