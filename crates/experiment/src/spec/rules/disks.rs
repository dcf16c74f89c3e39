//! Rules of a machine and of volumes.

use model::cores::Speed;
use model::{HostCacheMode, LatencySpec};

use crate::spec::amount::is_possible;
use crate::spec::bounds::{
    CORES_MAX, DISKS_MAX, GATHER_MAX, LIMIT_MAX, VOLUME_DISKS_MAX, VOLUME_MAX, at_most, named,
    not_zero, size_at_most, span_at_most,
};
use crate::spec::error::Fault;
use crate::spec::settings::{Burst, Disk, HostCache, Machine, Override, Volume};

/// Checks the machine, which has a type, or cores and memory.
pub(crate) fn machine(machine: &Machine) -> Result<(), Fault> {
    if machine.kind.is_none() && (machine.cores.is_none() || machine.memory.is_none()) {
        return Err(Fault::at(
            &["machine"],
            "the machine is not known; give a type of the catalogue (type = \"azure.DS2\"), \
             or cores and memory",
        ));
    }
    not_zero(&["machine", "cores"], machine.cores)?;
    at_most(&["machine", "cores"], machine.cores, CORES_MAX.into())?;
    not_zero(
        &["machine", "memory"],
        machine.memory.map(|memory| memory.0),
    )?;
    share(&["machine", "credits"], machine.credits)?;
    speed(machine.processor_speed)?;
    machine.host_cache.as_ref().map_or(Ok(()), host_cache)
}

fn speed(multiple: Option<f64>) -> Result<(), Fault> {
    let is_one = |multiple: f64| multiple > 0.0 && multiple <= Speed::MULTIPLE_MAX;
    match multiple {
        Some(multiple) if !is_one(multiple) => Err(Fault::at(
            &["machine", "processor_speed"],
            format!(
                "{multiple} is not a multiple of a processor's speed; give one above 0, such as 1.3, and at most {}",
                Speed::MULTIPLE_MAX
            ),
        )),
        Some(_) | None => Ok(()),
    }
}

fn host_cache(cache: &HostCache) -> Result<(), Fault> {
    let key = |key: &'static str| ["machine", "host_cache", key];
    let iops = cache.iops.map(|iops| iops.0);
    let throughput = cache.throughput.map(|rate| rate.0);
    not_zero(&key("size"), Some(cache.size.0))?;
    not_zero(&key("iops"), iops)?;
    not_zero(&key("throughput"), throughput)?;
    size_at_most(&key("size"), Some(cache.size), VOLUME_MAX)?;
    at_most(&key("iops"), iops, LIMIT_MAX)?;
    at_most(&key("throughput"), throughput, LIMIT_MAX)
}

/// Rejects a host cache of the machine that no volume of any of `layouts` uses.
pub(crate) fn check_host_cache_is_used<'a>(
    layouts: impl Iterator<Item = (&'a Machine, &'a [Volume])>,
) -> Result<(), Fault> {
    let mut given = layouts
        .filter(|(machine, _)| machine.host_cache.is_some())
        .peekable();
    let is_used = |(_, volumes): (&Machine, &[Volume])| {
        let mut volumes = volumes.iter();
        volumes.any(|volume| volume.host_cache != HostCacheMode::None)
    };
    if given.peek().is_none() || given.any(is_used) {
        return Ok(());
    }
    Err(Fault::at(
        &["machine", "host_cache"],
        "no volume uses the machine's host cache; set host_cache = \"read-only\" for a volume, or leave it out here",
    ))
}

/// Checks a volume alone; whether its disk exists is checked with the catalogue.
pub(crate) fn volume(volume: &Volume) -> Result<(), Fault> {
    named(&["volume", &volume.name], &volume.name)?;
    let key = |key: &'static str| ["volume", &volume.name, key];
    let provision = &volume.provision;
    let (iops, throughput) = (
        provision.iops.map(|iops| iops.0),
        provision.throughput.map(|rate| rate.0),
    );
    not_zero(&key("count"), Some(volume.count))?;
    not_zero(&key("interleave"), Some(volume.interleave.0))?;
    not_zero(&key("size"), provision.size.map(|bytes| bytes.0))?;
    not_zero(&key("iops"), iops)?;
    not_zero(&key("throughput"), throughput)?;
    at_most(&key("count"), Some(volume.count), VOLUME_DISKS_MAX.into())?;
    size_at_most(&key("interleave"), Some(volume.interleave), GATHER_MAX)?;
    size_at_most(&key("size"), provision.size, VOLUME_MAX)?;
    at_most(&key("iops"), iops, LIMIT_MAX)?;
    at_most(&key("throughput"), throughput, LIMIT_MAX)?;
    share(&key("credits"), volume.credits)?;
    replaced(&volume.name, &volume.replaced)?;
    match volume.disk {
        Disk::Local => local(volume),
        Disk::Recorded => recorded(volume),
        Disk::Unlimited | Disk::Catalogue(_) => Ok(()),
    }
}

/// Rejects a recorded disk of which nothing is known.
fn recorded(volume: &Volume) -> Result<(), Fault> {
    if volume.replaced != Override::default() {
        return Ok(());
    }
    let name = &volume.name;
    let message = format!(
        "volume \"{name}\" is as a recording shows it, and there is none; give this file with --today beside a profile, which \
         has its latencies, or give them in [volume.{name}.override]"
    );
    Err(Fault::at(&["volume", name, "disk"], message))
}

/// Checks a local disk alone; how many the machine has is checked with the catalogue.
fn local(volume: &Volume) -> Result<(), Fault> {
    if volume.host_cache == HostCacheMode::None {
        return Ok(());
    }
    let message = format!(
        "volume \"{}\" puts a host cache before the local disk, which is on the host; leave host_cache out",
        volume.name
    );
    Err(Fault::at(&["volume", &volume.name, "host_cache"], message))
}

fn replaced(name: &str, by: &Override) -> Result<(), Fault> {
    let key = |key: &'static str| ["volume", name, "override", key];
    let iops = by.iops_limit.map(|iops| iops.0);
    let throughput = by.throughput_limit.map(|rate| rate.0);
    let transfer = by.transfer.map(|rate| rate.0);
    not_zero(&key("in_flight_max"), by.in_flight_max)?;
    for (limit, value) in [
        ("iops_limit", iops),
        ("throughput_limit", throughput),
        ("transfer", transfer),
    ] {
        not_zero(&key(limit), value)?;
        at_most(&key(limit), value, LIMIT_MAX)?;
    }
    for (rate, credits, given) in [
        ("iops_burst", "iops_credits", by.iops_burst),
        (
            "throughput_burst",
            "throughput_credits",
            by.throughput_burst,
        ),
    ] {
        let given = given.map(|Burst { rate, credits }| (rate, credits));
        for (limit, value) in [
            (rate, given.map(|of| of.0)),
            (credits, given.map(|of| of.1)),
        ] {
            not_zero(&key(limit), value)?;
            at_most(&key(limit), value, LIMIT_MAX)?;
        }
    }
    latency(&key("read_latency"), by.read_latency)?;
    latency(&key("write_latency"), by.write_latency)?;
    latency(&key("flush_latency"), by.flush_latency)
}

/// Rejects an impossible latency.
fn latency(path: &[&str], value: Option<LatencySpec>) -> Result<(), Fault> {
    let Some(value) = value else { return Ok(()) };
    if !is_possible(value) {
        let key = path.join(".");
        let message = format!("{key} has a p50 of zero or above its p99; give 0 < p50 <= p99");
        return Err(Fault::at(path, message));
    }
    let longest = match value {
        LatencySpec::Constant { value } => value,
        LatencySpec::Exponential { mean } => mean,
        LatencySpec::LogNormal { p99, .. } => p99,
    };
    span_at_most(path, Some(longest))
}

/// Rejects an invalid share of credits.
fn share(path: &[&str], value: Option<f64>) -> Result<(), Fault> {
    match value {
        Some(share) if !(0.0..=1.0).contains(&share) => {
            let key = path.join(".");
            let message = format!(
                "{key} is {share:?}; give the share of the credits that are there at the start, from 0 (spent) to 1 \
                 (all of them)"
            );
            Err(Fault::at(path, message))
        }
        Some(_) | None => Ok(()),
    }
}

/// Rejects more disks than the model can address.
pub(crate) fn check_disks(volumes: &[Volume]) -> Result<(), Fault> {
    let counts = volumes.iter().map(|volume| volume.count as usize);
    let disks = counts.fold(0, usize::saturating_add);
    let Some(last) = volumes.last().filter(|_| disks > DISKS_MAX) else {
        return Ok(());
    };
    let message = format!(
        "the volumes have {disks} disks together, and at most {DISKS_MAX} can be modelled; use fewer volumes, or fewer \
         disks (count) in them"
    );
    Err(Fault::at(&["volume", &last.name, "count"], message))
}
