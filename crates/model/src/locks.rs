//! Locks held by one session at a time and passed on in order of arrival.
//!
//! ```text
//!  take (key, session) ──► free: the session holds it
//!                     └──► held: the session waits in the key's queue
//!  release (session) ────► the first in each queue holds the key now, and can go on
//! ```
//!
//! A session waits for one key at a time. [`Locks::would_deadlock`] reports beforehand whether waiting would
//! close a cycle of sessions that wait for each other.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

/// Which session holds each key, and which sessions wait for it.
#[derive(Debug)]
pub struct Locks<K> {
    held: BTreeMap<K, Lock>,
    /// Keys held by each session, in the order in which they were taken.
    keys: BTreeMap<u32, Vec<K>>,
    /// The key that a waiting session waits for.
    waiting: BTreeMap<u32, K>,
}

#[derive(Debug)]
struct Lock {
    holder: u32,
    queue: VecDeque<u32>,
}

impl<K> Default for Locks<K> {
    fn default() -> Locks<K> {
        Locks {
            held: BTreeMap::new(),
            keys: BTreeMap::new(),
            waiting: BTreeMap::new(),
        }
    }
}

impl<K: Copy + Ord> Locks<K> {
    /// Takes a key, or a place in its queue. Returns whether the session holds it now; true if it already held it.
    pub fn take(&mut self, key: K, session: u32) -> bool {
        if let Some(lock) = self.held.get_mut(&key) {
            if lock.holder == session {
                return true;
            }
            lock.queue.push_back(session);
            self.waiting.insert(session, key);
            return false;
        }
        let lock = Lock {
            holder: session,
            queue: VecDeque::new(),
        };
        self.held.insert(key, lock);
        self.keys.entry(session).or_default().push(key);
        true
    }

    /// The session that holds a key.
    pub fn holder(&self, key: K) -> Option<u32> {
        self.held.get(&key).map(|lock| lock.holder)
    }

    /// Whether the session, if it waited for `key`, would wait for itself through others.
    pub fn would_deadlock(&self, key: K, session: u32) -> bool {
        let Some(mut holder) = self.holder(key).filter(|holder| *holder != session) else {
            return false;
        };
        // Each session waits for at most one key, so there is one path to follow, with no more steps than waits.
        for _ in 0..self.waiting.len() {
            match self.waiting.get(&holder).and_then(|key| self.holder(*key)) {
                Some(next) if next == session => return true,
                Some(next) => holder = next,
                None => return false,
            }
        }
        false
    }

    /// Releases one key if the session holds it; returns the session that holds it next, if one waited.
    pub fn release(&mut self, key: K, session: u32) -> Option<u32> {
        let keys = self.keys.get_mut(&session)?;
        let place = keys.iter().position(|held| *held == key)?;
        keys.remove(place);
        self.hand_on(key)
    }

    /// Releases every key of a session for which `is_released` is true; returns the sessions that hold one next, in
    /// the order in which the keys were taken.
    pub fn release_all(&mut self, session: u32, is_released: impl Fn(&K) -> bool) -> Vec<u32> {
        let Some(keys) = self.keys.remove(&session) else {
            return Vec::new();
        };
        let (released, kept): (Vec<K>, Vec<K>) = keys.into_iter().partition(is_released);
        if !kept.is_empty() {
            self.keys.insert(session, kept);
        }
        released
            .into_iter()
            .filter_map(|key| self.hand_on(key))
            .collect()
    }

    fn hand_on(&mut self, key: K) -> Option<u32> {
        let lock = self.held.get_mut(&key)?;
        match lock.queue.pop_front() {
            Some(next) => {
                lock.holder = next;
                self.waiting.remove(&next);
                self.keys.entry(next).or_default().push(key);
                Some(next)
            }
            None => {
                self.held.remove(&key);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_goes_to_those_who_wait_in_the_order_they_came() {
        let mut locks = Locks::default();
        assert!(locks.take('a', 0));
        assert!(locks.take('a', 0), "it is its own");
        assert!(!locks.take('a', 2));
        assert!(!locks.take('a', 1));
        assert_eq!(locks.release('a', 1), None, "it holds nothing");
        assert_eq!(locks.release('a', 0), Some(2));
        assert_eq!(locks.release('a', 2), Some(1));
        assert_eq!(locks.release('a', 1), None);
        assert!(locks.take('a', 3));
    }

    #[test]
    fn all_of_a_session_is_released_at_once_or_a_kind_of_it() {
        let mut locks = Locks::default();
        ['b', 'a', 'c']
            .into_iter()
            .for_each(|key| assert!(locks.take(key, 0)));
        assert!(!locks.take('a', 1));
        assert!(!locks.take('b', 2));
        assert_eq!(locks.release_all(0, |key| *key != 'c'), [2, 1]);
        assert_eq!(locks.holder('c'), Some(0));
        assert_eq!(locks.release_all(0, |_| true), []);
        assert_eq!(locks.holder('c'), None);
        // It releases in turn what was handed to it.
        assert!(!locks.take('b', 3));
        assert_eq!(locks.release_all(2, |_| true), [3]);
    }

    #[test]
    fn a_cycle_is_seen_before_it_closes() {
        let mut locks = Locks::default();
        for (key, session) in [('a', 0), ('b', 1), ('c', 2)] {
            assert!(locks.take(key, session));
        }
        assert!(!locks.would_deadlock('a', 0), "its own");
        assert!(!locks.would_deadlock('d', 0), "nobody holds it");
        assert!(!locks.take('b', 0));
        assert!(locks.would_deadlock('a', 1), "two of them");
        assert!(!locks.take('c', 1));
        assert!(locks.would_deadlock('a', 2), "three of them");
        assert!(!locks.would_deadlock('a', 3), "a chain is not a cycle");
        // The last one gives up its keys.
        assert_eq!(locks.release_all(2, |_| true), [1]);
        assert!(
            !locks.would_deadlock('a', 2),
            "it waits at the end of the chain"
        );
    }
}
