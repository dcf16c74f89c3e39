//! The built-in experiments: each can be run, and does run.

use std::collections::BTreeMap;

use dbstow::engines::ENGINES;
use experiment::plan::Plan;
use experiment::record::{Outcome, Record};
use experiment::spec::{EngineName, Mode, Spec, Variant, builtin_names};
use lab::inventory::Inventory;
use lab::trial::{self, Stage, Subject, TrialId, Work};
use model::Bytes;
use testing::folder::Folder;

fn checked(name: &str, quick: bool) -> Plan {
    let spec = Spec::builtin(
        name,
        &[],
        Variant {
            quick,
            ..Variant::default()
        },
    )
    .and_then(|spec| spec.check(&Inventory::with_engines(ENGINES)));
    Plan::new(&spec.unwrap_or_else(|error| panic!("{error}")), false)
}

#[test]
fn all_of_them_check_against_the_catalogue_and_the_workloads() {
    assert_eq!(builtin_names().len(), 20);
    for name in builtin_names() {
        for quick in [false, true] {
            assert!(checked(name, quick).arms.len() > 1, "{name}");
        }
    }
}

/// Version stores, which the workload fills as it runs, whatever memory there is; and experiments for other engines.
const SIZED_OTHERWISE: [&str; 10] = [
    "files-times-disks",
    "innodb-ebs-iops",
    "innodb-ebs-memory",
    "mariadb-tmpdir-local",
    "postgres-io-method",
    "postgres-iops",
    "postgres-temp-volume",
    "postgres-wal-volume",
    "rds-postgres-log-volume",
    "tempdb-scale-out",
];

#[test]
fn on_sql_server_they_ask_for_memory_that_it_takes() {
    // What only MariaDB has, SQL Server refuses.
    let only_mariadb = ["mariadb-binlog-apart", "mariadb-doublewrite"];
    let names = builtin_names();
    for name in names
        .into_iter()
        .filter(|name| !only_mariadb.contains(name))
    {
        let variant = |mode, engine: &'static str| Variant {
            mode,
            engine: EngineName::new(engine),
            quick: false,
        };
        let least_memory = |variant| {
            let spec = Spec::builtin(name, &[], variant);
            // Looks up the parameters that are set for it, too.
            let spec = spec.and_then(|spec| spec.check(&Inventory::with_engines(ENGINES)));
            let spec = spec.unwrap_or_else(|error| panic!("{error}"));
            let memory = spec.arms.iter().map(|arm| arm.settings.engine.memory);
            memory.min().expect("it has arms")
        };
        let real = least_memory(variant(Mode::Measure, "sqlserver"));
        let is_sized = !SIZED_OTHERWISE.contains(&name);
        assert_eq!(real >= Bytes::gib(1), is_sized, "{name}: {real}");
        // Others are not slowed down by it.
        let others = least_memory(variant(Mode::Measure, "postgres"));
        assert!(others < Bytes::gib(1), "{name}: {others}");
    }
}

/// Runs the first block of every arm with the quick settings.
fn runs_without_errors(name: &str) {
    first_block(name);
}

/// A metric of the first block of every arm with the quick settings, by arm.
fn metric(name: &str, metric: &str) -> BTreeMap<String, f64> {
    let records = first_block(name).into_iter();
    records
        .map(|(arm, record)| (arm, record.metrics[metric]))
        .collect()
}

/// Records of the first block of every arm with the quick settings, by arm.
fn first_block(name: &str) -> BTreeMap<String, Record> {
    let mut records = BTreeMap::new();
    let inventory = Inventory::with_engines(ENGINES);
    let plan = checked(name, true);
    let of_first_block = plan.trials().iter().filter(|trial| trial.block == 0);
    for trial in of_first_block {
        let arm = plan.arm(&trial.arm).expect("trials are of arms");
        let stage = Stage::new(&arm.settings, &inventory.catalogue).expect("it was checked");
        let workload = inventory.workload(&arm.settings.workload);
        let workload = workload.expect("it was checked");
        let id = TrialId {
            experiment: name.to_owned(),
            plan: plan.digest().to_owned(),
            arm: trial.arm.clone(),
            block: trial.block,
            position: trial.position,
            seed: trial.seed,
        };
        let subject = Subject {
            id: &id,
            mode: plan.variant.mode,
            engine: ENGINES.find(&plan.variant.engine).expect("it is built in"),
            settings: &arm.settings,
            stage: &stage,
            work: &Work::Statements(Box::new(workload)),
        };
        let never: trial::Cancel = std::rc::Rc::new(|| false);
        let images = trial::Images::default();
        let record = trial::simulate(&subject, &images, &never, &|_| {});
        let record = record.expect("nobody cancels it");
        let shown = format!("{name}, {}", trial.arm);
        assert_eq!(record.errors.count, 0, "{shown}: {:?}", record.errors.first);
        assert_eq!(record.outcome, Outcome::Finished, "{shown}");
        assert!(record.metrics["operations_per_s"] > 0.0, "{shown}");
        records.insert(trial.arm.clone(), record);
    }
    records
}

#[test]
#[ignore = "long: has the most arms of the built-in experiments; others run always"]
fn files_times_disks_runs() {
    runs_without_errors("files-times-disks");
}

#[test]
#[ignore = "long: has the most arms of the built-in experiments; others run always"]
fn innodb_ebs_iops_runs() {
    runs_without_errors("innodb-ebs-iops");
}

#[test]
#[ignore = "long: has the most arms of the built-in experiments; others run always"]
fn innodb_ebs_memory_runs() {
    runs_without_errors("innodb-ebs-memory");
}

#[test]
fn managed_instance_files_runs() {
    runs_without_errors("managed-instance-files");
}

#[test]
#[ignore = "long: has the most arms of the built-in experiments; others run always"]
fn postgres_iops_runs() {
    runs_without_errors("postgres-iops");
}

#[test]
fn postgres_temp_volume_runs() {
    runs_without_errors("postgres-temp-volume");
}

#[test]
fn postgres_wal_volume_runs() {
    runs_without_errors("postgres-wal-volume");
}

/// Whether `found` is within 5 % of what documented limits say.
fn is_near(found: f64, expected: f64) -> bool {
    (found / expected - 1.0).abs() < 0.05
}

#[test]
fn on_rds_400_gib_of_gp3_do_four_times_what_399_do() {
    // 12,000 IOPS / 3,000 IOPS = 4
    let iops = metric("rds-postgres-400gib", "iops");
    let times = iops["gib-400"] / iops["gib-399"];
    assert!(is_near(times, 4.0), "{times}: {iops:?}");
}

#[test]
#[ignore = "long: runs an experiment with all its operations"]
fn on_rds_a_log_volume_adds_its_iops_to_those_of_the_data() {
    // 3,000 IOPS for all, or 3,000 for data and 3,000 for the log: more than 1 time and at most twice as many transactions.
    let rates = metric("rds-postgres-log-volume", "business_transactions_per_s");
    let times = rates["apart"] / rates["together"];
    assert!((1.1..=2.0).contains(&times), "{times}: {rates:?}");
}

#[test]
fn a_managed_instance_has_the_iops_of_its_files_or_of_its_pool() {
    // Plain I/O, as the program runs it.
    let words = [
        "run",
        "managed-instance-tiers",
        "--quick",
        "--format",
        "json",
    ];
    let findings: serde_json::Value =
        serde_json::from_str(&Folder::new().stdout(&words)).expect("JSON");
    let arms = findings["arms"].as_array().expect("arms");
    // 5,000 for a file of 1 TiB; 4 x 2,300; 3 a GiB; what 8 vCores let through.
    let expected = [
        ("one-file", 5_000.0),
        ("four-files", 9_200.0),
        ("next-gen", 3_072.0),
        ("next-gen-bought", 12_800.0),
    ];
    assert_eq!(arms.len(), expected.len());
    for (arm, (name, expected)) in arms.iter().zip(expected) {
        assert_eq!(arm["name"], name);
        let iops = arm["metrics"]["iops"]["mean"].as_f64();
        assert!(
            iops.is_some_and(|iops| is_near(iops, expected)),
            "{name}: {iops:?}"
        );
    }
}

#[test]
fn tempdb_mixes_runs() {
    runs_without_errors("tempdb-mixes");
}

#[test]
fn tempdb_scale_out_runs() {
    runs_without_errors("tempdb-scale-out");
}

#[test]
fn tempdb_spill_runs() {
    runs_without_errors("tempdb-spill");
}

#[test]
fn tempdb_ssd_vs_premium_runs() {
    runs_without_errors("tempdb-ssd-vs-premium");
}

#[test]
fn ultra_vs_premium_pool_runs() {
    runs_without_errors("ultra-vs-premium-pool");
}
