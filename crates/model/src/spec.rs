//! Disks, machines and volumes as plain values: the input of the model.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::cores::Speed;
use crate::request::Operation;
use crate::time::Duration;
use crate::units::{Bytes, Iops, Throughput};

/// A disk product: its limits and its latencies.
///
/// Not modelled: wear, garbage collection, a cache inside the disk, errors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DiskSpec {
    /// Its capacity.
    pub size: Bytes,
    /// Every limit that a request must pass; the slowest one counts.
    pub limits: Vec<LimitSpec>,
    /// How the vendor counts one I/O.
    pub io_unit: IoUnit,
    /// Time to serve a read, once admitted and started.
    pub read_latency: LatencySpec,
    /// Time to serve a write.
    pub write_latency: LatencySpec,
    /// Time to serve a flush.
    pub flush_latency: LatencySpec,
    /// How fast the bytes of one request move, added to the latency; `None` adds nothing.
    pub transfer: Option<Throughput>,
    /// Requests served at the same time; `None`: unbounded.
    pub in_flight_max: Option<u32>,
    /// Names of the machine limits that govern requests to this disk, in order of preference: the
    /// first that the machine has applies. Empty: none applies.
    pub machine_limits: Vec<String>,
    /// Whether the vendor allows a host cache in front of it.
    pub host_cache_allowed: bool,
}

/// One limit on requests or bytes per second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LimitSpec {
    /// Which requests it counts.
    pub counts: Counts,
    /// The sustained rate.
    pub rate: Rate,
    /// How much may pass at once before pacing begins, as time at the rate.
    pub depth: Duration,
    /// A higher rate, for as long as credits last.
    pub burst: Option<Burst>,
}

/// Burst credits: a higher rate that is paid for from a bucket, refilled at the sustained rate.
///
/// Both Azure and AWS document this rule: credits are spent at `used - provisioned` and earned at
/// `provisioned - used` (<https://learn.microsoft.com/azure/virtual-machines/disk-bursting>, 2023-05-02;
/// <https://docs.aws.amazon.com/ebs/latest/userguide/general-purpose.html>, 2023-05-31).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Burst {
    /// The rate while credits last, in the unit of the limit.
    pub rate: u64,
    /// What the full bucket holds, in I/Os or bytes.
    pub credits: u64,
    /// What it holds at the start.
    pub credits_initial: u64,
}

/// Which requests a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Counts {
    /// Reads and writes together.
    All,
    /// Reads alone.
    Reads,
    /// Writes alone.
    Writes,
}

/// A rate of requests or of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rate {
    /// Requests per second, counted as [`IoUnit`] specifies.
    Iops(Iops),
    /// Bytes per second.
    Throughput(Throughput),
}

/// How a vendor counts requests against an IOPS limit, and bytes against a throughput limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoUnit {
    /// A request longer than this counts as several; `None`: a request of any size counts once.
    pub size_max: Option<Bytes>,
    /// A request shorter than this is charged this many bytes (AWS st1 and sc1: 1 MiB).
    pub charge_min: Option<Bytes>,
}

/// A latency: how long serving one request takes, without queueing and throttling.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "shape")]
pub enum LatencySpec {
    /// The same every time.
    Constant {
        /// The latency.
        value: Duration,
    },
    /// Memoryless, for checks against queueing theory.
    Exponential {
        /// The mean.
        mean: Duration,
    },
    /// Log-normal, the usual shape of a storage latency's body.
    LogNormal {
        /// Half the requests take less.
        p50: Duration,
        /// 99 in 100 take less.
        p99: Duration,
    },
}

/// The machine a database runs on: cores, memory, and the limits of its disks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MachineSpec {
    /// Virtual processors.
    pub cores: u32,
    /// How fast each is, beside those that the work was measured on.
    #[serde(default = "same_speed", skip_serializing_if = "Speed::is_same")]
    pub speed: Speed,
    /// Main memory.
    pub memory: Bytes,
    /// The machine's own limits by name (`cached`, `uncached`, `ebs`, `pd-ssd`, ..), each shared by
    /// all disks that name it.
    pub limits: BTreeMap<String, Vec<LimitSpec>>,
    /// The host cache in front of its disks, if any.
    pub host_cache: Option<HostCacheSpec>,
    /// The local disk of the machine, if any.
    pub local_disk: Option<DiskSpec>,
}

/// The host's cache for remote disks (Azure BlobCache).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostCacheSpec {
    /// Capacity, for all disks of the machine together.
    pub size: Bytes,
    /// Time to serve a hit.
    pub hit_latency: LatencySpec,
    /// Time that a write takes beyond the disk's where the cache is read-only, as it is done once both have it.
    pub through_latency: LatencySpec,
    /// Name of the machine limit that every request through the cache passes.
    pub limit: String,
}

/// What the host cache does for a disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostCacheMode {
    /// Requests go straight to the disk.
    #[default]
    None,
    /// Reads may hit; writes go through to the disk.
    ReadOnly,
    /// Reads may hit; writes complete in the cache and reach the disk later, unless they are durable when they complete.
    ReadWrite,
}

/// Where files live: one disk, or a stripe of several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VolumeSpec {
    /// Its name in the experiment.
    pub name: String,
    /// Its disks, in stripe order.
    pub disks: Vec<DiskSpec>,
    /// Bytes written to one disk before moving to the next; ignored for one disk.
    pub interleave: Bytes,
    /// What the host cache does for its disks.
    pub host_cache: HostCacheMode,
}

impl LatencySpec {
    /// No time at all.
    pub const ZERO: LatencySpec = LatencySpec::Constant {
        value: Duration::ZERO,
    };

    /// The same every time.
    pub const fn constant(value: Duration) -> LatencySpec {
        LatencySpec::Constant { value }
    }
}

impl LimitSpec {
    /// How much of a limit may pass at once unless specified otherwise: 10 ms at its rate.
    ///
    /// Vendors do not publish it. A saturated EBS volume is paced evenly, with a first second at about
    /// three times the rate (bitofsky/aws-ebs-benchmark, 2021-05-07), so the true depth is small.
    pub const DEPTH_DEFAULT: Duration = Duration::from_millis(10);

    /// The limit with this many times its rates, at least 1; credits stay.
    pub fn times(self, factor: f64) -> LimitSpec {
        let times = |rate: u64| ((rate as f64 * factor) as u64).max(1);
        LimitSpec {
            rate: match self.rate {
                Rate::Iops(rate) => Rate::Iops(Iops(times(rate.0))),
                Rate::Throughput(rate) => Rate::Throughput(Throughput(times(rate.0))),
            },
            burst: self.burst.map(|burst| Burst {
                rate: times(burst.rate),
                ..burst
            }),
            ..self
        }
    }

    /// What is left of the limit for a load that asks for this many times as much: its rates and credits divided by it.
    #[must_use]
    pub fn shared(self, factor: f64) -> LimitSpec {
        let limit = self.times(1.0 / factor);
        LimitSpec {
            burst: limit.burst.map(|burst| Burst {
                credits: (burst.credits as f64 / factor) as u64,
                credits_initial: (burst.credits_initial as f64 / factor) as u64,
                ..burst
            }),
            ..limit
        }
    }

    /// A limit on requests of both directions.
    pub const fn iops(rate: Iops) -> LimitSpec {
        LimitSpec {
            counts: Counts::All,
            rate: Rate::Iops(rate),
            depth: Self::DEPTH_DEFAULT,
            burst: None,
        }
    }

    /// A limit on bytes of both directions.
    pub const fn throughput(rate: Throughput) -> LimitSpec {
        LimitSpec {
            counts: Counts::All,
            rate: Rate::Throughput(rate),
            depth: Self::DEPTH_DEFAULT,
            burst: None,
        }
    }
}

impl DiskSpec {
    /// A disk without any limit or latency, of the largest size.
    pub fn unlimited() -> DiskSpec {
        DiskSpec {
            size: Bytes(u64::MAX),
            limits: Vec::new(),
            io_unit: IoUnit::default(),
            read_latency: LatencySpec::ZERO,
            write_latency: LatencySpec::ZERO,
            flush_latency: LatencySpec::ZERO,
            transfer: None,
            in_flight_max: None,
            machine_limits: Vec::new(),
            host_cache_allowed: true,
        }
    }

    /// Time to serve a request of one kind.
    pub fn latency(&self, operation: Operation) -> LatencySpec {
        match operation {
            Operation::Read => self.read_latency,
            Operation::Write => self.write_latency,
            Operation::Flush => self.flush_latency,
        }
    }

    /// The same, to change it.
    pub fn latency_mut(&mut self, operation: Operation) -> &mut LatencySpec {
        match operation {
            Operation::Read => &mut self.read_latency,
            Operation::Write => &mut self.write_latency,
            Operation::Flush => &mut self.flush_latency,
        }
    }

    /// A disk with just two limits, paced strictly.
    pub fn limited(iops: Iops, throughput: Throughput) -> DiskSpec {
        let strict = |limit: LimitSpec| LimitSpec {
            depth: Duration::ZERO,
            ..limit
        };
        DiskSpec {
            limits: vec![
                strict(LimitSpec::iops(iops)),
                strict(LimitSpec::throughput(throughput)),
            ],
            ..DiskSpec::unlimited()
        }
    }
}

impl MachineSpec {
    /// A machine without limits.
    pub fn unlimited() -> MachineSpec {
        MachineSpec {
            cores: 64,
            speed: Speed::SAME,
            memory: Bytes(u64::MAX),
            limits: BTreeMap::new(),
            host_cache: None,
            local_disk: None,
        }
    }
}

fn same_speed() -> Speed {
    Speed::SAME
}

impl VolumeSpec {
    /// A volume of one disk without a host cache.
    pub fn of(name: &str, disk: DiskSpec) -> VolumeSpec {
        VolumeSpec {
            name: name.into(),
            disks: vec![disk],
            interleave: Bytes::kib(64),
            host_cache: HostCacheMode::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_is_multiplied_keeps_its_credits_and_lets_something_pass() {
        let burst = Burst {
            rate: 3_000,
            credits: 54_000,
            credits_initial: 500,
        };
        let limit = LimitSpec {
            burst: Some(burst),
            ..LimitSpec::iops(Iops(100))
        };
        let less = limit.times(0.9);
        assert_eq!(less.rate, Rate::Iops(Iops(90)));
        assert_eq!(
            less.burst,
            Some(Burst {
                rate: 2_700,
                ..burst
            })
        );
        assert_eq!(less.depth, limit.depth);
        assert_eq!(limit.times(1.0), limit);
        let least = LimitSpec::throughput(Throughput(1)).times(0.9);
        assert_eq!(least.rate, Rate::Throughput(Throughput(1)));
    }
}
