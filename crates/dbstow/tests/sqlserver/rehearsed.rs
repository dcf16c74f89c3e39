//! Statements of a log, played on a copy that the server restores.

use std::fs;

use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use rusqlite::Connection;
use tds_double::server::{Backup, SqlServer, Work};
use tds_double::{Kind, Question, Reply, Rows, Value};
use testing::sqlserver::{Bench, PASSWORD};

use crate::settle;

const BACKUP: &str = "C:\\backup\\shop.bak";

/// A server with a backup of another one's database, which knows the statements of the logs below.
fn server() -> SqlServer {
    let mut server = SqlServer::windows(PASSWORD);
    let file = |name: &str, kind, mib: u64| (name.to_owned(), kind, mib * 128);
    let backup = Backup {
        database: "shop".to_owned(),
        major: 15,
        files: vec![
            file("shop", 'D', 64),
            file("shop_log", 'L', 16),
            file("shop_2", 'D', 64),
        ],
    };
    server.backups.insert(BACKUP.to_owned(), backup);
    let begins = |with: &'static str| move |question: &Question| question.text.starts_with(with);
    let row = || Rows::new([("a", Kind::Int)]).row([Value::from(7)]);
    server.works(
        begins("SELECT a FROM orders"),
        Work::default(),
        Reply::new().rows(row()),
    );
    server.works(
        begins("SELECT a FROM [dbstow_"),
        Work::default(),
        Reply::new().rows(row()),
    );
    server.works(
        begins("exec sp_executesql N'SELECT a"),
        Work::default(),
        Reply::new().rows(row()),
    );
    for text in ["UPDATE orders", "BEGIN TRANSACTION", "COMMIT TRANSACTION"] {
        server.works(begins(text), Work::default(), Reply::new().affected(1));
    }
    let missing = tds_double::Message::error(208, "Invalid object name 'gone'.".to_owned());
    server.works(
        begins("SELECT a FROM gone"),
        Work::default(),
        Reply::error(missing),
    );
    server
}

/// Data on one volume, temporary space and log there or on another.
fn layout(bench: &Bench, name: &str, other: &str) -> String {
    let text = format!(
        "[machine]\ncores = 4\nmemory = \"16 GiB\"\n\n[volume.a]\ndisk = \"azure.premium.p30\"\n\n[volume.b]\ndisk = \"azure.premium.p30\"\n\n[placement.{name}]\n\
         data = {{ volumes = \"a\" }}\ntemp = {{ volumes = \"{other}\" }}\nlog = {{ volumes = \"{other}\" }}\n"
    );
    let file = bench.path(&format!("{name}.toml"));
    fs::write(&file, text).expect("a file of the test's own");
    file.display().to_string()
}

/// Extended Events of two sessions, as XML.
fn events(bench: &Bench, texts: &[(u32, &str, &str, &str)]) -> String {
    let event = |(number, (session, name, text, result)): (usize, &(u32, &str, &str, &str))| {
        let field = if *name == "rpc_completed" {
            "statement"
        } else {
            "batch_text"
        };
        let text = text.replace('<', "&lt;");
        let rows = if text.starts_with("SELECT") {
            "<data name=\"row_count\"><value>1</value></data>"
        } else {
            ""
        };
        format!(
            "<event name=\"{name}\" timestamp=\"2026-11-28T09:00:00.{:03}Z\"><data name=\"{field}\"><value>{text}</value></data>\
             <data name=\"duration\"><value>500</value></data><data name=\"result\"><value>0</value><text>{result}</text></data>{rows}\
             <action name=\"session_id\"><value>{session}</value></action><action name=\"database_name\"><value>shop</value></action>\
             <action name=\"server_principal_name\"><value>app</value></action></event>\n",
            10 * number
        )
        .replace("<value>0</value><text>Error", "<value>1</value><text>Error")
    };
    let text: String = texts.iter().enumerate().map(event).collect();
    let file = bench.path("trace.xml");
    fs::write(&file, text).expect("a file of the test's own");
    file.display().to_string()
}

const BATCH: &str = "sql_batch_completed";
const RPC: &str = "rpc_completed";

fn some(bench: &Bench) -> String {
    events(
        bench,
        &[
            (53, RPC, "exec sp_reset_connection", "OK"),
            (53, BATCH, "SELECT a FROM orders WHERE b < 1", "OK"),
            (53, "begin_tran_completed", "", "OK"),
            (53, BATCH, "UPDATE orders SET a = 1", "OK"),
            (53, "commit_tran_completed", "", "OK"),
            (54, BATCH, "USE shop", "OK"),
            (54, BATCH, "SELECT a FROM shop.dbo.orders", "OK"),
            (
                54,
                RPC,
                "declare @p1 int set @p1=1 exec sp_prepexec @p1 output,N'@a int',N'SELECT a FROM orders WHERE a = @a',1 select @p1",
                "OK",
            ),
            (54, RPC, "exec sp_reset_connection", "OK"),
            (54, RPC, "exec sp_execute 1,2", "OK"),
            (54, BATCH, "SELECT a FROM gone", "Error"),
            (54, BATCH, "BACKUP DATABASE shop TO DISK = 'x'", "OK"),
        ],
    )
}

fn rehearse<'a>(server: &'a str, log: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let fixed = [
        "rehearse",
        "--server",
        server,
        "--encrypt",
        "off-insecure",
        "--backup",
        BACKUP,
        "--statements",
        log,
        "--blocks",
        "1",
        "--out",
        "out",
    ];
    [&fixed, more].concat()
}

#[test]
fn a_log_is_played_on_a_copy_in_each_layouts_directories_and_the_copy_is_dropped() {
    let bench = Bench::start(server());
    let before = bench.tempdb();
    let (today, apart) = (layout(&bench, "today", "a"), layout(&bench, "apart", "b"));
    let (server, log) = (bench.server(), some(&bench));
    let layouts = ["--layout", &today, "--layout", &apart];
    let volumes = ["--volume", "a=C:\\rehearse", "--volume", "b=D:\\"];
    // Temporary space differs, too.
    let restart = bench.restart_command();
    let more = ["--with-text", "--restart-command", &restart];
    let arguments = rehearse(&server, &log, &[&layouts[..], &volumes, &more].concat());
    let said = bench
        .dbstow(&arguments)
        .assert()
        .success()
        .stderr(contains("not replayed: 1 statement of the server itself"));
    let said = String::from_utf8_lossy(&said.get_output().stdout).into_owned();
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "today: 100.0 % of 9 statements ended as in the log",
        "apart: 100.0 % of 9 statements ended as in the log",
        "backup: SQL Server 15.0.4085, full backup of shop (number 1 of its file, 150994944 bytes), restored by tcp:127.0.0.1",
        "log: Extended Events as XML: 9 statements in 7 transactions of 2 sessions (1 at a time)",
        "not yet run on SQL Server",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }

    bench.is_as_before(&before);
    let heard = bench.double().heard();
    let restored: Vec<&String> = heard
        .iter()
        .filter(|text| text.starts_with("RESTORE DATABASE"))
        .collect();
    let [first, second] = &restored[..] else {
        panic!("{restored:?}");
    };
    for restored in [first, second] {
        assert!(
            restored.contains("MOVE N'shop' TO N'C:\\rehearse\\dbstow_"),
            "{restored}"
        );
        assert!(!restored.contains("REPLACE"), "{restored}");
    }
    let logs = [first, second].map(|text| text.contains("MOVE N'shop_log' TO N'D:\\dbstow_"));
    assert_eq!(
        logs.iter().filter(|is_apart| **is_apart).count(),
        1,
        "{restored:?}"
    );
    // It is the copy that is meant, and a prepared statement needs no handle.
    assert!(
        !heard.iter().any(|text| text.contains("shop.dbo")),
        "{heard:?}"
    );
    assert!(
        heard.iter().any(|text| text.contains(".dbo.orders")),
        "{heard:?}"
    );
    let again = "exec sp_executesql N'SELECT a FROM orders WHERE a = @a',N'@a int',2";
    assert!(heard.iter().any(|text| text == again), "{heard:?}");
    settle(&bench);
    for record in bench.records() {
        assert_eq!(record["outcome"]["status"], "finished", "{record}");
        assert_eq!(
            record["engine"]["settings"]["statements"],
            "those of a log, as its text"
        );
    }
    let plan = fs::read_to_string(bench.path("out/dbstow.json")).expect("a plan");
    assert!(
        plan.contains("C:\\\\rehearse") && !plan.contains(PASSWORD),
        "{plan}"
    );
    let document = fs::read_to_string(bench.path("out/rehearsal.json")).expect("a document");
    assert!(!document.contains(PASSWORD));
    let missing = "reads by table and index are not known: those of SQL Server are not counted yet";
    assert!(document.contains(missing), "{document}");
}

#[test]
fn the_same_command_resumes_and_another_log_or_pace_is_refused() {
    let bench = Bench::start(server());
    let (server, today, log) = (bench.server(), layout(&bench, "today", "a"), some(&bench));
    let fixed = ["--layout", &today, "--volume", "a=C:\\rehearse"];
    let twice = |more: &[&'static str]| {
        let arguments = rehearse(&server, &log, &[&fixed[..], more].concat());
        bench.dbstow(&arguments).assert()
    };
    let restores = || {
        let heard = bench.double().heard();
        let restores = heard
            .iter()
            .filter(|text| text.starts_with("RESTORE DATABASE"));
        restores.count()
    };
    twice(&["--record"])
        .code(2)
        .stderr(contains("only a server that dbstow starts is recorded"));
    assert_eq!(restores(), 0);
    let first = twice(&[]).success();
    let first = first.get_output().stdout.clone();
    assert_eq!(restores(), 1);
    let again = twice(&[])
        .success()
        .stderr(contains("all trials are finished"));
    assert_eq!(again.get_output().stdout, first);
    let refused = "--fresh";
    twice(&["--pace", "original"])
        .failure()
        .stderr(contains(refused));
    let other = events(&bench, &[(53, BATCH, "SELECT a FROM orders", "OK")]);
    assert_eq!(other, log, "a log of that name has changed");
    twice(&[]).failure().stderr(contains(refused));
    assert_eq!(restores(), 1);
    // What a killed rehearsal has lost is played again.
    some(&bench);
    fs::remove_dir_all(bench.path("out/outcomes")).expect("outcomes of trials");
    twice(&[]).success();
    assert_eq!(restores(), 2);
    twice(&["--fresh"]).success();
    assert_eq!(restores(), 3);
    settle(&bench);
}

#[test]
fn a_file_of_workloadtools_is_played_and_statements_that_end_otherwise_give_no_verdict() {
    let bench = Bench::start(server());
    let file = bench.path("trace.sqlite");
    // https://github.com/spaghettidba/WorkloadTools/blob/25ec96f/WorkloadTools/Consumer/WorkloadFile/WorkloadFileWriterConsumer.cs
    let rows = "CREATE TABLE Events (row_id INTEGER PRIMARY KEY, event_sequence INTEGER, event_type INTEGER, start_time date NOT NULL,
            client_app_name TEXT NULL, client_host_name TEXT NULL, database_name TEXT NULL, server_principal_name TEXT NULL,
            session_id INTEGER NULL, sql_text TEXT NULL, cpu INTEGER NULL, duration INTEGER NULL, reads INTEGER NULL,
            writes INTEGER NULL);
        INSERT INTO Events (event_sequence, event_type, start_time, database_name, session_id, sql_text, duration) VALUES
            (1, -3, '2026-11-28 09:00:00.01', 'shop', 53, 'SELECT a FROM orders', 400),
            (2, -3, '2026-11-28 09:00:00.02', 'shop', 53, 'SELECT a FROM gone', 400);";
    Connection::open(&file)
        .and_then(|file| file.execute_batch(rows))
        .expect("a file of the test's own");
    let (server, today, log) = (
        bench.server(),
        layout(&bench, "today", "a"),
        file.display().to_string(),
    );
    let arguments = rehearse(
        &server,
        &log,
        &["--layout", &today, "--volume", "a=C:\\rehearse"],
    );
    let said = bench.dbstow(&arguments).assert().code(3);
    let said = String::from_utf8_lossy(&said.get_output().stdout).into_owned();
    assert!(
        said.contains("50.0 % of 2 statements ended as in the log"),
        "{said}"
    );
    // Neither text nor name is shown.
    assert!(
        said.contains("error 208") && !said.contains("gone"),
        "{said}"
    );
    settle(&bench);
}

#[test]
fn what_cannot_be_rehearsed_is_refused_before_anything_is_restored() {
    let mut with_shop = server();
    let (_, master) = with_shop.database("master").expect("there is always one");
    let own = tds_double::server::Database {
        name: "Shop".to_owned(),
        files: Default::default(),
        ..master.clone()
    };
    with_shop.databases.insert(9, own);
    let with = |change: fn(&mut SqlServer)| {
        let mut server = server();
        change(&mut server);
        server
    };
    let in_memory = with(|server| {
        let backup = server.backups.get_mut(BACKUP).expect("it is there");
        backup.files.push(("hk".to_owned(), 'S', 0));
    });
    let later = with(|server| {
        let backup = server.backups.get_mut(BACKUP).expect("it is there");
        backup.major = 17;
    });
    let gone = with(|server| server.backups.clear());
    let babelfish = server().babelfish("4.4.0");
    let volumes = ["--volume", "a=C:\\rehearse"];
    for (server, volumes, why) in [
        (
            with_shop,
            &volumes[..],
            "--server has a database Shop, as the backup",
        ),
        (in_memory, &volumes, "its file hk is of type S"),
        (later, &volumes, "restores no backup of a later one"),
        (gone, &volumes, "Cannot open backup device"),
        (babelfish, &volumes, "error"),
        (server(), &[], "add --volume a=DIR"),
        (
            server(),
            &["--volume", "x=C:\\"],
            "no arm has a volume \"x\"",
        ),
    ] {
        let bench = Bench::start(server);
        let (server, today, log) = (bench.server(), layout(&bench, "today", "a"), some(&bench));
        let arguments = rehearse(&server, &log, &[&["--layout", &today], volumes].concat());
        bench
            .dbstow(&arguments)
            .assert()
            .failure()
            .stderr(contains(why).or(contains("Babelfish")));
        let heard = bench.double().heard();
        assert!(
            !heard
                .iter()
                .any(|text| text.starts_with("RESTORE DATABASE")),
            "{heard:?}"
        );
    }
}

#[test]
fn a_copy_that_a_killed_rehearsal_left_is_dropped_by_the_next_and_ctrl_c_leaves_none() {
    let mut server = server();
    server.hangs(|question| question.text.starts_with("UPDATE orders SET b"));
    let bench = Bench::start(server);
    let (address, today) = (bench.server(), layout(&bench, "today", "a"));
    let endless = events(&bench, &[(53, BATCH, "UPDATE orders SET b = 1", "OK")]);
    let layouts = ["--layout", &today, "--volume", "a=C:\\rehearse"];
    let arguments = rehearse(&address, &endless, &layouts);
    let hangs = |bench: &Bench| bench.double().model().under_way().count() > 0;

    let mut killed = bench.begin(&arguments);
    killed.until(hangs);
    killed.kill();
    assert_eq!(bench.databases().len(), 5, "its copy is there");
    assert!(bench.owes());
    fs::remove_dir_all(bench.path("out")).expect("the killed run's");

    let mut stopped = bench.begin(&arguments);
    stopped.until(hangs);
    assert_eq!(bench.databases().len(), 5, "the earlier copy is gone");
    let said = stopped.interrupt();
    assert!(said.contains("interrupted"), "{said}");
    assert_eq!(bench.databases(), ["master", "tempdb", "model", "msdb"]);
    assert!(!bench.owes());
}
