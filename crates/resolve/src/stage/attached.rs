//! Disks on their machine: combinations that the vendor excludes are refused, undocumented ones are noted. A machine
//! without a type has no limits of its own, and accepts any disk.

use catalogue::{Catalogue, DiskEntry, MachineEntry, Published};
use experiment::spec::{self, Disk};
use model::LatencySpec;

/// A disk whose limits do not hold on the machine.
#[derive(Debug, thiserror::Error)]
pub enum AttachedError {
    /// The vendor states what the limits require, and the machine has less.
    #[error(
        "volume \"{volume}\": {disk} has its limits on {needed}, and {machine} has {cores}; what it does there is not \
         published; name a larger machine, or give [volume.{volume}.override] iops_limit and throughput_limit"
    )]
    TooSmall {
        /// The volume.
        volume: String,
        /// The disk.
        disk: String,
        /// The machines on which they hold.
        needed: String,
        /// The machine.
        machine: String,
        /// Its processors.
        cores: u32,
    },
    /// It is local to machines of another cloud.
    #[error(
        "volume \"{volume}\": {disk} is a disk inside machines of another cloud than {machine}; name one of that cloud \
         (`dbstow disks`), describe it in a catalogue file of your own (--catalogue FILE), or give [volume.{volume}.override] \
         iops_limit and throughput_limit"
    )]
    OtherCloud {
        /// The volume.
        volume: String,
        /// The disk.
        disk: String,
        /// The machine.
        machine: String,
    },
    /// It is local to other machines than this one, which has local disks of its own.
    #[error(
        "volume \"{volume}\": {disk} is a local disk of {needed}, and {machine} has {own}; use disk = \"local\", name a machine \
         that has it (`dbstow machines`), or give [volume.{volume}.override] iops_limit and throughput_limit"
    )]
    OtherMachine {
        /// The volume.
        volume: String,
        /// The disk.
        disk: String,
        /// The machines that have it.
        needed: String,
        /// The machine.
        machine: String,
        /// Number and size of its local disks.
        own: String,
    },
    /// It is local to other machines than this one, which has no local disk.
    #[error(
        "volume \"{volume}\": {disk} is a local disk of {needed}, and {machine} has no local disk; use a disk that is attached \
         (`dbstow disks`), name a machine that has it (`dbstow machines`), or give [volume.{volume}.override] iops_limit and \
         throughput_limit"
    )]
    NoLocalDisk {
        /// The volume.
        volume: String,
        /// The disk.
        disk: String,
        /// The machines that have it.
        needed: String,
        /// The machine.
        machine: String,
    },
    /// Two entries describe the same disks.
    #[error(
        "the volumes have {other} and {disk}, and the limits of each are those of all such disks of a machine: they do not add \
         up; use one entry for all of them (`dbstow disks`), or give [volume.{volume}.override] iops_limit and \
         throughput_limit"
    )]
    Mixed {
        /// The volume with the second.
        volume: String,
        /// The second disk.
        disk: String,
        /// The first.
        other: String,
    },
    /// More of them do not multiply the limits further.
    #[error(
        "the volumes have {count} of {disk}, and the limits are those of {most} on a machine: more share them; use an entry \
         of the catalogue for several (`dbstow disks`), or give [volume.{volume}.override] iops_limit and throughput_limit"
    )]
    TooMany {
        /// The last volume with it.
        volume: String,
        /// The disk.
        disk: String,
        /// The requested number.
        count: u32,
        /// The maximum.
        most: u32,
    },
    /// More local disks than the machine has.
    #[error(
        "volume \"{volume}\": the volumes have {count} local disks together, and {machine} has {most}; use a smaller count, \
         or place their files on one volume, or name another machine (`dbstow machines`)"
    )]
    FewerLocalDisks {
        /// The first volume that exceeds the number.
        volume: String,
        /// The machine.
        machine: String,
        /// The number up to this volume.
        count: u32,
        /// The number of local disks of the machine.
        most: u32,
    },
}

/// Prefixes of catalogue names whose vendors have machines with local disks.
const CLOUDS: [&str; 3] = ["aws", "azure", "gcp"];

fn are_of_two_clouds(disk: &str, machine: &str) -> bool {
    let cloud = |name: &str| {
        let (first, _) = name.split_once('.')?;
        CLOUDS.into_iter().find(|cloud| *cloud == first)
    };
    let clouds = cloud(disk).zip(cloud(machine));
    clouds.is_some_and(|(disk, machine)| disk != machine)
}

/// What the catalogue does not know of the machine's own disks, after a local disk of other machines.
fn unknown_local(disk: &DiskEntry, machine: &MachineEntry) -> String {
    if !disk.class.after_stop.forgets() {
        return String::new();
    }
    match machine.local_disks {
        None => ": the catalogue does not know how many local disks it has".to_owned(),
        Some(count) => format!(
            ": the catalogue knows that it has {count} local disks, and not how large and fast they are"
        ),
    }
}

/// What is taken of a recorded disk, and what a recording cannot show.
fn as_recorded(volume: &spec::Volume) -> String {
    let by = &volume.replaced;
    let latency = |what: &str, latency: Option<LatencySpec>| {
        let mean = latency?.mean();
        Some(format!("{what} take {mean} on average"))
    };
    let limits = [
        by.iops_limit.map(|limit| limit.to_string()),
        by.throughput_limit.map(|limit| limit.to_string()),
    ];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    let most = (!limits.is_empty()).then(|| {
        format!(
            "at most {}, the highest rates that were seen",
            limits.join(" and ")
        )
    });
    let parts = [
        latency("reads", by.read_latency),
        latency("writes", by.write_latency),
        latency("flushes", by.flush_latency),
        by.write_latency
            .is_none()
            .then(|| "no time of writes was recorded, and they take none".to_owned()),
        most,
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!(
        "volume {} is as recorded: {}; whether its disks could do more is not known, nor is their price",
        volume.name,
        parts.join(", ")
    )
}

/// Disks of a machine that an entry of the catalogue describes.
enum Named {
    /// All those that `local` means, so many.
    AsLocal(u32),
    /// Each of so many.
    Besides(u32),
    /// None whose number is known.
    Other,
}

/// A machine, and the volumes on it.
#[derive(Clone, Copy)]
pub(super) struct Attached<'a> {
    pub(super) machine: &'a spec::Machine,
    pub(super) entry: Option<&'a MachineEntry>,
    pub(super) catalogue: &'a Catalogue,
}

impl<'a> Attached<'a> {
    /// Refuses a disk whose limits do not hold on this machine, unless other limits are given.
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
            Published::Yes => Ok(()),
            Published::Unknown => self.check_elsewhere(volume, disk, machine),
            Published::TooSmall => Err(Box::new(AttachedError::TooSmall {
                volume: volume.name.clone(),
                disk: disk.name.clone(),
                needed: disk.on_machines.shown(),
                machine: machine.name.clone(),
                cores: self.cores(),
            })),
        }
    }

    /// Refuses a local disk of other machines, where the catalogue knows those of this one.
    fn check_elsewhere(
        &self,
        volume: &spec::Volume,
        disk: &DiskEntry,
        machine: &MachineEntry,
    ) -> Result<(), Box<AttachedError>> {
        if !disk.class.after_stop.forgets() {
            return Ok(());
        }
        match (machine.local_disks, &machine.spec.local_disk) {
            (Some(0), _) => Err(Box::new(AttachedError::NoLocalDisk {
                volume: volume.name.clone(),
                disk: disk.name.clone(),
                needed: disk.on_machines.shown(),
                machine: machine.name.clone(),
            })),
            (Some(count), Some(own)) => Err(Box::new(AttachedError::OtherMachine {
                volume: volume.name.clone(),
                disk: disk.name.clone(),
                needed: disk.on_machines.shown(),
                machine: machine.name.clone(),
                own: format!("{count} of {}", own.size),
            })),
            (None, _) | (Some(_), None) => Ok(()),
        }
    }

    /// Refuses more of a disk than have their limits on one machine, unless other limits are given.
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

    /// Refuses more local disks than the machine has according to the catalogue, by whatever name.
    fn check_local(&self, volumes: &[&spec::Volume]) -> Result<(), Box<AttachedError>> {
        let Some(entry) = self.entry else {
            return Ok(());
        };
        let (mut local, mut named) = (0_u32, 0_u32);
        for volume in volumes {
            let (count, most) = match (&volume.disk, self.disk(volume)) {
                (Disk::Local, _) => {
                    local = local.saturating_add(volume.count);
                    (local, entry.local_disks.unwrap_or(0))
                }
                (Disk::Catalogue(_) | Disk::Unlimited | Disk::Recorded, Some(disk)) => {
                    match self.named(disk, entry) {
                        Named::AsLocal(most) => {
                            local = local.saturating_add(most);
                            (local, most)
                        }
                        Named::Besides(most) => {
                            named = named.saturating_add(volume.count);
                            (named, most)
                        }
                        Named::Other => continue,
                    }
                }
                (Disk::Catalogue(_) | Disk::Unlimited | Disk::Recorded, None) => continue,
            };
            if count > most {
                return Err(Box::new(AttachedError::FewerLocalDisks {
                    volume: volume.name.clone(),
                    machine: entry.name.clone(),
                    count,
                    most,
                }));
            }
        }
        Ok(())
    }

    /// Which of the machine's own disks an entry of the catalogue describes.
    fn named(&self, disk: &DiskEntry, machine: &MachineEntry) -> Named {
        let on = &disk.on_machines;
        let is_own = on.on(machine, self.cores()) == Published::Yes;
        let all = on.group.as_ref().and(machine.local_disks);
        match (all, on.count_on(machine)) {
            // An instance store is what `local` is there.
            (Some(all), _) if is_own && all > 0 && disk.class.after_stop.forgets() => {
                Named::AsLocal(all)
            }
            (_, Some(most)) => Named::Besides(most),
            (_, None) => Named::Other,
        }
    }

    /// Assumptions about these volumes that are not published for this machine; sentences without a full stop.
    pub(super) fn notes(&self, volumes: &[&spec::Volume]) -> Vec<String> {
        let mut notes: Vec<String> = Vec::new();
        for volume in volumes {
            if volume.disk == Disk::Recorded {
                notes.push(as_recorded(volume));
            }
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

    /// The entry of a volume's disk, if its limits are the catalogue's.
    fn disk(&self, volume: &spec::Volume) -> Option<&'a DiskEntry> {
        let given = &volume.replaced;
        let is_replaced = given.iops_limit.is_some() && given.throughput_limit.is_some();
        match &volume.disk {
            Disk::Catalogue(name) if !is_replaced => self.catalogue.disk(name).ok(),
            Disk::Catalogue(_) | Disk::Local | Disk::Unlimited | Disk::Recorded => None,
        }
    }

    fn cores(&self) -> u32 {
        let of_type = self.entry.map_or(0, |entry| entry.spec.cores);
        self.machine.cores.unwrap_or(of_type)
    }

    /// Limits published for other machines.
    fn assumed(&self, disk: &DiskEntry) -> Option<String> {
        let machine = self.entry?;
        match disk.on_machines.on(machine, self.cores()) {
            Published::Yes | Published::TooSmall => None,
            Published::Unknown => Some(format!(
                "the limits of {} are those on {}; that they hold on {} is assumed{}",
                disk.name,
                disk.on_machines.shown(),
                machine.name,
                unknown_local(disk, machine)
            )),
        }
    }

    /// Limits that a published measurement did not reach.
    fn missed(&self, disk: &DiskEntry) -> Option<String> {
        let machine = self.entry?;
        let measured = disk.on_machines.missed_on(machine, self.cores())?;
        Some(format!(
            "{} has the limits that the vendor publishes; measured on machines such as {} was less: {measured}",
            disk.name, machine.name
        ))
    }

    /// A disk that no limit of the machine governs, although its kind has one.
    fn ungoverned(&self, disk: &DiskEntry) -> Option<String> {
        let machine = self.entry?;
        let names = &disk.class.machine_limits;
        let mut known = names.iter();
        if names.is_empty() || known.any(|name| machine.spec.limits.contains_key(name)) {
            return None;
        }
        if are_of_two_clouds(&disk.name, &machine.name) {
            return Some(format!(
                "{} is sold in another cloud than {}, which cannot have it; only the disk's own limits apply",
                disk.name, machine.name
            ));
        }
        Some(format!(
            "the catalogue does not know what {} lets through to {} (limit {}); only the disk's own limits apply",
            machine.name,
            disk.name,
            names.join(" or ")
        ))
    }

    /// More disks than the machine supports.
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
