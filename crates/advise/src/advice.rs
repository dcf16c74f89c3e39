//! The answer to a request: the whole document.
//!
//! ```text
//! wishes, today's layout ──> need, load ──search──> document ──> experiment of the finalists
//! ```

use analysis::report::advice::document::{Advice, Next};
use replay::BackTest;

use super::document::DocumentBuilder;
use super::drawing::Drawing;
use super::error::AdviseError;
use super::finalists::{Experiment, Finalists, Writer, named};
use super::kinds::Searched;
use super::layout::{Layouts, NoLayout};
use super::recorded::{Recorded, recorded_share};
use super::request::{Names, Request};
use super::search::{Step, by_bound_max};
use super::simulate::Effort;

/// Layouts on which an operation takes longer than this many times today's time are skipped.
const SLOWEST: f64 = 2.0;

impl Request<'_> {
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
        let now = today.simulate(&self.today_load, Effort::Short, 1);
        let now = now.map_err(AdviseError::Today)?;
        let share = recorded_share(backtest);
        let slower_max = self.wishes.limits.slower_max;
        let slowest_s = now.operation_s * SLOWEST.max(1.0 + slower_max);
        let all = |usd_max: f64| {
            let offered = Layouts::offered(self.catalogue, &self.need, &self.load, false)?;
            offered.combined(&self.need, slowest_s, usd_max)
        };
        let most_s = now.operation_s * share * by_bound_max(slower_max);
        let cheapest = Layouts::cheapest(self.catalogue, &self.need, &self.load, most_s);
        let layouts = match cheapest {
            Err(NoLayout::Slow) => all(f64::INFINITY),
            Ok(found) if !self.wishes.limits.quick => {
                let least = found.iter().next().map(|layout| layout.usd_per_month);
                let least = least.unwrap_or(f64::INFINITY);
                let capped = all(self.wishes.limits.combined_to(least));
                capped.or_else(|_| all(f64::INFINITY))
            }
            found => found,
        };
        let mut layouts = layouts.map_err(AdviseError::NoLayout)?;
        let searched = Searched {
            today,
            now,
            today_load: &self.today_load,
            today_share: share,
            machine: self.need.today.as_deref(),
            limits: self.wishes.limits,
        };
        let found = searched.results(&mut layouts, go_on);
        let mut found = found.map_err(AdviseError::Today)?;
        if found.counts.is_cut {
            layouts = all(f64::INFINITY).map_err(AdviseError::NoLayout)?;
            let whole = searched.results(&mut layouts, go_on);
            found = whole.map_err(AdviseError::Today)?;
        }
        let is_drawn = !self.wishes.nominal && !self.wishes.limits.quick;
        let drawing = is_drawn.then(|| Drawing::of(self, backtest)).transpose();
        let builder = DocumentBuilder {
            request: self,
            backtest,
            names,
            layouts: &layouts,
            found: &found,
            drawing: drawing.map_err(AdviseError::Today)?,
        };
        builder.document()
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
}
