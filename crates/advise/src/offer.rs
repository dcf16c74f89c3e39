//! Purchasable volumes.
//!
//! Provisioned IOPS and throughput of a volume rise together, in the proportion in which the load uses them. Independent
//! steps of both would be 3.5 billion layouts for one cloud, most of which pay for a rate that the other one does not let the
//! sessions use.

use std::slice;

use catalogue::{
    Catalogue, DiskEntry, Limit, LimitValue, Limits, Price, Provision, Rule, SizeRule,
};
use model::{Bytes, DiskSpec, Iops, LatencySpec, Rate};
use reading::Role;
use replay::Demand;

use super::bound::{OnVolume, longest};
use super::load::{Load, Part};
use super::need::Need;

/// Numbers of disks in a stripe.
const COUNTS: [u32; 6] = [1, 2, 3, 4, 8, 16];

/// Ratio between consecutive speeds that rates are provisioned for, and between consecutive sizes.
const STEP: f64 = 1.5;

/// Maximum number of steps of a speed or a size.
const STEPS_MAX: i32 = 16;

/// Multiple of what the sessions could use at best, above which a higher rate does not help: at half a limit's rate, waits for it
/// are rare.
pub(crate) const USEFUL: f64 = 2.0;

/// Share at which two volumes count as allowing the same: rates are whole numbers, divided among disks.
const SAME: f64 = 0.99;

/// A volume: a stripe of identical disks.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    /// The disk's name in the catalogue.
    pub disk: String,
    /// How many.
    pub count: u32,
    /// Services whose storage it is, by name; empty: disks for machines.
    pub services: Vec<String>,
    /// What is provisioned for each.
    pub provision: Provision,
    /// Sustained performance of each: without burst credits.
    pub spec: DiskSpec,
    /// Dollars a month for all of them with their requests, of all servers.
    pub usd_per_month: f64,
    /// What of that is for requests; `None` where these cost nothing.
    pub requests_usd_per_month: Option<f64>,
    /// Demand on it of an operation of each part of the load.
    pub(crate) asked: Vec<OnVolume>,
}

/// Requirements on a volume.
pub(crate) struct Wanted<'a> {
    pub(crate) roles: &'a [Role],
    pub(crate) load: &'a Load,
    pub(crate) need: &'a Need,
}

impl Wanted<'_> {
    /// All volumes of sufficient capacity, for every purchasable disk.
    pub(crate) fn offers(&self, catalogue: &Catalogue) -> Vec<Offer> {
        let disks = catalogue.disks().filter(|disk| self.need.allows_disk(disk));
        let disks = disks.flat_map(|disk| self.of_disk(disk, &[]));
        let storage = self
            .need
            .services
            .storage(self.roles, catalogue)
            .into_iter();
        let storage = storage.filter(|(disk, _)| self.need.allows_storage(disk));
        let storage = storage.flat_map(|(disk, services)| self.of_disk(disk, &services));
        disks.chain(storage).collect()
    }

    fn of_disk(&self, disk: &DiskEntry, services: &[String]) -> Vec<Offer> {
        let most = self.need.disks_max.unwrap_or(u32::MAX);
        let useful = self.useful(disk);
        let capacity = self.need.capacity(self.roles).0;
        let mut offers = Vec::new();
        // A service stripes by itself, unless each file has a disk.
        let is_striped = services.is_empty() || self.need.services.has_file_each(&disk.name);
        let most = if is_striped { most } else { 1 };
        for count in COUNTS.into_iter().filter(|count| *count <= most) {
            let each = Bytes(capacity.div_ceil(u64::from(count)));
            let useful = useful.map(|rate| rate / f64::from(count));
            for provision in provisions(disk, each, useful) {
                let offer = self.offer(disk, count, provision);
                offers.extend(offer.map(|offer| Offer {
                    services: services.to_vec(),
                    ..offer
                }));
            }
        }
        offers
    }

    /// The volume, if the vendor sells this configuration and its price is known.
    pub(crate) fn offer(
        &self,
        disk: &DiskEntry,
        count: u32,
        provision: Provision,
    ) -> Option<Offer> {
        let provisioned = disk.provision(&provision).ok()?;
        let spec = sustained(provisioned.spec);
        let parts = self.load.parts.iter();
        let asked = parts.map(|part| OnVolume::of(&part.demand, self.roles, &spec, count));
        let asked: Vec<OnVolume> = asked.collect();
        let servers = self.need.paid_volumes(&disk.name)?;
        let requests = requests_usd(disk, self.load, &asked, count).map(|usd| usd * servers);
        let disks = provisioned.usd_per_month? * f64::from(count) * servers;
        Some(Offer {
            disk: disk.name.clone(),
            count,
            services: Vec::new(),
            provision,
            asked,
            spec,
            usd_per_month: disks + requests.unwrap_or_default(),
            requests_usd_per_month: requests,
        })
    }

    /// Requests and bytes per second that sessions could use if only the disk's latency limited them, plus a margin.
    fn useful(&self, disk: &DiskEntry) -> [f64; 2] {
        // Its service time does not depend on what is provisioned.
        let spec = DiskSpec {
            io_unit: disk.class.io_unit,
            read_latency: disk.class.read.spec,
            write_latency: disk.class.write.spec,
            flush_latency: disk.class.flush.spec,
            ..DiskSpec::unlimited()
        };
        let of_part = |demand: &Demand| {
            let on = OnVolume::of(demand, self.roles, &spec, 1);
            let all = on.most.reads + on.most.writes;
            let per_s = operations_max(demand, on.wait_s);
            [all.requests * per_s, all.bytes * per_s]
        };
        let parts = self.load.parts.iter();
        let parts = parts.map(|part| of_part(&part.demand));
        let most = parts.reduce(|[a, b], [c, d]| [a.max(c), b.max(d)]);
        most.unwrap_or_default().map(|rate| USEFUL * rate)
    }
}

/// Dollars a month for the requests to `count` such disks, of which operations of each part of the load ask `asked`: as many as are
/// asked for at least, as if the recorded load went on all month. `None` where requests cost nothing.
pub(crate) fn requests_usd(
    disk: &DiskEntry,
    load: &Load,
    asked: &[OnVolume],
    count: u32,
) -> Option<f64> {
    let price = disk.requests?;
    let parts = load.parts.iter().zip(asked);
    let of_operation: f64 = parts
        .map(|(part, on)| part.share * (on.reads.requests + on.writes.requests))
        .sum();
    let count = f64::from(count);
    Some(count * price.usd_per_month(load.operations_per_s * of_operation / count))
}

/// Useful configurations of a disk of this capacity: rates for a speed, with the smallest size that allows them; or sizes, where
/// rates follow from these. Of a disk whose limits change with its size, those of each range.
fn provisions(disk: &DiskEntry, each: Bytes, useful: [f64; 2]) -> Vec<Provision> {
    let ranges: Vec<(Bytes, &Limits)> = disk.limits_by_size().collect();
    let range = |(at, (from, limits)): (usize, &(Bytes, &Limits))| {
        let end = ranges.get(at + 1).map(|(next, _)| *next);
        let each = each.max(*from);
        let is_there = |provision: &Provision| {
            end.is_none_or(|end| provision.size.is_some_and(|size| size < end))
        };
        let mut all = in_range(disk, limits, each, useful);
        all.retain(is_there);
        all
    };
    ranges.iter().enumerate().flat_map(range).collect()
}

/// The same from a size on, with these limits.
fn in_range(
    disk: &DiskEntry,
    limits: &Limits,
    each: Bytes,
    [requests, bytes]: [f64; 2],
) -> Vec<Provision> {
    let is_asked = matches!(limits.iops, Some(Limit::Provisioned { .. }))
        || matches!(limits.throughput, Some(Limit::Provisioned { .. }));
    if !is_asked {
        let sizes = sizes(disk, each).into_iter();
        return sizes
            .map(|size| Provision {
                size: Some(size),
                ..Provision::default()
            })
            .collect();
    }
    let mut all: Vec<Provision> = Vec::new();
    for step in 0..STEPS_MAX {
        let share = STEP.powi(-step);
        let wanted = [requests * share, bytes * share];
        let Some(provision) = for_rates((disk, limits), each, wanted) else {
            break;
        };
        if all.last() != Some(&provision) {
            all.push(provision);
        }
    }
    all
}

/// The smallest size from `each` on with these rates, or with as much of them as is available under these limits.
fn for_rates(
    (disk, limits): (&DiskEntry, &Limits),
    each: Bytes,
    [requests, bytes]: [f64; 2],
) -> Option<Provision> {
    let mut best = None;
    let mut size = disk.size.at_least(each)?;
    for _ in 0..STEPS_MAX {
        let iops = rate(limits.iops.as_ref(), size, 0, requests, IOPS_STEP);
        let asked = iops.map_or(0, |(iops, _): (Iops, bool)| iops.0);
        let throughput = limits.throughput.as_ref();
        let throughput = rate(throughput, size, asked, bytes, throughput_step(disk));
        let provision = Provision {
            size: Some(size),
            iops: iops.map(|(iops, _)| iops),
            throughput: throughput.map(|(throughput, _)| throughput),
            bursting: false,
        };
        let is_enough = iops.is_none_or(|(_, is_enough)| is_enough)
            && throughput.is_none_or(|(_, is_enough)| is_enough);
        let has_more = best.is_none_or(|best: Provision| {
            (provision.iops, provision.throughput) != (best.iops, best.throughput)
        });
        if has_more {
            best = Some(provision);
        }
        let next = Bytes((size.0 as f64 * STEP) as u64);
        match disk.size.at_least(next) {
            Some(next) if !is_enough && has_more && next > size => size = next,
            Some(_) | None => break,
        }
    }
    best
}

/// IOPS are provisioned in hundreds, as is common practice.
const IOPS_STEP: u64 = 100;

/// Throughput is provisioned in the vendor's own unit: MB/s or MiB/s.
fn throughput_step(disk: &DiskEntry) -> u64 {
    match &disk.price {
        Some(Price::Parts(parts)) if !parts.per_mb_per_s.is_empty() => 1_000_000,
        Some(_) | None => 1 << 20,
    }
}

/// The wanted rate, capped at what can be provisioned, and whether it was reached in full.
fn rate<Q: LimitValue>(
    limit: Option<&Limit<Q>>,
    size: Bytes,
    iops: u64,
    wanted: f64,
    step: u64,
) -> Option<(Q, bool)> {
    let Some(Limit::Provisioned { least, most, .. }) = limit else {
        return None;
    };
    let units = |rule: &Rule<Q>| rule.amount(size, iops).units();
    let (least, most) = (units(least), units(most));
    // What the sessions could use may be infinite.
    let wanted = wanted.min((most + 1) as f64).ceil() as u64;
    let wanted = wanted.div_ceil(step).saturating_mul(step);
    let given = wanted.clamp(least.min(most), most);
    Some((Q::from_units(given), wanted <= most))
}

/// Operations per second that the sessions reach if each waits this long for disks and otherwise only for a processor.
pub(crate) fn operations_max(demand: &Demand, wait_s: f64) -> f64 {
    let alone_s = wait_s
        + demand.processor.as_secs_f64()
        + demand.lock.as_secs_f64()
        + demand.delay.as_secs_f64();
    match alone_s > 0.0 {
        true => f64::from(demand.sessions) / alone_s,
        false => f64::INFINITY,
    }
}

/// The disk without burst credits: its sustained performance.
pub(crate) fn sustained(mut disk: DiskSpec) -> DiskSpec {
    for limit in &mut disk.limits {
        limit.burst = None;
    }
    disk
}

/// The smallest sufficient size, and larger ones of disks whose limits grow with their size.
fn sizes(disk: &DiskEntry, each: Bytes) -> Vec<Bytes> {
    let Some(least) = disk.size.at_least(each) else {
        return Vec::new();
    };
    if matches!(disk.size, SizeRule::Fixed(_)) {
        return vec![least];
    }
    let limits = |size: Bytes| {
        let spec = disk.provision(&Provision {
            size: Some(size),
            ..Provision::default()
        });
        spec.map(|provisioned| provisioned.spec.limits).ok()
    };
    let mut sizes = vec![least];
    let mut last = least;
    for _ in 0..STEPS_MAX {
        let next = Bytes((last.0 as f64 * STEP) as u64);
        let Some(next) = disk.size.at_least(next).filter(|next| *next > last) else {
            break;
        };
        last = next;
        // A limit that no longer grows has reached its maximum.
        if limits(next) != sizes.last().and_then(|size| limits(*size)) {
            sizes.push(next);
        } else if limits(next).is_none() {
            break;
        }
    }
    sizes
}

/// Removes dominated volumes for the same files: another one costs no more, is as quick, and allows as much of everything, up to
/// what is useful. Ordered by price.
pub(crate) fn without_beaten(mut offers: Vec<Offer>, load: &Load) -> Vec<Offer> {
    offers.sort_by(|a, b| a.usd_per_month.total_cmp(&b.usd_per_month));
    let allows: Vec<Vec<[f64; 3]>> = offers.iter().map(|offer| offer.allows(load)).collect();
    let does = |most: &[[f64; 3]], here: &[[f64; 3]]| {
        let all = most.iter().flatten().zip(here.iter().flatten());
        all.into_iter().all(|(most, here)| *most >= SAME * here)
    };
    let mut kept: Vec<usize> = Vec::new();
    for at in 0..offers.len() {
        let is_beaten = kept.iter().any(|kept| {
            offers[*kept].is_as_quick_as(&offers[at]) && does(&allows[*kept], &allows[at])
        });
        if !is_beaten {
            kept.push(at);
        }
    }
    let mut at = 0;
    let mut kept = kept.into_iter().peekable();
    offers.retain(|_| {
        let is_kept = kept.next_if_eq(&at).is_some();
        at += 1;
        is_kept
    });
    offers
}

impl Offer {
    /// Whether no request takes longer than on `other` without contention, it passes the same machine limits, and it needs no
    /// more attachment slots.
    fn is_as_quick_as(&self, other: &Offer) -> bool {
        let (own, others) = (&self.spec, &other.spec);
        let latency = |of: fn(&DiskSpec) -> &LatencySpec| {
            let (own, other) = (of(own), of(others));
            own.mean() <= other.mean() && tail(own) <= tail(other)
        };
        // All disks of a stripe transfer a long request.
        let transfer = |offer: &Offer| {
            let rate = offer
                .spec
                .transfer
                .map(|rate| rate.0 * u64::from(offer.count));
            rate.unwrap_or(u64::MAX)
        };
        // Requests up to this size count once.
        let pieces = |spec: &DiskSpec| spec.io_unit.size_max.map_or(u64::MAX, |most| most.0);
        latency(|spec| &spec.read_latency)
            && latency(|spec| &spec.write_latency)
            && latency(|spec| &spec.flush_latency)
            && transfer(self) >= transfer(other)
            && own.machine_limits == others.machine_limits
            && pieces(own) >= pieces(others)
            && self.count <= other.count
            && self.services == other.services
    }

    /// Operations per second that its limits on requests, bytes and concurrent requests allow, by part, up to what is useful.
    fn allows(&self, load: &Load) -> Vec<[f64; 3]> {
        let of_part = |(part, on): (&Part, &OnVolume)| {
            let useful = USEFUL * operations_max(&part.demand, on.wait_s);
            let least = |is_iops: bool| {
                let own = self.spec.limits.iter();
                let own = own.filter(|limit| matches!(limit.rate, Rate::Iops(_)) == is_iops);
                let most = on.most;
                let seconds =
                    own.map(|limit| longest(slice::from_ref(limit), most.reads, most.writes));
                let longest_s = seconds.fold(0.0, f64::max);
                (f64::from(self.count) / longest_s).min(useful)
            };
            let places = self.spec.in_flight_max.map_or(f64::INFINITY, |places| {
                f64::from(places) * f64::from(self.count)
            });
            [least(true), least(false), places]
        };
        load.parts.iter().zip(&self.asked).map(of_part).collect()
    }
}

/// The 99th percentile of the latency.
fn tail(latency: &LatencySpec) -> f64 {
    match latency {
        LatencySpec::Constant { value } => value.as_secs_f64(),
        LatencySpec::Exponential { mean } => mean.as_secs_f64() * 100.0_f64.ln(),
        LatencySpec::LogNormal { p50, p99 } => p99.max(p50).as_secs_f64(),
    }
}
