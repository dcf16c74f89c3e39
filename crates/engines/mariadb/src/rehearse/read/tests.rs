use proptest::prelude::*;

use super::*;
use engine::logged::{Boundary, LeftOut, LoggedSession};

fn read(text: &str) -> Result<StatementLog, LogError> {
    read_as(text, &LogRequest::default())
}

fn read_as(text: &str, asked: &LogRequest) -> Result<StatementLog, LogError> {
    read_log(&mut text.as_bytes(), asked)
}

fn texts(session: &LoggedSession) -> Vec<&str> {
    let statements = session.statements.iter();
    statements.map(|statement| &*statement.text).collect()
}

/// What MariaDB 10.11 writes when it opens a log.
const HEADER: &str = "mariadbd, Version: 10.11.19-MariaDB-0+deb12u1 (Debian 12). started with:\n\
                      Tcp port: 0  Unix socket: /run/s\nTime\t\t    Id Command\tArgument\n";

fn general(lines: &str) -> String {
    format!("{HEADER}{lines}")
}

#[test]
fn a_general_log_has_sessions_with_statements_of_several_lines_and_times_of_seconds() {
    let log = general(
        "261128  9:05:01\t    12 Connect\tapp@10.0.0.5 on shop using TCP/IP\n\
         \t\t    12 Prepare\tSELECT c FROM t WHERE id=?\n\
         \t\t    12 Execute\tSELECT c FROM t WHERE id=7\n\
         \t\t    13 Connect\tapp@localhost as anonymous on  using Socket\n\
         \t\t    12 Query\tBEGIN\n\
         \t\t    13 Init DB\tother\n\
         \t\t    13 Query\tselect 'a\nb'\n\
         \t\t    12 Query\tCOMMIT\n\
         261128  9:05:02\t    12 Query\tselect 2\n\
         \t\t    12 Close stmt\t\n\
         \t\t    12 Quit\t\n",
    );
    let log = read(&log).unwrap();
    assert_eq!(log.form, "general log, whose times are seconds");
    assert_eq!(
        (log.has_durations, log.has_errors, log.began_before),
        (false, false, 0)
    );
    let [first, second] = &log.sessions[..] else {
        panic!("{log:?}")
    };
    assert_eq!(
        texts(first),
        ["SELECT c FROM t WHERE id=7", "BEGIN", "COMMIT", "select 2"]
    );
    assert_eq!(
        (first.login.user.as_deref(), &*first.login.database),
        (Some("app"), "shop")
    );
    assert_eq!(texts(second), ["select 'a\nb'"]);
    assert_eq!(&*second.login.database, "other");
    let boundaries: Vec<Boundary> = first
        .statements
        .iter()
        .map(|statement| statement.boundary)
        .collect();
    assert_eq!(
        boundaries,
        [
            Boundary::Within,
            Boundary::Begins,
            Boundary::Ends,
            Boundary::Within
        ]
    );
    // Eight entries of the first second, of which the statements are the third, fifth and eighth: an eighth of a second each.
    let second_us = first.statements[0].start_us - 250_000;
    let starts: Vec<i64> = first
        .statements
        .iter()
        .map(|statement| statement.start_us - second_us)
        .collect();
    assert_eq!(starts, [250_000, 500_000, 875_000, 1_000_000]);
    assert_eq!(
        second_us.rem_euclid(86_400_000_000),
        (9 * 3_600 + 5 * 60 + 1) * 1_000_000
    );
}

#[test]
fn a_statement_that_sql_prepared_is_played_once_and_what_is_of_the_server_is_left_out() {
    let log = general(
        "261128 23:09:20\t    16 Connect\troot@localhost on  using Socket\n\
         \t\t    16 Query\tprepare s from 'select ?'\n\
         \t\t    16 Prepare\tselect ?\n\
         \t\t    16 Query\texecute s using @a\n\
         \t\t    16 Execute\tselect 3\n\
         \t\t    16 Execute\tselect 4\n\
         \t\t    16 Query\tLOAD DATA LOCAL INFILE 'x' INTO TABLE t\n\
         \t\t    16 Query\tSET GLOBAL general_log=0\n\
         \t\t    17 Connect\tshop@localhost on  using Socket\n\
         \t\t    17 Connect\tAccess denied for user 'shop'@'localhost'\n\
         \t\t    18 Binlog Dump\tLog: 'x'  Pos: 4\n\
         \t\t    19 Query\tSELECT 1\n",
    );
    let log = read(&log).unwrap();
    let [session] = &log.sessions[..] else {
        panic!("{log:?}")
    };
    assert_eq!(
        texts(session),
        [
            "prepare s from 'select ?'",
            "execute s using @a",
            "select 4"
        ]
    );
    let left_out: Vec<(LeftOut, u64)> = log.left_out.into_iter().collect();
    assert_eq!(
        left_out,
        [
            (LeftOut::CopyFromClient, 1),
            (LeftOut::OfServer, 2),
            (LeftOut::NoDatabase, 1)
        ]
    );
}

#[test]
fn a_general_log_of_mysql_has_the_time_of_each_entry() {
    let log = "/usr/sbin/mysqld, Version: 8.0.45 (MySQL Community Server - GPL). started with:\n\
               Tcp port: 3306  Unix socket: /run/s\nTime                 Id Command    Argument\n\
               2026-11-28T09:05:01.000250Z\t   12 Connect\tapp@localhost on shop using Socket\n\
               2026-11-28T09:05:01.000500Z\t   12 Query\tselect 1\n\
               2026-11-28T09:05:01.200500Z\t   12 Query\tselect 2\n";
    let log = read(log).unwrap();
    assert_eq!(log.form, "general log");
    let statements = &log.sessions[0].statements;
    assert_eq!(statements[1].start_us - statements[0].start_us, 200_000);
    assert_eq!(&*log.sessions[0].login.database, "shop");
}

#[test]
fn the_seconds_in_which_a_log_begins_and_ends_are_as_dense_as_those_beside_them() {
    let query = |time: &str| format!("{time}\t    12 Query\tselect 1\n");
    let connect = "261128  9:05:01\t    12 Connect\tapp@localhost on shop using Socket\n";
    let middle = [
        query("261128  9:05:02"),
        query("\t"),
        query("\t"),
        query("\t"),
    ]
    .concat();
    let log = general(&[connect, &query("\t"), &middle, &query("261128  9:05:03")].concat());
    let log = read(&log).unwrap();
    let starts: Vec<i64> = log.sessions[0]
        .statements
        .iter()
        .map(|statement| statement.start_us.rem_euclid(60_000_000))
        .collect();
    // The entry that connects is the one before them, at half of the first second.
    assert_eq!(
        starts,
        [
            1_750_000, 2_000_000, 2_250_000, 2_500_000, 2_750_000, 3_000_000
        ]
    );
}

/// An entry as MariaDB 10.11 writes it.
fn slow(id: u64, schema: &str, took: &str, more: &str, statement: &str) -> String {
    format!(
        "# User@Host: app[app] @ localhost []\n# Thread_id: {id}  Schema: {schema}  QC_hit: No\n\
         # Query_time: {took}  Lock_time: 0.000000  Rows_sent: 1  Rows_examined: 1\n# Rows_affected: 0  Bytes_sent: 11\n{more}\
         SET timestamp=1795907359;\n{statement};\n"
    )
}

#[test]
fn a_slow_log_has_durations_rows_and_the_database_of_each_statement() {
    let plan = "#\n# explain: id\tselect_type\n# explain: 1\tSIMPLE\n#\n";
    let log = [
        HEADER,
        "# Time: 261128 23:09:19\n",
        &slow(13, "shop", "0.000009", "use `shop`;\n", "SELECT 1"),
        &slow(13, "other", "0.250000", plan, "SELECT ';\n# no header'"),
        &slow(14, "", "0.000002", "", "SELECT c INTO @a FROM t"),
        "# Time: 261128 23:09:20\n",
        &slow(13, "other", "0.000009", "", "USE shop"),
        &slow(13, "shop", "0.000009", "", "UPDATE t SET a = 1"),
        &slow(13, "shop", "0.000009", "", "SET GLOBAL x = 1"),
        "# User@Host: [SQL_SLAVE] @  []\n# Thread_id: 9  Schema: shop  QC_hit: No\n# Query_time: 0.1\nSET timestamp=1;\nDELETE FROM t;\n",
    ]
    .concat();
    let log = read(&log).unwrap();
    assert_eq!(log.form, "slow log, whose times are seconds");
    assert_eq!(log.logging["slow-query-log-file"], "/dev/null");
    assert_eq!((log.has_durations, log.has_errors), (true, false));
    let session = &log.sessions[0];
    assert_eq!(&*session.login.database, "shop");
    assert_eq!(
        texts(session),
        [
            "SELECT 1",
            "USE `other`",
            "SELECT ';\n# no header'",
            "USE `shop`",
            "UPDATE t SET a = 1"
        ]
    );
    let statements = &session.statements;
    assert_eq!((statements[0].rows, statements[4].rows), (Some(1), None));
    // Four entries of the second second, and so a quarter of a second between those of the first. What enters the database takes none of
    // the log's time.
    let times = |place: usize| {
        let from = statements[0].start_us + 9;
        let end = statements[place].end_us.unwrap_or_default();
        (statements[place].start_us - from, end - from)
    };
    assert_eq!(times(0), (-9, 0));
    assert_eq!(times(1), (0, 0));
    assert_eq!(times(2), (0, 250_000));
    assert_eq!(&*log.sessions[1].login.database, "");
    assert_eq!(log.sessions[1].statements[0].rows, None);
    assert_eq!(log.left_out[&LeftOut::OfServer], 2);
}

#[test]
fn a_slow_log_of_mysql_names_sessions_and_errors() {
    let entry = |time: &str, errno: &str, statement: &str| {
        format!(
            "# Time: 2026-11-28T09:05:{time}Z\n# User@Host: app[app] @ localhost [127.0.0.1]  Id:    12\n\
             # Query_time: 0.500000  Lock_time: 0.000000 Rows_sent: 2  Rows_examined: 5 Thread_id: 12{errno} Killed: 0\n{statement}"
        )
    };
    let log = [
        entry(
            "01.600000",
            " Errno: 0",
            "use shop;\nSET timestamp=1795907359;\nSELECT 1;\n",
        ),
        entry(
            "02.700000",
            " Errno: 1146",
            "SET timestamp=1795907359;\nSELECT 2 FROM nowhere;\n",
        ),
        entry("02.800000", " Errno: 0", "# administrator command: Quit;\n"),
    ]
    .concat();
    let log = read(&log).unwrap();
    assert_eq!((log.form.as_str(), log.has_errors), ("slow log", true));
    let [session] = &log.sessions[..] else {
        panic!("{log:?}")
    };
    assert_eq!(texts(session), ["SELECT 1", "SELECT 2 FROM nowhere"]);
    assert_eq!(&*session.login.database, "shop");
    let [first, second] = &session.statements[..] else {
        panic!("{log:?}")
    };
    assert_eq!((first.failed, second.failed), (false, true));
    assert_eq!(first.rows, Some(2));
    assert_eq!(second.start_us - first.start_us, 1_100_000);
    assert_eq!(second.end_us, Some(second.start_us + 500_000));
}

#[test]
fn transactions_without_begin_are_those_of_sessions_that_commit_themselves() {
    let log = general(
        "261128 23:09:20\t    16 Connect\tapp@localhost on shop using Socket\n\
         \t\t    16 Query\tSET autocommit=0\n\
         \t\t    16 Query\tSET NAMES utf8mb4\n\
         \t\t    16 Query\tUPDATE t SET a = 1\n\
         \t\t    16 Query\tUPDATE t SET a = 2\n\
         \t\t    16 Query\tCOMMIT\n",
    );
    let log = read(&log).unwrap();
    let boundaries: Vec<Boundary> = log.sessions[0]
        .statements
        .iter()
        .map(|statement| statement.boundary)
        .collect();
    use Boundary::{Begins, Ends, Within};
    assert_eq!(boundaries, [Within, Within, Begins, Within, Ends]);
}

#[test]
fn a_window_a_database_and_reads_choose_statements() {
    let log = general(
        "261128 23:09:20\t    16 Connect\tapp@localhost on shop using Socket\n\
         \t\t    16 Query\tBEGIN\n\
         \t\t    16 Query\tUPDATE t SET a = 1\n\
         261128 23:10:20\t    16 Query\tCOMMIT\n\
         \t\t    16 Query\tSELECT 1\n\
         \t\t    16 Init DB\tother\n\
         \t\t    16 Query\tSELECT 2\n\
         \t\t    16 Query\tUSE shop\n\
         \t\t    16 Query\tSELECT 3\n\
         \t\t    16 Query\tDELETE FROM t\n",
    );
    let minute = 23 * 3_600 + 10 * 60;
    let asked = LogRequest {
        window: Some((minute, minute + 60)),
        database: Some("shop".to_owned()),
        reads_only: true,
        ..LogRequest::default()
    };
    let log = read_as(&log, &asked).unwrap();
    assert_eq!(texts(&log.sessions[0]), ["SELECT 1", "SELECT 3"]);
    assert_eq!(log.left_out[&LeftOut::BeganBefore], 1);
    assert_eq!(log.began_before, 1);
}

#[test]
fn a_server_that_was_restarted_has_new_sessions_and_a_half_line_is_none() {
    let log = general(
        "261128 23:09:20\t    16 Connect\tapp@localhost on shop using Socket\n\
         \t\t    16 Query\tSELECT 1\n",
    ) + &general(
        "261128 23:09:25\t    16 Connect\tapp@localhost on shop using Socket\n\
         \t\t    16 Query\tSELECT 2\n\
         \t\t    16 Query\tSELECT 3",
    );
    let log = read(&log).unwrap();
    let all: Vec<Vec<&str>> = log.sessions.iter().map(texts).collect();
    assert_eq!(all, [["SELECT 1"], ["SELECT 2"]]);
    assert!(log.half_line);
}

#[test]
fn what_is_no_log_or_goes_back_is_refused_with_the_place() {
    let said = |text: &str| read(text).unwrap_err().to_string();
    for text in [
        "",
        "hello\n",
        "{\"a\": 1}\n",
        HEADER,
        "2026-11-28 09:00:00.000 UTC [812] LOG:  statement: SELECT 1\n",
    ] {
        let said = said(text);
        assert!(said.contains("give a general log"), "{said}");
    }
    let back = general(
        "261128 23:09:20\t    16 Connect\tapp@localhost on shop using Socket\n\
         261128 22:09:20\t    16 Query\tSELECT 1\n",
    );
    // Behind the header's three lines.
    let said_of = said(&back);
    assert!(
        said_of.starts_with("line 5: its time is 3600 s before"),
        "{said_of}"
    );
    let none = general("261128 23:09:20\t    16 Connect\tapp@localhost on shop using Socket\n");
    assert!(said(&none).contains("general_log = ON"), "{}", said(&none));
    let mixed = general(
        "261128 23:09:20\t    16 Connect\tapp@localhost on shop using Socket\n\
         2026-11-28T09:05:01.000250Z\t    16 Query\tSELECT 1\n",
    );
    assert!(
        said(&mixed).contains("line 5: its time is written otherwise"),
        "{}",
        said(&mixed)
    );
    let prefix = LogRequest {
        prefix: Some("%m".to_owned()),
        ..LogRequest::default()
    };
    let said = read_as(&none, &prefix).unwrap_err().to_string();
    assert!(said.contains("leave --prefix out"), "{said}");
    let long = general(
        "261128 23:09:20\t    16 Connect\tapp@localhost on shop using Socket\n\t\t    16 Query\tSELECT '\n",
    );
    let mut long = long.as_bytes().chain(std::io::repeat(b'x'));
    let said = read_log(&mut long, &LogRequest::default())
        .unwrap_err()
        .to_string();
    assert!(said.contains("more than 16 MiB"), "{said}");
}

proptest! {
    /// No text makes it panic.
    #[test]
    fn any_text_is_read_or_refused(parts in proptest::collection::vec(
        prop_oneof![
            Just("# Time: 261128 23:09:19\n"), Just("# User@Host: a[a] @ b []"), Just("\n"), Just("# Thread_id: 1  Schema: "),
            Just("# Query_time: 1e300"), Just("# Query_time: -1"), Just("use `a`;\n"), Just("SET timestamp=1;\n"), Just("SELECT 'é;"),
            Just("261128 23:09:20\t    16 Query\t"), Just("\t\t    16 Connect\t"), Just("\t\t    16 Execute\t"), Just("a@b on c using d"),
            Just("999999 99:99:99\t"), Just("\u{0}"), Just("execute"), Just("/*"), Just("'\\"), Just("Errno: 5"), Just("BEGIN"), Just("SET autocommit="),
        ], 0..40)) {
        let _ = read(&parts.concat());
    }
}
