//! `dbstow workloads [NAME]`: the built-in workloads, or one in full, as `dbstow run --workload` reads it.

use crate::engines::ENGINES;
use std::fmt::Write;
use std::path::Path;

use anyhow::Context;
use model::Duration;

use super::choice;
use super::experiment_args::reach;
use super::pair::key_and_value;
use super::{UsageError, output};
use engine::Options;
use experiment::build;
use experiment::plan::Plan;
use experiment::spec::{EngineName, Script, Variant};
use files::input::Reach;
use lab::Prepared;
use lab::inventory::Inventory;
use table::{Column, Table};
use workload::{Database, Dialect, Tables, Workload};

/// Lists the built-in workloads, or shows one.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A built-in workload, a folder with a `workload.toml`, an .sql file, or a settings file of SQLQueryStress (.json)
    #[cfg_attr(feature = "shell", arg(add = super::names::workload_or_path()))]
    name: Option<String>,
    /// Engine that it is to run on, whose dialect it is read in
    #[arg(long, value_parser = choice::engine(), default_value = "sqlite")]
    engine: EngineName,
    /// Also say how large its database becomes, with these parameters instead of its own
    #[arg(long, value_name = "PARAMETER=VALUE", value_parser = key_and_value, num_args = 0.., requires = "name")]
    size: Option<Vec<(String, String)>>,
    /// Allow the workload to read scripts outside its folder
    #[arg(long)]
    allow_outside: bool,
}

/// Prints the list or the workload.
///
/// # Errors
/// When the workload does not exist, or its folder is invalid.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let text = match &args.name {
        None => list().context("built-in workloads")?,
        Some(name) => {
            let shown = show(&find(name, &args.engine, reach(args.allow_outside))?);
            match &args.size {
                None => shown,
                Some(parameters) => format!("{shown}{}", size(name, parameters, args)?),
            }
        }
    };
    super::print(&format!("{}\n", text.trim_end()))?;
    Ok(())
}

fn find(name: &str, engine: &EngineName, reach: Reach) -> anyhow::Result<Workload> {
    // Reported first, where this build lacks the engine; an inventory would use another dialect.
    ENGINES.find(engine)?;
    let inventory = Inventory::with_engines(ENGINES)
        .of_engine(engine)
        .reaching(reach);
    let workload = inventory.read(&script(name));
    workload.map_err(|message| UsageError(message).into())
}

fn script(name: &str) -> Script {
    match is_own(name) {
        true => Script::Folder(name.to_owned()),
        false => Script::BuiltIn(name.to_owned()),
    }
}

/// Whether it is a path; a built-in name is always that workload, whatever the current folder contains.
fn is_own(name: &str) -> bool {
    let path = Path::new(name);
    let is_file = path
        .extension()
        .is_some_and(|end| end == "sql" || end == "json");
    let is_path = is_file || name.contains(['/', '\\']) || path.exists();
    is_path && !Workload::builtin_names().contains(&name)
}

/// The size of a workload's database, as `check` computes it for an experiment with nothing else in it.
fn size(name: &str, parameters: &[(String, String)], args: &Args) -> anyhow::Result<String> {
    let workload = match is_own(name) {
        true => build::Workload::folder(name),
        false => build::Workload::builtin(name),
    };
    let mut experiment = build::Experiment::new("size", "How large does the database become?")
        .machine_of(1, "1 TiB")
        .volume("d", build::Volume::of("unlimited"))
        .placement("one", build::Placement::on("d"))
        .workload(workload.operations(1))
        .memory("1 GiB");
    for (name, value) in parameters {
        let key = format!("workload.parameters.{name}");
        experiment = match value.replace('_', "").parse::<f64>() {
            // 1e6 is as integral as 1_000_000.
            Ok(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
                experiment.set(&key, number as i64)
            }
            Ok(number) => experiment.set(&key, number),
            Err(_) => experiment.set(&key, value.as_str()),
        };
    }
    let inventory = Inventory::with_engines(ENGINES).reaching(reach(args.allow_outside));
    let spec = experiment.build(Variant::default())?;
    let plan = Plan::new(&spec.check(&inventory)?, false);
    let prepared = Prepared::new(&plan, &inventory, &Options::default())?;
    let arms = prepared.rehearse(&plan.trials()[..1])?;
    let size = arms
        .first()
        .map(|arm| arm.forecast.size)
        .unwrap_or_default();
    let each = match inventory
        .read(&script(name))
        .map(|workload| workload.database)
    {
        Ok(Database::PerSession) => " per session",
        Ok(Database::Shared) | Err(_) => "",
    };
    Ok(format!(
        "{:<12}{} of data{each}, of which {} are indexes; loading makes {} of log (SQLite)\n",
        "size", size.data, size.indexes, size.log
    ))
}

fn list() -> anyhow::Result<String> {
    let row = |name| {
        let about = Workload::builtin(name, Dialect::SQLITE)?.about;
        Ok((name, about))
    };
    let rows: anyhow::Result<Vec<_>> = Workload::builtin_names().into_iter().map(row).collect();
    let columns = [
        Column::text("workload", |(name, _): &(&str, String)| *name),
        Column::text("what it does", |(_, about): &(&str, String)| about.clone()),
    ];
    Ok(Table::of(rows?, columns).text(output::width()))
}

fn show(workload: &Workload) -> String {
    let mut text = format!("{}\n{}\n\n", workload.name, workload.about);
    let database = match workload.database {
        Database::PerSession => "one per session",
        Database::Shared => "one for all sessions",
    };
    let tables = match workload.tables {
        Tables::Data => "data files",
        Tables::Temp => "temporary files",
    };
    let mut line = |name: &str, value: &str| {
        writeln!(text, "{name:<12}{value}").expect("a String takes all that is written");
    };
    line("database", database);
    line("tables in", tables);
    line("counts", workload.operation.name());
    if let Some(sessions) = workload.sessions {
        line("sessions", &sessions.to_string());
    }
    line("run", &workload.run.length.to_string());
    if let Some(stress) = &workload.stress {
        if stress.pause > Duration::ZERO {
            line("pause", &format!("{} after each operation", stress.pause));
        }
        let mappings = stress
            .parameter_query
            .iter()
            .flat_map(|query| &query.mappings);
        for (name, column) in mappings {
            line(
                "parameter",
                &format!("{name} from column {column} of ParamQuery"),
            );
        }
        for key in &stress.without_effect {
            line("no effect", key);
        }
    }
    let parameters = workload.parameters();
    for (name, value) in parameters {
        line("parameter", &format!("{name} = {value}"));
    }
    let measured = if workload.load.measured {
        "measured"
    } else {
        "not measured"
    };
    for script in workload.load.all() {
        line("load", &format!("{} ({measured})", describe(script)));
    }
    for mixed in &workload.run.scripts {
        let script = describe(&mixed.script);
        line("script", &format!("{script}, weight {}", mixed.weight));
    }
    text
}

fn describe(script: &workload::Script) -> String {
    format!("{}: {} statements", script.name, script.statements)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str) -> anyhow::Result<Workload> {
        find(name, &EngineName::SQLITE, Reach::Beneath)
    }

    #[test]
    fn the_list_names_every_workload() {
        let list = list().expect("the built-in workloads are sound");
        for name in Workload::builtin_names() {
            assert!(list.contains(name), "{list}");
        }
    }

    #[test]
    fn a_workload_is_shown_with_its_parameters_and_mix() {
        let text = show(&found("trade").expect("built in"));
        for part in [
            "customers = 1000",
            "trade-order.sql: 12 statements, weight 101",
        ] {
            assert!(text.contains(part), "{text}");
        }
        assert!(
            found("trad")
                .expect_err("a slip")
                .to_string()
                .contains("`trade`")
        );
    }
}
