//! Settings files of SQLQueryStress as a user runs them: their parameters, their ends, and what of them has no effect.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use testing::folder::Folder;

/// One very short arm; its workload says how many sessions run how many operations.
const SMALL: &str = r#"name = "small"
question = "Does it run?"
[machine]
cores = 2
memory = "1 GiB"
[volume.d]
disk = "unlimited"
[placement.one]
data.volumes = "d"
temp.volumes = "d"
log.volumes = "d"
[workload]
folder = "stress.json"
[engine]
memory = "8 MiB"
[protocol]
blocks = 1
"#;

/// Rows of each kind of value: whole numbers, floats to their last digit, texts beyond ASCII, NULL.
const ROWS: &str = "SELECT 9007199254740993 AS id, 0.1 AS price, 'Größe € 😀' AS name, NULL AS absent \
     UNION ALL SELECT 2, 1e300, 'it''s', NULL";

/// Whether the arguments are those of a row.
const IS_A_ROW: &str = "@absent IS NULL AND (@id = 9007199254740993 AND @price = 0.1 AND @name = 'Größe € 😀' \
     OR @id = 2 AND @price = 1e300 AND @name = 'it''s')";

/// SQLite cannot have the absolute value of the least number.
const SQLITE_FAILS: &str = "abs(-9223372036854775807 - 1)";

/// A settings file as SQLQueryStress saves it: two threads of six iterations.
fn settings(query: &str, rows: &str) -> Value {
    let column = |name: &str| json!({ "Key": format!("@{name}"), "Value": name.to_uppercase() });
    let mappings = ["id", "price", "name", "absent"].map(column);
    json!({
        "CollectIoStats": true,
        "CommandTimeout": 30,
        "MainDbConnectionInfo": { "Login": "dbUser", "Password": "!Se8ret" },
        "MainQuery": query,
        "NumIterations": 6,
        "NumThreads": 2,
        "ParamMappings": mappings,
        "ParamQuery": rows,
        "ShareDbSettings": true,
    })
}

/// A folder with the experiment, the settings file, and a directory for the volume that others may enter.
fn folder(settings: &Value) -> Folder {
    let settings = settings.to_string();
    let folder = Folder::with(&[("small.toml", SMALL), ("stress.json", &settings)]);
    let open = fs::Permissions::from_mode(0o755);
    fs::set_permissions(folder.root(), open).expect("the folder is ours");
    folder.make_folder("vd");
    folder
}

/// Exit code, and stdout and stderr together.
fn output(folder: &Folder, line: &str) -> (i32, String) {
    let printed = folder.printed(&line.split(' ').collect::<Vec<_>>());
    let text = printed.stdout + &printed.stderr;
    // Lines are broken to the width of a terminal.
    let words: Vec<&str> = text.split_whitespace().collect();
    (printed.code, words.join(" "))
}

/// The one record of a run.
fn record(folder: &Folder) -> Value {
    let files = fs::read_dir(folder.path("r/records")).expect("a run was here");
    let paths: Vec<_> = files.flatten().map(|file| file.path()).collect();
    assert_eq!(paths.len(), 1, "{paths:?}");
    let text = fs::read_to_string(&paths[0]).expect("a record");
    serde_json::from_str(&text).expect("JSON")
}

/// Runs `query` with `line`'s options: all twelve iterations succeed, and none does where the rows are others.
fn takes_its_parameters(line: &str, query: &str, rows: &str) {
    let run = format!("run small.toml --out r {line}");
    let sound = folder(&settings(query, rows));
    let (code, text) = output(&sound, &run);
    assert_eq!(code, 0, "{line}: {text}");
    let found = record(&sound);
    assert_eq!(found["errors"]["count"], 0, "{line}: {found}");
    let metric = |name: &str| found["metrics"][name].as_f64().expect("a number");
    let operations = metric("operations_per_s") * metric("elapsed_s");
    assert_eq!(operations.round(), 12.0, "{line}: {}", found["metrics"]);

    let others = rows.replace("Größe", "Grosse").replace("it''s", "its");
    let others = folder(&settings(query, &others));
    let (_, text) = output(&others, &run);
    let outcome = &record(&others)["outcome"];
    assert_eq!(outcome["status"], "failed", "{line}: {text}");
    let told = outcome.to_string();
    assert!(told.contains("no operation succeeded"), "{line}: {told}");
}

#[test]
fn parameters_of_every_kind_reach_sqlite_in_every_mode() {
    let query = format!("SELECT CASE WHEN {IS_A_ROW} THEN 1 ELSE {SQLITE_FAILS} END");
    for line in ["--mode simulate", "--mode measure --volume d=vd"] {
        takes_its_parameters(line, &query, ROWS);
    }
}

/// Whether a server's programs are installed.
#[cfg(any(feature = "postgres", feature = "mariadb"))]
fn is_here(name: &str, found: Result<(), String>) -> bool {
    testing::or_skip(found.map_err(|error| format!("{name}: {error}"))).is_some()
}

#[cfg(feature = "postgres")]
#[test]
fn parameters_of_every_kind_reach_postgresql() {
    let programs = postgres::Binaries::find(None).map(|_| ());
    if !is_here("PostgreSQL", programs.map_err(|error| error.to_string())) {
        return;
    }
    // A division that is not done ahead.
    let query = format!(
        "SELECT CASE WHEN {} THEN 1 ELSE 1 / (@id - @id) END",
        IS_A_ROW
            .replace("@absent", "@absent::text")
            .replace("@id", "@id::bigint")
            .replace("@price", "@price::float8")
    );
    let rows = ROWS
        .replace("0.1 AS", "0.1::float8 AS")
        .replace("1e300", "1e300::float8");
    takes_its_parameters(
        "--mode measure --engine postgres --volume d=vd",
        &query,
        &rows,
    );
}

#[cfg(feature = "mariadb")]
#[test]
fn parameters_of_every_kind_reach_mariadb() {
    let programs = mariadb::Programs::find(None).map(|_| ());
    if !is_here("MariaDB", programs.map_err(|error| error.to_string())) {
        return;
    }
    // One row is wanted, and two come.
    let query = format!("SELECT CASE WHEN {IS_A_ROW} THEN 1 ELSE (SELECT 1 UNION SELECT 2) END");
    let rows = ROWS.replace("0.1 AS", "1e-1 AS");
    takes_its_parameters(
        "--mode measure --engine mariadb --volume d=vd",
        &query,
        &rows,
    );
}

#[test]
fn what_of_a_settings_file_has_no_effect_is_reported_and_no_login_is_kept() {
    let folder = folder(&settings("SELECT @id", ROWS));
    let run = "run small.toml --out r --set workload.sessions=3 --set workload.operations=9";
    let (code, text) = output(&folder, run);
    assert_eq!(code, 0, "{text}");
    for told in [
        "without effect: ParamMappings (",
        "MainDbConnectionInfo (--server says where",
        "CollectIoStats (no SET STATISTICS is sent",
        "CommandTimeout (a statement runs to its end)",
        "ParamMappings (the query has no @price)",
        "NumThreads is 2, and the experiment's workload.sessions, 3, came first",
        "NumIterations is 6 in each of 3 sessions, and the experiment's workload.operations, 9, came first",
    ] {
        assert!(text.contains(told), "no {told} in {text}");
    }
    let (code, plan) = output(&folder, "plan small.toml --out plan.json");
    assert_eq!(code, 0, "{plan}");
    let plan = folder.read("plan.json");
    assert!(
        plan.contains("NumIterations"),
        "the settings travel with it"
    );
    for kept in [plan, text, record(&folder).to_string()] {
        assert!(
            !kept.contains("Se8ret") && !kept.contains("dbUser"),
            "{kept}"
        );
    }
}

#[test]
fn settings_without_a_table_have_the_remedy_of_a_query_in_tsql() {
    // The sample that ships with SQLQueryStress.
    let sample = json!({ "MainQuery": "SELECT * FROM Customers", "NumIterations": 10, "NumThreads": 1,
        "ParamMappings": [], "ParamQuery": "" });
    let no_rows = settings(
        "SELECT @id, @price, @name, @absent",
        "SELECT id FROM Customers",
    );
    for (settings, told) in [
        (sample, "no such table: Customers"),
        (no_rows, "ParamQuery: no such table: Customers"),
        (
            settings("SELECT @id", "SELECT 1 AS id"),
            "ParamMappings takes @absent from column ABSENT, and the query's columns are id",
        ),
        (
            settings("SELECT @id", "SELECT 1 AS id, 2 AS absent, 3 AS Absent"),
            "ParamMappings takes @absent from column ABSENT, and the query has several of that name; give the others",
        ),
        (
            settings("SELECT @id, @unknown, @price", ROWS),
            "@unknown, which nothing sets",
        ),
    ] {
        let (code, text) = output(&folder(&settings), "run small.toml --out r");
        assert_ne!(code, 0, "{text}");
        let remedy = "has T-SQL, and simulate executes SQLite's SQL";
        assert!(text.contains(told) && text.contains(remedy), "{text}");
    }
}
