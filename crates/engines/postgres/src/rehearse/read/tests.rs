use proptest::prelude::*;

use super::*;
use engine::logged::{Boundary, LeftOut, Logged};

fn read(text: &str) -> Result<StatementLog, LogError> {
    read_as(text, &LogRequest::default())
}

fn read_as(text: &str, asked: &LogRequest) -> Result<StatementLog, LogError> {
    read_log(&mut text.as_bytes(), asked)
}

/// A line of a csvlog of version 15: 26 columns.
fn csv(time: &str, severity: &str, message: &str, detail: &str, statement: &str) -> String {
    let quoted = |text: &str| match text {
        "" => String::new(),
        _ => format!("\"{}\"", text.replace('"', "\"\"")),
    };
    format!(
        "2026-11-28 {time} UTC,\"app\",\"shop\",812,\"[local]\",6745a1b2.32c,9,\"SELECT\",2026-11-28 08:00:00 UTC,3/7,0,{severity},00000,{},\
         {},,,,,{},,,\"psql\",\"client backend\",,0\n",
        quoted(message),
        quoted(detail),
        quoted(statement)
    )
}

fn texts(log: &StatementLog) -> Vec<&str> {
    let statements = log.sessions.iter().flat_map(|session| &session.statements);
    statements.map(|statement| &*statement.text).collect()
}

fn only(log: &StatementLog) -> &Logged {
    assert_eq!(log.sessions.len(), 1);
    assert_eq!(log.sessions[0].statements.len(), 1);
    &log.sessions[0].statements[0]
}

#[test]
fn a_statement_that_ended_a_deadlock_had_waited_for_a_lock() {
    let error = |message| {
        let log = [
            csv(
                "09:00:00.400",
                "LOG",
                "duration: 2.500 ms  statement: BEGIN",
                "",
                "",
            ),
            csv("09:00:01.500", "ERROR", message, "", "UPDATE t SET a = 1"),
        ];
        let log = read(&log.concat()).expect("it is a log");
        let last = &log.sessions[0].statements[1];
        assert!(last.failed);
        last.end_us.expect("it has an end") - last.start_us
    };
    assert_eq!(error("deadlock detected"), 1_000_000);
    assert_eq!(error("division by zero"), 0);
}

#[test]
fn a_csvlog_has_statements_with_durations_parameters_and_errors() {
    let log = [
        csv(
            "09:00:00.010",
            "LOG",
            "duration: 2.500 ms  statement: BEGIN",
            "",
            "",
        ),
        csv(
            "09:00:00.020",
            "LOG",
            "duration: 4.000 ms  execute <unnamed>: SELECT a\nFROM t WHERE b = $1",
            "parameters: $1 = 'it''s'",
            "",
        ),
        csv(
            "09:00:00.030",
            "ERROR",
            "division by zero",
            "",
            "SELECT 1 / 0",
        ),
        csv(
            "09:00:00.040",
            "LOG",
            "duration: 1.000 ms  statement: ROLLBACK",
            "",
            "",
        ),
    ]
    .concat();
    let log = read(&log).unwrap();
    assert_eq!(log.form, "csvlog");
    assert!(log.has_durations);
    assert_eq!(log.logging["log_min_duration_statement"], "0");
    assert!(!log.logging.contains_key("log_statement"));
    assert_eq!(log.began_before, 1);
    let session = &log.sessions[0];
    assert_eq!(session.login.user.as_deref(), Some("app"));
    assert_eq!(&*session.login.database, "shop");
    let statements = &session.statements;
    assert_eq!(statements.len(), 4);
    assert_eq!(statements[0].boundary, Boundary::Begins);
    // It ended at 10 ms, and took 2.5 ms.
    assert_eq!(
        statements[0].end_us.map(|end| end - statements[0].start_us),
        Some(2_500)
    );
    let values = statements[1].parameters.as_deref().unwrap();
    assert_eq!(values[0].as_deref(), Some("it's"));
    assert!(statements[2].failed && statements[2].parameters.is_none());
    assert_eq!(statements[3].boundary, Boundary::Ends);
}

#[test]
fn a_jsonlog_and_a_log_of_stderr_say_the_same() {
    let json = "{\"timestamp\":\"2026-11-28 09:00:00.010 UTC\",\"user\":\"app\",\"dbname\":\"shop\",\"pid\":812,\"session_id\":\"6745a1b2.32c\",\
                \"line_num\":1,\"error_severity\":\"LOG\",\"message\":\"duration: 2.500 ms  execute S_1: SELECT $1\",\"detail\":\"Parameters: $1 \
                = NULL\"}\n";
    let stderr = "2026-11-28 09:00:00.010 UTC [812] app@shop LOG:  duration: 2.500 ms  execute S_1: SELECT $1\n\
                  2026-11-28 09:00:00.010 UTC [812] app@shop DETAIL:  Parameters: $1 = NULL\n";
    for (text, form) in [(json, "jsonlog"), (stderr, "stderr")] {
        let log = read(text).unwrap();
        assert!(log.form.starts_with(form), "{}", log.form);
        let statement = only(&log);
        assert_eq!(&*statement.text, "SELECT $1");
        assert!(statement.is_prepared);
        assert_eq!(statement.parameters.as_deref(), Some(&[None][..]));
        assert_eq!(&*log.sessions[0].login.database, "shop");
    }
}

#[test]
fn lines_that_begin_with_a_tab_continue_a_statement_and_a_duration_may_follow_it() {
    let log = "2026-11-28 09:00:00.010 UTC [812] LOG:  connection authorized: user=app database=shop application_name=psql\n\
               2026-11-28 09:00:00.010 UTC [812] LOG:  statement: SELECT 1,\n\t  2\n\
               2026-11-28 09:00:00.012 UTC [812] LOG:  duration: 1.5 ms\n\
               2026-11-28 09:00:00.020 UTC [812] LOG:  disconnection: session time: 0:00:00.1 user=app database=shop\n";
    let log = read(log).unwrap();
    assert_eq!(log.began_before, 0);
    let statement = only(&log);
    assert_eq!(&*statement.text, "SELECT 1,\n  2");
    assert_eq!(&*statement.form, "SELECT ?, ?");
    assert_eq!(
        statement.end_us.map(|end| end - statement.start_us),
        Some(2_000)
    );
}

#[test]
fn what_cannot_be_replayed_is_counted() {
    let line = |message: &str| csv("09:00:00.010", "LOG", message, "", "");
    let log = [
        line("duration: 1 ms  statement: SELECT 1"),
        line("duration: 1 ms  statement: COPY t FROM STDIN"),
        line("duration: 1 ms  execute <unnamed>: SELECT $1"),
        line("duration: 1 ms  bind <unnamed>: SELECT $1"),
        line("duration: 1 ms  statement: COPY t TO PROGRAM 'sh'"),
    ]
    .concat();
    let log = read(&log).unwrap();
    assert_eq!(texts(&log), ["SELECT 1"]);
    let counts: Vec<(LeftOut, u64)> = log.left_out.into_iter().collect();
    assert_eq!(
        counts,
        [
            (LeftOut::CopyFromClient, 1),
            (LeftOut::CallsOut, 1),
            (LeftOut::NoParameters, 1)
        ]
    );
}

#[test]
fn a_transaction_that_began_before_the_window_is_left_out() {
    let line = |time, text: &str| {
        csv(
            time,
            "LOG",
            &format!("duration: 1 ms  statement: {text}"),
            "",
            "",
        )
    };
    let log = [
        line("08:59:59.000", "BEGIN"),
        line("09:00:01.000", "UPDATE t SET a = 1"),
        line("09:00:02.000", "COMMIT"),
        line("09:00:03.000", "SELECT 2"),
        line("09:20:00.010", "SELECT 3"),
    ]
    .concat();
    let asked = LogRequest {
        window: Some((9 * 3_600, 9 * 3_600 + 1_200)),
        ..LogRequest::default()
    };
    let log = read_as(&log, &asked).unwrap();
    assert_eq!(texts(&log), ["SELECT 2"]);
    assert_eq!(log.left_out[&LeftOut::BeganBefore], 2);
}

#[test]
fn half_a_line_at_the_end_is_left_out_and_a_broken_one_before_it_is_refused() {
    let line = csv(
        "09:00:00.010",
        "LOG",
        "duration: 1 ms  statement: SELECT 1",
        "",
        "",
    );
    let half = format!("{line}{}", &line[..60]);
    assert!(read(&half).unwrap().half_line);
    let broken = format!("{line}a,b,c\n{line}");
    let error = read(&broken).unwrap_err().to_string();
    assert!(error.starts_with("line 2: it has 3 columns"), "{error}");
    let json = "{\"timestamp\":\"2026-11-28 09:00:00 UTC\",\"session_id\":\"1\",\"dbname\":\"d\",\"error_severity\":\"LOG\",\"message\":\"statement: \
                SELECT 1\"}\n";
    assert!(read(&format!("{json}{{\"time")).unwrap().half_line);
    let error = read(&format!("{json}x\n{json}")).unwrap_err().to_string();
    assert!(
        error.starts_with("line 2: it is not an entry of a jsonlog"),
        "{error}"
    );
}

#[test]
fn an_entry_that_does_not_end_is_refused_with_its_line() {
    for begun in [
        "2026-11-28 09:00:00.010 UTC,\"app\",\"shop\",812,\"",
        "{\"timestamp\":\"",
        "2026-11-28 09:00:00.010 UTC [812] LOG:  statement: SELECT ",
    ] {
        let mut log = begun.as_bytes().chain(std::io::repeat(b'x'));
        let error = read_log(&mut log, &LogRequest::default()).unwrap_err();
        let error = error.to_string();
        assert!(
            error.starts_with("line 1: it has more than 16 MiB"),
            "{error}"
        );
    }
}

#[test]
fn a_log_whose_times_go_back_is_refused_with_the_line() {
    let log = [
        csv("09:00:10.000", "LOG", "statement: SELECT 1", "", ""),
        csv("09:00:00.000", "LOG", "statement: SELECT 2", "", ""),
    ]
    .concat();
    let error = read(&log).unwrap_err().to_string();
    assert!(
        error.starts_with("line 2: its time is 10 s before"),
        "{error}"
    );
}

#[test]
fn what_is_no_log_says_what_to_give() {
    for (text, says) in [
        ("", "it is empty"),
        ("hello\nworld\n", "give its log_line_prefix with --prefix"),
        (
            "2026-11-28 09:00:00.010 UTC [812] LOG:  checkpoint starting: time\n",
            "log_min_duration_statement = 0",
        ),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(says), "{text}: {error}");
    }
    let asked = LogRequest {
        prefix: Some("%u ".to_owned()),
        ..LogRequest::default()
    };
    let error = read_as("x", &asked).unwrap_err().to_string();
    assert!(error.contains("has no time (%m)"), "{error}");
}

proptest! {
    /// Whatever a log has, it is read or refused.
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = read_log(&mut bytes.as_slice(), &LogRequest::default());
    }

    /// The same for what looks like a log.
    #[test]
    fn any_words_are_read_or_refused(
        words in proptest::collection::vec(prop_oneof![
            Just("2026-11-28 09:00:00.010 UTC"), Just(" [812] "), Just("LOG:  "), Just("ERROR:  "), Just("DETAIL:  "), Just("STATEMENT:  "),
            Just("statement: "), Just("execute S: "), Just("duration: 1 ms"), Just("  "), Just("\n"), Just("\t"), Just(","), Just("\""),
            Just("$1 = '"), Just("BEGIN"), Just("COMMIT"), Just("é"), Just("a@b "), Just("parameters: "),
        ], 0..60)
    ) {
        let _ = read(&words.concat());
    }
}
