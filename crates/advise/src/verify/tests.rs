use super::*;

const ADVICE: &str = include_str!("../../../../fuzz/corpus/advice/moved.json");

/// A profile of 10 s, in which 8 sessions run, and `reading` of them wait for reads.
fn after(operations: f64, reading: f64, reads: f64) -> Profile {
    let text = format!(
        r#"format = "dbstow.profile/1"
start = "2026-11-27T10:00:00Z"
[origin]
tool = "dbstow record"
product = "PostgreSQL"
[intervals]
at_s = [0.0]
length_s = [10.0]
operations = [{operations:?}]
running = [8.0]
[intervals.waiting]
data_read = [{reading:?}]
[intervals.data]
reads = [{reads:?}]
read_bytes = [81920000.0]
read_wait_s = [10.0]
"#
    );
    profile::read("after.toml", &text).expect("a profile")
}

fn verified(after: &Profile) -> Result<Verification, VerifyError> {
    let promise = Promise::read("advice.json", ADVICE, None).expect("advice");
    Verification::of(promise, ("after.toml", after))
}

#[test]
fn a_promise_is_kept_within_its_interval_and_the_models_error() {
    // 8 sessions for 10 s: 2,000 operations take 40 ms each, half of the 80 ms before.
    for (operations, kept) in [
        (2000.0, Kept::Kept),
        // 0.6 times 1.2, and 0.4 times 0.8, of 80 ms.
        (1400.0, Kept::Kept),
        (1380.0, Kept::Worse),
        (3100.0, Kept::Kept),
        (3150.0, Kept::Better),
    ] {
        let verified = verified(&after(operations, 6.0, 2.0 * operations)).expect("compared");
        assert_eq!(verified.kept, kept, "{operations}: {verified:?}");
        assert_eq!(verified.notes, [""; 0]);
    }
}

#[test]
fn each_wait_stands_beside_its_promise() {
    let verified = verified(&after(2000.0, 6.0, 4000.0)).expect("compared");
    let [whole, read, log, other] = &verified.times[..] else {
        panic!("{:?}", verified.times);
    };
    assert_eq!((whole.part, whole.promised_ms), (None, Some(40.0)));
    assert_eq!(
        (read.before_ms, read.promised_ms, read.after_ms),
        (60.0, Some(30.0), 30.0)
    );
    assert_eq!(
        (log.before_ms, log.promised_ms, log.after_ms),
        (20.0, Some(10.0), 0.0)
    );
    assert_eq!((other.before_ms, other.after_ms), (0.0, 10.0));
    assert_eq!(verified.requests[0].per_operation, [2.0, 2.0]);
    assert_eq!(verified.requests[0].latency_ms, [Some(10.0), Some(2.5)]);
}

#[test]
fn a_load_that_changed_is_reported() {
    let verified = verified(&after(2000.0, 6.0, 6000.0)).expect("compared");
    let [note] = &verified.notes[..] else {
        panic!("{:?}", verified.notes);
    };
    assert!(
        note.contains("an operation has 3 reads of data files (2 before)"),
        "{note}"
    );
}

#[test]
fn hostile_documents_are_refused() {
    for (from, to) in [
        ("\"recorded\": 80.0", "\"recorded\": -80.0"),
        ("\"time\": 0.5", "\"time\": 1e999"),
        ("\"read\": 30.0", "\"rad\": 30.0"),
        ("dbstow.advice/1", "dbstow.advice/2"),
        ("\"count\": 2", "\"count\": -2"),
    ] {
        let text = ADVICE.replace(from, to);
        let error = Promise::read("advice.json", &text, None).expect_err(to);
        assert!(matches!(error, PromiseError::NotAdvice(_)), "{error}");
    }
    let text = ADVICE.replace("\"operation ms\"", "\"operation\"");
    let error = Promise::read("advice.json", &text, None).expect_err("no time");
    assert!(matches!(error, PromiseError::NoTime { .. }), "{error}");
}
