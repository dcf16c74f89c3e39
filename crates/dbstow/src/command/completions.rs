//! `dbstow completions`: a script that completes commands in a shell.

use clap_complete::Shell;

/// Arguments of `completions`.
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(after_help = "Example:\n  dbstow completions bash > /etc/bash_completion.d/dbstow")]
pub struct Args {
    /// Which shell
    pub shell: Shell,
}

/// Carries out `dbstow completions` for the program that `command` describes.
pub fn run(args: &Args, mut command: clap::Command) {
    clap_complete::generate(args.shell, &mut command, "dbstow", &mut std::io::stdout());
}
