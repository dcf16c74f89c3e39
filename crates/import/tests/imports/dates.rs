//! Day and month: as the file shows, as `--dates` says, or refused. No tool's dates are taken for American ones in silence.

use import::DateOrder;

use super::*;

/// A file of each tool whose dates are text, with its date replaced by one that can be read both ways.
const FILES: [(&str, &str); 8] = [
    ("blitz-first/file-stats.csv", "2026-11-21"),
    ("blitz-first/file-stats-deltas.csv", "2026-11-21"),
    (
        "microsoft/server_PerformanceAggregated_Counters.csv",
        "2026-11-03",
    ),
    ("perfmon/export-csv.csv", "20/12/2018"),
    ("sysstat/iostat-us.json", "11/22/26"),
    ("sysstat/sadf.json", "2026-11-22"),
    ("sysstat/sadf-d.csv", "2026-11-22"),
    ("microsoft/SkuRecommendationReport.json", "2026-11-2"),
];

fn with_date(name: &str, own: &str) -> String {
    let text = text(name);
    assert!(text.contains(own), "{name} has other dates");
    match own {
        // Two days, of which both numbers are months.
        "2026-11-2" => text
            .replace("2026-11-20T", "03/04/2026 ")
            .replace("2026-11-21T", "03/05/2026 "),
        _ => text.replace(own, "03/04/2026"),
    }
}

/// What an import tells, in the profile and beside it.
fn imported(texts: &[&str], given: &Options) -> Result<Imported, String> {
    let sources: Vec<Source> = texts
        .iter()
        .map(|text| Source { file: "a", text })
        .collect();
    import::read(&sources, given).map_err(|error| error.to_string())
}

fn in_order(dates: Option<DateOrder>, name: &str) -> Options {
    let devices: &[&str] = match name {
        "perfmon/export-csv.csv" => &["data=D:"],
        _ if name.starts_with("sysstat") => &["data=vda"],
        _ => &[],
    };
    Options {
        dates,
        ..options(devices)
    }
}

#[test]
fn dates_that_can_be_read_both_ways_are_asked_about_whatever_wrote_them() {
    for (name, own) in FILES {
        let text = with_date(name, own);
        let refused = imported(&[&text], &in_order(None, name)).expect_err(name);
        let asks = "may begin with the day or with the month; give --dates dmy or --dates mdy";
        assert!(refused.contains(asks), "{name}: {refused}");
        for (order, start) in [
            (DateOrder::DayFirst, "2026-04-0"),
            (DateOrder::MonthFirst, "2026-03-0"),
        ] {
            let read = imported(&[&text], &in_order(Some(order), name));
            let read = read.unwrap_or_else(|error| panic!("{name}: {error}"));
            let at = read.profile.start.to_string();
            assert!(at.starts_with(start), "{name} in {order:?}: {at}");
            assert!(
                !read.notes.iter().any(|note| note.contains("--dates")),
                "{name}: {:?}",
                read.notes
            );
        }
    }
}

#[test]
fn the_end_of_a_month_shows_which_number_is_the_day() {
    let name = "microsoft/server_PerformanceAggregated_Counters.csv";
    // From 31 October to 1 November, 7 min apart as before.
    let text = text(name)
        .replace("2026-11-03 09:00", "31/10/2026 23:46")
        .replace("2026-11-03 09:07", "31/10/2026 23:53")
        .replace("2026-11-03 09:14", "01/11/2026 00:00")
        .replace("2026-11-03 09:21", "01/11/2026 00:07");
    let read = imported(&[&text], &options(&[])).expect("the 31st is not a month");
    assert_eq!(
        (
            read.profile.intervals.len(),
            read.profile.interruptions.len()
        ),
        (4, 0)
    );
    assert_eq!(read.profile.start.to_string(), "2026-10-31T23:39:00Z");
}

#[test]
fn snapshots_in_files_of_their_own_show_their_dates_together() {
    let whole = text("blitz-first/file-stats.csv");
    let (header, rows) = whole.split_once('\n').expect("a header");
    let snapshot = |own: &str, at: &str| {
        let rows = rows.lines().filter(|row| row.contains(own));
        let rows: Vec<String> = rows.map(|row| row.replace(own, at)).collect();
        format!("{header}\n{}\n", rows.join("\n"))
    };
    // One a day; of the last two, by themselves, each number may be the month.
    let texts = [
        snapshot("2026-11-21 10:00:00", "30/11/2026 10:00:00"),
        snapshot("2026-11-21 10:15:00", "01/12/2026 10:00:00"),
        snapshot("2026-11-21 10:30:00", "02/12/2026 10:00:00"),
    ];
    let read = imported(&texts.each_ref().map(String::as_str), &options(&[]));
    let read = read.expect("the 30th is not a month").profile;
    assert_eq!(read.start.to_string(), "2026-11-30T09:00:00Z");
    let day = Duration::from_secs(24 * 3600);
    assert_eq!(read.intervals.len(), 2);
    assert!(read.intervals.iter().all(|each| each.length == day));
}

#[test]
fn options_for_times_without_effect_are_reported() {
    let given = Options {
        dates: Some(DateOrder::DayFirst),
        utc_offset: Some("+02:00".parse().expect("an offset")),
        ..options(&["data=vda"])
    };
    let note = [
        "--utc-offset has no effect: no time of the file is without an offset",
        "--dates has no effect: no date of the file can be read in two ways",
    ];
    let iso = imported(&[&text("sysstat/iostat-iso.json")], &given).expect("a profile");
    assert_eq!(iso.notes, note);
    // 22:02:14 +0000, as without them.
    assert_eq!(iso.profile.start.to_string(), "2026-11-22T22:02:14Z");
    let given = Options {
        start: Some("2026-11-22T10:00:00Z".parse().expect("a time")),
        interval: Some(Duration::from_secs(2)),
        ..given
    };
    let text = text("sysstat/iostat-without-times.json");
    let without = imported(&[&text], &given).expect("a profile");
    assert_eq!(without.notes, note);
}

#[test]
fn a_start_or_an_interval_is_reported_alone_where_it_alone_was_given() {
    let start = Options {
        start: Some("2026-11-22T10:00:00Z".parse().expect("a time")),
        ..Options::default()
    };
    let interval = Options {
        interval: Some(Duration::from_secs(2)),
        ..Options::default()
    };
    for (name, given, note) in [
        (
            "sysstat/iostat-iso.json",
            &start,
            "--start has no effect: the records have times",
        ),
        (
            "sysstat/iostat-iso.json",
            &interval,
            "--interval has no effect: the records have times",
        ),
        (
            "blitz-first/file-stats.csv",
            &start,
            "--start has no effect: the rows have dates",
        ),
    ] {
        let devices = in_order(None, name).devices;
        let given = Options {
            devices,
            ..given.clone()
        };
        let read = imported(&[&text(name)], &given).expect(name);
        assert_eq!(read.notes, [note], "{name}");
    }
}

/// Windows' own tools write the month first: an assumption of dbstow, and no option of the user.
#[test]
fn an_order_of_dates_that_was_not_given_is_not_reported() {
    let file = text("perfmon/relog.csv").replace("09/22/2026", "22.09.2026");
    let read = imported(&[&file], &options(&["data=D:", "log=D:", "temp=T:"])).expect("a profile");
    assert_eq!(read.notes, [""; 0]);
    assert_eq!(read.profile.start.to_string(), "2026-09-22T20:42:00.824Z");
}
