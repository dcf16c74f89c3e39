//! dbstow against a double of SQL Server: what it sends to a server, in which order, and what it leaves behind.
//!
//! No SQL Server is here. The double is strict: a text that it does not know fails the test.

#![cfg(target_os = "linux")]

mod emulated;
mod ends;
mod faults;
mod prompted;
mod queried;
mod recorded;
mod rehearsed;
mod relay;
mod restarts;
mod runs;
mod script;
mod stress;

use assert_cmd::Command;
use testing::sqlserver::Bench;
use testing::tsql;

/// Few operations; tempdb must move between the arms.
const SMALL: [&str; 14] = [
    "--set",
    "workload.parameters.rows=100",
    "--set",
    "workload.operations=40",
    "--blocks",
    "1",
    "--volume",
    "d=C:\\fast",
    "--volume",
    "f=D:\\",
    "--set",
    "placement.local-ssd.temp.file_size=\"64 MiB\"",
    "--set",
    "placement.p30.temp.file_size=\"64 MiB\"",
];

fn small<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let log = [
        "--set",
        "placement.local-ssd.log.file_size=\"64 MiB\"",
        "--set",
        "placement.p30.log.file_size=\"64 MiB\"",
    ];
    [SMALL.as_slice(), &log, more].concat()
}

/// A run that moves tempdb to each of two volumes, and has the server restarted by a command.
fn moving(bench: &Bench, more: &[&str]) -> Command {
    let restart = bench.restart_command();
    let arguments = [&["--restart-command", &restart], more].concat();
    bench.run("tempdb-ssd-vs-premium", &small(&arguments))
}

/// The experiment for managed instances, with few rows and a file of 1 GiB for one of 132.
fn managed<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let less = [
        "--set",
        "workload.parameters.rows=100",
        "--set",
        "placement.user-1-file-132gb.data.file_size=\"1 GiB\"",
    ];
    [&less, more].concat()
}

/// Arms that differ in data files alone, so that tempdb stays.
const DATA_FILES: &str = r#"
name = "data-files"
question = "One data file, or two?"

[machine]
cores = 2
memory = "8 GiB"

[engine]
memory = "1 GiB"

[volume.a]
disk = "azure.premium.p30"

[volume.b]
disk = "azure.premium.p30"

[placement.one]
data = { volumes = "a", file_size = "64 MiB" }
temp = { volumes = "a" }
log = { volumes = "a" }

[placement.two]
data = { volumes = ["a", "b"], file_size = "64 MiB" }
temp = { volumes = "a" }
log = { volumes = "a" }

[arm.one]
placement = "one"

[arm.two]
placement = "two"

[workload]
name = "cold-lookup"
operations = 10
parameters = { rows = 100 }

[protocol]
blocks = 1
"#;

const DATA_VOLUMES: [&str; 4] = ["--volume", "a=D:\\", "--volume", "b=C:\\fast"];

/// The experiment as a file of the user's.
fn data_files(bench: &Bench) -> String {
    let file = bench.path("data-files.toml");
    std::fs::write(&file, DATA_FILES).expect("a file of the test's own");
    file.display().to_string()
}

/// As good as without an end.
const MANY: [&str; 2] = ["--set", "workload.operations=100000000"];

/// Whether a run is under way: the sessions have read more than loading takes.
fn is_measured(bench: &Bench) -> bool {
    let reads = bench.double().model().session_reads;
    reads.is_some_and(|reads| reads[0] > 10_000)
}

/// Fails where dbstow said what a server would not understand: nothing that the double does not know, and nothing
/// that Microsoft's parser does not take for T-SQL.
fn settle(bench: &Bench) {
    let double = bench.double();
    double.settle();
    let mut heard = double.heard();
    heard.sort();
    heard.dedup();
    let declared = |text: &String| {
        let used = (1..=9).filter(|number| text.contains(&format!("@p{number}")));
        let declared: String = used
            .map(|number| format!("DECLARE @p{number} bigint; "))
            .collect();
        (text.clone(), format!("{declared}{text}"))
    };
    let texts: Vec<(String, String)> = heard.iter().map(declared).collect();
    tsql::parses(&texts);
}
