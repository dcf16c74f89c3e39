//! Names given by a user: similar ones, the user's own, and the errors for wrong ones.

use testing::folder::{Folder, Printed};

const SMALL: &str = r#"name = "small"
question = "Do two data files do better than one?"
[machine]
type = "azure.DS2"
[volume.d]
disk = "azure.premium.p30"
[placement.one]
data.volumes = "d"
temp.volumes = "d"
log.volumes = "d"
[workload]
name = "read-only"
operations = 10
[workload.parameters]
rows = 1_000
[engine]
memory = "1 MiB"
[protocol]
blocks = 1
"#;

const OWN: &str = r#"
[source.own]
title = "our own measurement"
date = "2026"
[disk."own.disk"]
class = "local-nvme"
title = "our disk"
size = "1 TiB"
iops = 1000
confidence = "measured"
sources = ["own"]
[machine."own.machine"]
cores = 2
memory = "8 GiB"
limits = {}
confidence = "measured"
sources = ["own"]
"#;

fn folder() -> Folder {
    let own_names = SMALL
        .replace("azure.DS2", "own.machine")
        .replace("azure.premium.p30", "own.disk");
    Folder::with(&[
        ("small.toml", SMALL),
        ("named.toml", &own_names),
        ("own.toml", OWN),
        (
            "server.toml",
            &SMALL.replace("[engine]", "[engine]\nname = \"postgres\""),
        ),
        ("query.sql", "SELECT 1;\nSELECT 2;\n"),
        (
            "stress.json",
            r#"{"MainQuery": "SELECT 1", "NumThreads": 3, "NumIterations": 5}"#,
        ),
    ])
}

/// What a command line prints, whose words contain no spaces.
fn output(folder: &Folder, line: &str) -> Printed {
    folder.printed(&line.split(' ').collect::<Vec<_>>())
}

fn refused(folder: &Folder, line: &str) -> String {
    let Printed { code, stderr, .. } = output(folder, line);
    assert_eq!(code, 2, "{line}: {stderr}");
    stderr
}

fn printed(folder: &Folder, line: &str) -> String {
    let printed = output(folder, line);
    assert_eq!(printed.code, 0, "{line}: {}", printed.stderr);
    printed.stdout
}

#[test]
fn a_name_that_is_not_known_is_answered_with_the_near_ones() {
    let folder = folder();
    for (line, near) in [
        ("disks aws.pg3", "did you mean `aws.gp3`"),
        ("disks premium.p30x", "did you mean `azure.premium.p30`"),
        ("disks generic", "names begin with `aws`"),
        ("disks premium --size 1TiB", "did you mean `azure.premium"),
        (
            "plan small.toml --set volume.d.disk=P30",
            "did you mean `azure.premium.p30`?",
        ),
        (
            "plan small.toml --set machine.type=ds14_v2",
            "did you mean `azure.DS14_v2`?",
        ),
        ("run tempdb-scale", "did you mean \"tempdb-scale-out\"?"),
        (
            "run small.toml --set memory=1GiB",
            "did you mean \"engine.memory\" or \"machine.memory\"?",
        ),
        (
            "run small.toml --set engin.memory=1GiB",
            "did you mean \"engine.memory\"?",
        ),
    ] {
        let message = refused(&folder, line);
        assert!(message.contains(near), "{line}: {message}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn mount_answers_a_name_with_the_near_ones() {
    let message = refused(&folder(), "mount p30 mounted");
    let near = "did you mean `azure.premium.p30`?";
    assert!(message.contains(near), "{message}");
}

#[test]
fn disks_and_machines_of_a_catalogue_file_can_be_used_by_name() {
    let folder = folder();
    for line in [
        "run named.toml --out r",
        "plan named.toml",
        "check named.toml",
        "layout named.toml --arm one --volume d=/mnt/d",
        "disks own.disk",
        "machines own.machine",
    ] {
        let message = refused(&folder, line);
        assert!(message.contains("`own."), "{line}: {message}");
        printed(&folder, &format!("{line} --catalogue own.toml"));
    }
    // For a volume and by name: the file is read once.
    let both =
        "plan small.toml --set machine.type=own.machine --disk d=own.toml --catalogue own.toml";
    assert!(printed(&folder, both).contains("d = own.disk"));
    let taken = refused(&folder, "calibrate . --name own.disk --catalogue own.toml");
    assert!(taken.contains("in the catalogue already"), "{taken}");
}

#[test]
fn another_content_of_a_catalogue_file_is_another_plan() {
    for (was, is) in [("iops = 1000", "iops = 2000"), ("cores = 2", "cores = 4")] {
        let folder = folder();
        let line = "run named.toml --catalogue own.toml --out r";
        printed(&folder, line);
        printed(&folder, line);
        let changed = OWN.replace(was, is);
        folder.write("own.toml", changed);
        let message = refused(&folder, line);
        assert!(message.contains("another plan"), "{message}");
    }
}

#[test]
fn a_wrong_catalogue_file_is_refused_with_its_place_and_a_remedy() {
    let folder = folder();
    let message = refused(&folder, "check small.toml --catalogue none.toml");
    for part in ["--catalogue none.toml: ", "dbstow calibrate"] {
        assert!(message.contains(part), "{message}");
    }
    let broken = OWN.replace("local-nvme", "local-nvm");
    folder.write("own.toml", broken);
    for line in [
        "check small.toml --catalogue own.toml",
        "disks --catalogue own.toml",
    ] {
        let message = refused(&folder, line);
        for part in ["own.toml:5: ", "`local-nvm`", "did you mean `local-nvme`?"] {
            assert!(message.contains(part), "{message}");
        }
    }
    let other = refused(
        &folder,
        "check small.toml --catalogue small.toml --catalogue own.toml",
    );
    let said = "--catalogue small.toml: this is an experiment, not a catalogue file";
    assert!(other.contains(said), "{other}");
}

#[test]
fn a_workload_of_ones_own_is_shown_as_it_would_run() {
    let folder = folder();
    let sql = printed(&folder, "workloads query.sql");
    assert!(sql.contains("query.sql: 2 statements"), "{sql}");
    let stress = printed(&folder, "workloads stress.json");
    for part in [
        "sessions    3",
        "5 operations of each session",
        "1 statements",
    ] {
        assert!(stress.contains(part), "no {part} in {stress}");
    }
    let of_ours = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../workload/workloads/read-only"
    );
    let shown = printed(&folder, &format!("workloads {of_ours}"));
    let shown = shown.replace(of_ours, "workloads/read-only");
    assert_eq!(shown, printed(&folder, "workloads read-only"));
    folder.make_folder("w");
    let message = refused(&folder, "workloads w");
    assert!(message.contains("w/workload.toml"), "{message}");
    let message = refused(&folder, "workloads none.sql");
    assert!(message.contains("none.sql"), "{message}");
}

#[test]
fn what_was_given_is_blamed_in_the_words_it_was_given_in() {
    let folder = folder();
    for (line, starts) in [
        (
            "plan small.toml --set workload.parameters.rows=abc --set workload.sessions=2",
            "--set workload.parameters.rows=abc: ",
        ),
        (
            "plan small.toml --set volume.d.disk=none --set volume.d.count=2",
            "--set volume.d.disk=none: ",
        ),
        ("plan small.toml --workload none", "--workload none: "),
        ("plan small.toml --blocks 0", "--blocks 0: "),
        (
            "plan small.toml --set protocol.blocks=0",
            "--set protocol.blocks=0: ",
        ),
    ] {
        let message = refused(&folder, line);
        let whole = format!("dbstow: {starts}");
        assert!(message.starts_with(&whole), "{line}: {message}");
    }
    for (name, why) in [
        ("local", "is reserved"),
        ("unlimited", "is reserved"),
        ("azure.premium.p30", "is in the catalogue already"),
    ] {
        let message = refused(&folder, &format!("calibrate . --name {name}"));
        assert!(message.contains(why), "{message}");
    }
}

#[cfg(feature = "postgres")]
#[test]
fn an_engine_that_the_file_names_is_blamed_at_its_line_and_one_that_was_given_at_its_option() {
    let folder = folder();
    let message = refused(&folder, "check server.toml");
    assert!(message.starts_with("dbstow: server.toml:17: "), "{message}");
    assert!(
        message.contains("change or remove engine.name"),
        "{message}"
    );
    assert!(!message.contains("--engine"), "{message}");
    let message = refused(&folder, "check small.toml --engine postgres");
    assert!(message.contains("leave --engine out"), "{message}");
}
