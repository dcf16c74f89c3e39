//! How far to trust the answer.

use analysis::report::advice::document::{Advice, BackTest, Figure, Layout};
use analysis::report::advice::{Kind, Level, Trust};
use catalogue::{DiskEntry, Known, Latency, is_delivered};
use experiment::spec::Disk;
use reading::Role;
use replay::Measure;
use table::quantity::{number, percent, percent_signed};

use super::DocumentBuilder;
use crate::recorded::{REPLAY_OFF_MAX, recorded_share};

/// Share of an operation's time on the processor from which another family of machines makes an answer doubtful.
const PROCESSOR_FROM: f64 = 0.3;

impl DocumentBuilder<'_> {
    /// How far to trust the answer, and why.
    pub(super) fn trust(&self, document: &Advice) -> Trust {
        let mut doubts = Vec::new();
        if self.is_by_bound() {
            doubts.push("no layout was simulated, and times are bounds (--quick)".to_owned());
        }
        if !document.backtest.fits {
            doubts.push(misfit(&document.backtest));
        }
        doubts.extend(detail(document));
        doubts.extend(self.other_rate());
        let volumes = &self.request.today.settings.volumes;
        if volumes.iter().any(|volume| volume.disk == Disk::Recorded) {
            doubts.push(
                "today's disks are taken as recorded, which a back-test cannot contradict"
                    .to_owned(),
            );
        }
        if !document.counts.complete {
            doubts.push("the search ended early".to_owned());
        }
        let advised = document.cheapest.as_ref();
        let moves = matches!(document.decision.kind, Kind::Change | Kind::Move);
        if let Some(layout) = advised.filter(|_| moves) {
            doubts.extend(self.little_known_latencies(&document.today, layout));
            doubts.extend(self.other_processor(&document.today, layout));
        }
        match doubts.is_empty() {
            false => Trust {
                level: Level::Low,
                because: doubts,
            },
            true => Trust {
                level: Level::High,
                because: vec![fitting(&document.backtest)],
            },
        }
    }

    /// A replay of today's layout whose rate is not the recorded one, and what that does to the answer's times.
    fn other_rate(&self) -> Option<String> {
        let mut figures = self.backtest.figures.iter();
        let operations = figures.find(|figure| figure.measure == Measure::Operations)?;
        let share = recorded_share(self.backtest);
        let is_off = operations.off().abs() > REPLAY_OFF_MAX || share < 1.0;
        if !is_off || !self.backtest.fit().allows_advice() {
            return None;
        }
        let rate = format!(
            "today's layout was recorded with {} operations/s and is replayed with {} ({})",
            number(operations.recorded),
            number(operations.simulated),
            percent_signed(operations.off())
        );
        Some(match share < 1.0 {
            true => format!(
                "{rate}, so that times are compared with the recorded {} ms of an operation, {} of the replayed time",
                number(self.today_s() * 1e3),
                percent(share)
            ),
            false => rate,
        })
    }

    /// Disks that the answer has and today's layout has not, whose latency one at most has published, and that was not recorded here.
    fn little_known_latencies(&self, today: &Layout, layout: &Layout) -> Option<String> {
        let catalogue = self.request.catalogue;
        let recorded: Vec<&str> = today
            .volumes
            .iter()
            .filter_map(|volume| Some(catalogue.disk(&volume.disk).ok()?.class.name.as_str()))
            .collect();
        let is_doubtful = |latency: &Latency| matches!(latency.known, Known::Assumed | Known::One);
        let is_little_known = |disk: &DiskEntry, roles: &[Role]| {
            let log = roles.contains(&Role::Log);
            let class = &disk.class;
            is_doubtful(&class.read) || (log && is_doubtful(&class.write))
        };
        let mut disks = Vec::new();
        for volume in &layout.volumes {
            let Ok(disk) = catalogue.disk(&volume.disk) else {
                continue;
            };
            let is_known = recorded.contains(&disk.class.name.as_str());
            let name = volume.disk.as_str();
            if !is_known && is_little_known(disk, &volume.roles) && !disks.contains(&name) {
                disks.push(name);
            }
        }
        let disks = disks.join(", ");
        let mostly = layout.time_mostly.as_ref();
        let mostly = mostly.filter(|mostly| !is_delivered(&mostly.what));
        let mostly = mostly.map(|mostly| {
            format!(
                ": {} of the interval is the {}",
                percent(mostly.share),
                mostly.what
            )
        });
        let mostly = mostly.unwrap_or_default();
        (!disks.is_empty()).then(|| {
            format!(
                "the latency of {disks} is known from one place at most, and was not recorded here{mostly}"
            )
        })
    }

    /// Another processor, where the processor decides.
    fn other_processor(&self, today: &Layout, layout: &Layout) -> Option<String> {
        let share = on_processor(today);
        if share < PROCESSOR_FROM {
            return None;
        }
        let (now, then) = (self.machine_of(today), self.machine_of(layout));
        let processors = now
            .and_then(|now| now.processor.as_ref())
            .zip(then.and_then(|then| then.processor.as_ref()));
        let what = match processors {
            Some((now, then)) if now.model == then.model => return None,
            Some((now, then)) => {
                let [low, high] = then.spread_beside(now).map(number);
                format!(
                    "which is assumed to do {} times as much as today's, and may do {low} to {high} times as much",
                    number(then.beside(now))
                )
            }
            None if now.map(|now| &now.family) == then.map(|then| &then.family) => return None,
            None => "which is assumed to do as much on another family of machines".to_owned(),
        };
        Some(format!(
            "{} of an operation's time is the processor's, {what}",
            percent(share)
        ))
    }
}

/// Share of an operation's time on a layout that is the processor's, and waiting for it.
pub(super) fn on_processor(layout: &Layout) -> f64 {
    let parts = ["on the processor", "waiting for a processor"];
    parts
        .iter()
        .filter_map(|what| layout.spent.get(*what))
        .sum()
}

/// What a detail of the back-test that is off means for the answer.
fn detail(document: &Advice) -> Option<String> {
    let caveat = document.backtest.caveat.as_ref()?;
    let range = |layout: &Layout| {
        let [low, high] = layout.time_range?.map(percent);
        (low != high).then(|| format!("operations may take {low} to {high} of today's time, as "))
    };
    let range = document.chosen().and_then(range).unwrap_or_default();
    Some(format!(
        "the back-test's rate fits and a detail does not: {range}{caveat}"
    ))
}

fn misfit(backtest: &BackTest) -> String {
    let worst = worst(backtest);
    let by = worst.map_or_else(String::new, |figure| {
        format!(": {} {} off", named(figure), percent_signed(figure.off))
    });
    format!("the model does not reproduce today's layout{by} (--untested)")
}

fn fitting(backtest: &BackTest) -> String {
    match worst(backtest) {
        Some(figure) => format!(
            "the model reproduces what sessions wait for today, {} being {} off, and the answer's disks were recorded or \
             have published latencies",
            named(figure),
            percent_signed(figure.off)
        ),
        None => "the model reproduces today's layout".to_owned(),
    }
}

/// The figure that is off the most, of those that sessions wait for.
fn worst(backtest: &BackTest) -> Option<&Figure> {
    let decides = backtest.figures.iter().filter(|figure| figure.decides);
    decides.max_by(|a, b| a.off.abs().total_cmp(&b.off.abs()))
}

fn named(figure: &Figure) -> String {
    let role = figure
        .role
        .map_or_else(String::new, |role| format!("{role} "));
    format!("{role}{}", figure.figure)
}
