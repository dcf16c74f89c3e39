use super::*;
use crate::demand::{Access, Each};

/// 100 operations a second, of two reads and one write in the background each.
const TEXT: &str = r#"format = "dbstow.profile/1"
start = "2026-11-22T10:00:00Z"
[origin]
tool = "test"
[intervals]
at_s = [0.0]
length_s = [10.0]
operations = [1000.0]
sessions = [4.0]
[intervals.data]
reads = [2000.0]
read_bytes = [16384000.0]
read_wait_s = [4.0]
writes = [1000.0]
write_bytes = [8192000.0]
write_wait_s = [1.0]
[intervals.log]
writes = [400.0]
write_bytes = [400000.0]
write_wait_s = [0.4]
flushes = [400.0]
flush_wait_s = [0.01]
"#;

fn rates(reads: (f64, f64), writes: (f64, f64), flushes: (f64, f64)) -> Rates {
    let one = |(per_second, ms): (f64, f64), bytes: f64| RequestRates {
        per_second: Some(per_second),
        bytes_per_second: Some(per_second * bytes),
        latency: (per_second > 0.0).then(|| Duration::from_secs_f64(ms / 1e3)),
    };
    Rates {
        reads: one(reads, 8192.0),
        writes: one(writes, 8192.0),
        flushes: one(flushes, 0.0),
    }
}

/// The recorded figures, but with reads that take `read_ms` and background writes that take `write_ms`.
fn replayed(operations_per_s: f64, read_ms: f64, write_ms: f64) -> Replayed {
    let share = operations_per_s / 100.0;
    Replayed {
        operations_per_s,
        roles: [
            (
                Role::Data,
                rates(
                    (200.0 * share, read_ms),
                    (100.0 * share, write_ms),
                    (0.0, 0.0),
                ),
            ),
            (Role::Log, rates((0.0, 0.0), (40.0, 1.0), (40.0, 0.3))),
            (Role::Temp, Rates::default()),
        ]
        .into(),
        service: BTreeMap::new(),
        parts: Parts::default(),
        delay_s: 0.0,
    }
}

fn backtest(replays: &[Replayed]) -> BackTest {
    let profile = profile::read("a.toml", TEXT).expect("a profile");
    let demand = DemandSeries::of(&profile).expect("it has all that it takes");
    let waits: Vec<Each> = demand
        .periods()
        .iter()
        .map(|period| {
            let Access { writes, .. } = period.demand.data;
            writes
        })
        .collect();
    assert_eq!(
        waits[0].per_operation, 0.0,
        "no session waits for these writes"
    );
    BackTest::of(&profile, &demand, replays, (&MachineSpec::unlimited(), &[]))
}

#[test]
fn what_nobody_waits_for_does_not_decide() {
    // Writes in the background take 9 ms instead of 1, flushes ten times as long as recorded, but sessions wait little for them.
    let backtest = backtest(&[replayed(101.0, 2.1, 9.0)]);
    assert_eq!(backtest.fit(), Fit::Fits, "{backtest:?}");
    let off = |role, measure| {
        let mut figures = backtest.figures.iter();
        figures
            .find(|figure| (figure.role, figure.measure) == (role, measure))
            .map(|figure| (figure.off() * 100.0).round())
    };
    assert_eq!(off(None, Measure::Operations), Some(1.0));
    assert_eq!(off(Some(Role::Data), Measure::ReadLatency), Some(5.0));
    assert_eq!(off(Some(Role::Data), Measure::WriteLatency), Some(800.0));
    assert_eq!(off(Some(Role::Log), Measure::Writes), Some(0.0));
    // 100 operations wait for 2 reads of 2 ms, a log write of 1 ms and a flush of 0.025 ms each: of 0.5025 s, flushes are 0.0025 s, which
    // is half a percent, and not nothing.
    let waited = |role, measure| {
        let mut figures = backtest.figures.iter();
        let figure = figures.find(|figure| (figure.role, figure.measure) == (Some(role), measure));
        let waited = figure.and_then(|figure| figure.waited);
        waited.map(|share| (share * 1e3).round())
    };
    assert_eq!(waited(Role::Data, Measure::ReadLatency), Some(796.0));
    assert_eq!(waited(Role::Log, Measure::FlushLatency), Some(5.0));
    assert_eq!(waited(Role::Data, Measure::WriteLatency), Some(0.0));
    // None were recorded.
    assert_eq!(off(Some(Role::Log), Measure::Reads), None);
    assert_eq!(off(Some(Role::Temp), Measure::Reads), None);
}

#[test]
fn latencies_say_whether_the_disks_are_slower_or_faster_than_those_that_are_said() {
    for (operations, read_ms, expected) in [
        (130.0, 1.0, Reason::Slower),
        (60.0, 5.0, Reason::Faster),
        (160.0, 2.0, Reason::Otherwise),
    ] {
        let backtest = backtest(&[replayed(operations, read_ms, 1.0)]);
        let Fit::DoesNotFit { part, reason } = backtest.fit() else {
            panic!("it fits: {backtest:?}");
        };
        assert_eq!(reason, expected, "{backtest:?}");
        let Detail::Figure(figure) = part else {
            panic!("no waits were recorded");
        };
        assert_eq!(figure.measure.is_latency(), reason != Reason::Otherwise);
    }
}

#[test]
fn requests_that_do_not_fit_are_a_detail_where_the_rate_fits() {
    let mut replay = replayed(100.0, 2.0, 1.0);
    let shared = rates((0.0, 0.0), (4.0, 1.0), (4.0, 0.3));
    replay.roles.insert(Role::Log, shared);
    let backtest = backtest(&[replay]);
    let fit = backtest.fit();
    let Fit::RateFits { details } = &fit else {
        panic!("{fit:?}");
    };
    let Detail::Figure(figure) = details[0] else {
        panic!("{details:?}");
    };
    assert_eq!(
        (figure.role, figure.measure),
        (Some(Role::Log), Measure::Writes)
    );
    let caveat = backtest.caveat().expect("a detail is off");
    assert!(
        caveat.starts_with("log writes/s is -90 % off (other programs' requests were counted"),
        "{caveat}"
    );
}

#[test]
fn figures_are_means_over_replays() {
    let backtest = backtest(&[replayed(90.0, 2.0, 1.0), replayed(120.0, 2.0, 1.0)]);
    assert_eq!(backtest.figures[0].measure, Measure::Operations);
    assert_eq!(backtest.figures[0].recorded, 100.0);
    assert_eq!(backtest.figures[0].simulated, 105.0);
    // 200 reads, 100 writes and 40 of the log.
    assert_eq!(backtest.figures[1].measure, Measure::Iops);
    assert_eq!(backtest.figures[1].recorded, 340.0);
    assert_eq!(backtest.figures[1].simulated, 1.05 * 300.0 + 40.0);
}

/// Sessions wait for reads for 20 ms of an operation's 40, and for locks for 8.
fn of_waits(parts: &[(TimePart, f64)], operations_per_s: f64) -> BackTest {
    let waiting = "[intervals.waiting]\ndata_read = [2.0]\nlock = [0.8]\n[intervals.data]\n";
    let text = TEXT
        .replace("sessions = [4.0]", "sessions = [4.0]\nrunning = [4.0]")
        .replace("[intervals.data]\n", waiting);
    let profile = profile::read("a.toml", &text).expect("a profile");
    let demand = DemandSeries::of(&profile).expect("it has all that it takes");
    let mut replay = replayed(operations_per_s, 2.0, 1.0);
    for (part, seconds) in parts {
        replay.parts[*part] = *seconds;
    }
    BackTest::of(
        &profile,
        &demand,
        &[replay],
        (&MachineSpec::unlimited(), &[]),
    )
}

#[test]
fn a_part_of_the_time_that_differs_is_a_detail_and_widens_what_is_advised() {
    // 20, 8 and 12 ms were recorded.
    let parts = [
        (TimePart::Read, 0.012),
        (TimePart::Lock, 0.016),
        (TimePart::Other, 0.012),
    ];
    let backtest = of_waits(&parts, 100.0);
    let Fit::RateFits { details } = backtest.fit() else {
        panic!("{backtest:?}");
    };
    // 50 % of the time, and 30; 20 %, and 40.
    assert_eq!(details.len(), 2);
    assert!(
        details
            .iter()
            .all(|detail| (detail.off().abs() - 0.2).abs() < 1e-9)
    );
    // On today's layout the corrected time is the recorded one.
    let [recorded, simulated] = backtest.parts.expect("waits were recorded");
    assert!((backtest.as_recorded(&simulated) - recorded.total()).abs() < 1e-9);
    // Without the reads, 28 ms are replayed; if locks take half as long, as recorded, 20.
    let mut fast = simulated;
    fast[TimePart::Read] = 0.0;
    assert!((fast.total() - 0.028).abs() < 1e-9);
    assert!((backtest.as_recorded(&fast) - 0.020).abs() < 1e-9);
}

#[test]
fn the_part_that_is_off_most_is_the_reason() {
    // Locks take 30 ms instead of 8, and nothing else is off.
    let parts = [
        (TimePart::Read, 0.020),
        (TimePart::Lock, 0.030),
        (TimePart::Other, 0.012),
    ];
    let backtest = of_waits(&parts, 64.0);
    let Fit::DoesNotFit { part, reason } = backtest.fit() else {
        panic!("{backtest:?}");
    };
    assert_eq!(reason, Reason::Locks);
    assert_eq!(
        part.to_string(),
        "lock takes 8.00 ms of an operation, and 30.00 ms in the replay"
    );
}

/// A replay on these disks, of operations that take `operation_s`, and rest for `delay_s`.
fn replay_of(operations_per_s: f64, operation_s: f64, delay_s: f64) -> BackTest {
    let mut replayed = replayed(operations_per_s, 2.0, 1.0);
    replayed.parts[TimePart::Read] = operation_s;
    replayed.delay_s = delay_s;
    backtest(&[replayed])
}

#[test]
fn the_recorded_time_of_an_operation_follows_from_the_rate() {
    // 100 a second were recorded, every 40 ms of each of 4 sessions: without a delay, an operation took 80 % of 50 ms.
    let share = replay_of(80.0, 0.05, 0.0).recorded_time();
    assert!(
        share.is_some_and(|share| (share - 0.8).abs() < 1e-9),
        "{share:?}"
    );
    // 20 ms between operations remain, so that it took 20 ms of the replay's 30.
    let share = replay_of(80.0, 0.03, 0.02).recorded_time();
    assert!(
        share.is_some_and(|share| (share - 2.0 / 3.0).abs() < 1e-9),
        "{share:?}"
    );
    // The delay alone is longer than a recorded operation with its delay.
    assert_eq!(replay_of(50.0, 0.03, 0.05).recorded_time(), None);
}

#[test]
fn disks_as_recorded_are_never_the_reason() {
    let of = |backtest: BackTest| match backtest.fit() {
        Fit::DoesNotFit { reason, .. } => reason,
        fits => panic!("{fits:?}"),
    };
    // Reads that take four times as long in the replay.
    let slow = || backtest(&[replayed(60.0, 8.0, 1.0)]);
    let disks = [
        Reason::Slower,
        Reason::Faster,
        Reason::Queue,
        Reason::Credits,
    ];
    assert!(disks.contains(&of(slow())), "{:?}", of(slow()));
    assert_eq!(of(slow().on_recorded_disks()), Reason::Assumed);
}
