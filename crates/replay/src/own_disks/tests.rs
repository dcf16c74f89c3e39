use model::{DiskSpec, Iops};

use super::*;

fn places() -> Places {
    Places {
        data: vec![0],
        temp: vec![0],
        log: 0,
    }
}

fn volumes() -> Vec<VolumeSpec> {
    vec![VolumeSpec::of("one", DiskSpec::unlimited())]
}

/// Log writes that take 0.5 ms in the simulated disk.
fn log_writes(recorded_ms: f64, simulated_ms: f64) -> Served {
    Served {
        role: Role::Log,
        operation: Operation::Write,
        per_second: 1_000.0,
        recorded_ms,
        simulated_ms,
        service_ms: 0.5,
    }
}

#[test]
fn a_recorded_latency_takes_the_place_of_the_declared_one_unless_something_else_held_it_up() {
    let own = |served| OwnLatency::all(&[served], &places(), &volumes());
    let found = own(log_writes(0.6, 0.51));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].declared, Duration::from_micros(500));
    assert_eq!(found[0].recorded, Duration::from_micros(600));
    let spec = LatencySpec::LogNormal {
        p50: Duration::from_micros(400),
        p99: Duration::from_micros(1_000),
    };
    // By a factor of 1.2.
    let slower = LatencySpec::LogNormal {
        p50: Duration::from_micros(480),
        p99: Duration::from_micros(1_200),
    };
    assert_eq!(found[0].replace(&spec), slower);
    // With a limit in the way, not different, and another disk.
    for (recorded_ms, simulated_ms) in [(0.6, 0.7), (0.51, 0.5), (0.8, 0.5), (0.3, 0.5)] {
        assert_eq!(own(log_writes(recorded_ms, simulated_ms)), []);
    }
    // An assumed flush may be any.
    let flush = Served {
        operation: Operation::Flush,
        ..log_writes(1.5, 0.5)
    };
    assert_eq!(own(flush)[0].recorded, Duration::from_micros(1_500));
}

#[test]
fn the_flush_of_a_log_that_is_not_timed_follows_from_what_sessions_waited_for_it() {
    // A write of 0.5 ms and a flush of 0.1 ms, and sessions wait 1.5 times as long as in the replay: 0.9 ms together.
    let log = UntimedLog {
        recorded: 1.5,
        simulated: 1.0,
        write_ms: 0.51,
        write_service_ms: 0.5,
        flush_service_ms: 0.1,
    };
    let implied = |log| OwnLatency::implied(&log, &places(), &volumes());
    let found = implied(log).expect("a flush");
    assert_eq!(found.operation, Operation::Flush);
    assert_eq!(found.recorded, Duration::from_micros(400));
    let sentence = found.sentence();
    assert!(
        sentence.contains("flushes take 0.400 ms, as follows from"),
        "{sentence}"
    );
    // 0.3 ms that no disk takes; nothing of a flush that was timed, is shorter than declared, or is longer than
    // a server's own work may be.
    assert_eq!(found.beyond_disk(), Some(Duration::from_micros(300)));
    let timed = OwnLatency {
        implied: false,
        ..found.clone()
    };
    let shorter = OwnLatency {
        recorded: Duration::from_micros(50),
        ..found.clone()
    };
    let longer = OwnLatency {
        recorded: Duration::from_micros(700),
        ..found
    };
    let beyond = [timed, shorter, longer].map(|own| own.beyond_disk());
    assert_eq!(beyond, [None; 3]);
    for other in [
        // A limit in the way; not different; faster than the write alone; a replay that never waits.
        UntimedLog {
            write_ms: 0.7,
            ..log
        },
        UntimedLog {
            recorded: 1.02,
            ..log
        },
        UntimedLog {
            recorded: 0.5,
            ..log
        },
        UntimedLog {
            simulated: 0.0,
            ..log
        },
    ] {
        assert_eq!(implied(other), None);
    }
}

fn recording(reads: [f64; 4]) -> Profile {
    let text = format!(
        r#"format = "dbstow.profile/1"
start = "2026-11-22T10:00:00Z"
[origin]
tool = "test"
[intervals]
at_s = [0.0, 10.0, 20.0, 30.0]
length_s = [10.0, 10.0, 10.0, 10.0]
[intervals.data]
reads = {reads:?}
read_bytes = {reads:?}
[intervals.log]
writes = [0.0, 0.0, 0.0, 0.0]
write_bytes = [0.0, 0.0, 0.0, 0.0]
"#
    );
    profile::read("a.toml", &text).expect("a profile")
}

/// Credits at the start on a disk of 100 IOPS with a bucket of 50,000.
fn credits(reads: [f64; 4]) -> Option<u64> {
    let burst = Burst {
        rate: 1_000,
        credits: 50_000,
        credits_initial: 50_000,
    };
    let disk = DiskSpec {
        limits: vec![LimitSpec {
            burst: Some(burst),
            ..LimitSpec::iops(Iops(100))
        }],
        ..DiskSpec::unlimited()
    };
    let mut volumes = [VolumeSpec::of("one", disk)];
    let sentences = start_with_recorded_credits(&recording(reads), &places(), &mut volumes);
    let burst = volumes[0].disks[0].limits[0].burst.expect("it bursts");
    (sentences.len() == 1).then_some(burst.credits_initial)
}

#[test]
fn credits_that_ran_out_in_a_recording_are_those_that_it_spent() {
    // 10,000 and 4,000 requests in 10 s each, where 1,000 are sustained: 9,000 and 3,000.
    assert_eq!(credits([10_000.0, 4_000.0, 1_000.0, 1_000.0]), Some(12_000));
    // They lasted until the end, or were not needed at the end, or at all.
    assert_eq!(credits([10_000.0, 4_000.0, 1_000.0, 2_000.0]), None);
    assert_eq!(credits([10_000.0, 4_000.0, 500.0, 500.0]), None);
    assert_eq!(credits([500.0, 500.0, 500.0, 500.0]), None);
}
