//! Tests of workloads: the built-in ones run, and errors in a user's own are reported well.

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
struct Session {
    connection: Connection,
    statements: u64,
    waited: Duration,
}

impl Session {
    fn new() -> Session {
        let connection = Connection::open_in_memory().expect("memory");
        rusqlite::vtab::series::load_module(&connection).expect("generate_series");
        for name in ["app_lock", "app_unlock"] {
            connection
                .create_scalar_function(name, 1, FunctionFlags::SQLITE_UTF8, |_| Ok(1_i64))
                .expect("a function that does nothing");
        }
        Session {
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

impl Driver for Session {
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
fn run(workload: &Workload, operations: u64) -> Session {
    let mut session = Session::new();
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

/// Syntax of other dialects that T-SQL lacks.
const FOREIGN: [&str; 19] = [
    "generate_series",
    "printf(",
    "format(",
    "rpad(",
    "lpad(",
    "length(",
    "substr(",
    "app_lock",
    "app_unlock",
    "pg_",
    "lastval",
    "last_insert_rowid",
    " LIMIT ",
    " || ",
    "ON CONFLICT",
    "OR IGNORE",
    "SERIAL",
    "TEXT",
    "TEMP TABLE",
];

#[test]
fn every_builtin_workload_is_there_in_tsql() {
    for name in Workload::builtin_names() {
        let workload = tiny_in(name, Dialect::TSQL);
        let run = workload.run.scripts.iter().map(|weighted| &weighted.script);
        for script in workload.load.all().chain(run) {
            let own = script.name.ends_with(".sqlserver.sql");
            assert!(own, "{} has no variant in T-SQL", script.name);
        }
        let (load, run) = notes(&workload, 50);
        assert!(load.len() >= 2 && run.len() >= 50, "{name}");
        for text in load.iter().chain(&run) {
            let foreign: Vec<&str> = FOREIGN
                .into_iter()
                .filter(|word| text.contains(word))
                .collect();
            assert_eq!(foreign, [""; 0], "{name}: {text}");
            let tables = text.matches("test_rows").count();
            assert_eq!(text.matches("#test_rows").count(), tables, "{name}: {text}");
        }
    }
}

/// Syntax of other dialects that MariaDB lacks or interprets differently.
const FOREIGN_TO_MARIADB: [&str; 14] = [
    "generate_series",
    "printf(",
    "format(",
    "app_lock",
    "app_unlock",
    "pg_",
    "lastval",
    "last_insert_rowid",
    " / ",
    " || ",
    "ON CONFLICT",
    "OR IGNORE",
    "SERIAL",
    "TEMP TABLE",
];

#[test]
fn every_builtin_workload_is_there_in_mariadbs_sql() {
    for name in Workload::builtin_names() {
        let (load, run) = notes(&tiny_in(name, Dialect::MARIADB), 500);
        assert!(load.len() >= 2 && run.len() >= 500, "{name}");
        for text in load.iter().chain(&run) {
            let foreign: Vec<&str> = FOREIGN_TO_MARIADB
                .into_iter()
                .filter(|word| text.contains(word))
                .collect();
            assert_eq!(foreign, [""; 0], "{name}: {text}");
        }
    }
}

#[test]
fn operations_take_as_many_round_trips_in_other_dialects_as_in_sqlite() {
    for name in Workload::builtin_names() {
        let counts = [Dialect::SQLITE, Dialect::TSQL, Dialect::MARIADB].map(|dialect| {
            let (_, run) = notes(&tiny_in(name, dialect), 200);
            run.len()
        });
        assert_eq!(counts, [counts[0]; 3], "{name}");
    }
}

/// The tables that are declared `PARTITION BY HASH`, which an engine spreads over files.
fn spread_tables(name: &str, dialect: Dialect) -> Vec<String> {
    let (load, _) = notes(&tiny_in(name, dialect), 0);
    let spread = load
        .iter()
        .filter(|text| text.contains("PARTITION BY HASH ("));
    let table = |text: &String| {
        let words = text.split_whitespace();
        words
            .skip_while(|word| *word != "TABLE")
            .nth(1)
            .expect("it makes a table")
            .to_owned()
    };
    spread.map(table).collect()
}

#[test]
fn the_same_tables_are_spread_in_mariadb_as_in_postgresql() {
    for name in Workload::builtin_names() {
        let expected = match tiny(name).load.measured {
            // Temporary tables of MariaDB have no partitions.
            true => Vec::new(),
            false => spread_tables(name, Dialect::POSTGRES),
        };
        assert_eq!(spread_tables(name, Dialect::MARIADB), expected, "{name}");
    }
}

#[test]
fn statements_of_mariadb_list_a_variable_as_often_as_it_comes() {
    let workload = tiny_in("set-based", Dialect::MARIADB);
    let update = &workload.run.scripts[0].script.commands[1];
    let Command::Sql(statement) = update else {
        panic!("{update:?}");
    };
    assert_eq!(
        statement.text,
        "UPDATE test_rows SET body = RPAD('Y', 2000, ' ')\nWHERE id > ? AND id <= ? + ?"
    );
    assert_eq!(statement.parameters, ["low", "low", "range"]);
}

#[test]
fn statements_of_tsql_name_their_parameters_in_order() {
    let workload = tiny_in("set-based", Dialect::TSQL);
    let update = &workload.run.scripts[0].script.commands[1];
    let Command::Sql(statement) = update else {
        panic!("{update:?}");
    };
    assert_eq!(
        statement.text,
        "UPDATE #test_rows SET body = 'Y'\nWHERE id > @p1 AND id <= @p1 + @p2;"
    );
    assert_eq!(statement.parameters, ["low", "range"]);
}

#[test]
fn loops_on_the_server_are_for_the_server_that_has_them() {
    for name in ["tempdb-oltp", "read-only", "write-only"] {
        for dialect in [Dialect::SQLITE, Dialect::POSTGRES, Dialect::MARIADB] {
            assert_eq!(tiny_in(name, dialect).run.server_loop, None, "{name}");
        }
        let workload = tiny_in(name, Dialect::TSQL);
        let script = workload.run.server_loop.as_ref().expect(name);
        let mut variables = workload.variables(0, 1);
        assert!(variables.set(LOOP_FIRST, Value::Int(0)));
        assert!(variables.set(LOOP_COUNT, Value::Int(1_000)));
        let mut notebook = Notebook::default();
        script
            .execute(&mut variables, &mut stream(1, "keys"), &mut notebook)
            .expect("all variables are set");
        assert_eq!(notebook.0.len(), 1, "{name} is one round trip");
    }
}

#[test]
fn a_loop_that_does_not_fit_is_refused_with_its_remedy() {
    const LOOP: &str = "SELECT :first, :count, :rows;";
    let read = |text: &str, script: &str| {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in [
            ("workload.toml", text),
            ("a.sql", "SELECT 1;"),
            ("a.sqlserver.sql", script),
        ] {
            fs::write(folder.path().join(name), text).expect("a file");
        }
        Workload::from_folder(folder.path(), Dialect::TSQL, Reach::Beneath)
    };
    let with = |file: &str| format!("{SOUND}server_loop = \"{file}\"\n");
    let sound = with("a.sqlserver.sql");
    let workload = read(&sound, LOOP).expect("sound");
    // The plan's digest is computed from this, so another loop is another plan.
    assert!(format!("{:?}", workload.run).contains("SELECT @p1, @p2, @p3;"));
    for (text, script, place, remedy) in [
        (
            with("b.sqlserver.sql"),
            LOOP,
            "workload.toml:9: script `b.sqlserver.sql` is not",
            "`a.sqlserver.sql`",
        ),
        (
            with("a.sql"),
            LOOP,
            "workload.toml:9: ",
            "`loop.sqlserver.sql`",
        ),
        (
            sound.clone(),
            "SELECT :first; SELECT :count;",
            "workload.toml:9: ",
            "one statement",
        ),
        (
            sound.clone(),
            "SELECT :rows;",
            "workload.toml:9: ",
            "`:first`",
        ),
        (
            sound.replace("rows", "count"),
            LOOP,
            "workload.toml:9: ",
            "rename the parameter `count`",
        ),
    ] {
        let error = read(&text, script).expect_err(remedy).to_string();
        assert!(
            error.contains(place) && error.contains(remedy),
            "{script}: {error}"
        );
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

#[test]
fn a_folder_of_ones_own_is_read_and_dialect_variants_are_left_alone() {
    let workload = folder(&[
        ("workload.toml", SOUND),
        ("a.sql", "SELECT :rows, :session;"),
        ("a.postgres.sql", "\\gset no SQLite ever reads this"),
    ])
    .expect("sound");
    assert_eq!(workload.length(1).expect("a length"), Length::Operations(5));
    assert_eq!(workload.operation, OperationKind::Operation);
    assert_eq!(
        workload.parameters(),
        &BTreeMap::from([("rows".to_owned(), Value::Int(10))])
    );
}

#[test]
fn a_mistake_in_a_folder_is_told_with_file_line_and_remedy() {
    for (from, to, place, remedy) in [
        (
            "tables",
            "tabels",
            "workload.toml:3: unknown key `tabels`",
            "`tables`",
        ),
        (
            "\"data\"",
            "\"dta\"",
            "workload.toml:3: unknown value `dta`",
            "`data`",
        ),
        (
            "rows = 10",
            "rows = [1]",
            "workload.toml:5: ",
            "a number, a text",
        ),
        (
            "rows = 10",
            "sessions = 1",
            "workload.toml:5: ",
            "another name",
        ),
        (
            "operations = 5",
            "operations = 0",
            "workload.toml:7: operations is 0",
            "above 0",
        ),
        (
            "operations = 5",
            "operations = -5",
            "workload.toml:7: operations is -5",
            "above 0",
        ),
        (
            "operations = 5",
            "operations = \"rwos\"",
            "workload.toml:7: ",
            "`rows`",
        ),
        (
            "operations = 5",
            "duration = \"5\"",
            "workload.toml:7: duration is \"5\"",
            "10 s",
        ),
        (
            "operations = 5",
            "",
            "workload.toml:6: the run's length is not given",
            "10_000",
        ),
        (
            "\"a.sql\" }",
            "\"a.sql\", weight = 0 }",
            "workload.toml:8: weight is 0",
            "from 1",
        ),
        (
            "\"a.sql\" }",
            "\"a.sql\", weight = -1 }",
            "workload.toml:8: weight is -1",
            "from 1",
        ),
        (
            "\"a.sql\"",
            "\"b.sql\"",
            "workload.toml:8: script `b.sql` is not",
            "`a.sql`",
        ),
        (
            "[{ file = \"a.sql\" }]",
            "[]",
            "workload.toml:8: `scripts` of the run",
            "at least one",
        ),
        (
            "operations = 5",
            "operations = 5\nlog_bytes_per_row = -1",
            "workload.toml:8: log_",
            "0 or more",
        ),
        ("name = ", "name ", "workload.toml:1: ", ""),
    ] {
        let text = SOUND.replace(from, to);
        let error = folder(&[("workload.toml", &text), ("a.sql", "SELECT 1;")]);
        let error = error.expect_err(to).to_string();
        assert!(
            error.contains(place) && error.contains(remedy),
            "{to}: {error}"
        );
    }
    let error = |script: &str| {
        let error = folder(&[("workload.toml", SOUND), ("a.sql", script)]);
        error.expect_err(script).to_string()
    };
    assert!(error("-- nothing").contains("workload.toml:8: script `a.sql` does nothing"));
    assert!(
        error("\nSELECT :rwos;")
            .contains("a.sql:2: variable `rwos` is never set (did you mean `rows`?)")
    );
    assert!(
        folder(&[])
            .expect_err("no file")
            .to_string()
            .contains("workload.toml: cannot be read")
    );
}

#[test]
fn an_unknown_builtin_names_the_near_one() {
    let error = Workload::builtin("tempdb-olpt", Dialect::SQLITE)
        .expect_err("unknown")
        .to_string();
    assert!(error.contains("did you mean `tempdb-oltp`?"), "{error}");
    assert!(Workload::builtin("../workloads/trade", Dialect::SQLITE).is_err());
    assert!(Workload::builtin("", Dialect::SQLITE).is_err());
}

/// What `from_sqlquerystress` makes of `json`.
fn imported(json: &str) -> Result<Workload, WorkloadError> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("stress.json");
    fs::write(&path, json).expect("a file");
    Workload::from_sqlquerystress(&path, Dialect::SQLITE)
}

#[test]
fn sqlquerystress_settings_import_without_their_password() {
    for mappings in [r#"[{"Key":"@p","Value":"id"}]"#, r#"{"@p":"id"}"#] {
        let workload = imported(&format!(
            "\u{feff}{{\"MainDbConnectionInfo\": {{\"Login\": \"sa\", \"Password\": \"hunter2\"}},
            \"MainQuery\": \"SELECT 1;\\nSELECT '@p'\", \"NumIterations\": 10, \"NumThreads\": 4,
            \"DelayBetweenQueries\": 5, \"ParamQuery\": \"SELECT id FROM t\", \"ParamMappings\": {mappings}}}"
        ))
        .expect("sound");
        assert_eq!(workload.sessions, Some(4));
        assert_eq!(
            workload.length(4).expect("a length"),
            Length::Operations(40)
        );
        let stress = workload.stress.clone().expect("it is one");
        assert_eq!((stress.threads, stress.iterations), (Some(4), Some(10)));
        assert_eq!(stress.pause, Duration::from_millis(5));
        assert_eq!(
            stress.without_effect[0],
            "ParamMappings (the query has no @p)"
        );
        let query = stress.parameter_query.expect("kept");
        assert_eq!(
            query.mappings,
            BTreeMap::from([("@p".to_owned(), "id".to_owned())])
        );
        assert_eq!(workload.run.scripts[0].script.statements, 2);
        let session = run(&workload, 2);
        // Not part of an operation's latency.
        assert_eq!(session.waited, Duration::ZERO);
        assert!(!format!("{workload:?}").contains("hunter2"));
    }
}

#[test]
fn sqlquerystress_settings_that_run_nothing_are_refused_with_their_line() {
    let error = |json: &str| imported(json).expect_err(json).to_string();
    let text = error("{\n\"MainQuery\": \"SELECT 1\", \"NumThreads\": \"4\"}");
    assert!(
        text.contains(
            "stress.json:2: NumThreads: invalid type: string \"4\", expected a whole number; save"
        ),
        "{text}"
    );
    let zero = error("{\n\"MainQuery\": \"SELECT 1\",\n\"NumThreads\": 0}");
    assert!(zero.contains("stress.json:3: NumThreads is 0"), "{zero}");
    let empty = error("{\n\"MainQuery\": \" \"}");
    assert!(
        empty.contains("stress.json:2: the query is empty"),
        "{empty}"
    );
    let broken = error("{\n\"MainQuery\": ");
    assert!(broken.contains("stress.json:2: "), "{broken}");
    assert!(error("{}").contains("MainQuery"));
}

#[test]
fn a_single_sql_file_runs_with_threads_and_iterations() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("query.sql");
    fs::write(&path, "SELECT 1;\nSELECT 2;\n").expect("a file");
    let workload = Workload::from_sql_file(&path, 2, 50, Dialect::SQLITE).expect("sound");
    assert_eq!(workload.name, "query");
    assert_eq!(
        workload.length(2).expect("a length"),
        Length::Operations(100)
    );
    assert!(Workload::from_sql_file(&path, 0, 50, Dialect::SQLITE).is_err());
    assert!(Workload::from_sql_file(&path.join("none"), 1, 1, Dialect::SQLITE).is_err());
}

/// What the first article ran in SQLQueryStress, abbreviated: one batch.
const ARTICLE: &str = "begin SET NOCOUNT ON -- RUN TEST\n\
     if not exists (select 1 from tempdb.dbo.sysobjects where name like '%TempPerfTest%')\n\
     begin create table tempdb.dbo.TempPerfTest (MyID int NOT NULL IDENTITY(1, 1) PRIMARY KEY); end\n\
     DECLARE @Id INT = 0;\nWHILE (@Id < 100000) begin\n\
     SELECT * FROM tempdb.dbo.TempPerfTest WHERE MyID = (@Id * 10); SET @Id = @Id + 1 end end";

#[test]
fn a_query_in_tsql_is_sent_whole_as_sqlquerystress_sends_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("query.sql");
    for (text, statements) in [
        (ARTICLE.to_owned(), 1),
        ("\u{feff}SELECT 1;\nSELECT 2;\n".to_owned(), 1),
        ("SELECT 1;\nGO\nSELECT 2;\nSELECT 3\nGO\n".to_owned(), 2),
    ] {
        fs::write(&path, &text).expect("a file");
        let workload = Workload::from_sql_file(&path, 2, 50, Dialect::TSQL).expect("sound");
        let (_, sent) = notes(&workload, 3);
        assert_eq!(sent.len(), 3 * statements, "{text}");
        if statements == 1 {
            assert_eq!(sent[0], text.trim_start_matches('\u{feff}').trim_end());
        }
    }
}

#[test]
fn mapped_parameters_of_sqlquerystress_are_variables_in_tsql() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("stress.json");
    let settings = "{\"MainQuery\": \"DECLARE @a int = @ID; SELECT @name, @id, @a, '@id';\", \
         \"ParamQuery\": \"SELECT id, name FROM t\", \"ParamMappings\": [{\"Key\": \"@id\", \"Value\": \"id\"}, \
         {\"Key\": \"name\", \"Value\": \"name\"}, {\"Key\": \"@a\", \"Value\": null}]}";
    fs::write(&path, settings).expect("a file");
    let workload = Workload::from_sqlquerystress(&path, Dialect::TSQL).expect("sound");
    let stress = workload.stress.as_ref().expect("it is one");
    let query = stress.parameter_query.as_ref().expect("kept");
    assert!(query.mappings.keys().eq(["@id", "@name"]));
    assert_eq!(stress.without_effect, [""; 0]);
    let script = &workload.run.scripts[0].script;
    let Command::Sql(statement) = &script.commands[0] else {
        panic!("{script:?}");
    };
    assert_eq!(
        statement.text,
        "DECLARE @a int = @p1; SELECT @p2, @p1, @a, '@id';"
    );
    assert_eq!(statement.parameters, ["@id", "@name"]);
    let mut variables = workload.variables(0, 1);
    assert!(variables.set("@id", Value::Int(7)));
    assert!(variables.set("@name", Value::Text("x".to_owned())));
    let mut notebook = Notebook::default();
    script
        .execute(&mut variables, &mut stream(1, "keys"), &mut notebook)
        .expect("both are set");
}

#[test]
fn mapped_parameters_of_sqlquerystress_are_variables_in_every_dialect_and_others_stay() {
    let settings = "{\"MainQuery\": \"SELECT @id + @Name, '@id', @@id, @ids, x@@name FROM t WHERE a <@ b;\", \
         \"ParamQuery\": \"SELECT 1 AS a, 2 AS b\", \"ParamMappings\": {\"@id\": \"a\", \"@name\": \"b\"}}";
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("stress.json");
    fs::write(&path, settings).expect("a file");
    for (dialect, first) in [
        (Dialect::SQLITE, "?1 + ?2"),
        (Dialect::POSTGRES, "$1 + $2"),
        (Dialect::TSQL, "@p1 + @p2"),
        (Dialect::MARIADB, "? + ?"),
    ] {
        let workload = Workload::from_sqlquerystress(&path, dialect).expect("sound");
        let Command::Sql(statement) = &workload.run.scripts[0].script.commands[0] else {
            panic!("{workload:?}");
        };
        let rest = ", '@id', @@id, @ids, x@@name FROM t WHERE a <@ b";
        let text = statement.text.trim_end_matches(';');
        assert_eq!(text, format!("SELECT {first}{rest}"));
        assert_eq!(statement.parameters, ["@id", "@name"]);
    }
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
