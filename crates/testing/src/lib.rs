//! What tests of dbstow share: the program under test, folders, real servers, servers that lie, other users.
//!
//! A server is started where its programs are installed; where they are not, the test is skipped ([`skip`]).
#![cfg(unix)]
#![allow(missing_docs, reason = "names of what tests use say what it is")]
#![allow(
    clippy::unwrap_used,
    reason = "a panic with its line is what a failing test should give"
)]
#![allow(
    clippy::new_without_default,
    reason = "what a test makes is real: a folder, a database"
)]

pub mod experiments;
pub mod folder;
pub mod hostile_server;
pub mod leaves;
pub mod mariadb;
pub mod mysqld;
mod other_servers;
#[cfg(target_os = "linux")]
pub mod other_user;
#[cfg(target_os = "linux")]
pub mod place;
pub mod postgres;
pub mod private;
#[cfg(target_os = "linux")]
pub mod prometheus;
pub mod rows;
pub mod server;
#[cfg(target_os = "linux")]
pub mod slurm;
pub mod spoiled;
#[cfg(target_os = "linux")]
pub mod sqlserver;
pub mod theirs;
pub mod tsql;
pub mod versions;
#[cfg(target_os = "linux")]
pub mod watch;

use std::fmt::Display;
use std::path::PathBuf;

/// The program under test.
pub fn program() -> PathBuf {
    assert_cmd::cargo::cargo_bin("dbstow")
}

/// Says that a test is skipped, and why.
///
/// # Panics
/// If `DBSTOW_SKIP_NOTHING` is set.
#[track_caller]
pub fn skip(why: impl Display) {
    assert!(std::env::var_os("DBSTOW_SKIP_NOTHING").is_none(), "{why}");
    eprintln!("skipped: {why}");
}

/// What was found; without it, the test is skipped.
///
/// # Panics
/// As [`skip`].
#[track_caller]
pub fn or_skip<T>(found: Result<T, impl Display>) -> Option<T> {
    found.map_err(skip).ok()
}
