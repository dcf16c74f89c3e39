//! Counts what happens interval by interval, as records have it.

use model::{Duration, Instant, Operation, Request};

/// Length of an interval.
pub(crate) const INTERVAL: Duration = Duration::SECOND;

/// What is counted of a disk: its name in the record is `<disk>.<this>`. Latencies are sums.
pub(crate) const COUNTED: [&str; 6] = [
    "reads",
    "read_bytes",
    "read_ns",
    "writes",
    "write_bytes",
    "write_ns",
];

/// One disk, whether measured or not.
#[derive(Clone, Debug, Default)]
pub(crate) struct DiskSeries([Vec<u64>; COUNTED.len()]);

impl DiskSeries {
    /// Counts a request at the instant `at`; flushes move no bytes and are not counted.
    pub(crate) fn add(&mut self, at: Instant, request: &Request, latency: Duration) {
        let first = match request.operation {
            Operation::Read => 0,
            Operation::Write => 3,
            Operation::Flush => return,
        };
        for (values, amount) in
            self.0[first..]
                .iter_mut()
                .zip([1, request.length.0, latency.as_nanos()])
        {
            add(values, at, amount);
        }
    }

    /// Names and values for the record.
    pub(crate) fn named<'a>(
        &'a self,
        disk: &'a str,
    ) -> impl Iterator<Item = (String, Vec<u64>)> + 'a {
        let values = COUNTED.iter().zip(&self.0);
        values.map(move |(counted, values)| (format!("{disk}.{counted}"), values.clone()))
    }
}

/// Adds `amount` in the interval that `at` lies in.
pub(crate) fn add(values: &mut Vec<u64>, at: Instant, amount: u64) {
    let index = (at.as_nanos() / INTERVAL.as_nanos()) as usize;
    values.resize(values.len().max(index + 1), 0);
    values[index] += amount;
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Bytes;

    #[test]
    fn requests_are_counted_in_their_interval_with_bytes_and_latency() {
        let mut disk = DiskSeries::default();
        let read = Request::read(0, Bytes::kib(8));
        disk.add(
            Instant::from_nanos(2_500_000_000),
            &read,
            Duration::from_millis(4),
        );
        disk.add(
            Instant::from_nanos(2_600_000_000),
            &read,
            Duration::from_millis(6),
        );
        disk.add(Instant::ZERO, &Request::flush(), Duration::from_millis(6));

        let named: Vec<(String, Vec<u64>)> = disk.named("f.1").collect();

        assert_eq!(named[0], ("f.1.reads".to_owned(), vec![0, 0, 2]));
        assert_eq!(named[1].1, [0, 0, 16_384]);
        assert_eq!(named[2].1, [0, 0, 10_000_000]);
        assert_eq!(named[5], ("f.1.write_ns".to_owned(), vec![]));
    }
}
