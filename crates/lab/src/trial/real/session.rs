//! The context of a session in real time.

use std::sync::atomic::{AtomicU64, Ordering};

use host::clock::Clock;
use model::{Duration, Instant};

use super::super::sessions::{SessionContext, Window};
use super::stop::Stop;
use engine::Client;
use workload::{Driver, Statement, Value};

/// What all sessions of a trial share.
pub(super) struct Common {
    pub(super) clock: Clock,
    pub(super) stop: Stop,
    /// Operations that failed so far, whether measured or not.
    pub(super) failures: AtomicU64,
}

/// A session's connection and the real clock.
pub(super) struct RealSession<'a> {
    common: &'a Common,
    client: Box<dyn Client + 'a>,
    window: Window,
    thought: Duration,
}

impl<'a> RealSession<'a> {
    pub(super) fn new(
        common: &'a Common,
        client: Box<dyn Client + 'a>,
        window: Window,
    ) -> RealSession<'a> {
        RealSession {
            common,
            client,
            window,
            thought: Duration::ZERO,
        }
    }

    /// How long it slept in the window: thinking, or waiting for an arrival.
    pub(super) fn thought(&self) -> Duration {
        self.thought
    }

    /// How much of the time from `start` until `end` lies in the window.
    pub(super) fn in_window(&self, start: Instant, end: Instant) -> Duration {
        let until = self.window.until.unwrap_or(end);
        end.min(until).since(start.max(self.window.from))
    }
}

impl Driver for RealSession<'_> {
    type Error = String;

    fn statement(
        &mut self,
        index: usize,
        statement: &Statement,
        arguments: &[Value],
    ) -> Result<(), String> {
        if self.common.stop.is_set() {
            return Err("the trial was stopped".to_owned());
        }
        self.client.statement(index, statement, arguments)
    }

    /// Sleeps here, not in the engine: this sleep ends with the trial.
    fn sleep(&mut self, span: Duration) -> Result<(), String> {
        if span == Duration::ZERO {
            return Ok(());
        }
        let start = self.now();
        let slept = self.common.stop.sleep_until(start + span);
        self.thought += self.in_window(start, self.now());
        if slept {
            Ok(())
        } else {
            Err("the trial was stopped".to_owned())
        }
    }
}

impl SessionContext for RealSession<'_> {
    fn now(&self) -> Instant {
        self.common.clock.now()
    }

    fn enter(&mut self, script: usize) {
        self.client.enter(script);
    }

    fn settle(&mut self) -> Result<(), String> {
        self.client.settle()
    }

    fn roll_back(&mut self) {
        self.client.roll_back();
    }

    fn statements(&self) -> u64 {
        self.client.statements()
    }

    fn measure(&mut self) {}

    fn ended(&mut self, _now: Instant, success: bool) {
        if !success {
            self.common.failures.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn stopping(&self) -> bool {
        self.common.stop.is_set()
    }
}
