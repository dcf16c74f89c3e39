use super::*;

/// 1,000 operations of 4 sessions in 10 s, so each takes 40 ms, including pauses.
const TEXT: &str = r#"format = "dbstow.profile/1"
start = "2026-11-22T10:00:00Z"
[origin]
tool = "test"
[intervals]
at_s = [0.0, 5.0]
length_s = [5.0, 5.0]
operations = [400.0, 600.0]
processor_s = [1.0, 1.0]
sessions = [4.0, 4.0]
[intervals.waiting]
data_read = [1.0, 1.0]
log = [0.5, 0.5]
[intervals.data]
reads = [1000.0, 1000.0]
read_bytes = [8192000.0, 8192000.0]
read_wait_s = [10.0, 10.0]
writes = [500.0, 500.0]
write_bytes = [8192000.0, 8192000.0]
[intervals.log]
writes = [200.0, 200.0]
write_bytes = [2000000.0, 2000000.0]
flushes = [200.0, 200.0]
"#;

fn demand(text: &str) -> Result<Demand, DemandError> {
    Demand::of(
        &profile::read("a.toml", text).expect("a profile").intervals,
        LogWriter::of(None, None),
    )
}

#[test]
fn what_an_operation_asks_for_is_what_all_asked_for_by_their_number() {
    let demand = demand(TEXT).expect("it has all that it takes");
    assert_eq!(demand.sessions, 4);
    // 2 s of 1,000 operations.
    assert_eq!(demand.processor, Duration::from_millis(2));
    // 40 ms, less 2 ms of processor, 10 ms of reads (1 session of 10 s) and 5 ms of log.
    assert_eq!(demand.delay, Duration::from_millis(23));
    // 2 reads of 10 ms each an operation; sessions were seen waiting for half of that time.
    let one_read = Each {
        per_operation: 1.0,
        size: Bytes::kib(8),
    };
    assert_eq!(
        (demand.data.reads, demand.data.background_reads),
        (one_read, one_read)
    );
    // No session was seen waiting for writes.
    assert_eq!(demand.data.writes.per_operation, 0.0);
    assert_eq!(demand.data.background_writes.per_operation, 1.0);
    assert_eq!(demand.data.background_writes.size, Bytes(16_384));
    // 4 MB, less a sector for each of 400 writes.
    let log = LogDemand {
        bytes_per_operation: 3_795.2,
        commits_per_operation: 1.0,
        is_flushed: true,
        page: Bytes(512),
        in_flight_max: 1,
        locks: 0,
    };
    assert_eq!(demand.log, log);
}

#[test]
fn waits_for_locks_are_one_lock_that_all_take_or_else_delay() {
    let locked = |sessions: &str| {
        let waiting = "log = [0.5, 0.5]\n";
        let text = TEXT.replace(waiting, &format!("{waiting}lock = {sessions}\n"));
        demand(&text).expect("it has all that it takes")
    };
    // 10 ms of the 40 are waits: each of 4 holds it for (sqrt(10² + 4 x 10 x 40 / 3) - 10) / 2 ms.
    let demand = locked("[1.0, 1.0]");
    assert_eq!(demand.lock.as_nanos() / 1_000, 7_583);
    // 40 - 2 - 15 - 10 - 7.6 ms.
    assert_eq!(demand.delay.as_nanos() / 1_000, 5_416);
    // 18 ms of waits leave 5 of the 23, which is less than the 8.9 that a hold would take.
    let demand = locked("[1.8, 1.8]");
    assert_eq!(demand.lock, Duration::ZERO);
    assert_eq!(demand.delay, Duration::from_millis(23));
    // One session in twenty.
    assert_eq!(locked("[0.05, 0.05]").lock, Duration::ZERO);
}

#[test]
fn waits_that_holds_until_the_commit_explain_are_as_many_locks_as_that_takes() {
    let waiting = "log = [0.5, 0.5]\n";
    let text = TEXT.replace(waiting, "log = [2.0, 2.0]\nlock = [0.5, 0.5]\n");
    let text = text.replace("data_read = [1.0, 1.0]", "data_read = [0.5, 0.5]");
    let demand = demand(&text).expect("it has all that it takes");
    // 20 ms are held of the 40 and 5 waited, of 4 sessions: 3 / 40 x (5 + 10) x 20 / 5 = 4.5.
    assert_eq!(demand.log.locks, 5);
    assert_eq!(demand.lock, Duration::ZERO);
    // 40 - 2 - 5 - 20 - 5 ms.
    assert_eq!(demand.delay, Duration::from_millis(8));
}

#[test]
fn without_seen_waits_latencies_and_running_sessions_stand_for_them() {
    let text = TEXT.replace(
        "[intervals.waiting]\ndata_read = [1.0, 1.0]\nlog = [0.5, 0.5]\n",
        "",
    );
    let text = text.replace("sessions = [4.0, 4.0]\n", "");
    let demand = demand(&text).expect("it has all that it takes");
    // 20 s of reads and 2 s of processor in 10 s: 2.2 sessions, which are three that have pauses.
    assert_eq!(demand.sessions, 3);
    assert_eq!(demand.data.reads.per_operation, 2.0);
    // 30 ms, less 2 ms and 20 ms.
    assert_eq!(demand.delay, Duration::from_millis(8));
}

#[test]
fn a_profile_that_lacks_what_it_takes_is_refused_with_the_reason() {
    let without = |line: &str| demand(&TEXT.replace(line, ""));
    assert_eq!(
        without("operations = [400.0, 600.0]\n"),
        Err(DemandError::NoOperations)
    );
    assert_eq!(
        without("reads = [1000.0, 1000.0]\n"),
        Err(DemandError::NoData)
    );
    let sizeless = without("read_bytes = [8192000.0, 8192000.0]\n");
    assert_eq!(sizeless, Err(DemandError::NoBytes(Role::Data)));
    for much in [
        TEXT.replace("[1000.0, 1000.0]", "[1e18, 1e18]"),
        TEXT.replace("[2000000.0, 2000000.0]", "[1e19, 1e19]"),
    ] {
        let refused = demand(&much);
        assert!(
            matches!(refused, Err(DemandError::TooMuch { .. })),
            "{refused:?}"
        );
    }
    let crowd = demand(&TEXT.replace("sessions = [4.0, 4.0]", "sessions = [1e9, 1e9]"));
    assert!(
        matches!(crowd, Err(DemandError::TooMuch { .. })),
        "{crowd:?}"
    );
    let idle = demand(&TEXT.replace("[400.0, 600.0]", "[0.0, 0.0]"));
    assert_eq!(idle, Err(DemandError::Idle));
}
