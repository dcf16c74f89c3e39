//! Classes of managed services as rows of a table: one row is one class of one service.

use std::collections::BTreeMap;

use model::Bytes;
use serde::Deserialize;

use super::Catalogue;
use super::each_row::each;
use super::error::CatalogueError;
use super::hourly_price::PriceAssumed;
use super::machine::MachineEntry;
use super::read::{at_line, insert, lookup, machine};
use super::rows::{BURST, gibibytes, yes};
use super::service::Service;
use super::wire::{
    AmountWire, BurstWire, BurstsWire, HourlyPriceWire, LimitsWire, LocalDiskWire, MachineWire,
    RuleWire,
};

/// What a flag of a row means.
enum Meaning {
    /// An assumption about the price, with the reason.
    OfPrice(&'static str),
    /// An assumption about the rest, with the reason.
    Assumed(&'static str),
}

use Meaning::{Assumed, OfPrice};

/// Flag of a price that the licence is not in.
const LICENCE_APART: &str = "licence-apart";

/// Flags that a row may have.
const FLAGS: [(&str, Meaning); 5] = [
    (
        "price-derived",
        OfPrice("the price: in proportion to the other sizes of the family"),
    ),
    (
        "price-of-gp",
        OfPrice("the price: that of the classic tier with as many vCores"),
    ),
    (
        LICENCE_APART,
        OfPrice("the price: without the licence, which is charged for each vCPU"),
    ),
    (
        "memory-5.1",
        Assumed("memory: 5.1 GiB for each core, not taken from the source"),
    ),
    (
        "iops-by-rule",
        Assumed("IOPS: by the rule for each core; the row was not read"),
    ),
];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    service: String,
    class: String,
    family: String,
    arm: String,
    base: String,
    cores: u32,
    memory_gib: f64,
    iops: Option<f64>,
    throughput: String,
    burst_iops: Option<f64>,
    burst_throughput: String,
    log: String,
    local_disks: Option<u32>,
    local_gb_each: Option<u64>,
    usd_hour: Option<f64>,
    sources: String,
    flags: String,
}

/// Reads the classes of a table into the services of `catalogue`.
///
/// # Errors
/// The first error, with its line.
pub(super) fn table(
    catalogue: &mut Catalogue,
    text: &str,
    file: &str,
) -> Result<(), CatalogueError> {
    let rows = each(text, |_, row: Row| {
        let service = lookup(&catalogue.services, "service", &row.service)?;
        if service.not_modelled.is_some() {
            return Err(format!(
                "`{}` has no classes, as it is not modelled",
                row.service
            ));
        }
        let name = format!("{}.{}", service.types, row.class);
        let class = row.class(catalogue, service, &name);
        let class = class.map_err(|why| format!("`{name}`: {why}"))?;
        let service = catalogue.services.get_mut(&row.service);
        insert(
            &mut service.expect("it was looked up").classes,
            &name,
            class,
        )
    });
    rows.map_err(|error| at_line(file, error.line, error.message))
}

impl Row {
    fn class(
        &self,
        catalogue: &Catalogue,
        service: &Service,
        name: &str,
    ) -> Result<MachineEntry, String> {
        let mut entry = machine(catalogue, name, &self.wire(service)?)?;
        if !self.base.is_empty() {
            let base = lookup(&catalogue.machines, "machine", &self.base)?;
            entry.spec.local_disk.clone_from(&base.spec.local_disk);
            entry.local_disks = base.local_disks;
            entry.local_spreads.clone_from(&base.local_spreads);
            entry.local_assumed.clone_from(&base.local_assumed);
        }
        entry.service = Some(service.name.clone());
        entry.licence_apart = self
            .flags
            .split_whitespace()
            .any(|flag| flag == LICENCE_APART);
        // The service puts a file system on them.
        entry.local_disks_raw = entry.spec.local_disk.is_some().then_some(false);
        Ok(entry)
    }

    fn wire(&self, service: &Service) -> Result<MachineWire, String> {
        let (mut price_assumed, mut assumed) = (PriceAssumed::default(), Vec::new());
        for flag in self.flags.split_whitespace() {
            match FLAGS.iter().find(|(name, _)| *name == flag) {
                Some((_, OfPrice(text))) => price_assumed.linux.push((*text).to_owned()),
                Some((_, Assumed(text))) => assumed.push((*text).to_owned()),
                None => return Err(format!("there is no flag `{flag}`")),
            }
        }
        let local_disk = self.local_gb_each.map(|gb| LocalDiskWire {
            disk: None,
            class: Some(
                service
                    .local_class
                    .as_deref()
                    .unwrap_or("local-nvme")
                    .to_owned(),
            ),
            size: Some(Bytes(gb * 1_000_000_000)),
            iops: None,
            throughput: None,
        });
        Ok(MachineWire {
            title: format!("{}, {}", service.title, self.class),
            aliases: Vec::new(),
            family: self.family.clone(),
            arm: yes(&self.arm)?.unwrap_or(false),
            cores: self.cores,
            memory: gibibytes(self.memory_gib),
            disks_max: None,
            files_max: service.files_max,
            limits: self.limits(service)?,
            host_cache: None,
            local_disk,
            local_disks: self.local_disks,
            local_disks_raw: None,
            // A service has no operating system to choose.
            price: Some(HourlyPriceWire {
                linux: self.usd_hour,
                windows: None,
            }),
            confidence: service.confidence,
            sources: self.sources.split_whitespace().map(str::to_owned).collect(),
            assumed,
            price_assumed,
            local_assumed: Vec::new(),
            notes: Vec::new(),
        })
    }

    fn limits(&self, service: &Service) -> Result<BTreeMap<String, LimitsWire>, String> {
        let iops = |rate: f64| RuleWire::Amount(AmountWire::Number(rate));
        let throughput = |text: &str| {
            (!text.is_empty()).then(|| RuleWire::Amount(AmountWire::Text(text.to_owned())))
        };
        let burst = |rate: RuleWire| BurstWire {
            rate,
            lasts: Some(BURST),
            credits: None,
        };
        let own = LimitsWire {
            iops: self.iops.map(iops),
            throughput: throughput(&self.throughput),
            burst: Some(BurstsWire {
                optional: false,
                iops: self.burst_iops.map(|rate| burst(iops(rate))),
                throughput: throughput(&self.burst_throughput).map(burst),
            }),
        };
        let log = throughput(&self.log).map(|cap| LimitsWire {
            iops: None,
            throughput: Some(cap),
            burst: None,
        });
        let mut limits: BTreeMap<String, LimitsWire> = BTreeMap::new();
        match (&service.limit, self.iops) {
            (Some(name), Some(_)) => {
                limits.insert(name.clone(), own);
            }
            (None, None) => {}
            (Some(_), None) => return Err("it has no `iops`, which its service limits".to_owned()),
            (None, Some(_)) => {
                return Err("its service does not say whose limit `iops` is".to_owned());
            }
        }
        limits.extend(log.map(|log| ("log".to_owned(), log)));
        Ok(limits)
    }
}
