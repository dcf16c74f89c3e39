//! A transaction on a shared database: traced while it takes no time, then replayed in its session's time.

use model::Duration;
use model::store::Full;

use super::Session;
use crate::virtual_time::tape::TapedAct;
use crate::virtual_time::trace::{Act, Key, Trace};

impl Session {
    /// From now on the session takes no time: its acts are traced, until [`Session::replay`].
    ///
    /// For transactions on a database that other sessions write to as well: SQLite has one writer, and a transaction
    /// that takes no time blocks no other. Outside of a run nothing takes time, and nothing is traced.
    pub fn trace(&self) {
        if self.traces() {
            return;
        }
        if self.tapes() {
            self.forget_reads();
            self.taped(|_| TapedAct::Trace);
            self.tape_transaction(true);
        } else if self.in_time() {
            self.forget_reads();
            self.trace.replace(Some(Trace::default()));
        }
    }

    /// Replays the trace: spends its CPU time, waits for pages, for rows changed by others in uncommitted
    /// transactions, and for the log.
    ///
    /// If sessions would wait for each other in a cycle, this one releases its rows, waits for the lock it lacked, and
    /// starts over. Servers roll such a transaction back, and leave the retry to the application.
    ///
    /// # Errors
    /// When the files of a role are full.
    pub fn replay(&self) -> Result<(), Full> {
        if !self.traces() {
            return Ok(());
        }
        if self.taped(|_| TapedAct::Replay) {
            self.tape_transaction(false);
            return Ok(());
        }
        let last = self.take_work();
        let trace = self.trace.take().unwrap_or_default();
        let result = loop {
            match self.replay_once(&trace) {
                Ok(()) => break Ok(()),
                Err(Stopped::Full(full)) => break Err(full),
                Err(Stopped::Deadlock(key)) => {
                    let deadlocks = &self.world.deadlocks;
                    deadlocks.set(deadlocks.get() + 1);
                    self.release_rows();
                    // Without its own rows, or the same sessions could block each other for ever.
                    self.wait_for(key);
                }
            }
        };
        self.owe(last);
        self.settle();
        self.release_rows();
        trace
            .freed
            .into_iter()
            .for_each(|pages| self.world.free(pages));
        result
    }

    /// Whether it traces a transaction, for itself or for a tape.
    pub(super) fn traces(&self) -> bool {
        let tape = self.tape.borrow();
        self.trace.borrow().is_some() || tape.as_ref().is_some_and(|tape| tape.is_tracing)
    }

    /// Records an act, if it traces; returns whether it did.
    pub(super) fn traced(&self, act: Act) -> bool {
        if self.trace.borrow().is_none() {
            return false;
        }
        let work = self.take_work();
        let log = self.take_log();
        if let Some(trace) = self.trace.borrow_mut().as_mut() {
            trace.acts.push((work, act));
            trace
                .acts
                .extend(log.map(|bytes| (Duration::ZERO, Act::Log(bytes))));
        }
        true
    }

    fn replay_once(&self, trace: &Trace) -> Result<(), Stopped> {
        for (work, act) in &trace.acts {
            if self.stopping() {
                return Ok(());
            }
            self.owe(*work);
            match *act {
                Act::Read(file, page) => self.read(file, page),
                Act::Write(file, page) => self.write(file, page)?,
                Act::Change(row) => self.lock_in_transaction(Key::Row(row))?,
                Act::Log(bytes) => self.log(bytes),
                Act::Lock(key) => self.lock_in_transaction(Key::Application(key))?,
                Act::Unlock(key) => self.unlock(key),
                Act::Sleep(span) => self.sleep(span),
                Act::Commit {
                    log_bytes,
                    streamed,
                    rows,
                } => self.commit_rest(log_bytes, streamed, rows)?,
            }
        }
        Ok(())
    }

    /// Takes a lock during a transaction, unless that would close a cycle of waiting sessions.
    fn lock_in_transaction(&self, key: Key) -> Result<(), Stopped> {
        let holder = self.world.locks.borrow().holder(key);
        if holder.is_some_and(|other| other != self.id) {
            self.settle();
        }
        if self.world.locks.borrow().would_deadlock(key, self.id) {
            return Err(Stopped::Deadlock(key));
        }
        self.wait_for(key);
        Ok(())
    }

    fn release_rows(&self) {
        self.world.release_all(self.id, self.now.get(), Key::is_row);
    }
}

/// Why a trace could not be replayed to the end.
enum Stopped {
    /// A role has no room left.
    Full(Full),
    /// Sessions would deadlock; this one would wait for that lock.
    Deadlock(Key),
}

impl From<Full> for Stopped {
    fn from(full: Full) -> Stopped {
        Stopped::Full(full)
    }
}
