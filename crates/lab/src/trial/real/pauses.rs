//! Detects that the whole program stood still: stopped by a signal, or suspended with the machine.
//!
//! Measurements across such a pause are worthless, and nothing else reveals it: counters look as if the disks had
//! been idle. The real-time clock continues while a process is stopped, and stands still while a machine is suspended.

use host::clock::Clock;
use model::{Duration, Instant};

#[cfg(feature = "fio")]
use super::stop::Stop;
use experiment::record::series::INTERVAL;
use experiment::record::{Note, Phase};

/// How late a thread must wake up for the program to count as stopped.
///
/// On a heavily overloaded machine, threads wake up tenths of a second late. Two of the sampler's intervals are a gap
/// in every series, whatever the reason.
const LATE_MIN: Duration = Duration::from_secs(2);

/// Minimum suspension of the machine. Only suspension makes the two clocks differ, but they are read one after the
/// other, and a thread may lose its processor in between.
const SLEPT_MIN: Duration = Duration::SECOND;

/// A time in which nothing ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pause {
    /// When it ended, or slightly later.
    end: Instant,
    length: Duration,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The process got no processor: a stop signal, or a virtual machine that was paused.
    Stopped,
    /// The machine was suspended.
    Slept,
}

/// The pause, if any, seen by a thread that was due to wake at `due` and woke at `woke`; the machine was
/// suspended for `slept`.
fn pause(due: Instant, woke: Instant, slept: Duration) -> Option<Pause> {
    let late = woke.since(due);
    let (kind, length) = match (slept >= SLEPT_MIN, late >= LATE_MIN) {
        (true, true | false) => (Kind::Slept, slept.max(late)),
        (false, true) => (Kind::Stopped, late),
        (false, false) => return None,
    };
    Some(Pause {
        end: woke,
        length,
        kind,
    })
}

/// The pauses detected by a periodic thread.
#[derive(Debug)]
pub(super) struct Pauses {
    clock: Clock,
    /// The machine's total suspension at the last check.
    slept: Duration,
    noticed: Vec<Pause>,
}

impl Pauses {
    /// Starts checking now.
    pub(super) fn new(clock: Clock) -> Pauses {
        Pauses {
            clock,
            slept: Clock::slept(),
            noticed: Vec::new(),
        }
    }

    /// Checks after a sleep that was due to end at `due`.
    pub(super) fn look(&mut self, due: Instant) {
        let slept = Clock::slept();
        let since = slept.saturating_sub(std::mem::replace(&mut self.slept, slept));
        self.noticed.extend(pause(due, self.clock.now(), since));
    }

    /// Checks at the interval of the series until `over`.
    #[cfg(feature = "fio")]
    pub(super) fn watch(clock: Clock, over: &Stop) -> Pauses {
        let mut pauses = Pauses::new(clock);
        loop {
            let due = clock.now() + INTERVAL;
            let whole = over.sleep_until(due);
            pauses.look(due);
            if !whole {
                return pauses;
            }
        }
    }

    /// Notes for the record about those that overlap with the measured phases.
    pub(super) fn notes(&self, phases: &[Phase]) -> Vec<Note> {
        let overlaps = |pause: &&Pause| {
            let end = pause.end.as_nanos();
            // It may have begun at any time since the previous check.
            let longest = pause.length + INTERVAL;
            let start = end.saturating_sub(longest.as_nanos());
            let measured = phases.iter().filter(|phase| phase.measured);
            measured
                .into_iter()
                .any(|phase| start < phase.end_ns && end > phase.start_ns)
        };
        let noticed = self.noticed.iter().filter(overlaps);
        noticed.map(Pause::note).collect()
    }

    /// Notes about all of them.
    #[cfg(feature = "fio")]
    pub(super) fn all_notes(&self) -> Vec<Note> {
        self.noticed.iter().map(Pause::note).collect()
    }
}

impl Pause {
    fn note(&self) -> Note {
        let what = match self.kind {
            Kind::Stopped => "the process was stopped",
            Kind::Slept => "the machine was suspended",
        };
        Note::Paused(format!("{what} for {:.1} s", self.length.as_secs_f64()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_ms(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn phase(start: u64, end: u64, measured: bool) -> Phase {
        Phase {
            name: "run".to_owned(),
            start_ns: at_ms(start).as_nanos(),
            end_ns: at_ms(end).as_nanos(),
            measured,
        }
    }

    #[test]
    fn a_thread_that_wakes_up_in_time_or_a_little_late_noticed_nothing() {
        assert_eq!(pause(at_ms(1000), at_ms(1000), Duration::ZERO), None);
        assert_eq!(pause(at_ms(1000), at_ms(2999), Duration::ZERO), None);
        // Woken early because the trial is over.
        assert_eq!(pause(at_ms(1000), at_ms(500), Duration::ZERO), None);
    }

    #[test]
    fn eight_seconds_of_stop_are_eight_seconds() {
        let pause = pause(at_ms(1000), at_ms(9000), Duration::ZERO).expect("eight seconds late");
        assert_eq!(pause.length, Duration::from_secs(8));
        assert_eq!(
            pause.note().to_string(),
            "paused: the process was stopped for 8.0 s"
        );
    }

    #[test]
    fn a_machine_that_slept_is_told_although_its_clock_stood_still() {
        let slept = Duration::from_secs(3600);
        let pause = pause(at_ms(1000), at_ms(1001), slept).expect("it slept an hour");
        assert_eq!(
            pause.note().to_string(),
            "paused: the machine was suspended for 3600.0 s"
        );
    }

    #[test]
    fn only_pauses_within_measured_phases_are_noted() {
        let mut pauses = Pauses::new(Clock::start());
        pauses
            .noticed
            .extend(pause(at_ms(1000), at_ms(9000), Duration::ZERO));
        let notes = |phases: &[Phase]| pauses.notes(phases).len();
        assert_eq!(notes(&[phase(9000, 9500, true)]), 0);
        assert_eq!(notes(&[phase(0, 900, true)]), 1);
        assert_eq!(notes(&[phase(0, 20_000, false)]), 0);
        assert_eq!(notes(&[phase(8000, 20_000, true)]), 1);
    }
}
