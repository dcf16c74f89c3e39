//! `dbstow completions`: a script that completes commands in a shell.
//!
//! The script calls the program for candidates at each TAB, with `DBSTOW_COMPLETE` set; only this way can names of disks
//! and experiments be completed, each with a description. Script and program must be of the same version.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap_complete::Shell;
use clap_complete::env::{CompleteEnv, Shells};

/// Set to a shell's name when a script requests candidates. Not clap's own `COMPLETE`, which may be set for another
/// program.
const VARIABLE: &str = "DBSTOW_COMPLETE";

/// Arguments of `completions`.
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(after_help = "Examples:
  dbstow completions bash > /etc/bash_completion.d/dbstow
  dbstow completions zsh > /usr/local/share/zsh/site-functions/_dbstow
  dbstow completions fish > ~/.config/fish/completions/dbstow.fish

Options, and names of experiments, workloads, disks and machines are completed. Rerun the command
after an upgrade.")]
pub struct Args {
    /// Which shell
    pub shell: Shell,
}

/// Runs `dbstow completions` for the program that `command` describes.
///
/// # Errors
/// When nothing can be printed.
pub fn run(args: &Args, command: &clap::Command) -> Result<()> {
    let shell = args.shell.to_string();
    let shells = Shells::builtins();
    let shell = shells.completer(&shell).context("a shell of clap's")?;
    let name = command.get_name();
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, name, name, &program(name)?, &mut script)?;
    Ok(super::print(&String::from_utf8(script)?)?)
}

/// Prints the candidates that a script requests. Returns whether one did.
///
/// # Errors
/// When a script names an unknown shell.
pub fn answer(command: fn() -> clap::Command) -> clap::error::Result<bool> {
    let folder = std::env::current_dir().ok();
    CompleteEnv::with_factory(command)
        .var(VARIABLE)
        .try_complete(std::env::args_os(), folder.as_deref())
}

/// The command in the script: the program as it was called now, with its absolute path unless it is in `PATH`.
fn program(name: &str) -> Result<String> {
    let called = std::env::args_os().next();
    let called = PathBuf::from(called.unwrap_or_else(|| OsString::from(name)));
    let path = match called.components().count() {
        0 | 1 => called,
        _ => std::path::absolute(called).context("the current directory")?,
    };
    Ok(path.to_string_lossy().into_owned())
}
