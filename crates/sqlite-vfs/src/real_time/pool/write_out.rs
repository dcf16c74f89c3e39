//! Dirty pages on their way to the files: queued as runs of neighbours, written by the writers and by sessions that wait.

use std::ops::Bound;
use std::sync::atomic::Ordering::Relaxed;

use parking_lot::MutexGuard;

use super::{Pool, PoolError, State};
use crate::real_time::activity::{Activity, Status};
use crate::real_time::disks::interrupted;
use crate::real_time::run::{self, Run};
use crate::real_time::spaces::{Key, Space};

impl Pool {
    /// Waits until the writers have made progress.
    pub(super) fn wait_for_writers<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        activity: Activity,
        session: &Status,
    ) -> Result<MutexGuard<'a, State>, PoolError> {
        state.check()?;
        if session.interrupted() {
            return Err(interrupted().into());
        }
        self.sweep(&mut state);
        let _doing = session.doing(activity);
        Ok(self.wait(state))
    }

    /// Gives the writers work if they have none.
    pub(super) fn sweep(&self, state: &mut State) {
        if state.queue.is_empty() {
            state.sweep();
            self.work.notify_all();
        }
    }

    /// Writes out all dirty pages of one space, and flushes its files.
    pub(in crate::real_time) fn sync(
        &self,
        space: Space,
        session: &Status,
    ) -> Result<(), PoolError> {
        let _doing = session.doing(Activity::writing(space.group));
        let mut state = self.write_out(
            |state| state.dirty_of(space),
            |state| state.under_way.contains_key(&space),
        )?;
        let files = state.unflushed.remove(&space);
        drop(state);
        for file in files.into_iter().flatten() {
            self.disks.flush(file)?;
        }
        Ok(())
    }

    /// Writes out all dirty pages, and flushes all files.
    pub(in crate::real_time) fn sync_all(&self) -> Result<(), PoolError> {
        let state = self.write_out(
            |state| state.dirty.iter().copied().collect(),
            |state| state.writing > 0,
        )?;
        drop(state);
        for file in 0..self.disks.len() {
            self.disks.flush(file)?;
        }
        Ok(())
    }

    /// Writes `keys` out, with the help of the writers, and waits while `busy`.
    fn write_out(
        &self,
        keys: impl Fn(&State) -> Vec<Key>,
        busy: impl Fn(&State) -> bool,
    ) -> Result<MutexGuard<'_, State>, PoolError> {
        let mut state = self.state.lock();
        loop {
            let keys = keys(&state);
            let runs = state.take(&keys);
            // The session itself writes one.
            if runs.len() > 1 {
                self.work.notify_all();
            }
            // What a session waits for goes first.
            for run in runs.into_iter().rev() {
                state.queue.push_front(run);
            }
            state.check()?;
            if !busy(&state) {
                return Ok(state);
            }
            state = match state.queue.pop_front() {
                Some(run) => self.write_run(state, run),
                None => self.wait(state),
            };
        }
    }

    /// The loop of a writer, until the pool is closed: one run after the other.
    pub(in crate::real_time) fn write_behind(&self) {
        let mut state = self.state.lock();
        while !self.closed.load(Relaxed) {
            match state.queue.pop_front() {
                Some(run) => state = self.write_run(state, run),
                None => self.work.wait(&mut state),
            }
        }
    }

    pub(super) fn write_run<'a>(
        &'a self,
        state: MutexGuard<'a, State>,
        run: Run,
    ) -> MutexGuard<'a, State> {
        drop(state);
        let closed = || self.closed.load(Relaxed);
        let result = if closed() {
            Ok(())
        } else {
            self.disks
                .write(run.file, run.offset, run.on_volume, &run.bytes, &closed)
        };
        let mut state = self.state.lock();
        if let Err(error) = result {
            state.failed.get_or_insert(error.to_string());
        }
        state.arrived(&run.keys);
        self.changed.notify_all();
        state
    }
}

impl State {
    /// Queues the next dirty pages, in the order of their place.
    fn sweep(&mut self) {
        let count = self.limits.sweep;
        let after = self.swept;
        let mut keys: Vec<Key> = match after {
            Some(after) => self
                .dirty
                .range((Bound::Excluded(after), Bound::Unbounded))
                .take(count)
                .copied()
                .collect(),
            None => Vec::new(),
        };
        let more = count - keys.len();
        keys.extend(self.dirty.iter().take(more).copied());
        self.swept = keys.last().copied();
        keys.sort_unstable();
        keys.dedup();
        let runs = self.take(&keys);
        self.queue.extend(runs);
    }

    /// Takes dirty pages for writing: those of `keys` that are not being written already.
    fn take(&mut self, keys: &[Key]) -> Vec<Run> {
        let State {
            spaces,
            frames,
            dirty,
            under_way,
            writing,
            unflushed,
            limits,
            ..
        } = self;
        let mut parts = Vec::new();
        for key in keys {
            let (Some(frame), Some(at)) = (frames.peek_mut(key), spaces.find(key.0, key.1)) else {
                continue;
            };
            if frame.writing {
                continue;
            }
            let Some(range) = frame.dirty.take() else {
                continue;
            };
            frame.writing = true;
            dirty.remove(key);
            *under_way.entry(key.0).or_default() += 1;
            *writing += 1;
            unflushed.entry(key.0).or_default().insert(at.file);
            parts.push(run::Part::new(*key, at, range));
        }
        let bytes = |key: &Key| &*frames.peek(key).expect("it was there above").bytes;
        run::gather(parts, limits, bytes)
    }

    fn arrived(&mut self, keys: &[Key]) {
        self.writing -= keys.len();
        for key in keys {
            if let Some(frame) = self.frames.peek_mut(key) {
                frame.writing = false;
            }
            let left = self
                .under_way
                .get_mut(&key.0)
                .expect("a page on its way is counted");
            *left -= 1;
            if *left == 0 {
                self.under_way.remove(&key.0);
            }
        }
    }

    fn dirty_of(&self, space: Space) -> Vec<Key> {
        self.dirty
            .range((space, 0)..=(space, u64::MAX))
            .copied()
            .collect()
    }
}
