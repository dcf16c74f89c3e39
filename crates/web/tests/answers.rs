//! The seam, natively: what the page gets is what the program writes.

use std::fs;
use std::path::{Path, PathBuf};

use web::{Dropped, back_test, import};

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
    let error = import(&[dropped(name, bytes)], &[]);
    error.expect_err("it is no recording").to_string()
}

#[test]
fn a_profile_is_taken_as_it_is() {
    let shop = text("shop.toml");
    let imported = import(&[dropped("shop.toml", shop.as_bytes())], &[]).expect("a profile");
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
    assert!(import(&[], &[]).is_err());
}

#[test]
fn a_profile_that_fits_todays_layout_has_no_misfit() {
    let tested = back_test(&text("shop.toml"), &text("today.toml"), &|_| {});
    let tested = tested.expect("both are examples");
    assert_eq!(tested.misfit, [""; 0]);
    assert!(tested.report.contains("fits"), "{}", tested.report);
}
