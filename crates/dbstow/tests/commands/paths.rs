//! Paths in an experiment's file, as a user runs it from another folder than it is in.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use tempfile::TempDir;

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
struct Place(TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().expect("there is room"));
        fs::create_dir(place.path("experiments")).expect("it is new");
        place.write("experiments/mine.toml", EXPERIMENT);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("the folder is ours");
    }

    fn dbstow(&self, folder: &str, arguments: &[&str]) -> Assert {
        let mut command = Command::cargo_bin("dbstow").expect("it was built");
        let command = command.current_dir(self.path(folder));
        command.args(arguments).assert()
    }
}

fn said(assert: &Assert) -> String {
    String::from_utf8_lossy(&assert.get_output().stderr).into_owned()
}

#[test]
fn an_experiment_runs_from_everywhere_with_the_files_beside_it() {
    let place = Place::new();
    place.write("experiments/one.sql", "select 1;");
    for (folder, file) in [
        ("experiments", "mine.toml"),
        ("", "experiments/mine.toml"),
        ("experiments", "../experiments/mine.toml"),
    ] {
        let assert = place.dbstow(folder, &["check", file]).success();
        assert_eq!(said(&assert), "", "{file}");
    }
    let whole = place.path("experiments/mine.toml");
    let whole = whole.to_str().expect("a plain path");
    place.dbstow("/", &["check", whole]).success();
}

#[test]
fn a_plan_keeps_its_meaning_wherever_it_is_run() {
    let place = Place::new();
    place.write("experiments/one.sql", "select 1;");
    let plan = ["plan", "experiments/mine.toml", "--out", "plan.json"];
    place.dbstow("", &plan).success();
    fs::remove_file(place.path("experiments/one.sql")).expect("it is ours");
    place.write("one.sql", "select no such thing;");
    let trial = ["trial", "plan.json", "--index", "0", "--out", "results"];
    place.dbstow("", &trial).success();
}

#[test]
fn a_path_of_the_current_folder_alone_still_works_and_is_named() {
    let place = Place::new();
    place.write("one.sql", "select 1;");
    let assert = place.dbstow("", &["check", "experiments/mine.toml"]);
    let error = said(&assert.success());
    assert!(
        error.contains("experiments/mine.toml:13: workload.folder = \"one.sql\" is relative to the current folder"),
        "{error}"
    );
}

#[test]
fn a_path_that_leads_to_two_files_is_refused() {
    let place = Place::new();
    place.write("one.sql", "select 1;");
    place.write("experiments/one.sql", "select 2;");
    let assert = place.dbstow("", &["check", "experiments/mine.toml"]);
    let error = said(&assert.code(2));
    assert!(
        error.contains("experiments/mine.toml:13:") && error.contains("another one.sql"),
        "{error}"
    );
    place.write("experiments/one.sql", "select 1;");
    place
        .dbstow("", &["check", "experiments/mine.toml"])
        .success();
}

#[test]
fn a_path_on_the_command_line_is_the_current_folders() {
    let place = Place::new();
    place.write("experiments/one.sql", "select 1;");
    place.write("two.sql", "select 2;");
    let check = ["check", "experiments/mine.toml", "--workload", "two.sql"];
    let assert = place.dbstow("", &check).success();
    assert_eq!(said(&assert), "");
}

#[test]
fn a_file_that_is_nowhere_is_named_where_it_should_be() {
    let place = Place::new();
    let assert = place.dbstow("", &["check", "experiments/mine.toml"]);
    let error = said(&assert.code(2));
    let file = Path::new("experiments").join("one.sql");
    assert!(error.contains(&file.display().to_string()), "{error}");
}
