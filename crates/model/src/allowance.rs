//! An allowance: how fast units may pass, exactly, and without a clock.
//!
//! This is where IOPS and throughput limits are applied. Units that were taken and not yet paid off at
//! the rate are the *debt*; units pass at once while the debt is within the depth:
//!
//! ```text
//!  debt
//!   │      ╱╲        depth + one request: nothing passes until the debt is back at the depth
//!   │─ ─ ╱─ ─╲─ ─ ─  depth
//!   │  ╱       ╲     paid off at the rate
//!   └──────────────► now
//! ```
//!
//! This is the generic cell rate algorithm (ITU-T I.371, annex A) with the debt kept in units rather
//! than in time, so that the rate need not divide a second evenly.

use crate::request::Measure;
use crate::spec::{Counts, IoUnit, LimitSpec, Rate};
use crate::time::{Duration, Instant};
use crate::units::Bytes;
use crate::{Operation, Request};

const NANOS_PER_SECOND: u128 = 1_000_000_000;

/// Most units that fit into 64 bits once they are scaled.
const UNITS_SHORT: u64 = u64::MAX / NANOS_PER_SECOND as u64;

/// Units per second, with a depth.
#[derive(Clone, Debug)]
pub struct Allowance {
    /// Units per second, which equals scaled units per nanosecond.
    rate: u64,
    /// Debt up to which units pass at once, in units x 10⁹.
    depth: u128,
    /// Units taken and not yet paid off, in units x 10⁹.
    debt: u128,
    /// When the debt was last updated.
    at: Instant,
    /// The longest time whose units fit into 64 bits: arithmetic with 128 is slow, above all in a browser.
    short: u64,
}

impl Allowance {
    /// An allowance of `rate` units per second that lets `depth` worth of them pass at once.
    ///
    /// # Panics
    /// When the rate is zero: nothing would ever pass.
    pub fn new(rate: u64, depth: Duration) -> Allowance {
        Allowance::with_credits(rate, u128::from(rate) * u128::from(depth.as_nanos()), 0)
    }

    /// An allowance whose depth is a bucket of `credits`, of which `spent` are already used.
    fn credits(rate: u64, credits: u64, spent: u64) -> Allowance {
        Allowance::with_credits(
            rate,
            u128::from(credits) * NANOS_PER_SECOND,
            u128::from(spent) * NANOS_PER_SECOND,
        )
    }

    fn with_credits(rate: u64, depth: u128, debt: u128) -> Allowance {
        assert!(
            rate > 0,
            "an allowance of zero units per second never lets anything pass"
        );
        Allowance {
            rate,
            depth,
            debt,
            at: Instant::ZERO,
            short: u64::MAX / rate,
        }
    }

    /// Takes `units` at `now` and returns how long the caller must wait.
    ///
    /// Turns follow the order of the calls. A `now` earlier than the last one counts as the last.
    pub fn take(&mut self, now: Instant, units: u64) -> Duration {
        let elapsed = now.since(self.at).as_nanos();
        self.at = self.at.max(now);
        let paid = match elapsed <= self.short {
            true => u128::from(self.rate * elapsed),
            false => u128::from(self.rate) * u128::from(elapsed),
        };
        self.debt = self.debt.saturating_sub(paid);
        let over = self.debt.saturating_sub(self.depth);
        let taken = match units <= UNITS_SHORT {
            true => u128::from(units * NANOS_PER_SECOND as u64),
            false => u128::from(units) * NANOS_PER_SECOND,
        };
        self.debt = self.debt.saturating_add(taken);
        Duration::from_nanos(nanos_to_pay(over, self.rate))
    }

    /// Units that could pass at once at `now`, rounded down, and units taken that still wait, rounded up: one of the
    /// two is zero.
    fn balance(&self, now: Instant) -> (u64, u64) {
        let elapsed = now.since(self.at).as_nanos();
        let paid = u128::from(self.rate) * u128::from(elapsed);
        let debt = self.debt.saturating_sub(paid);
        let units = |scaled: u128| u64::try_from(scaled).unwrap_or(u64::MAX);
        (
            units(self.depth.saturating_sub(debt) / NANOS_PER_SECOND),
            units(debt.saturating_sub(self.depth).div_ceil(NANOS_PER_SECOND)),
        )
    }
}

/// `over / rate`, rounded up; uses a 64-bit division where it fits, which is nearly always.
fn nanos_to_pay(over: u128, rate: u64) -> u64 {
    match u64::try_from(over) {
        Ok(0) => 0,
        Ok(over) => over.div_ceil(rate),
        Err(_) => u64::try_from(over.div_ceil(u128::from(rate))).unwrap_or(u64::MAX),
    }
}

/// The state of one limit: a paced rate and, where the vendor has them, burst credits behind it.
#[derive(Clone, Debug)]
pub struct Limit {
    /// The limit as specified.
    pub spec: LimitSpec,
    /// Units taken so far.
    pub used: u64,
    pace: Allowance,
    credits: Option<Allowance>,
}

/// How long a limit holds a request back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// The wait.
    pub wait: Duration,
    /// Whether it waits because burst credits ran out.
    pub credits: bool,
}

/// The state of a limit at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitState {
    /// Units taken that still wait.
    pub waiting: u64,
    /// Units, waiting ones included, that the pace would let pass at once. From here on at most this many pass, plus
    /// what the rate in force allows.
    pub ready: u64,
    /// Burst credits left, including those of waiting units; `None` without a burst. From here on at most this many
    /// units pass, plus what the sustained rate allows.
    pub credits: Option<u64>,
}

impl Limit {
    /// A limit with its allowance untouched.
    pub fn new(spec: LimitSpec) -> Limit {
        let sustained = match spec.rate {
            Rate::Iops(iops) => iops.0,
            Rate::Throughput(throughput) => throughput.0,
        };
        let pace = Allowance::new(spec.burst.map_or(sustained, |burst| burst.rate), spec.depth);
        let credits = spec.burst.map(|burst| {
            let spent = burst.credits.saturating_sub(burst.credits_initial);
            Allowance::credits(sustained, burst.credits, spent)
        });
        Limit {
            spec,
            used: 0,
            pace,
            credits,
        }
    }

    /// What it limits.
    pub fn measure(&self) -> Measure {
        match self.spec.rate {
            Rate::Iops(_) => Measure::Iops,
            Rate::Throughput(_) => Measure::Throughput,
        }
    }

    /// Sustained units per second.
    pub fn rate(&self) -> u64 {
        match self.spec.rate {
            Rate::Iops(iops) => iops.0,
            Rate::Throughput(throughput) => throughput.0,
        }
    }

    /// Its state at `now`.
    pub fn state(&self, now: Instant) -> LimitState {
        let (ready, held_by_pace) = self.pace.balance(now);
        let credits = self.credits.as_ref().map(|credits| credits.balance(now));
        let waiting = held_by_pace.max(credits.map_or(0, |(_, held)| held));
        LimitState {
            waiting,
            ready: ready + (waiting - held_by_pace),
            credits: credits.map(|(left, held)| left + (waiting - held)),
        }
    }

    /// Lets `request` pass at `now`, counted as `unit` specifies, and returns how long it is held back.
    pub fn pass(&mut self, now: Instant, request: &Request, unit: IoUnit) -> Held {
        if !counts(self.spec.counts, request.operation) {
            return Held::default();
        }
        let units = match self.spec.rate {
            Rate::Iops(_) => unit.requests(request.length),
            Rate::Throughput(_) => unit.bytes(request.length),
        };
        self.used = self.used.saturating_add(units);
        let pace_wait = self.pace.take(now, units);
        let credits_wait = self
            .credits
            .as_mut()
            .map_or(Duration::ZERO, |credits| credits.take(now, units));
        Held {
            wait: pace_wait.max(credits_wait),
            credits: credits_wait > pace_wait,
        }
    }
}

fn counts(counts: Counts, operation: Operation) -> bool {
    match operation {
        Operation::Read => counts != Counts::Writes,
        Operation::Write => counts != Counts::Reads,
        Operation::Flush => false,
    }
}

impl IoUnit {
    /// How many I/Os a request of `length` is counted as.
    pub fn requests(&self, length: Bytes) -> u64 {
        match self.size_max {
            // Nearly every request fits, and skips the division.
            Some(size) if length <= size => 1,
            Some(size) => length.0.div_ceil(size.0),
            None => 1,
        }
    }

    /// How many bytes a request of `length` is charged.
    pub fn bytes(&self, length: Bytes) -> u64 {
        self.charge_min
            .map_or(length.0, |charge| length.0.max(charge.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_paced_at_the_rate() {
        let mut allowance = Allowance::new(500, Duration::ZERO);
        // 500 per second are 2 ms apart.
        assert_eq!(allowance.take(Instant::ZERO, 1), Duration::ZERO);
        assert_eq!(allowance.take(Instant::ZERO, 1), Duration::from_millis(2));
        assert_eq!(allowance.take(Instant::ZERO, 1), Duration::from_millis(4));
    }

    #[test]
    fn an_uneven_rate_does_not_drift() {
        let mut allowance = Allowance::new(3, Duration::ZERO);
        for n in 0..3_000_u64 {
            // The n-th unit of three per second waits n/3 s, rounded up to a nanosecond, for ever.
            let expected = (n * 1_000_000_000).div_ceil(3);
            assert_eq!(
                allowance.take(Instant::ZERO, 1),
                Duration::from_nanos(expected)
            );
        }
    }

    #[test]
    fn the_depth_passes_at_once() {
        let mut allowance = Allowance::new(1_000, Duration::from_millis(10));
        // A debt of up to 10 units passes; the request that exceeds it has been let through.
        let waits: [Duration; 13] = core::array::from_fn(|_| allowance.take(Instant::ZERO, 1));
        assert!(waits[..11].iter().all(|wait| *wait == Duration::ZERO));
        assert_eq!(waits[11], Duration::from_millis(1));
        assert_eq!(waits[12], Duration::from_millis(2));
    }

    #[test]
    fn a_now_earlier_than_the_last_counts_as_the_last() {
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let mut allowance = Allowance::new(1_000, Duration::ZERO);
        assert_eq!(allowance.take(at(10), 1), Duration::ZERO);
        // The unit from 10 ms is not paid off yet: 1 ms, as at 10 ms.
        assert_eq!(allowance.take(at(5), 1), Duration::from_millis(1));
        // From 10 ms to 11 ms one of the two is paid off, and not six from 5 ms on: 1 ms for the other.
        assert_eq!(allowance.take(at(11), 1), Duration::from_millis(1));
    }

    #[test]
    fn a_debt_beyond_64_bits_is_paid_off_exactly() {
        let mut allowance = Allowance::new(3, Duration::ZERO);
        let units = 1 << 35;
        assert_eq!(allowance.take(Instant::ZERO, units), Duration::ZERO);
        // 2^35 units x 10^9 are more than 2^64; 2^35 / 3 s = 11,453,246,122.67 s, rounded up to a nanosecond.
        assert_eq!(
            allowance.take(Instant::ZERO, 1),
            Duration::from_nanos(11_453_246_122_666_666_667)
        );
    }

    #[test]
    fn a_flush_passes_every_limit_and_counts_on_none() {
        let mut limit = Limit::new(LimitSpec {
            depth: Duration::ZERO,
            ..LimitSpec::iops(crate::Iops(1))
        });
        let unit = IoUnit::default();
        let write = Request::write(0, Bytes::kib(8));
        assert_eq!(limit.pass(Instant::ZERO, &write, unit), Held::default());
        // The next write waits a second; a flush in between does not wait, and does not delay the write.
        let flush = limit.pass(Instant::ZERO, &Request::flush(), unit);
        assert_eq!(flush, Held::default());
        let next = limit.pass(Instant::ZERO, &write, unit);
        assert_eq!((next.wait, limit.used), (Duration::SECOND, 2));
    }

    #[test]
    fn one_io_is_as_long_as_the_vendor_says_to_the_byte() {
        let unit = IoUnit {
            size_max: Some(Bytes::kib(256)),
            charge_min: Some(Bytes::mib(1)),
        };
        // 256 KiB are one I/O, a byte more is two, 512 KiB are two, and a byte more is three.
        let lengths = [0, 1, 262_144, 262_145, 524_288, 524_289];
        let counted = lengths.map(|length| unit.requests(Bytes(length)));
        assert_eq!(counted, [1, 1, 1, 2, 2, 3]);
        assert_eq!(unit.bytes(Bytes(1)), 1_048_576);
        assert_eq!(unit.bytes(Bytes(1_048_577)), 1_048_577);
        assert_eq!(IoUnit::default().requests(Bytes::gib(1)), 1);
        assert_eq!(IoUnit::default().bytes(Bytes(1)), 1);
    }
}
