//! Ordinary commands whose result would be a confident wrong answer: each reports the problem instead.

mod credits;

use testing::folder::{Folder, Printed, contains};

/// What the program prints, all of it and as it was written, whatever the width of the terminal.
fn dbstow(folder: &Folder, arguments: &[&str]) -> Printed {
    let text = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let full: &[&str] = match arguments[0] {
        "run" | "report" => &["--full"],
        _ => &[],
    };
    let printed = folder.printed(&[arguments, full].concat());
    Printed {
        stdout: text(printed.stdout),
        stderr: text(printed.stderr),
        ..printed
    }
}

/// Two sizes of a volume that bursts to the same rate, and sustains half of it where it is small.
const GP2: &str = r#"
name = "gp2"
question = "How large a gp2?"
[machine]
type = "aws.r5b.2xlarge"
[volume.one]
disk = "aws.gp2"
size = "500 GiB"
[placement.one]
data = { volumes = "one" }
temp = { volumes = "one" }
log = { volumes = "one" }
[workload]
name = "raw"
duration = "5 s"
[workload.parameters]
depth = 32
[engine]
name = "raw"
memory = "8 MiB"
[protocol]
blocks = 2
metric = "iops"
[arm.gb-500]
[arm.gb-1000]
set = { "volume.one.size" = "1000 GiB" }
"#;

/// Writes a file, and gives its name.
fn write<'a>(folder: &Folder, name: &'a str, text: &str) -> &'a str {
    folder.write(name, text);
    name
}

const QUICK: [&str; 3] = ["run", "tempdb-ssd-vs-premium", "--quick"];

#[test]
fn scripts_of_another_dialect_are_refused_with_their_line_before_anything_runs() {
    let folder = Folder::new();
    let tsql = write(
        &folder,
        "top.sql",
        "SELECT 1;\nSELECT TOP 10 * FROM sys.objects;\n",
    );
    let postgres = write(&folder, "do.sql", "SELECT '1'::text;\n");
    for (script, parts) in [
        (
            tsql,
            [
                "top.sql: line 2: near \"10\"",
                "looks like T-SQL",
                "--engine sqlserver",
            ],
        ),
        (
            postgres,
            [
                "do.sql: line 1: ",
                "looks like PostgreSQL's SQL",
                "--engine postgres",
            ],
        ),
    ] {
        for command in ["check", "run"] {
            let printed = dbstow(&folder, &[command, QUICK[1], "--workload", script]);
            assert_eq!(printed.code, 2, "{}", printed.stderr);
            contains(&printed.stderr, &parts);
            assert_eq!(printed.stdout, "");
        }
    }
    assert!(!folder.path("dbstow-results").exists());
}

#[test]
fn a_run_whose_operations_fail_is_a_failure() {
    let folder = Folder::new();
    // One in twenty fails; the first one does not.
    let script = "\\set k random(1, 20)\nSELECT CASE WHEN :k = 7 THEN abs(-9223372036854775807 - 1) ELSE 1 END;\n";
    let script = write(&folder, "overflow.sql", script);
    let operations = ["--workload", script, "--set", "workload.operations=2_000"];

    let failed = dbstow(&folder, &[&QUICK[..], &operations].concat());
    assert_eq!(failed.code, 1, "{}", failed.stdout);
    contains(
        &failed.stdout,
        &[
            "of its operations failed (at most 1 %",
            "integer overflow",
            "0 of 2",
        ],
    );
    contains(&failed.stderr, &["no trial completed"]);
    assert!(!failed.stdout.contains("tie"), "{}", failed.stdout);

    let allowed = ["--set", "protocol.errors_max=0.2", "--out", "allowed"];
    let counted = dbstow(&folder, &[&QUICK[..], &operations, &allowed].concat());
    assert_eq!(counted.code, 0, "{}", counted.stderr);
    contains(&counted.stdout, &["! errors: operations failed"]);
}

#[test]
fn an_arm_whose_data_did_not_fit_is_named_and_not_compared() {
    let folder = Folder::new();
    let small = "placement.p30.temp={ volumes = \"f\", files = 2, file_size = \"1 MiB\" }";

    let printed = dbstow(&folder, &[&QUICK[..], &["--set", small]].concat());

    assert_eq!(printed.code, 1, "{}", printed.stdout);
    contains(&printed.stdout, &["p30 failed twice", "full"]);
    contains(&printed.stderr, &["no trial completed of p30"]);
    assert!(!printed.stdout.contains("slower"), "{}", printed.stdout);
}

#[test]
fn files_that_saw_no_io_decide_nothing_and_are_not_priced() {
    let folder = Folder::new();
    let memory = ["--set", "engine.memory=1 GiB"];

    let printed = dbstow(
        &folder,
        &[&["run", "tempdb-spill", "--quick"][..], &memory].concat(),
    );

    let parts = [
        "changed: quick settings",
        "engine.memory = 1 GiB",
        "Read first ! too-little-io:",
        "p30 (0 requests of temp files in a trial)",
        "p30 vs local-ssd: no verdict: the files in question saw next to no I/O",
    ];
    contains(&printed.stdout, &parts);
    assert!(!printed.stdout.contains("Cheapest"), "{}", printed.stdout);
}

#[test]
fn data_and_log_on_a_disk_that_forgets_are_told_whatever_it_is_called() {
    let folder = Folder::new();
    let case = include_str!("../cases/data-and-log-on-local-nvme.toml");
    let file = write(&folder, "e.toml", case);
    let warned = |disk: &str| {
        let disk = format!("volume.x.disk={disk}");
        let printed = dbstow(&folder, &["run", file, "--set", &disk, "--out", &disk]);
        assert!(
            printed.stdout.contains("p "),
            "{}{}",
            printed.stdout,
            printed.stderr
        );
        printed
            .stdout
            .contains("! local-data: p: data or log is lost when the machine stops")
    };
    for disk in [
        "azure.local_nvme.lsv3",
        "measured.nvme.aws_i4i_large",
        "aws.instance_store.i4i.2xlarge",
        "gcp.local_ssd_nvme",
    ] {
        assert!(warned(disk), "{disk}");
    }
    assert!(!warned("azure.premium.p30"));
}

#[test]
fn a_verdict_that_turns_with_a_default_says_so_first() {
    let folder = Folder::new();
    let experiment = r#"
name = "open"
question = "Local SSD or P30?"
[machine]
type = "azure.DS2"
[volume.d]
disk = "local"
[volume.f]
disk = "azure.premium.p30"
host_cache = "read-only"
bursting = false
[placement.local-ssd]
data = { volumes = "d" }
temp = { volumes = "d" }
log = { volumes = "d" }
[placement.p30]
data = { volumes = "f" }
temp = { volumes = "f" }
log = { volumes = "f" }
[workload]
name = "read-only"
operations = 2_000
[workload.parameters]
rows = 50_000
[engine]
memory = "26 MiB"
read_unit = "extent"
checkpoint = "none"
[protocol]
blocks = 2
"#;
    let file = write(&folder, "open.toml", experiment);

    let left_open = dbstow(&folder, &["run", file, "--nominal"]);
    contains(
        &left_open.stdout,
        &[
            "Read first ! default-decides:",
            "p30 vs local-ssd:",
            "with a warm one",
        ],
    );
    let cold = [
        "run",
        file,
        "--nominal",
        "--set",
        "engine.host_cache_start=cold",
        "--out",
        "cold",
    ];
    let chosen = dbstow(&folder, &cold);
    assert!(
        !chosen.stdout.contains("default-decides"),
        "{}",
        chosen.stdout
    );
    contains(&chosen.stdout, &["p30 is", "slower than local-ssd"]);
}

#[test]
fn published_figures_are_not_shown_beside_other_settings() {
    let folder = Folder::new();
    let sessions = ["--set", "workload.sessions=2"];

    let printed = dbstow(&folder, &[&QUICK[..], &sessions].concat());

    contains(
        &printed.stdout,
        &[
            "its figures are left out: they are for other settings or disks",
            "workload.sessions = 2",
        ],
    );
    assert!(!printed.stdout.contains("publ."), "{}", printed.stdout);
}

#[test]
fn one_block_names_no_cheapest_arm() {
    let folder = Folder::new();

    let printed = dbstow(&folder, &[&QUICK[..], &["--blocks", "1"]].concat());

    contains(&printed.stdout, &["inconclusive"]);
    assert!(!printed.stdout.contains("Cheapest"), "{}", printed.stdout);
}

#[test]
fn results_without_an_arm_in_common_say_which_they_have() {
    let folder = Folder::new();
    for (experiment, out) in [
        ("tempdb-ssd-vs-premium", "a"),
        ("ultra-vs-premium-pool", "b"),
    ] {
        let printed = dbstow(&folder, &["run", experiment, "--quick", "--out", out]);
        assert_eq!(printed.code, 0, "{}", printed.stderr);
    }

    let printed = dbstow(&folder, &["report", "a", "b"]);

    assert_eq!(printed.code, 2);
    contains(
        &printed.stderr,
        &["no arm in common", "local-ssd, p30", "premium-pool, ultra"],
    );
}

#[test]
fn more_rows_than_this_machine_holds_are_refused_before_the_first_is_loaded() {
    let folder = Folder::new();
    let rows = [
        "check",
        "tempdb-spill",
        "--set",
        "workload.parameters.rows=100_000_000_000",
    ];

    let printed = dbstow(&folder, &rows);

    assert_eq!(printed.code, 2, "{}", printed.stderr);
    contains(
        &printed.stderr,
        &[
            "a trial needs about",
            "of memory, and this machine has",
            "--allow-large",
        ],
    );
}

#[cfg(all(target_os = "linux", feature = "postgres"))]
#[test]
fn what_a_run_needs_is_one_message_before_it() {
    let folder = Folder::new();
    let emulate = [
        "tempdb-ssd-vs-premium",
        "--mode",
        "emulate",
        "--engine",
        "postgres",
    ];
    for command in ["check", "run"] {
        let bin = [&[command][..], &emulate, &["--postgres-bin", "nowhere"]].concat();
        let printed = dbstow(&folder, &bin);
        assert_ne!(printed.code, 0);
        contains(&printed.stderr, &["nowhere: there is no `initdb` in it"]);
        let memory = [&[command][..], &emulate, &["--set", "engine.memory=30 TiB"]].concat();
        contains(
            &dbstow(&folder, &memory).stderr,
            &["30 TiB of memory, and this machine has"],
        );
    }
    let given = [
        &[
            "check",
            "tempdb-ssd-vs-premium",
            "--mode",
            "measure",
            "--engine",
            "postgres",
        ][..],
        &[
            "--server",
            "postgresql://ann@localhost/x",
            "--volume",
            "d=/tmp",
            "--volume",
            "f=/tmp",
        ],
    ];
    let printed = dbstow(&folder, &given.concat());
    assert_eq!(printed.code, 2, "{}", printed.stderr);
    contains(
        &printed.stderr,
        &[
            "puts the log on d and \"p30\" on f",
            "pg_wal",
            "--set placement",
        ],
    );
}

#[test]
fn a_sweep_says_where_more_stops_helping_and_is_refused_where_it_would_be_ignored() {
    let folder = Folder::new();
    let run = |sweep| [&QUICK[..], &["--set", sweep]].concat();

    let swept = dbstow(&folder, &run("engine.memory=64 MiB,256 MiB"));
    assert_eq!(swept.code, 0, "{}", swept.stderr);
    contains(
        &swept.stdout,
        &[
            "= p30-memory-256-MiB and local-ssd-memory-256-MiB tie",
            "p30: engine.memory still helps at 256 MiB, the last value.",
        ],
    );

    let real = [&run("volume.f.count=1,2")[..], &["--mode", "measure"]].concat();
    let ignored = dbstow(&folder, &real);
    assert_eq!(ignored.code, 2, "{}", ignored.stdout);
    contains(
        &ignored.stderr,
        &["--set volume.f.count=1,2: measure has real disks"],
    );
}

#[test]
fn a_plan_of_what_does_not_fit_is_shown_with_a_note() {
    let folder = Folder::new();
    let rows = "workload.parameters.rows=2_000_000_000";

    let shown = dbstow(&folder, &["plan", "tempdb-spill", "--set", rows]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    contains(&shown.stdout, &["rows = 2000000000"]);
    contains(&shown.stderr, &["cannot run here: a trial needs about"]);
}

#[test]
fn sessions_of_one_database_wait_for_rows_and_not_for_its_one_writer() {
    let folder = Folder::new();
    folder.make_folder("shared");
    let file = |name: &str, text: &str| folder.write(&format!("shared/{name}"), text);
    file(
        "workload.toml",
        "name = \"shared\"\nabout = \"One table for all.\"\ndatabase = \"shared\"\ntables = \"data\"\n\
         operation = \"operation\"\n[parameters]\napart = 1\n[load]\nschema = [\"schema.sql\"]\nscripts = [\"load.sql\"]\n\
         [run]\nduration = \"300 ms\"\nscripts = [{ file = \"count.sql\" }]\n",
    );
    file(
        "schema.sql",
        "CREATE TABLE t (k INTEGER PRIMARY KEY, n INTEGER);\n",
    );
    file(
        "load.sql",
        "INSERT INTO t SELECT value, 0 FROM generate_series(0, 99);\n",
    );
    file(
        "count.sql",
        "UPDATE t SET n = n + 1 WHERE k = :apart * :session;\n",
    );
    let run = |sessions: u32, apart: u32| -> f64 {
        let sessions = format!("workload.sessions={sessions}");
        let apart = format!("workload.parameters.apart={apart}");
        let asked = ["run", QUICK[1], "--workload", "shared", "--blocks", "1"];
        let durable = "engine.commit=\"durable\"";
        let also = [
            "--set", durable, "--set", &sessions, "--set", &apart, "--format", "json",
        ];
        let shown = dbstow(&folder, &[&asked[..], &also[..]].concat());
        assert_eq!(shown.code, 0, "{}", shown.stderr);
        let findings: serde_json::Value =
            serde_json::from_str(&shown.stdout).expect("it is one document");
        let rate = &findings["arms"][0]["metrics"]["operations_per_s"]["mean"];
        rate.as_f64()
            .unwrap_or_else(|| panic!("no rate in {}", findings["arms"][0]))
    };
    let alone = run(1, 1);
    // Many commits share a write to the log, and separate rows do not conflict.
    assert!(run(16, 1) > 6.0 * alone, "16 rows against {alone}");
    // One row has one owner until its change is in the log; the others' statements wait with it.
    assert!(run(16, 0) < 1.5 * alone, "one row against {alone}");

    // A transaction left open would keep all others out; one that is rolled back changes nothing.
    file("count.sql", "BEGIN;\nUPDATE t SET n = 1 WHERE k = 1;\n");
    let asked = [
        "run",
        QUICK[1],
        "--workload",
        "shared",
        "--blocks",
        "1",
        "--fresh",
    ];
    let open = dbstow(&folder, &asked);
    assert_ne!(open.code, 0, "{}", open.stdout);
    contains(
        &[open.stdout, open.stderr].concat(),
        &["a transaction is left open; end it with COMMIT"],
    );
    file(
        "count.sql",
        "BEGIN;\nUPDATE t SET n = 1 WHERE k = 1;\nROLLBACK;\n",
    );
    let undone = dbstow(&folder, &asked);
    assert_eq!(undone.code, 0, "{}", undone.stderr);

    // Several sessions cannot load one database at the same time.
    let measured = [
        "check",
        QUICK[1],
        "--workload",
        "shared",
        "--set",
        "workload.sessions=2",
    ];
    let text = folder.read("shared/workload.toml");
    file(
        "workload.toml",
        &text.replace("[load]\n", "[load]\nmeasured = true\n"),
    );
    let refused = dbstow(&folder, &measured);
    contains(&refused.stderr, &["leave out load.measured"]);
    file("workload.toml", &text);

    // SQLite in real time is what it is.
    let check = ["check", QUICK[1], "--workload", "shared"];
    let of = |mode| {
        dbstow(
            &folder,
            &[
                &check[..],
                &["--set", "workload.sessions=16", "--mode", mode],
            ]
            .concat(),
        )
    };
    contains(
        &of("emulate").stderr,
        &["SQLite lets one of them write at a time"],
    );
    // On a busy machine it announces its duration.
    let simulated = of("simulate").stderr;
    assert!(!simulated.contains("SQLite lets one"), "{simulated}");
}

#[test]
fn operations_that_take_no_virtual_time_fail_with_their_script_instead_of_running_for_ever() {
    let folder = Folder::new();
    let raw = "name = \"raw\"\nduration = \"5 s\"\n[workload.parameters]\ndepth = 32\n[engine]\nname = \"raw\"";
    let text = GP2
        .replace(
            raw,
            "folder = \"x\"\nwarm_up = \"1 s\"\nduration = \"2 s\"\n[engine]",
        )
        .replace("metric = \"iops\"", "metric = \"operations_per_s\"");
    let file = write(&folder, "own.toml", &text);
    for (name, script, why) in [
        (
            "divides.sql",
            "\\set id 1 / 0\nSELECT :id;\n",
            "operations of divides.sql take no time at all and fail (divides.sql: divides.sql:1: division by zero",
        ),
        (
            "never.sql",
            "\\if 0\nSELECT 1;\n\\endif\n",
            "operations of never.sql take no time at all, so that a duration never ends; let the script do something",
        ),
    ] {
        let script = write(&folder, name, script);
        let arguments = [
            "run",
            file,
            "--workload",
            script,
            "--blocks",
            "1",
            "--fresh",
        ];
        let printed = dbstow(&folder, &arguments);
        assert_eq!(printed.code, 1, "{}", printed.stderr);
        contains(&printed.stdout, &["failed-trials", why]);
    }
}
