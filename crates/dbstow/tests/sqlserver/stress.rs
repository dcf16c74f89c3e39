//! Settings files of SQLQueryStress: their parameters come from the server, and go back to it as they were.

use std::fs;
use std::sync::Arc;

use assert_cmd::assert::Assert;
use parking_lot::Mutex;
use predicates::str::contains;
use serde_json::json;
use tds_double::server::{SqlServer, Work};
use tds_double::{Form, Kind, Message, Reply, Rows, Value};
use testing::sqlserver::{Bench, PASSWORD};

use crate::{DATA_FILES, DATA_VOLUMES, settle};

const ROWS: &str = "SELECT Id, Price, Name FROM Shop.dbo.Items ORDER BY Id";

/// Runs `query` with parameters from [`ROWS`]: two threads of six iterations, in each of two arms.
fn run(bench: &Bench, query: &str) -> Assert {
    let builtin = "name = \"cold-lookup\"\noperations = 10\nparameters = { rows = 100 }";
    assert!(DATA_FILES.contains(builtin));
    let experiment = DATA_FILES.replace(builtin, "folder = \"stress.json\"");
    let settings = json!({
        "MainDbConnectionInfo": { "Login": "sa", "Password": "!Se8ret" },
        "MainQuery": query,
        "NumIterations": 6,
        "NumThreads": 2,
        "ParamMappings": [
            { "Key": "@id", "Value": "id" },
            { "Key": "@price", "Value": "price" },
            { "Key": "@name", "Value": "name" },
        ],
        "ParamQuery": ROWS,
        "ShareDbSettings": true,
    });
    let write = |name: &str, text: &str| fs::write(bench.path(name), text);
    write("stress.json", &settings.to_string()).expect("a file of the test's own");
    write("stress.toml", &experiment).expect("a file of the test's own");
    bench.run("stress.toml", &DATA_VOLUMES).assert()
}

/// The server's rows, one of each kind of value.
fn rows() -> [[Value; 3]; 3] {
    [
        [
            9_007_199_254_740_993_i64.into(),
            0.123_456_789.into(),
            "Größe € 😀".into(),
        ],
        [2_i64.into(), Value::Null, "it's".into()],
        [Value::Null, 1e300.into(), "x".repeat(5_000).into()],
    ]
}

fn server() -> SqlServer {
    let mut server = SqlServer::windows(PASSWORD);
    let columns = [
        ("Id", Kind::BigInt),
        ("Price", Kind::Float),
        ("Name", Kind::TextMax),
    ];
    let answer = rows().into_iter().fold(Rows::new(columns), Rows::row);
    let asked =
        |question: &tds_double::Question| question.text == ROWS && question.form == Form::Batch;
    server.works(asked, Work::default(), Reply::new().rows(answer));
    server
}

#[test]
fn parameters_of_every_kind_come_from_the_server_and_go_back_to_it_as_they_were() {
    let mut server = server();
    let seen: Arc<Mutex<Vec<Vec<Value>>>> = Arc::default();
    let kept = Arc::clone(&seen);
    let query = "SELECT * FROM Shop.dbo.Items WHERE Id = @id AND Price = @price AND Name = @Name";
    let main = move |question: &tds_double::Question| {
        let is_main = question.text.contains("WHERE Id = @p1");
        if is_main {
            let values = question
                .parameters
                .iter()
                .map(|parameter| parameter.value.clone());
            kept.lock().push(values.collect());
        }
        is_main
    };
    server.works(main, Work::default(), Reply::new().affected(1));
    let bench = Bench::start(server);

    run(&bench, query)
        .success()
        .stdout(contains("stress: without effect: MainDbConnectionInfo ("));

    // Two arms, two sessions, six iterations; a session takes each of three rows twice.
    let seen = seen.lock();
    assert_eq!(seen.len(), 24);
    for row in rows() {
        let times = seen.iter().filter(|values| values[..] == row).count();
        assert_eq!(times, 8, "{row:?}");
    }
    let heard = bench.double().heard();
    let asked = heard.iter().filter(|text| *text == ROWS).count();
    assert_eq!(asked, 2, "once in each trial");
    settle(&bench);
}

#[test]
fn a_table_that_is_not_there_has_a_remedy() {
    let missing = || Reply::error(Message::error(208, "Invalid object name 'Customers'."));
    let mut server = server();
    let main = |question: &tds_double::Question| question.text == "SELECT * FROM Customers";
    server.works(main, Work::default(), missing());
    let bench = Bench::start(server);
    run(&bench, "SELECT * FROM Customers")
        .failure()
        .stderr(contains(
            "Invalid object name 'Customers'.; a trial's database holds what its workload loads",
        ))
        .stderr(contains("DATABASE.SCHEMA.TABLE"));
    settle(&bench);
}

#[test]
fn a_query_for_parameters_that_fails_ends_the_trial_with_its_reason() {
    let mut server = SqlServer::windows(PASSWORD);
    let asked = |question: &tds_double::Question| question.text == ROWS;
    let missing = Reply::error(Message::error(208, "Invalid object name 'Shop.dbo.Items'."));
    server.works(asked, Work::default(), missing);
    let bench = Bench::start(server);
    run(&bench, "SELECT @id")
        .failure()
        .stderr(contains("ParamQuery: "))
        .stderr(contains("Invalid object name 'Shop.dbo.Items'."));
    settle(&bench);
}
