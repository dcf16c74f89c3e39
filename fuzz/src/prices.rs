//! User-supplied prices: what `dbstow advise --prices` does with them.

use std::sync::LazyLock;

use catalogue::{Catalogue, Provision};
use model::{Bytes, Iops};

use crate::meaning::is_real;

static BUILTIN: LazyLock<Catalogue> = LazyLock::new(Catalogue::builtin);

/// Replaces list prices by these prices, and queries the price of each entry that has one, less a discount.
pub(crate) fn read(text: &str) -> Result<(), String> {
    let mut catalogue = BUILTIN.clone();
    let names = catalogue
        .add_prices(text, "fuzz.csv")
        .map_err(|error| error.to_string())?;
    for name in &names {
        let sizes = [None, Some(Bytes::gib(1)), Some(Bytes(u64::MAX))];
        let disk = catalogue.disk(name).ok();
        let provisioned = disk.into_iter().flat_map(|disk| {
            sizes.into_iter().filter_map(|size| {
                let iops = size.map(|_| Iops(4_000));
                disk.provision(&Provision {
                    size,
                    iops,
                    ..Provision::default()
                })
                .ok()
            })
        });
        for provisioned in provisioned {
            is_real(name, &provisioned.usd_per_month);
        }
        if let Ok(machine) = catalogue.machine(name) {
            is_real(
                name,
                &machine
                    .price
                    .map(|price| (price.linux_per_month(), price.windows_per_month())),
            );
        }
    }
    Ok(())
}
