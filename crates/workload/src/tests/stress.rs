//! Settings files of SQLQueryStress, and single SQL files.

use super::*;

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
