//! Runs that complete.

use std::fs;

use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use tds_double::server::{SqlServer, Work};
use tds_double::{Kind, Reply, Rows, Value};
use testing::sqlserver::{Bench, PASSWORD};

use crate::{DATA_VOLUMES, data_files, managed, moving, settle, small};

#[test]
fn tempdb_is_moved_measured_and_put_back() {
    let bench = Bench::start(SqlServer::windows(PASSWORD));
    let before = bench.tempdb();

    moving(&bench, &[])
        .assert()
        .success()
        .stdout(contains("local-ssd").and(contains("p30 vs local-ssd: inconclusive")))
        .stderr(contains("SQL Server does not delete them").and(contains("_temp_1.mdf")));

    bench.is_as_before(&before);
    let double = bench.double();
    let moved = double
        .heard()
        .iter()
        .filter(|text| text.contains("_temp_1.mdf"))
        .count();
    assert!(moved > 0, "tempdb went to the placement's volume");
    drop(double);
    settle(&bench);
}

#[test]
fn records_hold_the_servers_own_counters_and_no_password() {
    let bench = Bench::start(SqlServer::windows(PASSWORD));
    moving(
        &bench,
        &[
            "--format",
            "json",
            "--set",
            "workload.operations=8000",
            "--set",
            "engine.memory=256 MiB",
        ],
    )
    .assert()
    .success();

    let records = fs::read_dir(bench.path("out/records")).expect("records");
    let texts: Vec<String> = records
        .map(|file| fs::read_to_string(file.expect("a file").path()).expect("text"))
        .collect();
    assert_eq!(texts.len(), 2);
    for text in &texts {
        assert!(!text.contains(PASSWORD), "a password in a record");
        let record: serde_json::Value = serde_json::from_str(text).expect("JSON");
        let counted = |name: &str| record["counters"][name].as_f64();
        // 8,000 operations of 12 reads of 64 KiB, in each of two data files, and as many loads as there were.
        assert!(
            counted("files.temp.reads").is_some_and(|reads| reads >= 192_000.0),
            "{}",
            record["counters"]
        );
        let of_file =
            |number: u32| counted(&format!("files.temp.{number}.reads")).unwrap_or_default();
        // tempdb's log says nothing about its data.
        assert_eq!(
            of_file(1) + of_file(2),
            counted("files.temp.reads").unwrap_or_default()
        );
        assert_eq!(of_file(1), of_file(2));
        assert!(counted("files.temp_log.1.reads").is_some());
        // The seconds add up to the total, except for what came before the first sample.
        let series = |name: &str| {
            let values = record["series"]["values"][name].as_array();
            values.map(|values| {
                values
                    .iter()
                    .filter_map(serde_json::Value::as_f64)
                    .collect::<Vec<_>>()
            })
        };
        let over_time = series("counter.waits.PAGEIOLATCH_SH_ms").expect("waits over time");
        let whole = counted("waits.PAGEIOLATCH_SH_ms").expect("waits");
        let seen = over_time.iter().sum::<f64>() / whole;
        assert!((0.5..=1.0).contains(&seen), "{over_time:?} of {whole}");
        let logical = counted("sessions.logical_reads");
        assert!(
            logical.is_some_and(|pages| pages >= 192_000.0),
            "{logical:?}"
        );
        assert!(
            series("level.tempdb_free_bytes")
                .is_some_and(|levels| levels.iter().any(|level| *level > 0.0))
        );
        assert_eq!(record["engine"]["name"], "sqlserver");
        // Less is requested, but a server is not given less than 1 GiB.
        let memory = record["engine"]["settings"]["memory"]
            .as_str()
            .unwrap_or_default();
        assert!(
            memory.contains("256 MiB asked, max server memory is 1024 MiB"),
            "{memory}"
        );
        assert_eq!(
            record["engine"]["settings"]["statements"],
            "driven by the client, prepared"
        );
    }
    settle(&bench);
}

#[test]
fn a_loop_on_the_server_is_one_round_trip_and_says_so() {
    let bench = Bench::start(SqlServer::windows(PASSWORD));
    moving(&bench, &["--driven", "server"]).assert().success();

    let double = bench.double();
    let loops = double
        .heard()
        .iter()
        .filter(|text| text.contains("WHILE"))
        .count();
    assert_eq!(loops, 2, "40 operations are one trip in each arm");
    drop(double);
    settle(&bench);
}

#[test]
fn products_that_place_files_themselves_are_refused_with_what_works_there() {
    for (engine, works) in [(5, "dbstow lint"), (8, "as many files of the same sizes")] {
        let bench = Bench::start(SqlServer::windows(PASSWORD).edition("12.0.2000.8", engine));
        bench
            .run("tempdb-ssd-vs-premium", &small(&[]))
            .assert()
            .failure()
            .stderr(contains(works));
    }
}

#[test]
fn what_is_too_old_or_no_sql_server_is_refused_before_anything_is_made() {
    // 2008 R2, 2014, and Azure Synapse.
    for (version, engine, why) in [
        (
            "10.50.6000.34",
            3,
            "is SQL Server 10.50.6000.34, and a run needs 2016",
        ),
        (
            "12.0.6024.0",
            3,
            "is SQL Server 12.0.6024.0, and a run needs 2016",
        ),
        (
            "12.0.2000.8",
            6,
            "speaks T-SQL and is not a SQL Server (EngineEdition 6",
        ),
    ] {
        let bench = Bench::start(SqlServer::windows(PASSWORD).edition(version, engine));
        let experiment = data_files(&bench);
        bench
            .run(&experiment, &DATA_VOLUMES)
            .assert()
            .failure()
            .stderr(contains(why));
        let heard = bench.double().heard();
        assert!(
            !heard.iter().any(|text| text.contains("CREATE ")),
            "{heard:?}"
        );
    }
}

/// It has the version of SQL Server 2014, which is too old.
#[test]
fn babelfish_is_measured_and_called_by_its_name_but_compares_no_placements() {
    let bench = Bench::start(SqlServer::linux(PASSWORD).babelfish("4.4.0"));
    let apart = data_files(&bench);
    let volumes = ["--volume", "a=/nvme", "--volume", "b=/var/fast"];
    bench.run(&apart, &volumes).assert().failure().stderr(
        contains("is Babelfish, not SQL Server").and(contains("give all arms one placement")),
    );
    let heard = bench.double().heard();
    assert!(
        !heard.iter().any(|text| text.contains("CREATE ")),
        "{heard:?}"
    );

    let text = fs::read_to_string(&apart).expect("it was written");
    let second = "[arm.two]\nplacement = \"two\"";
    assert!(text.contains(second), "{text}");
    let same = "[arm.two]\nplacement = \"one\"\nset = { \"engine.memory\" = \"512 MiB\" }";
    fs::write(&apart, text.replace(second, same)).expect("a file of the test's own");
    // The folder has the plan of before.
    let together = [&volumes[..2], &["--fresh"]].concat();
    let said = bench.run(&apart, &together).assert().success();
    let said = String::from_utf8_lossy(&said.get_output().stdout).into_owned();
    // The report breaks its lines where they are full.
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("placement: Babelfish, not SQL Server"),
        "{said}"
    );
    let records = bench.records();
    assert_eq!(records.len(), 2);
    for record in records {
        let engine = &record["engine"];
        assert_eq!(engine["version"], "12.0.2000.8");
        assert_eq!(
            engine["settings"]["product"],
            "Babelfish 4.4.0, not SQL Server"
        );
        assert_eq!(record["outcome"]["status"], "finished", "{record}");
    }
    let server = bench.server();
    let doctor = ["doctor", "--server", &server, "--encrypt", "off-insecure"];
    bench
        .dbstow(&doctor)
        .assert()
        .success()
        .stdout(contains("Babelfish, not SQL Server (12.0.2000.8)"));
    settle(&bench);
}

#[test]
fn every_version_and_edition_of_an_installed_server_is_measured() {
    // Standard 2016 with Service Pack 1, Express 2017, Enterprise 2019, Developer 2025.
    for (version, edition) in [
        ("13.0.4001.0", 2),
        ("14.0.1000.169", 4),
        ("15.0.2000.5", 3),
        ("17.0.1000.7", 3),
    ] {
        let bench = Bench::start(SqlServer::windows(PASSWORD).edition(version, edition));
        let before = bench.tempdb();
        moving(&bench, &[]).assert().success();
        bench.is_as_before(&before);
        let records = bench.records();
        assert_eq!(records.len(), 2);
        for record in records {
            assert_eq!(record["engine"]["version"], version);
            assert_eq!(record["outcome"]["status"], "finished", "{record}");
        }
        let server = bench.server();
        for command in ["doctor", "lint"] {
            let arguments = [command, "--server", &server, "--encrypt", "off-insecure"];
            bench.dbstow(&arguments).assert().success();
        }
        settle(&bench);
    }
}

#[test]
fn a_managed_instance_gets_files_by_number_and_size_and_chooses_their_place() {
    let bench = Bench::start(SqlServer::windows(PASSWORD).edition("12.0.2000.8", 8));
    bench
        .run("managed-instance-files", &managed(&["--blocks", "1"]))
        .assert()
        .success();

    // It refuses SINGLE_USER, and drops no database that a connection is in.
    assert_eq!(bench.databases(), ["master", "tempdb", "model", "msdb"]);
    assert!(!bench.owes());
    let heard = bench.double().heard();
    let adds = heard.iter().filter(|text| text.contains("ADD FILE"));
    let sized = heard.iter().filter(|text| text.contains("MODIFY FILE"));
    let of_1_gib =
        sized.filter(|text| text.contains("SIZE = 1GB") || text.contains("SIZE = 1024MB"));
    assert_eq!(of_1_gib.count(), 2, "the first file has its size, too");
    // Three further files in each of two arms, and eleven in each of two more.
    assert_eq!(adds.clone().count(), 2 * 3 + 2 * 11);
    assert!(
        adds.into_iter().all(|text| !text.contains("FILENAME")),
        "it takes no paths"
    );
    settle(&bench);
}

#[test]
fn a_report_leads_with_the_memory_that_the_server_did_not_get() {
    let bench = Bench::start(SqlServer::windows(PASSWORD));
    let memory = ["--set", "engine.memory=\"26 MiB\""];
    let left = [&memory[..], &["--leave-memory", "--fresh"]].concat();
    for (arguments, told) in [
        (&memory[..], "26 MiB asked, max server memory is 1024 MiB"),
        (&left, "(--leave-memory keeps it)"),
    ] {
        let shown = moving(&bench, arguments).assert().success();
        let shown = String::from_utf8_lossy(&shown.get_output().stdout).into_owned();
        // The report breaks its lines where they are full.
        let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains(told), "{shown}");
    }
    settle(&bench);
}

#[test]
fn a_lookup_that_was_to_be_parallel_and_was_not_gives_no_verdict() {
    let doubt = "ran on one thread, although its hint asks for more";
    for (threads, doubted) in [(1, true), (2, false)] {
        let mut server = SqlServer::windows(PASSWORD);
        let work = Work {
            threads,
            ..Work::default()
        };
        let count = Rows::new([("count", Kind::BigInt)]).row([Value::from(100_i64)]);
        server.works(
            |question| question.text.contains("MAXDOP 2"),
            work,
            Reply::new().rows(count),
        );
        let bench = Bench::start(server);
        let experiment = data_files(&bench);
        let parallel = ["--set", "workload.parameters.maxdop=2", "--blocks", "3"];
        let arguments = [&DATA_VOLUMES[..], &parallel].concat();
        let shown = bench.run(&experiment, &arguments).assert().success();
        let shown = String::from_utf8_lossy(&shown.get_output().stdout).into_owned();
        // The report breaks its lines where they are full.
        let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(shown.contains(doubt), doubted, "{shown}");
        settle(&bench);
    }
}
