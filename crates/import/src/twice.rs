//! Redundant figures in a file: a stated figure, and the same one derived from others.
//!
//! Tools write rounded figures, so their possible ranges are compared, and sums over a file before single records.

/// Two statements of one figure agree within this share: rates and means of a record derive from the same counts.
const TOLERANCE: f64 = 0.02;

/// Range of a figure before rounding.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Range {
    low: f64,
    high: f64,
}

impl Range {
    /// A figure with enough digits that rounding does not matter.
    pub(super) fn exact(value: f64) -> Range {
        Range {
            low: value,
            high: value,
        }
    }

    /// A truncated figure.
    pub(super) fn between(low: f64, high: f64) -> Range {
        Range { low, high }
    }

    /// A figure with two decimals, as sysstat writes them.
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

/// A figure as stated, and as derived from others; sums over records.
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

    /// Whether the stated value can be this many times the derived one.
    pub(super) fn is_times(&self, factor: f64) -> bool {
        let derived = self.derived.times(Range::exact(factor));
        self.stated.low <= derived.high * (1.0 + TOLERANCE)
            && self.stated.high * (1.0 + TOLERANCE) >= derived.low
    }

    /// Whether one is more than `factor` times the other, and by more than `slack` per record.
    pub(super) fn differs(&self, factor: f64, slack: f64) -> bool {
        self.exceeds(factor, slack) || self.falls_short(factor, slack)
    }

    /// Whether the derived value is more than `factor` times the stated one, and by more than `slack` per record.
    fn falls_short(&self, factor: f64, slack: f64) -> bool {
        self.derived.low > self.stated.high * factor + slack * self.records as f64
    }

    /// Whether the stated value is more than `factor` times the derived one, and by more than `slack` per record.
    pub(super) fn exceeds(&self, factor: f64, slack: f64) -> bool {
        self.stated.low > self.derived.high * factor + slack * self.records as f64
    }

    /// Ratio of the stated value to the derived one.
    pub(super) fn ratio(&self) -> f64 {
        self.stated.middle() / self.derived.middle()
    }

    /// Means over the records: stated and derived.
    pub(super) fn means(&self) -> [f64; 2] {
        let records = self.records.max(1) as f64;
        [
            self.stated.middle() / records,
            self.derived.middle() / records,
        ]
    }
}

/// Factor by which mean requests in flight may differ depending on how they are computed: requests that last longer than a record
/// are counted when they end, but are in the queue all the time. Our choice; a wrong unit differs by more.
const QUEUE_FACTOR: f64 = 2.0;
/// Requests in flight below which differences are ignored. Our choice.
const QUEUE_SLACK: f64 = 0.1;

/// Mean requests in flight while a device is busy above which something is wrong. Our choice: disks of servers have queues of 32
/// (SATA) to some hundred requests.
const WHILE_BUSY: f64 = 256.0;

/// How busy a device was: by its queue, and by rates times latencies (Little's law).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Load {
    queue: Twice,
    utilisation: Twice,
}

impl Load {
    /// Adds a record: requests in flight from rates and latencies, and the stated mean queue and share of busy time.
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

    /// The contradiction, as a sentence.
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
        } else if self.utilisation.falls_short(WHILE_BUSY, QUEUE_SLACK) {
            let [stated, derived] = self.utilisation.means();
            let stated = format!("that it was busy for {:.2} % of the time", stated * 100.0);
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

/// A figure for a sentence: two decimals up to 100, then groups of three digits.
pub(super) fn shown(value: f64) -> String {
    if value < 100.0 {
        let text = format!("{value:.2}");
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
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
    fn figures_are_shown_with_the_digits_that_matter() {
        let all = [0.0, 1.5, 99.0, 150.0, 9e9].map(shown);
        assert_eq!(all, ["0", "1.5", "99", "150", "9,000,000,000"]);
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
        let note = queue
            .contradiction("sda", "aqu-sz", "util")
            .expect("ten times");
        assert!(
            note.contains("give 0.40 requests in flight, and `aqu-sz` says 4.00"),
            "{note}"
        );
        let mut busy = Load::default();
        busy.add(Range::exact(0.1), None, Some(Range::exact(0.9)));
        let note = busy
            .contradiction("sda", "aqu-sz", "util")
            .expect("busier than that");
        assert!(note.contains("`util` says 0.90 or more"), "{note}");
        // 1.3 requests in flight on average, in a thousandth of the time.
        let mut short = Load::default();
        short.add(Range::exact(1.3), None, Some(Range::exact(0.001)));
        let note = short
            .contradiction("D:", "queue", "% Idle Time")
            .expect("1,300 while busy");
        let part = "give 1.30 requests in flight, and `% Idle Time` says that it was busy for 0.10 % of the time";
        assert!(note.contains(part), "{note}");
        // Almost idle: differences are ignored.
        let mut idle = Load::default();
        idle.add(
            Range::exact(0.001),
            Some(Range::exact(0.02)),
            Some(Range::exact(0.05)),
        );
        assert_eq!(idle.contradiction("sda", "aqu-sz", "util"), None);
    }
}
