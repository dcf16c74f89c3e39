//! The kernel's counters of a disk, as requests.

use host::plain::DiskCounters;
use model::Duration;
use profile::{Io, Requests};

/// Where the kernel's times of a disk wrap around.
const TIMES_MAX: f64 = 4_294_967_296.0;

/// Requests from `before` to `after`; a flush counts as a write too. `None` when a counter shrank.
pub(super) fn difference(before: &DiskCounters, after: &DiskCounters) -> Option<Io> {
    let count = |before: u64, after: u64| after.checked_sub(before).map(|count| count as f64);
    let time = |before: u64, after: u64| {
        let grown = after as f64 - before as f64;
        millis(
            if grown < 0.0 {
                grown + TIMES_MAX
            } else {
                grown
            }
            .max(0.0),
        )
    };
    let flushes = before.flushes.zip(after.flushes);
    let flush_ms = before.flush_ms.zip(after.flush_ms);
    Some(Io {
        reads: Requests {
            count: Some(count(before.reads, after.reads)?),
            bytes: Some(count(before.read_bytes, after.read_bytes)?),
            waited: Some(time(before.read_ms, after.read_ms)),
        },
        writes: Requests {
            count: Some(count(before.writes, after.writes)?),
            bytes: Some(count(before.write_bytes, after.write_bytes)?),
            waited: Some(time(before.write_ms, after.write_ms)),
        },
        flushes: Requests {
            count: flushes.and_then(|(before, after)| count(before, after)),
            bytes: None,
            waited: flush_ms.map(|(before, after)| time(before, after)),
        },
        session_writes: None,
    })
}

/// This many milliseconds; zero if negative.
pub fn millis(ms: f64) -> Duration {
    Duration::from_secs_f64(ms.max(0.0) / 1e3)
}

/// Adds requests to others of the same files; a figure that one of them lacks is missing in the sum.
pub fn add(to: &mut Io, more: Io) {
    profile::add(&mut to.reads, more.reads);
    profile::add(&mut to.writes, more.writes);
    profile::add(&mut to.flushes, more.flushes);
}
