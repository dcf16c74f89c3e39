//! The binary log: a second log that a commit must reach after the engine's own.
//!
//! ```text
//!  commit ──► redo log: written, flushed ──► binary log: written, flushed ──► done
//!             shared by all that wait        shared by all that wait
//! ```
//!
//! With a binary log, a server commits in two phases: a transaction is *prepared* in its storage engine, where the redo
//! log is made durable; then its events are written to the binary log; then it is committed in the storage engine,
//! without a flush, as recovery finds in the binary log what was committed. That makes two flushes, each shared by all
//! transactions waiting for it. Sources: <https://mariadb.com/kb/en/group-commit-for-the-binary-log/>,
//! <https://mariadb.com/kb/en/binary-log-group-commit-and-innodb-flushing-performance/>, read 2026-11-25.
//!
//! A transaction's events are written when it commits, not while it runs. Here they take as many bytes as its records
//! in the engine's own log. This is an assumption: events have whole rows, before and after, where redo has the bytes
//! that changed, and redo has index changes where events have none.
//!
//! Not modelled: rotation and purging, temporary files of transactions larger than `binlog_cache_size`, and the file
//! system's cost of a growing file: blocks written whole, and its length recorded.

use super::Files;
use super::log::Log;
use super::spec::{BinlogSpec, Commit, StoreSpec};
use super::ticket::CommitTicket;

impl BinlogSpec {
    /// The binary log of a store, behind the other files of its volume.
    pub(super) fn log(self, spec: &StoreSpec, files: &mut Files) -> Log {
        let commit = match self.sync {
            true => Commit::Durable,
            false => Commit::Relaxed,
        };
        Log::new(commit, true, spec.log_block, 1, files.append(self.file))
    }
}

impl CommitTicket {
    /// The same transaction's ticket in the binary log, to which it has written nothing yet.
    pub(super) fn in_binlog(&self) -> CommitTicket {
        CommitTicket {
            log_bytes: self.log_bytes.saturating_add(self.streamed),
            log_end: self.binlog_end,
            ..*self
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::super::FileSpec;
    use super::*;
    use crate::store::{Step, Store};
    use crate::time::{Duration, Instant};
    use crate::units::Bytes;
    use crate::{DiskSpec, LatencySpec, MachineSpec, Measure, Storage, VolumeSpec};

    const DATA: usize = 0;
    const REDO: usize = 1;
    const BINLOG: usize = 2;

    fn on(volume: usize) -> FileSpec {
        FileSpec { volume, size: None }
    }

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// A disk with these write and flush times, in milliseconds.
    fn disk(write: u64, flush: u64) -> DiskSpec {
        DiskSpec {
            write_latency: LatencySpec::constant(Duration::from_millis(write)),
            flush_latency: LatencySpec::constant(Duration::from_millis(flush)),
            ..DiskSpec::limited(
                crate::Iops(1_000_000),
                crate::Throughput::from_mb_per_s(100_000),
            )
        }
    }

    /// Redo on a disk of 1 ms per write and 2 ms per flush, the binary log on one of 10 and 20 ms.
    fn store(commit: Commit, binlog: Option<BinlogSpec>) -> Store {
        let volumes = [
            VolumeSpec::of("data", DiskSpec::unlimited()),
            VolumeSpec::of("redo", disk(1, 2)),
            VolumeSpec::of("binlog", disk(10, 20)),
        ];
        let spec = StoreSpec {
            commit,
            log_flush: true,
            log_block: Bytes::mib(16),
            data: [on(DATA)].into(),
            temp: [on(DATA)].into(),
            log: on(REDO),
            binlog,
            ..StoreSpec::plain(Bytes::mib(1))
        };
        Store::new(
            &spec,
            Storage::new(&MachineSpec::unlimited(), &volumes, 1),
            1,
        )
    }

    fn synced(sync: bool) -> Option<BinlogSpec> {
        let file = on(BINLOG);
        Some(BinlogSpec { file, sync })
    }

    /// When a commit requested at `now` is done.
    fn done(store: &mut Store, mut now: Instant, ticket: &mut CommitTicket) -> Instant {
        while let Step::Wait(wait) = store.commit(now, ticket).expect("no versions") {
            now = wait.until;
        }
        now
    }

    /// Requests that reached each volume's only disk so far.
    fn requests(store: &Store) -> Vec<u64> {
        let usage = store.storage().usage(Instant::ZERO).into_iter();
        let iops = usage.filter(|usage| usage.measure == Measure::Iops);
        iops.map(|usage| usage.used).collect()
    }

    #[test]
    fn a_commit_waits_for_the_flushes_of_both_logs_one_after_the_other() {
        let mut store = store(Commit::Durable, synced(true));
        let end = done(&mut store, at(0), &mut CommitTicket::new(0, 1_000, 1));
        // 1 + 2 ms, then 10 + 20 ms.
        assert_eq!(end, at(33));
        let counters = store.counters();
        assert_eq!((counters.log_bytes, counters.binlog_bytes), (1_024, 1_024));
    }

    #[test]
    fn commits_under_way_share_the_flushes_of_both_logs() {
        let mut store = store(Commit::Durable, synced(true));
        let mut tickets: [CommitTicket; 5] =
            core::array::from_fn(|session| CommitTicket::new(session as u32, 1_000, 1));
        let mut ends = [None; 5];
        // Each asks every millisecond until it is done.
        for ms in 0..200 {
            for (ticket, end) in tickets.iter_mut().zip(&mut ends) {
                let step = store.commit(at(ms), ticket).expect("no versions");
                if step == Step::Done {
                    end.get_or_insert(ms);
                }
            }
        }
        // Redo has the first after 3 ms, the others, in a second write and flush, after 6; the binary log has the first
        // after 3 + 30 ms, and the others another 30 ms later.
        assert_eq!(ends, [Some(33), Some(63), Some(63), Some(63), Some(63)]);
        // Two groups of two writes; flushes do not count as I/Os of these limits.
        assert_eq!(requests(&store), [2, 2]);
    }

    #[test]
    fn without_a_flush_a_commit_waits_for_the_redo_log_alone() {
        let mut store = store(Commit::Durable, synced(false));
        let end = done(&mut store, at(0), &mut CommitTicket::new(0, 1_000, 1));
        assert_eq!(end, at(3));
        assert_eq!(
            store.counters().binlog_bytes,
            0,
            "too little to be written back"
        );
        // 1 MiB is; no commit waits for it.
        let end = done(&mut store, end, &mut CommitTicket::new(0, 1 << 20, 1));
        assert_eq!(end, at(6));
        assert_eq!(store.counters().binlog_bytes, (1 << 20) + 1_024);
    }

    #[test]
    fn a_relaxed_commit_waits_for_the_binary_log_alone() {
        let mut store = store(Commit::Relaxed, synced(true));
        let end = done(&mut store, at(0), &mut CommitTicket::new(0, 1_000, 1));
        assert_eq!(end, at(30));
    }

    #[test]
    fn what_a_transaction_logged_before_it_commits_comes_to_the_binary_log_with_the_commit() {
        let mut store = store(Commit::Durable, synced(true));
        let mut piece = CommitTicket::new(0, 4_096, 0);
        assert_eq!(store.stream_log(at(0), &mut piece), Step::Done);
        let mut ticket = CommitTicket::new(0, 1_024, 1).after_streaming(4_096);
        done(&mut store, at(0), &mut ticket);
        assert_eq!(store.counters().log_bytes, 4_096 + 1_024);
        assert_eq!(store.counters().binlog_bytes, 4_096 + 1_024);
    }

    #[test]
    fn a_commit_of_nothing_waits_for_neither_log() {
        let mut store = store(Commit::Durable, synced(true));
        let end = done(&mut store, at(5), &mut CommitTicket::new(0, 0, 0));
        assert_eq!(end, at(5));
    }

    #[test]
    fn a_store_without_a_binary_log_flushes_once() {
        let mut store = store(Commit::Durable, None);
        let end = done(&mut store, at(0), &mut CommitTicket::new(0, 1_000, 1));
        assert_eq!(end, at(3));
        assert_eq!(store.counters().binlog_bytes, 0);
    }
}
