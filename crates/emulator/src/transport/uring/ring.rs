//! One processor's ring: takes its requests, executes reads and writes, and sends replies when they are
//! due, all in one thread.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use io_uring::squeue::Entry128;
use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode};
use model::{Duration, Instant};
use rustix::event::PollFlags;
use rustix::io::Errno as Code;

use super::protocol::{self, Operation};
use super::relay::Relay;
use super::slots::Slots;
use super::syncs::Syncs;
use crate::front::{DataPath, Done, Errno};
use crate::pace::{Pace, Tally};

/// Completion of the wait for the filesystem's answers; slots have smaller numbers.
const RELAY: u64 = u64::MAX;

/// Completion of the wait for flushes.
const SYNCS: u64 = u64::MAX - 1;

/// Completions that are taken before replies are sent.
const BATCH: usize = 16;

/// A ring with everything that its requests need.
pub(super) struct Ring {
    ring: IoUring<Entry128>,
    device: OwnedFd,
    slots: Slots,
    /// The kernel's queue of each slot.
    queues: Vec<u16>,
    /// Slots that the kernel still owns or may use.
    live: usize,
    parked: BinaryHeap<Reverse<(Instant, usize)>>,
    /// Whether the filesystem is unmounted: replies are not needed any more.
    unmounted: bool,
    data: Arc<dyn DataPath>,
    pace: Arc<Pace>,
    tally: Arc<Tally>,
    relay: Relay,
    syncs: Syncs,
}

/// Creates a ring that can be registered from this thread only.
///
/// # Errors
/// When this kernel, or a sandbox of this process, does not allow it.
pub(super) fn build(slots: usize) -> io::Result<IoUring<Entry128>> {
    // Each slot may complete at once, and so may both waits.
    let entries = u32::try_from(slots + 2).map_or(ENTRIES_MAX, |count| count.min(ENTRIES_MAX));
    IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_taskrun_flag()
        .setup_cqsize(entries.next_power_of_two() * 2)
        .build(entries.next_power_of_two())
}

/// Most entries of a submission queue that every kernel allows, halved to leave room for the rest.
const ENTRIES_MAX: u32 = 16 << 10;

impl Ring {
    /// Registers a slot with the kernel for each queue number in `queues`. Call it from the thread that
    /// will [`Ring::serve`].
    ///
    /// # Errors
    /// When the kernel refuses a slot.
    pub(super) fn register(
        device: OwnedFd,
        queues: Vec<u16>,
        payload_length: usize,
        data: Arc<dyn DataPath>,
        pace: Arc<Pace>,
        relay: Relay,
    ) -> io::Result<Ring> {
        let slots = Slots::new(queues.len(), payload_length)?;
        let mut ring = Ring {
            ring: build(slots.count())?,
            device,
            live: slots.count(),
            slots,
            queues,
            parked: BinaryHeap::new(),
            unmounted: false,
            syncs: Syncs::start(Arc::clone(&data))?,
            data,
            tally: pace.tally(),
            pace,
            relay,
        };
        ring.watch_relay();
        ring.watch_syncs();
        for slot in 0..ring.slots.count() {
            let vectors = ring.slots.give(slot);
            let entry = protocol::register(ring.device.as_fd(), ring.queues[slot], vectors);
            ring.push(entry.user_data(slot as u64));
        }
        ring.submit()?;
        // A refusal is available at once, before any request.
        ring.complete()?;
        Ok(ring)
    }

    /// Serves requests until the filesystem is unmounted.
    ///
    /// # Errors
    /// When the kernel fails the ring, or the filesystem's session ended with an error.
    pub(super) fn serve(mut self) -> io::Result<()> {
        while self.live > 0 {
            self.wait()?;
            // Errors are ignored: the loop ends once all slots are lost.
            let _ = self.complete();
            self.send_due();
        }
        let Ring {
            ring, slots, relay, ..
        } = self;
        // The kernel releases the slots before they are dropped.
        drop(ring);
        drop(slots);
        relay.stop()
    }

    /// Submits pending entries, and waits for a completion or for the first reply to be due.
    fn wait(&mut self) -> io::Result<()> {
        let Some(Reverse((send_at, _))) = self.parked.peek() else {
            return bearable(self.ring.submit_and_wait(1));
        };
        let wait = self.pace.alarm(*send_at).since(self.pace.clock().now());
        if wait == Duration::ZERO || self.unmounted {
            return self.submit();
        }
        let nanos = wait.as_nanos();
        let span = Timespec::new()
            .sec(nanos / 1_000_000_000)
            .nsec((nanos % 1_000_000_000) as u32);
        let arguments = SubmitArgs::new().timespec(&span);
        bearable(self.ring.submitter().submit_with_args(1, &arguments))
    }

    /// Submits, and lets the kernel deliver completions; does not wait.
    fn submit(&mut self) -> io::Result<()> {
        bearable(self.ring.submit())
    }

    /// Takes a limited batch of completions, so that replies to the first of a burst need not wait
    /// for the last.
    ///
    /// # Errors
    /// The last of the kernel's refusals.
    fn complete(&mut self) -> io::Result<()> {
        let mut result = Ok(());
        for _ in 0..BATCH {
            // One at a time: each may submit, which borrows the ring.
            let Some(completion) = self.ring.completion().next() else {
                return result;
            };
            match (completion.user_data(), completion.result()) {
                (RELAY, _) => {
                    let answered = self.relay.receive(&mut self.slots);
                    answered.into_iter().for_each(|slot| self.commit(slot));
                    self.watch_relay();
                }
                (SYNCS, _) => {
                    for (slot, done) in self.syncs.finished() {
                        self.synced(slot, done);
                    }
                    self.watch_syncs();
                }
                (slot, code) => {
                    let slot = slot as usize;
                    self.slots.take(slot);
                    if code < 0 {
                        self.live -= 1;
                        self.unmounted = true;
                        result = Err(io::Error::from_raw_os_error(-code));
                    } else {
                        self.execute(slot);
                    }
                }
            }
        }
        result
    }

    /// Executes the request in `slot`, or passes it on.
    fn execute(&mut self, slot: usize) {
        let (header, payload) = self.slots.parts(slot);
        match header.operation() {
            Operation::Read {
                handle,
                offset,
                length,
            } => {
                let result = match payload.get_mut(..length) {
                    Some(buffer) => self.data.read(handle, offset, buffer),
                    None => Err(too_long()),
                };
                header.answer(result.map(|done| done.length));
                self.reply(slot, result);
            }
            Operation::Write {
                handle,
                offset,
                length,
            } => {
                let result = match payload.get(..length) {
                    Some(bytes) => self.data.write(handle, offset, bytes),
                    None => Err(too_long()),
                };
                header.answer(result.map(|done| protocol::written(done.length, payload)));
                self.reply(slot, result);
            }
            Operation::Sync { handle, data_only } => {
                if let Err(error) = self.syncs.order(slot, handle, data_only) {
                    self.synced(slot, Err(error));
                }
            }
            Operation::Other => {
                let failed = self.relay.send(&mut self.slots, slot);
                failed.into_iter().for_each(|slot| self.commit(slot));
            }
        }
    }

    fn synced(&mut self, slot: usize, result: Result<Done, Errno>) {
        let (header, _) = self.slots.parts(slot);
        header.answer(result.map(|_| 0));
        self.reply(slot, result);
    }

    /// Sends the answer in `slot` when it is due.
    fn reply(&mut self, slot: usize, result: Result<Done, Errno>) {
        let Ok(Done { due: Some(due), .. }) = result else {
            if result.is_ok() {
                self.tally.answered_at_once(false);
            }
            return self.commit(slot);
        };
        let now = self.pace.clock().now();
        let send_at = self.pace.send_at(due);
        if send_at <= now {
            let late = self.pace.is_late(due, now);
            self.tally.answered_at_once(late);
            return self.commit(slot);
        }
        self.parked.push(Reverse((send_at, slot)));
    }

    /// Sends every reply that is due.
    fn send_due(&mut self) {
        while let Some(Reverse((send_at, slot))) = self.parked.peek().copied() {
            let now = self.pace.clock().now();
            if self.pace.alarm(send_at) > now && !self.unmounted {
                return;
            }
            self.parked.pop();
            self.tally.waited(send_at, now);
            self.commit(slot);
        }
    }

    /// Gives the answer in `slot` to the kernel, and takes the next request into it.
    fn commit(&mut self, slot: usize) {
        let (header, _) = self.slots.parts(slot);
        let commit_id = header.commit_id();
        let entry = protocol::commit(self.device.as_fd(), self.queues[slot], commit_id);
        self.slots.give(slot);
        self.push(entry.user_data(slot as u64));
    }

    fn watch_relay(&mut self) {
        let watch = readable(self.relay.socket());
        self.push(watch.user_data(RELAY));
    }

    fn watch_syncs(&mut self) {
        let watch = readable(self.syncs.bell());
        self.push(watch.user_data(SYNCS));
    }

    fn push(&mut self, entry: Entry128) {
        loop {
            // SAFETY: what the entry points to, a slot's vectors, outlives its submission, and the slot
            // itself outlives the ring: `serve` drops them in that order, and so do the fields' places.
            if unsafe { self.ring.submission().push(&entry) }.is_ok() {
                return;
            }
            // The queue is full, and submitting empties it; an error shows at the next wait again.
            let _ = self.submit();
        }
    }
}

/// Waits until there is something to read.
fn readable(descriptor: BorrowedFd<'_>) -> Entry128 {
    let events = u32::from(PollFlags::IN.bits());
    let watch = opcode::PollAdd::new(Fd(descriptor.as_raw_fd()), events);
    Entry128::from(watch.build())
}

fn too_long() -> Errno {
    Errno(Code::INVAL.raw_os_error())
}

/// Ignores what is not a failure: a timeout, a signal, or completions that must be taken first.
fn bearable(result: io::Result<usize>) -> io::Result<()> {
    let passing = [Code::TIME, Code::INTR, Code::BUSY, Code::AGAIN];
    match result {
        Err(error)
            if passing
                .iter()
                .any(|code| error.raw_os_error() == Some(code.raw_os_error())) =>
        {
            Ok(())
        }
        other => other.map(|_| ()),
    }
}
