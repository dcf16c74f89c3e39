use std::collections::BTreeMap;
use std::io::{Read, Write};

use engine::logged::{Boundary, LeftOut, Logged, LoggedSession};
use proptest::prelude::*;
use rusqlite::{Connection, params};
use tempfile::NamedTempFile;

use super::*;

fn read(bytes: &[u8], asked: &LogRequest) -> Result<StatementLog, LogError> {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    read_log(file.path(), &File::open(file.path()).unwrap(), asked)
}

fn all() -> LogRequest {
    LogRequest::default()
}

fn in_shop() -> LogRequest {
    LogRequest {
        database: Some("shop".to_owned()),
        ..all()
    }
}

fn texts(session: &LoggedSession) -> Vec<&str> {
    session
        .statements
        .iter()
        .map(|logged| &*logged.text)
        .collect()
}

fn times(logged: &Logged) -> (i64, Option<i64>) {
    // 2026-11-28T09:00:00 is this many microseconds after 1970.
    let nine = (20_785 * 86_400 + 32_400) * 1_000_000;
    (logged.start_us - nine, logged.end_us.map(|end| end - nine))
}

/// An event as `sys.fn_xe_file_target_read_file` gives it, at this millisecond after nine.
fn event(name: &str, ms: u32, fields: &[(&str, &str)], actions: &[(&str, &str)]) -> String {
    let value = |(name, value): &(&str, &str)| match *name {
        "result" => {
            let number = ["OK", "Error", "Abort"]
                .iter()
                .position(|known| known == value);
            let number = number.expect("a result");
            format!("<data name=\"result\"><value>{number}</value><text>{value}</text></data>")
        }
        name => format!("<data name=\"{name}\"><value>{value}</value></data>"),
    };
    let fields: String = fields.iter().map(value).collect();
    let actions = [
        ("session_id", "53"),
        ("database_name", "shop"),
        ("username", "app"),
    ]
    .iter()
    .filter(|(name, _)| actions.iter().all(|(other, _)| other != name))
    .chain(actions)
    .map(|(name, value)| {
        format!("<action name=\"{name}\" package=\"sqlserver\"><value>{value}</value></action>")
    })
    .collect::<String>();
    format!(
        "<event name=\"{name}\" package=\"sqlserver\" timestamp=\"2026-11-28T09:00:{:02}.{:03}Z\">{fields}{actions}</event>\n",
        ms / 1000,
        ms % 1000
    )
}

fn batch(ms: u32, text: &str, took_us: &str) -> String {
    event(
        "sql_batch_completed",
        ms,
        &[("batch_text", text), ("duration", took_us)],
        &[],
    )
}

fn rpc(ms: u32, text: &str) -> String {
    event(
        "rpc_completed",
        ms,
        &[("statement", text), ("duration", "100")],
        &[],
    )
}

#[test]
fn extended_events_as_xml_are_sessions_with_times_rows_and_errors() {
    let log = [
        event("login", 0, &[("is_cached", "false")], &[]),
        event(
            "sql_batch_completed",
            10,
            &[
                (
                    "batch_text",
                    "SELECT a FROM t WHERE b &lt; &#49; AND c = '&amp;'",
                ),
                ("duration", "4000"),
                ("row_count", "3"),
                ("result", "OK"),
            ],
            &[],
        ),
        event(
            "sql_batch_completed",
            20,
            &[
                ("batch_text", "<![CDATA[INSERT t VALUES (1)]]>"),
                ("duration", "500"),
                ("result", "Error"),
            ],
            &[],
        ),
        event("sql_statement_completed", 21, &[("statement", "x")], &[]),
        event("logout", 30, &[], &[]),
        event(
            "sql_batch_completed",
            40,
            &[("batch_text", "SELECT 2"), ("duration", "1")],
            &[("session_id", "53")],
        ),
    ];
    // In an element, in UTF-16, and out of order.
    let [login, first, second, other, logout, late] = log;
    let text = format!(
        "<?xml version=\"1.0\"?>\n<events>{late}{login}{second}{first}{other}{logout}</events>"
    );
    let units = [0xFEFF].into_iter().chain(text.encode_utf16());
    let wide: Vec<u8> = units.flat_map(u16::to_le_bytes).collect();
    for bytes in [text.as_bytes(), &wide] {
        let log = read(bytes, &all()).unwrap();
        assert_eq!(log.form, "Extended Events as XML");
        assert_eq!(
            (log.has_durations, log.has_errors, log.half_line),
            (true, true, false)
        );
        let [session, other] = &log.sessions[..] else {
            panic!("{:?}", log.sessions);
        };
        assert_eq!(&*session.login.database, "shop");
        assert_eq!(session.login.user.as_deref(), Some("app"));
        let [first, second] = &session.statements[..] else {
            panic!("{session:?}");
        };
        assert_eq!(&*first.text, "SELECT a FROM t WHERE b < 1 AND c = '&'");
        assert_eq!(&*first.form, "SELECT a FROM t WHERE b < ? AND c = ?");
        // An event has the time of the end.
        assert_eq!(times(first), (6_000, Some(10_000)));
        assert_eq!((first.rows, first.failed), (Some(3), false));
        assert_eq!((&*second.text, second.rows), ("INSERT t VALUES (1)", None));
        assert!(second.failed);
        // The number was later than its session's login, and the session after the logout is another one.
        assert_eq!(texts(other), ["SELECT 2"]);
        assert_eq!(log.began_before, 1);
        assert_eq!(log.left_out, BTreeMap::new());
    }
}

#[test]
fn transactions_of_clients_are_known_by_words_and_by_events_of_the_protocol() {
    let log = [
        event("begin_tran_completed", 10, &[("duration", "10")], &[]),
        batch(20, "UPDATE t SET a = 1", "100"),
        event("commit_tran_completed", 30, &[("duration", "10")], &[]),
        batch(40, "BEGIN TRAN; BEGIN TRAN", "1"),
        batch(50, "COMMIT", "1"),
        batch(60, "COMMIT TRAN", "1"),
        batch(70, "SET IMPLICIT_TRANSACTIONS ON", "1"),
        batch(80, "UPDATE t SET a = 2", "1"),
        batch(90, "IF @@TRANCOUNT > 0 ROLLBACK TRAN", "1"),
    ];
    let log = read(log.concat().as_bytes(), &all()).unwrap();
    use Boundary::{Begins, Ends, Within};
    let boundaries: Vec<_> = log.sessions[0]
        .statements
        .iter()
        .map(|logged| logged.boundary)
        .collect();
    assert_eq!(
        boundaries,
        [
            Begins, Within, Ends, Begins, Within, Ends, Within, Begins, Ends
        ]
    );
    assert_eq!(&*log.sessions[0].statements[0].text, "BEGIN TRANSACTION");
    // One that began before the log ends in it.
    let log = [
        batch(10, "UPDATE t SET a = 1", "1"),
        batch(20, "COMMIT", "1"),
        batch(30, "SELECT 1", "1"),
    ];
    let log = read(log.concat().as_bytes(), &all()).unwrap();
    assert_eq!(texts(&log.sessions[0]), ["SELECT 1"]);
    assert_eq!(log.left_out, BTreeMap::from([(LeftOut::BeganBefore, 2)]));
}

#[test]
fn prepared_statements_are_played_by_their_text_and_resets_of_pools_are_kept() {
    let log = [
        rpc(10, "exec sp_reset_connection"),
        rpc(
            20,
            "declare @p1 int set @p1=4 exec sp_prepexec @p1 output,N'@a int',N'SELECT b FROM t WHERE a = @a',1 select @p1",
        ),
        rpc(30, "exec sp_execute 4,2"),
        rpc(40, "exec sp_execute 5,2"),
        // The pool leaves it in another database.
        rpc(50, "exec sp_reset_connection").replace(">shop<", ">master<"),
        rpc(60, "exec sp_unprepare 4"),
        rpc(70, "exec sp_cursorfetch 180150003,2,0,1"),
        rpc(80, "exec dbo.ship @id=1"),
    ];
    let log = read(log.concat().as_bytes(), &in_shop()).unwrap();
    let session = &log.sessions[0];
    assert_eq!(
        texts(session),
        [
            "exec sp_executesql N'SELECT b FROM t WHERE a = @a',N'@a int',1",
            "exec sp_executesql N'SELECT b FROM t WHERE a = @a',N'@a int',2",
            "exec sp_reset_connection",
            "exec dbo.ship @id=1",
        ]
    );
    // Statements of a kind are one, whatever calls them.
    assert_eq!(&*session.statements[0].form, "SELECT b FROM t WHERE a = @a");
    assert_eq!(session.statements[0].form, session.statements[1].form);
    assert_eq!(
        log.left_out,
        BTreeMap::from([(LeftOut::PreparedBefore, 1), (LeftOut::Protocol, 1)])
    );
    assert_eq!(log.began_before, 0);
}

#[test]
fn what_cannot_be_replayed_is_counted_by_its_reason() {
    let result = |ms, text, result| {
        let fields = [("batch_text", text), ("duration", "1"), ("result", result)];
        event("sql_batch_completed", ms, &fields, &[])
    };
    let log = [
        result(10, "SELECT 1", "OK"),
        result(20, "SELECT b FROM t", "Abort"),
        result(30, "KILL 60", "OK"),
        result(40, "INSERT BULK t (a int)", "OK"),
        result(50, "EXEC xp_cmdshell 'dir'", "OK"),
        event("rpc_completed", 60, &[("duration", "1")], &[]),
        event(
            "sql_batch_completed",
            70,
            &[("batch_text", "SELECT 2")],
            &[("database_name", "other")],
        ),
        result(80, "USE shop", "OK"),
        result(90, "SELECT 1 / 0", "Error").replace(">shop<", ">Shop<"),
    ];
    let log = read(log.concat().as_bytes(), &in_shop()).unwrap();
    assert_eq!(&*log.sessions[0].login.database, "shop");
    assert_eq!(texts(&log.sessions[0]), ["SELECT 1", "SELECT 1 / 0"]);
    let failed: Vec<bool> = log.sessions[0]
        .statements
        .iter()
        .map(|logged| logged.failed)
        .collect();
    assert_eq!(failed, [false, true]);
    let reasons = [
        LeftOut::CopyFromClient,
        LeftOut::CallsOut,
        LeftOut::OfServer,
        LeftOut::NoText,
        LeftOut::OtherDatabase,
        LeftOut::Cancelled,
    ];
    assert_eq!(log.left_out, reasons.map(|why| (why, 1)).into());
}

const CSV: &str = "name,timestamp,\"timestamp (UTC)\",batch_text,statement,duration,database_name,session_id,result,row_count,event_sequence\n\
    sql_batch_completed,2026-11-28 09:00:00.0100000,2026-11-28 08:00:00.0100000,\"SELECT 'a\n\"\"b\"\"'\",NULL,\"4,000\",shop,53,OK,1,7\n\
    rpc_completed,2026-11-28 09:00:00.0100000,x,,\"exec sp_executesql N'SELECT 1'\",1000,shop,53,Error,,6\n";

#[test]
fn extended_events_as_csv_are_read_in_the_order_of_their_sequence() {
    let log = read(CSV.as_bytes(), &all()).unwrap();
    assert_eq!(log.form, "Extended Events as CSV");
    assert_eq!(
        texts(&log.sessions[0]),
        ["exec sp_executesql N'SELECT 1'", "SELECT 'a\n\"b\"'"]
    );
    let [first, second] = &log.sessions[0].statements[..] else {
        panic!("{:?}", log.sessions);
    };
    assert_eq!((times(first), first.failed), ((9_000, Some(10_000)), true));
    assert_eq!(
        (times(second), second.rows),
        ((6_000, Some(10_000)), Some(1))
    );
    let half = CSV.strip_suffix(",Error,,6\n").unwrap();
    assert!(read(half.as_bytes(), &all()).unwrap().half_line);
}

/// Type, time, session, text and duration.
type FileRow<'a> = (i64, &'a str, i64, Option<&'a str>, Option<i64>);

/// A file as WorkloadTools writes it.
/// Source: <https://github.com/spaghettidba/WorkloadTools/blob/25ec96f/WorkloadTools/Consumer/WorkloadFile/WorkloadFileWriterConsumer.cs>
fn workload_file(rows: &[FileRow<'_>]) -> Vec<u8> {
    let file = NamedTempFile::new().unwrap();
    let connection = Connection::open(file.path()).unwrap();
    let schema = "CREATE TABLE FileProperties (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL);
        CREATE TABLE Events (row_id INTEGER PRIMARY KEY, event_sequence INTEGER, event_type INTEGER, start_time date NOT NULL,
            client_app_name TEXT NULL, client_host_name TEXT NULL, database_name TEXT NULL, server_principal_name TEXT NULL,
            session_id INTEGER NULL, sql_text TEXT NULL, cpu INTEGER NULL, duration INTEGER NULL, reads INTEGER NULL,
            writes INTEGER NULL);
        CREATE UNIQUE INDEX Index_Session_ID_Event_Sequence ON Events(session_id ASC, event_sequence DESC);
        INSERT INTO FileProperties VALUES ('FormatVersion', '1.9.0.0');";
    connection.execute_batch(schema).unwrap();
    for (number, (kind, time, session, text, took)) in (1..).zip(rows) {
        let row = "INSERT INTO Events (row_id, event_sequence, event_type, start_time, database_name, server_principal_name,
            session_id, sql_text, duration) VALUES (?1, ?1, ?2, ?3, 'shop', 'app', ?4, ?5, ?6)";
        let row = connection.execute(row, params![number, kind, time, session, text, took]);
        row.unwrap();
    }
    drop(connection);
    let mut bytes = Vec::new();
    File::open(file.path())
        .unwrap()
        .read_to_end(&mut bytes)
        .unwrap();
    bytes
}

#[test]
fn a_file_of_workloadtools_has_beginnings_with_durations() {
    let bytes = workload_file(&[
        (
            2,
            "2026-11-28 09:00:00.001",
            53,
            Some("exec sp_reset_connection /*Nonpooled*/"),
            None,
        ),
        (
            -3,
            "2026-11-28 09:00:00.01",
            53,
            Some("SELECT 1"),
            Some(4_000),
        ),
        (4, "2026-11-28 09:00:00.011", 0, None, None),
        (
            -3,
            "2026-11-28 09:00:00.02",
            53,
            Some("WAITFOR DELAY '1:00'"),
            None,
        ),
        (
            5,
            "2026-11-28 09:00:00.03",
            53,
            Some("WAITFOR DELAY '1:00'"),
            Some(10_000),
        ),
        (
            2,
            "2026-11-28 09:00:00.04",
            53,
            Some("exec sp_reset_connection /*Nonpooled*/"),
            None,
        ),
        (
            2,
            "2026-11-28 09:00:00.0500001",
            53,
            Some("exec dbo.ship @id=1"),
            Some(0),
        ),
    ]);
    let log = read(&bytes, &all()).unwrap();
    assert_eq!(log.form, "WorkloadTools");
    assert_eq!((log.has_durations, log.has_errors), (true, false));
    let [first, second] = &log.sessions[..] else {
        panic!("{:?}", log.sessions);
    };
    assert_eq!(
        (texts(first), texts(second)),
        (vec!["SELECT 1"], vec!["exec dbo.ship @id=1"])
    );
    assert_eq!(times(&first.statements[0]), (10_000, Some(14_000)));
    assert_eq!(times(&second.statements[0]), (50_000, None));
    assert_eq!(log.left_out, BTreeMap::from([(LeftOut::Cancelled, 1)]));
    assert_eq!(log.began_before, 0);
}

#[test]
fn only_the_part_that_is_asked_for_is_kept() {
    let log = [
        batch(10, "SELECT 1", "1"),
        batch(2_000, "DELETE t", "1"),
        batch(2_010, "SELECT 2", "1"),
        batch(5_000, "SELECT 3", "1"),
    ];
    let nine = 32_400;
    let asked = LogRequest {
        window: Some((nine + 1, nine + 4)),
        reads_only: true,
        user: Some("app".to_owned()),
        ..in_shop()
    };
    let read = |asked: &LogRequest| read(log.concat().as_bytes(), asked);
    assert_eq!(texts(&read(&asked).unwrap().sessions[0]), ["SELECT 2"]);
    let other = LogRequest {
        user: Some("other".to_owned()),
        ..asked
    };
    let error = read(&other).unwrap_err().to_string();
    assert!(
        error.contains("check --window, --database and --user"),
        "{error}"
    );
}

#[test]
fn what_does_not_end_is_refused_within_and_outside_of_an_event() {
    let long = engine::log_lines::ENTRY_BYTES_MAX;
    let elements = "<a>".repeat(long / 3 + 100_000);
    let text = "x".repeat(long + 100_000);
    for log in [
        elements.clone(),
        format!("<event name=\"login\">{elements}"),
        format!("name,timestamp,session_id,statement\n\"{text}"),
    ] {
        let error = read(log.as_bytes(), &all()).unwrap_err().to_string();
        assert!(error.contains("MiB"), "{error}");
    }
}

#[test]
fn a_mistake_is_named_with_its_place_and_remedy() {
    let one = batch(10, "SELECT 1", "1");
    let no_session = one.replace("session_id", "spid");
    let bad_time = one.replace("09:00:00", "9 am");
    let row = |kind, time| workload_file(&[(kind, time, 53, Some("SELECT 1"), Some(1))]);
    let database = |text: &str| {
        let file = NamedTempFile::new().unwrap();
        let connection = Connection::open(file.path()).unwrap();
        connection.execute_batch(text).unwrap();
        std::fs::read(file.path()).unwrap()
    };
    let view = database("CREATE VIEW Events AS SELECT 1");
    // SQLite goes by its text alone.
    let disguised = database(
        "CREATE TABLE Events (a); PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET sql = 'CREATE VIEW Events AS SELECT 1'",
    );
    for (bytes, why) in [
        (
            b"2026-11-28 09:00 LOG: x".to_vec(),
            "a .xel file itself is not read",
        ),
        (Vec::new(), "begins as none of the logs"),
        (
            format!("{one}{no_session}").into_bytes(),
            "event 2: sql_batch_completed has no session_id; add the action",
        ),
        (
            bad_time.into_bytes(),
            "event 1: \"2026-11-28T9 am.010Z\" is not a time; write it as",
        ),
        (
            one.replace(">1<", ">one<").into_bytes(),
            "event 1: its duration is \"one\"",
        ),
        (
            one.replace("SELECT 1", "&x;").into_bytes(),
            "event 1: &x; is none of XML's own entities",
        ),
        (b"<event name=\"a\"><data></event>".to_vec(), "event 1: "),
        (
            b"<a/>".to_vec(),
            "it has no statement that is asked for: neither sql_batch_completed",
        ),
        (
            b"name,timestamp,statement\n".to_vec(),
            "its first line has no column session_id",
        ),
        (
            b"name,timestamp,session_id\n".to_vec(),
            "no column batch_text or statement",
        ),
        (
            CSV.replace(",OK,1,7\n", "\n").into_bytes(),
            "line 2: it has fewer columns",
        ),
        (row(-3, "yesterday"), "row 1: \"yesterday\" is not a time"),
        (view, "without a table Events"),
        (disguised, "it is a SQLite database"),
        (
            row(-3, "2026-11-28 09:00:00")[..5000].to_vec(),
            "stop the capture, and give its whole file",
        ),
    ] {
        let error = read(&bytes, &all()).unwrap_err().to_string();
        assert!(error.contains(why), "{why}: {error}");
    }
    let with_prefix = LogRequest {
        prefix: Some("%m".to_owned()),
        ..all()
    };
    let error = read(one.as_bytes(), &with_prefix).unwrap_err().to_string();
    assert!(error.contains("leave --prefix out"), "{error}");
}

#[test]
fn an_event_without_an_end_is_refused_and_half_a_one_is_left_out() {
    let long = "x".repeat(17 << 20);
    for text in [
        format!("<event name=\"{long}"),
        batch(1, &long, "1"),
        format!("{CSV}\"{long}"),
    ] {
        let error = read(text.as_bytes(), &all()).unwrap_err().to_string();
        assert!(error.contains("it has more than 16 MiB"), "{error}");
    }
    let whole = batch(10, "SELECT 1", "1");
    let half = whole.split("</event>").next().unwrap();
    let log = read(format!("{whole}{half}").as_bytes(), &all()).unwrap();
    assert_eq!((log.sessions[0].statements.len(), log.half_line), (1, true));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// What is damaged is refused or read, and never more than that.
    #[test]
    fn damaged_logs_end(at in 0usize..9000, byte in any::<u8>(), form in 0usize..3) {
        let mut bytes = match form {
            0 => [batch(10, "SELECT 'a'", "1"), rpc(20, "exec sp_execute 1")].concat().into_bytes(),
            1 => CSV.as_bytes().to_vec(),
            _ => workload_file(&[(-3, "2026-11-28 09:00:00", 53, Some("SELECT 1"), Some(1))]),
        };
        let place = at % bytes.len();
        bytes[place] = byte;
        let _ = read(&bytes, &all());
    }
}
