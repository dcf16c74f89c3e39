//! What the server has today.

use experiment::spec::Settings;
use profile::Profile;

use super::simulate::Placed;

/// What the server has today.
#[derive(Clone, Debug)]
pub struct Today<'a> {
    /// Its layout, as an experiment describes it.
    pub settings: &'a Settings,
    /// The same, ready to be simulated.
    pub placed: Placed,
    /// Assumptions about its disks, as sentences without a full stop.
    pub notes: &'a [String],
    /// What it asks of its disks.
    pub profile: &'a Profile,
}

impl Today<'_> {
    /// The machine's name in the catalogue, if it has one.
    pub(crate) fn machine(&self) -> Option<&str> {
        self.settings.machine.kind.as_deref()
    }
}
