//! Machines and disks of layouts that are alike, apart from their limits.

use model::{DiskSpec, Throughput};
use reading::Role;

use crate::machine::Machine;
use crate::offer::Offer;

/// Which machines and disks are alike.
#[derive(Clone, Debug, Default)]
pub(super) struct Alike {
    /// By machine: the first one that performs the same.
    pub(super) machines: Vec<u16>,
    /// Disks without limits, each in place of a stripe.
    pub(super) services: Vec<DiskSpec>,
    /// Index into the services, by set of roles and offer as in `Layouts::offers`.
    pub(super) of_offers: Vec<Vec<u16>>,
    /// The same of each machine's local disks.
    pub(super) of_local: Vec<Option<u16>>,
}

impl Alike {
    pub(super) fn of(machines: &[Machine], offers: &[(&[Role], Vec<Offer>)]) -> Alike {
        let mut alike = Alike::default();
        for machine in machines {
            let first = machines.iter().position(|other| is_equal(machine, other));
            alike.machines.push(first.expect("it equals itself") as u16);
            let local = machine.local.as_ref();
            let service = local.map(|local| alike.service(&local.disks[0], local.disks.len()));
            alike.of_local.push(service);
        }
        for (_, offers) in offers {
            let service = |offer: &Offer| alike.service(&offer.spec, offer.count as usize);
            let services = offers.iter().map(service).collect();
            alike.of_offers.push(services);
        }
        alike
    }

    /// The index of what serves as a stripe of `count` disks without limits.
    fn service(&mut self, disk: &DiskSpec, count: usize) -> u16 {
        let service = without_limits(disk, count);
        let found = self.services.iter().position(|known| *known == service);
        let place = found.unwrap_or(self.services.len());
        if found.is_none() {
            self.services.push(service);
        }
        u16::try_from(place).expect("the catalogue has fewer kinds of disks")
    }
}

/// Whether two machines perform the same.
fn is_equal(one: &Machine, other: &Machine) -> bool {
    let (own, others) = (&one.spec, &other.spec);
    one.is_of_same_service(other)
        && own.cores == others.cores
        && own.speed == others.speed
        && own.limits == others.limits
        && one.local == other.local
}

/// One disk that serves no request later than a stripe of `count` disks, and of which the machine counts no more requests.
fn without_limits(disk: &DiskSpec, count: usize) -> DiskSpec {
    let transfer = |rate: Throughput| Throughput(rate.0.saturating_mul(count as u64));
    DiskSpec {
        limits: Vec::new(),
        size: DiskSpec::unlimited().size,
        transfer: disk.transfer.map(transfer),
        in_flight_max: None,
        ..disk.clone()
    }
}
