//! From an arm's settings to the model: machine, volumes, files and store.

mod attached;
mod disk;
mod drawn;
mod error;
mod host_cache;
mod service;
mod store;
mod unknowns;

use std::collections::{BTreeMap, BTreeSet};

use model::store::{Store, StoreSpec};
use model::{Bytes, CpuCosts, DiskSpec, MachineSpec, Storage, VolumeSpec};
use replay::Places;

use catalogue::{Catalogue, DiskEntry};
use experiment::question::RequestPrice;
use experiment::spec::{self, Disk, Settings, System};

use disk::{disk, entry, machine, noted, striped};
use service::Placed;
use store::store;
use unknowns::Unknown;

pub use error::StageError;
pub(crate) use host_cache::written_back;

/// An arm, ready to run.
#[derive(Clone)]
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
    /// By how much more is logged for a changed row than the workload says.
    pub log_bytes_factor: f64,
    /// Monthly price of all disks, in US dollars, if every one is known.
    pub usd_per_month: Option<f64>,
    /// What requests to a volume's disks cost beside that, by the volume's name; without those where they cost nothing.
    pub requests: BTreeMap<String, RequestPrice>,
    /// The price lists, with region and date; without duplicates.
    pub price_lists: BTreeSet<String>,
    /// Monthly list price of the machine with its operating system, in US dollars; `None` where it is not known, or the machine is
    /// not of the catalogue.
    pub machine_usd_per_month: Option<f64>,
    /// Its operating system.
    pub system: System,
    /// The price list of the machine.
    pub machine_price_list: Option<String>,
    /// Names of the volumes that are empty after a stop of the machine.
    pub forgets: BTreeSet<String>,
    /// Assumptions about its disks that are not published for this machine.
    pub notes: Vec<String>,
    /// What of it is not known exactly.
    unknowns: Vec<Unknown>,
    /// Kinds of disk whose entry, in a file of the user's own, does not say how far they differ.
    assumed: BTreeSet<String>,
}

impl Stage {
    /// Resolves all names in `settings`.
    ///
    /// # Errors
    /// When a name is unknown, or a vendor does not sell the requested product.
    pub fn new(settings: &Settings, catalogue: &Catalogue) -> Result<Stage, StageError> {
        let machine = machine(&settings.machine, catalogue)?;
        let used = settings.placement.volumes();
        let speed = machine.speed;
        let mut stage = Stage {
            machine,
            volumes: Vec::new(),
            disks: Vec::new(),
            files: Vec::new(),
            store: store(settings),
            costs: CpuCosts {
                statement: speed.time(settings.engine.cpu.statement),
                logical_read: speed.time(settings.engine.cpu.logical_read),
                vm_step: speed.time(settings.engine.cpu.vm_step),
            },
            log_bytes_factor: 1.0,
            usd_per_month: Some(0.0),
            requests: BTreeMap::new(),
            price_lists: BTreeSet::new(),
            machine_usd_per_month: None,
            system: settings.machine.system.unwrap_or_default(),
            machine_price_list: None,
            forgets: BTreeSet::new(),
            notes: Vec::new(),
            unknowns: unknowns::of_arm(settings, entry(&settings.machine, catalogue)?),
            assumed: BTreeSet::new(),
        };
        let volumes = settings.volumes.iter();
        let volumes: Vec<&spec::Volume> = volumes
            .filter(|volume| used.contains(volume.name.as_str()))
            .collect();
        for volume in &volumes {
            stage.add(volume, settings, catalogue)?;
        }
        stage.notes = noted(&settings.machine, &volumes, catalogue)?;
        let placed = Placed::of(&settings.machine, &volumes, catalogue)?;
        if let Some(placed) = placed {
            placed.check_files(&settings.placement)?;
            stage.notes.extend(placed.notes());
            placed.share(&mut stage.machine, &mut stage.volumes);
        }
        let kind = settings.machine.kind.as_deref();
        if let Some(entry) = kind.and_then(|name| catalogue.machine(name).ok()) {
            stage.machine_usd_per_month = entry.price.and_then(|price| match stage.system {
                System::Linux => price.linux_per_month(),
                System::Windows => price.windows_per_month(),
            });
            stage.machine_price_list = entry.price_list();
        }
        Ok(stage)
    }

    /// Monthly list price in US dollars, where all its parts are known: of the disks, and of the machine if it is included.
    pub fn price(&self, with_machine: bool) -> Option<f64> {
        match with_machine {
            false => self.usd_per_month,
            true => {
                let parts = self.usd_per_month.zip(self.machine_usd_per_month);
                parts.map(|(disks, machine)| disks + machine)
            }
        }
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
            let entry = catalogue.disk(name).ok();
            self.price_lists
                .extend(entry.and_then(DiskEntry::price_list));
            let requests = entry.and_then(|entry| entry.requests);
            self.requests.extend(requests.map(|price| {
                let price = RequestPrice {
                    usd_per_10000: price.usd_per_10000,
                    hourly_max: price.hourly_max,
                };
                (volume.name.clone(), price)
            }));
        }
        let kind = settings.machine.kind.as_deref();
        if catalogue
            .after_stop(&volume.disk.to_string(), kind)
            .forgets()
        {
            self.forgets.insert(volume.name.clone());
        }
        let machine = entry(&settings.machine, catalogue)?;
        let place = self.volumes.len();
        let (unknowns, spreads) = unknowns::of_volume(place, volume, machine, catalogue);
        self.unknowns.extend(unknowns);
        let assumed = spreads.filter(|spreads| spreads.are_assumed);
        self.assumed.extend(assumed.map(|spreads| spreads.kind));
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
        let mut machine = machine(&asked.machine, catalogue)?;
        let volumes = asked.volumes.iter().map(|volume| {
            let (disk, _) = disk(volume, &machine, &asked.machine, catalogue)?;
            Ok(striped(volume, disk))
        });
        let mut volumes = volumes.collect::<Result<Vec<_>, StageError>>()?;
        let all: Vec<&spec::Volume> = asked.volumes.iter().collect();
        let mut notes = noted(&asked.machine, &all, catalogue)?;
        if let Some(placed) = Placed::of(&asked.machine, &all, catalogue)? {
            notes.extend(placed.notes());
            placed.share(&mut machine, &mut volumes);
        }
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
    use model::store::Commit;

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
