//! Every script of a workload once, on little data: what cannot work is found before anything is measured.

use std::rc::Rc;

use model::random;
use rusqlite::Connection;
use volume::virtual_time::{Session, Simulation};

use super::super::sessions::SessionContext;
use super::session::{self, VirtualSession};
use super::{Trial, meter};
use crate::engine::Simulated;
use crate::trial::{Cancel, Subject};
use experiment::spec::Settings;
use workload::script::Command;
use workload::{Dialect, Value, Workload};

/// The parameter that says by convention how many rows a workload has, and how many a rehearsal takes.
const ROWS: (&str, i64) = ("rows", 1_000);

/// How SQLite says that data is not as a table wants it, which few rows can cause and many do not.
const OF_DATA: &str = "constraint failed";

/// A script that does not run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("workload \"{workload}\": {error}{hint}")]
pub struct RehearsalError {
    workload: String,
    error: String,
    hint: &'static str,
}

/// Loads the workload of `subject` with few rows in one session, and executes each of its scripts once.
///
/// # Errors
/// The first script that fails, with its file and line.
pub fn rehearse(subject: &Subject<'_>) -> Result<(), RehearsalError> {
    if subject.engine.simulated() != Some(Simulated::Statements) {
        return Ok(());
    }
    let mut workload = subject.workload.clone();
    let (rows, few) = ROWS;
    if let Some(Value::Int(count)) = workload.parameters().get(rows)
        && *count > few
    {
        workload
            .set_parameter(rows, Value::Int(few))
            .expect("it has this parameter");
    }
    let mut settings = subject.settings.clone();
    settings.workload.sessions = 1;
    on_few_rows(subject, &settings, &workload).map_err(|error| RehearsalError {
        workload: subject.settings.workload.script.to_string(),
        error,
        hint: hint(subject.workload),
    })
}

fn on_few_rows(
    subject: &Subject<'_>,
    settings: &Settings,
    workload: &Workload,
) -> Result<(), String> {
    let never: Cancel = Rc::new(|| false);
    let trial = Trial {
        id: subject.id,
        settings,
        stage: subject.stage,
        workload,
        cancelled: &never,
        meter: meter::SharedMeter::of(subject.stage),
    };
    let store = subject
        .stage
        .build(random::derive(subject.id.seed, "store", 0));
    let simulation = Simulation::new(store, subject.stage.machine.cores, subject.stage.costs)
        .map_err(|error| format!("a temporary file for the database's pages: {error}"))?;
    simulation.timeless(|session| {
        let connections = trial.prepare(session)?;
        connections.first().map_or(Ok(()), |connection| {
            every_script(session, connection, workload, subject.id.seed)
        })
    })
}

fn every_script(
    session: &Session,
    connection: &Connection,
    workload: &Workload,
    seed: u64,
) -> Result<(), String> {
    let mut variables = workload.variables(0, 1);
    if workload.load.measured {
        let load = session::load(session, connection, workload, &mut variables, seed);
        load.map_err(|error| format!("the data could not be loaded: {error}"))?;
    }
    let mut random = random::stream(seed, "keys");
    let mut context = VirtualSession::new(session, connection, workload);
    variables.set_operation(0);
    for (number, weighted) in workload.run.scripts.iter().enumerate() {
        context.enter(number);
        let executed = weighted
            .script
            .execute(&mut variables, &mut random, &mut context)
            .map_err(|error| format!("{}: {error}", weighted.script.name))
            .and_then(|()| context.settle());
        match executed {
            Err(error) if !error.contains(OF_DATA) => return Err(error),
            Err(_) => context.roll_back(),
            Ok(()) => {}
        }
    }
    Ok(())
}

/// What to do where the scripts look like those of another dialect.
fn hint(workload: &Workload) -> &'static str {
    let scripts = workload.run.scripts.iter().map(|weighted| &weighted.script);
    let mut scripts = scripts
        .chain(&workload.load.schema)
        .chain(&workload.load.scripts);
    match scripts.find_map(|script| dialect_of(&script.commands)) {
        Some(Dialect::SqlServer) => {
            "; this looks like T-SQL, and simulate executes SQLite's SQL: write it so, or run it on SQL Server \
             (--mode measure --engine sqlserver)"
        }
        Some(Dialect::Postgres) => {
            "; this looks like PostgreSQL's SQL, and simulate executes SQLite's: write it so, or run it on PostgreSQL \
             (--mode emulate --engine postgres)"
        }
        Some(Dialect::Sqlite) | None => "",
    }
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
