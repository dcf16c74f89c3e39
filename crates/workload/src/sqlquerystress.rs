//! What SQLQueryStress users have: a settings file, or an SQL file with threads and iterations.
//!
//! Source of the settings: ErikEJ/SqlQueryStress, `QueryStressSettings.cs` and `sample.json`. Only what
//! says what is run is taken; connections are not, so that no password is read, let alone kept.
//!
//! In T-SQL the query is sent as SQLQueryStress sends it: whole, once for each iteration, whatever `;` are in it.
//! SQLQueryStress would send a `GO` too, which no server understands; here it ends a batch, since what was
//! saved by SQL Server Management Studio has them. For other engines the query is a script like any other: they
//! take one statement at a time.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;

use super::definition::{
    Database, Load, OperationKind, ParameterQuery, Run, RunLength, Setting, Tables, Weighted,
    Workload,
};
use super::dialect::Dialect;
use super::error::{WorkloadError, line_of};
use super::expression::Expression;
use super::folder::{LOG_BYTES_PER_ROW, check_defined};
use super::script::{Command, Pause, PauseUnit, Script, ScriptError};
use super::value::Value;
use super::variables::Names;
use files::input;

/// The settings file, as far as it says what is run; members this does not name are passed over.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Settings {
    main_query: String,
    #[serde(default = "one")]
    num_threads: i64,
    /// Per thread.
    #[serde(default = "one")]
    num_iterations: i64,
    /// Milliseconds.
    #[serde(default)]
    delay_between_queries: i64,
    #[serde(default)]
    param_query: Option<String>,
    #[serde(default)]
    param_mappings: Option<Mappings>,
}

fn one() -> i64 {
    1
}

/// .NET's serializer writes a dictionary as a list of pairs; documentation shows an object.
#[derive(Deserialize)]
#[serde(untagged)]
enum Mappings {
    Pairs(Vec<Pair>),
    Object(BTreeMap<String, Option<String>>),
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Pair {
    key: String,
    value: Option<String>,
}

impl Workload {
    /// A single SQL file, run `iterations` times by each of `threads` sessions on one database.
    ///
    /// The file is a script: statements end in `;`, and the backslash commands work. T-SQL goes batch by batch
    /// instead; a backslash command stands behind a `;` or a `GO`.
    ///
    /// # Errors
    /// When the file cannot be read, is no script or is empty, or a count is 0.
    pub fn from_sql_file(
        path: &Path,
        threads: u32,
        iterations: u64,
        dialect: Dialect,
    ) -> Result<Workload, WorkloadError> {
        Workload::from_sql_text(path, &read_file(path)?, (threads, iterations), dialect)
    }

    /// The same, of a file with this text; so many threads, and iterations of each.
    pub(super) fn from_sql_text(
        path: &Path,
        text: &str,
        (threads, iterations): (u32, u64),
        dialect: Dialect,
    ) -> Result<Workload, WorkloadError> {
        let asked = Asked {
            file: path.display().to_string(),
            line: 1,
            sql: text.trim_start_matches('\u{feff}').to_owned(),
            threads: i64::from(threads),
            iterations: i64::try_from(iterations).unwrap_or(i64::MAX),
            delay_ms: 0,
            parameter_query: None,
        };
        asked.workload(path, dialect, |_| 1)
    }

    /// A settings file of SQLQueryStress.
    ///
    /// `NumThreads` become sessions, `NumThreads * NumIterations` operations; `DelayBetweenQueries`
    /// becomes a wait behind each. `ParamQuery` is kept for engines that can ask it; in T-SQL, the names that are
    /// mapped to its columns are variables of the query, with their `@`.
    ///
    /// Not carried over: SQLQueryStress takes the connection from a pool for each iteration, which resets it (a
    /// `#table` of one iteration is gone in the next), and asks for statistics first, a round trip more.
    ///
    /// # Errors
    /// When the file cannot be read, is not such a file, its query is empty, or a count is below 1.
    pub fn from_sqlquerystress(path: &Path, dialect: Dialect) -> Result<Workload, WorkloadError> {
        Workload::from_sqlquerystress_text(path, &read_file(path)?, dialect)
    }

    /// The same, of a file with this text.
    pub(super) fn from_sqlquerystress_text(
        path: &Path,
        text: &str,
        dialect: Dialect,
    ) -> Result<Workload, WorkloadError> {
        let text = text.trim_start_matches('\u{feff}');
        let file = path.display().to_string();
        let settings: Settings =
            serde_json::from_str(text).map_err(|error| WorkloadError::Syntax {
                file: file.clone(),
                line: u32::try_from(error.line()).unwrap_or(u32::MAX),
                message: format!("{error}; save the settings again from SQLQueryStress"),
            })?;
        let line = |key: &str| {
            let key = format!("\"{key}\"");
            text.find(&key).map_or(1, |offset| line_of(text, offset))
        };
        let asked = Asked {
            file,
            line: line("MainQuery"),
            sql: settings.main_query,
            threads: settings.num_threads,
            iterations: settings.num_iterations,
            delay_ms: settings.delay_between_queries,
            parameter_query: parameter_query(settings.param_query, settings.param_mappings),
        };
        asked.workload(path, dialect, line)
    }
}

pub(super) fn read_file(path: &Path) -> Result<String, WorkloadError> {
    input::regular(path, input::BYTES_MAX).map_err(|source| WorkloadError::Read {
        path: path.to_owned(),
        source,
    })
}

fn parameter_query(text: Option<String>, mappings: Option<Mappings>) -> Option<ParameterQuery> {
    let text = text.filter(|text| !text.trim().is_empty())?;
    let mappings = match mappings {
        None => BTreeMap::new(),
        Some(Mappings::Object(object)) => object,
        Some(Mappings::Pairs(pairs)) => {
            let pairs = pairs.into_iter();
            pairs.map(|pair| (pair.key, pair.value)).collect()
        }
    };
    // Names without a column are there too, and are none of its parameters.
    let mapped = |(name, column): (String, Option<String>)| {
        let column = column.filter(|column| !column.is_empty())?;
        Some((format!("@{}", name.trim_start_matches('@')), column))
    };
    let mappings = mappings.into_iter().filter_map(mapped).collect();
    Some(ParameterQuery { text, mappings })
}

/// What either kind of file asks for.
struct Asked {
    file: String,
    /// Line of `sql` in the file.
    line: u32,
    sql: String,
    threads: i64,
    iterations: i64,
    delay_ms: i64,
    parameter_query: Option<ParameterQuery>,
}

impl Asked {
    /// `line` finds a key of the settings file.
    fn workload(
        self,
        path: &Path,
        dialect: Dialect,
        line: impl Fn(&str) -> u32,
    ) -> Result<Workload, WorkloadError> {
        let count = |key, given: i64, least, most| {
            u64::try_from(given)
                .ok()
                .filter(|count| (least..=most).contains(count))
                .ok_or_else(|| WorkloadError::Value {
                    file: self.file.clone(),
                    line: line(key),
                    key,
                    given: given.to_string(),
                    wanted: format!("give a whole number from {least} to {most}"),
                })
        };
        let most = u64::from(u32::MAX);
        let threads = count("NumThreads", self.threads, 1, most)?;
        let iterations = count("NumIterations", self.iterations, 1, most)?;
        let delay_ms = count("DelayBetweenQueries", self.delay_ms, 0, most)?;
        let mut names = Names::new();
        let mut script = self.script(dialect, &mut names)?;
        check_defined(&names)?;
        if script.commands.is_empty() {
            return Err(WorkloadError::Empty {
                file: self.file,
                line: self.line,
                what: "the query is empty".to_owned(),
            });
        }
        if delay_ms > 0 {
            script.commands.push(delay(delay_ms, self.line));
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        Ok(Workload {
            name: name.into_owned(),
            about: format!(
                "{}, run {iterations} times by each of {threads} sessions",
                self.file
            ),
            database: Database::Shared,
            tables: Tables::Data,
            operation: OperationKind::Operation,
            claim: None,
            load: Load::default(),
            run: Run {
                length: RunLength::Operations(Setting::Fixed(threads * iterations)),
                scripts: vec![Weighted { script, weight: 1 }],
                log_bytes_per_row: LOG_BYTES_PER_ROW,
                server_loop: None,
                per_turn: 1,
            },
            sessions: u32::try_from(threads).ok(),
            ranges: BTreeMap::new(),
            parameter_query: self.parameter_query,
            parameters: BTreeMap::new(),
            names: Arc::new(names),
        })
    }
}

impl Asked {
    fn script(&self, dialect: Dialect, names: &mut Names) -> Result<Script, ScriptError> {
        match dialect {
            Dialect::Sqlite | Dialect::Postgres | Dialect::Mariadb => {
                Script::parse(&self.file, &self.sql, dialect, names)
            }
            Dialect::SqlServer => {
                let query = self.parameter_query.as_ref();
                let mapped: Vec<String> = query
                    .map(|query| query.mappings.keys().cloned().collect())
                    .unwrap_or_default();
                for name in &mapped {
                    names.define(name);
                }
                Script::parse_batches(&self.file, &self.sql, &mapped, names)
            }
        }
    }
}

fn delay(delay_ms: u64, line: u32) -> Command {
    let amount = i64::try_from(delay_ms).expect("a count of 32 bits");
    Command::Sleep {
        pause: Pause {
            amount: Expression::Constant(Value::Int(amount)),
            unit: PauseUnit::Millisecond,
        },
        line,
    }
}
