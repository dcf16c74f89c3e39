//! Uncertain values of an arm, which each block of a simulated run draws.
//!
//! Arms on one kind of disk, in one block, are drawn alike, since the question is which of them to choose on the same disks;
//! those on different kinds are not. A value that the experiment states (`override`, `engine.cpu`, `workload.log_bytes_per_row`)
//! is taken as known: it was measured, documented for that row, or fitted to it.
//!
//! Not drawn: how deep a limit's bucket is; an engine's constants, such as its writes in flight. Disks of one volume are drawn
//! alike, although those of a stripe differ.

use catalogue::{
    Catalogue, Known, MachineEntry, Spreads, delivered_by, limit_spread, statement_spread,
};
use experiment::spec::{self, Disk, Script, Settings};
use model::{CpuCosts, HostCacheMode, Operation, Spread};
use workload::Workload;

/// A value of an arm that is not known exactly.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Unknown {
    /// Its name, the same in all arms that share it: `write latency of azure-premium`.
    pub(super) name: String,
    pub(super) spread: Spread,
    pub(super) what: What,
}

/// Which values of a stage an unknown is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// The disks of a volume, by its place in the stage.
    Latency { volume: usize, operation: Operation },
    /// What the disks of a volume deliver of their limits, by its place in the stage.
    Limits { volume: usize },
    /// What the machine delivers of its limits.
    MachineLimits,
    /// Hits of the machine's host cache.
    CacheHit,
    /// What the workload asks of the disks.
    Io,
    /// What work costs the processor.
    Processor,
    /// Log of a changed row.
    LogBytes,
}

/// The unknowns of the disks of `volume`, which the stage has at this place.
pub(super) fn of_volume(
    place: usize,
    volume: &spec::Volume,
    entry: Option<&MachineEntry>,
    catalogue: &Catalogue,
) -> (Vec<Unknown>, Option<Spreads>) {
    let spreads = match &volume.disk {
        Disk::Unlimited | Disk::Recorded => None,
        Disk::Local => entry.and_then(|entry| entry.local_spreads.clone()),
        Disk::Catalogue(name) => catalogue.disk(name).ok().map(|disk| disk.class.spreads()),
    };
    let Some(spreads) = spreads else {
        return (Vec::new(), None);
    };
    let by = &volume.replaced;
    let latencies = [
        (Operation::Read, by.read_latency),
        (Operation::Write, by.write_latency),
        (Operation::Flush, by.flush_latency),
    ];
    let unknowns = latencies.into_iter().filter(|(_, stated)| stated.is_none());
    let unknowns = unknowns.map(|(operation, _)| Unknown {
        name: spreads.name_of(operation),
        spread: spreads.of(operation),
        what: What::Latency {
            volume: place,
            operation,
        },
    });
    let are_stated = by.iops_limit.is_some() || by.throughput_limit.is_some();
    let limits = (!are_stated).then(|| Unknown {
        name: delivered_by(&spreads.kind),
        spread: spreads.of_limits(),
        what: What::Limits { volume: place },
    });
    (unknowns.chain(limits).collect(), Some(spreads))
}

/// What is not known of a workload that stands for another load.
pub(super) fn of_workload(workload: &Workload) -> Unknown {
    Unknown {
        name: format!("I/O of {}", workload.name),
        spread: workload.io_between,
        what: What::Io,
    }
}

/// The unknowns of an arm besides those of its volumes' disks.
pub(super) fn of_arm(settings: &Settings, entry: Option<&MachineEntry>) -> Vec<Unknown> {
    let is_cached = |volume: &spec::Volume| volume.host_cache != HostCacheMode::None;
    let hits = entry.and_then(|entry| entry.host_cache_spreads.as_ref());
    let hits = hits.filter(|_| settings.volumes.iter().any(is_cached));
    // Its name is that of a read of such a disk, which it is.
    let hit = hits.map(|spreads| Unknown {
        name: spreads.name_of(Operation::Read),
        spread: spreads.read,
        what: What::CacheHit,
    });
    let has_statements = !matches!(settings.workload.script, Script::Profile { .. });
    // What engines cost of which nothing was published is the default.
    let is_published = settings.engine.cpu.statement != CpuCosts::default().statement;
    let processor = Unknown {
        name: "processor time of statements".to_owned(),
        spread: match is_published {
            true => statement_spread(),
            false => Known::Assumed.spread(),
        },
        what: What::Processor,
    };
    // Follows from the lengths of its rows; what a product adds to them differs.
    let log_bytes = Unknown {
        name: "log of a changed row".to_owned(),
        spread: Known::One.spread(),
        what: What::LogBytes,
    };
    let machine = settings.machine.kind.as_deref();
    let limits = machine.map(|kind| Unknown {
        name: delivered_by(kind),
        spread: limit_spread(),
        what: What::MachineLimits,
    });
    let processor = Some(processor).filter(|_| has_statements && !settings.engine.cpu.is_given);
    let is_stated = settings.workload.log_bytes_per_row.is_some();
    let log_bytes = Some(log_bytes).filter(|_| has_statements && !is_stated);
    let all = [hit, limits, processor, log_bytes];
    all.into_iter().flatten().collect()
}
