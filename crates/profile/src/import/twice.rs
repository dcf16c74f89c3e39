//! What a file says twice: a figure, and the same one from others beside it.
//!
//! Tools write rounded figures, so that what two of them can have been is compared, and sums over a file before single
//! records.

/// Two statements of one figure agree within this share: rates and means of a record are of the same counts.
const TOLERANCE: f64 = 0.02;

/// What a figure can have been before it was rounded.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Range {
    low: f64,
    high: f64,
}

impl Range {
    /// A figure with so many digits that rounding does not matter.
    pub(super) fn exact(value: f64) -> Range {
        Range {
            low: value,
            high: value,
        }
    }

    /// A figure that was cut off.
    pub(super) fn between(low: f64, high: f64) -> Range {
        Range { low, high }
    }

    /// A figure with two decimals, as sysstat writes all of them.
    pub(super) fn hundredths(value: f64) -> Range {
        Range {
            low: (value - 0.005).max(0.0),
            high: value + 0.005,
        }
    }

    pub(super) fn times(self, other: Range) -> Range {
        Range {
            low: self.low * other.low,
            high: self.high * other.high,
        }
    }

    pub(super) fn plus(self, other: Range) -> Range {
        Range {
            low: self.low + other.low,
            high: self.high + other.high,
        }
    }

    fn middle(self) -> f64 {
        f64::midpoint(self.low, self.high)
    }
}

/// A figure as it is stated, and as others give it; sums over records.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Twice {
    stated: Range,
    derived: Range,
    records: usize,
}

impl Twice {
    /// A record.
    pub(super) fn of(stated: Range, derived: Range) -> Twice {
        Twice {
            stated,
            derived,
            records: 1,
        }
    }

    /// The sum of both.
    pub(super) fn and(self, other: Twice) -> Twice {
        Twice {
            stated: self.stated.plus(other.stated),
            derived: self.derived.plus(other.derived),
            records: self.records + other.records,
        }
    }

    /// Whether what is stated can be this many times what others give.
    pub(super) fn is_times(&self, factor: f64) -> bool {
        let derived = self.derived.times(Range::exact(factor));
        self.stated.low <= derived.high * (1.0 + TOLERANCE)
            && self.stated.high * (1.0 + TOLERANCE) >= derived.low
    }

    /// Whether one is more than `factor` times the other, and by more than `slack` a record.
    pub(super) fn differs(&self, factor: f64, slack: f64) -> bool {
        self.exceeds(factor, slack)
            || self.derived.low > self.stated.high * factor + slack * self.records as f64
    }

    /// Whether what is stated is more than `factor` times what others give, and by more than `slack` a record.
    pub(super) fn exceeds(&self, factor: f64, slack: f64) -> bool {
        self.stated.low > self.derived.high * factor + slack * self.records as f64
    }

    /// How many times what others give is stated.
    pub(super) fn ratio(&self) -> f64 {
        self.stated.middle() / self.derived.middle()
    }

    /// Means over the records: what is stated, and what others give.
    pub(super) fn means(&self) -> [f64; 2] {
        let records = self.records.max(1) as f64;
        [
            self.stated.middle() / records,
            self.derived.middle() / records,
        ]
    }
}

/// Mean requests in flight may differ so much by what they are computed from: requests that last longer than a record are
/// counted when they end, and the queue while it is there. Ours; an error of a unit is larger.
const QUEUE_FACTOR: f64 = 2.0;
/// Requests in flight below which nothing depends on it. Ours.
const QUEUE_SLACK: f64 = 0.1;

/// How busy a device was: by its queue, and by rates times latencies (Little's law).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Load {
    queue: Twice,
    utilisation: Twice,
}

impl Load {
    /// A record: requests in flight by rates and latencies, and what is stated: the mean queue and the share of time in
    /// which there was one.
    pub(super) fn add(
        &mut self,
        in_flight: Range,
        queue: Option<Range>,
        utilisation: Option<Range>,
    ) {
        if let Some(queue) = queue {
            self.queue = self.queue.and(Twice::of(queue, in_flight));
        }
        if let Some(utilisation) = utilisation {
            self.utilisation = self.utilisation.and(Twice::of(utilisation, in_flight));
        }
    }

    /// What contradicts itself, as a sentence.
    pub(super) fn contradiction(
        &self,
        device: &str,
        queue: &str,
        utilisation: &str,
    ) -> Option<String> {
        let [stated, derived, of] = if self.queue.differs(QUEUE_FACTOR, QUEUE_SLACK) {
            let [stated, derived] = self.queue.means();
            [
                format!("{stated:.2}"),
                format!("{derived:.2}"),
                queue.to_owned(),
            ]
        } else if self.utilisation.exceeds(QUEUE_FACTOR, QUEUE_SLACK) {
            // While a device is busy, at least one request is in flight.
            let [stated, derived] = self.utilisation.means();
            let stated = format!("{stated:.2} or more");
            [stated, format!("{derived:.2}"), utilisation.to_owned()]
        } else {
            return None;
        };
        Some(format!(
            "{device} contradicts itself: rates times latencies give {derived} requests in flight, and `{of}` says \
             {stated}; the latencies count, and may be wrong."
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rounding_explains_is_no_contradiction() {
        // 0.3 requests/s of 8 KiB are 0.0023 MiB/s, which is written as 0.
        let derived = Range::hundredths(0.3).times(Range::hundredths(8.0));
        let stated = Range::hundredths(0.0).times(Range::exact(1024.0));
        assert!(Twice::of(stated, derived).is_times(1.0));
        // 300 of them are 2.34.
        let derived = Range::hundredths(300.0).times(Range::hundredths(8.0));
        let of = |megabytes| {
            Twice::of(
                Range::hundredths(megabytes).times(Range::exact(1024.0)),
                derived,
            )
        };
        assert!(of(2.34).is_times(1.0) && !of(2.34).is_times(2.0));
        assert!(of(4.68).is_times(2.0) && !of(4.68).is_times(1.0));
        assert!(!of(7.0).is_times(1.0) && !of(7.0).is_times(2.0));
    }

    #[test]
    fn a_queue_that_rates_and_latencies_do_not_give_is_a_contradiction() {
        let mut load = Load::default();
        // 400 requests/s of 1 ms are 0.4 in flight.
        load.add(
            Range::exact(0.4),
            Some(Range::exact(0.41)),
            Some(Range::exact(0.3)),
        );
        assert_eq!(load.contradiction("sda", "aqu-sz", "util"), None);
        let mut queue = Load::default();
        queue.add(Range::exact(0.4), Some(Range::exact(4.0)), None);
        let told = queue
            .contradiction("sda", "aqu-sz", "util")
            .expect("ten times");
        assert!(
            told.contains("give 0.40 requests in flight, and `aqu-sz` says 4.00"),
            "{told}"
        );
        let mut busy = Load::default();
        busy.add(Range::exact(0.1), None, Some(Range::exact(0.9)));
        let told = busy
            .contradiction("sda", "aqu-sz", "util")
            .expect("busier than that");
        assert!(told.contains("`util` says 0.90 or more"), "{told}");
        // Idle but for little: nothing depends on it.
        let mut idle = Load::default();
        idle.add(
            Range::exact(0.001),
            Some(Range::exact(0.02)),
            Some(Range::exact(0.05)),
        );
        assert_eq!(idle.contradiction("sda", "aqu-sz", "util"), None);
    }
}
