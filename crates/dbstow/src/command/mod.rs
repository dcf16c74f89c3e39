//! The program's commands: one file per subcommand, and the only place that prints.

mod arm;
mod backtest;
mod captured;
mod experiment_args;
mod listing;
#[cfg(feature = "shell")]
mod names;
#[cfg(target_os = "linux")]
mod orphans;
pub mod output;
mod pair;
mod product_args;
mod progress;
#[cfg(feature = "metrics")]
mod publish;
#[cfg(not(feature = "metrics"))]
#[path = "publish/absent.rs"]
mod publish;
mod ready;
mod real_time;
mod request;
#[cfg(feature = "live")]
mod screen;
mod server_timeout;
mod service_layout;
mod service_lint;

pub mod advise;
#[cfg(feature = "fio")]
pub mod calibrate;
pub mod check;
mod choice;
#[cfg(feature = "shell")]
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
#[cfg(feature = "shell")]
pub mod man;
pub mod plan;
pub mod profile;
pub mod record;
#[cfg(all(target_os = "linux", feature = "emulator"))]
pub mod rehearse;
pub mod report;
pub mod run;
pub mod services;
pub mod submit;
pub mod trial;
pub mod verify;
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

/// Subcommands and options that this build lacks, and why.
const LEFT_OUT: &[(&[&str], &str)] = &[
    #[cfg(not(target_os = "linux"))]
    (
        &["drill", "mount", "rehearse", "stat", "unmount"],
        "modelled disks under real files need Linux (FUSE)",
    ),
    #[cfg(all(target_os = "linux", not(feature = "emulator")))]
    (
        &["drill", "mount", "rehearse", "stat", "unmount"],
        "this dbstow was built without the emulator (cargo feature `emulator`)",
    ),
    #[cfg(not(feature = "fio"))]
    (
        &["calibrate"],
        "this dbstow was built without fio (cargo feature `fio`)",
    ),
    #[cfg(not(feature = "live"))]
    (
        &["--live"],
        "this dbstow was built without the screen (cargo feature `live`)",
    ),
    #[cfg(not(feature = "metrics"))]
    (
        &["--listen", "--metrics"],
        "this dbstow was built without metrics (cargo feature `metrics`)",
    ),
    #[cfg(not(feature = "shell"))]
    (
        &["completions", "man"],
        "this dbstow was built without completions and manual pages (cargo feature `shell`)",
    ),
];

/// What the build lacks, where that may be why an argument was refused: it is left out; it is unknown, as options are declared by
/// engines; or its value is the name of an engine.
pub fn left_out(error: &clap::Error) -> Option<String> {
    let given = |kind| match error.get(kind) {
        Some(ContextValue::String(value)) => value.as_str(),
        _ => "",
    };
    let names = [ContextKind::InvalidSubcommand, ContextKind::InvalidArg].map(given);
    let mut left_out = LEFT_OUT.iter();
    let is_given = |of: &[&str]| names.iter().any(|name| of.contains(name));
    if let Some((_, why)) = left_out.find(|(of, _)| is_given(of)) {
        return Some(format!("note: {why}"));
    }
    let left_out = ENGINES.left_out.iter().filter(|engine| match error.kind() {
        ErrorKind::UnknownArgument => true,
        ErrorKind::InvalidValue => engine.name == given(ContextKind::InvalidValue),
        _ => false,
    });
    let why: Vec<&str> = left_out.map(|engine| engine.why).collect();
    (!why.is_empty()).then(|| format!("note: {}", why.join("; ")))
}

/// A request that cannot be fulfilled, with the remedy.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

/// A stated expectation, such as with `--fail-on`, was not met: the command ran and printed its results, which do not meet
/// it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ExpectationFailed(pub String);
