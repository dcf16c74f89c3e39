use model::Bytes;
use proptest::prelude::*;
use serde_json::Value;

use super::*;

const SCHEMA: &str = include_str!("../../../../schema/profile.schema.json");

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
        "shop.toml: `operations` holds -1.0, which is negative or not finite"
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

/// Schema violations in the text of a profile.
fn broken(text: &str) -> Vec<String> {
    let schema = serde_json::from_str(SCHEMA).expect("a schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("a valid schema");
    let document: Value = toml::from_str(text).expect("it is TOML");
    let errors = validator.iter_errors(&document);
    errors
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

/// A profile with every key and every column.
fn full() -> Profile {
    let mut profile = read("shop.toml", TEXT).expect("a profile");
    profile.origin.product = Some("PostgreSQL".to_owned());
    profile.origin.version = Some("17.2".to_owned());
    profile.machine = Machine {
        name: Some("azure.DS14_v2".to_owned()),
        processors: Some(16),
        memory: Some(Bytes::gib(112)),
        cache: Some(Bytes::gib(96)),
        burst_balance: Some([99, 12]),
    };
    profile.volumes = vec![ServerVolume {
        roles: Role::ALL.into(),
        disk: Some("azure.premium.p30".to_owned()),
        size: Some(Bytes::gib(1024)),
    }];
    let causes = [Lost::Restart, Lost::Reset, Lost::Gap, Lost::Clock];
    let interruption = |cause| Interruption {
        at: Duration::from_secs(20),
        cause,
    };
    profile.interruptions = causes.map(interruption).into();
    profile.assumptions = vec!["The log shares a volume.".to_owned()];
    for column in super::super::columns::all() {
        for interval in &mut profile.intervals {
            column.set(interval, 1.5);
        }
    }
    profile
}

#[test]
fn a_profile_fits_its_schema() {
    assert_eq!(broken(TEXT), [""; 0]);
    let written = write("shop.toml", &full()).expect("consistent");
    assert_eq!(broken(&written), [""; 0]);
    // A size may be written with its unit.
    let by_hand = TEXT.replace("[machine]", "[machine]\nmemory = \"8 GiB\"");
    assert_eq!(broken(&by_hand), [""; 0]);
    assert!(read("shop.toml", &by_hand).is_ok());
}

#[test]
fn the_schema_has_the_columns_that_there_are() {
    let schema: Value = serde_json::from_str(SCHEMA).expect("a schema is JSON");
    let known = |place: &str| {
        let properties = schema.pointer(place).and_then(Value::as_object);
        let names = properties.expect(place).keys().cloned();
        names.collect::<std::collections::BTreeSet<String>>()
    };
    let named = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let figures = FIGURES.map(|(name, _)| name);
    assert_eq!(known("/$defs/role/properties"), named(&figures));
    let intervals = "/properties/intervals/properties";
    let waits = WAITING.map(|(name, _)| name);
    assert_eq!(
        known(&format!("{intervals}/waiting/properties")),
        named(&waits)
    );
    let whole = WHOLE.map(|(name, _)| name);
    let others = ["at_s", "length_s", "waiting"];
    let roles = Role::ALL.map(Role::name);
    assert_eq!(
        known(intervals),
        named(&[&whole[..], &others, &roles].concat())
    );
    let mut roles = roles;
    roles.sort_unstable();
    let enumerated = schema.pointer("/properties/volume/items/properties/roles/items/enum");
    assert_eq!(enumerated, Some(&Value::from(&roles[..])));
}

#[test]
fn what_is_no_profile_does_not_fit_the_schema() {
    for (right, wrong, place) in [
        ("profile/1", "profile/2", "/format"),
        ("tool = \"dbstow record\"", "", "/origin"),
        ("[machine]", "[machine]\ncores = 4", "/machine"),
        ("[machine]", "[machine]\nmemory = -1", "/machine/memory"),
        ("flushes =", "flushs =", "/intervals/log"),
        ("[intervals.log]", "[intervals.logs]", "/intervals"),
        (
            "[100.0, 200.0, 300.0]",
            "[100.0, -200.0, 300.0]",
            "/intervals/operations/1",
        ),
        (
            "[10.0, 10.0, 10.0]",
            "[10.0, 0.0, 10.0]",
            "/intervals/length_s/1",
        ),
        ("at_s = [0.0, 10.0, 60.0]", "at_s = []", "/intervals/at_s"),
        ("length_s = [10.0, 10.0, 10.0]", "", "/intervals"),
        (
            "[machine]",
            "[[interruption]]\nat_s = 20.0\ncause = \"fire\"",
            "/interruption/0/cause",
        ),
        (
            "[machine]",
            "[[volume]]\nroles = [\"backup\"]",
            "/volume/0/roles/0",
        ),
    ] {
        let text = TEXT.replace(right, wrong);
        let errors = broken(&text);
        let named = errors
            .iter()
            .any(|error| error.starts_with(&format!("{place}: ")));
        assert!(named, "{wrong}: {errors:?}");
        // Invalid content is rejected when it is read.
        assert!(read("shop.toml", &text).is_err(), "{wrong}");
    }
}

proptest! {
    /// For any figures in any order: the text round-trips.
    #[test]
    fn no_figure_is_lost_by_writing(values in prop::collection::vec(0..1_000_000u32, 20)) {
        let mut profile = read("shop.toml", TEXT).expect("a profile");
        for (number, column) in super::super::columns::all().enumerate() {
            for (row, interval) in profile.intervals.iter_mut().enumerate() {
                column.set(interval, f64::from(values[(number + row) % values.len()]) / 8.0);
            }
        }
        let text = write("shop.toml", &profile).expect("consistent");
        prop_assert_eq!(broken(&text), [""; 0]);
        prop_assert_eq!(read("shop.toml", &text), Ok(profile));
    }
}
