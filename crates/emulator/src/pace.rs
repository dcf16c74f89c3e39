//! How accurately modelled time is kept: thread wake-up latency, and timing error of replies.

use std::num::NonZeroU64;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::{io, thread};

use hdrhistogram::Histogram;
use model::{Duration, Instant};
use parking_lot::{Condvar, Mutex};
use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

use host::clock::Clock;
use reading::Pacing;
use reading::histogram;

/// Sleeps that are timed when an emulation starts.
const ROUNDS: usize = 48;

/// Longest lateness that is compensated: beyond that, the machine is too busy to be measured on.
const LATENESS_MAX: Duration = Duration::from_micros(200);

/// A real file that exceeds the model by no more than this does not count as late: replies that wait for
/// their instant are off by as much, and a disk without latency, or with unused allowance, leaves no time
/// at all.
const LATE_MIN: Duration = Duration::from_micros(50);

/// How replies are paced, and statistics on it.
pub(crate) struct Pace {
    clock: Clock,
    lead: Duration,
    timer_lead: Duration,
    /// Processor time of the process when the emulation began.
    cpu_start: Duration,
    tallies: Mutex<Vec<Arc<Tally>>>,
}

/// The processor on which a program's request is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answers {
    /// Any processor that the kernel wakes up.
    Anywhere,
    /// The one that the request came from, which is awake.
    WhereAsked,
}

/// Counters of one thread that sends replies; threads do not contend with each other.
pub(crate) struct Tally(Mutex<Counts>);

struct Counts {
    requests: u64,
    late: u64,
    error: Histogram<u64>,
}

impl Pace {
    /// Measures the wake-up latency of this machine's threads for replies sent from `answers`; takes
    /// about 50 ms.
    ///
    /// # Errors
    /// When no thread or socket is available.
    pub(crate) fn calibrate(clock: Clock, answers: Answers) -> io::Result<Pace> {
        // Not on the caller's thread, which keeps its own timer slack.
        let lateness = thread::scope(|scope| {
            let measured = scope.spawn(|| {
                exact_timers();
                let timer = timer_lateness(clock);
                if answers == Answers::WhereAsked {
                    stay_here();
                }
                Ok((timer, wake_up_time(clock)?))
            });
            measured
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("measuring wake-up times panicked")))
        });
        let (timer, wake_up): (Duration, Duration) = lateness?;
        Ok(Pace {
            clock,
            lead: wake_up.min(LATENESS_MAX),
            timer_lead: timer.min(LATENESS_MAX),
            cpu_start: cpu(),
            tallies: Mutex::default(),
        })
    }

    /// The clock of the emulation.
    pub(crate) fn clock(&self) -> Clock {
        self.clock
    }

    /// When to send a reply that is due at `due`.
    pub(crate) fn send_at(&self, due: Instant) -> Instant {
        earlier(due, self.lead)
    }

    /// When a thread that must send at `send_at` must set its timer.
    pub(crate) fn alarm(&self, send_at: Instant) -> Instant {
        earlier(send_at, self.timer_lead)
    }

    /// The earliest that a reply due at `due` may leave.
    pub(crate) fn earliest(&self, due: Instant) -> Instant {
        self.alarm(self.send_at(due))
    }

    /// Whether a reply that was due at `due` and can only be sent `now` is late.
    pub(crate) fn is_late(&self, due: Instant, now: Instant) -> bool {
        now.since(due) > LATE_MIN
    }

    /// Counters for one more thread.
    pub(crate) fn tally(&self) -> Arc<Tally> {
        let tally = Arc::new(Tally(Mutex::new(Counts {
            requests: 0,
            late: 0,
            error: histogram::empty(),
        })));
        self.tallies.lock().push(Arc::clone(&tally));
        tally
    }

    /// All threads together, for replies sent over `transport`.
    pub(crate) fn reading(&self, transport: &str) -> Pacing {
        let mut pacing = Pacing {
            transport: transport.to_owned(),
            requests: 0,
            late: 0,
            error: histogram::empty(),
            lead_ns: self.lead.as_nanos(),
            cpu_ns: cpu().saturating_sub(self.cpu_start).as_nanos(),
        };
        for tally in self.tallies.lock().iter() {
            let counts = tally.0.lock();
            pacing.requests += counts.requests;
            pacing.late += counts.late;
            pacing
                .error
                .add(&counts.error)
                .expect("a histogram that grows takes any other");
        }
        pacing
    }
}

#[cfg(test)]
impl Pace {
    /// For a machine that is never late.
    pub(crate) fn exact(clock: Clock) -> Pace {
        Pace {
            clock,
            lead: Duration::ZERO,
            timer_lead: Duration::ZERO,
            cpu_start: cpu(),
            tallies: Mutex::default(),
        }
    }
}

impl Tally {
    /// Counts a request answered at once, because it costs nothing or because its reply was due;
    /// `late`: the real file took longer than the model allowed.
    pub(crate) fn answered_at_once(&self, late: bool) {
        let mut counts = self.0.lock();
        counts.requests += 1;
        counts.late += u64::from(late);
    }

    /// Counts a reply that waited for `send_at` and was sent at `sent`.
    pub(crate) fn waited(&self, send_at: Instant, sent: Instant) {
        let error = sent.since(send_at).max(send_at.since(sent));
        let mut counts = self.0.lock();
        counts.requests += 1;
        counts
            .error
            .record(error.as_nanos())
            .expect("a histogram that grows takes every value");
    }
}

/// Makes timers of this thread fire when they are set for, not up to 50 us later.
pub(crate) fn exact_timers() {
    // A kernel that refuses only makes replies later, which is measured.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}

/// Pins this thread, and those it starts, to the current processor.
fn stay_here() {
    let mut here = CpuSet::new();
    here.set(sched_getcpu());
    // Elsewhere it only takes longer.
    let _ = sched_setaffinity(None, &here);
}

/// How much later than its timer a thread wakes up: the median.
fn timer_lateness(clock: Clock) -> Duration {
    let (mutex, never) = (Mutex::new(()), Condvar::new());
    let lateness = (0..ROUNDS).map(|_| {
        let span = Duration::from_micros(300);
        let alarm = clock.now() + span;
        // The same wait as in the thread that sends replies.
        let span = std::time::Duration::from_nanos(span.as_nanos());
        never.wait_for(&mut mutex.lock(), span);
        clock.now().since(alarm)
    });
    median(lateness.collect())
}

/// The time until a thread sleeping in a read receives its answer from another sleeping thread: the
/// median.
fn wake_up_time(clock: Clock) -> io::Result<Duration> {
    let (mut asking, mut answering) = UnixStream::pair()?;
    thread::scope(|scope| {
        scope.spawn(move || io::copy(&mut answering.try_clone()?, &mut answering));
        let mut times = Vec::new();
        for _ in 0..ROUNDS {
            // Idle processors go to sleep, as they do between a program's requests.
            Clock::sleep(Duration::from_micros(300));
            let start = clock.now();
            io::Write::write_all(&mut asking, &[0])?;
            io::Read::read_exact(&mut asking, &mut [0])?;
            times.push(clock.now().since(start));
        }
        drop(asking);
        Ok(median(times))
    })
}

fn median(mut values: Vec<Duration>) -> Duration {
    values.sort_unstable();
    values[values.len() / 2]
}

/// Processor time of this process so far.
fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let nanos = time.tv_sec * 1_000_000_000 + time.tv_nsec;
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(0))
}

fn earlier(instant: Instant, by: Duration) -> Instant {
    Instant::from_nanos(instant.as_nanos().saturating_sub(by.as_nanos()))
}
