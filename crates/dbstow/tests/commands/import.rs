//! `dbstow import` and `dbstow profile` as a user runs them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use testing::folder::Folder;

/// A file that a tool wrote.
fn file(name: &str) -> String {
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("../import/tests/files");
    files.join(name).display().to_string()
}

/// As [`Folder::refuses`], and nothing was written.
fn refuses(folder: &Folder, arguments: &[&str], parts: &[&str]) {
    folder.refuses(arguments, parts);
    assert!(!folder.path("shop.toml").exists());
}

#[test]
fn what_was_imported_can_be_shown() {
    let folder = Folder::new();
    let relog = file("perfmon/relog.csv");
    let devices = [
        "--device", "data=D:", "--device", "log=D:", "--device", "temp=T:",
    ];
    let arguments = [
        &["import", relog.as_str(), "--out", "shop.toml"],
        devices.as_slice(),
    ]
    .concat();
    let imported = folder.stdout(&arguments);
    assert!(
        imported.starts_with("shop.toml: 5 intervals of 15 s from perfmon\n"),
        "{imported}"
    );
    assert!(imported.contains("The log shares a volume"), "{imported}");
    // The page on profiles shows this one.
    let example = fs::read_to_string(file("shop.toml")).expect("an example");
    let written = folder.read("shop.toml");
    assert_eq!(written, example);

    let shown = folder.stdout(&["profile", "shop.toml", "--full"]);
    for part in [
        "SQL Server",
        "2 processors",
        "data",
        "busiest",
        "operations/s",
        "closed loop",
    ] {
        assert!(shown.contains(part), "no {part:?} in: {shown}");
    }
    let json = folder.stdout(&["profile", "shop.toml", "--format", "json"]);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    // 210, 220, .. 250 reads/s.
    assert_eq!(json["roles"]["data"]["mean"]["reads"]["per_s"], 230.0);
    assert_eq!(json["roles"]["data"]["busiest"]["at_s"], 60.0);
    assert_eq!(json["answers"][0]["known"], true);
}

#[test]
fn a_page_is_written_beside_what_is_printed() {
    let folder = Folder::new();
    let shop = file("shop.toml");
    let printed = folder.stdout(&["profile", &shop]);
    let with_page = folder.stdout(&["profile", &shop, "--html", "shop.html"]);
    assert_eq!(with_page, printed);
    let page = folder.read("shop.html");
    for part in [
        "What SQL Server asked of its disks",
        "processors in use",
        "What the profile can answer",
        "The log shares a volume",
    ] {
        assert!(page.contains(part), "no {part:?}");
    }
    // To a stream too, as every page.
    let both = folder.stdout(&["profile", &shop, "--html", "/dev/stdout"]);
    assert!(
        both.starts_with(&printed) && both.trim_end().ends_with("</html>"),
        "{both:.200}"
    );
}

#[test]
fn a_page_that_cannot_be_written_is_told_as_by_report() {
    let folder = Folder::new();
    let shop = file("shop.toml");
    folder.make_folder("folder");
    for (page, part) in [
        ("no/such/folder.html", "no/such/folder"),
        ("folder", "folder"),
    ] {
        let wanted = ["profile", &shop, "--html", page];
        let assert = folder.dbstow(&wanted).assert().code(1);
        let output = assert.get_output();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains(part), "{told}");
        // What else was requested is not lost.
        assert!(!output.stdout.is_empty());
    }
    let told = folder.fails(&["profile", &shop, "--open"], 2);
    assert!(told.contains("--html <FILE>"), "{told}");
}

#[test]
fn a_profile_can_be_piped() {
    let folder = Folder::new();
    let file = file("sysstat/iostat-iso.json");
    let arguments = ["import", file.as_str(), "--out", "/dev/stdout"];
    let profile = folder.stdout(&arguments);
    assert!(
        profile.starts_with("format = \"dbstow.profile/1\"\n"),
        "{profile}"
    );
}

#[test]
fn mistakes_are_usage_errors_with_file_and_remedy() {
    let folder = Folder::new();
    folder.write("other.csv", "name,value\n1,2\n");
    folder.write("there.toml", "");
    let (relog, iostat) = (file("perfmon/relog.csv"), file("sysstat/iostat-iso.json"));
    let import = |rest: &[&'static str]| [&["import"], rest, &["--out", "shop.toml"]].concat();
    refuses(
        &folder,
        &import(&["other.csv"]),
        &["other.csv: this is not a file of a known tool"],
    );
    refuses(&folder, &import(&["none.csv"]), &["none.csv: "]);
    let of = |file: &str, device: &str| {
        let arguments = ["import", file, "--device", device, "--out", "shop.toml"];
        arguments.map(str::to_owned)
    };
    for (file, device, part) in [
        (&relog, "data=X:", "it has no device `X:`; it has d:, t:"),
        (&iostat, "data=sda", "it has no device `sda`; it has vda"),
    ] {
        let arguments = of(file, device);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        refuses(&folder, &arguments, &[part]);
    }
    let two = ["import", relog.as_str(), "--out", "shop.toml"];
    refuses(
        &folder,
        &two,
        &[
            "it has 2 devices with requests",
            "--device data=d: --device log=t:",
        ],
    );
    let there = ["import", iostat.as_str(), "--out", "there.toml"];
    refuses(&folder, &there, &["there.toml already exists"]);
    refuses(&folder, &["profile", "other.csv"], &["other.csv:1: "]);
    refuses(
        &folder,
        &["profile", "none.toml"],
        &["none.toml: ", "`dbstow import`"],
    );
}

#[test]
fn a_run_of_dbstow_becomes_a_profile_by_its_arm() {
    let folder = Folder::new();
    let run = [
        "run",
        "tempdb-ssd-vs-premium",
        "--quick",
        "--out",
        "results",
    ];
    folder.dbstow(&run).assert().success();
    let out = ["--out", "shop.toml"];
    refuses(
        &folder,
        &[&["import", "results"], out.as_slice()].concat(),
        &["local-ssd", "choose one with --arm"],
    );
    refuses(
        &folder,
        &[&["import", "results", "--arm", "x"], out.as_slice()].concat(),
        &["no completed trial of \"x\""],
    );
    folder.stdout(&[&["import", "results", "--arm", "p30"], out.as_slice()].concat());
    let json = folder.stdout(&["profile", "shop.toml", "--format", "json"]);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["origin"]["tool"], "dbstow run (simulate)");
    assert_eq!(json["volumes"][0]["disk"], "azure.premium.p30");
    // The load has no operation, and is left out.
    assert!(
        json["operations_per_s"]["mean"].as_f64() > Some(100.0),
        "{json}"
    );
    assert_eq!(
        json["roles"]["data"]["mean"]["flushes"]["per_s"],
        Value::Null
    );
}

#[test]
fn a_sql_server_is_chosen_and_what_is_left_out_is_named_on_standard_error() {
    let folder = Folder::new();
    let (two, log) = (file("perfmon/two-instances.csv"), file("fio/log.iolog"));
    let open = ["import", two.as_str(), "--out", "shop.toml"];
    refuses(
        &folder,
        &open,
        &["2 SQL Servers (A, B): choose with --instance A"],
    );
    let chosen = [open.as_slice(), &["--instance", "b"]].concat();
    folder
        .dbstow(&chosen)
        .assert()
        .success()
        .stderr("dbstow: counters of SQL Server A are not used (--instance)\n");
    // A log of fio has no instances, and no dates in either order.
    let unused = [
        "import",
        log.as_str(),
        "--out",
        "log.toml",
        "--device",
        "log=shop.log",
        "--instance",
        "A",
        "--dates",
        "dmy",
    ];
    folder.dbstow(&unused).assert().success().stderr(
        "dbstow: --instance has no effect on files of fio-iolog\ndbstow: --dates has no effect on files of fio-iolog\n",
    );
}

#[test]
fn a_role_that_does_not_exist_is_refused_with_those_that_do() {
    let arguments = [
        "import",
        "a.csv",
        "--device",
        "wal=vda",
        "--out",
        "shop.toml",
    ];
    let text = Folder::new().fails(&arguments, 2);
    assert!(
        text.contains("give a role (data, log or temp) and a device"),
        "{text}"
    );
}

/// Names of hosts and folders would make a profile one that cannot be handed on.
#[test]
fn no_profile_names_a_host_or_a_path() {
    let folder = Folder::new();
    for (name, devices) in [
        ("blitz-first/file-stats.csv", vec![]),
        ("perfmon/relog.csv", vec!["--device", "data=D:"]),
        ("sysstat/sadf.json", vec![]),
        ("microsoft/SkuRecommendationReport.json", vec![]),
    ] {
        let file = file(name);
        let out = PathBuf::from(name)
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let arguments = [
            &["import", file.as_str(), "--out", out.as_str()],
            devices.as_slice(),
        ]
        .concat();
        folder.dbstow(&arguments).assert().success();
        let text = folder.read(&out);
        for part in ["SERVER", "shop", ".mdf", "D:", "vda"] {
            assert!(!text.contains(part), "{name}: {part:?} in {text}");
        }
    }
}
