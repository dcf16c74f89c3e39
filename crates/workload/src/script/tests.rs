//! Tests of scripts as users write them.

use std::convert::Infallible;
use std::sync::Arc;

use model::Duration;
use model::random::stream;
use proptest::prelude::*;

use super::*;
use crate::Dialect;
use crate::value::Value;
use crate::variables::{Names, Variables};

/// Records what a script would do.
#[derive(Default)]
struct Notebook(Vec<String>);

impl Driver for Notebook {
    type Error = Infallible;

    fn statement(
        &mut self,
        index: usize,
        statement: &Statement,
        arguments: &[Value],
    ) -> Result<(), Infallible> {
        let arguments: Vec<String> = arguments.iter().map(Value::to_string).collect();
        let arguments = arguments.join(",");
        self.0
            .push(format!("{index}: {} [{arguments}]", statement.text));
        Ok(())
    }

    fn sleep(&mut self, span: Duration) -> Result<(), Infallible> {
        self.0.push(format!("sleep {span}"));
        Ok(())
    }
}

fn parse(text: &str) -> (Script, Names) {
    let mut names = Names::new();
    let script = Script::parse("test.sql", text, Dialect::SQLITE, &mut names).expect(text);
    (script, names)
}

fn error(text: &str) -> String {
    let mut names = Names::new();
    let error = Script::parse("test.sql", text, Dialect::SQLITE, &mut names).expect_err(text);
    error.to_string()
}

/// Records of operations 0, 1, .. of session 0 of 1.
fn notes(text: &str, operations: u64) -> Result<Vec<String>, String> {
    let (script, names) = parse(text);
    let mut variables = Variables::new(Arc::new(names), 0, 1);
    let mut notebook = Notebook::default();
    let mut random = stream(1, "keys");
    for operation in 0..operations {
        variables.set_operation(operation);
        script
            .execute(&mut variables, &mut random, &mut notebook)
            .map_err(|error| error.to_string())?;
    }
    Ok(notebook.0)
}

fn texts(text: &str) -> Vec<String> {
    let (script, _) = parse(text);
    let texts = script.commands.into_iter().map(|command| match command {
        Command::Sql(statement) => statement.text,
        Command::Set { .. } | Command::If { .. } | Command::Sleep { .. } => "no SQL".to_owned(),
    });
    texts.collect()
}

#[test]
fn a_statement_ends_at_its_semicolon_and_may_take_lines() {
    let text = "-- a comment; with a semicolon\nSELECT 1\n  FROM t; SELECT 2;;\nSELECT 3";
    assert_eq!(texts(text), ["SELECT 1\n  FROM t", "SELECT 2", "SELECT 3"]);
    let (script, _) = parse(text);
    let lines = script.commands.iter().map(|command| match command {
        Command::Sql(statement) => statement.line,
        Command::Set { .. } | Command::If { .. } | Command::Sleep { .. } => 0,
    });
    assert_eq!(lines.collect::<Vec<_>>(), [2, 3, 4]);
}

#[test]
fn quotes_comments_and_casts_are_left_alone() {
    for text in [
        "SELECT ':a;' || \":b;\" || 'it''s :c;'",
        "SELECT 1 /* :a; */ + 2 -- :b;",
        "SELECT x::text, y[1:2]",
        "SELECT `:a;`",
    ] {
        assert_eq!(texts(&format!("{text}\n;")), [text]);
    }
}

#[test]
fn a_trigger_keeps_its_inner_statements() {
    let trigger =
        "CREATE TEMP TRIGGER keep BEFORE UPDATE ON t BEGIN INSERT INTO v SELECT old.id; END";
    assert_eq!(
        texts(&format!("{trigger}; SELECT 1;")),
        [trigger, "SELECT 1"]
    );
}

#[test]
fn names_become_positions_and_a_name_twice_is_one_position() {
    let notes = notes("\\set a 7\n\\set b 8\nSELECT :b, :a, :b FROM t:a;", 1);
    assert_eq!(
        notes,
        Ok(vec!["0: SELECT ?1, ?2, ?1 FROM t?2 [8,7]".to_owned()])
    );
}

#[test]
fn one_branch_is_taken_and_statements_keep_their_index() {
    let text = "\\if :operation % 3 = 0\nA;\n\\elif :operation % 3 = 1\nB;\n\\if 0\nC;\n\\else\nD;\n\\endif\n\\else\nE;\n\\endif\nF;";
    let notes = notes(text, 3).expect("no error");
    assert_eq!(
        notes,
        [
            "0: A []", "5: F []", "1: B []", "3: D []", "5: F []", "4: E []", "5: F []"
        ]
    );
}

#[test]
fn sleeps_take_a_number_or_a_variable_and_a_unit() {
    let text = "\\set wait 1.5\n\\sleep 10 us\n\\sleep :wait ms\n\\sleep 2";
    let expected = ["sleep 10 us", "sleep 1.5 ms", "sleep 2 s"];
    assert_eq!(notes(text, 1).expect("no error"), expected);
}

#[test]
fn a_command_continues_behind_a_backslash() {
    let text = "\\set key \\\n  1 + \\\n  2\nSELECT :key;\n\\sleep never";
    assert!(error(text).starts_with("test.sql:5: "), "{}", error(text));
    let notes = notes(text.trim_end_matches("\\sleep never"), 1);
    assert_eq!(notes, Ok(vec!["0: SELECT ?1 [3]".to_owned()]));
}

#[test]
fn a_mistake_is_told_with_its_line_and_the_remedy() {
    for (text, start, remedy) in [
        (
            "SELECT 1;\n\\st a 1",
            "test.sql:2: no command `\\st`",
            "`\\set`",
        ),
        (
            "\\gset",
            "test.sql:1: `\\gset` is not supported",
            "subquery",
        ),
        (
            "SELECT 1 \\gset",
            "test.sql:1: `\\gset` is not supported",
            "subquery",
        ),
        (
            "\\shell ls",
            "test.sql:1: `\\shell` is not supported",
            "`\\set`",
        ),
        ("\\startpipeline", "test.sql:1: `\\startpipeline`", "remove"),
        (
            "SELECT 1\n\\set a 1",
            "test.sql:2: `\\set` stands inside",
            "`;`",
        ),
        ("\n\\else", "test.sql:2: `\\else` has no `\\if`", "add one"),
        (
            "\\if 1\n\\else\n\\else",
            "test.sql:3: `\\else` comes after",
            "\\endif",
        ),
        (
            "\n\\if 1\nSELECT 1;",
            "test.sql:2: this `\\if` is never",
            "\\endif",
        ),
        (
            "\\if 1\n\\endif 2",
            "test.sql:2: `\\endif` takes nothing",
            "remove",
        ),
        (
            "\\set a",
            "test.sql:1: `\\set a` has no name and",
            "random(1, 100)",
        ),
        (
            "\\set session 1",
            "test.sql:1: `session` is set by",
            "another",
        ),
        ("\\sleep 5 min", "test.sql:1: `\\sleep 5 min`", "10 ms"),
        ("\\sleep -5 ms", "test.sql:1: `\\sleep -5 ms`", "10 ms"),
        (
            "\\set a randm(1, 2)",
            "test.sql:1: no function `randm`",
            "`random`",
        ),
        (
            "\\set a random(1)",
            "test.sql:1: `random` was given 1",
            "takes 2",
        ),
        ("\\set a 1 +", "test.sql:1: `end of line` where", "a number"),
        ("\\set a 12ab", "test.sql:1: `12ab` is not a number", "42"),
        (
            "\\set a 99999999999999999999",
            "test.sql:1: `9999",
            "64 bits",
        ),
        (
            "SELECT 1;\nSELECT 'x",
            "test.sql:2: a text that begins here",
            "`'`",
        ),
        ("/* x", "test.sql:1: a comment that begins here", "`*/`"),
    ] {
        let error = error(text);
        assert!(error.starts_with(start), "{text}: {error}");
        assert!(error.contains(remedy), "{text}: {error}");
    }
}

#[test]
fn what_has_no_value_at_run_time_is_told_with_its_line() {
    let error = notes(
        "\\if :operation\nSELECT :later;\n\\endif\n\\set later 1 / (1 - :operation)",
        3,
    );
    assert_eq!(
        error,
        Err("test.sql:4: division by zero; guard it with `CASE WHEN`".to_owned())
    );
    let error = notes("SELECT :later;\n\\set later 1", 1).expect_err("not set yet");
    assert!(
        error.starts_with("test.sql:1: variable `later` has no value yet"),
        "{error}"
    );
    let error = notes("\\set wait 0 - 1\n\\sleep :wait ms", 1).expect_err("a negative wait");
    assert!(error.starts_with("test.sql:2: `\\sleep -1`"), "{error}");
}

/// The statements of a script in T-SQL.
fn tsql(text: &str) -> Vec<String> {
    statements(Script::parse(
        "test.sql",
        text,
        Dialect::TSQL,
        &mut Names::new(),
    ))
}

/// Its batches, with `@id` for a variable.
fn batches(text: &str) -> Vec<String> {
    let mut names = Names::new();
    names.define("@id");
    statements(Script::parse_query(
        "test.sql",
        text,
        Dialect::TSQL,
        &["@id".to_owned()],
        &mut names,
    ))
}

/// Texts of the statements, and the error if there is one.
fn statements(script: Result<Script, ScriptError>) -> Vec<String> {
    let script = match script {
        Ok(script) => script,
        Err(error) => return vec![error.to_string()],
    };
    let texts = script.commands.into_iter().map(|command| match command {
        Command::Sql(statement) => statement.text,
        Command::Set { .. } | Command::If { .. } | Command::Sleep { .. } => "no SQL".to_owned(),
    });
    texts.collect()
}

#[test]
fn a_block_of_tsql_is_one_statement_and_keeps_its_semicolons() {
    for text in [
        "BEGIN DECLARE @a int; SELECT @a; END;",
        "WHILE @i < 3\nBEGIN\n  SELECT CASE WHEN @i = 1 THEN 2 END;\n  SET @i += 1;\nEND;",
        "IF @a = 1 BEGIN SELECT 1; BEGIN SELECT 2; END; END ELSE BEGIN SELECT 3; END;",
        "BEGIN TRY SELECT 1; END TRY BEGIN CATCH THROW; END CATCH;",
        "BEGIN BEGIN TRANSACTION; COMMIT; END;",
        "CREATE OR ALTER PROCEDURE p AS SELECT 1; SELECT 2;",
        "SELECT [a;]]b'], N'x;''y', #case.id, @begin, @@rowcount, \"q;\" FROM #begin /* ; /* ; */ ; */;",
    ] {
        assert_eq!(tsql(text), [text]);
        let texts = tsql(&format!("{text}\nGO\nSELECT 1;"));
        assert_eq!(texts, [text, "SELECT 1;"]);
    }
}

#[test]
fn a_transaction_of_tsql_is_no_block() {
    for begin in [
        "BEGIN TRAN;",
        "begin transaction;",
        "BEGIN DISTRIBUTED TRANSACTION t;",
    ] {
        let texts = tsql(&format!("{begin} UPDATE t SET a = 1; COMMIT"));
        assert_eq!(texts, [begin, "UPDATE t SET a = 1;", "COMMIT"]);
    }
}

#[test]
fn go_ends_a_statement_of_tsql_where_it_stands_alone() {
    let text = "SELECT 1\nGO\nSELECT 2;\n  go -- on\nGO\r\nSELECT 3 AS\n  go FROM t";
    assert_eq!(
        tsql(text),
        ["SELECT 1", "SELECT 2;", "SELECT 3 AS\n  go FROM t"]
    );
}

#[test]
fn names_in_tsql_become_parameters_beside_its_own_variables() {
    assert_eq!(
        tsql("SELECT :b, :a, :b, @c FROM #t WHERE x = geography::Parse('y');"),
        ["SELECT @p1, @p2, @p1, @c FROM #t WHERE x = geography::Parse('y');"]
    );
}

#[test]
fn a_batch_is_one_statement_up_to_its_go() {
    let text = "DECLARE @a int = 1; SELECT @a;\n\\sleep 5 ms\nSELECT 2; SELECT 3\nGO\n\nSELECT @id, @ID, '@id', @ids;";
    assert_eq!(
        batches(text),
        [
            "DECLARE @a int = 1; SELECT @a;",
            "no SQL",
            "SELECT 2; SELECT 3",
            "SELECT @p1, @p1, '@id', @ids;"
        ]
    );
}

#[test]
fn a_mistake_in_tsql_is_told_with_its_line_and_the_remedy() {
    for (text, start, remedy) in [
        ("SELECT 1\nGO 5", "test.sql:2: `GO 5` is not", "alone"),
        (
            "\nBEGIN;\nSELECT 1;\nCOMMIT;",
            "test.sql:2: a block",
            "`BEGIN TRANSACTION`",
        ),
        (
            "\nWHILE 1 = 1 BEGIN SELECT 1;\nGO\nSELECT 1;",
            "test.sql:2: a block",
            "`END`",
        ),
        ("SELECT [a", "test.sql:1: a quoted name", "`]`"),
        ("/* /* */", "test.sql:1: a comment", "`*/`"),
    ] {
        let texts = tsql(text);
        let error = texts.first().expect("a mistake");
        assert!(error.starts_with(start), "{text}: {error}");
        assert!(error.contains(remedy), "{text}: {error}");
    }
    let inside = batches("SELECT 1\n\\sleep 5 ms");
    assert!(inside[0].starts_with("test.sql:2: `\\sleep` stands inside"));
}

/// The statements of a script in MariaDB's SQL.
fn mariadb(text: &str) -> Vec<String> {
    let mut names = Names::new();
    statements(Script::parse(
        "test.sql",
        text,
        Dialect::MARIADB,
        &mut names,
    ))
}

#[test]
fn a_name_of_mariadb_is_a_parameter_each_time_it_comes() {
    let text = "\\set b 2\n\\set a 1\nSELECT :b, :a, :b, @c := :a";
    let mut names = Names::new();
    let script = Script::parse("test.sql", text, Dialect::MARIADB, &mut names).expect(text);
    let mut notebook = Notebook::default();
    let mut variables = Variables::new(Arc::new(names), 0, 1);
    script
        .execute(&mut variables, &mut stream(1, "keys"), &mut notebook)
        .expect("both are set");
    assert_eq!(notebook.0, ["0: SELECT ?, ?, ?, @c := ? [2,1,2,1]"]);
}

#[test]
fn quotes_and_comments_of_mariadb_are_its_own() {
    for (text, expected) in [
        (r"SELECT 'it\'s; :a', :a;", r"SELECT 'it\'s; :a', ?"),
        (r"SELECT '\\', :a;", r"SELECT '\\', ?"),
        (
            r#"SELECT "a\";:a", `b\`, 'c'';';"#,
            r#"SELECT "a\";:a", `b\`, 'c'';'"#,
        ),
        ("SELECT 1 # it's; :a\n, :a;", "SELECT 1 # it's; :a\n, ?"),
        ("SELECT 5--:a;", "SELECT 5--?"),
        ("SELECT 5 -- :a;\n;", "SELECT 5 -- :a;"),
        (
            "/*!100100 SET @a = ':a', @b = :b */;",
            "/*!100100 SET @a = ':a', @b = ? */",
        ),
        ("/*M! SELECT :a */;", "/*M! SELECT ? */"),
    ] {
        assert_eq!(mariadb(text), [expected], "{text}");
    }
}

#[test]
fn a_block_of_a_stored_program_is_part_of_its_statement() {
    for text in [
        "CREATE TRIGGER t BEFORE INSERT ON a FOR EACH ROW SET NEW.b = 1",
        "CREATE OR REPLACE DEFINER = `a`@localhost PROCEDURE p() BEGIN IF 1 THEN SELECT 1; END IF; SELECT 2; END",
        "CREATE FUNCTION f() RETURNS INT BEGIN BEGIN SET @a = 1; END; RETURN CASE WHEN 1 THEN 2 END; END",
        "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO BEGIN CASE 1 WHEN 1 THEN SELECT 1; END CASE; END",
        "BEGIN NOT ATOMIC WHILE @a < 2 DO SET @a = @a + 1; END WHILE; END",
        "CREATE TABLE t (begin INT, event INT)",
        "XA BEGIN 'a'",
    ] {
        let texts = mariadb(&format!("{text};\nBEGIN;\nSELECT 1;\nCOMMIT"));
        assert_eq!(texts, [text, "BEGIN", "SELECT 1", "COMMIT"]);
    }
}

#[test]
fn a_mistake_in_mariadbs_sql_is_told_with_its_line_and_the_remedy() {
    for (text, start, remedy) in [
        (
            "SELECT 1;\nDELIMITER //",
            "test.sql:2: `DELIMITER` is not supported",
            "remove it",
        ),
        (
            "\nCREATE PROCEDURE p() BEGIN\nSELECT 1;",
            "test.sql:2: a block",
            "`END`",
        ),
        (r"SELECT 'a\'", "test.sql:1: a text", "`'`"),
    ] {
        let texts = mariadb(text);
        let error = texts.first().expect("a mistake");
        assert!(error.starts_with(start), "{text}: {error}");
        assert!(error.contains(remedy), "{text}: {error}");
    }
}

#[test]
fn depth_is_bounded_where_it_would_cost_stack() {
    assert!(error(&"\\if 1\n".repeat(1_000)).contains("more than 32 `\\if`"));
    assert!(error(&format!("\\set a {}1", "(".repeat(10_000))).contains("split it"));
    assert!(error(&format!("\\set a 1{}", " + 1".repeat(10_000))).contains("split it"));
    assert!(error(&format!("\\set a 1{}", " is null".repeat(10_000))).contains("split it"));
}

/// Text composed of script fragments, to reach deep into the parser.
fn scriptish() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "\\set ",
        "\\if ",
        "\\elif ",
        "\\else",
        "\\endif",
        "\\sleep ",
        "\\gset",
        "a ",
        ":a ",
        ":",
        "::",
        "1 ",
        "1.5e3",
        ".",
        "+ ",
        "- ",
        "not ",
        "(",
        ")",
        ",",
        "random(",
        "case ",
        "when ",
        "then ",
        "end ",
        "is null ",
        "'",
        "\"",
        "--",
        "/*",
        "*/",
        ";",
        "\n",
        "\\\n",
        "\\",
        "\r\n",
        "SELECT ",
        "CREATE ",
        "TRIGGER ",
        "BEGIN ",
        "TRAN",
        "END",
        "\nGO\n",
        "[",
        "]",
        "@a",
        "#",
        "/*!",
        "NOT ATOMIC ",
        "IF ",
        "ü",
        "\u{2028}",
        "9223372036854775807 ",
    ]);
    prop::collection::vec(word, 0..60).prop_map(|words| words.concat())
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in ".*", words in scriptish()) {
        for text in [&text, &words] {
            for dialect in [Dialect::SQLITE, Dialect::TSQL, Dialect::MARIADB] {
                let _ = Script::parse("test.sql", text, dialect, &mut Names::new());
            }
            let _ = Script::parse_query("test.sql", text, Dialect::TSQL, &["@a".to_owned()], &mut Names::new());
        }
    }

    #[test]
    fn whatever_parses_runs_without_panic(words in scriptish()) {
        let mut names = Names::new();
        if let Ok(script) = Script::parse("test.sql", &words, Dialect::SQLITE, &mut names) {
            let mut variables = Variables::new(Arc::new(names), 0, 1);
            let _ = script.execute(&mut variables, &mut stream(1, "keys"), &mut Notebook::default());
        }
    }
}
