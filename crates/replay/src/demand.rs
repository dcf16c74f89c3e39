//! The demand of one operation of a server, independent of the disks it ran on.
//!
//! Requests per second reflect what the old disks allowed. What carries over to other disks is the demand of each operation and
//! the number of sessions that issue operations in turn: a closed system, whose rate follows from how long operations then take
//! (Mesnier et al., "Modeling the relative fitness of storage", 2007, has the idea).

use model::{Bytes, Durability, Duration, Operation};
use profile::{Interval, Io, Requests, Wait};
use reading::Role;
use thiserror::Error;

use super::log_writer::{LogWriter, Recorded, SECTOR};

/// Maximum number of sessions of a demand; more than that indicates a connection pool.
const SESSIONS_MAX: f64 = 65_536.0;

/// Maximum number of requests of an operation: a scan of 50 GB in pieces of 512 KiB.
const REQUESTS_MAX: f64 = 1e5;

/// Mean number of sessions waiting for locks below which lock waits are ignored.
const LOCK_WAITS_MIN: f64 = 0.1;

/// Maximum size of a request, and maximum log of an operation.
const BYTES_MAX: f64 = (1_u64 << 30) as f64;

/// Mean demand of one operation, and the number of sessions that issue operations.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// Sessions that issue operations, each after its last one; at least 1.
    pub sessions: u32,
    /// Processor time of an operation.
    pub processor: Duration,
    /// Time that an operation holds an exclusive lock; 0 if locks do not matter.
    pub lock: Duration,
    /// Time of an operation that is not due to disk, processor or lock: network, the client.
    pub delay: Duration,
    /// Requests to data files.
    pub data: Access,
    /// Requests to temporary files.
    pub temp: Access,
    /// Log demand.
    pub log: LogDemand,
}

impl Demand {
    /// Whether operations have requests of this kind for files of `role`.
    pub fn has(&self, role: Role, operation: Operation) -> bool {
        let of_files = |access: &Access| {
            let (waited, background) = match operation {
                Operation::Read => (access.reads, access.background_reads),
                Operation::Write => (access.writes, access.background_writes),
                Operation::Flush => return false,
            };
            waited.per_operation > 0.0 || background.per_operation > 0.0
        };
        let log = &self.log;
        match (role, operation) {
            (Role::Data, _) => of_files(&self.data),
            (Role::Temp, _) => of_files(&self.temp),
            (Role::Log, Operation::Write) => log.bytes_per_operation > 0.0,
            (Role::Log, Operation::Flush) => log.is_flushed,
            (Role::Log, Operation::Read) | (Role::Binlog | Role::Undo | Role::Doublewrite, _) => {
                false
            }
        }
    }
}

/// Requests of an operation to the files of one role.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Access {
    /// Reads that its session waits for, one after the other.
    pub reads: Each,
    /// Reads that no session waits for.
    pub background_reads: Each,
    /// Writes that its session waits for.
    pub writes: Each,
    /// Writes that no session waits for.
    pub background_writes: Each,
    /// When a write is durable.
    pub durability: Durability,
}

/// Requests of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Each {
    /// Mean number per operation; finite, 0 or more.
    pub per_operation: f64,
    /// Their mean size.
    pub size: Bytes,
}

/// Log demand of an operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogDemand {
    /// Bytes, without the padding of writes to whole pages.
    pub bytes_per_operation: f64,
    /// Share of the operations that wait for the log, 0 to 1.
    pub commits_per_operation: f64,
    /// Whether the log is flushed after each write; if not, it is written through.
    pub is_flushed: bool,
    /// Writes are whole pages of this size, rewriting the page that the previous write ended in; above 0.
    pub page: Bytes,
    /// Maximum number of writes in flight, each with its flush, before commits must share the next; at least 1.
    pub in_flight_max: u32,
    /// Number of locks, of which an operation that waits for the log takes one before and holds it until the log is durable; 0 if
    /// none matter.
    pub locks: u32,
}

impl Default for LogDemand {
    /// Nothing is logged.
    fn default() -> LogDemand {
        LogDemand {
            bytes_per_operation: 0.0,
            commits_per_operation: 0.0,
            is_flushed: false,
            page: SECTOR,
            in_flight_max: 1,
            locks: 0,
        }
    }
}

/// Why no demand can be derived from a profile.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum DemandError {
    /// Operations were not counted.
    #[error(
        "operations were not counted, so that what one asks for is not known; record the server itself (`dbstow record`), and import a \
         service's monitoring with that (`--with`); performance counters need {counter}", counter = products::OPERATIONS_COUNTER
    )]
    NoOperations,
    /// Operations were counted, but none ended.
    #[error("no operation ended: the server was idle; record it under load")]
    Idle,
    /// Reads of data files were not counted.
    #[error(
        "it does not count reads of data files; name the device that holds them (`--device data=..`)"
    )]
    NoData,
    /// Requests of unknown size.
    #[error("requests for {0} were counted, but not their bytes")]
    NoBytes(Role),
    /// More than can be simulated, or implausibly much.
    #[error(
        "it has {sessions} sessions, {requests} requests an operation, and {bytes} bytes a request or of an operation's log; \
         the limits are 65,536, 100,000 and 1 GiB"
    )]
    TooMuch {
        /// Sessions.
        sessions: f64,
        /// Requests of an operation.
        requests: f64,
        /// Bytes of a request, or of an operation's log.
        bytes: f64,
    },
}

impl Demand {
    /// Demand of the operations in these intervals of a profile, for a server that writes its log in this way.
    ///
    /// Reads and writes of data count as waited for in the proportion in which sessions were seen waiting for them; if that was
    /// not recorded, all reads and no writes do. If commits were not counted, the number of operations that wait for the log
    /// follows from the time that sessions were seen waiting for it; if neither was recorded, as many as the log had writes where the
    /// product writes it for each commit, and all of another product.
    ///
    /// Sessions that were seen waiting for locks are assumed to wait for one that another session holds until its commit is durable:
    /// as many locks as explain how long they waited, with holds as long as the recorded wait for the log. Where even a single one
    /// would have been waited for less, it is held for another time, whatever the log; if the hold time that this implies exceeds
    /// the available time, their wait counts as delay. The rest of a session's time is delay too, including waits for a processor.
    ///
    /// # Errors
    /// When the profile lacks the data for this.
    pub(crate) fn of(intervals: &[Interval], log_writer: LogWriter) -> Result<Demand, DemandError> {
        let totals = Totals { intervals };
        let operations = totals.sum(|interval| interval.operations);
        let operations = operations.ok_or(DemandError::NoOperations)?;
        if operations <= 0.0 {
            return Err(DemandError::Idle);
        }
        if totals.requests(Role::Data, |io| &io.reads).count.is_none() {
            return Err(DemandError::NoData);
        }
        totals.check_bytes()?;
        let covered_s = totals.covered().as_secs_f64();
        let mean = |figure: fn(&Interval) -> Option<f64>| {
            let weighted =
                |interval: &Interval| Some(figure(interval)? * interval.length.as_secs_f64());
            Some(totals.sum(weighted)? / covered_s)
        };
        let running = mean(|interval| interval.running);
        let processor_s = totals.sum(|interval| Some(interval.processor?.as_secs_f64()));
        let waits = totals.disk_waits_s();
        // Without a session count: derived from the time spent.
        let spent = (waits + processor_s.unwrap_or(0.0)) / covered_s;
        let sessions = mean(|interval| interval.sessions)
            .or(running)
            .unwrap_or(spent);
        let data = totals.data(operations, log_writer.data_durability);
        let temp = totals.temp(operations, log_writer.buffers_temp);
        let requests = data.requests() + temp.requests();
        let mut log = totals.log(operations, log_writer);
        let sizes = [log.bytes_per_operation, data.size_max(), temp.size_max()];
        let bytes = sizes.into_iter().fold(0.0, f64::max);
        let is_possible =
            sessions <= SESSIONS_MAX && requests <= REQUESTS_MAX && bytes <= BYTES_MAX;
        if !is_possible {
            return Err(DemandError::TooMuch {
                sessions,
                requests,
                bytes,
            });
        }
        // A fraction of a session is one that is idle for the rest of the time.
        // Sums of lengths are subject to floating-point error.
        let sessions = ((sessions - 1e-6).ceil() as u32).max(1);
        let processor_s = processor_s.unwrap_or(0.0) / operations;
        let cycle_s = f64::from(sessions) * covered_s / operations;
        let rest_s = cycle_s - processor_s - waits / operations;
        let lock_waits = totals.waiting_s(Wait::Lock).unwrap_or(0.0);
        let waits_are_few = lock_waits < LOCK_WAITS_MIN * covered_s;
        let wait_s = lock_waits / operations;
        let held_s = match log.commits_per_operation > 0.0 {
            true => totals.waiting_s(Wait::Log).unwrap_or(0.0) / operations,
            false => 0.0,
        };
        let locks = locks(sessions, cycle_s, wait_s, held_s);
        let hold_s = lock_hold(sessions, cycle_s, wait_s);
        let (hold_s, delay_s) = match rest_s - wait_s {
            delay_s if delay_s >= 0.0 && !waits_are_few && locks >= 1.0 => {
                log.locks = locks.round().min(f64::from(u32::MAX)) as u32;
                (0.0, delay_s)
            }
            left_s if left_s >= hold_s && !waits_are_few => (hold_s, left_s - hold_s),
            _ => (0.0, rest_s),
        };
        Ok(Demand {
            sessions,
            processor: Duration::from_secs_f64(processor_s),
            lock: Duration::from_secs_f64(hold_s),
            delay: Duration::from_secs_f64(delay_s),
            data,
            temp,
            log,
        })
    }
}

/// How long each of `sessions` holds a lock that they take in turn, when the wait for it is `wait_s` of the `cycle_s` from
/// one operation to the next.
///
/// Source: Schweitzer's approximation of mean value analysis (Lazowska et al., *Quantitative System Performance*, 1984,
/// chapter 6.4), in which an arrival sees the mean queue of the others, solved for the service time.
pub(super) fn lock_hold(sessions: u32, cycle_s: f64, wait_s: f64) -> f64 {
    if sessions < 2 {
        return 0.0;
    }
    let others = f64::from(sessions - 1);
    ((wait_s * wait_s + 4.0 * wait_s * cycle_s / others).sqrt() - wait_s) / 2.0
}

/// How many locks there are, one of which each operation takes and holds for `held_s`, when `sessions` wait for them for `wait_s` of
/// the `cycle_s` from one operation to the next; below 1 if holds are too short for that wait.
///
/// An operation waits for a hold of each session that waits for its lock, and for half a hold of the one that has it, since the wait
/// for a log that is written all the time hardly varies: `wait_s = held_s x (N - 1) / N x (waiting + holding / 2) / locks`. Sources:
/// Schweitzer's approximation, as for [`lock_hold`]; the residual of a constant time is half of it (Kleinrock, *Queueing Systems*,
/// volume 1, 1975, chapter 5.2).
pub(super) fn locks(sessions: u32, cycle_s: f64, wait_s: f64, held_s: f64) -> f64 {
    if wait_s <= 0.0 {
        return 0.0;
    }
    let met = f64::from(sessions.saturating_sub(1)) * (wait_s + held_s / 2.0) / cycle_s;
    held_s / wait_s * met
}

/// Requests of one kind.
type Kind = fn(&Io) -> &Requests;

/// Sums over intervals.
struct Totals<'a> {
    intervals: &'a [Interval],
}

impl Totals<'_> {
    fn covered(&self) -> Duration {
        self.intervals.iter().map(|interval| interval.length).sum()
    }

    fn sum(&self, figure: impl Fn(&Interval) -> Option<f64>) -> Option<f64> {
        self.intervals.iter().map(figure).sum()
    }

    fn requests(&self, role: Role, kind: Kind) -> Requests {
        let of = |part: fn(&Requests) -> Option<f64>| {
            self.sum(|interval| part(kind(interval.roles.get(&role)?)))
        };
        Requests {
            count: of(|requests| requests.count),
            bytes: of(|requests| requests.bytes),
            waited: of(|requests| Some(requests.waited?.as_secs_f64()))
                .map(Duration::from_secs_f64),
        }
    }

    /// Rejects requests of unknown size: they would pass every throughput limit.
    fn check_bytes(&self) -> Result<(), DemandError> {
        let kinds: [(Role, Kind); 5] = [
            (Role::Data, |io| &io.reads),
            (Role::Data, |io| &io.writes),
            (Role::Temp, |io| &io.reads),
            (Role::Temp, |io| &io.writes),
            (Role::Log, |io| &io.writes),
        ];
        for (role, kind) in kinds {
            let requests = self.requests(role, kind);
            if requests.count.is_some_and(|count| count > 0.0) && requests.bytes.is_none() {
                return Err(DemandError::NoBytes(role));
            }
        }
        Ok(())
    }

    /// Total seconds that sessions were seen waiting for `wait`.
    fn waiting_s(&self, wait: Wait) -> Option<f64> {
        self.sum(|interval| Some(interval.waiting.get(&wait)? * interval.length.as_secs_f64()))
    }

    /// Seconds that sessions waited for disks: as observed, or else the latencies of the requests they must wait for.
    fn disk_waits_s(&self) -> f64 {
        let seen = |wait| self.waiting_s(wait);
        let latencies = |role, kind| self.requests(role, kind).waited.map(Duration::as_secs_f64);
        let any = |parts: [Option<f64>; 2]| parts.into_iter().flatten().sum::<f64>();
        let data = seen(Wait::DataRead).or_else(|| latencies(Role::Data, |io| &io.reads));
        let temp = seen(Wait::Temp).unwrap_or_else(|| {
            any([
                latencies(Role::Temp, |io| &io.reads),
                latencies(Role::Temp, |io| &io.writes),
            ])
        });
        let log = seen(Wait::Log).unwrap_or_else(|| {
            any([
                latencies(Role::Log, |io| &io.writes),
                latencies(Role::Log, |io| &io.flushes),
            ])
        });
        any([data, seen(Wait::DataWrite)]) + temp + log
    }

    fn data(&self, operations: f64, durability: Durability) -> Access {
        let reads = self.requests(Role::Data, |io| &io.reads);
        let writes = self.requests(Role::Data, |io| &io.writes);
        let waited = share(self.waiting_s(Wait::DataRead), &reads).unwrap_or(1.0);
        let by_sessions = self.sum(|interval| interval.roles.get(&Role::Data)?.session_writes);
        let by_sessions = by_sessions
            .zip(writes.count)
            .map(|(own, all)| (own / all.max(1.0)).min(1.0))
            .or_else(|| share(self.waiting_s(Wait::DataWrite), &writes))
            .unwrap_or(0.0);
        let (reads, writes) = (Each::of(&reads, operations), Each::of(&writes, operations));
        Access {
            reads: reads.share(waited),
            background_reads: reads.share(1.0 - waited),
            writes: writes.share(by_sessions),
            background_writes: writes.share(1.0 - by_sessions),
            durability,
        }
    }

    /// `is_buffered`: sessions wait for reads first, and for writes in the time that is left.
    fn temp(&self, operations: f64, is_buffered: bool) -> Access {
        let reads = self.requests(Role::Temp, |io| &io.reads);
        let writes = self.requests(Role::Temp, |io| &io.writes);
        let both = Requests {
            waited: Some(reads.waited.unwrap_or_default() + writes.waited.unwrap_or_default()),
            ..reads
        };
        let waited_s = self.waiting_s(Wait::Temp);
        let [of_reads, of_writes] = match (is_buffered, waited_s, reads.waited) {
            (true, Some(waited_s), Some(took)) => {
                let left = (waited_s - took.as_secs_f64()).max(0.0);
                [share(Some(waited_s), &reads), share(Some(left), &writes)]
            }
            _ => [share(waited_s, &both); 2],
        };
        let [of_reads, of_writes] = [of_reads, of_writes].map(|share| share.unwrap_or(1.0));
        let (reads, writes) = (Each::of(&reads, operations), Each::of(&writes, operations));
        Access {
            reads: reads.share(of_reads),
            background_reads: reads.share(1.0 - of_reads),
            writes: writes.share(of_writes),
            background_writes: writes.share(1.0 - of_writes),
            durability: Durability::OnFlush,
        }
    }

    fn log(&self, operations: f64, writer: LogWriter) -> LogDemand {
        let page = writer.page;
        let writes = self.requests(Role::Log, |io| &io.writes);
        let flushes = self.requests(Role::Log, |io| &io.flushes).count;
        let has_log = writes.count.or(writes.bytes).is_some_and(|log| log > 0.0);
        let commits = self.sum(|interval| interval.commits);
        let commits = commits
            .or_else(|| self.waits_for_log(operations))
            .or_else(|| writer.commits_of(writes.count));
        // Padding of a write: on average half of its first page, and half of its last.
        let added = writes.count.unwrap_or(0.0) * page.0 as f64;
        let bytes = (writes.bytes.unwrap_or(0.0) - added).max(0.0);
        let commits_per_operation = match (has_log, commits) {
            (false, _) => 0.0,
            (true, None) => 1.0,
            (true, Some(commits)) => (commits / operations).min(1.0),
        };
        let count = writes.count.filter(|count| *count > 0.0);
        let recorded = Recorded {
            in_flight: count
                .and(writes.waited)
                .map(|waited| waited.as_secs_f64() / self.covered().as_secs_f64()),
            commits_per_write: count
                .map_or(1.0, |count| commits_per_operation * operations / count),
        };
        LogDemand {
            page,
            in_flight_max: writer.in_flight_max(recorded),
            locks: 0,
            bytes_per_operation: bytes / operations,
            commits_per_operation,
            is_flushed: flushes.is_some_and(|flushes| flushes > 0.0),
        }
    }
}

impl Totals<'_> {
    /// Operations that waited for the log, from the total wait and that of one.
    fn waits_for_log(&self, operations: f64) -> Option<f64> {
        let writes = self.requests(Role::Log, |io| &io.writes);
        let flushes = self.requests(Role::Log, |io| &io.flushes);
        let took = writes.waited? + flushes.waited.unwrap_or_default();
        let one_s = took.as_secs_f64() / writes.count.filter(|count| *count > 0.0)?;
        let waited_s = self.waiting_s(Wait::Log)?;
        (one_s > 0.0).then(|| (waited_s / one_s).min(operations))
    }
}

/// The share of request time that sessions waited; `None` if either is unknown.
fn share(waited_s: Option<f64>, requests: &Requests) -> Option<f64> {
    let took_s = requests.waited?.as_secs_f64();
    (took_s > 0.0).then_some((waited_s? / took_s).min(1.0))
}

impl Access {
    /// Size of its largest requests, in bytes.
    fn size_max(&self) -> f64 {
        let all = [
            self.reads,
            self.background_reads,
            self.writes,
            self.background_writes,
        ];
        all.iter()
            .map(|each| each.size.0 as f64)
            .fold(0.0, f64::max)
    }

    /// All requests of an operation.
    fn requests(&self) -> f64 {
        let all = [
            self.reads,
            self.background_reads,
            self.writes,
            self.background_writes,
        ];
        all.iter().map(|each| each.per_operation).sum()
    }
}

impl Each {
    fn of(requests: &Requests, operations: f64) -> Each {
        let (count, bytes) = (requests.count.unwrap_or(0.0), requests.bytes.unwrap_or(0.0));
        let size = match count > 0.0 {
            true => bytes / count,
            false => 0.0,
        };
        Each {
            per_operation: count / operations,
            size: Bytes(size.round() as u64),
        }
    }

    fn share(self, share: f64) -> Each {
        Each {
            per_operation: self.per_operation * share,
            ..self
        }
    }
}

#[cfg(test)]
mod tests;
