//! A rehearsal: a server's own database and its own statements, on modelled disks that one does not own.
//!
//! ```text
//! layouts ──┐
//! database ─┼─RehearsalRequest::resolve─► ResolvedRehearsal ─run─► copies ─► trials ─► records, and a document
//! log ──────┘                             plan, schedule           one for each placement; writes are discarded
//! ```
//!
//! Or a server of the user's restores the backup for each trial, to directories that stand for the layout's volumes, and the log is
//! played there (`served`).
//!
//! The log's sessions are played in their order, and no transaction begins before one that writes and had ended before it in the log
//! ([`Schedule`]).

#![cfg(target_os = "linux")]

mod committed;
mod document;
mod error;
mod kept;
mod outcome;
mod pace;
mod player;
mod recording;
mod request;
mod restored;
mod run;
mod schedule;
mod served;
mod trip;
mod volumes;

pub use error::RehearsalError;
pub use pace::Pace;
pub use request::{LayoutFile, RehearsalRequest, RehearsedEngine, ResolvedRehearsal, Source};
pub use run::{PROFILE, Step};
pub use schedule::{Order, Schedule};

/// Checks that this machine can have modelled disks with file systems.
///
/// # Errors
/// When it cannot.
pub fn check_machine() -> Result<(), RehearsalError> {
    match nix::unistd::geteuid().is_root() && host::loop_device::exist() {
        true => Ok(()),
        false => Err(RehearsalError::NoDisks),
    }
}
