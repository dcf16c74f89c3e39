//! From samples to a disk: limits, latencies, transfer rate, places in flight.

use model::{Bytes, Duration, LatencySpec, Throughput};
use serde::Serialize;

use super::sweep::{is_flat, saturated};
use super::{LARGE, Purpose, SMALL, Sample, Side};

/// Two rates within this share of each other are treated as one.
const SAME: f64 = 0.10;
/// A rate within this share of what another limit allows is not evidence of a limit of its own.
const EXPLAINED: f64 = 0.05;
/// If both sides together reach this many times the requests of one, each side has its own limit.
const APART: f64 = 1.25;
/// A p99 within this share of the p50 is a constant latency: fio counts in steps of 1.6 %.
const STEADY: f64 = 0.05;
/// Latencies must be this far apart to distinguish places in flight from a limit.
const DISTINCT: f64 = 1.3;
/// Share of a processor from which the measuring program may be the bottleneck.
const BUSY: f64 = 0.9;

/// A disk as derived from the samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// Time of a read, without its transfer.
    pub read: LatencySpec,
    /// Time of a write.
    pub write: LatencySpec,
    /// Time of a flush.
    pub flush: LatencySpec,
    /// How fast the bytes of one request move.
    pub transfer: Option<Throughput>,
    /// Requests per second, if requests are limited.
    pub iops: Option<Rates>,
    /// Bytes per second, if bytes are limited.
    pub throughput: Option<Rates>,
    /// Requests served at the same time, if that explains every rate.
    pub in_flight_max: Option<u32>,
    /// Assumptions, with reasons.
    pub assumed: Vec<String>,
    /// What the user should know before relying on it.
    pub warnings: Vec<String>,
}

/// Rates of reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Rates {
    /// One limit for both together.
    Shared(u64),
    /// One for each.
    Split {
        /// Of reads.
        read: u64,
        /// Of writes.
        write: u64,
    },
}

/// Fits a disk to the `samples` of a whole [`super::sweep`].
pub fn fit(samples: &[Sample]) -> Fitted {
    let idle = |side, size| {
        let found = samples.iter().find(|sample| {
            let job = &sample.job;
            job.purpose == Purpose::Idle && job.side == side && job.size == size
        });
        found.expect("a sweep measures every latency")
    };
    let most = |side, size| saturated(samples, side, size);
    let transfer_s = per_byte([Side::Read, Side::Write].map(|side| {
        let longer = idle(side, LARGE).mean_s() - idle(side, SMALL).mean_s();
        longer / (LARGE.0 - SMALL.0) as f64
    }));
    let latency = |side| latency(idle(side, SMALL), transfer_s * SMALL.0 as f64);
    let mut fitted = Fitted {
        read: latency(Side::Read),
        write: latency(Side::Write),
        flush: self::latency(idle(Side::Flush, SMALL), 0.0),
        transfer: (transfer_s > 0.0).then(|| Throughput(rounded(1.0 / transfer_s))),
        iops: None,
        throughput: None,
        in_flight_max: in_flight(&[
            (most(Side::Read, SMALL), idle(Side::Read, SMALL).mean_s()),
            (most(Side::Write, SMALL), idle(Side::Write, SMALL).mean_s()),
            (most(Side::Read, LARGE), idle(Side::Read, LARGE).mean_s()),
            (most(Side::Write, LARGE), idle(Side::Write, LARGE).mean_s()),
        ]),
        assumed: vec![
            "a request of any size counts as one I/O; only 8 KiB and 1 MiB were measured"
                .to_owned(),
            "limits let 10 ms pass at once, and there are no burst credits".to_owned(),
            "it keeps what it holds when its machine is stopped; of a disk inside a machine, say after_stop = \"raw\" or \"empty\""
                .to_owned(),
        ],
        warnings: client_warnings(samples),
    };
    if fitted.in_flight_max.is_none() {
        fit_limits(&mut fitted, samples);
    }
    fitted
}

fn fit_limits(fitted: &mut Fitted, samples: &[Sample]) {
    let sides = [Side::Read, Side::Write];
    let small = sides.map(|side| saturated(samples, side, SMALL));
    let large = sides.map(|side| saturated(samples, side, LARGE));
    let bytes = |iops: f64, size: Bytes| iops * size.0 as f64;
    let explained = |own: f64, other: f64| own >= other * (1.0 - EXPLAINED);
    // Requests of 8 KiB that move as many bytes as those of 1 MiB are limited by bytes, and the latter
    // by requests if there are as many of them.
    let by_bytes = [0, 1].map(|at| explained(bytes(small[at], SMALL), bytes(large[at], LARGE)));
    let by_requests = [0, 1].map(|at| explained(large[at], small[at]));
    if by_bytes == [true, true] {
        fitted
            .assumed
            .push("no limit on requests: bytes were what was limited at 8 KiB already".into());
    } else {
        fitted.iops = Some(rates(small, saturated(samples, Side::Mixed, SMALL)));
    }
    if by_requests == [true, true] {
        fitted
            .assumed
            .push("no limit on bytes: requests were what was limited at 1 MiB still".into());
    } else {
        let mixed = bytes(saturated(samples, Side::Mixed, LARGE), LARGE);
        fitted.throughput = Some(rates(large.map(|iops| bytes(iops, LARGE)), mixed));
    }
    for side in sides {
        for size in [SMALL, LARGE] {
            if !is_flat(samples, side, size) {
                let side = match side {
                    Side::Read => "reads",
                    Side::Write | Side::Mixed | Side::Flush => "writes",
                };
                fitted.warnings.push(format!(
                    "{side} of {size} still gained at the deepest queue: the limit may be higher"
                ));
            }
        }
    }
}

/// One limit for both sides, or one each.
fn rates([read, write]: [f64; 2], mixed: f64) -> Rates {
    let same = (read - write).abs() <= SAME * read.max(write);
    if same && mixed < APART * read.max(write) {
        Rates::Shared(rounded((read + write) / 2.0))
    } else {
        Rates::Split {
            read: rounded(read),
            write: rounded(write),
        }
    }
}

/// To four digits, more than a measurement can justify; at least 1.
fn rounded(rate: f64) -> u64 {
    let digits = rate.max(1.0).log10().floor() as i32;
    let unit = 10_f64.powi((digits - 3).max(0));
    ((rate / unit).round() * unit).max(1.0) as u64
}

/// Transfer time of a byte: both sides share one rate, and their mean is the nearest to both.
fn per_byte(sides_s: [f64; 2]) -> f64 {
    sides_s.map(|side| side.max(0.0)).iter().sum::<f64>() / 2.0
}

/// The distribution of a latency without the transfer.
fn latency(sample: &Sample, transfer_s: f64) -> LatencySpec {
    let transfer_ns = transfer_s * 1e9;
    let without = |ns: u64| {
        // To 0.1 us, as in the catalogue's text; never zero.
        let tenths = ((ns as f64 - transfer_ns) / 100.0).round().max(1.0);
        Duration::from_nanos(tenths as u64 * 100)
    };
    let p50 = without(sample.latency.value_at_quantile(0.5));
    let p99 = without(sample.latency.value_at_quantile(0.99));
    if p99.as_secs_f64() <= p50.as_secs_f64() * (1.0 + STEADY) {
        let value = without(sample.latency.mean() as u64);
        return LatencySpec::Constant { value };
    }
    LatencySpec::LogNormal { p50, p99 }
}

/// Requests served at the same time: by Little's law the rate times the latency, which is the same
/// for every kind of request only if places are the bottleneck.
///
/// Source: J. D. C. Little, "A Proof for the Queuing Formula: L = λW", Operations Research 9(3), 1961.
fn in_flight(saturated: &[(f64, f64)]) -> Option<u32> {
    let places = saturated.iter().map(|(iops, latency_s)| iops * latency_s);
    let mean = places.clone().sum::<f64>() / saturated.len() as f64;
    let alike = places
        .clone()
        .all(|places| (places - mean).abs() <= SAME * mean);
    let latencies = || saturated.iter().map(|(_, latency_s)| *latency_s);
    let slowest = latencies().fold(0.0, f64::max);
    let quickest = latencies().fold(f64::INFINITY, f64::min);
    (alike && slowest > quickest * DISTINCT).then(|| (mean.round() as u32).max(1))
}

fn client_warnings(samples: &[Sample]) -> Vec<String> {
    let busy = |sample: &&Sample| sample.client_busy.is_some_and(|busy| busy > BUSY);
    let jobs: Vec<String> = samples
        .iter()
        .filter(busy)
        .map(|sample| sample.job.to_string())
        .collect();
    if jobs.is_empty() {
        return Vec::new();
    }
    vec![format!(
        "fio used a whole processor in {} of {} jobs ({}), so that the volume may be faster",
        jobs.len(),
        samples.len(),
        jobs.join("; ")
    )]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_shared_only_where_a_mix_gets_no_more() {
        assert_eq!(rates([5_000.0, 5_100.0], 5_050.0), Rates::Shared(5_050));
        let split = Rates::Split {
            read: 5_000,
            write: 5_100,
        };
        assert_eq!(rates([5_000.0, 5_100.0], 10_050.0), split);
        let split = Rates::Split {
            read: 54_990,
            write: 30_460,
        };
        assert_eq!(rates([54_987.0, 30_459.0], 40_000.0), split);
    }

    #[test]
    fn places_in_flight_show_in_rates_that_follow_latencies() {
        // 4 places: 4 / 1 ms, 4 / 2 ms, 4 / 4 ms, 4 / 8 ms.
        let four = [(4e3, 1e-3), (2e3, 2e-3), (1e3, 4e-3), (5e2, 8e-3)];
        assert_eq!(in_flight(&four), Some(4));
        // A limit of 4,000 whatever the latency.
        let limit = [(4e3, 1e-3), (4e3, 2e-3), (4e3, 4e-3), (4e3, 8e-3)];
        assert_eq!(in_flight(&limit), None);
        // Latencies too similar to distinguish.
        let alike = [(4e3, 1e-3), (4e3, 1e-3), (4e3, 1e-3), (4e3, 1e-3)];
        assert_eq!(in_flight(&alike), None);
    }
}
