//! The command as a user types it.

use std::fs;

use assert_cmd::Command;
use testing::folder::{self, Folder, contains, said};

use crate::layout::server;

fn dbstow(folder: &Folder, arguments: &[&str]) -> Command {
    folder.dbstow(&[&["layout"], arguments].concat())
}

fn folder() -> Folder {
    let capture = server(3, "Windows", "C:\\MSSQL\\DATA\\", 1);
    let text = serde_json::to_string(&capture).expect("a capture is JSON");
    Folder::with(&[("server.json", &text)])
}

fn refuses(folder: &Folder, arguments: &[&str], parts: &[&str]) {
    contains(
        &said(&dbstow(folder, arguments).assert().code(2).stdout("")),
        parts,
    );
}

const ARM: [&str; 5] = [
    "tempdb-ssd-vs-premium",
    "--arm",
    "local-ssd",
    "--volume",
    "d=D:\\tempdb",
];

#[test]
fn an_arm_becomes_a_folder_of_scripts_that_is_not_overwritten() {
    let folder = folder();
    let arguments = [&ARM[..], &["--capture", "server.json", "--out", "scripts"]].concat();
    dbstow(&folder, &arguments).assert().success();
    let names: std::collections::BTreeSet<String> = fs::read_dir(folder.path("scripts"))
        .expect("made")
        .map(|entry| {
            entry
                .expect("a file")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    // The arm's disk is the machine's own: it may be empty after a move, so there is a start-up task.
    assert_eq!(
        names,
        [
            "0-folders.ps1",
            "1-check.sql",
            "2-apply.sql",
            "3-restart.ps1",
            "4-size.sql",
            "5-verify.sql",
            "README.md",
            "rescue.cmd",
            "rescue.sql",
            "start-up-register.ps1",
            "start-up.ps1",
            "undo-after-restart.sql",
            "undo.sql"
        ]
    );
    refuses(&folder, &arguments, &["is there already"]);
}

/// SQL Server does not start after a stop where nothing makes tempdb's folder again.
#[test]
fn tempdb_on_an_instance_store_gets_a_start_up_script_that_formats_it() {
    let folder = folder();
    let case = include_str!("../../cases/tempdb-on-instance-store.toml");
    folder.write("case.toml", case);
    let given = ["case.toml", "--volume", "store=T:\\tempdb"];
    let text = folder::stdout(&dbstow(&folder, &given).assert().success());
    assert!(text.contains("==> start-up.ps1 <=="), "{text}");
    assert!(text.contains("comes back without a file system"), "{text}");
    // Both the script for now and the one for every start.
    assert_eq!(text.matches("foreach ($place in @('T:\\'))").count(), 2);

    let given = ["case.toml", "--volume", "store=/mnt/store"];
    let text = folder::stdout(&dbstow(&folder, &given).assert().success());
    assert!(text.contains("==> dbstow-folders.service <=="), "{text}");
    assert!(text.contains("nothing here"), "{text}");
}

#[test]
fn a_disk_that_is_called_raw_and_keeps_its_data_is_reported() {
    let folder = folder();
    let case = include_str!("../../cases/tempdb-on-instance-store.toml");
    folder.write("case.toml", case);
    let said = |disk: &str, option: &str| {
        let size = if disk == "aws.gp3" {
            ", size = \"500 GiB\""
        } else {
            ""
        };
        let set = format!("volume.store={{ disk = \"{disk}\"{size} }}");
        let given = [
            "case.toml",
            "--volume",
            "store=T:\\tempdb",
            option,
            "store",
            "--set",
            &set,
        ];
        said(&dbstow(&folder, &given).assert().success())
    };
    for option in ["--raw", "--ephemeral"] {
        let part =
            format!("{option} store: the catalogue says of aws.gp3 after a stop: what it held");
        let text = said("aws.gp3", option);
        assert!(text.contains(&part), "no {part}: {text}");
        let text = said("aws.instance_store.i4i.2xlarge", option);
        assert!(!text.contains("after a stop"), "{text}");
    }
}

#[test]
fn keys_that_change_no_script_are_reported() {
    let folder = folder();
    let case = include_str!("../../cases/tempdb-on-instance-store.toml");
    folder.write("case.toml", case);
    let given = ["case.toml", "--volume", "store=T:\\tempdb"];
    let set = [
        "--set",
        "workload.sessions=9",
        "--set",
        "volume.store.interleave=1 MiB",
    ];
    let output = dbstow(&folder, &[&given[..], &set[..]].concat()).assert();
    let output = output.success();
    let text = said(&output);
    let parts = [
        "without effect: workload.sessions (scripts place files, and set nothing else of a server)",
        "without effect: volume.store.interleave (one disk is not striped)",
    ];
    contains(&text, &parts);
}

#[test]
fn files_can_be_given_without_an_experiment() {
    let folder = folder();
    let given = [
        "--files", "4", "--size", "4 GiB", "--volume", "a=/a", "--volume", "b=/b",
    ];
    let text = folder::stdout(&dbstow(&folder, &given).assert().success());
    assert!(text.contains("==> rescue.sh <=="), "{text}");
    assert!(
        text.contains("N'/b/tempdb_mssql_4.ndf', SIZE = 8MB"),
        "{text}"
    );
    assert!(text.contains("[temp4], SIZE = 4096MB"), "{text}");
}

#[test]
fn an_arm_of_mariadb_places_its_binary_log() {
    let folder = folder();
    let given = [
        "mariadb-binlog-apart",
        "--arm",
        "apart",
        "--engine",
        "mariadb",
        "--role",
        "log,binlog",
        "--volume",
        "redo=/mnt/r",
        "--volume",
        "binlog=/mnt/b",
    ];
    let text = folder::stdout(&dbstow(&folder, &given).assert().success());
    assert!(text.contains("\nlog=/mnt/r/dbstow_log\n"), "{text}");
    assert!(text.contains("\nbinlog=/mnt/b/dbstow_binlog\n"), "{text}");
    assert!(text.contains("\nundo=''\n"), "{text}");
}

#[test]
fn mistakes_are_told_with_their_remedy() {
    let folder = folder();
    for (arguments, says) in [
        (vec![], vec!["nothing to lay out", "--files"]),
        (
            vec!["tempdb-ssd-vs-premium"],
            vec!["which arm?", "local-ssd, p30"],
        ),
        (
            vec!["tempdb-ssd-vs-premium", "--arm", "p31"],
            vec!["no such arm", "did you mean \"p30\"?"],
        ),
        (
            [&ARM[..3], &["--capture", "server.json"]].concat(),
            vec!["volume \"d\" has no folder", "--volume d=D:\\tempdb"],
        ),
        (
            [&ARM[..], &["--volume", "e=E:\\x"]].concat(),
            vec!["--volume e=..", "volumes that hold one: d"],
        ),
        (
            [&ARM[..3], &["--volume", "d=tempdb", "--on", "windows"]].concat(),
            vec!["not absolute", "D:\\tempdb"],
        ),
        (
            [&ARM[..], &["--on", "linux"]].concat(),
            vec!["path of Windows, and the server runs on Linux"],
        ),
        (
            [&ARM[..], &["--capture", "server.json", "--on", "linux"]].concat(),
            vec!["the capture is of a server on windows"],
        ),
        (
            [&ARM[..], &["--capture", "none.json"]].concat(),
            vec!["none.json"],
        ),
        (
            vec!["--files", "1", "--volume", "a=/a", "--volume", "b=/b"],
            vec!["some would stay empty"],
        ),
        (vec!["--files", "8"], vec!["Windows or Linux is not known"]),
        (
            [&ARM[..], &["--ephemeral", "x"]].concat(),
            vec!["--ephemeral x", "temp files are on: d"],
        ),
        (
            [&ARM[..], &["--raw", "x"]].concat(),
            vec!["--raw x", "temp files are on: d"],
        ),
        (
            [&ARM[..3], &["--raw", "d", "--volume", "d=C:\\"]].concat(),
            vec!["--volume d=C:\\", "the system's drive"],
        ),
        (
            [&ARM[..3], &["--raw", "d", "--volume", "d=\\\\host\\share"]].concat(),
            vec!["is not a share"],
        ),
        (
            [&ARM[..], &["--role", "tmp"]].concat(),
            vec!["temp, data or log", "binlog"],
        ),
        (
            [&ARM[..], &["--size", "4"]].concat(),
            vec!["a size such as"],
        ),
    ] {
        refuses(&folder, &arguments, &says);
    }
    refuses(
        &folder,
        &[
            "mariadb-binlog-apart",
            "--arm",
            "apart",
            "--role",
            "temp,data,log",
        ],
        &["arm apart places binlog", "--engine mariadb alone"],
    );
    refuses(
        &folder,
        &["--role", "undo", "--volume", "a=/mnt/a"],
        &["--role undo", "--engine mariadb alone"],
    );
    let mariadb = [
        "mariadb-binlog-apart",
        "--arm",
        "apart",
        "--engine",
        "mariadb",
        "--volume",
        "data=/mnt/a",
    ];
    refuses(
        &folder,
        &[&mariadb[..], &["--role", "data,doublewrite"]].concat(),
        &["does not place doublewrite", "placement.NAME.doublewrite"],
    );
    let of_others = [
        ("--capture", "server.json", "use no capture"),
        ("--size", "4 GiB", "--size is of SQL Server's files"),
        ("--log-size", "1 GiB", "--log-size is of SQL Server's files"),
        ("--growth", "1 GiB", "--growth is of SQL Server's files"),
    ];
    for engine in ["mariadb", "postgres"] {
        for (option, value, says) in of_others {
            let given = ["--engine", engine, "--volume", "a=/mnt/a", option, value];
            refuses(&folder, &given, &[says, "leave it out"]);
        }
        let given = [
            "--engine",
            engine,
            "--volume",
            "a=/mnt/a",
            "--allow-fewer-files",
        ];
        refuses(&folder, &given, &["--allow-fewer-files is of SQL Server"]);
    }
    refuses(
        &folder,
        &[&ARM[..], &["--data-directory", "/data"]].concat(),
        &["--data-directory is of a PostgreSQL server"],
    );
    let captured = mariadb::capture::Capture {
        format: mariadb::capture::FORMAT,
        ..mariadb::capture::Capture::default()
    };
    let captured = serde_json::to_string(&captured).expect("a capture is JSON");
    folder.write("mariadb.json", captured);
    refuses(
        &folder,
        &[&ARM[..], &["--capture", "mariadb.json"]].concat(),
        &["a capture of mariadb", "add --engine mariadb"],
    );
    folder.write("other.json", "{\"a\": 1}");
    let other = [&ARM[..], &["--capture", "other.json"]].concat();
    refuses(
        &folder,
        &other,
        &["other.json", "not a capture of a server", "dbstow doctor"],
    );
}
