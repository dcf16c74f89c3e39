//! Catalogue files: what `dbstow run --disk` and `dbstow disks` do with a user's own.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use catalogue::{Catalogue, DiskEntry, Provision};
use model::{Bytes, Iops, Throughput};

static BUILTIN: LazyLock<Catalogue> = LazyLock::new(Catalogue::builtin);

/// Reads a file beside those that ship, and asks for its disks in several sizes.
pub(crate) fn read(text: &str) -> Result<(), String> {
    // By itself, too: there it may define what ships, and this is how what ships is read.
    let alone = added(Catalogue::default(), text);
    added(BUILTIN.clone(), text).or(alone)
}

fn added(mut catalogue: Catalogue, text: &str) -> Result<(), String> {
    let before: BTreeSet<String> = catalogue.disks().map(|disk| disk.name.clone()).collect();
    let outcome = catalogue.add(text, "fuzz.toml");
    let new = catalogue
        .disks()
        .filter(|disk| !before.contains(&disk.name));
    match outcome {
        Ok(()) => new.for_each(provision),
        Err(_) => assert_eq!(new.count(), 0, "a file that is refused adds nothing"),
    }
    outcome.map_err(|error| error.to_string())
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
            // Refused or not: an answer, with a price that is a number.
            if let Ok(provisioned) = disk.provision(&asked) {
                let price = provisioned.usd_per_month;
                assert!(
                    price.is_none_or(f64::is_finite),
                    "{} costs {price:?}",
                    disk.name
                );
            }
        }
    }
}
