//! Wrong input in place of the intended one: the error names the file or the option, and the remedy.

use std::fs;
use std::path::Path;

use testing::folder::Folder;

/// A folder with one file of each kind.
fn place() -> Folder {
    let place = Folder::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (from, name) in [
        ("examples/shop.toml", "shop.toml"),
        ("examples/today.toml", "today.toml"),
        (
            "crates/experiment/experiments/tempdb-scale-out.toml",
            "mine.toml",
        ),
    ] {
        fs::copy(root.join(from), place.path(name)).expect("it is committed");
    }
    place.write("empty.toml", "");
    place
}

const ADVISE: [&str; 4] = ["advise", "shop.toml", "--cloud", "azure"];

#[test]
fn a_file_of_another_kind_is_called_by_its_name() {
    let place = place();
    for (arguments, said) in [
        (
            &["run", "empty.toml"][..],
            "empty.toml: this is an empty file, not an experiment; begin with",
        ),
        (
            &["check", "empty.toml"],
            "this is an empty file, not an experiment",
        ),
        (
            &["run", "shop.toml"],
            "this is a profile, not an experiment; `dbstow run EXPERIMENT --profile shop.toml`",
        ),
        (
            &["profile", "empty.toml"],
            "this is an empty file, not a profile; `dbstow record`",
        ),
        (
            &["profile", "today.toml"],
            "this is an experiment, not a profile",
        ),
        (
            &["submit", "mine.toml", "--to", "slurm"],
            "mine.toml: this is an experiment, not a plan; `dbstow plan mine.toml --out plan.json` makes",
        ),
        (
            &["submit", "empty.toml", "--to", "slurm"],
            "this is an empty file, not a plan; `dbstow plan",
        ),
        (
            &["trial", "shop.toml", "--index", "0", "--out", "r"],
            "this is a profile, not a plan",
        ),
        (
            &["run", "mine.toml", "--catalogue", "empty.toml"],
            "--catalogue empty.toml: it is empty",
        ),
        (
            &["run", "mine.toml", "--catalogue", "mine.toml"],
            "--catalogue mine.toml: this is an experiment, not a catalogue file; `dbstow run mine.toml` runs it",
        ),
        (
            &["disks", "--catalogue", "shop.toml"],
            "--catalogue shop.toml: this is a profile, not a catalogue file",
        ),
        (
            &[
                "advise",
                "mine.toml",
                "--cloud",
                "azure",
                "--today",
                "today.toml",
            ],
            "mine.toml: this is an experiment, not a profile",
        ),
        (
            &["run", "mine.toml", "--profile", "today.toml"],
            "today.toml: this is an experiment, not a profile",
        ),
        (
            &["lint", "mine.toml"],
            "mine.toml: this is an experiment, not a capture of a server",
        ),
        (
            &["report", "mine.toml"],
            "mine.toml holds no results of dbstow",
        ),
    ] {
        let error = place.fails(arguments, 2);
        assert!(error.contains(said), "{arguments:?}: {error}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_experiment_is_not_mounted() {
    let place = place();
    let error = place.fails(&["mount", "mine.toml", "here"], 2);
    let said = "mine.toml: this is an experiment, not a file of volumes; put its [machine]";
    assert!(error.contains(said), "{error}");
}

#[test]
fn an_experiment_without_a_name_is_asked_for_one() {
    let place = place();
    place.write("new.toml", "question = \"?\"");
    let error = place.fails(&["check", "new.toml"], 2);
    assert!(
        error.contains("the experiment has no name; add one"),
        "{error}"
    );
}

#[test]
fn a_mistyped_arm_or_command_is_answered_with_the_near_one() {
    let place = place();
    let error = place.fails(&["rnu"], 2);
    assert!(error.contains("'run'"), "{error}");
    let layout = ["layout", "tempdb-scale-out", "--arm", "one-dsik"];
    let error = place.fails(&layout, 2);
    assert!(error.contains("did you mean \"one-disk\"?"), "{error}");
    let far = ["layout", "tempdb-scale-out", "--arm", "far"];
    let error = place.fails(&far, 2);
    assert!(
        error.contains("(arms: \"one-disk\", \"two-disks\""),
        "{error}"
    );
}

#[test]
fn a_layout_of_today_that_is_missing_is_asked_for_as_such() {
    let place = place();
    let error = place.fails(&[&ADVISE[..], &["--today", "none.toml"]].concat(), 2);
    assert!(
        error.contains("--today none.toml: ")
            && error.contains("machine, volumes and one placement"),
        "{error}"
    );
    assert!(!error.contains("dbstow experiments"), "{error}");
    let error = place.fails(&[&ADVISE[..], &["--today", "empty.toml"]].concat(), 2);
    assert!(error.contains("--today empty.toml: it is empty"), "{error}");
    // The example names neither machine nor disks.
    let error = place.fails(&ADVISE, 2);
    assert!(
        error.contains("--today FILE") && !error.contains("name an experiment"),
        "{error}"
    );
}

#[test]
fn percentages_are_read_alike_by_every_option() {
    let place = place();
    let advise = [&ADVISE[..], &["--today", "today.toml"]].concat();
    for (command, option) in [
        (&advise[..], "--discount"),
        (&advise, "--not-slower"),
        (&["run", "tempdb-scale-out"], "--fail-if-slower"),
    ] {
        let error = place.fails(&[command, &[option, "30"]].concat(), 2);
        assert!(
            error.contains("Give 30%, or 0.3 for the same"),
            "{option}: {error}"
        );
        assert!(!error.contains("3,000 %"), "{option}: {error}");
        for (value, expected) in [
            ("x", "it is not a number; give a percentage such as 5%"),
            ("nan", "it is not a number; give a percentage such as 5%"),
            ("-5%", "-5% is below 0; give a percentage such as 5%"),
        ] {
            let error = place.fails(&[command, &[option, value]].concat(), 2);
            assert!(error.contains(expected), "{option} {value}: {error}");
        }
    }
}

#[test]
fn a_profile_that_is_there_is_replaced_only_with_force() {
    let place = place();
    let recorded = "\
        Device            r/s     w/s";
    place.write("iostat.txt", recorded);
    let import = ["import", "iostat.txt", "--out", "shop.toml"];
    let error = place.fails(&import, 2);
    assert!(
        error.contains("shop.toml already exists; give another --out, or --force to replace it"),
        "{error}"
    );
    // It gets as far as the invalid file.
    let error = place.fails(&[&import[..], &["--force"]].concat(), 2);
    assert!(error.contains("iostat.txt"), "{error}");
}

/// Root may write anywhere else.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_is_full_has_a_remedy() {
    let place = place();
    let plan = ["plan", "mine.toml", "--out", "/dev/full"];
    let error = place.fails(&plan, 1);
    assert!(
        error.contains("free some space there, or choose another place"),
        "{error}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_place_that_may_not_be_written_has_a_remedy() {
    let place = place();
    // Files that the kernel protects from all writes.
    let out = "/sys/kernel/shop.json";
    let error = place.fails(&["plan", "mine.toml", "--out", out], 1);
    assert!(
        error.contains(out) && error.contains("choose another place"),
        "{error}"
    );
}

#[test]
fn a_place_where_nothing_can_be_written_has_a_remedy() {
    let place = place();
    place.write("load.csv", "");
    place.make_folder("folder");
    for (out, force, code, said) in [
        (
            "folder",
            false,
            2,
            "--out folder: it is a folder; give a file, such as folder",
        ),
        (
            "folder",
            true,
            2,
            "--out folder: it is a folder; give a file, such as folder",
        ),
        (
            "none/p.toml",
            false,
            1,
            "; check the path, whose folder has to exist",
        ),
        #[cfg(unix)]
        (
            "empty.toml/p.toml",
            false,
            1,
            "; a part of the path is a file and no folder: choose another path",
        ),
    ] {
        let mut arguments = vec!["import", "load.csv", "--out", out];
        arguments.extend(force.then_some("--force"));
        let error = place.fails(&arguments, code);
        assert!(error.contains(said), "{arguments:?}: {error}");
        assert!(!error.contains("or --force"), "{error}");
    }
}

#[test]
fn a_window_without_a_unit_is_blamed_on_its_own_option() {
    let place = place();
    let error = place.fails(&[&ADVISE[..], &["--window", "5"]].concat(), 2);
    assert!(error.contains("--window"), "{error}");
    assert!(!error.contains("--set"), "{error}");
}
