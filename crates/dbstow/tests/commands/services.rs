//! Managed services in experiments: what they do not have is refused, and what they have has their limits.

use testing::folder::Folder;

/// An experiment with these volumes; `files` are the lines of its placement.
fn experiment(machine: &str, volumes: &str, files: &str) -> String {
    format!(
        "name = \"placed\"
question = \"Where can it be?\"
[machine]
{machine}
{volumes}
[placement.p]
{files}
[workload]
name = \"raw\"
duration = \"2 s\"
warm_up = \"1 s\"
[workload.parameters]
block_size = \"8 KiB\"
read_percent = 100
pattern = \"random\"
span = \"256 MiB\"
depth = 256
[engine]
name = \"raw\"
[protocol]
blocks = 1
metric = \"iops\"
"
    )
}

const RDS: &str = "type = \"aws.rds.postgresql.db.r6i.4xlarge\"";
const TOGETHER: &str =
    "data = { volumes = \"v\" }\ntemp = { volumes = \"v\" }\nlog = { volumes = \"v\" }";
const LOG_APART: &str =
    "data = { volumes = \"v\" }\ntemp = { volumes = \"v\" }\nlog = { volumes = \"l\" }";

fn checked(machine: &str, volumes: &str, files: &str) -> (i32, String) {
    let text = experiment(machine, volumes, files);
    let printed = Folder::with(&[("placed.toml", &text)]).printed(&["check", "placed.toml"]);
    (printed.code, printed.stderr)
}

fn refused(machine: &str, volumes: &str, files: &str, parts: &[&str]) {
    let (code, said) = checked(machine, volumes, files);
    assert_eq!(code, 2, "{said}");
    assert_eq!(said.trim_end().lines().count(), 1, "{said}");
    for part in parts {
        assert!(said.contains(part), "no {part} in {said}");
    }
}

fn volume(name: &str, lines: &str) -> String {
    format!("[volume.{name}]\n{lines}\n")
}

#[test]
fn a_log_volume_beside_gp3_is_refused_with_what_it_can_be_beside() {
    let volumes = volume("v", "disk = \"aws.rds.gp3\"\nsize = \"400 GiB\"")
        + &volume("l", "disk = \"aws.rds.log_volume\"");
    let parts = [
        "volume \"l\": Amazon RDS for PostgreSQL has aws.rds.log_volume only beside aws.rds.io1 or aws.rds.io2",
        "the data is on aws.rds.gp3",
        "or leave the volume out",
    ];
    refused(RDS, &volumes, LOG_APART, &parts);
}

#[test]
fn a_disk_of_machines_is_refused_with_the_storage_that_there_is() {
    let volumes = volume("v", "disk = \"aws.gp3\"\nsize = \"400 GiB\"");
    let parts = [
        "volume \"v\": Amazon RDS for PostgreSQL has no aws.gp3",
        "aws.rds.gp3, aws.rds.gp2",
        "`dbstow services rds-postgresql`",
    ];
    refused(RDS, &volumes, TOGETHER, &parts);
}

#[test]
fn a_second_volume_and_one_of_several_disks_are_refused() {
    let two = volume("v", "disk = \"aws.rds.gp3\"\nsize = \"400 GiB\"")
        + &volume("l", "disk = \"aws.rds.gp3\"\nsize = \"400 GiB\"");
    let parts =
        ["volume \"l\": Amazon RDS for PostgreSQL has at most 1 volume, and this is number 2"];
    refused(RDS, &two, LOG_APART, &parts);
    let striped = volume("v", "disk = \"aws.rds.gp3\"\nsize = \"400 GiB\"\ncount = 4");
    let parts = ["stripes by itself, so that count = 4", "leave count out"];
    refused(RDS, &striped, TOGETHER, &parts);
}

#[test]
fn files_where_a_service_does_not_have_them_are_refused_with_where_they_can_be() {
    let volumes = volume("v", "disk = \"azure.sql_mi_gp.file\"\nsize = \"128 GiB\"");
    let parts = [
        "placement \"p\" puts temp on volume \"v\" (azure.sql_mi_gp.file)",
        "it can be on local",
    ];
    refused(
        "type = \"azure.sql_mi_gp.vcores_8\"",
        &volumes,
        TOGETHER,
        &parts,
    );
    let volumes = volumes
        + &volume("l", "disk = \"azure.sql_mi_gp.log\"\nsize = \"128 GiB\"")
        + &volume("t", "disk = \"local\"");
    let files = "data = { volumes = \"v\", files = 2 }\ntemp = { volumes = \"t\" }\nlog = { volumes = \"l\" }";
    let parts = [
        "placement \"p\" has 2 files on volume \"v\"",
        "a disk of its own",
    ];
    refused(
        "type = \"azure.sql_mi_gp.vcores_8\"",
        &volumes,
        files,
        &parts,
    );
}

#[test]
fn aurora_a_size_between_two_steps_and_a_system_are_refused_in_one_message_each() {
    let gp3 = volume("v", "disk = \"aws.rds.gp3\"\nsize = \"400 GiB\"");
    let aurora = "type = \"aws.aurora.postgresql.db.r6i.2xlarge\"";
    let parts = [
        "aws.aurora.postgresql.db.r6i.2xlarge",
        "is not modelled: no limit on IOPS",
    ];
    refused(aurora, &gp3, TOGETHER, &parts);
    let between = volume(
        "v",
        "disk = \"azure.postgresql.premium_ssd\"\nsize = \"100 GiB\"",
    );
    let parts = [
        "volume \"v\"",
        "size 100 GiB asked",
        "ask for 64 GiB or 128 GiB",
    ];
    refused(
        "type = \"azure.postgresql.D4ds_v5\"",
        &between,
        TOGETHER,
        &parts,
    );
    let system = format!("{RDS}\nsystem = \"windows\"");
    refused(
        &system,
        &gp3,
        TOGETHER,
        &["no operating system to choose", "leave machine.system out"],
    );
    let asked = volume(
        "v",
        "disk = \"aws.rds.gp3\"\nsize = \"399 GiB\"\niops = 12_000",
    );
    let parts = [
        "not provisioned below 400 GiB",
        "ask for a size of 400 GiB or more",
    ];
    refused(RDS, &asked, TOGETHER, &parts);
}

#[test]
fn storage_of_a_service_is_refused_on_a_machine_and_allowed_without_one() {
    let gp3 = volume("v", "disk = \"aws.rds.gp3\"\nsize = \"400 GiB\"");
    let parts = [
        "aws.rds.gp3 is storage of rds-postgresql, and aws.r6i.2xlarge is not a class of it",
        "`dbstow services rds-postgresql --classes`",
    ];
    refused("type = \"aws.r6i.2xlarge\"", &gp3, TOGETHER, &parts);
    let (code, said) = checked("cores = 8\nmemory = \"64 GiB\"", &gp3, TOGETHER);
    assert_eq!(code, 0, "{said}");
}

#[test]
fn a_class_without_a_price_can_run_and_says_so() {
    let gp3 = volume("v", "disk = \"aws.rds.gp3\"\nsize = \"400 GiB\"");
    let (code, said) = checked(
        "type = \"aws.rds.postgresql.db.m7g.2xlarge\"",
        &gp3,
        TOGETHER,
    );
    let expected = "dbstow: the catalogue has no price of aws.rds.postgresql.db.m7g.2xlarge, so that reports have none; `dbstow \
                    services rds-postgresql --classes` shows which have one\n";
    assert_eq!((code, said.as_str()), (0, expected));
}

#[test]
fn services_as_json_have_their_storage_and_classes() {
    let folder = Folder::new();
    let text = folder.stdout(&["services", "azure-sql-mi-nextgen", "--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(document["schema"], "dbstow.services/1");
    let service = &document["services"][0];
    assert_eq!(service["storage"][1]["capped"], "log");
    let classes = service["classes"].as_array().expect("a list");
    assert_eq!(classes.len(), 16);
    // What is unknown is null: no price of the premium series was found.
    let unknown = classes
        .iter()
        .filter(|class| class["usd_per_hour"].is_null());
    assert_eq!(unknown.count(), 8);
    let all = folder.stdout(&["services", "--format", "json"]);
    let all: serde_json::Value = serde_json::from_str(&all).expect("JSON");
    let services = all["services"].as_array().expect("a list").iter();
    let not_modelled = services.filter(|one| !one["not_modelled"].is_null());
    assert_eq!(not_modelled.count(), 5);
}
