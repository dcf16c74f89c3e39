//! What a user picks from: machines and disks of the catalogue.

use catalogue::Catalogue;
use serde::Serialize;

/// An entry of the catalogue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Entry {
    /// The name that a layout has, such as `azure.premium.p30`.
    pub(crate) name: String,
    /// What its vendor calls it.
    pub(crate) title: String,
}

/// All there is to pick from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Known {
    /// Machines, in the catalogue's order.
    pub(crate) machines: Vec<Entry>,
    /// Disks, in the catalogue's order.
    pub(crate) disks: Vec<Entry>,
}

/// The built-in catalogue.
pub(crate) fn known() -> Known {
    let catalogue = Catalogue::builtin();
    let entry = |name: &str, title: &str| Entry {
        name: name.to_owned(),
        title: title.to_owned(),
    };
    let machines = catalogue.machines();
    let disks = catalogue.disks();
    Known {
        machines: machines
            .map(|machine| entry(&machine.name, &machine.title))
            .collect(),
        disks: disks.map(|disk| entry(&disk.name, &disk.title)).collect(),
    }
}
