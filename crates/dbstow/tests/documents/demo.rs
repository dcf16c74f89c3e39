//! What `make demo` says where it cannot build: one line at the end, with the remedy.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use tempfile::TempDir;

const RUSTC: (&str, &str) = ("rustc", "echo 'rustc 1.199.0 (0123abcd 2032-01-01)'");
const CARGO: (&str, &str) = ("cargo", "exit 101");

/// The last line of scripts/build-demo, where these programs are the first that are found; it fails.
fn last_line(programs: &[(&str, &str)], compiler: &str) -> String {
    let folder = TempDir::new().expect("a temporary folder");
    for (name, script) in programs {
        let path = folder.path().join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a file of ours");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a file of ours");
    }
    let path = std::env::var("PATH").expect("programs are in it");
    let output = Command::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../scripts/build-demo"
    ))
    .args(["--package", "dbstow"])
    .env("PATH", format!("{}:{path}", folder.path().display()))
    .env("CC", compiler)
    .output()
    .expect("the script is in the repository");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8(output.stderr).expect("text");
    said.lines().last().unwrap_or_default().to_owned()
}

#[test]
fn an_old_rust_is_named_with_the_one_that_is_needed() {
    let old = ("rustc", "echo 'rustc 1.80.1 (0123abcd 2024-08-06)'");
    let line = last_line(&[old, CARGO], "sh");
    assert!(line.contains("Rust 1.80.1 is too old"), "{line}");
    assert!(line.contains(env!("CARGO_PKG_RUST_VERSION")), "{line}");
    assert!(line.contains("rustup update stable"), "{line}");
}

#[test]
fn without_a_c_compiler_the_package_is_named() {
    let line = last_line(&[RUSTC, CARGO], "no-such-compiler -m64");
    assert!(line.contains("no-such-compiler is missing"), "{line}");
    assert!(line.contains("apt-get install gcc"), "{line}");
}

#[test]
fn without_a_network_crates_are_missing() {
    let line = last_line(&[RUSTC, CARGO], "sh");
    assert!(line.contains("crates could not be downloaded"), "{line}");
    assert!(line.contains("HTTPS_PROXY"), "{line}");
}

#[test]
fn a_full_disk_is_named() {
    // As `df -Pk` prints it: size, used, available.
    let df = (
        "df",
        "echo 'Filesystem 1024-blocks Used Available Capacity Mounted on'; echo '/dev/x 100 100 0 100% /'",
    );
    let line = last_line(&[RUSTC, CARGO, df], "sh");
    assert!(line.contains("is full (0 MiB free)"), "{line}");
    assert!(line.contains("CARGO_TARGET_DIR"), "{line}");
}

#[test]
fn code_that_does_not_compile_lacks_nothing() {
    let cargo = ("cargo", "[ \"$1\" = tree ] || exit 101");
    let line = last_line(&[RUSTC, cargo], "sh");
    assert!(line.contains("did not compile"), "{line}");
}
