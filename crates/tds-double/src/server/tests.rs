//! The state as changed by statements and shown by queries.

use std::collections::BTreeMap;

use sqlserver::tsql::question::{self, QUESTIONS};

use super::*;
use crate::model::{Form, Model, Session};
use crate::reply::{Item, Rows};
use crate::value::Value;

fn session(login: &str, database: &str) -> Session {
    Session {
        id: 51,
        login: login.to_owned(),
        database_first: database.to_owned(),
        database: database.to_owned(),
        application: String::new(),
        transaction: None,
    }
}

fn ask(server: &mut SqlServer, login: &str, text: &str) -> Option<Reply> {
    let mut session = session(login, "tempdb");
    let question = super::Question {
        text: text.to_owned(),
        parameters: Vec::new(),
        form: Form::Batch,
    };
    server.answer(&mut session, &question)
}

/// Numbers of messages in turn, of `sa` in tempdb.
fn numbers(server: &mut SqlServer, text: &str) -> Vec<u32> {
    said(server, "sa", text)
}

fn said(server: &mut SqlServer, login: &str, text: &str) -> Vec<u32> {
    let reply = ask(server, login, text).unwrap_or_else(|| panic!("unscripted: {text}"));
    let number = |item: Item| match item {
        Item::Error(message) | Item::Info(message) => Some(message.number),
        _ => None,
    };
    reply.items.into_iter().filter_map(number).collect()
}

fn rows(server: &mut SqlServer, question: &question::Question) -> Vec<Vec<Value>> {
    let reply = ask(server, "sa", question.text).expect(question.name);
    match reply.items.into_iter().next() {
        Some(Item::Rows(Rows { rows, .. })) => rows,
        other => panic!("{}: {other:?}", question.name),
    }
}

fn texts(rows: &[Vec<Value>], column: usize) -> Vec<String> {
    let text = |value: &Value| match value {
        Value::Text(text) => text.clone(),
        other => panic!("{other:?}"),
    };
    rows.iter().map(|row| text(&row[column])).collect()
}

#[test]
fn every_question_has_an_answer_on_every_product() {
    for (version, engine) in [
        ("14.0.1000.169", 2),
        ("15.0.4000.1", 4),
        ("17.0.1000.7", 3),
        ("12.0.2000.8", 5),
        ("12.0.2000.8", 8),
    ] {
        let mut server = SqlServer::windows("x").edition(version, engine);
        for question in QUESTIONS {
            let reply = ask(&mut server, "sa", question.text).expect(question.name);
            let refused = matches!(reply.items[0], Item::Error(_));
            assert_eq!(
                refused,
                engine == 5 && !question.azure_database,
                "{} on {engine}",
                question.name
            );
        }
    }
}

#[test]
fn a_path_of_tempdb_is_pending_until_the_restart_and_counters_begin_anew() {
    let mut server = SqlServer::windows("x");
    let move_it =
        "ALTER DATABASE [tempdb] MODIFY FILE (NAME = [tempdev], FILENAME = N'D:\\tempdb.mdf');";
    assert_eq!(numbers(&mut server, move_it), [5018]);
    let io = Io {
        reads: 7,
        read_bytes: 7 * 8192,
        read_stall_ms: 3,
        ..Io::default()
    };
    let work = Work {
        data: BTreeMap::from([("tempdb".to_owned(), io)]),
        ..Work::default()
    };
    server.works(|question| question.text == "SELECT 1", work, Reply::new());
    assert!(ask(&mut server, "sa", "SELECT 1").is_some());

    let pending = rows(&mut server, &question::FILES);
    assert_eq!(texts(&pending, 4)[2], "D:\\tempdb.mdf");
    assert_eq!(
        texts(&rows(&mut server, &question::TEMPDB_IN_USE), 3)[0],
        "C:\\Data\\tempdev.mdf".replace("tempdev", "tempdb")
    );
    let reads = |server: &mut SqlServer| rows(server, &question::FILE_IO)[2][2].clone();
    assert_eq!(reads(&mut server), Value::Int(7));
    let before = rows(&mut server, &question::STARTED);

    server.restart().expect("D: is there");
    assert_eq!(
        texts(&rows(&mut server, &question::TEMPDB_IN_USE), 3)[0],
        "D:\\tempdb.mdf"
    );
    assert_eq!(reads(&mut server), Value::Int(0));
    assert_ne!(rows(&mut server, &question::STARTED), before);
}

#[test]
fn a_server_does_not_start_where_tempdb_cannot_be_made() {
    let move_it = |path: &str| {
        format!("ALTER DATABASE tempdb MODIFY FILE (NAME = templog, FILENAME = N'{path}')")
    };
    let refused = |prepare: fn(&mut SqlServer), path: &str| {
        let mut server = SqlServer::windows("x");
        prepare(&mut server);
        assert_eq!(numbers(&mut server, &move_it(path)), [5018]);
        let NotStarted(log) = server.restart().expect_err("no tempdb");
        assert_eq!(server.starts, 1);
        let back = "ALTER DATABASE tempdb MODIFY FILE (NAME = templog, FILENAME = N'C:\\Data\\templog.ldf')";
        assert_eq!(numbers(&mut server, back), [5018]);
        server.restart().expect("as it was");
        (log[0].number, log[0].text.clone(), log[1].number)
    };
    let (number, text, then) = refused(|_| {}, "Q:\\templog.ldf");
    assert!(text.contains("error 3("), "{text}");
    assert_eq!((number, then), (5133, 1814));
    let (_, text, _) = refused(
        |server| server.volumes[1].writable = false,
        "D:\\templog.ldf",
    );
    assert!(text.contains("error 5("), "{text}");
    let (_, text, _) = refused(
        |server| server.volumes[1].other_bytes = server.volumes[1].total_bytes,
        "D:\\templog.ldf",
    );
    assert!(text.contains("error 112("), "{text}");
}

#[test]
fn sizes_limits_and_growth_are_kept_and_checked() {
    let mut server = SqlServer::linux("x");
    let modify =
        |change: &str| format!("ALTER DATABASE tempdb MODIFY FILE (NAME = tempdev, {change})");
    // 8 MiB at the start
    assert_eq!(numbers(&mut server, &modify("SIZE = 8MB")), [5039]);
    assert_eq!(numbers(&mut server, &modify("MAXSIZE = 1GB")), [0_u32; 0]);
    assert_eq!(numbers(&mut server, &modify("SIZE = 2GB")), [5040]);
    assert_eq!(
        numbers(&mut server, &modify("MAXSIZE = UNLIMITED")),
        [0_u32; 0]
    );
    assert_eq!(numbers(&mut server, &modify("SIZE = 1TB")), [5149]);
    assert_eq!(
        numbers(&mut server, &modify("SIZE = 100MB, FILEGROWTH = 0")),
        [0_u32; 0]
    );
    assert_eq!(
        numbers(
            &mut server,
            "ALTER DATABASE tempdb MODIFY FILE (NAME = nothing, SIZE = 9MB)"
        ),
        [5041]
    );
    assert_eq!(server.databases[&TEMPDB].files[&1].now.pages, 12_800); // 100 MiB / 8 KiB
    let shrink = "DBCC SHRINKFILE (N'tempdev', 50) WITH NO_INFOMSGS;";
    assert!(ask(&mut server, "sa", shrink).is_some());
    assert_eq!(server.databases[&TEMPDB].files[&1].now.pages, 6_400);
}

#[test]
fn files_are_added_emptied_and_removed() {
    let mut server = SqlServer::linux("x");
    let add =
        "ALTER DATABASE tempdb ADD FILE (NAME = temp3, FILENAME = N'/nvme/temp3.ndf', SIZE = 8MB)";
    assert_eq!(numbers(&mut server, add), [0_u32; 0]);
    assert_eq!(numbers(&mut server, add), [1828, 5069]);
    let again = "ALTER DATABASE tempdb ADD FILE (NAME = temp4, FILENAME = N'/nvme/temp3.ndf')";
    assert_eq!(numbers(&mut server, again), [5170, 5069]);
    let id = server.databases[&TEMPDB].files.len() as i64;
    server
        .databases
        .get_mut(&TEMPDB)
        .expect("tempdb")
        .files
        .get_mut(&id)
        .expect("temp3")
        .used_pages = 5;
    assert_eq!(
        numbers(&mut server, "ALTER DATABASE tempdb REMOVE FILE temp3"),
        [5042]
    );
    assert!(ask(&mut server, "sa", "DBCC SHRINKFILE (N'temp3', EMPTYFILE)").is_some());
    assert_eq!(
        numbers(&mut server, "ALTER DATABASE tempdb REMOVE FILE temp3"),
        [5044]
    );
    assert_eq!(
        numbers(&mut server, "ALTER DATABASE tempdb REMOVE FILE tempdev"),
        [5020]
    );
    assert_eq!(
        numbers(&mut server, "ALTER DATABASE tempdb REMOVE FILE temp9"),
        [5009]
    );
}

#[test]
fn a_database_is_made_where_it_can_be_and_dropped_by_whom_it_belongs_to() {
    let mut server = SqlServer::windows("x");
    server.add_login("maker", "x", &["CREATE ANY DATABASE"]);
    server.add_login("guest", "x", &[]);
    let create = "CREATE DATABASE [a] ON PRIMARY (NAME = [a], FILENAME = N'D:\\a.mdf', SIZE = 64MB) \
                  LOG ON (NAME = [l], FILENAME = N'C:\\a.ldf')";
    assert_eq!(said(&mut server, "guest", create), [262]);
    assert_eq!(said(&mut server, "maker", create), [0_u32; 0]);
    assert_eq!(said(&mut server, "maker", create), [1801]);
    assert_eq!(
        said(&mut server, "guest", "ALTER DATABASE [a] SET RECOVERY FULL"),
        [5011]
    );
    assert_eq!(
        said(&mut server, "maker", "ALTER DATABASE [a] SET RECOVERY FULL"),
        [0_u32; 0]
    );
    assert_eq!(server.database("a").expect("made").1.recovery, "FULL");
    assert_eq!(said(&mut server, "guest", "DROP DATABASE [a]"), [3701]);
    assert_eq!(said(&mut server, "maker", "DROP DATABASE [a]"), [0_u32; 0]);
    assert_eq!(numbers(&mut server, "DROP DATABASE [msdb]"), [3708]);
    let nowhere = "CREATE DATABASE b ON (NAME = b, FILENAME = N'Q:\\b.mdf')";
    assert_eq!(numbers(&mut server, nowhere), [5133, 1802]);
    assert!(server.database("b").is_none());
}

#[test]
fn a_database_is_dropped_once_nobody_is_in_it() {
    for (engine, alone) in [(3, &[][..]), (8, &[5008])] {
        let mut server = SqlServer::windows("x").edition("16.0.4085.2", engine);
        assert_eq!(numbers(&mut server, "CREATE DATABASE [a]"), [0_u32; 0]);
        let mut other = Session {
            id: 52,
            ..session("sa", "master")
        };
        let mut of_other = |server: &mut SqlServer, text: &str| {
            let question = super::Question {
                text: text.to_owned(),
                parameters: Vec::new(),
                form: Form::Batch,
            };
            server.answer(&mut other, &question).expect(text).items
        };
        of_other(&mut server, "USE [a]");
        assert_eq!(numbers(&mut server, "DROP DATABASE [a]"), [3702]);
        let single = "ALTER DATABASE [a] SET SINGLE_USER WITH ROLLBACK IMMEDIATE";
        assert_eq!(numbers(&mut server, single), alone);
        if alone.is_empty() {
            assert_eq!(of_other(&mut server, "CHECKPOINT"), [Item::Cut]);
        } else {
            assert_eq!(numbers(&mut server, "DROP DATABASE [a]"), [3702]);
            server.closed(&other);
        }
        assert_eq!(numbers(&mut server, "DROP DATABASE [a]"), [0_u32; 0]);
    }
}

#[test]
fn a_full_database_says_so_and_growth_in_tempdb_is_gone_after_a_restart() {
    let mut server = SqlServer::linux("x");
    let fill = |pages| Work {
        filled_pages: BTreeMap::from([("tempdb".to_owned(), pages)]),
        ..Work::default()
    };
    // Two data files of 8 MiB are 2,048 pages; 3,000 make one grow.
    server.works(
        |question| question.text == "little",
        fill(3_000),
        Reply::new(),
    );
    server.works(
        |question| question.text == "much",
        fill(1 << 30),
        Reply::new(),
    );
    assert_eq!(numbers(&mut server, "little"), [0_u32; 0]);
    let pages = |server: &SqlServer| {
        server.databases[&TEMPDB]
            .files
            .values()
            .filter(|file| !file.log)
            .map(|file| file.now.pages)
            .sum::<u64>()
    };
    assert!(pages(&server) > 3_000);
    assert_eq!(numbers(&mut server, "much"), [1105]);
    server.restart().expect("starts");
    assert_eq!(pages(&server), 2_048);
}

#[test]
fn memory_is_cold_after_checkpoint_and_drop_in_that_order() {
    let mut server = SqlServer::windows("x");
    let dirty = Work {
        dirty_pages: BTreeMap::from([("tempdb".to_owned(), 640)]),
        ..Work::default()
    };
    server.works(|question| question.text == "write", dirty, Reply::new());
    numbers(&mut server, "write");
    numbers(&mut server, "DBCC DROPCLEANBUFFERS");
    // What is dirty stays: 640 pages of tempdb alone.
    assert_eq!(
        rows(&mut server, &question::CACHED),
        [[2, 640, 640].map(Value::from)]
    );
    numbers(
        &mut server,
        "USE [tempdb]; CHECKPOINT; DBCC DROPCLEANBUFFERS WITH NO_INFOMSGS;",
    );
    assert!(rows(&mut server, &question::CACHED).is_empty());
    // 640 pages over two data files: 320 pages, 10 writes of 32 each
    assert_eq!(server.databases[&TEMPDB].files[&1].io.writes, 10);
}

#[test]
fn settings_are_in_use_after_reconfigure_and_advanced_ones_are_hidden() {
    let mut server = SqlServer::windows("x");
    let alone = "EXEC sys.sp_configure N'max server memory (MB)', 512;";
    assert_eq!(numbers(&mut server, alone), [15123]);
    let text = sqlserver::tsql::Statement::MaxServerMemory { mib: 512 }.to_string();
    assert_eq!(numbers(&mut server, &text), [15457, 15457, 15457]);
    assert_eq!(server.settings["max server memory (MB)"].in_use, 512);
    assert_eq!(server.settings["show advanced options"].in_use, 0);
}

#[test]
fn permissions_are_those_of_the_version() {
    let mut server = SqlServer::windows("x");
    server.add_login("reader", "x", &["VIEW SERVER PERFORMANCE STATE"]);
    assert_eq!(
        said(&mut server, "reader", question::FILE_IO.text),
        [0_u32; 0]
    );
    assert_eq!(said(&mut server, "reader", "DBCC DROPCLEANBUFFERS"), [2571]);
    assert_eq!(said(&mut server, "reader", "CHECKPOINT"), [262]);
    server = server.edition("15.0.4000.1", 3);
    assert_eq!(
        said(&mut server, "reader", question::FILE_IO.text),
        [300, 297]
    );
    // Nothing is reported, and nothing is visible.
    let Some(reply) = ask(&mut server, "reader", question::FILES.text) else {
        panic!("unscripted")
    };
    assert!(
        matches!(&reply.items[0], Item::Rows(rows) if rows.rows.is_empty()),
        "{reply:?}"
    );
}

#[test]
fn azure_refuses_what_it_does_not_have() {
    let mut instance = SqlServer::windows("x").edition("12.0.2000.8", 8);
    let modify = "ALTER DATABASE tempdb MODIFY FILE (NAME = tempdev, FILENAME = N'D:\\t.mdf')";
    assert_eq!(numbers(&mut instance, modify), [5008]);
    let create = "CREATE DATABASE a ON (NAME = a, FILENAME = N'D:\\a.mdf')";
    assert_eq!(numbers(&mut instance, create), [41918]);
    let mut database = SqlServer::windows("x").edition("12.0.2000.8", 5);
    assert_eq!(numbers(&mut database, "USE master"), [40508]);
    assert_eq!(
        numbers(
            &mut database,
            "EXEC sp_configure N'max degree of parallelism', 1"
        ),
        [40510]
    );
}

#[test]
fn other_texts_are_unscripted() {
    let mut server = SqlServer::windows("x");
    assert!(ask(&mut server, "sa", "SELECT 1").is_none());
    assert!(
        ask(
            &mut server,
            "sa",
            "ALTER DATABASE tempdb SET AUTO_SHRINK ON"
        )
        .is_none()
    );
    let almost = format!("{} ", question::FILES.text);
    assert!(ask(&mut server, "sa", &almost).is_none());
}

#[test]
fn batches_commits_and_processor_time_grow_with_what_is_executed() {
    let mut server = SqlServer::windows("x");
    let work = |database: &str| Work {
        commits: BTreeMap::from([(database.to_owned(), 2)]),
        session_reads: [0, 0, 0, 7],
        ..Work::default()
    };
    let (master, tempdb) = (work("master"), work("tempdb"));
    server.works(|question| question.text == "one", master, Reply::new());
    server.works(|question| question.text == "two", tempdb, Reply::new());
    let counted = |server: &mut SqlServer| {
        let rows = rows(server, &question::BATCHES);
        let names = texts(&rows, 0).into_iter().zip(texts(&rows, 1));
        let named = names.map(|(counter, instance)| format!("{counter} {instance}"));
        named
            .zip(rows.into_iter().map(|row| row[2].clone()))
            .collect::<BTreeMap<String, Value>>()
    };
    let process = |server: &mut SqlServer| rows(server, &question::PROCESS)[0][1].clone();
    for text in ["one", "two", "one"] {
        assert!(ask(&mut server, "sa", text).is_some());
    }
    let counters = counted(&mut server);
    // The query itself counts too.
    assert_eq!(counters["Batch Requests/sec "], Value::Int(4));
    assert_eq!(counters["Write Transactions/sec _Total"], Value::Int(6));
    assert_eq!(counters["Write Transactions/sec tempdb"], Value::Int(2));
    assert_eq!(process(&mut server), Value::Int(START_MS + 21));
    server.restart().expect("it starts");
    assert_eq!(counted(&mut server)["Batch Requests/sec "], Value::Int(1));
    assert_eq!(process(&mut server), Value::Int(START_MS));
}

#[test]
fn a_request_is_under_way_until_it_is_answered_and_sessions_show_their_last_one() {
    let mut server = SqlServer::windows("x");
    server.waits_for(|question| question.text == "blocked", "WRITELOG", "");
    let mut blocked = Session {
        id: 52,
        ..session("sa", "master")
    };
    let text = |text: &str| super::Question {
        text: text.to_owned(),
        parameters: Vec::new(),
        form: Form::Batch,
    };
    assert!(server.answer(&mut blocked, &text("blocked")).is_some());
    let under_way = rows(&mut server, &question::REQUESTS);
    assert_eq!(texts(&under_way, 2), ["WRITELOG"]);
    let last = |server: &mut SqlServer| texts(&rows(server, &question::LAST_REQUESTS), 1);
    let before = last(&mut server);
    assert_eq!((before.len(), last(&mut server)), (1, before.clone()));
    server.answered(&blocked);
    assert_eq!(rows(&mut server, &question::REQUESTS).len(), 0);
    assert!(server.answer(&mut blocked, &text("CHECKPOINT")).is_some());
    assert_ne!(last(&mut server), before);
    server.closed(&blocked);
    assert_eq!(last(&mut server).len(), 0);
}
