//! What stands beside the answer: what prices leave out, sizes that were not asked for, and what the recording cannot say.

use std::collections::{BTreeMap, BTreeSet};

use analysis::report::advice::document::{Advice, Layout};
use analysis::report::profile::{part, short};
use catalogue::Provision;
use model::{Bytes, Counts, Duration, Iops, LimitSpec, Rate, Throughput};
use reading::Role;
use table::quantity::{count, duration, number};

use super::{DocumentBuilder, bill};
use crate::licence::Paid;
use crate::system::System;

/// Rates of the recording, or of a layout's limits.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rates {
    /// Reads and writes per second.
    iops: f64,
    /// Bytes per second.
    throughput: f64,
}

impl DocumentBuilder<'_> {
    /// Sentences beside the answer.
    pub(super) fn notes(&self, document: &Advice) -> Vec<String> {
        let profile = self.request.today.profile;
        let mut all: Vec<String> = short(profile).into_iter().chain(part(profile)).collect();
        all.extend(self.unlicensed());
        all.extend(self.below_busiest(document));
        all.extend(self.spare_processors());
        all.extend(self.not_priced(document));
        all.extend(self.edition());
        all.extend(self.more_memory(document));
        all.extend(self.sizes());
        all
    }

    /// That layouts keep processors which the recording did not use: of a machine outside of the catalogue, their number was given.
    fn spare_processors(&self) -> Option<String> {
        let today = &self.request.today;
        let cores = self.request.need.cores;
        let used = profile::summary(today.profile).processors?.highest;
        (today.machine().is_none() && used * 2.0 < f64::from(cores)).then(|| {
            format!(
                "The recording used at most {} of {cores} processors, and every layout has at least {cores}: with fewer (`cores` in [machine] \
                 of today's layout), machine and licence cost less.",
                number(used)
            )
        })
    }

    /// What the prices of machines include and leave out, where that is not as asked or expected.
    fn not_priced(&self, document: &Advice) -> Option<String> {
        let (system, other) = match self.request.need.system {
            System::Linux => ("Linux", "--windows: with Windows"),
            System::Windows => ("Windows", "--linux: with Linux"),
        };
        let licence = self.licence(document);
        let why = self.names.system_why.map(|why| format!(", {why}"));
        let is_asked = licence.is_some() || why.is_some() || self.unlicensed().is_some();
        is_asked.then(|| {
            format!(
                "Machines are priced with {system}{} ({other}){}.",
                why.unwrap_or_default(),
                licence.unwrap_or_default()
            )
        })
    }

    /// That prices are without the database's licence, where it needs one.
    fn unlicensed(&self) -> Option<String> {
        let product = self.request.today.profile.origin.product.as_ref()?;
        self.request.catalogue.editions(product).next()?;
        self.request.need.tariff.licence.is_none().then(|| {
            format!("{product}'s licence is in no price: its edition is not known (--edition).")
        })
    }

    /// What prices have of the database's licence; a phrase that goes on.
    fn licence(&self, document: &Advice) -> Option<String> {
        let licence = self.request.need.tariff.licence.as_ref()?;
        let name = licence.name();
        let lines = document
            .chosen()
            .into_iter()
            .flat_map(|layout| &layout.bill);
        let line = lines.into_iter().find(|line| line.what == bill::LICENCE);
        let shown = line.and_then(|line| line.usd_per_month);
        let shown = shown.map(|usd| document.asked.currency.shown(usd));
        Some(match (&licence.paid, shown) {
            (Paid::Hourly(Some(_)), Some(usd)) => format!(
                ", and with {name} by the hour, {usd} a month for a server of the answer (--licence own: with licences of your own)"
            ),
            (Paid::Hourly(Some(_)), None) => {
                format!(", and with {name} by the hour (--licence own: with licences of your own)")
            }
            (Paid::Hourly(None), _) => format!(
                "; what {name} costs by the hour in this cloud is not known, and not included (--licence own with --licence-price)"
            ),
            (Paid::Own { usd_core_year }, Some(usd)) if *usd_core_year > 0.0 => format!(
                ", and with your own licences of {name}, {usd} a month for a server of the answer"
            ),
            (Paid::Own { .. }, _) => {
                format!(
                    ", and with your own licences of {name}, which cost nothing here (--licence-price)"
                )
            }
        })
    }

    /// What the edition cannot use, or may not be used for.
    fn edition(&self) -> Vec<String> {
        let need = &self.request.need;
        let Some(licence) = &need.tariff.licence else {
            return Vec::new();
        };
        let mut all = licence.notes(need.memory, need.capacity(&[Role::Data]));
        if need.arm {
            all.push(format!(
                "Machines with Arm processors are left out: {} does not run on them.",
                licence.edition.product
            ));
        }
        all
    }

    /// Space that was not asked for, and where it is taken from.
    fn sizes(&self) -> Vec<String> {
        let capacity = &self.request.wishes.capacity;
        let separate = &self.request.need.separate;
        let mut all = Vec::new();
        for holding in &self.request.need.holdings {
            let roles = &holding.roles;
            if roles.iter().all(|role| !capacity.contains_key(role)) {
                all.push(format!(
                    "The space for {} is that of today's volume, {} (--capacity {}=SIZE).",
                    Role::joined(roles, " and "),
                    holding.size,
                    Role::joined(roles, "=SIZE --capacity ")
                ));
            }
        }
        for role in [Role::Temp, Role::Log] {
            let data = capacity.get(&Role::Data);
            if let Some(data) =
                data.filter(|_| !capacity.contains_key(&role) && !separate.contains(&role))
            {
                all.push(format!(
                    "No space is counted for {role}: its files are in the {data} for data (--capacity {role}=SIZE).",
                ));
            }
        }
        all
    }

    /// Limits of the answer that are below what was asked for in the recording's busiest interval.
    fn below_busiest(&self, document: &Advice) -> Vec<String> {
        let Some(advised) = document.chosen() else {
            return Vec::new();
        };
        // Today's layout served the recording.
        let mut all = match document.decision.layout.as_deref() {
            Some("today") => Vec::new(),
            _ => self.below(advised),
        };
        let others = document.answers().into_iter();
        let others = others.filter(|(name, layout)| {
            *name != "today" && *layout != advised && !self.below(layout).is_empty()
        });
        let others: Vec<&str> = others.map(|(name, _)| name).collect();
        if !others.is_empty() {
            all.push(format!(
                "Limits below the recording's busiest interval: {}.",
                others.join(", ")
            ));
        }
        all
    }

    /// A sentence for each volume, and each limit of the machine, that provides less than the busiest interval asked for.
    fn below(&self, layout: &Layout) -> Vec<String> {
        let catalogue = self.request.catalogue;
        let machine = layout.machine.as_ref();
        let machine = machine.and_then(|name| catalogue.machine(name).ok());
        let mut of_machine: BTreeMap<&str, BTreeSet<Role>> = BTreeMap::new();
        let mut all = Vec::new();
        for volume in &layout.volumes {
            let provision = Provision {
                size: volume.size.map(Bytes),
                iops: volume.iops.map(Iops),
                throughput: volume.throughput.map(Throughput),
                bursting: false,
            };
            let Some(disk) = catalogue
                .disk(&volume.disk)
                .ok()
                .and_then(|disk| disk.provision(&provision).ok())
            else {
                continue;
            };
            let roles: BTreeSet<Role> = volume.roles.iter().copied().collect();
            if let Some(machine) = machine {
                let mut names = disk.spec.machine_limits.iter();
                let limit = names.find_map(|name| machine.spec.limits.get_key_value(name));
                if let Some((name, _)) = limit {
                    of_machine.entry(name).or_default().extend(&roles);
                }
            }
            let provided = provided(&disk.spec.limits, f64::from(volume.count));
            all.extend(self.shortfall(&roles, provided, &format!("volume {}", volume.name)));
        }
        for (name, roles) in of_machine {
            let Some(limits) = machine.and_then(|machine| machine.spec.limits.get(name)) else {
                continue;
            };
            let provided = provided(limits, 1.0);
            all.extend(self.shortfall(&roles, provided, &format!("the machine ({name})")));
        }
        all
    }

    fn shortfall(&self, roles: &BTreeSet<Role>, provided: Rates, owner: &str) -> Option<String> {
        let observed = self.request.today.profile.observed(roles, Duration::SECOND);
        let asked = Rates {
            iops: observed.requests_per_s,
            throughput: observed.bytes_per_s,
        };
        let (asked, provided) = lacking(asked, provided)?;
        Some(format!(
            "The recording's busiest {} asked for {asked} for {}, where {owner} provides {provided}.",
            duration(observed.interval),
            Role::joined(roles, ", ")
        ))
    }
}

/// What `asked` has more of than `provided`, in words, and what that has.
fn lacking(asked: Rates, provided: Rates) -> Option<(String, String)> {
    let mut both = [Vec::new(), Vec::new()];
    if asked.iops > provided.iops {
        for (rates, rate) in both.iter_mut().zip([asked.iops, provided.iops]) {
            rates.push(format!("{} IOPS", count(rate.round() as u64)));
        }
    }
    if asked.throughput > provided.throughput {
        for (rates, rate) in both.iter_mut().zip([asked.throughput, provided.throughput]) {
            rates.push(format!("{} MB/s", number(rate / 1e6)));
        }
    }
    let [asked, provided] = both.map(|parts| parts.join(" and "));
    (!asked.is_empty()).then_some((asked, provided))
}

/// What limits on reads and writes together allow of `disks` like these.
fn provided(limits: &[LimitSpec], disks: f64) -> Rates {
    let mut all = Rates {
        iops: f64::INFINITY,
        throughput: f64::INFINITY,
    };
    for limit in limits.iter().filter(|limit| limit.counts == Counts::All) {
        match limit.rate {
            Rate::Iops(rate) => all.iops = all.iops.min(rate.0 as f64 * disks),
            Rate::Throughput(rate) => {
                all.throughput = all.throughput.min(rate.0 as f64 * disks);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_exceeded_is_named() {
        let asked = Rates {
            iops: 4_700.0,
            throughput: 285e6,
        };
        let of = |iops, throughput| lacking(asked, Rates { iops, throughput });
        let both = |asked: &str, provided: &str| Some((asked.to_owned(), provided.to_owned()));

        assert_eq!(of(4_700.0, 285e6), None);
        assert_eq!(of(4_200.0, 285e6), both("4,700 IOPS", "4,200 IOPS"));
        assert_eq!(of(f64::INFINITY, 256e6), both("285 MB/s", "256 MB/s"));
        assert_eq!(
            of(4_200.0, 256e6),
            both("4,700 IOPS and 285 MB/s", "4,200 IOPS and 256 MB/s")
        );
    }

    #[test]
    fn a_stripe_provides_as_much_as_its_disks_together() {
        let limit = |rate| LimitSpec {
            counts: Counts::All,
            rate,
            depth: Duration::ZERO,
            burst: None,
        };
        let limits = [
            limit(Rate::Iops(Iops(3_000))),
            limit(Rate::Throughput(Throughput(125_000_000))),
        ];
        let rates = provided(&limits, 4.0);
        assert_eq!((rates.iops, rates.throughput), (12_000.0, 500e6));
    }
}
