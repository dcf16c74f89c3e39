//! The cache on a machine's host: the catalogue's, the experiment's, or none, which is refused if a volume uses it. One that
//! writes back is noted where writes have to be durable.

use catalogue::{CACHED_LIMIT, CacheLatencies, HostCaching, MachineEntry};
use experiment::spec::{self, Role, Settings};
use model::{Durability, HostCacheMode, LimitSpec, MachineSpec, Rate};

use super::StageError;

/// Gives `machine` the host cache that the experiment describes, if the machine supports one.
pub(super) fn apply(
    asked: Option<spec::HostCache>,
    entry: Option<&MachineEntry>,
    machine: &mut MachineSpec,
) {
    let (Some(asked), Some(entry)) = (asked, entry) else {
        return;
    };
    let latencies = match (&entry.host_caching, &machine.host_cache) {
        (HostCaching::Sized, known) => known.as_ref().map(|cache| CacheLatencies {
            hit: cache.hit_latency,
            through: cache.through_latency,
        }),
        (HostCaching::SizeUnknown { latencies, .. }, _) => Some(*latencies),
        (HostCaching::Unsupported { .. } | HostCaching::NotInCatalogue, _) => None,
    };
    let Some(latencies) = latencies else {
        return;
    };
    let mut limits = machine
        .limits
        .get(CACHED_LIMIT)
        .cloned()
        .unwrap_or_default();
    if let Some(iops) = asked.iops {
        limits.retain(|limit| !matches!(limit.rate, Rate::Iops(_)));
        limits.push(LimitSpec::iops(iops));
    }
    if let Some(throughput) = asked.throughput {
        limits.retain(|limit| !matches!(limit.rate, Rate::Throughput(_)));
        limits.push(LimitSpec::throughput(throughput));
    }
    // Without them, hits would have no limit.
    if is_whole(&limits) {
        machine.limits.insert(CACHED_LIMIT.to_owned(), limits);
        machine.host_cache = Some(latencies.cache(asked.size, CACHED_LIMIT.to_owned()));
    }
}

/// The volumes whose host cache writes back, with files whose writes have to be durable; sentences without a full stop. `data` says
/// when a write of a data file is.
pub(crate) fn written_back(settings: &Settings, data: Durability) -> Vec<String> {
    let mut volumes = Vec::new();
    for volume in &settings.volumes {
        if volume.host_cache != HostCacheMode::ReadWrite {
            continue;
        }
        let is_durable = |role: &Role| match role {
            Role::Log | Role::Binlog => true,
            Role::Data => data == Durability::OnCompletion,
            Role::Doublewrite | Role::Temp | Role::Undo => false,
        };
        let is_here = |role: &Role| {
            let mut files = settings.placement.files(*role).iter();
            files.any(|file| file.volume == volume.name)
        };
        let roles = Role::ALL.into_iter().filter(is_durable).filter(is_here);
        let roles: Vec<String> = roles.map(|role| role.to_string()).collect();
        let better = match roles.as_slice() {
            [] => continue,
            [only] if *only == Role::Data.to_string() => "read-only",
            _ => "none",
        };
        volumes.push(format!(
            "volume {} has {} and a host cache that writes back, which makes no durable write faster: it waits for the cache, \
             and then for the disk; set host_cache = \"{better}\"",
            volume.name,
            roles.join(" and ")
        ));
    }
    volumes
}

/// Whether both requests and bytes are limited.
fn is_whole(limits: &[LimitSpec]) -> bool {
    let has = |is: fn(&Rate) -> bool| limits.iter().any(|limit| is(&limit.rate));
    has(|rate| matches!(rate, Rate::Iops(_))) && has(|rate| matches!(rate, Rate::Throughput(_)))
}

/// Refuses a volume that uses a host cache which its machine does not have, or about which too little is known.
pub(super) fn check(
    volume: &spec::Volume,
    asked: &spec::Machine,
    entry: Option<&MachineEntry>,
    machine: &MachineSpec,
) -> Result<(), StageError> {
    if volume.host_cache == HostCacheMode::None || machine.host_cache.is_some() {
        return Ok(());
    }
    let (volume, kind) = (volume.name.clone(), asked.kind.clone());
    let without = |why: String| StageError::MachineCachesNothing {
        volume: volume.clone(),
        machine: kind.clone().unwrap_or_else(|| "this machine".to_owned()),
        why,
    };
    let Some(entry) = entry else {
        return Err(without("it has no type of the catalogue".to_owned()));
    };
    match &entry.host_caching {
        HostCaching::Sized => unreachable!("{} has a host cache of a known size", entry.name),
        HostCaching::Unsupported { source } => Err(without(format!(
            "{}: not supported, {}",
            source.title, source.date
        ))),
        HostCaching::NotInCatalogue => {
            Err(without("its entry in the catalogue has none".to_owned()))
        }
        HostCaching::SizeUnknown { .. } => {
            let limits = machine.limits.get(CACHED_LIMIT);
            let (unknown, example) = match limits.is_some_and(|limits| is_whole(limits)) {
                true => ("how much it holds", "size = \"..\""),
                false => (
                    "how much it holds and how fast it is",
                    "size = \"..\", iops = .., throughput = \"..\"",
                ),
            };
            Err(StageError::HostCacheUnknown {
                volume,
                machine: entry.name.clone(),
                unknown,
                example,
            })
        }
    }
}
