//! Modelled volumes under real files: when a request is done, and how a thread waits until then.

use hdrhistogram::Histogram;
use model::{Duration, Instant, MachineSpec, Request, VolumeSpec};
use parking_lot::Mutex;

use crate::PacedStorage;
use host::clock::Clock;
use reading::histogram;
use reading::{Pacing, Reading};

/// Sleeps that are timed to measure the wake-up latency of threads.
const ROUNDS: usize = 48;

/// Longest lateness that is compensated: beyond that, the machine is too busy to be measured on.
const LATENESS_MAX: Duration = Duration::from_micros(200);

/// Longest that a thread sleeps before it checks for an interrupt.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The model of all volumes, in real time: a request's own thread waits until the model is done.
pub struct Pacer {
    storage: PacedStorage,
    clock: Clock,
    /// Wake-up latency of a sleeping thread.
    lead: Duration,
    tally: Mutex<Tally>,
}

struct Tally {
    requests: u64,
    late: u64,
    error: Histogram<u64>,
    model: Duration,
}

impl Pacer {
    /// Volumes with fresh state; takes about 20 ms to measure the wake-up latency of threads.
    ///
    /// # Panics
    /// When a volume has no disk.
    pub fn start(machine: &MachineSpec, volumes: &[VolumeSpec], seed: u64) -> Pacer {
        let clock = Clock::start();
        Pacer {
            storage: PacedStorage::new(clock, machine, volumes, seed),
            clock,
            lead: lateness(clock).min(LATENESS_MAX),
            tally: Mutex::new(Tally {
                requests: 0,
                late: 0,
                error: histogram::empty(),
                model: Duration::ZERO,
            }),
        }
    }

    /// The current instant, at which a request arrives.
    pub fn now(&self) -> Instant {
        self.storage.now()
    }

    /// How much earlier than its instant a thread is woken, to compensate for the wake-up latency.
    pub fn lead(&self) -> Duration {
        self.lead
    }

    /// When a request that arrived at `arrived` is done; call it when the real file is done with it.
    ///
    /// # Panics
    /// When no volume has that index.
    pub fn submit(&self, arrived: Instant, volume: usize, request: Request) -> Instant {
        let began = self.clock.now();
        let due = self.storage.submit(arrived, volume, request).due;
        let took = self.clock.now() - began;
        self.tally.lock().model += took;
        due
    }

    /// Waits until `due`, or until `stop` returns true; returns whether `due` was reached.
    pub fn wait(&self, due: Instant, stop: &dyn Fn() -> bool) -> bool {
        exact_timers();
        let wake = Instant::from_nanos(due.as_nanos().saturating_sub(self.lead.as_nanos()));
        let mut now = self.clock.now();
        if now >= wake {
            self.count(None, now > due);
            return true;
        }
        while now < wake {
            if stop() {
                return false;
            }
            Clock::sleep(wake.since(now).min(LOOK_EVERY));
            now = self.clock.now();
        }
        self.count(Some(now.since(due).max(due.since(now))), false);
        true
    }

    /// Drops the content of the modelled host caches.
    pub fn empty_host_cache(&self) {
        self.storage.empty_host_cache();
    }

    /// Counters so far.
    pub fn reading(&self) -> Reading {
        let tally = self.tally.lock();
        let pacing = Pacing {
            transport: "vfs".to_owned(),
            requests: tally.requests,
            late: tally.late,
            error: tally.error.clone(),
            lead_ns: self.lead.as_nanos(),
            cpu_ns: tally.model.as_nanos(),
        };
        drop(tally);
        Reading {
            pacing: Some(pacing),
            ..self.storage.reading()
        }
    }

    fn count(&self, error: Option<Duration>, late: bool) {
        let mut tally = self.tally.lock();
        tally.requests += 1;
        tally.late += u64::from(late);
        if let Some(error) = error {
            tally
                .error
                .record(error.as_nanos())
                .expect("a histogram that grows takes every value");
        }
    }
}

/// How much longer than requested a thread sleeps: the median.
fn lateness(clock: Clock) -> Duration {
    let measured = std::thread::scope(|scope| {
        // Not on the caller's thread, which keeps its own timer slack.
        let measuring = scope.spawn(|| {
            exact_timers();
            let one = |_| {
                let span = Duration::from_micros(300);
                let wake = clock.now() + span;
                Clock::sleep(span);
                clock.now().since(wake)
            };
            let mut times: Vec<Duration> = (0..ROUNDS).map(one).collect();
            times.sort_unstable();
            times[ROUNDS / 2]
        });
        measuring.join()
    });
    measured.unwrap_or(Duration::ZERO)
}

/// Makes this thread's sleeps end on time, not up to 50 us later.
#[cfg(target_os = "linux")]
fn exact_timers() {
    use std::cell::Cell;
    use std::num::NonZeroU64;

    thread_local! {
        static EXACT: Cell<bool> = const { Cell::new(false) };
    }
    if !EXACT.replace(true) {
        // A kernel that refuses only makes waits longer, which is measured.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    }
}

/// Other systems have no such setting.
#[cfg(not(target_os = "linux"))]
fn exact_timers() {}
