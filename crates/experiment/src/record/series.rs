//! Counts events by interval, in the format of records.
//!
//! A series has a bounded number of points, regardless of the length of a trial. A full one doubles its interval: neighbouring
//! points are merged in pairs. Totals stay exact.

use std::collections::BTreeMap;

use model::{Duration, Instant, Operation, Request};

use super::Series;

/// Initial length of an interval; it grows for trials whose series would have too many.
pub const INTERVAL: Duration = Duration::SECOND;

/// Maximum number of points of a series: an hour of seconds, several times what a chart shows.
pub const POINTS_MAX: usize = 3600;

/// Number of disks up to which the series of each has [`POINTS_MAX`] points; more disks share that total. With six values of
/// eight bytes per point, this bounds the series of a trial at 180 MB.
const DISKS_IN_FULL: usize = 1024;

/// Minimum number of points of a series, even for a disk among tens of thousands.
const POINTS_MIN: usize = 60;

/// Counters of a disk: the name in the record is `<disk>.<counter>`. Latencies are sums.
pub const COUNTED: [&str; 6] = [
    "reads",
    "read_bytes",
    "read_ns",
    "writes",
    "write_bytes",
    "write_ns",
];

/// Kind of a series' values, which determines how neighbours are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Events in the interval: merged by addition.
    Count,
    /// A level at the interval's end: merging keeps the later one.
    Level,
}

/// One value per interval, from the start of a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Points {
    kind: Kind,
    most: usize,
    /// Number of times the interval was doubled.
    doublings: u32,
    values: Vec<u64>,
}

impl Points {
    /// Nothing counted yet.
    pub fn counts() -> Points {
        Points::of(Kind::Count, POINTS_MAX)
    }

    /// No level known yet.
    pub fn levels() -> Points {
        Points::of(Kind::Level, POINTS_MAX)
    }

    fn of(kind: Kind, most: usize) -> Points {
        Points {
            kind,
            most,
            doublings: 0,
            values: Vec::new(),
        }
    }

    /// Counts `amount` in the interval that contains `at`.
    pub fn add(&mut self, at: Instant, amount: u64) {
        let index = self.reach(at);
        self.values.resize(self.values.len().max(index + 1), 0);
        self.values[index] = self.values[index].saturating_add(amount);
    }

    /// Sets the level at the end of the interval that contains `at`. Earlier intervals without a value get the last known level.
    pub fn set(&mut self, at: Instant, height: u64) {
        let index = self.reach(at);
        let last = self.values.last().copied().unwrap_or(0);
        self.values.resize(self.values.len().max(index + 1), last);
        self.values[index] = height;
    }

    /// Merges another series into this one.
    pub fn merge(&mut self, mut other: Points) {
        let doublings = self.doublings.max(other.doublings);
        self.coarsen(doublings);
        other.coarsen(doublings);
        let length = self.values.len().max(other.values.len());
        self.values.resize(length, 0);
        for (own, other) in self.values.iter_mut().zip(other.values) {
            *own = own.saturating_add(other);
        }
    }

    /// Whether all values are zero.
    pub fn is_zero(&self) -> bool {
        self.values.iter().all(|value| *value == 0)
    }

    /// Index of the interval of `at`, extending the series as needed.
    fn reach(&mut self, at: Instant) -> usize {
        let second = at.as_nanos() / INTERVAL.as_nanos();
        while second >> self.doublings >= self.most as u64 {
            self.coarsen(self.doublings + 1);
        }
        (second >> self.doublings) as usize
    }

    /// Merges intervals until they were doubled this many times.
    fn coarsen(&mut self, doublings: u32) {
        while self.doublings < doublings {
            let pairs = self.values.chunks(2);
            self.values = match self.kind {
                Kind::Count => pairs
                    .map(|pair| {
                        pair.iter()
                            .fold(0, |sum: u64, one| sum.saturating_add(*one))
                    })
                    .collect(),
                Kind::Level => pairs.map(|pair| pair[pair.len() - 1]).collect(),
            };
            self.doublings += 1;
        }
    }
}

/// The series of a record: all with the longest interval that any of them requires.
pub fn record(named: impl IntoIterator<Item = (String, Points)>) -> Series {
    let named: Vec<(String, Points)> = named.into_iter().collect();
    let doublings = named.iter().map(|(_, points)| points.doublings);
    let doublings = doublings.max().unwrap_or(0);
    let values = |(name, mut points): (String, Points)| {
        points.coarsen(doublings);
        (name, points.values)
    };
    Series {
        interval_ns: INTERVAL.as_nanos() << doublings,
        values: named.into_iter().map(values).collect::<BTreeMap<_, _>>(),
    }
}

/// Maximum memory of the series of one of `disks` disks.
pub fn disk_bytes(disks: usize) -> u64 {
    (COUNTED.len() * points_max(disks) * size_of::<u64>()) as u64
}

fn points_max(disks: usize) -> usize {
    let most = POINTS_MAX * DISKS_IN_FULL / disks.max(1);
    most.clamp(POINTS_MIN, POINTS_MAX)
}

/// One disk, whether measured or not.
#[derive(Clone, Debug)]
pub struct DiskSeries([Points; COUNTED.len()]);

impl DiskSeries {
    /// An empty series for one of `disks` disks.
    pub fn of(disks: usize) -> DiskSeries {
        DiskSeries(std::array::from_fn(|_| {
            Points::of(Kind::Count, points_max(disks))
        }))
    }

    /// Counts a request at the instant `at`; flushes move no bytes and are not counted.
    pub fn add(&mut self, at: Instant, request: &Request, latency: Duration) {
        let first = match request.operation {
            Operation::Read => 0,
            Operation::Write => 3,
            Operation::Flush => return,
        };
        for (points, amount) in
            self.0[first..]
                .iter_mut()
                .zip([1, request.length.0, latency.as_nanos()])
        {
            points.add(at, amount);
        }
    }

    /// Names and values for the record.
    pub fn named<'a>(&'a self, disk: &'a str) -> impl Iterator<Item = (String, Points)> + 'a {
        let values = COUNTED.iter().zip(&self.0);
        values.map(move |(counted, points)| (format!("{disk}.{counted}"), points.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Bytes;

    fn at_s(s: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(s)
    }

    #[test]
    fn requests_are_counted_in_their_interval_with_bytes_and_latency() {
        let mut disk = DiskSeries::of(1);
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

        let series = record(disk.named("f.1"));

        assert_eq!(series.interval_ns, 1_000_000_000);
        assert_eq!(series.values["f.1.reads"], [0, 0, 2]);
        assert_eq!(series.values["f.1.read_bytes"], [0, 0, 16_384]);
        assert_eq!(series.values["f.1.read_ns"], [0, 0, 10_000_000]);
        assert!(series.values["f.1.write_ns"].is_empty());
    }

    #[test]
    fn a_series_that_is_full_doubles_its_interval_and_keeps_its_total() {
        let mut points = Points::counts();
        for second in 0..=POINTS_MAX as u64 {
            points.add(at_s(second), second);
        }

        let series = record([("operations".to_owned(), points)]);

        // 3,601 seconds in pairs: 1,801 points, the last one unpaired.
        let values = &series.values["operations"];
        assert_eq!(series.interval_ns, 2_000_000_000);
        assert_eq!(values.len(), 1801);
        assert_eq!(values[..3], [1, 2 + 3, 4 + 5]);
        assert_eq!(values.iter().sum::<u64>(), (0..=3600).sum::<u64>());
    }

    #[test]
    fn the_last_instant_of_all_takes_no_more_room_than_any_other() {
        let mut points = Points::counts();
        points.add(Instant::ZERO, 1);
        points.add(Instant::from_nanos(u64::MAX), 2);

        assert!(points.values.len() <= POINTS_MAX);
        assert_eq!(points.values.iter().sum::<u64>(), 3);
    }

    #[test]
    fn a_level_keeps_its_height_at_the_end_of_the_longer_interval() {
        let mut points = Points::levels();
        for (second, height) in [(1, 5), (2, 9), (4, 7)] {
            points.set(at_s(second), height);
        }
        points.set(at_s(POINTS_MAX as u64), 1);

        // 0 5 | 9 9 | 7 7 | .. | 1
        assert_eq!(points.values[..4], [5, 9, 7, 7]);
        assert_eq!(points.values.last(), Some(&1));
    }

    #[test]
    fn series_of_unequal_intervals_are_brought_to_the_longest() {
        let (mut long, mut short) = (Points::counts(), Points::counts());
        long.add(at_s(10_000), 1);
        (0..8).for_each(|second| short.add(at_s(second), 1));
        let mut both = short.clone();
        both.merge(long.clone());

        let series = record([("long".to_owned(), long), ("short".to_owned(), short)]);

        // 10,000 s need four seconds a point.
        assert_eq!(series.interval_ns, 4_000_000_000);
        assert_eq!(series.values["short"], [4, 4]);
        assert_eq!(both.values[..3], [4, 4, 0]);
        assert_eq!(both.values.iter().sum::<u64>(), 9);
    }

    #[test]
    fn many_disks_share_the_points_of_a_thousand() {
        let most = |disks| DiskSeries::of(disks).0[0].most;
        assert_eq!(disk_bytes(65_535), 6 * 60 * 8);
        assert_eq!((most(1), most(1024)), (3600, 3600));
        assert_eq!(most(2048), 1800);
        assert_eq!(most(65_535), 60);
    }
}
