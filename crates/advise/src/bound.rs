//! Lower bounds on operation time: asymptotic bounds of closed systems.
//!
//! Source: Lazowska et al., *Quantitative System Performance*, 1984, chapter 5. With `N` sessions that think for `Z` between
//! operations, an operation takes no less than its requests take without any queue, and no less than `N x D - Z`, where `D`
//! is its demand on the busiest resource.

use model::{Bytes, Counts, DiskSpec, LimitSpec, MachineSpec, Rate};
use reading::Role;
use replay::Demand;

use super::load::{Requests, requests};

/// Demand of one operation on one volume.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct OnVolume {
    /// Seconds that it waits without contention.
    pub(crate) wait_s: f64,
    /// Longest time that it occupies one of the disks' own limits, in seconds.
    pub(crate) own_s: f64,
    /// Lower bound on the reads that count towards the machine's limits.
    pub(crate) reads: Transfers,
    /// Lower bound on the writes.
    pub(crate) writes: Transfers,
    /// Upper bound on what counts towards the disks' own limits.
    pub(crate) most: Both,
}

/// Counted requests and bytes, by direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Both {
    pub(crate) reads: Transfers,
    pub(crate) writes: Transfers,
}

/// Requests and bytes of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Transfers {
    pub(crate) requests: f64,
    pub(crate) bytes: f64,
}

impl std::ops::Add for Transfers {
    type Output = Transfers;

    fn add(self, other: Transfers) -> Transfers {
        Transfers {
            requests: self.requests + other.requests,
            bytes: self.bytes + other.bytes,
        }
    }
}

impl OnVolume {
    /// Demand of one operation on a stripe of `disks` such disks that holds these roles.
    pub(crate) fn of(demand: &Demand, roles: &[Role], disk: &DiskSpec, disks: u32) -> OnVolume {
        let disks = f64::from(disks);
        let all: Vec<Requests> = roles
            .iter()
            .flat_map(|role| requests(demand, *role))
            .collect();
        let mut on = OnVolume::default();
        let mut occupied_s = 0.0;
        for asked in &all {
            let spec = if asked.reads {
                &disk.read_latency
            } else {
                &disk.write_latency
            };
            // A long request may be on all disks at once.
            let transfer_s = disk
                .transfer
                .map_or(0.0, |rate| asked.size.0 as f64 / disks / rate.0 as f64);
            let latency_s = spec.mean().as_secs_f64();
            on.wait_s += asked.waited * (latency_s + transfer_s)
                + asked.flushes * disk.flush_latency.mean().as_secs_f64();
            occupied_s += asked.per_operation * latency_s;
            let direction = if asked.reads {
                &mut on.reads
            } else {
                &mut on.writes
            };
            *direction = *direction + volume(asked, asked.per_operation, asked.bytes, disk);
        }
        // As the disk charges it: a short request may count as a longer one.
        let charged = |reads: bool, of: fn(&Requests) -> (f64, f64)| {
            let own = all.iter().filter(|asked| asked.reads == reads);
            own.fold(Transfers::default(), |sum, asked| {
                let (requests, bytes) = of(asked);
                let own = volume(asked, requests, bytes, disk);
                let least = disk.io_unit.charge_min.unwrap_or(Bytes::ZERO).0 as f64;
                sum + Transfers {
                    bytes: own.bytes.max(requests * least),
                    ..own
                }
            })
        };
        let least = |asked: &Requests| (asked.per_operation, asked.bytes);
        let most = |asked: &Requests| (asked.most, asked.most_bytes);
        let limits_s = longest(&disk.limits, charged(true, least), charged(false, least)) / disks;
        let places_s = disk
            .in_flight_max
            .map_or(0.0, |places| occupied_s / (f64::from(places) * disks));
        on.own_s = limits_s.max(places_s);
        on.most = Both {
            reads: charged(true, most),
            writes: charged(false, most),
        };
        on
    }
}

/// Requests as the vendor counts them, and their bytes.
fn volume(asked: &Requests, requests: f64, bytes: f64, disk: &DiskSpec) -> Transfers {
    let pieces = disk
        .io_unit
        .size_max
        .map_or(1.0, |most| (asked.size.0 as f64 / most.0 as f64).max(1.0));
    Transfers {
        requests: requests * pieces,
        bytes,
    }
}

/// Longest time that an operation occupies one of these limits, in seconds.
pub(crate) fn longest(limits: &[LimitSpec], reads: Transfers, writes: Transfers) -> f64 {
    let seconds = |limit: &LimitSpec| {
        let counted = match limit.counts {
            Counts::All => reads + writes,
            Counts::Reads => reads,
            Counts::Writes => writes,
        };
        match limit.rate {
            Rate::Iops(rate) => counted.requests / rate.0 as f64,
            Rate::Throughput(rate) => counted.bytes / rate.0 as f64,
        }
    };
    limits.iter().map(seconds).fold(0.0, f64::max)
}

/// Index of the machine limit that governs a disk.
pub(crate) fn governing(disk: &DiskSpec, machine: &MachineSpec) -> Option<usize> {
    let name = disk
        .machine_limits
        .iter()
        .find(|name| machine.limits.contains_key(*name))?;
    machine.limits.keys().position(|limit| limit == name)
}

/// Lower bound on the time of an operation, in seconds, on volumes that are each governed by a limit of the machine.
pub(crate) fn least_s<'a>(
    demand: &Demand,
    machine: &MachineSpec,
    volumes: impl Iterator<Item = (&'a OnVolume, Option<usize>)>,
) -> f64 {
    let processor_s = machine.speed.time(demand.processor).as_secs_f64();
    let lock_s = demand.lock.as_secs_f64();
    let mut alone_s = processor_s + lock_s;
    let mut longest_s = lock_s.max(processor_s / f64::from(machine.cores));
    let mut shared = [(Transfers::default(), Transfers::default()); 8];
    for (on, limit) in volumes {
        alone_s += on.wait_s;
        longest_s = longest_s.max(on.own_s);
        if let Some(shared) = limit.and_then(|limit| shared.get_mut(limit)) {
            *shared = (shared.0 + on.reads, shared.1 + on.writes);
        }
    }
    for (limits, (reads, writes)) in machine.limits.values().zip(shared) {
        longest_s = longest_s.max(longest(limits, reads, writes));
    }
    let busy_s = f64::from(demand.sessions) * longest_s - demand.delay.as_secs_f64();
    alone_s.max(busy_s)
}
