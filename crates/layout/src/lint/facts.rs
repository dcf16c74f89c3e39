//! What rules look at: a server's storage with its limits, and what was asked of it.

use std::collections::BTreeSet;

use catalogue::{Catalogue, DiskEntry, Limit, Provision, Rule};
use experiment::spec::{Role, Settings};
use model::{Bytes, LimitSpec, Rate};
use profile::{Io, Profile};

use crate::service::{Held, Server};

/// How far below a step a size is near it. Ours.
const NEAR: f64 = 0.1;

/// From how many times the IOPS on, a larger size is a step. Ours.
const STEP: f64 = 1.25;

/// The name of the limit of a class that caps its log.
const LOG: &str = "log";

/// A server of a managed service.
#[derive(Clone, Debug)]
pub struct ServiceFacts {
    /// The server, as text: its service and class.
    pub(super) class: String,
    pub(super) title: String,
    pub(super) product: Option<String>,
    /// When the profile begins.
    pub(super) taken: String,
    pub(super) volumes: Vec<VolumeFacts>,
    /// Whether the class has disks inside, and temporary files are on them.
    pub(super) has_local: bool,
    pub(super) has_temp_local: bool,
    /// Whether the service puts temporary files there.
    pub(super) takes_temp: bool,
    /// Requests of temporary files per second, where they were counted apart.
    pub(super) temp_iops: Option<f64>,
    /// Bytes of the log per second that it is capped at, and those of the busiest interval.
    pub(super) log_cap: Option<f64>,
    pub(super) log_peak: Option<f64>,
    /// Percent of the burst credits at the beginning, and at the least.
    pub(super) balance: Option<[u8; 2]>,
}

/// A volume of it.
#[derive(Clone, Debug)]
pub(super) struct VolumeFacts {
    pub(super) name: String,
    pub(super) disk: String,
    pub(super) size: Bytes,
    /// IOPS that last, and those of a burst that credits end.
    pub(super) iops: Option<f64>,
    pub(super) burst: Option<f64>,
    /// The next size with more IOPS, where it is near, and these.
    pub(super) step: Option<(Bytes, f64)>,
    /// Requests per second that it had, on average and in the busiest interval.
    pub(super) mean: Option<f64>,
    pub(super) peak: Option<f64>,
}

impl ServiceFacts {
    /// The server of a layout, with what `profile` says of its load; `None` where its machine is not a class of a service.
    pub fn of(
        settings: &Settings,
        profile: &Profile,
        catalogue: &Catalogue,
    ) -> Option<ServiceFacts> {
        let server = Server::of(settings, catalogue)?;
        let profile = profile.clone().in_common_roles();
        let of_role = |role: Role| {
            let rate = |io: &Io| count(io);
            rates(&profile, &BTreeSet::from([role]), &rate)
        };
        let limits = &server.class.spec.limits;
        let caps = limits.get(LOG).into_iter().flatten();
        let caps = caps.filter_map(|limit| match limit.rate {
            Rate::Throughput(rate) => Some(rate.0 as f64),
            Rate::Iops(_) => None,
        });
        let log = rates(&profile, &BTreeSet::from([Role::Log]), &|io: &Io| {
            io.writes.bytes
        });
        Some(ServiceFacts {
            class: server.class.name.clone(),
            title: server.service.title.clone(),
            product: server.service.product.clone(),
            taken: profile.start.to_string(),
            volumes: server
                .volumes
                .iter()
                .filter_map(|held| VolumeFacts::of(held, &profile, catalogue))
                .collect(),
            has_local: server.has_local(),
            has_temp_local: server.has_temp_local(),
            takes_temp: server
                .service
                .storage_for(Role::Temp.name())
                .any(|storage| storage.is_local()),
            temp_iops: of_role(Role::Temp).map(|(mean, _)| mean),
            log_cap: caps.reduce(f64::min),
            log_peak: log.map(|(_, peak)| peak),
            balance: profile.machine.burst_balance,
        })
    }
}

impl VolumeFacts {
    fn of(held: &Held<'_>, profile: &Profile, catalogue: &Catalogue) -> Option<VolumeFacts> {
        let disk = catalogue.disk(&held.rule.disk).ok()?;
        let size = held.size?;
        let limits = limits(disk, held, size);
        let iops = iops(&limits);
        let burst = limits.iter().filter_map(|limit| match limit.rate {
            Rate::Iops(_) => Some(limit.burst.as_ref()?.rate as f64),
            Rate::Throughput(_) => None,
        });
        let had = rates(profile, &held.roles, &|io: &Io| count(io));
        Some(VolumeFacts {
            name: held.name.clone(),
            disk: held.rule.disk.clone(),
            size,
            iops,
            burst: burst.reduce(f64::max),
            step: step(disk, held, size, iops),
            mean: had.map(|(mean, _)| mean),
            peak: had.map(|(_, peak)| peak),
        })
    }
}

/// The limits of a disk of this size, with what was provisioned where that is possible there.
fn limits(disk: &DiskEntry, held: &Held<'_>, size: Bytes) -> Vec<LimitSpec> {
    let asked = |iops, throughput| Provision {
        size: Some(size),
        iops,
        throughput,
        bursting: false,
    };
    let whole = disk.provision(&asked(held.iops, held.throughput));
    let provisioned = whole.or_else(|_| disk.provision(&asked(None, None)));
    provisioned.map_or_else(|_| Vec::new(), |provisioned| provisioned.spec.limits)
}

fn iops(limits: &[LimitSpec]) -> Option<f64> {
    let all = limits.iter().filter_map(|limit| match limit.rate {
        Rate::Iops(rate) => Some(rate.0 as f64),
        Rate::Throughput(_) => None,
    });
    all.reduce(f64::min)
}

/// The nearest larger size that has clearly more IOPS, with these.
fn step(disk: &DiskEntry, held: &Held<'_>, size: Bytes, now: Option<f64>) -> Option<(Bytes, f64)> {
    let now = now?;
    let from = disk.limits_from.iter().map(|from| from.size);
    let tiers = match &disk.limits_at(size).iops {
        Some(Limit::Shared(Rule::Tiers(tiers))) => tiers.as_slice(),
        Some(Limit::Shared(_) | Limit::Split { .. } | Limit::Provisioned { .. }) | None => &[],
    };
    let behind = tiers.iter().map(|tier| Bytes(tier.to.0 + (1 << 30)));
    let near = |to: &Bytes| to.0 > size.0 && size.0 as f64 >= (1.0 - NEAR) * to.0 as f64;
    let mut sizes: Vec<Bytes> = from.chain(behind).filter(near).collect();
    sizes.sort_unstable();
    let more = sizes.into_iter().filter_map(|to| {
        let then = iops(&limits(disk, held, to))?;
        (then >= STEP * now).then_some((to, then))
    });
    more.into_iter().next()
}

fn count(io: &Io) -> Option<f64> {
    Some(io.reads.count? + io.writes.count?)
}

/// Mean and greatest rate per second of what `of` counts of some roles; `None` where none of them was counted.
fn rates(
    profile: &Profile,
    roles: &BTreeSet<Role>,
    of: &dyn Fn(&Io) -> Option<f64>,
) -> Option<(f64, f64)> {
    let (mut all, mut seconds, mut peak) = (0.0, 0.0, f64::NEG_INFINITY);
    for interval in &profile.intervals {
        let own = interval.roles.iter();
        let own = own.filter(|(role, _)| roles.contains(role));
        let own: Vec<f64> = own.filter_map(|(_, io)| of(io)).collect();
        let length = interval.length.as_secs_f64();
        if own.is_empty() || length <= 0.0 {
            continue;
        }
        let sum: f64 = own.into_iter().sum();
        all += sum;
        seconds += length;
        peak = peak.max(sum / length);
    }
    (seconds > 0.0).then(|| (all / seconds, peak))
}
