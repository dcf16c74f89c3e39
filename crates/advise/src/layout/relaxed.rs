//! Layouts without some of their limits: a simulation of one bounds all layouts that have the rest of them.

use model::cores::Speed;
use model::{MachineSpec, VolumeSpec};
use reading::Role;

use super::{Layout, Layouts, places};
use crate::group::{self, Group, On};
use crate::simulate::Placed;

/// What is kept of a layout, besides the latencies of its disks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// Its processors.
    Latencies,
    /// The machine with its limits, which writes to the log do not pass: a slower log is written less often, as more commits share a write,
    /// and leaves the machine more requests for the rest.
    Machine,
    /// The limits of the disks of one volume, by group.
    Volume(usize),
    /// The machine, and the volume with the log.
    MachineAndLog,
    /// Everything.
    All,
}

/// A layout without some of its limits; equal for all layouts that differ in nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Relaxed {
    machine: Kept,
    grouping: u8,
    volumes: [Kept; 3],
}

/// What is kept of a machine or a volume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Kept {
    /// There is no such volume.
    #[default]
    Absent,
    /// Of a machine: so many processors of this speed.
    Cores(u32, Speed),
    /// The machine, or its local disks: of those that are equal the first one's index.
    Machine(u16),
    /// Latencies: an index into `Alike::services`.
    Service(u16),
    /// The disks: an index into the group's offers.
    Offer(u32),
}

impl Layouts<'_> {
    /// A layout with only these of its limits.
    pub(crate) fn relaxed(&self, layout: &Layout, keep: Keep) -> Relaxed {
        let machine = self.machine_of(layout);
        let alike = self.alike.machines[layout.machine as usize];
        let has_machine = matches!(keep, Keep::Machine | Keep::MachineAndLog | Keep::All);
        let mut volumes = [Kept::Absent; 3];
        for (at, group) in self.groups(layout).iter().enumerate() {
            let is_kept = match keep {
                Keep::Latencies | Keep::Machine => false,
                Keep::Volume(kept) => kept == at,
                Keep::MachineAndLog => group.roles.contains(&Role::Log),
                Keep::All => true,
            };
            volumes[at] = match group.on {
                On::Local if has_machine => Kept::Machine(alike),
                On::Local => {
                    let service = self.alike.of_local[layout.machine as usize];
                    Kept::Service(service.expect("a local volume is on a machine with local disks"))
                }
                On::Attached if is_kept => Kept::Offer(layout.offers[at]),
                On::Attached => {
                    let own = self
                        .offers
                        .iter()
                        .position(|(roles, _)| *roles == group.roles);
                    let own = own.expect("a group of a layout has offers");
                    Kept::Service(self.alike.of_offers[own][layout.offers[at] as usize])
                }
            };
        }
        // More processors than sessions make no difference.
        let sessions = self.load.sessions_max();
        let is_few = f64::from(machine.spec.cores) < self.cores_of_use;
        let cores = match keep {
            Keep::Latencies if is_few => machine.spec.cores.min(sessions),
            Keep::Latencies | Keep::Machine | Keep::Volume(_) | Keep::MachineAndLog | Keep::All => {
                sessions
            }
        };
        Relaxed {
            machine: match has_machine {
                true => Kept::Machine(alike),
                false => Kept::Cores(cores, machine.spec.speed),
            },
            grouping: layout.grouping,
            volumes,
        }
    }

    /// A relaxed layout in the model's terms.
    pub(crate) fn placed_relaxed(&self, relaxed: &Relaxed) -> Placed {
        let groups = self.groupings[relaxed.grouping as usize];
        let volume = |(group, kept): (&Group, &Kept)| {
            let (disk, count) = match kept {
                Kept::Service(place) => (&self.alike.services[*place as usize], 1),
                Kept::Offer(place) => {
                    let offer = &self.offers_for(group.roles)[*place as usize];
                    (&offer.spec, offer.count as usize)
                }
                Kept::Machine(place) => {
                    let local = self.machines[*place as usize].local.as_ref();
                    let local = local.expect("a local volume is on a machine with local disks");
                    (&local.disks[0], local.disks.len())
                }
                Kept::Absent | Kept::Cores(..) => unreachable!("each group has a volume"),
            };
            VolumeSpec {
                name: group::name(group.roles),
                disks: vec![disk.clone(); count],
                ..VolumeSpec::of("", disk.clone())
            }
        };
        let machine = match relaxed.machine {
            Kept::Machine(place) => self.machines[place as usize].spec.clone(),
            Kept::Cores(cores, speed) => MachineSpec {
                cores,
                speed,
                ..MachineSpec::unlimited()
            },
            Kept::Absent | Kept::Service(_) | Kept::Offer(_) => {
                unreachable!("each layout has a machine")
            }
        };
        let mut volumes: Vec<VolumeSpec> =
            groups.iter().zip(&relaxed.volumes).map(volume).collect();
        let mut places = places(groups);
        if let (Kept::Machine(_), Kept::Service(_)) = (relaxed.machine, relaxed.volumes[places.log])
        {
            let mut log = volumes[places.log].clone();
            log.disks[0].machine_limits.clear();
            places.log = volumes.len();
            volumes.push(log);
        }
        Placed {
            machine,
            volumes,
            places,
        }
    }
}
