//! A workload, resolved and checked, independent of its file format.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use model::random::Stream;
use model::{Duration, Spread};
use rand::RngExt;
use serde::Deserialize;

use super::error::WorkloadError;
use super::script::Script;
use super::stress::Stress;
use super::suggest;
use super::value::Value;
use super::variables::{Names, Variables};

/// A workload: what is loaded, and what the sessions then do.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Its name.
    pub name: String,
    /// What it does and where it comes from.
    pub about: String,
    /// Which sessions share a database.
    pub database: Database,
    /// The role of the files with its tables.
    pub tables: Tables,
    /// Name of an operation in reports.
    pub operation: OperationKind,
    /// What is done before the run.
    pub load: Load,
    /// What is measured.
    pub run: Run,
    /// What the statements of the run must do. It does not affect trials, so it is not part of [`Run`], from which a plan's
    /// digest is computed.
    pub claim: Option<Claim>,
    /// By how much what an operation of the load that it stands for reads and writes differs; [`Spread::NONE`] where its statements
    /// are the load itself.
    pub io_between: Spread,
    /// How many sessions it was written for, if specified.
    pub sessions: Option<u32>,
    /// How the query runs, if the workload is a single query file.
    pub stress: Option<Stress>,
    pub(super) parameters: BTreeMap<String, Value>,
    /// Ranges of parameters, where the workload defines them.
    pub(super) ranges: BTreeMap<String, RangeInclusive<i64>>,
    pub(super) names: Arc<Names>,
}

/// Which sessions share a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Database {
    /// Each session has its own.
    PerSession,
    /// All sessions share one.
    Shared,
}

/// Role of the files with the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tables {
    /// Data files.
    Data,
    /// Temporary files.
    Temp,
}

/// Name of one execution of a script in reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperationKind {
    /// An operation.
    #[default]
    Operation,
    /// A request of the application: several statements.
    ApplicationRequest,
    /// A transaction of the business, as TPC-E counts them.
    BusinessTransaction,
}

/// What is done once per database before the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Load {
    /// Whether its time and requests count in the result.
    pub measured: bool,
    /// Run first, in order.
    pub schema: Vec<Script>,
    /// Run next, in order.
    pub scripts: Vec<Script>,
}

/// What the sessions do.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// When it ends; see [`Workload::length`].
    pub length: RunLength,
    /// The mix; never empty.
    pub scripts: Vec<Weighted>,
    /// Bytes of log that one changed row writes: its image and the record's header. An approximation.
    pub log_bytes_per_row: u64,
    /// The mix as a loop on the server, for an engine that can run many operations in one round trip.
    ///
    /// One statement, which runs operations `:first` to `:first + :count - 1` of the session
    /// ([`LOOP_FIRST`], [`LOOP_COUNT`]); the driver sets both variables.
    pub server_loop: Option<Script>,
    /// Operations per execution of a script: more than one only in a server-side loop.
    pub per_turn: u64,
}

/// What every statement of a run must do for the run to exercise what the workload claims. Engines check it where they can.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Claim {
    /// Write to temporary files, because its memory does not suffice.
    Spill,
    /// Run on several threads, if its hint requests that (T-SQL: `MAXDOP` above 1).
    Parallel,
}

/// The variable with the number of the first operation of [`Run::server_loop`].
pub const LOOP_FIRST: &str = "first";

/// The variable with the number of operations of [`Run::server_loop`].
pub const LOOP_COUNT: &str = "count";

/// A script of a mix.
#[derive(Clone, Debug, PartialEq)]
pub struct Weighted {
    /// The script.
    pub script: Script,
    /// Its share is its weight over the sum of all weights; 1 or more.
    pub weight: u32,
}

/// When a run ends, as requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunLength {
    /// After that many operations of all sessions together.
    Operations(Setting<u64>),
    /// After that many operations of each session.
    OperationsEach(u64),
    /// After that time.
    Duration(Setting<Duration>),
}

/// A value, or the parameter that holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Setting<T> {
    /// The value.
    Fixed(T),
    /// Name of a parameter, or `sessions`.
    Parameter(String),
}

/// When a run ends, resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// After that many operations of all sessions together.
    Operations(u64),
    /// After that time.
    Duration(Duration),
}

/// What a parameter of a workload decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterUse {
    /// What scripts do.
    Scripts,
    /// When the run ends, and nothing else.
    End,
    /// Nothing: only scripts for other engines read it.
    Nothing,
}

impl Workload {
    /// Its parameters and their values; every one is a variable of the scripts.
    pub fn parameters(&self) -> &BTreeMap<String, Value> {
        &self.parameters
    }

    /// Gives a parameter another value.
    ///
    /// # Errors
    /// When the parameter does not exist, one of the values is a text and the other a number, or it is out of range.
    pub fn set_parameter(&mut self, name: &str, value: Value) -> Result<(), WorkloadError> {
        let Some(current) = self.parameters.get_mut(name) else {
            return Err(WorkloadError::UnknownParameter {
                workload: self.name.clone(),
                name: name.to_owned(),
                remedy: suggest::remedy(name, self.parameters.keys().map(String::as_str)),
            });
        };
        if matches!(current, Value::Text(_)) != matches!(value, Value::Text(_)) {
            return Err(WorkloadError::ParameterKind {
                workload: self.name.clone(),
                name: name.to_owned(),
                given: value,
                default: current.clone(),
            });
        }
        if let Some(range) = self.ranges.get(name)
            && !holds(range, &value)
        {
            return Err(WorkloadError::Range {
                workload: self.name.clone(),
                name: name.to_owned(),
                given: value,
                least: *range.start(),
                most: *range.end(),
            });
        }
        *current = value;
        Ok(())
    }

    /// Ranges of parameters, where the workload defines them.
    pub fn ranges(&self) -> &BTreeMap<String, RangeInclusive<i64>> {
        &self.ranges
    }

    /// What a parameter decides, in the scripts of this dialect.
    pub fn decides(&self, parameter: &str) -> ParameterUse {
        let ends = match &self.run.length {
            RunLength::Operations(Setting::Parameter(name))
            | RunLength::Duration(Setting::Parameter(name)) => name == parameter,
            RunLength::Operations(Setting::Fixed(_))
            | RunLength::Duration(Setting::Fixed(_))
            | RunLength::OperationsEach(_) => false,
        };
        match (self.names.is_read(parameter), ends) {
            (true, _) => ParameterUse::Scripts,
            (false, true) => ParameterUse::End,
            (false, false) => ParameterUse::Nothing,
        }
    }

    /// Whether sessions share a database and change it.
    pub fn is_written_together(&self) -> bool {
        let mut scripts = self.run.scripts.iter();
        self.database == Database::Shared && scripts.any(|weighted| weighted.script.writes())
    }

    /// The variables of session number `session` (from 0) of `sessions`, parameters set.
    pub fn variables(&self, session: u32, sessions: u32) -> Variables {
        let mut variables = Variables::new(Arc::clone(&self.names), session, sessions);
        for (name, value) in &self.parameters {
            variables.set(name, value.clone());
        }
        variables
    }

    /// When the run of `sessions` sessions ends, with the current parameters.
    ///
    /// # Errors
    /// When the parameter that determines it is not a number above 0, or not a span of time.
    pub fn length(&self, sessions: u32) -> Result<Length, WorkloadError> {
        let invalid = |name: &str, value: Option<&Value>| WorkloadError::Length {
            workload: self.name.clone(),
            name: name.to_owned(),
            given: value.map_or_else(|| "nothing".to_owned(), Value::to_string),
        };
        match &self.run.length {
            RunLength::Operations(Setting::Fixed(operations)) => {
                Ok(Length::Operations(*operations))
            }
            RunLength::OperationsEach(operations) => {
                Ok(Length::Operations(operations * u64::from(sessions)))
            }
            RunLength::Duration(Setting::Fixed(duration)) => Ok(Length::Duration(*duration)),
            RunLength::Operations(Setting::Parameter(name)) if name == "sessions" => {
                Ok(Length::Operations(u64::from(sessions)))
            }
            RunLength::Operations(Setting::Parameter(name)) => match self.parameters.get(name) {
                Some(Value::Int(operations)) if *operations > 0 => {
                    Ok(Length::Operations(operations.unsigned_abs()))
                }
                other => Err(invalid(name, other)),
            },
            RunLength::Duration(Setting::Parameter(name)) => {
                let value = self.parameters.get(name);
                let duration = match value {
                    Some(Value::Text(text)) => text.parse().ok(),
                    Some(Value::Int(_) | Value::Double(_) | Value::Null) | None => None,
                };
                match duration {
                    Some(duration) if duration > Duration::ZERO => Ok(Length::Duration(duration)),
                    Some(_) | None => Err(invalid(name, value)),
                }
            }
        }
    }
}

/// Whether a parameter may have a value; texts and NULL are never in range.
pub(super) fn holds(range: &RangeInclusive<i64>, value: &Value) -> bool {
    match value {
        Value::Int(value) => range.contains(value),
        Value::Double(value) => (*range.start() as f64..=*range.end() as f64).contains(value),
        Value::Text(_) | Value::Null => false,
    }
}

impl Load {
    /// All scripts in the order they run.
    pub fn all(&self) -> impl Iterator<Item = &Script> {
        self.schema.iter().chain(&self.scripts)
    }
}

impl Run {
    /// The same mix as a server-side loop with this many operations per round trip; `None` if the workload has none. The duration
    /// of a round trip is not an operation's latency, so latencies are not recorded.
    pub fn on_server(self, per_turn: u64) -> Option<Run> {
        let script = self.server_loop.clone()?;
        let scripts = vec![Weighted { script, weight: 1 }];
        Some(Run {
            scripts,
            per_turn,
            ..self
        })
    }

    /// Draws a script of the mix by weight; returns its index in [`Run::scripts`].
    ///
    /// A mix of one script draws no number, so adding a second does not shift other draws.
    pub fn pick(&self, random: &mut Stream) -> usize {
        if self.scripts.len() == 1 {
            return 0;
        }
        let total: u64 = self
            .scripts
            .iter()
            .map(|script| u64::from(script.weight))
            .sum();
        let mut drawn = random.random_range(0..total);
        for (index, script) in self.scripts.iter().enumerate() {
            let weight = u64::from(script.weight);
            if drawn < weight {
                return index;
            }
            drawn -= weight;
        }
        unreachable!("a number below the sum of {total} falls to one of the weights")
    }
}

impl OperationKind {
    /// The word for reports and metric names, in the singular.
    pub fn name(self) -> &'static str {
        match self {
            OperationKind::Operation => "operation",
            OperationKind::ApplicationRequest => "application_request",
            OperationKind::BusinessTransaction => "business_transaction",
        }
    }
}

impl fmt::Display for RunLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunLength::Operations(Setting::Fixed(operations)) => {
                write!(f, "{operations} operations")
            }
            RunLength::OperationsEach(operations) => {
                write!(f, "{operations} operations of each session")
            }
            RunLength::Duration(Setting::Fixed(duration)) => write!(f, "{duration}"),
            RunLength::Operations(Setting::Parameter(name)) => write!(f, ":{name} operations"),
            RunLength::Duration(Setting::Parameter(name)) => write!(f, ":{name}"),
        }
    }
}
