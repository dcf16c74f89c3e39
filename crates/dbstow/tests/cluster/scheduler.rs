//! A plan's trials one by one: on a real Slurm, with the user's own files, and as a manifest for Kubernetes; and their
//! records as a table in a real DuckDB.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    reason = "a panic with its line is what a failing test should give"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use testing::folder::{Folder, Printed, contains, said};
use testing::slurm::{Slurm, wait};

/// 4 arms in 10 blocks: 40 trials.
const FORTY: [&str; 4] = ["tempdb-spill", "--quick", "--blocks", "10"];

/// 2 arms in 5 blocks, and a variation: 11 trials, which take no time.
const SHORT: [&str; 4] = ["tempdb-ssd-vs-premium", "--quick", "--blocks", "5"];

/// What dbstow prints with variables of a scheduler.
fn printed_as(place: &Folder, arguments: &[&str], variables: &[(&str, &str)]) -> Printed {
    let mut command = place.dbstow(arguments);
    Printed::from(command.envs(variables.iter().copied()).output().unwrap())
}

/// Texts of all records of a results folder, by their names.
fn records(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder.join("records")).unwrap().flatten();
    entries
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read_to_string(entry.path()).unwrap())
        })
        .collect()
}

/// Kills a trial of the plan at `plan` while it runs, once its task has the index `least` or a later one.
fn kill_one(plan: &Path, least: u32) -> u32 {
    let mut killed = None;
    wait("a trial to kill", || {
        let processes = fs::read_dir("/proc").unwrap().flatten();
        for process in processes {
            let read = |name: &str| fs::read(process.path().join(name)).unwrap_or_default();
            let words = |bytes: Vec<u8>| -> Vec<String> {
                let words = bytes.split(|byte| *byte == 0);
                words
                    .map(|word| String::from_utf8_lossy(word).into_owned())
                    .collect()
            };
            let arguments = words(read("cmdline"));
            let is_trial = arguments.get(1).is_some_and(|word| word == "trial")
                && arguments.get(2).is_some_and(|word| Path::new(word) == plan);
            let environment = words(read("environ"));
            let index = environment
                .iter()
                .find_map(|variable| variable.strip_prefix("SLURM_ARRAY_TASK_ID="));
            let index = index.and_then(|index| index.parse().ok());
            let id = process.file_name().to_string_lossy().parse();
            if let (true, Some(index), Ok(id)) =
                (is_trial, index.filter(|index| *index >= least), id)
                && kill(Pid::from_raw(id), Signal::SIGKILL).is_ok()
            {
                killed = Some(index);
                return true;
            }
        }
        false
    });
    killed.unwrap()
}

#[test]
fn a_plan_on_slurm_with_a_killed_trial_gives_the_report_of_a_local_run() {
    let Some(slurm) = Slurm::start() else { return };
    let place = Folder::new();
    let (plan, script) = (place.path("plan.json"), place.path("job.sh"));
    let (plan_text, script_text) = (plan.display().to_string(), script.display().to_string());
    let shared = place.path("shared").display().to_string();
    place.stdout(&[&["plan"], &FORTY[..], &["--out", &plan_text]].concat());
    let program = testing::program().display().to_string();
    let submit = ["submit", &plan_text, "--to", "slurm", "--program", &program];
    let printed =
        place.stdout(&[&submit[..], &["--results", &shared, "--out", &script_text]].concat());
    assert_eq!(printed, format!("sbatch {script_text}\n"));

    slurm.submit(&script);
    // If it ended before the signal came, another one is tried.
    let mut least = 3;
    loop {
        let index = kill_one(&plan, least);
        let requeued = format!("task {index} is requeued");
        let ended = format!("trial {index} ");
        let mut outputs = String::new();
        wait("the killed task", || {
            outputs = slurm.outputs();
            outputs.contains(&requeued) || outputs.contains(&ended)
        });
        if outputs.contains(&requeued) {
            assert!(
                outputs.contains(&format!("exit code 137: {requeued}")),
                "{outputs}"
            );
            break;
        }
        least = index + 1;
        assert!(least < 40, "{outputs}");
    }
    slurm.wait_until_idle();

    place.stdout(&[&["run"], &FORTY[..], &["--out", "local"]].concat());
    let (here, there) = (
        records(&place.path("local")),
        records(&place.path("shared")),
    );
    assert_eq!(here.len(), 40);
    assert_eq!(
        here.keys().collect::<Vec<_>>(),
        there.keys().collect::<Vec<_>>(),
        "{}",
        slurm.outputs()
    );
    assert!(here == there, "records differ");
    let head = |folder: &str| fs::read_to_string(place.path(folder).join("dbstow.json")).unwrap();
    assert_eq!(head("local"), head("shared"));
    for format in ["json", "csv", "markdown"] {
        let report = |folder: &str| place.stdout(&["report", folder, "--format", format]);
        assert_eq!(report("local"), report("shared"));
    }
}

#[test]
fn a_trial_that_has_a_record_is_not_run_again() {
    let place = Folder::new();
    place.stdout(&[&["plan"], &SHORT[..], &["--out", "plan.json"]].concat());
    let trial = ["trial", "plan.json", "--out", "results"];
    let run = |more: &[&str]| place.stdout(&[&trial[..], more].concat());
    let modified = || {
        let mut times = BTreeMap::new();
        for entry in fs::read_dir(place.path("results/records"))
            .unwrap()
            .flatten()
        {
            let time = entry.metadata().unwrap().modified().unwrap();
            times.insert(entry.file_name(), time);
        }
        times
    };

    let first = run(&["--index", "5"]);
    let then = modified();
    let second = run(&["--index", "5"]);
    let third = printed_as(&place, &trial, &[("JOB_COMPLETION_INDEX", "5")]);

    assert!(
        first.contains("trial 5 (block 3") && first.contains("is recorded"),
        "{first}"
    );
    assert!(second.contains("was recorded before"), "{second}");
    assert_eq!((third.code, &third.stdout), (0, &second));
    assert_eq!(modified(), then);
    let chunk = printed_as(
        &place,
        &[&trial[..], &["--chunk", "4"]].concat(),
        &[("SLURM_ARRAY_TASK_ID", "1")],
    );
    let recorded = "trials 4 to 7: 3 recorded in results, 1 recorded before";
    contains(&chunk.stdout, &[recorded]);
    run(&["--index", "5", "--fresh"]);
    assert_ne!(modified(), then);
    assert_eq!(records(&place.path("results")).len(), 4);
}

#[test]
fn an_index_that_is_not_of_the_plan_is_a_usage_error() {
    let place = Folder::new();
    place.stdout(&[&["plan"], &FORTY[..], &["--out", "plan.json"]].concat());
    let trial = ["trial", "plan.json", "--out", "results"];
    let two = [("SLURM_ARRAY_TASK_ID", "3"), ("PBS_ARRAY_INDEX", "4")];
    for (more, variables, part) in [
        (&["--index", "40"][..], &[][..], "0 to 39"),
        (&[], &[], "--index N"),
        (&[], &two, "PBS_ARRAY_INDEX is 4"),
    ] {
        let Printed { code, stderr, .. } =
            printed_as(&place, &[&trial[..], more].concat(), variables);
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.contains(part), "{stderr}");
    }
    assert!(!place.path("results").exists());
}

#[test]
fn a_plan_of_one_trial_is_reported_without_a_range() {
    let place = Folder::new();
    let case = include_str!("../cases/data-and-log-on-local-nvme.toml");
    place.write("one.toml", case);
    let one = ["one.toml", "--blocks", "1"];
    let error = said(
        &place
            .dbstow(&[&["plan"], &one[..], &["--out", "plan.json"]].concat())
            .assert()
            .code(0),
    );
    assert!(
        error.contains("dbstow: 1 trial is planned in plan.json\n"),
        "{error}"
    );
    let error = place.fails(
        &["trial", "plan.json", "--out", "results", "--index", "1"],
        2,
    );
    assert!(
        error.contains("--index 1: the plan has 1 trial; give index 0"),
        "{error}"
    );
    let submit = ["submit", "plan.json", "--to", "slurm", "--out", "job.sh"];
    let error = place.printed(&submit).stderr;
    assert!(error.contains("dbstow: 1 trial in 1 task, "), "{error}");
}

#[test]
fn a_plan_whose_trials_were_removed_is_refused() {
    let place = Folder::new();
    place.stdout(&[&["plan"], &SHORT[..], &["--out", "plan.json"]].concat());
    let plan = place.read("plan.json");
    let mut plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
    plan["trials"] = serde_json::json!([]);
    place.write("plan.json", plan.to_string());
    for asked in [
        &["trial", "plan.json", "--index", "0", "--out", "results"][..],
        &["submit", "plan.json", "--to", "slurm"],
    ] {
        let error = said(&place.dbstow(asked).assert().code(2).stdout(""));
        assert!(error.contains("its trials are not those"), "{error}");
    }
}

#[test]
fn a_run_and_trials_keep_out_of_one_another() {
    let place = Folder::new();
    place.stdout(&[&["plan"], &SHORT[..], &["--out", "plan.json"]].concat());
    place.stdout(&["trial", "plan.json", "--out", "results", "--index", "0"]);
    let lock = place.path("results/dbstow.lock");
    let lock = || {
        fs::File::options()
            .read(true)
            .write(true)
            .open(&lock)
            .unwrap()
    };
    let trial = ["trial", "plan.json", "--out", "results", "--index", "1"];
    let run = [&["run"], &SHORT[..], &["--out", "results"]].concat();

    let as_trial = lock();
    as_trial.lock_shared().unwrap();
    let error = place.fails(&run, 2);
    assert!(error.contains("another run"), "{error}");
    place.stdout(&trial);
    drop(as_trial);

    let as_run = lock();
    as_run.lock().unwrap();
    let error = place.fails(
        &["trial", "plan.json", "--out", "results", "--index", "2"],
        2,
    );
    assert!(error.contains("another run"), "{error}");
    // Trials with records need no folder of their own.
    place.stdout(&trial);
    drop(as_run);

    place.stdout(&run);
    assert_eq!(records(&place.path("results")).len(), 11);
}

/// A disk and a workload of the user's own.
const DISK: &str = r#"
[source.mine]
title = "a test"
date = "2026"
[disk."mine.disk"]
class = "local-nvme"
title = "a disk"
size = "1 TiB"
iops = 1000
confidence = "assumed"
sources = ["mine"]
"#;

#[test]
fn a_plan_carries_disks_workloads_and_profiles_of_the_user_s_own() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let place = Folder::new();
    place.write("disk.toml", DISK);
    fs::write(
        place.path("one.sql"),
        "SELECT count(*) FROM sqlite_schema;\n",
    )
    .unwrap();
    fs::copy(examples.join("shop.toml"), place.path("shop.toml")).unwrap();
    let own = [
        "tempdb-ssd-vs-premium",
        "--quick",
        "--blocks",
        "1",
        "--disk",
        "d=disk.toml",
        "--workload",
        "one.sql",
    ];
    let profile = [
        "postgres-wal-volume",
        "--blocks",
        "1",
        "--profile",
        "shop.toml",
        "--set",
        "workload.window=1min",
    ];
    for (name, asked) in [("own", &own[..]), ("profile", &profile)] {
        let plan = format!("{name}.json");
        place.stdout(&[&["plan"], asked, &["--out", &plan]].concat());
        place.stdout(&[&["run"], asked, &["--out", &format!("{name}-run")]].concat());
    }
    for file in ["disk.toml", "one.sql", "shop.toml"] {
        fs::remove_file(place.path(file)).unwrap();
    }

    for name in ["own", "profile"] {
        let (plan, out) = (format!("{name}.json"), format!("{name}-trials"));
        let here = records(&place.path(format!("{name}-run")));
        let all = format!("0-{}", here.len() - 1);
        place.stdout(&["trial", &plan, "--index", &all, "--out", &out]);
        assert!(here == records(&place.path(&out)), "{name}: records differ");
    }

    let plan = place.read("own.json");
    place.write("other.json", plan.replace("iops = 1000", "iops = 2000"));
    let error = place.fails(
        &["trial", "other.json", "--index", "0", "--out", "other"],
        2,
    );
    assert!(error.contains("disk mine.disk of volume d"), "{error}");
}

#[test]
fn what_advice_would_simulate_of_its_answers_is_a_plan() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let place = Folder::new();
    for file in ["shop.toml", "today.toml"] {
        fs::copy(examples.join(file), place.path(file)).unwrap();
    }
    let cheap = ["--cloud", "azure", "--keep-machine", "--simulations", "40"];
    let advise = [
        "advise",
        "shop.toml",
        "--today",
        "today.toml",
        "--out",
        "advice",
        "--plan-out",
        "plan.json",
    ];
    place.stdout(&[&advise[..], &cheap].concat());
    place.stdout(&[
        "run",
        "advice/finalists.toml",
        "--blocks",
        "1",
        "--out",
        "run",
    ]);
    fs::remove_file(place.path("shop.toml")).unwrap();
    place.stdout(&["trial", "plan.json", "--index", "0", "--out", "trials"]);
    let (here, there) = (records(&place.path("run")), records(&place.path("trials")));
    let (name, text) = there.first_key_value().unwrap();
    assert_eq!(here.get(name), Some(text));
}

/// The Python of `scripts/sweep-tools`; `None`, with a message, where it is not available.
fn python() -> Option<PathBuf> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/sweep-tools");
    let output = Command::new(script).output().unwrap();
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        testing::skip(why);
        return None;
    }
    Some(String::from_utf8(output.stdout).unwrap().trim().into())
}

#[test]
fn a_manifest_is_valid_by_the_schemas_of_kubernetes() {
    let Some(python) = python() else { return };
    let place = Folder::new();
    place.stdout(&[&["plan"], &FORTY[..], &["--out", "plan.json"]].concat());
    let submit = [
        "submit",
        "plan.json",
        "--to",
        "kubernetes",
        "--image",
        "registry.example/dbstow:0.1.0",
    ];
    let new: [&str; 8] = [
        "--claim-size",
        "1 GiB",
        "--storage-class",
        "fast: \"yes\"",
        "--time-limit",
        "90s",
        "--chunk",
        "3",
    ];
    for (name, more) in [
        ("new.yaml", &new[..]),
        ("existing.yaml", &["--claim", "shared", "--at-once", "4"]),
    ] {
        let printed = place.stdout(&[&submit[..], more, &["--out", name]].concat());
        assert!(
            printed.contains("kubectl create configmap dbstow-tempdb-spill-"),
            "{printed}"
        );
        // The first in which failures are counted per index by default, and the last that the package knows.
        for version in ["1.29", "1.37"] {
            let output = Command::new(&python)
                .args([
                    "-m",
                    "kubernetes_validate",
                    "--strict",
                    "--kubernetes-version",
                    version,
                ])
                .arg(place.path(name))
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&output.stdout).into_owned()
                + &String::from_utf8_lossy(&output.stderr);
            assert!(
                output.status.success() && said.contains("passed"),
                "{name}, {version}: {said}"
            );
        }
    }
    let manifest = place.read("new.yaml");
    let broken = manifest.replace("completions:", "completion:");
    place.write("broken.yaml", broken);
    let output = Command::new(&python)
        .args(["-m", "kubernetes_validate", "--strict"])
        .arg(place.path("broken.yaml"))
        .output()
        .unwrap();
    assert!(
        !output.status.success(),
        "a key that there is not has to be noticed"
    );
}

/// Every row of the table as JSON, with the types of its columns.
#[cfg(feature = "parquet")]
const TABLE: &str = "
import duckdb, json, sys
rows = duckdb.sql(f\"from '{sys.argv[1]}'\")
types = dict(zip(rows.columns, map(str, rows.types)))
print(json.dumps({'types': types, 'rows': [dict(zip(rows.columns, row)) for row in rows.fetchall()]}))
means = duckdb.sql(f\"\"\"
    select arm, avg(elapsed_s), count(*) from '{sys.argv[1]}' where outcome = 'finished' group by arm order by arm
\"\"\")
print(json.dumps(means.fetchall()))
";

#[cfg(feature = "parquet")]
#[test]
fn duckdb_reads_the_records_and_comes_to_the_means_of_the_report() {
    let Some(python) = python() else { return };
    let place = Folder::new();
    let asked = [
        "tempdb-ssd-vs-premium",
        "--quick",
        "--set",
        "engine.memory=8MiB,16MiB",
    ];
    place.stdout(&[&["run"], &asked[..], &["--out", "results"]].concat());
    let report = ["report", "results", "--format"];
    place.stdout(&[&report[..], &["parquet", "--out", "sweep.parquet"]].concat());
    let output = Command::new(python)
        .args(["-c", TABLE])
        .arg(place.path("sweep.parquet"))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let (table, means) = text.trim().split_once('\n').unwrap();
    let table: serde_json::Value = serde_json::from_str(table).unwrap();
    let rows = table["rows"].as_array().unwrap();

    let records = records(&place.path("results"));
    assert_eq!(rows.len(), records.len());
    for text in records.values() {
        let record: serde_json::Value = serde_json::from_str(text).unwrap();
        let is_its = |row: &&serde_json::Value| {
            row["arm"] == record["arm"] && row["block"] == record["block"]
        };
        let row = rows.iter().find(is_its).unwrap();
        assert_eq!(row["seed"], record["seed"]);
        for (name, value) in record["metrics"].as_object().unwrap() {
            assert_eq!(row[name].as_f64(), value.as_f64(), "{name}");
        }
        for (cause, ns) in record["time_split_ns"].as_object().unwrap() {
            let name = format!(
                "time_{}_ns",
                cause.replace(|c: char| !c.is_ascii_alphanumeric(), "_")
            );
            assert_eq!(row[&name].as_u64(), ns.as_u64(), "{name}");
        }
    }
    let types = &table["types"];
    assert_eq!(types["elapsed_s"], "DOUBLE");
    assert_eq!(types["seed"], "UBIGINT");
    assert_eq!(types["sweep_engine_memory"], "VARCHAR");

    let findings: serde_json::Value =
        serde_json::from_str(&place.stdout(&[&report[..], &["json"]].concat())).unwrap();
    let means: Vec<(String, f64, u64)> = serde_json::from_str(means).unwrap();
    for arm in findings["arms"].as_array().unwrap() {
        let (_, mean, _) = means
            .iter()
            .find(|(name, _, _)| *name == arm["name"])
            .unwrap();
        let own = arm["metrics"]["elapsed_s"]["mean"].as_f64().unwrap();
        // Both sum five numbers, each in its own order.
        assert!((mean / own - 1.0).abs() < 1e-12, "{arm}: {mean}");
    }
}

#[test]
fn a_table_goes_to_a_file_alone() {
    let place = Folder::new();
    place.stdout(&[&["plan"], &SHORT[..], &["--out", "plan.json"]].concat());
    place.stdout(&["trial", "plan.json", "--out", "results", "--index", "0"]);
    let error = place.fails(&["report", "results", "--format", "parquet"], 2);
    assert!(error.contains("--out FILE.parquet"), "{error}");
    let error = place.fails(&["report", "results", "--out", "x"], 2);
    assert!(error.contains("--format parquet"), "{error}");
}

#[test]
fn a_plan_is_what_its_schema_says() {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/plan.schema.json");
    let schema = serde_json::from_str(&fs::read_to_string(schema).unwrap()).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let place = Folder::new();
    place.write("disk.toml", DISK);
    for asked in [
        &[
            "tempdb-ssd-vs-premium",
            "--aa",
            "--set",
            "engine.memory=8MiB,16MiB",
        ][..],
        &["tempdb-spill", "--disk", "d=disk.toml", "--quick"],
    ] {
        place.stdout(&[&["plan"], asked, &["--out", "plan.json"]].concat());
        let plan = place.read("plan.json");
        let plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
        let wrong: Vec<String> = schema
            .iter_errors(&plan)
            .map(|error| error.to_string())
            .collect();
        assert_eq!(wrong, [""; 0]);
    }
}
