//! `dbstow advise` as a user runs it, with what a real PostgreSQL was recorded to do (`examples/`).

mod finalists_run;
mod refused;

use std::fs;
use std::ops::Deref;
use std::path::Path;

use assert_cmd::assert::Assert;
use serde_json::Value;
use testing::folder::{Folder, example, json, said, stdout};

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

/// A folder with the example's profile and today's layout.
pub(crate) struct Place(Folder);

impl Deref for Place {
    type Target = Folder;

    fn deref(&self) -> &Folder {
        &self.0
    }
}

impl Place {
    pub(crate) fn new() -> Place {
        let folder = Folder::new();
        for name in ["shop.toml", "today.toml"] {
            fs::copy(example(name), folder.path(name)).expect("the example is there");
        }
        Place(folder)
    }

    pub(crate) fn advise(&self, more: &[&str]) -> Assert {
        let all = [
            &["advise", "shop.toml", "--today", "today.toml", "--force"],
            &USUAL[..],
            more,
        ]
        .concat();
        self.dbstow(&all).assert()
    }

    /// The document of an answer.
    pub(crate) fn advice(&self, more: &[&str]) -> Value {
        // Dearer layouts would be looked at for the fastest alone.
        let budget: &[&str] = match more.contains(&"--budget") {
            true => &[],
            false => &["--budget", "500"],
        };
        let all = [more, budget, &["--format", "json"]].concat();
        json(&self.advise(&all).success())
    }

    /// The error for something impossible.
    pub(crate) fn refused(&self, more: &[&str], code: i32) -> String {
        said(&self.advise(more).code(code))
    }
}

/// The example with temporary files on a volume of their own, in both files.
fn with_temp_apart(place: &Place) {
    let change = |name: &str, old: &str, new: &str| {
        let text = place.read(name);
        assert!(text.contains(old), "no {old} in {text}");
        place.write(name, text.replace(old, new));
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

pub(crate) fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("no number: {value}"))
}

#[test]
fn the_answer_comes_first_and_the_folder_has_page_document_and_finalists() {
    let place = Place::new();
    let assert = place.advise(&["--budget", "500"]).success();
    let output = stdout(&assert);
    let first = output.lines().next().expect("there is an answer");
    assert!(
        first.starts_with("Move to azure.") || first.starts_with("Change one thing: "),
        "{first}"
    );
    for part in [
        " a month (today $",
        "\ntrust: ",
        "cheapest",
        "dbstow run shop-advice/finalists.toml",
    ] {
        assert!(output.contains(part), "no {part} in {output}");
    }
    let lines = output.lines().count();
    assert!(lines <= 40, "{lines} lines: {output}");
    let page = place.read("shop-advice/advice.html");
    for part in [
        "Content-Security-Policy",
        "in all",
        "Assumptions (",
        "class=\"card chosen\"",
    ] {
        assert!(page.contains(part), "no {part} on the page");
    }
    // The same again, without another search; what is about results of a run is refused.
    let again = place.dbstow(&["report", "shop-advice"]).assert().success();
    assert_eq!(stdout(&again), output);
    let whole = ["report", "shop-advice", "--full", "--format", "json"];
    let whole = stdout(&place.dbstow(&whole).assert().success());
    assert_eq!(whole, place.read("shop-advice/advice.json"));
    let error = place.fails(&["report", "shop-advice", "--format", "csv"], 2);
    assert!(error.contains("shop-advice has advice"), "{error}");
}

#[test]
fn finalists_have_no_figure_that_nobody_gave_or_recorded() {
    let place = Place::new();
    let recorded = [
        "advise",
        "shop.toml",
        "--today",
        "recorded",
        "--quick",
        "--budget",
        "500",
    ];
    let machine = ["--set", "machine.cores=2", "--set", "machine.memory=16GiB"];
    place
        .dbstow(&[&recorded[..], &machine, &USUAL].concat())
        .assert()
        .success();

    let finalists = place.read("shop-advice/finalists.toml");

    // Within an interval of the recording nothing limits: there are credits, and no rate.
    assert!(finalists.contains("iops_credits = "), "{finalists}");
    for made_up in ["_burst", &(1_u64 << 50).to_string()] {
        assert!(!finalists.contains(made_up), "{made_up} in {finalists}");
    }
    place
        .dbstow(&["check", "shop-advice/finalists.toml"])
        .assert()
        .success();
}

#[test]
fn an_answer_that_is_there_is_not_overwritten_unless_that_is_said() {
    let place = Place::new();
    place.make_folder("shop-advice");
    let finalists = "shop-advice/finalists.toml";
    place.write(finalists, "# changed by hand");
    let advise = ["advise", "shop.toml", "--today", "today.toml"];
    let error = place.fails(&[&advise[..], &USUAL].concat(), 2);
    assert!(
        error.contains("shop-advice/finalists.toml is there already") && error.contains("--force"),
        "{error}"
    );
    let left = place.read(finalists);
    assert_eq!(left, "# changed by hand");
    place.advice(&[]);
    assert_ne!(place.read(finalists), left);
}

fn fits_schema(advice: &Value) {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/advice.schema.json");
    let schema = fs::read_to_string(schema).expect("the schema is committed");
    let schema: Value = serde_json::from_str(&schema).expect("it is JSON");
    let validator = jsonschema::validator_for(&schema).expect("it is a schema");
    let errors: Vec<String> = validator
        .iter_errors(advice)
        .map(|error| error.to_string())
        .collect();
    assert_eq!(errors, [""; 0]);
}

#[test]
fn a_bound_alone_says_what_it_costs_at_least_and_promises_no_time() {
    let place = Place::new();
    let advice = place.advice(&["--quick"]);
    fits_schema(&advice);
    let whole = place.advice(&[]);

    let price = |advice: &Value| number(&advice["cheapest"]["usd_per_month"]);
    assert!(price(&advice) <= price(&whole), "{}", advice["answer"]);
    assert_eq!(advice["decision"]["kind"], "undecided");
    assert_eq!(advice["trust"]["level"], "low");
    assert_eq!(advice["cheapest"]["time_is_least"], true);
    assert_eq!(whole["cheapest"]["time_is_least"], Value::Null);
    for count in ["simulated", "bounds_simulated"] {
        assert_eq!(advice["counts"][count], 0, "{count}");
    }

    let output = stdout(&place.advise(&["--quick", "--budget", "500"]).success());
    for part in ["Undecided: nothing that keeps", "(--quick)", "at least"] {
        assert!(output.contains(part), "no {part} in {output}");
    }
    assert!(!output.contains("dbstow layout"), "{output}");
    let page = place.read("shop-advice/advice.html");
    for part in ["Undecided: ", "Cheapest, by a bound", "at least"] {
        assert!(page.contains(part), "no {part} on the page");
    }
    let error = place.fails(&["verify", "shop-advice", "--after", "shop.toml"], 2);
    assert!(error.contains("--quick"), "{error}");
    // Below what anything costs.
    let error = place.refused(&["--quick", "--budget", "123"], 2);
    assert!(
        error.contains("No layout keeps") && error.contains("by a bound"),
        "{error}"
    );
}

#[test]
fn the_document_fits_its_schema_and_itself_and_is_the_same_every_time() {
    let place = Place::new();
    let advice = place.advice(&[]);
    fits_schema(&advice);

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
    // A simpler layout, or one with room, costs up to 5 % more than what it is preferred to.
    assert!(price("cheapest") <= price("runner_up") * 1.05);
    assert!(price("cheapest") <= price("fastest") * 1.05);
    let fastest = number(&advice["fastest"]["time"]);
    assert!(fastest <= number(&cheapest["time"]) * 1.05, "{fastest}");
    let counts = &advice["counts"];
    assert_eq!(counts["complete"], true);
    let considered = number(&counts["considered"]);
    let others = ["beaten", "bounded", "simulated"].map(|what| number(&counts[what]));
    assert_eq!(considered, others.iter().sum::<f64>());

    assert_eq!(place.advice(&[]), advice);
}

/// The commands that are printed as the next ones, with `FOLDER` and the like filled in.
fn next(advice: &Value) -> Vec<Vec<String>> {
    let filled = |word: String| match word.as_str() {
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
    let today = place.read("today.toml");
    let engine = "\n[engine]\nname = \"postgres\"\nmemory = \"1 GiB\"\n";
    place.write("today.toml", today + engine);
    let advice = place.advice(&["--window", "20s"]);
    let finalists = place.read("shop-advice/finalists.toml");
    for part in ["window = \"20s\"", "\"machine.credits\" = 0"] {
        assert!(finalists.contains(part), "no {part} in {finalists}");
    }
    let next = next(&advice);
    let [simulate, emulate, scripts] = next.as_slice() else {
        panic!("{next:?}");
    };
    place.stdout(simulate);
    for word in ["postgres", "workload.sessions=8"] {
        assert!(emulate.contains(&word.to_owned()), "{emulate:?}");
    }
    let scripts = place.stdout(scripts);
    assert!(scripts.contains("/mnt/folder"), "{scripts}");
}

#[test]
#[ignore = "long: asks about four products"]
fn next_commands_name_the_profiles_engine_or_leave_it_open() {
    let place = Place::new();
    let profile = place.read("shop.toml");
    assert!(profile.contains("product = \"PostgreSQL\""), "{profile}");
    for (product, engine) in [
        ("SQL Server", "sqlserver"),
        ("sqlserver", "sqlserver"),
        ("MariaDB", "mariadb"),
        // Layout scripts refuse MySQL, and a private server is a MariaDB.
        ("MySQL", "ENGINE"),
    ] {
        let other = profile.replace("\"PostgreSQL\"", &format!("\"{product}\""));
        place.write("shop.toml", other);
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
            place.dbstow(&scripts).assert().success();
        }
    }
}

#[test]
#[ignore = "long: asks nine questions"]
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
    let kept = place.json(&kept.concat());
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

    place.write("own.csv", "name,usd,per\nazure.E2bds_v5,0.001,hour\n");
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
    // Before anything is replayed.
    let error = place.refused(&["--budget", "1.500"], 2);
    assert!(
        error.contains("--budget 1.5: that is $1.50 a month")
            && error.contains("1.500 is one dollar and a half"),
        "{error}"
    );
}

#[test]
fn a_layout_that_is_cheaper_than_all_others_is_to_be_kept() {
    let place = Place::new();
    place.write("own.csv", "name,usd,per\nazure.premium.p30,0.5,month\n");
    let advice = place.advice(&["--prices", "own.csv"]);
    let answer = advice["answer"].as_str().expect("a sentence");
    assert!(
        answer.starts_with("Stay on azure.E2bds_v5 with azure.premium.p30 ")
            && answer.contains(", for $12")
            && answer.contains(" saves $10"),
        "{answer}"
    );
    assert_eq!(advice["decision"]["kind"], "stay");
    assert_eq!(advice["decision"]["layout"], "today");
}

#[test]
fn the_smallest_changes_are_listed_in_the_currency_that_is_asked_for() {
    let place = Place::new();
    let more = ["--minimal", "--currency", "EUR=0.5", "--budget", "500"];

    let output = stdout(&place.advise(&more).success());

    for part in [
        "The smallest changes from today",
        "EUR/month",
        "1 USD = 0.5 EUR",
        "instead of azure.",
    ] {
        // A terminal breaks lines.
        let words: Vec<&str> = output.split_whitespace().collect();
        assert!(words.join(" ").contains(part), "no {part} in {output}");
    }
    assert!(!output.contains('$'), "{output}");
    let advice: Value = serde_json::from_str(&place.read("shop-advice/advice.json")).expect("JSON");
    let today = number(&advice["today"]["usd_per_month"]);
    let changes = advice["changes"].as_array().expect("a list");
    assert!(!changes.is_empty());
    for change in changes {
        // The whole price, machine and all volumes.
        let usd = number(&change["layout"]["usd_per_month"]);
        assert!((usd - today - number(&change["usd_more_per_month"])).abs() < 0.01);
        let volumes = change["layout"]["volumes"].as_array().expect("a list");
        let disks: f64 = volumes
            .iter()
            .map(|volume| number(&volume["usd_per_month"]))
            .sum();
        let machine = number(&change["layout"]["machine_usd_per_month"]);
        assert!((usd - disks - machine).abs() < 0.01, "{change}");
    }
    let error = place.refused(&["--currency", "EUR"], 2);
    assert!(error.contains("EUR=0.92"), "{error}");
}

/// The profile of the example names neither machine nor disks.
#[test]
fn counters_alone_give_advice_without_limits_or_a_price_of_today() {
    let place = Place::new();
    let machine = ["--set", "machine.cores=2", "--set", "machine.memory=16GiB"];
    let all = [
        &[
            "advise",
            "shop.toml",
            "--today",
            "recorded",
            "--format",
            "json",
        ],
        &USUAL[..],
        &machine,
        &["--budget", "500"],
    ]
    .concat();
    let advice = json(&place.dbstow(&all).assert().success());
    assert!(
        advice["today"]["usd_per_month"].is_null(),
        "{:#}",
        advice["today"]
    );
    let volumes = advice["today"]["volumes"].as_array().expect("a list");
    assert!(
        volumes.iter().all(|volume| volume["disk"] == "recorded"),
        "{volumes:?}"
    );
    assert!(
        advice["cheapest"]["usd_per_month"].is_number(),
        "{advice:#}"
    );
    let assumptions = advice["assumptions"].as_array().expect("a list").iter();
    let mut assumptions = assumptions.filter_map(Value::as_str);
    let taken = |text: &str| {
        text.starts_with("Today: volume data is as recorded: reads take ")
            && text.ends_with("whether its disks could do more is not known, nor is their price.")
    };
    assert!(assumptions.any(taken), "{:#}", advice["assumptions"]);
    let mut assumptions = advice["assumptions"].as_array().expect("a list").iter();
    let no_price = "Today's price: not known; the answer does not compare with it.";
    assert!(
        assumptions.any(|text| text == no_price),
        "{:#}",
        advice["assumptions"]
    );
    // They are in the file, so that it runs without the profile's help.
    let finalists = place.read("shop-advice/finalists.toml");
    assert!(
        finalists.contains("disk = \"recorded\"") && finalists.contains("memory = \"16GiB\""),
        "{finalists}"
    );
    place.stdout(&["plan", "shop-advice/finalists.toml", "--json"]);
    // Writes of the log take the mean each time, and reads of data times of their own.
    let of_volume = |name: &str| {
        let begins = finalists
            .find(&format!("[volume.{name}]"))
            .expect("it is there");
        let text = &finalists[begins..];
        text[..text[1..].find('[').unwrap_or(text.len() - 1)].to_owned()
    };
    assert!(
        of_volume("log").contains("write_latency = \""),
        "{finalists}"
    );
    assert!(
        of_volume("data").contains("read_latency = { mean"),
        "{finalists}"
    );

    let without_size = [
        "advise",
        "shop.toml",
        "--today",
        "recorded",
        "--cloud",
        "azure",
    ];
    let error = place.fails(&[&without_size[..], &machine, &["--force"]].concat(), 2);
    assert!(
        error.contains(
            "volumes \"data\" and \"log\" have no size, so that what has to fit is not known; give --capacity data=SIZE \
             --capacity log=SIZE --capacity temp=SIZE"
        ),
        "{error}"
    );
    let other = [
        &without_size[..],
        &machine,
        &["--force", "--set", "workload.sessions=3"],
    ]
    .concat();
    let error = place.fails(&other, 2);
    assert!(
        error.contains("--set workload.sessions=3: it sets keys of today's layout, which are in machine, volume and placement"),
        "{error}"
    );
}
