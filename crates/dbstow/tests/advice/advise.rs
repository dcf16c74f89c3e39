//! `dbstow advise` as a user runs it, with what a real PostgreSQL was recorded to do (`examples/`).

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use serde_json::Value;
use tempfile::TempDir;

/// What every question of these tests has in common: few machines, so that it is answered at once.
const USUAL: [&str; 8] = [
    "--cloud",
    "azure",
    "--machine",
    "bds_v5",
    "--capacity",
    "data=60GiB",
    "--capacity",
    "log=20GiB",
];

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples")
        .join(name)
}

/// A folder with the example's profile and today's layout.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().expect("there is room");
        for name in ["shop.toml", "today.toml"] {
            fs::copy(example(name), folder.path().join(name)).expect("the example is there");
        }
        Place { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn dbstow(&self, arguments: &[&str]) -> Assert {
        let mut command = Command::cargo_bin("dbstow").expect("it was built");
        command
            .current_dir(self.folder.path())
            .args(arguments)
            .assert()
    }

    fn advise(&self, more: &[&str]) -> Assert {
        let all = [
            &["advise", "shop.toml", "--today", "today.toml", "--force"],
            &USUAL[..],
            more,
        ]
        .concat();
        self.dbstow(&all)
    }

    /// The document of an answer.
    fn advice(&self, more: &[&str]) -> Value {
        // Dearer layouts would be looked at for the fastest alone.
        let budget: &[&str] = match more.contains(&"--budget") {
            true => &[],
            false => &["--budget", "500"],
        };
        let all = [more, budget, &["--format", "json"]].concat();
        let assert = self.advise(&all).success();
        serde_json::from_slice(&assert.get_output().stdout).expect("it is JSON")
    }

    /// The error for something impossible.
    fn refused(&self, more: &[&str], code: i32) -> String {
        let assert = self.advise(more).code(code);
        said(&assert)
    }
}

fn said(assert: &Assert) -> String {
    String::from_utf8_lossy(&assert.get_output().stderr).into_owned()
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("no number: {value}"))
}

#[test]
fn the_answer_comes_first_and_the_folder_has_page_document_and_finalists() {
    let place = Place::new();
    let assert = place.advise(&["--budget", "500"]).success();
    let output = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    let first = output.lines().next().expect("there is an answer");
    assert!(
        first.starts_with("azure.") && first.contains(" a month (today $"),
        "{first}"
    );
    for part in [
        "cheapest",
        "in all",
        "Why:",
        "Search:",
        "Assumed:",
        "dbstow run shop-advice/finalists.toml",
    ] {
        assert!(output.contains(part), "no {part} in {output}");
    }
    let page = fs::read_to_string(place.path("shop-advice/advice.html")).expect("there is a page");
    assert!(page.contains("Content-Security-Policy") && page.contains("azure."));
    assert!(place.path("shop-advice/advice.json").is_file());
}

#[test]
fn the_finalists_run_from_another_folder_and_after_both_files_were_moved() {
    let place = Place::new();
    place.advice(&[]);
    let finalists = fs::read_to_string(place.path("shop-advice/finalists.toml"));
    let finalists = finalists.expect("they are there");
    assert!(
        finalists.contains("profile = \"../shop.toml\""),
        "{finalists}"
    );

    let moved = tempfile::tempdir().expect("there is room");
    for name in ["shop.toml", "shop-advice"] {
        fs::rename(place.path(name), moved.path().join(name)).expect("both are on one disk");
    }
    let elsewhere = tempfile::tempdir().expect("there is room");
    Command::cargo_bin("dbstow")
        .expect("it was built")
        .current_dir(elsewhere.path())
        .arg("plan")
        .arg(moved.path().join("shop-advice/finalists.toml"))
        .arg("--json")
        .assert()
        .success();
}

#[test]
fn an_answer_that_is_there_is_not_overwritten_unless_that_is_said() {
    let place = Place::new();
    fs::create_dir(place.path("shop-advice")).expect("it is new");
    let finalists = place.path("shop-advice/finalists.toml");
    fs::write(&finalists, "# changed by hand").expect("the folder is ours");
    let advise = ["advise", "shop.toml", "--today", "today.toml"];
    let error = said(&place.dbstow(&[&advise[..], &USUAL].concat()).code(2));
    assert!(
        error.contains("shop-advice/finalists.toml is there already") && error.contains("--force"),
        "{error}"
    );
    let left = fs::read_to_string(&finalists).expect("it is there");
    assert_eq!(left, "# changed by hand");
    place.advice(&[]);
    assert_ne!(fs::read_to_string(&finalists).expect("it is there"), left);
}

#[test]
fn the_document_fits_its_schema_and_itself_and_is_the_same_every_time() {
    let place = Place::new();
    let advice = place.advice(&[]);
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/advice.schema.json");
    let schema = fs::read_to_string(schema).expect("the schema is committed");
    let schema: Value = serde_json::from_str(&schema).expect("it is JSON");
    let validator = jsonschema::validator_for(&schema).expect("it is a schema");
    let errors: Vec<String> = validator
        .iter_errors(&advice)
        .map(|error| error.to_string())
        .collect();
    assert_eq!(errors, [""; 0]);

    let cheapest = &advice["cheapest"];
    assert!(
        number(&cheapest["time"]) + number(&cheapest["time_half"]) <= 1.05,
        "{cheapest}"
    );
    // The price is the sum of its lines.
    for name in ["today", "cheapest", "fastest", "best_value", "runner_up"] {
        let layout = &advice[name];
        let volumes = layout["volumes"].as_array().expect("a list");
        let disks: f64 = volumes
            .iter()
            .map(|volume| number(&volume["usd_per_month"]))
            .sum();
        let all = disks + number(&layout["machine_usd_per_month"]);
        assert!(
            (all - number(&layout["usd_per_month"])).abs() < 0.01,
            "{name}: {layout}"
        );
    }
    let price = |name: &str| number(&advice[name]["usd_per_month"]);
    assert!(price("cheapest") <= price("runner_up") && price("cheapest") <= price("fastest"));
    let fastest = number(&advice["fastest"]["time"]);
    assert!(fastest <= number(&cheapest["time"]) * 1.05, "{fastest}");
    let counts = &advice["counts"];
    assert_eq!(counts["complete"], true);
    let considered = number(&counts["considered"]);
    let others = ["beaten", "bounded", "simulated"].map(|what| number(&counts[what]));
    assert_eq!(considered, others.iter().sum::<f64>());

    assert_eq!(place.advice(&[]), advice);
}

#[test]
fn the_finalists_run_and_agree_with_what_was_predicted() {
    let place = Place::new();
    let advice = place.advice(&[]);
    let run = place.dbstow(&["run", "shop-advice/finalists.toml", "--format", "json"]);
    let run = run.success();
    let findings: Value = serde_json::from_slice(&run.get_output().stdout).expect("it is JSON");
    let arms = findings["arms"].as_array().expect("a list");
    let latency = |name: &str| {
        let arm = arms.iter().find(|arm| arm["name"] == name);
        let arm = arm.unwrap_or_else(|| panic!("no arm {name}"));
        number(&arm["metrics"]["operation_latency_mean_ms"]["mean"])
    };
    let ratio = latency("cheapest") / latency("today");
    let predicted = number(&advice["cheapest"]["time"]);
    assert!(
        (ratio / predicted - 1.0).abs() < 0.1,
        "{ratio} and {predicted}"
    );
}

/// The example with temporary files on a volume of their own, in both files.
fn with_temp_apart(place: &Place) {
    let change = |name: &str, old: &str, new: &str| {
        let text = fs::read_to_string(place.path(name)).expect("the example is there");
        assert!(text.contains(old), "no {old} in {text}");
        fs::write(place.path(name), text.replace(old, new)).expect("the folder is ours");
    };
    let apart = "roles = [\"data\", \"log\"]\n\n[[volume]]\nroles = [\"temp\"]";
    change("shop.toml", "roles = [\"data\", \"log\", \"temp\"]", apart);
    let column = |name: &str, value: &str| format!("{name} = [{}]\n", [value; 8].join(", "));
    let requests = ["read", "write"].map(|kind| {
        column(&format!("{kind}s"), "1000.0")
            + &column(&format!("{kind}_bytes"), "8192000.0")
            + &column(&format!("{kind}_wait_s"), "4.0")
    });
    let temp = format!("[intervals.temp]\n{}\n[intervals.log]", requests.concat());
    change("shop.toml", "[intervals.log]", &temp);
    let own = "[volume.t]\ndisk = \"azure.premium.p30\"\nbursting = false\n\n[placement.today]";
    change("today.toml", "[placement.today]", own);
    change(
        "today.toml",
        "temp = { volumes = \"data\" }",
        "temp = { volumes = \"t\" }",
    );
}

/// Asks for temporary files on the local disks of a machine.
fn local_on<'a>(machine: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let asked = [
        "advise",
        "shop.toml",
        "--today",
        "today.toml",
        "--cloud",
        "azure",
        "--machine",
        machine,
        "--disk",
        "azure.premium_v2",
        "--temp",
        "local",
        "--capacity",
        "data=60GiB",
        "--capacity",
        "log=20GiB",
        "--capacity",
        "temp=20GiB",
        "--untested",
        "--force",
    ];
    [&asked, more].concat()
}

#[test]
fn finalists_on_every_local_disk_of_a_machine_are_checked_and_run() {
    let place = Place::new();
    with_temp_apart(&place);
    // Machines with one local disk, and with four.
    for (machine, count) in [("azure.D8ads_v7", None), ("azure.D32ads_v7", Some(4))] {
        place.dbstow(&local_on(machine, &[])).success();
        let finalists = place.path("shop-advice/finalists.toml");
        let text = fs::read_to_string(&finalists).expect("it was written");
        let document: toml_edit::DocumentMut = text.parse().expect("it is TOML");
        let temp = &document["volume"]["cheapest-temp"];
        let found = temp.get("count").and_then(toml_edit::Item::as_integer);
        let expected = (Some("local"), count);
        assert_eq!((temp["disk"].as_str(), found), expected, "{text}");
        // Nothing in it is without effect.
        place
            .dbstow(&["check", "shop-advice/finalists.toml"])
            .success()
            .stderr("");
    }
    let run = ["run", "shop-advice/finalists.toml", "--blocks", "1"];
    place.dbstow(&run).success();
    // A disk more than the machine has.
    let more = [
        "check",
        "shop-advice/finalists.toml",
        "--set",
        "volume.cheapest-temp.count=5",
    ];
    let refused = place.dbstow(&more).code(2);
    let refused = said(&refused);
    for part in ["cheapest-temp", "5 local disks", "azure.D32ads_v7 has 4"] {
        assert!(refused.contains(part), "no {part} in {refused}");
    }
}

/// The commands that are printed as the next ones, with `FOLDER` and the like filled in.
fn next(advice: &Value) -> Vec<Vec<String>> {
    let filled = |word: String| match word.as_str() {
        "NAME" => "shop".to_owned(),
        "FOLDER" => "/mnt/folder".to_owned(),
        _ => word.replace("=FOLDER", "=/mnt/folder"),
    };
    let commands = advice["next"].as_array().expect("a list").iter();
    let words = commands.map(|next| {
        let command = next["command"].as_str().expect("a text");
        let words = shell_words::split(command).expect("it can be typed");
        words.into_iter().skip(1).map(filled).collect()
    });
    words.collect()
}

#[test]
fn what_comes_next_can_be_typed_whatever_the_file_of_today_says() {
    let place = Place::new();
    let today = fs::read_to_string(place.path("today.toml")).expect("the example is there");
    let engine = "\n[engine]\nname = \"postgres\"\nmemory = \"1 GiB\"\n";
    fs::write(place.path("today.toml"), today + engine).expect("the folder is ours");
    let advice = place.advice(&["--window", "20s"]);
    let finalists =
        fs::read_to_string(place.path("shop-advice/finalists.toml")).expect("it was written");
    for part in [
        "window = \"20s\"",
        "sessions = 8",
        "\"machine.credits\" = 0",
    ] {
        assert!(finalists.contains(part), "no {part} in {finalists}");
    }
    let next = next(&advice);
    let [simulate, emulate, scripts] = next.as_slice() else {
        panic!("{next:?}");
    };
    let typed =
        |words: &[String]| place.dbstow(&words.iter().map(String::as_str).collect::<Vec<_>>());
    typed(simulate).success();
    assert!(emulate.contains(&"postgres".to_owned()), "{emulate:?}");
    let scripts = typed(scripts).success();
    let scripts = String::from_utf8_lossy(&scripts.get_output().stdout).into_owned();
    assert!(scripts.contains("/mnt/folder"), "{scripts}");
}

#[test]
fn next_commands_name_the_profiles_engine_or_leave_it_open() {
    let place = Place::new();
    let profile = fs::read_to_string(place.path("shop.toml")).expect("the example is there");
    assert!(profile.contains("product = \"PostgreSQL\""), "{profile}");
    for (product, engine) in [
        ("SQL Server", "sqlserver"),
        ("sqlserver", "sqlserver"),
        ("MariaDB", "mariadb"),
        // Layout scripts refuse MySQL, and a private server is a MariaDB.
        ("MySQL", "ENGINE"),
    ] {
        let other = profile.replace("\"PostgreSQL\"", &format!("\"{product}\""));
        fs::write(place.path("shop.toml"), other).expect("the folder is ours");
        let next = next(&place.advice(&[]));
        for command in &next[1..] {
            let at = command.iter().position(|word| word == "--engine");
            let at = at.expect("an engine is asked for");
            assert_eq!(command[at + 1], engine, "{command:?}");
            let is_for_all = command.contains(&"data,temp,log".to_owned());
            assert_eq!(
                is_for_all,
                engine != "sqlserver" && command[0] == "layout",
                "{command:?}"
            );
        }
        if engine == "mariadb" {
            let scripts: Vec<&str> = next[2].iter().map(String::as_str).collect();
            place.dbstow(&scripts).success();
        }
    }
}

#[test]
fn what_is_asked_for_decides() {
    let place = Place::new();
    let usual = place.advice(&[]);
    let price = |advice: &Value| number(&advice["cheapest"]["usd_per_month"]);

    let kept = [
        &[
            "advise",
            "shop.toml",
            "--today",
            "today.toml",
            "--keep-machine",
        ],
        &USUAL[4..],
        &["--budget", "500", "--format", "json", "--force"],
    ];
    let kept = place.dbstow(&kept.concat()).success();
    let kept: Value = serde_json::from_slice(&kept.get_output().stdout).expect("it is JSON");
    assert_eq!(kept["cheapest"]["machine"], "azure.E2bds_v5");
    let windows = place.advice(&["--windows"]);
    assert!(price(&windows) > price(&usual));
    let less = place.advice(&["--discount", "50%"]);
    assert!((price(&less) / price(&usual) - 0.5).abs() < 0.01);
    let slower = place.advice(&["--not-slower", "150%"]);
    assert!(price(&slower) <= price(&usual));
    assert_eq!(slower["asked"]["slower_max"], 1.5);
    let larger = place.advice(&["--growth", "4"]);
    assert!(price(&larger) > price(&usual));
    assert_eq!(larger["asked"]["growth"], 4.0);
    let p30 = place.advice(&["--disk", "azure.premium.p30"]);
    let volumes = p30["cheapest"]["volumes"].as_array().expect("a list");
    assert!(
        volumes
            .iter()
            .all(|volume| volume["disk"] == "azure.premium.p30"),
        "{p30}"
    );
    assert!(price(&p30) >= price(&usual));

    fs::write(
        place.path("own.csv"),
        "name,usd,per\nazure.E2bds_v5,0.001,hour\n",
    )
    .expect("the folder is ours");
    let own = place.advice(&["--prices", "own.csv"]);
    assert_eq!(own["cheapest"]["machine"], "azure.E2bds_v5");
    let lists = own["price_lists"].as_array().expect("a list");
    assert!(lists.iter().any(|list| list == "own.csv"), "{lists:?}");
}

#[test]
fn a_budget_that_nothing_meets_is_answered_with_the_nearest_and_what_it_lacks() {
    let place = Place::new();
    let error = place.refused(&["--budget", "127", "--not-slower", "0%"], 2);
    assert!(
        error.contains("No layout keeps operations at most 0 % slower")
            && error.contains("$127 a month"),
        "{error}"
    );
    assert!(
        error.contains("raise the budget") || error.contains("allow that (--not-slower)"),
        "{error}"
    );
    let error = place.refused(&["--budget", "1"], 2);
    assert!(
        error.contains("the cheapest that does is azure."),
        "{error}"
    );
}

#[test]
fn a_layout_that_is_cheaper_than_all_others_is_to_be_kept() {
    let place = Place::new();
    fs::write(
        place.path("own.csv"),
        "name,usd,per\nazure.premium.p30,0.5,month\n",
    )
    .expect("the folder is ours");
    let advice = place.advice(&["--prices", "own.csv"]);
    let answer = advice["answer"].as_str().expect("a sentence");
    assert!(
        answer.starts_with("Keep today's layout, for $12"),
        "{answer}"
    );
}

#[test]
fn a_profile_of_other_disks_gets_no_advice() {
    let place = Place::new();
    let today = fs::read_to_string(place.path("today.toml")).expect("the example is there");
    assert!(today.contains("azure.premium.p30"), "{today}");
    fs::write(
        place.path("today.toml"),
        today.replace("premium.p30", "premium.p10"),
    )
    .expect("the folder is ours");
    let error = place.refused(&[], 3);
    assert!(
        error.contains("does not fit this layout") && error.contains("--untested"),
        "{error}"
    );
    assert!(!place.path("shop-advice").exists());
    let untested = place.advice(&["--untested"]);
    assert_eq!(untested["backtest"]["fits"], false);
}

#[test]
fn what_cannot_be_is_refused_with_the_remedy() {
    let place = Place::new();
    fs::write(place.path("own.csv"), "name,usd,per\naws.gp3,0.05,\n").expect("the folder is ours");
    let wrong: [(&[&str], &str); 10] = [
        (&["--not-slower", "1.5"], "1.5 has no percent sign"),
        (&["--not-slower", "900%"], "900% is not below 900%"),
        (
            &["--region", "mars-1"],
            "--region mars-1: there are no prices of it",
        ),
        (&["--disk", "azure.premium.p3O"], "azure.premium.p30"),
        (&["--prices", "own.csv"], "own.csv:2: `aws.gp3` has no unit"),
        (&["--prices", "none.csv"], "name,usd,per"),
        (&["--capacity", "temp=0GiB"], "it is 0"),
        (
            &["--capacity", "index=1GiB"],
            "there are data, temp and log",
        ),
        (
            &["--capacity", "temp=90000TiB"],
            "no disk of the catalogue holds",
        ),
        (&["--temp", "local"], "not counted separately"),
    ];
    for (more, part) in wrong {
        let error = place.refused(more, 2);
        assert!(error.contains(part), "{more:?}: {error}");
    }
    let all = ["advise", "shop.toml", "--today", "today.toml"];
    let error = said(
        &place
            .dbstow(&[&all[..], &["--cloud", "azura"]].concat())
            .code(2),
    );
    assert!(
        error.contains("there is no such cloud; give one of aws, azure, gcp"),
        "{error}"
    );
    let error = said(
        &place
            .dbstow(&[&all[..], &["--machine", "E9999"]].concat())
            .code(2),
    );
    assert!(
        error.contains("no machine of the catalogue is like this"),
        "{error}"
    );
    let error = said(
        &place
            .dbstow(&[&all[..], &["--not-slower", "many"]].concat())
            .code(2),
    );
    assert!(error.contains("give a percentage such as 5%"), "{error}");
    let error = said(&place.dbstow(&["advise", "shop.toml"]).code(2));
    assert!(error.contains("give them with --today FILE"), "{error}");
}

#[test]
fn an_idle_server_is_none_to_advise() {
    let place = Place::new();
    let profile = fs::read_to_string(place.path("shop.toml")).expect("the example is there");
    let lines = profile
        .lines()
        .map(|line| match line.starts_with("operations = ") {
            true => {
                let values = line.matches(',').count() + 1;
                format!("operations = [{}]", vec!["0.0"; values].join(", "))
            }
            false => line.to_owned(),
        });
    let idle: Vec<String> = lines.collect();
    fs::write(place.path("shop.toml"), idle.join("\n")).expect("the folder is ours");
    let error = place.refused(&[], 2);
    assert!(
        error.contains("the server was idle; record it under load"),
        "{error}"
    );
}

/// What the catalogue assumes of a disk, as `dbstow disks` has it.
fn assumed(place: &Place, disk: &str) -> Vec<String> {
    let assert = place.dbstow(&["disks", disk, "--format", "json"]).success();
    let document: Value = serde_json::from_slice(&assert.get_output().stdout).expect("it is JSON");
    let disks = document["disks"].as_array().expect("a list");
    let entry = disks.iter().find(|entry| entry["name"] == disk);
    let entry = entry.unwrap_or_else(|| panic!("{disk} is not listed"));
    let latencies = ["read_latency", "write_latency", "flush_latency"];
    let latencies = latencies.map(|latency| entry[latency]["assumed"].clone());
    let others = entry["assumed"].as_array().expect("a list").clone();
    let texts = latencies.into_iter().chain(others);
    texts
        .filter_map(|text| text.as_str().map(str::to_owned))
        .collect()
}

/// The catalogue assumes prices with Windows of these machines, and what the disks inside them do.
#[test]
fn what_is_assumed_is_of_what_the_answers_use_and_begins_with_the_answer() {
    let of = |advice: &Value| -> Vec<String> {
        let all = advice["assumptions"].as_array().expect("a list").iter();
        all.filter_map(|text| text.as_str().map(str::to_owned))
            .collect()
    };
    let any = |told: &[String], part: &str| told.iter().any(|told| told.contains(part));
    let place = Place::new();
    let remote = place.advice(&[]);
    assert!(!remote.to_string().contains("\"local\""), "{remote}");
    let remote = of(&remote);
    assert!(remote[0].contains(" (cheapest"), "{remote:?}");
    assert!(!any(&remote, "price with Windows"), "{remote:?}");
    assert!(!any(&remote, "its own disk"), "{remote:?}");
    // One sentence for the assumptions about one disk in the same answers.
    let of_one = |told: &&String| told.starts_with("azure.premium_v2 (");
    assert_eq!(remote.iter().filter(of_one).count(), 1, "{remote:?}");
    with_temp_apart(&place);
    let local = local_on("azure.D8ads_v7", &["--windows", "--format", "json"]);
    let local = place.dbstow(&local).success();
    let local: Value = serde_json::from_slice(&local.get_output().stdout).expect("it is JSON");
    let local = of(&local);
    assert!(any(&local, "price with Windows"), "{local:?}");
    assert!(any(&local, "its own disk: "), "{local:?}");
}

/// Standard SSDs have unpublished latencies, and a price without their transactions.
#[test]
fn what_the_catalogue_assumes_of_a_layout_stands_beside_it() {
    let place = Place::new();
    let ask = ["--disk", "azure.stdssd.e10", "--not-slower", "800%"];
    let advice = place.advice(&ask);
    let told: Vec<&str> = advice["assumptions"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let mut disks = Vec::new();
    for answer in ["today", "cheapest", "runner_up", "fastest", "best_value"] {
        let volumes = advice[answer]["volumes"].as_array().cloned();
        let names = volumes.into_iter().flatten();
        disks.extend(names.filter_map(|volume| volume["disk"].as_str().map(str::to_owned)));
    }
    assert!(disks.contains(&"azure.stdssd.e10".to_owned()), "{disks:?}");
    for disk in disks {
        for text in assumed(&place, &disk) {
            let mut told = told.iter();
            assert!(
                told.any(|told| told.contains(&disk) && told.contains(&text)),
                "{disk}: {text} is not in {:?}",
                advice["assumptions"]
            );
        }
    }
    let budget = [&ask[..], &["--budget", "500"]].concat();
    let assert = place.advise(&budget).success();
    let output = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    let page = fs::read_to_string(place.path("shop-advice/advice.html")).expect("there is a page");
    for part in [
        "between premium SSD and standard HDD; not published",
        "without transactions, which are billed separately",
    ] {
        // A terminal breaks lines.
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(&output).contains(part), "{output}");
        assert!(page.contains(part), "the page lacks {part}");
    }
}
