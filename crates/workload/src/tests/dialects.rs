//! Built-in workloads in the dialects of other engines.

use super::*;

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
