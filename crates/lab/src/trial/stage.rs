//! From an arm's settings to the model: machine, volumes, files and store.

use std::collections::{BTreeMap, BTreeSet};

use model::store::{
    BinlogSpec, Commit, DoublewriteSpec, FileSpec, ReadUnit, Store, StoreSpec, VersionSpec,
};
use model::{Burst, Bytes, DiskSpec, LimitSpec, MachineSpec, Measure, Rate, Storage, VolumeSpec};
use profile::Places;
use volume::virtual_time::CpuCosts;

use catalogue::{Catalogue, CatalogueError, DiskEntry, MachineEntry, Provision};
use experiment::spec::{self, Disk, Settings};

use super::attached::{Attached, AttachedError};
use super::host_cache;

/// An arm, ready to run.
pub struct Stage {
    /// The machine.
    pub machine: MachineSpec,
    /// Its volumes, in the order of the settings; only those that hold files.
    pub volumes: Vec<VolumeSpec>,
    /// Catalogue name of each volume's disks.
    pub disks: Vec<String>,
    /// Number of files by role, for each volume.
    pub files: Vec<BTreeMap<spec::Role, u32>>,
    /// What lies between SQL and its files.
    pub store: StoreSpec,
    /// The cost of execution.
    pub costs: CpuCosts,
    /// Monthly price of all disks, in US dollars, if every one is known.
    pub usd_per_month: Option<f64>,
    /// The price lists, with region and date; without duplicates.
    pub price_lists: BTreeSet<String>,
    /// Names of the volumes that are empty after a stop of the machine.
    pub forgets: BTreeSet<String>,
    /// Assumptions about its disks that are not published for this machine.
    pub notes: Vec<String>,
}

/// Why an arm cannot run.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// A disk or machine is not in the catalogue, or not sold like this.
    #[error("volume \"{volume}\": {source}")]
    Volume {
        /// The volume.
        volume: String,
        /// The cause.
        source: Box<CatalogueError>,
    },
    /// The machine is not in the catalogue.
    #[error("machine: {0}")]
    Machine(#[from] Box<CatalogueError>),
    /// The machine has no local disk.
    #[error(
        "volume \"{volume}\" is the machine's local disk, but {machine} has none; name a disk of the catalogue (`dbstow disks`)"
    )]
    NoLocalDisk {
        /// The volume.
        volume: String,
        /// The machine.
        machine: String,
    },
    /// The vendor allows no host cache for this disk.
    #[error(
        "volume \"{volume}\" asks for a host cache, which {disk} does not have; set host_cache = \"none\""
    )]
    NoHostCache {
        /// The volume.
        volume: String,
        /// The disk.
        disk: String,
    },
    /// The machine's host has no cache.
    #[error(
        "volume \"{volume}\" asks for a host cache, which {machine} does not have ({why}); set host_cache = \"none\", or name \
         another machine"
    )]
    MachineCachesNothing {
        /// The volume.
        volume: String,
        /// The machine.
        machine: String,
        /// The source of that.
        why: String,
    },
    /// It has a cache of unknown size.
    #[error(
        "volume \"{volume}\" asks for a host cache; {machine} has one, but the vendor does not publish {unknown}; give \
         [machine] host_cache = {{ {example} }} (Dsv3, Esv3 and Ddsv4 have 25 GiB per vCPU, E8s_v3 200 GiB), or set \
         host_cache = \"none\""
    )]
    HostCacheUnknown {
        /// The volume.
        volume: String,
        /// The machine.
        machine: String,
        /// What is not known.
        unknown: &'static str,
        /// The missing keys, with values.
        example: &'static str,
    },
    /// Its limits hold on other machines only.
    #[error(transparent)]
    Attached(#[from] Box<AttachedError>),
    /// A burst on a limit that the disk does not have.
    #[error(
        "volume \"{volume}\" has {key}, but {disk} has no limit that it could be the burst of; give {limit} too"
    )]
    BurstWithoutLimit {
        /// The volume.
        volume: String,
        /// Key of the burst.
        key: &'static str,
        /// The disk.
        disk: String,
        /// Key of the limit.
        limit: &'static str,
    },
    /// A burst that is not faster than the sustained rate.
    #[error(
        "volume \"{volume}\" has {key} = {burst}, and its limit sustains {sustained}; give a higher rate, or leave the burst \
         out"
    )]
    BurstTooSlow {
        /// The volume.
        volume: String,
        /// Key of the burst.
        key: &'static str,
        /// Its rate, in requests or bytes per second.
        burst: u64,
        /// The sustained rate.
        sustained: u64,
    },
    /// Its files are larger than the volume.
    #[error(
        "the files on volume \"{volume}\" take {files}, but it holds {capacity}; make them smaller or the volume larger"
    )]
    TooSmall {
        /// The volume.
        volume: String,
        /// Size of its files.
        files: Bytes,
        /// Its capacity.
        capacity: Bytes,
    },
}

impl Stage {
    /// Resolves all names in `settings`.
    ///
    /// # Errors
    /// When a name is unknown, or a vendor does not sell the requested product.
    pub fn new(settings: &Settings, catalogue: &Catalogue) -> Result<Stage, StageError> {
        let machine = machine(&settings.machine, catalogue)?;
        let used = settings.placement.volumes();
        let mut stage = Stage {
            machine,
            volumes: Vec::new(),
            disks: Vec::new(),
            files: Vec::new(),
            store: store(settings),
            costs: CpuCosts {
                statement: settings.engine.cpu.statement,
                logical_read: settings.engine.cpu.logical_read,
                vm_step: settings.engine.cpu.vm_step,
            },
            usd_per_month: Some(0.0),
            price_lists: BTreeSet::new(),
            forgets: BTreeSet::new(),
            notes: Vec::new(),
        };
        let volumes = settings.volumes.iter();
        let volumes: Vec<&spec::Volume> = volumes
            .filter(|volume| used.contains(volume.name.as_str()))
            .collect();
        for volume in &volumes {
            stage.add(volume, settings, catalogue)?;
        }
        stage.notes = noted(&settings.machine, &volumes, catalogue)?;
        Ok(stage)
    }

    /// The empty store of a trial.
    pub fn build(&self, seed: u64) -> Store {
        Store::new(
            &self.store,
            Storage::new(&self.machine, &self.volumes, seed),
            seed,
        )
    }

    fn add(
        &mut self,
        volume: &spec::Volume,
        settings: &Settings,
        catalogue: &Catalogue,
    ) -> Result<(), StageError> {
        let (disk, usd) = disk(volume, &self.machine, &settings.machine, catalogue)?;
        let capacity = Bytes(disk.size.0.saturating_mul(u64::from(volume.count)));
        let files = settings.placement.size_on(&volume.name);
        if files > capacity {
            return Err(StageError::TooSmall {
                volume: volume.name.clone(),
                files,
                capacity,
            });
        }
        let usd = usd.map(|usd| usd * f64::from(volume.count));
        self.usd_per_month = self.usd_per_month.zip(usd).map(|(sum, usd)| sum + usd);
        if let Disk::Catalogue(name) = &volume.disk {
            let list = catalogue.disk(name).ok().and_then(DiskEntry::price_list);
            self.price_lists.extend(list);
        }
        let kind = settings.machine.kind.as_deref();
        if catalogue
            .after_stop(&volume.disk.to_string(), kind)
            .forgets()
        {
            self.forgets.insert(volume.name.clone());
        }
        self.disks.push(volume.disk.to_string());
        self.files.push(files_by_role(settings, &volume.name));
        self.volumes.push(striped(volume, disk));
        Ok(())
    }

    /// Volumes without a placement, and the machine they share.
    ///
    /// The third value is the assumptions about them that are not published for this machine.
    ///
    /// # Errors
    /// When a name is unknown, or a vendor does not sell the requested product.
    pub fn volumes(
        asked: &spec::Volumes,
        catalogue: &Catalogue,
    ) -> Result<(MachineSpec, Vec<VolumeSpec>, Vec<String>), StageError> {
        let machine = machine(&asked.machine, catalogue)?;
        let volumes = asked.volumes.iter().map(|volume| {
            let (disk, _) = disk(volume, &machine, &asked.machine, catalogue)?;
            Ok(striped(volume, disk))
        });
        let volumes = volumes.collect::<Result<_, StageError>>()?;
        let all: Vec<&spec::Volume> = asked.volumes.iter().collect();
        let notes = noted(&asked.machine, &all, catalogue)?;
        Ok((machine, volumes, notes))
    }

    /// Index of the volume of each of `files`.
    ///
    /// # Panics
    /// When a file is on none of the volumes.
    pub fn places(&self, files: &[spec::File]) -> Vec<usize> {
        let place = |file: &spec::File| {
            let mut volumes = self.volumes.iter();
            let place = volumes.position(|volume| volume.name == file.volume);
            place.expect("a checked spec defines every volume")
        };
        files.iter().map(place).collect()
    }

    /// Which volumes the files of each role are on, in the form that the replay of a profile takes.
    ///
    /// # Panics
    /// When a file is on none of the volumes.
    pub fn replay_places(&self, placement: &spec::Placement) -> Places {
        let of = |role: spec::Role| self.places(placement.files(role));
        Places {
            data: of(spec::Role::Data),
            temp: of(spec::Role::Temp),
            log: of(spec::Role::Log)[0],
        }
    }

    /// The machine that an experiment specifies.
    ///
    /// # Errors
    /// When it is not in the catalogue.
    pub fn machine_of(
        asked: &spec::Machine,
        catalogue: &Catalogue,
    ) -> Result<MachineSpec, StageError> {
        machine(asked, catalogue)
    }

    /// One disk of a volume on a machine.
    ///
    /// # Errors
    /// When a name is unknown, or a vendor does not sell the requested product.
    pub fn disk_of(
        volume: &spec::Volume,
        asked: &spec::Machine,
        catalogue: &Catalogue,
    ) -> Result<DiskSpec, StageError> {
        Ok(disk(volume, &machine(asked, catalogue)?, asked, catalogue)?.0)
    }
}

fn striped(volume: &spec::Volume, disk: DiskSpec) -> VolumeSpec {
    VolumeSpec {
        name: volume.name.clone(),
        disks: vec![disk; volume.count as usize],
        interleave: volume.interleave,
        host_cache: volume.host_cache,
    }
}

/// One disk of a volume, and its monthly price; a local disk is included in the machine's.
fn disk(
    volume: &spec::Volume,
    machine: &MachineSpec,
    asked: &spec::Machine,
    catalogue: &Catalogue,
) -> Result<(DiskSpec, Option<f64>), StageError> {
    let at = |source| StageError::Volume {
        volume: volume.name.clone(),
        source: Box::new(source),
    };
    let (disk, usd) = match &volume.disk {
        Disk::Unlimited => (DiskSpec::unlimited(), None),
        Disk::Local => {
            let local = machine.local_disk.clone();
            let machine = asked.kind.clone().unwrap_or_else(|| "this machine".into());
            let missing = StageError::NoLocalDisk {
                volume: volume.name.clone(),
                machine,
            };
            (local.ok_or(missing)?, Some(0.0))
        }
        Disk::Catalogue(name) => {
            let entry = catalogue.disk(name).map_err(at)?;
            let provisioned = entry.provision(&provision(&volume.provision)).map_err(at)?;
            (provisioned.spec, provisioned.usd_per_month)
        }
    };
    if volume.host_cache != model::HostCacheMode::None && !disk.host_cache_allowed {
        return Err(StageError::NoHostCache {
            volume: volume.name.clone(),
            disk: volume.disk.to_string(),
        });
    }
    host_cache::check(volume, asked, entry(asked, catalogue)?, machine)?;
    attached(asked, catalogue)?.check(volume)?;
    let mut disk = replaced(disk, &volume.replaced);
    check_burst_limits(volume, &disk)?;
    start_with(volume.credits, disk.limits.iter_mut());
    Ok((disk, usd))
}

fn machine(asked: &spec::Machine, catalogue: &Catalogue) -> Result<MachineSpec, StageError> {
    let entry = entry(asked, catalogue)?;
    let mut machine = entry.map_or_else(MachineSpec::unlimited, |entry| entry.spec.clone());
    host_cache::apply(asked.host_cache, entry, &mut machine);
    let limits = machine.limits.values_mut().flatten();
    start_with(asked.credits, limits);
    machine.cores = asked.cores.unwrap_or(machine.cores);
    machine.memory = asked.memory.unwrap_or(machine.memory);
    Ok(machine)
}

/// The machine's entry, if it has a type.
fn entry<'a>(
    asked: &spec::Machine,
    catalogue: &'a Catalogue,
) -> Result<Option<&'a MachineEntry>, StageError> {
    let entry = asked.kind.as_ref().map(|kind| catalogue.machine(kind));
    Ok(entry.transpose().map_err(Box::new)?)
}

fn attached<'a>(
    machine: &'a spec::Machine,
    catalogue: &'a Catalogue,
) -> Result<Attached<'a>, StageError> {
    Ok(Attached {
        machine,
        entry: entry(machine, catalogue)?,
        catalogue,
    })
}

/// Refuses more of a disk than a machine supports, and returns the assumptions about `volumes`.
fn noted(
    machine: &spec::Machine,
    volumes: &[&spec::Volume],
    catalogue: &Catalogue,
) -> Result<Vec<String>, StageError> {
    let attached = attached(machine, catalogue)?;
    attached.check_counts(volumes)?;
    Ok(attached.notes(volumes))
}

fn provision(asked: &spec::Provision) -> Provision {
    Provision {
        size: asked.size,
        iops: asked.iops,
        throughput: asked.throughput,
        bursting: asked.bursting.unwrap_or(false),
    }
}

/// The catalogue's entry with the experiment's overrides.
fn replaced(mut disk: DiskSpec, by: &spec::Override) -> DiskSpec {
    let mut limit = |measure: Measure, rate: Rate| {
        let same = |limit: &LimitSpec| match limit.rate {
            Rate::Iops(_) => measure == Measure::Iops,
            Rate::Throughput(_) => measure == Measure::Throughput,
        };
        disk.limits.retain(|limit| !same(limit));
        disk.limits.push(match rate {
            Rate::Iops(iops) => LimitSpec::iops(iops),
            Rate::Throughput(throughput) => LimitSpec::throughput(throughput),
        });
    };
    if let Some(iops) = by.iops_limit {
        limit(Measure::Iops, Rate::Iops(iops));
    }
    if let Some(throughput) = by.throughput_limit {
        limit(Measure::Throughput, Rate::Throughput(throughput));
    }
    for limit in &mut disk.limits {
        let burst = match limit.rate {
            Rate::Iops(_) => by.iops_burst,
            Rate::Throughput(_) => by.throughput_burst,
        };
        limit.burst = burst.map(full).or(limit.burst);
    }
    disk.in_flight_max = by.in_flight_max.or(disk.in_flight_max);
    disk.read_latency = by.read_latency.unwrap_or(disk.read_latency);
    disk.write_latency = by.write_latency.unwrap_or(disk.write_latency);
    disk.flush_latency = by.flush_latency.unwrap_or(disk.flush_latency);
    disk.transfer = by.transfer.or(disk.transfer);
    disk
}

/// Refuses a burst on a limit that the disk does not have, or that is not faster than the sustained rate.
fn check_burst_limits(volume: &spec::Volume, disk: &DiskSpec) -> Result<(), StageError> {
    let iops = disk.limits.iter().find_map(|limit| match limit.rate {
        Rate::Iops(rate) => Some(rate.0),
        Rate::Throughput(_) => None,
    });
    let throughput = disk.limits.iter().find_map(|limit| match limit.rate {
        Rate::Throughput(rate) => Some(rate.0),
        Rate::Iops(_) => None,
    });
    let by = &volume.replaced;
    let keys = [
        ("iops_burst", "iops_limit", by.iops_burst, iops),
        (
            "throughput_burst",
            "throughput_limit",
            by.throughput_burst,
            throughput,
        ),
    ];
    for (key, limit, burst, sustained) in keys {
        let Some(burst) = burst else { continue };
        let Some(sustained) = sustained else {
            return Err(StageError::BurstWithoutLimit {
                volume: volume.name.clone(),
                key,
                disk: volume.disk.to_string(),
                limit,
            });
        };
        if burst.rate <= sustained {
            return Err(StageError::BurstTooSlow {
                volume: volume.name.clone(),
                key,
                burst: burst.rate,
                sustained,
            });
        }
    }
    Ok(())
}

/// A burst with all its credits.
fn full(burst: spec::Burst) -> Burst {
    Burst {
        rate: burst.rate,
        credits: burst.credits,
        credits_initial: burst.credits,
    }
}

/// Reduces the initial burst credits of limits to a share of their full buckets.
fn start_with<'a>(share: Option<f64>, limits: impl Iterator<Item = &'a mut LimitSpec>) {
    let Some(share) = share else { return };
    for burst in limits.filter_map(|limit| limit.burst.as_mut()) {
        burst.credits_initial = (burst.credits as f64 * share) as u64;
    }
}

fn store(settings: &Settings) -> StoreSpec {
    let used = settings.placement.volumes();
    let places: Vec<&str> = settings
        .volumes
        .iter()
        .map(|volume| volume.name.as_str())
        .filter(|name| used.contains(name))
        .collect();
    let file = |file: &spec::File| FileSpec {
        volume: places
            .iter()
            .position(|name| *name == file.volume)
            .expect("a checked spec defines every volume"),
        size: file.size,
    };
    let (engine, placement) = (&settings.engine, &settings.placement);
    StoreSpec {
        memory: engine.memory,
        page_size: engine.page_size,
        read_unit: match engine.read_unit {
            spec::ReadUnit::Page => ReadUnit::Page,
            spec::ReadUnit::Extent => ReadUnit::Extent,
        },
        read_ahead: engine.read_ahead,
        write_gather: engine.write_gather,
        writes_in_flight: engine.writes_in_flight,
        checkpoint: engine.checkpoint,
        log_capacity: (engine.log_capacity > Bytes::ZERO).then_some(engine.log_capacity),
        doublewrite: (engine.doublewrite_pages > 0).then_some(DoublewriteSpec {
            batch: engine.doublewrite_pages,
            volume: placement.doublewrite.as_ref().map(|area| file(area).volume),
        }),
        full_page_images: engine.full_page_images,
        commit: match engine.commit {
            spec::Commit::Durable => Commit::Durable,
            spec::Commit::Relaxed => Commit::Relaxed,
        },
        log_block: engine.log_gather,
        log_in_flight_max: engine.log_in_flight_max,
        log_flush: engine.log_flush,
        binlog: placement.binlog.as_ref().map(|binlog| BinlogSpec {
            file: file(binlog),
            // More than 1 is refused in simulate.
            sync: engine.binlog_sync(),
        }),
        page_cache: engine.page_cache,
        versions: engine.versions.map(|versions| VersionSpec {
            bytes_per_row: versions.bytes_per_row,
            retention: versions.retention,
        }),
        data: placement.data.iter().map(file).collect(),
        temp: placement.temp.iter().map(file).collect(),
        log: file(&placement.log),
    }
}

fn files_by_role(settings: &Settings, volume: &str) -> BTreeMap<spec::Role, u32> {
    let count = |role: spec::Role| {
        let files = settings.placement.files(role).iter();
        let files = files.filter(|file| file.volume == volume).count();
        (role, u32::try_from(files).unwrap_or(u32::MAX))
    };
    let counts = spec::Role::ALL.map(count).into_iter();
    counts.filter(|(_, count)| *count > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::build::{Experiment, Placement, Volume, Workload};
    use experiment::spec::Variant;

    /// Data on volume 0, the log on volume 1, the binary log and the doublewrite area on volume 2.
    fn like_innodb() -> Experiment {
        let placement = Placement::on("data")
            .log("redo")
            .files("binlog", &["other"], 1)
            .files("doublewrite", &["other"], 1);
        ["data", "redo", "other"]
            .into_iter()
            .fold(Experiment::new("mine", "Where?"), |experiment, name| {
                experiment.volume(name, Volume::of("unlimited"))
            })
            .machine_of(4, "16 GiB")
            .placement("apart", placement)
            .workload(Workload::builtin("trade").operations(8))
            .memory("64 MiB")
            .set("engine.like", "innodb")
    }

    fn staged(experiment: &Experiment) -> Stage {
        let spec = experiment
            .build(Variant::default())
            .expect("it makes sense");
        let stage = Stage::new(&spec.arms[0].settings, &Catalogue::builtin());
        stage.expect("unlimited disks are always there")
    }

    #[test]
    fn logs_and_doublewrite_area_are_on_the_volumes_that_they_were_placed_on() {
        let Stage { store, files, .. } = staged(&like_innodb());
        assert_eq!(store.log.volume, 1);
        let binlog = store.binlog.expect("it is placed");
        assert_eq!((binlog.file.volume, binlog.sync), (2, true));
        assert_eq!(store.doublewrite.and_then(|area| area.volume), Some(2));
        let on_other = [(spec::Role::Binlog, 1), (spec::Role::Doublewrite, 1)];
        assert_eq!(files[2], on_other.into());
    }

    #[test]
    fn settings_of_mariadb_turn_parts_of_the_store_off() {
        let without = staged(&like_innodb().set("engine.mariadb.doublewrite", false));
        assert_eq!(without.store.doublewrite, None);
        let unsynced = staged(&like_innodb().set("engine.mariadb.sync_binlog", 0));
        assert!(unsynced.store.binlog.is_some_and(|binlog| !binlog.sync));
        let relaxed = staged(&like_innodb().set("engine.mariadb.flush_log_at_trx_commit", 2));
        assert_eq!(relaxed.store.commit, Commit::Relaxed);
        let unlogged = staged(&like_innodb().set("engine.mariadb.binlog", false));
        assert_eq!(unlogged.store.binlog, None);
    }
}
