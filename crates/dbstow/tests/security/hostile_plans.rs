//! Untrusted plans: each is either refused before anything is created, or is a plan that an experiment could have
//! produced.
//!
//! A digest is not a secret: an attacker who changes a plan recomputes it, as these tests do.

mod mutated;

use std::fs;
use std::path::Path;
use std::process::Output;

use experiment::plan::{Plan, Unchecked};
use serde_json::{Value, json};
use testing::place::{Place, dbstow, said};

const EXPERIMENT: &str = r#"name = "small"
question = "Who decides where files go?"
[source]
title = "an article"
[machine]
type = "azure.DS2"
[volume.d]
disk = "azure.premium.p30"
host_cache = "read-only"
size = "1 TiB"
override = { iops_limit = 500, iops_burst = 900, iops_credits = 90, read_latency = { p50 = "1 ms", p99 = "2 ms" } }
[volume.e]
disk = "unlimited"
[placement.one]
data = { volumes = "d", files = 2, file_size = "1 GiB" }
temp = { volumes = "e" }
log = { volumes = "d" }
[placement.two]
data = { volumes = "e" }
temp = { volumes = "e" }
log = { volumes = "e" }
[workload]
name = "write-only"
operations = 20
[workload.parameters]
rows = 200
[engine]
memory = "1 MiB"
[protocol]
blocks = 2
metric = "elapsed_s"
[published.one]
elapsed_s = 4.5
"#;

/// A folder with a plan, and next to it a directory of the machine that other users may not enter.
struct Scene {
    place: Place,
}

impl Scene {
    fn new() -> Scene {
        let place = Place::new();
        fs::write(place.path("small.toml"), EXPERIMENT).expect("the folder is ours");
        for folder in ["machine/opt/x", "work", "machine/opt/y/data-1"] {
            fs::create_dir_all(place.path(folder)).expect("the folder is ours");
        }
        fs::write(place.path("machine/opt/x/secret"), "root's").expect("the folder is ours");
        #[cfg(unix)]
        for (folder, mode) in [
            ("machine/opt/x", 0o700),
            ("machine/opt", 0o750),
            ("machine", 0o700),
        ] {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::Permissions::from_mode(mode);
            fs::set_permissions(place.path(folder), mode).expect("it is ours");
        }
        Scene { place }
    }

    /// The plan of the experiment in a mode, as `dbstow plan` writes it.
    fn plan(&self, more: &[&str]) -> Value {
        let (file, out) = (self.place.text("small.toml"), self.place.text("plan.json"));
        let arguments = [&["plan", &file, "--out", &out][..], more].concat();
        let planned = dbstow(&arguments).output().expect("it was built");
        assert!(planned.status.success(), "{}", said(&planned));
        serde_json::from_slice(&fs::read(out).expect("it was written")).expect("it is JSON")
    }

    fn trial(&self, plan: &Value) -> Output {
        fs::write(self.place.path("plan.json"), plan.to_string()).expect("the folder is ours");
        let work = self.place.path("work");
        let mut trial = dbstow(&["trial", "plan.json", "--index", "0", "--out", "r"]);
        let trial = trial.current_dir(self.place.root()).env("TMPDIR", work);
        trial.output().expect("it was built")
    }

    /// Runs a trial of a plan with the digest that the program expects.
    fn trial_behind_the_digest(&self, mut plan: Value) -> Output {
        let first = self.trial(&plan);
        let said = said(&first);
        let (_, behind) = said
            .split_once("should be ")
            .unwrap_or_else(|| panic!("its digest is not looked at: {said}"));
        plan["digest"] = behind[..16].into();
        self.trial(&plan)
    }

    /// Everything below, with mode, owner, and contents.
    fn everything(&self) -> Vec<String> {
        let root = self.place.root();
        let mut found = vec![told(root)];
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("it is ours").flatten() {
                let path = entry.path();
                if path.ends_with("plan.json") {
                    continue;
                }
                found.push(told(&path));
                folders.extend(path.is_dir().then_some(path));
            }
        }
        found.sort();
        found
    }
}

fn told(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    #[cfg(unix)]
    let mode = {
        use std::os::unix::fs::MetadataExt as _;
        let metadata = fs::symlink_metadata(path).expect("it is there");
        format!(
            "{:o} {} {}",
            metadata.mode(),
            metadata.uid(),
            metadata.gid()
        )
    };
    #[cfg(not(unix))]
    let mode = "";
    format!("{} {mode} {text}", path.display())
}

/// Renames the volume `d`, everywhere.
fn renamed(plan: &mut Value, name: &str) {
    match plan {
        Value::Object(entries) => {
            let is_volume = entries.contains_key("disk");
            for (key, entry) in entries {
                let is_name = key == "volume" || is_volume && key == "name";
                match is_name && entry == "d" {
                    true => *entry = name.into(),
                    false => renamed(entry, name),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| renamed(item, name)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn a_volume_that_is_called_after_a_path_is_refused_and_nothing_is_made_or_changed() {
    let scene = Scene::new();
    let inside = scene.place.path("machine/opt/x");
    // Paths at the machine's real root come last: a program that follows them has failed by then.
    let names = [
        "x/../y".to_owned(),
        format!("{}machine/opt/y", "../".repeat(5)),
        "..".to_owned(),
        "".to_owned(),
        "d/".to_owned(),
        "a\0b".to_owned(),
        inside.to_str().expect("it is text").to_owned(),
        "/opt/x".to_owned(),
    ];
    let modes: &[&[&str]] = match cfg!(target_os = "linux") {
        true => &[&[], &["--mode", "emulate", "--engine", "sqlite"]],
        false => &[&[]],
    };
    for mode in modes {
        let plan = scene.plan(mode);
        let before = scene.everything();
        for name in &names {
            let mut plan = plan.clone();
            renamed(&mut plan, name);
            let trial = scene.trial_behind_the_digest(plan);
            assert_eq!(scene.everything(), before, "{name:?}");
            let said = said(&trial);
            assert_eq!(trial.status.code(), Some(2), "{name:?}: {said}");
            for part in [
                "plan.json: ",
                "arm \"one\"",
                "volume.",
                "is not a name",
                "plan it again",
            ] {
                assert!(said.contains(part), "{name:?}: no {part}: {said}");
            }
        }
        // Unchanged, it runs.
        let trial = scene.trial(&plan);
        assert!(trial.status.success(), "{}", said(&trial));
        fs::remove_dir_all(scene.place.path("r")).expect("it was made");
    }
}

/// Changes of a plan, each with the expected message: the arm, the key, the value, and the remedy.
#[test]
fn a_plan_that_no_experiment_gives_is_refused_in_one_message() {
    type Change = fn(&mut Value);
    let changes: [(Change, &[&str]); 19] = [
        // These two panicked: in staging, and in the run.
        (
            |plan| plan["arms"][0]["settings"]["volumes"][0]["name"] = "584942417355-h".into(),
            &[
                "arm \"one\"",
                "puts data on volume \"d\", which is not defined (defined: ",
            ],
        ),
        (
            |plan| plan["arms"][0]["settings"]["volumes"][0]["count"] = 0.into(),
            &["arm \"one\"", "volume.d.count is zero; give at least 1"],
        ),
        (
            |plan| plan["arms"][0]["settings"]["volumes"][0]["count"] = 4_000_000_000_u32.into(),
            &["disks together, and at most 65535"],
        ),
        (
            |plan| plan["arms"][1]["settings"]["placement"]["data"] = json!([]),
            &["arm \"two\"", "gives data 0 files"],
        ),
        (
            |plan| plan["arms"][0]["settings"]["machine"] = json!({}),
            &["the machine is not known"],
        ),
        (
            |plan| plan["arms"][0]["settings"]["machine"]["cores"] = 0.into(),
            &["machine.cores is zero"],
        ),
        (
            |plan| plan["arms"][0]["settings"]["workload"]["sessions"] = u32::MAX.into(),
            &["workload.sessions is 4294967295, and at most 10000"],
        ),
        (
            |plan| plan["arms"][0]["settings"]["workload"]["warm_up"] = u64::MAX.into(),
            &["workload.warm_up is ", "can be modelled; lower it"],
        ),
        (
            |plan| plan["arms"][0]["settings"]["engine"]["memory"] = u64::MAX.into(),
            &["engine.memory is ", "can be modelled; lower it"],
        ),
        (
            |plan| {
                let latency = &mut plan["arms"][0]["settings"]["volumes"][0]["replaced"];
                latency["read_latency"]["p50"] = 0.into();
            },
            &["volume.d.override.read_latency has a p50 of zero"],
        ),
        (
            |plan| plan["arms"][1]["name"] = "one".into(),
            &["arm \"one\" is defined twice"],
        ),
        (
            |plan| plan["arms"][0]["baseline"] = "three".into(),
            &["arm.one.baseline: \"three\" is not an arm (defined: \"one\", \"two\")"],
        ),
        (
            |plan| plan["protocol"]["baseline"] = "three".into(),
            &["the baseline \"three\" is not an arm"],
        ),
        (
            |plan| plan["protocol"]["metric"] = "elapsed_ms".into(),
            &["there is no metric \"elapsed_ms\"; did you mean \"elapsed_s\"?"],
        ),
        (
            |plan| plan["twin"] = "one (twin)".into(),
            &["the twin \"one (twin)\" is not the last arm"],
        ),
        (
            |plan| plan["experiment"] = "../../etc/small".into(),
            &["\"../../etc/small\" is not a name"],
        ),
        (
            |plan| plan["arms"][1]["settings"]["workload"]["parameters"]["rows"] = "many".into(),
            &["arm \"two\"", "parameter \"rows\" is many"],
        ),
        (
            |plan| plan["arms"][1]["name"] = "one__warm_host_cache_".into(),
            &[
                "arm \"one__warm_host_cache_\"",
                "\"one (warm host cache)\", which dbstow makes of an arm \"one\"",
                "rename",
            ],
        ),
        (
            |plan| plan["arms"][0]["published"]["elapsed_s"] = json!(1e-308),
            &["arm \"one\"", "elapsed_s is 1e-308; give 0, a number from"],
        ),
    ];
    let scene = Scene::new();
    let plan = scene.plan(&[]);
    let before = scene.everything();
    for (change, parts) in changes {
        let mut plan = plan.clone();
        change(&mut plan);
        let forged = forged(&plan.to_string()).expect("it has the shape of one");
        let plan = serde_json::from_str(&forged).expect("it is JSON");
        let trial = scene.trial(&plan);
        let said = said(&trial);
        assert_eq!(trial.status.code(), Some(2), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        for part in ["plan.json", "plan it again"].iter().chain(parts) {
            assert!(said.contains(part), "no {part}: {said}");
        }
        assert_eq!(scene.everything(), before, "{said}");
    }
}

/// Runs the experiment, changes the plan in its results, and reports.
fn report_of(change: impl Fn(&mut Value)) -> Output {
    let scene = Scene::new();
    let (experiment, results) = (scene.place.text("small.toml"), scene.place.text("r"));
    let ran = dbstow(&["run", &experiment, "--out", &results]).output();
    assert!(ran.expect("it was built").status.success());
    let read = |path: &Path| -> Value {
        let text = fs::read_to_string(path).expect("it was written");
        serde_json::from_str(&text).expect("it is JSON")
    };
    let file = scene.place.path("r/dbstow.json");
    let mut head = read(&file);
    change(&mut head["plan"]);
    fs::write(file, head.to_string()).expect("the folder is ours");
    let records = fs::read_dir(scene.place.path("r/records")).expect("it was made");
    for path in records.flatten().map(|entry| entry.path()) {
        let mut record = read(&path);
        record["plan"] = head["plan"]["digest"].clone();
        fs::write(path, record.to_string()).expect("the folder is ours");
    }
    let report = dbstow(&["report", &results]).output();
    report.expect("it was built")
}

/// Makes digest and trials match the plan.
fn forge(plan: &mut Value) {
    let forged = forged(&plan.to_string()).expect("it has the shape of one");
    *plan = serde_json::from_str(&forged).expect("it is JSON");
}

#[test]
fn a_results_folder_with_such_a_plan_is_refused() {
    for version in [env!("CARGO_PKG_VERSION"), "0.0.1"] {
        let report = report_of(|plan| {
            plan["version"] = version.into();
            renamed(plan, "x/../y");
            forge(plan);
        });
        let said = said(&report);
        assert_eq!(report.status.code(), Some(2), "{said}");
        assert!(
            said.contains("dbstow.json") && said.contains("\"x/../y\" is not a name"),
            "{said}"
        );
    }
}

/// Changes of the request in a results folder, each with the expected message.
#[test]
fn a_question_that_is_not_that_of_its_plan_is_refused() {
    type Change = fn(&mut Value);
    let changes: [(Change, &str); 17] = [
        // This one panicked.
        (
            |question| question["margin"] = json!(-0.5),
            "question.margin: -0.5 is not what the plan beside it has (0.05)",
        ),
        (
            |question| question["margin"] = json!(1e308),
            "question.margin: 1e+308",
        ),
        (
            |question| question["errors_max"] = json!(-5),
            "question.errors_max: -5.0",
        ),
        (
            |question| question["arms"][0]["published"]["elapsed_s"] = json!(1e308),
            "question.arms.one.published: {\"elapsed_s\":1e+308}",
        ),
        (
            |question| question["arms"][0]["published"]["elapsed_s"] = json!(1e-308),
            "question.arms.one.published: {\"elapsed_s\":1e-308}",
        ),
        (
            |question| question["arms"][1] = question["arms"][0].clone(),
            "question.arms: [\"one\",\"one\"] is not what the plan beside it has ([\"one\",\"two\"])",
        ),
        (
            |question| question["arms"] = json!([]),
            "question.arms: [] is not",
        ),
        (
            |question| question["arms"][1]["baseline"] = json!("three"),
            "question.arms.two.baseline: \"three\"",
        ),
        (
            |question| question["arms"][1]["fitted"] = json!(true),
            "question.arms.two.fitted: true",
        ),
        (
            |question| question["arms"][1]["usd_per_month"] = json!(1e308),
            "question.arms.two.usd_per_month: 1e308 is not a price",
        ),
        (
            |question| question["arms"][1]["usd_per_month"] = json!(-1),
            "question.arms.two.usd_per_month: -1.0 is not a price",
        ),
        (
            |question| question["baseline"] = json!("three"),
            "question.baseline: \"three\"",
        ),
        (
            |question| question["metric"] = json!("iops"),
            "question.metric: \"iops\"",
        ),
        (
            |question| question["blocks"] = json!(4_000_000_000_u32),
            "question.blocks: 4000000000 is not what the plan beside it has (2)",
        ),
        (
            |question| question["mode"] = json!("measure"),
            "question.mode: \"measure\"",
        ),
        (|question| question["aa"] = json!(true), "question.aa: true"),
        (
            |question| {
                let values = json!([{ "value": "1", "arm": "three" }]);
                question["sweeps"] = json!([{ "of": "one", "key": "k", "values": values }]);
            },
            "question.sweeps: ",
        ),
    ];
    let scene = Scene::new();
    let (experiment, results) = (scene.place.text("small.toml"), scene.place.text("r"));
    let ran = dbstow(&["run", &experiment, "--out", &results]).output();
    assert!(ran.expect("it was built").status.success());
    let file = scene.place.path("r/dbstow.json");
    let text = fs::read_to_string(&file).expect("it was written");
    let head: Value = serde_json::from_str(&text).expect("it is JSON");
    let report = |head: &Value| {
        fs::write(&file, head.to_string()).expect("the folder is ours");
        let report = dbstow(&["report", &results]).output();
        report.expect("it was built")
    };
    let unchanged = report(&head);
    assert!(unchanged.status.success(), "{}", said(&unchanged));
    for (change, part) in changes {
        let mut head = head.clone();
        change(&mut head["question"]);
        let refused = report(&head);
        let said = said(&refused);
        assert_eq!(refused.status.code(), Some(2), "{part}: {said}");
        for part in ["dbstow.json: ", part, "run the experiment again"] {
            assert!(said.contains(part), "no {part}: {said}");
        }
    }
}

#[test]
fn an_experiment_with_an_arm_whose_records_would_have_the_files_of_another_is_refused() {
    let scene = Scene::new();
    let named = EXPERIMENT.replace("[placement.two]", "[placement.one__twin_]");
    fs::write(scene.place.path("small.toml"), named).expect("the folder is ours");
    let planned = dbstow(&["plan", &scene.place.text("small.toml")]).output();
    let planned = planned.expect("it was built");
    let said = said(&planned);
    assert_eq!(planned.status.code(), Some(2), "{said}");
    for part in [
        "small.toml:",
        "\"one__twin_\"",
        "\"one (twin)\"",
        "an arm \"one\"",
        "rename",
    ] {
        assert!(said.contains(part), "no {part}: {said}");
    }
}

#[test]
fn results_of_another_version_are_reported_though_it_drew_another_order() {
    let reordered = |version: &'static str| {
        report_of(move |plan| {
            plan["version"] = version.into();
            forge(plan);
            plan["trials"].as_array_mut().expect("a list").reverse();
        })
    };
    let report = reordered("0.0.1");
    assert!(report.status.success(), "{}", said(&report));
    let shown = String::from_utf8_lossy(&report.stdout);
    assert!(
        shown.contains("Who decides where files go?") && !shown.contains("left out"),
        "{shown}"
    );
    let own = reordered(env!("CARGO_PKG_VERSION"));
    assert!(
        said(&own).contains("its trials are not those"),
        "{}",
        said(&own)
    );
}

/// A plan document with matching trials and digest; `None` where it lacks even the shape of one.
fn forged(text: &str) -> Option<String> {
    let unchecked = Unchecked::<Plan>::read(text).ok()?;
    Some(unchecked.forged().to_json())
}
