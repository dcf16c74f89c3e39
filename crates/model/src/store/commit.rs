//! Commits: row versions first, then the log, then the binary log.

use super::files::Full;
use super::ticket::CommitTicket;
use super::wait::Step;
use super::{Store, to_volume};
use crate::time::Instant;

impl Store {
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
        let (storage, counters) = (&mut self.storage, &mut self.counters);
        let written = &mut counters.log_bytes;
        let logged = self
            .log
            .commit(now, ticket, &mut to_volume(storage, written));
        let (Step::Done, Some(binlog)) = (logged, &mut self.binlog) else {
            return Ok(logged);
        };
        let mut second = ticket.in_binlog();
        let written = &mut counters.binlog_bytes;
        let step = binlog.commit(now, &mut second, &mut to_volume(storage, written));
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
        let submit = &mut to_volume(&mut self.storage, &mut self.counters.log_bytes);
        self.log.stream(now, ticket, submit)
    }
}
