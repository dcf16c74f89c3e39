//! `dbstow emulator`: the process that serves modelled disks. Started by dbstow itself, never by users.

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::thread;

use anyhow::{Context, Result, anyhow};
use emulator::process::{Host, Leave, Leaving, Order, answers_disks, leave_session};

use super::watched;
use crate::command::PublishArgs;

/// Arguments of `emulator`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// End when standard input closes
    #[arg(long)]
    pub attached: bool,
    /// Where metrics go
    #[command(flatten)]
    pub publish: PublishArgs,
}

/// The command that starts an emulator which ends when its standard input closes.
///
/// # Errors
/// When this program cannot determine its own path.
pub fn attached() -> Result<std::process::Command> {
    let mut command = detached()?;
    command.arg("--attached");
    Ok(command)
}

/// The command that starts an emulator which runs until it is asked to end.
pub(super) fn detached() -> Result<std::process::Command> {
    let mut command = host::child::itself().context("where this program is")?;
    // Otherwise it would keep its start directory busy.
    command.arg("emulator").current_dir("/");
    Ok(command)
}

/// Reads an order from standard input, reports on standard output when it is mounted, and serves requests until it is
/// asked to end.
///
/// # Errors
/// When the order cannot be read; errors while running it are also reported on standard output.
pub fn run(args: &Args) -> Result<()> {
    leave_session();
    answers_disks();
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    let order: Order = serde_json::from_str(&line).context("an order on standard input")?;
    let leaving = Leaving::new();
    let leave = leaving.leave();
    on_signal(leaving.leave())?;
    if args.attached {
        when_input_closes(leaving.leave());
    }
    // Their errors are reported before anything is mounted.
    let outlet = match args.publish.open() {
        Ok(outlet) => outlet,
        Err(error) => return say(&Err(format!("{error:#}"))),
    };
    let host = match Host::start(&order, leaving) {
        Ok(host) => host,
        Err(error) => return say(&Err(error.to_string())),
    };
    let publishing = match watched::publish(outlet, &order, &host) {
        Ok(publishing) => publishing,
        Err(error) => {
            leave.leave();
            let said = say(&Err(format!("{error:#}")));
            return said.and(ended(host));
        }
    };
    say(&Ok(host.folder()))?;
    if !args.attached {
        host.let_go()?;
    }
    let ended = ended(host);
    drop(publishing);
    ended
}

/// Runs an emulation in this process, until a signal or `dbstow unmount` ends it.
pub(super) fn stay(
    order: &Order,
    publish: &PublishArgs,
    ready: impl FnOnce() -> Result<()>,
) -> Result<()> {
    answers_disks();
    let leaving = Leaving::new();
    let leave = leaving.leave();
    on_signal(leaving.leave())?;
    let outlet = publish.open()?;
    let host = Host::start(order, leaving)?;
    let publishing = watched::publish(outlet, order, &host).inspect_err(|_| leave.leave());
    if publishing.is_ok() {
        ready()?;
    }
    let ended = ended(host);
    drop(publishing?);
    ended
}

fn ended(host: Host) -> Result<()> {
    host.wait().map_err(|left| anyhow!("{}", left.join("; ")))
}

fn on_signal(leave: Leave) -> Result<()> {
    ctrlc::set_handler(move || leave.leave()).context("a handler for signals")
}

fn when_input_closes(leave: Leave) {
    thread::spawn(move || {
        // Regardless of how it ends, the starting process is gone.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        leave.leave();
    });
}

/// The one line that the starting process waits for.
fn say(ready: &Result<&Path, String>) -> Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{}", serde_json::to_string(ready)?)?;
    Ok(stdout.flush()?)
}
