//! The program's commands: one file per subcommand, and the only place that prints.

mod backtest;
mod captured;
mod experiment_args;
#[cfg(target_os = "linux")]
mod leftovers;
mod listing;
mod names;
pub mod output;
mod pair;
mod product_args;
mod progress;
mod publish;
mod range;
mod ready;
mod real_time;
mod request;
#[cfg(feature = "live")]
mod screen;
mod server_timeout;

pub mod advise;
#[cfg(feature = "fio")]
pub mod calibrate;
pub mod check;
mod choice;
pub mod completions;
pub mod disks;
pub mod doctor;
#[cfg(all(target_os = "linux", feature = "emulator"))]
pub mod drill;
mod drilled;
#[cfg(all(target_os = "linux", feature = "emulator"))]
pub mod emulated;
pub mod experiments;
pub mod import;
pub mod layout;
pub mod lint;
pub mod machines;
pub mod man;
pub mod plan;
pub mod profile;
pub mod record;
pub mod report;
pub mod run;
pub mod submit;
pub mod trial;
pub mod workloads;

pub use experiment_args::ExperimentArgs;
pub use product_args::ServerLogin;
pub use publish::PublishArgs;
pub use real_time::RealTimeArgs;
pub use server_timeout::ServerTimeout;

use crate::engines::ENGINES;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use experiment::spec::near;
use output::{print, print_json};

/// Adds a suggested subcommand to the error about an unknown one, where clap found none: it does not count transposed
/// letters as similar.
pub fn suggest_subcommand(error: &mut clap::Error, program: &clap::Command) {
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidSubcommand) else {
        return;
    };
    if error.get(ContextKind::SuggestedSubcommand).is_some() {
        return;
    }
    let known = program.get_subcommands().map(clap::Command::get_name);
    if let Some(meant) = near(given, known) {
        let meant = ContextValue::Strings(vec![meant.to_owned()]);
        error.insert(ContextKind::SuggestedSubcommand, meant);
    }
}

/// Subcommands that this build lacks, and why.
const LEFT_OUT: &[(&[&str], &str)] = &[
    #[cfg(not(target_os = "linux"))]
    (
        &["drill", "mount", "stat", "unmount"],
        "modelled disks under real files need Linux (FUSE)",
    ),
    #[cfg(all(target_os = "linux", not(feature = "emulator")))]
    (
        &["drill", "mount", "stat", "unmount"],
        "this dbstow was built without the emulator (cargo feature `emulator`)",
    ),
    #[cfg(not(feature = "fio"))]
    (
        &["calibrate"],
        "this dbstow was built without fio (cargo feature `fio`)",
    ),
];

/// What the build lacks, where that may be why an argument was refused: it is unknown, as options are declared by engines, its
/// value is the name of an engine, or it is a subcommand.
pub fn left_out(error: &clap::Error) -> Option<String> {
    if let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidSubcommand) {
        let mut left_out = LEFT_OUT.iter();
        let found = left_out.find(|(names, _)| names.contains(&given.as_str()));
        return found.map(|(_, why)| format!("note: {why}"));
    }
    let given = match error.get(ContextKind::InvalidValue) {
        Some(ContextValue::String(value)) => value.as_str(),
        _ => "",
    };
    let left_out = ENGINES.left_out.iter().filter(|engine| match error.kind() {
        ErrorKind::UnknownArgument => true,
        ErrorKind::InvalidValue => engine.name == given,
        _ => false,
    });
    let why: Vec<&str> = left_out.map(|engine| engine.why).collect();
    (!why.is_empty()).then(|| format!("note: {}", why.join("; ")))
}

/// A request that cannot be fulfilled, with the remedy.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

/// A stated expectation, such as with `--fail-on`, was not met: the command ran and printed its results, and the answer
/// is no.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ExpectationFailed(pub String);
