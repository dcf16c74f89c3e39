//! Counters of Microsoft's data collection: counts between samples, in windows.

use super::*;

const NAME: &str = "microsoft/server_PerformanceAggregated_Counters.csv";

/// The file with windows of 10 min, as the tools' usual times make them; its own are 7 min.
fn ten_minutes() -> String {
    let mut text = text(NAME);
    for (own, usual) in [("09:07", "09:10"), ("09:14", "09:20"), ("09:21", "09:30")] {
        text = text.replace(own, usual);
    }
    text
}

#[test]
fn counts_are_between_samples_and_windows_have_twenty() {
    let profile = import(&ten_minutes(), &options(&[]));
    assert_eq!(
        (profile.intervals.len(), profile.interruptions.len()),
        (4, 0)
    );
    // The first window ends at 09:00.
    assert_eq!(profile.start.to_string(), "2026-11-03T08:50:00Z");
    for interval in &profile.intervals {
        assert_eq!(interval.length, Duration::from_secs(600));
        let (data, log) = (interval.roles[&Role::Data], interval.roles[&Role::Log]);
        // 600 reads of 5 MiB in 30 s, 20 times; 3 ms each.
        near(data.reads.count.expect("counted"), 12_000.0, 1e-9);
        near(
            data.reads.bytes.expect("counted"),
            100.0 * 1_048_576.0,
            1e-9,
        );
        assert_eq!(data.reads.latency(), Some(Duration::from_millis(3)));
        // 400 writes in 30 s: 13.3/s.
        near(log.writes.count.expect("counted"), 8_000.0, 1e-9);
    }
    assert!(
        assumes(&profile, "between samples 30 s apart (--interval sets it)"),
        "{:?}",
        profile.assumptions
    );
    assert!(
        assumes(&profile, "no page of Microsoft says"),
        "{:?}",
        profile.assumptions
    );
    assert!(!can(&profile, Question::Temp) && !can(&profile, Question::ClosedLoop));
}

#[test]
fn windows_that_are_too_close_for_their_samples_show_the_time_between_them() {
    let profile = profile(NAME, &[]);
    // 7 min and 20 samples: 600 reads in 21 s.
    near(
        rate(&profile, Role::Data, |io| io.reads.count),
        600.0 / 21.0,
        1e-9,
    );
    let part = "between samples 21 s apart, and 30 s apart is usual: windows of 20 samples are 420 s apart";
    assert!(assumes(&profile, part), "{:?}", profile.assumptions);
    let given = Options {
        interval: Some(Duration::from_secs(30)),
        ..options(&[])
    };
    let asked = import(&text(NAME), &given);
    near(rate(&asked, Role::Data, |io| io.reads.count), 20.0, 1e-9);
    assert!(
        assumes(
            &asked,
            "between samples 30 s apart, and 21 s apart these windows have"
        ),
        "{:?}",
        asked.assumptions
    );
}

#[test]
fn a_pause_between_two_collections_is_a_gap() {
    // The last two windows are of the afternoon.
    let later = ten_minutes()
        .replace(" 09:20", " 15:20")
        .replace(" 09:30", " 15:30");
    let profile = import(&later, &options(&[]));
    assert_eq!(profile.intervals.len(), 4);
    assert_eq!(profile.intervals[2].length, Duration::from_secs(600));
    let causes: Vec<Lost> = profile
        .interruptions
        .iter()
        .map(|lost| lost.cause)
        .collect();
    assert_eq!(causes, [Lost::Gap]);
    // Without a count in one window, that window is left out.
    let lacking = ten_minutes().replacen("09:10:00,FNR,Mean", "09:10:00,IM,Mean", 1);
    let profile = import(&lacking, &options(&[]));
    assert_eq!(
        (profile.intervals.len(), profile.interruptions.len()),
        (3, 1)
    );
    assert!(
        assumes(&profile, "lacks a count or its bytes are left out: 1"),
        "{:?}",
        profile.assumptions
    );
}

#[test]
fn rows_that_contradict_one_another_or_are_of_two_servers_are_refused() {
    let whole = ten_minutes();
    for (from, to, part) in [
        (
            "09:10:00,FNR,Max,1200",
            "09:10:00,FNR,Max,12",
            "contradicts itself: FNR has a mean of 600 and a largest value of 12",
        ),
        (
            "09:10:00,FNR,Max,1200",
            "09:10:00,FNR,Mean,7",
            "FNR mean of this file and time has another value above",
        ),
        (
            "09:10:00,FNR,Mean,600",
            "09:10:00,FNR,Mean,NULL",
            "FNR Mean: `NULL` is not a number of 0 or more",
        ),
        (
            "09:10:00,FNR,Mean,600",
            "at ten,FNR,Mean,600",
            "is not a readable date and time",
        ),
        (
            "09:10:00,FNR,Occurence,19",
            "09:10:00,FNR,Occurence,1e15",
            "FNR Occurence: 1000000000000000 values are more than a window has",
        ),
        // 601 samples in 10 min.
        (
            "09:10:00,FNR,Occurence,19",
            "09:10:00,FNR,Occurence,600",
            "`Occurence` contradicts `TimeDataCollected`: windows are 600 s apart and have 601 samples",
        ),
    ] {
        assert!(whole.contains(from), "{from}");
        let refused = error("c.csv", &whole.replacen(from, to, 1), &options(&[]));
        assert!(refused.contains(part), "{refused}");
    }
    let two = whole.replacen("\nSERVER,", "\nOTHER,", 1);
    let refused = error("c.csv", &two, &options(&[]));
    assert!(
        refused.starts_with("c.csv:3: it has rows of several servers (`OTHER`, `SERVER`)"),
        "{refused}"
    );
    let unknown = whole.replace(",FRL,", ",XYZ,");
    assert!(assumes(
        &import(&unknown, &options(&[])),
        "unknown codes are left out: XYZ"
    ));
}

#[test]
fn an_unknown_layout_of_microsofts_counters_is_shown() {
    let text = "When,What,NumOfReads,NumOfWrites\n1,2,3,4\n5,6,7,8\n";
    let refused = error("x_PerformanceAggregated_Counters.csv", text, &options(&[]));
    assert!(
        refused.contains(
            "no column `databasename` (the header is: When, What, NumOfReads, NumOfWrites)"
        ),
        "{refused}"
    );
}
