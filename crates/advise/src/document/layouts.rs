//! Layouts: today's, and those that were found.

use std::collections::BTreeMap;

use analysis::report::advice::document::{self, Used};
use catalogue::{CpuOption, MachineEntry};
use experiment::spec::{Disk, Volume};
use model::Measure;
use model::split::{Part, Spent, TimeSplit};
use model::storage::UsageOwner;
use model::store::Cause;
use reading::Role;
use replay::TimePart;

use super::DocumentBuilder;
use super::bill::{self, Bought, billed};
use crate::bound::OnVolume;
use crate::error::AdviseError;
use crate::headroom::headroom;
use crate::layout::{self, Layout, Layouts};
use crate::offer::{Offer, requests_usd};
use crate::recorded::recorded_share;
use crate::search::Found;
use crate::simulate::{Measured, Placed, Ratio, Utilisation};
use crate::today::Today;

/// Number of limits reported per layout.
const LIMITS_TOLD: usize = 4;

impl DocumentBuilder<'_> {
    /// Today's layout, which defines today's time.
    pub(super) fn of_today(&self) -> document::Layout {
        let Today {
            settings, placed, ..
        } = self.request.today;
        let machine = self.request.today.machine();
        let machine = machine.and_then(|name| self.request.catalogue.machine(name).ok());
        let need = &self.request.need;
        let switched_on = machine.and_then(|machine| self.switched_on_today(machine));
        let machine_usd = machine.and_then(|machine| need.machines_usd(machine, switched_on));
        let roles = |name: &str| -> Vec<Role> {
            let has = |role: &Role| {
                let mut files = settings.placement.files(*role).iter();
                files.any(|file| file.volume == name)
            };
            Role::COMMON.into_iter().filter(has).collect()
        };
        let there = settings.volumes.iter();
        let there =
            there.filter(|volume| placed.volumes.iter().any(|known| known.name == volume.name));
        let volumes: Vec<document::Volume> = there
            .map(|volume| document::Volume {
                name: volume.name.clone(),
                roles: roles(&volume.name),
                requests_usd_per_month: self.requests_usd(volume, &roles(&volume.name)),
                disk: volume.disk.to_string(),
                count: volume.count,
                size: volume.provision.size.map(|size| size.0),
                iops: volume.provision.iops.map(|iops| iops.0),
                throughput: volume.provision.throughput.map(|rate| rate.0),
                usd_per_month: self.volume_usd(volume, &roles(&volume.name)),
                forgets: self
                    .request
                    .catalogue
                    .after_stop(&volume.disk.to_string(), self.request.today.machine())
                    .forgets(),
            })
            .collect();
        let disks_usd: Option<f64> = volumes.iter().map(|volume| volume.usd_per_month).sum();
        let names: Vec<String> = placed
            .volumes
            .iter()
            .map(|volume| volume.name.clone())
            .collect();
        let measured = measured(
            &self.found.today,
            Ratio {
                mean: 1.0,
                half: 0.0,
            },
            self.today_s(),
            &names,
        );
        let today = document::Layout {
            machine: machine.map(|machine| machine.name.clone()),
            switched_on: switched_on.map(bill::switched_on),
            machine_usd_per_month: machine_usd,
            volumes,
            usd_per_month: machine_usd
                .zip(disks_usd)
                .map(|(machine, disks)| machine + disks),
            headroom: None,
            used: known_limits(measured.used, &settings.volumes),
            ..measured
        };
        billed(today, need, self.request.catalogue)
    }

    /// The processors of today's machine that are switched on, where its layout has fewer than `machine` and a licence goes by that.
    fn switched_on_today(&self, machine: &MachineEntry) -> Option<CpuOption> {
        let cores = self.request.today.settings.machine.cores?;
        let options = self.request.need.cpu_options(machine).into_iter();
        options.rev().find(|option| option.processors() == cores)
    }

    /// Dollars a month for one of today's volumes, at the requested prices.
    fn volume_usd(&self, volume: &Volume, roles: &[Role]) -> Option<f64> {
        let Disk::Catalogue(name) = &volume.disk else {
            return (volume.disk == Disk::Local).then_some(0.0);
        };
        let provision = catalogue::Provision {
            size: volume.provision.size,
            iops: volume.provision.iops,
            throughput: volume.provision.throughput,
            bursting: volume.provision.bursting.unwrap_or(false),
        };
        let disk = self.request.catalogue.disk(name).ok()?;
        let usd = disk.provision(&provision).ok()?.usd_per_month?;
        let disks = usd * f64::from(volume.count) * self.request.need.paid_volumes(name)?;
        Some(disks + self.requests_usd(volume, roles).unwrap_or_default())
    }

    /// Dollars a month for the requests to one of today's volumes; `None` where these cost nothing.
    fn requests_usd(&self, volume: &Volume, roles: &[Role]) -> Option<f64> {
        let Disk::Catalogue(name) = &volume.disk else {
            return None;
        };
        let disk = self.request.catalogue.disk(name).ok()?;
        let mut placed = self.request.today.placed.volumes.iter();
        let placed = placed.find(|placed| placed.name == volume.name)?;
        let load = &self.request.today_load;
        let parts = load.parts.iter();
        let asked =
            parts.map(|part| OnVolume::of(&part.demand, roles, &placed.disks[0], volume.count));
        let usd = requests_usd(disk, load, &asked.collect::<Vec<_>>(), volume.count)?;
        Some(usd * self.request.need.paid_volumes(name)?)
    }

    /// A layout, with the load that it can take.
    pub(super) fn with_headroom(&self, found: &Found) -> Result<document::Layout, AdviseError> {
        let placed: Placed = self.layouts.placed(&found.layout);
        let today_s = self.found.today.operation_s;
        let most_s = today_s * (1.0 + self.request.wishes.limits.slower_max);
        let room = headroom(&placed, &self.request.load, most_s).map_err(AdviseError::Headroom)?;
        let (factor, is_least) = room.factor();
        Ok(document::Layout {
            headroom: Some(factor),
            headroom_is_least: is_least,
            ..self.ranged(self.layout(found), &placed)?
        })
    }

    /// A layout without it.
    pub(super) fn layout(&self, found: &Found) -> document::Layout {
        let machine = self.layouts.machine_of(&found.layout);
        let volumes = bought(self.layouts, &found.layout);
        let names: Vec<String> = volumes.iter().map(|volume| volume.name.clone()).collect();
        let layout = document::Layout {
            volumes,
            usd_per_month: Some(found.layout.usd_per_month),
            headroom: None,
            ..measured(&found.measured, found.time, self.today_s(), &names)
        };
        let layout = match self.is_by_bound() {
            true => document::Layout {
                time_is_least: true,
                parts_ms: BTreeMap::new(),
                ..layout
            },
            false => document::Layout {
                time_range: self.range(&found.measured, found.time),
                ..layout
            },
        };
        let catalogue = self.request.catalogue;
        let layout = Bought::of(machine, catalogue).under(layout);
        billed(layout, &self.request.need, catalogue)
    }

    /// Today's time of an operation, in seconds; mean over seeds.
    pub(super) fn today_s(&self) -> f64 {
        let all = &self.found.today_s;
        all.iter().sum::<f64>() / all.len() as f64
    }

    /// Between which shares of today's time an operation may take, where a detail of the back-test is off: as simulated, and with
    /// each wait off by as much as on today's layout. Where today's replay is slower than the recording, also as a share of the
    /// replayed time.
    fn range(&self, measured: &Measured, time: Ratio) -> Option<[f64; 2]> {
        let backtest = self.backtest;
        let of_detail = backtest.caveat().map(|_| {
            let today = backtest.as_recorded(&self.found.today.parts);
            backtest.as_recorded(&measured.parts) / today
        });
        let share = recorded_share(backtest);
        let of_replay = (share < 1.0).then_some(time.mean * share);
        let mut others = of_detail.into_iter().chain(of_replay).peekable();
        others.peek()?;
        let simulated = [time.mean - time.half, time.high()];
        Some(others.fold(simulated, |[low, high], other| {
            [low.min(other), high.max(other)]
        }))
    }
}

/// The volumes of a layout.
pub(crate) fn bought(layouts: &Layouts<'_>, layout: &Layout) -> Vec<document::Volume> {
    let volume = |volume: layout::PlannedVolume<'_>| match volume.offer {
        Some(offer) => volume_of(&volume.name, volume.roles, offer),
        None => document::Volume {
            name: volume.name,
            roles: volume.roles.to_vec(),
            disk: "local".to_owned(),
            count: layouts.local_disks(layout),
            size: None,
            iops: None,
            throughput: None,
            usd_per_month: Some(0.0),
            requests_usd_per_month: None,
            forgets: true,
        },
    };
    layouts.volumes(layout).into_iter().map(volume).collect()
}

/// A volume of disks that are bought.
pub(crate) fn volume_of(name: &str, roles: &[Role], offer: &Offer) -> document::Volume {
    document::Volume {
        name: name.to_owned(),
        roles: roles.to_vec(),
        disk: offer.disk.clone(),
        count: offer.count,
        size: offer.provision.size.map(|size| size.0),
        iops: offer.provision.iops.map(|iops| iops.0),
        throughput: offer.provision.throughput.map(|rate| rate.0),
        usd_per_month: Some(offer.usd_per_month),
        requests_usd_per_month: offer.requests_usd_per_month,
        forgets: false,
    }
}

/// The simulation results of a layout with these volumes, on which an operation takes a share `time` of `today_s`.
pub(crate) fn measured(
    measured: &Measured,
    time: Ratio,
    today_s: f64,
    volumes: &[String],
) -> document::Layout {
    // Disks of a stripe have the same limits; the most used comes first.
    let mut used: Vec<Used> = Vec::new();
    for limit in measured.used.iter().map(|used| limit(used, volumes)) {
        if !used.iter().any(|known| known.limit == limit.limit) {
            used.push(limit);
        }
    }
    used.truncate(LIMITS_TOLD);
    let operation_ms = time.mean * today_s * 1e3;
    document::Layout {
        machine: None,
        switched_on: None,
        processors_used: None,
        machine_usd_per_month: None,
        volumes: Vec::new(),
        usd_per_month: None,
        bill: Vec::new(),
        time: time.mean,
        time_half: time.half,
        time_range: None,
        time_mostly: None,
        time_is_least: false,
        data_reads: None,
        operation_ms,
        used,
        spent: spent(&measured.split),
        parts_ms: TimePart::ALL
            .map(|part| {
                (
                    part.name().into(),
                    measured.parts.share(part) * operation_ms,
                )
            })
            .into(),
        headroom: None,
        headroom_is_least: false,
        differences: Vec::new(),
        survived: None,
    }
}

/// `used` without the limits of recorded disks, which are the most that was asked for and not the most that is possible.
fn known_limits(used: Vec<Used>, volumes: &[Volume]) -> Vec<Used> {
    let recorded = volumes
        .iter()
        .filter(|volume| volume.disk == Disk::Recorded);
    let owners: Vec<String> = recorded.map(|volume| of_volume(&volume.name)).collect();
    let is_known = |used: &Used| !owners.iter().any(|owner| used.limit.ends_with(owner));
    used.into_iter().filter(is_known).collect()
}

/// The owner of a volume's limits.
fn of_volume(name: &str) -> String {
    format!(" of volume {name}")
}

fn limit(used: &Utilisation, volumes: &[String]) -> Used {
    let measure = match used.measure {
        Measure::Iops => "IOPS",
        Measure::Throughput => "throughput",
    };
    let owner = match &used.owner {
        UsageOwner::Machine(name) => format!(" of the machine ({name})"),
        UsageOwner::Disk { volume, .. } => match volumes.get(*volume) {
            Some(name) => of_volume(name),
            None => " of a volume".to_owned(),
        },
    };
    Used {
        limit: format!("{measure}{owner}"),
        share: used.share,
    }
}

/// What an operation's time is spent on, as shares of it.
fn spent(split: &TimeSplit) -> BTreeMap<String, f64> {
    let within = || split.iter().filter(|(spent, _)| *spent != Spent::Think);
    let all: f64 = within().map(|(_, time)| time.as_secs_f64()).sum();
    let mut shares = BTreeMap::new();
    for (on, time) in within() {
        let what = match on {
            Spent::Cpu => "on the processor",
            Spent::CpuQueued => "waiting for a processor",
            Spent::Lock => "waiting for a lock",
            Spent::Think => "between operations",
            Spent::Waiting(cause, part) => waited(cause, part),
        };
        *shares.entry(what.to_owned()).or_default() +=
            time.as_secs_f64() / all.max(f64::MIN_POSITIVE);
    }
    shares
}

fn waited(cause: Cause, part: Part) -> &'static str {
    match (cause, part) {
        (Cause::Read, Part::Throttled(_)) => "waiting for throttled reads",
        (Cause::Read, Part::Service | Part::Queued) => "waiting for reads",
        (Cause::Write, Part::Throttled(_)) => "waiting for throttled writes",
        (Cause::Write, Part::Service | Part::Queued) => "waiting for writes",
        (Cause::Log, Part::Throttled(_)) => "waiting for throttled log writes",
        (Cause::Log, Part::Service | Part::Queued) => "waiting for the log",
    }
}
