//! From a file's keys and values to entries: everything is looked up and checked here.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use model::cores::{CORES_MAX, Speed};
use model::{Bytes, DiskSpec, HostCacheSpec, IoUnit, LimitSpec, MachineSpec};
use serde::de::DeserializeOwned;
use toml::Spanned;

use super::Catalogue;
use super::class::Class;
use super::disk::{DiskEntry, LimitsFrom, Provision};
use super::error::CatalogueError;
use super::host_caching::{CacheLatencies, HostCaching, Series};
use super::hourly_price::HourlyPrice;
use super::latency::Latency;
use super::limits::Limits;
use super::machine::MachineEntry;
use super::near::{near, suggestion};
use super::on_machines::OnMachines;
use super::price::{self, PerRequest, Price};
use super::rows::{self, MachineRow};
use super::size::SizeRule;
use super::source::{Source, Spreads};
use super::wire::{
    ClassWire, DiskWire, FileWire, HostCacheWire, HourlyPriceWire, LatencyWire, LimitsFromWire,
    LimitsWire, LocalDiskWire, MachineWire, SourceWire,
};

/// Reads `text` into `catalogue`: sources, classes, disks, machines, in the order of reference.
///
/// # Errors
/// The first error, with its line. The catalogue may then hold a part of the file.
pub(super) fn file(
    catalogue: &mut Catalogue,
    text: &str,
    file: &str,
) -> Result<(), CatalogueError> {
    let document = Document { text, file };
    let wire: FileWire = document.parse()?;
    document.each(wire.source, |id, wire| {
        if catalogue.shipped_sources.contains_key(id) {
            return Err(DEFINED.into());
        }
        catalogue.sources.insert(id.to_owned(), source(id, wire));
        Ok(())
    })?;
    document.each(wire.class, |name, wire| {
        let class = class(catalogue, name, wire)?;
        insert(&mut catalogue.classes, name, class)
    })?;
    document.each(wire.disk, |name, wire| {
        let disk = disk(catalogue, name, wire)?;
        alias(catalogue, name, &disk.aliases)?;
        insert(&mut catalogue.disks, name, disk)
    })?;
    document.each(wire.machine, |name, wire| {
        let machine = machine(catalogue, name, wire)?;
        alias(catalogue, name, &machine.aliases)?;
        insert(&mut catalogue.machines, name, machine)
    })
}

/// Reads the machines of a table into `catalogue`: new ones, and missing values of existing ones.
///
/// # Errors
/// The first error, with its line. The catalogue may then hold a part of the table.
pub(super) fn table(
    catalogue: &mut Catalogue,
    text: &str,
    file: &str,
) -> Result<(), CatalogueError> {
    let at = |line: u64, message: String| at_line(file, line, message);
    let rows = rows::read(text).map_err(|error| at(error.line, error.message))?;
    for MachineRow { line, name, wire } in rows {
        let row = machine(catalogue, &name, &wire);
        let row = row.map_err(|message| at(line, format!("`{name}`: {message}")))?;
        match catalogue.machines.entry(name) {
            Entry::Vacant(vacant) => {
                vacant.insert(row);
            }
            Entry::Occupied(mut known) => known.get_mut().complete(row),
        }
    }
    Ok(())
}

/// Class of the disks that a host caches on, where no size is published.
const HOST_CACHE_CLASS: &str = "azure-local-ssd";

/// Reads which series' hosts cache, for machines whose cache has no known size.
///
/// # Errors
/// The first error, with its line.
pub(super) fn host_caches(
    catalogue: &mut Catalogue,
    text: &str,
    file: &str,
) -> Result<(), CatalogueError> {
    let at = |line: u64, message: String| at_line(file, line, message);
    let series = Series::read(text).map_err(|error| at(error.line, error.message))?;
    let class = lookup(&catalogue.classes, "class", HOST_CACHE_CLASS);
    let class = class.map_err(|message| at(1, message))?;
    let (latencies, spreads) = (CacheLatencies::on(class), class.spreads());
    for machine in catalogue.machines.values_mut() {
        if machine.host_caching == HostCaching::NotInCatalogue {
            machine.host_caching = series.of(&machine.family, &machine.name, latencies);
            machine.host_cache_spreads = match machine.host_caching {
                HostCaching::SizeUnknown { .. } => Some(spreads.clone()),
                HostCaching::Sized
                | HostCaching::Unsupported { .. }
                | HostCaching::NotInCatalogue => None,
            };
        }
    }
    Ok(())
}

/// An error on a line of a table.
pub(super) fn at_line(file: &str, line: u64, message: String) -> CatalogueError {
    CatalogueError::File {
        file: file.to_owned(),
        line: usize::try_from(line).unwrap_or(usize::MAX),
        message,
    }
}

/// A file's text and name, to locate errors.
pub(super) struct Document<'a> {
    pub(super) text: &'a str,
    pub(super) file: &'a str,
}

impl Document<'_> {
    pub(super) fn parse<T: DeserializeOwned>(&self) -> Result<T, CatalogueError> {
        toml::from_str(self.text).map_err(|e| {
            let offset = e.span().map_or(0, |span| span.start);
            self.error(offset, e.message().trim_end().replace('\n', ", "))
        })
    }

    pub(super) fn each<T>(
        &self,
        entries: BTreeMap<String, Spanned<T>>,
        mut read: impl FnMut(&str, &T) -> Result<(), String>,
    ) -> Result<(), CatalogueError> {
        for (name, entry) in &entries {
            read(name, entry.get_ref())
                .map_err(|e| self.error(entry.span().start, format!("`{name}`: {e}")))?;
        }
        Ok(())
    }

    fn error(&self, offset: usize, message: String) -> CatalogueError {
        let before = self.text.as_bytes().get(..offset).unwrap_or_default();
        CatalogueError::File {
            file: self.file.to_owned(),
            line: 1 + before.iter().filter(|byte| **byte == b'\n').count(),
            message,
        }
    }
}

/// Error for a name that is already defined.
const DEFINED: &str = "already defined; choose another name";

pub(super) fn insert<T>(
    entries: &mut BTreeMap<String, T>,
    name: &str,
    entry: T,
) -> Result<(), String> {
    match entries.entry(name.to_owned()) {
        Entry::Vacant(vacant) => {
            vacant.insert(entry);
            Ok(())
        }
        Entry::Occupied(_) => Err(DEFINED.into()),
    }
}

fn alias(catalogue: &mut Catalogue, name: &str, aliases: &[String]) -> Result<(), String> {
    for alias in aliases {
        if catalogue.disks.contains_key(alias) || catalogue.machines.contains_key(alias) {
            return Err(format!("the alias `{alias}` is the name of another entry"));
        }
        insert(&mut catalogue.aliases, alias, name.to_owned())
            .map_err(|e| format!("the alias `{alias}` is {e}"))?;
    }
    Ok(())
}

pub(super) fn lookup<'a, T>(
    entries: &'a BTreeMap<String, T>,
    kind: &str,
    name: &str,
) -> Result<&'a T, String> {
    entries.get(name).ok_or_else(|| {
        let near = near(name, entries.keys());
        format!("there is no {kind} `{name}`{}", suggestion(&near))
    })
}

pub(super) fn sources(catalogue: &Catalogue, ids: &[String]) -> Result<Vec<Source>, String> {
    let found = ids.iter().map(|id| {
        let own = catalogue.sources.get(id).ok_or(());
        own.or_else(|()| lookup(&catalogue.shipped_sources, "source", id))
            .cloned()
    });
    found.collect()
}

pub(super) fn source(id: &str, wire: &SourceWire) -> Source {
    Source {
        id: id.to_owned(),
        title: wire.title.clone(),
        url: wire.url.clone(),
        date: wire.date.clone(),
        note: wire.note.clone(),
        prices: wire.prices.clone(),
    }
}

pub(super) fn class(catalogue: &Catalogue, name: &str, wire: &ClassWire) -> Result<Class, String> {
    // Sources become shipped ones once all that ships is read.
    let shipped = catalogue.shipped_sources.is_empty();
    let latency = |key: &str, wire: &LatencyWire| {
        let sources = sources(catalogue, &wire.sources)?;
        Latency::read(wire, sources, shipped).map_err(|e| format!("`{key}`: {e}"))
    };
    if wire.io_size_max == Some(Bytes::ZERO) || wire.in_flight_max == Some(0) {
        return Err("`io_size_max` and `in_flight_max` have to be above zero".into());
    }
    if wire
        .atomic_write
        .is_some_and(|size| size < Bytes(512) || !size.0.is_power_of_two())
    {
        return Err("`atomic_write` has to be a power of two, 512 B or more".into());
    }
    if wire.transfer.is_some_and(|transfer| transfer.0 == 0) {
        return Err("`transfer` has to be above zero".into());
    }
    Ok(Class {
        name: name.to_owned(),
        title: wire.title.clone(),
        io_unit: IoUnit {
            size_max: wire.io_size_max,
            charge_min: wire.io_charge_min,
        },
        transfer: wire.transfer,
        in_flight_max: wire.in_flight_max,
        atomic_write: wire.atomic_write,
        machine_limits: wire.machine_limits.clone(),
        host_cache: wire.host_cache,
        hard_disk: wire.hard_disk,
        after_stop: wire.after_stop,
        read: latency("read", &wire.read)?,
        write: latency("write", &wire.write)?,
        flush: latency("flush", &wire.flush)?,
        through_cache: (wire.through_cache.as_ref())
            .map(|wire| latency("through_cache", wire))
            .transpose()?,
        sources: sources(catalogue, &wire.sources)?,
        assumed: wire.assumed.clone(),
        notes: wire.notes.clone(),
    })
}

pub(super) fn disk(
    catalogue: &Catalogue,
    name: &str,
    wire: &DiskWire,
) -> Result<DiskEntry, String> {
    let mut class = lookup(&catalogue.classes, "class", &wire.class)?.clone();
    if let Some(host_cache) = wire.host_cache {
        class.host_cache = host_cache;
    }
    if let Some(machine_limits) = &wire.machine_limits {
        class.machine_limits.clone_from(machine_limits);
    }
    class.after_stop = wire.after_stop.unwrap_or(class.after_stop);
    if wire.sources.is_empty() {
        return Err("an entry needs `sources`".into());
    }
    Ok(DiskEntry {
        name: name.to_owned(),
        title: wire.title.clone(),
        aliases: wire.aliases.clone(),
        class,
        size: SizeRule::read(&wire.size)?,
        limits: Limits::read(
            wire.iops.as_ref(),
            wire.throughput.as_ref(),
            wire.burst.as_ref(),
        )?,
        limits_from: limits_from(&wire.limits_from)?,
        on_machines: OnMachines::read(
            &wire.machines,
            &wire.missed,
            wire.count_max,
            wire.group.clone(),
        )?,
        superseded_by: wire.superseded_by.clone(),
        own_price_list: None,
        price: Price::read(wire.usd_per_month, wire.price.as_ref())?,
        requests: wire.requests.as_ref().map(PerRequest::read).transpose()?,
        confidence: wire.confidence,
        sources: sources(catalogue, &wire.sources)?,
        assumed: wire.assumed.clone(),
        notes: wire.notes.clone(),
    })
}

fn limits_from(wires: &[LimitsFromWire]) -> Result<Vec<LimitsFrom>, String> {
    if !wires.is_sorted_by(|a, b| a.size < b.size) {
        return Err("in `limits_from`, `size` has to rise".into());
    }
    let read = |wire: &LimitsFromWire| {
        let (iops, throughput) = (wire.iops.as_ref(), wire.throughput.as_ref());
        let limits = Limits::read(iops, throughput, wire.burst.as_ref());
        Ok(LimitsFrom {
            size: wire.size,
            limits: limits.map_err(|e| format!("`limits_from` {}: {e}", wire.size))?,
        })
    };
    wires.iter().map(read).collect()
}

pub(super) fn machine(
    catalogue: &Catalogue,
    name: &str,
    wire: &MachineWire,
) -> Result<MachineEntry, String> {
    if wire.cores == 0 || wire.memory == Bytes::ZERO {
        return Err("`cores` and `memory` have to be above zero".into());
    }
    if wire.cores > CORES_MAX {
        return Err(format!(
            "`cores` is {}, and at most {CORES_MAX} can be modelled",
            wire.cores
        ));
    }
    if wire.sources.is_empty() {
        return Err("an entry needs `sources`".into());
    }
    let mut limits = BTreeMap::new();
    for (name, wire) in &wire.limits {
        let specs = machine_limit(wire).map_err(|e| format!("limit `{name}`: {e}"))?;
        limits.insert(name.clone(), specs);
    }
    let host_cache = wire.host_cache.as_ref();
    let host_cache = host_cache.map(|wire| self::host_cache(catalogue, wire, &limits));
    let host_cache = host_cache.transpose()?;
    let class_of_cache = wire.host_cache.as_ref();
    let class_of_cache = class_of_cache.and_then(|wire| catalogue.classes.get(&wire.class));
    let local_disk = wire.local_disk.as_ref();
    let local_disk = local_disk.map(|wire| self::local_disk(catalogue, wire));
    Ok(MachineEntry {
        name: name.to_owned(),
        title: wire.title.clone(),
        aliases: wire.aliases.clone(),
        family: wire.family.clone(),
        arm: wire.arm,
        host_caching: match host_cache {
            Some(_) => HostCaching::Sized,
            None => HostCaching::NotInCatalogue,
        },
        host_cache_spreads: class_of_cache.map(Class::spreads),
        local_spreads: local_spreads(catalogue, wire),
        local_disks: wire.local_disks.or(wire.local_disk.is_some().then_some(1)),
        local_disks_raw: wire.local_disks_raw,
        price: hourly(wire.price.as_ref())?,
        own_price_list: None,
        disks_max: wire.disks_max,
        files_max: wire.files_max,
        service: None,
        licence_apart: false,
        base: None,
        cpu_options: None,
        processor: None,
        baseline: None,
        spec: MachineSpec {
            cores: wire.cores,
            speed: Speed::SAME,
            memory: wire.memory,
            host_cache,
            local_disk: local_disk.transpose()?,
            limits,
        },
        confidence: wire.confidence,
        sources: sources(catalogue, &wire.sources)?,
        assumed: wire.assumed.clone(),
        price_assumed: wire.price_assumed.clone(),
        local_assumed: local_assumed(catalogue, wire)?,
        notes: wire.notes.clone(),
    })
}

fn hourly(wire: Option<&HourlyPriceWire>) -> Result<Option<HourlyPrice>, String> {
    let Some(wire) = wire else { return Ok(None) };
    for (key, usd) in [("linux", wire.linux), ("windows", wire.windows)] {
        let Some(usd) = usd else { continue };
        price::check(usd).map_err(|message| format!("`price.{key}`: {message}"))?;
        if usd <= 0.0 {
            return Err(format!(
                "a price of {usd} dollars an hour is not above zero; leave `price.{key}` out where it is not known"
            ));
        }
    }
    let price = HourlyPrice {
        linux: wire.linux,
        windows: wire.windows,
    };
    Ok(Some(price).filter(|price| price.linux.or(price.windows).is_some()))
}

fn machine_limit(wire: &LimitsWire) -> Result<Vec<LimitSpec>, String> {
    let limits = Limits::read(
        wire.iops.as_ref(),
        wire.throughput.as_ref(),
        wire.burst.as_ref(),
    )?;
    if !limits.is_fixed() {
        return Err("a machine's limits are not asked for; write the amounts".into());
    }
    Ok(limits.specs_unasked(Bytes::ZERO))
}

fn host_cache(
    catalogue: &Catalogue,
    wire: &HostCacheWire,
    limits: &BTreeMap<String, Vec<LimitSpec>>,
) -> Result<HostCacheSpec, String> {
    lookup(limits, "limit", &wire.limit)?;
    let class = lookup(&catalogue.classes, "class", &wire.class)?;
    Ok(CacheLatencies::on(class).cache(wire.size, wire.limit.clone()))
}

fn local_disk(catalogue: &Catalogue, wire: &LocalDiskWire) -> Result<DiskSpec, String> {
    match (&wire.disk, &wire.class, wire.size) {
        (Some(disk), None, None) => {
            let disk = lookup(&catalogue.disks, "disk", disk)?;
            let provisioned = disk.provision(&Provision::default());
            Ok(provisioned.map_err(|e| e.to_string())?.spec)
        }
        (None, Some(class), Some(size)) if size > Bytes::ZERO => {
            let class = lookup(&catalogue.classes, "class", class)?;
            let limits = Limits::read(wire.iops.as_ref(), wire.throughput.as_ref(), None)?;
            if !limits.is_fixed() {
                return Err("a local disk's limits are not asked for; write the amounts".into());
            }
            Ok(class.spec(size, limits.specs_unasked(size)))
        }
        (Some(_) | None, Some(_) | None, Some(_) | None) => {
            Err("`local_disk` is a `disk` by its name, or a `class` with a `size`".into())
        }
    }
}

/// How far local disks differ: those of its entry or its class.
fn local_spreads(catalogue: &Catalogue, wire: &MachineWire) -> Option<Spreads> {
    let local = wire.local_disk.as_ref()?;
    let entry = local.disk.as_ref();
    let of_disk = entry.and_then(|name| catalogue.disks.get(name));
    let of_class = || catalogue.classes.get(local.class.as_ref()?);
    let class = of_disk.map(|disk| &disk.class).or_else(of_class)?;
    Some(class.spreads())
}

/// Assumptions about a local disk: from its entry or its class.
fn local_assumed(catalogue: &Catalogue, wire: &MachineWire) -> Result<Vec<String>, String> {
    let mut all = wire.local_assumed.clone();
    if let Some(local) = &wire.local_disk {
        all.extend(match (&local.disk, &local.class) {
            (Some(disk), _) => lookup(&catalogue.disks, "disk", disk)?.assumptions(),
            (None, Some(class)) => lookup(&catalogue.classes, "class", class)?.assumptions(),
            (None, None) => Vec::new(),
        });
    }
    Ok(all)
}
