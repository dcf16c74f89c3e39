//! The file of managed services: keys and values, and what is checked of them. It ships with the program; files of a user's own
//! cannot have services.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::Catalogue;
use super::change::{Change, ChangeWire, Switch};
use super::error::CatalogueError;
use super::read::{self, Document, insert, lookup, sources};
use super::service::{LOCAL, Lies, MultiZone, Service, ServiceStorage};
use super::source::Confidence;
use super::wire::{ClassWire, DiskWire, SourceWire};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ServicesWire {
    source: BTreeMap<String, Spanned<SourceWire>>,
    class: BTreeMap<String, Spanned<ClassWire>>,
    storage: BTreeMap<String, Spanned<DiskWire>>,
    change: BTreeMap<String, Spanned<ChangeWire>>,
    service: BTreeMap<String, Spanned<ServiceWire>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ServiceWire {
    title: String,
    types: String,
    /// The database product, as profiles name it.
    product: Option<String>,
    family: String,
    includes: String,
    leaves: String,
    /// Where what a price includes comes from.
    includes_sources: Vec<String>,
    /// The commands that change it in place.
    change: Option<String>,
    /// Options that make it this tier, of the commands that it shares with others.
    #[serde(default)]
    tier: String,
    /// Temporary files on the disk inside the class or not, where that is chosen apart from the class.
    temp_local: Option<Switch>,
    not_modelled: Option<String>,
    /// How the figures of its classes are known.
    confidence: Confidence,
    /// Name of the limit that a row's rates are of.
    limit: Option<String>,
    /// Class of the disks inside its classes, where a row has no base.
    local_class: Option<String>,
    volumes_max: Option<u32>,
    files_max: Option<u32>,
    lies: LiesWire,
    #[serde(default)]
    multi_zone: MultiZoneWire,
    #[serde(default)]
    storage: Vec<StorageWire>,
    sources: Vec<String>,
    #[serde(default)]
    assumed: Vec<String>,
    #[serde(default)]
    notes: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LiesWire {
    data: String,
    log: String,
    temp: String,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct MultiZoneWire {
    class: Option<f64>,
    storage: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StorageWire {
    disk: String,
    code: Option<String>,
    #[serde(default)]
    roles: Vec<String>,
    #[serde(default)]
    beside: Vec<String>,
    #[serde(default)]
    inside: bool,
    volumes_max: Option<u32>,
    #[serde(default)]
    file_each: bool,
    #[serde(default)]
    pool: bool,
    capped: Option<String>,
}

/// Reads the services of a file, with their storage types, into `catalogue`, which has all else.
///
/// # Errors
/// The first error, with its line.
pub(super) fn file(
    catalogue: &mut Catalogue,
    text: &str,
    file: &str,
) -> Result<(), CatalogueError> {
    let document = Document { text, file };
    let wire: ServicesWire = document.parse()?;
    document.each(wire.source, |id, wire| {
        insert(&mut catalogue.sources, id, read::source(id, wire))
    })?;
    document.each(wire.class, |name, wire| {
        let class = read::class(catalogue, name, wire)?;
        insert(&mut catalogue.classes, name, class)
    })?;
    document.each(wire.storage, |name, wire| {
        let disk = read::disk(catalogue, name, wire)?;
        insert(&mut catalogue.storage, name, disk)
    })?;
    let mut changes = BTreeMap::new();
    document.each(wire.change, |name, wire| {
        let change = wire.meaning(name, sources(catalogue, &wire.sources)?);
        insert(&mut changes, name, change)
    })?;
    document.each(wire.service, |name, wire| {
        let service = service(catalogue, &changes, name, wire)?;
        insert(&mut catalogue.services, name, service)
    })
}

fn service(
    catalogue: &Catalogue,
    changes: &BTreeMap<String, Change>,
    name: &str,
    wire: &ServiceWire,
) -> Result<Service, String> {
    let storage = wire.storage.iter();
    let change = wire.change.as_ref();
    let change = change.map(|name| lookup(changes, "change", name));
    Ok(Service {
        name: name.to_owned(),
        title: wire.title.clone(),
        types: wire.types.clone(),
        product: wire.product.clone(),
        family: wire.family.clone(),
        includes: wire.includes.clone(),
        leaves: wire.leaves.clone(),
        includes_sources: sources(catalogue, &wire.includes_sources)?,
        change: change.transpose()?.cloned(),
        tier: wire.tier.clone(),
        temp_local: wire.temp_local.clone(),
        not_modelled: wire.not_modelled.clone(),
        storage: storage
            .map(|wire| self::storage(catalogue, wire))
            .collect::<Result<_, _>>()?,
        confidence: wire.confidence,
        limit: wire.limit.clone(),
        local_class: wire.local_class.clone(),
        files_max: wire.files_max,
        volumes_max: wire.volumes_max,
        lies: Lies {
            data: wire.lies.data.clone(),
            log: wire.lies.log.clone(),
            temp: wire.lies.temp.clone(),
        },
        multi_zone: MultiZone {
            class: wire.multi_zone.class,
            storage: wire.multi_zone.storage,
        },
        classes: BTreeMap::new(),
        sources: sources(catalogue, &wire.sources)?,
        assumed: wire.assumed.clone(),
        notes: wire.notes.clone(),
    })
}

fn storage(catalogue: &Catalogue, wire: &StorageWire) -> Result<ServiceStorage, String> {
    let named = wire.beside.iter().chain([&wire.disk]);
    for disk in named.filter(|disk| *disk != LOCAL) {
        lookup(&catalogue.storage, "storage type", disk)?;
    }
    Ok(ServiceStorage {
        disk: wire.disk.clone(),
        code: wire.code.clone(),
        roles: wire.roles.clone(),
        beside: wire.beside.clone(),
        inside: wire.inside,
        volumes_max: wire.volumes_max,
        file_each: wire.file_each,
        pool: wire.pool,
        capped: wire.capped.clone(),
    })
}
