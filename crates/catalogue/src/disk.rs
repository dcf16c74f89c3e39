//! A disk in the catalogue, and what a user can provision.

use model::{Bytes, DiskSpec, Iops, Throughput};

use super::class::Class;
use super::error::CatalogueError;
use super::limit_value::LimitValue;
use super::limits::{Chosen, Limit, Limits};
use super::on_machines::OnMachines;
use super::price::{PerRequest, Price};
use super::size::SizeRule;
use super::source::{Confidence, Source};

/// A disk, or a managed service's storage tier, as the vendor sells it.
#[derive(Clone, Debug, PartialEq)]
pub struct DiskEntry {
    /// Vendor and product, such as `azure.premium.p30`.
    pub name: String,
    /// What it is.
    pub title: String,
    /// Other names that lead to it.
    pub aliases: Vec<String>,
    /// How its kind counts I/Os, and how long they take.
    pub class: Class,
    /// Which sizes it comes in.
    pub size: SizeRule,
    /// Its own limits; of larger disks, those of [`DiskEntry::limits_from`].
    pub limits: Limits,
    /// What larger disks have in place of these limits, smallest first.
    pub limits_from: Vec<LimitsFrom>,
    /// On which machines it has these limits.
    pub on_machines: OnMachines,
    /// The entry with the current rules, if these are superseded.
    pub superseded_by: Option<String>,
    /// Its price, if known.
    pub price: Option<Price>,
    /// What requests cost beside that.
    pub requests: Option<PerRequest>,
    /// Origin of its price, if not its sources.
    pub own_price_list: Option<String>,
    /// How its limits are known.
    pub confidence: Confidence,
    /// Where its limits and price come from.
    pub sources: Vec<Source>,
    /// Assumptions in place of unpublished figures, with the reason.
    pub assumed: Vec<String>,
    /// Remarks for the user.
    pub notes: Vec<String>,
}

/// Limits of disks from a size on.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitsFrom {
    /// The smallest disk that has them.
    pub size: Bytes,
    /// They replace all those of smaller disks.
    pub limits: Limits,
}

/// What a user can provision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Provision {
    /// Size; required for disks that come in any size.
    pub size: Option<Bytes>,
    /// Provisioned IOPS, if configurable.
    pub iops: Option<Iops>,
    /// Provisioned throughput, if configurable.
    pub throughput: Option<Throughput>,
    /// Bursting, where it is an option.
    pub bursting: bool,
}

/// A disk as provisioned.
#[derive(Clone, Debug, PartialEq)]
pub struct Provisioned {
    /// For the model.
    pub spec: DiskSpec,
    /// List price in US dollars a month, if known; excludes bursting that is billed by use.
    pub usd_per_month: Option<f64>,
}

impl DiskEntry {
    /// The disk as requested; `None` where nothing is requested of a disk that needs a request.
    ///
    /// # Errors
    /// As [`DiskEntry::provision`].
    pub fn provisioned(&self, asked: &Provision) -> Result<Option<Provisioned>, CatalogueError> {
        match self.provision(asked) {
            Err(_) if *asked == Provision::default() => Ok(None),
            result => result.map(Some),
        }
    }

    /// Provisions the disk as requested, checked against the vendor's rules.
    ///
    /// # Errors
    /// When the vendor does not sell this configuration: what was requested, what is allowed, and the remedy.
    pub fn provision(&self, asked: &Provision) -> Result<Provisioned, CatalogueError> {
        let size = self.size.choose(asked.size);
        let size = size.map_err(|(problem, remedy)| self.refused(problem, remedy))?;
        let iops = self.choose_iops(asked, size)?;
        let iops_total = iops.map_or(0, Chosen::largest);
        let throughput = self.choose_throughput(asked, size, iops_total)?;
        let own = self.limits_at(size);
        if asked.bursting && !own.bursts_at_all() {
            return Err(self.refused(
                "bursting asked, but it does not burst".into(),
                "leave `bursting` out".into(),
            ));
        }
        let limits = own.specs(iops, throughput, size, asked.bursting);
        let throughput_total = throughput.map_or(0, Chosen::largest);
        let usd_per_month = self
            .price
            .as_ref()
            .map(|price| price.usd_per_month(size, Iops(iops_total), Throughput(throughput_total)));
        Ok(Provisioned {
            spec: self.class.spec(size, limits),
            usd_per_month,
        })
    }

    /// The limits of a disk of this size.
    pub fn limits_at(&self, size: Bytes) -> &Limits {
        let mut larger = self.limits_from.iter().rev();
        let found = larger.find(|from| from.size <= size);
        found.map_or(&self.limits, |from| &from.limits)
    }

    /// All its limits, each with the smallest size that has it.
    pub fn limits_by_size(&self) -> impl Iterator<Item = (Bytes, &Limits)> {
        let larger = self.limits_from.iter();
        let larger = larger.map(|from| (from.size, &from.limits));
        [(Bytes::ZERO, &self.limits)].into_iter().chain(larger)
    }

    /// Whose list price it has, of which region, and the date: `AWS us-east-1, 2026`; or the file of own prices. `None`
    /// where it has no price, or its sources do not say.
    pub fn price_list(&self) -> Option<String> {
        self.price.as_ref()?;
        let of_sources = || self.sources.iter().find_map(Source::price_list);
        self.own_price_list.clone().or_else(of_sources)
    }

    /// Assumptions about it in place of unpublished figures, with the reason; including its class.
    pub fn assumptions(&self) -> Vec<String> {
        let mut all = self.class.assumptions();
        all.extend(self.assumed.iter().cloned());
        match self.confidence {
            Confidence::Documented | Confidence::Measured => {}
            Confidence::SecondHand | Confidence::Inferred | Confidence::Assumed => {
                all.push(format!("its limits are {}", self.confidence));
            }
        }
        all
    }

    fn choose_iops(
        &self,
        asked: &Provision,
        size: Bytes,
    ) -> Result<Option<Chosen<Iops>>, CatalogueError> {
        let at = [size.0, 0];
        self.choose("iops", Limits::iops, asked.iops, at, |wanted, most| {
            let enough = |size| most.amount(size, 0) >= wanted;
            let larger = self.size.smallest(size, enough)?;
            Some(format!("or for a size of {larger} or more"))
        })
    }

    fn choose_throughput(
        &self,
        asked: &Provision,
        size: Bytes,
        iops: u64,
    ) -> Result<Option<Chosen<Throughput>>, CatalogueError> {
        let at = [size.0, iops];
        let otherwise = |wanted, most: &super::rule::Rule<Throughput>| {
            let iops_most = self.iops_most(size)?;
            let needed = smallest(iops, iops_most, |iops| most.amount(size, iops) >= wanted)?;
            Some(format!("or for {needed} IOPS or more"))
        };
        self.choose(
            "throughput",
            Limits::throughput,
            asked.throughput,
            at,
            otherwise,
        )
    }

    /// The rate of one measure: the requested one if allowed, or the default if none was requested.
    ///
    /// `of` is the measure's limit, `at` the size and the IOPS of the disk; `otherwise` suggests what else to request so that a
    /// larger rate becomes possible.
    fn choose<Q: LimitValue>(
        &self,
        key: &str,
        of: fn(&Limits) -> Option<&Limit<Q>>,
        asked: Option<Q>,
        at: [u64; 2],
        otherwise: impl Fn(Q, &super::rule::Rule<Q>) -> Option<String>,
    ) -> Result<Option<Chosen<Q>>, CatalogueError> {
        let (size, iops) = (Bytes(at[0]), at[1]);
        let limit = of(self.limits_at(size));
        let Some(Limit::Provisioned { least, most, .. }) = limit else {
            let Some(asked) = asked else {
                return Ok(limit.and_then(|limit| limit.unasked(size, iops)));
            };
            let is_asked =
                |from: &&LimitsFrom| matches!(of(&from.limits), Some(Limit::Provisioned { .. }));
            let mut larger = self.limits_from.iter().filter(|from| from.size > size);
            let (shown, larger) = (asked.shown(), larger.find(is_asked));
            return Err(match larger {
                Some(from) => self.refused(
                    format!(
                        "{key} {shown} asked, but they are not provisioned below {}",
                        from.size
                    ),
                    format!(
                        "leave `{key}` out, or ask for a size of {} or more",
                        from.size
                    ),
                ),
                None => self.refused(
                    format!("{key} {shown} asked, but they are not provisioned"),
                    format!("leave `{key}` out, or choose another disk"),
                ),
            });
        };
        let (least, most_here) = (least.amount(size, iops), most.amount(size, iops));
        let allowed = format!("{} to {}", least.shown(), most_here.shown());
        let wanted = match asked {
            Some(wanted) => wanted,
            None => match limit.and_then(|limit| limit.unasked(size, iops)) {
                Some(unasked) => return Ok(Some(unasked)),
                None => {
                    let problem = format!("its {key} has to be asked for, and was not");
                    return Err(self.refused(problem, format!("add `{key}`, {allowed}")));
                }
            },
        };
        if wanted < least || wanted > most_here {
            let else_ask = otherwise(wanted, most).filter(|_| wanted > most_here);
            return Err(self.refused(
                format!(
                    "{key} {} asked, allowed at {size} are {allowed}",
                    wanted.shown()
                ),
                match else_ask {
                    Some(else_ask) => format!("ask for no more, {else_ask}"),
                    None => format!("ask for {allowed}"),
                },
            ));
        }
        Ok(Some(Chosen::Shared(wanted)))
    }

    fn iops_most(&self, size: Bytes) -> Option<u64> {
        match self.limits_at(size).iops()? {
            Limit::Provisioned { most, .. } => Some(most.amount(size, 0).0),
            Limit::Shared(_) | Limit::Split { .. } => None,
        }
    }

    fn refused(&self, problem: String, remedy: String) -> CatalogueError {
        CatalogueError::Provision {
            disk: self.name.clone(),
            problem,
            remedy,
        }
    }
}

/// The smallest of `low..=high` that is `enough`, which must be monotonic.
fn smallest(mut low: u64, mut high: u64, enough: impl Fn(u64) -> bool) -> Option<u64> {
    if !enough(high) {
        return None;
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if enough(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(low)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Catalogue;
    use super::*;

    proptest! {
        #[test]
        fn whatever_is_asked_is_either_granted_as_asked_or_refused(
            bytes in prop_oneof![any::<u64>(), (0..70_000u64).prop_map(|gib| gib << 30)],
            iops in prop::option::of(prop_oneof![any::<u64>(), 0..300_000u64]),
            throughput in prop::option::of(prop_oneof![any::<u64>(), 0..20_000_000_000u64]),
            bursting: bool,
        ) {
            let asked = Provision {
                size: Some(Bytes(bytes)),
                iops: iops.map(Iops),
                throughput: throughput.map(Throughput),
                bursting,
            };
            for disk in Catalogue::builtin().disks() {
                if let Ok(provisioned) = disk.provision(&asked) {
                    prop_assert_eq!(provisioned.spec.size, Bytes(bytes));
                }
            }
        }
    }
}
