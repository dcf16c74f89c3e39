//! `dbstow lint` as a user runs it, on captures: those of SQL Server were written by hand, that of MariaDB is real.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use assert_cmd::assert::OutputAssertExt;
use serde::Deserialize;
use serde_json::Value;
use testing::folder::{self, Folder, said};

const SCHEMA: &str = include_str!("../../../../schema/lint.schema.json");

fn capture(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../engines/sqlserver/tests/captures");
    folder.join(name)
}

/// The program in the captures' folder, so that its output has no path of this machine.
fn lint(arguments: &[&str]) -> Command {
    let mut command = Command::new(testing::program());
    command.current_dir(capture("")).arg("lint").args(arguments);
    command
}

fn stdout(arguments: &[&str]) -> String {
    folder::stdout(&lint(arguments).assert().success())
}

/// Runs it and returns its stderr.
#[track_caller]
fn refused(arguments: &[&str], code: i32) -> String {
    said(&lint(arguments).assert().code(code))
}

const ALL: [&str; 6] = [
    "windows-2022-good-layout.json",
    "windows-2019-azure-vm.json",
    "linux-2022-container.json",
    "managed-instance.json",
    "azure-sql-database.json",
    "standalone-2016-bad-layout.json",
];

/// From the folder of the others.
const MARIADB: &str = "../../../mariadb/tests/captures/mariadb-10.11.json";

#[test]
fn text_keeps_to_a_hundred_columns_and_names_the_worst_first() {
    for name in ALL {
        let screen = stdout(&[name, "--profile", "dbatools"]);
        assert!(screen.lines().count() <= 40, "{screen}");
        let text = stdout(&[name, "--profile", "dbatools", "--full"]);
        for line in screen.lines().chain(text.lines()) {
            assert!(line.chars().count() <= 100, "{name}: {line}");
        }
    }
    let text = stdout(&["standalone-2016-bad-layout.json", "--full"]);
    let at = |part: &str| {
        text.find(part)
            .unwrap_or_else(|| panic!("no {part}:\n{text}"))
    };
    assert!(at("\nHIGH\n") < at("\nMEDIUM\n"));
    assert!(at("\nMEDIUM\n") < at("\nEXEMPT\n"));
    assert!(at("\nEXEMPT\n") < at("\nUNKNOWN\n"));
    assert!(at("\nUNKNOWN\n") < at("\nNot for this server: "));
}

#[test]
fn text_of_an_azure_machine_whose_owner_told_of_it() {
    let text = stdout(&[
        "windows-2019-azure-vm.json",
        "--host",
        "windows-2019-azure-vm.host.toml",
        "--rule",
        "azure-log-cache",
        "--rule",
        "azure-data-cache",
        "--rule",
        "volume-allocation-unit",
        "--rule",
        "managed-log-files",
        "--full",
    ]);
    insta::assert_snapshot!(text, @r#"
    0 high, 0 medium, 1 low, 0 notes; 2 exempt, 0 unknown, 4 fine.

    windows-2019-azure-vm.json: SQL Server 15.0.4385.2, Standard Edition (64-bit), Windows; captured
    2026-11-21T08:00:00+00:00

    LOW
    - azure-log-cache: F:\ holds data too, for which a read-only cache is right; a log wants none, so
      one of the two rules is broken while both are here
      found: host cache of F:\: read-only
      where: F:\
      do: put the log on a volume without cache if its writes are slow; else leave it
      by: Microsoft, SQL Assessment API, ruleset 1.1.17, read 2026-11-21 and 3 more

    EXEMPT
    - volume-allocation-unit (system-volume): C:\ is the volume of Windows, formatted by setup
    - volume-allocation-unit (temporary-disk): D:\ is a temporary disk; its 4 KiB are accepted

    Fine: azure-data-cache
    Not for this server: managed-log-files

    Rules:   dbstow lint --list
    "#);
}

#[test]
fn text_of_mariadb_names_it_and_what_a_disk_told_of_it_changes() {
    let one = ["--rule", "innodb-io-capacity"];
    let text = stdout(&[MARIADB, one[0], one[1], "--full"]);
    assert!(
        text.contains(": MariaDB 10.11.19-MariaDB-0+deb12u1-log, Debian"),
        "{text}"
    );
    assert!(text.contains("\nUNKNOWN\n- what the disk serves"), "{text}");
    let told = "[[volumes]]\nmount_point = \"/srv\"\ndisk = \"azure.premium.p30\"\n";
    let folder = Folder::with(&[("host.toml", told)]);
    let host = folder.text("host.toml");
    let text = stdout(&[MARIADB, one[0], one[1], "--host", &host, "--full"]);
    // 20 x 200 are fewer than the 5,000 IOPS of a P30.
    assert!(text.contains("\nLOW\n- innodb-io-capacity: "), "{text}");
    assert!(text.contains("the disk serves 5000 IOPS"), "{text}");
}

#[test]
fn a_mount_point_of_the_host_file_that_the_capture_does_not_have_is_reported() {
    let folder = Folder::new();
    let host = folder.text("host.toml");
    for (told, part) in [
        (
            "host_cache = 'none'",
            "where the capture has no file: this has no effect; check mount_point",
        ),
        // A temporary disk may well be empty, and is proposed for tempdb.
        (
            "ephemeral = true",
            "names a temporary disk Q:\\, where the capture has no file: nothing shows that the server has it",
        ),
    ] {
        let text = format!("[[volumes]]\nmount_point = 'Q:\\'\n{told}\n");
        folder.write("host.toml", text);
        let said = refused(&["windows-2019-azure-vm.json", "--host", &host], 0);
        assert!(said.contains(part), "no {part}: {said}");
    }
}

#[test]
fn json_fits_its_schema() {
    let schema: Value = serde_json::from_str(SCHEMA).expect("it is JSON");
    let validator = jsonschema::validator_for(&schema).expect("it is a schema");
    let sql_server = ALL.map(|name| vec![name, "--profile", "microsoft"]);
    for mut arguments in sql_server.into_iter().chain([vec![MARIADB]]) {
        arguments.extend(["--format", "json"]);
        let name = arguments[0];
        let text = stdout(&arguments);
        let document: Value = serde_json::from_str(&text).expect("one document");
        let errors: Vec<String> = validator
            .iter_errors(&document)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{name}: {errors:#?}");
    }
}

/// What cargo prints.
fn cargo(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO"));
    command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(arguments);
    folder::stdout(&command.assert().success())
}

/// The platform that the tests run on, as `x86_64-unknown-linux-gnu`.
fn host() -> String {
    let version = cargo(&["--version", "--verbose"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.expect("cargo names its host").to_owned()
}

/// The official schema comes in the package of `serde-sarif`, which is here for it and its types.
#[test]
fn sarif_fits_the_official_schema() {
    let metadata = cargo(&[
        "metadata",
        "--format-version=1",
        "--offline",
        "--locked",
        // Packages of other platforms are in a developer's cache at best.
        &format!("--filter-platform={}", host()),
    ]);
    let metadata: Value = serde_json::from_str(&metadata).expect("cargo prints JSON");
    let packages = metadata["packages"].as_array().expect("there are packages");
    let package = packages
        .iter()
        .find(|package| package["name"] == "serde-sarif")
        .expect("it is a dependency of these tests");
    let manifest = Path::new(package["manifest_path"].as_str().expect("a path"));
    let schema = std::fs::read_to_string(manifest.with_file_name("src").join("schema.json"));
    let mut schema: Value =
        serde_json::from_str(&schema.expect("it is in the package")).expect("it is JSON");
    // Its one flaw: `-[a-zA-Z]{2}]?$` is not a regular expression of ECMA-262 in Unicode mode. We give no language.
    for kind in ["run", "toolComponent"] {
        let language = &mut schema["definitions"][kind]["properties"]["language"];
        let language = language.as_object_mut().expect("it is described");
        language.remove("pattern");
    }
    assert_eq!(
        schema["title"],
        "Static Analysis Results Format (SARIF) Version 2.1.0 JSON Schema"
    );
    let validator = jsonschema::validator_for(&schema).expect("it is a schema");
    for name in ALL.into_iter().chain([MARIADB]) {
        let text = stdout(&[name, "--format", "sarif"]);
        let log: Value = serde_json::from_str(&text).expect("one document");
        let errors: Vec<String> = validator
            .iter_errors(&log)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{name}: {errors:#?}");
        serde_sarif::sarif::Sarif::deserialize(&log).expect("its types take it");
        let results = log["runs"][0]["results"].as_array().expect("results");
        for result in results {
            let level = result["level"].as_str().expect("a level");
            // SARIF 2.1.0, 3.27.10: a level other than none is for failures.
            assert_eq!(result["kind"] == "fail", level != "none", "{result}");
        }
    }
}

#[test]
fn a_finding_that_is_told_not_to_stand_ends_with_three() {
    let bad = "standalone-2016-bad-layout.json";
    let text = refused(&[bad, "--fail-on", "high"], 3);
    assert_eq!(text, "dbstow: 2 findings are high (--fail-on high)\n");
    let good = "windows-2022-good-layout.json";
    lint(&[good, "--fail-on", "note"]).assert().success();
    lint(&[bad]).assert().success();
    let one = ["--rule", "instant-file-initialization"];
    let text = refused(&[bad, one[0], one[1], "--fail-on", "low"], 3);
    assert_eq!(text, "dbstow: 1 finding is low or worse (--fail-on low)\n");
}

#[test]
fn mistakes_have_a_place_and_a_remedy() {
    let good = "windows-2022-good-layout.json";
    for (arguments, expected) in [
        (
            &[good, "--rule", "tempdb-filecount"][..],
            "--rule: there is no rule \"tempdb-filecount\"; did you mean \"tempdb-file-count\"?",
        ),
        (
            &[good, "--ignore", "zebra"],
            "--ignore: there is no rule \"zebra\"; `dbstow lint --list` shows all",
        ),
        (
            &["windows-2019-azure-vm.host.toml"],
            "windows-2019-azure-vm.host.toml:1: this is not JSON",
        ),
        (
            &["../../../../../schema/lint.schema.json"],
            "not a capture of a server; give a file that `dbstow doctor` wrote",
        ),
        (
            &[good, "--results", "nowhere"],
            "nowhere holds no results of dbstow",
        ),
        (&[good, "--host", good], ".json:1: "),
        (&["--list", "--format", "sarif"], "printed as text or JSON"),
        (
            &[MARIADB, "--rule", "tempdb-file-count"],
            "--rule: the rule \"tempdb-file-count\" is for another product",
        ),
        (
            &[MARIADB, "--ignore", "redo-log-smal"],
            "did you mean \"redo-log-small\"?",
        ),
        (
            &[MARIADB, "--profile", "azure"],
            "--profile is for SQL Server, and this is MariaDB; leave it out",
        ),
    ] {
        let text = refused(arguments, 2);
        assert!(text.contains(expected), "{arguments:?}: {text}");
    }
    // So is a file that is not there.
    assert!(refused(&["nowhere.json"], 2).contains("cannot read the capture nowhere.json"));
}

#[test]
fn the_list_has_every_rule_with_its_source_and_day() {
    let text = stdout(&["--list"]);
    let json: Value = serde_json::from_str(&stdout(&["--list", "--format", "json"])).expect("JSON");
    let rules = json["rules"].as_array().expect("rules");
    assert!(rules.len() >= 50);
    let ids: BTreeSet<&str> = rules
        .iter()
        .filter_map(|rule| rule["id"].as_str())
        .collect();
    assert_eq!(ids.len(), rules.len(), "a rule's id is there twice");
    for rule in rules {
        let id = rule["id"].as_str().expect("an id");
        let severity = rule["severity"].as_str().expect("a severity");
        assert!(text.contains(&format!("{id} ({severity})\n")), "{id}");
        for source in rule["sources"].as_array().expect("sources") {
            assert!(text.contains(source["url"].as_str().expect("a URL")));
            assert!(source["read"].is_string());
        }
    }
}

#[test]
fn comparisons_of_ones_own_stand_beside_the_finding() {
    let folder = Folder::new();
    folder.stdout(&["run", "files-times-disks", "--quick", "--out", "r"]);
    let results = folder.text("r");

    let arguments = [
        "linux-2022-container.json",
        "--rule",
        "tempdb-file-count",
        "--results",
        &results,
    ];
    let text = stdout(&[&arguments[..], &["--full"]].concat());
    assert!(text.contains("simulated here with sqlite"), "{text}");
    let json: Value =
        serde_json::from_str(&stdout(&[&arguments[..], &["--format", "json"]].concat()))
            .expect("one document");
    let measured = &json["rules"][0]["outcomes"][0]["measured"];
    let measured = measured.as_array().expect("comparisons");
    assert!(!measured.is_empty());
    for comparison in measured {
        assert_eq!(comparison["mode"], "simulate");
        // Only the arms with as many disks as the baseline, 1.
        let candidate = comparison["candidate"].as_str().expect("a name");
        assert!(candidate.ends_with("disks-1"), "{candidate}");
    }
}
