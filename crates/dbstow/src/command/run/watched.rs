//! Observers of a run: the terminal, by lines and a bar or by a screen, and scrapers of metrics.

use std::sync::Arc;

use anyhow::Result;
use experiment::question::Question;
use experiment::results::Results;
use lab::{Event, Observer};

use super::args::Args;
use super::interruption::Interruption;
use super::progress::RunProgress;
use crate::command::publish::{Outlet, Publishing};
#[cfg(feature = "live")]
use crate::command::screen;
#[cfg(feature = "live")]
use crate::live::RunLive;
use crate::metrics::RunMetrics;

/// All observers. Dropping this leaves the screen and publishes metrics once more.
pub(super) struct Watched {
    #[cfg(feature = "live")]
    live: Option<(Arc<RunLive>, screen::AlternateScreen)>,
    metrics: Option<(Arc<RunMetrics>, Publishing)>,
    pub(super) shown: RunProgress,
}

impl Watched {
    /// The observers requested in `args`, before the first trial of `results`.
    ///
    /// # Errors
    /// When metrics cannot be published, or the terminal rejects the screen.
    pub(super) fn new(
        args: &Args,
        outlet: Option<Outlet>,
        results: &Results,
        question: Question,
        interruption: &Interruption,
    ) -> Result<Watched> {
        #[cfg(not(feature = "live"))]
        let _ = (args, question, interruption);
        let plan = &results.plan;
        let outstanding = results.outstanding().len();
        let shown = RunProgress::new(&plan.experiment, plan.variant.mode, outstanding);
        let recorded = plan.trials().len() - outstanding;
        let metrics = outlet.map(|outlet| {
            let metrics = Arc::new(RunMetrics::new(plan, recorded));
            let publishing = publish(outlet, &metrics, &shown)?;
            anyhow::Ok((metrics, publishing))
        });
        Ok(Watched {
            metrics: metrics.transpose()?,
            #[cfg(feature = "live")]
            live: match args.live {
                true => Some(live(results, question, interruption, &shown)?),
                false => None,
            },
            shown,
        })
    }
}

impl Observer for Watched {
    fn on(&self, event: Event<'_>) {
        if let Some((metrics, _)) = &self.metrics {
            metrics.on(event.clone());
        }
        #[cfg(feature = "live")]
        if let Some((live, _)) = &self.live {
            live.on(event.clone());
        }
        self.shown.on(event);
    }
}

fn publish(outlet: Outlet, metrics: &Arc<RunMetrics>, shown: &RunProgress) -> Result<Publishing> {
    let line = shown.line();
    if let Some(address) = outlet.address() {
        line(&format!("metrics are at http://{address}/metrics"));
    }
    let metrics = Arc::clone(metrics);
    let source = Box::new(move || metrics.samples());
    outlet.start(source, Box::new(move |text| line(text)))
}

/// A screen instead of the bar.
#[cfg(feature = "live")]
fn live(
    results: &Results,
    question: Question,
    interruption: &Interruption,
    shown: &RunProgress,
) -> Result<(Arc<RunLive>, screen::AlternateScreen)> {
    let (records, _) = results.records();
    let live = Arc::new(RunLive::new(&results.plan, question, records));
    let (now, act) = (Arc::clone(&live), Arc::clone(&interruption.act));
    let progress = shown.progress.clone();
    progress.hide();
    let screen = screen::show(move || now.screen(), move || act(), move || progress.show())?;
    Ok((live, screen))
}
