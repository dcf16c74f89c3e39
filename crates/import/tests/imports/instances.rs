//! Two SQL Servers, devices or columns where one is meant: chosen, added up or refused, and what is left out is named.

use super::*;

fn import(text: &str, given: &Options) -> Imported {
    let file = "a file";
    import::read(&[Source { file, text }], given).unwrap_or_else(|error| panic!("{error}"))
}

fn of_instances(names: &[&str]) -> Options {
    Options {
        instances: names.iter().map(|name| (*name).to_owned()).collect(),
        ..options(&["data=D:", "log=D:"])
    }
}

fn assumes(imported: &Imported, part: &str) -> bool {
    imported
        .profile
        .assumptions
        .iter()
        .any(|note| note.contains(part))
}

#[test]
fn two_sql_servers_in_one_file_have_to_be_chosen_whatever_the_order_of_columns() {
    let file = text("perfmon/two-instances.csv");
    // B's columns first.
    let turned = file
        .replace("MSSQL$A", "MSSQL$C")
        .replace("MSSQL$B", "MSSQL$A")
        .replace("MSSQL$C", "MSSQL$B");
    for (text, [a, b]) in [(&file, ["A", "B"]), (&turned, ["B", "A"])] {
        let refused = error("two.csv", text, &options(&["data=D:"]));
        assert!(
            refused.starts_with(
                "two.csv: it has counters of 2 SQL Servers (A, B): choose with --instance A, or add"
            ),
            "{refused}"
        );
        assert!(
            refused.contains("cannot be divided among them"),
            "{refused}"
        );
        for (names, operations, log) in [
            (&[a] as &[&str], 200.0, 100.0),
            (&[b], 50.0, 20.0),
            (&[a, b], 250.0, 120.0),
        ] {
            let imported = import(text, &of_instances(names));
            let profile = &imported.profile;
            let seconds = profile.covered().as_secs_f64();
            near(
                profile.total(|i| i.operations).expect("counted") / seconds,
                operations,
                1e-9,
            );
            near(rate(profile, Role::Log, |io| io.writes.count), log, 1e-9);
            near(
                rate(profile, Role::Data, |io| io.writes.count),
                300.0 - log,
                1e-9,
            );
            // The disk's reads are those of both.
            near(rate(profile, Role::Data, |io| io.reads.count), 100.0, 1e-9);
            assert_eq!(
                assumes(&imported, "requests cannot be divided, and all count"),
                names.len() == 1
            );
            assert_eq!(
                assumes(&imported, "2 SQL Servers together"),
                names.len() == 2
            );
            // What the other one flushes is on the disk, too.
            let others = 120.0 - log;
            let part = format!(
                "not chosen, {others:.1} a second, are not taken off: they count as writes of data"
            );
            assert_eq!(assumes(&imported, &part), names.len() == 1, "{part}");
        }
    }
    let one = import(&file, &of_instances(&[r"host\a"]));
    assert_eq!(
        one.notes,
        ["counters of SQL Server B are not used (--instance)"]
    );
    let wrong = error("two.csv", &file, &of_instances(&["X"]));
    assert_eq!(
        wrong,
        "two.csv: it has no counters of a SQL Server `X`; it has A, B"
    );
}

#[test]
fn an_instance_where_there_is_one_is_checked_and_elsewhere_reported() {
    let relog = text("perfmon/relog.csv");
    let chosen = import(&relog, &of_instances(&["mssqlserver"]));
    assert_eq!(chosen.profile.intervals[0].operations, Some(821.0 * 15.0));
    let wrong = error("a.csv", &relog, &of_instances(&["A"]));
    assert_eq!(
        wrong,
        "a.csv: it has no counters of a SQL Server `A`; it has MSSQLSERVER"
    );
    let none = error(
        "a.csv",
        &text("perfmon/typeperf.csv"),
        &of_instances(&["A"]),
    );
    assert!(none.contains("no counters of a SQL Server"), "{none}");
    let given = Options {
        instances: vec!["A".to_owned()],
        start: Some("2026-11-22T10:00:00Z".parse().expect("a time")),
        ..options(&["data=vda"])
    };
    let imported = import(&text("sysstat/sadf.json"), &given);
    assert_eq!(
        imported.notes,
        [
            "--instance has no effect on files of sadf",
            "--start has no effect on files of sadf"
        ]
    );
}

#[test]
fn several_processes_of_sql_server_are_added_up() {
    let two = text("perfmon/relog.csv").replace("\\Processor(0)\\", "\\Process(sqlservr#1)\\");
    let imported = import(&two, &options(&["data=D:"]));
    // 130.5 % and 60 % of a processor for 15 s.
    let processor = imported.profile.intervals[0].processor;
    assert_eq!(processor, Some(Duration::from_millis(28_575)));
    assert!(
        assumes(&imported, "2 processes `sqlservr` together"),
        "{:?}",
        imported.profile.assumptions
    );
}

#[test]
fn devices_with_requests_and_without_a_role_are_named() {
    let imported = import(&text("perfmon/relog.csv"), &options(&["data=D:"]));
    assert_eq!(
        imported.notes,
        ["requests to t: are left out; give each device of the server a role with --device"]
    );
    assert!(assumes(&imported, "devices with requests and no role: 1."));
    // A profile is handed on: it has no names of files.
    let both = [
        ("a.iolog", text("fio/data.iolog")),
        ("b.iolog", text("fio/log.iolog")),
    ];
    let sources = [0, 1].map(|at| Source {
        file: both[at].0,
        text: &both[at].1,
    });
    let imported = import::read(&sources, &options(&["data=shop.dat"])).expect("a profile");
    assert!(
        imported.notes[0].contains("shop.log"),
        "{:?}",
        imported.notes
    );
    let written = profile::write("shop.toml", &imported.profile).expect("a profile");
    assert!(!written.contains("shop."), "{written}");
}

#[test]
fn a_partition_beside_its_disk_would_count_twice() {
    let two = text("sysstat/sadf.json").replace(
        r#"{"disk-device": "vda","#,
        r#"{"disk-device": "vda1", "tps": 1.0, "rkB": 4.0, "wkB": 0.0}, {"disk-device": "vda","#,
    );
    let refused = error("sar.json", &two, &options(&["data=vda", "log=vda1"]));
    assert!(
        refused.contains("`vda1` is a partition of `vda`"),
        "{refused}"
    );
}

#[test]
fn a_counter_that_stands_there_twice_is_refused_where_it_differs() {
    let of = |second: &str| {
        let row = |minute: u32| {
            format!("\"09/22/2026 21:4{minute}:00.000\",\"100\",\"50\",\"{second}\"\n")
        };
        let header = r#""(PDH-CSV 4.0) (UTC)(0)","\\S\LogicalDisk(D:)\Disk Reads/sec","\\S\LogicalDisk(D:)\Disk Writes/sec","\\S\LogicalDisk(D:)\Disk Reads/sec""#;
        format!("{header}\n{}{}{}", row(1), row(2), row(3))
    };
    assert!(
        import::read(
            &[Source {
                file: "a.csv",
                text: &of("100")
            }],
            &options(&["data=D:"])
        )
        .is_ok()
    );
    let refused = error("a.csv", &of("900"), &options(&["data=D:"]));
    assert_eq!(
        refused,
        "a.csv:1: it has `logicaldisk\\disk reads/sec` twice, with different values; leave one of them out"
    );
    let long = text("perfmon/export-csv.csv");
    let second = long
        .lines()
        .nth(1)
        .expect("a row")
        .replace("\"200\"", "\"900\"");
    let refused = error(
        "a.csv",
        &long.replacen('\n', &format!("\n{second}\n"), 1),
        &options(&["data=D:"]),
    );
    assert!(
        refused.starts_with("a.csv:3: `logicaldisk\\disk reads/sec` has two values at 20/12/2018"),
        "{refused}"
    );
}

#[test]
fn disks_in_german_beside_sql_server_in_english_are_refused_for_that() {
    let name = "perfmon/german-disks-english-sql-server.csv";
    let refused = error("german.csv", &text(name), &options(&["data=D:"]));
    assert!(
        refused.starts_with("german.csv: its disks have no counters with English names (the first is `physikalischer datenträger\\"),
        "{refused}"
    );
    assert!(
        refused.contains("whose Windows language is English"),
        "{refused}"
    );
}

#[test]
fn sql_servers_that_were_not_chosen_are_counted_in_words() {
    let own = text("perfmon/two-instances.csv");
    let one = import(&own, &of_instances(&["A"]));
    assert!(assumes(&one, "1 other SQL Server of the machine used"));
    assert!(assumes(
        &one,
        "waits are those of the SQL Server that was chosen."
    ));
    // A third one, whose log nobody counted.
    let three = own.replace(
        r"MSSQL$B:Databases(_Total)\Log Flushes",
        r"MSSQL$C:Databases(_Total)\Log Flushed",
    );
    let two = import(&three, &of_instances(&["A", "B"]));
    assert!(assumes(
        &two,
        "waits are those of the SQL Servers that were chosen."
    ));
    let one = import(&three, &of_instances(&["A"]));
    assert!(assumes(&one, "2 other SQL Servers of the machine used"));
    assert!(assumes(
        &one,
        "not chosen, whose rate is not in the file, are not taken off"
    ));
}

#[test]
fn counters_that_a_replay_needs_are_named_where_they_are_missing() {
    let file = text("perfmon/relog.csv");
    let assumed = |text: &str, counter: &str| {
        let imported = import(text, &options(&["data=D:", "log=D:", "temp=T:"]));
        assumes(&imported, &format!("{counter}` is not in the file"))
    };
    for counter in ["Write Transactions/sec", "Batch Requests/sec"] {
        assert!(!assumed(&file, counter), "{counter}");
        assert!(
            assumed(&file.replace(counter, "Other/sec"), counter),
            "{counter}"
        );
    }
}

#[test]
fn a_drive_without_its_colon_is_suggested_with_it() {
    let refused = error("one.csv", &text("perfmon/relog.csv"), &options(&["data=D"]));
    assert!(
        refused.ends_with("it has no device `D`; it has d:, t:; give --device data=D:"),
        "{refused}"
    );
}
