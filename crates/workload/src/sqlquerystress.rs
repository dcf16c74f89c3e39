//! Files of SQLQueryStress users: a settings file, or an SQL file with threads and iterations.
//!
//! In T-SQL the query is sent as SQLQueryStress sends it: whole, once per iteration, regardless of any `;` in it.
//! SQLQueryStress would send a `GO` too, which no server understands; here it ends a batch, since files saved by other
//! tools contain them. For other engines the query is a normal script: they take one statement at a time.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use model::{Duration, Spread};
use products::Dialect;

use super::definition::{
    Database, Load, OperationKind, Run, RunLength, Tables, Weighted, Workload,
};
use super::error::WorkloadError;
use super::folder::{LOG_BYTES_PER_ROW, check_defined};
use super::script::{Script, ScriptError};
use super::settings_file::SettingsFile;
use super::stress::{ParameterQuery, Stress};
use super::variables::Names;
use files::input;

impl Workload {
    /// A single SQL file, run `iterations` times by each of `threads` sessions on one database.
    ///
    /// The file is a script: statements end in `;`, and the backslash commands work. T-SQL goes batch by batch
    /// instead; a backslash command must follow a `;` or a `GO`.
    ///
    /// # Errors
    /// When the file cannot be read, is not a script or is empty, or a count is 0.
    pub fn from_sql_file(
        path: &Path,
        threads: u32,
        iterations: u64,
        dialect: Dialect,
    ) -> Result<Workload, WorkloadError> {
        Workload::from_sql_text(path, &read_file(path)?, (threads, iterations), dialect)
    }

    /// As [`Workload::from_sql_file`], from the file's text.
    pub(super) fn from_sql_text(
        path: &Path,
        text: &str,
        (threads, iterations): (u32, u64),
        dialect: Dialect,
    ) -> Result<Workload, WorkloadError> {
        let asked = StressSettings {
            file: path.display().to_string(),
            line: 1,
            sql: text.trim_start_matches('\u{feff}'),
            threads: i64::from(threads),
            iterations: i64::try_from(iterations).unwrap_or(i64::MAX),
            delay_ms: 0,
            parameter_query: None,
        };
        Ok(Workload {
            // These counts were not requested.
            stress: Some(Stress::default()),
            ..asked.workload(path, dialect, |_| 1)?
        })
    }

    /// A settings file of SQLQueryStress.
    ///
    /// `NumThreads` become sessions, each of which runs `NumIterations` operations, and waits after each for
    /// `DelayBetweenQueries`. The names that are mapped to columns of `ParamQuery` are variables of the query, with their
    /// `@`.
    ///
    /// Not carried over: SQLQueryStress takes the connection from a pool for each iteration, which resets it (a
    /// `#table` of one iteration is gone in the next), and asks for statistics first, a round trip more
    /// ([`Stress::without_effect`]).
    ///
    /// # Errors
    /// When the file cannot be read, is not such a file, its query is empty, or a count is below 1.
    pub fn from_sqlquerystress(path: &Path, dialect: Dialect) -> Result<Workload, WorkloadError> {
        Workload::from_sqlquerystress_text(path, &read_file(path)?, dialect)
    }

    /// As [`Workload::from_sqlquerystress`], from the file's text.
    pub(super) fn from_sqlquerystress_text(
        path: &Path,
        text: &str,
        dialect: Dialect,
    ) -> Result<Workload, WorkloadError> {
        let place = path.display().to_string();
        let file = SettingsFile::read(&place, text)?;
        let asked = StressSettings {
            file: place.clone(),
            line: file.line("MainQuery"),
            sql: &file.settings.main_query,
            threads: file.settings.num_threads,
            iterations: file.settings.num_iterations,
            delay_ms: file.settings.delay_between_queries,
            parameter_query: file.parameter_query()?,
        };
        let mut workload = asked.workload(path, dialect, |key| file.line(key))?;
        if let Some(stress) = &mut workload.stress {
            stress.without_effect.extend(file.without_effect());
        }
        Ok(workload)
    }
}

pub(super) fn read_file(path: &Path) -> Result<String, WorkloadError> {
    input::regular(path, input::BYTES_MAX).map_err(|source| WorkloadError::Read {
        path: path.to_owned(),
        source,
    })
}

/// What either kind of file requests.
struct StressSettings<'a> {
    file: String,
    /// Line of `sql` in the file.
    line: u32,
    sql: &'a str,
    threads: i64,
    iterations: i64,
    delay_ms: i64,
    parameter_query: Option<ParameterQuery>,
}

impl StressSettings<'_> {
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
        let script = self.script(dialect, &mut names)?;
        check_defined(&names)?;
        if script.commands.is_empty() {
            return Err(WorkloadError::Empty {
                file: self.file,
                line: self.line,
                what: "the query is empty".to_owned(),
            });
        }
        let sessions = u32::try_from(threads).ok();
        let unread = self.mapped().filter(|name| !names.is_read(name));
        let without_effect = unread.map(|name| format!("ParamMappings (the query has no {name})"));
        let stress = Stress {
            threads: sessions,
            iterations: Some(iterations),
            pause: Duration::from_millis(delay_ms),
            without_effect: without_effect.collect(),
            parameter_query: self.parameter_query.clone(),
        };
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
            io_between: Spread::NONE,
            load: Load::default(),
            run: Run {
                length: RunLength::OperationsEach(iterations),
                scripts: vec![Weighted { script, weight: 1 }],
                log_bytes_per_row: LOG_BYTES_PER_ROW,
                server_loop: None,
                per_turn: 1,
            },
            sessions,
            ranges: BTreeMap::new(),
            stress: Some(stress),
            parameters: BTreeMap::new(),
            names: Arc::new(names),
        })
    }
}

impl StressSettings<'_> {
    fn script(&self, dialect: Dialect, names: &mut Names) -> Result<Script, ScriptError> {
        let mapped: Vec<String> = self.mapped().cloned().collect();
        for name in &mapped {
            names.define(name);
        }
        Script::parse_query(&self.file, self.sql, dialect, &mapped, names)
    }

    /// Names of the query that are mapped to columns, with their `@`.
    fn mapped(&self) -> impl Iterator<Item = &String> {
        let query = self.parameter_query.iter();
        query.flat_map(|query| query.mappings.keys())
    }
}
