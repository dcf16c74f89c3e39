//! Which transactions that write have ended: those that must end first are waited for.
//!
//! They are ranked by when they ended in the log. A transaction that began after the first `n` had ended waits until all of these
//! have ended here too. That is coarser than what they locked, and takes one number a transaction.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

use parking_lot::Mutex;

/// How often a waiting session looks whether it must stop.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The transactions that have ended.
pub(crate) struct Committed {
    /// How many of the first have ended, without a gap.
    mark: AtomicU32,
    state: Mutex<State>,
}

struct State {
    ended: Vec<bool>,
    /// Sessions by the mark that they wait for.
    waiting: BTreeMap<u32, Vec<Thread>>,
}

impl Committed {
    /// None of this many.
    pub(crate) fn new(transactions: u32) -> Committed {
        Committed {
            mark: AtomicU32::new(0),
            state: Mutex::new(State {
                ended: vec![false; transactions as usize],
                waiting: BTreeMap::new(),
            }),
        }
    }

    /// The transaction of this rank has ended.
    pub(crate) fn ended(&self, rank: u32) {
        let mut state = self.state.lock();
        state.ended[rank as usize] = true;
        let mut mark = self.mark.load(Ordering::Acquire);
        if mark != rank {
            return;
        }
        while state.ended.get(mark as usize) == Some(&true) {
            mark += 1;
        }
        self.mark.store(mark, Ordering::Release);
        let later = state.waiting.split_off(&(mark + 1));
        let due = std::mem::replace(&mut state.waiting, later);
        drop(state);
        due.into_values()
            .flatten()
            .for_each(|thread| thread.unpark());
    }

    /// Waits until the first `count` have ended; returns false when `stopped` says so before.
    pub(crate) fn wait_for(&self, count: u32, stopped: &dyn Fn() -> bool) -> bool {
        let has_come = || self.mark.load(Ordering::Acquire) >= count;
        if has_come() {
            return true;
        }
        let mut state = self.state.lock();
        if has_come() {
            return true;
        }
        let waiting = state.waiting.entry(count).or_default();
        waiting.push(thread::current());
        drop(state);
        while !has_come() {
            if stopped() {
                return false;
            }
            thread::park_timeout(LOOK_EVERY);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_waits_for_all_that_had_ended_before_it() {
        let committed = &Committed::new(3);
        thread::scope(|scope| {
            let waiter = scope.spawn(|| committed.wait_for(2, &|| false));
            committed.ended(1);
            // The first has not ended.
            assert!(!committed.wait_for(1, &|| true));
            committed.ended(0);
            assert!(waiter.join().unwrap());
        });
        assert!(committed.wait_for(2, &|| true));
        assert!(!committed.wait_for(3, &|| true));
        committed.ended(2);
        assert!(committed.wait_for(3, &|| true));
    }
}
