//! T-SQL is read by Microsoft's own parser, since no test here has a SQL Server.
//!
//! It tells that a text is T-SQL (grammar of SQL Server 2019), not that it works: no name is looked up.

#![cfg(target_os = "linux")]

use testing::tsql;
use workload::{Command, Dialect, Script, Statement, Workload};

/// A text whose only mistake is at a known place.
const WRONG: [(&str, &str, &str); 6] = [
    (
        "a comma is missing",
        "ALTER DATABASE tempdb\nMODIFY FILE (NAME = tempdev FILENAME = 'D:\\tempdb.mdf');",
        ":2:29: 46010 Incorrect syntax near FILENAME.",
    ),
    (
        "a word is misspelt",
        "ALTER DATABASE tempdb MODIFY FILE (NAME = tempdev, FILENAMES = 'D:\\tempdb.mdf');",
        ":1:52: 46010 ",
    ),
    (
        "an END is missing",
        "DECLARE @i int = 0;\nWHILE @i < 3\nBEGIN\n    SET @i += 1;\n",
        ": 46029 Unexpected end of file occurred.",
    ),
    (
        "a DBCC command is misspelt",
        "CHECKPOINT;\nGO\nDBCC DROPCLEANBUFERS;",
        ":3:1: 0 DBCC DROPCLEANBUFERS is not documented",
    ),
    (
        "a text for sp_executesql is wrong",
        "EXEC sys.sp_executesql\n    N'SET NOCOUNT ON;\nSELEC @a;', N'@a int', @a = 1;",
        ":3:1: 46010 ",
    ),
    (
        "it is SQLite's",
        "SELECT name FROM broker ORDER BY name LIMIT 10;",
        ":1:39: 46005 Expected OFFSET but encountered LIMIT instead.",
    ),
];

#[test]
fn wrong_texts_are_refused_at_their_place() {
    let texts = WRONG.map(|(name, text, _)| (name, text));
    let Some(complaints) = tsql::complaints(&texts) else {
        return;
    };
    for (name, _, place) in WRONG {
        let first = complaints.iter().find(|line| line.starts_with(name));
        let first = first.unwrap_or_else(|| panic!("{name}: no complaint in {complaints:?}"));
        assert!(first.contains(place), "{first}, not {place}");
    }
}

#[test]
fn right_texts_are_accepted() {
    tsql::parses(&[
        (
            "files",
            "ALTER DATABASE tempdb MODIFY FILE (NAME = tempdev, FILENAME = 'D:\\tempdb.mdf', SIZE = 8GB);\nGO\n\
             ALTER DATABASE tempdb ADD FILE (NAME = N'temp2', FILENAME = N'D:\\temp2.ndf', FILEGROWTH = 64MB);",
        ),
        (
            "cold",
            "ALTER DATABASE CURRENT SET READ_COMMITTED_SNAPSHOT ON;\nUSE tempdb;\nCHECKPOINT;\nDBCC DROPCLEANBUFFERS WITH NO_INFOMSGS;\n\
             DBCC SQLPERF('sys.dm_os_wait_stats', CLEAR);\nDBCC SHOW_STATISTICS('t', 'i');",
        ),
        (
            "a loop on the server",
            "EXEC sys.sp_executesql N'SET NOCOUNT ON; WHILE @i < @n BEGIN SELECT [v] FROM #t WHERE id = @i; \
             SET @i += 1; END', N'@i bigint, @n bigint', @i = 0, @n = 10;",
        ),
    ]);
}

#[test]
fn every_statement_of_the_workloads_is_tsql() {
    let mut texts = Vec::new();
    for name in Workload::builtin_names() {
        let workload = Workload::builtin(name, Dialect::TSQL).expect(name);
        let run = &workload.run;
        let mix = run.scripts.iter().map(|weighted| &weighted.script);
        for script in workload.load.all().chain(mix).chain(&run.server_loop) {
            texts.extend(sent(script));
        }
    }
    assert!(texts.len() > 200, "only {} statements", texts.len());
    tsql::parses(&texts);
}

#[test]
fn everything_that_dbstow_asks_tells_or_writes_down_is_tsql() {
    let questions = sqlserver::tsql::question::QUESTIONS;
    let questions = questions
        .iter()
        .map(|question| (question.name.to_owned(), question.text.to_owned()));
    let statements = sqlserver::tsql::examples();
    let statements = statements
        .into_iter()
        .map(|(name, text)| (name.to_owned(), text));
    let scripts = sqlserver::layout::examples();
    let texts: Vec<(String, String)> = questions.chain(statements).chain(scripts).collect();
    assert!(texts.len() > 50, "only {} texts", texts.len());
    tsql::parses(&texts);
}

#[test]
fn a_query_of_sqlquerystress_is_tsql_as_it_is_sent() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("stress.json");
    let settings = "{\"MainQuery\": \"DECLARE @n int = 0;\\nWHILE @n < 10 BEGIN\\nSELECT @id; SET @n += 1; END\", \
         \"ParamQuery\": \"SELECT id FROM dbo.t;\", \"ParamMappings\": [{\"Key\": \"@id\", \"Value\": \"id\"}]}";
    std::fs::write(&path, settings).expect("a file");
    let workload = Workload::from_sqlquerystress(&path, Dialect::TSQL).expect("sound");
    let mut texts = sent(&workload.run.scripts[0].script);
    assert_eq!(texts.len(), 1);
    let stress = workload.stress.expect("it is one");
    let query = stress.parameter_query.expect("it has one");
    texts.push(("ParamQuery".to_owned(), query.text));
    tsql::parses(&texts);
}

/// The statements of a script as a server gets them, on the lines of their file.
fn sent(script: &Script) -> Vec<(String, String)> {
    let mut found = Vec::new();
    statements(&script.commands, &mut found);
    let text = |statement: &Statement| {
        let parameters =
            (1..=statement.parameters.len()).map(|number| format!("@p{number} bigint"));
        let parameters: Vec<String> = parameters.collect();
        let declared = match parameters.is_empty() {
            true => String::new(),
            false => format!("DECLARE {}; ", parameters.join(", ")),
        };
        let above = "\n".repeat(statement.line as usize - 1);
        (
            script.name.clone(),
            format!("{above}{declared}{}", statement.text),
        )
    };
    found.into_iter().map(text).collect()
}

fn statements<'a>(commands: &'a [Command], found: &mut Vec<&'a Statement>) {
    for command in commands {
        match command {
            Command::Sql(statement) => found.push(statement),
            Command::If {
                branches,
                otherwise,
            } => {
                for branch in branches {
                    statements(&branch.commands, found);
                }
                statements(otherwise, found);
            }
            Command::Set { .. } | Command::Sleep { .. } => {}
        }
    }
}
