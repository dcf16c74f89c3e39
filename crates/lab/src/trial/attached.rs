//! Disks on the machine that has them: what the vendor says does not go together is refused, what nobody says is noted.
//! A machine without a type has no limits of its own, and takes any disk.

use catalogue::{Catalogue, DiskEntry, MachineEntry, Published};
use experiment::spec::{self, Disk};

/// A disk that has its limits on other machines.
#[derive(Debug, thiserror::Error)]
pub enum AttachedError {
    /// The vendor says what the limits need, and the machine has less.
    #[error(
        "volume \"{volume}\": {disk} has its limits on {needed}, and {machine} has {cores}; what it does there is not \
         published; name a larger machine, or give [volume.{volume}.override] iops_limit and throughput_limit"
    )]
    TooSmall {
        /// Which volume.
        volume: String,
        /// Which disk.
        disk: String,
        /// Which machines have it.
        needed: String,
        /// Which machine.
        machine: String,
        /// Its processors.
        cores: u32,
    },
    /// It is inside machines of another cloud.
    #[error(
        "volume \"{volume}\": {disk} is a disk inside machines of another cloud than {machine}; name one of that cloud \
         (`dbstow disks`), describe it in a catalogue file of your own (--catalogue FILE), or give [volume.{volume}.override] \
         iops_limit and throughput_limit"
    )]
    OtherCloud {
        /// Which volume.
        volume: String,
        /// Which disk.
        disk: String,
        /// Which machine.
        machine: String,
    },
    /// Two entries are of the same disks.
    #[error(
        "the volumes have {other} and {disk}, and the limits of each are those of all such disks of a machine: they do not add \
         up; use one entry for all of them (`dbstow disks`), or give [volume.{volume}.override] iops_limit and \
         throughput_limit"
    )]
    Mixed {
        /// The volume that has the second.
        volume: String,
        /// The second disk.
        disk: String,
        /// The first.
        other: String,
    },
    /// More of them do not have so many times the limits.
    #[error(
        "the volumes have {count} of {disk}, and the limits are those of {most} on a machine: more share them; use an entry \
         of the catalogue for several (`dbstow disks`), or give [volume.{volume}.override] iops_limit and throughput_limit"
    )]
    TooMany {
        /// The last volume that has it.
        volume: String,
        /// Which disk.
        disk: String,
        /// How many there are.
        count: u32,
        /// How many there may be.
        most: u32,
    },
    /// More of the disks inside the machine than it has.
    #[error(
        "volume \"{volume}\": the volumes have {count} local disks together, and {machine} has {most}; use a smaller count, \
         or place their files on one volume, or name another machine (`dbstow machines`)"
    )]
    FewerLocalDisks {
        /// The first volume that is too much.
        volume: String,
        /// Which machine.
        machine: String,
        /// How many there are up to this volume.
        count: u32,
        /// How many the machine has.
        most: u32,
    },
}

/// How names of the catalogue begin whose vendors have machines and disks inside them.
const CLOUDS: [&str; 3] = ["aws", "azure", "gcp"];

fn are_of_two_clouds(disk: &str, machine: &str) -> bool {
    let cloud = |name: &str| {
        let (first, _) = name.split_once('.')?;
        CLOUDS.into_iter().find(|cloud| *cloud == first)
    };
    let clouds = cloud(disk).zip(cloud(machine));
    clouds.is_some_and(|(disk, machine)| disk != machine)
}

/// A machine, and the volumes on it.
#[derive(Clone, Copy)]
pub(super) struct Attached<'a> {
    pub(super) machine: &'a spec::Machine,
    pub(super) entry: Option<&'a MachineEntry>,
    pub(super) catalogue: &'a Catalogue,
}

impl<'a> Attached<'a> {
    /// Refuses a disk that has its limits on other machines, where no limits are given instead.
    pub(super) fn check(&self, volume: &spec::Volume) -> Result<(), Box<AttachedError>> {
        let (Some(disk), Some(machine)) = (self.disk(volume), self.entry) else {
            return Ok(());
        };
        if disk.class.after_stop.forgets() && are_of_two_clouds(&disk.name, &machine.name) {
            return Err(Box::new(AttachedError::OtherCloud {
                volume: volume.name.clone(),
                disk: disk.name.clone(),
                machine: machine.name.clone(),
            }));
        }
        match disk.on_machines.on(machine, self.cores()) {
            Published::Yes | Published::Unknown => Ok(()),
            Published::TooSmall => Err(Box::new(AttachedError::TooSmall {
                volume: volume.name.clone(),
                disk: disk.name.clone(),
                needed: disk.on_machines.shown(),
                machine: machine.name.clone(),
                cores: self.cores(),
            })),
        }
    }

    /// Refuses more of a disk than have its limits on one machine, where no limits are given instead.
    pub(super) fn check_counts(&self, volumes: &[&spec::Volume]) -> Result<(), Box<AttachedError>> {
        for (at, volume) in volumes.iter().enumerate() {
            let Some(disk) = self.disk(volume).filter(|_| self.entry.is_some()) else {
                continue;
            };
            let mut earlier = volumes[..at].iter().filter_map(|other| self.disk(other));
            let is_mixed = |other: &&DiskEntry| {
                let group = &disk.on_machines.group;
                group.is_some() && other.on_machines.group == *group && other.name != disk.name
            };
            if let Some(other) = earlier.find(is_mixed) {
                return Err(Box::new(AttachedError::Mixed {
                    volume: volume.name.clone(),
                    disk: disk.name.clone(),
                    other: other.name.clone(),
                }));
            }
            let same = volumes[..=at].iter().filter(|other| {
                self.disk(other)
                    .is_some_and(|other| other.name == disk.name)
            });
            let count: u32 = same.map(|volume| volume.count).sum();
            if let Some(most) = disk.on_machines.count_max.filter(|most| count > *most) {
                return Err(Box::new(AttachedError::TooMany {
                    volume: volume.name.clone(),
                    disk: disk.name.clone(),
                    count,
                    most,
                }));
            }
        }
        self.check_local(volumes)
    }

    /// Refuses more disks inside the machine than the catalogue says it has.
    fn check_local(&self, volumes: &[&spec::Volume]) -> Result<(), Box<AttachedError>> {
        let Some(entry) = self.entry else {
            return Ok(());
        };
        let mut count = 0;
        for local in volumes.iter().filter(|volume| volume.disk == Disk::Local) {
            count += local.count;
            if count > entry.local_disks {
                return Err(Box::new(AttachedError::FewerLocalDisks {
                    volume: local.name.clone(),
                    machine: entry.name.clone(),
                    count,
                    most: entry.local_disks,
                }));
            }
        }
        Ok(())
    }

    /// What of these volumes nobody says of this machine, and is taken to hold; sentences without a full stop.
    pub(super) fn notes(&self, volumes: &[&spec::Volume]) -> Vec<String> {
        let mut notes: Vec<String> = Vec::new();
        for volume in volumes {
            let Some(disk) = self.disk(volume) else {
                continue;
            };
            let found = [self.assumed(disk), self.missed(disk), self.ungoverned(disk)];
            for note in found.into_iter().flatten() {
                if !notes.contains(&note) {
                    notes.push(note);
                }
            }
        }
        notes.extend(self.too_many(volumes));
        notes
    }

    /// The entry of a volume's disk, where its limits are the catalogue's.
    fn disk(&self, volume: &spec::Volume) -> Option<&'a DiskEntry> {
        let given = &volume.replaced;
        let is_replaced = given.iops_limit.is_some() && given.throughput_limit.is_some();
        match &volume.disk {
            Disk::Catalogue(name) if !is_replaced => self.catalogue.disk(name).ok(),
            Disk::Catalogue(_) | Disk::Local | Disk::Unlimited => None,
        }
    }

    fn cores(&self) -> u32 {
        let of_type = self.entry.map_or(0, |entry| entry.spec.cores);
        self.machine.cores.unwrap_or(of_type)
    }

    /// Limits that are published for other machines.
    fn assumed(&self, disk: &DiskEntry) -> Option<String> {
        let machine = self.entry?;
        match disk.on_machines.on(machine, self.cores()) {
            Published::Yes | Published::TooSmall => None,
            Published::Unknown => Some(format!(
                "the limits of {} are those on {}; that they hold on {} is assumed",
                disk.name,
                disk.on_machines.shown(),
                machine.name
            )),
        }
    }

    /// Limits that were not reached where somebody measured.
    fn missed(&self, disk: &DiskEntry) -> Option<String> {
        let machine = self.entry?;
        let measured = disk.on_machines.missed_on(machine, self.cores())?;
        Some(format!(
            "{} has the limits that the vendor publishes; measured on machines such as {} was less: {measured}",
            disk.name, machine.name
        ))
    }

    /// A disk that no limit of the machine holds back, although its kind has one.
    fn ungoverned(&self, disk: &DiskEntry) -> Option<String> {
        let machine = self.entry?;
        let names = &disk.class.machine_limits;
        let mut known = names.iter();
        if names.is_empty() || known.any(|name| machine.spec.limits.contains_key(name)) {
            return None;
        }
        Some(format!(
            "the catalogue does not know what {} lets through to {} (limit {}); only the disk's own limits apply",
            machine.name,
            disk.name,
            names.join(" or ")
        ))
    }

    /// More disks than the machine takes.
    fn too_many(&self, volumes: &[&spec::Volume]) -> Option<String> {
        let machine = self.entry?;
        let most = machine.disks_max?;
        let attached = volumes.iter().filter(|volume| {
            let disk = self.disk(volume);
            disk.is_some_and(|disk| !disk.class.machine_limits.is_empty())
        });
        let count: u32 = attached.map(|volume| volume.count).sum();
        (count > most).then(|| {
            format!(
                "the volumes have {count} disks, and {} takes {most}: it cannot be bought like this",
                machine.name
            )
        })
    }
}
