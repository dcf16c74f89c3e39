//! `dbstow run --server mysql://..`: separate databases in an external MariaDB or MySQL, and nothing else touched.

#![cfg(all(target_os = "linux", feature = "mariadb"))]
#![allow(
    clippy::unwrap_used,
    reason = "a panic with its line is what a failing test should give"
)]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use host::clock::Clock;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;
use testing::experiments::TWO_VOLUMES;
use testing::folder::text;
use testing::mysqld::{ENCODED, Mysqld, PASSWORD, Product, taking_tables_in};

const ROWS: &str = "[workload.parameters]
trades = 500
customers = 100
accounts = 200
";

/// An experiment's folder, with the directories of two volumes.
struct Site {
    folder: TempDir,
    text: String,
}

impl Site {
    fn new() -> Site {
        let folder = tempfile::tempdir().unwrap();
        // The server's own user must be able to traverse it.
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        for name in ["a", "b"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        Site {
            folder,
            text: TWO_VOLUMES.replace("[engine]", &format!("{ROWS}[engine]")),
        }
    }

    /// With `to` for `from` in the experiment.
    fn with(from: &str, to: &str) -> Site {
        let site = Site::new();
        assert!(site.text.contains(from), "{from}");
        let text = site.text.replacen(from, to, 1);
        Site { text, ..site }
    }

    fn volume(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn start(&self, url: &str, password: &str) -> Child {
        fs::write(self.folder.path().join("files.toml"), &self.text).unwrap();
        Command::new(env!("CARGO_BIN_EXE_dbstow"))
            .args([
                "run",
                "files.toml",
                "--mode",
                "measure",
                "--engine",
                "mariadb",
            ])
            .args(["--out", "out", "--server", url])
            .args(["a", "b"].map(|name| format!("--volume={name}={}", self.volume(name).display())))
            .current_dir(self.folder.path())
            .env("HOME", self.folder.path())
            .env("MYSQL_PWD", password)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Starts it, and returns once a volume has a table of the trial.
    fn started(&self, url: &str, volume: &str) -> Child {
        let mut run = self.start(url, PASSWORD);
        let clock = Clock::start();
        while tables(&self.volume(volume)).is_empty() {
            if run.try_wait().unwrap().is_some() || clock.now().as_secs_f64() > 60.0 {
                let _ = run.kill();
                panic!("no table came: {}", text(&run.wait_with_output().unwrap()));
            }
        }
        run
    }

    /// Asserts that it ends with `texts`, shows no password, and leaves nothing on the volumes.
    fn refused(&self, url: &str, password: &str, texts: &[&str]) {
        let output = self.start(url, password).wait_with_output().unwrap();
        let said = text(&output);
        assert!(!output.status.success(), "{said}");
        for text in texts {
            assert!(said.contains(text), "no {text:?} in: {said}");
        }
        assert!(
            !said.contains(PASSWORD) && !said.contains(ENCODED),
            "{said}"
        );
        self.is_empty();
    }

    fn is_empty(&self) {
        for name in ["a", "b"] {
            assert_eq!(files(&self.volume(name)), Vec::<PathBuf>::new());
        }
    }

    /// The records of all trials.
    fn records(&self) -> Vec<serde_json::Value> {
        let files = files(&self.folder.path().join("out")).into_iter();
        // Such as `001-two.json`.
        let is_record = |file: &PathBuf| {
            let name = file.file_name().unwrap().to_string_lossy();
            name.starts_with("00") && name.ends_with(".json")
        };
        files
            .filter(is_record)
            .map(|file| serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap())
            .collect()
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    entries
        .flatten()
        .flat_map(|entry| match entry.path() {
            path if path.is_dir() => files(&path),
            path => vec![path],
        })
        .collect()
}

/// Files of InnoDB's tables.
fn tables(folder: &Path) -> Vec<PathBuf> {
    let mut tables = files(folder);
    tables.retain(|file| file.extension().is_some_and(|ending| ending == "ibd"));
    tables
}

fn databases(server: &Mysqld) -> String {
    server.sql("SHOW DATABASES")
}

fn variables(server: &Mysqld) -> String {
    server.sql("SHOW GLOBAL VARIABLES WHERE variable_name NOT LIKE 'gtid%' AND variable_name <> 'timestamp'")
}

fn socket(server: &Mysqld) -> String {
    let socket = server.path("run/s.sock");
    format!("mysql://boss@localhost/?socket={}", socket.display())
}

#[test]
fn tables_are_on_the_volumes_and_mariadb_is_left_as_it_was() {
    tables_are_on_the_volumes_and_the_server_is_left_as_it_was(Product::Mariadb);
}

#[test]
fn tables_are_on_the_volumes_and_mysql_is_left_as_it_was() {
    tables_are_on_the_volumes_and_the_server_is_left_as_it_was(Product::Mysql);
}

fn tables_are_on_the_volumes_and_the_server_is_left_as_it_was(product: Product) {
    let site = Site::with("start = \"warm\"", "start = \"cold\"");
    let places = taking_tables_in(site.folder.path());
    let Some(server) = Mysqld::start_of(product, &["--performance-schema=ON", &places]) else {
        return;
    };
    let before = (databases(&server), variables(&server));
    let run = site.started(&socket(&server), "b");
    assert!(
        databases(&server).contains("dbstow_"),
        "{}",
        databases(&server)
    );
    let output = run.wait_with_output().unwrap();
    let said = text(&output);
    assert!(output.status.success(), "{said}");
    let records = site.records();
    assert_eq!(records.len(), 4, "{said}");
    for record in records {
        let shown = record.to_string();
        let counters = |name: &str| shown.contains(&format!("\"file.{name}.writes\""));
        assert!(counters("data_1"), "{shown}");
        assert_eq!(
            counters("data_2"),
            shown.contains("\"arm\":\"two\""),
            "{shown}"
        );
        // 16 MiB is what the server was started with.
        for said in [
            "innodb_buffer_pool_size = 16777216 instead of 67108864",
            "keeps its own places",
            match product {
                Product::Mariadb => "-MariaDB",
                Product::Mysql => "\"version\":\"MySQL ",
            },
            "the server is not ours",
            "the given server was not restarted",
            "replicas execute",
        ] {
            assert!(shown.contains(said), "no {said:?} in: {shown}");
        }
        assert!(!shown.contains(PASSWORD), "{shown}");
    }
    assert_eq!((databases(&server), variables(&server)), before);
    site.is_empty();
}

#[test]
fn an_interrupted_run_leaves_nothing_and_a_killed_one_is_told_at_the_next_start() {
    let Some(server) = Mysqld::start(&["--performance-schema=OFF", "--skip-log-bin"]) else {
        return;
    };
    let before = databases(&server);
    let site = Site::with("duration = \"1 s\"", "duration = \"60 s\"");
    let run = site.started(&socket(&server), "a");
    kill(Pid::from_raw(run.id().cast_signed()), Signal::SIGINT).unwrap();
    let said = text(&run.wait_with_output().unwrap());
    assert_eq!(databases(&server), before, "{said}");
    site.is_empty();

    let mut run = site.started(&socket(&server), "a");
    run.kill().unwrap();
    run.wait().unwrap();
    let left = databases(&server);
    let left = left
        .lines()
        .find(|name| name.starts_with("dbstow_"))
        .expect("it was killed");
    let next = Site::new();
    let output = next
        .start(&socket(&server), PASSWORD)
        .wait_with_output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output));
    let shown = next.records()[0].to_string();
    for said in [
        &*format!("DROP DATABASE {left}"),
        "performance_schema of the given server is off",
    ] {
        assert!(shown.contains(said), "no {said:?} in: {shown}");
    }
    server.sql(&format!("DROP DATABASE {left}"));
}

#[test]
fn what_a_run_cannot_have_is_refused_before_anything_is_made() {
    let Some(server) = Mysqld::start(&["--performance-schema=ON"]) else {
        return;
    };
    let before = databases(&server);
    let (url, site) = (socket(&server), Site::new());
    site.refused(&url, "wr0ngw0rd", &["Access denied for user 'boss'"]);
    server.sql("GRANT PROCESS, RELOAD ON *.* TO guest@'%'");
    // Another login is another plan, with its own folder.
    let (guest, site_of_guest) = (url.replace("boss@", "guest@"), Site::new());
    site_of_guest.refused(
        &guest,
        PASSWORD,
        &[
            "GRANT FILE ON *.* TO 'guest'@'%'",
            "CREATE",
            "GRANT SELECT ON performance_schema.*",
        ],
    );
    // The message itself is enough.
    server.sql(r"GRANT FILE ON *.* TO guest@'%'; GRANT ALL ON `dbstow\_%`.* TO guest@'%'; GRANT SELECT ON performance_schema.* TO guest@'%'");
    let output = site_of_guest
        .start(&guest, PASSWORD)
        .wait_with_output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output));

    let temp = Site::with("temp = { volumes = \"a\" }", "temp = { volumes = \"b\" }");
    let said = [
        "arm \"one\" puts temp on b and \"two\" on a",
        "dbstow layout --engine mariadb --role temp",
    ];
    temp.refused(&url, PASSWORD, &said);
    let elsewhere = Site::with(
        "log = { volumes = \"a\" }",
        "log = { volumes = \"a\" }\nbinlog = { volumes = \"b\" }",
    );
    elsewhere.refused(&url, PASSWORD, &["puts binlog on b and \"two\" nowhere"]);
    assert_eq!(databases(&server), before);

    server.down();
    site.refused(&url, PASSWORD, &["s.sock"]);
}

#[test]
fn a_server_that_is_gone_in_the_run_is_told_with_what_it_still_has() {
    let Some(server) = Mysqld::start(&[]) else {
        return;
    };
    let site = Site::with("duration = \"1 s\"", "duration = \"60 s\"");
    let run = site.started(&socket(&server), "a");
    server.down();
    let output = run.wait_with_output().unwrap();
    let said = text(&output);
    assert!(!output.status.success(), "{said}");
    assert!(
        said.contains("left behind") && said.contains("DROP DATABASE IF EXISTS dbstow_"),
        "{said}"
    );
}
