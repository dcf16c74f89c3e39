//! A request for advice, checked: wishes, today's layout, and what follows from both.

use analysis::report::advice::Currency;
use catalogue::Catalogue;
use reading::Role;
use replay::DemandSeries;

use super::error::AdviseError;
use super::layout::Layouts;
use super::load::{Load, grown_sessions};
use super::need::Need;
use super::today::Today;
use super::wishes::Wishes;

/// Names of files, for the document and the commands that it suggests.
#[derive(Clone, Debug, PartialEq)]
pub struct Names {
    /// The profile.
    pub profile: String,
    /// The experiment of the finalists.
    pub finalists: String,
    /// Catalogues of the user's own.
    pub catalogues: Vec<String>,
    /// The currency in which prices are shown.
    pub currency: Currency,
    /// Why machines are priced with this operating system, where that was not asked for; a phrase.
    pub system_why: Option<&'static str>,
    /// The scripts for the profile's server; `None`: its product is not known, or has none.
    pub scripts: Option<Scripts>,
    /// The rehearsal of the finalists, where its command is to be named.
    pub rehearsal: Option<Rehearsal>,
}

/// What a rehearsal of the finalists is given, as paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rehearsal {
    /// Whether a server of the user's restores the backup.
    pub on_server: bool,
    /// The option of the database: a backup or a dump.
    pub option: &'static str,
    /// The backup or dump.
    pub database: String,
    /// The log of statements.
    pub statements: String,
    /// The folder for its results.
    pub out: String,
}

/// What `dbstow layout` generates for a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scripts {
    /// The product, as `--engine` calls it.
    pub engine: &'static str,
    /// The roles that they move.
    pub roles: &'static [Role],
    /// What these are together, where that is not everything.
    pub what: Option<&'static str>,
    /// Arguments besides experiment, arm and volumes.
    pub arguments: &'static [&'static str],
    /// Temporary files that are advised: one for each processor, up to this many; at least 1.
    pub temp_files_max: u32,
    /// Whether the product runs only where a server of the user's is named (`--server`).
    pub needs_server: bool,
}

/// Where the product is not known, the user replaces its name.
pub(crate) const UNKNOWN: Scripts = Scripts {
    engine: "ENGINE",
    roles: &Role::COMMON,
    what: None,
    arguments: &["--role", "data,temp,log"],
    temp_files_max: 1,
    needs_server: false,
};

/// A request for advice, checked.
#[derive(Debug)]
pub struct Request<'a> {
    pub(crate) wishes: &'a Wishes,
    pub(crate) today: &'a Today<'a>,
    pub(crate) catalogue: &'a Catalogue,
    pub(crate) need: Need,
    /// Today's load.
    pub(crate) today_load: Load,
    /// The load that a layout has to take.
    pub(crate) load: Load,
    /// Sessions of the busiest period today, as an experiment replays it.
    sessions_today: u32,
}

impl<'a> Request<'a> {
    /// A request for layouts of what `catalogue` has, at its prices.
    ///
    /// # Errors
    /// A wish that cannot be fulfilled, with the remedy, or a profile that lacks data.
    pub fn new(
        wishes: &'a Wishes,
        today: &'a Today<'a>,
        catalogue: &'a Catalogue,
    ) -> Result<Request<'a>, AdviseError> {
        let need = wishes.need(today, catalogue)?;
        let today_load = Load::of(today.profile).map_err(AdviseError::Demand)?;
        let series = DemandSeries::of(today.profile).map_err(AdviseError::Demand)?;
        let load = today_load.grown(wishes.growth);
        Ok(Request {
            wishes,
            today,
            catalogue,
            need,
            load,
            today_load,
            sessions_today: series.sessions_max(),
        })
    }

    /// Checks that machines and disks qualify, and that the budget buys one of these machines, which takes no simulation.
    ///
    /// # Errors
    /// When none do, or it does not.
    pub fn check_offers(&self) -> Result<(), AdviseError> {
        let offered = Layouts::offered(self.catalogue, &self.need, &self.load, false);
        let offered = offered.map_err(AdviseError::NoLayout)?;
        let machines = offered.machines().iter();
        let least = machines.map(|machine| machine.usd_per_month);
        let least = least.fold(f64::INFINITY, f64::min);
        match self.wishes.limits.budget {
            Some(budget) if budget < least => Err(AdviseError::Budget { budget, least }),
            Some(_) | None => Ok(()),
        }
    }

    /// Processors of today's machine that the database uses, where its edition is the recorded one.
    pub fn cores_used_today(&self) -> u32 {
        let cores = self.today.placed.machine.cores;
        let recorded = self.today.profile.origin.edition.as_deref();
        let licence = self.need.tariff.licence.as_ref();
        let licence =
            licence.filter(|licence| recorded.is_some_and(|text| licence.edition.is_called(text)));
        licence.map_or(cores, |licence| licence.edition.cores_of(cores))
    }

    /// Sessions of the busiest period today, where none were counted.
    pub(crate) fn sessions_assumed(&self) -> Option<u32> {
        let profile = self.today.profile;
        let are_counted = profile.total(|interval| interval.sessions.or(interval.running));
        are_counted
            .is_none()
            .then(|| self.today_load.sessions_max())
    }

    /// Where the load grows: sessions of the busiest period today, and those that a layout has to take.
    pub(crate) fn grown(&self) -> Option<[u32; 2]> {
        let (today, growth) = (self.sessions_today, self.wishes.growth);
        (growth != 1.0).then(|| [today, grown_sessions(today, growth)])
    }

    /// Sessions for a workload of the user's own; `None`: the finalists set them for each arm.
    pub(crate) fn sessions(&self) -> Option<u32> {
        let recorded = self.today_load.sessions_max();
        self.grown().is_none().then_some(recorded)
    }
}
