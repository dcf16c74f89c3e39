//! An arm of an experiment, as `dbstow layout` uses it.

use catalogue::Catalogue;
use experiment::spec::Settings;
use layout::service::Server;

/// An arm of an experiment, and what the server has today.
pub(super) struct ArmOf {
    /// The experiment and the arm, as text.
    pub(super) title: String,
    pub(super) settings: Settings,
    /// The baseline, where that is another arm.
    pub(super) today: Option<Settings>,
    /// Whether it is the baseline of several arms.
    pub(super) is_baseline: bool,
    pub(super) catalogue: Catalogue,
}

impl ArmOf {
    /// The server of a managed service that it is; `None`: a machine.
    pub(super) fn server(&self) -> Option<Server<'_>> {
        Server::of(&self.settings, &self.catalogue)
    }
}
