//! The script that holds dbstow against a real server, held against the double.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin;
use predicates::str::contains;
use tds_double::server::SqlServer;
use tds_double::{Encryption, Reply};
use testing::sqlserver::{Bench, PASSWORD, temporary};

use crate::settle;

#[test]
fn the_script_for_a_real_server_runs_every_workload_and_leaves_nothing() {
    let mut server = SqlServer::windows(PASSWORD);
    // A workload's text is executed verbatim; it is parsed in the end.
    server.works(|_| true, temporary(), Reply::new().done());
    let bench = Bench::start_with(server, Encryption::Required);
    let before = bench.tempdb();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/test-sqlserver");
    let (server, restart) = (bench.server(), bench.restart_command());
    let arguments = [&server, "d=C:\\fast f=D:\\slow", &restart];
    Command::from_std(bench.process(&script, &arguments))
        .env("DBSTOW", cargo_bin("dbstow"))
        .env("OUT", bench.path("out"))
        .assert()
        .success()
        .stdout(contains("all as it should be"));

    let names = |folder: &Path| -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder").flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.collect()
    };
    let workloads = Path::new(env!("CARGO_MANIFEST_DIR")).join("../workload/workloads");
    let results = names(&bench.path("out"));
    for workload in names(&workloads) {
        let ran = results.iter().any(|result| result.starts_with(&workload));
        assert!(ran, "{workload} is not among {results:?}");
    }
    bench.is_as_before(&before);
    settle(&bench);
}
