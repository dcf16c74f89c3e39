//! One request to a volume, and its completion.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::time::{Duration, Instant};
use crate::units::Bytes;

/// The kind of request to a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// Reads bytes from the disk.
    Read,
    /// Writes bytes to the disk.
    Write,
    /// Makes everything written so far durable; moves no bytes.
    Flush,
}

/// A read, write or flush of a range of a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The kind of request.
    pub operation: Operation,
    /// Where the range starts, in bytes from the start of the volume.
    pub offset: u64,
    /// How long the range is; zero for a flush.
    pub length: Bytes,
    /// When a write is durable; without effect on a read and a flush.
    pub durability: Durability,
}

/// When a write is durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Durability {
    /// Once its volume was flushed after it: a cache that writes back may keep it until then.
    #[default]
    OnFlush,
    /// When it is done, whatever caches it passes: it is written through (`FILE_FLAG_WRITE_THROUGH`, forced unit access).
    OnCompletion,
}

impl Request {
    /// A read of `length` at `offset`.
    pub const fn read(offset: u64, length: Bytes) -> Request {
        Request {
            operation: Operation::Read,
            offset,
            length,
            durability: Durability::OnFlush,
        }
    }

    /// A write of `length` at `offset`, durable once flushed.
    pub const fn write(offset: u64, length: Bytes) -> Request {
        Request {
            operation: Operation::Write,
            offset,
            length,
            durability: Durability::OnFlush,
        }
    }

    /// A write of `length` at `offset`, durable when it is done.
    pub const fn durable_write(offset: u64, length: Bytes) -> Request {
        Request {
            durability: Durability::OnCompletion,
            ..Request::write(offset, length)
        }
    }

    /// A flush of the whole volume.
    pub const fn flush() -> Request {
        Request {
            operation: Operation::Flush,
            offset: 0,
            length: Bytes::ZERO,
            durability: Durability::OnFlush,
        }
    }
}

/// When a request is done, and where its time went.
///
/// ```text
/// submitted ──throttled──> admitted ──queued──> started ──service──> done
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The instant at which the request is done.
    pub done: Instant,
    /// Time throttled by a limit.
    pub throttled: Duration,
    /// The limit that held it back longest, if any.
    pub throttled_by: Option<Throttle>,
    /// Time waiting for one of the disk's places in flight.
    pub queued: Duration,
    /// Time being served.
    pub service: Duration,
}

impl Completion {
    /// Done immediately.
    pub const fn immediate(now: Instant) -> Completion {
        Completion {
            done: now,
            throttled: Duration::ZERO,
            throttled_by: None,
            queued: Duration::ZERO,
            service: Duration::ZERO,
        }
    }

    /// Submission to completion: the sum of the parts.
    pub fn latency(&self) -> Duration {
        self.throttled + self.queued + self.service
    }

    /// The instant the request was submitted.
    pub fn submitted(&self) -> Instant {
        Instant::from_nanos(self.done.as_nanos() - self.latency().as_nanos())
    }

    /// The last `wait` of this completion: the part that a caller arriving late had to wait for.
    ///
    /// Time is taken from the end: first service, then queueing, then throttling.
    pub fn tail(&self, wait: Duration) -> Completion {
        let service = self.service.min(wait);
        let queued = self.queued.min(wait - service);
        let throttled = self.throttled.min(wait - service - queued);
        Completion {
            done: self.done,
            throttled,
            throttled_by: self.throttled_by,
            queued,
            service,
        }
    }
}

impl Completion {
    /// A `wait` for this completion, made up of the same parts in the same proportion as the whole.
    ///
    /// For a caller that waits for one of many writes in flight: it waits not for the last part of this
    /// one, but for the rate at which all of them complete.
    pub fn in_proportion(&self, wait: Duration) -> Completion {
        let whole = u128::from(self.latency().as_nanos().max(1));
        let share = |part: Duration| {
            let ns = u128::from(part.as_nanos()) * u128::from(wait.as_nanos()) / whole;
            Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
        };
        let (throttled, queued) = (share(self.throttled), share(self.queued));
        let service = wait.saturating_sub(throttled + queued);
        Completion {
            done: self.done,
            throttled,
            throttled_by: self.throttled_by,
            queued,
            service,
        }
    }
}

/// The limit that held a request back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Throttle {
    /// The owner of the limit.
    pub owner: Owner,
    /// What it limits.
    pub measure: Measure,
    /// Whether it is the steady rate that remains after burst credits ran out.
    pub credits: bool,
}

/// The owner of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// The disk's own.
    Disk,
    /// The machine's, by its place in [`crate::MachineSpec::limits`].
    Machine(u8),
}

/// What is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// Requests per second.
    Iops,
    /// Bytes per second.
    Throughput,
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Measure::Iops => "iops",
            Measure::Throughput => "throughput",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_in_proportion_has_the_parts_of_the_whole() {
        let ms = Duration::from_millis;
        let whole = Completion {
            done: Instant::ZERO + ms(100),
            throttled: ms(50),
            throttled_by: None,
            queued: ms(30),
            service: ms(20),
        };
        // A tenth of 100 ms: 5, 3 and 2 ms.
        let part = whole.in_proportion(ms(10));
        assert_eq!(
            (part.throttled, part.queued, part.service),
            (ms(5), ms(3), ms(2))
        );
        assert_eq!(part.done, whole.done);
        // Half of 3 ns and three tenths of them, rounded down to 1 and 0: the rest is service.
        let part = whole.in_proportion(Duration::from_nanos(3));
        assert_eq!(part.latency(), Duration::from_nanos(3));
        assert_eq!(part.service, Duration::from_nanos(2));
    }
}
