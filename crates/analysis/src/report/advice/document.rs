//! Advice as a document: the JSON output, and the source of terminal output and page.

mod backtest;
mod conditions;

use std::borrow::Cow;
use std::collections::BTreeMap;

use model::{Bytes, Throughput};
use reading::Role;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::decision::{Decision, Trust};
use crate::findings::Survived;
pub use conditions::{Capacity, Conditions, Licence};

pub use backtest::{BackTest, Figure, Part};

/// The version of this document's format.
pub const SCHEMA: &str = "dbstow.advice/1";

/// The request, today's layout, and what to buy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// [`SCHEMA`].
    pub schema: Cow<'static, str>,
    /// The answer, in a sentence; the first words are what to do.
    pub answer: String,
    /// The same as values.
    pub decision: Decision,
    /// How far to trust it.
    pub trust: Trust,
    /// The server, as its profile describes it.
    pub server: Option<String>,
    /// Sessions at the busiest time, where they were not counted and had to be assumed; absent where they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sessions_assumed: Option<u32>,
    /// The request.
    pub asked: Conditions,
    /// How well the same model reproduces today's layout.
    pub backtest: BackTest,
    /// Today's layout.
    pub today: Layout,
    /// The cheapest that meets the requested speed.
    pub cheapest: Option<Layout>,
    /// The next more expensive one of another kind.
    pub runner_up: Option<Layout>,
    /// The fastest within the budget: none is faster by more than 5 %, and of those as fast it is a simple one.
    pub fastest: Option<Layout>,
    /// The lowest product of time and price of all that are named, today's layout among them where it keeps to the budget.
    pub best_value: Option<Layout>,
    /// Where nothing within the budget is fast enough: the cheapest that is.
    pub above_budget: Option<Layout>,
    /// The smallest changes from today's layout, by price: one thing is different in each.
    pub changes: Vec<Change>,
    /// Layouts that are faster than every cheaper one, by price.
    pub frontier: Vec<Layout>,
    /// What the search did.
    pub counts: Counts,
    /// The source of the list prices, their region, and the date.
    pub price_lists: Vec<String>,
    /// What else moves the answer, and is to be read beside it; sentences.
    pub notes: Vec<String>,
    /// Assumptions; sentences.
    pub assumptions: Vec<String>,
    /// Suggested next commands, each with its purpose.
    pub next: Vec<Next>,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// Today's layout with one thing changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// What; a phrase.
    pub what: String,
    /// Dollars a month that it costs more than today; negative where it costs less.
    pub usd_more_per_month: f64,
    /// The layout with this change.
    pub layout: Layout,
}

/// A machine with its volumes, their price and speed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Layout {
    /// The machine's name in the catalogue; `None` where it is not known.
    pub machine: Option<String>,
    /// The processors that are switched on; absent where all are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switched_on: Option<SwitchedOn>,
    /// Processors that the database uses; absent where it uses all of the machine's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processors_used: Option<u32>,
    /// Dollars a month for the machine with operating system and licence, of all servers, where that is known.
    pub machine_usd_per_month: Option<f64>,
    /// Its volumes.
    pub volumes: Vec<Volume>,
    /// Dollars a month in all, where every price is known but that of a licence, which is then listed in the bill alone.
    pub usd_per_month: Option<f64>,
    /// What that is for, a line each; its known lines sum to it.
    pub bill: Vec<Line>,
    /// How long operations take, as a share of today's time.
    pub time: f64,
    /// Half of its 95 % confidence interval; 0 for a single simulation.
    pub time_half: f64,
    /// From and to how much `time` may be: in 95 of 100 worlds, where latencies of its disks are not known exactly, and with waits off
    /// as today's, where a detail of the back-test is off. `None`: by chance alone.
    pub time_range: Option<[f64; 2]>,
    /// What the differences between these worlds are mostly due to; absent where nothing was drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_mostly: Option<Mostly>,
    /// Whether `time` and `operation_ms` are lower bounds, and the layout was not simulated; absent where it was.
    #[serde(default, skip_serializing_if = "is_false")]
    pub time_is_least: bool,
    /// From and to how many reads of data the memory of its machine leaves, as a share of today's; absent where it has no more than
    /// today's, or that is not known. `time` has all of today's reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_reads: Option<[f64; 2]>,
    /// Mean time of an operation, in milliseconds.
    pub operation_ms: f64,
    /// The most used limits.
    pub used: Vec<Used>,
    /// What operations spend their time on, as shares of it.
    pub spent: BTreeMap<String, f64>,
    /// Milliseconds of an operation by what its session waits for, as in the back-test's parts.
    pub parts_ms: BTreeMap<Cow<'static, str>, f64>,
    /// Highest multiple of the requested load that is as fast as asked: 0 where 1 is not; `None` where this was not searched.
    pub headroom: Option<f64>,
    /// Whether the multiple is a lower bound: higher ones were not tried.
    pub headroom_is_least: bool,
    /// How it differs from today's; a phrase for the machine and each volume. Absent where it does not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<String>,
    /// The findings of a drill; absent where none was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub survived: Option<Survived>,
}

/// What is not known, and explains most of an interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mostly {
    /// What: `read latency of azure-premium-v2`.
    pub what: String,
    /// Its share of the variance of the time's logarithm, 0 to 1.
    pub share: f64,
}

/// A line of a bill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// What is paid for: `machine`, `licence`, a volume's name, ..
    pub what: String,
    /// Which one, and how much of it.
    pub detail: String,
    /// Dollars a month, where that is known.
    pub usd_per_month: Option<f64>,
    /// The line that has its price; `None`: it has its own.
    pub included_in: Option<Cow<'static, str>>,
}

/// Processors of a machine that are switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwitchedOn {
    /// Cores.
    pub cores: u32,
    /// Threads of each.
    pub threads: u32,
}

impl SwitchedOn {
    /// The machine `name` with these of its processors; all, where there is none.
    pub fn shown(processors: Option<SwitchedOn>, name: &str) -> String {
        match processors {
            None => name.to_owned(),
            Some(SwitchedOn { cores, threads: 1 }) => {
                format!("{name} ({cores} cores, 1 thread each)")
            }
            Some(SwitchedOn { cores, threads }) => {
                format!("{name} ({cores} cores, {threads} threads each)")
            }
        }
    }
}

/// A group of like disks, and the files on them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Volume {
    /// Its name.
    pub name: String,
    /// The files on it.
    pub roles: Vec<Role>,
    /// The disk's name in the catalogue, or `local`.
    pub disk: String,
    /// Number of disks striped.
    pub count: u32,
    /// Bytes of each.
    pub size: Option<u64>,
    /// Requests per second that are provisioned for each.
    pub iops: Option<u64>,
    /// Bytes per second that are provisioned for each.
    pub throughput: Option<u64>,
    /// Dollars a month for all of them with their requests, of all servers, where that is known.
    pub usd_per_month: Option<f64>,
    /// What of that is for requests; absent where these cost nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_usd_per_month: Option<f64>,
    /// Whether it is inside the machine and comes back empty after a stop.
    pub forgets: bool,
}

/// A limit, and its used share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Used {
    /// Its name: `IOPS of volume data`.
    pub limit: String,
    /// The share that is used when the server is busiest, 0 to 1.
    pub share: f64,
}

/// Statistics of the search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Machines that qualify.
    pub machines: u64,
    /// Machines without a known price, which are left out.
    pub machines_unpriced: u64,
    /// Layouts of all combinations of these machines and volumes.
    pub considered: u64,
    /// Layouts that are dominated by another one at their price.
    pub beaten: u64,
    /// Layouts pruned by a bound or the budget, or not reached.
    pub bounded: u64,
    /// Layouts that were simulated.
    pub simulated: u64,
    /// Simulations of what layouts have in common, as bounds.
    pub bounds_simulated: u64,
    /// Price of the dearest layout that was simulated.
    pub simulated_to_usd_per_month: f64,
    /// Where no budget was given: up to which price layouts were considered.
    pub considered_to_usd_per_month: Option<f64>,
    /// Whether the search ran to completion.
    pub complete: bool,
}

/// A suggested next command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Next {
    /// Its purpose.
    pub what: String,
    /// The command line.
    pub command: String,
    /// The arm of the finalists that it is about; `None`: all.
    #[serde(skip)]
    pub arm: Option<String>,
}

/// A text that is not advice.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{file}: this is not advice of this version of dbstow ({why}); give a folder that `dbstow advise` wrote, or ask for the advice again"
)]
pub struct NotAdvice {
    /// The file.
    pub file: String,
    /// What is wrong with it.
    pub why: String,
}

impl Advice {
    /// The advice in the text of `file`, as [`Advice::json`] wrote it.
    ///
    /// # Errors
    /// When it is something else, or of another version.
    pub fn read(file: &str, text: &str) -> Result<Advice, NotAdvice> {
        let refused = |why: String| NotAdvice {
            file: file.to_owned(),
            why,
        };
        let advice: Advice =
            serde_json::from_str(text).map_err(|error| refused(error.to_string()))?;
        if advice.schema == SCHEMA {
            return Ok(advice);
        }
        let other: String = advice.schema.chars().take(40).collect();
        Err(refused(format!("its schema is `{other}`, not {SCHEMA}")))
    }

    /// As JSON.
    pub fn json(&self) -> String {
        let document = serde_json::to_value(self).expect("texts, lists and numbers are JSON");
        format!("{document:#}\n")
    }

    /// The licence in the price of the chosen layout, where the database needs one: `licence of PRODUCT EDITION: $292`.
    pub(super) fn licence(&self) -> Option<String> {
        let licence = self.asked.licence.as_ref()?;
        let lines = self.chosen()?.bill.iter();
        let line = lines
            .filter(|line| line.what == "licence")
            .find_map(|line| line.usd_per_month);
        let usd = match line {
            Some(usd) => self.asked.currency.shown(usd),
            None => "no price known".to_owned(),
        };
        Some(format!(
            "licence of {} {}: {usd}",
            licence.product, licence.edition
        ))
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

    /// Every layout, mutable.
    pub fn layouts_mut(&mut self) -> impl Iterator<Item = &mut Layout> {
        let answers = [
            self.cheapest.as_mut(),
            self.runner_up.as_mut(),
            self.fastest.as_mut(),
            self.best_value.as_mut(),
            self.above_budget.as_mut(),
        ];
        let answers = answers.into_iter().flatten();
        let changes = self.changes.iter_mut().map(|change| &mut change.layout);
        answers
            .chain([&mut self.today])
            .chain(&mut self.frontier)
            .chain(changes)
    }

    /// The recommended layout: one that meets the request, or else the nearest.
    pub fn chosen(&self) -> Option<&Layout> {
        if self.decision.layout.as_deref() == Some("today") {
            return Some(&self.today);
        }
        let first = self.cheapest.as_ref().or(self.above_budget.as_ref());
        first.or(self.fastest.as_ref())
    }
}

/// A size as it is ordered and priced: not rounded.
fn ordered(size: u64) -> String {
    match size.is_multiple_of(1 << 30) && !size.is_multiple_of(1 << 40) {
        true => format!("{} GiB", size >> 30),
        false => Bytes(size).to_string(),
    }
}

impl Volume {
    /// Its disks: `2 x azure.premium_v2, 64 GiB, 6000 IOPS, 200 MB/s`.
    pub fn disks(&self) -> String {
        let count = match self.count {
            1 => String::new(),
            count => format!("{count} x "),
        };
        let mut text = match self.forgets {
            true => format!("{count}the machine's own disk"),
            false => format!("{count}{}", self.disk),
        };
        let size = self.size.map(ordered);
        let iops = self.iops.map(|iops| format!("{iops} IOPS"));
        let throughput = self.throughput.map(|rate| Throughput(rate).to_string());
        for part in [size, iops, throughput].into_iter().flatten() {
            text.push_str(", ");
            text.push_str(&part);
        }
        text
    }
}

impl Layout {
    /// The machine, with the processors that are switched on: `aws.r7i.8xlarge (8 cores, 1 thread each)`.
    pub fn machine_shown(&self) -> Option<String> {
        let name = self.machine.as_ref()?;
        Some(SwitchedOn::shown(self.switched_on, name))
    }

    /// Whether it is the same machine and disks, although their product may go by another name, or what is included be listed.
    pub(super) fn is_same_as(&self, other: &Layout) -> bool {
        let shape = |layout: &Layout| -> Vec<(Vec<Role>, u32)> {
            let volumes = layout.volumes.iter();
            volumes.map(|one| (one.roles.clone(), one.count)).collect()
        };
        let cents = |layout: &Layout| layout.usd_per_month.map(|usd| (usd * 100.0).round());
        let is_as_fast = (self.time - other.time).abs() < 0.01;
        let is_like = cents(self).is_some() && cents(self) == cents(other) && is_as_fast;
        let is_alike = is_like && shape(self) == shape(other);
        self.machine_shown() == other.machine_shown() && (self.volumes == other.volumes || is_alike)
    }
}
