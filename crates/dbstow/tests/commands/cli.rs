//! The program as a user runs it, in a separate folder.

mod refused;

use std::fs;
use std::path::Path;

use predicates::prelude::*;
use testing::experiments::SMALL;
use testing::folder::Folder;

/// A folder to work in, with `small.toml` in it.
fn folder() -> Folder {
    Folder::with(&[("small.toml", SMALL)])
}

/// As [`Folder::refuses`], and there are no results.
fn refuses(folder: &Folder, arguments: &[&str], parts: &[&str]) {
    folder.refuses(arguments, parts);
    assert!(!folder.path("dbstow-results").exists());
}

/// As [`refuses`], of the small experiment with `from` replaced.
fn refuses_with(from: &str, to: &str, parts: &[&str]) {
    let folder = folder();
    assert!(SMALL.contains(from), "nothing to replace: {from}");
    folder.write("changed.toml", SMALL.replacen(from, to, 1));
    refuses(&folder, &["run", "changed.toml"], parts);
}

// What there is.

#[test]
fn every_subcommand_has_help() {
    let folder = folder();
    let subcommands = [
        "run",
        "plan",
        "check",
        "report",
        "doctor",
        "lint",
        "layout",
        "disks",
        "machines",
        "experiments",
        "workloads",
        "completions",
        "man",
    ];
    let help = folder.stdout(&["--help"]);
    for subcommand in subcommands {
        assert!(help.contains(subcommand), "{subcommand} is not in --help");
        let own = folder.stdout(&[subcommand, "--help"]);
        assert!(own.contains("Usage: dbstow"), "{own}");
    }
}

#[test]
fn options_in_the_examples_of_run_exist() {
    let help = folder().stdout(&["run", "--help"]);
    let (options, examples) = help.split_once("Examples:").expect("help has examples");
    let used: Vec<&str> = examples
        .split_whitespace()
        .filter(|word| word.starts_with("--"))
        .collect();
    assert!(!used.is_empty());
    for option in used {
        assert!(options.contains(option), "{option} is not an option of run");
    }
}

#[test]
fn lists_hold_what_is_built_in() {
    let folder = folder();
    for (arguments, expected) in [
        (&["experiments"][..], "tempdb-ssd-vs-premium"),
        (&["experiments", "tempdb-spill"], "[protocol]"),
        (&["workloads"], "version-store"),
        (&["disks", "p30"], "azure.premium.p30"),
        (&["machines", "azure.DS"], "azure.DS14_v2"),
        (&["completions", "bash"], "complete -o nospace"),
        (&["plan", "small.toml"], "two"),
        (&["check", "small.toml"], "2 arms x 2 blocks = 4 trials"),
    ] {
        let text = folder.stdout(arguments);
        assert!(text.contains(expected), "{arguments:?}: {text}");
    }
}

// What a run gives.

#[test]
fn json_of_a_run_keeps_to_the_schema_and_is_the_same_again() {
    // given
    let folder = folder();
    let run = "run tempdb-ssd-vs-premium --quick --format json --fresh --out r";
    let run: Vec<&str> = run.split(' ').collect();
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/findings.schema.json");
    let schema = fs::read_to_string(schema).expect("the schema is in the repository");
    let schema = serde_json::from_str(&schema).expect("a schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("a valid schema");

    // when
    let first = folder.stdout(&run);
    let second = folder.stdout(&run);

    // then
    let document: serde_json::Value = serde_json::from_str(&first).expect("one document");
    let wrong: Vec<String> = validator
        .iter_errors(&document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert_eq!(wrong, [""; 0]);
    assert_eq!(document["arms"].as_array().map(Vec::len), Some(2));
    assert_eq!(document["mode"], "simulate");
    assert_eq!(first, second);
}

#[test]
fn number_of_jobs_changes_no_result() {
    let folder = folder();
    let run = |out, jobs| {
        let run = ["run", "small.toml", "--format", "json", "--out", out];
        folder.stdout(&[&run[..], &["--jobs", jobs]].concat())
    };
    assert_eq!(run("one", "1"), run("four", "4"));
}

#[test]
fn another_seed_gives_other_results() {
    let folder = folder();
    let run = |out, seed| {
        let run = ["run", "small.toml", "--format", "csv", "--out", out];
        folder.stdout(&[&run[..], &["--seed", seed]].concat())
    };
    assert_ne!(run("one", "1"), run("two", "2"));
}

#[test]
fn second_run_takes_the_records_of_the_first() {
    // given
    let folder = folder();
    let first = folder.stdout(&["run", "small.toml", "--out", "r"]);
    // when
    let second = folder.dbstow(&["run", "small.toml", "--out", "r"]);
    // then
    let recorded = predicate::str::contains("4 of 4 trials are recorded in r already");
    { second }.assert().success().stdout(first).stderr(recorded);
}

#[test]
fn more_blocks_continue_a_run() {
    let folder = folder();
    folder.stdout(&["run", "small.toml", "--out", "r"]);
    let three = ["run", "small.toml", "--out", "r", "--blocks", "3"];
    let recorded = predicate::str::contains("4 of 6 trials are recorded");
    folder.dbstow(&three).assert().success().stderr(recorded);
}

/// Cold reads of a P30, whose latency differs by a factor of 1.44 from disk to disk, and of which chance leaves little.
#[test]
fn more_blocks_narrow_the_interval_of_the_seeds_and_not_that_of_drawn_worlds() {
    let folder = folder();
    let width = |more: &[&str]| {
        let run = ["run", "small.toml", "--format", "json", "--fresh"];
        let findings = folder.json(&[&run[..], more].concat());
        let elapsed = &findings["arms"][0]["metrics"]["elapsed_s"];
        let end = |name: &str| elapsed[name].as_f64().expect("it is a number");
        (end("high") / end("low")).ln()
    };

    let (few, many) = (width(&["--blocks", "8"]), width(&["--blocks", "32"]));
    assert!((0.6..1.7).contains(&(many / few)), "{few}, {many}");

    let nominal = |blocks| width(&["--blocks", blocks, "--nominal"]);
    let (few_seeds, many_seeds) = (nominal("8"), nominal("32"));
    assert!(many_seeds < 0.8 * few_seeds, "{few_seeds}, {many_seeds}");
    assert!(many_seeds < 0.3 * many, "{many_seeds}, {many}");
}

#[test]
fn report_says_from_records_alone_what_the_run_said() {
    let folder = folder();
    let run = folder.stdout(&["run", "small.toml", "--out", "r"]);
    fs::remove_file(folder.path("small.toml")).expect("it is there");
    assert_eq!(folder.stdout(&["report", "r"]), run);
    assert_eq!(fs::read_dir(folder.root()).expect("ours").count(), 1);
}

#[test]
fn two_results_can_be_compared() {
    let folder = folder();
    folder.stdout(&["run", "small.toml", "--out", "r"]);
    let other = ["run", "small.toml", "--set", "workload.operations=20"];
    folder.stdout(&[&other[..], &["--out", "s"]].concat());
    let text = folder.stdout(&["report", "r", "s"]);
    assert!(text.contains("one") && text.contains("two"), "{text}");
    assert!(
        text.starts_with("elapsed_s of small (before: r; after: s)\n"),
        "{text}"
    );
}

#[test]
fn two_results_have_a_page_where_it_is_wanted() {
    let folder = folder();
    folder.stdout(&["run", "small.toml", "--out", "r"]);
    let text = folder.stdout(&[
        "report", "r", "r", "--format", "markdown", "--html", "b.html",
    ]);
    assert!(
        text.starts_with("## elapsed\\_s of small (before: r; after: r)"),
        "{text}"
    );
    let page = folder.read("b.html");
    assert!(page.contains("were not interleaved"), "{page}");
}

#[test]
fn two_results_are_one_json_document_or_rows() {
    let folder = folder();
    folder.stdout(&["run", "small.toml", "--out", "r"]);
    let json = folder.stdout(&["report", "r", "r", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("one document");
    assert_eq!(json["schema"], "dbstow.side-by-side/1");
    assert_eq!(json["arms"][0]["ratio"], 1.0);
    let csv = folder.stdout(&["report", "r", "r", "--format", "csv"]);
    // A header and two arms.
    assert_eq!(csv.lines().count(), 3, "{csv}");
    assert!(csv.starts_with("arm,metric,unit,"), "{csv}");
}

/// Two arms that do enough I/O for a verdict, and tie.
const EXAMPLE: &str = "tempdb-ssd-vs-premium";

/// Multiplies the elapsed time of the arm in the records of `results`.
fn slow_down(results: &Path, arm: &str, factor: f64) {
    for entry in fs::read_dir(results.join("records")).expect("it has records") {
        let file = entry.expect("it can be listed").path();
        let text = fs::read_to_string(&file).expect("it can be read");
        let mut record: serde_json::Value = serde_json::from_str(&text).expect("a record");
        if record["arm"] == arm {
            let elapsed = &mut record["metrics"]["elapsed_s"];
            *elapsed = (elapsed.as_f64().expect("a number") * factor).into();
            fs::write(&file, record.to_string()).expect("it can be written");
        }
    }
}

#[test]
fn what_is_slower_than_allowed_exits_with_3_and_what_is_not_settled_does_not() {
    let folder = folder();
    let many = ["run", EXAMPLE, "--quick", "--blocks", "5", "--out"];
    folder.stdout(&[&many[..], &["r"]].concat());
    folder.stdout(&[&many[..], &["s"]].concat());
    slow_down(&folder.path("s"), "p30", 3.0);
    let code = |arguments: &[&str], code: i32, said: &str| {
        let done = folder.dbstow(arguments).assert().code(code);
        done.stderr(predicate::str::contains(said));
    };
    code(&["report", "r", "--fail-if-slower", "20%"], 0, "");
    code(
        &["report", "s", "--fail-if-slower", "20%"],
        3,
        "p30 vs local-ssd: ",
    );
    code(&["report", "s", "--fail-if-slower", "900%"], 0, "");
    code(&["report", "r", "s", "--fail-if-slower", "20%"], 3, "p30: ");
    code(&["report", "s", "r", "--fail-if-slower", "20%"], 0, "");
    // Complete already: the records are judged.
    let again = [&many[..], &["s", "--fail-if-slower", "20%"]].concat();
    code(&again, 3, "p30 vs local-ssd: ");
    code(&["report", "r", "--fail-if-slower", "5"], 2, "Give 5%");
    // One block settles nothing.
    folder.stdout(&["run", EXAMPLE, "--quick", "--blocks", "1", "--out", "t"]);
    slow_down(&folder.path("t"), "p30", 3.0);
    code(
        &["report", "t", "--fail-if-slower", "20%"],
        0,
        "inconclusive",
    );
}

#[test]
fn colours_are_there_where_they_are_wanted_and_not_off_a_terminal() {
    let folder = folder();
    folder.stdout(&["run", EXAMPLE, "--quick", "--blocks", "5", "--out", "r"]);
    slow_down(&folder.path("r"), "p30", 3.0);
    let plain = folder.stdout(&["report", "r"]);
    assert!(!plain.contains('\x1b'), "{plain}");
    let mut forced = folder.dbstow(&["report", "r"]);
    let forced = forced.env("CLICOLOR_FORCE", "1").output().expect("it runs");
    let forced = String::from_utf8(forced.stdout).expect("it is text");
    // Red.
    assert!(forced.contains("\x1b[31m= p30 is "), "{forced}");
    let bare = forced.replace("\x1b[31m", "").replace("\x1b[33m", "");
    assert_eq!(bare.replace("\x1b[0m", ""), plain);
    let mut refused = folder.dbstow(&["report", "r"]);
    let refused = refused.env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1");
    let refused = refused.output().expect("it runs").stdout;
    assert_eq!(String::from_utf8(refused).expect("it is text"), plain);
}

#[test]
fn a_page_that_cannot_be_written_is_told_and_the_report_is_not_lost() {
    let folder = folder();
    let text = folder.stdout(&["run", "small.toml", "--out", "r"]);
    assert!(text.contains("Page:    r/report.html"), "{text}");
    let page = folder.path("r/report.html");
    fs::remove_file(&page).expect("it was written");
    fs::create_dir(&page).expect("the folder is ours");
    let report = folder.dbstow(&["report", "r"]).assert().success();
    let told = predicate::str::contains("the page").and(predicate::str::contains("--html FILE"));
    report
        .stderr(told)
        .stdout(predicate::str::contains("elapsed"));
    let wanted = ["report", "r", "--html", "no/such/folder.html"];
    let told = predicate::str::contains("no/such/folder");
    folder.dbstow(&wanted).assert().code(1).stderr(told);
}

#[test]
fn csv_has_a_header_and_lines_of_as_many_cells() {
    let run = ["run", "small.toml", "--format", "csv"];
    let csv = folder().stdout(&run);
    let mut lines = csv.lines();
    let header =
        "experiment,mode,arm,trials,metric,mean,low,high,unit,published,deviation,fitted,engine";
    assert_eq!(lines.next(), Some(header));
    assert!(csv.contains("small,simulate,one,2,elapsed_s,"), "{csv}");
    assert!(lines.all(|line| line.matches(',').count() == header.matches(',').count()));
}

#[test]
fn a_twin_of_the_baseline_shows_a_noise_floor() {
    let text = folder().stdout(&["run", "small.toml", "--aa"]);
    assert!(text.contains("Noise floor:"), "{text}");
}

#[test]
fn a_folder_of_scripts_runs_in_the_place_of_the_workload() {
    // given
    let folder = folder();
    let own = folder.path("own");
    fs::create_dir(&own).expect("the folder is ours");
    fs::write(
        own.join("own.sql"),
        "SELECT count(*) FROM generate_series(1, 1000);\n",
    )
    .expect("the folder is ours");
    // when
    let run = ["run", "small.toml", "--workload", "own/own.sql"];
    // then
    let text = folder.stdout(&run);
    assert!(text.contains("small: simulate"), "{text}");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    // given: more output than a pipe holds, 64 KiB, and no reader
    let folder = folder();
    let mut child = folder
        .process(&["disks", "--details"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it was built");
    // when
    drop(child.stdout.take());
    // then
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.status.success(), "{}", output.status);
}

// Invalid records and folders.

#[test]
fn a_truncated_record_is_left_out_with_a_warning_and_replaced_by_the_next_run() {
    // given
    let folder = folder();
    let whole = folder.stdout(&["run", "small.toml", "--out", "r"]);
    let record = folder.path("r/records/001-one.json");
    let text = fs::read_to_string(&record).expect("a record of block 1");
    fs::write(&record, &text[..text.len() / 2]).expect("the folder is ours");

    // when
    let report = folder.stdout(&["report", "r", "--format", "json"]);
    let rerun = folder
        .dbstow(&["run", "small.toml", "--out", "r"])
        .assert()
        .success()
        .stderr(predicate::str::contains("3 of 4 trials are recorded"));

    // then
    let report: serde_json::Value = serde_json::from_str(&report).expect("one document");
    let trials: Vec<_> = report["arms"]
        .as_array()
        .expect("arms")
        .iter()
        .map(|arm| arm["trials"].as_u64())
        .collect();
    assert_eq!(trials, [Some(1), Some(2)]);
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("001-one.json was left out"), "{warnings}");
    assert_eq!(String::from_utf8_lossy(&rerun.get_output().stdout), whole);
    assert_eq!(fs::read_to_string(&record).expect("a record"), text);
}

#[test]
fn the_size_of_a_database_is_reported_before_it_is_made() {
    let folder = folder();
    let contains = predicate::str::contains;
    let size = |arguments: &[&str]| {
        let arguments = [&["workloads"], arguments].concat();
        folder.dbstow(&arguments).assert()
    };
    // Rows of 2,000 bytes, four to a page of 8 KiB: 40,000 are 10,000 pages.
    size(&["tempdb-oltp", "--size", "rows=40_000"])
        .success()
        .stdout(contains(
            "78.1 MiB of data per session, of which 0 B are indexes",
        ));
    size(&["tempdb-oltp", "--size", "rows=4e4"])
        .success()
        .stdout(contains("78.1 MiB of data"));
    size(&["tempdb-oltp", "--size", "row=1"])
        .failure()
        .stderr(contains("no parameter \"row\"; did you mean \"rows\"?"));
    size(&["--size"]).code(2);

    let line =
        "local-ssd, p30, p30 (warm host cache): 1.9 GiB of data in 512 MiB of memory, 3.8 : 1";
    folder
        .dbstow(&["check", "tempdb-ssd-vs-premium"])
        .assert()
        .success()
        .stdout(contains(line));
}

#[test]
fn a_screen_has_40_lines_of_100_columns_and_full_prints_the_rest() {
    let folder = Folder::new();
    for name in [
        "tempdb-ssd-vs-premium",
        "tempdb-scale-out",
        "ultra-vs-premium-pool",
        "managed-instance-files",
    ] {
        let run = ["run", name, "--quick", "--blocks", "2", "--out", name];
        let text = folder.stdout(&run);

        assert!(text.lines().count() <= 40, "{name}: {text}");
        let wide = text.lines().find(|line| line.chars().count() > 100);
        assert_eq!(wide, None, "{name}: {text}");
        assert!(text.starts_with("= "), "{name}: {text}");
        let more = format!("More:    dbstow report {name} --full\n");
        assert!(text.ends_with(&more), "{name}: {text}");
        let full = folder.stdout(&["report", name, "--full"]);
        let rest = ["\nWhy\n", "where the sessions' time went", "\nRead first\n"];
        for part in rest {
            assert!(
                full.contains(part) && !text.contains(part),
                "{part}: {full}"
            );
        }
        assert!(!full.contains("model-chance"), "{full}");
    }
}

#[test]
fn experiments_are_listed_as_json_and_one_of_them_is_toml() {
    let folder = Folder::new();

    let list = folder.json(&["experiments", "--format", "json"]);

    let list = list.as_array().expect("a list");
    let text = folder.stdout(&["experiments"]);
    assert_eq!(list.len(), text.lines().count());
    for (one, line) in list.iter().zip(text.lines()) {
        let (name, question) = (&one["name"], one["question"].as_str());
        assert!(line.starts_with(name.as_str().expect("a name")), "{line}");
        assert!(line.ends_with(question.expect("a question")), "{line}");
    }
    let one = ["experiments", "tempdb-scale-out", "--format", "json"];
    let error = folder.fails(&one, 2);
    assert!(
        error.contains("dbstow plan tempdb-scale-out --json"),
        "{error}"
    );
}
