//! Advice on managed services: today's class, the storage of its service, and services beside machines.

use serde_json::Value;
use testing::folder::{Folder, json};

use crate::quiet::files;

/// Hours a month, as the vendors count them.
const HOURS: f64 = 730.0;

/// The recording of a PostgreSQL on gp3, which has the limits of RDS's gp3 below 400 GiB: 3000 IOPS and 125 MiB/s.
const RECORDING: &str = "gp3-3000-update-8";

/// A layout with everything on one volume.
fn layout(machine: &str, disk: &str, size: &str) -> String {
    format!(
        "[machine]\ntype = \"{machine}\"\n[volume.all]\ndisk = \"{disk}\"\nsize = \"{size}\"\n[placement.today]\n\
         data = {{ volumes = \"all\" }}\ntemp = {{ volumes = \"all\" }}\nlog = {{ volumes = \"all\" }}\n"
    )
}

fn on_rds() -> String {
    layout("aws.rds.postgresql.db.r6i.large", "aws.rds.gp3", "100 GiB")
}

fn on_machine() -> String {
    layout("aws.r6i.large", "aws.gp3", "100 GiB")
}

fn arguments<'a>(profile: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let all = [
        "advise",
        profile,
        "--today",
        "today.toml",
        "--out",
        "advice",
    ];
    all.iter().chain(more).copied().collect()
}

fn advised(today: &str, more: &[&str]) -> Value {
    let [profile, _] = files(RECORDING);
    let folder = Folder::with(&[("today.toml", today)]);
    let more = [more, &["--format", "json"]].concat();
    json(
        &folder
            .dbstow(&arguments(&profile, &more))
            .assert()
            .success(),
    )
}

fn refused(today: &str, more: &[&str], parts: &[&str]) {
    let [profile, _] = files(RECORDING);
    let folder = Folder::with(&[("today.toml", today)]);
    let printed = folder.printed(&arguments(&profile, more));
    assert_eq!(printed.code, 2, "{}", printed.stderr);
    for part in parts {
        assert!(
            printed.stderr.contains(part),
            "no {part} in {}",
            printed.stderr
        );
    }
}

fn usd(layout: &Value) -> f64 {
    layout["usd_per_month"].as_f64().expect("a price")
}

fn machine(layout: &Value) -> &str {
    layout["machine"].as_str().expect("a machine")
}

fn assumptions(advice: &Value) -> String {
    let all = advice["assumptions"].as_array().expect("sentences");
    let texts = all.iter().map(|text| text.as_str().expect("a sentence"));
    texts.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_server_on_a_service_is_advised_on_classes_and_storage_of_that_service() {
    let advice = advised(&on_rds(), &[]);
    // $0.25 an hour, and 100 GiB at $0.115.
    let today = 0.25 * HOURS + 100.0 * 0.115;
    assert!(
        (usd(&advice["today"]) - today).abs() < 0.01,
        "{}",
        advice["today"]
    );
    let answers = [&advice["cheapest"], &advice["fastest"]];
    let frontier = advice["frontier"].as_array().expect("layouts");
    for layout in answers
        .into_iter()
        .chain(frontier)
        .filter(|one| !one.is_null())
    {
        assert!(
            machine(layout).starts_with("aws.rds.postgresql.db."),
            "{layout}"
        );
        for volume in layout["volumes"].as_array().expect("volumes") {
            let disk = volume["disk"].as_str().expect("a name");
            assert!(disk.starts_with("aws.rds.") || disk == "local", "{disk}");
            assert!(volume["count"] == 1 || disk == "local", "{volume}");
        }
    }
    let said = assumptions(&advice);
    for part in [
        "Amazon RDS for PostgreSQL: its price includes automatic backups",
        "it leaves out a standby in another zone unless replicas are asked for, access to the operating system",
        "rds-welcome, 2026-04-13; `dbstow services rds-postgresql --details`",
        "the prices of aws.rds.io2, aws.rds.log_volume",
    ] {
        assert!(said.contains(part), "no {part} in {said}");
    }
    // It stays, and the faster layout is what it may become in place.
    let next = advice["next"].to_string();
    assert!(
        next.contains("dbstow layout advice/finalists.toml --arm best-value --server-name NAME"),
        "{next}"
    );
    // A standby in another zone doubles both.
    let twice = advised(&on_rds(), &["--replicas", "1", "--quick"]);
    assert!(
        (usd(&twice["today"]) - 2.0 * today).abs() < 0.01,
        "{}",
        twice["today"]
    );
}

#[test]
fn speed_that_399_gib_do_not_have_is_bought_with_400() {
    // 3000 IOPS are used up, and twice the sessions need more: they begin at 400 GiB, with 12,000 for $0.115 a GiB.
    let advice = advised(&on_rds(), &["--growth", "2", "--machine", "r6i.4xlarge"]);
    let volume = &advice["cheapest"]["volumes"][0];
    assert_eq!(volume["disk"], "aws.rds.gp3", "{}", advice["cheapest"]);
    assert_eq!(volume["size"], 400_u64 << 30, "{volume}");
    assert_eq!(volume["iops"], 12_000, "{volume}");
    let usd = volume["usd_per_month"].as_f64().expect("a price");
    assert!((usd - 46.0).abs() < 0.01, "{usd}");
}

#[test]
fn a_class_in_place_of_a_file_is_refused_with_what_the_file_has() {
    let [profile, _] = files(RECORDING);
    let class = "aws.rds.postgresql.db.r6i.2xlarge";
    let printed = Folder::new().printed(&["advise", &profile, "--today", class, "--out", "advice"]);
    assert_eq!(printed.code, 2, "{}", printed.stderr);
    for part in [
        "does not say which disks it has",
        "[machine]\ntype = \"aws.rds.postgresql.db.r6i.2xlarge\"\n[volume.data]\ndisk = \"aws.rds.gp3\"\nsize = \"100 GiB\"\n[placement.today]\n",
        "log = { volumes = \"data\" }",
    ] {
        assert!(
            printed.stderr.contains(part),
            "no {part} in {}",
            printed.stderr
        );
    }
    // It is whole: as a file it is taken.
    let (_, text) = printed.stderr.split_once("[machine]").expect("a file");
    let today = format!("[machine]{text}");
    let advice = advised(&today, &["--quick"]);
    assert_eq!(advice["today"]["machine"], class);
}

#[test]
#[ignore = "long: asks about every machine and class; classes alone are asked about always"]
fn services_are_beside_machines_where_they_are_asked_for() {
    let both = advised(&on_machine(), &["--service", "rds"]);
    assert!(
        machine(&both["cheapest"]).starts_with("aws."),
        "{}",
        both["cheapest"]
    );
    let answer = both["answer"].as_str().expect("an answer");
    assert!(
        answer.contains("On a managed service: aws.rds.postgresql.db."),
        "{answer}"
    );
    let frontier = both["frontier"].as_array().expect("layouts");
    let is_service = |layout: &&Value| machine(layout).starts_with("aws.rds.");
    let services = frontier.iter().filter(is_service).count();
    assert!(services > 0 && services < frontier.len(), "{frontier:?}");
    let said = assumptions(&both);
    assert!(
        said.contains("Amazon Aurora PostgreSQL was not considered, as it is not modelled"),
        "{said}"
    );
    assert!(
        said.contains("backups, patches and a standby are yours"),
        "{said}"
    );
    // Alone, machines are what they were.
    let machines = advised(&on_machine(), &[]);
    assert!(!assumptions(&machines).contains("RDS"));
    assert_eq!(usd(&machines["cheapest"]), usd(&both["cheapest"]));
}

#[test]
fn what_a_service_does_not_have_is_refused_in_a_line() {
    refused(
        &on_machine(),
        &["--service", "managed-instance"],
        &[
            "--service managed-instance: there is none for PostgreSQL on aws",
            "rds (aws)",
            "flexible (azure)",
        ],
    );
    refused(
        &on_machine(),
        &["--service", "aurora"],
        &["is not modelled:", "give one of these"],
    );
    refused(
        &on_machine(),
        &["--disk", "aws.rds.gp3"],
        &["--disk aws.rds.gp3: it is storage of", "--service rds"],
    );
    refused(
        &on_rds(),
        &["--region", "eu-west-1"],
        &[
            "--region eu-west-1: there are no prices of it",
            "AWS us-east-1",
        ],
    );
    let with_log = on_rds().replace("log = { volumes = \"all\" }", "log = { volumes = \"log\" }")
        + "[volume.log]\ndisk = \"aws.rds.log_volume\"\n";
    refused(&with_log, &[], &["only beside aws.rds.io1 or aws.rds.io2"]);
    let aurora = layout(
        "aws.aurora.postgresql.db.r6i.large",
        "aws.rds.gp3",
        "100 GiB",
    );
    refused(&aurora, &[], &["is not modelled"]);
}

#[test]
#[ignore = "long: advises on instances of every size"]
fn files_of_a_managed_instance_are_disks_of_their_own() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let folder = Folder::new();
    let profile = format!("{root}/examples/orders.toml");
    let today = format!("{root}/examples/orders-today.toml");
    let mut asked = vec!["advise", &profile, "--today", &today, "--out", "advice"];
    for space in ["data=600GiB", "log=100GiB", "temp=60GiB"] {
        asked.extend(["--capacity", space]);
    }
    asked.extend([
        "--service",
        "managed-instance",
        "--machine",
        "vcores_",
        "--format",
        "json",
    ]);
    let advice = json(&folder.dbstow(&asked).assert().success());
    let layouts = advice["frontier"].as_array().expect("layouts");
    assert!(!layouts.is_empty());
    for layout in layouts {
        assert!(machine(layout).starts_with("azure.sql_mi_"), "{layout}");
        let volumes = layout["volumes"].as_array().expect("volumes");
        let on = |disk: &str| volumes.iter().any(|volume| volume["disk"] == disk);
        assert!(
            on("azure.sql_mi_gp.log")
                || on("azure.sql_mi_nextgen.log")
                || on("azure.sql_mi_bc.log"),
            "{layout}"
        );
    }
    let said = assumptions(&advice);
    assert!(
        said.contains("of different regions (Azure eastus, Azure westus)"),
        "{said}"
    );
}
