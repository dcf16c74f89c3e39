//! The transaction log: records gathered into blocks, and one flush for many commits.

use alloc::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{Cause, CommitTicket, Step, Wait};
use crate::request::{Completion, Request};
use crate::time::Instant;
use crate::units::Bytes;

/// Largest log write of SQL Server: 60 KiB.
///
/// Source: *SQL Server transaction log architecture and management guide*,
/// <https://learn.microsoft.com/sql/relational-databases/sql-server-transaction-log-architecture-and-management-guide>.
pub const LOG_BLOCK: Bytes = Bytes::kib(60);
/// Log writes are whole sectors.
const SECTOR: u64 = 512;
/// Log writes outstanding at the same time: 32 in SQL Server before 2012 (same source).
const WRITES_MAX: usize = 32;

/// Whether a commit waits for its log records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Commit {
    /// It does.
    #[default]
    Durable,
    /// It does not: records are written when a block is full, as in tempdb.
    Relaxed,
}

/// Gives a write to a volume.
type Submit<'a> = &'a mut dyn FnMut(Instant, usize, Request) -> Completion;

/// The end of the log, and what of it is where.
pub(super) struct Log {
    commit: Commit,
    /// Largest write.
    block: u64,
    volume: usize,
    base: u64,
    /// Bytes of records so far.
    end: u64,
    /// Up to where writes were started.
    started: u64,
    /// Up to where it is durable.
    durable: u64,
    /// Up to where somebody waits for it.
    wanted: u64,
    in_flight: VecDeque<(Completion, u64)>,
}

impl Log {
    pub(super) fn new(commit: Commit, block: Bytes, (volume, base): (usize, u64)) -> Log {
        Log {
            commit,
            block: block.0.max(SECTOR),
            volume,
            base,
            end: 0,
            started: 0,
            durable: 0,
            wanted: 0,
            in_flight: VecDeque::new(),
        }
    }

    pub(super) fn next_due(&self) -> Option<Instant> {
        self.in_flight
            .front()
            .map(|(completion, _)| completion.done)
    }

    pub(super) fn commit(
        &mut self,
        now: Instant,
        ticket: &mut CommitTicket,
        submit: Submit<'_>,
    ) -> Step {
        let own_end = *ticket.log_end.get_or_insert_with(|| {
            self.end = self.end.saturating_add(ticket.log_bytes);
            self.end
        });
        let awaited = match self.commit {
            Commit::Durable => own_end,
            // The log buffer is as large as what may be outstanding.
            Commit::Relaxed => own_end.saturating_sub(self.block * WRITES_MAX as u64),
        };
        if self.commit == Commit::Durable {
            self.wanted = self.wanted.max(own_end);
        }
        self.start(now, submit);
        if self.durable >= awaited {
            return Step::Done;
        }
        // Not yet started: it will be when the write before it is done.
        let flush = self
            .in_flight
            .iter()
            .find(|(_, end)| *end >= awaited)
            .or(self.in_flight.front());
        let completion = flush.map_or(Completion::immediate(now), |(completion, _)| *completion);
        Step::Wait(Wait::new(now, Cause::Log, completion))
    }

    /// Finishes the writes that are done at `due`, and starts what waited for them.
    pub(super) fn finish(&mut self, due: Instant, submit: Submit<'_>) {
        while let Some((completion, end)) = self.in_flight.front().copied() {
            if completion.done > due {
                break;
            }
            self.durable = end;
            self.in_flight.pop_front();
        }
        self.start(due, submit);
    }

    /// Writes full blocks at once, and the rest when somebody waits for it and no write is under way.
    fn start(&mut self, now: Instant, submit: Submit<'_>) {
        while self.end - self.started >= self.block && self.in_flight.len() < WRITES_MAX {
            self.write(now, self.block, submit);
        }
        if self.wanted > self.started && self.in_flight.is_empty() {
            self.write(now, self.end - self.started, submit);
        }
    }

    fn write(&mut self, now: Instant, length: u64, submit: Submit<'_>) {
        let offset = self.base + self.started.next_multiple_of(SECTOR);
        let padded = length.next_multiple_of(SECTOR);
        let mut completion = submit(now, self.volume, Request::write(offset, Bytes(padded)));
        self.started += length;
        // A later block is of no use before the earlier ones: it is done when they are.
        if let Some((before, _)) = self.in_flight.back()
            && before.done > completion.done
        {
            completion = *before;
        }
        self.in_flight.push_back((completion, self.started));
    }
}
