//! The seam, natively: what the page gets is what the program writes.

use std::fs;
use std::path::{Path, PathBuf};

use web::{Dropped, Given, NotImported, back_test, check_size, import};

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples")
        .join(name)
}

fn text(name: &str) -> String {
    fs::read_to_string(example(name)).expect("it is an example")
}

fn dropped(name: &str, bytes: &[u8]) -> Dropped {
    Dropped {
        name: name.to_owned(),
        bytes: bytes.to_owned(),
    }
}

fn refused(name: &str, bytes: &[u8]) -> String {
    let error = import(vec![dropped(name, bytes)], &Given::default());
    error.expect_err("it is no recording").to_string()
}

/// A file that the crate `import` is tested with.
fn perfmon(name: &str) -> Vec<Dropped> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../import/tests/files/perfmon");
    let bytes = fs::read(folder.join(name)).expect("it is there");
    vec![dropped(name, &bytes)]
}

#[test]
fn a_profile_is_taken_as_it_is() {
    let shop = text("shop.toml");
    let imported = import(
        vec![dropped("shop.toml", shop.as_bytes())],
        &Given::default(),
    );
    let imported = imported.expect("a profile");
    assert_eq!(imported.profile, shop);
    assert!(imported.page.contains("<!DOCTYPE html>"));
}

#[test]
fn what_is_no_recording_is_refused_with_its_name() {
    for (name, bytes) in [
        ("empty.csv", &b""[..]),
        ("letter.txt", b"Dear Sir or Madam,\n"),
        ("counters.blg", b"\x02\x24\x00\x00\xff\xfe\x00"),
    ] {
        let error = refused(name, bytes);
        assert!(error.contains(name), "{error}");
        assert!(!error.trim_end().contains('\n'), "{error}");
    }
    assert!(import(Vec::new(), &Given::default()).is_err());
}

#[test]
fn devices_and_instances_are_given_to_choose_from() {
    let open = |name: &str, given: &Given| -> NotImported {
        import(perfmon(name), given).expect_err("it leaves something open")
    };
    let of_devices = open("relog.csv", &Given::default());
    assert_eq!(of_devices.instances, [""; 0]);
    assert_eq!(of_devices.devices, ["d:", "t:"]);
    let of_instances = open("two-instances.csv", &Given::default());
    assert_eq!(of_instances.devices, [""; 0]);
    assert_eq!(of_instances.instances, ["A", "B"]);

    let given = Given {
        devices: vec!["data=d:".to_owned(), "temp=t:".to_owned()],
        ..Given::default()
    };
    let imported = import(perfmon("relog.csv"), &given).expect("devices have roles");
    let command = imported.command.expect("it was no profile");
    assert_eq!(
        command,
        "dbstow import relog.csv --device data=d: --device temp=t: --out profile.toml"
    );
}

#[test]
fn files_that_are_too_large_are_refused_before_they_are_read() {
    assert!(check_size(96 << 20).is_ok());
    let refused = check_size(300 << 20).expect_err("300 MiB");
    assert!(refused.to_string().contains("300 MiB"), "{refused}");
    assert!(refused.to_string().contains("dbstow import"), "{refused}");
}

#[test]
fn a_profile_that_fits_todays_layout_has_no_misfit() {
    let tested = back_test(&text("shop.toml"), &text("today.toml"), &|_| {});
    let tested = tested.expect("both are examples");
    assert_eq!(tested.misfit, [""; 0]);
    assert!(tested.report.contains("fits"), "{}", tested.report);
}
