//! Invalid folders, names and files are refused, with their place.

use super::*;

#[test]
fn a_folder_that_is_not_ours_is_refused_and_left_as_it_was() {
    let folder = folder();
    let theirs = folder.path("theirs");
    fs::create_dir(&theirs).expect("the folder is ours");
    fs::write(theirs.join("notes.txt"), "mine").expect("the folder is ours");
    for fresh in [&[][..], &["--fresh"]] {
        let run = [&["run", "small.toml", "--out", "theirs"], fresh].concat();
        refuses(&folder, &run, &["theirs", "holds no results", "--out"]);
    }
    let entries = fs::read_dir(&theirs).expect("it is still there");
    assert_eq!(entries.count(), 1);
    let notes = fs::read_to_string(theirs.join("notes.txt"));
    assert_eq!(notes.expect("it is still there"), "mine");
}

#[test]
fn another_plans_folder_is_refused_until_fresh() {
    let folder = folder();
    let first = folder.stdout(&["run", "small.toml", "--out", "r"]);
    let other = ["run", "small.toml", "--out", "r", "--seed", "4"];
    refuses(&folder, &other, &["another plan", "--out", "--fresh"]);
    assert_eq!(folder.stdout(&["report", "r"]), first);
    folder.stdout(&[&other[..], &["--fresh"]].concat());
}

#[test]
fn no_results_are_a_clear_mistake() {
    let expected = ["nowhere", "dbstow.json", "dbstow run"];
    refuses(&folder(), &["report", "nowhere"], &expected);
}

#[test]
fn a_damaged_head_names_its_file_once() {
    let folder = folder();
    folder.stdout(&["run", "small.toml", "--out", "r"]);
    folder.write("r/dbstow.json", "{\"schema\": \"dbst");
    let text = folder.fails(&["report", "r"], 2);
    assert_eq!(text.matches("EOF while parsing").count(), 1, "{text}");
}

// Mistakes in the request.

#[test]
fn an_unknown_experiment_is_refused_with_the_near_one() {
    let expected = ["\"tempdb-spil\"", "did you mean \"tempdb-spill\"?"];
    refuses(&folder(), &["run", "tempdb-spil"], &expected);
}

#[test]
fn a_missing_experiment_file_is_refused() {
    let expected = ["missing.toml", "`dbstow experiments`"];
    refuses(&folder(), &["run", "missing.toml"], &expected);
}

#[test]
fn an_unknown_key_of_set_is_refused_with_the_near_one() {
    let run = ["run", "small.toml", "--set", "workload.sesions=4"];
    let expected = ["--set workload.sesions=4", "did you mean \"sessions\"?"];
    refuses(&folder(), &run, &expected);
}

#[test]
fn an_unknown_key_of_a_file_is_refused_at_its_line() {
    let expected = ["changed.toml:23:", "operatons"];
    refuses_with("operations", "operatons", &expected);
}

#[test]
fn an_unknown_disk_is_refused_at_its_line_with_near_ones() {
    let expected = ["changed.toml:8:", "azure.premum.p30", "`azure.premium.p30`"];
    refuses_with("azure.premium.p30", "azure.premum.p30", &expected);
}

#[test]
fn an_unknown_machine_is_refused_at_its_line_with_near_ones() {
    let expected = ["changed.toml:5:", "azure.DS22", "`azure.DS2`"];
    refuses_with(
        "cores = 4\nmemory = \"8 GiB\"",
        "type = \"azure.DS22\"",
        &expected,
    );
}

#[test]
fn unknown_names_say_where_the_known_ones_are() {
    refuses(&folder(), &["disks", "zzz"], &["`zzz`", "`dbstow disks`"]);
    let expected = ["`zzz`", "`dbstow machines`"];
    refuses(&folder(), &["machines", "zzz"], &expected);
}

#[test]
fn impossible_provisioning_is_refused_with_what_is_allowed() {
    // 300 IOPS a GiB, but no more than 400,000.
    let ultra = "disk = \"azure.ultra\"\nsize = \"1 TiB\"\niops = 999_999";
    let expected = ["changed.toml:8:", "999999", "100 to 400000"];
    refuses_with("disk = \"azure.premium.p30\"", ultra, &expected);
}

#[test]
fn an_undefined_volume_is_refused_at_the_line_of_its_placement() {
    let expected = [
        "changed.toml:14:",
        "placement \"one\"",
        "\"fast\"",
        "defined: \"d\"",
    ];
    refuses_with(
        "log = { volumes = \"d\" }",
        "log = { volumes = \"fast\" }",
        &expected,
    );
}

#[test]
fn a_negative_size_is_refused_at_its_line() {
    let expected = ["changed.toml:29:", "-1 MiB", "\"512 MiB\""];
    refuses_with("memory = \"1 MiB\"", "memory = \"-1 MiB\"", &expected);
}

#[test]
fn a_size_of_zero_is_refused() {
    let run = ["run", "small.toml", "--set", "volume.d.size=0GiB"];
    refuses(&folder(), &run, &["volume.d.size is zero"]);
}

#[test]
fn zero_blocks_are_refused() {
    let run = ["run", "small.toml", "--blocks", "0"];
    refuses(&folder(), &run, &["0 blocks", "1 to 10000"]);
}

#[test]
fn more_data_than_a_disk_holds_is_refused() {
    let files = "data = { volumes = \"d\", file_size = \"2 TiB\" }";
    let expected = ["changed.toml:", "\"d\""];
    refuses_with("data = { volumes = \"d\" }", files, &expected);
}

#[test]
fn an_empty_workload_folder_is_refused() {
    let folder = folder();
    folder.make_folder("empty");
    let run = ["run", "small.toml", "--workload", "empty"];
    refuses(&folder, &run, &["empty", "workload.toml"]);
}
