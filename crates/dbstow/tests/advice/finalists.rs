//! What `dbstow advise` leaves to be run: the same load as the back-test, and commands that run as they are printed.

use serde_json::Value;
use testing::folder::{Folder, json, stdout};

const TODAY: &str = r#"[machine]
type = "azure.E8bds_v5"
[volume.d]
disk = "azure.premium.p30"
count = 4
bursting = false
[placement.now]
data = { volumes = "d" }
temp = { volumes = "d" }
log = { volumes = "d" }
"#;

/// Few layouts, so that it is answered at once.
const FEW: [&str; 19] = [
    "--machine",
    "E8bds_v5",
    "--disk",
    "azure.premium.p30",
    "--disks-max",
    "2",
    "--capacity",
    "data=60GiB",
    "--capacity",
    "temp=20GiB",
    "--capacity",
    "log=20GiB",
    "--not-slower",
    "800%",
    "--simulations",
    "20",
    "--untested",
    "--force",
    "--format=json",
];

/// 24 intervals of 5 s in turn with short and long reads; `sessions` of both kinds, or none counted.
fn profile(product: &str, sessions: Option<[f64; 2]>) -> String {
    let column = |values: [f64; 2]| {
        let values: Vec<String> = (0..24).map(|at| format!("{:.3}", values[at % 2])).collect();
        format!("[{}]", values.join(", "))
    };
    let starts: Vec<String> = (0..24).map(|at| format!("{}.0", 5 * at)).collect();
    let sessions = sessions.map_or_else(String::new, |sessions| {
        format!("sessions = {}\n", column(sessions))
    });
    // 400 operations a second with two reads of 4 or 12 ms each.
    format!(
        "format = \"dbstow.profile/1\"\nstart = \"2026-11-22T10:00:00Z\"\n[origin]\ntool = \"dbstow record\"\n\
         product = \"{product}\"\n[machine]\nprocessors = 8\n\
         [[volume]]\nroles = [\"data\"]\n[[volume]]\nroles = [\"temp\"]\n[[volume]]\nroles = [\"log\"]\n\
         [intervals]\nat_s = [{}]\nlength_s = {}\noperations = {}\nprocessor_s = {}\n{sessions}\
         [intervals.data]\nreads = {}\nread_bytes = {}\nread_wait_s = {}\n\
         [intervals.temp]\nreads = {}\nread_bytes = {}\nread_wait_s = {}\n\
         [intervals.log]\nwrites = {}\nwrite_bytes = {}\nwrite_wait_s = {}\n",
        starts.join(", "),
        column([5.0; 2]),
        column([2_000.0; 2]),
        column([1.0; 2]),
        column([4_000.0; 2]),
        column([4_000.0 * 8_192.0; 2]),
        column([16.0, 48.0]),
        column([100.0; 2]),
        column([100.0 * 65_536.0; 2]),
        column([0.4; 2]),
        column([500.0; 2]),
        column([500.0 * 8_192.0; 2]),
        column([1.0; 2]),
    )
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("no number: {value}"))
}

/// Operations per second of an arm.
fn rate(findings: &Value, arm: &str) -> f64 {
    let arms = findings["arms"].as_array().expect("a list");
    let found = arms.iter().find(|known| known["name"] == arm);
    let found = found.unwrap_or_else(|| panic!("no arm {arm}"));
    number(&found["metrics"]["operations_per_s"]["mean"])
}

#[test]
#[ignore = "long: advises on five loads, and runs each"]
fn todays_arm_replays_the_load_of_the_back_test() {
    for (sessions, growth) in [
        (Some([8.0, 8.0]), "1"),
        (Some([4.0, 16.0]), "1"),
        (Some([4.0, 16.0]), "2"),
        (None, "1"),
        (None, "1.5"),
    ] {
        let folder = Folder::with(&[
            ("shop.toml", profile("PostgreSQL", sessions)),
            ("today.toml", TODAY.to_owned()),
        ]);
        let asked = ["advise", "shop.toml", "--today", "today.toml"];
        let growth_asked = ["--growth", growth];
        let advise = [&asked[..], &FEW, &growth_asked].concat();
        let advice = json(&folder.dbstow(&advise).assert().success());
        let figures = advice["backtest"]["figures"].as_array().expect("a list");
        let of_all = |figure: &&Value| figure["figure"] == "operations/s";
        let tested = figures.iter().find(of_all).expect("operations");
        let tested = number(&tested["simulated"]);
        let run = ["run", "shop-advice/finalists.toml", "--format", "json"];
        let findings = folder.json(&run);
        let replayed = rate(&findings, "today");
        assert!(
            (replayed / tested - 1.0).abs() < 0.01,
            "{sessions:?}: {tested} operations/s in the back-test, {replayed} replayed"
        );
        if growth != "1" {
            // More sessions on the same disks or better ones.
            let grown = rate(&findings, "cheapest");
            assert!(grown > 1.05 * replayed, "{grown} and {replayed}");
        }
    }
}

/// The words of the commands that are printed as the next ones, without `dbstow`; what is in capitals is replaced.
fn next(advice: &Value) -> Vec<Vec<String>> {
    let filled = |word: String| match word.as_str() {
        "FOLDER" => "/mnt/folder".to_owned(),
        "SIZE" => "4GiB".to_owned(),
        "SERVER" => "sqlserver://watcher@db1".to_owned(),
        _ => word
            .replace("=FOLDER", "=/mnt/folder")
            .replace("=SIZE", "=1GiB"),
    };
    let commands = advice["next"].as_array().expect("a list").iter();
    let words = commands.map(|next| {
        let command = next["command"].as_str().expect("a text");
        let words = shell_words::split(command).expect("it can be typed");
        words.into_iter().skip(1).map(filled).collect()
    });
    words.collect()
}

/// A workload of the user's own.
const OWN: &str = "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER);\n";

#[test]
fn next_commands_run_as_printed_from_the_folder_that_they_were_printed_in() {
    for (product, engine) in [
        ("PostgreSQL", "postgres"),
        ("SQL Server", "sqlserver"),
        ("MariaDB", "mariadb"),
    ] {
        let folder = Folder::new();
        for name in ["files", "elsewhere"] {
            folder.make_folder(name);
        }
        folder.write("files/shop.toml", profile(product, Some([8.0; 2])));
        folder.write("files/today.toml", TODAY);
        folder.write("files/own.sql", OWN);
        let here = |words: &[String]| {
            let mut command = folder.dbstow(words);
            command.current_dir(folder.path("elsewhere"));
            command.assert()
        };
        let asked = [
            "advise",
            "../files/shop.toml",
            "--today",
            "../files/today.toml",
        ];
        let asked = [&asked[..], &FEW].concat();
        let asked: Vec<String> = asked.into_iter().map(str::to_owned).collect();
        let advice = json(&here(&asked).success());
        let next = next(&advice);
        let [simulate, emulate, scripts] = next.as_slice() else {
            panic!("{next:?}");
        };
        here(simulate).success();

        // Resolved as `run` does, which needs a server of the product.
        assert_eq!(emulate[0], "run");
        assert!(emulate.contains(&engine.to_owned()), "{emulate:?}");
        let own = |word: &String| match word.as_str() {
            "run" => "check".to_owned(),
            "/mnt/folder" => "../files/own.sql".to_owned(),
            _ => word.clone(),
        };
        let check: Vec<String> = emulate.iter().map(own).collect();
        let checked = stdout(&here(&check).success());
        assert!(checked.contains(": OK;"), "{checked}");

        let made = here(scripts).success();
        let made = stdout(&made);
        assert!(made.contains("/mnt/folder"), "{made}");
        if engine == "sqlserver" {
            // 8 processors.
            assert!(made.contains("temp8"), "{made}");
            assert!(made.contains("SIZE = 4096MB"), "{made}");
        }
        assert!(folder.path("elsewhere/shop-advice/finalists.toml").exists());
    }
}
