//! Application locks: taken by key in order of arrival, through the SQL functions `app_lock` and
//! `app_unlock`.

use std::collections::{BTreeMap, VecDeque};

use parking_lot::{Condvar, Mutex};

use super::activity::{Activity, Status};

/// The application locks of a database.
#[derive(Default)]
pub(super) struct AppLocks {
    locks: Mutex<BTreeMap<i64, Lock>>,
    changed: Condvar,
}

struct Lock {
    holder: u32,
    waiting: VecDeque<u32>,
}

/// Why a lock could not be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum LockError {
    /// Its holder waits for this session, possibly through others; or is this session.
    #[error("app_lock({0}) would wait for ever: its holder waits for this session")]
    Deadlock(i64),
    /// The statement was interrupted.
    #[error("interrupted while waiting for app_lock({0})")]
    Interrupted(i64),
}

impl AppLocks {
    /// Takes a lock, waiting for it.
    pub(super) fn take(&self, key: i64, session: &Status) -> Result<(), LockError> {
        let mut locks = self.locks.lock();
        let id = session.id;
        let Some(lock) = locks.get_mut(&key) else {
            let waiting = VecDeque::new();
            locks.insert(
                key,
                Lock {
                    holder: id,
                    waiting,
                },
            );
            return Ok(());
        };
        lock.waiting.push_back(id);
        if waits_for_itself(&locks, id) {
            leave(&mut locks, id);
            return Err(LockError::Deadlock(key));
        }
        let _doing = session.doing(Activity::WaitingForLock);
        while locks.get(&key).is_some_and(|lock| lock.holder != id) {
            if session.interrupted() {
                leave(&mut locks, id);
                return Err(LockError::Interrupted(key));
            }
            self.changed.wait(&mut locks);
        }
        Ok(())
    }

    /// Passes a lock held by `session` to the first in its queue.
    pub(super) fn release(&self, key: i64, session: u32) {
        let mut locks = self.locks.lock();
        hand_on(&mut locks, key, session);
        self.changed.notify_all();
    }

    /// Releases all locks held by `session`.
    pub(super) fn release_all(&self, session: u32) {
        let mut locks = self.locks.lock();
        let keys: Vec<i64> = locks.keys().copied().collect();
        for key in keys {
            hand_on(&mut locks, key, session);
        }
        self.changed.notify_all();
    }

    /// Wakes waiting sessions so that they notice an interrupt.
    pub(super) fn wake(&self) {
        let _locks = self.locks.lock();
        self.changed.notify_all();
    }
}

/// Whether the chain of waits from a session leads back to it.
fn waits_for_itself(locks: &BTreeMap<i64, Lock>, session: u32) -> bool {
    let waits_for = |id: u32| {
        let lock = locks.values().find(|lock| lock.waiting.contains(&id));
        lock.map(|lock| lock.holder)
    };
    // A session waits for one lock at a time, so the chain is a line, possibly into another cycle.
    std::iter::successors(waits_for(session), |id| waits_for(*id))
        .take(locks.len() + 1)
        .any(|id| id == session)
}

fn leave(locks: &mut BTreeMap<i64, Lock>, session: u32) {
    for lock in locks.values_mut() {
        lock.waiting.retain(|id| *id != session);
    }
}

fn hand_on(locks: &mut BTreeMap<i64, Lock>, key: i64, session: u32) {
    let Some(lock) = locks.get_mut(&key).filter(|lock| lock.holder == session) else {
        return;
    };
    match lock.waiting.pop_front() {
        Some(next) => lock.holder = next,
        None => {
            locks.remove(&key);
        }
    }
}
