use proptest::prelude::*;

use super::*;

const TEXT: &str = r#"format = "dbstow.profile/1"
start = "2026-11-22T10:00:00Z"

[origin]
tool = "dbstow record"

[machine]

[intervals]
at_s = [0.0, 10.0, 60.0]
length_s = [10.0, 10.0, 10.0]
operations = [100.0, 200.0, 300.0]

[intervals.log]
flush_wait_s = [0.5, 0.25, 0.125]
flushes = [50.0, 60.0, 70.0]
"#;

fn error(text: &str) -> String {
    read("shop.toml", text)
        .expect_err("it is wrong")
        .to_string()
}

#[test]
fn what_was_written_is_read_back_and_written_alike() {
    let profile = read("shop.toml", TEXT).expect("a profile");
    assert_eq!(profile.intervals[2].at, Duration::from_secs(60));
    assert_eq!(profile.covered(), Duration::from_secs(30));
    let log = profile.intervals[1].roles[&Role::Log];
    assert_eq!(log.flushes.waited, Some(Duration::from_millis(250)));
    // Never recorded, which is not 0.
    assert_eq!(log.writes.count, None);
    assert_eq!(write("shop.toml", &profile).expect("consistent"), TEXT);
}

#[test]
fn mistakes_are_named_with_place_and_remedy() {
    assert_eq!(
        error(&TEXT.replace("flushes =", "flushs =")),
        "shop.toml: there is no column `log.flushs`; there are reads, read_bytes, read_wait_s, writes, write_bytes, \
         write_wait_s, flushes, flush_wait_s, session_writes"
    );
    assert_eq!(
        error(&TEXT.replace("[100.0, 200.0, 300.0]", "[100.0, 200.0]")),
        "shop.toml: `operations` has 2 values, `at_s` has 3: every column has one for each interval"
    );
    assert_eq!(
        error(&TEXT.replace("100.0", "-1.0")),
        "shop.toml: `operations` holds -1, which is negative or not finite"
    );
    assert_eq!(
        error(&TEXT.replace("[0.0, 10.0, 60.0]", "[0.0, 9.0, 60.0]")),
        "shop.toml: interval 2 begins at 9 s, before the one before it ends (10 s)"
    );
    assert_eq!(
        error(&TEXT.replace("profile/1", "profile/2")),
        "shop.toml: its format is `dbstow.profile/2`, not `dbstow.profile/1`: write it again with this dbstow"
    );
    let typo = error(&TEXT.replace("[machine]", "[machine]\ncores = 4"));
    assert!(
        typo.starts_with("shop.toml:8: unknown field `cores`"),
        "{typo}"
    );
}

proptest! {
    /// Any figures in any order: the text is the profile.
    #[test]
    fn no_figure_is_lost_by_writing(values in prop::collection::vec(0..1_000_000u32, 20)) {
        let mut profile = read("shop.toml", TEXT).expect("a profile");
        for (number, column) in super::super::columns::all().enumerate() {
            for (row, interval) in profile.intervals.iter_mut().enumerate() {
                column.set(interval, f64::from(values[(number + row) % values.len()]) / 8.0);
            }
        }
        let text = write("shop.toml", &profile).expect("consistent");
        prop_assert_eq!(read("shop.toml", &text), Ok(profile));
    }
}
