//! What disks of one kind have in common: everything but their size, limits and price.

use model::{Bytes, DiskSpec, IoUnit, LimitSpec, Throughput};

use super::after_stop::AfterStop;
use super::latency::Latency;
use super::source::Source;

/// A kind of disk, such as Azure's premium SSDs: how it counts, how long it takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// What disks call it.
    pub name: String,
    /// What it is.
    pub title: String,
    /// How the vendor counts one I/O.
    pub io_unit: IoUnit,
    /// How fast the bytes of one request move; `None` adds nothing to the latency.
    pub transfer: Option<Throughput>,
    /// Requests served at the same time; `None` is no bound.
    pub in_flight_max: Option<u32>,
    /// The largest unit, aligned to itself, that the vendor promises to write whole or not at all when power is lost; `None`:
    /// nothing is promised.
    pub atomic_write: Option<Bytes>,
    /// Machine limits that govern its disks, in order of preference.
    pub machine_limits: Vec<String>,
    /// Whether a host cache may stand in front.
    pub host_cache: bool,
    /// Whether it has moving parts: what random requests take then depends on where the last one was.
    pub hard_disk: bool,
    /// What a disk holds after its machine was stopped.
    pub after_stop: AfterStop,
    /// Time to serve a read.
    pub read: Latency,
    /// Time to serve a write.
    pub write: Latency,
    /// Time to serve a flush.
    pub flush: Latency,
    /// Where all but the latencies comes from.
    pub sources: Vec<Source>,
    /// What nobody published, and why it was chosen so.
    pub assumed: Vec<String>,
    /// What to know.
    pub notes: Vec<String>,
}

impl Class {
    /// What nobody published of its disks, and why it was chosen so: of its latencies too.
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
