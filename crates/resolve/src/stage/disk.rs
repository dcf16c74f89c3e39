//! Disks and the machine of an arm: the catalogue's, with what the experiment changes.

use catalogue::{Catalogue, MachineEntry, Provision};
use experiment::spec::{self, Disk};
use model::cores::Speed;
use model::{Burst, DiskSpec, LimitSpec, MachineSpec, Measure, Rate, VolumeSpec};

use super::StageError;
use super::attached::Attached;
use super::host_cache;

pub(super) fn striped(volume: &spec::Volume, disk: DiskSpec) -> VolumeSpec {
    VolumeSpec {
        name: volume.name.clone(),
        disks: vec![disk; volume.count as usize],
        interleave: volume.interleave,
        host_cache: volume.host_cache,
    }
}

/// One disk of a volume, and its monthly price; a local disk is included in the machine's.
pub(super) fn disk(
    volume: &spec::Volume,
    machine: &MachineSpec,
    asked: &spec::Machine,
    catalogue: &Catalogue,
) -> Result<(DiskSpec, Option<f64>), StageError> {
    let at = |source| StageError::Volume {
        volume: volume.name.clone(),
        source: Box::new(source),
    };
    let (disk, usd) = match &volume.disk {
        Disk::Unlimited | Disk::Recorded => {
            let unlimited = DiskSpec::unlimited();
            let size = volume.provision.size.unwrap_or(unlimited.size);
            (DiskSpec { size, ..unlimited }, None)
        }
        Disk::Local => {
            let local = machine.local_disk.clone();
            let machine = asked.kind.clone().unwrap_or_else(|| "this machine".into());
            let missing = StageError::NoLocalDisk {
                volume: volume.name.clone(),
                machine,
            };
            (local.ok_or(missing)?, Some(0.0))
        }
        Disk::Catalogue(name) => {
            let entry = catalogue.disk(name).map_err(at)?;
            let provisioned = entry.provision(&provision(&volume.provision)).map_err(at)?;
            (provisioned.spec, provisioned.usd_per_month)
        }
    };
    if volume.host_cache != model::HostCacheMode::None && !disk.host_cache_allowed {
        return Err(StageError::NoHostCache {
            volume: volume.name.clone(),
            disk: volume.disk.to_string(),
        });
    }
    host_cache::check(volume, asked, entry(asked, catalogue)?, machine)?;
    attached(asked, catalogue)?.check(volume)?;
    let mut disk = replaced(disk, &volume.replaced);
    check_burst_limits(volume, &disk)?;
    start_with(volume.credits, disk.limits.iter_mut());
    Ok((disk, usd))
}

pub(super) fn machine(
    asked: &spec::Machine,
    catalogue: &Catalogue,
) -> Result<MachineSpec, StageError> {
    let entry = entry(asked, catalogue)?;
    let mut machine = entry.map_or_else(MachineSpec::unlimited, |entry| entry.spec.clone());
    host_cache::apply(asked.host_cache, entry, &mut machine);
    let limits = machine.limits.values_mut().flatten();
    start_with(asked.credits, limits);
    machine.cores = asked.cores.unwrap_or(machine.cores);
    machine.memory = asked.memory.unwrap_or(machine.memory);
    machine.speed = asked.processor_speed.map_or(Speed::SAME, Speed::of);
    Ok(machine)
}

/// The machine's entry, if it has a type.
pub(super) fn entry<'a>(
    asked: &spec::Machine,
    catalogue: &'a Catalogue,
) -> Result<Option<&'a MachineEntry>, StageError> {
    let entry = asked.kind.as_ref().map(|kind| catalogue.machine(kind));
    Ok(entry.transpose().map_err(Box::new)?)
}

fn attached<'a>(
    machine: &'a spec::Machine,
    catalogue: &'a Catalogue,
) -> Result<Attached<'a>, StageError> {
    Ok(Attached {
        machine,
        entry: entry(machine, catalogue)?,
        catalogue,
    })
}

/// Refuses more of a disk than a machine supports, and returns the assumptions about `volumes`.
pub(super) fn noted(
    machine: &spec::Machine,
    volumes: &[&spec::Volume],
    catalogue: &Catalogue,
) -> Result<Vec<String>, StageError> {
    let attached = attached(machine, catalogue)?;
    attached.check_counts(volumes)?;
    Ok(attached.notes(volumes))
}

fn provision(asked: &spec::Provision) -> Provision {
    Provision {
        size: asked.size,
        iops: asked.iops,
        throughput: asked.throughput,
        bursting: asked.bursting.unwrap_or(false),
    }
}

/// The catalogue's entry with the experiment's overrides.
fn replaced(mut disk: DiskSpec, by: &spec::Override) -> DiskSpec {
    let mut limit = |measure: Measure, rate: Rate| {
        let same = |limit: &LimitSpec| match limit.rate {
            Rate::Iops(_) => measure == Measure::Iops,
            Rate::Throughput(_) => measure == Measure::Throughput,
        };
        disk.limits.retain(|limit| !same(limit));
        disk.limits.push(match rate {
            Rate::Iops(iops) => LimitSpec::iops(iops),
            Rate::Throughput(throughput) => LimitSpec::throughput(throughput),
        });
    };
    if let Some(iops) = by.iops_limit {
        limit(Measure::Iops, Rate::Iops(iops));
    }
    if let Some(throughput) = by.throughput_limit {
        limit(Measure::Throughput, Rate::Throughput(throughput));
    }
    for limit in &mut disk.limits {
        let burst = match limit.rate {
            Rate::Iops(_) => by.iops_burst,
            Rate::Throughput(_) => by.throughput_burst,
        };
        limit.burst = burst.map(full).or(limit.burst);
    }
    disk.in_flight_max = by.in_flight_max.or(disk.in_flight_max);
    disk.read_latency = by.read_latency.unwrap_or(disk.read_latency);
    disk.write_latency = by.write_latency.unwrap_or(disk.write_latency);
    disk.flush_latency = by.flush_latency.unwrap_or(disk.flush_latency);
    disk.transfer = by.transfer.or(disk.transfer);
    disk
}

/// Refuses a burst on a limit that the disk does not have, or that is not faster than the sustained rate.
fn check_burst_limits(volume: &spec::Volume, disk: &DiskSpec) -> Result<(), StageError> {
    let iops = disk.limits.iter().find_map(|limit| match limit.rate {
        Rate::Iops(rate) => Some(rate.0),
        Rate::Throughput(_) => None,
    });
    let throughput = disk.limits.iter().find_map(|limit| match limit.rate {
        Rate::Throughput(rate) => Some(rate.0),
        Rate::Iops(_) => None,
    });
    let by = &volume.replaced;
    let keys = [
        (
            ["iops_burst", "iops_credits", "iops_limit"],
            by.iops_burst,
            iops,
        ),
        (
            ["throughput_burst", "throughput_credits", "throughput_limit"],
            by.throughput_burst,
            throughput,
        ),
    ];
    for ([key, credits, limit], burst, sustained) in keys {
        let Some(burst) = burst else { continue };
        let Some(sustained) = sustained else {
            let is_given = burst.rate != spec::Burst::ANY_RATE;
            return Err(StageError::BurstWithoutLimit {
                volume: volume.name.clone(),
                key: if is_given { key } else { credits },
                disk: volume.disk.to_string(),
                limit,
            });
        };
        if burst.rate <= sustained {
            return Err(StageError::BurstTooSlow {
                volume: volume.name.clone(),
                key,
                burst: burst.rate,
                sustained,
            });
        }
    }
    Ok(())
}

/// A burst with all its credits.
fn full(burst: spec::Burst) -> Burst {
    Burst {
        rate: burst.rate,
        credits: burst.credits,
        credits_initial: burst.credits,
    }
}

/// Reduces the initial burst credits of limits to a share of their full buckets.
fn start_with<'a>(share: Option<f64>, limits: impl Iterator<Item = &'a mut LimitSpec>) {
    let Some(share) = share else { return };
    for burst in limits.filter_map(|limit| limit.burst.as_mut()) {
        burst.credits_initial = (burst.credits as f64 * share) as u64;
    }
}
