//! Restarting a server: by a command that its owner gave, or by the owner.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use model::Duration;
use sqlserver::capture;
use sqlserver::session::Driver;
use sqlserver::tsql::question;
use volume::clock::Clock;

use super::OBSERVER;
use super::access::Access;
use crate::engine::EngineError;

/// Shows a text and waits until the user has done what it says.
pub type Prompt = Arc<dyn Fn(&str) -> std::io::Result<()> + Send + Sync>;

/// Who restarts the server.
pub(super) enum Restart {
    /// A command for the shell.
    Command(String),
    /// The user, who is asked to.
    Ask(Prompt),
}

/// How long a server may take to come back.
const BACK_LIMIT: Duration = Duration::from_secs(300);

/// `CREATE_NEW_PROCESS_GROUP`. Source: Microsoft, "Process creation flags" (read 2026-11).
#[cfg(windows)]
const NEW_PROCESS_GROUP: u32 = 0x200;

const LOOK_EVERY: Duration = Duration::from_millis(500);

/// When the service started, in its own words.
pub(super) fn started(access: &Access) -> Result<String, EngineError> {
    started_in(&mut access.connect(OBSERVER)?)
}

/// The same, on a connection that is there.
pub(super) fn started_in(session: &mut Driver) -> Result<String, EngineError> {
    let rows = capture::read(session, &question::STARTED, |row| row.word("started"));
    let rows = rows.map_err(|error| EngineError::failed("ask when the server started", error))?;
    Ok(rows.into_iter().next().unwrap_or_default())
}

impl Restart {
    /// Restarts a server that does not answer, where there is a command for it: a restart may have been cut in two.
    pub(super) fn revive(&self, access: &Access, rescue: &Path) -> Result<(), EngineError> {
        match (self, started(access)) {
            (_, Ok(_)) => Ok(()),
            (Restart::Ask(_), Err(error)) => Err(error),
            (Restart::Command(command), Err(_)) => {
                run(command)?;
                wait(access, None, rescue)
            }
        }
    }

    /// Restarts the server, and waits until it is back; `what` tells the user what to do first, if anything, and
    /// `rescue` is a script for a server that does not come back.
    pub(super) fn carry_out(
        &self,
        access: &Access,
        what: &str,
        rescue: &Path,
    ) -> Result<(), EngineError> {
        let before = started(access)?;
        match self {
            Restart::Command(command) => run(command)?,
            Restart::Ask(prompt) => ask(prompt, access, what, &before)?,
        }
        wait(access, Some(&before), rescue)
    }
}

/// Asks the user, again and again, until the server was restarted or is down.
fn ask(prompt: &Prompt, access: &Access, what: &str, before: &str) -> Result<(), EngineError> {
    let mut text = what.to_owned();
    loop {
        prompt(&text)
            .map_err(|error| EngineError::failed("wait for the restart of the server", error))?;
        match started(access) {
            Ok(now) if now == before => {
                text = format!("The server has not been restarted yet: {what}");
            }
            Ok(_) | Err(_) => return Ok(()),
        }
    }
}

/// Waits until the server answers, with another start than `before`.
fn wait(access: &Access, before: Option<&str>, rescue: &Path) -> Result<(), EngineError> {
    let begun = Clock::start();
    loop {
        let last = match started(access) {
            Ok(now) if before != Some(now.as_str()) => return Ok(()),
            Ok(_) => "it answers, but was not restarted".to_owned(),
            Err(error) => error.to_string(),
        };
        if begun.now().as_nanos() > BACK_LIMIT.as_nanos() {
            return Err(EngineError::failed(
                format!("wait {BACK_LIMIT} for the server to come back"),
                format!(
                    "{last}; if it does not start because of tempdb's files, start it with -f -T3608, carry out {}, \
                     and start it again",
                    rescue.display()
                ),
            ));
        }
        Clock::sleep(LOOK_EVERY);
    }
}

/// Carries the command out, in a process group of its own: Ctrl-C is for dbstow, and a service that is stopped has
/// to be started again. What the command says is not shown, for it may hold a password.
fn run(command: &str) -> Result<(), EngineError> {
    let mut shell = match cfg!(windows) {
        true => Command::new("cmd"),
        false => Command::new("sh"),
    };
    shell
        .arg(if cfg!(windows) { "/C" } else { "-c" })
        .arg(command)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut shell, 0);
    #[cfg(windows)]
    std::os::windows::process::CommandExt::creation_flags(&mut shell, NEW_PROCESS_GROUP);
    let failed =
        |why: String| EngineError::failed("restart the server with --restart-command", why);
    let status = shell.status().map_err(|error| failed(error.to_string()))?;
    match status.success() {
        true => Ok(()),
        false => Err(failed(status.to_string())),
    }
}
