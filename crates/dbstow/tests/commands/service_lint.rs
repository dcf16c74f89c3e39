//! `dbstow lint PROFILE --today FILE`: what is only true on a managed service.

use serde_json::Value;
use testing::folder::{Folder, json};

/// Two minutes of a server: `reads` and `writes` of data, `log` bytes and `temp` reads, each a second.
fn profile(reads: f64, log: f64, temp: f64, balance: Option<[u8; 2]>) -> String {
    let both = |rate: f64| format!("[{0:.1}, {0:.1}]", rate * 60.0);
    let balance = balance.map_or(String::new(), |balance| {
        format!("[machine]\nburst_balance = {balance:?}\n")
    });
    format!(
        "format = \"dbstow.profile/1\"\nstart = \"2026-11-28T10:00:00Z\"\n[origin]\ntool = \"CloudWatch\"\n{balance}\
         [intervals]\nat_s = [0.0, 60.0]\nlength_s = [60.0, 60.0]\n\
         [intervals.data]\nreads = {0}\nread_bytes = {1}\nwrites = [0.0, 0.0]\nwrite_bytes = [0.0, 0.0]\n\
         [intervals.log]\nreads = [0.0, 0.0]\nread_bytes = [0.0, 0.0]\nwrites = [600.0, 600.0]\nwrite_bytes = {2}\n\
         [intervals.temp]\nreads = {3}\nread_bytes = {4}\nwrites = [0.0, 0.0]\nwrite_bytes = [0.0, 0.0]\n",
        both(reads),
        both(reads * 8192.0),
        both(log),
        both(temp),
        both(temp * 8192.0),
    )
}

fn today(machine: &str, volumes: &str, [data, temp, log]: [&str; 3]) -> String {
    format!(
        "[machine]\ntype = \"{machine}\"\n{volumes}[placement.today]\ndata = {{ volumes = \"{data}\" }}\ntemp = {{ volumes = \"{temp}\" }}\n\
         log = {{ volumes = \"{log}\" }}\n"
    )
}

fn on_rds(class: &str, disk: &str, gib: u32) -> String {
    let volumes = format!("[volume.v]\ndisk = \"{disk}\"\nsize = \"{gib} GiB\"\n");
    today(&format!("aws.rds.{class}"), &volumes, ["v"; 3])
}

/// The outcomes of a rule: kind, severity and message.
fn outcomes(rule: &str, profile: &str, today: &str) -> Vec<(String, String, String)> {
    let folder = Folder::with(&[("shop.toml", profile), ("today.toml", today)]);
    let arguments = [
        "lint",
        "shop.toml",
        "--today",
        "today.toml",
        "--rule",
        rule,
        "--format",
        "json",
    ];
    let document = json(&folder.dbstow(&arguments).assert().success());
    let rules = document["rules"].as_array().expect("rules");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let all = rules.iter().flat_map(|rule| {
        rule["outcomes"]
            .as_array()
            .expect("outcomes")
            .iter()
            .cloned()
    });
    all.map(|one| {
        (
            text(&one["outcome"]),
            text(&one["severity"]),
            text(&one["message"]),
        )
    })
    .collect()
}

fn severity(rule: &str, profile: &str, today: &str) -> String {
    let found = outcomes(rule, profile, today);
    let [(kind, severity, _)] = found.as_slice() else {
        panic!("{found:?}")
    };
    match kind.as_str() {
        "finding" => severity.clone(),
        other => other.to_owned(),
    }
}

/// 100 GiB of gp2 have 300 IOPS that last.
#[test]
fn burst_credits_that_end_are_found_by_the_load_and_by_the_balance() {
    let gp2 = on_rds("postgresql.db.r6i.large", "aws.rds.gp2", 100);
    let of = |reads, balance| {
        severity(
            "service-burst-credits",
            &profile(reads, 0.0, 0.0, balance),
            &gp2,
        )
    };
    assert_eq!(of(200.0, None), "fine");
    assert_eq!(of(400.0, None), "high");
    assert_eq!(of(200.0, Some([99, 98])), "fine");
    assert_eq!(of(200.0, Some([99, 80])), "medium");
    assert_eq!(of(200.0, Some([99, 12])), "high");
    let gp3 = on_rds("postgresql.db.r6i.large", "aws.rds.gp3", 100);
    assert_eq!(
        severity(
            "service-burst-credits",
            &profile(400.0, 0.0, 0.0, None),
            &gp3
        ),
        "fine"
    );
}

/// Of RDS, PostgreSQL has four times the IOPS from 400 GiB on, and SQL Server has no such size.
#[test]
fn storage_just_below_a_step_is_found_where_its_product_has_one() {
    let of = |class: &str, disk: &str, gib, reads| {
        let today = on_rds(class, disk, gib);
        severity(
            "service-storage-step",
            &profile(reads, 0.0, 0.0, None),
            &today,
        )
    };
    let postgres = |gib, reads| of("postgresql.db.r6i.2xlarge", "aws.rds.gp3", gib, reads);
    assert_eq!(postgres(399, 2_900.0), "medium");
    assert_eq!(postgres(399, 100.0), "note");
    assert_eq!(postgres(359, 2_900.0), "fine");
    assert_eq!(postgres(400, 2_900.0), "fine");
    assert_eq!(
        of(
            "sqlserver.db.m5.xlarge",
            "aws.rds.sqlserver.gp3",
            399,
            2_900.0
        ),
        "fine"
    );
}

#[test]
fn temporary_files_beside_a_disk_of_the_class_are_found() {
    let of = |class: &str, temp| {
        let today = on_rds(class, "aws.rds.gp3", 100);
        severity(
            "service-temp-on-storage",
            &profile(10.0, 0.0, temp, None),
            &today,
        )
    };
    assert_eq!(of("postgresql.db.r6i.large", 5.0), "fine");
    assert_eq!(of("postgresql.db.r6idn.xlarge", 5.0), "medium");
    assert_eq!(of("postgresql.db.r6idn.xlarge", 0.0), "note");
}

/// A managed instance writes 4.5 MiB/s of its log for each vCore: 36 MiB/s with eight, 90 % of them are 32.4 MiB/s.
#[test]
fn a_log_at_its_cap_is_found() {
    let volumes = "[volume.f]\ndisk = \"azure.sql_mi_gp.file\"\nsize = \"1 TiB\"\n[volume.l]\ndisk = \"azure.sql_mi_gp.log\"\nsize = \"100 GiB\"\n\
                   [volume.t]\ndisk = \"local\"\n";
    let today = today("azure.sql_mi_gp.vcores_8", volumes, ["f", "t", "l"]);
    let of = |mib: f64| {
        severity(
            "service-log-rate",
            &profile(10.0, mib * 1_048_576.0, 0.0, None),
            &today,
        )
    };
    assert_eq!(of(32.0), "fine");
    assert_eq!(of(33.0), "high");
    // 1 TiB is just below the next class, of more than 1,025 GiB.
    assert_eq!(
        severity(
            "service-storage-step",
            &profile(10.0, 0.0, 0.0, None),
            &today
        ),
        "note"
    );
}

#[test]
fn a_layout_on_no_service_is_refused_in_one_line() {
    let volume = "[volume.v]\ndisk = \"aws.gp3\"\nsize = \"100 GiB\"\n";
    let machine = &*today("aws.r6i.large", volume, ["v"; 3]);
    let files = [
        ("shop.toml", &*profile(10.0, 0.0, 0.0, None)),
        ("today.toml", machine),
    ];
    let printed = Folder::with(&files).printed(&["lint", "shop.toml", "--today", "today.toml"]);
    assert_eq!(printed.code, 2, "{}", printed.stderr);
    assert_eq!(
        printed.stderr.trim_end().lines().count(),
        1,
        "{}",
        printed.stderr
    );
    assert!(
        printed.stderr.contains("dbstow services"),
        "{}",
        printed.stderr
    );
}
