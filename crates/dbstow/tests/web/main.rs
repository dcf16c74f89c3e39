//! The page `dbstow.html` in a real browser, as its user has it: `scripts/check-web` builds it and runs these tests, which a plain
//! `cargo test` leaves out.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    reason = "a panic with its line is what a failing test should give"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "waits for a browser, in real time"
)]

mod accessible;
mod browser;
mod large;
mod reached;
mod same;
mod taken_away;
mod tried;
mod unread;

use std::path::{Path, PathBuf};

/// A file of this repository.
fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
        .canonicalize()
        .unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Performance counters that the crate `import` is tested with.
fn perfmon(name: &str) -> PathBuf {
    file(&format!("crates/import/tests/files/perfmon/{name}"))
}
