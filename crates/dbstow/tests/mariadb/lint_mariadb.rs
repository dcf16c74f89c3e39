//! `dbstow doctor` and `dbstow lint` on a real MariaDB and a real MySQL, first badly set, then well.

#![cfg(all(target_os = "linux", feature = "mariadb"))]

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Output};

use serde_json::Value;
use testing::mysqld::{ENCODED, Mysqld, PASSWORD, Product};

/// What the rules should find.
const BAD: [&str; 6] = [
    "--binlog-expire-logs-seconds=0",
    "--tmpdir=/dev/shm",
    "--innodb-flush-method=fsync",
    "--skip-innodb-doublewrite",
    "--innodb-temp-data-file-path=ibtmp1:12M:autoextend",
    "--performance-schema=OFF",
];

/// A sort that does not fit into its buffer: a tmpdir in memory is only a note where none has spilled.
const SPILLS: &str = "SET sort_buffer_size = 32768; \
     WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 900) \
     SELECT n, rpad(n, 500, 'x') AS filler FROM numbers ORDER BY reverse(filler)";

/// Settings as the rules want them.
const GOOD: [&str; 5] = [
    "--innodb-flush-log-at-trx-commit=1",
    "--binlog-expire-logs-seconds=604800",
    "--innodb-flush-method=O_DIRECT",
    "--innodb-temp-data-file-path=ibtmp1:12M:autoextend:max:1G",
    "--performance-schema=ON",
];

fn dbstow(arguments: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_dbstow"))
        .args(arguments)
        .output()
        .expect("it starts");
    for text in [&output.stdout, &output.stderr] {
        let text = String::from_utf8_lossy(text);
        let shown = [PASSWORD, ENCODED].iter().any(|word| text.contains(word));
        assert!(!shown, "{arguments:?}: {text}");
    }
    output
}

#[track_caller]
fn fits(document: &Value, schema: &str) {
    let schema = serde_json::from_str(schema).expect("it is JSON");
    let validator = jsonschema::validator_for(&schema).expect("it is a schema");
    let errors = validator.iter_errors(document);
    let places: Vec<String> = errors
        .map(|error| error.instance_path().to_string())
        .collect();
    assert!(places.is_empty(), "{places:?} of {document:#}");
}

/// What lint printed about a server of `product`, as each rule's first word: `fine`, or a finding's severity.
fn said(product: Product, output: &Output) -> BTreeMap<String, String> {
    assert!(output.status.success(), "{output:?}");
    let document: Value = serde_json::from_slice(&output.stdout).expect("one document");
    fits(
        &document,
        include_str!("../../../../schema/lint.schema.json"),
    );
    assert_eq!(document["server"]["product"], key(product));
    let rules = document["rules"].as_array().expect("rules");
    let said = |rule: &Value| {
        let outcome = &rule["outcomes"][0];
        let kind = outcome["severity"].as_str().or(outcome["outcome"].as_str());
        let id = rule["id"].as_str().expect("an id").to_owned();
        (id, kind.expect("a kind").to_owned())
    };
    rules.iter().map(said).collect()
}

/// A product as documents name it.
fn key(product: Product) -> &'static str {
    match product {
        Product::Mariadb => "mariadb",
        Product::Mysql => "mysql",
    }
}

#[test]
fn a_badly_set_mariadb_is_found_and_the_same_well_set_is_not() {
    a_badly_set_server_is_found_and_the_same_well_set_is_not(Product::Mariadb);
}

#[test]
fn a_badly_set_mysql_is_found_and_the_same_well_set_is_not() {
    a_badly_set_server_is_found_and_the_same_well_set_is_not(Product::Mysql);
}

fn a_badly_set_server_is_found_and_the_same_well_set_is_not(product: Product) {
    let Some(server) = Mysqld::start_of(product, &BAD) else {
        return;
    };
    server.sql(SPILLS);

    let url = server.socket_url();
    let lint = || dbstow(&["lint", "--server", &url, "--format", "json"]);
    let found = said(product, &lint());
    // MySQL's sessions have temporary tablespaces of their own, and its undo is never in the system tablespace.
    let ([temp_unbounded, temp_bounded], undo) = match product {
        Product::Mariadb => (["low", "fine"], "note"),
        Product::Mysql => (["not-applicable"; 2], "not-applicable"),
    };
    for (rule, expected) in [
        ("binlog-and-redo-together", "low"),
        ("binlog-never-expires", "medium"),
        ("innodb-flush-method", "low"),
        ("tmpdir-in-memory", "medium"),
        ("temp-tablespace-unbounded", temp_unbounded),
        ("undo-in-system-tablespace", undo),
        ("performance-schema-off", "note"),
        // It has just been started.
        ("buffer-pool-small", "cannot-tell"),
    ] {
        assert_eq!(found[rule], expected, "{rule}: {found:?}");
    }
    // How bad it is depends on the disk under this test.
    assert_ne!(found["doublewrite-off"], "fine", "{found:?}");

    let failing = dbstow(&["lint", "--server", &url, "--fail-on", "medium"]);
    assert_eq!(failing.status.code(), Some(3), "{failing:?}");

    a_saved_capture_says_the_same(product, &server, &found);

    server.down();
    server.up(&GOOD);
    let found = said(product, &lint());
    for (rule, expected) in [
        ("binlog-never-expires", "fine"),
        ("commits-not-durable", "fine"),
        ("innodb-flush-method", "fine"),
        ("doublewrite-off", "fine"),
        ("temp-tablespace-unbounded", temp_bounded),
        ("performance-schema-off", "fine"),
    ] {
        assert_eq!(found[rule], expected, "{rule}: {found:?}");
    }
}

/// The file contains no names of this machine's folders, and lint reports the same for it as for the server.
fn a_saved_capture_says_the_same(
    product: Product,
    server: &Mysqld,
    found: &BTreeMap<String, String>,
) {
    let file = server.path("server.json");
    let file = file.to_str().expect("its path is text");
    let output = dbstow(&["doctor", "--server", &server.socket_url(), "--out", file]);
    assert!(output.status.success(), "{output:?}");
    let report = String::from_utf8_lossy(&output.stdout);
    let name = match product {
        Product::Mariadb => "MariaDB ",
        Product::Mysql => "MySQL ",
    };
    assert!(report.starts_with(name), "{report}");
    assert!(report.contains("tmpfs"), "{report}");
    assert!(report.contains("Next:    dbstow lint "), "{report}");

    let text = fs::read_to_string(file).expect("it was written");
    let folder = server.path("");
    let folder = folder.file_name().expect("it has a name");
    let folder = folder.to_str().expect("its name is text");
    assert!(!text.contains(folder), "{text}");
    let capture: Value = serde_json::from_str(&text).expect("a capture is JSON");
    fits(
        &capture,
        include_str!("../../../../schema/mariadb-capture.json"),
    );

    let output = dbstow(&["lint", file, "--format", "json"]);
    assert_eq!(&said(product, &output), found);
    let shown = dbstow(&["doctor", file]);
    assert!(shown.status.success(), "{shown:?}");
}
