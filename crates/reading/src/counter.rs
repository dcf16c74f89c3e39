//! Counts what one disk does, request by request.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use model::{Duration, Operation, Request};

use crate::{DiskReading, Latencies, histogram};

/// Counters of one disk; simulated, emulated and plain I/O are counted in the same way.
#[derive(Clone, Debug, Default)]
pub struct DiskCounter {
    reads: Done,
    writes: Done,
    flushes: Done,
    cache_hits: u64,
}

/// Requests of one kind. Memory for their latencies is allocated with the first one: most disks of a machine
/// with thousands are idle.
#[derive(Clone, Debug, Default)]
struct Done {
    count: u64,
    bytes: u64,
    total: Duration,
    latency: Option<Histogram<u64>>,
}

impl DiskCounter {
    /// Counts a request that took `latency`; a read may have been served by the host cache.
    pub fn add(&mut self, request: &Request, latency: Duration, cache_hit: bool) {
        let done = match request.operation {
            Operation::Read => &mut self.reads,
            Operation::Write => &mut self.writes,
            Operation::Flush => &mut self.flushes,
        };
        done.count += 1;
        done.bytes = done.bytes.saturating_add(request.length.0);
        done.total += latency;
        histogram::record(done.latency.get_or_insert_with(histogram::empty), latency);
        self.cache_hits += u64::from(cache_hit);
    }

    /// The reading, as that of a disk with this name on the volume with this index.
    pub fn reading(&self, volume: usize, name: String) -> DiskReading {
        let idle = self.reads.count + self.writes.count + self.flushes.count == 0;
        let latency = |done: &Done| done.latency.clone().unwrap_or_else(histogram::empty);
        DiskReading {
            volume,
            name,
            reads: self.reads.count,
            writes: self.writes.count,
            flushes: self.flushes.count,
            cache_hits: self.cache_hits,
            read_bytes: self.reads.bytes,
            write_bytes: self.writes.bytes,
            read_ns: self.reads.total.as_nanos(),
            write_ns: self.writes.total.as_nanos(),
            busy_ns: None,
            in_flight: 0,
            spent_ns: BTreeMap::new(),
            latency: (!idle).then(|| Latencies {
                reads: latency(&self.reads),
                writes: latency(&self.writes),
                flushes: latency(&self.flushes),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Bytes;

    #[test]
    fn each_kind_is_counted_apart() {
        let mut disk = DiskCounter::default();
        let ms = Duration::from_millis;
        disk.add(&Request::read(0, Bytes::kib(8)), ms(1), true);
        disk.add(&Request::read(0, Bytes::kib(64)), ms(3), false);
        disk.add(&Request::write(0, Bytes::kib(4)), ms(5), false);
        disk.add(&Request::flush(), ms(7), false);

        let reading = disk.reading(2, "d.1".to_owned());

        assert_eq!((reading.volume, reading.name.as_str()), (2, "d.1"));
        assert_eq!((reading.reads, reading.writes, reading.flushes), (2, 1, 1));
        assert_eq!(
            (reading.read_bytes, reading.write_bytes),
            (72 << 10, 4 << 10)
        );
        assert_eq!((reading.read_ns, reading.write_ns), (4_000_000, 5_000_000));
        assert_eq!(reading.cache_hits, 1);
        assert_eq!(
            reading.latency.expect("requests were seen").flushes.len(),
            1
        );
    }

    #[test]
    fn what_came_since_an_idle_reading_is_all_of_it() {
        let reading = |disk: &DiskCounter| crate::Reading {
            at: model::Instant::ZERO,
            disks: vec![disk.reading(0, "d.1".to_owned())],
            limits: Vec::new(),
            pacing: None,
        };
        let mut disk = DiskCounter::default();
        let idle = reading(&disk);
        disk.add(&Request::flush(), Duration::from_millis(1), false);
        let busy = reading(&disk);

        assert_eq!(busy.since(&idle).as_ref(), Ok(&busy));
        assert_eq!(idle.since(&busy), Err(crate::NotEarlier));
        let nothing = busy.since(&busy).expect("it is no earlier").disks.remove(0);
        assert!(nothing.latency.expect("it was seen").flushes.is_empty());
    }

    #[test]
    fn an_idle_disk_has_no_latencies() {
        let reading = DiskCounter::default().reading(0, "d.1".to_owned());
        assert_eq!(reading.latency, None);
    }
}
