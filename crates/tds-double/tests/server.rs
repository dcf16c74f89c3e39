//! dbstow's own session against a server with a state: a capture, a move of tempdb and back, a program that goes.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use sqlserver::capture::{self, Capture};
use sqlserver::session::{
    Credentials, Driver, Encryption as Protection, Failure, Limits, Login, Secret, Server, Session,
};
use sqlserver::tsql::tempdb::{Kind, TempdbFile, TempdbMove, TempdbPlan};
use sqlserver::tsql::{FilePath, FileSpec, Name, Size, Statement, question};
use tds_double::server::{self, SqlServer};
use tds_double::{Double, Encryption, HEARD};

const PASSWORD: &str = "Double-1433";

fn connect(port: u16, user: &str, protection: Protection) -> Driver {
    let server = Server::parse(&format!("127.0.0.1,{port}")).expect("an address");
    let login = Login {
        credentials: Credentials::Password {
            user: user.to_owned(),
            password: Secret::new(PASSWORD),
        },
        encryption: protection,
        trust_certificate: true,
    };
    Driver::connect(&server, &login, "dbstow", &Limits::default()).expect("let in")
}

fn start(server: SqlServer) -> Double<SqlServer> {
    Double::start(server, Encryption::None).expect("a free port")
}

fn session(double: &Double<SqlServer>) -> Driver {
    connect(double.address().port(), "sa", Protection::OffInsecure)
}

fn taken(session: &mut Driver) -> Capture {
    capture::capture(session).expect("a capture")
}

#[test]
fn a_capture_holds_what_the_server_is_and_lacks_nothing() {
    for server in [SqlServer::windows(PASSWORD), SqlServer::linux(PASSWORD)] {
        let platform = server.edition.platform.clone();
        let double = start(server);
        let capture = taken(&mut session(&double));
        assert_eq!(capture.unanswered.len(), 0, "{:?}", capture.unanswered);
        assert_eq!(capture.files.len(), 9); // two each of master, model and msdb, three of tempdb
        assert_eq!(capture.file_io.len(), 9);
        assert_eq!(
            capture.volumes.len(),
            1,
            "{platform}: {:?}",
            capture.volumes
        );
        double.settle();
    }
}

#[test]
fn a_login_without_permissions_gets_a_capture_with_holes() {
    let mut server = SqlServer::windows(PASSWORD);
    server.add_login("guest", PASSWORD, &[]);
    let double = start(server);
    let capture = taken(&mut connect(
        double.address().port(),
        "guest",
        Protection::OffInsecure,
    ));
    let needing = question::QUESTIONS
        .iter()
        .filter(|question| question.needs == question::Needs::ServerState);
    assert!(
        capture.unanswered.len() > 5 && capture.unanswered.len() <= needing.count(),
        "{:?}",
        capture.unanswered
    );
    double.settle();
}

fn tell(session: &mut Driver, statements: &[Statement]) {
    for statement in statements {
        let batch = session
            .batch(&statement.to_string(), None)
            .expect("an answer");
        batch
            .refused()
            .unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
}

/// Names, paths and megabytes of tempdb's files in use.
fn in_use(session: &mut Driver) -> Vec<(String, String, i64)> {
    let rows = capture::read(session, &question::TEMPDB_IN_USE, |row| {
        Ok((
            row.word("name")?,
            row.word("path")?,
            row.count("size_pages")? / 128,
        ))
    });
    rows.expect("files")
}

fn plan(session: &mut Driver, data: &[(&str, &str, u32)], log: &str) -> TempdbPlan {
    let files = capture::files(session).expect("files");
    let tempdb = files
        .iter()
        .filter(|file| file.database_id == capture::TEMPDB);
    let from: Vec<TempdbFile> = tempdb
        .map(|file| TempdbFile::of(file).expect("a file"))
        .collect();
    assert!(from.iter().any(|file| file.kind == Kind::Log));
    let spec = |name: &str, path: &str| FileSpec {
        path: Some(FilePath::new(path).expect("a path")),
        ..FileSpec::named(Name::new(name).expect("a name"))
    };
    let sized = |(name, path, mib): &(&str, &str, u32)| FileSpec {
        size: Some(Size::mib(*mib).expect("a size")),
        ..spec(name, path)
    };
    let data = data.iter().map(sized).collect();
    let log = vec![spec("templog", log)];
    TempdbMove { from, data, log }.plan().expect("a plan")
}

#[test]
fn tempdb_moves_to_another_volume_and_back_with_a_restart_each() {
    let mut double = start(SqlServer::windows(PASSWORD));
    let mut first = session(&double);
    let before = in_use(&mut first);
    let data = [
        ("tempdev", "D:\\tempdb.mdf", 64),
        ("temp2", "D:\\temp2.ndf", 64),
        ("temp3", "D:\\temp3.ndf", 64),
    ];
    let plan = plan(&mut first, &data, "D:\\templog.ldf");
    tell(&mut first, &plan.apply);
    // The old files stay in use until the restart.
    assert_eq!(in_use(&mut first)[..3], before);

    server::restart(&mut double).expect("starts");
    assert!(matches!(
        first.batch("CHECKPOINT;", None),
        Err(Failure::Lost(_))
    ));
    let mut second = session(&double);
    tell(&mut second, &plan.after_restart);
    let moved = in_use(&mut second);
    assert_eq!(moved.len(), 4);
    assert!(
        moved.iter().all(|(_, path, _)| path.starts_with("D:\\")),
        "{moved:?}"
    );
    let sizes: Vec<i64> = moved
        .iter()
        .filter(|(name, ..)| name != "templog")
        .map(|(.., size)| *size)
        .collect();
    assert_eq!(sizes, [64, 64, 64]);
    // Repeating it changes nothing.
    tell(&mut second, &plan.after_restart);

    tell(&mut second, &plan.undo);
    server::restart(&mut double).expect("starts");
    let mut third = session(&double);
    tell(&mut third, &plan.after_undo);
    assert_eq!(in_use(&mut third), before);
    double.settle();
}

#[test]
fn a_server_that_cannot_make_tempdb_stays_away_until_that_is_mended() {
    let mut double = start(SqlServer::linux(PASSWORD));
    let mut first = session(&double);
    let moved =
        "ALTER DATABASE [tempdb] MODIFY FILE (NAME = [tempdev], FILENAME = N'/nvme/tempdb.mdf');";
    let batch = first.batch(moved, None).expect("an answer");
    assert!(batch.refused().is_ok());
    double.model().volumes[1].writable = false;
    assert!(server::restart(&mut double).is_err());
    assert!(std::net::TcpStream::connect(double.address()).is_err());
    double.model().volumes[1].writable = true;
    server::restart(&mut double).expect("starts");
    assert_eq!(in_use(&mut session(&double))[0].1, "/nvme/tempdb.mdf");
    double.settle();
}

#[test]
fn the_program_says_where_it_is_and_keeps_what_it_heard_in_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut program = Command::new(env!("CARGO_BIN_EXE_tds-double"));
    program
        .args(["--password", PASSWORD])
        .env(HEARD, folder.path());
    let mut program = program
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut lines = BufReader::new(program.stdout.take().expect("piped")).lines();
    let mut line = || -> serde_json::Value {
        let line = lines.next().expect("a line").expect("text");
        serde_json::from_str(&line).expect("JSON")
    };
    let place = line();
    let port = place["port"]
        .as_u64()
        .and_then(|port| u16::try_from(port).ok())
        .expect("a port");
    let mut session = connect(port, "sa", Protection::OffInsecure);
    for text in ["SELECT 1 AS one", "SELECT 2 AS two", "SELECT 1 AS one"] {
        session.batch(text, None).expect("an answer");
    }
    drop(session);
    drop(program.stdin.take());
    let report = line();
    assert_eq!(report["unscripted"], serde_json::json!(["SELECT 2 AS two"]));
    assert_eq!(report["heard"].as_array().map(Vec::len), Some(3));
    assert!(program.wait().expect("ends").success());
    assert_eq!(texts(folder.path()), ["SELECT 1 AS one", "SELECT 2 AS two"]);
}

fn texts(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).expect("a folder");
    let text = |file: std::io::Result<std::fs::DirEntry>| {
        std::fs::read_to_string(file.expect("a file").path())
    };
    let mut texts: Vec<String> = files.map(|file| text(file).expect("text")).collect();
    texts.sort();
    texts
}
