use alloc::vec::Vec;

use super::*;
use crate::time::Duration;

const BASE: u64 = 1 << 40;

fn log(commit: Commit) -> Log {
    Log::new(commit, false, LOG_BLOCK, 1, (2, BASE))
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// A volume whose writes take these milliseconds in turn, then repeat the last one; it keeps the requests.
struct Volume {
    takes: Vec<u64>,
    seen: Vec<Request>,
}

impl Volume {
    fn taking(ms: &[u64]) -> Volume {
        Volume {
            takes: ms.to_vec(),
            seen: Vec::new(),
        }
    }

    fn submit(&mut self, now: Instant, volume: usize, request: Request) -> Completion {
        assert_eq!(volume, 2, "the log's volume");
        let takes = self.takes[self.seen.len().min(self.takes.len() - 1)];
        self.seen.push(request);
        let service = Duration::from_millis(takes);
        Completion {
            done: now + service,
            service,
            ..Completion::immediate(now)
        }
    }
}

fn commit(log: &mut Log, now: Instant, volume: &mut Volume, bytes: u64) -> Step {
    let submit = &mut |now, place, request| volume.submit(now, place, request);
    log.commit(now, &mut CommitTicket::new(0, bytes, 0), submit)
}

fn finish(log: &mut Log, due: Instant, volume: &mut Volume) {
    log.finish(due, &mut |now, place, request| {
        volume.submit(now, place, request)
    });
}

fn until(step: Step) -> Instant {
    match step {
        Step::Wait(wait) => wait.until,
        Step::Done => panic!("done at once"),
    }
}

#[test]
fn log_writes_are_whole_sectors_at_whole_sectors() {
    let mut log = log(Commit::Durable);
    let mut volume = Volume::taking(&[1]);
    commit(&mut log, at(0), &mut volume, 1_000);
    finish(&mut log, at(1), &mut volume);
    commit(&mut log, at(1), &mut volume, 100);
    finish(&mut log, at(2), &mut volume);
    commit(&mut log, at(2), &mut volume, 513);
    // 1,000 bytes are 2 sectors of 512. What follows starts behind them, and not inside the second; 100
    // bytes are 1 sector. 1,100 bytes end in the third, so that the next write starts at the fourth; 513
    // bytes are one more than a sector.
    assert_eq!(
        volume.seen,
        [
            Request::durable_write(BASE, Bytes(1_024)),
            Request::durable_write(BASE + 1_024, Bytes(512)),
            Request::durable_write(BASE + 1_536, Bytes(1_024)),
        ]
    );
}

#[test]
fn a_log_asks_for_durability_once_by_a_flush_or_by_the_write() {
    // A commit that waits for no durability asks for none, as in temporary space.
    for (commits, flush, durability) in [
        (Commit::Durable, false, Durability::OnCompletion),
        (Commit::Durable, true, Durability::OnFlush),
        (Commit::Relaxed, false, Durability::OnFlush),
        (Commit::Relaxed, true, Durability::OnFlush),
    ] {
        let mut log = Log::new(commits, flush, LOG_BLOCK, 1, (2, BASE));
        let mut volume = Volume::taking(&[1]);
        commit(&mut log, at(0), &mut volume, LOG_BLOCK.0);
        finish(&mut log, at(1), &mut volume);
        let durabilities: Vec<_> = volume.seen.iter().map(|seen| seen.durability).collect();
        assert_eq!(durabilities[0], durability, "{commits:?}, {flush}");
        let flushes = volume.seen[1..].iter().copied();
        let expected = (flush && commits == Commit::Durable).then(Request::flush);
        assert!(flushes.eq(expected), "{commits:?}, {flush}");
    }
}

#[test]
fn a_later_block_is_not_durable_before_the_earlier_ones() {
    let mut log = log(Commit::Durable);
    // The first block takes 10 ms, the second 1 ms, the third 20 ms.
    let mut volume = Volume::taking(&[10, 1, 20]);
    let step = commit(&mut log, at(0), &mut volume, 3 * LOG_BLOCK.0);
    assert_eq!(volume.seen.len(), 3);
    assert_eq!(until(step), at(20));
    // The second is at the disk after 1 ms, and counts from 10 ms on, together with the first.
    let ends: Vec<_> = log.in_flight.iter().map(|(done, _)| done.done).collect();
    assert_eq!(ends, [at(10), at(10), at(20)]);
    finish(&mut log, at(9), &mut volume);
    assert_eq!(log.durable, 0);
    finish(&mut log, at(10), &mut volume);
    assert_eq!(log.durable, 2 * LOG_BLOCK.0);
    assert_eq!(log.next_due(), Some(at(20)));
}

#[test]
fn a_commit_waits_for_the_write_that_holds_its_last_record_and_no_longer() {
    let mut log = log(Commit::Durable);
    let mut volume = Volume::taking(&[10, 20, 30]);
    let first = commit(&mut log, at(0), &mut volume, LOG_BLOCK.0);
    let second = commit(&mut log, at(0), &mut volume, LOG_BLOCK.0);
    // The third fills no block: it is written when the two before it are done, and waits for the first
    // of them until then.
    let third = commit(&mut log, at(0), &mut volume, 1);
    assert_eq!(volume.seen.len(), 2);
    assert_eq!([first, second, third].map(until), [at(10), at(20), at(10)]);
    finish(&mut log, at(10), &mut volume);
    assert_eq!(volume.seen.len(), 2, "one is still under way");
    finish(&mut log, at(20), &mut volume);
    assert_eq!(volume.seen.len(), 3);
    assert_eq!(log.next_due(), Some(at(50)));
}

#[test]
fn no_more_than_32_log_writes_are_under_way() {
    let mut log = log(Commit::Durable);
    let mut volume = Volume::taking(&[10, 20]);
    commit(&mut log, at(0), &mut volume, 40 * LOG_BLOCK.0);
    // 40 blocks: 32 of them at once, and each of the others when one of these is done.
    assert_eq!(volume.seen.len(), 32);
    finish(&mut log, at(10), &mut volume);
    assert_eq!(volume.seen.len(), 33);
    finish(&mut log, at(20), &mut volume);
    assert_eq!(volume.seen.len(), 40);
}

#[test]
fn commits_have_writes_of_their_own_while_so_many_may_be_in_flight() {
    let mut log = Log::new(Commit::Durable, false, LOG_BLOCK, 3, (2, BASE));
    let mut volume = Volume::taking(&[30, 10, 40, 20]);
    let steps = [0, 1, 2].map(|ms| commit(&mut log, at(ms), &mut volume, 100));
    // The second is at the disk after 11 ms, and counts once the first does.
    assert_eq!(steps.map(until), [at(30), at(30), at(42)]);
    // Three are in flight: the fourth and the fifth share a write, which begins when the first two count.
    for ms in [3, 4] {
        commit(&mut log, at(ms), &mut volume, 100);
    }
    assert_eq!(volume.seen.len(), 3);
    finish(&mut log, at(30), &mut volume);
    assert_eq!(volume.seen.len(), 4);
    finish(&mut log, at(50), &mut volume);
    assert_eq!((volume.seen.len(), log.durable), (4, 500));
}

#[test]
fn a_flush_follows_the_writes_that_somebody_waits_for() {
    let mut log = Log::new(Commit::Durable, true, LOG_BLOCK, 1, (2, BASE));
    // A write takes 10 ms, the flush after it 5 ms, and so do the next ones.
    let mut volume = Volume::taking(&[10, 5, 10, 5]);
    let step = commit(&mut log, at(0), &mut volume, 100);
    assert_eq!(until(step), at(10), "the write comes first");
    finish(&mut log, at(10), &mut volume);
    assert_eq!(log.durable, 0);
    assert_eq!(log.next_due(), Some(at(15)));
    // A commit that arrives during the flush is in the next write, which begins when the flush is done.
    let step = commit(&mut log, at(12), &mut volume, 100);
    assert_eq!(until(step), at(15));
    assert_eq!(volume.seen.len(), 2);
    finish(&mut log, at(15), &mut volume);
    assert_eq!(log.durable, 100);
    finish(&mut log, at(25), &mut volume);
    finish(&mut log, at(30), &mut volume);
    assert_eq!(log.durable, 200);
    let operations: Vec<_> = volume
        .seen
        .iter()
        .map(|request| request.operation)
        .collect();
    use crate::request::Operation::{Flush, Write};
    assert_eq!(operations, [Write, Flush, Write, Flush]);
}

#[test]
fn a_flush_waits_for_the_write_that_holds_the_commit() {
    let mut log = Log::new(Commit::Durable, true, Bytes::mib(16), 1, (2, BASE));
    let mut volume = Volume::taking(&[10]);
    let mut ticket = CommitTicket::new(0, Bytes::mib(1).0, 0);
    let submit = &mut |now, place, request| volume.submit(now, place, request);
    assert_eq!(log.stream(at(0), &mut ticket, submit), Step::Done);
    // The commit's own record is in the second write; a flush after the first would serve no session.
    commit(&mut log, at(1), &mut volume, 100);
    for due in [10, 20, 30] {
        finish(&mut log, at(due), &mut volume);
    }
    assert_eq!(log.durable, Bytes::mib(1).0 + 100);
    let operations: Vec<_> = volume
        .seen
        .iter()
        .map(|request| request.operation)
        .collect();
    use crate::request::Operation::{Flush, Write};
    assert_eq!(operations, [Write, Write, Flush]);
}

#[test]
fn records_of_a_transaction_that_goes_on_are_written_without_a_flush_and_wait_for_a_full_buffer_only()
 {
    let mut log = Log::new(Commit::Durable, true, Bytes::mib(16), 1, (2, BASE));
    let mut volume = Volume::taking(&[10]);
    let mut stream = |log: &mut Log, bytes: Bytes| {
        let mut ticket = CommitTicket::new(0, bytes.0, 0);
        let submit = &mut |now, place, request| volume.submit(now, place, request);
        log.stream(at(0), &mut ticket, submit)
    };
    assert_eq!(stream(&mut log, Bytes::kib(1_023)), Step::Done);
    assert_eq!(log.next_due(), None, "too little to write");
    assert_eq!(stream(&mut log, Bytes::kib(1)), Step::Done);
    assert_eq!(log.next_due(), Some(at(10)));
    assert_eq!(stream(&mut log, Bytes::mib(15)), Step::Done);
    let full = stream(&mut log, Bytes(1));
    assert_eq!(until(full), at(10));
    finish(&mut log, at(10), &mut volume);
    let writes = [Bytes::mib(1), Bytes(Bytes::mib(15).0 + 512)];
    let lengths: Vec<_> = volume.seen.iter().map(|request| request.length).collect();
    assert_eq!(lengths, writes);
}

#[test]
fn a_relaxed_commit_waits_once_32_blocks_are_not_durable() {
    let mut log = log(Commit::Relaxed);
    let mut volume = Volume::taking(&[10]);
    let full = commit(&mut log, at(0), &mut volume, 32 * LOG_BLOCK.0);
    assert_eq!(full, Step::Done);
    assert_eq!(volume.seen.len(), 32);
    // One byte more than the buffer of 32 blocks holds waits for the first of them.
    let step = commit(&mut log, at(0), &mut volume, 1);
    assert_eq!(until(step), at(10));
    // No session waits for that byte itself: it is not written before its block is full.
    finish(&mut log, at(10), &mut volume);
    assert_eq!(volume.seen.len(), 32);
    assert_eq!(log.next_due(), None);
    assert_eq!(commit(&mut log, at(10), &mut volume, 1), Step::Done);
}

#[test]
fn a_ticket_puts_its_records_into_the_log_once() {
    let mut log = log(Commit::Durable);
    let mut volume = Volume::taking(&[1]);
    let mut ticket = CommitTicket::new(0, 1_000, 0);
    for _ in 0..3 {
        log.commit(at(0), &mut ticket, &mut |now, place, request| {
            volume.submit(now, place, request)
        });
    }
    assert_eq!(log.end, 1_000);
    assert_eq!(volume.seen.len(), 1);
}

#[test]
fn who_asks_again_does_not_make_the_log_forget_who_waits_behind() {
    let mut log = log(Commit::Durable);
    let mut volume = Volume::taking(&[10]);
    let mut first = CommitTicket::new(0, 100, 0);
    let ask = |log: &mut Log, ticket: &mut CommitTicket, volume: &mut Volume| {
        log.commit(at(0), ticket, &mut |now, place, request| {
            volume.submit(now, place, request)
        })
    };
    ask(&mut log, &mut first, &mut volume);
    ask(&mut log, &mut CommitTicket::new(1, 100, 0), &mut volume);
    ask(&mut log, &mut first, &mut volume);
    assert_eq!(
        volume.seen.len(),
        1,
        "the second waits for the first's write"
    );
    finish(&mut log, at(10), &mut volume);
    assert_eq!(
        volume.seen.len(),
        2,
        "and is written as soon as that is done"
    );
}

#[test]
fn a_block_is_at_least_a_sector() {
    let mut log = Log::new(Commit::Relaxed, false, Bytes(1), 1, (2, BASE));
    let mut volume = Volume::taking(&[1]);
    commit(&mut log, at(0), &mut volume, 1_100);
    // 1,100 bytes are two sectors of 512 and 76 bytes that fill no block.
    assert_eq!(volume.seen.len(), 2);
}
