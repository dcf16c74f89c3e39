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
    assert_eq!(waits[0].per_operation, 0.0, "nobody waits for these writes");
    BackTest::of(&profile, &demand, replays)
}

#[test]
fn what_nobody_waits_for_does_not_decide() {
    // Writes in the background take 9 ms instead of 1, flushes ten times as long as recorded, but sessions wait little for them.
    let backtest = backtest(&[replayed(101.0, 2.1, 9.0)]);
    assert!(backtest.fits(), "{backtest:?}");
    assert_eq!(backtest.misfit(), None);
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
    // None were recorded.
    assert_eq!(off(Some(Role::Log), Measure::Reads), None);
    assert_eq!(off(Some(Role::Temp), Measure::Reads), None);
}

#[test]
fn latencies_say_whether_the_disks_are_slower_or_faster_than_those_that_are_said() {
    for (operations, read_ms, misfit) in [
        (130.0, 1.0, Misfit::Slower),
        (60.0, 5.0, Misfit::Faster),
        (160.0, 2.0, Misfit::Otherwise),
    ] {
        let backtest = backtest(&[replayed(operations, read_ms, 1.0)]);
        let (found, figure) = backtest.misfit().expect("it does not fit");
        assert_eq!(found, misfit, "{backtest:?}");
        assert_eq!(figure.measure.is_latency(), misfit != Misfit::Otherwise);
    }
}

#[test]
fn requests_that_do_not_fit_are_not_blamed_on_what_holds_operations_up() {
    let mut replay = replayed(100.0, 2.0, 1.0);
    let shared = rates((0.0, 0.0), (4.0, 1.0), (4.0, 0.3));
    replay.roles.insert(Role::Log, shared);
    let backtest = backtest(&[replay]);
    let (found, figure) = backtest.misfit().expect("it does not fit");
    assert_eq!(found, Misfit::Requests);
    assert_eq!(
        (figure.role, figure.measure),
        (Some(Role::Log), Measure::Writes)
    );
    assert!(!found.reason().contains("locks"), "{}", found.reason());
}

#[test]
fn figures_are_means_over_replays() {
    let backtest = backtest(&[replayed(90.0, 2.0, 1.0), replayed(120.0, 2.0, 1.0)]);
    assert_eq!(backtest.figures[0].measure, Measure::Operations);
    assert_eq!(backtest.figures[0].recorded, 100.0);
    assert_eq!(backtest.figures[0].simulated, 105.0);
    // 200 reads, 100 writes and 40 of the log.
    assert_eq!(backtest.figures[1].recorded, 340.0);
    assert_eq!(backtest.figures[1].simulated, 1.05 * 300.0 + 40.0);
}
