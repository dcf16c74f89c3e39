//! Row versions on their way to temp space.

use core::cmp::Reverse;

use super::files::{Full, Role};
use super::versions::Versions;
use super::{CommitTicket, Step, Store};
use crate::time::Instant;

impl Versions {
    /// Writes the versions of a ticket's rows, whole pages at a time.
    pub(super) fn append(
        &mut self,
        store: &mut Store,
        now: Instant,
        ticket: &mut CommitTicket,
    ) -> Result<Step, Full> {
        let tail = self.sessions.entry(ticket.session).or_default();
        let rows = core::mem::take(&mut ticket.rows);
        tail.bytes = tail
            .bytes
            .saturating_add(rows.saturating_mul(self.bytes_per_row.0));
        while tail.bytes >= self.page.bytes().0 {
            let (file, page) = *tail
                .open
                .get_or_insert_with(|| (store.create(Role::Temp), 0));
            if let Step::Wait(wait) = store.write(now, file, page)? {
                return Ok(Step::Wait(wait));
            }
            tail.bytes -= self.page.bytes().0;
            tail.open = Some((file, page + 1)).filter(|(_, page)| *page < self.page.extent());
            if tail.open.is_none() {
                let gone = now + self.retention.draw(&mut self.random);
                self.expiring.push(Reverse((gone, file)));
            }
        }
        Ok(Step::Done)
    }
}
