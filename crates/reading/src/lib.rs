//! Activity at volumes so far: monotonic counters, read at an instant.
//!
//! A trial takes a [`Reading`] when the measured time begins and one when it ends, and keeps the
//! difference. Modelled volumes count every request; real ones what the operating system counts.
//!
//! ```
//! use model::Duration;
//! use reading::histogram;
//!
//! let mut latencies = histogram::empty();
//! histogram::record(&mut latencies, Duration::from_millis(2));
//! let text = histogram::encode(&latencies);
//! assert_eq!(histogram::decode(&text).expect("it was encoded").len(), 1);
//! ```

pub mod cause;
mod counter;
pub mod fact;
pub mod histogram;
pub mod object;
mod role;

pub use counter::DiskCounter;
pub use role::Role;

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use model::storage::{Usage, UsageOwner};
use model::{Duration, Instant, LimitSpec, Measure};
use serde::{Deserialize, Serialize};

use cause::{Limit, Owner, Spent};

/// Counters of all volumes of a site at one instant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// When it was taken, relative to the start of the site.
    pub at: Instant,
    /// Every disk of every volume, in the order of the volumes and of their stripes.
    pub disks: Vec<DiskReading>,
    /// Every limit of modelled disks and their machine; empty if the disks are real.
    pub limits: Vec<LimitReading>,
    /// How accurately modelled time was kept; `None` if nothing is paced.
    pub pacing: Option<Pacing>,
}

/// Counters of one disk.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DiskReading {
    /// Index of its volume in the site.
    pub volume: usize,
    /// `<volume>.<number from 1>`; a real directory has one disk.
    pub name: String,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Flushes.
    pub flushes: u64,
    /// Reads served by a modelled host cache.
    pub cache_hits: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Sum of the latencies of all reads.
    pub read_ns: u64,
    /// Sum of the latencies of all writes.
    pub write_ns: u64,
    /// Time during which at least one request was in flight; `None` if that is not counted.
    pub busy_ns: Option<u64>,
    /// Requests in flight at this instant.
    pub in_flight: u64,
    /// How requests spent their time, in nanoseconds. Modelled disks only.
    pub spent_ns: BTreeMap<Spent, u64>,
    /// Latencies of reads, of writes and of flushes; `None` if single requests are not visible, or there were none so far.
    pub latency: Option<Latencies>,
}

/// Distributions of latency, in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Latencies {
    /// Of reads.
    #[serde(with = "histogram::text")]
    pub reads: Histogram<u64>,
    /// Of writes.
    #[serde(with = "histogram::text")]
    pub writes: Histogram<u64>,
    /// Of flushes.
    #[serde(with = "histogram::text")]
    pub flushes: Histogram<u64>,
}

/// How much of one limit was used so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LimitReading {
    /// Its name: of the machine, or of one disk.
    pub name: Limit,
    /// The limit.
    pub limit: LimitSpec,
    /// What it limits.
    pub measure: Measure,
    /// I/Os or bytes that have passed so far.
    pub used: u64,
    /// Sustained I/Os or bytes per second.
    pub rate: u64,
    /// What could pass at once when `used` began to count.
    pub ready: u64,
    /// Burst credits; `None` if it has none.
    pub credits: Option<Credits>,
}

/// Burst credits, in I/Os or bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credits {
    /// Left at the start of the period.
    pub start: u64,
    /// Left at its end.
    pub left: u64,
}

/// How accurately the emulator kept modelled time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pacing {
    /// How requests reach the emulator: `fuser` or `io_uring`.
    pub transport: String,
    /// Requests answered.
    pub requests: u64,
    /// Those of them whose real files took longer than the model allowed, for which no reply can compensate.
    pub late: u64,
    /// The timing error of each delayed reply, in nanoseconds, early or late.
    #[serde(with = "histogram::text")]
    pub error: Histogram<u64>,
    /// How much earlier than due a reply is sent, to compensate for the caller's wake-up time;
    /// measured when the emulator starts.
    pub lead_ns: u64,
    /// Processor time of the emulator.
    pub cpu_ns: u64,
}

impl Reading {
    /// The activity from `earlier` until this reading.
    ///
    /// # Errors
    /// When `earlier` is not an earlier reading of the same site: some counter would have shrunk.
    pub fn since(&self, earlier: &Reading) -> Result<Reading, NotEarlier> {
        if self.disks.len() != earlier.disks.len() || self.limits.len() != earlier.limits.len() {
            return Err(NotEarlier);
        }
        let disks = self.disks.iter().zip(&earlier.disks);
        let limits = self.limits.iter().zip(&earlier.limits);
        let pacing = match (&self.pacing, &earlier.pacing) {
            (Some(own), Some(earlier)) => Some(own.since(earlier)?),
            (own, _) => own.clone(),
        };
        Ok(Reading {
            at: self.at,
            disks: disks
                .map(|(own, earlier)| own.since(earlier))
                .collect::<Result<_, _>>()?,
            limits: limits
                .map(|(own, earlier)| own.since(earlier))
                .collect::<Result<_, _>>()?,
            pacing,
        })
    }
}

impl LimitReading {
    /// Converts from the model; `volumes` are the names of the volumes in order.
    ///
    /// # Panics
    /// When it is a limit of another site's disk.
    pub fn of(usage: Usage, volumes: &[String]) -> LimitReading {
        let owner = match usage.owner {
            UsageOwner::Machine(name) => Owner::Machine(name),
            UsageOwner::Disk { volume, disk } => {
                Owner::Disk(format!("{}.{}", volumes[volume], disk + 1))
            }
        };
        LimitReading {
            name: Limit {
                owner,
                measure: Some(usage.measure.into()),
            },
            limit: usage.limit,
            measure: usage.measure,
            used: usage.used.saturating_sub(usage.state.waiting),
            rate: usage.rate,
            ready: usage.state.ready,
            credits: usage
                .state
                .credits
                .map(|left| Credits { start: left, left }),
        }
    }

    /// The share of what could have passed in `elapsed` that did, from 0 to 1: at the rate in force, with the available
    /// burst credits.
    pub fn utilisation(&self, elapsed: Duration) -> f64 {
        let passed_at = |ready: u64, rate: u64| ready as f64 + rate as f64 * elapsed.as_secs_f64();
        let most = match (self.limit.burst, self.credits) {
            (Some(burst), Some(credits)) => {
                passed_at(self.ready, burst.rate).min(passed_at(credits.start, self.rate))
            }
            (_, _) => passed_at(self.ready, self.rate),
        };
        match most > 0.0 {
            // Units are counted whole, so one too many may appear to have passed.
            true => (self.used as f64 / most).min(1.0),
            false => 0.0,
        }
    }

    /// The activity from `earlier` until this reading.
    ///
    /// # Errors
    /// When `earlier` is not an earlier reading of the same limit.
    pub fn since(&self, earlier: &LimitReading) -> Result<LimitReading, NotEarlier> {
        let credits = self.credits.zip(earlier.credits);
        Ok(LimitReading {
            used: less(self.used, earlier.used)?,
            ready: earlier.ready,
            credits: credits.map(|(own, earlier)| Credits {
                start: earlier.left,
                left: own.left,
            }),
            ..self.clone()
        })
    }
}

/// Two readings out of order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the counters of the volumes started anew in between")]
pub struct NotEarlier;

fn less(own: u64, earlier: u64) -> Result<u64, NotEarlier> {
    own.checked_sub(earlier).ok_or(NotEarlier)
}

fn rest(own: &Histogram<u64>, earlier: &Histogram<u64>) -> Result<Histogram<u64>, NotEarlier> {
    let mut rest = own.clone();
    rest.subtract(earlier).map_err(|_| NotEarlier)?;
    Ok(rest)
}

impl DiskReading {
    fn since(&self, earlier: &DiskReading) -> Result<DiskReading, NotEarlier> {
        let spent = self.spent_ns.iter().map(|(name, ns)| {
            let before = earlier.spent_ns.get(name).copied().unwrap_or(0);
            Ok((name.clone(), less(*ns, before)?))
        });
        Ok(DiskReading {
            volume: self.volume,
            name: self.name.clone(),
            reads: less(self.reads, earlier.reads)?,
            writes: less(self.writes, earlier.writes)?,
            flushes: less(self.flushes, earlier.flushes)?,
            cache_hits: less(self.cache_hits, earlier.cache_hits)?,
            read_bytes: less(self.read_bytes, earlier.read_bytes)?,
            write_bytes: less(self.write_bytes, earlier.write_bytes)?,
            read_ns: less(self.read_ns, earlier.read_ns)?,
            write_ns: less(self.write_ns, earlier.write_ns)?,
            busy_ns: match (self.busy_ns, earlier.busy_ns) {
                (Some(own), Some(earlier)) => Some(less(own, earlier)?),
                (_, _) => None,
            },
            in_flight: self.in_flight,
            spent_ns: spent.collect::<Result<_, _>>()?,
            latency: match (&self.latency, &earlier.latency) {
                (Some(own), Some(earlier)) => Some(Latencies {
                    reads: rest(&own.reads, &earlier.reads)?,
                    writes: rest(&own.writes, &earlier.writes)?,
                    flushes: rest(&own.flushes, &earlier.flushes)?,
                }),
                // There were no requests before.
                (own, None) => own.clone(),
                (None, Some(_)) => return Err(NotEarlier),
            },
        })
    }
}

impl Pacing {
    fn since(&self, earlier: &Pacing) -> Result<Pacing, NotEarlier> {
        Ok(Pacing {
            requests: less(self.requests, earlier.requests)?,
            late: less(self.late, earlier.late)?,
            error: rest(&self.error, &earlier.error)?,
            cpu_ns: less(self.cpu_ns, earlier.cpu_ns)?,
            transport: self.transport.clone(),
            lead_ns: self.lead_ns,
        })
    }
}
