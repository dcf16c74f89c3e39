use super::*;
use crate::log_assumption::log_writes;

fn recorded(in_flight: f64, commits_per_write: f64) -> Recorded {
    Recorded {
        in_flight: Some(in_flight),
        commits_per_write,
    }
}

fn sql_server(version: Option<&str>) -> LogWriter {
    LogWriter::of(Some("SQL Server"), version)
}

#[test]
fn sql_server_has_as_many_log_writes_in_flight_as_its_version_allows() {
    // 16 in flight by Little's law, and as many writes as commits: no session waits for another's write.
    let alone = recorded(16.0, 0.95);
    for (version, limit) in [
        (None, 112),
        (Some("10.50.6000.34"), 32),
        (Some("11.0.2100.60"), 112),
        (Some("16.0.4165.4"), 112),
        (Some("unknown"), 112),
    ] {
        assert_eq!(
            sql_server(version).in_flight_max(alone),
            limit,
            "{version:?}"
        );
    }
    let managed = LogWriter::of(Some("Azure SQL Managed Instance"), Some("12.0.2000.8"));
    assert_eq!(managed.in_flight_max(alone), 112);
    // Its limit is all that is known where no latency is.
    assert_eq!(sql_server(None).in_flight_max(Recorded::default()), 112);
}

/// It has its own version number, and PostgreSQL's log.
#[test]
fn babelfish_writes_its_log_as_postgresql_does() {
    let babelfish = LogWriter::of(Some("Babelfish"), Some("4.4.0"));
    assert_eq!(babelfish.in_flight_max(recorded(16.0, 0.95)), 1);
    assert_eq!(babelfish.page, Bytes::kib(8));
}

#[test]
fn commits_that_were_recorded_to_share_writes_do_so_again() {
    let most = |in_flight, commits_per_write| {
        sql_server(None).in_flight_max(recorded(in_flight, commits_per_write))
    };
    // Ten commits a write with one in flight: one at a time, of 10 / (1 + 10 x 10 / 11) = 0.99.
    assert_eq!(most(1.0, 10.0), 1);
    // 2.5 commits a write: of 16 writes that may be in flight, 15.8 are; of 17, 16.7.
    assert_eq!(most(16.0, 2.5), 16);
    // 1.1: of 19, 15.8; of 20, 16.1.
    assert_eq!(most(16.0, 1.1), 20);
    // A rarely written log does not show its limit.
    assert_eq!(most(0.05, 1.0), 112);
}

#[test]
fn more_in_flight_than_one_database_has_are_several_databases() {
    // 112 for each: 230 take three.
    assert_eq!(sql_server(None).in_flight_max(recorded(230.0, 1.0)), 336);
    // However many a file says.
    assert!(sql_server(None).in_flight_max(recorded(1e300, 1.0)) >= 65_536);
}

#[test]
fn others_write_one_after_the_other_and_unknown_ones_as_recorded() {
    for product in ["PostgreSQL", "MariaDB", "MySQL"] {
        let writer = LogWriter::of(Some(product), None);
        assert_eq!(writer.in_flight_max(recorded(16.0, 1.0)), 1, "{product}");
    }
    let unknown = LogWriter::of(None, None);
    assert_eq!(unknown.in_flight_max(recorded(16.0, 1.0)), 16);
    assert_eq!(unknown.in_flight_max(recorded(0.2, 1.0)), 1);
    assert_eq!(unknown.in_flight_max(Recorded::default()), 1);
}

/// 100 operations, commits and log writes a second for 10 s, each of which takes `write_ms`.
fn assumption(origin: &str, write_ms: f64) -> Option<String> {
    let text = format!(
        "format = \"dbstow.profile/1\"\nstart = \"2026-11-22T10:00:00Z\"\n[origin]\ntool = \"test\"\n{origin}\n\
         [intervals]\nat_s = [0.0]\nlength_s = [10.0]\noperations = [1000.0]\ncommits = [1000.0]\n\
         [intervals.data]\nreads = [0.0]\nread_bytes = [0.0]\n\
         [intervals.log]\nwrites = [1000.0]\nwrite_bytes = [1e6]\nwrite_wait_s = [{write_ms:.3}]\n"
    );
    let profile = profile::read("a.toml", &text).expect("a profile");
    let series = crate::DemandSeries::of(&profile).expect("it has all that it takes");
    series.assumptions().first().cloned()
}

#[test]
fn what_is_assumed_of_a_log_is_said_and_what_is_known_is_not() {
    let sql_server = "product = \"SQL Server\"";
    for (origin, write_ms, parts) in [
        (
            sql_server.to_owned(),
            20.0,
            [
                "up to 112 log writes",
                "2.0 were recorded",
                "the version was not recorded",
            ],
        ),
        (
            format!("{sql_server}\nversion = \"16.0.4165.4\""),
            1_500.0,
            [
                "up to 224 log writes",
                "of several databases",
                "112 (since 2012)",
            ],
        ),
        (
            String::new(),
            30.0,
            [
                "The product was not recorded",
                "up to 3 log writes",
                "3.0 were recorded",
            ],
        ),
        (
            "product = \"PostgreSQL\"".to_owned(),
            160.0,
            [
                "one log write at a time",
                "as PostgreSQL writes",
                "16.0 were recorded",
            ],
        ),
    ] {
        let said = assumption(&origin, write_ms).expect("something is assumed");
        for part in parts {
            assert!(
                said.to_lowercase().contains(&part.to_lowercase()),
                "no {part:?} in: {said}"
            );
        }
    }
    assert_eq!(assumption("product = \"PostgreSQL\"", 9.0), None);
    // Redo log and binary log.
    assert_eq!(assumption("product = \"MariaDB\"", 18.0), None);
}

#[test]
fn the_largest_number_of_log_writes_comes_first() {
    assert_eq!(log_writes(1, 1), "1 log write is");
    assert_eq!(log_writes(32, 32), "32 log writes are");
    assert_eq!(
        log_writes(1, 112),
        "112 log writes (at some times up to 1) are"
    );
}

/// A SQL Server's 1,000 operations, whose log had 400 writes of 40 ms, with what else was recorded.
fn log_of(more: &str) -> (profile::Profile, crate::DemandSeries) {
    let text = format!(
        "format = \"dbstow.profile/1\"\nstart = \"2026-11-22T10:00:00Z\"\n[origin]\ntool = \"test\"\n\
         product = \"SQL Server\"\n[intervals]\nat_s = [0.0]\nlength_s = [10.0]\noperations = [1000.0]\n{more}\
         [intervals.data]\nreads = [0.0]\nread_bytes = [0.0]\n\
         [intervals.log]\nwrites = [400.0]\nwrite_bytes = [400000.0]\nwrite_wait_s = [16.0]\n"
    );
    let profile = profile::read("a.toml", &text).expect("a profile");
    let series = crate::DemandSeries::of(&profile).expect("it has all that it takes");
    (profile, series)
}

#[test]
fn commits_that_were_not_recorded_are_as_many_as_log_writes() {
    let log = |more| log_of(more).1.periods()[0].demand.log;

    let unknown = log("");
    assert_eq!(
        (unknown.commits_per_operation, unknown.in_flight_max),
        (0.4, 112)
    );
    // Recorded ones count, and share writes.
    let shared = log("commits = [1000.0]\n");
    assert_eq!(shared.commits_per_operation, 1.0);
    assert!(shared.in_flight_max < 112);
}

#[test]
fn commits_that_were_not_recorded_are_not_said_to_be() {
    let writer = sql_server(None);
    let (profile, series) = log_of("");
    let said = &series.assumptions()[0];
    assert!(
        said.starts_with("Commits were not recorded") && !said.contains("share writes"),
        "{said}"
    );
    let remedy = writer
        .commits_lacking(&profile)
        .expect("they are not there");
    assert!(remedy.contains("Write Transactions/sec"), "{remedy}");
    let (profile, _) = log_of("commits = [300.0]\n");
    assert_eq!(writer.commits_lacking(&profile), None);
}
