//! Flushes of one file, shared by concurrent callers.

use std::io;

use parking_lot::{Condvar, Mutex};

/// The flushes of one file.
#[derive(Default)]
pub(super) struct Flushes {
    state: Mutex<State>,
    done: Condvar,
}

#[derive(Default)]
struct State {
    begun: u64,
    done: u64,
    running: bool,
}

impl Flushes {
    /// Returns once a flush is done that began after this call: its own or another caller's.
    pub(super) fn once(&self, flush: impl Fn() -> io::Result<()>) -> io::Result<()> {
        let mut state = self.state.lock();
        let wanted = state.begun + 1;
        while state.done < wanted {
            if state.running {
                self.done.wait(&mut state);
                continue;
            }
            state.begun += 1;
            state.running = true;
            let own = state.begun;
            drop(state);
            let result = flush();
            state = self.state.lock();
            state.running = false;
            if result.is_ok() {
                state.done = own;
            }
            self.done.notify_all();
            result?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    #[test]
    fn who_comes_during_a_flush_shares_the_next_one() {
        let (flushes, count) = (Flushes::default(), AtomicU64::new(0));
        let (begun, has_begun) = mpsc::channel();
        let (go_on, may_go_on) = mpsc::channel::<()>();
        let may_go_on = Mutex::new(may_go_on);
        let flush = || {
            if count.fetch_add(1, Relaxed) == 0 {
                begun.send(()).unwrap();
                may_go_on.lock().recv().unwrap();
            }
            Ok(())
        };
        thread::scope(|scope| {
            scope.spawn(|| flushes.once(flush).unwrap());
            has_begun.recv().unwrap();
            for _ in 0..4 {
                scope.spawn(|| flushes.once(flush).unwrap());
            }
            go_on.send(()).unwrap();
        });
        // The first began before the other four arrived, so they share at least one more.
        let flushed = count.load(Relaxed);
        assert!((2..=5).contains(&flushed), "{flushed} flushes");
    }

    #[test]
    fn a_failed_flush_is_nobody_elses() {
        let flushes = Flushes::default();
        let failing = || Err(io::Error::other("no"));
        assert!(flushes.once(failing).is_err());
        assert!(flushes.once(failing).is_err());
        assert!(flushes.once(|| Ok(())).is_ok());
    }
}
