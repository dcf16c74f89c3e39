//! A request for advice, and its answer: the whole document.
//!
//! ```text
//! wishes, today's layout ──> need, load ──search──> document ──> experiment of the finalists
//! ```

use analysis::report::advice::Currency;
use analysis::report::advice::document::{Advice, Next};
use catalogue::Catalogue;
use experiment::spec::Settings;
use profile::Profile;
use reading::Role;
use replay::{BackTest, DemandSeries};

use super::document::Described;
use super::error::AdviseError;
use super::finalists::{Experiment, Finalists, Writer, named};
use super::layout::Layouts;
use super::load::{Load, grown_sessions};
use super::need::Need;
use super::prefer;
use super::recorded::{Recorded, recorded_share};
use super::search::{Search, Step};
use super::simulate::Placed;
use super::wishes::Wishes;

/// Layouts on which an operation takes longer than this many times today's time are skipped.
const SLOWEST: f64 = 2.0;

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

    /// Searches, and describes what was found; `backtest` is the profile beside replays on today's layout. `go_on` receives the
    /// progress, and ends the search by returning `false`: the answer is the best so far.
    ///
    /// # Errors
    /// When no machine or disk qualifies, or an operation takes no time.
    pub fn advice(
        &self,
        backtest: &BackTest,
        names: &Names,
        go_on: &mut dyn FnMut(Step) -> bool,
    ) -> Result<Advice, AdviseError> {
        let today = &self.today.placed;
        let today_s = today
            .operation_s(&self.today_load)
            .map_err(AdviseError::Today)?;
        let slowest_s = today_s * SLOWEST.max(1.0 + self.wishes.limits.slower_max);
        let layouts = Layouts::new(self.catalogue, &self.need, &self.load, slowest_s, false)
            .map_err(AdviseError::NoLayout)?;
        let search = Search {
            layouts: &layouts,
            today,
            today_load: &self.today_load,
            today_share: recorded_share(backtest),
            limits: self.wishes.limits,
        };
        let found = search.run(go_on);
        let found =
            found.and_then(|found| prefer::settled(&search, self.need.today.as_deref(), found));
        let found = found.map_err(AdviseError::Today)?;
        let described = Described {
            request: self,
            backtest,
            names,
            layouts: &layouts,
            found: &found,
        };
        described.document()
    }

    /// An experiment with today's layout and those of the answer, to run. `check` resolves the text of an experiment, or returns
    /// why that cannot be run; a layout that it refuses is left out, and so are the next commands about it.
    ///
    /// # Errors
    /// When the text of today's layout is not TOML.
    pub fn finalists(
        &self,
        backtest: &BackTest,
        of: &Finalists<'_>,
        advice: &mut Advice,
        check: &mut dyn FnMut(&str) -> Result<(), String>,
    ) -> Result<Experiment, AdviseError> {
        let writer = Writer {
            catalogue: self.catalogue,
            today: self.today.settings,
            grown: self.grown(),
            recorded: Some(Recorded {
                today: self.today,
                backtest,
            }),
            system: self.need.system,
            of,
        };
        let experiment = writer.experiment(&named(advice), check);
        let experiment = experiment.map_err(AdviseError::Toml)?;
        for left_out in &experiment.left_out {
            let is_about = |next: &Next| next.arm.as_deref() == Some(left_out.arm);
            advice.next.retain(|next| !is_about(next));
        }
        Ok(experiment)
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
    fn grown(&self) -> Option<[u32; 2]> {
        let (today, growth) = (self.sessions_today, self.wishes.growth);
        (growth != 1.0).then(|| [today, grown_sessions(today, growth)])
    }

    /// Sessions for a workload of the user's own; `None`: the finalists set them for each arm.
    pub(crate) fn sessions(&self) -> Option<u32> {
        let recorded = self.today_load.sessions_max();
        self.grown().is_none().then_some(recorded)
    }
}
