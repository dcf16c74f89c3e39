use super::*;
use profile::{Io, Requests};

/// An interval of 10 s.
fn interval(number: u64, operations: f64, reads: f64) -> Interval {
    let reads = Requests {
        count: Some(reads),
        bytes: Some(8192.0 * reads),
        waited: Some(Duration::from_secs_f64(0.001 * reads)),
    };
    let io = Io {
        reads,
        ..Io::default()
    };
    Interval {
        at: Duration::from_secs(10 * number),
        length: Duration::from_secs(10),
        operations: Some(operations),
        sessions: Some(4.0),
        roles: [(Role::Data, io)].into(),
        ..Interval::default()
    }
}

fn profile(intervals: Vec<Interval>) -> Profile {
    let text = "format = \"dbstow.profile/1\"\nstart = \"2026-11-22T10:00:00Z\"\n[origin]\ntool = \"test\"\n[intervals]\n\
                at_s = [0.0]\nlength_s = [10.0]\noperations = [1.0]\n";
    Profile {
        intervals,
        ..profile::read("a.toml", text).expect("a profile")
    }
}

#[test]
fn bursts_are_periods_of_their_own() {
    let intervals = vec![
        interval(0, 1_000.0, 2_000.0),
        interval(1, 5_000.0, 30_000.0),
        interval(2, 1_000.0, 2_000.0),
    ];
    let series = DemandSeries::of(&profile(intervals)).expect("it has all that it takes");
    let reads: Vec<f64> = series
        .periods()
        .iter()
        .map(|period| period.demand.data.reads.per_operation)
        .collect();
    assert_eq!(reads, [2.0, 6.0, 2.0]);
    assert_eq!(series.length(), Duration::from_secs(30));
    // 7,000 in 30 s.
    assert!((series.operations_per_s() - 7_000.0 / 30.0).abs() < 1e-9);
}

#[test]
fn intervals_of_few_operations_are_taken_together() {
    let few = [40.0, 0.0, 60.0, 90.0, 30.0, 5.0];
    let intervals = (0..).zip(few).map(|(at, few)| interval(at, few, 2.0 * few));
    let series = DemandSeries::of(&profile(intervals.collect())).expect("enough");
    // 40 + 0 + 60, then 90 + 30; the 5 at the end do not form a period.
    let lengths: Vec<f64> = series
        .periods()
        .iter()
        .map(|period| period.length.as_secs_f64())
        .collect();
    assert_eq!(lengths, [30.0, 30.0]);
}

#[test]
fn a_quiet_time_before_a_burst_is_none_of_it() {
    let intervals = [0.0, 0.0, 5_000.0, 7.0, 4_000.0];
    let intervals = (0..)
        .zip(intervals)
        .map(|(at, operations)| interval(at, operations, 2.0 * operations));
    let series = DemandSeries::of(&profile(intervals.collect())).expect("enough");
    let rates: Vec<f64> = series
        .periods()
        .iter()
        .map(|period| period.operations_per_s)
        .collect();
    assert_eq!(rates, [0.0, 500.0, 0.7, 400.0]);
    // All sessions are idle for longer than that.
    assert!(series.periods()[0].demand.delay > Duration::from_secs(3_600));
}

#[test]
fn an_idle_server_is_refused_and_one_operation_is_not() {
    let of = |operations| DemandSeries::of(&profile(vec![interval(0, operations, 7.0)]));
    assert_eq!(of(0.0), Err(DemandError::Idle));
    assert_eq!(of(1.0).expect("one will do").periods().len(), 1);
}

#[test]
fn the_busiest_window_is_the_one_with_the_most_requests() {
    let reads = [1_000.0, 5_000.0, 4_000.0, 1_000.0, 8_000.0];
    let intervals = (0..)
        .zip(reads)
        .map(|(at, reads)| interval(at, 500.0, reads));
    let profile = profile(intervals.collect());
    let of = |seconds| {
        let series = DemandSeries::of(&profile.clone().busiest(Duration::from_secs(seconds)))
            .expect("enough");
        let reads = series.periods().iter();
        let reads = reads.map(|period| 500.0 * period.demand.data.reads.per_operation);
        reads.map(f64::round).collect::<Vec<f64>>()
    };
    // 8,000 are most of one; 5,000 + 4,000 = 1,000 + 8,000 of two, and the first is taken; 4,000 + 1,000 + 8,000 of three.
    assert_eq!(of(10), [8_000.0]);
    assert_eq!(of(25), [5_000.0, 4_000.0]);
    assert_eq!(of(30), [4_000.0, 1_000.0, 8_000.0]);
    assert_eq!(of(3_600), reads);
    // Shorter than an interval: one of them.
    assert_eq!(of(1), [8_000.0]);
}

#[test]
fn sessions_and_rates_change_in_proportion() {
    let intervals = vec![interval(0, 1_000.0, 2_000.0), interval(1, 3_000.0, 6_000.0)];
    let mut series = DemandSeries::of(&profile(intervals)).expect("enough");
    series.periods[0].demand.sessions = 1;
    let more = series.clone().with_sessions(6);
    let sessions = more.periods().iter().map(|period| period.demand.sessions);
    // 1 and 4, times 1.5.
    assert_eq!(sessions.collect::<Vec<u32>>(), [2, 6]);
    let slower = series.with_rate(20.0);
    let rates = slower.periods().iter();
    let rates: Vec<f64> = rates.map(|period| period.operations_per_s).collect();
    assert_eq!(rates, [10.0, 30.0]);
}

#[test]
fn parts_by_load_have_as_many_operations_and_leave_idle_time_out() {
    let rates = [100.0, 900.0, 0.0, 200.0, 800.0, 0.0, 1_000.0, 300.0, 700.0];
    let intervals = (0..)
        .zip(rates)
        .map(|(at, rate)| interval(at, rate, rate * rate / 100.0));
    let profile = profile(intervals.collect());
    let series = DemandSeries::by_load(&profile, 3).expect("it has all that it takes");
    let parts: Vec<(f64, f64)> = series
        .periods()
        .iter()
        .map(|part| {
            let operations = part.operations_per_s * part.length.as_secs_f64();
            (
                operations.round(),
                part.demand.data.reads.per_operation.round(),
            )
        })
        .collect();
    // 100 + 200 + 300 + 700 + 800 are a third of 4,000 at least; 900 more are two thirds; then the rest.
    assert_eq!(parts, [(2_100.0, 6.0), (900.0, 9.0), (1_000.0, 10.0)]);
    assert_eq!(series.length(), Duration::from_secs(70));

    let one = DemandSeries::by_load(&profile, 1).expect("it has all that it takes");
    assert_eq!(one.periods().len(), 1);
    let many = DemandSeries::by_load(&profile, 1_000).expect("it has all that it takes");
    // Each of 100 operations or more.
    assert_eq!(many.periods().len(), 7);
}
