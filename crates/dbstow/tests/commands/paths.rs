//! Paths in an experiment's file, as a user runs it from another folder than it is in.

use std::fs;
use std::path::Path;

use testing::folder::{Folder, said};

const EXPERIMENT: &str = r#"name = "mine"
question = "Where is its workload?"
[machine]
cores = 2
memory = "4 GiB"
[volume.d]
disk = "unlimited"
[placement.one]
data = { volumes = "d" }
temp = { volumes = "d" }
log = { volumes = "d" }
[workload]
folder = "one.sql"
operations = 1
[engine]
memory = "2 MiB"
"#;

/// A folder `experiments` with the experiment, below the one that dbstow runs in.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.make_folder("experiments");
    folder.write("experiments/mine.toml", EXPERIMENT);
    folder
}

#[test]
fn an_experiment_runs_from_everywhere_with_the_files_beside_it() {
    let folder = folder();
    folder.write("experiments/one.sql", "select 1;");
    for (beneath, file) in [
        ("experiments", "mine.toml"),
        ("", "experiments/mine.toml"),
        ("experiments", "../experiments/mine.toml"),
    ] {
        let mut check = folder.dbstow(&["check", file]);
        let assert = check.current_dir(folder.path(beneath)).assert().success();
        assert_eq!(said(&assert), "", "{file}");
    }
    let whole = folder.text("experiments/mine.toml");
    let mut check = folder.dbstow(&["check", &whole]);
    check.current_dir("/").assert().success();
}

#[test]
fn a_plan_keeps_its_meaning_wherever_it_is_run() {
    let folder = folder();
    folder.write("experiments/one.sql", "select 1;");
    let plan = ["plan", "experiments/mine.toml", "--out", "plan.json"];
    folder.dbstow(&plan).assert().success();
    fs::remove_file(folder.path("experiments/one.sql")).expect("it is ours");
    folder.write("one.sql", "select no such thing;");
    let trial = ["trial", "plan.json", "--index", "0", "--out", "results"];
    folder.dbstow(&trial).assert().success();
}

#[test]
fn a_path_of_the_current_folder_alone_still_works_and_is_named() {
    let folder = folder();
    folder.write("one.sql", "select 1;");
    let assert = folder.dbstow(&["check", "experiments/mine.toml"]).assert();
    let error = said(&assert.success());
    assert!(
        error.contains("experiments/mine.toml:13: workload.folder = \"one.sql\" is relative to the current folder"),
        "{error}"
    );
}

#[test]
fn a_path_that_leads_to_two_files_is_refused() {
    let folder = folder();
    folder.write("one.sql", "select 1;");
    folder.write("experiments/one.sql", "select 2;");
    let assert = folder.dbstow(&["check", "experiments/mine.toml"]).assert();
    let error = said(&assert.code(2));
    assert!(
        error.contains("experiments/mine.toml:13:") && error.contains("another one.sql"),
        "{error}"
    );
    folder.write("experiments/one.sql", "select 1;");
    folder
        .dbstow(&["check", "experiments/mine.toml"])
        .assert()
        .success();
}

#[test]
fn a_path_on_the_command_line_is_the_current_folders() {
    let folder = folder();
    folder.write("experiments/one.sql", "select 1;");
    folder.write("two.sql", "select 2;");
    let check = ["check", "experiments/mine.toml", "--workload", "two.sql"];
    let assert = folder.dbstow(&check).assert().success();
    assert_eq!(said(&assert), "");
}

#[test]
fn a_file_that_is_nowhere_is_named_where_it_should_be() {
    let folder = folder();
    let assert = folder.dbstow(&["check", "experiments/mine.toml"]).assert();
    let error = said(&assert.code(2));
    let file = Path::new("experiments").join("one.sql");
    assert!(error.contains(&file.display().to_string()), "{error}");
}
