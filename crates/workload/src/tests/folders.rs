//! Workloads from a user's own folder.

use super::*;

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
        (
            "tables",
            "io_between = 0.9\ntables",
            "workload.toml:3: a spread of 0.9",
            "a factor of 1 to 100",
        ),
        (
            "tables",
            "io_between = nan\ntables",
            "workload.toml:3: a spread of NaN",
            "a factor of 1 to 100",
        ),
        (
            "tables",
            "io_between = inf\ntables",
            "workload.toml:3: a spread of inf",
            "a factor of 1 to 100",
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
