//! A session: rests, issues an operation, waits for its requests, and rests again.

use model::split::Spent;
use model::store::Cause;
use model::{Duration, Instant, Operation};
use rand::RngExt;
use reading::Role;

use super::beside::Beside;
use super::replay_session::ReplaySession;
use super::{Event, Run};
use crate::demand::{Access, Demand, Each};
use crate::replay::Arrivals;

/// Background writes are batched, this many bytes at once: `checkpoint_flush_after`, on Linux. Products that write
/// through have as many in flight at a checkpoint.
///
/// Source: <https://www.postgresql.org/docs/18/runtime-config-wal.html>.
const WRITTEN_TOGETHER: u64 = 256 << 10;

impl Run<'_> {
    /// An idle session, or a new one.
    pub(super) fn awake(&mut self) -> u32 {
        self.dormant.pop().unwrap_or_else(|| {
            self.sessions.push(ReplaySession::default());
            self.sessions.len() as u32 - 1
        })
    }

    /// A session's delay; exponential, as only its mean is known.
    pub(super) fn rest(&mut self, now: Instant, session: u32) {
        if session >= self.demand().sessions {
            self.dormant.push(session);
            return;
        }
        let delay = self.exponential(self.demand().delay);
        let resting = &mut self.sessions[session as usize];
        resting.rests_since = Some(now);
        resting.draw = resting.draw.wrapping_add(1);
        let draw = resting.draw;
        self.push(now + delay, Event::Begins(session, draw));
    }

    pub(super) fn end_rest(&mut self, now: Instant, session: u32) {
        let resting = &mut self.sessions[session as usize];
        resting.draw = resting.draw.wrapping_add(1);
        if let Some(since) = resting.rests_since.take() {
            self.spend(now, Spent::Think, now.since(since));
        }
    }

    pub(super) fn begin(&mut self, now: Instant, session: u32) {
        let Demand {
            data,
            temp,
            log,
            processor,
            lock,
            ..
        } = *self.demand();
        // Its memory is reused.
        let mut left = std::mem::take(&mut self.sessions[session as usize].left);
        for (role, operation, each) in [
            (Role::Data, Operation::Write, data.writes),
            (Role::Temp, Operation::Read, temp.reads),
            (Role::Temp, Operation::Write, temp.writes),
            (Role::Data, Operation::Read, data.reads),
        ] {
            let count = self.count(each);
            left.extend((0..count).map(|_| (role, operation, each.size)));
        }
        let mut beside = Beside::default();
        if is_long(&data, &temp) {
            for (of, access) in beside.of.iter_mut().zip([data, temp]) {
                of.reads = self.count(access.background_reads);
                of.writes = self.count(access.background_writes);
            }
            for (role, _, _) in &left {
                beside.of[usize::from(*role == Role::Temp)].own += 1;
            }
        }
        let commits = log.commits_per_operation.clamp(0.0, 1.0);
        let commits = self.random.random_bool(commits);
        let own = &mut self.sessions[session as usize];
        *own = ReplaySession {
            began: now,
            period: self.period,
            left,
            beside,
            commits,
            locks: lock > Duration::ZERO,
            held: None,
            waits_since: now,
            rests_since: None,
            draw: own.draw,
        };
        let burst = self.exponential(self.replay.machine.speed.time(processor));
        let end = self.cores.run(now, burst);
        self.spend(end, Spent::Cpu, burst);
        self.spend(end, Spent::CpuQueued, end.since(now) - burst);
        if self.counts(end) {
            self.processor += burst;
        }
        self.push(end, Event::GoesOn(session));
    }

    /// An integer whose mean is the number per operation.
    fn count(&mut self, each: Each) -> u64 {
        if each.per_operation == 0.0 {
            return 0;
        }
        let whole = each.per_operation.floor();
        let more = self.random.random_bool(each.per_operation - whole);
        whole as u64 + u64::from(more)
    }

    pub(super) fn go_on(&mut self, now: Instant, session: u32) {
        let own = &mut self.sessions[session as usize];
        if std::mem::take(&mut own.locks) {
            let hold = self.periods[own.period].demand.lock;
            let hold = self.exponential(hold);
            let end = self.lock.run(now, hold);
            self.spend(end, Spent::Lock, end.since(now));
            self.push(end, Event::GoesOn(session));
            return;
        }
        if let Some((role, operation, size)) = self.sessions[session as usize].left.pop() {
            let completion = self.request(now, role, operation, size);
            let cause = match operation {
                Operation::Read => Cause::Read,
                Operation::Write | Operation::Flush => Cause::Write,
            };
            self.wait(completion.done, role, cause, completion);
            self.accompany(now, session, role);
            self.push(completion.done, Event::GoesOn(session));
            return;
        }
        let ReplaySession {
            period,
            commits,
            held,
            ..
        } = self.sessions[session as usize];
        let locks = self.periods[period].demand.log.locks;
        if commits && locks > 0 && held.is_none() && !self.takes_lock(now, session, locks) {
            return;
        }
        self.log.bytes += self.periods[period].demand.log.bytes_per_operation;
        if commits {
            self.sessions[session as usize].waits_since = now;
            self.log.waiting.push(session);
            self.write_log(now);
        } else {
            self.end(now, session);
        }
    }

    /// Ends an operation; its changes are written in the background.
    pub(super) fn end(&mut self, now: Instant, session: u32) {
        let ReplaySession { began, period, .. } = self.sessions[session as usize];
        self.follow.ended(began, now);
        if now >= self.from {
            self.operations += 1;
            self.took += now.since(began);
        }
        let Demand { data, temp, .. } = self.periods[period].demand;
        if is_long(&data, &temp) {
            let due = self.sessions[session as usize].beside.alone();
            self.issue(now, period, due);
        } else {
            for (role, access) in [(Role::Data, data), (Role::Temp, temp)] {
                for _ in 0..self.count(access.background_reads) {
                    self.request(now, role, Operation::Read, access.background_reads.size);
                }
                let count = self.count(access.background_writes);
                self.write_later(now, role, access.background_writes, count);
            }
        }
        match self.replay.arrivals {
            Arrivals::Closed => self.rest(now, session),
            Arrivals::Open => self.dormant.push(session),
        }
    }

    /// Issues the background requests of a long operation that go with its next request, for files of `role`.
    fn accompany(&mut self, now: Instant, session: u32, role: Role) {
        let own = &mut self.sessions[session as usize];
        let period = own.period;
        let due = own.beside.next(role);
        self.issue(now, period, due);
    }

    /// Issues background reads and writes of data and of temporary files.
    fn issue(&mut self, now: Instant, period: usize, due: [[u64; 2]; 2]) {
        if due == [[0; 2]; 2] {
            return;
        }
        let Demand { data, temp, .. } = self.periods[period].demand;
        let of = [(Role::Data, data), (Role::Temp, temp)];
        for ((role, access), [reads, writes]) in of.into_iter().zip(due) {
            for _ in 0..reads {
                self.request(now, role, Operation::Read, access.background_reads.size);
            }
            self.write_later(now, role, access.background_writes, writes);
        }
    }

    /// Queues `count` background writes; issues them in a batch once there are enough.
    fn write_later(&mut self, now: Instant, role: Role, each: Each, count: u64) {
        let size = each.size.0.max(1);
        self.unwritten[role as usize] += count * size;
        if self.unwritten[role as usize] < WRITTEN_TOGETHER {
            return;
        }
        for _ in 0..std::mem::take(&mut self.unwritten[role as usize]) / size {
            self.request(now, role, Operation::Write, each.size);
        }
    }
}

/// Whether an operation's background requests are more than one batch: these go on while it runs, such as read-ahead of a scan and
/// the writes of a sort, instead of all at its end.
fn is_long(data: &Access, temp: &Access) -> bool {
    let kinds = [data, temp].map(|of| [of.background_reads, of.background_writes]);
    let bytes = |each: &Each| each.per_operation * each.size.0 as f64;
    kinds.iter().flatten().map(bytes).sum::<f64>() > WRITTEN_TOGETHER as f64
}
