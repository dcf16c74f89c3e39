//! Computes an interval from two snapshots and the samples between them, or the reason why it is not possible. Pure.

use std::collections::BTreeMap;

use model::{Bytes, Duration};
use profile::{Interval, Io, Lost, Requests, Timestamp, add};
use reading::Role;

use engine::recorder::Samples;

/// Batches of clients, and the counter's instance.
const BATCHES: (&str, &str) = ("Batch Requests/sec", "");

/// Transactions that wrote and were committed: of all databases, and of tempdb, whose log sessions do not wait for.
const COMMITS: &str = "Write Transactions/sec";
const ALL: &str = "_Total";
const OF_TEMPDB: &str = "tempdb";

/// Pages asked of the buffer pool, those in it (a level, not a counter), and their size.
const LOOKUPS: &str = "Page lookups/sec";
const PAGES: &str = "Database pages";
const PAGE: Bytes = Bytes::kib(8);

/// Type of a 32-bit counter, which wraps around: `PERF_COUNTER_COUNTER`. The others have 64.
///
/// Source: Microsoft, `sys.dm_os_performance_counters` (read 2026-11).
const KIND_32_BITS: i64 = 272_696_320;

/// Where a 32-bit counter wraps around.
const COUNT_MAX: i64 = 1 << 32;

/// A server's state at an instant.
#[derive(Clone, Debug, Default)]
pub(super) struct Snapshot {
    /// Since the recording began, by our clock.
    pub(super) at: Duration,
    /// The server's clock. Only the start of a recording depends on it, so it may be adjusted.
    pub(super) server_time: Timestamp,
    /// When the service was started, in the server's format.
    pub(super) started: String,
    /// Number of our connection that took it.
    pub(super) connection: u32,
    /// Number of our own batches on it so far.
    pub(super) own: f64,
    /// Processor time of the service since its start.
    pub(super) processor_ms: Option<i64>,
    /// Performance counters, by counter and instance.
    pub(super) counters: BTreeMap<(String, String), Counter>,
    /// By database and file.
    pub(super) files: BTreeMap<(i64, i64), FileCounters>,
    /// User sessions, and when each began its last request, in the server's format.
    pub(super) sessions: BTreeMap<u32, String>,
}

impl Snapshot {
    /// What the buffer pool holds.
    pub(super) fn cache(&self) -> Option<Bytes> {
        let pages = self.counters.get(&(PAGES.to_owned(), String::new()))?;
        let pages = u64::try_from(pages.value).ok().filter(|pages| *pages > 0);
        Some(Bytes(pages?.saturating_mul(PAGE.0)))
    }
}

/// A performance counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counter {
    pub(super) value: i64,
    /// `cntr_type`.
    pub(super) kind: i64,
}

/// I/O of a file since its database was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileCounters {
    pub(super) role: Role,
    /// Whether the role is derived from its number, since the login cannot see the file's type.
    pub(super) is_guessed: bool,
    pub(super) reads: i64,
    pub(super) read_bytes: i64,
    pub(super) read_stall_ms: i64,
    pub(super) writes: i64,
    pub(super) written_bytes: i64,
    pub(super) write_stall_ms: i64,
}

/// What was counted from `before` to `after`.
///
/// # Errors
/// Why it cannot be determined.
pub(super) fn interval(
    before: &Snapshot,
    after: &Snapshot,
    samples: &Samples,
) -> Result<Interval, Lost> {
    if before.started != after.started {
        return Err(Lost::Restart);
    }
    if before.connection != after.connection {
        return Err(Lost::Gap);
    }
    let is_changed = |(session, last): &(&u32, &String)| before.sessions.get(session) != Some(last);
    let changed = after.sessions.iter().filter(is_changed);
    let counters = Counters { before, after };
    let own = after.own - before.own;
    let batches = counters.grown(BATCHES.0, BATCHES.1)?;
    let of_tempdb = counters.grown(COMMITS, OF_TEMPDB)?.unwrap_or(0.0);
    let commits = counters.grown(COMMITS, ALL)?;
    let lookups = counters.grown(LOOKUPS, "")?;
    Ok(Interval {
        operations: batches.map(|batches| (batches - own).max(0.0)),
        commits: commits.map(|all| (all - of_tempdb).max(0.0)),
        logical_read_bytes: lookups.map(|pages| pages * PAGE.0 as f64),
        processor: match (before.processor_ms, after.processor_ms) {
            (Some(before), Some(after)) => Some(millis(grown(before, after)?)),
            _ => None,
        },
        roles: roles(before, after)?,
        ..samples.interval(changed.map(|(session, _)| *session))
    })
}

/// Assumptions that a user of the figures must know.
pub(super) fn assumptions(first: &Snapshot) -> Vec<&'static str> {
    let mut known = vec![
        "The queries follow Microsoft's documentation; they were not yet run on SQL Server.",
        "Requests are those of the server, of all its databases; tempdb's log counts as temp. Their times are sums of whole \
         milliseconds.",
        "Waits for IO_COMPLETION count as temp: they are those of sorts and hashes that spill.",
    ];
    let has = |counter: &str| first.counters.keys().any(|(name, _)| name == counter);
    if has(BATCHES.0) {
        known.push(
            "Operations are batch requests: a transaction of several batches counts as several operations.",
        );
    } else {
        known.push(
            "The server has no performance counter of batches: operations were not recorded.",
        );
    }
    if has(COMMITS) {
        known.push("Commits are the server's write transactions, of all databases but tempdb.");
    }
    if first.processor_ms.is_none() {
        known.push("The server does not report its processor time.");
    }
    if first.files.values().any(|file| file.is_guessed) {
        known.push(
            "The login does not see what some files are for (it lacks VIEW ANY DEFINITION): of their databases, file 2 \
             counts as the log and the others as data.",
        );
    }
    known
}

/// Performance counters of two snapshots.
struct Counters<'a> {
    before: &'a Snapshot,
    after: &'a Snapshot,
}

impl Counters<'_> {
    /// Growth of a counter; `None` if the server lacks it.
    fn grown(&self, counter: &str, instance: &str) -> Result<Option<f64>, Lost> {
        let name = (counter.to_owned(), instance.to_owned());
        let (Some(before), Some(after)) = (
            self.before.counters.get(&name),
            self.after.counters.get(&name),
        ) else {
            return Ok(None);
        };
        // Only from its upper half: from its lower half, 2 billion in an interval are less likely than a reset.
        let starts_over = after.kind == KIND_32_BITS && before.value >= COUNT_MAX / 2;
        if starts_over && after.value < before.value {
            return grown(before.value, after.value + COUNT_MAX).map(Some);
        }
        grown(before.value, after.value).map(Some)
    }
}

/// Requests by role, each of which every server has.
fn roles(before: &Snapshot, after: &Snapshot) -> Result<BTreeMap<Role, Io>, Lost> {
    let none = Requests {
        count: Some(0.0),
        bytes: Some(0.0),
        waited: Some(Duration::ZERO),
    };
    let idle = Io {
        reads: none,
        writes: none,
        ..Io::default()
    };
    let mut roles = BTreeMap::from(Role::COMMON.map(|role| (role, idle)));
    for (file, now) in &after.files {
        // A new file started at 0; the last requests of a removed one are lost.
        let then = before.files.get(file);
        let of = |figure: fn(&FileCounters) -> i64| grown(then.map_or(0, figure), figure(now));
        let io = roles.entry(now.role).or_default();
        let reads = Requests {
            count: Some(of(|file| file.reads)?),
            bytes: Some(of(|file| file.read_bytes)?),
            waited: Some(millis(of(|file| file.read_stall_ms)?)),
        };
        let writes = Requests {
            count: Some(of(|file| file.writes)?),
            bytes: Some(of(|file| file.written_bytes)?),
            waited: Some(millis(of(|file| file.write_stall_ms)?)),
        };
        add(&mut io.reads, reads);
        add(&mut io.writes, writes);
    }
    Ok(roles)
}

/// # Errors
/// When it shrank: counters restart when a database is closed and opened.
fn grown(before: i64, after: i64) -> Result<f64, Lost> {
    let grown = after.checked_sub(before).filter(|grown| *grown >= 0);
    grown.map(|grown| grown as f64).ok_or(Lost::Reset)
}

fn millis(ms: f64) -> Duration {
    Duration::from_secs_f64(ms / 1e3)
}

#[cfg(test)]
mod tests {
    use profile::Wait;

    use super::*;

    const KIND_64_BITS: i64 = 272_696_576;

    /// A file with as many reads and writes of 8 KiB, of 2 and 3 ms.
    fn file(role: Role, count: i64) -> FileCounters {
        FileCounters {
            role,
            is_guessed: false,
            reads: count,
            read_bytes: count * 8192,
            read_stall_ms: count * 2,
            writes: count,
            written_bytes: count * 8192,
            write_stall_ms: count * 3,
        }
    }

    /// A snapshot in which every counter has this value.
    fn snapshot(count: i64) -> Snapshot {
        let counter = |name: &str, instance: &str, value| {
            let kind = KIND_64_BITS;
            (
                (name.to_owned(), instance.to_owned()),
                Counter { value, kind },
            )
        };
        let files = [
            ((2, 1), Role::Temp),
            ((2, 2), Role::Temp),
            ((7, 1), Role::Data),
            ((7, 2), Role::Log),
        ];
        Snapshot {
            started: "2026-01-01T08:00:00".to_owned(),
            processor_ms: Some(count),
            counters: BTreeMap::from([
                counter(BATCHES.0, BATCHES.1, count),
                counter(COMMITS, ALL, count),
                counter(COMMITS, OF_TEMPDB, count / 10),
            ]),
            files: files.map(|(id, role)| (id, file(role, count))).into(),
            ..Snapshot::default()
        }
    }

    fn counted(before: &Snapshot, after: &Snapshot) -> Result<Interval, Lost> {
        interval(before, after, &Samples::default())
    }

    #[test]
    fn figures_are_differences_and_our_own_batches_are_no_operations() {
        let mut after = snapshot(150);
        after.own = 30.0;
        let interval = counted(&snapshot(50), &after).expect("an interval");
        assert_eq!(interval.operations, Some(70.0)); // 150 - 50, less our 30
        assert_eq!(interval.commits, Some(90.0)); // 100, less the 10 of tempdb
        assert_eq!(interval.processor, Some(Duration::from_millis(100)));
        // tempdb's two files are one role, its log among them.
        let temp = interval.roles[&Role::Temp];
        assert_eq!(temp.reads.count, Some(200.0));
        assert_eq!(temp.reads.waited, Some(Duration::from_millis(400)));
        let log = interval.roles[&Role::Log];
        assert_eq!(log.writes.bytes, Some(100.0 * 8192.0));
        assert_eq!(log.writes.waited, Some(Duration::from_millis(300)));
        assert_eq!(log.flushes, Requests::default());
    }

    #[test]
    fn a_restart_a_lost_connection_and_a_reset_are_no_intervals() {
        let (before, after) = (snapshot(50), snapshot(150));
        let restarted = Snapshot {
            started: "2026-01-02T08:00:00".to_owned(),
            connection: 1,
            ..after.clone()
        };
        assert_eq!(counted(&before, &restarted), Err(Lost::Restart));
        let reconnected = Snapshot {
            connection: 1,
            ..after.clone()
        };
        assert_eq!(counted(&before, &reconnected), Err(Lost::Gap));
        // Of one file, one counter.
        let mut reopened = after.clone();
        reopened
            .files
            .get_mut(&(7, 1))
            .expect("it is there")
            .write_stall_ms = 0;
        assert_eq!(counted(&before, &reopened), Err(Lost::Reset));
        let mut fewer = after.clone();
        fewer.processor_ms = Some(1);
        assert_eq!(counted(&before, &fewer), Err(Lost::Reset));
        assert_eq!(counted(&after, &before), Err(Lost::Reset));
    }

    #[test]
    fn a_counter_of_32_bits_starts_over_and_one_of_64_does_not() {
        let with = |value, kind| {
            let mut snapshot = snapshot(50);
            let name = (BATCHES.0.to_owned(), BATCHES.1.to_owned());
            snapshot.counters.insert(name, Counter { value, kind });
            snapshot
        };
        let near_its_end = COUNT_MAX - 10;
        let over = |kind| counted(&with(near_its_end, kind), &with(5, kind));
        // 10 up to its end, and 5 from 0 on.
        let interval = over(KIND_32_BITS).expect("an interval");
        assert_eq!(interval.operations, Some(15.0));
        assert_eq!(over(KIND_64_BITS), Err(Lost::Reset));
        let low = |value| with(value, KIND_32_BITS);
        assert_eq!(counted(&low(1000), &low(5)), Err(Lost::Reset));
    }

    #[test]
    fn pages_that_were_looked_up_are_bytes_and_those_in_the_pool_are_its_size() {
        let with = |lookups, pages| {
            let mut snapshot = snapshot(50);
            for (name, value) in [(LOOKUPS, lookups), (PAGES, pages)] {
                let counter = Counter {
                    value,
                    kind: KIND_64_BITS,
                };
                let name = (name.to_owned(), String::new());
                snapshot.counters.insert(name, counter);
            }
            snapshot
        };
        // The pool shrinks, which is not a reset.
        let interval = counted(&with(1_000, 900), &with(1_500, 800)).expect("an interval");
        assert_eq!(interval.logical_read_bytes, Some(500.0 * 8192.0));
        assert_eq!(with(0, 800).cache(), Some(Bytes::kib(6_400)));
        assert_eq!(snapshot(50).cache(), None);
    }

    #[test]
    fn a_file_that_is_new_began_at_0_and_one_that_is_gone_is_no_reset() {
        let before = snapshot(50);
        let mut after = snapshot(50);
        after.files.remove(&(7, 2));
        after.files.insert((9, 1), file(Role::Data, 5));
        let interval = counted(&before, &after).expect("an interval");
        assert_eq!(interval.roles[&Role::Data].reads.count, Some(5.0));
        assert_eq!(interval.roles[&Role::Log].writes.count, Some(0.0));
    }

    #[test]
    fn sessions_that_began_a_request_or_were_seen_count_once() {
        let with = |sessions: &[(u32, &str)]| {
            let sessions = sessions.iter().map(|(id, at)| (*id, (*at).to_owned()));
            Snapshot {
                sessions: sessions.collect(),
                ..snapshot(50)
            }
        };
        let before = with(&[(51, "10:00:01"), (52, "10:00:02")]);
        let after = with(&[(51, "10:00:09"), (52, "10:00:02"), (53, "10:00:03")]);
        let mut samples = Samples::default();
        samples.add([(51, Some(Wait::Log)), (54, None)].into_iter());
        let interval = interval(&before, &after, &samples).expect("an interval");
        // 51 and 53 began one, 51 and 54 were seen.
        assert_eq!(interval.sessions, Some(3.0));
        assert_eq!(interval.waiting[&Wait::Log], 1.0);
    }

    #[test]
    fn what_the_server_does_not_count_is_not_recorded() {
        let without = |count| Snapshot {
            counters: BTreeMap::new(),
            processor_ms: None,
            ..snapshot(count)
        };
        let interval = counted(&without(1), &without(2)).expect("an interval");
        assert_eq!(interval.operations, None);
        assert_eq!(interval.commits, None);
        assert_eq!(interval.processor, None);
        let mut first = without(1);
        first
            .files
            .get_mut(&(7, 1))
            .expect("it is there")
            .is_guessed = true;
        let told = assumptions(&first).join("\n");
        for expected in ["operations were not recorded", "processor time", "file 2"] {
            assert!(told.contains(expected), "{told}");
        }
        assert!(!told.contains("Commits"), "{told}");
    }
}
