//! What disks of one kind have in common: everything but their size, limits and price.

use model::{Bytes, DiskSpec, IoUnit, LimitSpec, Throughput};

use super::after_stop::AfterStop;
use super::latency::Latency;
use super::source::{Source, Spreads};

/// A kind of disk, such as Azure's premium SSDs: how I/Os are counted, and how long they take.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// Name that disks refer to it by.
    pub name: String,
    /// What it is.
    pub title: String,
    /// How the vendor counts one I/O.
    pub io_unit: IoUnit,
    /// How fast the bytes of one request move; `None` adds nothing to the latency.
    pub transfer: Option<Throughput>,
    /// Maximum number of requests served concurrently; `None`: unbounded.
    pub in_flight_max: Option<u32>,
    /// The largest naturally aligned unit that the vendor guarantees to write atomically on power loss; `None`: no guarantee.
    pub atomic_write: Option<Bytes>,
    /// Machine limits that govern its disks, in order of preference.
    pub machine_limits: Vec<String>,
    /// Whether a host cache can be used.
    pub host_cache: bool,
    /// Whether it has moving parts: service time of random requests then depends on the position of the previous one.
    pub hard_disk: bool,
    /// What a disk holds after its machine was stopped.
    pub after_stop: AfterStop,
    /// Time to serve a read.
    pub read: Latency,
    /// Time to serve a write.
    pub write: Latency,
    /// Time to serve a flush.
    pub flush: Latency,
    /// Where hosts cache on it: time that a write through a read-only cache takes beyond the disk's. `None`: no time.
    pub through_cache: Option<Latency>,
    /// Sources of everything except the latencies.
    pub sources: Vec<Source>,
    /// Assumptions in place of unpublished figures, with the reason.
    pub assumed: Vec<String>,
    /// Remarks for the user.
    pub notes: Vec<String>,
}

impl Class {
    /// Assumptions about its disks in place of unpublished figures, with the reason; including its latencies.
    pub fn assumptions(&self) -> Vec<String> {
        let latencies = [
            ("read", &self.read),
            ("write", &self.write),
            ("flush", &self.flush),
        ];
        let of_latency = |(name, latency): (&str, &Latency)| {
            let assumed = latency.assumed.as_ref()?;
            Some(format!("{name} latency {}: {assumed}", latency.shown()))
        };
        let latencies = latencies.into_iter().filter_map(of_latency);
        latencies.chain(self.assumed.iter().cloned()).collect()
    }

    /// How far its disks differ.
    pub fn spreads(&self) -> Spreads {
        Spreads {
            kind: self.name.clone(),
            read: self.read.between,
            write: self.write.between,
            flush: self.flush.between,
            are_assumed: [&self.read, &self.write, &self.flush]
                .iter()
                .any(|latency| latency.is_between_assumed),
        }
    }

    /// A disk of this class.
    pub(super) fn spec(&self, size: Bytes, limits: Vec<LimitSpec>) -> DiskSpec {
        DiskSpec {
            size,
            limits,
            io_unit: self.io_unit,
            read_latency: self.read.spec,
            write_latency: self.write.spec,
            flush_latency: self.flush.spec,
            transfer: self.transfer,
            in_flight_max: self.in_flight_max,
            machine_limits: self.machine_limits.clone(),
            host_cache_allowed: self.host_cache,
        }
    }
}
