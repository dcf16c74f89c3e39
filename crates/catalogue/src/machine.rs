//! A machine in the catalogue.

use model::MachineSpec;

use super::cpu_options::CpuOptions;
use super::host_caching::HostCaching;
use super::hourly_price::{HourlyPrice, PriceAssumed};
use super::processor::Processor;
use super::source::{Confidence, Source, Spreads};

/// A virtual machine size, or a managed service's compute tier.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineEntry {
    /// Vendor and size, such as `azure.DS14_v2`.
    pub name: String,
    /// Description, where the name does not suffice.
    pub title: String,
    /// Other names that lead to it.
    pub aliases: Vec<String>,
    /// The vendor's name of its series, such as `Edsv5`; empty if unknown.
    pub family: String,
    /// Whether its processors are Arm.
    pub arm: bool,
    /// The size that it is made of, if it is one with fewer processors at the same price.
    pub base: Option<String>,
    /// Processors that can be left off when it starts, if any.
    pub cpu_options: Option<CpuOptions>,
    /// Its processor, if how fast that is was measured.
    pub processor: Option<Processor>,
    /// Share of its processors that it may use in the long run, above 0 and below 1; `None`: all of them.
    pub baseline: Option<f64>,
    /// For the model; its local disk is one of [`MachineEntry::local_disks`].
    pub spec: MachineSpec,
    /// Whether its host caches remote disks.
    pub host_caching: HostCaching,
    /// How far the disks differ that hosts like its own cache on; `None` where it caches nothing, or that is not known.
    pub host_cache_spreads: Option<Spreads>,
    /// How far its local disks differ from those of others; `None` without one.
    pub local_spreads: Option<Spreads>,
    /// Number of local disks, if known.
    pub local_disks: Option<u32>,
    /// Whether they come back without a file system after every stop, if known.
    pub local_disks_raw: Option<bool>,
    /// Its price, if known.
    pub price: Option<HourlyPrice>,
    /// Origin of its price, if not its sources.
    pub own_price_list: Option<String>,
    /// Maximum number of attached data disks, if known.
    pub disks_max: Option<u32>,
    /// Maximum number of database files, for managed services.
    pub files_max: Option<u32>,
    /// The service that it is a class of, by name.
    pub service: Option<String>,
    /// Whether the licence of the database is charged apart from its price, at a rate that is not known.
    pub licence_apart: bool,
    /// How its figures are known.
    pub confidence: Confidence,
    /// Where they come from.
    pub sources: Vec<Source>,
    /// Assumptions in place of unpublished figures, with the reason.
    pub assumed: Vec<String>,
    /// Assumptions about its price.
    pub price_assumed: PriceAssumed,
    /// Assumptions about its local disk.
    pub local_assumed: Vec<String>,
    /// Remarks for the user.
    pub notes: Vec<String>,
}

/// A generation of a series of machines, as the name of its family says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generation {
    /// The first letter of the series: `m` of `m6i`, `e` of `Ebdsv5`.
    series: char,
    number: u32,
}

impl Generation {
    /// Of a family: `m6i` is generation 6 of `m`, `Ebdsv5` 5 of `e`; `None` where its name has no number.
    pub fn of(family: &str) -> Option<Generation> {
        let series = family.chars().next()?.to_ascii_lowercase();
        // Names that end in a number end in the generation, as `NVadsA10v5`.
        let trimmed = family.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits: String = match trimmed.len() < family.len() {
            true => family[trimmed.len()..].to_owned(),
            false => {
                let from = family.chars().skip_while(|c| !c.is_ascii_digit());
                from.take_while(char::is_ascii_digit).collect()
            }
        };
        let number = digits.parse().ok()?;
        Some(Generation { series, number })
    }

    /// Whether it is a later generation of the same series.
    pub fn is_newer_than(&self, other: &Generation) -> bool {
        self.series == other.series && self.number > other.number
    }
}

impl MachineEntry {
    /// Whose list price it has, of which region, and the date: `AWS us-east-1, 2026-07-20`; or the file of own prices.
    /// `None` where it has no price, or its sources do not say.
    pub fn price_list(&self) -> Option<String> {
        self.price?;
        let of_sources = || self.sources.iter().find_map(Source::price_list);
        self.own_price_list.clone().or_else(of_sources)
    }

    /// Assumptions about it in place of unpublished figures, with the reason; including its prices and local disks.
    pub fn assumptions(&self) -> Vec<String> {
        let of_local = self.local_assumed.iter();
        self.assumed
            .iter()
            .chain(&self.price_assumed.linux)
            .chain(&self.price_assumed.windows)
            .cloned()
            .chain(of_local.map(|text| format!("its own disk: {text}")))
            .collect()
    }

    /// Fills in unknown values from `other`.
    pub(super) fn complete(&mut self, other: MachineEntry) {
        if self.family.is_empty() {
            self.family = other.family;
        }
        self.arm |= other.arm;
        self.processor = self.processor.take().or(other.processor);
        self.baseline = self.baseline.or(other.baseline);
        if self.price.is_none() {
            self.price = other.price;
            self.price_assumed = other.price_assumed;
        }
        self.disks_max = self.disks_max.or(other.disks_max);
        self.local_disks_raw = self.local_disks_raw.or(other.local_disks_raw);
        if let (None, Some(cache)) = (&self.spec.host_cache, other.spec.host_cache)
            && let Some(limit) = other.spec.limits.get(&cache.limit)
        {
            let limits = &mut self.spec.limits;
            limits
                .entry(cache.limit.clone())
                .or_insert_with(|| limit.clone());
            self.spec.host_cache = Some(cache);
            self.host_caching = other.host_caching;
            self.host_cache_spreads = other.host_cache_spreads;
        }
        if self.spec.local_disk.is_none() {
            self.spec.local_disk = other.spec.local_disk;
            self.local_spreads = other.local_spreads;
            self.local_disks = self.local_disks.max(other.local_disks);
            self.local_assumed = other.local_assumed;
        }
        let known: Vec<String> = self
            .sources
            .iter()
            .map(|source| source.id.clone())
            .collect();
        let new = other.sources.into_iter();
        self.sources
            .extend(new.filter(|source| !known.contains(&source.id)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generations_of_a_series_are_ordered_and_those_of_different_series_are_not() {
        let newer = |one: &str, other: &str| {
            let of = |family| Generation::of(family).expect("it has a number");
            of(one).is_newer_than(&of(other))
        };
        for (one, other) in [
            ("m6i", "m5"),
            ("Ebdsv5", "Easv4"),
            ("c3d", "c2"),
            ("m10", "m9g"),
        ] {
            assert!(newer(one, other) && !newer(other, one), "{one} {other}");
        }
        assert!(!newer("m6i", "m6a") && !newer("r6i", "m5") && !newer("m6i", "t3"));
        assert_eq!(Generation::of("M-series"), None);
    }
}
