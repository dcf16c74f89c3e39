//! The built-in experiments: each can be run, and does run.

use dbstow::engines::ENGINES;
use experiment::plan::Plan;
use experiment::record::Outcome;
use experiment::spec::{EngineName, Mode, Spec, Variant, builtin_names};
use lab::inventory::Inventory;
use lab::trial::{self, Stage, Subject, TrialId, Work};
use model::Bytes;

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
    assert_eq!(builtin_names().len(), 17);
    for name in builtin_names() {
        for quick in [false, true] {
            assert!(checked(name, quick).arms.len() > 1, "{name}");
        }
    }
}

/// Version stores, which the workload fills as it runs, whatever memory there is; and experiments for other engines.
const SIZED_OTHERWISE: [&str; 9] = [
    "files-times-disks",
    "innodb-ebs-iops",
    "innodb-ebs-memory",
    "mariadb-tmpdir-local",
    "postgres-io-method",
    "postgres-iops",
    "postgres-temp-volume",
    "postgres-wal-volume",
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
    }
}

#[test]
fn files_times_disks_runs() {
    runs_without_errors("files-times-disks");
}

#[test]
fn innodb_ebs_iops_runs() {
    runs_without_errors("innodb-ebs-iops");
}

#[test]
fn innodb_ebs_memory_runs() {
    runs_without_errors("innodb-ebs-memory");
}

#[test]
fn managed_instance_files_runs() {
    runs_without_errors("managed-instance-files");
}

#[test]
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
