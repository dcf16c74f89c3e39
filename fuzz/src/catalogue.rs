//! Catalogue files: what `dbstow run --disk`, `dbstow disks` and `dbstow machines` do with a user's file.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use catalogue::{Catalogue, DiskEntry, MachineEntry, Provision};
use model::{Bytes, Iops, Throughput};

use crate::meaning::is_real;

static BUILTIN: LazyLock<Catalogue> = LazyLock::new(Catalogue::builtin);

/// Parses a file in addition to the shipped ones, and queries its disks in several sizes, and its machines' prices.
pub(crate) fn read(text: &str) -> Result<(), String> {
    // Also on its own: there it may redefine shipped entries, and shipped files are parsed this way.
    let alone = added(Catalogue::default(), text);
    added(BUILTIN.clone(), text).or(alone)
}

fn added(mut catalogue: Catalogue, text: &str) -> Result<(), String> {
    let names = |catalogue: &Catalogue| -> BTreeSet<String> {
        let disks = catalogue.disks().map(|disk| disk.name.clone());
        let machines = catalogue.machines().map(|machine| machine.name.clone());
        disks.chain(machines).collect()
    };
    let before = names(&catalogue);
    let outcome = catalogue.add(text, "fuzz.toml");
    if outcome.is_err() {
        assert_eq!(
            names(&catalogue),
            before,
            "a file that is refused adds nothing"
        );
    }
    let is_new = |name: &String| !before.contains(name);
    let disks = catalogue.disks().filter(|disk| is_new(&disk.name));
    disks.for_each(provision);
    let machines = catalogue.machines();
    let machines = machines.filter(|machine| is_new(&machine.name));
    machines.for_each(costs);
    outcome.map_err(|error| error.to_string())
}

fn costs(machine: &MachineEntry) {
    let price = machine.price.as_ref();
    let month = price.map(|price| (price.linux_per_month(), price.windows_per_month()));
    is_real(&machine.name, &month);
}

fn provision(disk: &DiskEntry) {
    let sizes = [None, Some(1), Some(1 << 30), Some(1 << 44), Some(u64::MAX)];
    let amounts = [None, Some(0), Some(3_000), Some(u64::MAX)];
    for size in sizes.map(|size| size.map(Bytes)) {
        for amount in amounts {
            let asked = Provision {
                size,
                iops: amount.map(Iops),
                throughput: amount.map(Throughput),
                bursting: amount.is_none(),
            };
            // Refused or not: either way it is answered, and a price is a number.
            if let Ok(provisioned) = disk.provision(&asked) {
                is_real(&disk.name, &provisioned.usd_per_month);
            }
        }
    }
}
