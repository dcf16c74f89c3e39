//! A trace ends within an interval: that one is left out and said, or kept with its own length.

use super::*;

/// A log of fio with a write every 50 ms, `count` of them.
fn trace(count: u64) -> Imported {
    let lines = (0..count).map(|number| {
        format!(
            "{} shop.log write {} 4096\n",
            number * 50_000,
            number * 4096
        )
    });
    let text = format!("fio version 3 iolog\n{}", lines.collect::<String>());
    let source = Source {
        file: "log.iolog",
        text: &text,
    };
    import::read(&[source], &options(&["log=shop.log"])).unwrap_or_else(|error| panic!("{error}"))
}

fn writes(profile: &Profile) -> f64 {
    profile
        .total(|interval| interval.roles[&Role::Log].writes.count)
        .expect("counted")
}

#[test]
fn a_short_last_interval_of_a_trace_is_left_out_and_said() {
    // 109 writes: the last 9 at 5.0, 5.05, .. 5.4 s.
    let profile = trace(109).profile;
    assert_eq!(profile.intervals.len(), 5);
    assert_eq!(writes(&profile), 100.0);
    let note = "The trace ends 400 ms into its last interval of 1 s, which is left out with its 0 reads, 9 writes and 0 flushes.";
    assert!(
        profile.assumptions.iter().any(|line| line == note),
        "{:?}",
        profile.assumptions
    );
}

#[test]
fn a_last_interval_that_is_long_enough_has_its_own_length() {
    // 115 writes: the last 15 at 5.0, .. 5.7 s.
    let profile = trace(115).profile;
    assert_eq!(profile.intervals.len(), 6);
    assert_eq!(writes(&profile), 115.0);
    assert_eq!(profile.intervals[5].length, Duration::from_millis(700));
    assert_eq!(profile.covered(), Duration::from_millis(5700));
    let note = "The last interval is 700 ms long, up to the last request of the trace.";
    assert!(
        profile.assumptions.iter().any(|line| line == note),
        "{:?}",
        profile.assumptions
    );
    // Of two intervals both stay: 11 of 31 writes in the second.
    let two = trace(31).profile;
    assert_eq!(two.intervals.len(), 2);
    assert_eq!(
        (writes(&two), two.intervals[1].length),
        (31.0, Duration::from_millis(500))
    );
}
