//! A barrier for sessions: all are connected before any begins.

use host::clock::Clock;
use model::Instant;
use parking_lot::{Condvar, Mutex};

use super::stop::span_until;

/// Sessions on their way from connecting to their end.
pub(super) struct Gate {
    clock: Clock,
    sessions: u32,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Clone, Copy, Default)]
struct State {
    ready: u32,
    ended: u32,
    start: Option<Instant>,
    closed: bool,
}

impl Gate {
    /// A gate for this many sessions.
    pub(super) fn new(clock: Clock, sessions: u32) -> Gate {
        Gate {
            clock,
            sessions,
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// Registers a session; it ends when the guard is dropped.
    pub(super) fn enter(&self) -> Entered<'_> {
        Entered(self)
    }

    /// Marks a session as ready and waits until all may begin; returns the instant, or `None` if they may not.
    pub(super) fn ready(&self) -> Option<Instant> {
        self.change(|state| state.ready += 1);
        self.begun()
    }

    /// Waits until all may begin; returns the instant, or `None` if they may not.
    pub(super) fn begun(&self) -> Option<Instant> {
        let mut state = self.state.lock();
        while state.start.is_none() && !state.closed {
            self.changed.wait(&mut state);
        }
        state.start
    }

    /// The instant at which all began; `None` before it.
    pub(super) fn opened(&self) -> Option<Instant> {
        self.state.lock().start
    }

    /// Lets all begin, at `start`.
    pub(super) fn open(&self, start: Instant) {
        self.change(|state| state.start = Some(start));
    }

    /// Prevents sessions from beginning.
    pub(super) fn close(&self) {
        self.change(|state| state.closed = true);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.state.lock().closed
    }

    /// Waits until all are ready, the gate is closed, or `wake`; returns whether it was one of the first two.
    pub(super) fn all_ready(&self, wake: Instant) -> bool {
        self.wait(wake, |state| state.ready == self.sessions || state.closed)
    }

    /// Waits until all have ended, or `wake`; returns whether they have.
    pub(super) fn all_ended(&self, wake: Instant) -> bool {
        self.wait(wake, |state| state.ended == self.sessions)
    }

    fn wait(&self, wake: Instant, done: impl Fn(&State) -> bool) -> bool {
        let mut state = self.state.lock();
        loop {
            if done(&state) {
                return true;
            }
            let Some(span) = span_until(self.clock, wake) else {
                return false;
            };
            self.changed.wait_for(&mut state, span);
        }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock());
        self.changed.notify_all();
    }
}

/// A session between its arrival and its end.
pub(super) struct Entered<'a>(&'a Gate);

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.change(|state| state.ended += 1);
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use model::Duration;

    use super::*;

    #[test]
    fn nobody_begins_before_all_are_ready() {
        let clock = Clock::start();
        let gate = &Gate::new(clock, 2);
        thread::scope(|scope| {
            let session = move || {
                let _entered = gate.enter();
                gate.ready()
            };
            let sessions = [session, session].map(|session| scope.spawn(session));
            let far = clock.now() + Duration::from_secs(600);
            assert!(gate.all_ready(far));
            assert!(!gate.all_ended(clock.now()));
            let start = clock.now();
            gate.open(start);
            for session in sessions {
                assert_eq!(session.join().expect("no panic"), Some(start));
            }
            assert!(gate.all_ended(far));
        });
    }

    #[test]
    fn a_closed_gate_lets_nobody_begin() {
        let gate = Gate::new(Clock::start(), 2);
        gate.close();
        assert_eq!(gate.ready(), None);
        assert!(gate.all_ready(Instant::ZERO));
        assert!(gate.is_closed());
    }
}
