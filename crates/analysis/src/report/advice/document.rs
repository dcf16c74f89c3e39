//! Advice as a document: what JSON has, and what terminal and page are made of.

use std::collections::BTreeMap;

use reading::Role;
use serde::Serialize;

use crate::findings::Survived;

/// The form of this document.
pub const SCHEMA: &str = "dbstow.advice/1";

/// What was asked, what there is today, what to buy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advice {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The answer, in a sentence.
    pub answer: String,
    /// What the server is, as its profile says.
    pub server: Option<String>,
    /// What was asked.
    pub asked: Asked,
    /// How well the same model reproduces today's layout.
    pub backtest: BackTest,
    /// Today's layout.
    pub today: Layout,
    /// The cheapest that is not slower than asked.
    pub cheapest: Option<Layout>,
    /// The next dearer one of another kind.
    pub runner_up: Option<Layout>,
    /// The fastest within the budget.
    pub fastest: Option<Layout>,
    /// Least time times price within the budget.
    pub best_value: Option<Layout>,
    /// Where nothing within the budget is fast enough: the cheapest that is.
    pub above_budget: Option<Layout>,
    /// Layouts that are faster than every cheaper one, by price.
    pub frontier: Vec<Layout>,
    /// What the search did.
    pub counts: Counts,
    /// Whose list prices these are, of which region, and the date.
    pub price_lists: Vec<String>,
    /// What was taken for granted; sentences.
    pub assumptions: Vec<String>,
    /// Commands that come next, each with what it does.
    pub next: Vec<Next>,
}

/// What was asked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Asked {
    /// File of the profile.
    pub profile: String,
    /// How names of machines and disks begin.
    pub cloud: Option<String>,
    /// By what share operations may take longer than today.
    pub slower_max: f64,
    /// Most dollars a month.
    pub budget_usd_per_month: Option<f64>,
    /// Times today's load that a layout has to take.
    pub growth: f64,
    /// What machines run: Linux or Windows.
    pub system: &'static str,
    /// Bytes that have to fit, by the files that share them.
    pub capacity: Vec<Capacity>,
    /// Least main memory, in bytes.
    pub memory: u64,
}

/// Files, and the bytes that they take.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Capacity {
    /// What files are for.
    pub roles: Vec<Role>,
    /// Bytes.
    pub bytes: u64,
}

/// Recorded beside simulated.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BackTest {
    /// Whether the profile fits today's layout.
    pub fits: bool,
    /// How far a figure that sessions wait for may be off.
    pub off_max: f64,
    /// Every figure.
    pub figures: Vec<Figure>,
}

/// A figure, recorded and simulated.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// Of files of one role, or of all.
    pub role: Option<Role>,
    /// What it is.
    pub figure: String,
    /// As it was recorded.
    pub recorded: f64,
    /// As it was simulated.
    pub simulated: f64,
    /// By what share the simulated one is above the recorded.
    pub off: f64,
    /// Whether sessions wait for it.
    pub decides: bool,
}

/// A machine, its volumes, and what they come to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Layout {
    /// The machine's name in the catalogue; `None` where it is not known.
    pub machine: Option<String>,
    /// Dollars a month for the machine, where that is known.
    pub machine_usd_per_month: Option<f64>,
    /// Its volumes.
    pub volumes: Vec<Volume>,
    /// Dollars a month in all, where every price is known.
    pub usd_per_month: Option<f64>,
    /// How long operations take, as a share of today's time.
    pub time: f64,
    /// Half of the 95 % confidence interval of that; 0 of one simulation.
    pub time_half: f64,
    /// Mean time of an operation, in milliseconds.
    pub operation_ms: f64,
    /// The limits that are used most.
    pub used: Vec<Used>,
    /// What operations spend their time on, as shares of it.
    pub spent: BTreeMap<String, f64>,
    /// Times the load of the advice that it takes before operations take longer than asked: 0 where not even that; `None`
    /// where it was not looked for.
    pub headroom: Option<f64>,
    /// Whether it takes that at least: more was not tried.
    pub headroom_is_least: bool,
    /// What a drill found of it; absent where none was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub survived: Option<Survived>,
}

/// Like disks, and what is on them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Volume {
    /// What it is called.
    pub name: String,
    /// What is on it.
    pub roles: Vec<Role>,
    /// The disk's name in the catalogue, or `local`.
    pub disk: String,
    /// How many are striped.
    pub count: u32,
    /// Bytes of each.
    pub size: Option<u64>,
    /// Requests per second that are provisioned for each.
    pub iops: Option<u64>,
    /// Bytes per second that are provisioned for each.
    pub throughput: Option<u64>,
    /// Dollars a month for all of them, where that is known.
    pub usd_per_month: Option<f64>,
    /// Whether it is inside the machine and comes back empty after a stop.
    pub forgets: bool,
}

/// A limit, and how much of it is used.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Used {
    /// Whose limit, on what: `IOPS of volume data`.
    pub limit: String,
    /// The share that is used when the server is busiest, 0 to 1.
    pub share: f64,
}

/// What the search did.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Counts {
    /// Machines that may be bought.
    pub machines: u64,
    /// Machines without a known price, which are left out.
    pub machines_unpriced: u64,
    /// Layouts of these machines and all volumes.
    pub considered: u64,
    /// Layouts that another one beats at its price.
    pub beaten: u64,
    /// Layouts that a bound or the budget ruled out, or that were not looked at any more.
    pub bounded: u64,
    /// Layouts that were simulated.
    pub simulated: u64,
    /// Whether the search came to its end.
    pub complete: bool,
}

/// A command that comes next.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Next {
    /// What it does.
    pub what: String,
    /// As it is typed.
    pub command: String,
}

impl Advice {
    /// As JSON.
    pub fn json(&self) -> String {
        let document = serde_json::to_value(self).expect("texts, lists and numbers are JSON");
        format!("{document:#}\n")
    }

    /// The answers, each with its name; today's layout is the first.
    pub fn answers(&self) -> Vec<(&'static str, &Layout)> {
        let named = [
            ("today", Some(&self.today)),
            ("cheapest", self.cheapest.as_ref()),
            ("runner-up", self.runner_up.as_ref()),
            ("best value", self.best_value.as_ref()),
            ("fastest", self.fastest.as_ref()),
            ("above budget", self.above_budget.as_ref()),
        ];
        let there = named.into_iter();
        there
            .filter_map(|(name, layout)| Some((name, layout?)))
            .collect()
    }

    /// Every layout, to be added to.
    pub(in crate::report) fn layouts_mut(&mut self) -> impl Iterator<Item = &mut Layout> {
        let answers = [
            self.cheapest.as_mut(),
            self.runner_up.as_mut(),
            self.fastest.as_mut(),
            self.best_value.as_mut(),
            self.above_budget.as_mut(),
        ];
        let answers = answers.into_iter().flatten();
        answers.chain([&mut self.today]).chain(&mut self.frontier)
    }

    /// The layout that the answer is about: of what was asked for, or else the nearest.
    pub fn chosen(&self) -> Option<&Layout> {
        let first = self.cheapest.as_ref().or(self.above_budget.as_ref());
        first.or(self.fastest.as_ref())
    }
}

impl Layout {
    /// Whether it is the same machine and disks.
    pub(super) fn is_same_as(&self, other: &Layout) -> bool {
        self.machine == other.machine && self.volumes == other.volumes
    }
}
