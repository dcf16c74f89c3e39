//! `dbstow emulator`: the process that answers modelled disks. Started by dbstow itself, never by people.

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::thread;

use anyhow::{Context, Result, anyhow};
use volume::fuse::host::{Host, Leave, Leaving, Order, answers_disks, leave_session};

/// Arguments of `emulator`.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Args {
    /// End when standard input closes
    #[arg(long)]
    pub attached: bool,
}

/// The command that starts an emulator which ends when its standard input closes.
///
/// # Errors
/// When this program does not know where it is itself.
pub fn attached() -> Result<std::process::Command> {
    let mut command = detached()?;
    command.arg("--attached");
    Ok(command)
}

/// The command that starts an emulator which goes on until it is asked to end.
pub(super) fn detached() -> Result<std::process::Command> {
    let own = std::env::current_exe().context("where this program is")?;
    let mut command = std::process::Command::new(own);
    // Otherwise it would keep the directory it was started in busy.
    command.arg("emulator").current_dir("/");
    Ok(command)
}

/// Reads an order from standard input, says on standard output when it is mounted, and answers until it is
/// told to end.
///
/// # Errors
/// When the order cannot be read; what was wrong with running it is said on standard output too.
pub fn run(args: &Args) -> Result<()> {
    leave_session();
    answers_disks();
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    let order: Order = serde_json::from_str(&line).context("an order on standard input")?;
    let leaving = Leaving::new();
    on_signal(leaving.leave())?;
    if args.attached {
        when_input_closes(leaving.leave());
    }
    let host = match Host::start(&order, leaving) {
        Ok(host) => host,
        Err(error) => return say(&Err(error.to_string())),
    };
    say(&Ok(host.folder()))?;
    if !args.attached {
        host.let_go()?;
    }
    ended(host)
}

/// Runs an emulation in this very process, until a signal or `dbstow unmount` ends it.
pub(super) fn stay(order: &Order, ready: impl FnOnce() -> Result<()>) -> Result<()> {
    answers_disks();
    let leaving = Leaving::new();
    on_signal(leaving.leave())?;
    let host = Host::start(order, leaving)?;
    ready()?;
    ended(host)
}

fn ended(host: Host) -> Result<()> {
    host.wait().map_err(|left| anyhow!("{}", left.join("; ")))
}

fn on_signal(leave: Leave) -> Result<()> {
    ctrlc::set_handler(move || leave.leave()).context("a handler for signals")
}

fn when_input_closes(leave: Leave) {
    thread::spawn(move || {
        // Whether it ends or breaks, whoever started this is gone.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        leave.leave();
    });
}

/// The one line that whoever started this waits for.
fn say(ready: &Result<&Path, String>) -> Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{}", serde_json::to_string(ready)?)?;
    Ok(stdout.flush()?)
}
