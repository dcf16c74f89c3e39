//! No key of an experiment is ever ignored: it is used, refused, or reported as without effect.

mod idle;
mod real_time;
mod reported;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use experiment::spec::{EngineName, Idle, Spec, Variant, builtin_names, builtin_text};
use lab::inventory::Inventory;
use serde_json::Value as Json;
use testing::folder::Folder;
use toml::{Table, Value};

/// Statements on two cached disks, with little memory, so that most of what an engine does reaches them.
const STATEMENTS: &str = r#"
name = "keys"
question = "Does each key do something?"
[machine]
type = "azure.E8s_v3"
[volume.d]
disk = "azure.premium.p30"
count = 2
host_cache = "read-only"
[placement.p]
data = { volumes = "d" }
temp = { volumes = "d" }
log = { volumes = "d" }
[workload]
name = "trade"
sessions = 4
operations = 1_000
[workload.parameters]
customers = 500
accounts = 2_000
securities = 300
trades = 10_000
[engine]
memory = "1 MiB"
checkpoint = "1 s"
[protocol]
blocks = 1
metric = "operations_per_s"
"#;

/// The same of plain I/O.
const PLAIN: &str = r#"
name = "keys"
question = "Does each key do something?"
[machine]
type = "azure.E8s_v3"
[volume.d]
disk = "azure.premium.p30"
count = 2
host_cache = "read-only"
[placement.p]
data = { volumes = "d" }
temp = { volumes = "d" }
log = { volumes = "d" }
[workload]
name = "raw"
duration = "1 s"
[workload.parameters]
block_size = "8 KiB"
read_percent = 50
pattern = "random"
span = "64 MiB"
depth = 128
sync = "flush every 4"
[engine]
name = "raw"
memory = "8 MiB"
[protocol]
blocks = 1
metric = "iops"
"#;

/// A key, a value that differs from its default, and what it needs to matter for statements.
struct Case {
    key: &'static str,
    value: &'static str,
    with: &'static [(&'static str, &'static str)],
}

const fn case(key: &'static str, value: &'static str) -> Case {
    Case {
        key,
        value,
        with: &[],
    }
}

const fn case_with(
    key: &'static str,
    value: &'static str,
    with: &'static [(&'static str, &'static str)],
) -> Case {
    Case { key, value, with }
}

const SCAN: &[(&str, &str)] = &[(
    "workload",
    "{ name = 'scan', sessions = 1, operations = 1, parameters = { rows = 20000, scattered = 0 } }",
)];
const SPILL: &[(&str, &str)] = &[(
    "workload",
    "{ name = 'spill', sessions = 1, operations = 1, parameters = { rows = 20000 } }",
)];
const BUSY: &[(&str, &str)] = &[
    ("workload.sessions", "64"),
    ("volume.d.count", "1"),
    ("volume.d.host_cache", "'none'"),
];
const INNODB: &[(&str, &str)] = &[("engine.like", "'innodb'")];

/// Every key of FORMAT.md but those of `[protocol]` and `[arm.NAME]`, which say how arms are compared ([`COMPARED`]).
const CASES: &[Case] = &[
    case("machine.type", "'azure.DS1'"),
    case("machine.cores", "1"),
    case("machine.processor_speed", "0.5"),
    case("machine.memory", "'512 KiB'"),
    case("machine.credits", "0"),
    case("machine.system", "'windows'"),
    case("machine.host_cache", "{ size = '64 KiB' }"),
    case("volume.d.disk", "'azure.premium.p10'"),
    case("volume.d.count", "1"),
    case("volume.d.interleave", "'1 MiB'"),
    case("volume.d.host_cache", "'none'"),
    case("volume.d.size", "'512 GiB'"),
    case("volume.d.iops", "3000"),
    case("volume.d.throughput", "'100 MB/s'"),
    case_with("volume.d.bursting", "true", BUSY),
    case("volume.d.credits", "0"),
    case("volume.d.override.iops_limit", "50"),
    case("volume.d.override.throughput_limit", "'1 MB/s'"),
    case("volume.d.override.iops_burst", "50000"),
    case("volume.d.override.iops_credits", "50000"),
    case("volume.d.override.throughput_burst", "'1 GB/s'"),
    case("volume.d.override.throughput_credits", "'1 GB'"),
    case("volume.d.override.in_flight_max", "1"),
    case("volume.d.override.read_latency", "'20 ms'"),
    case("volume.d.override.write_latency", "'20 ms'"),
    case_with(
        "volume.d.override.flush_latency",
        "'20 ms'",
        &[("engine.log_flush", "true")],
    ),
    // Nothing is flushed.
    case("volume.d.override.flush_latency", "'20 ms'"),
    case("volume.d.override.transfer", "'1 MB/s'"),
    case("placement.p.data.volumes", "'nowhere'"),
    case("placement.p.data.files", "3"),
    case_with(
        "placement.p.data.file_size",
        "['1 MiB', '64 MiB']",
        &[("placement.p.data.files", "2")],
    ),
    case_with("placement.p.binlog", "{ volumes = 'd' }", INNODB),
    case_with("placement.p.doublewrite", "{ volumes = 'e' }", INNODB),
    case_with("placement.p.undo", "{ volumes = 'd' }", INNODB),
    case("workload.name", "'read-only'"),
    case("workload.folder", "'.'"),
    case("workload.profile", "'none.toml'"),
    case("workload.window", "'1 min'"),
    case("workload.demand", "'open'"),
    case("workload.sessions", "1"),
    case("workload.operations", "100"),
    case("workload.duration", "'2 s'"),
    case("workload.warm_up", "'50 ms'"),
    case("workload.think", "'50 ms'"),
    case("workload.log_bytes_per_row", "30000"),
    case("workload.rate", "20.0"),
    case("workload.parameters", "{ trades = 1000 }"),
    case("engine.like", "'innodb'"),
    case("engine.memory", "'64 MiB'"),
    case("engine.page_cache", "'64 MiB'"),
    case("engine.page_size", "'16 KiB'"),
    case("engine.read_unit", "'extent'"),
    case_with("engine.read_ahead", "'512 KiB'", SCAN),
    case("engine.write_gather", "'8 KiB'"),
    case("engine.writes_in_flight", "1"),
    case("engine.checkpoint", "'100 ms'"),
    case_with(
        "engine.log_capacity",
        "'64 KiB'",
        &[("engine.checkpoint", "'none'")],
    ),
    case("engine.doublewrite_pages", "64"),
    case("engine.full_page_images", "true"),
    case("engine.commit", "'relaxed'"),
    case_with(
        "engine.log_gather",
        "'512 B'",
        &[("workload.log_bytes_per_row", "30000")],
    ),
    case("engine.log_flush", "true"),
    case_with("engine.sort_memory", "'64 KiB'", SPILL),
    case_with("engine.start", "'warm'", &[("engine.memory", "'64 MiB'")]),
    case("engine.host_cache_start", "'warm'"),
    case("engine.name", "'postgres'"),
    case("engine.cpu", "{ statement = '5 ms' }"),
    case(
        "engine.versions",
        "{ bytes_per_row = '45 KiB', retention = '1 s' }",
    ),
    case_with("engine.mariadb.flush_log_at_trx_commit", "2", INNODB),
    case_with("engine.mariadb.binlog", "true", INNODB),
    case_with(
        "engine.mariadb.sync_binlog",
        "0",
        &[
            ("engine.like", "'innodb'"),
            ("engine.mariadb.binlog", "true"),
        ],
    ),
    case_with("engine.mariadb.doublewrite", "false", INNODB),
    case_with("engine.mariadb.flush_method", "'fsync'", INNODB),
    case_with(
        "engine.mariadb.log_file_size",
        "'4 MiB'",
        &[
            ("engine.like", "'innodb'"),
            ("engine.memory", "'64 MiB'"),
            ("workload.log_bytes_per_row", "300000"),
        ],
    ),
    case_with("engine.mariadb.io_capacity", "200", INNODB),
    case("engine.postgres.io_method", "'worker'"),
    case("engine.postgres.io_workers", "2"),
    case("engine.postgres.effective_io_concurrency", "2"),
    case("engine.postgres.maintenance_io_concurrency", "2"),
    case("engine.postgres.io_combine_limit", "'64 KiB'"),
];

/// The same of `[protocol]` and `[arm.NAME]`, of two arms.
const COMPARED: &[(&str, &str)] = &[
    ("protocol.blocks", "3"),
    ("protocol.margin", "0.9"),
    ("protocol.errors_max", "0.2"),
    ("protocol.baseline", "'b'"),
    ("protocol.metric", "'iops'"),
    ("protocol.seed", "7"),
    ("protocol.nominal", "true"),
    ("arm.b.placement", "'q'"),
    ("arm.b.baseline", "'c'"),
    ("arm.b.set", "{ 'workload.sessions' = 3 }"),
];

/// What became of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Used,
    Refused,
    Reported,
    /// It is part of the plan, and whether a run uses it shows in a run.
    Planned,
    Ignored,
}

/// An experiment in a folder, and its results so far by its text.
struct Place {
    folder: Folder,
    results: BTreeMap<String, Json>,
}

impl Place {
    fn new() -> Place {
        Place {
            folder: Folder::new(),
            results: BTreeMap::new(),
        }
    }

    fn dbstow(&self, text: &str, words: &[&str]) -> (i32, String, String) {
        self.folder.write("keys.toml", text);
        let printed = self.folder.printed(words);
        (printed.code, printed.stdout, printed.stderr)
    }

    /// What the arms did.
    fn arms(&mut self, text: &str) -> Json {
        if let Some(known) = self.results.get(text) {
            return known.clone();
        }
        let words = ["run", "keys.toml", "--format", "json", "--fresh"];
        let (code, printed, said) = self.dbstow(text, &words);
        // Where too many operations failed, no trial counts, and the message says so.
        assert!(matches!(code, 0 | 1), "{said}\n{text}");
        let findings: Json = serde_json::from_str(&printed).expect("it is JSON");
        let told = (&findings["arms"], &findings["warnings"]);
        let comparisons = (&findings["protocol"], &findings["comparisons"]);
        let arms = serde_json::json!((told, comparisons));
        self.results.insert(text.to_owned(), arms.clone());
        arms
    }

    fn fate(&mut self, base: &Table, key: &str, value: &str) -> Fate {
        let with = set(base.clone(), key, value).to_string();
        let (code, _, said) = self.dbstow(&with, &["check", "keys.toml"]);
        match code {
            2 => return Fate::Refused,
            0 => {}
            code => panic!("{code} {key}: {said}"),
        }
        let told = said.lines().any(|line| {
            let keys = line.split_once("without effect: ").map(|(_, keys)| keys);
            let keys = keys.and_then(|keys| keys.split(" (").next());
            let mut keys = keys.unwrap_or_default().split(", ");
            keys.any(|told| touches(told, key))
        });
        if told {
            return Fate::Reported;
        }
        match self.arms(&with) == self.arms(&base.to_string()) {
            true => Fate::Ignored,
            false => Fate::Used,
        }
    }
}

/// Whether one of two dotted keys is the other, or in it.
fn touches(one: &str, other: &str) -> bool {
    one == other || one.starts_with(&format!("{other}.")) || other.starts_with(&format!("{one}."))
}

/// The table with `key`, a dotted path, at `value`, TOML.
fn set(mut table: Table, key: &str, value: &str) -> Table {
    let parsed: Table = toml::from_str(&format!("x = {value}")).expect("the value is TOML");
    let value = parsed["x"].clone();
    let (tables, last) = key.rsplit_once('.').unwrap_or(("", key));
    let mut at = &mut table;
    for part in tables.split('.').filter(|part| !part.is_empty()) {
        let entry = at.entry(part).or_insert(Value::Table(Table::new()));
        at = entry.as_table_mut().expect("it is a table");
    }
    at.insert(last.to_owned(), value);
    table
}

fn base(text: &str, with: &[(&str, &str)]) -> Table {
    let table: Table = toml::from_str(text).expect("it is TOML");
    with.iter()
        .fold(table, |table, (key, value)| set(table, key, value))
}

/// The keys that FORMAT.md lists for an arm, dotted, as an experiment with a volume `d` and a placement `p` has them.
fn keys_of_format() -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../FORMAT.md");
    let format = fs::read_to_string(path).expect("it is in the repository");
    let sections = [
        ("### `[machine]`", "machine"),
        ("### `[volume.NAME]`", "volume.d"),
        ("`[volume.NAME.override]`", "volume.d.override"),
        ("### `[placement.NAME]`", "placement.p.data"),
        ("Three more roles", "placement.p"),
        ("### `[workload]`", "workload"),
        ("### `[engine]`", "engine"),
        ("#### `[engine.mariadb]`", "engine.mariadb"),
        ("#### `[engine.postgres]`", "engine.postgres"),
        ("### `[protocol]`", "protocol"),
        ("### `[arm.NAME]`", "arm.b"),
    ];
    let mut section = None;
    let mut keys = BTreeSet::new();
    for line in format.lines() {
        if let Some((_, meant)) = sections.iter().find(|(start, _)| line.starts_with(start)) {
            section = Some(*meant);
        } else if line.starts_with('#') {
            section = None;
        }
        let (Some(section), Some(row)) = (section, line.strip_prefix("| `")) else {
            continue;
        };
        let cell = row.split(" |").next().unwrap_or_default();
        let names = format!("`{cell}");
        for name in names.split('`').skip(1).step_by(2) {
            let name = name.trim_start_matches('[').trim_end_matches(']');
            keys.insert(match name.contains('.') {
                true => name.to_owned(),
                false => format!("{section}.{name}"),
            });
        }
    }
    keys
}

#[test]
fn every_key_of_the_format_is_tried() {
    let compared = COMPARED.iter().map(|(key, _)| (*key).to_owned());
    let tried = CASES.iter().map(|case| case.key.to_owned());
    let tried: BTreeSet<String> = tried.chain(compared).collect();
    let listed = keys_of_format();
    let missing: Vec<&String> = listed.difference(&tried).collect();
    assert!(missing.is_empty(), "not in CASES: {missing:?}");
    let unknown: Vec<&String> = tried.difference(&listed).collect();
    assert!(unknown.is_empty(), "not in FORMAT.md: {unknown:?}");
}

fn ignored(
    text: &str,
    with: impl Fn(&Case) -> &'static [(&'static str, &'static str)],
) -> Vec<&'static str> {
    let mut place = Place::new();
    let mut ignored = Vec::new();
    for case in CASES {
        let base = base(text, with(case));
        if place.fate(&base, case.key, case.value) == Fate::Ignored {
            ignored.push(case.key);
        }
    }
    ignored
}

/// Parameters with which each workload is soon loaded; the others are its own.
const SMALL: &[(&str, &str)] = &[
    ("cold-lookup", "{ rows = 2000 }"),
    (
        "order-entry",
        "{ customers = 100, names = 50, items = 500 }",
    ),
    ("raw", "{ rows = 500 }"),
    ("read-only", "{ rows = 1000 }"),
    ("scan", "{ rows = 4000, devices = 40 }"),
    ("set-based", "{ rows = 4000, range = 100 }"),
    ("spill", "{ rows = 20_000 }"),
    ("tempdb-oltp", "{ rows = 1000 }"),
    (
        "trade",
        "{ customers = 100, accounts = 500, securities = 100, trades = 1000 }",
    ),
    ("version-store", "{ rows = 200 }"),
    ("write-only", "{ rows = 1000 }"),
];

/// Another value of a parameter.
fn another(value: &workload::Value) -> String {
    match value {
        workload::Value::Int(1) => "0".to_owned(),
        workload::Value::Int(value) => (value * 2).max(1).to_string(),
        workload::Value::Double(value) => format!("{:?}", value + 0.5),
        workload::Value::Text(text) if text == "random" => "'sequential'".to_owned(),
        workload::Value::Text(text) if text == "none" => "'flush every 4'".to_owned(),
        workload::Value::Text(text) => format!("'1{text}'"),
        workload::Value::Null => "1".to_owned(),
    }
}

#[test]
fn no_parameter_of_a_workload_is_ignored() {
    let mut place = Place::new();
    let mut ignored = Vec::new();
    for name in workload::Workload::builtin_names() {
        let small = SMALL.iter().find(|(known, _)| *known == name);
        let (_, small) = small.unwrap_or_else(|| panic!("{name} is not in SMALL"));
        let asked =
            format!("{{ name = '{name}', sessions = 2, operations = 40, parameters = {small} }}");
        let base = base(STATEMENTS, &[("workload", asked.as_str())]);
        let known = workload::Workload::builtin(name, workload::Dialect::SQLITE);
        let known = known.expect("it is built in");
        for (parameter, default) in known.parameters() {
            let key = format!("workload.parameters.{parameter}");
            let given = base["workload"]["parameters"].get(parameter);
            let given = given.and_then(Value::as_integer).map(workload::Value::Int);
            let value = another(given.as_ref().unwrap_or(default));
            if place.fate(&base, &key, &value) == Fate::Ignored {
                ignored.push(format!("{name}: {parameter} = {value}"));
            }
        }
    }
    assert!(ignored.is_empty(), "{ignored:?}");
}

#[test]
fn no_key_is_ignored_where_statements_run() {
    assert_eq!(ignored(STATEMENTS, |case| case.with), [""; 0]);
}

/// Three arms of two placements.
const ARMS: &[(&str, &str)] = &[
    ("volume.e", "{ disk = 'azure.premium.p10' }"),
    (
        "placement.q",
        "{ data = { volumes = 'e' }, temp = { volumes = 'e' }, log = { volumes = 'e' } }",
    ),
    ("arm.a", "{ placement = 'p' }"),
    (
        "arm.b",
        "{ placement = 'p', set = { 'workload.sessions' = 2 } }",
    ),
    ("arm.c", "{ placement = 'q' }"),
    ("protocol.blocks", "2"),
];

/// The same, where one operation in two fails: two have the same key.
const FAILING: &[(&str, &str)] = &[
    ("workload", "{ folder = 'failing', operations = 20 }"),
    ("arm.a", "{ placement = 'p' }"),
    ("arm.b", "{ placement = 'p' }"),
    ("protocol.errors_max", "0.9"),
];

#[test]
fn no_key_of_a_comparison_is_ignored() {
    let mut place = Place::new();
    place.folder.make_folder("failing");
    let workload = "name = 'failing'\nabout = 'Every second key is there.'\ndatabase = 'shared'\ntables = 'data'\n\
                    [load]\nmeasured = false\nschema = ['schema.sql']\n[run]\noperations = 20\n\
                    scripts = [{ file = 'run.sql' }]\nlog_bytes_per_row = 100\n";
    for (name, text) in [
        ("workload.toml", workload),
        ("schema.sql", "CREATE TABLE k (k INTEGER PRIMARY KEY);\n"),
        ("run.sql", "INSERT INTO k VALUES (:operation / 2);\n"),
    ] {
        place.folder.write(&format!("failing/{name}"), text);
    }
    for (key, value) in COMPARED {
        let with = match *key {
            "protocol.errors_max" => FAILING,
            _ => ARMS,
        };
        let fate = place.fate(&base(STATEMENTS, with), key, value);
        assert_eq!(fate, Fate::Used, "{key}");
    }
    // Of one arm, nothing is compared.
    for (key, value) in [("protocol.margin", "0.9"), ("protocol.baseline", "'p'")] {
        let fate = place.fate(&base(STATEMENTS, &[]), key, value);
        assert_eq!(fate, Fate::Reported, "{key}");
    }
}

#[test]
fn no_key_is_ignored_where_plain_requests_run() {
    assert_eq!(ignored(PLAIN, |_| &[]), [""; 0]);
}
