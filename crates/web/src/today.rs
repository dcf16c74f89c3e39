//! Today's layout, and whether the profile fits it.

use std::rc::Rc;

use analysis::report::backtest::{misfit, report};
use analysis::report::page::any;
use catalogue::Catalogue;
use engine::Options;
use experiment::spec::ExperimentText;
use replay::BackTest;
use resolve::request::{ResolvedRun, RunRequest, with_disks_of};
use resolve::{Cancel, Inputs, Resolved};
use serde::{Deserialize, Serialize};

use crate::Refused;
use crate::engines::REPLAYING;
use crate::form::{AdviceForm, Prices};

/// What the page calls the profile, and the file of today's layout.
pub(crate) const PROFILE: &str = "profile.toml";
const TODAY: &str = "today.toml";

/// The profile, as seen from the experiment of the finalists, which is in a folder beside it.
pub(crate) const PROFILE_OF_FINALISTS: &str = "../profile.toml";

/// A profile beside replays on today's layout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tested {
    /// Why no advice follows, as sentences; empty where the profile fits.
    pub misfit: Vec<String>,
    /// Recorded beside simulated figures, as a page.
    pub report: String,
}

/// A profile on a layout, resolved.
pub(crate) struct Today {
    pub(crate) run: ResolvedRun,
    pub(crate) resolved: Resolved,
    pub(crate) layout: ExperimentText,
    inputs: Inputs,
}

impl Today {
    /// The profile in the text `profile` on the layout in the text `today`.
    ///
    /// # Errors
    /// When one of them has a mistake, or the layout has several placements.
    pub(crate) fn new(profile: &str, today: &str) -> Result<Today, Refused> {
        let inputs = Inputs {
            profiles: [PROFILE, PROFILE_OF_FINALISTS]
                .map(|name| (name.to_owned(), profile.to_owned()))
                .into(),
            ..Inputs::default()
        };
        let recorded = profile::read(PROFILE, profile);
        let recorded = recorded.map_err(|error| Refused::because(&error))?;
        let today = with_disks_of(today.to_owned(), PROFILE, &recorded);
        let today = today.map_err(|error| Refused::because(&error))?;
        let layout = ExperimentText::of_file(TODAY, today);
        let request = RunRequest::back_test(layout.clone(), PROFILE.to_owned());
        let run = resolved(request, &inputs)?;
        if run.plan.arms.len() != 1 {
            return Err(Refused(format!(
                "the layout has {} placements, and a server has one; keep that one",
                run.plan.arms.len()
            )));
        }
        let resolved = Resolved::new(&run.plan, &run.inventory, &Options::default());
        Ok(Today {
            resolved: resolved.map_err(|error| Refused::because(&error))?,
            run,
            layout,
            inputs,
        })
    }

    /// What is sold, at the prices that are asked for.
    ///
    /// # Errors
    /// When the file of own prices has a mistake, or the discount is out of its range.
    pub(crate) fn catalogue(&self, form: &AdviceForm) -> Result<Catalogue, Refused> {
        let mut catalogue = self.run.inventory.catalogue.clone();
        if let Some(share) = form.discount_share()? {
            catalogue.discount(share);
        }
        if let Some(Prices { name, text }) = &form.prices {
            let added = catalogue.add_prices(text, name);
            added
                .map_err(|error| Refused(format!("prices {name}: {}", Refused::because(&error))))?;
        }
        Ok(catalogue)
    }

    /// The back-test. `tell` receives its progress, from 0 to 1.
    ///
    /// # Errors
    /// When a replay does not end.
    pub(crate) fn backtest(&self, tell: &dyn Fn(f64)) -> Result<BackTest, Refused> {
        // Who cancels ends the worker.
        let never = Rc::new(|| false) as Cancel;
        let backtest = self.resolved.backtest(&never, tell);
        backtest.map_err(|error| Refused(format!("the back-test: {error}")))
    }

    /// Whether the experiment in `text`, of the same profile, can be run.
    ///
    /// # Errors
    /// Why it cannot.
    pub(crate) fn check(&self, text: &str) -> Result<(), String> {
        let experiment = ExperimentText::of_file("finalists.toml", text);
        let run = resolved(RunRequest::new(experiment), &self.inputs);
        let run = run.map_err(|error| error.to_string())?;
        let resolved = Resolved::new(&run.plan, &run.inventory, &Options::default());
        resolved.map(drop).map_err(|error| error.to_string())
    }
}

fn resolved(request: RunRequest, inputs: &Inputs) -> Result<ResolvedRun, Refused> {
    let request = RunRequest {
        allow_large: true,
        inputs: Some(inputs.clone()),
        ..request
    };
    let resolved = request.resolve(REPLAYING);
    resolved.map_err(|error| Refused::because(&error))
}

/// Replays the profile in the text `profile` on the layout in the text `today`. `tell` receives the progress, from 0 to 1.
///
/// # Errors
/// When one of them has a mistake, or a replay does not end.
pub fn back_test(profile: &str, today: &str, tell: &dyn Fn(f64)) -> Result<Tested, Refused> {
    let backtest = Today::new(profile, today)?.backtest(tell)?;
    Ok(Tested {
        misfit: misfit(&backtest).unwrap_or_default(),
        report: any::page("back-test", &report(&backtest)),
    })
}
