//! A double of SQL Server that runs a workload as defined by a test, and its restart command.
//!
//! Nothing measured on it says anything about SQL Server: its counters advance as defined here.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Process, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use std::{fs, thread};

use crate::program;
use assert_cmd::Command;
use host::clock::Clock;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use parking_lot::{Mutex, MutexGuard};
use tds_double::server::{self, Io, SqlServer, Wait, Work};
use tds_double::{Double, Encryption, Kind, Question, Reply, Rows, Value};
use tempfile::TempDir;

pub const PASSWORD: &str = "Correct-horse-1433";

/// A server, and a user's folder beside it.
pub struct Bench {
    double: Arc<Mutex<Double<SqlServer>>>,
    folder: TempDir,
    stop: Arc<AtomicBool>,
    restarter: Option<JoinHandle<()>>,
}

impl Bench {
    /// Starts it, with the texts of a workload on temporary tables and of one on the data files.
    pub fn start(server: SqlServer) -> Bench {
        Bench::start_with(server, Encryption::None)
    }

    /// The same, with TLS or without.
    pub fn start_with(mut server: SqlServer, encryption: Encryption) -> Bench {
        run_workloads(&mut server);
        let double = Double::start(server, encryption).expect("a free port");
        let double = Arc::new(Mutex::new(double));
        let folder = tempfile::tempdir().expect("a folder");
        let stop = Arc::new(AtomicBool::new(false));
        let flag = folder.path().join("restart");
        let (served, stopped) = (Arc::clone(&double), Arc::clone(&stop));
        let restarter = thread::spawn(move || {
            while !stopped.load(Ordering::SeqCst) {
                if flag.exists() {
                    // A server that does not start stays away: the test checks how dbstow handles it.
                    let _ = server::restart(&mut served.lock());
                    fs::remove_file(&flag).expect("the flag is ours");
                }
                Clock::sleep(model::Duration::from_millis(5));
            }
        });
        Bench {
            double,
            folder,
            stop,
            restarter: Some(restarter),
        }
    }

    pub fn double(&self) -> MutexGuard<'_, Double<SqlServer>> {
        self.double.lock()
    }

    /// dbstow's option for its address.
    pub fn server(&self) -> String {
        format!(
            "sqlserver://sa@127.0.0.1:{}",
            self.double().address().port()
        )
    }

    /// A command that restarts it, and waits for that.
    pub fn restart_command(&self) -> String {
        let flag = self.path("restart").display().to_string();
        format!("touch '{flag}'; while [ -e '{flag}' ]; do sleep 0.01; done")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// dbstow as its user runs it, with a state directory of the test's own.
    pub fn dbstow(&self, arguments: &[&str]) -> Command {
        let mut command = Command::from_std(self.process(&program(), arguments));
        command.timeout(Duration::from_secs(60));
        command
    }

    /// A measured run on it.
    pub fn run(&self, experiment: &str, more: &[&str]) -> Command {
        self.dbstow(&measured(&self.server(), experiment, more))
    }

    /// dbstow, in progress.
    pub fn begin(&self, arguments: &[&str]) -> UnderWay<'_> {
        let mut process = self.process(&program(), arguments);
        let process = process.env("TMPDIR", self.folder.path());
        let process = process.stdout(Stdio::null()).stderr(Stdio::piped());
        UnderWay {
            bench: self,
            child: process.spawn().expect("it starts"),
        }
    }

    /// A program in the user's folder, with the password in its environment.
    pub fn process(&self, program: &Path, arguments: &[&str]) -> Process {
        let mut process = Process::new(program);
        process
            .args(arguments)
            .current_dir(self.folder.path())
            .env("SQLCMDPASSWORD", PASSWORD)
            .env("XDG_STATE_HOME", self.path("state"));
        process
    }

    /// Waits for a condition.
    pub fn until(&self, mut is_so: impl FnMut(&Bench) -> bool) {
        let begun = Clock::start();
        while !is_so(self) {
            let waited = begun.now().as_nanos();
            let limit = model::Duration::from_secs(60).as_nanos();
            assert!(waited < limit, "it should have come to that in a minute");
            Clock::sleep(model::Duration::from_millis(20));
        }
    }

    /// Fails unless tempdb is where it was, the run left nothing, and nothing is to be restored.
    #[track_caller]
    pub fn is_as_before(&self, tempdb: &[(String, String)]) {
        assert_eq!(self.tempdb(), tempdb);
        assert_eq!(self.databases(), ["master", "tempdb", "model", "msdb"]);
        assert!(!self.owes());
    }

    /// Whether a state file lists anything to restore.
    pub fn owes(&self) -> bool {
        let files = fs::read_dir(self.path("state/dbstow/sqlserver"));
        let mut names = files.expect("a run was here").flatten();
        names.any(|file| file.path().extension().is_some_and(|end| end == "json"))
    }

    /// The records of the run, unordered.
    pub fn records(&self) -> Vec<serde_json::Value> {
        let Ok(files) = fs::read_dir(self.path("out/records")) else {
            return Vec::new();
        };
        let texts = files
            .flatten()
            .filter_map(|file| fs::read_to_string(file.path()).ok());
        let records = texts.filter_map(|text| serde_json::from_str(&text).ok());
        records.collect()
    }

    /// Names and paths of tempdb's files in use.
    pub fn tempdb(&self) -> Vec<(String, String)> {
        let double = self.double();
        let model = double.model();
        let (_, tempdb) = model.database("tempdb").expect("there is always one");
        tempdb
            .files
            .values()
            .map(|file| (file.now.name.clone(), file.now.path.clone()))
            .collect()
    }

    /// Names of all databases.
    pub fn databases(&self) -> Vec<String> {
        let double = self.double();
        double
            .model()
            .databases
            .values()
            .map(|database| database.name.clone())
            .collect()
    }
}

/// A run that continues while the test does something else.
pub struct UnderWay<'a> {
    bench: &'a Bench,
    child: Child,
}

impl UnderWay<'_> {
    /// Waits for a condition while the run continues.
    pub fn until(&mut self, is_so: impl Fn(&Bench) -> bool) {
        let UnderWay { bench, child } = self;
        bench.until(|bench| {
            if let Some(status) = child.try_wait().expect("it is ours") {
                panic!("it ended, with {status}: {}", said(child));
            }
            is_so(bench)
        });
    }

    /// Ends it as a user does, and returns its messages.
    pub fn interrupt(self) -> String {
        let (status, said) = self.stop();
        assert!(!status.success());
        said
    }

    /// The same, with its exit status.
    pub fn stop(mut self) -> (ExitStatus, String) {
        let process = Pid::from_raw(self.child.id().cast_signed());
        kill(process, Signal::SIGINT).expect("it runs");
        let status = self.child.wait().expect("it ends");
        (status, said(&mut self.child))
    }

    /// Kills it.
    pub fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
    }
}

/// A test that fails leaves nothing running.
impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn said(child: &mut Child) -> String {
    let mut said = String::new();
    let mut stderr = child.stderr.take().expect("it is piped");
    stderr.read_to_string(&mut said).expect("text");
    said
}

/// The arguments of a measured run.
pub fn measured<'a>(server: &'a str, experiment: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let fixed = [
        "run",
        experiment,
        "--mode",
        "measure",
        "--engine",
        "sqlserver",
        "--server",
        server,
        "--encrypt",
        "off-insecure",
        "--out",
        "out",
    ];
    [&fixed, more].concat()
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let joined = self.restarter.take().map(JoinHandle::join);
        assert!(joined.is_none_or(|joined| joined.is_ok()) || thread::panicking());
    }
}

/// The effect of a statement on a temporary table: a lot of I/O in tempdb, so that a verdict is possible.
pub fn temporary() -> Work {
    let io = Io {
        reads: 12,
        read_bytes: 12 << 16,
        read_stall_ms: 30,
        writes: 3,
        written_bytes: 3 << 16,
        write_stall_ms: 9,
    };
    Work {
        data: [("tempdb".to_owned(), io)].into(),
        waits: [(
            "PAGEIOLATCH_SH".to_owned(),
            Wait {
                tasks: 12,
                wait_ms: 30,
                signal_ms: 1,
            },
        )]
        .into(),
        session_reads: [40, 12, 3, 1],
        ..Work::default()
    }
}

fn run_workloads(server: &mut SqlServer) {
    let begins = |with: &'static str| move |question: &Question| question.text.starts_with(with);
    for text in [
        "EXECUTE AS USER = N'session_",
        "CREATE USER [session_",
        "CREATE SCHEMA [session_",
        "GRANT CONTROL TO [session_",
        "IF @@TRANCOUNT > 0 ",
        "CREATE TABLE #test_rows ",
    ] {
        server.works(begins(text), Work::default(), Reply::new().done());
    }
    for table in ["outer_rows", "inner_rows"] {
        let creates = format!("CREATE TABLE {table} ");
        server.works(
            move |question| question.text.starts_with(&creates),
            Work::default(),
            Reply::new().done(),
        );
        let loads = format!("INSERT INTO {table} ");
        server.works(
            move |question| question.text.starts_with(&loads),
            Work::default(),
            Reply::new().affected(100),
        );
    }
    let count = || Rows::new([("count", Kind::BigInt)]).row([Value::from(100_i64)]);
    server.works(
        |question| question.text.contains("FROM outer_rows"),
        Work::default(),
        Reply::new().rows(count()),
    );
    let rows = || {
        let columns = [("id", Kind::Int), ("body", Kind::Text(2000))];
        Rows::new(columns).row([Value::from(1), Value::from("X")])
    };
    server.works(
        |question| question.text.contains("#test_rows") && question.text.starts_with("SELECT"),
        temporary(),
        Reply::new().rows(rows()),
    );
    server.works(
        |question| question.text.contains("WHILE"),
        temporary(),
        Reply::new().done(),
    );
    server.works(
        |question| question.text.contains("#test_rows"),
        temporary(),
        Reply::new().affected(1),
    );
}
