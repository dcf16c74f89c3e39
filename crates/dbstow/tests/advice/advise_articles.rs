//! The questions of the four articles, given to `advise`: a run is recorded on one of an article's layouts, and
//! contemporary disks are searched for another. The authors' findings are at the top of each test.

use std::ops::Deref;

use assert_cmd::assert::Assert;
use serde_json::Value;
use testing::folder::{Folder, json, said};

/// Prices that are no longer listed: plausible ones, so that one disk is cheaper than two.
const PRICES: &str = "\
name,usd,per
azure.DS2,0.2,hour
azure.DS14_v2,1.5,hour
azure.mi_gp_gen5_8,1.5,hour
azure.mi_gp_file,0.115,GiB
azure.ultra.2018_2022,0.12,GiB
azure.ultra.2018_2022,0.05,IOPS
azure.ultra.2018_2022,0.35,MB/s
";

/// A machine and a disk as an article saw them.
const CATALOGUE: &str = r#"
[source.article]
title = "Scaling-out SQL Server disks and data files on Windows Azure Virtual Machines"
date = "2014"

[disk."azure.seen_blob"]
class = "azure-blob"
title = "Page blob at the rate that the article saw"
size = "1023 GiB"
iops = 500
throughput = "52.7 MB/s"
usd_per_month = 10
confidence = "second-hand"
sources = ["article"]

[machine."azure.seen_a4"]
cores = 8
memory = "14 GiB"
disks_max = 16
limits.uncached = { iops = 8000, throughput = "800 MB/s" }
price = { linux = 0.5, windows = 0.5 }
confidence = "assumed"
sources = ["article"]
"#;

struct Place(Folder);

impl Deref for Place {
    type Target = Folder;

    fn deref(&self) -> &Folder {
        &self.0
    }
}

impl Place {
    fn new() -> Place {
        Place(Folder::with(&[
            ("prices.csv", PRICES),
            ("seen.toml", CATALOGUE),
        ]))
    }

    /// Runs an arm of an experiment once, and converts it to a profile.
    fn record(&self, experiment: &str, arm: &str) {
        let run = [
            "run",
            experiment,
            "--blocks",
            "1",
            "--nominal",
            "--out",
            "results",
            "--catalogue",
            "seen.toml",
        ];
        self.stdout(&run);
        let import = ["import", "results", "--arm", arm, "--out", "recorded.toml"];
        self.stdout(&import);
    }

    fn advise(&self, today: &str, more: &[&str]) -> Assert {
        self.write("today.toml", today);
        let own = [
            "advise",
            "recorded.toml",
            "--today",
            "today.toml",
            "--keep-machine",
            "--prices",
            "prices.csv",
            "--catalogue",
            "seen.toml",
            "--format",
            "json",
        ];
        self.dbstow(&[&own, more].concat()).assert()
    }
}

/// The disk that holds a role's files in a layout, and how many.
fn disk_of(layout: &Value, role: &str) -> (String, u64) {
    let volumes = layout["volumes"].as_array().expect("a list");
    let holds = |volume: &&Value| {
        volume["roles"]
            .as_array()
            .expect("a list")
            .iter()
            .any(|held| held == role)
    };
    let volume = volumes
        .iter()
        .find(holds)
        .expect("every role has its place");
    let disk = volume["disk"].as_str().expect("a text");
    (disk.to_owned(), volume["count"].as_u64().expect("a number"))
}

fn spent(layout: &Value, on: &str) -> f64 {
    layout["spent"][on].as_f64().unwrap_or(0.0)
}

/// Found: the local SSD is as fast as a P30 with read caching, and costs nothing.
#[test]
#[ignore = "long: runs an experiment and advises on its profile"]
fn tempdb_is_advised_onto_the_disk_that_is_paid_for_already() {
    let place = Place::new();
    // As in the article, except for a separate tempdb volume, whose requests are known, and no cache.
    place.write(
        "article.toml",
        r#"
name = "article"
question = "Does tempdb do better on the VM's local SSD or on one P30 premium disk?"
[machine]
type = "azure.DS2"
[volume.f]
disk = "azure.premium.p30"
bursting = false
[volume.g]
disk = "azure.premium.p30"
bursting = false
[placement.p30]
temp = { volumes = "f", files = 2, file_size = "3096 MiB" }
data = { volumes = "g" }
log = { volumes = "g", file_size = "3096 MiB" }
[workload]
name = "tempdb-oltp"
sessions = 1
operations = 100_000
[workload.parameters]
rows = 1_000_000
[engine]
memory = "512 MiB"
read_unit = "extent"
checkpoint = "none"
commit = "relaxed"
"#,
    );
    place.record("article.toml", "p30");
    let today = r#"
[machine]
type = "azure.DS2"
[volume.f]
disk = "azure.premium.p30"
bursting = false
[volume.g]
disk = "azure.premium.p30"
bursting = false
[placement.today]
temp = { volumes = "f" }
data = { volumes = "g" }
log = { volumes = "g" }
"#;
    let capacity = [
        "--capacity",
        "data=6GiB",
        "--capacity",
        "log=4GiB",
        "--capacity",
        "temp=7GiB",
    ];
    let ask = [&["--disk", "azure.premium.p30"][..], &capacity].concat();
    // Writes of tempdb come in bursts, but a profile only has the mean.
    let refused = said(&place.advise(today, &ask).code(3));
    assert!(refused.contains("temp write ms is"), "{refused}");
    let untested = [&ask[..], &["--untested"]].concat();
    let advice = json(&place.advise(today, &untested).success());
    // One change saves as much: tempdb beside the data. What is faster has it on the local disk.
    assert_eq!(disk_of(&advice["fastest"], "temp").0, "local", "{advice:#}");
    assert_eq!(
        disk_of(&advice["cheapest"], "data"),
        ("azure.premium.p30".to_owned(), 1)
    );
}

/// The article's own layout has a host cache in front of everything, whose hits a profile attributes to the disk.
#[test]
fn behind_a_host_cache_there_is_no_advice_and_the_cache_is_named() {
    let place = Place::new();
    place.record("tempdb-ssd-vs-premium", "p30");
    let today = r#"
[machine]
type = "azure.DS2"
[volume.f]
disk = "azure.premium.p30"
host_cache = "read-only"
bursting = false
[placement.today]
temp = { volumes = "f" }
data = { volumes = "f" }
log = { volumes = "f" }
"#;
    let refused = place
        .advise(today, &["--disk", "azure.premium.p30"])
        .code(3);
    assert!(
        said(&refused).contains("a cache answered in between"),
        "{}",
        said(&refused)
    );
}

/// Found: throughput grows with two and four disks; with more, the application's own locks hold it back.
#[test]
#[ignore = "long: runs an experiment and advises on its profile"]
fn tempdb_gets_more_disks_until_locks_hold_it_back() {
    let place = Place::new();
    place.write(
        "article.toml",
        r#"
name = "article"
question = "Does spreading 8 tempdb data files over more data disks raise throughput?"
[machine]
type = "azure.seen_a4"
[volume.t]
disk = "azure.seen_blob"
[volume.data]
disk = "azure.seen_blob"
[volume.log]
disk = "azure.seen_blob"
[placement.one-disk]
data = { volumes = "data" }
temp = { volumes = "t", files = 8, file_size = "1 GiB" }
log = { volumes = "log" }
[workload]
name = "version-store"
sessions = 32
warm_up = "10 s"
duration = "30 s"
[workload.parameters]
rows = 500
lock_hold_us = 15_500
[engine]
memory = "256 MiB"
start = "warm"
[engine.versions]
bytes_per_row = "45 KiB"
retention = "2.9 s"
"#,
    );
    place.record("article.toml", "one-disk");
    let today = r#"
[machine]
type = "azure.seen_a4"
[volume.t]
disk = "azure.seen_blob"
[volume.data]
disk = "azure.seen_blob"
[volume.log]
disk = "azure.seen_blob"
[placement.today]
data = { volumes = "data" }
temp = { volumes = "t" }
log = { volumes = "log" }
"#;
    let capacity = [
        "--capacity",
        "data=100GiB",
        "--capacity",
        "log=10GiB",
        "--capacity",
        "temp=100GiB",
    ];
    let ask = [&["--disk", "azure.seen_blob"][..], &capacity].concat();
    let advice = json(&place.advise(today, &ask).success());
    let (today, fastest) = (&advice["today"], &advice["fastest"]);
    assert!(
        spent(today, "waiting for throttled writes") > 0.5,
        "{}",
        today["spent"]
    );
    assert!(
        spent(fastest, "waiting for a lock") > 0.5,
        "{}",
        fastest["spent"]
    );
    // The intermediate steps have more disks.
    let frontier = advice["frontier"].as_array().expect("a list");
    let disks = frontier.iter().map(|layout| disk_of(layout, "temp").1);
    let disks: Vec<u64> = disks.collect();
    assert_eq!(disks[..3], [1, 2, 3], "{disks:?}");
}

/// Found: one Ultra disk does a third more than ten P30. The profile lacks the reads that the pool's cache answered, and has the log's
/// waits with those for data: for what is left, one P30 does as much as the pool, and Ultra less than 5 % more.
#[test]
#[ignore = "long: runs an experiment and advises on its profile"]
fn of_a_pool_behind_a_cache_one_disk_is_advised_and_not_trusted() {
    let place = Place::new();
    place.record("ultra-vs-premium-pool", "premium-pool");
    let today = r#"
[machine]
type = "azure.DS14_v2"
[volume.pool]
disk = "azure.premium.p30"
count = 10
interleave = "64 KiB"
host_cache = "read-only"
bursting = false
[volume.pool.override]
write_latency = { p50 = "3.8 ms", p99 = "8 ms" }
[placement.today]
data = { volumes = "pool" }
temp = { volumes = "pool" }
log = { volumes = "pool" }
"#;
    let disks = [
        "--disk",
        "azure.premium.p30",
        "--disk",
        "azure.ultra.2018_2022",
    ];
    let ask = [
        &disks[..],
        &["--capacity", "data=500GiB", "--capacity", "log=100GiB"],
    ]
    .concat();
    // The pool's cache answered most reads; what operations wait for in all is as recorded.
    let doubted = json(
        &place
            .advise(today, &[&ask[..], &["--force"]].concat())
            .success(),
    );
    assert_eq!(doubted["backtest"]["outcome"], "rate-fits");
    assert_eq!(doubted["trust"]["level"], "low");
    let because = doubted["trust"]["because"].to_string();
    assert!(because.contains("data read ms is"), "{because}");
    assert!(because.contains("by a cache in between"), "{because}");
    let advice = doubted;
    let fastest = &advice["fastest"];
    assert_eq!(disk_of(fastest, "data").1, 1, "{fastest}");
    let time = fastest["time"].as_f64().expect("a number");
    assert!((0.9..1.05).contains(&time), "{time}");
}

/// Found: four files are twice as fast as one. The article's query is one operation, so that a profile has too little
/// data.
#[test]
fn of_a_single_query_there_is_no_advice() {
    let place = Place::new();
    place.record("managed-instance-files", "user-1-file-2");
    let today = r#"
[machine]
type = "azure.mi_gp_gen5_8"
[volume.file]
disk = "azure.mi_gp_file"
size = "128 GiB"
[volume.log]
disk = "azure.mi_gp_file"
size = "128 GiB"
[volume.local]
disk = "local"
[placement.today]
data = { volumes = "file" }
log = { volumes = "log" }
temp = { volumes = "local" }
"#;
    let refused = place.advise(today, &["--disk", "azure.mi_gp_file"]).code(2);
    assert!(
        said(&refused).contains("no operation ended"),
        "{}",
        said(&refused)
    );
}
