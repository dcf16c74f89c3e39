//! Tests of workloads: the built-in ones run, and errors in a user's own are reported well.

mod dialects;
mod folders;
mod stress;

use std::collections::BTreeMap;
use std::fs;

use model::Duration;
use model::random::stream;
use proptest::prelude::*;
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, params_from_iter};

use super::*;
use files::input::Reach;

/// Runs statements on SQLite and counts them.
struct SqliteSession {
    connection: Connection,
    statements: u64,
    waited: Duration,
}

impl SqliteSession {
    fn new() -> SqliteSession {
        let connection = Connection::open_in_memory().expect("memory");
        rusqlite::vtab::series::load_module(&connection).expect("generate_series");
        for name in ["app_lock", "app_unlock"] {
            connection
                .create_scalar_function(name, 1, FunctionFlags::SQLITE_UTF8, |_| Ok(1_i64))
                .expect("a function that does nothing");
        }
        SqliteSession {
            connection,
            statements: 0,
            waited: Duration::ZERO,
        }
    }

    fn number(&self, sql: &str) -> i64 {
        self.connection
            .query_row(sql, [], |row| row.get(0))
            .expect(sql)
    }
}

fn bound(value: &Value) -> rusqlite::types::Value {
    match value {
        Value::Int(value) => (*value).into(),
        Value::Double(value) => (*value).into(),
        Value::Text(text) => text.clone().into(),
        Value::Null => rusqlite::types::Value::Null,
    }
}

impl Driver for SqliteSession {
    type Error = rusqlite::Error;

    fn statement(
        &mut self,
        _index: usize,
        statement: &Statement,
        arguments: &[Value],
    ) -> Result<(), rusqlite::Error> {
        self.statements += 1;
        let mut prepared = self.connection.prepare_cached(&statement.text)?;
        let mut rows = prepared.query(params_from_iter(arguments.iter().map(bound)))?;
        while rows.next()?.is_some() {}
        Ok(())
    }

    fn sleep(&mut self, span: Duration) -> Result<(), rusqlite::Error> {
        self.waited += span;
        Ok(())
    }
}

/// Records the texts of statements and executes nothing.
#[derive(Default)]
struct Notebook(Vec<String>);

impl Driver for Notebook {
    type Error = std::convert::Infallible;

    fn statement(
        &mut self,
        _index: usize,
        statement: &Statement,
        arguments: &[Value],
    ) -> Result<(), Self::Error> {
        assert_eq!(statement.parameters.len(), arguments.len());
        self.0.push(statement.text.clone());
        Ok(())
    }

    fn sleep(&mut self, _: Duration) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// A built-in workload, scaled down for tests.
fn tiny(name: &str) -> Workload {
    tiny_in(name, Dialect::SQLITE)
}

fn tiny_in(name: &str, dialect: Dialect) -> Workload {
    let mut workload = Workload::builtin(name, dialect).expect(name);
    for (parameter, value) in [
        ("rows", 100),
        ("operations", 50),
        ("customers", 50),
        ("names", 20),
        ("items", 500),
        ("accounts", 100),
        ("securities", 60),
        ("trades", 200),
        ("range", 10),
    ] {
        if workload.parameters().contains_key(parameter) {
            workload
                .set_parameter(parameter, Value::Int(value))
                .expect(parameter);
        }
    }
    workload
}

/// What one session would send: statements of the load, and of `operations`.
fn notes(workload: &Workload, operations: u64) -> (Vec<String>, Vec<String>) {
    let mut variables = workload.variables(0, 1);
    let mut random = stream(1, "keys");
    let (mut load, mut run) = (Notebook::default(), Notebook::default());
    for script in workload.load.all() {
        let result = script.execute(&mut variables, &mut random, &mut load);
        result.unwrap_or_else(|error| panic!("{}: {error}", script.name));
    }
    for operation in 0..operations {
        variables.set_operation(operation);
        let script = &workload.run.scripts[workload.run.pick(&mut random)].script;
        let result = script.execute(&mut variables, &mut random, &mut run);
        result.unwrap_or_else(|error| panic!("{}: {error}", script.name));
    }
    (load.0, run.0)
}

/// Loads `workload` and runs `operations` of one session.
fn run(workload: &Workload, operations: u64) -> SqliteSession {
    let mut session = SqliteSession::new();
    let mut variables = workload.variables(0, 1);
    let mut random = stream(1, "keys");
    for script in workload.load.all() {
        script
            .execute(&mut variables, &mut random, &mut session)
            .unwrap_or_else(|error| panic!("{}: {error}", script.name));
    }
    session.statements = 0;
    for operation in 0..operations {
        variables.set_operation(operation);
        let script = &workload.run.scripts[workload.run.pick(&mut random)].script;
        script
            .execute(&mut variables, &mut random, &mut session)
            .unwrap_or_else(|error| panic!("{}: {error}", script.name));
    }
    session
}

const SOUND: &str = r#"name = "mine"
database = "shared"
tables = "data"
[parameters]
rows = 10
[run]
operations = 5
scripts = [{ file = "a.sql" }]
"#;

/// The workload of these files.
fn folder(files: &[(&str, &str)]) -> Result<Workload, WorkloadError> {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("a file");
    }
    Workload::from_folder(folder.path(), Dialect::SQLITE, Reach::Beneath)
}

/// What `from_sqlquerystress` makes of `json`.
fn imported(json: &str) -> Result<Workload, WorkloadError> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("stress.json");
    fs::write(&path, json).expect("a file");
    Workload::from_sqlquerystress(&path, Dialect::SQLITE)
}

#[test]
fn every_builtin_workload_runs_on_sqlite() {
    let names = Workload::builtin_names();
    assert_eq!(
        names,
        [
            "cold-lookup",
            "order-entry",
            "raw",
            "read-only",
            "scan",
            "set-based",
            "spill",
            "tempdb-oltp",
            "trade",
            "version-store",
            "write-only"
        ]
    );
    for name in names {
        let workload = tiny(name);
        assert_eq!(workload.name, name);
        assert!(workload.about.len() > 60, "{name} says what it is");
        let session = run(&workload, 50);
        assert!(session.statements >= 50, "{name}: {}", session.statements);
    }
}

#[test]
fn tempdb_oltp_changes_the_rows_of_the_article() {
    // Of ids 0..49, 12 insert. Rows are 1..100, so deletes at id * 3 hit where id <= 33: 1, 5, 7, 11,
    // 13, 17, 19, 23, 25, 29, 31 = 11 rows, and those that inserts made in time.
    let workload = tiny("tempdb-oltp");
    let session = run(&workload, 50);
    let left = session.number("SELECT count(*) FROM test_rows");
    let body = session.number("SELECT min(length(body)) FROM test_rows");
    assert_eq!((left, body), (100 + 12 - 11 - late_deletes(), 2_000));
}

/// Deletes of ids 0..49 whose key an earlier insert had made.
fn late_deletes() -> i64 {
    let mut next = 101;
    let mut hit = 0;
    for id in 0..50 {
        let inserts = id % 4 != 0 && id % 3 == 0;
        let deletes = id % 2 != 0 && id % 3 != 0;
        next += i64::from(inserts);
        hit += i64::from(deletes && (101..next).contains(&(id * 3)));
    }
    hit
}

#[test]
fn a_version_store_request_is_40_statements_and_holds_its_lock() {
    let mut workload = tiny("version-store");
    workload
        .set_parameter("lock_hold_us", Value::Int(250))
        .expect("a parameter");
    let session = run(&workload, 4);
    // 1499.754 / 37.8 = 39.7; 2182.016 / 54.1 = 40.3; 2548.198 / 64.2 = 39.7
    assert_eq!(session.statements, 4 * 40);
    assert_eq!(session.waited, Duration::from_millis(1));
}

#[test]
fn a_trade_is_eight_statements_on_average_and_trades_complete() {
    let workload = tiny("trade");
    let weights: u32 = workload
        .run
        .scripts
        .iter()
        .map(|script| script.weight)
        .sum();
    assert_eq!(weights, 1_000);
    let session = run(&workload, 2_000);
    // The article's batches per transaction: 13,100 / 1,688 = 7.8 and 17,500 / 1,980 = 8.8.
    let average = session.statements as f64 / 2_000.0;
    assert!((7.5..8.8).contains(&average), "{average}");
    assert!(
        session.number("SELECT count(*) FROM trade WHERE id > 200 AND state = 'completed'") > 100
    );
}

#[test]
fn cold_lookup_sessions_share_all_rows_between_them() {
    let workload = tiny("cold-lookup");
    let mut session = run(&workload, 0);
    let script = &workload.run.scripts[0].script;
    let mut counted = 0;
    for number in 0..3 {
        let mut variables = workload.variables(number, 3);
        script
            .execute(&mut variables, &mut stream(1, "keys"), &mut session)
            .expect("runs");
        let bound = |name: &str| match variables.value(name) {
            Some(Value::Int(value)) => *value,
            other => panic!("{name} is {other:?}"),
        };
        counted += bound("high") - bound("low");
    }
    assert_eq!(counted, 100);
    assert_eq!(workload.length(3).expect("a length"), Length::Operations(3));
}

#[test]
fn the_mix_is_drawn_by_weight() {
    let workload = tiny("write-only");
    let mut random = stream(1, "mix");
    let mut drawn = [0_u32; 3];
    for _ in 0..10_000 {
        drawn[workload.run.pick(&mut random)] += 1;
    }
    // 2 : 1 : 1 of 10,000, give or take 4 standard deviations of 50.
    for (count, expected) in drawn.into_iter().zip([5_000, 2_500, 2_500]) {
        assert!(count.abs_diff(expected) < 200, "{drawn:?}");
    }
}

#[test]
fn parameters_are_overridden_by_name_and_kind() {
    let mut workload = tiny("version-store");
    let error = |result: Result<(), WorkloadError>| result.expect_err("refused").to_string();
    assert!(error(workload.set_parameter("rwos", Value::Int(1))).contains("did you mean `rows`?"));
    assert!(error(workload.set_parameter("rows", Value::Text("x".into()))).contains("same kind"));
    let span = Value::Text("2 s".into());
    workload.set_parameter("run_for", span).expect("a span");
    let length = workload.length(1).expect("a length");
    assert_eq!(length, Length::Duration(Duration::from_secs(2)));
    let never = Value::Text("never".into());
    workload.set_parameter("run_for", never).expect("a text");
    assert!(
        workload
            .length(1)
            .expect_err("no span")
            .to_string()
            .contains("\"10 s\"")
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn no_workload_file_makes_the_reader_panic(
        text in ".*",
        line in 0_usize..8,
        word in prop::sample::select(vec!["", "-1", "[", "\"\"", "= {}", "{ file = \"\" }", "a = 9e999", "ü"]),
    ) {
        let _ = folder(&[("workload.toml", &text), ("a.sql", "SELECT 1;")]);
        let mut lines: Vec<&str> = SOUND.lines().collect();
        lines[line] = word;
        let _ = folder(&[("workload.toml", &lines.join("\n")), ("a.sql", &text)]);
        let _ = imported(&text);
    }
}

#[test]
fn a_parameter_outside_of_its_range_is_refused_with_both_ends() {
    let with = |range: &str| {
        let text = SOUND.replace("[run]", &format!("[range]\n{range}\n[run]"));
        folder(&[("workload.toml", &text), ("a.sql", "SELECT :rows;")])
    };
    let mut workload = with("rows = [1, 1_000]").expect("sound");
    for wrong in [
        Value::Int(0),
        Value::Int(7_000_000_000_000_000),
        Value::Double(1e308),
    ] {
        let error = workload
            .set_parameter("rows", wrong)
            .expect_err("it is out of range");
        let error = error.to_string();
        let told = ["workload.parameters.rows is ", "1 to 1000"];
        assert!(told.iter().all(|part| error.contains(part)), "{error}");
    }
    workload
        .set_parameter("rows", Value::Int(1_000))
        .expect("in range");
    for wrong in ["rows = [20, 30]", "row = [1, 10]", "rows = [1, -1]"] {
        let error = with(wrong).expect_err("it is wrong").to_string();
        assert!(error.contains("workload.toml:7: a range is "), "{error}");
    }
}

#[test]
fn every_size_of_a_workload_that_is_built_in_has_a_range() {
    // Settings that affect only the run, not how much is loaded.
    let others = [
        "a_customers",
        "a_items",
        "a_names",
        "depth",
        "devices",
        "lock_hold_us",
        "maxdop",
        "operations",
        "range",
        "read_percent",
        "requests_kept",
        "think_ms",
    ];
    for name in Workload::builtin_names() {
        let workload = Workload::builtin(name, Dialect::SQLITE).expect("it is built in");
        for (parameter, value) in workload.parameters() {
            let is_size = matches!(value, Value::Int(_)) && !others.contains(&parameter.as_str());
            assert_eq!(
                workload.ranges().contains_key(parameter),
                is_size,
                "{name}: {parameter}"
            );
        }
    }
}
