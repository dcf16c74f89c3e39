//! `dbstow completions`: a script that completes commands in a shell.

use anyhow::Result;
use clap_complete::Shell;

/// Arguments of `completions`.
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(after_help = "Example:\n  dbstow completions bash > /etc/bash_completion.d/dbstow")]
pub struct Args {
    /// Which shell
    pub shell: Shell,
}

/// Runs `dbstow completions` for the program that `command` describes.
///
/// # Errors
/// When nothing can be printed.
pub fn run(args: &Args, mut command: clap::Command) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "dbstow", &mut script);
    Ok(super::print(&String::from_utf8(script)?)?)
}
