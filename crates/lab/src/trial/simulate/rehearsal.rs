//! Runs every script of a workload on little data: errors are found before anything is measured, and what a trial
//! needs on this machine is estimated.

use std::cell::Cell;
use std::rc::{Rc, Weak};

use host::clock::Clock;
use model::random::{self, Stream};
use model::{Bytes, Duration};
use rusqlite::Connection;
use sqlite_vfs::virtual_time::{Held, Session, Simulation, temporary_space};

use super::super::parameters::ParameterRows;
use super::super::sessions::SessionContext;
use super::meter;
use super::session::{self, VirtualSession};
use super::trial::VirtualTrial;
use crate::trial::{Cancel, Subject, memory};
use engine::Simulated;
use experiment::spec::{Amount, Settings};
use workload::script::Command;
use workload::{Database, Dialect, Stress, Value, Variables, Workload};

/// The parameter that conventionally holds the number of rows of a workload.
const ROWS: &str = "rows";

/// How many rows a rehearsal uses, and a second one that shows how costs grow.
const FEW: i64 = 1_000;
const MORE: i64 = 4 * FEW;

/// How long and how often a rehearsal executes the scripts to time them, after a first time, which prepares their statements.
const TIMED: Duration = Duration::from_millis(30);
const EXECUTIONS_MAX: u64 = 50;

/// How often SQLite may check whether to continue, which it does every 100 steps of its machine and at every file
/// access: minutes. A load that takes longer is not estimated.
const ASKED_MAX: u64 = 40_000_000;

/// How many checks pass before the size of the data is measured again.
const LOOK_EVERY: u64 = 1_024;

/// Messages that mean a statement is wrong, whatever the data: from SQLite, and for parameter queries.
const OF_SQL: [&str; 8] = [
    "ParamQuery",
    "syntax error",
    "unrecognized token",
    "incomplete input",
    "no such table",
    "no such column",
    "no such function",
    "wrong number of arguments",
];

/// A script that fails.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("workload \"{workload}\": {error}{hint}")]
pub struct RehearsalError {
    workload: String,
    error: String,
    hint: String,
    over: Option<Over>,
}

/// The resource whose limit ended a rehearsal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Over {
    /// Steps of SQLite.
    Steps,
    /// Memory or temporary space: more than is available.
    Space(Held),
}

impl Over {
    fn message(self) -> String {
        match self {
            Over::Steps => format!(
                "loading its data takes more than {} million steps of SQLite",
                ASKED_MAX / 10_000
            ),
            Over::Space(held) => format!(
                "its data takes more than {} of memory and {} of temporary space, which this machine does not have; use \
                 less data (--set workload.parameters...), or give --allow-large to try",
                held.memory, held.disk
            ),
        }
    }
}

impl RehearsalError {
    /// Whether the script would fail whatever the data. Other errors may be due to the few rows: a missing key, an
    /// empty range.
    pub fn is_of_sql(&self) -> bool {
        OF_SQL.iter().any(|words| self.error.contains(words))
    }

    /// Whether the data does not fit into this machine.
    pub fn is_of_space(&self) -> bool {
        matches!(self.over, Some(Over::Space(_)))
    }
}

/// What one trial needs on this machine, extrapolated from few rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forecast {
    /// Processor time for loading one database, of each session or of all.
    pub load: Duration,
    /// Processor time for its operations; zero for those of a run that ends by the clock, whose number is not known.
    pub operations: Duration,
    /// Memory for its database.
    pub memory: Bytes,
    /// Temporary space for the part of its database that does not compress well.
    pub disk: Bytes,
    /// How large the database is.
    pub size: Size,
}

/// Size of a database once it is loaded; of all sessions, if each has its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Pages of its files, in use or not.
    pub data: Bytes,
    /// Pages of its indexes, included in these.
    pub indexes: Bytes,
    /// Log written by loading.
    pub log: Bytes,
}

/// Loads the workload of `subject` with few rows in one session, and executes each of its scripts. If the workload
/// has many rows, does it again with more, and extrapolates to all of them.
///
/// # Errors
/// The first script that fails, with its file and line.
pub fn rehearse(subject: &Subject<'_>) -> Result<Forecast, RehearsalError> {
    if subject.engine.simulated() != Some(Simulated::Statements) {
        return Ok(Forecast::default());
    }
    let on = |rows| {
        let budget = Rc::new(Budget::of_this_machine());
        with_rows(subject, rows, &budget).map_err(|error| RehearsalError {
            workload: subject.settings.workload.script.to_string(),
            error: budget.over.get().map_or(error, Over::message),
            hint: budget
                .over
                .get()
                .map_or_else(|| hint(subject.workload()), |_| String::new()),
            over: budget.over.get(),
        })
    };
    let rows = match subject.workload().parameters().get(ROWS) {
        Some(Value::Int(rows)) => *rows,
        // All of the data was loaded.
        _ => FEW,
    };
    let few = on(rows.min(FEW))?;
    let more = match rows > MORE {
        true => on(MORE)?,
        false => few,
    };
    Ok(forecast(subject, &few, &more, rows))
}

/// Limits of a rehearsal. Its data is that of a whole trial if the workload has no parameter for its rows.
struct Budget {
    /// How often SQLite may check whether to continue.
    asked_max: u64,
    /// Most memory and temporary space.
    held_max: Held,
    asked: Cell<u64>,
    /// The exceeded limit, if any.
    over: Cell<Option<Over>>,
}

impl Budget {
    /// All memory and temporary space of this machine; unbounded if it does not report them.
    fn of_this_machine() -> Budget {
        let unknown = Bytes(u64::MAX);
        Budget {
            asked_max: ASKED_MAX,
            held_max: Held {
                memory: memory().unwrap_or(unknown),
                disk: temporary_space().1.unwrap_or(unknown),
            },
            asked: Cell::new(0),
            over: Cell::new(None),
        }
    }

    /// Whether `simulation` must end.
    fn is_spent(&self, simulation: &Weak<Simulation>) -> bool {
        let asked = self.asked.get() + 1;
        self.asked.set(asked);
        if asked > self.asked_max {
            self.over.set(Some(Over::Steps));
        } else if asked.is_multiple_of(LOOK_EVERY) {
            let held = simulation.upgrade().map(|simulation| simulation.held());
            let is_more =
                |held: &Held| held.memory > self.held_max.memory || held.disk > self.held_max.disk;
            self.over.set(held.filter(is_more).map(Over::Space));
        }
        self.over.get().is_some()
    }
}

/// Costs of a rehearsal.
#[derive(Clone, Copy)]
struct Taken {
    load: Duration,
    /// Of one execution of each script, all together.
    scripts: Duration,
    held: Held,
    size: Size,
}

/// Extrapolates linearly from few and more rows to `rows`.
fn forecast(subject: &Subject<'_>, few: &Taken, more: &Taken, rows: i64) -> Forecast {
    let times = (rows - FEW).max(0) as f64 / (MORE - FEW) as f64;
    let at = |few: f64, more: f64| few + (more - few).max(0.0) * times;
    let seconds = |of: fn(&Taken) -> Duration| at(of(few).as_secs_f64(), of(more).as_secs_f64());
    let bytes = |of: fn(&Taken) -> Bytes| at(of(few).0 as f64, of(more).0 as f64);
    let asked = &subject.settings.workload;
    let databases = match subject.workload().database {
        Database::PerSession => f64::from(asked.sessions),
        Database::Shared => 1.0,
    };
    let operations = match asked.amount {
        Amount::Operations(operations) => operations as f64,
        Amount::Duration(_) => 0.0,
    };
    // Averages the scripts without their weights: an estimate needs no more.
    let operation = seconds(|taken| taken.scripts) / subject.workload().run.scripts.len() as f64;
    let load = seconds(|taken| taken.load);
    Forecast {
        load: Duration::from_secs_f64(load),
        operations: Duration::from_secs_f64(operations * operation),
        memory: Bytes((databases * bytes(|taken| taken.held.memory)) as u64),
        disk: Bytes((databases * bytes(|taken| taken.held.disk)) as u64),
        size: Size {
            data: Bytes((databases * bytes(|taken| taken.size.data)) as u64),
            indexes: Bytes((databases * bytes(|taken| taken.size.indexes)) as u64),
            log: Bytes((databases * bytes(|taken| taken.size.log)) as u64),
        },
    }
}

fn with_rows(subject: &Subject<'_>, rows: i64, budget: &Rc<Budget>) -> Result<Taken, String> {
    let mut workload = subject.workload().clone();
    if workload.parameters().contains_key(ROWS) {
        workload
            .set_parameter(ROWS, Value::Int(rows))
            .map_err(|error| error.to_string())?;
    }
    let mut settings = subject.settings.clone();
    settings.workload.sessions = 1;
    rehearsed(subject, &settings, &workload, budget)
}

fn rehearsed(
    subject: &Subject<'_>,
    settings: &Settings,
    workload: &Workload,
    budget: &Rc<Budget>,
) -> Result<Taken, String> {
    let never: Cancel = Rc::new(|| false);
    let trial = VirtualTrial {
        id: subject.id,
        settings,
        stage: subject.stage,
        workload,
        cancelled: &never,
        meter: meter::SharedMeter::of(subject.stage),
    };
    let seed = subject.id.seed;
    let store = subject.stage.build(random::derive(seed, "store", 0));
    let simulation = Simulation::new(store, subject.stage.machine.cores, subject.stage.costs)
        .map_err(|error| format!("a temporary file for the database's pages: {error}"))?;
    let simulation = Rc::new(simulation);
    let (watched, watching) = (Rc::downgrade(&simulation), Rc::clone(budget));
    simulation.stop_when(Rc::new(move || watching.is_spent(&watched)));
    let clock = Clock::start();
    simulation.timeless(|session| {
        let connections = trial.prepare(session)?;
        let connection = connections.first().expect("there is one session");
        if workload.load.measured {
            let mut variables = workload.variables(0, 1);
            session::load(session, connection, workload, &mut variables, seed)
                .map_err(|error| format!("the data could not be loaded: {error}"))?;
        }
        let loaded = clock.now();
        simulation.pack();
        let held = simulation.held();
        let size = size(connection, workload).map_err(|error| error.to_string())?;
        let rows = trial.parameters(session, &connections)?;
        let mut scripts = Scripts::of(session, connection, workload, seed);
        scripts.rows = rows.as_ref();
        scripts.execute(0)?;
        let from = clock.now();
        let mut times = 0;
        while times < EXECUTIONS_MAX && clock.now().since(from) < TIMED {
            times += 1;
            // Operations that fail occasionally are counted by the trial.
            let _ = scripts.execute(times);
        }
        Ok(Taken {
            load: loaded.since(model::Instant::ZERO),
            scripts: Duration::from_nanos(clock.now().since(from).as_nanos() / times.max(1)),
            held,
            size,
        })
    })
}

/// Size of the database of `connection`, with its temporary tables.
fn size(connection: &Connection, workload: &Workload) -> rusqlite::Result<Size> {
    let mut size = Size {
        log: Bytes(connection.total_changes() * workload.run.log_bytes_per_row),
        ..Size::default()
    };
    for schema in ["main", "temp"] {
        let number = |row: &rusqlite::Row<'_>| row.get(0).map(i64::cast_unsigned);
        let pragma = |name| connection.pragma_query_value(Some(schema), name, number);
        let data = pragma("page_count")? * pragma("page_size")?;
        let indexes = format!(
            "SELECT coalesce(sum(pgsize), 0) FROM dbstat('{schema}') WHERE name IN \
             (SELECT name FROM {schema}.sqlite_schema WHERE type = 'index')"
        );
        let indexes = connection.query_row(&indexes, [], number)?;
        size.data.0 += data;
        size.indexes.0 += indexes;
    }
    Ok(size)
}

/// The scripts of a workload, in one session.
struct Scripts<'a> {
    workload: &'a Workload,
    variables: Variables,
    random: Stream,
    context: VirtualSession<'a>,
    /// Rows whose columns are parameters.
    rows: Option<&'a ParameterRows>,
}

impl<'a> Scripts<'a> {
    fn of(
        session: &'a Session,
        connection: &'a Connection,
        workload: &'a Workload,
        seed: u64,
    ) -> Scripts<'a> {
        Scripts {
            workload,
            variables: workload.variables(0, 1),
            random: random::stream(seed, "keys"),
            context: VirtualSession::new(session, connection, workload),
            rows: None,
        }
    }

    /// Executes each of them once, as `operation` of the session.
    fn execute(&mut self, operation: u64) -> Result<(), String> {
        self.variables.set_operation(operation);
        if let Some(rows) = self.rows {
            rows.set(&mut self.variables, operation, 0);
        }
        for (number, weighted) in self.workload.run.scripts.iter().enumerate() {
            self.context.enter(number);
            let executed = weighted
                .script
                .execute(&mut self.variables, &mut self.random, &mut self.context)
                .map_err(|error| format!("{}: {error}", weighted.script.name))
                .and_then(|()| self.context.settle());
            if executed.is_err() {
                self.context.roll_back();
            }
            executed?;
        }
        Ok(())
    }
}

/// The remedy if the scripts look like those of another dialect.
fn hint(workload: &Workload) -> String {
    let is_settings = |stress: &Stress| stress.iterations.is_some();
    if workload.stress.as_ref().is_some_and(is_settings) {
        let tsql = Dialect::TSQL;
        return format!(
            "; a settings file of SQLQueryStress has {}, and simulate executes SQLite's SQL in a database without tables: \
             write it so, or run it on {}, with the database before the name of each table that is there already \
             (DATABASE.SCHEMA.TABLE)",
            tsql.title,
            runs_on(tsql)
        );
    }
    let scripts = workload.run.scripts.iter().map(|weighted| &weighted.script);
    let mut scripts = scripts
        .chain(&workload.load.schema)
        .chain(&workload.load.scripts);
    let Some(dialect) = scripts.find_map(|script| dialect_of(&script.commands)) else {
        return String::new();
    };
    let title = dialect.title;
    let sqlites = match title.ends_with(" SQL") {
        true => "SQLite's",
        false => "SQLite's SQL",
    };
    format!(
        "; this looks like {title}, and simulate executes {sqlites}: write it so, or run it on {}",
        runs_on(dialect)
    )
}

/// What executes a dialect, and the arguments for it.
fn runs_on(dialect: Dialect) -> String {
    let Dialect {
        product,
        mode,
        engine,
        ..
    } = dialect;
    format!("{product} (--mode {mode} --engine {engine})")
}

fn dialect_of(commands: &[Command]) -> Option<Dialect> {
    commands.iter().find_map(|command| match command {
        Command::Sql(statement) => Dialect::looks_like(&statement.text),
        Command::If {
            branches,
            otherwise,
        } => {
            let inner = branches.iter().map(|branch| &branch.commands);
            let mut inner = inner.chain([otherwise]);
            inner.find_map(|commands| dialect_of(commands))
        }
        Command::Set { .. } | Command::Sleep { .. } => None,
    })
}

#[cfg(test)]
mod tests;
