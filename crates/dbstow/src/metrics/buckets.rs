//! Latencies in the fixed buckets of a Prometheus histogram.

use hdrhistogram::Histogram;

/// Upper bounds of the buckets, in seconds; the last one is unbounded. From a local NVMe disk's 50 us to the seconds
/// of a disk whose credits are spent, three a decade.
pub const BOUNDS_S: [f64; 18] = [
    50e-6,
    100e-6,
    250e-6,
    500e-6,
    1e-3,
    2.5e-3,
    5e-3,
    10e-3,
    25e-3,
    50e-3,
    100e-3,
    250e-3,
    500e-3,
    1.0,
    2.5,
    5.0,
    10.0,
    f64::INFINITY,
];

/// Number of requests by latency. Counts are exact; an HDR histogram resolves latencies to 1 in 1000, and so do bounds
/// and sum.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Latency {
    /// Requests by bucket, not cumulative.
    counts: [u64; BOUNDS_S.len()],
    sum_ns: u64,
}

impl Latency {
    /// Adds a histogram of nanoseconds.
    pub fn add(&mut self, histogram: &Histogram<u64>) {
        for value in histogram.iter_recorded() {
            let (ns, count) = (value.value_iterated_to(), value.count_at_value());
            // A bound belongs to its bucket, although a histogram stores it with the values above it.
            let least_s = histogram.lowest_equivalent(ns) as f64 / 1e9;
            let bucket = BOUNDS_S.partition_point(|bound| *bound < least_s);
            self.counts[bucket] += count;
            let middle = histogram.median_equivalent(ns);
            self.sum_ns = self.sum_ns.saturating_add(middle.saturating_mul(count));
        }
    }

    /// Sum of all latencies, in seconds.
    pub fn sum_s(&self) -> f64 {
        self.sum_ns as f64 / 1e9
    }

    /// Number of requests.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Upper bounds in seconds, and the number of requests between each bound and the one before.
    pub fn buckets(&self) -> Vec<(f64, u64)> {
        BOUNDS_S.into_iter().zip(self.counts).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_latency_at_a_bound_is_within_it_and_one_far_above_all_is_in_the_last() {
        let mut histogram = reading::histogram::empty();
        histogram.record_n(1_000_000, 3).expect("it grows");
        histogram.record(1_010_000).expect("it grows");
        histogram.record(60_000_000_000).expect("it grows");
        let mut latency = Latency::default();

        latency.add(&histogram);
        latency.add(&histogram);

        let held: Vec<_> = latency
            .buckets()
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .collect();
        assert_eq!(held, [(1e-3, 6), (2.5e-3, 2), (f64::INFINITY, 2)]);
        assert_eq!(latency.count(), 10);
        // 2 x (3 x 1 ms + 1.01 ms + 60 s), within 1 in 1000.
        assert!((latency.sum_s() - 120.008).abs() < 0.12);
    }
}
