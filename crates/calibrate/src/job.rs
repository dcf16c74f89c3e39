//! The measurements of a volume: one job after the other.

use std::fmt;
use std::num::NonZeroU32;

use hdrhistogram::Histogram;
use model::{Bytes, Duration, Instant, Iops};
use serde::Serialize;

use raw::{Pattern, RawOutcome, RawSpec, SyncSpec, Window};

/// A database's page.
pub const SMALL: Bytes = Bytes::kib(8);
/// Long enough that bytes, not requests, are the limit.
pub const LARGE: Bytes = Bytes::mib(1);

/// One measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Job {
    /// Its purpose.
    pub purpose: Purpose,
    /// The kind of requests.
    pub side: Side,
    /// Their length.
    pub size: Bytes,
    /// Requests in flight.
    pub depth: u32,
    /// Maximum rate, so that no limit holds them back.
    pub rate: Option<Iops>,
}

/// The purpose of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// The throughput at a depth.
    Sweep,
    /// The latency of an unthrottled request.
    Idle,
}

/// The requests that a measurement is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// As many reads as writes.
    Mixed,
    /// Flushes, one after each write.
    Flush,
}

/// The result of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The job.
    pub job: Job,
    /// Reads and writes per second.
    pub iops: f64,
    /// Latencies of its side's requests, in nanoseconds.
    pub latency: Histogram<u64>,
    /// Share of a processor used by the busiest thread of the measuring program, if known.
    pub client_busy: Option<f64>,
}

impl Job {
    /// As plain I/O in a file of `span`.
    pub fn spec(&self, span: Bytes) -> RawSpec {
        let (read_percent, sync) = match self.side {
            Side::Read => (100, SyncSpec::None),
            Side::Write => (0, SyncSpec::None),
            Side::Mixed => (50, SyncSpec::None),
            Side::Flush => (0, SyncSpec::FlushEvery(NonZeroU32::MIN)),
        };
        RawSpec {
            block_size: self.size,
            read_percent,
            depth: self.depth,
            pattern: Pattern::Random,
            span,
            sync,
            rate: self.rate,
        }
    }

    /// The measured part of a job that takes `span` in total: all but its first tenth.
    ///
    /// A tenth exceeds the 10 ms that limits let pass at once for every job of 0.1 s or more.
    pub fn window(span: Duration) -> Window {
        Window {
            from: Instant::from_nanos(span.as_nanos() / 10),
            until: Instant::from_nanos(span.as_nanos()),
        }
    }

    /// Its result, taken from `outcome`.
    pub fn sample(&self, outcome: &RawOutcome) -> Sample {
        let transfers = outcome.transfers();
        let elapsed = outcome.elapsed.as_secs_f64().max(1e-9);
        Sample {
            job: self.clone(),
            iops: transfers.count() as f64 / elapsed,
            latency: match self.side {
                Side::Read | Side::Write | Side::Mixed => transfers.latency,
                Side::Flush => outcome.flushes.latency.clone(),
            },
            client_busy: outcome.client_busy,
        }
    }
}

impl Sample {
    /// Mean latency in seconds.
    pub fn mean_s(&self) -> f64 {
        self.latency.mean() / 1e9
    }
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = match self.side {
            Side::Read => "read",
            Side::Write => "write",
            Side::Mixed => "half read, half write",
            Side::Flush => "flush after a write of",
        };
        write!(f, "{side} {}", self.size)?;
        match self.purpose {
            Purpose::Sweep => write!(f, ", depth {}", self.depth),
            Purpose::Idle => f.write_str(", nothing else"),
        }
    }
}
