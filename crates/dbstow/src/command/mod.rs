//! What a user can ask of the program: one file a subcommand, and the only place that prints.

mod asked;
mod listing;
mod login;
mod place;

pub mod calibrate;
pub mod check;
pub mod completions;
pub mod disks;
pub mod doctor;
#[cfg(target_os = "linux")]
pub mod emulated;
pub mod experiments;
pub mod layout;
pub mod lint;
pub mod machines;
pub mod plan;
pub mod report;
pub mod run;
pub mod workloads;

pub use asked::{Asked, Understood};
pub use login::ServerLogin;
pub use place::Place;

use std::io::{self, ErrorKind, Write};

/// Something that cannot be as it was asked for, with the remedy.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Mistake(pub String);

/// An expectation that was stated, such as with `--fail-on`, and is not met: what was asked for was carried
/// out and printed, and its answer is no.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotMet(pub String);

/// Prints a result; that its reader went away early, as `head` does, is no failure.
fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}
